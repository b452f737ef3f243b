//! `ctxsim policy new`: a commented document to start from.

use super::show::find;
use crate::cli::failure::Failure;
use crate::cli::print::print;
use clap::Args;
use ctxsim::policy::Policy as Document;

const EXAMPLES: &str = "\
Examples:
  ctxsim policy new --extends opencode > mine.toml
  ctxsim policy check mine.toml --window 128k";

/// Print a commented policy file that extends a preset, to write your own changes into
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct New {
    /// The preset that it starts from; a bare name is the newest version of its system
    #[arg(long, value_name = "NAME")]
    extends: String,
}

impl New {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
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
        print(&out)
    }
}
