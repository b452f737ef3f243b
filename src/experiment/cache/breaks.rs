//! Every break of the recorded cache, with its cause, tokens and dollars.

use super::cause::{Cause, cause};
use super::step::{Before, Step, Steps};
use crate::catalog::{Hits, Rates};
use crate::corpus::Corpus;
use crate::cost::{Charge, Tariff};
use crate::experiment::recording::{RecordedSession, recording};
use crate::transcript::Usage;
use crate::units::adds;
use std::collections::BTreeMap;

/// Reads are as expected up to so many tokens.
const NEAR: u64 = 1_024;

/// A break lacks more than this share of what was expected, in hundredths.
const LEAST: u64 = 2;

/// A call that read less than was expected, by more than 1,024 tokens and 2 %.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheBreak {
    /// The place of its session in the corpus.
    pub session: usize,
    /// Its place among the session's calls.
    pub place: usize,
    /// The first cause that the log shows.
    pub cause: Cause,
    /// When, in milliseconds since 1970; `None` where the log has no time.
    pub time: Option<i64>,
    /// Milliseconds since the call before; `None` where a log has no times.
    pub gap: Option<i64>,
    /// How long the entry is kept; `None` where no rule is known for the model's cache.
    pub kept: Option<Kept>,
    /// Tokens that it was expected to read.
    pub expected: u64,
    /// Tokens that it read, as recorded.
    pub read: u64,
    /// Tokens that it paid for again: what was expected as far as the prompt still holds as much, less what was read.
    pub tokens: u64,
    /// What they cost above the price of a read, in thousand-millionths of a dollar; `None` where the model has no price.
    pub nano_usd: Option<u64>,
}

/// Reads beside what was expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Calls that were expected to read something.
    pub expected: u64,
    /// The part of them that read as much, within 1,024 tokens.
    pub near: u64,
    /// The part of them that read more: another session has written it.
    pub more: u64,
    /// Calls that read less than expected by more than 1,024 tokens and 2 %.
    pub breaks: u64,
    /// Tokens that breaks made the calls pay for again.
    pub tokens: u64,
    /// What that cost, in thousand-millionths of a dollar; breaks of models without a price left out.
    pub nano_usd: u64,
    /// Breaks without a price.
    pub unpriced: u64,
}

adds!(Reads += Reads: expected, near, more, breaks, tokens, nano_usd, unpriced);

/// What the caches of a corpus did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheReads {
    /// By session, in the order of the corpus.
    pub sessions: Vec<Reads>,
    /// The sum over all sessions.
    pub sum: Reads,
    /// The list price of all recorded usage, in thousand-millionths of a dollar; `None` where no call with usage has a price.
    pub recorded_nano_usd: Option<u64>,
    /// The part of it that prompts cost; 0 without a price.
    pub prompts_nano_usd: u64,
    /// Calls whose model has no price: they are in no sum of money.
    pub unpriced_calls: u64,
    /// The part of it that replies cost whose log holds a placeholder: they are estimated.
    pub estimated_output: Charge,
    /// The same by cache and by the time since the call before, calls without a time left out.
    pub gaps: BTreeMap<(Kept, usize), Reads>,
    /// All breaks, in the order of sessions and calls.
    pub breaks: Vec<CacheBreak>,
}

/// How a cache keeps what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// Is it an implicit cache, which promises no lifetime?
    pub implicit: bool,
    /// The lifetime of the entry, in milliseconds; of an implicit cache that which the catalogue names.
    pub lifetime: i64,
}

impl Kept {
    fn of(step: &Step<'_>, before: &Before<'_>) -> Option<Kept> {
        let implicit = step.known.cache.is_some_and(|rule| rule.hits == Hits::Prefix);
        before.lifetime.map(|lifetime| Kept { implicit, lifetime })
    }
}

/// Where the times between two calls are divided, in seconds: the last class has no end.
pub const GAPS: [i64; 8] = [10, 120, 300, 600, 1_800, 3_600, 21_600, 86_400];

impl Reads {
    /// Is it known what the breaks cost? Of none it is.
    pub fn is_priced(&self) -> bool {
        self.breaks == 0 || self.unpriced < self.breaks
    }
}

impl CacheBreak {
    /// The break as a sum of one.
    pub fn reads(&self) -> Reads {
        let unpriced = u64::from(self.nano_usd.is_none());
        Reads { breaks: 1, tokens: self.tokens, nano_usd: self.nano_usd.unwrap_or(0), unpriced, ..Reads::default() }
    }
}

/// Does a call that was expected to read so many tokens break the cache if it reads only these?
fn breaks(expected: u64, read: u64) -> bool {
    let lacks = expected.saturating_sub(read);
    lacks > NEAR && lacks * 100 > expected * LEAST
}

/// Tokens that a call with such a prompt pays for again that was expected to read so many and read only these; 0 where it does not break the cache.
pub fn lacks(expected: u64, prompt: u64, read: u64) -> u64 {
    if breaks(expected, read) { expected.min(prompt).saturating_sub(read) } else { 0 }
}

/// Holds what each call of a corpus read against what it was expected to read.
pub fn cache_reads(corpus: &Corpus, tariff: &Tariff<'_>) -> CacheReads {
    reads_of(&Steps::new(corpus, tariff), corpus, tariff)
}

/// The same of calls that stand together already.
pub fn reads_of(steps: &Steps<'_>, corpus: &Corpus, tariff: &Tariff<'_>) -> CacheReads {
    let mut found = CacheReads { sessions: vec![Reads::default(); corpus.traces.len()], ..CacheReads::default() };
    let recording = recording(corpus, tariff);
    let is_priced = recording.sessions.each().any(|session| session.call_prices.iter().any(Option::is_some));
    let RecordedSession { bill, estimated_output, unpriced_calls, .. } = recording.sum;
    (found.estimated_output, found.unpriced_calls) = (estimated_output, unpriced_calls);
    (found.recorded_nano_usd, found.prompts_nano_usd) = (is_priced.then(|| bill.nano_usd()), bill.nano_usd() - bill.output.nano_usd);
    steps.each(|session, trace, steps| {
        let mut sum = Reads::default();
        for (at, step) in steps.iter().enumerate() {
            let Some(before) = step.before.as_ref().filter(|before| before.expected > 0) else { continue };
            let read = step.usage.cache_read;
            let near = before.expected.abs_diff(read) <= NEAR;
            let more = !near && read > before.expected;
            let mut reads = Reads { expected: 1, near: u64::from(near), more: u64::from(more), ..Reads::default() };
            if breaks(before.expected, read) {
                let earlier = steps.get(..at).unwrap_or_default();
                let one = broken(step, before, cause(trace, tariff.caches, step, before, earlier));
                reads += one.reads();
                found.breaks.push(one);
            }
            sum += reads;
            if let Some((gap, kept)) = before.gap.zip(Kept::of(step, before)) {
                let class = GAPS.partition_point(|edge| edge * 1_000 < gap);
                *found.gaps.entry((kept, class)).or_default() += reads;
            }
        }
        found.sum += sum;
        if let Some(of_session) = found.sessions.get_mut(session) {
            *of_session = sum;
        }
    });
    found
}

/// What a call that paid for so many tokens again paid above the price of a read, in thousand-millionths of a dollar: it wrote them to the cache as far as
/// it wrote anything, for the longer lifetime first, and else they were new input.
pub fn paid_again(tokens: u64, usage: &Usage, rates: &Rates) -> u64 {
    let long = tokens.min(usage.cache_write_1h);
    let short = (tokens - long).min(usage.cache_write.saturating_sub(usage.cache_write_1h));
    let paid = rates.cache_write_1h.of(long) + rates.cache_write.of(short) + rates.input.of(tokens - long - short);
    paid.saturating_sub(rates.cache_read.of(tokens))
}

/// The break of a call.
fn broken(step: &Step<'_>, before: &Before<'_>, cause: Cause) -> CacheBreak {
    let usage = &step.usage;
    let tokens = lacks(before.expected, usage.prompt, usage.cache_read);
    let nano_usd = step.known.price.map(|price| paid_again(tokens, usage, price.rates(usage.prompt)));
    CacheBreak {
        session: step.session,
        place: step.place,
        cause,
        time: step.time,
        gap: before.gap,
        kept: Kept::of(step, before),
        expected: before.expected,
        read: usage.cache_read,
        tokens,
        nano_usd,
    }
}
