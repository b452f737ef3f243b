//! `ctxsim formats`: what can be read.

use super::door::Door;
use super::failure::Failure;
use super::output::Output;
use crate::format::READERS;
use crate::report::{Cell, Column, Depth, Table, by_name, list};
use clap::Args;

/// List the formats that are read, with a line on each
#[derive(Args, Debug)]
pub struct Formats {
    #[command(flatten)]
    output: Output,
}

impl Formats {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let own = ("(.ctxtrace)", "measured logs, as `ctxsim trace build` writes them");
        let rows = READERS.iter().map(|reader| (reader.name, reader.about)).chain([own]);
        let row = |(name, about): (&str, &str)| vec![Cell::Name(name.to_owned()), Cell::Name(about.to_owned())];
        let columns = vec![Column::name("format", "format"), Column::prose("about", "what it is")];
        let table = Table { labels: 1, columns, rows: rows.map(row).collect() };
        let all = list("formats", "Formats that are read".to_owned(), table);
        self.output.list(door, "ctxsim formats", if self.output.depth() == Depth::Screen { by_name(all) } else { all })
    }
}
