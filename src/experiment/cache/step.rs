//! Recorded calls, each beside the one before it in its conversation.

use crate::corpus::Corpus;
use crate::cost::{Known, Lifetime, Tariff};
use crate::trace::{CallRow, Trace};
use crate::transcript::{Role, Trust, Usage};
use std::collections::HashMap;

/// A call with usage that the provider reported.
pub struct Step<'a> {
    /// The place of its session in the corpus.
    pub session: usize,
    /// Its place among the session's calls.
    pub place: usize,
    /// Its reply, by its index among the session's messages.
    pub message: u32,
    /// What the provider reported.
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
    /// What the provider reported.
    pub usage: Usage,
    /// The name of its model.
    pub model: &'a str,
    /// Milliseconds between the two replies, 0 at the least; `None` where a log has no times.
    pub gap: Option<i64>,
    /// Tokens that the later call is expected to read.
    pub expected: u64,
    /// How long they are kept, in milliseconds; `None` where no rule is known for the model's cache.
    pub lifetime: Option<i64>,
}

impl Step<'_> {
    /// Milliseconds for which what this call has read and written is kept; `None` where no rule is known for its model's cache.
    pub fn lifetime_millis(&self) -> Option<i64> {
        self.known.cache.map(|rule| match self.lifetime {
            Lifetime::Usual => rule.lifetime_millis(),
            Lifetime::Long => rule.long_lifetime_millis(),
        })
    }

    /// Tokens that the next call is expected to read; 0 where no rule is known for its model's cache.
    pub fn leaves(&self) -> u64 {
        let Usage { cache_read, cache_write, prompt, .. } = self.usage;
        self.known.cache.map_or(0, |rule| rule.expected_read(cache_read, cache_write, prompt))
    }
}

/// The calls of a corpus with usage that the provider reported, in the order of sessions and calls. Sessions of agents whose logs do not show what the
/// cache did are left out.
pub fn steps<'a>(corpus: &'a Corpus, tariff: &'a Tariff<'a>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    for (session, trace) in corpus.traces.iter().enumerate().filter(|(_, trace)| trace.tells_of_cache()) {
        let (first, models) = (steps.len(), tariff.models(trace));
        for (place, call) in trace.calls.iter().enumerate() {
            let Some(usage) = call.usage.filter(|usage| usage.trust == Trust::Provider && usage.prompt > 0) else { continue };
            let last = steps.get(first..).and_then(<[Step<'_>]>::last);
            let time = trace.messages.get(call.message as usize).and_then(|row| row.time);
            let lifetime = lifetime(&usage).or(last.map(|last| last.lifetime)).unwrap_or_default();
            let before = last.map(|last| behind(last, last.message, time));
            let known = models.of(call, time);
            steps.push(Step { session, place, message: call.message, usage, known, time, lifetime, before });
        }
    }
    for (at, from, message) in taken_up(corpus, &steps) {
        let time = steps.get(at).and_then(|step| step.time);
        let before = steps.get(from).map(|last| behind(last, message, time));
        if let Some(step) = steps.get_mut(at) {
            step.before = before;
        }
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

/// First calls of logs that go on from a call of another log: a log that takes up a session repeats its messages. By place of the first call, that of the
/// call before it, and the message that repeats its reply.
fn taken_up(corpus: &Corpus, steps: &[Step<'_>]) -> Vec<(usize, usize, u32)> {
    let key = |trace: &Trace, call: &CallRow| trace.messages.get(call.message as usize).and_then(|row| row.key);
    let keyed = steps.iter().enumerate().filter_map(|(at, step)| {
        let trace = corpus.traces.get(step.session)?;
        Some((key(trace, trace.calls.get(step.place)?)?, at))
    });
    let known: HashMap<u128, usize> = keyed.collect();
    let first = |(at, step): (usize, &Step<'_>)| {
        let trace = corpus.traces.get(step.session).filter(|_| step.before.is_none())?;
        let rows = trace.messages.get(..step.message as usize)?.iter().enumerate().rev();
        let (message, key) =
            rows.filter(|(_, row)| row.role == Role::Assistant && row.copy).find_map(|(index, row)| Some((index, row.key?)))?;
        let from = known.get(&key).copied().filter(|from| *from != at)?;
        Some((at, from, message as u32))
    };
    steps.iter().enumerate().filter_map(first).collect()
}
