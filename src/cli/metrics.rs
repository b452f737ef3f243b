//! `ctxsim help metrics`: what each measure says.

use super::door::Door;
use super::failure::Failure;
use super::output::Output;
use crate::report::{glossary, list};
use clap::Args;

/// What each measure says: the columns of tables and CSV, and what --minimise, --subject-to, --allow and --fail-on take
#[derive(Args, Debug)]
pub struct Metrics {
    #[command(flatten)]
    output: Output,
}

impl Metrics {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.list(door, "ctxsim help metrics", list("metrics", "Measures, and what each says".to_owned(), glossary()))
    }
}
