//! `ctxsim completions`: a script by which a shell completes commands and options.

use super::failure::Failure;
use super::print::print;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  ctxsim completions bash > ctxsim.bash
  ctxsim completions zsh > ~/.zfunc/_ctxsim
  ctxsim completions fish > ~/.config/fish/completions/ctxsim.fish";

/// Print a script by which your shell completes commands and options
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "ctxsim", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
