//! Recorded calls, each beside the one before it in its conversation.

use crate::corpus::Corpus;
use crate::cost::{Known, Lifetime, Tariff};
use crate::list::Gather;
use crate::trace::{Key, Trace};
use crate::transcript::{Role, Usage};
use std::collections::{BTreeMap, HashMap};

/// A call with usage that the provider reported.
pub struct Step<'a> {
    /// The place of its session in the corpus.
    pub session: usize,
    /// Its place among the session's calls.
    pub place: usize,
    /// Its reply, by its index among the session's messages.
    pub message: u32,
    /// Tokens of the call as the provider reported them.
    pub usage: Usage,
    /// What is known of its model: price and cache.
    pub known: Known<'a>,
    /// When its reply began, in milliseconds since 1970; `None` where the log has no time.
    pub time: Option<i64>,
    /// The lifetime of what it wrote; of what the call before wrote, where it wrote nothing.
    pub lifetime: Lifetime,
    /// The call before; `None` for the first call of a conversation.
    pub before: Option<Before<'a>>,
}

/// The call before another one.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// The place of its session in the corpus: another one where a session was taken up in a new log.
    pub session: usize,
    /// Its place among the calls of that session.
    pub place: usize,
    /// Its reply, by its index among the messages of the session that goes on.
    pub message: u32,
    /// Tokens of the call as the provider reported them.
    pub usage: Usage,
    /// The name of the call's model.
    pub model: &'a str,
    /// Milliseconds between the two replies, 0 at the least; `None` where a log has no times.
    pub gap: Option<i64>,
    /// Tokens that the later call is expected to read.
    pub expected: u64,
    /// How long they are kept, in milliseconds; `None` where no rule is known for the model's cache.
    pub lifetime: Option<i64>,
}

impl Before<'_> {
    fn unnamed(&self) -> Before<'static> {
        let Before { session, place, message, usage, gap, expected, lifetime, .. } = *self;
        Before { session, place, message, usage, model: "", gap, expected, lifetime }
    }
}

impl Step<'_> {
    /// Milliseconds for which what this call has read and written is kept; `None` where no rule is known for its model's cache.
    pub fn lifetime_millis(&self) -> Option<i64> {
        self.known.cache.map(|rule| self.lifetime.millis(rule))
    }

    /// Tokens that the next call is expected to read; 0 where no rule is known for its model's cache.
    pub fn leaves(&self) -> u64 {
        let Usage { cache_read, cache_write, prompt, .. } = self.usage;
        self.known.cache.map_or(0, |rule| rule.expected_read(cache_read, cache_write, prompt))
    }
}

/// The calls of a corpus with usage that the provider reported, session by session. Sessions of agents whose logs do not show what the cache did are left
/// out.
pub struct Steps<'a> {
    corpus: &'a Corpus,
    tariff: &'a Tariff<'a>,
    /// What the first call of a session goes on from in another log, by the place of the session.
    taken_up: BTreeMap<usize, Taken>,
}

/// A call of another log that a first call goes on from, as it is before that one, and the name of its model.
struct Taken(Before<'static>, String);

impl<'a> Steps<'a> {
    /// The calls of a corpus, at the prices and with the caches of a tariff.
    pub fn new(corpus: &'a Corpus, tariff: &'a Tariff<'a>) -> Steps<'a> {
        let mut steps = Steps { corpus, tariff, taken_up: BTreeMap::new() };
        steps.taken_up = steps.taken_up();
        steps
    }

    /// Hands over each session with its place and its calls, in the order of the corpus.
    pub fn each(&self, mut take: impl FnMut(usize, &Trace, &[Step<'_>])) {
        for (session, trace) in self.corpus.traces.each().enumerate().filter(|(_, trace)| trace.tells_of_cache()) {
            let mut steps = within(session, &trace, self.tariff);
            if let (Some(first), Some(Taken(before, model))) = (steps.first_mut(), self.taken_up.get(&session)) {
                first.before = Some(Before { model, ..*before });
            }
            take(session, &trace, &steps);
        }
    }

    /// Hands over first calls of logs that go on from a call of another log, each with that one as it is before it.
    pub fn taken_up_again(&self, mut take: impl FnMut(&Step<'_>, &Before<'_>)) {
        for (session, Taken(before, _)) in &self.taken_up {
            let Some(trace) = self.corpus.traces.at(*session) else { continue };
            if let Some(first) = within(*session, &trace, self.tariff).first() {
                take(first, before);
            }
        }
    }

    /// First calls of logs that go on from a call of another log: a log that takes up a session repeats its messages, and the last of them that has an id is
    /// the reply before.
    fn taken_up(&self) -> BTreeMap<usize, Taken> {
        // The reply that a session wants to find, with its index among the session's messages, and when the first call was.
        let mut wanted: HashMap<Key, Vec<(usize, u32, Option<i64>)>> = HashMap::new();
        self.each(|session, trace, steps| {
            let Some(step) = steps.first() else { return };
            let rows = trace.messages.get(..step.message as usize).unwrap_or_default().iter().enumerate().rev();
            let repeated = rows.filter(|(_, row)| row.role == Role::Assistant && row.copy).find_map(|(index, row)| Some((row.key?, index)));
            if let Some((key, index)) = repeated {
                wanted.entry(key).or_default().push((session, index as u32, step.time));
            }
        });
        let mut found = BTreeMap::new();
        if wanted.is_empty() {
            return BTreeMap::new();
        }
        self.each(|session, trace, steps| {
            for (at, step) in steps.iter().enumerate() {
                let key = trace.calls.get(step.place).and_then(|call| trace.messages.get(call.message as usize)?.key);
                let by = key.and_then(|key| wanted.get(&key)).into_iter().flatten();
                for (later, message, time) in by {
                    // Of several calls with the id the last counts, unless it is the first call itself.
                    let before = behind(step, *message, *time);
                    let is_itself = at == 0 && *later == session;
                    found.insert(*later, (!is_itself).then(|| Taken(before.unnamed(), before.model.to_owned())));
                }
            }
        });
        found.into_iter().filter_map(|(session, taken)| Some((session, taken?))).gather()
    }
}

/// The calls of a session, each behind the one before it.
fn within<'a>(session: usize, trace: &'a Trace, tariff: &'a Tariff<'a>) -> Vec<Step<'a>> {
    let models = tariff.models(trace);
    let mut steps: Vec<Step<'a>> = Vec::new();
    for (place, call) in trace.calls.iter().enumerate() {
        let Some(usage) = call.anchor() else { continue };
        let last = steps.last();
        let time = trace.time_of(call);
        let lifetime = lifetime(&usage).or(last.map(|last| last.lifetime)).unwrap_or_default();
        let before = last.map(|last| behind(last, last.message, time));
        let known = models.of(call, time);
        steps.push(Step { session, place, message: call.message, usage, known, time, lifetime, before });
    }
    steps
}

/// What a call has before it, whose reply began at this time, if this one is the last; `message` is its reply in the session that goes on.
fn behind<'a>(last: &Step<'a>, message: u32, time: Option<i64>) -> Before<'a> {
    Before {
        session: last.session,
        place: last.place,
        message,
        usage: last.usage,
        model: last.known.name,
        gap: last.time.zip(time).map(|(from, to)| to.saturating_sub(from).max(0)),
        expected: last.leaves(),
        lifetime: last.lifetime_millis(),
    }
}

/// The lifetime that most of what a call wrote has; `None` where it wrote nothing.
fn lifetime(usage: &Usage) -> Option<Lifetime> {
    let long = usage.cache_write_1h * 2 > usage.cache_write;
    (usage.cache_write > 0).then_some(if long { Lifetime::Long } else { Lifetime::Usual })
}
