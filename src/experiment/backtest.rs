//! The agent's own preset against what the agent really did: each recorded compaction and pruning beside the predicted one.

use super::judge::{Case, Reason, acts, judge, recorded_size, summarises_otherwise};
use super::origin::sample;
use super::own::{choose, shown_by, switched};
use super::replay::ReplaySettings;
use super::summaries::{RecordedSummaries, SummarySamples, summary_of};
pub use super::tested::{Predicted, Recorded, TOLERANCE, Verdict};
use super::window::{MainModel, WindowFrom, window_of};
use crate::corpus::{Bounds, Corpus, Segment, prompt_of, segment};
use crate::list::{Arrange, Gather, each_of};
use crate::policy::{Facts, Hook, Plan, Policy, PolicyError, RecordedBy, Switch, presets};
use crate::sim::{Conditions, Event, EventKind, Outcome, RecordedSummary, simulate};
use crate::statistics::{Estimate, RESAMPLES, Resamples, SEED, median};
use crate::trace::{CompactionRow, MessageRow, PartKind, Trace};
use crate::transcript::CompactionKind;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// From which context the next event is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// From the one that the agent had after the recorded compaction before.
    #[default]
    Conditioned,
    /// From the simulated one: the whole session is one replay, and errors add up.
    Free,
}

/// How events are predicted and held against logs.
pub struct BacktestSettings<'a> {
    /// The catalogue, and the window to take.
    pub replay: &'a ReplaySettings<'a>,
    /// From which context the event after a recorded compaction is predicted.
    pub mode: Mode,
}

/// An event, recorded or predicted or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// Compaction or pruning, as recorded or as predicted.
    pub kind: CompactionKind,
    /// As the log has it; `None` for a false alarm, and for a prediction that is none because compaction was off.
    pub recorded: Option<Recorded>,
    /// As the policy would have done it; `None` where it would not.
    pub predicted: Option<Predicted>,
    /// Of a miss: what the policy took the context for at its last look before the first call behind the recorded event. `None` where it looked
    /// at no size there, or had fired before.
    pub estimate: Option<u64>,
    /// The size that a summary would have had by the model of the policy. `None` where it makes none.
    pub modelled_summary: Option<u64>,
    /// The policy's figure holds earlier reasoning, by estimate, and the recorded one does not: how far they lie apart is unknown.
    pub counts_reasoning: bool,
    /// Hit, miss, false alarm, or not tested.
    pub verdict: Verdict,
    /// Why, where it is no hit; what speaks for it.
    pub reason: Reason,
}

impl Tested {
    /// Predicted less recorded call.
    pub fn distance_calls(&self) -> Option<i64> {
        let (recorded, predicted) = self.recorded.zip(self.predicted)?;
        i64::try_from(predicted.call).ok()?.checked_sub(i64::try_from(recorded.call).ok()?)
    }

    /// Predicted less recorded tokens at the trigger; `None` too where the two count different things.
    pub fn distance_tokens(&self) -> Option<i64> {
        let (recorded, predicted) = self.recorded.zip(self.predicted).filter(|_| !self.counts_reasoning)?;
        i64::try_from(predicted.tokens).ok()?.checked_sub(i64::try_from(recorded.tokens?).ok()?)
    }

    /// The distance in tokens as a share of the recorded ones, in millionths.
    pub fn token_error_millionths(&self) -> Option<u64> {
        millionths(self.distance_tokens()?.unsigned_abs(), self.recorded?.tokens?)
    }

    /// How far the prompt of the first call after it is off as simulated, as a share of the recorded one, in millionths.
    pub fn after_error_millionths(&self) -> Option<u64> {
        let recorded = self.recorded?.after?;
        millionths(self.predicted?.after?.abs_diff(recorded), recorded)
    }
}

/// A part of a whole; `None` of nothing.
fn millionths(part: u64, whole: u64) -> Option<u64> {
    let rounded = u128::from(part) * 1_000_000 + u128::from(whole) / 2;
    u64::try_from(rounded.checked_div(whole.into())?).ok()
}

/// The events of one session under one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestedSession {
    /// The session's place in the corpus.
    pub place: usize,
    /// The policy that was held against it.
    pub policy: String,
    /// The window in tokens that the policy went by.
    pub window: u64,
    /// Its events in the order of calls.
    pub events: Vec<Tested>,
}

/// The compactions that agents made by themselves, beside those that their own presets make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Foreseen {
    /// Recorded ones that are predicted within [`TOLERANCE`] calls.
    pub hits: u64,
    /// All recorded ones that are tested.
    pub recorded: u64,
    /// Predicted ones that no log has.
    pub false_alarms: u64,
}

/// Recorded events beside predicted ones, over a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backtest {
    /// Sessions that were tested, in the order of the corpus.
    pub sessions: Vec<TestedSession>,
    /// Sessions of agents without a preset, by agent: how many, and how many recorded events they hold.
    pub without_preset: BTreeMap<String, (u64, u64)>,
    /// The models of summary sizes, fitted from all recorded ones; each session is tested by one that is fitted without its own.
    pub summaries: RecordedSummaries,
}

impl Backtest {
    /// The events of all sessions, session by session.
    pub fn events(&self) -> impl Iterator<Item = &Tested> {
        self.sessions.iter().flat_map(|session| &session.events)
    }

    /// How many events ended so.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.events().filter(|event| event.verdict == verdict).count() as u64
    }

    /// Automatic compactions, predicted beside recorded.
    pub fn compactions(&self) -> Foreseen {
        let ended = |verdict: Verdict| {
            self.events().filter(|event| event.kind == CompactionKind::Compact && event.verdict == verdict).count() as u64
        };
        let hits = ended(Verdict::Hit);
        Foreseen { hits, recorded: hits + ended(Verdict::Missed), false_alarms: ended(Verdict::FalseAlarm) }
    }

    /// What share of the recorded events, and what share of the predictions, are hits: with its interval over the clusters of sessions, for events of one session are
    /// no independent witnesses. `None` where no interval is known.
    pub fn shares_of_hits(&self, corpus: &Corpus) -> [Option<Estimate>; 2] {
        let sample = sample(corpus.traces.each());
        [Verdict::Missed, Verdict::FalseAlarm].map(|verdict| {
            let mut sums: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
            for session in &self.sessions {
                for event in session.events.iter().filter(|event| [Verdict::Hit, verdict].contains(&event.verdict)) {
                    let (hits, all) = sums.entry(sample.of(session.place)).or_default();
                    *hits += i64::from(event.verdict == Verdict::Hit);
                    *all += 1;
                }
            }
            let (hits, all): (Vec<i64>, Vec<i64>) = sums.into_values().unzip();
            Resamples::new(all.len(), RESAMPLES, SEED).part(&hits, &all)
        })
    }

    /// The median of the hits, by a measure. `None` without hits.
    pub fn median_of_hits(&self, measure: impl Fn(&Tested) -> Option<u64>) -> Option<u64> {
        median(self.events().filter(|event| event.verdict == Verdict::Hit).filter_map(measure).collect())
    }

    /// The system whose hits have the largest median, and that median; `None` where all hits are of one system.
    pub fn largest_median_of_hits(&self, measure: impl Fn(&Tested) -> Option<u64>) -> Option<(&str, u64)> {
        let mut systems: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for session in &self.sessions {
            let hits = session.events.iter().filter(|event| event.verdict == Verdict::Hit);
            systems.entry(session.policy.split('@').next().unwrap_or_default()).or_default().extend(hits.filter_map(&measure));
        }
        let medians: Vec<(&str, u64)> = systems.into_iter().filter_map(|(system, found)| Some((system, median(found)?))).collect();
        medians.iter().max_by_key(|(_, median)| *median).copied().filter(|_| medians.len() > 1)
    }
}

/// The presets that know whose logs were recorded under them.
pub fn recorders() -> Result<Vec<Policy>, PolicyError> {
    // What is recorded under a preset stands in its own text, and most say nothing of it: they need not be read.
    let telling = presets().iter().filter(|preset| preset.text.contains("recorded_by"));
    let all = telling.map(|preset| Policy::load(preset.name)).collect::<Result<Vec<Policy>, PolicyError>>()?;
    Ok(all.into_iter().filter(|policy| !policy.recorded_by.is_empty()).collect())
}

/// Tests policies against a corpus: each session by the one that it was recorded under, or, where a single one is given, all
/// sessions by that one: what it does in those without recorded events is a false alarm.
pub fn backtest(corpus: &Corpus, policies: &[Policy], settings: &BacktestSettings<'_>) -> Result<Backtest, PolicyError> {
    let mut result = Backtest::default();
    let mut chosen: Vec<(usize, &Policy, Option<&RecordedBy>)> = Vec::new();
    for (place, trace) in corpus.traces.each().enumerate() {
        match choose(&trace, policies, settings.replay) {
            Some((policy, entry)) => chosen.push((place, policy, entry)),
            None => {
                let recorded = trace.compactions.iter().filter(|event| !event.copy).count() as u64;
                if recorded > 0 {
                    let (sessions, events) = result.without_preset.entry(trace.agent.clone()).or_default();
                    *sessions += 1;
                    *events += recorded;
                }
            }
        }
    }
    let summaries = SummarySamples::of(chosen.iter().filter_map(|(place, ..)| corpus.traces.at(*place)));
    result.summaries = summaries.fit();
    let plans = Plans { switches: policies.len() > 1, ..Plans::default() };
    let tested = each_of(&chosen, |(place, policy, entry)| {
        let trace = corpus.traces.at(*place).unwrap_or_default();
        let session = Session::new(&trace, policy, *entry, settings, summaries.model_without(&trace), &plans)?;
        let events = match settings.mode {
            Mode::Conditioned => session.by_segments(),
            Mode::Free => session.in_one(),
        };
        Ok(TestedSession { place: *place, policy: policy.name.clone(), window: session.window, events })
    });
    result.sessions = tested.into_iter().collect::<Result<Vec<TestedSession>, PolicyError>>()?;
    Ok(result)
}

/// A policy's name, the parameters that a log shows, and what is known of the session.
type PlanKey = (String, Vec<(String, u64)>, Facts);

/// The plans of policies by their names, each made once for sessions that are alike.
#[derive(Default)]
struct Plans {
    known: Mutex<BTreeMap<PlanKey, Arc<Plan>>>,
    /// Logs choose among presets, and their switches too. A single policy that is given stays as it is.
    switches: bool,
}

impl Plans {
    /// The plan of a policy, with the parameters that the log shows.
    fn of(&self, policy: &Policy, shown: &[(&str, u64)], facts: Facts) -> Result<Arc<Plan>, PolicyError> {
        let shown = if self.switches { shown } else { &[] };
        let values = shown.iter().map(|(param, value)| ((*param).to_owned(), *value)).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match known.entry((policy.name.clone(), values, facts)) {
            Entry::Occupied(plan) => Arc::clone(plan.get()),
            Entry::Vacant(place) => Arc::clone(place.insert(Arc::new(switched(policy, shown)?.plan(&facts)?))),
        })
    }
}

/// One session before its policy.
struct Session<'a> {
    trace: &'a Trace,
    main: MainModel,
    plan: Arc<Plan>,
    conditions: Conditions,
    /// The window in tokens that the policy goes by.
    window: u64,
    notes_prunings: bool,
    /// Recorded prunings are imposed: the policy makes none itself.
    imposes_prunings: bool,
    /// The window is not known, and the policy's summaries go by it.
    unknown_window: bool,
}

impl<'a> Session<'a> {
    fn new(
        trace: &'a Trace,
        policy: &Policy,
        entry: Option<&RecordedBy>,
        settings: &BacktestSettings<'_>,
        recorded_summary: Option<RecordedSummary>,
        plans: &Plans,
    ) -> Result<Session<'a>, PolicyError> {
        let replay = settings.replay;
        let window = window_of(trace, policy.default_window(), replay);
        let conditions = window.conditions(replay.reserve, recorded_summary);
        let prunes = trace.compactions.iter().any(|event| event.kind == CompactionKind::Prune);
        let notes_prunings = prunes || entry.is_some_and(|entry| entry.notes_prunings == Switch::On);
        let shown = shown_by(trace, entry);
        let plan = plans.of(policy, &shown, window.facts)?;
        let wider = Facts { window: window.facts.window.map(|window| 2 * window), ..window.facts };
        let unknown_window = window.from == WindowFrom::Policy && summarises_otherwise(&plan, &*plans.of(policy, &shown, wider)?);
        let imposes_prunings = !plan.rule.iter().any(|rule| acts(rule, CompactionKind::Prune));
        let window = window.facts.window.unwrap_or(window.window);
        let main = MainModel::with_its_window(trace, replay.catalog);
        Ok(Session { trace, main, plan, conditions, window, notes_prunings, imposes_prunings, unknown_window })
    }

    /// What a judgement of an event in this stretch rests on.
    fn case<'c>(
        &'c self,
        segment: &'c Segment<'c>,
        outcome: &'c Outcome,
        kind: CompactionKind,
        row: Option<&'c CompactionRow>,
    ) -> Case<'c> {
        let Session { trace, main, plan, unknown_window, .. } = self;
        Case { trace, main, plan, segment, outcome, unknown_window: *unknown_window, kind, row }
    }

    /// Each event from the context that the agent had after the compaction before.
    fn by_segments(&self) -> Vec<Tested> {
        let compactions: Vec<&CompactionRow> =
            self.trace.compactions.iter().filter(|event| event.kind == CompactionKind::Compact).collect();
        let end = self.trace.messages.len() as u32;
        let mut tested = Vec::new();
        for place in 0..=compactions.len() {
            let opened_by = place.checked_sub(1).and_then(|before| compactions.get(before)).copied();
            let closed_by = compactions.get(place).copied();
            let closed_before = closed_by.map_or(end, |event| event.before);
            // Of two events at one place the stretch goes on behind both, so that the call which follows them can be predicted.
            let next = compactions.get(compactions.partition_point(|event| event.before <= closed_before));
            let bounds = Bounds { opened_by, closed_before, end: next.map_or(end, |event| event.before) };
            let from = opened_by.map_or(0, |event| event.before);
            let noted = self.trace.compactions_before(from as usize..closed_before as usize).iter();
            let noted: Vec<&CompactionRow> = noted.filter(|event| event.kind == CompactionKind::Prune).collect();
            let imposed: &[&CompactionRow] = if self.imposes_prunings { &noted } else { &[] };
            let segment = segment(self.trace, bounds, imposed);
            let outcome = simulate(&segment.trace, &self.plan, &self.conditions);
            let predicted = self.predictions(&outcome, segment.first_call);
            let closing_call = self.call_after(closed_before);
            let first = predicted.iter().find(|event| event.kind == CompactionKind::Compact).copied();
            let case = |kind, row| self.case(&segment, &outcome, kind, row);
            // Each compaction before this call is one that the agent did not do.
            let alarms = |before: u64| {
                let early = predicted.iter().filter(move |event| event.kind == CompactionKind::Compact && event.call < before);
                early.filter_map(|event| self.false_alarm(*event, &case(CompactionKind::Compact, None)))
            };
            // Prunings that the policy makes itself are replayed freely within the stretch.
            let prunes =
                predicted.iter().filter(|event| event.kind == CompactionKind::Prune && event.call <= closing_call && self.notes_prunings);
            let mut here = self.paired(&noted, prunes.copied().collect(), &case);
            match closed_by {
                // Nothing is said of an event that counts in another file, nor of the calls before it.
                Some(row) if row.copy => {}
                Some(row) => {
                    // What happens behind the closing event counts for its lateness alone.
                    let tested = self.test(row, first, &case(CompactionKind::Compact, Some(row)));
                    here.push(tested);
                    here.extend(alarms(closing_call.saturating_sub(TOLERANCE)));
                }
                None => here.extend(alarms(u64::MAX)),
            }
            here.arrange_by_key(order);
            tested.extend(here);
        }
        tested
    }

    /// The whole session as one replay.
    fn in_one(&self) -> Vec<Tested> {
        let end = self.trace.messages.len() as u32;
        let segment = segment(self.trace, Bounds { opened_by: None, closed_before: end, end }, &[]);
        let outcome = simulate(&segment.trace, &self.plan, &self.conditions);
        let predicted = self.predictions(&outcome, 0);
        let case = |kind, row| self.case(&segment, &outcome, kind, row);
        let mut tested = Vec::new();
        for kind in [CompactionKind::Compact, CompactionKind::Prune] {
            let noted: Vec<&CompactionRow> = self.trace.compactions.iter().filter(|event| event.kind == kind).collect();
            let wanted = kind == CompactionKind::Compact || self.notes_prunings;
            let of_kind = predicted.iter().filter(|event| event.kind == kind && wanted).copied().collect();
            tested.extend(self.paired(&noted, of_kind, &case));
        }
        tested.arrange_by_key(order);
        tested
    }

    /// Each recorded event with the prediction nearest to it that no other event has; predictions that are left over are false alarms.
    fn paired<'c>(
        &self,
        noted: &[&'c CompactionRow],
        mut predicted: Vec<Predicted>,
        case: &dyn Fn(CompactionKind, Option<&'c CompactionRow>) -> Case<'c>,
    ) -> Vec<Tested> {
        let mut tested = Vec::new();
        for row in noted.iter().filter(|row| !row.copy) {
            let call = self.call_after(row.before);
            let nearest = predicted.iter().enumerate().min_by_key(|(_, event)| event.call.abs_diff(call)).map(|(place, _)| place);
            let near = nearest.filter(|place| predicted.get(*place).is_some_and(|event| event.call.abs_diff(call) <= TOLERANCE));
            // A prediction too far away stays a false alarm, and is shown beside the event all the same.
            let shown = match near {
                Some(place) => Some(predicted.remove(place)),
                None => nearest.and_then(|place| predicted.get(place).copied()),
            };
            tested.push(self.test(row, shown, &case(row.kind, Some(row))));
        }
        tested.extend(predicted.into_iter().filter_map(|event| self.false_alarm(event, &case(event.kind, None))));
        tested
    }

    fn test(&self, row: &CompactionRow, predicted: Option<Predicted>, case: &Case<'_>) -> Tested {
        let next = self.trace.calls.partition_point(|call| call.message < row.before);
        let recorded = Recorded {
            call: next as u64 + 1,
            tokens: row.tokens_before.or_else(|| recorded_size(self.trace, row, &self.plan)),
            after: self.trace.calls.get(next).and_then(prompt_of),
            summary: summary_of(self.trace, row),
            automatic: row.automatic,
        };
        // Its estimate after its own compaction is no estimate of what the agent had.
        let estimate = case.estimate(recorded.call).filter(|_| predicted.is_none_or(|predicted| predicted.call >= recorded.call));
        let (verdict, reason) = judge(case, &recorded, predicted.as_ref(), estimate);
        let modelled_summary = self.modelled_summary(&recorded).filter(|_| row.kind == CompactionKind::Compact);
        let estimate = estimate.filter(|_| verdict == Verdict::Missed);
        let counts_reasoning = predicted.is_some_and(|predicted| self.counts_reasoning(row, predicted));
        Tested { kind: row.kind, recorded: Some(recorded), predicted, estimate, modelled_summary, counts_reasoning, verdict, reason }
    }

    fn false_alarm(&self, event: Predicted, case: &Case<'_>) -> Option<Tested> {
        let (verdict, reason) = case.of_false_alarm(&event)?;
        let (kind, predicted) = (event.kind, Some(event));
        Some(Tested { kind, recorded: None, predicted, estimate: None, modelled_summary: None, counts_reasoning: false, verdict, reason })
    }

    /// Did the policy add reasoning from before the last turn to the usage, which alone the recorded size is made of?
    fn counts_reasoning(&self, row: &CompactionRow, predicted: Predicted) -> bool {
        if self.plan.belief.old_reasoning == Switch::Off || row.tokens_before.is_some() {
            return false;
        }
        let from = self.trace.compactions.iter().map(|event| event.before).filter(|before| *before < row.before).max().unwrap_or(0);
        let fired = usize::try_from(predicted.call).ok().and_then(|call| self.trace.calls.get(call.checked_sub(1)?));
        let to = row.before.max(fired.map_or(0, |call| call.message));
        let rows = self.trace.messages.get(from as usize..to as usize).unwrap_or_default();
        let earlier = rows.iter().rposition(MessageRow::opens_turn).and_then(|turn| rows.get(..turn)).unwrap_or_default();
        earlier.iter().any(|row| row.reported_reasoning > 0 || self.trace.parts_of(row).any(|part| part.kind == PartKind::Thinking))
    }

    /// What the model `recorded` makes of the summary of a recorded compaction.
    fn modelled_summary(&self, recorded: &Recorded) -> Option<u64> {
        let replaced =
            recorded.tokens.zip(recorded.after).map(|(before, after)| (before + recorded.summary.unwrap_or(0)).saturating_sub(after));
        self.conditions.recorded_summary.map(|model| model.tokens(replaced.unwrap_or(0)))
    }

    /// The number, from 1, of the first call after a place in the conversation.
    fn call_after(&self, message: u32) -> u64 {
        self.trace.calls.partition_point(|call| call.message < message) as u64 + 1
    }

    /// The compactions and prunings of a replay.
    fn predictions(&self, outcome: &Outcome, first_call: usize) -> Vec<Predicted> {
        let after_reply = |rule: &str| {
            let found = self.plan.rule.iter().find(|known| known.id == rule);
            found.is_some_and(|rule| matches!(rule.at, Hook::PostCall | Hook::TurnEnd))
        };
        // What runs when the reply is there comes before the next call.
        let next = |event: &Event| event.call as usize + usize::from(after_reply(&event.rule));
        let wanted: BTreeSet<usize> = outcome.events.iter().map(next).gather();
        let until = wanted.last().map_or(0, |last| last + 1);
        let sizes = outcome.calls.each().take(until).enumerate().filter(|(call, _)| wanted.contains(call));
        let sizes: BTreeMap<usize, u64> = sizes.map(|(call, row)| (call, row.actual)).gather();
        let predicted = outcome.events.iter().filter_map(|event| {
            let kind = match event.kind {
                EventKind::Compact | EventKind::Reset => CompactionKind::Compact,
                EventKind::Prune => CompactionKind::Prune,
                _ => return None,
            };
            let next = next(event);
            Some(Predicted {
                call: (first_call + next) as u64 + 1,
                fired: first_call as u64 + u64::from(event.call) + 1,
                tokens: event.belief.unwrap_or(event.before),
                limit: event.limit,
                after: sizes.get(&next).copied(),
                kind,
            })
        });
        predicted.collect()
    }
}

/// Events stand in the order of calls; a recorded one before a false alarm at the same call.
fn order(event: &Tested) -> (u64, bool) {
    let call = event.recorded.map(|recorded| recorded.call).or(event.predicted.map(|predicted| predicted.call));
    (call.unwrap_or(0), event.recorded.is_none())
}
