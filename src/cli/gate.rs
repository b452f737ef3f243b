//! `ctxsim gate`: a policy beside its accepted baseline, for the tests of an agent's project.

use super::content::Content;
use super::door::{Door, Place, WRITES};
use super::failure::{Failure, tell};
use super::logs::{Logs, SubAgents};
use super::mistyped::tell_renamed;
use super::output::{Format, Output, forms_of_checks};
use super::policies::Policies;
use super::pricing::Pricing;
use super::print::print;
use super::shell::option;
use crate::experiment::Billing;
use crate::experiment::gate::{Allowance, Baseline, compare, fails_all};
use crate::render::{Harmless, github, junit};
use crate::report::{Gated, checks, counted, gate};
use crate::sim::Refetching;
use clap::Args;
use std::path::{Path, PathBuf};

const POLICIES: &str = "The policy that is checked: a preset or a policy file; one, and it must be named";

const EXAMPLES: &str = "\
Examples:
  ctxsim gate transcripts/ -p mine.toml --baseline base.json \\
      --update-baseline
  ctxsim gate transcripts/ -p mine.toml --baseline base.json \\
      --allow 'tokens +2%' --allow 'overflows +0'
  ctxsim gate transcripts/ -p mine.toml --baseline base.json --junit

Exit codes: 0 all limits are kept; 1 one of them is exceeded, or --strict finds
a skipped file or record; 2 usage, or a baseline over other sessions; 3 nothing
readable.

A limit is a measure of `ctxsim sweep`, a sign, and a number (`overflows +0`),
dollars (`cost +$1`), percent of the baseline (`tokens +2%`; `cache_hit_rate
-1%`: from 80 % to 79.2 %), or points of a share (`cache_hit_rate -1pp`: from
80 % to 79 %; `lost_lines +2pp`: of all references to lines).";

/// Compare a policy with its baseline: what moved, which sessions moved it; exit code 1 where a limit is exceeded
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)),
    mut_arg("format", |option| option.value_parser(forms_of_checks())))]
pub struct Gate {
    #[command(flatten)]
    logs: Logs,
    /// The former way to name the logs
    #[arg(long, value_name = "LOGS", hide = true)]
    corpus: Vec<String>,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    pricing: Pricing,
    /// The accepted figures that the policy is compared with
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// How far a measure may move; takes the place of its usual limit. Usual: 'tokens +2%', 'overflows +0', 'failed_sessions +0',
    /// 'lost_lines +2%'
    #[arg(long, value_name = "LIMIT", allow_hyphen_values = true)]
    allow: Vec<String>,
    /// Write the baseline anew, whatever has moved; `--baseline -` prints it
    #[arg(long, conflicts_with = "output", help_heading = WRITES)]
    update_baseline: bool,
    /// Print a JUnit report, one test per limit: for build servers
    #[arg(long, group = "form")]
    junit: bool,
    /// Print annotations of a GitHub workflow
    #[arg(long, group = "form")]
    github: bool,
    #[command(flatten)]
    output: Output,
}

impl Gate {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "gate")?;
        if self.output.output.is_some() && matches!(self.form(), Format::Junit | Format::Github) {
            return Err(Failure::Usage(
                "what build servers take goes to standard output: leave -o out, and keep it with `> FILE`".to_owned(),
            ));
        }
        let logs = self.logs()?;
        self.policies.check_model(&logs)?;
        let policy = self.policies.only("gate", &logs, &[])?;
        let allowances = Allowance::usual_and(self.allow.iter().map(|text| Allowance::parse(text)).collect::<Result<_, _>>()?)?;
        tell_renamed(&self.allow, &logs);
        // A baseline that cannot be read or written is reported before any log is.
        let place = if self.update_baseline { Some(self.place(door)?) } else { None };
        let known = if place.is_some() { None } else { Some(read(&self.baseline)?) };
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        let corpus = logs.read()?;
        let replay = self.policies.settings(&logs)?;
        let billing = Billing { tariff: &tariff, cache: self.pricing.cache, refetch: Refetching::Lost };
        let phase = self.logs.phase("simulating");
        let now = Baseline::measure(&corpus, &policy, &replay, billing, self.conditions())?;
        drop(phase);
        let mut complaints = logs.complaints(&corpus);
        let (Some(known), None) = (known, &place) else {
            if fails_all(&now) {
                let sessions = counted(now.sessions.len() as u64, "session");
                let why = "a baseline would compare nothing, and none is written";
                return Err(Failure::Usage(format!("policy {} brings none of {sessions} with a call to its end: {why}", now.policy)));
            }
            let written = Content::made(|out| Ok(now.write_into(&mut Harmless(out))?));
            place.map_or(Ok(()), |place| door.put(&[(&place, &written)]))?;
            if !self.logs.quiet {
                let sessions = counted(now.sessions.len() as u64, "session");
                tell(&format!("wrote the baseline of {} over {sessions} into {}", now.policy, self.baseline.display()));
            }
            return Failure::checked(complaints);
        };
        let comparison = compare(&known, &now, &allowances).map_err(|mismatch| Failure::Usage(mismatch.to_string()))?;
        let check = self.policies.calibration(&corpus, &logs, Some((&tariff, self.pricing.cache)))?;
        let report = || gate(&Gated { corpus: &corpus, policy: &policy.name, comparison: &comparison }).opened_by(check);
        let checks = checks(&comparison);
        let suite = format!("ctxsim gate {}", policy.name);
        match self.form() {
            Format::Junit => print(&junit(&suite, &checks))?,
            Format::Github => print(&github(&suite, &checks))?,
            _ => self.output.give(door, "gate", self.command(&logs), report)?,
        }
        let exceeded = comparison.measures.iter().flat_map(|moved| &moved.exceeded);
        complaints.extend(exceeded.map(|words| format!("policy {}: exceeds {words}", policy.name)));
        Failure::checked(complaints)
    }

    /// Where the baseline is written: a new file, or over a baseline.
    fn place(&self, door: &Door) -> Result<Place, Failure> {
        door.typed("baseline")?;
        door.file("baseline", &self.baseline, &|file| read(file).is_ok())
    }

    fn form(&self) -> Format {
        match (self.junit, self.github) {
            (true, _) => Format::Junit,
            (_, true) => Format::Github,
            _ => self.output.form(),
        }
    }

    fn logs(&self) -> Result<Logs, Failure> {
        let logs = [self.logs.logs.as_slice(), &self.corpus].concat();
        if logs.is_empty() {
            return Err(Failure::Usage("gate compares one corpus with its baseline: name its logs".to_owned()));
        }
        Ok(Logs { logs, ..self.logs.clone() })
    }

    /// What must be the same for two runs to be compared.
    fn conditions(&self) -> String {
        let tokens = |tokens: Option<u64>| tokens.map_or_else(|| "its own".to_owned(), |tokens| tokens.to_string());
        // Baselines that were made before these could be said stay what they are.
        let tokenizer = self.logs.tokenizer.as_ref().map(|name| format!(", tokenizer {name}")).unwrap_or_default();
        let sub_agents = if self.logs.subagents == SubAgents::Exclude { ", without sub-agents" } else { "" };
        format!(
            "model {}, window {}, reserve {}, cache {}, gap {} s, {} prices{tokenizer}{sub_agents}",
            self.logs.model.as_deref().unwrap_or("as recorded"),
            tokens(self.policies.window()),
            tokens(self.policies.reserve),
            self.pricing.cache_name(),
            self.pricing.gap,
            if self.pricing.table.prices.is_some() { "given" } else { "built-in" }
        )
    }

    /// The command as it would be typed again.
    fn command(&self, logs: &Logs) -> String {
        let limits = [option("--baseline", [self.baseline.display()]), option("--allow", &self.allow)].concat();
        logs.command(&["gate"], &[self.policies.words(), self.pricing.words(), limits].concat())
    }
}

/// A baseline has a row for each session.
const LARGEST_BASELINE: u64 = 1 << 30;

fn read(path: &Path) -> Result<Baseline, Failure> {
    let named = |reason: String| Failure::Usage(format!("{}: {reason}", path.display()));
    let text = crate::reading::text_within(path, LARGEST_BASELINE)
        .map_err(|error| named(format!("cannot be read: {error} (--update-baseline writes a baseline)")))?;
    serde_json::from_str(&text).map_err(|error| named(format!("is no baseline of this version: {error} (--update-baseline writes one)")))
}
