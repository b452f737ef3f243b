//! What all reports over logs have in common: a title, what was read, and what was not used.

use super::document::{Report, Section, Table};
use super::notes;
use super::record::any::Record;
use super::record::corpus::CorpusRecord;
use super::title::title;
use crate::corpus::CorpusFacts;

impl Report {
    /// A report over what was read, without a first screen of its own.
    pub fn over(facts: &CorpusFacts, sections: Vec<Section>, notes: Vec<String>, rows: Table, record: impl Into<Record>) -> Report {
        let (title, unused, corpus) = (title(facts), notes::unused(facts), Some(CorpusRecord::new(facts)));
        Report { title, command: None, sections, screen: None, unused, notes, rows, corpus, record: record.into() }
    }
}
