//! `ctxsim trace`: measured logs in a file, without their content.

use super::failure::{Failure, tell};
use super::folder::{self, Strangers};
use super::logs::Logs;
use super::output::Waiting;
use clap::{Args, Subcommand};
use ctxsim::catalog::Catalog;
use ctxsim::experiment::{Vocabularies, is_trace_file, write_traces};
use ctxsim::measure::Wanted;
use ctxsim::report::counted;
use std::path::PathBuf;

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
    /// The file to write
    #[arg(long = "out", short = 'o', value_name = "FILE", alias = "output")]
    output: PathBuf,
    /// Write over a file that is there already and is no .ctxtrace
    #[arg(long)]
    force: bool,
    /// Keep of each log's path the name of its file alone; reports on the trace then name files so
    #[arg(long)]
    without_paths: bool,
}

/// A file of measured logs is made again over itself.
fn is_trace(file: &std::path::Path) -> bool {
    let mut head = [0; 9];
    ctxsim::reading::regular(file).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head)).is_ok() && is_trace_file(&head)
}

impl Trace {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        let Trace::Build(build) = self;
        folder::check_file(&build.output, if build.force { Strangers::Accepted } else { Strangers::Refused }, &is_trace)?;
        let mut corpus = build.logs.read_in(&Catalog::builtin()?, Vocabularies::Public, Wanted::default())?;
        let complaints = build.logs.complaints(&corpus);
        if build.without_paths {
            corpus.forget_folders();
        }
        let mut bytes = Vec::new();
        write_traces(&corpus, &mut bytes)?;
        Waiting::write(&build.output, |file| std::io::Write::write_all(file, &bytes))?.put_in_place()?;
        if !build.logs.quiet {
            let (sessions, skipped) = (corpus.facts.sessions, corpus.facts.skipped.len() as u64);
            let left_out = if skipped > 0 { format!(", {} skipped", counted(skipped, "file")) } else { String::new() };
            tell(&format!("wrote {} with {}{left_out}", build.output.display(), counted(sessions, "session")));
        }
        if complaints.is_empty() { Ok(()) } else { Err(Failure::Check(complaints)) }
    }
}
