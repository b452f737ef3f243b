//! `ctxsim policy new`: a commented document to start from.

use super::show::find;
use super::written::Written;
use crate::cli::door::{Door, WRITES};
use crate::cli::failure::Failure;
use crate::cli::target::{Ending, Writes, forms};
use crate::policy::Policy as Document;
use clap::Args;

/// What a policy to start from is written as.
const POLICY: Writes = Writes { files: &[Ending::Toml], folder: false };

const EXAMPLES: &str = "\
Examples:
  ctxsim policy new --extends opencode -o mine.toml
  ctxsim policy check mine.toml --window 128k";

/// Print a commented policy file that extends a preset, to write your own changes into
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct New {
    /// The preset that it starts from; a bare name is the first of its system in `ctxsim policy list`
    #[arg(long, value_name = "NAME")]
    extends: String,
    /// The form of the output: TOML is the only one
    #[arg(long, value_name = "FORM", value_parser = forms(&POLICY), help_heading = WRITES)]
    format: Option<Ending>,
    #[command(flatten)]
    written: Written,
}

impl New {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let preset = find(&self.extends)?;
        let policy = Document::parse(preset.name, preset.text)?;
        let mut out = format!(
            "# A policy of your own. What stands behind `#` is {}'s; take the `#` away to change it.\n\
             # docs/policies.md explains the words, `ctxsim policy check` finds what cannot work.\n\
             extends = \"{}\"\n\
             about = \"as {}, but ...\"\n\
             # without = []  # rules and parameters that are not wanted\n\n[params]\n",
            preset.name, preset.name, preset.name
        );
        for (name, parameter) in &policy.params {
            out += &format!("# {name} = {}  # {}: {}\n", parameter.value, parameter.unit, parameter.help);
        }
        out += "\n# Rules run in this order; one with the same id takes the place of the inherited one, others come after them.\n";
        for sentence in policy.sentences()? {
            out += &format!("#   {sentence}\n");
        }
        out += "#\n\
                # [[rule]]\n\
                # id = \"emergency\"\n\
                # at = \"overflow\"\n\
                # select = { tail = [{ n = 10, unit = \"messages\" }] }\n\
                # drop = { marker = \"[older messages removed]\" }\n\
                #\n\
                # [reactive]\n\
                # retries = 1\n";
        self.written.give(door, &POLICY, self.format, |_| Ok(out))
    }
}
