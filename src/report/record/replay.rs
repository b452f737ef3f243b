//! What policies did to a corpus, and one policy to one session.

use super::cost::{BillsRecord, ErrorRecord};
use super::figures::FiguresRecord;
use super::number::usd;
use super::recording::{BesideRecord, OwnPolicyRecord, OwnRecord, RecordingRecord};
use crate::corpus::Corpus;
use crate::cost::{Bills, CacheKind, Check};
use crate::experiment::{CallGroup, FileReadings, Grouped, JUMP_QUANTILES, Jumps, LeastBudget, NeverReached, Replay, WindowFrom};
use crate::list::List;
use crate::report::asked::{Baselines, Series};
use crate::sim::{Broken, CallOutcome, Carried, Event, Outcome, Refetch};
use crate::statistics::quantile;
use crate::trace::Trace;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The record of `ctxsim replay`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordingRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<OwnPolicyRecord<PolicyRecord>>,
    policies: Vec<PolicyRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_error: Option<BTreeMap<String, ErrorRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least_budget: Option<LeastBudget>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileRecord>,
}

/// What a session read of one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct FileRecord {
    session: String,
    file: u64,
    path: Option<String>,
    readings: u64,
    tokens: u64,
    again: u64,
    again_tokens: u64,
}

/// What was recorded in a group, and what policies would have sent there.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct GroupRecord {
    group: String,
    sessions: u64,
    calls: u64,
    calls_without_usage: u64,
    prompt_tokens: u64,
    cache_read_tokens: u64,
    output_tokens: u64,
    cost_usd: Option<String>,
    estimated_output_usd: Option<String>,
    compactions: u64,
    compacting_ms: Option<u64>,
    policies: Vec<GroupPolicyRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct GroupPolicyRecord {
    policy: String,
    prompt_tokens: u64,
    recorded_prompt_tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyRecord {
    policy: String,
    params: BTreeMap<String, String>,
    summary_model: Option<String>,
    unknown_models: BTreeMap<String, u64>,
    outgrown_models: BTreeMap<String, u64>,
    #[serde(flatten)]
    figures: FiguresRecord,
    regions: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<BillsRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside_recorded: Option<BesideRecord>,
    tools: Vec<ToolRecord>,
    overflows_of_no_tool: u64,
    jumps: JumpsRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    never_reached: Option<NeverReached>,
    sessions: SessionRecords,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_loop: Option<Box<PolicyRecord>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SessionRecord {
    session: String,
    parent: Option<String>,
    source: String,
    agent: String,
    model: Option<String>,
    window: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_from: Option<WindowFrom>,
    prompt_limit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen_tokens: Option<u64>,
    #[serde(flatten)]
    figures: FiguresRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<BillsRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<Vec<CallOutcome>>,
}

/// The sessions of a policy. Each record is made when it is written: there may be many.
#[derive(Clone, Debug, PartialEq)]
struct SessionRecords {
    traces: List<Trace>,
    outcomes: List<Outcome>,
    windows: Vec<WindowFrom>,
    bills: List<Bills>,
    series: Series,
}

impl Serialize for SessionRecords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = |place: usize| {
            let outcome = self.outcomes.at(place).filter(|outcome| outcome.totals.sessions > 0)?;
            let (trace, bills) = (self.traces.at(place)?, self.bills.at(place));
            Some(SessionRecord::new(&trace, &outcome, self.windows.get(place).copied(), bills.as_deref(), self.series))
        };
        serializer.collect_seq((0..self.traces.len()).filter_map(record))
    }
}

/// How far contexts jump from call to call, in tokens, beside the policy's reserve.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct JumpsRecord {
    jumps: u64,
    #[serde(flatten)]
    quantiles: BTreeMap<&'static str, Option<u64>>,
    reserve_least: Option<u64>,
    reserve_most: Option<u64>,
    beside_reserve: u64,
    beyond_reserve: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ToolRecord {
    tool: String,
    results: u64,
    tokens: u64,
    carried_tokens: u64,
    overflows: u64,
}

/// The record of `ctxsim explain`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainRecord {
    policy: String,
    params: BTreeMap<String, String>,
    #[serde(flatten)]
    session: SessionRecord,
    timeline: Vec<Event>,
    broken_references: Vec<Broken>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refetches_made: Vec<Refetch>,
}

impl ReplayRecord {
    /// The record of a replay.
    pub fn new(corpus: &Corpus, replays: &[Replay], series: Series) -> ReplayRecord {
        let policies = replays.iter().map(|replay| PolicyRecord::new(corpus, replay, series)).collect();
        ReplayRecord { recorded: None, own: None, policies, cost_error: None, least_budget: None, groups: Vec::new(), files: Vec::new() }
    }

    /// The same beside the recording and the user's own agents.
    pub fn beside(
        mut self,
        corpus: &Corpus,
        replays: &[Replay],
        baselines: &Baselines<'_>,
        cache: CacheKind,
        series: Series,
    ) -> ReplayRecord {
        self.recorded = baselines.recording.map(|recording| RecordingRecord::new(corpus, recording));
        self.own = baselines.own.map(|own| OwnPolicyRecord {
            policy: PolicyRecord {
                beside_recorded: BesideRecord::of(baselines, &own.replay, cache),
                ..PolicyRecord::new(corpus, &own.replay, series)
            },
            own: OwnRecord::new(own, baselines, cache),
        });
        for (policy, replay) in self.policies.iter_mut().zip(replays) {
            policy.beside_recorded = BesideRecord::of(baselines, replay, cache);
        }
        self
    }

    /// The same with what nearly all reused lines take, where that was asked for.
    pub fn with_least(self, least: Option<&LeastBudget>) -> ReplayRecord {
        ReplayRecord { least_budget: least.copied(), ..self }
    }

    /// The same with groups, where rows are those.
    pub fn with_groups(self, grouped: Option<&Grouped>) -> ReplayRecord {
        let policy = |(name, (tokens, recorded)): (&String, &(u64, u64))| GroupPolicyRecord {
            policy: name.clone(),
            prompt_tokens: *tokens,
            recorded_prompt_tokens: *recorded,
        };
        let record = |grouped: &Grouped, group: &CallGroup| GroupRecord {
            group: group.label.clone(),
            sessions: group.sessions,
            calls: group.calls,
            calls_without_usage: group.without_usage,
            prompt_tokens: group.prompt_tokens,
            cache_read_tokens: group.cache_read_tokens,
            output_tokens: group.output_tokens,
            cost_usd: group.nano_usd.map(usd),
            estimated_output_usd: group.nano_usd.map(|_| usd(group.estimated_nano_usd)),
            compactions: group.compactions,
            compacting_ms: group.compacting_ms,
            policies: grouped.policies.iter().zip(&group.policies).map(policy).collect(),
        };
        let groups = grouped.into_iter().flat_map(|grouped| grouped.groups.iter().map(move |group| record(grouped, group)));
        ReplayRecord { groups: groups.collect(), ..self }
    }

    /// The same with files, where rows are those.
    pub fn with_files(self, corpus: &Corpus, files: &[FileReadings]) -> ReplayRecord {
        let record = |file: &FileReadings| FileRecord {
            session: corpus.traces.at(file.session).map(|trace| trace.id.clone()).unwrap_or_default(),
            file: u64::from(file.file) + 1,
            path: file.path.clone(),
            readings: file.readings,
            tokens: file.tokens,
            again: file.again,
            again_tokens: file.again_tokens,
        };
        ReplayRecord { files: files.iter().map(record).collect(), ..self }
    }

    /// The same with what bills of the recordings themselves are off, by agent, where they were held against them.
    pub fn with_errors(self, checks: Option<&BTreeMap<String, Check>>) -> ReplayRecord {
        let by_agent =
            |checks: &BTreeMap<String, Check>| checks.iter().map(|(agent, check)| (agent.clone(), ErrorRecord::new(check))).collect();
        ReplayRecord { cost_error: checks.map(by_agent), ..self }
    }
}

impl ExplainRecord {
    /// The record of one session under one policy.
    pub fn new(trace: &Trace, replay: &Replay, outcome: &Outcome) -> ExplainRecord {
        ExplainRecord {
            policy: replay.policy.clone(),
            params: replay.params.iter().cloned().collect(),
            session: SessionRecord::new(trace, outcome, replay.windows.first().copied(), replay.bills.first(), Series::Included),
            timeline: outcome.events.clone(),
            broken_references: outcome.broken.clone(),
            refetches_made: outcome.refetches.clone(),
        }
    }
}

impl PolicyRecord {
    pub fn new(corpus: &Corpus, replay: &Replay, series: Series) -> PolicyRecord {
        let totals = &replay.totals;
        let mut regions: BTreeMap<&'static str, u64> = totals.by_region().collect();
        regions.insert("missing", totals.missing_tokens);
        let tool = |(name, carried): (&String, &Carried)| ToolRecord {
            tool: name.clone(),
            results: carried.results,
            tokens: carried.tokens,
            carried_tokens: carried.carried,
            overflows: carried.overflows,
        };
        let (windows, bills) = (replay.windows.clone(), replay.bills.clone());
        let sessions = SessionRecords { traces: corpus.traces.clone(), outcomes: replay.outcomes.clone(), windows, bills, series };
        PolicyRecord {
            policy: replay.policy.clone(),
            params: replay.params.iter().cloned().collect(),
            summary_model: Some(replay.summary_model.clone()).filter(|model| !model.is_empty()),
            unknown_models: replay.unknown_models.iter().cloned().collect(),
            outgrown_models: replay.outgrown.iter().cloned().collect(),
            figures: FiguresRecord::new(totals),
            regions,
            cost: BillsRecord::new(&replay.bill),
            beside_recorded: None,
            tools: totals.ranked_tools().into_iter().map(tool).collect(),
            overflows_of_no_tool: totals.overflows_of_no_tool(),
            jumps: JumpsRecord::new(&replay.jumps(corpus)),
            never_reached: replay.never_reached(),
            sessions,
            closed_loop: replay.closed.as_deref().map(|closed| Box::new(PolicyRecord::new(corpus, closed, series))),
        }
    }
}

impl JumpsRecord {
    fn new(jumps: &Jumps) -> JumpsRecord {
        JumpsRecord {
            jumps: jumps.sizes.len() as u64,
            quantiles: JUMP_QUANTILES.into_iter().map(|(percent, key)| (key, quantile(&jumps.sizes, percent * 10))).collect(),
            reserve_least: jumps.reserve.map(|(least, _)| least),
            reserve_most: jumps.reserve.map(|(_, most)| most),
            beside_reserve: jumps.beside,
            beyond_reserve: jumps.beyond,
        }
    }
}

impl SessionRecord {
    fn new(trace: &Trace, outcome: &Outcome, window_from: Option<WindowFrom>, bills: Option<&Bills>, series: Series) -> SessionRecord {
        SessionRecord {
            session: trace.id.clone(),
            parent: trace.parent.clone(),
            source: trace.source.clone(),
            agent: trace.agent.clone(),
            model: trace.main_model().map(str::to_owned),
            window: outcome.window,
            window_from,
            prompt_limit: outcome.prompt_limit,
            unseen_tokens: trace.unseen.map(|unseen| unseen.tokens),
            figures: FiguresRecord::new(&outcome.totals),
            cost: bills.and_then(BillsRecord::new),
            series: (series == Series::Included).then(|| outcome.calls.clone()),
        }
    }
}
