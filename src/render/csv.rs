//! For spreadsheets: the report's flat table, numbers without dress.

use super::error::RenderError;
use super::escape::escape;
use crate::report::{Cell, Report, Table, decimal_dollars};

/// The flat table, its first line the keys of the columns.
pub fn csv(report: &Report) -> Result<String, RenderError> {
    of_table(&report.rows)
}

/// A table, its first line the keys of the columns.
pub(super) fn of_table(table: &Table) -> Result<String, RenderError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| column.key))?;
    for row in &table.rows {
        writer.write_record(row.iter().map(field))?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Count(number) | Cell::Tokens(number) => number.to_string(),
        Cell::SignedTokens(number) => number.to_string(),
        Cell::Money(nano_usd) => decimal_dollars(*nano_usd),
        Cell::Share { whole: 0, .. } | Cell::Empty => String::new(),
        Cell::Share { part, whole } => format!("{:.6}", *part as f64 / *whole as f64),
        Cell::Text(text) | Cell::Name(text) => guarded(&escape(text)),
    }
}

/// A spreadsheet takes what begins like a formula for one, and runs it: behind blanks and quotes too, and in signs of full width.
fn guarded(text: &str) -> String {
    let begins = text.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '"');
    let formula = begins.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if formula { format!("'{text}") } else { text.to_owned() }
}
