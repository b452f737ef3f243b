//! Every session through every policy, on all cores; results stand in the order of sessions and policies.

use super::beside::Beside;
pub use super::settings::ReplaySettings;
use super::summaries::RecordedSummaries;
use super::window::{Window, WindowFrom, window_of};
use crate::corpus::Corpus;
use crate::cost::{Bills, CacheKind};
use crate::list::{Arrange, Gather, List, Once, sum_on_all_cores};
use crate::policy::{Facts, Hook, Plan, Policy, PolicyError, Rule};
use crate::sim::{CallOutcome, Conditions, Outcome, RecordedSummary, Refetching, SharedSession, Totals, simulate};
use crate::trace::Trace;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Outcomes with more calls than these, all policies together, are packed: as they are they take 64 MiB and more.
const MANY_CALLS: usize = (64 << 20) / size_of::<CallOutcome>();

/// So are those of sessions with more calls than these on average, for the next policy's run stands beside them: 11 MiB and more each.
const LONG: u64 = 1 << 17;

/// One policy over a whole corpus.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// Name of the policy.
    pub policy: String,
    /// Its parameters as they were used, formulas as written.
    pub params: Vec<(String, String)>,
    /// How the size of its summaries was modelled, in words; empty where it makes none.
    pub summary_model: String,
    /// An outcome for each session, in the corpus's order.
    pub outcomes: List<Outcome>,
    /// The sum over all sessions.
    pub totals: Totals,
    /// What each session cost; empty until the bills are made.
    pub bills: List<Bills>,
    /// The sum over all sessions; all 0 until the bills are made.
    pub bill: Bills,
    /// Models that the catalogue does not know, each with the window that was taken.
    pub unknown_models: Vec<(String, u64)>,
    /// Models whose recorded prompts were larger than their known window, each with the window that was taken.
    pub outgrown: Vec<(String, u64)>,
    /// Models whose calls went on above their agent's limit without a compaction, each with the window that was taken.
    pub uncompacted: Vec<(String, u64)>,
    /// Models whose logs, or hosts, set another window than the catalogue: the model, the window that was taken, the catalogue's (0 where it knows none).
    pub own_windows: Vec<(String, u64, u64)>,
    /// Models that sessions are replayed for and that take no prompt as large as their window: the model, the largest prompt, the window.
    pub prompt_limits: Vec<(String, u64, u64)>,
    /// Where the window of each session came from, in the corpus's order.
    pub windows: Vec<WindowFrom>,
    /// By session the lowest size at which a rule looks at the context; `None` where none looks at a size.
    pub thresholds: Vec<Option<u64>>,
    /// Sessions that were replayed with manual compactions imposed, as they were replayed, by their places: the user's own agents alone.
    pub imposed: BTreeMap<usize, Trace>,
    /// The same in a closed loop: the agent reads again what the policy took from it. `None` where it was not asked for.
    pub closed: Option<Box<Replay>>,
    /// For a policy that acts in pauses: the sums where it never does, as if the program had been closed. `None` for all others.
    pub closed_in_pauses: Option<Box<Totals>>,
    /// By kind of cache: how it stands beside the recording over the whole corpus, once that has been asked.
    pub beside: [Once<Beside>; CacheKind::Perfect as usize + 1],
}

/// Replays a corpus through policies.
pub fn replay(corpus: &Corpus, policies: &[Policy], settings: &ReplaySettings<'_>) -> Result<Vec<Replay>, PolicyError> {
    Ok(replay_all(corpus, &ready(corpus, policies, settings)?, Refetching::Never))
}

/// Replays a corpus through policies in an open loop and in a closed one, in which the agent reads again what it misses.
pub fn replay_closed(
    corpus: &Corpus,
    policies: &[Policy],
    settings: &ReplaySettings<'_>,
    refetch: Refetching,
) -> Result<Vec<Replay>, PolicyError> {
    let ready = ready(corpus, policies, settings)?;
    let both = replay_all(corpus, &ready, Refetching::Never).into_iter().zip(replay_all(corpus, &ready, refetch));
    Ok(both.map(|(open, closed)| Replay { closed: Some(Box::new(closed)), ..open }).collect())
}

/// Policies made ready for a corpus. What does not depend on the policy is looked at once for all of them.
pub(super) fn ready<'a>(corpus: &Corpus, policies: &'a [Policy], settings: &ReplaySettings<'_>) -> Result<Vec<Ready<'a>>, PolicyError> {
    let summaries = settings.summaries.clone().unwrap_or_else(|| RecordedSummaries::fit(corpus.traces.each()));
    // By the window that a policy takes for an unknown model.
    let mut windows: BTreeMap<Option<u64>, Windows> = policies.iter().map(|policy| (policy.default_window(), Windows::default())).gather();
    for trace in corpus.traces.each() {
        let summary = summaries.model(&trace);
        windows.iter_mut().for_each(|(default, windows)| windows.add(window_of(&trace, *default, settings), summary));
    }
    let ready = |policy: &'a Policy| {
        let windows = windows.get(&policy.default_window()).cloned().unwrap_or_default();
        Ready::new(policy, windows, settings, summaries.clone())
    };
    policies.iter().map(ready).collect()
}

/// Each session through all policies in turn: what their replays have in common is worked out once.
fn replay_all(corpus: &Corpus, ready: &[Ready<'_>], refetch: Refetching) -> Vec<Replay> {
    let through_all = |place: usize, give: &mut dyn FnMut(Outcome)| {
        let trace = corpus.traces.at(place).unwrap_or_default();
        let mut shared = SharedSession::new(&trace);
        ready.iter().for_each(|policy| give(policy.outcome(&mut shared, place, refetch)));
    };
    let calls = corpus.facts.calls;
    let long = calls as usize * ready.len() > MANY_CALLS || calls > LONG * corpus.facts.sessions;
    let by_policy = List::made_together(&corpus.traces, ready.len(), long, through_all);
    let replay_of = |(policy, outcomes): (&Ready<'_>, List<Outcome>)| {
        let closed_in_pauses = policy.closed_in_pauses(corpus, refetch).map(Box::new);
        Replay { closed_in_pauses, ..policy.with(outcomes) }
    };
    ready.iter().zip(by_policy).map(replay_of).collect()
}

/// The plan of a policy for the session at this place in a corpus, and what holds for it. Absent where there is no such session.
pub fn plan_for(
    corpus: &Corpus,
    policy: &Policy,
    settings: &ReplaySettings<'_>,
    place: usize,
) -> Result<Option<(Plan, Conditions)>, PolicyError> {
    let ready = Ready::alone(corpus, policy, settings)?;
    Ok(ready.session(place).map(|(plan, conditions)| (plan.clone(), conditions)))
}

/// A policy made ready for a corpus: the window of each session, and a plan for each kind of window.
pub(super) struct Ready<'a> {
    policy: &'a Policy,
    /// The windows, each with a model of summaries.
    windows: Vec<(Window, Option<RecordedSummary>)>,
    /// The window of each session, by its number.
    of: Vec<u32>,
    plans: BTreeMap<Facts, Plan>,
    reserve: Option<u64>,
    summaries: RecordedSummaries,
    told: Option<usize>,
}

/// The windows of sessions, each with a model of summaries. Sessions share few of them: each is held once.
#[derive(Clone, Default)]
struct Windows {
    known: BTreeMap<(Window, Option<RecordedSummary>), u32>,
    of: Vec<u32>,
}

impl Windows {
    fn add(&mut self, window: Window, summary: Option<RecordedSummary>) {
        let next = self.known.len() as u32;
        self.of.push(*self.known.entry((window, summary)).or_insert(next));
    }
}

impl<'a> Ready<'a> {
    /// One policy by itself.
    pub fn alone(corpus: &Corpus, policy: &'a Policy, settings: &ReplaySettings<'_>) -> Result<Ready<'a>, PolicyError> {
        let mut alone = ready(corpus, std::slice::from_ref(policy), settings)?;
        alone.pop().ok_or_else(|| PolicyError::Unknown { name: policy.name.clone(), hint: String::new() })
    }

    fn new(
        policy: &'a Policy,
        windows: Windows,
        settings: &ReplaySettings<'_>,
        summaries: RecordedSummaries,
    ) -> Result<Ready<'a>, PolicyError> {
        let Windows { known, of } = windows;
        let mut windows: Vec<_> = known.into_iter().collect();
        windows.arrange_by_key(|(_, number)| *number);
        let windows: Vec<_> = windows.into_iter().map(|(window, _)| window).collect();
        let mut plans: BTreeMap<Facts, Plan> = BTreeMap::new();
        for (window, _) in &windows {
            if let Entry::Vacant(place) = plans.entry(window.facts) {
                place.insert(policy.plan(&window.facts)?);
            }
        }
        Ok(Ready { policy, windows, of, plans, reserve: settings.reserve, summaries, told: settings.told })
    }

    fn window(&self, place: usize) -> Option<&(Window, Option<RecordedSummary>)> {
        self.windows.get(*self.of.get(place)? as usize)
    }

    /// The plan for the session at this place in the corpus, and what holds for it. Absent where there is no such session.
    pub fn session(&self, place: usize) -> Option<(&Plan, Conditions)> {
        let (window, recorded_summary) = self.window(place)?;
        let conditions = window.conditions(self.reserve, *recorded_summary);
        Some((self.plans.get(&window.facts)?, Conditions { names_all_lost: self.told == Some(place), ..conditions }))
    }

    /// The lowest size at which a rule looks at the context of the session at this place; `None` where none looks at a size.
    pub fn threshold(&self, place: usize) -> Option<u64> {
        self.session(place)?.0.lowest_limit()
    }

    /// Replays the session at this place in the corpus, in an open loop or a closed one.
    pub fn outcome<'s>(&'s self, shared: &mut SharedSession<'s>, place: usize, refetch: Refetching) -> Outcome {
        let Some((plan, conditions)) = self.session(place) else { return Outcome::default() };
        let outcome = match refetch {
            Refetching::Never => shared.with_hindsight(plan, &conditions),
            _ => shared.simulate(plan, &Conditions { refetch, ..conditions }),
        };
        Outcome { policy: self.policy.name.clone(), ..outcome }
    }

    /// The sums of all sessions where the policy never acts in a pause; `None` where it has no rule that would.
    fn closed_in_pauses(&self, corpus: &Corpus, refetch: Refetching) -> Option<Totals> {
        let acts = |rule: &Arc<Rule>| rule.at == Hook::Idle;
        if !self.plans.values().any(|plan| plan.rule.iter().any(acts)) {
            return None;
        }
        let of = |place: usize| {
            let (trace, (plan, conditions)) = corpus.traces.at(place).zip(self.session(place))?;
            let rule = plan.rule.iter().filter(|rule| !acts(rule)).cloned().collect();
            Some(simulate(&trace, &Plan { rule, ..plan.clone() }, &Conditions { refetch, ..conditions }).totals)
        };
        Some(sum_on_all_cores(corpus.traces.len(), &of, &|sum: &mut Totals, totals| *sum += &totals))
    }

    /// The replay that these outcomes make, one a session.
    pub fn with(&self, mut outcomes: List<Outcome>) -> Replay {
        let (mut totals, mut named) = (Totals::default(), true);
        for outcome in outcomes.each() {
            totals += &outcome.totals;
            named &= outcome.policy == self.policy.name;
        }
        if !named {
            outcomes.change_each(|outcome| outcome.policy.clone_from(&self.policy.name));
        }
        let named = |from: WindowFrom| -> Vec<(String, u64)> {
            let matching = self.windows.iter().map(|(window, _)| window).filter(|window| window.from == from);
            matching.map(|window| (window.model.clone(), window.window)).gather::<BTreeSet<_>>().into_iter().collect()
        };
        // What a program may do is known by what it has done.
        let summarises =
            |plan: &&Plan| plan.program.is_none() || totals.summariser_calls > 0 || plan.rule.iter().any(|rule| rule.summarise.is_some());
        let each = |of: fn(&Window) -> Option<(String, u64, u64)>| {
            let found: BTreeSet<(String, u64, u64)> = self.windows.iter().filter_map(|(window, _)| of(window)).gather();
            found.into_iter().collect()
        };
        let params = self.policy.params.iter().map(|(name, parameter)| (name.clone(), plain(&parameter.value))).collect();
        Replay {
            policy: self.policy.name.clone(),
            params,
            summary_model: self
                .plans
                .values()
                .next()
                .filter(summarises)
                .map(|plan| describe_summary(plan, &self.summaries))
                .unwrap_or_default(),
            outcomes,
            totals,
            unknown_models: named(WindowFrom::Policy),
            outgrown: named(WindowFrom::Outgrown),
            uncompacted: named(WindowFrom::Uncompacted),
            own_windows: each(Window::instead_of_catalogue),
            prompt_limits: each(Window::smaller_prompts),
            windows: (0..self.of.len()).filter_map(|place| Some(self.window(place)?.0.from)).collect(),
            thresholds: (0..self.of.len()).map(|place| self.threshold(place)).collect(),
            ..Replay::default()
        }
    }
}

impl Replay {
    /// Is it the one without any policy?
    pub fn is_none(&self) -> bool {
        self.policy == "none" || self.policy.starts_with("none at ")
    }

    /// Do its sums compare with those of others? What an agent without any policy would have sent up to the wall compares with nothing.
    pub fn compares(&self) -> bool {
        !self.is_none() || self.totals.failed_sessions == 0
    }

    /// The same, named with its window: `pi@1.5 at 128k`.
    pub fn at_window(self, window: &str) -> Replay {
        let name = format!("{} at {window}", self.policy);
        let closed = self.closed.map(|closed| Box::new(closed.renamed(&name)));
        Replay { closed, ..Replay { closed: None, ..self }.renamed(&name) }
    }

    /// The same under another name.
    pub(super) fn renamed(mut self, name: &str) -> Replay {
        self.outcomes.change_each(|outcome| name.clone_into(&mut outcome.policy));
        Replay { policy: name.to_owned(), ..self }
    }
}

fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn describe_summary(plan: &Plan, recorded: &RecordedSummaries) -> String {
    use crate::policy::SummaryModel;
    if plan.rule.iter().all(|rule| rule.summarise.is_none() && !rule.asks()) {
        return String::new();
    }
    let summary = &plan.summary;
    match (summary.model, recorded.describe()) {
        (SummaryModel::Fixed, _) | (SummaryModel::Recorded, None) => format!("fixed, {} tokens", summary.tokens),
        (SummaryModel::Share, _) if summary.max > 0 => {
            format!("{} of what it replaces, {} to {} tokens", summary.ratio, summary.min, summary.max)
        }
        (SummaryModel::Share, _) => format!("{} of what it replaces, at least {} tokens", summary.ratio, summary.min),
        (SummaryModel::Recorded, Some(model)) => model,
    }
}
