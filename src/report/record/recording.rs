//! The recording and the user's own agents for programs.

use super::keys::{record, rows};
use super::number::{round, share_of as share, usd_of};
use crate::corpus::Corpus;
use crate::cost::CacheKind;
use crate::experiment::{Beside, Own, OwnAgent, RecordedSession, Recording, Replay};
use crate::list::{Gather, List};
use crate::report::asked::Baselines;
use crate::sim::EventKind;
use crate::trace::Trace;
use serde::Serialize;
use std::collections::BTreeMap;

record! {
    /// What the logs say happened.
    pub struct RecordingRecord(corpus: &Corpus, recording: &Recording) {
        ..sum: RecordedRecord = RecordedRecord::new(&recording.sum),
        sessions: RecordedSessionRecords =
            RecordedSessionRecords { traces: corpus.traces.clone(), recorded: recording.sessions.clone() },
    }
}

rows! {
    struct RecordedSessionRecords { traces: List<Trace>, recorded: List<RecordedSession> } |held| {
        let sessions = held.traces.each().zip(held.recorded.each());
        sessions.map(|(trace, recorded)| RecordedSessionRecord::new(&trace, &recorded))
    }
}

record! {
    struct RecordedRecord(recorded: &RecordedSession) with {
        let (totals, bill) = (&recorded.totals, &recorded.bill);
        let priced = |nano_usd: u64| usd_of(recorded.is_priced(), nano_usd);
    } {
        calls: u64 = totals.calls,
        failed_sessions: u64 = totals.failed_sessions,
        compactions: u64 = totals.events_of(EventKind::Compact),
        manual_compactions: u64 = recorded.manual_compactions,
        prunes: u64 = totals.events_of(EventKind::Prune),
        peak_tokens: u64 = totals.peak_tokens,
        prompt_tokens: u64 = totals.prompt_tokens,
        estimated_calls: u64 = recorded.estimated_calls,
        estimated_prompt_tokens: u64 = recorded.estimated_tokens,
        output_tokens: u64 = totals.output_tokens,
        cache_read_tokens: u64 = bill.cache_read.tokens,
        cache_hit_rate: Option<f64> = recorded.cache_reads().and_then(|(read, prompt)| share(read, prompt)),
        cost: Option<String> = priced(recorded.nano_usd()),
        estimated_cost: Option<String> = priced(recorded.estimated_bill.nano_usd()),
        estimated_output_cost: Option<String> = priced(recorded.estimated_output.nano_usd),
        unpriced_calls: u64 = recorded.unpriced_calls,
        summariser_calls: u64 = totals.summariser_calls,
        summariser_tokens: u64 = totals.summariser_tokens,
    }

    struct RecordedSessionRecord(trace: &Trace, recorded: &RecordedSession) {
        session: String = trace.id.clone(),
        source: String = trace.source.clone(),
        agent: String = trace.agent.clone(),
        ..figures: RecordedRecord = RecordedRecord::new(recorded),
    }

    /// A policy beside the recording.
    pub struct BesideRecord(beside: &Beside) {
        compared_sessions: u64 = beside.sessions,
        prompt_tokens: u64 = beside.tokens,
        recorded_prompt_tokens: u64 = beside.recorded_tokens,
        vs_recorded: Option<f64> = share(beside.tokens, beside.recorded_tokens).map(|share| round(share - 1.0)),
        compactions: u64 = beside.compactions,
        recorded_compactions: u64 = beside.recorded_compactions,
        priced_sessions: u64 = beside.priced,
        cost: Option<String> = usd_of(beside.priced > 0, beside.nano_usd),
        recorded_cost: Option<String> = usd_of(beside.priced > 0, beside.recorded_nano_usd),
        cost_vs_recorded: Option<f64> = share(beside.nano_usd, beside.recorded_nano_usd).map(|share| round(share - 1.0)),
    }
}

/// The user's own agents: the figures of a policy, and what is said of them alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnPolicyRecord<P> {
    #[serde(flatten)]
    pub policy: P,
    #[serde(flatten)]
    pub own: OwnRecord,
}

record! {
    /// What is said of the user's own agents beside the figures of their row.
    pub struct OwnRecord(own: &Own, baselines: &Baselines<'_>, cache: CacheKind) with {
        let beside = |agent: &OwnAgent| {
            let recording = baselines.recording?;
            Some(BesideRecord::new(&recording.beside(&own.replay, cache, agent.sessions.iter().copied())))
        };
        let agents = own.agents.iter().map(|(name, agent)| (name.clone(), OwnAgentRecord::new(agent, beside(agent))));
    } {
        covered_sessions: u64 = own.covered,
        left_out: BTreeMap<String, u64> = own.left_out.clone(),
        imposed_manual_compactions: u64 = own.agents.values().map(|agent| agent.imposed).sum(),
        agents: BTreeMap<String, OwnAgentRecord> = agents.gather(),
    }

    struct OwnAgentRecord(agent: &OwnAgent, beside: Option<BesideRecord>) with {
        let settings = agent.settings.iter().map(|(file, set)| (file.display().to_string(), set.clone()));
    } {
        sessions: u64 = agent.sessions.len() as u64,
        presets: BTreeMap<String, u64> = agent.presets.clone(),
        configured_sessions: u64 = agent.configured_sessions,
        settings: BTreeMap<String, BTreeMap<String, String>> = settings.gather(),
        imposed_manual_compactions: u64 = agent.imposed,
        ?beside_recorded: Option<BesideRecord> = beside,
    }
}

impl BesideRecord {
    /// A policy beside the recording, where that is at hand and the policy brings at least half of the sessions to their end.
    pub fn of(baselines: &Baselines<'_>, replay: &Replay, cache: CacheKind) -> Option<BesideRecord> {
        let recording = baselines.recording.filter(|_| replay.totals.is_comparable())?;
        Some(BesideRecord::new(&recording.beside_all(replay, cache)))
    }
}
