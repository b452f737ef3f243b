//! A corpus: files found, read on all cores, each message and call counted once.

use super::source::{Found, discover};
use crate::catalog::Catalog;
use crate::format::{self, Claim, ReadError, Reader, Source};
use crate::trace::Trace;
use crate::transcript::{Loss, Scale, Transcript, Trust};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::PathBuf;

/// A file, or a part of one, that gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// The file as it was named.
    pub path: String,
    /// Why, as a short sentence.
    pub reason: String,
}

/// Lines or records that a reader could not use, in a file whose rest is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileLoss {
    /// The file as it was named.
    pub path: String,
    /// What was wrong.
    pub reason: String,
    /// How many times.
    pub count: u64,
    /// The first line or record, from 1; 0 where it has none.
    pub first_line: u64,
}

/// What stood in several files and was counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicates {
    /// Sessions of which nothing was left.
    pub sessions: u64,
    /// Calls.
    pub calls: u64,
}

/// What a corpus holds, for reports. Every number is recorded but `anchored_share`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusFacts {
    /// Files that gave at least one session.
    pub files: u64,
    /// Files by format, by its name.
    pub formats: BTreeMap<String, u64>,
    /// Sessions, copies not counted.
    pub sessions: u64,
    /// Messages, copies not counted.
    pub messages: u64,
    /// Calls that were made, with or without usage.
    pub calls: u64,
    /// Calls with usage, those of recorded summarisers and side calls included.
    pub calls_with_usage: u64,
    /// The same by trust.
    pub usage_by_trust: BTreeMap<Trust, u64>,
    /// Sum of the prompts of the calls with usage.
    pub recorded_prompt_tokens: u64,
    /// Sum of their outputs.
    pub recorded_output_tokens: u64,
    /// The largest recorded prompt.
    pub max_prompt_tokens: u64,
    /// Share of the context tokens of all replayed calls that is anchored on recorded usage, in millionths.
    pub anchored_millionths: u64,
    /// Recorded compactions and prunings, undone for replay.
    pub recorded_compactions: u64,
    /// What was counted once although it stood in several files.
    pub duplicates: Duplicates,
    /// Files that gave nothing, each with its reason.
    pub skipped: Vec<Skipped>,
    /// Damage within files that were used.
    pub losses: Vec<FileLoss>,
}

/// Measured sessions and what is known of where they came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Corpus {
    /// Facts for reports.
    pub facts: CorpusFacts,
    /// The sessions, ordered by file, place in it and id, whatever the order in which they were read.
    pub traces: Vec<Trace>,
}

/// How a corpus is read.
pub struct ReadSettings<'a> {
    /// The models.
    pub catalog: &'a Catalog,
    /// The model to take for every call.
    pub model: Option<String>,
    /// The reader to use for every file, instead of sniffing.
    pub format: Option<&'static Reader>,
    /// Which engine counts.
    pub engine: crate::estimate::Engine,
    /// Where progress is told.
    pub progress: &'a (dyn Progress + Sync),
}

/// Somebody who is told how reading goes on.
pub trait Progress {
    /// So many files will be read.
    fn files(&self, count: usize);
    /// One more was read.
    fn file_done(&self);
}
