//! Pauses between calls and what helps, schema `ctxsim.idle/2`.

use super::keys::{record, rows};
use super::number::{round, usd, usd_of};
use crate::corpus::Corpus;
use crate::experiment::idle::{Advice, BreakEven, Class, Idle, Remedy, Rest, Spent};
use crate::list::List;
use crate::trace::Trace;

record! {
    /// The record of `ctxsim idle`.
    pub struct IdleRecord(corpus: &Corpus, found: &Idle) with {
        let (reads, cold) = (&found.reads, found.recorded_cold());
        let recommended = found.lifetimes().into_iter().map(|lifetime| RecommendedRecord::new(corpus, found, lifetime));
    } {
        recorded_usd: Option<String> = reads.recorded_nano_usd.map(usd),
        estimated_output_usd: Option<String> = usd_of(reads.recorded_nano_usd.is_some(), reads.estimated_output.nano_usd),
        unpriced_calls: u64 = reads.unpriced_calls,
        recorded_cold_pauses: u64 = cold.breaks,
        recorded_cold_usd: Option<String> = usd_of(cold.is_priced(), cold.nano_usd),
        recorded_cold_unpriced: u64 = cold.unpriced,
        never_resumed: u64 = found.never_resumed(),
        recommended: Vec<RecommendedRecord> = recommended.collect(),
        classes: Vec<ClassRecord> = found.classes.iter().map(ClassRecord::new).collect(),
        break_even: Vec<BreakEvenRecord> = found.break_even.iter().map(BreakEvenRecord::new).collect(),
        sessions: SessionRecords = SessionRecords { traces: corpus.traces.clone(), found: found.clone() },
    }

    struct RecommendedRecord(corpus: &Corpus, found: &Idle, lifetime: i64) with {
        let advice = |with_never: bool| found.recommended(corpus, lifetime, with_never).map(AdviceRecord::new);
        let (with, without) = (advice(true), advice(false));
        let of = |one: &Option<AdviceRecord>| one.as_ref().map(|one| (one.from_tokens, one.remedy.clone()));
        let changes = of(&with).zip(of(&without)).map(|(with, without)| with != without);
    } {
        lifetime_seconds: i64 = lifetime / 1_000,
        with_never_resumed: Option<AdviceRecord> = with,
        without: Option<AdviceRecord> = without,
        changes: Option<bool> = changes,
    }

    struct AdviceRecord(advice: Advice<'_>) with {
        let ((remedy, from_tokens), mut best) = (advice.remedy(), advice.best);
        // Doing nothing is recommended for contexts of all sizes.
        if remedy == Remedy::Nothing {
            (best.nano_usd, best.nothing_nano_usd) = (advice.nothing_nano_usd, advice.nothing_nano_usd);
        }
        let beside = advice.beside.filter(|_| remedy != Remedy::Nothing);
    } {
        from_tokens: u64 = from_tokens,
        ..remedy: RemedyRecord = RemedyRecord::new(remedy),
        cost: String = usd(best.nano_usd),
        nothing_usd: String = usd(best.nothing_nano_usd),
        share: Option<f64> = beside.map(|beside| round(beside.value)),
        share_p05: Option<f64> = beside.map(|beside| round(beside.low)),
        share_p95: Option<f64> = beside.map(|beside| round(beside.high)),
    }

    struct RemedyRecord(remedy: Remedy) {
        remedy: &'static str = match remedy {
            Remedy::Nothing => "nothing",
            Remedy::Pings(_) => "pings",
            Remedy::Compact => "compact",
        },
        pings: u64 = if let Remedy::Pings(pings) = remedy { pings } else { 0 },
    }

    struct ClassRecord(class: &Class) {
        lifetime_seconds: i64 = class.lifetime / 1_000,
        from_tokens: u64 = class.floor,
        pauses: u64 = class.resumed,
        cold: u64 = class.cold,
        never_resumed: u64 = class.never,
        remedies: Vec<SpentRecord> = class.spent.iter().map(SpentRecord::new).collect(),
    }

    struct SpentRecord((remedy, spent): (&Remedy, &Spent)) {
        ..remedy: RemedyRecord = RemedyRecord::new(*remedy),
        resumed_usd: String = usd(spent.resumed),
        never_usd: String = usd(spent.never),
    }

    struct BreakEvenRecord(one: &BreakEven) with {
        let Rest { prompt, summary, events } = one.rest;
    } {
        model: String = one.model.clone(),
        lifetime_seconds: i64 = one.lifetime / 1_000,
        pauses: u64 = one.pauses,
        pings: Option<u64> = one.pings,
        gap_seconds: Option<i64> = one.gap.map(|gap| gap / 1_000),
        compact_from_tokens: Option<u64> = one.tokens,
        left_tokens: u64 = prompt,
        summary_tokens: u64 = summary,
        recorded_compactions: u64 = events,
    }

    struct SessionRecord(trace: &Trace, class: &Class) {
        session: String = trace.id.clone(),
        source: String = trace.source.clone(),
        ..class: ClassRecord = ClassRecord::new(class),
    }
}

rows! {
    struct SessionRecords { traces: List<Trace>, found: Idle } |held| {
        held.found.sessions().filter_map(|of| Some(SessionRecord::new(&*held.traces.at(of.place())?, &held.found.class(of))))
    }
}
