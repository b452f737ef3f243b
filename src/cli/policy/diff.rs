//! `ctxsim policy diff`: what two policies do differently, in words.

use super::facts::ForModel;
use crate::advice::differences;
use crate::cli::failure::Failure;
use crate::cli::print::{page, print};
use crate::policy::Policy as Document;
use crate::render::{escape, item};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  ctxsim policy diff pi@0.58 pi@1.5
  ctxsim policy diff opencode mine.toml --model gpt-5";

/// Say in words what two policies do differently: parameter by parameter, rule by rule
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Diff {
    /// A preset or a policy file
    one: String,
    /// The preset or policy file that it is compared with
    other: String,
    #[command(flatten)]
    model: ForModel,
}

impl Diff {
    pub fn run(&self) -> Result<(), Failure> {
        let (one, other) = (Document::load(&self.one)?, Document::load(&self.other)?);
        let found = differences(&one, &other, &self.model.facts()?)?;
        if found.is_empty() {
            return print(&format!("{} and {} do the same\n", escape(&one.name), escape(&other.name)));
        }
        let mut out = String::new();
        for differences in found {
            out += &format!("{}\n", escape(&differences.heading));
            differences.sentences.iter().for_each(|sentence| out += &item("  ", sentence, page()));
        }
        print(&out)
    }
}
