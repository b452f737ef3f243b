//! Breaks of the recorded prompt cache, schema `ctxsim.cache/2`.

use super::keys::{record, rows};
use super::number::{share_of, usd, usd_of};
use crate::corpus::Corpus;
use crate::experiment::cache::{CacheBreak, CacheReads, Cause, GAPS, Kept, Reads};
use crate::list::{Gather, List};
use crate::report::span::moment;
use crate::trace::Trace;
use std::collections::BTreeMap;

record! {
    /// The record of `ctxsim cache`.
    pub struct CacheRecord(corpus: &Corpus, found: &CacheReads) with {
        let priced = |nano_usd: u64| usd_of(found.recorded_nano_usd.is_some(), nano_usd);
        let with_sessions = corpus.traces.each().zip(&found.sessions).filter(|(_, reads)| reads.expected > 0);
        let (mut agents, mut causes): (BTreeMap<String, Reads>, BTreeMap<Cause, Reads>) = Default::default();
        with_sessions.for_each(|(trace, reads)| *agents.entry(trace.agent.clone()).or_default() += *reads);
        found.breaks.iter().for_each(|one| *causes.entry(one.cause).or_default() += one.reads());
    } {
        recorded_usd: Option<String> = found.recorded_nano_usd.map(usd),
        estimated_output_usd: Option<String> = priced(found.estimated_output.nano_usd),
        recorded_prompts_usd: Option<String> = priced(found.prompts_nano_usd),
        unpriced_calls: u64 = found.unpriced_calls,
        all: ReadsRecord = ReadsRecord::new(&found.sum),
        agents: BTreeMap<String, ReadsRecord> = agents.iter().map(|(agent, reads)| (agent.clone(), ReadsRecord::new(reads))).gather(),
        causes: BTreeMap<&'static str, CostRecord> = causes.iter().map(|(cause, reads)| (cause.key(), CostRecord::new(reads))).gather(),
        gaps: Vec<GapRecord> = found.gaps.iter().map(|((kept, class), reads)| GapRecord::new(kept, *class, reads)).collect(),
        sessions: SessionRecords = SessionRecords { traces: corpus.traces.clone(), reads: found.sessions.clone() },
        breaks: BreakRecords = BreakRecords { traces: corpus.traces.clone(), breaks: found.breaks.clone() },
    }

    struct CostRecord(reads: &Reads) {
        breaks: u64 = reads.breaks,
        tokens: u64 = reads.tokens,
        cost: Option<String> = usd_of(reads.is_priced(), reads.nano_usd),
        unpriced: u64 = reads.unpriced,
    }

    struct ReadsRecord(reads: &Reads) {
        reads: u64 = reads.expected,
        near: u64 = reads.near,
        near_share: Option<f64> = share_of(reads.near, reads.expected),
        more: u64 = reads.more,
        ..cost: CostRecord = CostRecord::new(reads),
    }

    struct GapRecord(kept: &Kept, class: usize, reads: &Reads) {
        implicit: bool = kept.implicit,
        lifetime_seconds: i64 = kept.lifetime / 1_000,
        above_seconds: i64 = class.checked_sub(1).and_then(|below| GAPS.get(below).copied()).unwrap_or(0),
        up_to_seconds: Option<i64> = GAPS.get(class).copied(),
        reads: u64 = reads.expected,
        breaks: u64 = reads.breaks,
        cost: Option<String> = usd_of(reads.is_priced(), reads.nano_usd),
        unpriced: u64 = reads.unpriced,
    }

    struct SessionRecord(trace: &Trace, reads: &Reads) {
        session: String = trace.id.clone(),
        source: String = trace.source.clone(),
        agent: String = trace.agent.clone(),
        ..reads: ReadsRecord = ReadsRecord::new(reads),
    }

    struct BreakRecord(trace: &Trace, one: &CacheBreak) {
        session: String = trace.id.clone(),
        source: String = trace.source.clone(),
        call: usize = one.place + 1,
        time: Option<String> = one.time.map(moment),
        cause: &'static str = one.cause.key(),
        gap_seconds: Option<f64> = one.gap.map(|millis| millis as f64 / 1e3),
        lifetime_seconds: Option<i64> = one.kept.map(|kept| kept.lifetime / 1_000),
        expected: u64 = one.expected,
        read: u64 = one.read,
        tokens: u64 = one.tokens,
        cost: Option<String> = one.nano_usd.map(usd),
    }
}

rows! {
    /// The sessions with a read that was expected.
    struct SessionRecords { traces: List<Trace>, reads: Vec<Reads> } |held| {
        let sessions = held.traces.each().zip(&held.reads).filter(|(_, reads)| reads.expected > 0);
        sessions.map(|(trace, reads)| SessionRecord::new(&trace, reads))
    }
}

rows! {
    struct BreakRecords { traces: List<Trace>, breaks: Vec<CacheBreak> } |held| {
        held.traces.beside(&held.breaks, |one| one.session).map(|(trace, one)| BreakRecord::new(&trace, one))
    }
}
