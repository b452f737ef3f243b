//! What the calls of a session cost under a policy: without a cache, with the modelled one, with a perfect one.

use super::cache::{Lifetime, PromptCache, Request, Split};
use super::tariff::{Known, Tariff};
use crate::catalog::Rate;
use crate::sim::{CallOutcome, Outcome, SummaryCall};
use crate::trace::{CallRow, Trace};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

/// Tokens and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Tokens.
    pub tokens: u64,
    /// Thousand-millionths of a dollar.
    pub nano_usd: u64,
}

impl Charge {
    /// So many tokens at a price; nothing where the price is not known.
    pub(super) fn add(&mut self, tokens: u64, rate: Option<Rate>) {
        self.tokens += tokens;
        self.nano_usd += rate.map_or(0, |rate| rate.of(tokens));
    }
}

impl AddAssign for Charge {
    fn add_assign(&mut self, other: Charge) {
        self.tokens += other.tokens;
        self.nano_usd += other.nano_usd;
    }
}

/// A bill, by tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bill {
    /// Prompt tokens that no cache knew, at the input price.
    pub fresh: Charge,
    /// Prompt tokens read from the cache.
    pub cache_read: Charge,
    /// Prompt tokens written to the cache.
    pub cache_write: Charge,
    /// Prompt tokens written to the cache for an hour.
    pub cache_write_1h: Charge,
    /// The replies.
    pub output: Charge,
    /// Prompts and replies of the summariser's own calls.
    pub summariser: Charge,
}

impl Bill {
    /// All tiers, with their names, in the order of reports.
    pub fn tiers(&self) -> [(&'static str, Charge); 6] {
        [
            ("fresh input", self.fresh),
            ("cache read", self.cache_read),
            ("cache write", self.cache_write),
            ("cache write 1 h", self.cache_write_1h),
            ("output", self.output),
            ("summariser", self.summariser),
        ]
    }

    /// The whole bill, in thousand-millionths of a dollar.
    pub fn nano_usd(&self) -> u64 {
        self.tiers().iter().map(|(_, charge)| charge.nano_usd).sum()
    }

    /// Prompt tokens of the calls, the summariser's left out.
    pub fn prompt_tokens(&self) -> u64 {
        self.fresh.tokens + self.cache_read.tokens + self.cache_write.tokens + self.cache_write_1h.tokens
    }

    /// One request: its prompt as the cache has split it, and its reply.
    pub(super) fn charge(&mut self, known: &Known<'_>, split: Split, lifetime: Lifetime, output: u64) {
        let rates = known.price.map(|price| price.rates(split.read + split.write + split.fresh));
        self.fresh.add(split.fresh, rates.map(|rates| rates.input));
        self.cache_read.add(split.read, rates.map(|rates| rates.cache_read));
        match lifetime {
            Lifetime::Usual => self.cache_write.add(split.write, rates.map(|rates| rates.cache_write)),
            Lifetime::Long => self.cache_write_1h.add(split.write, rates.map(|rates| rates.cache_write_1h)),
        }
        self.output.add(output, rates.map(|rates| rates.output));
    }

    /// A request of the summariser.
    fn charge_summariser(&mut self, known: &Known<'_>, split: Split, lifetime: Lifetime, output: u64) {
        let mut one = Bill::default();
        one.charge(known, split, lifetime, output);
        for (_, charge) in one.tiers() {
            self.summariser += charge;
        }
    }
}

impl AddAssign<&Bill> for Bill {
    fn add_assign(&mut self, other: &Bill) {
        self.fresh += other.fresh;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
        self.summariser += other.summariser;
    }
}

/// The bills of one session, or of many: merging is exact and does not depend on the order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bills {
    /// Every prompt token at the input price.
    pub uncached: Bill,
    /// By the provider's rules.
    pub modelled: Bill,
    /// Whatever a prompt has in common with the request before is read; the rest costs the input price. No minimum, step or lifetime.
    pub perfect: Bill,
    /// Requests, the summariser's included.
    pub calls: u64,
    /// The part of them whose model has no price: they are in no sum of money.
    pub unpriced_calls: u64,
    /// The names of those models.
    pub unpriced_models: BTreeSet<String>,
    /// What the calls behind the end of failed sessions would cost. No part of the other sums; `None` where no such call is known.
    pub after_end: Option<Box<Bills>>,
}

/// Which cache a bill is made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheKind {
    /// None: every prompt token costs the input price.
    None,
    /// The provider's, by its rules.
    #[default]
    Modelled,
    /// One that forgets nothing.
    Perfect,
}

impl Bills {
    /// The bill with one of the caches.
    pub fn with(&self, cache: CacheKind) -> &Bill {
        match cache {
            CacheKind::None => &self.uncached,
            CacheKind::Modelled => &self.modelled,
            CacheKind::Perfect => &self.perfect,
        }
    }

    /// Has any call a price?
    pub fn is_priced(&self) -> bool {
        self.calls > self.unpriced_calls
    }
}

impl AddAssign<&Bills> for Bills {
    fn add_assign(&mut self, other: &Bills) {
        self.uncached += &other.uncached;
        self.modelled += &other.modelled;
        self.perfect += &other.perfect;
        self.calls += other.calls;
        self.unpriced_calls += other.unpriced_calls;
        self.unpriced_models.extend(other.unpriced_models.iter().cloned());
        if let Some(other) = &other.after_end {
            **self.after_end.get_or_insert_default() += other;
        }
    }
}

/// The bills of a session under a policy.
///
/// Refused tries cost nothing. A call that is refused to the end is not billed either, and what is behind it stands in `after_end`.
pub fn bills(trace: &Trace, outcome: &Outcome, tariff: &Tariff<'_>) -> Bills {
    charged(trace, outcome, tariff, &mut |_| {})
}

/// What the modelled cache makes of the prompt of each call that is answered.
pub fn splits(trace: &Trace, outcome: &Outcome, tariff: &Tariff<'_>) -> Vec<Split> {
    let mut splits = Vec::with_capacity(outcome.calls.len());
    charged(trace, outcome, tariff, &mut |split| splits.push(split));
    splits
}

/// The bills; `show` is told what the modelled cache makes of each call that is answered.
fn charged(trace: &Trace, outcome: &Outcome, tariff: &Tariff<'_>, show: &mut dyn FnMut(Split)) -> Bills {
    let (mut sum, mut after_end) = (Bills::default(), Bills::default());
    let mut session = Session::new(trace, tariff);
    let behind = &outcome.behind;
    let mut summaries = outcome.summaries.iter().chain(&behind.summaries).peekable();
    let mut refetches = outcome.refetches.iter().chain(&behind.refetches).peekable();
    let ended_at = outcome.ended_at();
    for (index, (row, call)) in outcome.calls.iter().chain(&behind.calls).zip(&trace.calls).enumerate() {
        let sum = if index < outcome.calls.len() { &mut sum } else { &mut after_end };
        let time = session.time(call);
        while let Some(summary) = summaries.next_if(|summary| summary.call as usize <= index) {
            let known = tariff.of(trace, call, Some(time).filter(|_| session.has_times));
            summarise(sum, &session, &known, summary);
        }
        let again = std::iter::from_fn(|| refetches.next_if(|refetch| refetch.call as usize <= index));
        for row in again.map(|refetch| &refetch.request) {
            request(sum, &mut session, call, time, row);
        }
        if ended_at == Some(index) {
            continue;
        }
        let split = request(sum, &mut session, call, time, row);
        if index < outcome.calls.len() {
            show(split);
        }
    }
    sum.after_end = (after_end.calls > 0).then(|| Box::new(after_end));
    sum
}

/// One request with what it costs. Hands back what the modelled cache makes of it.
fn request(sum: &mut Bills, session: &mut Session<'_>, call: &CallRow, time: i64, row: &CallOutcome) -> Split {
    let request = Request { time, prompt: row.actual, prefix: row.prefix, hidden: call.hidden, blocks: row.blocks, shared: 0 };
    let known = session.known(call, time);
    let (common, split) = session.ask(call, &known, request);
    sum.count(&known, 1);
    let perfect = common.max(session.shared_of(call)).min(row.actual);
    let lifetime = session.lifetime;
    sum.uncached.charge(&known, Split { fresh: row.actual, ..Split::default() }, lifetime, row.output);
    sum.modelled.charge(&known, split, lifetime, row.output);
    sum.perfect.charge(&known, Split { read: perfect, write: 0, fresh: row.actual - perfect }, lifetime, row.output);
    split
}

/// The summariser's request goes to the session's model. What it shares with the last request is read, the rest is never read again
/// and so not written.
fn summarise(sum: &mut Bills, session: &Session<'_>, known: &Known<'_>, summary: &SummaryCall) {
    sum.count(known, summary.calls);
    let split = |read: u64| Split { read, write: 0, fresh: summary.prompt - read };
    let cached = known.cache.map_or(0, |rule| if summary.prefix < rule.minimum { 0 } else { summary.prefix / rule.step * rule.step });
    let (lifetime, output) = (session.lifetime, summary.output);
    sum.uncached.charge_summariser(known, split(0), lifetime, output);
    sum.modelled.charge_summariser(known, split(cached), lifetime, output);
    sum.perfect.charge_summariser(known, split(summary.prefix), lifetime, output);
}

impl Bills {
    fn count(&mut self, known: &Known<'_>, calls: u64) {
        self.calls += calls;
        if known.price.is_none() {
            self.unpriced_calls += calls;
            if !self.unpriced_models.contains(known.name) {
                self.unpriced_models.insert(known.name.to_owned());
            }
        }
    }
}

/// The caches of one session, one for each of its models, and its clock.
pub(super) struct Session<'a> {
    trace: &'a Trace,
    tariff: &'a Tariff<'a>,
    pub lifetime: Lifetime,
    pub has_times: bool,
    now: i64,
    /// By model: the cache, and the shortest prefix that requests of other models have left since its last one.
    caches: BTreeMap<Option<u32>, (PromptCache<'a>, u64)>,
    /// What the first call is recorded to have read, as far as all requests since have kept it: others had put it there.
    shared: (Option<u32>, u64),
}

impl<'a> Session<'a> {
    pub fn new(trace: &'a Trace, tariff: &'a Tariff<'a>) -> Session<'a> {
        let (written, long) = trace.usages().fold((0, 0), |(all, long), usage| (all + usage.cache_write, long + usage.cache_write_1h));
        let lifetime = if long * 2 > written { Lifetime::Long } else { Lifetime::Usual };
        let first = trace.calls.first().filter(|_| tariff.model.is_none());
        let shared = first.map_or((None, 0), |call| (call.model, call.usage.map_or(0, |usage| usage.cache_read)));
        let has_times = trace.calls.iter().any(|call| time_of(trace, call).is_some());
        Session { trace, tariff, lifetime, has_times, now: 0, caches: BTreeMap::new(), shared }
    }

    /// When a call was made. Where the log does not say, the gap that was asked for lies before it; a clock never goes back.
    pub fn time(&mut self, call: &CallRow) -> i64 {
        let recorded = time_of(self.trace, call);
        self.now = recorded.unwrap_or(self.now.saturating_add(self.tariff.gap_millis)).max(self.now);
        self.now
    }

    /// What is known of a call's model at a time.
    pub fn known(&self, call: &CallRow, time: i64) -> Known<'a> {
        self.tariff.of(self.trace, call, Some(time).filter(|_| self.has_times))
    }

    /// Asks the cache of the call's model. Hands back the prefix that is left of that model's own last request, and the split.
    pub fn ask(&mut self, call: &CallRow, known: &Known<'a>, request: Request) -> (u64, Split) {
        // The first request of all has none before it that it could have parted from.
        if !self.caches.is_empty() {
            self.shared.1 = self.shared.1.min(request.prefix);
        }
        let shared = self.shared_of(call);
        let model = self.model_of(call);
        for (_, (_, common)) in self.caches.iter_mut().filter(|(other, _)| **other != model) {
            *common = (*common).min(request.prefix);
        }
        let (cache, common) = self.caches.entry(model).or_insert_with(|| (PromptCache::new(known.cache, self.lifetime), 0));
        let prefix = request.prefix.min(*common);
        *common = u64::MAX;
        (prefix, cache.ask(&Request { prefix, shared, ..request }))
    }

    /// Tokens that other sessions keep in the cache of the call's model.
    pub fn shared_of(&self, call: &CallRow) -> u64 {
        if call.model == self.shared.0 { self.shared.1 } else { 0 }
    }

    fn model_of(&self, call: &CallRow) -> Option<u32> {
        call.model.filter(|_| self.tariff.model.is_none())
    }
}

fn time_of(trace: &Trace, call: &CallRow) -> Option<i64> {
    trace.messages.get(call.message as usize).and_then(|message| message.time)
}
