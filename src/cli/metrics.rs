//! `ctxsim help metrics`: what each measure says.

use super::failure::Failure;
use super::print::{page, print};
use clap::Args;
use ctxsim::render::table_alone;
use ctxsim::report::glossary;

/// What each measure says: the columns of tables and CSV, and what --minimise, --subject-to, --allow and --fail-on take
#[derive(Args, Debug)]
pub struct Metrics {}

impl Metrics {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        print(&table_alone(&glossary(), page()))
    }
}
