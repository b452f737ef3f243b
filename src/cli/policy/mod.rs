//! `ctxsim policy`: the policies that ship with the program, and tools for writing one's own.

mod check;
mod diff;
mod facts;
mod list;
mod new;
mod show;
mod trial;
mod written;

use super::door::Door;
use super::failure::Failure;
use super::print::print;
use crate::policy::schema;
use clap::Subcommand;

/// List, show, compare and check policies, or start one of your own
#[derive(Subcommand, Debug)]
pub enum Policy {
    List(list::List),
    Show(show::Show),
    Diff(diff::Diff),
    /// Print a JSON Schema of policy files, from which editors complete and check them
    Schema,
    New(new::New),
    Check(check::Check),
}

impl Policy {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        match self {
            Policy::List(list) => list.run(door),
            Policy::Show(show) => show.run(door),
            Policy::Diff(diff) => diff.run(),
            Policy::Schema => print(schema()),
            Policy::New(new) => new.run(door),
            Policy::Check(check) => check.run(door),
        }
    }
}
