//! Costs for programs: money as decimal dollars in strings, exact to the thousand-millionth.

use super::keys::record;
use super::number::{share, share_of, usd_of};
use super::recording::{BesideRecord, OwnPolicyRecord, OwnRecord, RecordingRecord};
use crate::cost::{Bill, Bills, CacheKind, Charge, Check};
use crate::experiment::{BreakEven, Replay};
use crate::list::Gather;
use crate::report::asked::Priced;
use std::collections::BTreeMap;

record! {
    /// The record of `ctxsim cost`.
    pub struct CostRecord(priced: &Priced<'_>) {
        ?recorded: Option<RecordingRecord> = priced.baselines.recording.map(|recording| RecordingRecord::new(priced.corpus, recording)),
        ?own: Option<OwnPolicyRecord<PolicyRecord>> = priced.baselines.own.map(|own| OwnPolicyRecord {
            policy: PolicyRecord::new(&own.replay, priced),
            own: OwnRecord::new(own, &priced.baselines, priced.cache),
        }),
        policies: Vec<PolicyRecord> = priced.replays.iter().map(|replay| PolicyRecord::new(replay, priced)).collect(),
        agents: Vec<CheckRecord> = priced.checks.iter().map(|(agent, check)| CheckRecord::new(agent, check)).collect(),
        ?break_even: Option<BreakEvenRecord> = priced.break_even.map(|found| BreakEvenRecord::new(found, priced.cache)),
    }

    /// The bills of a policy or a session.
    pub struct BillsRecord(bills: &Bills) with {
        let bill = |bill: &Bill| BillRecord::new(bill, bills.is_priced());
    } {
        calls: u64 = bills.calls,
        unpriced_calls: u64 = bills.unpriced_calls,
        unpriced_models: Vec<String> = bills.unpriced_models.iter().cloned().collect(),
        uncached: BillRecord = bill(&bills.uncached),
        modelled: BillRecord = bill(&bills.modelled),
        calibrated: BillRecord = bill(&bills.calibrated),
        perfect: BillRecord = bill(&bills.perfect),
        ?after_end: Option<Box<BillsRecord>> = bills.after_end.as_deref().map(|bills| Box::new(BillsRecord::new(bills))),
    }
}

impl BillsRecord {
    /// The record of some bills; absent where none were made.
    pub fn any(bills: &Bills) -> Option<BillsRecord> {
        (bills.calls > 0 || bills.after_end.is_some()).then(|| BillsRecord::new(bills))
    }
}

record! {
    /// A bill; no money in it where no call has a price.
    struct BillRecord(bill: &Bill, is_priced: bool) with {
        let tiers = bill.tiers().into_iter().filter(|(_, charge)| charge.tokens > 0);
    } {
        cost: Option<String> = usd_of(is_priced, bill.nano_usd()),
        /// The part of it that compactions behind the last replies of logs cost; absent where there are none, and without a price.
        ?at_end_usd: Option<String> = usd_of(is_priced && bill.at_end.tokens > 0, bill.at_end.nano_usd),
        cache_hit_rate: Option<f64> = share_of(bill.cache_read.tokens, bill.prompt_tokens()),
        tiers: BTreeMap<String, TierRecord> =
            tiers.map(|(name, charge)| (name.replace(' ', "_"), TierRecord::new(charge, is_priced))).gather(),
    }

    struct TierRecord(charge: Charge, is_priced: bool) {
        tokens: u64 = charge.tokens,
        cost: Option<String> = usd_of(is_priced, charge.nano_usd),
    }

    struct PolicyRecord(replay: &Replay, priced: &Priced<'_>) with {
        let totals = &replay.totals;
    } {
        policy: String = replay.policy.clone(),
        prompt_tokens: u64 = totals.prompt_tokens,
        tokens_saved: Option<i64> = totals.is_comparable().then(|| totals.tokens_saved()),
        compared_sessions: u64 = totals.compared_sessions,
        saved_vs_none: i64 = totals.saved_vs_none(),
        ?beside_recorded: Option<BesideRecord> = BesideRecord::of(&priced.baselines, replay, priced.cache),
        summariser_calls: u64 = totals.summariser_calls,
        refused: u64 = totals.refused,
        refused_tokens: u64 = replay.outcomes.each().map(|outcome| outcome.requests().map(|call| call.refused_tokens).sum::<u64>()).sum(),
        refetches: u64 = totals.refetches.calls,
        ..bills: BillsRecord = BillsRecord::new(&replay.bill),
        ?closed_loop: Option<Box<PolicyRecord>> = replay.closed.as_deref().map(|closed| Box::new(PolicyRecord::new(closed, priced))),
    }

    struct CheckRecord(agent: &str, check: &Check) with {
        let bill = |bill: &Bill| BillRecord::new(bill, check.is_priced());
        let list = |nano_usd: u64| usd_of(check.logged_calls > check.logged_unpriced_calls, nano_usd);
    } {
        agent: String = agent.to_owned(),
        calls: u64 = check.calls,
        unpriced_calls: u64 = check.unpriced_calls,
        recorded: BillRecord = bill(&check.recorded),
        estimated_output_tokens: u64 = check.estimated_output.tokens,
        estimated_output_usd: Option<String> = usd_of(check.is_priced(), check.estimated_output.nano_usd),
        modelled: BillRecord = bill(&check.modelled),
        calibrated: BillRecord = bill(&check.calibrated),
        held_out: BillRecord = bill(&check.held_out),
        cost_error: ErrorRecord = ErrorRecord::new(check),
        logged_calls: u64 = check.logged_calls,
        logged_usd: Option<String> = usd_of(check.logged_calls > 0, check.logged_nano_usd),
        logged_unpriced_calls: u64 = check.logged_unpriced_calls,
        logged_list_usd: Option<String> = list(check.logged_list_nano_usd),
        logged_modelled_usd: Option<String> = list(check.logged_modelled_nano_usd),
        side_calls: u64 = check.side_calls,
        side_logged_calls: u64 = check.side_logged_calls,
        side_logged_usd: Option<String> = usd_of(check.side_logged_calls > 0, check.side_logged_nano_usd),
    }

    /// How far the bills of an agent's recordings are off, as shares of the list price of their usage; `null` without a price.
    pub struct ErrorRecord(check: &Check) with {
        let share = |cache| share(check.off(cache)? as f64, check.recorded.nano_usd());
    } {
        modelled: Option<f64> = share(CacheKind::Modelled),
        recorded: Option<f64> = share(CacheKind::Recorded),
        /// Calls of sessions whose logs count what caches read, at which the recorded or the modelled cache reads something.
        cache_reads: u64 = check.reads,
        /// Those at which the modelled cache reads as much, within 1,024 tokens.
        cache_reads_within: u64 = check.reads_within,
    }

    struct BreakEvenRecord(found: &BreakEven, cache: CacheKind) with {
        let all = &found.prunes.all;
    } {
        policy: String = found.policy.clone(),
        param: String = found.param.clone(),
        value: Option<u64> = found.value,
        prunes: u64 = all.len() as u64,
        unpriced_prunes: u64 = found.prunes.unpriced,
        removed_tokens: u64 = all.iter().map(|prune| prune.removed).sum(),
        rewritten_tokens: u64 = all.iter().map(|prune| prune.rewritten).sum(),
        broken_cache_usd: Option<String> = usd_of(!all.is_empty(), all.iter().map(|prune| prune.cost_nano_usd).sum()),
        saving_per_call_usd: Option<String> = usd_of(!all.is_empty(), all.iter().map(|prune| prune.saving_nano_usd).sum()),
        paying_prunes: u64 = all.iter().filter(|prune| prune.pays()).count() as u64,
        predicted_minimum: Option<u64> = found.prunes.best_size(),
        measured_minimum: Option<u64> = found.measured_best(cache),
        tried: Vec<TriedRecord> = found.tried.iter().map(TriedRecord::new).collect(),
    }

    struct TriedRecord((minimum, replay): &(u64, Replay)) {
        minimum: u64 = *minimum,
        tokens_saved: Option<i64> = replay.totals.is_comparable().then(|| replay.totals.tokens_saved()),
        ..bills: BillsRecord = BillsRecord::new(&replay.bill),
    }
}
