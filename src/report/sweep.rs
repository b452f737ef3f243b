//! `sweep`: many settings of policies, the best first.

use super::asked::{Billed, Swept};
use super::document::{Better, Body, Cell, Column, Provenance, Report, Section, Table, Unit};
use super::figures::{cells, column, told};
use super::judged::{Judged, judged, words};
use super::measures::{CLOSED_LOOP, bound_cell, cell};
use super::record::any::Record;
use super::record::corpus::CorpusRecord;
use super::record::sweep::SweepRecord;
use super::ties::ties;
use super::title::title;
use super::words::{counted, counted_as, grouped};
use super::{cost_figures, notes};
use crate::experiment::metric::in_spreadsheets;
use crate::experiment::{Direction, KnownFrom, Metric, Row, Standing};
use std::collections::BTreeSet;

/// So many settings stand in the table for people; spreadsheets and programs get all of them.
const SHOWN: usize = 20;

/// The report on a sweep.
pub fn sweep(swept: &Swept<'_>) -> Report {
    let judged = judged(swept);
    let notes = all_notes(swept, &judged);
    let further: Vec<&Metric> = in_spreadsheets().collect();
    let shown = judged.get(..SHOWN.min(judged.len())).unwrap_or(&[]);
    let figures = told(shown.iter().map(|judged| &judged.row.totals));
    let mut sections: Vec<Section> =
        ties(swept, &judged).into_iter().map(|ties| Section { title: String::new(), body: Body::Lines(vec![ties]) }).collect();
    sections.push(Section { title: goal(swept), body: Body::Table(table(swept, shown, &figures)) });
    Report {
        title: format!("{} over {}", counted(swept.rows.len() as u64, "setting"), title(&swept.corpus.facts)),
        command: swept.command.clone(),
        sections,
        screen: None,
        notes,
        rows: table(swept, &judged, &further),
        corpus: Some(CorpusRecord::new(&swept.corpus.facts)),
        record: Record::Sweep(Box::new(SweepRecord::new(swept, &judged))),
    }
}

fn goal(swept: &Swept<'_>) -> String {
    let verb = if swept.objective.direction == Direction::Minimise { "least" } else { "most" };
    let constraints: Vec<&str> = swept.constraints.iter().map(|constraint| constraint.words.as_str()).collect();
    let subject = if constraints.is_empty() { String::new() } else { format!(", subject to {}", constraints.join(" and ")) };
    format!("By {verb} {}{subject}", swept.objective.measure.name())
}

fn table(swept: &Swept<'_>, judged: &[Judged<'_>], figures: &[&'static Metric]) -> Table {
    let simulated = |key, header, meaning| Column { meaning, ..Column::number(key, header, Unit::Count, Provenance::Simulated) };
    let mut columns = vec![
        Column::name("policy", "policy"),
        Column::name("setting", "setting"),
        Column { meaning: "how it stands to the best setting that keeps all constraints", ..Column::name("verdict", "verdict") },
        Column { meaning: "no other setting is as good in everything and better in something", ..Column::name("front", "front") },
        simulated("objective", "objective", "what is sought, over all sessions"),
        simulated("objective_low", "from", "its 5th percentile over resampled sessions"),
        simulated("objective_high", "to", "its 95th percentile"),
    ];
    for column in columns.iter_mut().skip(2) {
        column.priority = 1;
    }
    if let Some(column) = columns.get_mut(4) {
        column.better = if swept.objective.direction == Direction::Minimise { Better::Less } else { Better::More };
    }
    columns.extend(figures.iter().map(|figure| column(figure)));
    let billed = swept.billed == Billed::Yes;
    columns.extend(cost_figures::COLUMNS.into_iter().filter(|_| billed));
    let row = |judged: &Judged<'_>| {
        let measure = &swept.objective.measure;
        let spread = judged.row.spread.get(&measure.name());
        let bound = |bound: Option<i64>| bound.map_or(Cell::Empty, |part| bound_cell(part, measure));
        let mut row = vec![
            Cell::Name(judged.policy.to_owned()),
            Cell::Name(judged.setting.words()),
            Cell::Name(words(&judged.verdict, swept.constraints)),
            Cell::Name(if judged.verdict.on_front { "yes" } else { "" }.to_owned()),
            cell(judged.row.value(measure), measure),
            bound(spread.map(|(low, _)| *low)),
            bound(spread.map(|(_, high)| *high)),
        ];
        row.extend(cells(figures.iter().copied(), &judged.row.totals));
        row.extend(cost_figures::of_charges(&judged.row.charges).into_iter().filter(|_| billed));
        row
    };
    Table { labels: 2, columns, rows: judged.iter().map(row).collect() }
}

/// Where every setting that is allowed fails sessions, so does the best one.
fn ended_early(best: &Row) -> Option<String> {
    let (open, net) = (best.totals.failed_sessions, best.charges.net_failed_sessions);
    let closed = if net > open { format!(" ({} in the closed loop)", grouped(net)) } else { String::new() };
    let constraint = if net > open { "net failed sessions = 0" } else { "failed sessions = 0" };
    (open.max(net) > 0).then(|| {
        format!(
            "The best setting fails {}{closed} of {}, and no setting fails fewer. What the logs hold behind a failed call is not counted; \
             --subject-to '{constraint}' passes such settings over.",
            grouped(open),
            counted(best.totals.sessions, "session")
        )
    })
}

fn all_notes(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Vec<String> {
    let mut all = Vec::new();
    let standing = |standing: Standing| judged.iter().filter(|judged| judged.verdict.standing == standing).count() as u64;
    let allowed = judged.len() as u64 - standing(Standing::Breaks);
    if judged.len() > SHOWN {
        all.push(format!("{} of {} settings are shown; CSV and JSON hold all of them.", SHOWN, grouped(judged.len() as u64)));
    }
    if !swept.constraints.is_empty() {
        all.push(format!("{} all constraints.", counted_as(allowed, "setting keeps", "settings keep")));
    }
    let mut measures = std::iter::once(swept.objective.measure).chain(swept.constraints.iter().map(|constraint| constraint.measure));
    all.extend(measures.any(|measure| measure.known_from() == KnownFrom::ClosedLoop).then(|| CLOSED_LOOP.to_owned()));
    let (resamples, seed) = swept.chance;
    let resampled = judged.iter().any(|judged| !judged.row.resampled.is_empty());
    if resampled {
        all.push(format!(
            "Uncertainty is that over sessions: {} resamples of all sessions (seed {seed}), the same for every setting; from and to are \
             the 5th and the 95th percentile.",
            grouped(resamples as u64)
        ));
        let tied = standing(Standing::NoDifference);
        if allowed > 0 {
            all.push(format!(
                "{} otherwise, but cannot be told from the best one: the difference is smaller than the uncertainty.",
                counted_as(tied, "setting comes out", "settings come out")
            ));
        }
    } else {
        all.push("No uncertainty can be told: that takes two sessions, and an objective that adds up over them.".to_owned());
    }
    all.extend(judged.first().filter(|first| first.verdict.standing == Standing::Best).and_then(|best| ended_early(best.row)));
    if let Some(row) = judged.first().map(|judged| judged.row).filter(|_| swept.billed == Billed::Yes) {
        all.extend(cost_figures::left_out(&row.charges));
    }
    let distinct: BTreeSet<String> = judged.iter().map(|judged| format!("{:?}", judged.row.totals)).collect();
    if distinct.len() < judged.len() {
        let (settings, results) = (counted(judged.len() as u64, "setting"), counted(distinct.len() as u64, "different result"));
        all.push(format!("{settings} came to {results}: some parameters decide nothing in these sessions."));
    }
    all.extend(notes::notes(swept.corpus, &[]));
    all
}
