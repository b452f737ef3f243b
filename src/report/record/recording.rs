//! The recording and the user's own agents for programs.

use super::number::{round, share_of as share, usd};
use crate::corpus::Corpus;
use crate::cost::CacheKind;
use crate::experiment::{Beside, Own, OwnAgent, RecordedSession, Recording, Replay};
use crate::list::List;
use crate::report::asked::Baselines;
use crate::sim::EventKind;
use crate::trace::Trace;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What the logs say happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordingRecord {
    #[serde(flatten)]
    sum: RecordedRecord,
    sessions: RecordedSessionRecords,
}

/// The sessions. Each record is made when it is written: there may be many.
#[derive(Clone, Debug, PartialEq)]
struct RecordedSessionRecords {
    traces: List<Trace>,
    recorded: List<RecordedSession>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct RecordedRecord {
    calls: u64,
    failed_sessions: u64,
    compactions: u64,
    manual_compactions: u64,
    prunes: u64,
    peak_tokens: u64,
    prompt_tokens: u64,
    estimated_calls: u64,
    estimated_prompt_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_hit_rate: Option<f64>,
    cost: Option<String>,
    estimated_cost: Option<String>,
    estimated_output_cost: Option<String>,
    unpriced_calls: u64,
    summariser_calls: u64,
    summariser_tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct RecordedSessionRecord {
    session: String,
    source: String,
    agent: String,
    #[serde(flatten)]
    figures: RecordedRecord,
}

/// A policy beside the recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BesideRecord {
    compared_sessions: u64,
    prompt_tokens: u64,
    recorded_prompt_tokens: u64,
    vs_recorded: Option<f64>,
    compactions: u64,
    recorded_compactions: u64,
    cost: String,
    recorded_cost: String,
    cost_vs_recorded: Option<f64>,
}

/// The user's own agents: the figures of a policy, and what is said of them alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnPolicyRecord<P> {
    #[serde(flatten)]
    pub policy: P,
    #[serde(flatten)]
    pub own: OwnRecord,
}

/// What is said of the user's own agents beside the figures of their row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnRecord {
    covered_sessions: u64,
    left_out: BTreeMap<String, u64>,
    imposed_manual_compactions: u64,
    agents: BTreeMap<String, OwnAgentRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct OwnAgentRecord {
    sessions: u64,
    presets: BTreeMap<String, u64>,
    configured_sessions: u64,
    settings: BTreeMap<String, BTreeMap<String, String>>,
    imposed_manual_compactions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside_recorded: Option<BesideRecord>,
}

impl RecordingRecord {
    pub fn new(corpus: &Corpus, recording: &Recording) -> RecordingRecord {
        let sessions = RecordedSessionRecords { traces: corpus.traces.clone(), recorded: recording.sessions.clone() };
        RecordingRecord { sum: RecordedRecord::new(&recording.sum), sessions }
    }
}

impl Serialize for RecordedSessionRecords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = |(trace, session): (Cow<'_, Trace>, Cow<'_, RecordedSession>)| RecordedSessionRecord {
            session: trace.id.clone(),
            source: trace.source.clone(),
            agent: trace.agent.clone(),
            figures: RecordedRecord::new(&session),
        };
        serializer.collect_seq(self.traces.each().zip(self.recorded.each()).map(record))
    }
}

impl RecordedRecord {
    fn new(recorded: &RecordedSession) -> RecordedRecord {
        let (totals, bill) = (&recorded.totals, &recorded.bill);
        let priced = |nano_usd: u64| recorded.is_priced().then(|| usd(nano_usd));
        RecordedRecord {
            calls: totals.calls,
            failed_sessions: totals.failed_sessions,
            compactions: totals.events_of(EventKind::Compact),
            manual_compactions: recorded.manual_compactions,
            prunes: totals.events_of(EventKind::Prune),
            peak_tokens: totals.peak_tokens,
            prompt_tokens: totals.prompt_tokens,
            estimated_calls: recorded.estimated_calls,
            estimated_prompt_tokens: recorded.estimated_tokens,
            output_tokens: totals.output_tokens,
            cache_read_tokens: bill.cache_read.tokens,
            cache_hit_rate: share(bill.cache_read.tokens, bill.prompt_tokens()),
            cost: priced(recorded.nano_usd()),
            estimated_cost: priced(recorded.estimated_bill.nano_usd()),
            estimated_output_cost: priced(recorded.estimated_output.nano_usd),
            unpriced_calls: recorded.unpriced_calls,
            summariser_calls: totals.summariser_calls,
            summariser_tokens: totals.summariser_tokens,
        }
    }
}

impl BesideRecord {
    pub fn new(beside: &Beside) -> BesideRecord {
        BesideRecord {
            compared_sessions: beside.sessions,
            prompt_tokens: beside.tokens,
            recorded_prompt_tokens: beside.recorded_tokens,
            vs_recorded: share(beside.tokens, beside.recorded_tokens).map(|share| round(share - 1.0)),
            compactions: beside.compactions,
            recorded_compactions: beside.recorded_compactions,
            cost: usd(beside.nano_usd),
            recorded_cost: usd(beside.recorded_nano_usd),
            cost_vs_recorded: share(beside.nano_usd, beside.recorded_nano_usd).map(|share| round(share - 1.0)),
        }
    }

    /// A policy beside the recording, where that is at hand and the policy brings at least half of the sessions to their end.
    pub fn of(baselines: &Baselines<'_>, replay: &Replay, cache: CacheKind) -> Option<BesideRecord> {
        let recording = baselines.recording.filter(|_| replay.totals.is_comparable())?;
        Some(BesideRecord::new(&recording.beside_all(replay, cache)))
    }
}

impl OwnRecord {
    pub fn new(own: &Own, baselines: &Baselines<'_>, cache: CacheKind) -> OwnRecord {
        let agent = |agent: &OwnAgent| {
            let beside = |recording: &Recording| BesideRecord::new(&recording.beside(&own.replay, cache, agent.sessions.iter().copied()));
            OwnAgentRecord {
                sessions: agent.sessions.len() as u64,
                presets: agent.presets.clone(),
                configured_sessions: agent.configured_sessions,
                settings: agent.settings.iter().map(|(file, set)| (file.display().to_string(), set.clone())).collect(),
                imposed_manual_compactions: agent.imposed,
                beside_recorded: baselines.recording.map(beside),
            }
        };
        OwnRecord {
            covered_sessions: own.sessions(),
            left_out: own.left_out.clone(),
            imposed_manual_compactions: own.agents.values().map(|agent| agent.imposed).sum(),
            agents: own.agents.iter().map(|(name, facts)| (name.clone(), agent(facts))).collect(),
        }
    }
}
