//! Files that are read again and again: how often, and how often an earlier result of the same file still stood in the context.

use super::read_again::withdrawn;
use crate::corpus::Corpus;
use crate::list::Arrange;
use crate::measure::searches;
use crate::trace::Trace;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a session read of one file, as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReadings {
    /// The session's place in the corpus.
    pub session: usize,
    /// The file's number in the session, from 0.
    pub file: u32,
    /// Its path; `None` where paths are not kept.
    pub path: Option<String>,
    /// How often the file was read.
    pub readings: u64,
    /// Tokens of all results.
    pub tokens: u64,
    /// Readings while the result of an earlier one still stood in the recorded context: the file was there more than once.
    pub again: u64,
    /// Tokens of the earlier results that such readings stand beside: as much at most stood there twice, for two readings may show other lines.
    pub again_tokens: u64,
}

/// All files that were read, those read most often first; of equals those with more tokens, then in the order of the corpus.
pub fn files(corpus: &Corpus) -> Vec<FileReadings> {
    let by_session = corpus.traces.par_each(|session, trace| Some(of_session(session, &trace)));
    let mut all: Vec<FileReadings> = by_session.into_iter().flatten().collect();
    all.arrange_by_key(|file| Reverse((file.readings, file.tokens)));
    all
}

fn of_session(session: usize, trace: &Trace) -> Vec<FileReadings> {
    let withdrawn = withdrawn(trace);
    let mut files: BTreeMap<u32, FileReadings> = BTreeMap::new();
    // By file the newest result that has been read: its part, the message that it stands in, and its tokens.
    let mut newest: BTreeMap<u32, (u32, u32, u64)> = BTreeMap::new();
    for reading in &trace.readings {
        let result = reading.result.get().and_then(|part| Some((part, trace.parts.get(part as usize)?)));
        let tool = result.as_ref().and_then(|(_, row)| trace.tools.get(row.tool.get()? as usize));
        // What is searched is named as a file is, and is often a folder.
        let Some(file) = reading.file.get().filter(|_| !tool.is_some_and(|tool| searches(tool))) else { continue };
        let found = files.entry(file).or_insert_with(|| FileReadings { session, file, ..FileReadings::default() });
        found.readings += 1;
        if found.path.is_none() {
            let parts = trace.messages.get(reading.message as usize).map(|message| message.parts());
            found.path = parts.and_then(|parts| trace.paths.range(parts).next()).map(|(_, path)| path.clone());
        }
        if let Some((part, message, tokens)) = newest.get(&file)
            && stands(trace, *part, *message, reading.message, &withdrawn)
        {
            found.again += 1;
            found.again_tokens += tokens;
        }
        if let Some(((part, row), message)) = result.and_then(|(part, row)| Some(((part, row), trace.message_of(part)?))) {
            found.tokens += row.truth;
            newest.insert(file, (part, message, row.truth));
        }
    }
    files.into_values().collect()
}

/// Does a part of an earlier message still stand in the recorded context where a later message comes? What comes behind that one does not yet.
fn stands(trace: &Trace, part: u32, message: u32, later: u32, withdrawn: &BTreeMap<u32, u32>) -> bool {
    let removed = trace.compactions.iter().filter(|event| message < event.before && event.before <= later).any(|event| {
        match event.taken.as_slice() {
            [] => message < event.kept_from.unwrap_or(event.before).min(event.before),
            taken => taken.contains(&part),
        }
    });
    message < later && !removed && withdrawn.get(&message).is_none_or(|gone| *gone > later)
}
