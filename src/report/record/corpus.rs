//! The record of a corpus, which nearly all documents begin with.

use super::keys::record;
use crate::corpus::{CorpusFacts, Duplicates, FileLoss, Mirrored, Selected, Skipped, UnseenFacts};
use crate::transcript::Trust;
use std::collections::BTreeMap;

record! {
    /// The files, sessions and calls that a document rests on.
    pub struct CorpusRecord(facts: &CorpusFacts) {
        files: u64 = facts.files,
        formats: BTreeMap<String, u64> = facts.formats.clone(),
        sessions: u64 = facts.sessions,
        messages: u64 = facts.messages,
        calls: u64 = facts.calls,
        calls_with_usage: u64 = facts.calls_with_usage,
        usage_by_trust: BTreeMap<Trust, u64> = facts.usage_by_trust.clone(),
        recorded_prompt_tokens: u64 = facts.recorded_prompt_tokens,
        recorded_output_tokens: u64 = facts.outputs.recorded,
        estimated_output_tokens: u64 = facts.outputs.estimated,
        placeholder_output_tokens: u64 = facts.outputs.placeholders,
        estimated_replies: u64 = facts.outputs.estimated_replies,
        ?mirrored: Option<Mirrored> = Some(facts.mirrored).filter(|mirrored| mirrored.calls > 0),
        ?with_mirrored: Option<Mirrored> = facts.with_mirrored(),
        max_prompt_tokens: u64 = facts.max_prompt_tokens,
        anchored_share: Option<f64> = facts.anchored(),
        recorded_compactions: u64 = facts.recorded_compactions,
        ?unseen: Option<UnseenFacts> = Some(facts.unseen).filter(|unseen| unseen.sessions > 0),
        duplicates: Duplicates = facts.duplicates,
        ?selection: Option<SelectionRecord> = facts.selected.as_ref().map(SelectionRecord::new),
        skipped: Vec<Skipped> = facts.skipped.clone(),
        losses: Vec<FileLoss> = facts.losses.clone(),
    }

    /// Which sessions were asked for, and which of them that left out for want of a date or a project.
    struct SelectionRecord(selected: &Selected) with {
        let instant = |millis: Option<i64>| Some(jiff::Timestamp::from_millisecond(millis?).ok()?.to_string());
        let asked = &selected.selection;
    } {
        since: Option<String> = instant(asked.since),
        until: Option<String> = instant(asked.until),
        /// What `since` and `until` were counted back from.
        clock: Option<String> = instant(asked.clock),
        projects: Vec<String> = asked.projects.iter().map(|pattern| pattern.words.clone()).collect(),
        of_sessions: u64 = selected.of,
        without_date: Vec<String> = selected.undated.clone(),
        without_project: Vec<String> = selected.without_project.clone(),
    }
}
