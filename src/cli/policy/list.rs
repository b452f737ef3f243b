//! `ctxsim policy list`: names of all presets.

use crate::cli::failure::Failure;
use crate::cli::print::{page, print};
use ctxsim::policy::{Policy as Document, presets};
use ctxsim::render::table_alone;
use ctxsim::report::{Cell, Column, Table};

/// Prints a row for each preset.
pub fn run() -> Result<(), Failure> {
    let row = |name: &str, text: &str| -> Result<Vec<Cell>, Failure> {
        Ok(vec![Cell::Name(name.to_owned()), Cell::Name(Document::parse(name, text)?.about)])
    };
    let rows = presets().iter().map(|preset| row(preset.name, preset.text)).collect::<Result<_, Failure>>()?;
    let columns = vec![Column::name("policy", "policy"), Column::prose("about", "what it does")];
    print(&table_alone(&Table { labels: 1, columns, rows }, page()))
}
