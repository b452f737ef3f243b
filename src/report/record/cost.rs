//! Costs for programs: money as decimal dollars in strings, exact to the thousand-millionth.

use super::number::{share, share_of, usd};
use super::recording::{BesideRecord, OwnPolicyRecord, OwnRecord, RecordingRecord};
use crate::cost::{Bill, Bills, CacheKind, Check};
use crate::experiment::{BreakEven, Replay};
use crate::report::asked::Priced;
use serde::Serialize;
use std::collections::BTreeMap;

/// The record of `ctxsim cost`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordingRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<OwnPolicyRecord<PolicyRecord>>,
    policies: Vec<PolicyRecord>,
    agents: Vec<CheckRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    break_even: Option<BreakEvenRecord>,
}

/// The bills of a policy or a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BillsRecord {
    calls: u64,
    unpriced_calls: u64,
    unpriced_models: Vec<String>,
    uncached: BillRecord,
    modelled: BillRecord,
    calibrated: BillRecord,
    perfect: BillRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_end: Option<Box<BillsRecord>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct BillRecord {
    cost: String,
    /// The part of it that compactions behind the last replies of logs cost; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_end_usd: Option<String>,
    cache_hit_rate: Option<f64>,
    tiers: BTreeMap<String, TierRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct TierRecord {
    tokens: u64,
    cost: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct PolicyRecord {
    policy: String,
    prompt_tokens: u64,
    tokens_saved: Option<i64>,
    compared_sessions: u64,
    saved_vs_none: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside_recorded: Option<BesideRecord>,
    summariser_calls: u64,
    refused: u64,
    refused_tokens: u64,
    refetches: u64,
    #[serde(flatten)]
    bills: BillsRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_loop: Option<Box<PolicyRecord>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct CheckRecord {
    agent: String,
    calls: u64,
    unpriced_calls: u64,
    recorded: BillRecord,
    estimated_output_tokens: u64,
    estimated_output_usd: String,
    modelled: BillRecord,
    calibrated: BillRecord,
    held_out: BillRecord,
    cost_error: ErrorRecord,
    logged_calls: u64,
    logged_usd: String,
    logged_list_usd: String,
    logged_modelled_usd: String,
    side_calls: u64,
    side_logged_usd: String,
}

/// How far the bills of an agent's recordings are off, as shares of the list price of their usage; `null` without a price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorRecord {
    modelled: Option<f64>,
    recorded: Option<f64>,
    /// Calls of sessions whose logs count what caches read.
    cache_reads: u64,
    /// Those at which the modelled cache reads as much, within 1,024 tokens.
    cache_reads_within: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct BreakEvenRecord {
    policy: String,
    param: String,
    value: Option<u64>,
    prunes: u64,
    removed_tokens: u64,
    rewritten_tokens: u64,
    broken_cache_usd: String,
    saving_per_call_usd: String,
    paying_prunes: u64,
    predicted_minimum: Option<u64>,
    measured_minimum: Option<u64>,
    tried: Vec<TriedRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct TriedRecord {
    minimum: u64,
    tokens_saved: i64,
    #[serde(flatten)]
    bills: BillsRecord,
}

impl CostRecord {
    /// The record of a report on cost.
    pub fn new(priced: &Priced<'_>) -> CostRecord {
        CostRecord {
            recorded: priced.baselines.recording.map(|recording| RecordingRecord::new(priced.corpus, recording)),
            own: priced.baselines.own.map(|own| OwnPolicyRecord {
                policy: PolicyRecord::new(&own.replay, priced),
                own: OwnRecord::new(own, &priced.baselines, priced.cache),
            }),
            policies: priced.replays.iter().map(|replay| PolicyRecord::new(replay, priced)).collect(),
            agents: priced.checks.iter().map(|(agent, check)| CheckRecord::new(agent, check)).collect(),
            break_even: priced.break_even.map(|found| BreakEvenRecord::new(found, priced.cache)),
        }
    }
}

impl BillsRecord {
    /// The record of some bills; absent where none were made.
    pub fn new(bills: &Bills) -> Option<BillsRecord> {
        (bills.calls > 0 || bills.after_end.is_some()).then(|| BillsRecord::of(bills))
    }

    fn of(bills: &Bills) -> BillsRecord {
        BillsRecord {
            calls: bills.calls,
            unpriced_calls: bills.unpriced_calls,
            unpriced_models: bills.unpriced_models.iter().cloned().collect(),
            uncached: BillRecord::new(&bills.uncached),
            modelled: BillRecord::new(&bills.modelled),
            calibrated: BillRecord::new(&bills.calibrated),
            perfect: BillRecord::new(&bills.perfect),
            after_end: bills.after_end.as_deref().map(|bills| Box::new(BillsRecord::of(bills))),
        }
    }
}

impl BillRecord {
    fn new(bill: &Bill) -> BillRecord {
        let tiers = bill.tiers().into_iter().filter(|(_, charge)| charge.tokens > 0);
        BillRecord {
            cost: usd(bill.nano_usd()),
            at_end_usd: (bill.at_end.tokens > 0).then(|| usd(bill.at_end.nano_usd)),
            cache_hit_rate: share_of(bill.cache_read.tokens, bill.prompt_tokens()),
            tiers: tiers
                .map(|(name, charge)| (name.replace(' ', "_"), TierRecord { tokens: charge.tokens, cost: usd(charge.nano_usd) }))
                .collect(),
        }
    }
}

impl PolicyRecord {
    fn new(replay: &Replay, priced: &Priced<'_>) -> PolicyRecord {
        let totals = &replay.totals;
        PolicyRecord {
            policy: replay.policy.clone(),
            prompt_tokens: totals.prompt_tokens,
            tokens_saved: totals.is_comparable().then(|| totals.tokens_saved()),
            compared_sessions: totals.compared_sessions,
            saved_vs_none: totals.saved_vs_none(),
            beside_recorded: BesideRecord::of(&priced.baselines, replay, priced.cache),
            summariser_calls: totals.summariser_calls,
            refused: totals.refused,
            refused_tokens: replay.outcomes.each().map(|outcome| outcome.requests().map(|call| call.refused_tokens).sum::<u64>()).sum(),
            refetches: totals.refetches.calls,
            bills: BillsRecord::of(&replay.bill),
            closed_loop: replay.closed.as_deref().map(|closed| Box::new(PolicyRecord::new(closed, priced))),
        }
    }
}

impl CheckRecord {
    fn new(agent: &str, check: &Check) -> CheckRecord {
        CheckRecord {
            agent: agent.to_owned(),
            calls: check.calls,
            unpriced_calls: check.unpriced_calls,
            recorded: BillRecord::new(&check.recorded),
            estimated_output_tokens: check.estimated_output.tokens,
            estimated_output_usd: usd(check.estimated_output.nano_usd),
            modelled: BillRecord::new(&check.modelled),
            calibrated: BillRecord::new(&check.calibrated),
            held_out: BillRecord::new(&check.held_out),
            cost_error: ErrorRecord::new(check),
            logged_calls: check.logged_calls,
            logged_usd: usd(check.logged_nano_usd),
            logged_list_usd: usd(check.logged_list_nano_usd),
            logged_modelled_usd: usd(check.logged_modelled_nano_usd),
            side_calls: check.side_calls,
            side_logged_usd: usd(check.side_logged_nano_usd),
        }
    }
}

impl ErrorRecord {
    /// The errors of one agent.
    pub fn new(check: &Check) -> ErrorRecord {
        let share = |cache| Some(share(check.off(cache)? as f64, check.recorded.nano_usd()));
        ErrorRecord {
            modelled: share(CacheKind::Modelled),
            recorded: share(CacheKind::Recorded),
            cache_reads: check.reads,
            cache_reads_within: check.reads_within,
        }
    }
}

impl BreakEvenRecord {
    fn new(found: &BreakEven, cache: CacheKind) -> BreakEvenRecord {
        let all = &found.prunes.all;
        let tried = |(minimum, replay): &(u64, Replay)| TriedRecord {
            minimum: *minimum,
            tokens_saved: replay.totals.tokens_saved(),
            bills: BillsRecord::of(&replay.bill),
        };
        BreakEvenRecord {
            policy: found.policy.clone(),
            param: found.param.clone(),
            value: found.value,
            prunes: all.len() as u64,
            removed_tokens: all.iter().map(|prune| prune.removed).sum(),
            rewritten_tokens: all.iter().map(|prune| prune.rewritten).sum(),
            broken_cache_usd: usd(all.iter().map(|prune| prune.cost_nano_usd).sum()),
            saving_per_call_usd: usd(all.iter().map(|prune| prune.saving_nano_usd).sum()),
            paying_prunes: all.iter().filter(|prune| prune.pays()).count() as u64,
            predicted_minimum: found.prunes.best_size(),
            measured_minimum: found.measured_best(cache),
            tried: found.tried.iter().map(tried).collect(),
        }
    }
}
