//! MANY SETTINGS x ONE TRACE. Settings that act alike share one run, and part at the call at which one of them first acts otherwise.
//!
//! Settings that differ in nothing but *dials* (limits of triggers, selections, guards, the output reserve that they are judged by) make
//! a family. One of a family leads: its plan is carried out by the loop of [`simulate`](crate::sim::simulate). An observer looks on, and wherever
//! the plan is asked (is the limit reached? what is selected? why does this call overflow?) it asks the others too. Who would answer
//! otherwise parts from the leader at that call. Then a second run of the leader's plan comes by each of those calls in turn, and a copy
//! of it goes on from there under the lead of one of those that parted there, the others of that call behind it.
//!
//! So nothing is worked out twice that is the same for two settings, and whatever is worked out is worked out by the one loop.

use super::family::{Family, Member};
use super::observer::{BatchObserver, Company};
use crate::policy::Plan;
use crate::sim::conditions::Conditions;
use crate::sim::event::Warning;
use crate::sim::intake::Intakes;
use crate::sim::ledger::Detail;
use crate::sim::observer::Observer;
use crate::sim::run::step;
use crate::sim::state::State;
use crate::sim::totals::Totals;
use crate::sim::warning::warnings;
use crate::trace::Trace;

/// Settings under which sessions are replayed together.
pub struct Batch<'a> {
    /// Each with the leader of all of them, and the others behind it: how every session begins.
    families: Vec<(Family<'a>, (u32, Company))>,
    settings: usize,
}

/// What settings came to in one session: sums without ratios of estimates and without tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchOutcome {
    /// For each setting the place of its sums in `totals`.
    pub of: Vec<u32>,
    /// The sums that occur.
    pub totals: Vec<Totals>,
    /// Runs that were begun.
    pub runs: u64,
    /// Calls that were made in all of them: how much was worked out.
    pub steps: u64,
}

impl<'a> Batch<'a> {
    /// Sorts settings into families.
    pub fn new(settings: &[(&'a Plan, &'a Conditions)]) -> Batch<'a> {
        let mut families: Vec<Family<'a>> = Vec::new();
        for (setting, (plan, conditions)) in settings.iter().enumerate() {
            let member = Member::new(setting, plan, conditions);
            match families.iter_mut().find(|family| family.takes(plan, conditions)) {
                Some(family) => family.members.push(member),
                None => families.push(Family::new(conditions, member)),
            }
        }
        families.iter_mut().for_each(Family::compare_actions);
        let led = |family: Family<'a>| {
            let opening = Company::of(&family, (0..family.members.len() as u32).collect())?;
            Some((family, opening))
        };
        Batch { families: families.into_iter().filter_map(led).collect(), settings: settings.len() }
    }

    /// Replays a session under all settings.
    pub fn simulate(&self, trace: &Trace) -> BatchOutcome {
        let mut outcome = BatchOutcome { of: vec![0; self.settings], ..BatchOutcome::default() };
        let mut intakes = Intakes::new(trace);
        for (family, opening) in &self.families {
            let Some(first) = family.members.first() else { continue };
            let intake = intakes.of(first.plan, family.conditions);
            let mut start = Box::new(State::with_intake(trace, first.plan, family.conditions, intake));
            start.ledger.detail = Detail::Sums;
            replay(family, start, 0, opening.clone(), &mut outcome);
        }
        outcome
    }
}

/// Replays from a call on under members that have acted alike before it. `start` stands right before that call.
fn replay<'a>(family: &'a Family<'a>, mut start: Box<State<'a>>, call: usize, led: (u32, Company), outcome: &mut BatchOutcome) {
    let (leader, company) = led;
    let Some(plan) = family.members.get(leader as usize).map(|member| member.plan) else { return };
    outcome.runs += 1;
    start.inputs.plan = plan;
    if let Some(look) = &mut start.belief.look
        && let Some(limit) = family.limit(leader, look.rule)
    {
        look.limit = limit;
    }
    if company.is_empty() {
        outcome.steps += run(&mut start, &mut (), call, usize::MAX);
        collect(family, &mut start, std::iter::once(leader), outcome);
        return;
    }
    let mut first = start.clone();
    let mut observer = BatchObserver::new(family, company);
    outcome.steps += run(&mut first, &mut observer, call, usize::MAX);
    collect(family, &mut first, std::iter::once(leader).chain(observer.faithful()), outcome);
    drop(first);
    let mut at = call;
    for group in observer.parted().chunk_by(|one, other| one.0 == other.0) {
        let Some((parts_at, _)) = group.first() else { continue };
        let Some(led) = Company::of(family, group.iter().map(|(_, member)| *member).collect()) else { continue };
        outcome.steps += run(&mut start, &mut (), at, *parts_at);
        at = *parts_at;
        replay(family, start.clone(), at, led, outcome);
    }
}

/// Ends a run, and gives each of these members its sums, with what it alone is judged by.
fn collect(family: &Family<'_>, state: &mut State<'_>, members: impl Iterator<Item = u32>, outcome: &mut BatchOutcome) {
    state.ledger.close(&state.inputs);
    let warnings = warnings(&state.ledger.notes);
    let own = &state.ledger.outcome;
    // By budget what it comes to, and by what it comes to the place of the sums.
    let mut over: Vec<(u64, u64)> = Vec::new();
    let mut found: Vec<((u64, bool), u32)> = Vec::new();
    for member in members.filter_map(|member| family.members.get(member as usize)) {
        let over_budget = over.iter().find(|(budget, _)| *budget == member.budget).map(|(_, calls)| *calls).unwrap_or_else(|| {
            let calls = own.requests().filter(|call| call.actual > member.budget).count() as u64;
            over.push((member.budget, calls));
            calls
        });
        let judged = (over_budget, member.never_fires);
        let place = found.iter().find(|(known, _)| *known == judged).map(|(_, place)| *place).unwrap_or_else(|| {
            let mut totals = Totals { over_budget, ..own.totals.clone() };
            let never = member.never_fires.then_some(Warning::NeverFires);
            totals.warnings.extend(warnings.iter().copied().chain(never).map(|warning| (warning, 1)));
            outcome.totals.push(totals);
            let place = outcome.totals.len() as u32 - 1;
            found.push((judged, place));
            place
        });
        if let Some(of) = outcome.of.get_mut(member.setting) {
            *of = place;
        }
    }
}

/// Goes on from a call up to another one, which is not made, or to the call at which the session fails; hands back how many were tried.
fn run<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, from: usize, to: usize) -> u64 {
    let mut tried = 0;
    for (index, call) in state.inputs.trace.calls.iter().enumerate().take(to).skip(from) {
        if state.ledger.has_ended() {
            break;
        }
        step(state, observer, index, call, &mut |_, _| {});
        tried += 1;
    }
    tried
}
