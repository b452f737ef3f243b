//! The record of a corpus, which nearly all documents begin with.

use crate::corpus::{CorpusFacts, Duplicates, FileLoss, Mirrored, Selected, Skipped, UnseenFacts};
use crate::transcript::Trust;
use serde::Serialize;
use std::collections::BTreeMap;

/// The files, sessions and calls that a document rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CorpusRecord {
    files: u64,
    formats: BTreeMap<String, u64>,
    sessions: u64,
    messages: u64,
    calls: u64,
    calls_with_usage: u64,
    usage_by_trust: BTreeMap<Trust, u64>,
    recorded_prompt_tokens: u64,
    recorded_output_tokens: u64,
    estimated_output_tokens: u64,
    placeholder_output_tokens: u64,
    estimated_replies: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirrored: Option<Mirrored>,
    #[serde(skip_serializing_if = "Option::is_none")]
    with_mirrored: Option<Mirrored>,
    max_prompt_tokens: u64,
    anchored_share: f64,
    recorded_compactions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<UnseenFacts>,
    duplicates: Duplicates,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<SelectionRecord>,
    skipped: Vec<Skipped>,
    losses: Vec<FileLoss>,
}

/// Which sessions were asked for, and which of them that left out for want of a date or a project.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct SelectionRecord {
    since: Option<String>,
    until: Option<String>,
    /// What `since` and `until` were counted back from.
    clock: Option<String>,
    projects: Vec<String>,
    of_sessions: u64,
    without_date: Vec<String>,
    without_project: Vec<String>,
}

impl SelectionRecord {
    fn new(selected: &Selected) -> SelectionRecord {
        let instant = |millis: Option<i64>| Some(jiff::Timestamp::from_millisecond(millis?).ok()?.to_string());
        let asked = &selected.selection;
        SelectionRecord {
            since: instant(asked.since),
            until: instant(asked.until),
            clock: instant(asked.clock),
            projects: asked.projects.iter().map(|pattern| pattern.words.clone()).collect(),
            of_sessions: selected.of,
            without_date: selected.undated.clone(),
            without_project: selected.without_project.clone(),
        }
    }
}

impl CorpusRecord {
    /// The record of a corpus.
    pub fn new(facts: &CorpusFacts) -> CorpusRecord {
        CorpusRecord {
            files: facts.files,
            formats: facts.formats.clone(),
            sessions: facts.sessions,
            messages: facts.messages,
            calls: facts.calls,
            calls_with_usage: facts.calls_with_usage,
            usage_by_trust: facts.usage_by_trust.clone(),
            recorded_prompt_tokens: facts.recorded_prompt_tokens,
            recorded_output_tokens: facts.outputs.recorded,
            estimated_output_tokens: facts.outputs.estimated,
            placeholder_output_tokens: facts.outputs.placeholders,
            estimated_replies: facts.outputs.estimated_replies,
            mirrored: Some(facts.mirrored).filter(|mirrored| mirrored.calls > 0),
            with_mirrored: facts.with_mirrored(),
            max_prompt_tokens: facts.max_prompt_tokens,
            anchored_share: facts.anchored_millionths as f64 / 1e6,
            recorded_compactions: facts.recorded_compactions,
            unseen: Some(facts.unseen).filter(|unseen| unseen.sessions > 0),
            duplicates: facts.duplicates,
            selection: facts.selected.as_ref().map(SelectionRecord::new),
            skipped: facts.skipped.clone(),
            losses: facts.losses.clone(),
        }
    }
}
