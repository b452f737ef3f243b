//! What a chart is made of: for each kind, what is read, replayed and priced.

use crate::cli::explain::find;
use crate::cli::failure::Failure;
use crate::cli::logs::Logs;
use crate::cli::policies::Policies;
use crate::cli::pricing::Pricing;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, Vocabularies};
use ctxsim::experiment::drift::{Basis, DriftSettings, Paired, Use, pairs};
use ctxsim::experiment::{
    Constraint, Design, Dimension, KnownFrom, Measure, Objective, Replay, Sampling, Sweep, SweepError, plan_for, price, reads, settings,
};
use ctxsim::measure::{Kinds, Recall, Wanted};
use ctxsim::policy::Policy;
use ctxsim::report::chart::{self, Chart, Kind, Life};
use ctxsim::report::{Billed, Swept};
use ctxsim::statistics::{Bars, RESAMPLES, SEED};

/// The policy that a chart of one policy shows where none is named.
const ONE: &str = "baseagent";

/// The policy of `overflows` where none is named: what happens without a policy.
const NO_POLICY: &str = "none";

/// The window that the presets' limits are worked out for, where none is given.
const WINDOW: u64 = 200_000;

/// How often sessions are resampled for the bands of a sweep, and the seed.
const CHANCE: (usize, u64) = (RESAMPLES, SEED);

/// Does a kind of chart use an option?
type UsedBy = fn(Kind) -> bool;

/// Options that not every kind uses, and which kinds do.
const USED_BY: [(&str, UsedBy); 13] = [
    ("session", |kind| kind == Kind::Context),
    ("vary", sweeps),
    ("minimise", sweeps),
    ("maximise", sweeps),
    ("subject-to", sweeps),
    ("estimator", |kind| matches!(kind, Kind::Drift | Kind::Buffer)),
    ("since-usage", |kind| kind == Kind::Buffer),
    ("policy", |kind| kind != Kind::Reuse),
    ("set", |kind| kind != Kind::Reuse),
    ("reserve", |kind| kind == Kind::Context || sweeps(kind)),
    ("prices", |kind| kind == Kind::Cost || sweeps(kind)),
    ("cache", |kind| kind == Kind::Cost || sweeps(kind)),
    ("gap", |kind| matches!(kind, Kind::Cost | Kind::Cache) || sweeps(kind)),
];

fn sweeps(kind: Kind) -> bool {
    matches!(kind, Kind::Sweep | Kind::SweepMap)
}

/// What was typed and would change nothing in this chart is refused. A project's defaults may hold what other charts use.
pub fn refuse_unused(kind: Kind, command: &Command, typed: &ArgMatches) -> Result<(), Failure> {
    let is_typed = |flag: &str| {
        let option = command.get_arguments().find(|option| option.get_long() == Some(flag));
        option.is_some_and(|option| typed.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine))
    };
    let Some((flag, used)) = USED_BY.iter().find(|(flag, used)| !used(kind) && is_typed(flag)) else { return Ok(()) };
    let names: Vec<&str> = Kind::ALL.into_iter().filter(|kind| used(*kind)).map(Kind::name).collect();
    let users =
        if names.len() + 1 == Kind::ALL.len() { "all others do".to_owned() } else { format!("charts that do: {}", names.join(", ")) };
    Err(Failure::Usage(format!("charts of the kind {} do not use --{flag}; {users}", kind.name())))
}

/// What some kinds ask beside logs and policies.
#[derive(Args, Clone, Debug, Default)]
pub struct Question {
    /// context: the session, as `ctxsim explain` takes it [default: the one whose window is fullest]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// sweep, sweep-map: vary a parameter, as `ctxsim sweep` takes it; the first one lies across
    #[arg(long, value_name = "[POLICY:]PARAM=VALUES")]
    vary: Vec<String>,
    /// sweep, sweep-map: what is to be as small as can be [default: net cost where anything is priced, else tokens]
    #[arg(long, value_name = "MEASURE", alias = "minimize", group = "objective")]
    minimise: Option<String>,
    /// sweep, sweep-map: what is to be as large as can be
    #[arg(long, value_name = "MEASURE", alias = "maximize", group = "objective")]
    maximise: Option<String>,
    /// sweep, sweep-map: what the best setting must keep, as in 'overflows = 0'; may be given several times
    #[arg(long, value_name = "CONSTRAINT")]
    subject_to: Vec<String>,
    /// drift, buffer: estimators to draw, by the names that `ctxsim drift` gives them; may be given several times
    #[arg(long, value_name = "NAME")]
    estimator: Vec<String>,
    /// buffer: estimate only what came since the last recorded usage, as agents do that read it
    #[arg(long)]
    since_usage: bool,
}

/// A question, and all that it is asked of.
pub struct Asked<'a> {
    pub question: &'a Question,
    pub logs: &'a Logs,
    pub policies: &'a Policies,
    pub pricing: &'a Pricing,
    pub catalog: &'a Catalog,
}

impl Asked<'_> {
    /// The chart, and what `--strict` complains of.
    pub fn chart(&self, kind: Kind) -> Result<(Chart, Vec<String>), Failure> {
        let policies = self.policies_of(kind)?;
        // What cannot be varied is found before any log is read.
        let search = if matches!(kind, Kind::Sweep | Kind::SweepMap) { Some(self.search(&policies)?) } else { None };
        let drift = matches!(kind, Kind::Drift | Kind::Errors | Kind::Buffer);
        // Nothing is measured that the chart does not show.
        let references = match kind {
            Kind::Sweep | Kind::SweepMap | Kind::Reuse | Kind::References => Recall::References,
            _ => Recall::Nothing,
        };
        let (vocabularies, kinds) = if drift { (Vocabularies::Public, Kinds::Told) } else { (Vocabularies::Own, Kinds::default()) };
        let corpus = self.logs.read_in(self.catalog, vocabularies, Wanted { references, kinds })?;
        let complaints = self.logs.complaints(&corpus);
        let replays = || self.policies.replay(&policies, &corpus, self.catalog, self.logs);
        let chart = match (kind, search) {
            (Kind::Sweep | Kind::SweepMap, Some(search)) => self.sweep(kind, &policies, &corpus, &search)?,
            (Kind::Drift | Kind::Errors | Kind::Buffer, _) => self.drift(kind, &policies, &corpus)?,
            (Kind::Context, _) => self.context(&policies, &corpus, &replays()?)?,
            (Kind::Peaks, _) => chart::peaks(&corpus, &replays()?)?,
            (Kind::Stages, _) => chart::stages(&corpus, &replays()?)?,
            (Kind::Cost, _) => self.cost(&corpus, replays()?)?,
            (Kind::Cache, _) => self.cache(&corpus, &replays()?)?,
            (Kind::Reuse, _) => chart::reuse(&corpus, self.policies.window.unwrap_or(WINDOW))?,
            (Kind::References, _) => chart::references(&corpus, &replays()?)?,
            (Kind::Overflows, _) => match replays()?.as_slice() {
                [replay] => chart::overflows(&corpus, replay)?,
                _ => {
                    return Err(Failure::Usage(
                        "a chart of overflows shows one policy: name one with --policy, and no more than one".to_owned(),
                    ));
                }
            },
            (Kind::Survival | Kind::Sweep | Kind::SweepMap, _) => chart::survival(&corpus, &replays()?)?,
        };
        Ok((chart, complaints))
    }

    /// The policies that were named; where none were, those that the kind is best shown with.
    fn policies_of(&self, kind: Kind) -> Result<Vec<Policy>, Failure> {
        let one = match kind {
            Kind::Context | Kind::Sweep | Kind::SweepMap => Some(ONE),
            Kind::Overflows => Some(NO_POLICY),
            _ => None,
        };
        match one.filter(|_| self.policies.policies.is_empty()) {
            Some(one) => Policies { policies: vec![one.to_owned()], ..self.policies.clone() }.load_once_each(self.logs),
            None => self.policies.load_once_each(self.logs),
        }
    }

    fn context(&self, policies: &[Policy], corpus: &Corpus, replays: &[Replay]) -> Result<Chart, Failure> {
        let place = match &self.question.session {
            Some(session) => find(&corpus.traces, session)?,
            None => fullest(replays),
        };
        let settings = self.policies.settings(self.catalog, self.logs);
        let mut lives = Vec::new();
        for (policy, replay) in policies.iter().zip(replays) {
            let found = plan_for(corpus, policy, &settings, place)?;
            lives.extend(found.map(|(plan, conditions)| Life { replay, plan, conditions }));
        }
        Ok(chart::context(corpus, place, &lives)?)
    }

    fn cost(&self, corpus: &Corpus, mut replays: Vec<Replay>) -> Result<Chart, Failure> {
        let tables = self.pricing.tables()?;
        price(corpus, &mut replays, &self.pricing.tariff(&tables, self.catalog, self.logs.model.clone()));
        Ok(chart::cost(corpus, &replays, self.pricing.cache.kind())?)
    }

    fn cache(&self, corpus: &Corpus, replays: &[Replay]) -> Result<Chart, Failure> {
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.catalog, self.logs.model.clone());
        let read: Vec<_> = replays.iter().map(|replay| (replay, reads(corpus, replay, &tariff))).collect();
        Ok(chart::cache(corpus, &read)?)
    }

    fn drift(&self, kind: Kind, policies: &[Policy], corpus: &Corpus) -> Result<Chart, Failure> {
        let replay = self.policies.settings(self.catalog, self.logs);
        // What needs no size has no estimator of its own.
        let compared: Vec<Policy> = policies.iter().filter(|policy| policy.name != NO_POLICY).cloned().collect();
        let all = pairs(corpus, &DriftSettings { compared: &compared, replayed: &[], replay, basis: Basis::Tokens })?;
        let wanted = self.estimators(&compared, &all.estimators)?;
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let used = if self.question.since_usage { Use::SinceUsage } else { Use::Request };
        Ok(match kind {
            Kind::Errors => chart::errors(corpus, &all)?,
            Kind::Buffer => chart::buffer(corpus, &all, &wanted, used)?,
            _ => chart::drift(corpus, &all, &wanted)?,
        })
    }

    /// The estimators that were named, and the own ones of policies that were.
    fn estimators(&self, policies: &[Policy], all: &[Paired]) -> Result<Vec<String>, Failure> {
        for name in &self.question.estimator {
            if !all.iter().any(|paired| paired.estimator == *name) {
                let hint = ctxsim::policy::suggestion(name, all.iter().map(|paired| paired.estimator.as_str()));
                return Err(Failure::Usage(format!("there is no estimator `{name}`{hint} (`ctxsim drift` names them)")));
            }
        }
        let named = policies.iter().filter(|_| !self.policies.policies.is_empty()).map(|policy| policy.name.clone());
        Ok(self.question.estimator.iter().cloned().chain(named).collect())
    }

    fn search(&self, bases: &[Policy]) -> Result<Search, Failure> {
        if self.question.vary.is_empty() {
            return Err(Failure::Usage("name what is varied, as in --vary prune_protect=10k..80k:10k".to_owned()));
        }
        let dimensions = self.question.vary.iter().map(|text| Dimension::parse(text)).collect::<Result<Vec<_>, SweepError>>()?;
        let objective = Objective::asked(self.question.minimise.as_deref(), self.question.maximise.as_deref())?;
        let constraints = self.question.subject_to.iter().map(|text| Constraint::parse(text)).collect::<Result<Vec<_>, SweepError>>()?;
        let settings = settings(bases, &dimensions, Design::Grid)?;
        settings.iter().try_for_each(|setting| setting.policy(bases).map(drop))?;
        Ok(Search { settings, objective, constraints })
    }

    fn sweep(&self, kind: Kind, bases: &[Policy], corpus: &Corpus, search: &Search) -> Result<Chart, Failure> {
        let replay = &self.policies.settings(self.catalog, self.logs);
        let constrained = search.constraints.iter().map(|constraint| constraint.measure);
        let (resamples, seed) = CHANCE;
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.catalog, self.logs.model.clone());
        let objective = search.objective.map_or_else(|| Objective::usual(&corpus.traces, &tariff), Ok)?;
        let measures: Vec<Measure> = std::iter::once(objective.measure).chain(constrained).collect();
        let billing = self.pricing.billing(&tariff, measures.iter().map(Measure::known_from).fold(KnownFrom::Replay, Ord::max));
        let run = Sweep { corpus, bases, settings: &search.settings, replay, measures: &measures, resamples, seed, billing };
        let mut rows = Vec::new();
        run.run(0, &mut |block| {
            rows.extend_from_slice(block);
            Ok(())
        })?;
        let sampling = Sampling::new(&corpus.traces, resamples, seed);
        let swept = Swept {
            corpus,
            bases,
            settings: &search.settings,
            rows: &rows,
            objective,
            constraints: &search.constraints,
            sampling: &sampling,
            own: &[],
            yours: &[],
            bars: Bars::default(),
            chance: CHANCE,
            billed: if billing.is_some() { Billed::Yes } else { Billed::No },
            command: None,
        };
        Ok(if kind == Kind::Sweep { chart::sweep(&swept)? } else { chart::sweep_map(&swept)? })
    }
}

/// What a sweep looks for.
struct Search {
    settings: Vec<ctxsim::experiment::Setting>,
    objective: Option<Objective>,
    constraints: Vec<Constraint>,
}

/// The session that fills its window most under any of these policies; the earlier one at a tie.
fn fullest(replays: &[Replay]) -> usize {
    let sessions = replays.first().map_or(0, |replay| replay.outcomes.len());
    let filled = |place: &usize| {
        let outcomes = replays.iter().filter_map(|replay| replay.outcomes.get(*place));
        let part =
            |outcome: &ctxsim::sim::Outcome| u128::from(outcome.totals.peak_tokens) * 1_000_000 / u128::from(outcome.prompt_limit.max(1));
        outcomes.map(part).max().unwrap_or(0)
    };
    (0..sessions).rev().max_by_key(filled).unwrap_or(0)
}
