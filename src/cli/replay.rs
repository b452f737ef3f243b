//! `ctxsim replay`: recorded sessions in, a report on each policy out.

use super::choices::{Choices, name_of, one_of};
use super::door::{Door, SHOWS};
use super::failure::Failure;
use super::logs::{Logs, SubAgents};
use super::mistyped::tell_renamed;
use super::next;
use super::output::Output;
use super::own::OwnAgents;
use super::policies::{ORACLE, Policies};
use super::pricing::Pricing;
use super::refetch::Refetch;
use super::shell::{flag, option};
use crate::catalog::Scenario;
use crate::corpus::Corpus;
use crate::experiment::{self, Charges, GroupBy, Measure, Metric, Own, metric};
use crate::measure::Recall;
use crate::policy::Policy;
use crate::report::{self, Asked, Baselines, By, Oracle, Series, column_names, three_digits};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgAction, Args};

const POLICIES: &str = "A preset or a policy file; may be given several times [default: the main presets]. `oracle` gives each of them a row below it: what \
     a policy that knows the future keeps in contexts of the same sizes";

/// What `--subagents` means here.
const SUBAGENTS: &str = "Sessions that another one started: counted with all others, shown apart too where a row is a policy, or left out";

/// What a row can stand for, instead of a policy.
const ROWS: Choices<By> = &[
    ("session", By::Session, "Sessions under policies, the worst first"),
    ("tool", By::Tool, "Tools, by the tokens that calls carried for them"),
    ("region", By::Region, "What the window was filled with"),
    ("reference", By::Reference, "Text that the model repeated later, and whether it was still there"),
    ("rule", By::Rule, "Rules of the policies, by how much reused text they removed"),
    ("file", By::File, "Files that sessions read, those read most often first (--with-paths names them)"),
    ("day", By::Group(GroupBy::Day), "Days of calls, in UTC, the newest first"),
    ("month", By::Group(GroupBy::Month), "Months of calls, in UTC, the newest first"),
    ("project", By::Group(GroupBy::Project), "Projects, as the logs name them"),
    ("agent", By::Group(GroupBy::Agent), "Agents, with what their calls cost"),
    ("model", By::Group(GroupBy::Model), "Models, with what their calls cost"),
    ("block", By::Group(GroupBy::Block), "Blocks of five hours, as subscriptions count them"),
];

const EXAMPLES: &str = "\
Examples:
  ctxsim replay transcripts/ -p none -p baseagent -p opencode -p codex
  ctxsim replay session.jsonl --policy pi --window 128k --by tool
  ctxsim replay logs/ -p opencode --set prune=1 --set prune_protect=20k --json
  ctxsim replay logs/ --policy baseagent --refetch
                                   what is read again at least, and its price
  ctxsim replay logs/ --policy mine.toml --fail-on overflows --quiet

A policy that overflows is a finding and no failure: the exit code is 0 unless
--fail-on or --strict asks for more.";

/// Replay logs through policies: a row for each policy, with overflows, compactions and tokens saved
#[derive(Args, Debug, Default)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)), mut_arg("subagents", |option| option.help(SUBAGENTS)), mut_arg("windows", |option| option.action(ArgAction::Append)))]
pub struct Replay {
    #[command(flatten)]
    pub logs: Logs,
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
    #[arg(long, value_name = "ROW", value_parser = one_of(ROWS))]
    by: Option<By>,
    /// End with exit code 1 if this measure is above 0 under a policy; may be given several times
    #[arg(long, value_name = "MEASURE", value_parser = findings())]
    fail_on: Vec<String>,
    /// Name the files and addresses that lost text goes back to (content of the logs; a .ctxtrace holds none)
    #[arg(long, help_heading = SHOWS)]
    with_paths: bool,
    /// The columns of the table of policies, by the names that they have in CSV, or `all`; CSV and JSON hold all of them in any case
    #[arg(long, value_name = "all|NAME,...", value_delimiter = ',', conflicts_with = "by", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(column_names().chain(["all"]).collect::<Vec<_>>()))]
    columns: Vec<String>,
    /// Put each call into the JSON
    #[arg(long)]
    series: bool,
    /// What to type before all else, and what it shows
    #[arg(skip)]
    pub first: Option<(String, String)>,
}

/// Policies, and whether the oracle stands beside them.
pub type Named = (Vec<Policy>, Oracle);

impl Replay {
    /// These logs under the main presets.
    pub fn of(logs: Logs) -> Replay {
        Replay { logs, ..Replay::default() }
    }

    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "replay")?;
        self.policies.by_window().iter().try_for_each(|policies| policies.check_model(&self.logs))?;
        let policies = self.named()?;
        let corpus = self.read(&policies)?;
        let replays = self.show(door, &corpus, &policies, self.command())?;
        let mut complaints = self.logs.complaints(&corpus);
        tell_renamed(&self.fail_on, &self.logs);
        for (finding, replay) in self.fail_on.iter().flat_map(|finding| replays.iter().map(move |replay| (finding, replay))) {
            complaints.extend(complaint(finding, replay)?);
        }
        Failure::checked(complaints)
    }

    /// Reads the logs, with what the policies need of them.
    pub fn read(&self, (policies, _): &Named) -> Result<Corpus, Failure> {
        let recall = if self.with_paths { Recall::WithPaths } else { Recall::References };
        // Rows of policies show sub-agents apart where that is asked for; nothing else does, and reading says so.
        let apart = self.by.is_none() && self.logs.subagents == SubAgents::Separate;
        let subagents = if apart { SubAgents::Include } else { self.logs.subagents };
        Logs { subagents, ..self.logs.clone() }.read_for(Policies::wanted(policies, recall))
    }

    /// The policies, and whether the oracle stands beside them.
    pub fn named(&self) -> Result<Named, Failure> {
        let (named, oracle) = self.policies.beside_oracle()?;
        if let (Oracle::Beside, Some(by)) = (oracle, self.by) {
            return Err(Failure::Usage(format!(
                "oracle has a row below each policy, and `--by {}` has no rows of policies: leave one of them out{}",
                name_of(ROWS, &by),
                if matches!(by, By::Reference) { " (the table has a column for it)" } else { " (`--by reference` has a column for it)" }
            )));
        }
        Ok((named.load_once_each(&self.logs, &[])?, oracle))
    }

    /// Replays a corpus and prints the report.
    pub fn show(
        &self,
        door: &Door,
        corpus: &Corpus,
        (policies, oracle): &Named,
        command: String,
    ) -> Result<Vec<experiment::Replay>, Failure> {
        let oracle = *oracle;
        let tables = self.pricing.tables()?;
        let phase = self.logs.phase("simulating");
        let by_window = self.policies.by_window();
        // Beside several windows the own agents keep that of each session.
        let usual = if by_window.len() > 1 { Policies { windows: Vec::new(), ..self.policies.clone() } } else { self.policies.clone() };
        // Before there are outcomes: of a long session they take as much memory as what predicts.
        let predicted = if self.by.is_none() && self.columns.is_empty() && self.output.is_read() {
            Some(usual.predicted(corpus, &self.logs)?)
        } else {
            None
        };
        let mut replays = Vec::new();
        for choice in &by_window {
            let replayed = self.refetch.replay(policies, corpus, &choice.settings(&self.logs)?)?;
            let named = |replay: experiment::Replay| match choice.window().filter(|_| by_window.len() > 1) {
                Some(window) => replay.at_window(&three_digits(window)),
                None => replay,
            };
            replays.extend(replayed.into_iter().map(named));
        }
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        experiment::price(corpus, &mut replays, &tariff);
        let recording = experiment::recording(corpus, &tariff);
        let own = self.own.replay(corpus, &usual, &self.logs, &tariff)?;
        let baselines = Baselines { recording: Some(&recording), own: own.as_ref() };
        let checks = Some(&experiment::check_model(corpus, &tariff));
        let cache = self.pricing.cache;
        let series = if self.series { Series::Included } else { Series::LeftOut };
        let sub_agents = if self.logs.subagents == SubAgents::Separate { report::SubAgents::Apart } else { report::SubAgents::Together };
        let by = self.by.unwrap_or_default();
        let screen = self.by.is_none() && self.columns.is_empty() && self.output.has_screen();
        let next = if screen { self.next(corpus, policies, &replays, own.as_ref()) } else { Vec::new() };
        let scenarios = Scenario::builtin()?;
        let asked = |parts| Asked {
            parts,
            sub_agents,
            by,
            series,
            oracle,
            cache,
            checks,
            predicted,
            scenarios: &scenarios,
            named: !self.policies.policies.is_empty(),
            columns: self.columns.clone(),
        };
        drop(phase);
        let report = |parts| report::replay(corpus, &replays, baselines, &asked(parts)).said(self.policies.told_set(policies)).then(next);
        self.output.give_parts(door, "replay", command, report)?;
        Ok(replays)
    }

    /// What to type next.
    fn next(&self, corpus: &Corpus, policies: &[Policy], replays: &[experiment::Replay], own: Option<&Own>) -> Vec<(String, String)> {
        if corpus.facts.calls == 0 {
            return vec![self.logs.step(&["inspect"], &[], "what the logs hold")];
        }
        // What was asked here is asked there: of the same policies, or at least in the same window.
        let typed = |policies: &Policies| [policies.words(), self.pricing.words(), self.own.words()].concat();
        // Only a replay takes several windows.
        let windows = self.policies.windows.clone();
        let one_window = Policies { windows: if windows.len() > 1 { Vec::new() } else { windows }, ..self.policies.clone() };
        let unnamed = Policies { policies: Vec::new(), set: Vec::new(), ..one_window.clone() };
        let of_tune = [unnamed.words(), self.pricing.words()].concat();
        let tuned = own.and_then(|own| next::tuned(&self.logs, corpus, own, &of_tune, &self.own));
        // A search of one agent's logs among others' is longer to type, and comes second.
        let (first, second) = if corpus.agents().len() == 1 { (tuned, None) } else { (None, tuned) };
        let mut next: Vec<(String, String)> = self.first.iter().cloned().chain(first).collect();
        // A session's own preset needs no name.
        let own = own.map(|own| (&own.replay, unnamed.words()));
        let by_window = self.policies.by_window();
        let choices = by_window.iter().flat_map(|choice| policies.iter().enumerate().map(move |(place, policy)| (choice, place, policy)));
        let named = replays.iter().zip(choices).filter(|(replay, _)| !replay.is_none());
        let named = named.map(|(replay, (choice, place, policy))| (replay, choice.of_one(place, policy, policies.len()).words()));
        next.extend(match self.policies.policies.is_empty() {
            true => next::explained(&self.logs, corpus, own.into_iter().chain(named)),
            false => next::explained(&self.logs, corpus, named.chain(own)),
        });
        next.extend(second);
        // A page has no contexts of the oracle to show.
        let mut paged = one_window;
        paged.policies.retain(|policy| policy != ORACLE);
        next.push(self.logs.step(&["report"], &typed(&paged), "all of it in a browser"));
        let same = [typed(&self.policies), self.refetch.words()].concat();
        next.push(self.logs.step(&["replay", "--details"], &same, "all columns, method and notes"));
        next
    }

    /// The command as it would be typed again. What does not change the report is left out.
    fn command(&self) -> String {
        let words = [
            self.policies.words(),
            self.pricing.words(),
            self.refetch.words(),
            self.own.words(),
            flag("--with-paths", self.with_paths),
            option("--by", self.by.map(|by| name_of(ROWS, &by))),
            option("--columns", (!self.columns.is_empty()).then(|| self.columns.join(","))),
            flag("--series", self.series),
        ];
        self.logs.command(&["replay"], &words.concat())
    }
}

/// The measures that a run may fail on; their former spellings are hidden.
fn findings() -> PossibleValuesParser {
    let value = |metric: &'static Metric| {
        let former = FORMER_FINDINGS.iter().filter(|(key, _)| *key == metric.key).flat_map(|(_, former)| *former);
        PossibleValue::new(metric.key).help(metric.meaning).aliases(former.copied())
    };
    PossibleValuesParser::new(metric::findings().map(value).collect::<Vec<_>>())
}

const FORMER_FINDINGS: [(&str, &[&str]); 4] = [
    ("overflows", &["overflow"]),
    ("failed_sessions", &["failed-sessions", "unrecoverable"]),
    ("reply_cut", &["reply-cut", "squeezed"]),
    ("over_budget", &["over-budget"]),
];

/// A sentence where a policy shows what the run is to fail on.
fn complaint(finding: &str, replay: &experiment::Replay) -> Result<Option<String>, Failure> {
    let metric = Measure::parse(finding)?.part;
    let count = metric.value(&replay.totals, &Charges::default());
    Ok((count > 0).then(|| format!("policy {}: {} = {count} ({})", replay.policy, metric.key, metric.meaning)))
}
