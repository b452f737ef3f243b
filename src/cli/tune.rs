//! `ctxsim tune`: the cheapest setting of a policy that keeps its constraints, judged on sessions that it was not chosen on.

use super::door::Door;
use super::failure::Failure;
use super::goal::Goal;
use super::logs::{Logs, share as worth, whole};
use super::output::Output;
use super::own::OwnAgents;
use super::policies::Policies;
use super::pricing::Pricing;
use super::shell::{flag, option};
use crate::experiment::tune::{Axis, Bound, HELD_OUT_PERCENT, Tune as Tuning, Tuned, split};
use crate::experiment::{Billing, Objective, RecordedSummaries, ReplaySettings, SweepError, near, priced, thresholds};
use crate::list::Arrange;
use crate::policy::Policy;
use crate::report::{Found, tune};
use crate::sim::Refetching;
use crate::statistics::{RESAMPLES, WORTH};
use clap::Args;

const POLICIES: &str = "The policy that is tuned: a preset or a policy file; one, and it must be named";

/// What `--subject-to` means here.
const SUBJECT_TO: &str = "What a setting must keep beside the usual guards 'overflows = 0', 'lost_lines <= default' and, for net cost, \
     'net_failed_sessions = 0'; what is asked for of the measure of a guard takes its place";

const EXAMPLES: &str = "\
Examples:
  ctxsim tune logs/ -p pi          the cheapest setting of pi's own parameters
  ctxsim tune corpus.ctxtrace -p opencode --explain \\
      --params tail_turns,preserve_recent_tokens
  ctxsim tune logs/ -p codex --subject-to 'overflows = 0' \\
      --subject-to 'compactions per session <= 2' \\
      --params model_auto_compact_token_limit=50k..250k

It seeks on some sessions, judges on the others, and prints the answer in the
agent's own configuration. If the sessions are too few for a recommendation, it
gives none, and says how many more it would take. docs/tuning.md explains every
step.";

/// Search a policy's parameters for the cheapest setting, and judge it on sessions that it was not chosen on
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)), mut_arg("subject_to", |option| option.help(SUBJECT_TO)))]
pub struct Tune {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    /// Tune these alone, with the ranges that the policy declares or with others; several with commas [default: all that declare a range]
    #[arg(long, value_name = "PARAM[=FROM..TO]", value_delimiter = ',')]
    params: Vec<String>,
    #[command(flatten)]
    goal: Goal,
    /// The smallest difference that is worth a change: what is smaller is not recommended
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = worth)]
    worth: f64,
    /// So many sessions of a hundred are judged on and not sought on
    #[arg(long, value_name = "PERCENT", default_value_t = HELD_OUT_PERCENT, value_parser = whole::<u8>(5, 95))]
    held_out: u8,
    /// Look at about so many settings before the search is made finer
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = whole::<u16>(4, 10_000))]
    settings: u16,
    /// How often sessions are resampled for the uncertainty
    #[arg(long, value_name = "N", default_value_t = RESAMPLES as u16, value_parser = whole::<u16>(20, 10_000))]
    resamples: u16,
    /// What all random choices start from: the same seed gives the same answer
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Say which sessions decided it
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    own: OwnAgents,
    #[command(flatten)]
    pricing: Pricing,
    #[command(flatten)]
    output: Output,
}

impl Tune {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "tune")?;
        self.policies.check_model(&self.logs)?;
        let mut varied = self.params.clone();
        // Where none is named, the ranges that the policy declares are searched.
        if let ([], [name]) = (varied.as_slice(), self.policies.policies.as_slice()) {
            varied = Axis::declared(&Policy::load(name)?).into_iter().map(|axis| axis.param).collect();
        }
        let policy = self.policies.only("tune", &self.logs, &varied)?;
        self.axes(&policy)?;
        let objective = self.goal.objective()?;
        let bounds = self.goal.limits(Bound::parse)?;
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        self.goal.tell_renamed(&self.logs);
        let corpus = self.logs.read()?;
        let complaints = self.logs.complaints(&corpus);
        let (policy, yours) = self.own.configured(policy, &corpus, &self.policies, &self.logs)?;
        let axes = self.axes(&policy)?;
        let objective = objective.map_or_else(|| Objective::usual(&corpus.traces, &tariff), Ok)?;
        let bounds = Bound::guards_and(&objective, bounds)?;
        // Both halves have the summaries of all sessions, as in a replay.
        let summaries = Some(RecordedSummaries::fit(corpus.traces.each()));
        let replay = ReplaySettings { summaries, ..self.policies.settings(&self.logs)? };
        let near = near(&corpus, &policy, &replay)?;
        let thresholds = thresholds(&corpus, &policy, &replay)?;
        let check = self.policies.calibration(&corpus, &self.logs, Some((&tariff, self.pricing.cache)))?;
        let priced = priced(&corpus.traces, &tariff);
        let split = split(corpus, [&near, &priced], self.held_out, self.seed);
        let resamples = usize::from(self.resamples);
        let phase = self.logs.search();
        let tuning = Tuning {
            policy: &policy,
            axes: &axes,
            objective,
            bounds: &bounds,
            worth: self.worth,
            replay: &replay,
            billing: Billing { tariff: &tariff, cache: self.pricing.cache, refetch: Refetching::Lost },
            coarse: usize::from(self.settings),
            resamples,
            seed: self.seed,
            watch: &phase,
        };
        let tuned = tuning.run(&split)?;
        let decided = if self.explain { Some(tuning.decided(&tuned, &split)?) } else { None };
        drop(phase);
        self.output.give(door, "tune", self.command(), || {
            tune(&Found {
                policy: &policy,
                axes: &axes,
                split: &split,
                tuned: &tuned,
                decided: decided.as_deref(),
                yours: yours.as_ref(),
                thresholds: &thresholds,
                chance: (resamples, self.seed),
            })
            .opened_by(check)
            .then(self.next(&tuned))
        })?;
        Failure::checked(complaints)
    }

    fn axes(&self, policy: &Policy) -> Result<Vec<Axis>, Failure> {
        let mut axes = if self.params.is_empty() {
            Axis::declared(policy)
        } else {
            self.params.iter().map(|text| Axis::parse(text, policy)).collect::<Result<Vec<Axis>, SweepError>>()?
        };
        axes.arrange_by(|one, other| one.param.cmp(&other.param));
        axes.dedup_by(|one, other| one.param == other.param);
        if axes.is_empty() {
            let names: Vec<&str> = policy.params.keys().map(String::as_str).collect();
            let has = if names.is_empty() { "it has no parameter at all".to_owned() } else { format!("it has {}", names.join(", ")) };
            return Err(Failure::Usage(format!(
                "policy `{}` declares no range for any parameter: name some, as in --params NAME=1000..50000; {has}",
                policy.name
            )));
        }
        Ok(axes)
    }

    /// The command as it would be typed again. What does not change the report is left out.
    fn command(&self) -> String {
        self.logs.command(&["tune"], &self.words())
    }

    /// What to type next: what the setting that was found does, which of its parameters decide, and all of it. Where nothing can be judged, no setting is named.
    fn next(&self, tuned: &Tuned) -> Vec<(String, String)> {
        let words = self.words();
        let mut next = Vec::new();
        if let Some(best) = tuned.best.as_ref().filter(|best| tuned.verdict.judges() && !best.setting.values.is_empty()) {
            let found = option("--set", best.setting.values.iter().map(|(param, value)| format!("{param}={value}")));
            let found = [self.policies.words(), found].concat();
            next.push(self.logs.step(&["replay", "--by", "session"], &found, "what it does, by session"));
        }
        match tuned.verdict.judges() {
            true if self.explain => {}
            true => next.push(self.logs.step(&["tune", "--explain", "--details"], &words, "which parameters decide")),
            false => next.push(self.logs.step(&["tune", "--details"], &words, "what was looked at, undecided")),
        }
        next
    }

    fn words(&self) -> Vec<String> {
        let unusual = |name: &str, value: u64, usual: u64| option(name, Some(value).filter(|value| *value != usual));
        let words = [
            self.policies.words(),
            option("--params", (!self.params.is_empty()).then(|| self.params.join(","))),
            self.goal.words(),
            unusual("--held-out", self.held_out.into(), HELD_OUT_PERCENT.into()),
            unusual("--settings", self.settings.into(), 200),
            unusual("--resamples", self.resamples.into(), RESAMPLES as u64),
            unusual("--seed", self.seed, 1),
            option("--worth", (self.worth != WORTH).then(|| format!("{}%", self.worth * 100.0))),
            self.own.words(),
            flag("--explain", self.explain),
            self.pricing.words(),
        ];
        words.concat()
    }
}
