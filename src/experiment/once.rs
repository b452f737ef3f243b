//! Each message and call once: resumed and copied sessions repeat what another file holds already.

use super::corpus::Corpus;
use crate::trace::Trace;
use std::collections::HashSet;

/// Takes copied calls out of all sessions but one, and sessions out of which nothing is left.
///
/// The session with the most calls owns what it holds, the first in the order of identities at a tie; in the others the copied messages stay as context
/// of the calls that follow. The result does not depend on the order in which files were read.
pub(super) fn count_once(corpus: &mut Corpus) {
    corpus.traces.sort_by(Trace::by_identity);
    let files = sources(corpus);
    let mut order: Vec<usize> = (0..corpus.traces.len()).collect();
    order.sort_by_key(|index| {
        let trace = &corpus.traces[*index];
        (std::cmp::Reverse(trace.calls.len()), std::cmp::Reverse(trace.messages.len()), *index)
    });
    let mut seen = Seen::default();
    let mut empty = HashSet::new();
    for index in order {
        let trace = &mut corpus.traces[index];
        let (calls, left) = seen.take_out(trace);
        corpus.facts.duplicates.calls += calls;
        if !left {
            corpus.facts.duplicates.sessions += 1;
            empty.insert(index);
        }
    }
    // What is mirrored stays where nobody has it as his own: in the first of several mirrors.
    for trace in &mut corpus.traces {
        trace.mirrored.retain(|(_, key)| key.is_none_or(|key| !seen.calls.contains(&key) && seen.messages.insert(key)));
    }
    let mut index = 0;
    corpus.traces.retain(|_| {
        index += 1;
        !empty.contains(&(index - 1))
    });
    corpus.facts.duplicates.files += files - sources(corpus);
}

/// How many files the sessions come from.
fn sources(corpus: &Corpus) -> u64 {
    corpus.traces.iter().map(|trace| trace.source.as_str()).collect::<HashSet<_>>().len() as u64
}

#[derive(Default)]
struct Seen {
    calls: HashSet<u128>,
    messages: HashSet<u128>,
}

impl Seen {
    /// Takes what was seen out of a session: how many calls those were, and whether anything of its own is left.
    fn take_out(&mut self, trace: &mut Trace) -> (u64, bool) {
        let had_calls = !trace.calls.is_empty();
        let before = trace.usages().count() as u64;
        let copied = |keys: &HashSet<u128>, key: Option<u128>| key.is_some_and(|key| keys.contains(&key));
        trace.calls.retain(|call| !copied(&self.calls, call.key));
        trace.side_calls.retain(|(_, key)| !copied(&self.calls, *key));
        trace.compactions.retain(|compaction| !copied(&self.calls, compaction.key));
        let mut own_messages = 0;
        for message in &mut trace.messages {
            if copied(&self.messages, message.key) {
                message.copy = true;
            }
            own_messages += u64::from(!message.copy);
        }
        let taken = before - trace.usages().count() as u64;
        self.calls.extend(trace.calls.iter().filter_map(|call| call.key));
        self.calls.extend(trace.side_calls.iter().filter_map(|(_, key)| *key));
        self.calls.extend(trace.compactions.iter().filter_map(|compaction| compaction.key));
        self.messages.extend(trace.messages.iter().filter_map(|message| message.key));
        let left = if had_calls { !trace.calls.is_empty() || !trace.side_calls.is_empty() } else { own_messages > 0 };
        (taken, left)
    }
}
