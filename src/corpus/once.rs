//! Each message and call once: resumed and copied sessions repeat what another file holds already.

use super::gathered::Corpus;
use crate::trace::{CompactionRow, Trace};
use crate::transcript::CompactionKind;
use std::collections::{HashMap, HashSet};

/// Takes copied calls out of all sessions but one, and sessions out of which nothing is left.
///
/// The session with the most calls owns what it holds, the first in the order of identities at a tie; in the others the copied messages stay as context
/// of the calls that follow. A session without ids is a copy where another file's session begins with the whole of it: two runs that
/// part somewhere are two runs. The result does not depend on the order in which files were read.
pub(super) fn count_once(corpus: &mut Corpus) {
    corpus.traces.sort_by(Trace::by_identity);
    let files = sources(corpus);
    let mut order: Vec<usize> = (0..corpus.traces.len()).collect();
    order.sort_by_key(|index| {
        let length = corpus.traces.get(*index).map(|trace| (trace.calls.len(), trace.messages.len()));
        (std::cmp::Reverse(length), *index)
    });
    let mut seen = Seen::default();
    let mut empty = HashSet::new();
    for index in order {
        let Some(trace) = corpus.traces.get_mut(index) else { continue };
        let (calls, left) = seen.take_out(trace);
        corpus.facts.duplicates.calls += calls;
        if !left {
            corpus.facts.duplicates.sessions += 1;
            empty.insert(index);
        }
    }
    share_mirrors(&mut corpus.traces, &empty, &mut seen);
    let mut index = 0;
    corpus.traces.retain(|_| {
        index += 1;
        !empty.contains(&(index - 1))
    });
    corpus.facts.duplicates.files += files - sources(corpus);
}

/// What is mirrored stays where no log has it as its own: in the first of several mirrors that stay. What a copy alone mirrors goes to the
/// first session that stays.
fn share_mirrors(traces: &mut [Trace], empty: &HashSet<usize>, seen: &mut Seen) {
    let mut unseen = |key: Option<u128>| key.is_none_or(|key| !seen.calls.contains(&key) && seen.messages.insert(key));
    let (gone, stay): (Vec<_>, Vec<_>) = traces.iter_mut().enumerate().partition(|(index, _)| empty.contains(index));
    let mut stay: Vec<&mut Trace> = stay.into_iter().map(|(_, trace)| trace).collect();
    stay.iter_mut().for_each(|trace| trace.mirrored.retain(|(_, key)| unseen(*key)));
    // A mirror without an id stands in the session that this one is a copy of.
    let left = gone.into_iter().flat_map(|(_, trace)| std::mem::take(&mut trace.mirrored));
    let left: Vec<_> = left.filter(|(_, key)| key.is_some() && unseen(*key)).collect();
    if let Some(first) = stay.first_mut() {
        first.mirrored.extend(left);
    }
}

/// How many files the sessions come from.
fn sources(corpus: &Corpus) -> u64 {
    corpus.traces.iter().map(|trace| trace.source.as_str()).collect::<HashSet<_>>().len() as u64
}

#[derive(Default)]
struct Seen {
    calls: HashSet<u128>,
    messages: HashSet<u128>,
    /// Recorded compactions and prunings, by the call that they followed.
    events: HashSet<(u128, CompactionKind)>,
    /// Conversations of sessions without ids, up to each of their messages, with the first file that holds them.
    conversations: HashMap<u64, String>,
}

impl Seen {
    /// Takes what was seen out of a session: how many calls those were, and whether anything of its own is left.
    fn take_out(&mut self, trace: &mut Trace) -> (u64, bool) {
        let before = trace.usages().count() as u64;
        if let Some(whole) = trace.prints.last() {
            if self.conversations.get(whole).is_some_and(|source| *source != trace.source) {
                return (before, false);
            }
            for print in &trace.prints {
                self.conversations.entry(*print).or_insert_with(|| trace.source.clone());
            }
        }
        let had_calls = !trace.calls.is_empty();
        let copied = |keys: &HashSet<u128>, key: Option<u128>| key.is_some_and(|key| keys.contains(&key));
        // A copied event still decides what stands in the context, but counts where its session is.
        let events: Vec<Option<(u128, CompactionKind)>> = trace.compactions.iter().map(|event| behind(trace, event)).collect();
        for (compaction, behind) in trace.compactions.iter_mut().zip(&events) {
            if copied(&self.calls, compaction.key) || behind.is_some_and(|behind| self.events.contains(&behind)) {
                (compaction.copy, compaction.usage) = (true, None);
            }
        }
        self.events.extend(events.into_iter().flatten());
        trace.calls.retain(|call| !copied(&self.calls, call.key));
        trace.side_calls.retain(|(_, key)| !copied(&self.calls, *key));
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

/// What tells an event of a session from others: the call before it. `None` where none stands there, or it has no id.
fn behind(trace: &Trace, event: &CompactionRow) -> Option<(u128, CompactionKind)> {
    let before = trace.calls.partition_point(|call| call.message < event.before);
    Some((trace.calls.get(before.checked_sub(1)?)?.key?, event.kind))
}
