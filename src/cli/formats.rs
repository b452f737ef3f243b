//! `ctxsim formats`: what can be read.

use super::failure::Failure;
use super::output::print;
use clap::Args;
use ctxsim::format::READERS;

/// List the formats that are read, with a line on each
#[derive(Args, Debug)]
pub struct Formats {}

impl Formats {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        let own = ("(.ctxtrace)", "measured logs, as `ctxsim trace build` writes them");
        let rows = READERS.iter().map(|reader| (reader.name, reader.about)).chain([own]);
        let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
        print(&rows.map(|(name, about)| format!("{name:width$}  {about}\n")).collect::<String>())
    }
}
