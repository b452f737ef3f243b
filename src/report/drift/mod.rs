//! `drift`: how far estimators are from recorded usage, what is hidden and what misjudged, and what follows from it.

mod accuracy;
mod consequences;
mod content;

use super::document::{Body, Report, Section};
use super::notes;
use super::record::any::Record;
use super::record::drift::EstimatorsRecord;
use super::words::{counted, grouped, percent};
use crate::corpus::Corpus;
use crate::experiment::drift::{Basis, Buffers, Findings, LeftOut, Separated, Use};
use accuracy::SHOWN;
use std::collections::BTreeMap;

/// The report on a corpus's drift.
pub fn drift(corpus: &Corpus, findings: &Findings, basis: Basis, command: Option<String>) -> Report {
    let notes = all_notes(corpus, findings, basis);
    let sections = [
        Some(in_short(findings)),
        accuracy::estimators(corpus, findings),
        accuracy::by_family(corpus, findings),
        accuracy::by_source(corpus, findings),
        accuracy::along(findings),
        content::parts(findings),
        content::hidden(findings),
        content::costs(findings),
        accuracy::predictions(findings),
        consequences::policies(findings),
        consequences::buffers(findings),
    ];
    let record = Record::Drift(Box::new(EstimatorsRecord::new(corpus, findings)));
    let sections = sections.into_iter().flatten().collect();
    Report::over(&corpus.facts, command, sections, notes, accuracy::flat(corpus, findings), record)
}

/// What most readers came for.
fn in_short(findings: &Findings) -> Section {
    let sentence = |(parts, _): &Separated| {
        let of = |millionths: i64| percent(millionths.abs(), 1_000_000);
        let way = |millionths: i64| if millionths < 0 { "low" } else { "high" };
        let points = |millionths: i64| percent(millionths, 1_000_000).replace(" %", "");
        format!(
            "{} is {} {} on {} ({}): {} points are hidden overhead, {} wrapping of messages, {} misjudged text.",
            parts.estimator,
            of(parts.bias),
            way(parts.bias),
            parts.family.name(),
            counted(parts.calls, "call"),
            points(parts.hidden),
            points(parts.messages),
            points(parts.texts)
        )
    };
    let first = findings.parts.iter().filter(|(parts, _)| parts.estimator == SHOWN[0]).map(sentence);
    let mut lines: Vec<String> = first.collect();
    lines.extend(findings.buffers.iter().filter(|row| row.estimator == SHOWN[0] && row.family.is_none()).filter_map(buffer));
    if lines.is_empty() {
        lines.push("No call has recorded usage that an estimate could be compared with.".to_owned());
    }
    Section { title: "In short".to_owned(), body: Body::Lines(lines) }
}

/// The buffer for all but a hundredth of the calls, and how it did on held-out sessions.
fn buffer(row: &Buffers) -> Option<String> {
    let buffer = row.buffers.iter().find(|buffer| buffer.level == 990)?;
    let (one, other) = (buffer.tokens?, buffer.swapped?);
    let share = |(covered, of): (u64, u64)| Some(percent(i64::try_from(covered).ok()?, of));
    let used = match row.used {
        Use::Request => "over whole requests",
        Use::SinceUsage => "on top of the last recorded usage",
    };
    let tokens = |buffer: i64| grouped(buffer.max(0).unsigned_abs());
    Some(format!(
        "{} {used}: P99 takes a buffer of {} tokens by one half of the sessions, which covers {} of the calls of the other; {} by that one, which covers {} of the first.",
        row.estimator,
        tokens(one),
        share(buffer.covered)?,
        tokens(other),
        share(buffer.swapped_covered)?
    ))
}

/// A sentence on the calls that are not compared; absent where all are.
pub fn left_out(by_reason: &BTreeMap<LeftOut, u64>) -> Option<String> {
    let words: Vec<String> = by_reason.iter().map(|(reason, calls)| format!("{} {}", counted(*calls, "call"), reason.phrase())).collect();
    (!words.is_empty()).then(|| format!("Left out: {}.", words.join("; ")))
}

fn all_notes(corpus: &Corpus, findings: &Findings, basis: Basis) -> Vec<String> {
    let (calls, sessions) = findings.compared;
    let mut all = vec![format!(
        "Compared: {} of {} whose prompt size the provider reported. Recorded / estimated stands under p5 to p99; bias is estimated less recorded as a share of recorded.",
        counted(calls, "call"),
        counted(sessions, "session")
    )];
    all.extend(left_out(&findings.left_out));
    if !findings.counted {
        all.push("Texts were not counted in o200k_base and cl100k_base: these estimators are missing.".to_owned());
    }
    if findings.implausible > 0 {
        all.push(format!(
            "{} between two calls grew by more than three times, or less than a third of, what the log shows: they say nothing of what content costs.",
            counted(findings.implausible, "step")
        ));
    }
    all.push(
        "Costs of content, overheads and predictions are fitted; the brackets are 90 % intervals over whole projects, or sessions where there are fewer than ten. Held-out figures come from \
         sessions that the fit has not seen; sessions are dealt out into halves by agent, its version and a hash of their id."
            .to_owned(),
    );
    if basis == Basis::Chars {
        all.push("Calibrated coefficients are for characters.".to_owned());
    }
    all.extend(notes::of_corpus(corpus));
    all
}
