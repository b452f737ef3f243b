//! Each message and call once: resumed and copied sessions repeat what another file holds already.

use super::forms;
use super::gathered::Corpus;
use crate::list::List;
use crate::trace::{CallRow, CompactionRow, Key, MessageRow, Trace};
use crate::transcript::CompactionKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, HashSet};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Takes copied calls out of all sessions but one, and sessions out of which nothing is left.
///
/// The session with the most calls owns what it holds, the first in the order of identities at a tie; in the others the copied messages stay as context
/// of the calls that follow. A copy of a call without usage gives way to one with it, for logs repeat earlier replies without their usage. Where a message
/// or a call has no id, a session is a copy where another file's session begins with the whole of it: two runs that part somewhere are two runs. A single reply without a time tells too little for that, and is a copy of itself alone. A run that stands in another form with more usage
/// counts there. The result does not depend on the order in which files were read.
pub(super) fn count_once(corpus: &mut Corpus) {
    sort(&mut corpus.traces);
    let files = sources(corpus);
    // Not the sum over all parts: they may share files.
    corpus.facts.files = files + corpus.facts.duplicates.files;
    let forms = forms::of_one_run(&corpus.traces);
    let (mut seen, mut mirrors) = (Seen::default(), false);
    let (mut sizes, mut events) = (Vec::new(), Vec::new());
    // One long session has as many keys as messages: they are kept only where something is looked for among them.
    let alone = corpus.traces.len() == 1;
    for (index, trace) in corpus.traces.each().enumerate() {
        mirrors |= !trace.mirrored.is_empty();
        // A run counts in its first form, whose calls another may have under the same ids. What others repeat of either is a copy.
        let held = forms.held.contains_key(&index);
        let rank = match held {
            true => 1,
            // A copy in the log of a request counts what no log of the session's own holds.
            false if trace.copied => 3,
            false => 2 * u8::from(!forms.counted.contains(&index)),
        };
        if !held {
            events.extend(trace.compactions.iter().filter_map(|event| Some((index, event.key?, distance(&trace, event)))));
        }
        sizes.push((rank, Reverse((trace.calls.len(), trace.messages.len()))));
        if alone && trace.calls.iter().all(|call| call.own_usage().is_some()) {
            continue;
        }
        let paid = trace.calls.iter().filter(|call| call.own_usage().is_some());
        seen.paid.extend(paid.flat_map(|call| [call.key, reply(&trace.messages, call)]).flatten());
    }
    for (_, key, distance) in &events {
        seen.nearest.entry(*key).and_modify(|nearest| *nearest = (*nearest).min(*distance)).or_insert(*distance);
    }
    // A session that shows what an event took in counts it before one that begins with the event, and so has the calls behind it.
    let is_nearest = |key: &Key, distance: &u64| seen.nearest.get(key) == Some(distance);
    let resumed: FxHashSet<Key> = events.iter().filter(|(_, key, distance)| !is_nearest(key, distance)).map(|(_, key, _)| *key).collect();
    let here = events.iter().filter(|(_, key, distance)| resumed.contains(key) && is_nearest(key, distance));
    let at_home: FxHashSet<usize> = here.map(|(index, ..)| *index).collect();
    let place = |(index, (rank, size))| (rank, !at_home.contains(&index), size, index);
    let mut order: Vec<_> = sizes.into_iter().enumerate().map(place).collect();
    order.sort_unstable();
    let mut empty = HashSet::new();
    for (.., index) in order {
        let held = forms.held.get(&index);
        let take_out = |trace: &mut Trace| {
            let all = trace.usages().count() as u64;
            if let Some(Some(sizes)) = held {
                leave_own(trace, sizes);
            }
            let left = seen.take_out(trace, !alone || mirrors);
            (all, trace.usages().count() as u64, left)
        };
        let Some((all, own, left)) = corpus.traces.change(index, take_out) else { continue };
        let stays = left && held.is_none_or(|told| told.is_some() && own > 0);
        corpus.facts.duplicates.calls += if stays { all - own } else { all };
        if !stays {
            corpus.facts.duplicates.sessions += 1;
            corpus.facts.duplicates.other_forms += u64::from(held.is_some());
            empty.insert(index);
        }
    }
    share_mirrors(&mut corpus.traces, &empty, &mut seen);
    corpus.traces.keep(|index, _| !empty.contains(&index));
    corpus.facts.duplicates.files += files - sources(corpus);
}

/// What is mirrored stays where no log has it as its own: in the first of several mirrors that stay. What a copy alone mirrors goes to the
/// first session that stays.
fn share_mirrors(traces: &mut List<Trace>, empty: &HashSet<usize>, seen: &mut Seen) {
    let mut unseen = |key: Option<Key>| key.is_none_or(|key| !seen.calls.contains(&key) && seen.messages.insert(key));
    let mirrors: Vec<usize> = traces.each().enumerate().filter(|(_, trace)| !trace.mirrored.is_empty()).map(|(index, _)| index).collect();
    let (gone, stay): (Vec<usize>, Vec<usize>) = mirrors.into_iter().partition(|index| empty.contains(index));
    for index in stay {
        traces.change(index, |trace| trace.mirrored.retain(|(_, key)| unseen(*key)));
    }
    // A mirror without an id stands in the session that this one is a copy of.
    let mirrored = |index: usize| traces.at(index).map(|trace| trace.mirrored.clone()).unwrap_or_default();
    let left: Vec<_> = gone.into_iter().flat_map(mirrored).filter(|(_, key)| key.is_some() && unseen(*key)).collect();
    if let (false, Some(first)) = (left.is_empty(), (0..traces.len()).find(|index| !empty.contains(index))) {
        traces.change(first, |trace| trace.mirrored.extend(left));
    }
}

/// Puts sessions into the order of their identities.
fn sort(traces: &mut List<Trace>) {
    let key = |trace: Cow<'_, Trace>| (trace.id.clone(), trace.calls.len(), trace.messages.len());
    let keys: Vec<_> = traces.each().map(key).collect();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    // What a session holds is looked at only where others are of its name and size.
    let same = |one: usize, other: usize| Some(traces.at(one)?.by_identity(&*traces.at(other)?));
    order.sort_by(|one, other| keys.get(*one).cmp(&keys.get(*other)).then_with(|| same(*one, *other).unwrap_or(Ordering::Equal)));
    traces.arrange(&order);
}

/// How many files the sessions come from.
fn sources(corpus: &Corpus) -> u64 {
    corpus.traces.each().map(|trace| xxh3_128(trace.source.as_bytes())).collect::<HashSet<_>>().len() as u64
}

#[derive(Default)]
struct Seen {
    calls: FxHashSet<Key>,
    /// The replies of the calls that were counted.
    replies: FxHashSet<Key>,
    /// What each call with usage and its reply are known by, of all sessions.
    paid: FxHashSet<Key>,
    messages: FxHashSet<Key>,
    /// By the ids of recorded compactions and prunings: how far the size at each lies from that of the call before it, in the session where that is
    /// least. A resumed session repeats an event behind another call.
    nearest: FxHashMap<Key, u64>,
    /// Recorded compactions and prunings, by the call that they followed.
    events: FxHashSet<(Key, CompactionKind)>,
    /// Conversations that ids do not tell, up to each of their messages, with the first file that holds them.
    conversations: FxHashMap<u64, String>,
    /// The whole of them, with each file that holds it: the same file may stand in two parts of a corpus.
    runs: FxHashSet<(u64, u64)>,
}

impl Seen {
    /// Takes what was seen out of a session: is anything of its own left? What it holds is seen from then on, where that is asked for.
    fn take_out(&mut self, trace: &mut Trace, remembers: bool) -> bool {
        if let Some(whole) = trace.prints.last() {
            let tells_little = trace.calls.len() < 2 && trace.messages.iter().all(|row| row.time.get().is_none());
            let elsewhere = || self.conversations.get(whole).is_some_and(|source| *source != trace.source);
            if self.runs.contains(&(*whole, xxh3_64(trace.source.as_bytes()))) || !tells_little && elsewhere() {
                return false;
            }
            self.runs.insert((*whole, xxh3_64(trace.source.as_bytes())));
            for print in trace.prints.iter().filter(|_| remembers && !tells_little) {
                self.conversations.entry(*print).or_insert_with(|| trace.source.clone());
            }
        }
        let had_calls = !trace.calls.is_empty();
        let copied = |keys: &FxHashSet<Key>, key: Option<Key>| key.is_some_and(|key| keys.contains(&key));
        // A copied event still decides what stands in the context, but counts where its session is.
        let events: Vec<Option<(Key, CompactionKind)>> = trace.compactions.iter().map(|event| behind(trace, event)).collect();
        let resumed =
            |event: &CompactionRow| event.key.and_then(|key| self.nearest.get(&key)).is_some_and(|least| distance(trace, event) > *least);
        let resumed: Vec<bool> = trace.compactions.iter().map(resumed).collect();
        for ((compaction, behind), resumed) in trace.compactions.iter_mut().zip(&events).zip(resumed) {
            if resumed || copied(&self.calls, compaction.key) || behind.is_some_and(|behind| self.events.contains(&behind)) {
                (compaction.copy, compaction.usage) = (true, None);
            }
        }
        self.events.extend(events.into_iter().flatten());
        let is_copy = |call: &CallRow| {
            let known = known(&trace.messages, call);
            let (seen, shown) = if call.key.is_some() { (&self.calls, &self.paid) } else { (&self.replies, &self.messages) };
            copied(seen, known)
                || call.own_usage().is_none()
                    && (copied(&self.paid, known) || copied(shown, known) || copied(&self.paid, reply(&trace.messages, call)))
        };
        trace.calls.retain(|call| !is_copy(call));
        trace.side_calls.retain(|(_, key)| !copied(&self.calls, *key));
        let mut own_messages = 0;
        for message in &mut trace.messages {
            message.copy |= copied(&self.messages, message.key);
            own_messages += u64::from(!message.copy);
        }
        if remembers {
            self.calls.extend(trace.calls.iter().filter_map(|call| call.key));
            self.replies.extend(trace.calls.iter().filter_map(|call| reply(&trace.messages, call)));
            self.calls.extend(trace.side_calls.iter().filter_map(|(_, key)| *key));
            self.calls.extend(trace.compactions.iter().filter_map(|compaction| compaction.key));
        }
        // Requests beside the conversation are calls too, also where a log holds nothing else.
        let summarised = trace.compactions.iter().any(|event| event.usage.is_some());
        let has_calls = !trace.calls.is_empty() || !trace.side_calls.is_empty() || summarised;
        let left = has_calls || (!had_calls && own_messages > 0);
        // The messages of a session that goes are those of the one that holds its calls.
        if remembers && left {
            self.messages.extend(trace.messages.iter().filter_map(|message| message.key));
        }
        left
    }
}

/// Leaves of another form of a run the calls, and the events behind them, that have an id, and a prompt of a size that the form that counts does not have.
fn leave_own(trace: &mut Trace, sizes: &BTreeSet<u64>) {
    let own =
        |call: &CallRow| known(&trace.messages, call).is_some() && call.own_usage().is_some_and(|usage| !sizes.contains(&usage.prompt));
    let is_own =
        |event: &CompactionRow| trace.first_call_behind(event).checked_sub(1).and_then(|call| trace.calls.get(call)).is_some_and(own);
    let events: Vec<bool> = trace.compactions.iter().map(is_own).collect();
    trace.calls.retain(own);
    trace.side_calls.retain(|(usage, key)| key.is_some() && !sizes.contains(&usage.prompt));
    for (event, _) in trace.compactions.iter_mut().zip(events).filter(|(_, own)| !own) {
        (event.copy, event.usage) = (true, None);
    }
}

/// What tells a call from others: its id, or that of its reply. `None` where neither has one.
fn known(messages: &[MessageRow], call: &CallRow) -> Option<Key> {
    call.key.or_else(|| reply(messages, call))
}

fn reply(messages: &[MessageRow], call: &CallRow) -> Option<Key> {
    messages.get(call.message as usize)?.key
}

/// The call before an event.
fn before<'t>(trace: &'t Trace, event: &CompactionRow) -> Option<&'t CallRow> {
    trace.calls.get(trace.first_call_behind(event).checked_sub(1)?)
}

/// What tells an event of a session from others: the call before it. `None` where none stands there, or it has no id.
fn behind(trace: &Trace, event: &CompactionRow) -> Option<(Key, CompactionKind)> {
    Some((before(trace, event)?.key?, event.kind))
}

/// By how much the size that the log names at an event differs from the usage of the call before it, in tokens; the largest number where one of
/// them is absent.
fn distance(trace: &Trace, event: &CompactionRow) -> u64 {
    let used = before(trace, event).and_then(|call| call.own_usage()).map(|usage| usage.prompt + usage.output);
    event.tokens_before.zip(used).map_or(u64::MAX, |(said, used)| said.abs_diff(used))
}
