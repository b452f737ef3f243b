//! What policies did to a corpus, and one policy to one session.

use super::cost::{BillsRecord, ErrorRecord};
use super::figures::FiguresRecord;
use super::keys::{record, rows};
use super::number::usd;
use super::recording::{BesideRecord, OwnPolicyRecord, OwnRecord, RecordingRecord};
use crate::corpus::Corpus;
use crate::cost::{Bills, CacheKind, Check};
use crate::experiment::{CallGroup, FileReadings, Grouped, JUMP_QUANTILES, Jumps, LeastBudget, NeverReached, Replay, WindowFrom};
use crate::list::{Gather, List};
use crate::report::asked::{Baselines, Series};
use crate::sim::{Broken, CallOutcome, Carried, Event, Outcome, Refetch};
use crate::statistics::quantile;
use crate::trace::Trace;
use std::collections::BTreeMap;

record! {
    /// The record of `ctxsim replay`.
    pub struct ReplayRecord(corpus: &Corpus, replays: &[Replay], series: Series) {
        ?recorded: Option<RecordingRecord> = None,
        ?own: Option<OwnPolicyRecord<PolicyRecord>> = None,
        policies: Vec<PolicyRecord> = replays.iter().map(|replay| PolicyRecord::new(corpus, replay, series)).collect(),
        ?cost_error: Option<BTreeMap<String, ErrorRecord>> = None,
        ?least_budget: Option<LeastBudget> = None,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        groups: Vec<GroupRecord> = Vec::new(),
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileRecord> = Vec::new(),
    }

    /// What a session read of one file.
    struct FileRecord(corpus: &Corpus, file: &FileReadings) {
        session: String = corpus.traces.at(file.session).map(|trace| trace.id.clone()).unwrap_or_default(),
        file: u64 = u64::from(file.file) + 1,
        path: Option<String> = file.path.clone(),
        readings: u64 = file.readings,
        tokens: u64 = file.tokens,
        again: u64 = file.again,
        again_tokens: u64 = file.again_tokens,
    }

    /// What was recorded in a group, and what policies would have sent there.
    struct GroupRecord(grouped: &Grouped, group: &CallGroup) with {
        let usage = |tokens: u64| group.has_usage().then_some(tokens);
        // A policy that brings no session of the group to its end sends nothing there that is known.
        let sums = |sums: &(u64, u64)| [sums.0, sums.1].map(|tokens| usage(tokens).filter(|_| sums.1 > 0));
        let policies = grouped.policies.iter().zip(&group.policies);
    } {
        group: String = group.label.clone(),
        sessions: u64 = group.sessions,
        calls: u64 = group.calls,
        calls_without_usage: u64 = group.without_usage,
        prompt_tokens: Option<u64> = usage(group.prompt_tokens),
        cache_read_tokens: Option<u64> = usage(group.cache_read_tokens),
        output_tokens: Option<u64> = usage(group.output_tokens),
        cost_usd: Option<String> = group.nano_usd.map(usd),
        estimated_output_usd: Option<String> = group.nano_usd.map(|_| usd(group.estimated_nano_usd)),
        compactions: u64 = group.compactions,
        compacting_ms: Option<u64> = group.compacting_ms,
        policies: Vec<GroupPolicyRecord> = policies.map(|(name, both)| GroupPolicyRecord::new(name, sums(both))).collect(),
    }

    struct GroupPolicyRecord(name: &str, [tokens, recorded]: [Option<u64>; 2]) {
        policy: String = name.to_owned(),
        prompt_tokens: Option<u64> = tokens,
        recorded_prompt_tokens: Option<u64> = recorded,
    }

    pub struct PolicyRecord(corpus: &Corpus, replay: &Replay, series: Series) with {
        let totals = &replay.totals;
        let mut regions: BTreeMap<&'static str, u64> = totals.by_region().gather();
        regions.insert("missing", totals.missing_tokens);
        let (windows, bills) = (replay.windows.clone(), replay.bills.clone());
        let sessions = SessionRecords { traces: corpus.traces.clone(), outcomes: replay.outcomes.clone(), windows, bills, series };
    } {
        policy: String = replay.policy.clone(),
        params: BTreeMap<String, String> = replay.params.iter().cloned().collect(),
        summary_model: Option<String> = Some(replay.summary_model.clone()).filter(|model| !model.is_empty()),
        unknown_models: BTreeMap<String, u64> = replay.unknown_models.iter().cloned().collect(),
        outgrown_models: BTreeMap<String, u64> = replay.outgrown.iter().cloned().collect(),
        ..figures: FiguresRecord = FiguresRecord::new(totals),
        regions: BTreeMap<&'static str, u64> = regions,
        ?cost: Option<BillsRecord> = BillsRecord::any(&replay.bill),
        ?beside_recorded: Option<BesideRecord> = None,
        tools: Vec<ToolRecord> = totals.ranked_tools().into_iter().map(ToolRecord::new).collect(),
        overflows_of_no_tool: u64 = totals.overflows_of_no_tool(),
        jumps: JumpsRecord = JumpsRecord::new(&replay.jumps(corpus)),
        ?never_reached: Option<NeverReached> = replay.never_reached(),
        sessions: SessionRecords = sessions,
        ?closed_loop: Option<Box<PolicyRecord>> = replay.closed.as_deref().map(|closed| Box::new(PolicyRecord::new(corpus, closed, series))),
    }

    struct SessionRecord(trace: &Trace, outcome: &Outcome, window_from: Option<WindowFrom>, bills: Option<&Bills>, series: Series) {
        session: String = trace.id.clone(),
        parent: Option<String> = trace.parent.clone(),
        source: String = trace.source.clone(),
        agent: String = trace.agent.clone(),
        model: Option<String> = trace.main_model().map(str::to_owned),
        window: u64 = outcome.window,
        ?window_from: Option<WindowFrom> = window_from,
        prompt_limit: u64 = outcome.prompt_limit,
        ?unseen_tokens: Option<u64> = trace.unseen.map(|unseen| unseen.tokens),
        ..figures: FiguresRecord = FiguresRecord::new(&outcome.totals),
        ?cost: Option<BillsRecord> = bills.and_then(BillsRecord::any),
        ?series: Option<Vec<CallOutcome>> = (series == Series::Included).then(|| outcome.calls.to_vec()),
    }
}

rows! {
    /// The sessions of a policy.
    struct SessionRecords {
        traces: List<Trace>,
        outcomes: List<Outcome>,
        windows: Vec<WindowFrom>,
        bills: List<Bills>,
        series: Series,
    } |held| {
        let record = |place: usize| {
            let outcome = held.outcomes.at(place).filter(|outcome| outcome.totals.sessions > 0)?;
            let (trace, bills) = (held.traces.at(place)?, held.bills.at(place));
            Some(SessionRecord::new(&trace, &outcome, held.windows.get(place).copied(), bills.as_deref(), held.series))
        };
        (0..held.traces.len()).filter_map(record)
    }
}

record! {
    /// How far contexts jump from call to call, in tokens, beside the policy's reserve.
    struct JumpsRecord(jumps: &Jumps) {
        jumps: u64 = jumps.sizes.len() as u64,
        ..quantiles: BTreeMap<&'static str, Option<u64>> =
            JUMP_QUANTILES.into_iter().map(|(percent, key)| (key, quantile(&jumps.sizes, percent * 10))).gather(),
        reserve_least: Option<u64> = jumps.reserve.map(|(least, _)| least),
        reserve_most: Option<u64> = jumps.reserve.map(|(_, most)| most),
        beside_reserve: u64 = jumps.beside,
        beyond_reserve: u64 = jumps.beyond,
    }

    struct ToolRecord((name, carried): (&String, &Carried)) {
        tool: String = name.clone(),
        results: u64 = carried.results,
        tokens: u64 = carried.tokens,
        carried_tokens: u64 = carried.carried,
        overflows: u64 = carried.overflows,
    }

    /// The record of `ctxsim explain`.
    pub struct ExplainRecord(trace: &Trace, replay: &Replay, outcome: &Outcome) {
        policy: String = replay.policy.clone(),
        params: BTreeMap<String, String> = replay.params.iter().cloned().collect(),
        ..session: SessionRecord =
            SessionRecord::new(trace, outcome, replay.windows.first().copied(), replay.bills.first(), Series::Included),
        timeline: Vec<Event> = outcome.events.clone(),
        broken_references: Vec<Broken> = outcome.broken.clone(),
        #[serde(skip_serializing_if = "Vec::is_empty")]
        refetches_made: Vec<Refetch> = outcome.refetches.clone(),
    }
}

impl ReplayRecord {
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

    /// The same with what nearly all reused lines take, where that was asked for; with groups or files, where rows are those; and with what bills of the
    /// recordings themselves are off, by agent, where they were held against them.
    pub fn with(
        self,
        corpus: &Corpus,
        least: Option<&LeastBudget>,
        (grouped, files): (Option<&Grouped>, &[FileReadings]),
        checks: Option<&BTreeMap<String, Check>>,
    ) -> ReplayRecord {
        let groups = grouped.into_iter().flat_map(|grouped| grouped.groups.iter().map(move |group| GroupRecord::new(grouped, group)));
        let by_agent =
            |checks: &BTreeMap<String, Check>| checks.iter().map(|(agent, check)| (agent.clone(), ErrorRecord::new(check))).gather();
        ReplayRecord {
            least_budget: least.copied(),
            groups: groups.collect(),
            files: files.iter().map(|file| FileRecord::new(corpus, file)).collect(),
            cost_error: checks.map(by_agent),
            ..self
        }
    }
}
