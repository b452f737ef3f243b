//! The model held against the recording: cache reads, writes and cost of the unchanged session.

use super::bill::{Bill, CacheKind, Charge};
use super::cache::Split;
use super::calibration::Calibration;
use super::recorded::{Step, walk};
use super::session::Session;
use super::tariff::Tariff;
use crate::list::{Coming, Rows};
use crate::trace::{CallRow, Trace, WholePrompt};
use crate::transcript::{Trust, Usage};
use crate::units::{add_fields, adds, signed};
use std::collections::BTreeSet;
use std::ops::AddAssign;

/// Reads that differ by no more tokens are alike: the largest step in which a provider's cache counts. Of a short prompt it is a tenth: a whole step would prove nothing there.
pub const BLOCK: u64 = 1_024;

/// One part in so many of a bill may be estimated without a word.
const FEW: u64 = 33;

/// Calls whose log has a sum of many of them: no single one can be held against the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedCalls {
    /// How many they are.
    pub calls: u64,
    /// The part of them whose model has no price.
    pub unpriced_calls: u64,
    /// The sums at list prices.
    pub recorded: Bill,
    /// The same prompts as the model of the cache splits them.
    pub modelled: Bill,
}

adds!(SharedCalls += SharedCalls: calls, unpriced_calls, recorded, modelled);

/// Recorded beside modelled, summed over calls with recorded usage of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Calls with usage that the provider reported.
    pub calls: u64,
    /// The recorded usage at list prices: every token as the provider counted it, but for placeholders.
    pub recorded: Bill,
    /// The part of its replies that is estimated, for the log holds a placeholder from the start of the stream.
    pub estimated_output: Charge,
    /// The recorded prompts as the model of the cache splits them.
    pub modelled: Bill,
    /// Calls without such usage, with the factors of their session where its log counts the cache, as policies are billed: estimates. They are in
    /// no other figure but this.
    pub unrecorded: Bill,
    /// Number of calls without such usage.
    pub unrecorded_calls: u64,
    /// The part of them whose model has no price.
    pub unrecorded_unpriced_calls: u64,
    /// Calls whose log has a sum of many: in no other figure but this.
    pub shared: SharedCalls,
    /// The recorded prompts with each call's own factor.
    pub calibrated: Bill,
    /// The recorded prompts with factors that the call had no part in: those of every second call of its session, itself not among them.
    pub held_out: Bill,
    /// What the modelled bills of single sessions are off, too high or too low, summed; in thousand-millionths of a dollar.
    pub modelled_off_nano_usd: u64,
    /// What the held-out bills of single sessions are off, summed alike; in thousand-millionths of a dollar.
    pub held_out_off_nano_usd: u64,
    /// Calls of sessions whose logs count what caches read.
    pub cache_calls: u64,
    /// Those at which the recorded cache or the modelled one reads something: that both read nothing where there is nothing to read says nothing of the model.
    pub reads: u64,
    /// Those at which the modelled cache reads as much, within [`BLOCK`] and a tenth of the prompt.
    pub reads_within: u64,
    /// Calls for which the log names a cost.
    pub logged_calls: u64,
    /// The part of them whose model has no list price.
    pub logged_unpriced_calls: u64,
    /// Cost that the log names, in thousand-millionths of a dollar.
    pub logged_nano_usd: u64,
    /// The list price of these calls, as recorded.
    pub logged_list_nano_usd: u64,
    /// The list price of these calls, as modelled.
    pub logged_modelled_nano_usd: u64,
    /// Calls of models without a price.
    pub unpriced_calls: u64,
    /// Names of the models without a price.
    pub unpriced_models: BTreeSet<String>,
    /// Calls that the log shows beside the conversation (titles, checks, summarisers): in no other figure but these four.
    pub side_calls: u64,
    /// Tokens of their prompts.
    pub side_prompt_tokens: u64,
    /// The part of them whose cost the log names.
    pub side_logged_calls: u64,
    /// Cost of the side calls, where the log names it; in thousand-millionths of a dollar.
    pub side_logged_nano_usd: u64,
}

impl AddAssign<&Check> for Check {
    fn add_assign(&mut self, other: &Check) {
        add_fields!(self += other:
            calls, recorded, estimated_output, modelled, shared, unrecorded, unrecorded_calls, unrecorded_unpriced_calls, calibrated, held_out,
            modelled_off_nano_usd, held_out_off_nano_usd, cache_calls, reads, reads_within, logged_calls, logged_unpriced_calls, logged_nano_usd,
            logged_list_nano_usd, logged_modelled_nano_usd, unpriced_calls, side_calls, side_prompt_tokens, side_logged_calls, side_logged_nano_usd);
        self.unpriced_models.extend(other.unpriced_models.iter().cloned());
    }
}

impl Check {
    /// Has any call with usage a price?
    pub fn is_priced(&self) -> bool {
        self.calls > self.unpriced_calls
    }

    /// What the recording comes to with one of the caches, for calls that had no part in its making; absent for those that model nothing.
    pub fn bill(&self, cache: CacheKind) -> Option<&Bill> {
        match cache {
            CacheKind::Recorded => Some(&self.held_out),
            CacheKind::Modelled => Some(&self.modelled),
            CacheKind::None | CacheKind::Perfect => None,
        }
    }

    /// What that is off, in thousand-millionths of a dollar; absent where nothing is modelled or has a price.
    pub fn off(&self, cache: CacheKind) -> Option<i64> {
        let recorded = Some(self.recorded.nano_usd()).filter(|nano| *nano > 0)?;
        Some(signed(self.bill(cache)?.nano_usd()) - signed(recorded))
    }
}

/// How far bills are off on the recordings themselves: no difference between bills that is smaller says anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnError {
    /// Of each session what the bill is off, too high or too low, summed; in thousand-millionths of a dollar. Sums over sessions would hide what is too high in one and too
    /// low in another, where a policy acts in one of them alone.
    pub off_nano_usd: u64,
    /// The list price of the recorded usage.
    pub recorded_nano_usd: u64,
    /// What the calls without usage come to: nothing tells how far that is off.
    pub unrecorded_nano_usd: u64,
}

impl OwnError {
    /// The error of bills with one of the caches over the checks of all agents; absent where the cache models nothing, and where no
    /// recorded usage has a price.
    pub fn over<'a>(checks: impl IntoIterator<Item = &'a Check>, cache: CacheKind) -> Option<OwnError> {
        let mut sum = OwnError::default();
        for check in checks {
            sum.off_nano_usd += match cache {
                CacheKind::Recorded => check.held_out_off_nano_usd,
                CacheKind::Modelled => check.modelled_off_nano_usd,
                CacheKind::None | CacheKind::Perfect => return None,
            };
            sum.recorded_nano_usd += check.recorded.nano_usd();
            sum.unrecorded_nano_usd += check.unrecorded.nano_usd() + check.shared.recorded.nano_usd();
        }
        (sum.recorded_nano_usd > 0).then_some(sum)
    }

    /// The error as a share of what it is held against.
    pub fn share(&self) -> f64 {
        self.off_nano_usd as f64 / self.recorded_nano_usd.max(1) as f64
    }

    /// The bill that the error rests on, and the whole; `None` where nearly all of it is recorded.
    pub fn part(&self) -> Option<(u64, u64)> {
        let whole = self.recorded_nano_usd + self.unrecorded_nano_usd;
        (self.unrecorded_nano_usd > whole / FEW).then_some((self.recorded_nano_usd, whole))
    }
}

/// Holds the model against a session. `whole` are its prompts under no policy.
pub fn check(trace: &Trace, whole: &[WholePrompt], tariff: &Tariff<'_>) -> Check {
    let calibration = Calibration::of(trace, whole, tariff);
    let [even, odd] =
        calibration.halves().map(|half| calibration.session().map_or_else(Calibration::default, |_| Calibration::from_others(half)));
    held_against(trace, whole, tariff, &calibration, [&odd, &even])
}

/// The same with other factors for the bill of what is held out: of calls at even places, and at odd ones.
pub fn check_by(trace: &Trace, whole: &[WholePrompt], tariff: &Tariff<'_>, held_out: [&Calibration; 2]) -> Check {
    held_against(trace, whole, tariff, &Calibration::of(trace, whole, tariff), held_out)
}

fn held_against(
    trace: &Trace,
    whole: &[WholePrompt],
    tariff: &Tariff<'_>,
    calibration: &Calibration,
    held_out: [&Calibration; 2],
) -> Check {
    let mut sum = Check::default();
    let [of_even, of_odd] = held_out;
    let tells = trace.tells_of_cache();
    for Step { place, call, usage, known, answer } in walk(trace, whole, tariff) {
        let (ageless, split) = (answer.ageless, known.expected(answer.found));
        let Some(usage) = usage else {
            sum.unrecorded_calls += 1;
            sum.unrecorded_unpriced_calls += u64::from(known.price.is_none());
            sum.unrecorded.charge(&known, calibration.split(place, ageless, split), call.output);
            continue;
        };
        let output = call.recorded_output().unwrap_or(call.output);
        let bill = |split: Split| {
            let mut bill = Bill::default();
            bill.charge(&known, split, output);
            bill
        };
        if usage.trust == Trust::Shared {
            sum.shared.calls += 1;
            sum.shared.unpriced_calls += u64::from(known.price.is_none());
            sum.shared.recorded += bill(as_recorded(&usage));
            sum.shared.modelled += bill(split);
            continue;
        }
        sum.calls += 1;
        sum.cache_calls += u64::from(tells);
        // What misses in the mean is right in a bill, and at no single call.
        let hit = answer.found.read;
        let reads = tells && hit.max(usage.cache_read) > 0;
        sum.reads += u64::from(reads);
        sum.reads_within += u64::from(reads && hit.abs_diff(usage.cache_read) <= BLOCK.min(usage.prompt / 10));
        let (recorded, modelled) = (bill(as_recorded(&usage)), bill(split));
        sum.recorded += recorded;
        sum.modelled += modelled;
        sum.calibrated += bill(calibration.split(place, ageless, split));
        sum.held_out += bill(if place % 2 == 0 { of_even } else { of_odd }.split(place, ageless, split));
        if call.recorded_output().is_none() {
            sum.estimated_output += recorded.output;
        }
        if known.price.is_none() {
            sum.unpriced_calls += 1;
            sum.unpriced_models.insert(known.name.to_owned());
        }
        if let Some(logged) = usage.cost_nano_usd {
            sum.logged_calls += 1;
            sum.logged_unpriced_calls += u64::from(known.price.is_none());
            sum.logged_nano_usd += u64::try_from(logged).unwrap_or(0);
            sum.logged_list_nano_usd += recorded.nano_usd();
            sum.logged_modelled_nano_usd += modelled.nano_usd();
        }
    }
    let recorded = sum.recorded.nano_usd();
    sum.modelled_off_nano_usd = sum.modelled.nano_usd().abs_diff(recorded);
    sum.held_out_off_nano_usd = sum.held_out.nano_usd().abs_diff(recorded);
    let beside = trace.side_calls.iter().map(|(usage, _)| usage);
    for usage in beside.chain(trace.compactions.iter().filter_map(|compaction| compaction.usage.as_ref())) {
        sum.side_calls += 1;
        sum.side_prompt_tokens += usage.prompt;
        sum.side_logged_calls += u64::from(usage.cost_nano_usd.is_some());
        sum.side_logged_nano_usd += usage.cost_nano_usd.and_then(|nano| u64::try_from(nano).ok()).unwrap_or(0);
    }
    sum
}

/// The list price of each call's recorded usage, in thousand-millionths of a dollar, with the part of it that is an estimated reply; `None` without usage, and for models without a price.
pub fn call_prices(trace: &Trace, tariff: &Tariff<'_>) -> Rows<Option<(u64, u64)>> {
    let mut session = Session::new(trace, tariff);
    let price = |call: &CallRow| {
        let time = session.time(call);
        let known = session.known(call, time);
        let usage = call.reported()?;
        known.price?;
        let mut bill = Bill::default();
        bill.charge(&known, as_recorded(&usage), call.recorded_output().unwrap_or(call.output));
        Some((bill.nano_usd(), if call.recorded_output().is_none() { bill.output.nano_usd } else { 0 }))
    };
    let mut prices = Coming::expecting(trace.calls.len());
    trace.calls.iter().map(price).for_each(|price| prices.push(price));
    prices.rows()
}

/// The list price of the summarisers' requests that a log holds with their usage, at the prices of the model that goes on behind them; in thousand-millionths of a
/// dollar.
pub fn summariser_nano_usd(trace: &Trace, tariff: &Tariff<'_>) -> u64 {
    let mut session = Session::new(trace, tariff);
    let mut sum = Bill::default();
    for event in trace.compactions.iter().filter(|event| !event.copy) {
        let place = trace.calls.partition_point(|call| call.message < event.before);
        if let Some((usage, call)) = event.usage.zip(trace.calls.get(place).or(trace.calls.last())) {
            let time = session.time(call);
            // A placeholder says nothing of the summary.
            let summary = event.summary_tokens.filter(|_| !usage.output_is_final).unwrap_or(0);
            sum.charge(&session.known(call, time), as_recorded(&usage), usage.output.max(summary));
        }
    }
    sum.nano_usd()
}

/// A prompt as its provider counted it.
fn as_recorded(usage: &Usage) -> Split {
    let read = usage.cache_read.min(usage.prompt);
    let write = usage.cache_write.min(usage.prompt - read);
    Split { read, write, write_1h: usage.cache_write_1h.min(write), fresh: usage.prompt - read - write }
}
