//! What a chart is made of: for each kind, what is read, replayed and priced.

use crate::cli::arms::{self, Arms};
use crate::cli::explain::find;
use crate::cli::failure::Failure;
use crate::cli::goal::Goal;
use crate::cli::logs::Logs;
use crate::cli::own::OwnAgents;
use crate::cli::policies::Policies;
use crate::cli::pricing::Pricing;
use crate::corpus::{Corpus, Vocabularies};
use crate::cost::Tariff;
use crate::experiment::drift::{Basis, DriftSettings, Paired, Pairs, Use, pairs};
use crate::experiment::idle::idle;
use crate::experiment::{
    Constraint, Design, Dimension, KnownFrom, Measure, Objective, Replay, ReplaySettings, Sweep, SweepError, Unit, Watch, check_model,
    own_error, plan_for, price, reads, recorded_under, recorders, recording, settings, summed, with_own,
};
use crate::measure::{Kinds, Recall, Wanted};
use crate::policy::Policy;
use crate::report::chart::{Chart, KINDS, Kind, Life, Material, Need, busiest};
use crate::report::{Baselines, Swept};
use crate::statistics::{Bars, RESAMPLES, SEED, WORTH};
use crate::trace::Trace;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};

/// How often sessions are resampled for the bands of a sweep, and the seed.
const CHANCE: (usize, u64) = (RESAMPLES, SEED);

/// Options that not every kind uses, and what those that do are made of.
const USED_BY: [(&str, &[Need]); 21] = [
    ("session", &[Need::Session]),
    ("vary", &[Need::Settings]),
    ("minimise", &[Need::Settings]),
    ("maximise", &[Need::Settings]),
    ("subject-to", &[Need::Settings]),
    ("estimator", &[Need::Estimators]),
    ("since-usage", &[Need::Since]),
    ("whole-request", &[Need::Since]),
    ("with", &[Need::Arms]),
    ("pair-by", &[Need::Arms]),
    ("index", &[Need::Arms]),
    ("arm", &[Need::Arms]),
    ("before", &[Need::Arms]),
    ("set-by", &[Need::Arms]),
    ("policy", &[Need::Arms, Need::Session, Need::Replays, Need::Pairs, Need::Settings]),
    ("set", &[Need::Arms, Need::Session, Need::Replays, Need::Pairs, Need::Settings]),
    ("reserve", &[Need::Session, Need::Settings]),
    ("prices", &[Need::Arms, Need::Money, Need::Pauses, Need::Settings]),
    ("cache", &[Need::Arms, Need::Money, Need::Settings]),
    ("gap", &[Need::Money, Need::Reads, Need::Settings]),
    ("agent-config", &[Need::Baselines, Need::Settings]),
];

/// What was typed and would change nothing in this chart is refused. A project's defaults may hold what other charts use.
pub fn refuse_unused(kind: &Kind, command: &Command, typed: &ArgMatches) -> Result<(), Failure> {
    let is_typed = |flag: &str| {
        let option = command.get_arguments().find(|option| option.get_long() == Some(flag));
        option.is_some_and(|option| typed.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine))
    };
    let uses = |kind: &Kind, needs: &[Need]| needs.iter().any(|need| kind.needs(*need));
    let Some((flag, needs)) = USED_BY.iter().find(|(flag, needs)| !uses(kind, needs) && is_typed(flag)) else { return Ok(()) };
    let names: Vec<&str> = KINDS.into_iter().filter(|kind| uses(kind, needs)).map(|kind| kind.name).collect();
    let users = if names.len() + 1 == KINDS.len() { "all others do".to_owned() } else { format!("charts that do: {}", names.join(", ")) };
    Err(Failure::Usage(format!("charts of the kind {} do not use --{flag}; {users}", kind.name)))
}

/// What some kinds ask beside logs and policies.
#[derive(Args, Clone, Debug, Default)]
pub struct Question {
    /// context: the session, as `ctxsim explain` takes it [default: the one in which most happens]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// sweep, sweep-map, sweep-trade: vary a parameter, as `ctxsim sweep` takes it; the first one lies across
    #[arg(long, value_name = "[POLICY:]PARAM=VALUES")]
    vary: Vec<String>,
    #[command(flatten)]
    goal: Goal,
    /// drift, buffer: estimators to draw, by the names that `ctxsim drift` gives them; may be given several times
    #[arg(long, value_name = "NAME")]
    estimator: Vec<String>,
    /// buffer: estimate the whole request [default: what came since the last recorded usage, as agents do that read it]
    #[arg(long)]
    whole_request: bool,
    /// What is the default today.
    #[arg(long, hide = true)]
    since_usage: bool,
}

/// A question, and all that it is asked of.
pub struct ChartQuestion<'a> {
    pub question: &'a Question,
    pub logs: &'a Logs,
    pub policies: &'a Policies,
    pub pricing: &'a Pricing,
    pub own: &'a OwnAgents,
    pub arms: &'a Arms,
}

impl ChartQuestion<'_> {
    /// The chart, and what `--strict` complains of.
    pub fn chart(&self, kind: &Kind) -> Result<(Chart, Vec<String>), Failure> {
        if kind.needs(Need::Arms) {
            return self.validation(kind);
        }
        let policies = self.policies_of(kind)?;
        // What cannot be varied is found before any log is read.
        let search = if kind.needs(Need::Settings) { Some(self.search(&policies)?) } else { None };
        // Nothing is measured that the chart does not show.
        let references = if kind.needs(Need::Recall) { Recall::References } else { Recall::Nothing };
        let (vocabularies, kinds) =
            if kind.needs(Need::Pairs) { (Vocabularies::Public, Kinds::Told) } else { (Vocabularies::Own, Kinds::default()) };
        let corpus = self.logs.read_in(vocabularies, Wanted { references, kinds })?;
        let complaints = self.logs.complaints(&corpus);
        let phase = if search.is_some() { self.logs.search() } else { self.logs.phase("simulating") };
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        let settings = self.policies.settings(self.logs)?;
        let window = Material::of(&corpus).window;
        let mut material =
            Material { cache: self.pricing.cache, window: self.policies.window().unwrap_or(window), ..Material::of(&corpus) };
        let replays_policies = kind.needs(Need::Replays) || (kind.needs(Need::Session) && !self.policies.policies.is_empty());
        let mut replays = if replays_policies { self.policies.replay(&policies, &corpus, self.logs)? } else { Vec::new() };
        let is_priced = kind.needs(Need::Baselines) || kind.needs(Need::Settings);
        let recorded = is_priced.then(|| recording(&corpus, &tariff));
        let own = if kind.needs(Need::Baselines) { self.own.replay(&corpus, self.policies, self.logs, &tariff)? } else { None };
        let checks = is_priced.then(|| check_model(&corpus, &tariff));
        if kind.needs(Need::Baselines) {
            price(&corpus, &mut replays, &tariff);
        }
        material.checks = checks.as_ref();
        material.baselines = Baselines { recording: recorded.as_ref(), own: own.as_ref() };
        material.replays = &replays;
        let reads = if kind.needs(Need::Reads) { reads(&corpus, material.baselines.with_own(&replays), &tariff) } else { Vec::new() };
        material.reads = &reads;
        let paused = kind.needs(Need::Pauses).then(|| idle(&corpus, &tariff));
        material.idle = paused.as_ref();
        let pairs = if kind.needs(Need::Pairs) { Some(self.paired(&corpus, &policies)?) } else { None };
        let wanted: Vec<&str> = pairs.iter().flat_map(|(_, wanted)| wanted).map(String::as_str).collect();
        (material.pairs, material.estimators) = (pairs.as_ref().map(|(all, _)| all), &wanted);
        material.used = if self.question.whole_request { Use::Request } else { Use::SinceUsage };
        let recorders = recorders()?;
        let lived = if kind.needs(Need::Session) { Some(self.lived(&corpus, &policies, &replays, &recorders, &settings)?) } else { None };
        let lives = lived.as_ref().map_or(Ok(Vec::new()), |lived| lives(&corpus, lived, &recorders, &settings))?;
        material.session = lived.as_ref().map_or(material.session, |(place, ..)| (*place, &lives));
        let chart = match search {
            Some(search) => self.sweep(kind, policies, search, material, &tariff, &phase)?,
            None => kind.chart(&material)?,
        };
        Ok((chart, complaints))
    }

    /// A chart of what was predicted, and of runs under the policy.
    fn validation(&self, kind: &Kind) -> Result<(Chart, Vec<String>), Failure> {
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        let (logs, policies, pricing) = (self.logs, self.policies, self.pricing);
        let compared = self.arms.compared(&arms::ReadWith { logs, policies, pricing, tariff: &tariff })?;
        let chart = kind.chart(&Material { validation: Some(&compared.validation), ..Material::of(&compared.before) })?;
        Ok((chart, compared.complaints))
    }

    /// Estimates beside counts, and which estimators are drawn.
    fn paired(&self, corpus: &Corpus, policies: &[Policy]) -> Result<(Pairs, Vec<String>), Failure> {
        // What needs no size has no estimator of its own.
        let compared: Vec<Policy> = policies.iter().filter(|policy| policy.name != "none").cloned().collect();
        let replay = self.policies.settings(self.logs)?;
        let settings =
            DriftSettings { compared: &compared, replayed: &[], replay, basis: Basis::Tokens, vocabularies: Vocabularies::Public };
        let all = pairs(corpus, &settings)?;
        let wanted = self.estimators(&compared, &all.estimators)?;
        Ok((all, wanted))
    }

    /// The policies that were named; where none were, those that the kind is best shown with.
    fn policies_of(&self, kind: &Kind) -> Result<Vec<Policy>, Failure> {
        match kind.usual.filter(|_| self.policies.policies.is_empty()) {
            Some(one) => {
                Policies { policies: vec![one.to_owned()], ..self.policies.clone() }.load_once_each(self.logs, &self.question.vary)
            }
            None => self.policies.load_once_each(self.logs, &self.question.vary),
        }
    }

    /// The session that a chart of one shows, and the policies that it is shown under: those that were named, else the one that its own agent ran by.
    fn lived(
        &self,
        corpus: &Corpus,
        named: &[Policy],
        replays: &[Replay],
        recorders: &[Policy],
        settings: &ReplaySettings<'_>,
    ) -> Result<Lived, Failure> {
        let place = match &self.question.session {
            Some(session) => find(&corpus.traces, session, self.logs)?,
            None => busiest(corpus, &replays.iter().collect::<Vec<_>>()),
        };
        if !replays.is_empty() {
            return Ok((place, named.to_vec(), replays.to_vec()));
        }
        let own = corpus.traces.at(place).and_then(|trace| own_policy(&trace, recorders, settings));
        let policies = match own {
            Some(own) => vec![own.clone()],
            None => Policies { policies: vec!["baseagent".to_owned()], ..self.policies.clone() }
                .load_once_each(self.logs, &self.question.vary)?,
        };
        let replays = self.policies.replay(&policies, corpus, self.logs)?;
        Ok((place, policies, replays))
    }

    /// The estimators that were named, and the own ones of policies that were.
    fn estimators(&self, policies: &[Policy], all: &[Paired]) -> Result<Vec<String>, Failure> {
        for name in &self.question.estimator {
            if !all.iter().any(|paired| paired.estimator == *name) {
                let hint = crate::policy::suggestion(name, all.iter().map(|paired| paired.estimator.as_str()));
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
        let goal = &self.question.goal;
        goal.tell_renamed(self.logs);
        let (objective, constraints) = (goal.objective()?, goal.limits(Constraint::parse)?);
        let settings = settings(bases, &dimensions, Design::Grid)?;
        settings.iter().try_for_each(|setting| setting.policy(bases).map(drop))?;
        Ok(Search { settings, objective, constraints })
    }

    fn sweep(
        &self,
        kind: &Kind,
        bases: Vec<Policy>,
        search: Search,
        material: Material<'_>,
        tariff: &Tariff<'_>,
        watch: &dyn Watch,
    ) -> Result<Chart, Failure> {
        let corpus = material.corpus;
        let Search { mut settings, objective, constraints } = search;
        let (bases, yours) = self.own.configured_each(bases, corpus, self.policies, self.logs)?;
        let (bases, own) = (&bases, with_own(&mut settings, &bases));
        let replay = &self.policies.settings(self.logs)?;
        let (resamples, seed) = CHANCE;
        let objective = objective.map_or_else(|| Objective::usual(&corpus.traces, tariff), Ok)?;
        let measures = summed(&objective, constraints.iter().map(|constraint| constraint.measure))?;
        let billing = self.pricing.billing(tariff, measures.iter().map(Measure::known_from).fold(KnownFrom::Replay, Ord::max));
        let run = Sweep { corpus, bases, settings: &settings, replay, measures: &measures, resamples, seed, billing, watch };
        let sampling = run.sampling();
        let rows = run.all(&sampling)?;
        let is_money = objective.measure.part.unit == Unit::Money;
        let own_error = if is_money { own_error(corpus, tariff, self.pricing.cache, replay)? } else { None };
        let swept = Swept {
            corpus,
            bases,
            settings: &settings,
            rows: &rows,
            objective,
            constraints: &constraints,
            sampling: &sampling,
            own: &own,
            yours: &yours,
            mixed: None,
            thresholds: &[],
            bars: Bars { own_error, worth: WORTH, anchored: corpus.facts.anchored() },
            chance: CHANCE,
            billed: billing.is_some(),
        };
        Ok(kind.chart(&Material { swept: Some(&swept), ..material })?)
    }
}

/// A session, the policies that it is shown under, and what each of them makes of it.
type Lived = (usize, Vec<Policy>, Vec<Replay>);

/// A session's life under each policy that there is a plan of for it.
fn lives<'a>(
    corpus: &Corpus,
    (place, policies, replays): &'a Lived,
    recorders: &[Policy],
    settings: &ReplaySettings<'_>,
) -> Result<Vec<Life<'a>>, Failure> {
    let trace = corpus.traces.at(*place);
    let own = trace.and_then(|trace| own_policy(&trace, recorders, settings));
    let mut lives = Vec::new();
    for (policy, replay) in policies.iter().zip(replays) {
        let found = plan_for(corpus, policy, settings, *place)?;
        lives.extend(found.map(|(plan, conditions)| Life { replay, plan, conditions, is_own: own == Some(policy) }));
    }
    Ok(lives)
}

/// What a sweep looks for.
struct Search {
    settings: Vec<crate::experiment::Setting>,
    objective: Option<Objective>,
    constraints: Vec<Constraint>,
}

/// The preset that a session's agent ran by; absent where none is known.
fn own_policy<'a>(trace: &Trace, recorders: &'a [Policy], settings: &ReplaySettings<'_>) -> Option<&'a Policy> {
    recorded_under(trace, recorders, settings).map(|(policy, _)| policy)
}
