//! The measures, each with what it says.

use super::cost_figures::COLUMNS;
use super::document::{Cell, Column, Table};
use super::recording::COST_BESIDE;
use crate::experiment::metric::{METRICS, in_spreadsheets};

/// One row per measure: its name, what it says.
pub fn glossary() -> Table {
    let columns = vec![Column::name("name", "name"), Column::prose("meaning", "what it says")];
    let columns_of_cost = || COLUMNS.into_iter().chain([COST_BESIDE]);
    let of_cost = columns_of_cost().map(|column| (column.key, column.meaning));
    let measures = METRICS.iter().filter(|metric| columns_of_cost().all(|column| column.key != metric.key));
    let rows = measures.map(|metric| (metric.key, metric.meaning)).chain(of_cost);
    let row = |(name, meaning): (&str, &str)| vec![Cell::name(name), Cell::name(meaning)];
    Table { labels: 1, columns, rows: rows.map(row).collect() }
}

/// The names of the columns that a table of policies can have.
pub fn column_names() -> impl Iterator<Item = &'static str> {
    in_spreadsheets().map(|metric| metric.key).chain(COLUMNS.iter().map(|column| column.key)).chain([COST_BESIDE.key])
}
