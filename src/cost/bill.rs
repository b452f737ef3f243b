//! What the calls of a session cost under a policy: without a cache, with the modelled one, with a perfect one.

use super::cache::{Request, Split};
use super::calibration::Calibration;
use super::session::{Answer, Session};
use super::tariff::{Known, Tariff};
use crate::catalog::Rate;
use crate::list::Pack;
use crate::sim::{CallOutcome, Outcome, Refetch, SummaryCall};
use crate::trace::{CallRow, Trace};
use crate::units::{add_fields, adds};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::rc::Rc;

/// A number of tokens with their price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Tokens of the tier.
    pub tokens: u64,
    /// Price in thousand-millionths of a dollar; 0 where no price is known.
    pub nano_usd: u64,
}

impl Charge {
    /// So many tokens at a price; nothing where the price is not known.
    pub(super) fn add(&mut self, tokens: u64, rate: Option<Rate>) {
        self.tokens += tokens;
        self.nano_usd += rate.map_or(0, |rate| rate.of(tokens));
    }
}

adds!(Charge += Charge: tokens, nano_usd);

/// Tokens and money of some calls, by tier.
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
    /// Tokens of the replies, at the output price.
    pub output: Charge,
    /// Prompts and replies of the summariser's own calls.
    pub summariser: Charge,
    /// The part of `summariser` behind the last reply of a log: nothing of it was spent if the program was closed there.
    pub at_end: Charge,
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
    pub(super) fn charge(&mut self, known: &Known<'_>, split: Split, output: u64) {
        let rates = known.price.map(|price| price.rates(split.prompt()));
        self.fresh.add(split.fresh, rates.map(|rates| rates.input));
        self.cache_read.add(split.read, rates.map(|rates| rates.cache_read));
        self.cache_write.add(split.write - split.write_1h, rates.map(|rates| rates.cache_write));
        self.cache_write_1h.add(split.write_1h, rates.map(|rates| rates.cache_write_1h));
        self.output.add(output, rates.map(|rates| rates.output));
    }

    /// Adds a request of the summariser, prompt and reply alike.
    fn charge_summariser(&mut self, known: &Known<'_>, split: Split, summary: &SummaryCall) {
        let mut one = Bill::default();
        one.charge(known, split, summary.output);
        for (_, charge) in one.tiers() {
            self.summariser += charge;
            self.at_end += if summary.at_end { charge } else { Charge::default() };
        }
    }
}

adds!(Bill += Bill: fresh, cache_read, cache_write, cache_write_1h, output, summariser, at_end);

/// The bills of one session, or of many: merging is exact and does not depend on the order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bills {
    /// Every prompt token at the input price.
    pub uncached: Bill,
    /// The provider's cache by its rules alone.
    pub modelled: Bill,
    /// As far as the recorded calls got with theirs; by the provider's rules where a log tells nothing of its cache.
    pub calibrated: Bill,
    /// Whatever a prompt has in common with the request before is read; the rest costs the input price. No minimum, step or lifetime.
    pub perfect: Bill,
    /// Requests, the summariser's included.
    pub calls: u64,
    /// The part of them whose model has no price: they are in no sum of money.
    pub unpriced_calls: u64,
    /// Names of the models without a price.
    pub unpriced_models: BTreeSet<String>,
    /// What the calls behind the end of failed sessions would cost. No part of the other sums; `None` where no such call is known.
    pub after_end: Option<Box<Bills>>,
}

impl Pack for Bills {}

/// Which cache a bill is made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheKind {
    /// The provider's, by its rules and as far as the recorded calls got with it.
    #[default]
    Recorded,
    /// None: every prompt token costs the input price.
    None,
    /// The provider's, by its rules alone.
    Modelled,
    /// One that forgets nothing and has no minimum.
    Perfect,
}

impl Bills {
    /// The bill with one of the caches.
    pub fn with(&self, cache: CacheKind) -> &Bill {
        match cache {
            CacheKind::None => &self.uncached,
            CacheKind::Recorded => &self.calibrated,
            CacheKind::Modelled => &self.modelled,
            CacheKind::Perfect => &self.perfect,
        }
    }

    /// Does at least one call have a price?
    pub fn is_priced(&self) -> bool {
        self.calls > self.unpriced_calls
    }
}

impl AddAssign<&Bills> for Bills {
    fn add_assign(&mut self, other: &Bills) {
        add_fields!(self += other: uncached, modelled, calibrated, perfect, calls, unpriced_calls);
        self.unpriced_models.extend(other.unpriced_models.iter().cloned());
        if let Some(other) = &other.after_end {
            **self.after_end.get_or_insert_default() += other;
        }
    }
}

/// The bills of a session under a policy; `calibration` is what its recording says of the cache.
///
/// Refused tries cost nothing. A call that is refused to the end is not billed either, and what is behind it stands in `after_end`.
pub fn bills(trace: &Trace, outcome: &Outcome, tariff: &Tariff<'_>, calibration: &Calibration) -> Bills {
    BillsSoFar::new(trace, tariff, calibration, None).close(outcome)
}

/// What the modelled cache makes of the prompt of each call that is answered.
pub fn splits(trace: &Trace, outcome: &Outcome, tariff: &Tariff<'_>) -> Vec<Split> {
    let mut splits = Vec::with_capacity(outcome.calls.len());
    BillsSoFar::new(trace, tariff, &Calibration::default(), None).end(outcome, &mut |split| splits.push(split));
    splits
}

/// The bills of a run that still goes on: what its requests cost so far. A run that parts from it goes on with a copy.
#[derive(Clone)]
pub struct BillsSoFar<'a> {
    trace: &'a Trace,
    calibration: &'a Calibration,
    /// The one bill that is made; all where it is absent.
    only: Option<CacheKind>,
    /// By call: when it was made, and what is known of its model.
    asked: Rc<[(i64, Known<'a>)]>,
    session: Session<'a>,
    sum: Bills,
    /// Behind the end of a failed session.
    after_end: Bills,
    /// How many calls, summaries and sources that were read again they hold.
    calls: usize,
    summaries: usize,
    refetches: usize,
}

impl<'a> BillsSoFar<'a> {
    /// Nothing is billed yet. With `only` the bill of one cache alone is made: the others hold no request but the summariser's.
    pub fn new(trace: &'a Trace, tariff: &'a Tariff<'a>, calibration: &'a Calibration, only: Option<CacheKind>) -> BillsSoFar<'a> {
        let mut session = Session::new(trace, tariff);
        let asked = |call| {
            let time = session.time(call);
            (time, session.known(call, time))
        };
        let asked = trace.calls.iter().map(asked).collect();
        let (sum, after_end) = Default::default();
        BillsSoFar { trace, calibration, only, asked, session, sum, after_end, calls: 0, summaries: 0, refetches: 0 }
    }

    /// Bills what the run has come to: all rows of calls so far, of summaries, and of what was read again. No call is refused to the end.
    pub fn go_on(&mut self, calls: &[CallOutcome], summaries: &[SummaryCall], refetches: &[Refetch]) {
        self.add(calls.iter().copied(), calls.len(), (summaries, &[]), (refetches, &[]), &mut |_| {});
    }

    /// Bills the rest of a run that has ended.
    pub fn close(mut self, outcome: &Outcome) -> Bills {
        self.end(outcome, &mut |_| {});
        self.sum.after_end = (self.after_end.calls > 0).then(|| Box::new(self.after_end));
        self.sum
    }

    fn end(&mut self, outcome: &Outcome, show: &mut dyn FnMut(Split)) {
        let behind = &outcome.behind;
        let calls = outcome.calls.each().chain(behind.calls.iter().copied());
        let summaries = (&outcome.summaries[..], &behind.summaries[..]);
        self.add(calls, outcome.calls.len(), summaries, (&outcome.refetches, &behind.refetches), show);
    }

    /// Bills calls from the first one that is not billed yet, and what comes before them; `show` gets what the modelled cache makes of each call that is answered. The
    /// session ends with so many calls: what is behind them, of summaries and sources the second list, counts by itself.
    fn add(
        &mut self,
        calls: impl Iterator<Item = CallOutcome>,
        until: usize,
        summaries: (&[SummaryCall], &[SummaryCall]),
        refetches: (&[Refetch], &[Refetch]),
        show: &mut dyn FnMut(Split),
    ) {
        let (trace, calibration, only) = (self.trace, self.calibration, self.only);
        let mut summaries = until_end(summaries).skip(self.summaries).peekable();
        let mut refetches = until_end(refetches).skip(self.refetches).peekable();
        let asked = Rc::clone(&self.asked);
        let rows = calls.zip(&trace.calls).zip(asked.iter()).enumerate().skip(self.calls);
        for (index, ((row, call), (time, known))) in rows {
            self.calls = index + 1;
            let recorded = |ageless: Split, modelled: Split| calibration.split(index, ageless, modelled);
            while let Some((is_behind, summary)) = summaries.next_if(|(_, summary)| summary.call as usize <= index) {
                self.summaries += 1;
                let lifetime = |rule| self.session.lifetime_millis(rule);
                let warm = known.cache.is_none_or(|rule| i64::from(summary.waited_seconds) * 1_000 <= lifetime(rule));
                summarise(if is_behind { &mut self.after_end } else { &mut self.sum }, known, summary, warm, &recorded);
            }
            let mut ask = |sum: &mut Bills, row: &CallOutcome| request(sum, &mut self.session, call, (*time, known), row, &recorded, only);
            while let Some((is_behind, refetch)) = refetches.next_if(|(_, refetch)| refetch.call as usize <= index) {
                self.refetches += 1;
                ask(if is_behind { &mut self.after_end } else { &mut self.sum }, &refetch.request);
            }
            // The last row of a session that fails is that of the refused call.
            if row.unrecovered && index + 1 == until {
                continue;
            }
            let split = ask(if index < until { &mut self.sum } else { &mut self.after_end }, &row);
            if index < until {
                show(split);
            }
        }
    }
}

/// What happens up to the end of a session and what would have happened behind it, which is marked: both may be of the call that is refused.
fn until_end<'o, T>((before, behind): (&'o [T], &'o [T])) -> impl Iterator<Item = (bool, &'o T)> {
    before.iter().map(|one| (false, one)).chain(behind.iter().map(|one| (true, one)))
}

/// What the recorded cache makes of a prompt, given what the modelled one would if entries did not age, and what it does.
type Recorded<'a> = &'a dyn Fn(Split, Split) -> Split;

/// One request with what it costs. Hands back what the modelled cache makes of it.
fn request<'a>(
    sum: &mut Bills,
    session: &mut Session<'a>,
    call: &CallRow,
    (time, known): (i64, &Known<'a>),
    row: &CallOutcome,
    recorded: Recorded<'_>,
    only: Option<CacheKind>,
) -> Split {
    let request = Request { time, prompt: row.actual, prefix: row.prefix, hidden: call.hidden, blocks: row.blocks, shared: 0 };
    let Answer { common, found, ageless } = session.ask(call, known, request);
    let split = known.expected(found);
    sum.count(known, 1);
    let perfect = common.max(session.shared_of(call)).min(row.actual);
    let wants = |cache: CacheKind| only.is_none_or(|only| only == cache);
    if wants(CacheKind::None) {
        sum.uncached.charge(known, unwritten(row.actual, 0), row.output);
    }
    if wants(CacheKind::Modelled) {
        sum.modelled.charge(known, split, row.output);
    }
    if wants(CacheKind::Recorded) {
        sum.calibrated.charge(known, recorded(ageless, split), row.output);
    }
    if wants(CacheKind::Perfect) {
        sum.perfect.charge(known, unwritten(row.actual, perfect), row.output);
    }
    split
}

/// The summariser's request goes to the session's model. What it shares with the last request is read if the cache is still warm, the rest is never read
/// again and so not written.
fn summarise(sum: &mut Bills, known: &Known<'_>, summary: &SummaryCall, warm: bool, recorded: Recorded<'_>) {
    sum.count(known, summary.calls);
    let cached = known.cache.filter(|_| warm).map_or(0, |rule| rule.cached(summary.prefix));
    let found = unwritten(summary.prompt, cached);
    let modelled = unwritten(summary.prompt, known.expected(found).read);
    let calibrated = unwritten(summary.prompt, recorded(found, modelled).read);
    sum.uncached.charge_summariser(known, unwritten(summary.prompt, 0), summary);
    sum.modelled.charge_summariser(known, modelled, summary);
    sum.calibrated.charge_summariser(known, calibrated, summary);
    sum.perfect.charge_summariser(known, unwritten(summary.prompt, summary.prefix), summary);
}

/// A prompt of which so much is read and nothing written.
fn unwritten(prompt: u64, read: u64) -> Split {
    Split { read, fresh: prompt - read, ..Split::default() }
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
