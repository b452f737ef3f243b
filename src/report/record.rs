//! Reports for programs: the same facts under a versioned schema, as `docs/json.md` describes it.

use super::backtest_record::BacktestRecord;
use super::by_tool::ranked;
use super::cost_record::{BillsRecord, CostRecord, ErrorRecord};
use super::curve::CurveRecord;
use super::diff::DiffRecord;
use super::drift::EstimatorsRecord;
use super::figures_record::FiguresRecord;
use super::gate_record::GateRecord;
use super::inspect_record::InspectRecord;
use super::recording::Baselines;
use super::recording_record::{BesideRecord, OwnRecord, RecordingRecord};
use super::sweep_record::SweepRecord;
use super::tune_record::TuneRecord;
use crate::corpus::{Corpus, CorpusFacts, Duplicates, FileLoss, Mirrored, Skipped, UnseenFacts};
use crate::cost::{CacheKind, Check};
use crate::experiment::WindowFrom;
use crate::experiment::{LeastBudget, Replay};
use crate::sim::{Broken, CallOutcome, Event, Outcome, Refetch};
use crate::trace::Trace;
use crate::transcript::Trust;
use serde::Serialize;
use std::collections::BTreeMap;

/// A report for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Record {
    /// What policies did to a corpus.
    Replay(Box<ReplayRecord>),
    /// What one policy did to one session.
    Explain(Box<ExplainRecord>),
    /// How far estimators are from recorded usage.
    Drift(Box<EstimatorsRecord>),
    /// What sessions cost.
    Cost(Box<CostRecord>),
    /// What the recording agents did, and what their own policies would have done.
    Backtest(Box<BacktestRecord>),
    /// Where two policies part.
    Diff(Box<DiffRecord>),
    /// From how far back texts are taken up again.
    Curve(Box<CurveRecord>),
    /// What logs hold.
    Inspect(Box<InspectRecord>),
    /// What many settings came to.
    Sweep(Box<SweepRecord>),
    /// A policy beside its baseline.
    Gate(Box<GateRecord>),
    /// What came of tuning.
    Tune(Box<TuneRecord>),
}

impl Record {
    /// The name of the command that asked.
    pub fn question(&self) -> &'static str {
        match self {
            Record::Replay(_) => "replay",
            Record::Explain(_) => "explain",
            Record::Drift(_) => "drift",
            Record::Cost(_) => "cost",
            Record::Backtest(_) => "backtest",
            Record::Diff(_) => "diff",
            Record::Curve(_) => "curve",
            Record::Inspect(_) => "inspect",
            Record::Sweep(_) => "sweep",
            Record::Gate(_) => "gate",
            Record::Tune(_) => "tune",
        }
    }
}

/// Are the calls one by one part of the record?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Series {
    /// They are.
    Included,
    /// They are not.
    #[default]
    LeftOut,
}

/// Schema `ctxsim.replay/2`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayRecord {
    schema: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    corpus: CorpusRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordingRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<OwnPolicyRecord>,
    policies: Vec<PolicyRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_error: Option<BTreeMap<String, ErrorRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least_budget: Option<LeastRecord>,
    notes: Vec<String>,
}

/// The user's own agents: the figures of a policy, and what is said of them alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct OwnPolicyRecord {
    #[serde(flatten)]
    policy: PolicyRecord,
    #[serde(flatten)]
    own: OwnRecord,
}

/// What it takes to keep nearly all references to lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct LeastRecord {
    references: u64,
    needed: u64,
    impossible_tokens: Option<u64>,
    attained_tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct CorpusRecord {
    files: u64,
    formats: BTreeMap<String, u64>,
    sessions: u64,
    messages: u64,
    calls: u64,
    calls_with_usage: u64,
    usage_by_trust: BTreeMap<Trust, u64>,
    recorded_prompt_tokens: u64,
    recorded_output_tokens: u64,
    estimated_output_tokens: u64,
    placeholder_output_tokens: u64,
    estimated_replies: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirrored: Option<Mirrored>,
    #[serde(skip_serializing_if = "Option::is_none")]
    with_mirrored: Option<Mirrored>,
    max_prompt_tokens: u64,
    anchored_share: f64,
    recorded_compactions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<UnseenFacts>,
    duplicates: Duplicates,
    skipped: Vec<Skipped>,
    losses: Vec<FileLoss>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PolicyRecord {
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
    sessions: Vec<SessionRecord>,
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

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ToolRecord {
    tool: String,
    results: u64,
    tokens: u64,
    carried_tokens: u64,
    overflows: u64,
}

/// Schema `ctxsim.explain/2`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainRecord {
    schema: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    policy: String,
    params: BTreeMap<String, String>,
    #[serde(flatten)]
    session: SessionRecord,
    timeline: Vec<Event>,
    broken_references: Vec<Broken>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refetches_made: Vec<Refetch>,
    notes: Vec<String>,
}

impl ReplayRecord {
    /// The record of a replay.
    pub fn new(corpus: &Corpus, replays: &[Replay], series: Series, command: Option<String>, notes: Vec<String>) -> ReplayRecord {
        let policies = replays.iter().map(|replay| PolicyRecord::new(corpus, replay, series)).collect();
        let corpus = CorpusRecord::new(&corpus.facts);
        ReplayRecord {
            schema: "ctxsim.replay/2",
            version: env!("CARGO_PKG_VERSION"),
            command,
            corpus,
            recorded: None,
            own: None,
            policies,
            cost_error: None,
            least_budget: None,
            notes,
        }
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

    /// The same with what nearly all references to lines take, where that was asked for.
    pub fn with_least(self, least: Option<&LeastBudget>) -> ReplayRecord {
        let record = |least: &LeastBudget| LeastRecord {
            references: least.references,
            needed: least.needed,
            impossible_tokens: least.impossible,
            attained_tokens: least.attained,
        };
        ReplayRecord { least_budget: least.map(record), ..self }
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
    pub fn new(trace: &Trace, replay: &Replay, outcome: &Outcome, command: Option<String>, notes: Vec<String>) -> ExplainRecord {
        ExplainRecord {
            schema: "ctxsim.explain/2",
            version: env!("CARGO_PKG_VERSION"),
            command,
            policy: replay.policy.clone(),
            params: replay.params.iter().cloned().collect(),
            session: SessionRecord::new(trace, outcome, replay, 0, Series::Included),
            timeline: outcome.events.clone(),
            broken_references: outcome.broken.clone(),
            refetches_made: outcome.refetches.clone(),
            notes,
        }
    }
}

impl CorpusRecord {
    /// The record of a corpus.
    pub fn new(facts: &CorpusFacts) -> CorpusRecord {
        CorpusRecord {
            files: facts.files,
            formats: facts.formats.clone(),
            sessions: facts.sessions,
            messages: facts.messages,
            calls: facts.calls,
            calls_with_usage: facts.calls_with_usage,
            usage_by_trust: facts.usage_by_trust.clone(),
            recorded_prompt_tokens: facts.recorded_prompt_tokens,
            recorded_output_tokens: facts.outputs.recorded,
            estimated_output_tokens: facts.outputs.estimated,
            placeholder_output_tokens: facts.outputs.placeholders,
            estimated_replies: facts.outputs.estimated_replies,
            mirrored: Some(facts.mirrored).filter(|mirrored| mirrored.calls > 0),
            with_mirrored: facts.with_mirrored(),
            max_prompt_tokens: facts.max_prompt_tokens,
            anchored_share: facts.anchored_millionths as f64 / 1e6,
            recorded_compactions: facts.recorded_compactions,
            unseen: Some(facts.unseen).filter(|unseen| unseen.sessions > 0),
            duplicates: facts.duplicates,
            skipped: facts.skipped.clone(),
            losses: facts.losses.clone(),
        }
    }
}

impl PolicyRecord {
    pub fn new(corpus: &Corpus, replay: &Replay, series: Series) -> PolicyRecord {
        let totals = &replay.totals;
        let mut regions: BTreeMap<&'static str, u64> = totals.by_region().collect();
        regions.insert("missing", totals.missing_tokens);
        let tool = |(name, carried): (&String, &crate::sim::Carried)| ToolRecord {
            tool: name.clone(),
            results: carried.results,
            tokens: carried.tokens,
            carried_tokens: carried.carried,
            overflows: carried.overflows,
        };
        let sessions = corpus.traces.iter().zip(&replay.outcomes).enumerate().filter(|(_, (_, outcome))| outcome.totals.sessions > 0);
        let sessions = sessions.map(|(place, (trace, outcome))| SessionRecord::new(trace, outcome, replay, place, series));
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
            tools: ranked(totals).into_iter().map(tool).collect(),
            overflows_of_no_tool: totals.overflows_of_no_tool(),
            sessions: sessions.collect(),
            closed_loop: replay.closed.as_deref().map(|closed| Box::new(PolicyRecord::new(corpus, closed, series))),
        }
    }
}

impl SessionRecord {
    fn new(trace: &Trace, outcome: &Outcome, replay: &Replay, place: usize, series: Series) -> SessionRecord {
        SessionRecord {
            session: trace.id.clone(),
            parent: trace.parent.clone(),
            source: trace.source.clone(),
            agent: trace.agent.clone(),
            model: trace.main_model().map(str::to_owned),
            window: outcome.window,
            window_from: replay.windows.get(place).copied(),
            prompt_limit: outcome.prompt_limit,
            unseen_tokens: trace.unseen.map(|unseen| unseen.tokens),
            figures: FiguresRecord::new(&outcome.totals),
            cost: replay.bills.get(place).and_then(BillsRecord::new),
            series: (series == Series::Included).then(|| outcome.calls.clone()),
        }
    }
}
