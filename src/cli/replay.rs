//! `ctxsim replay`: recorded sessions in, a report on each policy out.

use super::door::{Door, SHOWS};
use super::failure::{Failure, tell};
use super::logs::{Logs, SubAgents};
use super::output::Output;
use super::own::OwnAgents;
use super::policies::Policies;
use super::pricing::Pricing;
use super::refetch::Refetch;
use super::shell::quoted;
use clap::{Args, ValueEnum};
use ctxsim::catalog::Catalog;
use ctxsim::experiment;
use ctxsim::measure::Recall;
use ctxsim::report::{self, Asked, Baselines, Oracle, Series, grouped};

/// What `--policy` means here.
const POLICIES: &str = "A preset or a policy file; may be given several times [default: the main presets]. `oracle` gives each of them a row below it: what \
     one who knows the future keeps in contexts of the same sizes";

/// What `--subagents` means here.
const SUBAGENTS: &str = "Sessions that another one started: counted with all others, shown apart too where a row is a policy, or left out";

const EXAMPLES: &str = "\
Examples:
  ctxsim replay transcripts/ -p none -p baseagent -p opencode -p codex
  ctxsim replay session.jsonl --policy pi --window 128k --by tool
  ctxsim replay logs/ -p opencode --set prune=1 --set prune_protect=20k --json
  ctxsim replay logs/ --policy baseagent --refetch
                                   what is saved, net of what is read again
  ctxsim replay logs/ --policy mine.toml --fail-on overflow --quiet

A policy that overflows is a finding and no failure: the exit code is 0 unless
--fail-on or --strict asks for more.";

/// Replay logs through policies: a row for each policy, with overflows, compactions and tokens saved
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)), mut_arg("subagents", |option| option.help(SUBAGENTS)))]
pub struct Replay {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    pricing: Pricing,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    refetch: Refetch,
    #[command(flatten)]
    own: OwnAgents,
    /// What a row stands for, instead of a policy
    #[arg(long, value_name = "ROW")]
    by: Option<By>,
    /// End with exit code 1 if a policy has such calls or sessions; may be given several times
    #[arg(long, value_name = "FINDING")]
    fail_on: Vec<Finding>,
    /// Name the files and addresses that broken references go back to (content of the logs; a .ctxtrace holds none)
    #[arg(long, help_heading = SHOWS)]
    with_paths: bool,
    /// Put each call into the JSON
    #[arg(long)]
    series: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    /// Sessions under policies, the worst first
    Session,
    /// Tools, by the tokens that calls carried for them
    Tool,
    /// What the window was filled with
    Region,
    /// What replies took up again, and what had become of it
    Reference,
    /// Rules of the policies, by what they broke of it
    Rule,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Finding {
    /// Calls that the provider would have refused
    Overflow,
    /// Sessions that end in a refusal that nothing mends
    #[value(alias = "unrecoverable")]
    FailedSessions,
    /// Calls whose prompt and reply together exceed the window
    #[value(alias = "squeezed")]
    ReplyCut,
    /// Calls above the window less the output reserve
    OverBudget,
}

impl Replay {
    /// Does it.
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "replay")?;
        let (named, oracle) = self.policies.beside_oracle()?;
        if let (Oracle::Beside, Some(by)) = (oracle, self.by) {
            return Err(Failure::Usage(format!(
                "oracle has a row below each policy, and `--by {}` has no rows of policies: leave one of them out{}",
                by.name(),
                if matches!(by, By::Reference) { " (the table has a column for it)" } else { " (`--by reference` has a column for it)" }
            )));
        }
        let policies = named.load_once_each(&self.logs)?;
        let catalog = Catalog::builtin()?;
        self.policies.check_model(&catalog, &self.logs)?;
        let recall = if self.with_paths { Recall::WithPaths } else { Recall::References };
        let corpus = self.logs_to_read().read_for(&catalog, Policies::wanted(&policies, recall))?;
        let tables = self.pricing.tables()?;
        let mut replays = self.refetch.replay(&self.policies, &policies, &corpus, &catalog, &self.logs)?;
        let tariff = self.pricing.tariff(&tables, &catalog, self.logs.model.clone());
        experiment::price(&corpus, &mut replays, &tariff);
        let recording = experiment::recording(&corpus, &tariff);
        let own = self.own.replay(&corpus, &self.policies, &catalog, &self.logs, &tariff)?;
        let baselines = Baselines { recording: Some(&recording), own: own.as_ref() };
        let checks = Some(&experiment::check_model(&corpus, &tariff));
        let cache = self.pricing.cache.kind();
        let series = if self.series { Series::Included } else { Series::LeftOut };
        let sub_agents = if self.logs.subagents == SubAgents::Separate { report::SubAgents::Apart } else { report::SubAgents::Together };
        let asked = |command| Asked { sub_agents, by: self.by.map_or(report::By::Policy, By::row), series, oracle, cache, checks, command };
        self.output.give(door, "replay", self.command(), |command| report::replay(&corpus, &replays, baselines, &asked(command)))?;
        if let Some(folder) = self.output.folder().filter(|_| !self.logs.quiet) {
            tell(&format!("wrote replay.txt, .md, .csv and .json into {}", folder.display()));
        }
        let mut complaints = self.logs.complaints(&corpus);
        complaints.extend(self.fail_on.iter().flat_map(|finding| replays.iter().filter_map(|replay| finding.complaint(replay))));
        if complaints.is_empty() { Ok(()) } else { Err(Failure::Check(complaints)) }
    }

    /// The logs. Rows of policies show sub-agents apart where that is asked for; nothing else does, and reading says so.
    fn logs_to_read(&self) -> Logs {
        let subagents =
            if self.by.is_none() && self.logs.subagents == SubAgents::Separate { SubAgents::Include } else { self.logs.subagents };
        Logs { subagents, ..self.logs.clone() }
    }

    /// The command as it would be typed again. What does not change the report is left out.
    fn command(&self) -> String {
        let mut words = vec!["ctxsim".to_owned(), "replay".to_owned()];
        words.extend(self.logs.words());
        words.extend(self.policies.words());
        words.extend(self.pricing.words());
        words.extend(self.refetch.words());
        words.extend(self.own.words());
        words.extend(self.with_paths.then(|| "--with-paths".to_owned()));
        words.extend(self.by.into_iter().flat_map(|by| ["--by".to_owned(), by.name().to_owned()]));
        words.extend(self.series.then(|| "--series".to_owned()));
        quoted(&words)
    }
}

impl By {
    fn row(self) -> report::By {
        match self {
            By::Session => report::By::Session,
            By::Tool => report::By::Tool,
            By::Region => report::By::Region,
            By::Reference => report::By::Reference,
            By::Rule => report::By::Rule,
        }
    }

    fn name(self) -> &'static str {
        match self {
            By::Session => "session",
            By::Tool => "tool",
            By::Region => "region",
            By::Reference => "reference",
            By::Rule => "rule",
        }
    }
}

impl Finding {
    /// A sentence where a policy shows it.
    fn complaint(self, replay: &experiment::Replay) -> Option<String> {
        let totals = &replay.totals;
        let (count, [one, many]) = match self {
            Finding::Overflow => (totals.overflows, ["call that overflows the window", "calls that overflow the window"]),
            Finding::FailedSessions => (totals.failed_sessions, ["failed session", "failed sessions"]),
            Finding::ReplyCut => (totals.reply_cut, ["call whose reply would be cut", "calls whose reply would be cut"]),
            Finding::OverBudget => (totals.over_budget, ["call over budget", "calls over budget"]),
        };
        let what = if count == 1 { one } else { many };
        (count > 0).then(|| format!("policy {}: {} {what}", replay.policy, grouped(count)))
    }
}
