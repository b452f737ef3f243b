//! `ctxsim demo`: some sessions out of the binary, for a first minute without data.

use super::failure::{Failure, tell};
use super::logs::Logs;
use super::output::{Waiting, page, print};
use super::welcome::Welcome;
use clap::Args;
use ctxsim::catalog::Catalog;
use ctxsim::render::prose;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ctxsim demo
  ctxsim demo -o demo-logs && ctxsim replay demo-logs -p opencode --by session";

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
    /// Write the sessions into this new folder, to try other commands on
    #[arg(long = "out", short = 'o', value_name = "DIR", aliases = ["write", "output"])]
    write: Option<PathBuf>,
}

impl Demo {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        if let Some(folder) = &self.write {
            write_into(folder)?;
            tell(&format!("wrote {} sessions into {}", SESSIONS.len(), folder.display()));
            return print(&next(&folder.to_string_lossy()));
        }
        let folder = tempfile::tempdir().map_err(|error| Failure::writing(&std::env::temp_dir(), &error))?;
        write_into(folder.path())?;
        let logs = Logs { logs: vec![folder.path().to_string_lossy().into_owned()], quiet: true, ..Logs::default() };
        let (first_look, catalog) = (Welcome::of(logs), Catalog::builtin()?);
        let mut corpus = first_look.read(&catalog)?;
        corpus.forget_folders();
        first_look.show(&catalog, &corpus, "ctxsim demo")?;
        let made_up = "These six sessions are made up and part of the program. To try more on them: ctxsim demo --out demo-logs";
        print(&format!("\n{}{}", prose(made_up, page()), next("demo-logs")))
    }
}

/// What can be tried on the folder.
fn next(folder: &str) -> String {
    let folder = super::replay::quoted(&[folder.to_owned()]);
    format!(
        "
Next: ctxsim replay {folder} --policy none --policy codex --by session
      ctxsim explain pi --policy opencode {folder}
      ctxsim sweep {folder} --policy pi --vary reserveTokens=4k..128k:x2
      ctxsim drift {folder}
"
    )
}

fn write_into(folder: &Path) -> Result<(), Failure> {
    let writing = |error| Failure::writing(folder, &error);
    std::fs::create_dir_all(folder).map_err(writing)?;
    if std::fs::read_dir(folder).map_err(writing)?.next().is_some() {
        return Err(Failure::Usage(format!("{} is not empty: name a new folder for the sessions", folder.display())));
    }
    let waiting: Vec<Waiting> = SESSIONS
        .iter()
        .map(|(name, text)| Waiting::write(&folder.join(name), |file| std::io::Write::write_all(file, text.as_bytes())))
        .collect::<Result<_, _>>()?;
    waiting.into_iter().try_for_each(Waiting::put_in_place)
}
