//! `ctxsim man`: manual pages.

use super::content::Content;
use super::door::{Company, Door, WRITES};
use super::failure::Failure;
use super::print::print;
use super::target::{FOLDER, OUTPUT, Target};
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ctxsim man | man -l -
  ctxsim man -o ~/.local/share/man/man1/";

/// Print the manual page, or write one for each command into a folder
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Man {
    /// Write ctxsim.1 and a page for each command into this folder
    #[arg(long, short, value_name = "DIR", alias = "out", help_heading = WRITES)]
    output: Option<PathBuf>,
    /// Write over pages that are there already and are none of ctxsim's own
    #[arg(long, help_heading = WRITES)]
    force: bool,
}

impl Man {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let mut command = super::Cli::command();
        command.build();
        let target = self.output.as_deref().map_or(Ok(Target::Printed), |path| Target::of(OUTPUT, path, &FOLDER, None))?;
        match target.folder() {
            Some(folder) => door.fill("output", folder, Company::Any, &pages(&command)?).map(drop),
            None => print(&String::from_utf8_lossy(&page(&command)?)),
        }
    }
}

/// A page for the command and for each one below it, with the names of their files.
fn pages(command: &Command) -> Result<Vec<(String, Content<'static>)>, Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let mut all = vec![(format!("{name}.1"), page(command)?.into())];
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        all.extend(pages(sub)?);
    }
    Ok(all)
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page).map_err(|error| Failure::Usage(format!("the manual page cannot be made: {error}")))?;
    Ok(page)
}
