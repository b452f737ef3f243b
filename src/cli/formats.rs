//! `ctxsim formats`: what can be read.

use super::failure::Failure;
use super::print::{page, print};
use clap::Args;
use ctxsim::format::READERS;
use ctxsim::render::table_alone;
use ctxsim::report::{Cell, Column, Table};

/// List the formats that are read, with a line on each
#[derive(Args, Debug)]
pub struct Formats {}

impl Formats {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        let own = ("(.ctxtrace)", "measured logs, as `ctxsim trace build` writes them");
        let rows = READERS.iter().map(|reader| (reader.name, reader.about)).chain([own]);
        let row = |(name, about): (&str, &str)| vec![Cell::Name(name.to_owned()), Cell::Name(about.to_owned())];
        let columns = vec![Column::name("format", "format"), Column::prose("about", "what it is")];
        print(&table_alone(&Table { labels: 1, columns, rows: rows.map(row).collect() }, page()))
    }
}
