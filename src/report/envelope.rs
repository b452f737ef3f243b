//! The form of every document for programs: a schema, the facts of one question under it, and what they rest on.

use super::document::Report;
use super::record::any::Record;
use super::record::corpus::CorpusRecord;
use serde::Serialize;

/// A document: a record with what all of them have.
#[derive(Serialize)]
pub struct Envelope<'a> {
    schema: String,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corpus: Option<&'a CorpusRecord>,
    #[serde(flatten)]
    body: &'a Record,
    notes: &'a [String],
}

impl<'a> Envelope<'a> {
    /// The document of a report.
    pub fn of(report: &'a Report) -> Envelope<'a> {
        let (name, version) = report.record.schema();
        Envelope {
            schema: format!("ctxsim.{name}/{version}"),
            version: env!("CARGO_PKG_VERSION"),
            command: report.command.as_deref(),
            corpus: report.corpus.as_ref(),
            body: &report.record,
            notes: &report.notes,
        }
    }
}
