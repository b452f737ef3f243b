//! `ctxsim policy`: the policies that ship with the program.

use super::failure::Failure;
use super::output::print;
use clap::{Args, Subcommand};
use ctxsim::policy::{Policy as Document, Preset, presets, suggestion};

const EXAMPLES: &str = "\
Examples:
  ctxsim policy list
  ctxsim policy show opencode > mine.toml
  ctxsim replay logs/ --policy mine.toml --policy opencode";

/// List the built-in policies, or print one as a starting point of your own
#[derive(Subcommand, Debug)]
pub enum Policy {
    /// Names of all presets, with a line on each
    List,
    Show(Show),
}

/// Print a preset's TOML with its parameters and rules
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    /// The preset; a bare name is the newest version of its system
    name: String,
}

impl Policy {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            Policy::List => list(),
            Policy::Show(show) => print(find(&show.name)?.text),
        }
    }
}

fn list() -> Result<(), Failure> {
    let width = presets().iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for preset in presets() {
        let about = Document::parse(preset.name, preset.text)?.about;
        out += &format!("{:width$}  {about}\n", preset.name);
    }
    print(&out)
}

fn find(name: &str) -> Result<&'static Preset, Failure> {
    let exact = presets().iter().find(|preset| preset.name == name);
    let newest = || presets().iter().find(|preset| preset.name.split('@').next() == Some(name));
    exact.or_else(newest).ok_or_else(|| {
        let hint = suggestion(name, presets().iter().map(|preset| preset.name));
        Failure::Usage(format!("`{name}` is no preset{hint} (`ctxsim policy list` lists them)"))
    })
}
