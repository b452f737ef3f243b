//! `gate`: a policy beside its baseline: what moved, in which sessions, and what of it is not allowed.

use super::asked::Gated;
use super::document::{Body, Cell, Column, Provenance, Report, Section, Table, Unit};
use super::measures::{cell, phrase};
use super::notes;
use super::record::any::Record;
use super::record::corpus::CorpusRecord;
use super::record::gate::GateRecord;
use super::title::title;
use super::words::{counted, grouped};
use crate::experiment::gate::{Comparison, Moved, MovedSession};
use crate::experiment::{Measure, Value};

/// So many sessions are named for each measure.
const SHOWN: usize = 5;

/// One check of a gate, for whoever counts checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What is checked: `tokens +2%`.
    pub name: String,
    /// Is it kept?
    pub outcome: Outcome,
    /// What was found, in a sentence.
    pub sentence: String,
}

/// Is a check kept?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is.
    Kept,
    /// It is not.
    Broken,
}

/// The report on a gate.
pub fn gate(gated: &Gated<'_>) -> Report {
    let comparison = gated.comparison;
    let mut notes = comparison.changes.clone();
    notes.extend(notes::of_facts(&gated.corpus.facts));
    let table = table(&comparison.measures);
    let broken = checks(comparison).iter().filter(|check| check.outcome == Outcome::Broken).count() as u64;
    let verdict = match broken {
        0 => "The gate is open: nothing has exceeded its limit.".to_owned(),
        _ => format!("The gate is shut: {} exceeded.", counted(broken, "limit")),
    };
    let mut sections = vec![
        Section { title: String::new(), body: Body::Lines(vec![verdict]) },
        Section { title: "Beside the baseline".to_owned(), body: Body::Table(table.clone()) },
    ];
    let movers = movers(&comparison.measures);
    if !movers.rows.is_empty() {
        sections.push(Section { title: "Sessions that moved it, the farthest first".to_owned(), body: Body::Table(movers) });
    }
    Report {
        title: format!("Policy {} over {}", gated.policy, title(&gated.corpus.facts)),
        command: gated.command.clone(),
        sections,
        corpus: Some(CorpusRecord::new(&gated.corpus.facts)),
        record: Record::Gate(Box::new(GateRecord::new(gated))),
        notes,
        rows: table,
    }
}

/// Each limit as a check.
pub fn checks(comparison: &Comparison) -> Vec<Check> {
    let of = |moved: &Moved| {
        let sentence = sentence(moved);
        let check = |words: &String| Check {
            name: words.clone(),
            outcome: if moved.exceeded.contains(words) { Outcome::Broken } else { Outcome::Kept },
            sentence: sentence.clone(),
        };
        moved.allowed.iter().map(check).collect::<Vec<Check>>()
    };
    comparison.measures.iter().flat_map(of).collect()
}

/// "tokens 1,200,000, and 1,100,000 in the baseline (+100,000, +9.10 %); moved by a.jsonl s1 (+60,000), ..."
fn sentence(moved: &Moved) -> String {
    let measure = &moved.measure;
    let mut sentence = format!(
        "{} {}, and {} in the baseline ({})",
        measure.name(),
        phrase(moved.now, measure),
        phrase(moved.baseline, measure),
        both(moved.baseline, moved.now, measure)
    );
    let named: Vec<String> = moved
        .sessions
        .iter()
        .take(SHOWN)
        .map(|session| format!("{} ({})", session.session, both(session.baseline, session.now, measure)))
        .collect();
    if !named.is_empty() {
        let rest = moved.sessions.len().saturating_sub(SHOWN);
        let more = if rest > 0 { format!(" and {} more", counted(rest as u64, "session")) } else { String::new() };
        sentence += &format!("; moved by {}{more}", named.join(", "));
    }
    sentence
}

/// The difference in what the measure counts, and as a share of the baseline, as limits in percent are judged: `-1.00 pp, -1.05 %`.
fn both(baseline: Value, now: Value, measure: &Measure) -> String {
    let change = change(baseline, now);
    let signed = signed(baseline, now, measure);
    if change.is_empty() { signed } else { format!("{signed}, {change}") }
}

/// The difference in what the measure counts; that of shares in points.
fn signed(baseline: Value, now: Value, measure: &Measure) -> String {
    if measure.is_share() {
        let (difference, whole) = exact(baseline, now);
        return format!("{} pp", hundredths(difference.saturating_mul(10_000), whole));
    }
    let difference = difference(baseline, now);
    let words = phrase(difference, measure);
    if difference.part > 0 { format!("+{words}") } else { words }
}

/// The difference as a share of the baseline; empty where that is nought.
fn change(baseline: Value, now: Value) -> String {
    let (difference, _) = exact(baseline, now);
    let whole = i128::from(baseline.part.unsigned_abs()) * i128::from(now.whole.max(1));
    if whole == 0 { String::new() } else { format!("{} %", hundredths(difference.saturating_mul(10_000), whole)) }
}

/// The second quotient less the first, as a quotient; those of nothing are nought.
fn exact(baseline: Value, now: Value) -> (i128, i128) {
    let parts = |value: Value| if value.whole == 0 { (0, 1) } else { (i128::from(value.part), i128::from(value.whole)) };
    let ((was, of), (is, of_now)) = (parts(baseline), parts(now));
    (is * of - was * of_now, of * of_now)
}

/// A quotient, which is in hundredths, with its sign. It is rounded away from nought, so that what exceeds a limit is seen to.
fn hundredths(part: i128, whole: i128) -> String {
    let size = part.unsigned_abs().div_ceil(whole.unsigned_abs().max(1));
    let sign = match part.signum() {
        1 => "+",
        -1 => "-",
        _ => "",
    };
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

/// The second less the first; that of quotients in millionths.
fn difference(baseline: Value, now: Value) -> Value {
    if baseline.whole == 1 && now.whole == 1 {
        return Value { part: now.part.saturating_sub(baseline.part), whole: 1 };
    }
    let scaled = |value: Value| (i128::from(value.part) * 1_000_000).checked_div(i128::from(value.whole)).unwrap_or(0);
    Value { part: i64::try_from(scaled(now) - scaled(baseline)).unwrap_or(i64::MAX), whole: 1_000_000 }
}

fn columns(first: Vec<Column>) -> Vec<Column> {
    let simulated = |key, header, meaning| Column { meaning, ..Column::number(key, header, Unit::Count, Provenance::Simulated) };
    let mut columns = first;
    columns.extend([
        simulated("baseline", "baseline", "what the policy came to when the baseline was written"),
        simulated("now", "now", "what it comes to now"),
        simulated("difference", "difference", "the second less the first; that of shares in points (pp)"),
        simulated(
            "change",
            "change",
            "the difference in percent of the baseline, as limits in percent are judged; rounded away from nought",
        ),
    ]);
    columns
}

fn table(measures: &[Moved]) -> Table {
    let mut columns = columns(vec![Column::name("measure", "measure")]);
    columns.push(Column { meaning: "how far it may go; nothing where nobody said", ..Column::name("allowed", "allowed") });
    columns.push(Column::name("verdict", "verdict"));
    let row = |moved: &Moved| {
        let measure = &moved.measure;
        let verdict = match (moved.allowed.is_empty(), moved.exceeded.is_empty()) {
            (true, _) => "moved",
            (false, true) => "kept",
            (false, false) => "exceeded",
        };
        vec![
            Cell::Name(measure.name()),
            cell(moved.baseline, measure),
            cell(moved.now, measure),
            Cell::Name(signed(moved.baseline, moved.now, measure)),
            Cell::Name(change(moved.baseline, moved.now)),
            Cell::Name(moved.allowed.join(", ")),
            Cell::Name(verdict.to_owned()),
        ]
    };
    Table { labels: 1, columns, rows: measures.iter().map(row).collect() }
}

/// The sessions that moved what has a limit.
fn movers(measures: &[Moved]) -> Table {
    let columns = columns(vec![Column::name("measure", "measure"), Column::name("session", "session")]);
    let limited = measures.iter().filter(|moved| !moved.allowed.is_empty());
    let row = |moved: &Moved, session: &MovedSession| {
        let measure = &moved.measure;
        vec![
            Cell::Name(measure.name()),
            Cell::Text(session.session.clone()),
            cell(session.baseline, measure),
            cell(session.now, measure),
            Cell::Name(signed(session.baseline, session.now, measure)),
            Cell::Name(change(session.baseline, session.now)),
        ]
    };
    let mut rows = Vec::new();
    for moved in limited {
        rows.extend(moved.sessions.iter().take(SHOWN).map(|session| row(moved, session)));
        let rest = moved.sessions.len().saturating_sub(SHOWN);
        if rest > 0 {
            let more = Cell::Name(format!("and {} more", grouped(rest as u64)));
            rows.push(vec![Cell::Name(moved.measure.name()), more, Cell::Empty, Cell::Empty, Cell::Empty, Cell::Empty]);
        }
    }
    Table { labels: 2, columns, rows }
}
