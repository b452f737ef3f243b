//! `ctxsim drift`: how far estimators are from recorded usage, and a calibrated one.

use super::choices::{Choices, one_of};
use super::door::{Door, NONE_IS_OWN, Place, WRITES};
use super::failure::{Failure, tell};
use super::known::catalog;
use super::logs::Logs;
use super::output::{Output, Printed};
use super::policies::{MAIN_PRESETS, Policies};
use super::shell::option;
use super::target::{Ending, Target, Writes};
use crate::corpus::Vocabularies;
use crate::experiment::drift::{Basis, DriftSettings, document, drift};
use crate::measure::{Kinds, Recall, Wanted};
use crate::policy::Policy;
use crate::report::drift::drift as report;
use clap::Args;
use std::path::PathBuf;

const POLICIES: &str = "A preset or a policy file whose estimator is looked at, and what its errors do to its replay; may be given several times [default: the \
     estimators of the main presets, without replays]";

/// What a fitted estimator is written as.
const POLICY: Writes = Writes { files: &[Ending::Toml], folder: false };

/// What an estimator can count in.
const UNITS: Choices<Basis> = &[
    ("tokens", Basis::Tokens, "Tokens of the model's own public vocabulary, o200k_base where it has none"),
    ("chars", Basis::Chars, "Characters, which any agent can count"),
];

const EXAMPLES: &str = "\
Examples:
  ctxsim drift logs/               which estimator is how far off, for which
                                   models
  ctxsim drift logs/ --policy codex --policy pi
                                   and what that does to two policies
  ctxsim drift logs/ --calibrate estimator.toml
                                   an [estimator] table fitted to these logs
  ctxsim replay logs/ --policy estimator.toml
                                   what it is worth";

/// How far token estimates are from recorded usage: what is hidden, what is misjudged, what buffer would make up for it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)))]
pub struct Drift {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    output: Output,
    /// Write a policy with an estimator fitted to these logs, family by family, FILE.toml; it extends the policy where one is named
    #[arg(long, value_name = "FILE", help_heading = WRITES)]
    calibrate: Option<PathBuf>,
    /// What the fitted estimator counts in
    #[arg(long, value_name = "UNIT", default_value = "tokens", requires = "calibrate", value_parser = one_of(UNITS))]
    unit: Basis,
}

impl Drift {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "drift")?;
        self.calibrate.iter().try_for_each(|file| Target::of("--calibrate", file, &POLICY, None).map(drop))?;
        let place = self.calibrate.as_ref().map(|file| door.file("calibrate", file, NONE_IS_OWN)).transpose()?;
        let named = !self.policies.policies.is_empty();
        let mut policies = self.policies.load_once_each(&self.logs, &[])?;
        if !named {
            // An estimator that no rule looks at counts as none.
            policies.retain(|policy| MAIN_PRESETS.iter().skip(1).any(|name| policy.name.split('@').next() == Some(name)));
        }
        self.policies.check_model(&self.logs)?;
        let corpus = self.logs.read_in(Vocabularies::Public, Wanted { references: Recall::Nothing, kinds: Kinds::Told })?;
        let replayed: &[Policy] = if named { &policies } else { &[] };
        let replay = self.policies.settings(&self.logs)?;
        let phase = self.logs.phase("simulating");
        let findings =
            drift(&corpus, &DriftSettings { compared: &policies, replayed, replay, basis: self.unit, vocabularies: Vocabularies::Public })?;
        drop(phase);
        if let (Some(file), Some(place)) = (&self.calibrate, &place) {
            if findings.calibrated.is_empty() {
                return Err(Failure::NothingReadable("no call has recorded usage that an estimator could be fitted to".to_owned()));
            }
            let base = replayed.first().filter(|_| replayed.len() == 1).map(|policy| policy.name.as_str());
            let text = document(&findings.calibrated, self.unit, base, &self.command(), catalog()?);
            door.put(&[(place, &text.as_str().into())])?;
            if !self.logs.quiet && !matches!(place, Place::Printed) {
                tell(&format!("wrote {}", file.display()));
            }
        }
        let printed = if matches!(place, Some(Place::Printed)) { Printed::Never } else { Printed::Too };
        self.output.give_beside(door, "drift", self.command(), printed, || report(&corpus, &findings, self.unit).then(self.next()))?;
        Failure::checked(self.logs.complaints(&corpus))
    }

    fn next(&self) -> Vec<(String, String)> {
        let step = |words: &[&str], shows| self.logs.step(words, &self.policies.words(), shows);
        vec![
            step(&["replay", "--details"], "jumps between calls and reserves"),
            step(&["drift", "--details"], "estimators, agents, content"),
        ]
    }

    /// The command as it would be typed again. What does not change the report is left out.
    fn command(&self) -> String {
        let unit = option("--unit", (self.unit == Basis::Chars).then_some("chars"));
        self.logs.command(&["drift"], &[self.policies.words(), unit].concat())
    }
}
