//! Measures as columns and cells of tables.

use super::document::{Cell, Column};
use crate::experiment::Metric;
use crate::experiment::metric::{Amount, Stands, Unit, in_tables};
use crate::sim::Totals;
use crate::trace::Evidence;

/// The column of a measure.
pub fn column(metric: &Metric) -> Column {
    let Metric { key, header, meaning, unit, provenance, priority, better, .. } = *metric;
    Column { key, header, meaning, unit, provenance, priority, better, pictures: false, asked: false, explained: false }
}

/// Its cell, for these sums; empty where they do not have it.
pub fn cell(metric: &Metric, totals: &Totals) -> Cell {
    match metric.amount(totals) {
        None => Cell::Empty,
        Some(Amount::Number(number)) if metric.unit == Unit::Tokens => Cell::Tokens(number),
        Some(Amount::Number(number)) => Cell::Count(number),
        Some(Amount::Signed(number)) => Cell::SignedTokens(number),
        Some(Amount::Share(part, whole)) => Cell::Share { part, whole },
    }
}

/// The cells of some measures.
pub fn cells<'m>(metrics: impl IntoIterator<Item = &'m Metric>, totals: &Totals) -> impl Iterator<Item = Cell> {
    metrics.into_iter().map(|metric| cell(metric, totals))
}

/// The measures that a table for people over these sums has.
pub fn tabled<'t>(rows: impl Iterator<Item = &'t Totals> + Clone) -> Vec<&'static Metric> {
    let tells = |metric: &Metric| rows.clone().any(|totals| !is_nothing(&cell(metric, totals)));
    in_tables().filter(|metric| metric.stands == Stands::Always || tells(metric)).collect()
}

/// Is it none of anything, or a share of nothing?
fn is_nothing(cell: &Cell) -> bool {
    matches!(cell, Cell::Empty | Cell::Count(0) | Cell::Tokens(0) | Cell::SignedTokens(0) | Cell::Money(0) | Cell::Share { whole: 0, .. })
}

/// The cell of the oracle that stands beside a policy.
pub fn oracle_cell(metric: &Metric, totals: &Totals) -> Cell {
    let retention = &totals.retention;
    match metric.key {
        "references_kept_share" => Cell::share(retention.oracle, retention.of(Evidence::Line).all()),
        "references_achieved_share" => Cell::share(retention.oracle, retention.achievable),
        "broken_calls_share" => Cell::share(retention.oracle_broken_calls, totals.calls),
        _ if metric.by_size => cell(metric, totals),
        _ => Cell::Empty,
    }
}
