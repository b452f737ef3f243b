//! `ctxsim trace`: measured logs in a file, without their content.

use super::door::{Door, NONE_IS_OWN, Place, WRITES};
use super::failure::{Failure, tell};
use super::logs::Logs;
use super::target::{Ending, OUTPUT, Target, Writes, forms};
use crate::corpus::{Vocabularies, write_traces};
use crate::measure::Wanted;
use crate::report::counted;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What measured logs are written as.
const MEASURED: Writes = Writes { files: &[Ending::Ctxtrace], folder: false };

const EXAMPLES: &str = "\
Examples:
  ctxsim trace build logs/ -o corpus.ctxtrace
  ctxsim trace build logs/ -o shared.ctxtrace --without-paths
  ctxsim replay corpus.ctxtrace --policy none --policy pi";

/// Measure logs once and keep the numbers
#[derive(Subcommand, Debug)]
pub enum Trace {
    Build(Build),
}

/// Measure logs into a .ctxtrace: numbers, names, ids and the paths of the logs as they were named, no content. Every command takes it
/// in the place of logs
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Build {
    #[command(flatten)]
    logs: Logs,
    /// The file to write, FILE.ctxtrace; `-` for standard output
    #[arg(long, short, value_name = "PATH", alias = "out", help_heading = WRITES)]
    output: PathBuf,
    /// The form of the output: a .ctxtrace is the only one
    #[arg(long, value_name = "FORM", value_parser = forms(&MEASURED), help_heading = WRITES)]
    format: Option<Ending>,
    /// Write over a file that is there already
    #[arg(long, help_heading = WRITES)]
    force: bool,
    /// Keep of each log's path the name of its file alone; reports on the trace then name files so
    #[arg(long, help_heading = WRITES)]
    without_paths: bool,
}

impl Trace {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let Trace::Build(build) = self;
        Target::of(OUTPUT, &build.output, &MEASURED, build.format)?;
        let place = door.file("output", &build.output, NONE_IS_OWN)?;
        let mut corpus = build.logs.read_in(Vocabularies::Public, Wanted::default())?;
        let complaints = build.logs.complaints(&corpus);
        if build.without_paths {
            corpus.forget_folders();
        }
        let mut bytes = Vec::new();
        write_traces(&corpus, &mut bytes)?;
        door.put(&[(&place, &bytes.into())])?;
        if !build.logs.quiet {
            let (sessions, skipped) = (corpus.facts.sessions, corpus.facts.skipped.len() as u64);
            let left_out = if skipped > 0 { format!(", {} skipped", counted(skipped, "file")) } else { String::new() };
            let named = if matches!(place, Place::Printed) { "to standard output".into() } else { build.output.display().to_string() };
            tell(&format!("wrote {named} with {}{left_out}", counted(sessions, "session")));
        }
        Failure::checked(complaints)
    }
}
