//! `ctxsim demo`: some sessions out of the binary, for a first minute without data.

use super::door::{Company, Door, WRITES};
use super::failure::{Failure, tell};
use super::logs::Logs;
use super::print::{page, print};
use super::replay::Replay;
use super::target::{FOLDER, OUTPUT, Target};
use crate::render::prose;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ctxsim demo
  ctxsim demo -o demo-logs/ && ctxsim replay demo-logs -p opencode --by session";

/// The sessions of the project's sample corpus that tell most: names of their files, and content.
const SESSIONS: [(&str, &str); 6] = [
    ("claude-code.jsonl", include_str!("../../transcripts/claude-code/automatic-compaction.jsonl")),
    ("codex.jsonl", include_str!("../../transcripts/codex/small.jsonl")),
    ("gemini-cli.json", include_str!("../../transcripts/gemini-cli/session.json")),
    ("mini-swe-agent.traj.json", include_str!("../../transcripts/mini-swe-agent/tool-calls.traj.json")),
    ("opencode.json", include_str!("../../transcripts/opencode/prune-and-compaction.json")),
    ("pi.jsonl", include_str!("../../transcripts/pi/sudden-results.jsonl")),
];

/// Replay six made-up sessions that are part of the program: no data needed
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Demo {
    /// Write the sessions into this new folder (`demo-logs/`), to try other commands on
    #[arg(long, short, value_name = "DIR", aliases = ["out", "write"], help_heading = WRITES)]
    output: Option<PathBuf>,
    /// Write into a folder that is not empty, and over what has the same name
    #[arg(long, help_heading = WRITES)]
    force: bool,
}

impl Demo {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        if let Some(path) = &self.output {
            let target = Target::of(OUTPUT, path, &FOLDER, None)?;
            let none = || Failure::Usage("six sessions are six files: name a folder for them".to_owned());
            let folder = target.folder().ok_or_else(none)?;
            let files = SESSIONS.map(|(name, text)| (name.to_owned(), text.into()));
            door.fill("output", folder, Company::Nothing, &files)?;
            tell(&format!("wrote {} sessions into {}", SESSIONS.len(), folder.display()));
            return print(&next(&folder.to_string_lossy()));
        }
        let folder = door.scratch()?;
        for (name, text) in SESSIONS {
            folder.write(name, text.as_bytes()).map_err(|error| Failure::writing(folder.path(), &error))?;
        }
        let logs = Logs { logs: vec![folder.path().to_string_lossy().into_owned()], quiet: true, ..Logs::default() };
        let mut first_look = Replay::of(logs);
        let policies = first_look.named()?;
        let mut corpus = first_look.read(&policies)?;
        corpus.forget_folders();
        // The scratch folder goes; what is offered to type next holds for the one that the first of it makes.
        first_look.logs.logs = vec!["demo-logs".to_owned()];
        first_look.first = Some(("ctxsim demo -o demo-logs/".to_owned(), "writes these sessions there".to_owned()));
        first_look.show(door, &corpus, &policies, "ctxsim demo".to_owned())?;
        print(&prose("These six sessions are made up.", page()))
    }
}

/// What can be tried on the folder.
fn next(folder: &str) -> String {
    let folder = super::shell::quoted(&[folder.to_owned()]);
    format!(
        "
Next: ctxsim replay {folder} --policy none --policy codex --by session
      ctxsim explain pi --policy opencode {folder}
      ctxsim sweep {folder} --policy pi --vary reserveTokens=4k..128k:x2
      ctxsim drift {folder}
"
    )
}
