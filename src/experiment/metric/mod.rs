//! What sessions and policies are measured by.

mod row;
mod table;

pub use row::{Amount, Better, Known, KnownFrom, Metric, Of, OverSessions, Part, Provenance, Stands, Unit, count, metric, tokens};
pub use table::{LIST_PRICE, METRICS, compactions, findings, in_spreadsheets, in_tables, judged_by, metric_of};
