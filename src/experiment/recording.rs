//! What the logs say happened: the row that policies are compared with.

use super::backtest::recorders;
use super::beside::Beside;
use super::own::{Own, is_manual, own_agents};
use super::price::{check_model, check_of, price};
use super::replay::Replay;
use super::settings::ReplaySettings;
use crate::corpus::Corpus;
use crate::cost::{Bill, CacheKind, Charge, Check, OwnError, Tariff, call_prices};
use crate::list::{List, Pack, Rows};
use crate::policy::PolicyError;
use crate::sim::{EventKind, Totals};
use crate::trace::Trace;
use crate::transcript::CompactionKind;
use crate::units::add_fields;
use serde::{Deserialize, Serialize};

/// What the logs of a corpus say happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// By session, in the order of the corpus.
    pub sessions: List<RecordedSession>,
    /// The sum over all sessions.
    pub sum: RecordedSession,
}

/// What one log says happened, or many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedSession {
    /// Sessions, failed ones (the log ends in the provider's refusal), refused requests as overflows, calls, prompts, replies, the largest prompt, compactions and prunings;
    /// the summariser's requests as far as the log holds them. Every other figure is 0, for no log knows it.
    pub totals: Totals,
    /// The part of the compactions that a person asked for.
    pub manual_compactions: u64,
    /// Calls without recorded usage: their prompts are estimated.
    pub estimated_calls: u64,
    /// Their prompts, which are part of the sum.
    pub estimated_tokens: u64,
    /// The list price of the recorded usage.
    pub bill: Bill,
    /// The part of it that replies cost whose log holds a placeholder: they are estimated.
    pub estimated_output: Charge,
    /// The list price of the calls without recorded usage, as the model of the cache prices them.
    pub estimated_bill: Bill,
    /// The list price of both with the modelled cache, where the log has usage and no count of the cache, and where another model is billed: what a
    /// policy's bill, which has that cache, is compared with. `None` where the log counts it.
    pub modelled_nano_usd: Option<u64>,
    /// Recorded prompts of the logs that say what the prompt cache did, in tokens: the share that it read is not known of others.
    pub told_tokens: u64,
    /// Calls whose model has no price.
    pub unpriced_calls: u64,
    /// By call the list price of its recorded usage, in thousand-millionths of a dollar, and the part of it that is an estimated reply: `None` without usage or price. Empty in a sum.
    pub call_prices: Rows<Option<(u64, u64)>>,
}

impl Pack for RecordedSession {}

impl RecordedSession {
    fn of(trace: &Trace, check: &Check, tariff: &Tariff<'_>) -> RecordedSession {
        let sent = trace.sent.unwrap_or_default();
        let summariser = || trace.compactions.iter().filter_map(|event| event.usage);
        let mut totals = Totals {
            sessions: 1,
            called_sessions: u64::from(!trace.calls.is_empty()),
            failed_sessions: u64::from(trace.refused),
            overflowing_sessions: u64::from(!trace.refusals.is_empty()),
            overflows: trace.refusals.len() as u64,
            refused: trace.refusals.len() as u64,
            calls: trace.calls.len() as u64,
            prompt_tokens: sent.prompt_tokens,
            anchored_tokens: sent.prompt_tokens - sent.estimated_tokens,
            peak_tokens: sent.peak_tokens,
            output_tokens: trace.calls.iter().map(|call| call.output).sum(),
            summariser_calls: summariser().count() as u64,
            summariser_tokens: summariser().map(|usage| usage.prompt + usage.output).sum(),
            ..Totals::default()
        };
        // What another file holds as well counts there.
        let events = || trace.compactions.iter().filter(|event| !event.copy);
        for event in events() {
            totals.count(match event.kind {
                CompactionKind::Compact => EventKind::Compact,
                CompactionKind::Prune => EventKind::Prune,
            });
        }
        let mut bill = check.recorded;
        bill += check.shared.recorded;
        RecordedSession {
            totals,
            manual_compactions: events().filter(|event| is_manual(event)).count() as u64,
            estimated_calls: sent.estimated_calls,
            estimated_tokens: sent.estimated_tokens,
            bill,
            estimated_output: check.estimated_output,
            estimated_bill: check.unrecorded,
            modelled_nano_usd: (tariff.model.is_some() || !trace.tells_of_cache())
                .then(|| check.modelled.nano_usd() + check.shared.modelled.nano_usd() + check.unrecorded.nano_usd()),
            told_tokens: if trace.tells_of_cache() { bill.prompt_tokens() } else { 0 },
            unpriced_calls: check.unpriced_calls + check.shared.unpriced_calls + check.unrecorded_unpriced_calls,
            call_prices: call_prices(trace, tariff),
        }
    }

    fn add(&mut self, other: &RecordedSession) {
        self.totals += &other.totals;
        add_fields!(self += other:
            told_tokens, manual_compactions, estimated_calls, estimated_tokens, bill, estimated_output, estimated_bill, unpriced_calls);
    }

    /// The list price of all calls, in thousand-millionths of a dollar; the part without recorded usage is estimated.
    pub fn nano_usd(&self) -> u64 {
        self.bill.nano_usd() + self.estimated_bill.nano_usd()
    }

    /// The list price that bills with a cache are compared with: with that cache where the log does not say what its own did.
    /// Absent where the two caches differ: bills of another cache than the provider's, or of none, lie apart from recorded ones by what that cache would do.
    pub fn beside_nano_usd(&self, cache: CacheKind) -> Option<u64> {
        match cache {
            CacheKind::Recorded | CacheKind::Modelled => Some(self.modelled_nano_usd.unwrap_or_else(|| self.nano_usd())),
            // The list price of a log that counts no cache has none.
            CacheKind::None => {
                let cached = [self.bill.cache_read, self.bill.cache_write, self.bill.cache_write_1h];
                cached.iter().all(|charge| charge.tokens == 0).then(|| self.nano_usd())
            }
            CacheKind::Perfect => None,
        }
    }

    /// What caches read of the prompts whose logs say what the cache did, and those prompts, in tokens; `None` where they are less than half of all, for
    /// they would stand for what is not known.
    pub fn cache_reads(&self) -> Option<(u64, u64)> {
        let known = self.told_tokens > 0 && self.told_tokens * 2 >= self.totals.prompt_tokens;
        known.then_some((self.bill.cache_read.tokens, self.told_tokens))
    }

    /// Has any call a price?
    pub fn is_priced(&self) -> bool {
        self.totals.calls > self.unpriced_calls
    }
}

/// What the logs of a corpus say happened, at the prices of a tariff.
pub fn recording(corpus: &Corpus, tariff: &Tariff<'_>) -> Recording {
    let sessions = List::made(&corpus.traces, |place| {
        let trace = corpus.traces.at(place).unwrap_or_default();
        RecordedSession::of(&trace, &check_of(&trace, tariff), tariff)
    });
    let mut recording = Recording { sessions, sum: RecordedSession::default() };
    recording.sum = recording.over(0..corpus.traces.len());
    recording
}

impl Recording {
    /// A policy beside the recording over these sessions, by their places.
    pub fn beside(&self, replay: &Replay, cache: CacheKind, places: impl Iterator<Item = usize>) -> Beside {
        let (mut sum, mut unlike) = (Beside::default(), false);
        for place in places {
            let (Some(session), Some(outcome)) = (self.sessions.at(place), replay.outcomes.at(place)) else { continue };
            let totals = &outcome.totals;
            if totals.compared_sessions == 0 {
                continue;
            }
            sum.sessions += 1;
            sum.recorded_compactions += session.totals.events_of(EventKind::Compact) - session.manual_compactions;
            sum.compactions += totals.events_of(EventKind::Compact) + totals.events_of(EventKind::Reset);
            sum.recorded_tokens += totals.recorded_tokens;
            sum.tokens += totals.compared_tokens;
            if let Some(bills) = replay.bills.at(place) {
                let bill = bills.with(cache);
                let (recorded, simulated) = (session.beside_nano_usd(cache), bill.nano_usd() - bill.summariser.nano_usd);
                unlike |= recorded.is_none();
                sum.priced += u64::from(session.is_priced());
                sum.recorded_nano_usd += recorded.unwrap_or(0);
                sum.nano_usd += simulated;
                sum.off_nano_usd += recorded.unwrap_or(0).abs_diff(simulated);
            }
        }
        // What can be compared of some sessions alone would stand for all.
        if unlike {
            (sum.priced, sum.recorded_nano_usd, sum.nano_usd, sum.off_nano_usd) = (0, 0, 0, 0);
        }
        sum
    }

    /// What the logs say of these sessions, by their places.
    pub fn over(&self, places: impl Iterator<Item = usize>) -> RecordedSession {
        let mut sum = RecordedSession::default();
        places.filter_map(|place| self.sessions.at(place)).for_each(|session| sum.add(&session));
        sum
    }

    /// A policy beside it over the whole corpus, worked out once. A replay has one recording: that of its corpus, at the prices of its bills.
    pub fn beside_all(&self, replay: &Replay, cache: CacheKind) -> Beside {
        let beside = || self.beside(replay, cache, 0..self.sessions.len());
        replay.beside.get(cache as usize).map_or_else(beside, |known| *known.get_or_init(beside))
    }

    /// The list price of all calls that bills with a cache are compared with; `None` where a session has none.
    pub fn beside_nano_usd(&self, cache: CacheKind) -> Option<u64> {
        self.sessions.each().map(|session| session.beside_nano_usd(cache)).sum()
    }

    /// What a difference between bills must exceed: what those of the unchanged recordings are off, and, where that is more, those of the own
    /// agents where they were at work when the logs were made.
    pub fn own_error(&self, unchanged: OwnError, own: Option<&Own>, cache: CacheKind) -> OwnError {
        let own = own.filter(|own| own.as_recorded).and_then(|own| self.beside_all(&own.replay, cache).error());
        own.filter(|own| own.share() > unchanged.share()).unwrap_or(unchanged)
    }
}

/// The same as a share of the list price of the recorded usage, for commands that replay no own agents. `None` where the cache models nothing, and where no
/// recorded usage has a price.
pub fn own_error(
    corpus: &Corpus,
    tariff: &Tariff<'_>,
    cache: CacheKind,
    settings: &ReplaySettings<'_>,
) -> Result<Option<f64>, PolicyError> {
    let Some(unchanged) = OwnError::over(check_model(corpus, tariff).values(), cache) else { return Ok(None) };
    let defaults = ReplaySettings { window: None, model: None, reserve: None, ..settings.clone() };
    let mut own = own_agents(corpus, &recorders()?, &[], &defaults)?;
    if let Some(own) = &mut own {
        price(corpus, std::slice::from_mut(&mut own.replay), tariff);
    }
    Ok(Some(recording(corpus, tariff).own_error(unchanged, own.as_ref(), cache).share()))
}
