//! The model held against the recording: cache reads, writes and cost of the unchanged session.

use super::bill::{Bill, Session};
use super::cache::Request;
use super::tariff::Tariff;
use crate::sim::Outcome;
use crate::trace::Trace;
use crate::transcript::{CompactionKind, Trust, Usage};
use std::collections::BTreeSet;
use std::ops::AddAssign;

/// Recorded beside modelled, summed over calls with recorded usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Calls with usage that the provider reported.
    pub calls: u64,
    /// The recorded usage at list prices: every token as the provider counted it.
    pub recorded: Bill,
    /// The same prompts as the model of the cache splits them.
    pub modelled: Bill,
    /// Calls without such usage, as the model prices them: estimates. They are in no other figure but this.
    pub unrecorded: Bill,
    /// How many they are.
    pub unrecorded_calls: u64,
    /// The part of them whose model has no price.
    pub unrecorded_unpriced_calls: u64,
    /// Calls for which the log names a cost.
    pub logged_calls: u64,
    /// That cost, in thousand-millionths of a dollar.
    pub logged_nano_usd: u64,
    /// The list price of these calls, as recorded.
    pub logged_list_nano_usd: u64,
    /// The list price of these calls, as modelled.
    pub logged_modelled_nano_usd: u64,
    /// Calls of models without a price.
    pub unpriced_calls: u64,
    /// Those models.
    pub unpriced_models: BTreeSet<String>,
    /// Calls that the log shows beside the conversation (titles, checks, summarisers): in no other figure but these two.
    pub side_calls: u64,
    /// Their cost, where the log names it.
    pub side_logged_nano_usd: u64,
}

impl AddAssign<&Check> for Check {
    fn add_assign(&mut self, other: &Check) {
        self.calls += other.calls;
        self.recorded += &other.recorded;
        self.modelled += &other.modelled;
        self.unrecorded += &other.unrecorded;
        self.unrecorded_calls += other.unrecorded_calls;
        self.unrecorded_unpriced_calls += other.unrecorded_unpriced_calls;
        self.logged_calls += other.logged_calls;
        self.logged_nano_usd += other.logged_nano_usd;
        self.logged_list_nano_usd += other.logged_list_nano_usd;
        self.logged_modelled_nano_usd += other.logged_modelled_nano_usd;
        self.unpriced_calls += other.unpriced_calls;
        self.unpriced_models.extend(other.unpriced_models.iter().cloned());
        self.side_calls += other.side_calls;
        self.side_logged_nano_usd += other.side_logged_nano_usd;
    }
}

/// Holds the model against a session. `unchanged` is its outcome under no policy: it tells where prompts part from those before.
pub fn check(trace: &Trace, unchanged: &Outcome, tariff: &Tariff<'_>) -> Check {
    let mut sum = Check::default();
    let mut session = Session::new(trace, tariff);
    let mut compactions = trace.compactions.iter().peekable();
    // The last prompt as it was sent, and as it would have been under no policy.
    let mut last: Option<(u64, u64)> = None;
    for (row, call) in unchanged.calls.iter().zip(&trace.calls) {
        let mut compacted = false;
        while let Some(compaction) = compactions.next_if(|compaction| compaction.before <= call.message) {
            compacted |= matches!(compaction.kind, CompactionKind::Compact | CompactionKind::Prune);
        }
        let usage = call.usage.filter(|usage| usage.trust == Trust::Provider);
        let prompt = usage.map_or(row.actual, |usage| usage.prompt);
        let prefix = match last {
            // What the agent's own compaction left of the prompt is not recorded: system prompt and tools stay for certain.
            Some(_) if compacted => call.hidden,
            // The distance from the end to the first change is the same in the recorded prompt as in the one that was never compacted.
            Some((sent, whole)) => sent.saturating_sub(whole.saturating_sub(row.prefix)),
            None => 0,
        };
        last = Some((prompt, row.actual));
        let time = session.time(call);
        let known = session.known(call, time);
        let request = Request { time, prompt, prefix: prefix.min(prompt), hidden: call.hidden, blocks: row.blocks, shared: 0 };
        let (_, split) = session.ask(call, &known, request);
        let Some(usage) = usage else {
            sum.unrecorded_calls += 1;
            sum.unrecorded_unpriced_calls += u64::from(known.price.is_none());
            sum.unrecorded.charge(&known, split, session.lifetime, call.output);
            continue;
        };
        sum.calls += 1;
        let (recorded, modelled) = (recorded_bill(&usage, &known), {
            let mut bill = Bill::default();
            bill.charge(&known, split, session.lifetime, usage.output);
            bill
        });
        sum.recorded += &recorded;
        sum.modelled += &modelled;
        if known.price.is_none() {
            sum.unpriced_calls += 1;
            sum.unpriced_models.insert(known.name.to_owned());
        }
        if let Some(logged) = usage.cost_nano_usd {
            sum.logged_calls += 1;
            sum.logged_nano_usd += u64::try_from(logged).unwrap_or(0);
            sum.logged_list_nano_usd += recorded.nano_usd();
            sum.logged_modelled_nano_usd += modelled.nano_usd();
        }
    }
    let beside = trace.side_calls.iter().map(|(usage, _)| usage);
    for usage in beside.chain(trace.compactions.iter().filter_map(|compaction| compaction.usage.as_ref())) {
        sum.side_calls += 1;
        sum.side_logged_nano_usd += usage.cost_nano_usd.and_then(|nano| u64::try_from(nano).ok()).unwrap_or(0);
    }
    sum
}

/// Recorded usage at list prices.
fn recorded_bill(usage: &Usage, known: &super::tariff::Known<'_>) -> Bill {
    let mut bill = Bill::default();
    let long = usage.cache_write_1h.min(usage.cache_write);
    let fresh = usage.prompt.saturating_sub(usage.cache_read + usage.cache_write);
    let rates = known.price.map(|price| price.rates(usage.prompt));
    bill.fresh.add(fresh, rates.map(|rates| rates.input));
    bill.cache_read.add(usage.cache_read, rates.map(|rates| rates.cache_read));
    bill.cache_write.add(usage.cache_write - long, rates.map(|rates| rates.cache_write));
    bill.cache_write_1h.add(long, rates.map(|rates| rates.cache_write_1h));
    bill.output.add(usage.output, rates.map(|rates| rates.output));
    bill
}
