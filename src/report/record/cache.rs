//! Breaks of the recorded prompt cache, schema `ctxsim.cache/2`.

use super::number::{share_of, usd};
use crate::corpus::Corpus;
use crate::experiment::cache::{CacheBreak, CacheReads, Cause, GAPS, Kept, Reads};
use crate::list::List;
use crate::report::span::moment;
use crate::trace::Trace;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The record of `ctxsim cache`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CacheRecord {
    recorded_usd: String,
    estimated_output_usd: String,
    recorded_prompts_usd: String,
    all: ReadsRecord,
    agents: BTreeMap<String, ReadsRecord>,
    causes: BTreeMap<&'static str, CostRecord>,
    gaps: Vec<GapRecord>,
    sessions: SessionRecords,
    breaks: BreakRecords,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct CostRecord {
    breaks: u64,
    tokens: u64,
    cost: String,
    unpriced: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ReadsRecord {
    reads: u64,
    near: u64,
    near_share: Option<f64>,
    more: u64,
    #[serde(flatten)]
    cost: CostRecord,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct GapRecord {
    implicit: bool,
    lifetime_seconds: i64,
    above_seconds: i64,
    up_to_seconds: Option<i64>,
    reads: u64,
    breaks: u64,
    cost: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SessionRecord {
    session: String,
    source: String,
    agent: String,
    #[serde(flatten)]
    reads: ReadsRecord,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct BreakRecord {
    session: String,
    source: String,
    call: usize,
    time: Option<String>,
    cause: &'static str,
    gap_seconds: Option<f64>,
    lifetime_seconds: Option<i64>,
    expected: u64,
    read: u64,
    tokens: u64,
    cost: Option<String>,
}

/// The sessions with a read that was expected. Each record is made when it is written: there may be many.
#[derive(Clone, Debug, PartialEq)]
struct SessionRecords {
    traces: List<Trace>,
    reads: Vec<Reads>,
}

impl Serialize for SessionRecords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sessions = self.traces.each().zip(&self.reads).filter(|(_, reads)| reads.expected > 0);
        serializer.collect_seq(sessions.map(|(trace, reads)| SessionRecord::new(&trace, reads)))
    }
}

/// The breaks, made in the same way.
#[derive(Clone, Debug, PartialEq)]
struct BreakRecords {
    traces: List<Trace>,
    breaks: Vec<CacheBreak>,
}

impl Serialize for BreakRecords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let breaks = self.traces.beside(&self.breaks, |one| one.session);
        serializer.collect_seq(breaks.map(|(trace, one)| BreakRecord::new(&trace, one)))
    }
}

impl CacheRecord {
    /// The record of what the caches of a corpus did.
    pub fn new(corpus: &Corpus, found: &CacheReads) -> CacheRecord {
        let with_sessions = corpus.traces.each().zip(&found.sessions).filter(|(_, reads)| reads.expected > 0);
        let (mut agents, mut causes): (BTreeMap<String, Reads>, BTreeMap<Cause, Reads>) = Default::default();
        with_sessions.for_each(|(trace, reads)| *agents.entry(trace.agent.clone()).or_default() += *reads);
        found.breaks.iter().for_each(|one| *causes.entry(one.cause).or_default() += one.reads());
        CacheRecord {
            recorded_usd: usd(found.recorded_nano_usd),
            estimated_output_usd: usd(found.estimated_output.nano_usd),
            recorded_prompts_usd: usd(found.prompts_nano_usd),
            all: ReadsRecord::new(&found.sum),
            agents: agents.iter().map(|(agent, reads)| (agent.clone(), ReadsRecord::new(reads))).collect(),
            causes: causes.iter().map(|(cause, reads)| (cause.key(), CostRecord::new(reads))).collect(),
            gaps: found.gaps.iter().map(|((kept, class), reads)| GapRecord::new(kept, *class, reads)).collect(),
            sessions: SessionRecords { traces: corpus.traces.clone(), reads: found.sessions.clone() },
            breaks: BreakRecords { traces: corpus.traces.clone(), breaks: found.breaks.clone() },
        }
    }
}

impl CostRecord {
    fn new(reads: &Reads) -> CostRecord {
        CostRecord { breaks: reads.breaks, tokens: reads.tokens, cost: usd(reads.nano_usd), unpriced: reads.unpriced }
    }
}

impl ReadsRecord {
    fn new(reads: &Reads) -> ReadsRecord {
        let near_share = share_of(reads.near, reads.expected);
        ReadsRecord { reads: reads.expected, near: reads.near, near_share, more: reads.more, cost: CostRecord::new(reads) }
    }
}

impl GapRecord {
    fn new(kept: &Kept, class: usize, reads: &Reads) -> GapRecord {
        GapRecord {
            implicit: kept.implicit,
            lifetime_seconds: kept.lifetime / 1_000,
            above_seconds: class.checked_sub(1).and_then(|below| GAPS.get(below).copied()).unwrap_or(0),
            up_to_seconds: GAPS.get(class).copied(),
            reads: reads.expected,
            breaks: reads.breaks,
            cost: usd(reads.nano_usd),
        }
    }
}

impl SessionRecord {
    fn new(trace: &Trace, reads: &Reads) -> SessionRecord {
        let (session, source, agent) = (trace.id.clone(), trace.source.clone(), trace.agent.clone());
        SessionRecord { session, source, agent, reads: ReadsRecord::new(reads) }
    }
}

impl BreakRecord {
    fn new(trace: &Trace, one: &CacheBreak) -> BreakRecord {
        BreakRecord {
            session: trace.id.clone(),
            source: trace.source.clone(),
            call: one.place + 1,
            time: one.time.map(moment),
            cause: one.cause.key(),
            gap_seconds: one.gap.map(|millis| millis as f64 / 1e3),
            lifetime_seconds: one.kept.map(|kept| kept.lifetime / 1_000),
            expected: one.expected,
            read: one.read,
            tokens: one.tokens,
            cost: one.nano_usd.map(usd),
        }
    }
}
