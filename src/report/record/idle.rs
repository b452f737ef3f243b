//! Pauses between calls and what helps, schema `ctxsim.idle/2`.

use super::number::{round, usd};
use crate::corpus::Corpus;
use crate::experiment::idle::{BreakEven, Class, Idle, Remedy, Rest};
use crate::list::List;
use crate::trace::Trace;
use serde::{Serialize, Serializer};

/// The record of `ctxsim idle`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IdleRecord {
    recorded_usd: String,
    estimated_output_usd: String,
    recorded_cold_pauses: u64,
    recorded_cold_usd: String,
    never_resumed: u64,
    recommended: Vec<RecommendedRecord>,
    classes: Vec<ClassRecord>,
    break_even: Vec<BreakEvenRecord>,
    sessions: SessionRecords,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct RecommendedRecord {
    lifetime_seconds: i64,
    with_never_resumed: Option<AdviceRecord>,
    without: Option<AdviceRecord>,
    changes: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct AdviceRecord {
    from_tokens: u64,
    #[serde(flatten)]
    remedy: RemedyRecord,
    cost: String,
    nothing_usd: String,
    share: Option<f64>,
    share_p05: Option<f64>,
    share_p95: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct RemedyRecord {
    remedy: &'static str,
    pings: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ClassRecord {
    lifetime_seconds: i64,
    from_tokens: u64,
    pauses: u64,
    cold: u64,
    never_resumed: u64,
    remedies: Vec<SpentRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SpentRecord {
    #[serde(flatten)]
    remedy: RemedyRecord,
    resumed_usd: String,
    never_usd: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct BreakEvenRecord {
    model: String,
    lifetime_seconds: i64,
    pauses: u64,
    pings: Option<u64>,
    gap_seconds: Option<i64>,
    compact_from_tokens: Option<u64>,
    left_tokens: u64,
    summary_tokens: u64,
    recorded_compactions: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SessionRecord {
    session: String,
    source: String,
    #[serde(flatten)]
    class: ClassRecord,
}

/// The sessions. Each record is made when it is written: there may be many.
#[derive(Clone, Debug, PartialEq)]
struct SessionRecords {
    traces: List<Trace>,
    found: Idle,
}

impl Serialize for SessionRecords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.found.sessions().filter_map(|of| {
            let trace = self.traces.at(of.place())?;
            let class = ClassRecord::new(&self.found.class(of));
            Some(SessionRecord { session: trace.id.clone(), source: trace.source.clone(), class })
        }))
    }
}

impl IdleRecord {
    /// The record of the pauses of a corpus.
    pub fn new(corpus: &Corpus, found: &Idle) -> IdleRecord {
        let (recorded_cold_pauses, cold) = found.recorded_cold();
        IdleRecord {
            recorded_usd: usd(found.reads.recorded_nano_usd),
            estimated_output_usd: usd(found.reads.estimated_output.nano_usd),
            recorded_cold_pauses,
            recorded_cold_usd: usd(cold),
            never_resumed: found.never_resumed(),
            recommended: found.lifetimes().into_iter().map(|lifetime| RecommendedRecord::new(corpus, found, lifetime)).collect(),
            classes: found.classes.iter().map(ClassRecord::new).collect(),
            break_even: found.break_even.iter().map(BreakEvenRecord::new).collect(),
            sessions: SessionRecords { traces: corpus.traces.clone(), found: found.clone() },
        }
    }
}

impl RecommendedRecord {
    fn new(corpus: &Corpus, found: &Idle, lifetime: i64) -> RecommendedRecord {
        let advice = |with_never: bool| {
            let advice = found.recommended(corpus, lifetime, with_never)?;
            let ((remedy, from_tokens), best) = (advice.remedy(), advice.best);
            let beside = advice.beside.filter(|_| remedy != Remedy::Nothing);
            Some(AdviceRecord {
                from_tokens,
                remedy: RemedyRecord::new(remedy),
                cost: usd(if remedy == Remedy::Nothing { best.nothing_nano_usd } else { best.nano_usd }),
                nothing_usd: usd(best.nothing_nano_usd),
                share: beside.map(|beside| round(beside.value)),
                share_p05: beside.map(|beside| round(beside.low)),
                share_p95: beside.map(|beside| round(beside.high)),
            })
        };
        let (with, without) = (advice(true), advice(false));
        let of = |one: &Option<AdviceRecord>| one.as_ref().map(|one| (one.from_tokens, one.remedy.clone()));
        let changes = of(&with) != of(&without);
        RecommendedRecord { lifetime_seconds: lifetime / 1_000, with_never_resumed: with, without, changes }
    }
}

impl RemedyRecord {
    fn new(remedy: Remedy) -> RemedyRecord {
        match remedy {
            Remedy::Nothing => RemedyRecord { remedy: "nothing", pings: 0 },
            Remedy::Pings(pings) => RemedyRecord { remedy: "pings", pings },
            Remedy::Compact => RemedyRecord { remedy: "compact", pings: 0 },
        }
    }
}

impl ClassRecord {
    fn new(class: &Class) -> ClassRecord {
        let spent = class.spent.iter().map(|(remedy, spent)| SpentRecord {
            remedy: RemedyRecord::new(*remedy),
            resumed_usd: usd(spent.resumed),
            never_usd: usd(spent.never),
        });
        ClassRecord {
            lifetime_seconds: class.lifetime / 1_000,
            from_tokens: class.floor,
            pauses: class.resumed,
            cold: class.cold,
            never_resumed: class.never,
            remedies: spent.collect(),
        }
    }
}

impl BreakEvenRecord {
    fn new(one: &BreakEven) -> BreakEvenRecord {
        let Rest { prompt, summary, events } = one.rest;
        BreakEvenRecord {
            model: one.model.clone(),
            lifetime_seconds: one.lifetime / 1_000,
            pauses: one.pauses,
            pings: one.pings,
            gap_seconds: one.gap.map(|gap| gap / 1_000),
            compact_from_tokens: one.tokens,
            left_tokens: prompt,
            summary_tokens: summary,
            recorded_compactions: events,
        }
    }
}
