//! Results that something later shows again: from then on the earlier one is dead weight.

use super::pieces::Pieces;
use crate::trace::{PartKind, PartRow, Repetition, Trace};
use crate::transcript::Evidence;
use std::collections::{BTreeMap, BTreeSet};

/// A shorter result is identical to another by chance.
const SHORTEST: u32 = 80;

/// Finds what shows earlier results again. The parts hold these pieces; `copies` says which messages are second showings.
///
/// A result is shown again by a later one with the same text; a reading of a file by a later reading with the same arguments, by a later
/// reading of the whole file (the call has no argument but the file), and by a call that writes the whole file and does not fail.
pub fn find(trace: &mut Trace, held: &Pieces, copies: &[bool]) {
    let is_refused = |part: &PartRow| part.kind == PartKind::ToolResult && part.error;
    let refused = trace.parts.iter().filter(|part| is_refused(part)).filter_map(|part| part.answers.get()).collect();
    let mut seen = Seen::after(refused);
    let mut found = Vec::new();
    for (index, row) in trace.messages.iter().enumerate() {
        if row.rewind.get().is_some() {
            // What stood on the abandoned branch is not in the context any more.
            seen = Seen::after(seen.refused);
        }
        if !copies.get(index).copied().unwrap_or(false) {
            for part in row.first_part..row.first_part + row.part_count {
                seen.enter(trace, held, part, &mut found);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found.shrink_to_fit();
    trace.repetitions = found;
}

#[derive(Default)]
struct Seen {
    /// The latest result with a text.
    texts: BTreeMap<u64, u32>,
    /// Readings of a file that nothing has replaced yet, each with the hash of its arguments.
    readings: BTreeMap<u64, Vec<(u32, u64)>>,
    /// Calls that failed: they have written nothing.
    refused: BTreeSet<u32>,
}

impl Seen {
    fn after(refused: BTreeSet<u32>) -> Seen {
        Seen { refused, ..Seen::default() }
    }

    fn enter(&mut self, trace: &Trace, held: &Pieces, part: u32, found: &mut Vec<Repetition>) {
        let Some(row) = trace.parts.get(part as usize) else { return };
        match row.kind {
            PartKind::ToolCall => {
                let writes =
                    |call: &&Evidence| call.subject != 0 && call.values > 1 && writes(trace, &row) && !self.refused.contains(&part);
                let Some(arguments) = held.call(part).filter(writes) else { return };
                let stale = self.readings.remove(&arguments.subject).unwrap_or_default();
                found.extend(stale.into_iter().map(|(earlier, _)| Repetition { later: part, earlier }));
            }
            PartKind::ToolResult if !row.error && held.identity(part) != 0 => {
                if let Some(earlier) = self.texts.insert(held.identity(part), part).filter(|_| row.text.length.bytes >= SHORTEST) {
                    found.push(Repetition { later: part, earlier });
                }
                let reads = |call: &u32| trace.parts.get(*call as usize).is_some_and(|call| reads(trace, &call));
                let call = row.answers.get().filter(reads).and_then(|call| held.call(call));
                let Some(arguments) = call.filter(|call| call.subject != 0) else { return };
                let whole = arguments.values == 1;
                let readings = self.readings.entry(arguments.subject).or_default();
                readings.retain(|(earlier, how)| {
                    let shown = whole || *how == arguments.identity;
                    if shown {
                        found.push(Repetition { later: part, earlier: *earlier });
                    }
                    !shown
                });
                readings.push((part, arguments.identity));
            }
            _ => {}
        }
    }
}

/// Does a call read what it names? Its tool's name says so.
fn reads(trace: &Trace, call: &PartRow) -> bool {
    named(trace, call, &["read", "view", "cat", "open"])
}

/// Does a call write all of what it names?
fn writes(trace: &Trace, call: &PartRow) -> bool {
    named(trace, call, &["write", "create"])
}

fn named(trace: &Trace, call: &PartRow, words: &[&str]) -> bool {
    let name = call.tool.get().and_then(|tool| trace.tools.get(tool as usize)).map(|name| name.to_lowercase()).unwrap_or_default();
    words.iter().any(|word| name.contains(word))
}
