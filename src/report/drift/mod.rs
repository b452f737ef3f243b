//! `drift`: how far estimators are from recorded usage, what is hidden and what misjudged, and what follows from it.

mod accuracy;
mod consequences;
mod content;

use super::answer::heading;
use super::document::{Body, Report, Screen, Section};
use super::notes;
use super::record::drift::EstimatorsRecord;
use super::words::{counted, first_few, grouped, percent, three_digits};
use crate::corpus::Corpus;
use crate::experiment::drift::{Basis, Buffers, Figures, Findings, LeftOut, Separated, Uncounted, Use};
use accuracy::SHOWN;
use std::collections::BTreeMap;

/// The report on a corpus's drift.
pub fn drift(corpus: &Corpus, findings: &Findings, basis: Basis) -> Report {
    let notes = all_notes(corpus, findings, basis);
    let sections = [
        Some(in_short(findings)),
        accuracy::estimators(corpus, findings),
        accuracy::by_family(corpus, findings),
        accuracy::by_source(findings),
        accuracy::along(findings),
        content::parts(findings),
        content::hidden(findings),
        content::costs(findings),
        accuracy::predictions(findings),
        consequences::policies(findings),
        consequences::buffers(findings),
    ];
    let record = EstimatorsRecord::new(corpus, findings);
    let sections = sections.into_iter().flatten().collect();
    let screen = Some(screen(corpus, findings));
    Report { screen, ..Report::over(&corpus.facts, sections, notes, accuracy::flat(corpus, findings), record) }
}

/// How far the plainest estimator is off and what would make up for it, what drift does to named policies, and where it comes from.
fn screen(corpus: &Corpus, findings: &Findings) -> Screen {
    let plainest = |estimator: &String| *estimator == SHOWN[0];
    // The estimators of policies that are named, else the plainest.
    let asked = |estimator: &String| match findings.consequences.as_slice() {
        [] => plainest(estimator),
        policies => policies.iter().any(|row| row.policy == *estimator),
    };
    let overall = findings.comparisons.iter().filter(|row| row.family.is_none() && row.source.is_none() && asked(&row.estimator));
    let mut lines: Vec<String> = overall.filter_map(|row| off(&row.estimator, &row.figures)).collect();
    let spare = lines.iter().skip(1).rev().cloned().collect();
    let usual = |row: &&Buffers| plainest(&row.estimator) && row.family.is_none() && row.used == Use::SinceUsage;
    lines.extend(not_compared(corpus, findings));
    lines.extend(findings.buffers.iter().find(usual).and_then(covers));
    if lines.is_empty() {
        lines.push(NOTHING.to_owned());
    }
    let named = |estimator: &str| SHOWN.contains(&estimator) || findings.consequences.iter().any(|row| row.policy == estimator);
    let sections = [Some(Section::lines(lines)), consequences::policies(findings), content::in_parts(findings, &named)];
    Screen { title: heading(corpus), sections: sections.into_iter().flatten().collect(), spare, ..Screen::default() }
}

const NOTHING: &str = "No call has recorded usage that an estimate could be compared with.";

/// How far an estimator is from recorded prompts, all calls together; absent without a call.
fn off(estimator: &str, figures: &Figures) -> Option<String> {
    let bias = figures.bias_tokens();
    let by = percent(bias.saturating_abs(), figures.recorded_tokens);
    let way = if bias < 0 { "low" } else { "high" };
    let ratio = figures.ratios.as_ref().map(|ratios| format!("{:.2}", ratios.p50 as f64 / 1000.0))?;
    Some(format!(
        "Estimates by {estimator} are {by} too {way} over {} with recorded usage in {}; the median prompt is {ratio} times its estimate.",
        counted(figures.calls, "call"),
        counted(figures.sessions, "session"),
    ))
}

/// The buffer on top of the last recorded usage for all but a hundredth of the calls, the larger one of both halves.
fn covers(row: &Buffers) -> Option<String> {
    let buffer = row.buffers.iter().find(|buffer| buffer.level == 990)?;
    let tokens = buffer.tokens?.max(buffer.swapped?).max(0).unsigned_abs();
    let (covered, of) = (buffer.covered.0 + buffer.swapped_covered.0, buffer.covered.1 + buffer.swapped_covered.1);
    Some(format!(
        "On top of the last recorded usage it takes a buffer of {} tokens for 99 % of the calls; held out, such buffers cover {}.",
        three_digits(tokens),
        percent(i64::try_from(covered).ok()?, of)
    ))
}

/// Bias and buffers of the first estimator, in sentences.
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
        lines.push(NOTHING.to_owned());
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

/// Why fewer calls are compared than have recorded usage, the most frequent reasons; absent where all are.
fn not_compared(corpus: &Corpus, findings: &Findings) -> Option<String> {
    let (all, compared) = (corpus.facts.calls_with_usage, findings.compared.0);
    let replayed = findings.left_out.iter().map(|(reason, calls)| (*calls, reason.phrase()));
    let aside = all.saturating_sub(compared + findings.left_out.values().sum::<u64>());
    let mut reasons: Vec<(u64, &str)> = replayed.chain([(aside, notes::ASIDE)]).filter(|(calls, _)| *calls > 0).collect();
    reasons.sort_by_key(|(calls, _)| std::cmp::Reverse(*calls));
    let (named, rest) = reasons.split_at(reasons.len().min(2));
    let words: Vec<String> = named.iter().map(|(calls, reason)| format!("{} {reason}", grouped(*calls))).collect();
    let further = grouped(rest.iter().map(|(calls, _)| calls).sum());
    let further = if rest.is_empty() { String::new() } else { format!(" and {further} for {}", counted(rest.len() as u64, "more reason")) };
    let left_out = grouped(all.saturating_sub(compared));
    (!words.is_empty())
        .then(|| format!("{left_out} of {} with recorded usage are left out: {}{further}.", counted(all, "call"), words.join(", ")))
}

/// A sentence on the calls that are not compared; absent where all are.
pub fn left_out(by_reason: &BTreeMap<LeftOut, u64>) -> Option<String> {
    let words: Vec<String> = by_reason.iter().map(|(reason, calls)| format!("{} {}", counted(*calls, "call"), reason.phrase())).collect();
    (!words.is_empty()).then(|| format!("Left out: {}.", words.join("; ")))
}

/// So many sessions are named.
const NAMED: usize = 3;

/// A sentence on each estimator that is missing, and on the sessions that keep it out.
pub fn uncounted(corpus: &Corpus, missing: &[Uncounted]) -> impl Iterator<Item = String> {
    missing.iter().map(|Uncounted { estimator, sessions }| {
        let ids: Vec<String> = sessions.iter().filter_map(|place| Some(corpus.traces.at(*place)?.id.clone())).collect();
        let of = counted(sessions.len() as u64, "compared session");
        format!("{estimator} is missing: texts of {of} were not counted in it ({}).", first_few(&ids, NAMED))
    })
}

fn all_notes(corpus: &Corpus, findings: &Findings, basis: Basis) -> Vec<String> {
    let (calls, sessions) = findings.compared;
    let mut all = vec![format!(
        "Compared: {} of {} whose prompt size the provider reported. Recorded / estimated stands under p5 to p99; bias is estimated less recorded as a share of recorded.",
        counted(calls, "call"),
        counted(sessions, "session")
    )];
    all.extend(left_out(&findings.left_out));
    all.extend(uncounted(corpus, &findings.uncounted));
    if findings.implausible > 0 {
        all.push(format!(
            "{} between two calls grew by more than three times, or less than a third of, what the log shows: they say nothing of what content costs.",
            counted(findings.implausible, "step")
        ));
    }
    all.push(
        "Costs of content, overheads and predictions are fitted; the brackets are 90 % intervals over whole projects, or sessions where there are fewer than five. Held-out figures come from \
         sessions that the fit has not seen; sessions are dealt out into halves by agent, its version and a hash of their id."
            .to_owned(),
    );
    if basis == Basis::Chars {
        all.push("Calibrated coefficients are for characters.".to_owned());
    }
    all.extend(notes::of_corpus(corpus));
    all
}
