//! MANY SETTINGS x ONE TRACE. Settings that act alike share one run, and part at the call at which one of them first acts otherwise.
//!
//! Settings that differ in nothing but *dials* (limits of triggers, selections, guards, the output reserve that they are judged by) make
//! a family. One of a family leads: its plan is carried out by the loop of [`simulate`](crate::sim::simulate). An observer looks on, and wherever
//! the plan is asked (is the limit reached? what is selected? why does this call overflow?) it asks the others too. Who would answer
//! otherwise parts from the leader at that call. Then a second run of the leader's plan comes by each of those calls in turn, and a copy
//! of it goes on from there under the lead of one of those that parted there, the others of that call behind it.
//!
//! Settings whose limits cut what arrives otherwise are of a family as well. Those for whom all messages of a session enter alike are a class, and the
//! classes beside the leader's go along as differences from it (`deltas`), as long as no rule acts upon what stands in other sizes.
//!
//! So nothing is worked out twice that is the same for two settings, and whatever is worked out is worked out by the one loop.

use super::cuts::Cuts;
use super::deltas::{Deltas, by_class};
use super::family::{Family, Member};
use super::observer::{BatchObserver, Company, Parted, Tracker};
use crate::policy::Plan;
use crate::sim::conditions::Conditions;
use crate::sim::event::Warning;
use crate::sim::intake::{Intake, Intakes};
use crate::sim::ledger::Detail;
use crate::sim::observer::Observer;
use crate::sim::outcome::{CallOutcome, Outcome, Refetch, SummaryCall};
use crate::sim::run::step;
use crate::sim::state::State;
use crate::sim::totals::Totals;
use crate::sim::warning::warnings;
use crate::trace::Trace;
use std::rc::Rc;

/// What a caller makes of the requests of a run while it goes on. A run that parts from another one goes on with a copy of what was made of their common beginning.
pub trait Account: Clone {
    /// What it comes to.
    type Sum: Clone;

    /// The run stands between two calls: the rows of all calls so far, all summaries, and all that was read again.
    fn go_on(&mut self, calls: &[CallOutcome], summaries: &[SummaryCall], refetches: &[Refetch]);

    /// The run has ended, with its calls, summaries and what was read again. `setting` is one of those that have come to it: whether a request is over the budget is
    /// said for one of them. There is no outcome where the setting is carried along as a difference from another one, whose requests are not its own.
    fn close(self, setting: usize, outcome: Option<&Outcome>) -> Self::Sum;
}

/// No account at all.
impl Account for () {
    type Sum = ();

    fn go_on(&mut self, _: &[CallOutcome], _: &[SummaryCall], _: &[Refetch]) {}

    fn close(self, _: usize, _: Option<&Outcome>) {}
}

/// Settings under which sessions are replayed together.
pub struct Batch<'a> {
    /// Each with the leader of all of them, and the others behind it: how a session begins in which their limits cut nothing otherwise.
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
                Some(family) => family.add(member),
                None => families.push(Family::new(conditions, member)),
            }
        }
        families.iter_mut().for_each(Family::compare);
        let led = |family: Family<'a>| {
            let opening = Company::of(&family, &Cuts::default(), (0..family.members.len() as u32).collect())?;
            Some((family, opening))
        };
        Batch { families: families.into_iter().filter_map(led).collect(), settings: settings.len() }
    }

    /// Replays a session under all settings.
    pub fn simulate(&self, trace: &Trace) -> BatchOutcome {
        self.collect(trace, Detail::Sums, ()).0
    }

    /// The same, and what the caller makes of the requests of each run that ends, beside its sums. `account` is of a run that has not begun.
    pub fn watch<A: Account>(&self, trace: &Trace, account: A) -> (BatchOutcome, Vec<A::Sum>) {
        self.collect(trace, Detail::Requests, account)
    }

    fn collect<A: Account>(&self, trace: &Trace, detail: Detail, account: A) -> (BatchOutcome, Vec<A::Sum>) {
        let sums = BatchOutcome { of: vec![0; self.settings], ..BatchOutcome::default() };
        let mut found = Found { sums, seen: Vec::new(), detail, account };
        self.replay(trace, &mut found);
        (found.sums, found.seen)
    }

    fn replay<A: Account>(&self, trace: &Trace, found: &mut Found<A>) {
        let mut intakes = Intakes::new(trace, Intake::new);
        for (family, opening) in &self.families {
            let Some(plan) = family.ingests().first() else { continue };
            let cuts = Cuts::new(trace, family, &intakes.of(plan, family.conditions));
            if cuts.classes() == 1 {
                begin(family, &cuts, trace, opening.clone(), found);
                continue;
            }
            let all: Vec<u32> = (0..family.members.len() as u32).collect();
            let groups = if cuts.together && family.together { vec![all] } else { classes(&cuts, family, &all) };
            for members in groups {
                let Some(led) = Company::of(family, &cuts, members) else { continue };
                begin(family, &cuts, trace, led, found);
            }
        }
    }
}

/// What has been found in one session so far.
struct Found<A: Account> {
    sums: BatchOutcome,
    /// Beside the sums, what the caller makes of their requests.
    seen: Vec<A::Sum>,
    detail: Detail,
    /// Of a run that has not begun.
    account: A,
}

/// Members by the way in which messages enter for them.
fn classes(cuts: &Cuts, family: &Family<'_>, members: &[u32]) -> Vec<Vec<u32>> {
    by_class(cuts, family, members).into_iter().map(|(_, members)| members).collect()
}

/// Replays a session from its beginning under members of a family.
fn begin<A: Account>(family: &Family<'_>, cuts: &Cuts, trace: &Trace, led: (u32, Company), found: &mut Found<A>) {
    let class = cuts.class_of(family.ingest(led.0));
    let Some((member, intake)) = family.members.get(led.0 as usize).zip(cuts.intake(class)) else { return };
    let mut start = Box::new(State::with_intake(trace, member.plan, family.conditions, Rc::clone(intake)));
    start.ledger.detail = found.detail;
    let deltas = Deltas::new(cuts, family, class, &led.1.members());
    let account = found.account.clone();
    Replay { family, cuts }.go_on(start, account, 0, led, deltas, found);
}

/// Members of one family in one session.
#[derive(Clone, Copy)]
struct Replay<'a, 'c> {
    family: &'a Family<'a>,
    cuts: &'c Cuts,
}

impl<'a, 'c> Replay<'a, 'c> {
    /// Replays from a call on under members that have acted alike before it. `start` stands right before that call, as the leader's; `account` may lag behind it.
    fn go_on<A: Account>(
        self,
        mut start: Box<State<'a>>,
        mut account: A,
        call: usize,
        led: (u32, Company),
        deltas: Deltas<'c>,
        found: &mut Found<A>,
    ) {
        let family = self.family;
        let (leader, company) = led;
        let Some(plan) = family.members.get(leader as usize).map(|member| member.plan) else { return };
        found.sums.runs += 1;
        start.inputs.plan = plan;
        if let Some(look) = &mut start.belief.look
            && let Some(limit) = family.limit(leader, look.rule)
        {
            look.limit = limit;
        }
        if company.is_empty() {
            found.sums.steps += run(&mut start, &mut (), call, usize::MAX);
            self.collect(&mut start, account, std::iter::once(leader), &deltas, found);
            return;
        }
        let mut first = start.clone();
        let mut observer = BatchObserver::new(family, company, deltas.clone());
        found.sums.steps += run(&mut first, &mut observer, call, usize::MAX);
        self.collect(&mut first, account.clone(), std::iter::once(leader).chain(observer.faithful()), &observer.deltas, found);
        drop(first);
        let mut at = call;
        let mut tracker = Tracker { family, deltas: deltas.of_members(observer.parted().iter().map(|parted| parted.member)) };
        for parted in observer.parted().chunk_by(|one, other| one.call == other.call) {
            let Some(parts_at) = parted.first().map(|parted| parted.call) else { continue };
            found.sums.steps += if tracker.deltas.is_empty() {
                run(&mut start, &mut (), at, parts_at)
            } else {
                run(&mut start, &mut tracker, at, parts_at)
            };
            at = parts_at;
            if let Some(calls) = start.ledger.calls.plain().filter(|_| start.ledger.detail == Detail::Requests) {
                account.go_on(calls, &start.ledger.outcome.summaries, &start.ledger.outcome.refetches);
            }
            for members in self.groups(parted) {
                let Some((leader, company)) = Company::of(family, self.cuts, members) else { continue };
                let class = self.cuts.class_of(family.ingest(leader));
                let mut state = start.clone();
                tracker.deltas.put_on(class, &mut state);
                let deltas = tracker.deltas.under(family, class, &company.members());
                self.go_on(state, account.clone(), at, (leader, company), deltas, found);
            }
        }
    }

    /// Those who part at one call, as they go on: together, or each class by itself.
    fn groups(self, parted: &[Parted]) -> Vec<Vec<u32>> {
        let of = |apart: bool| parted.iter().filter(move |parted| parted.apart == apart).map(|parted| parted.member).collect::<Vec<u32>>();
        let mut groups = vec![of(false)];
        groups.extend(classes(self.cuts, self.family, &of(true)));
        groups
    }

    /// Ends a run, and gives each of these members its sums, with what it alone is judged by.
    fn collect<A: Account>(
        self,
        state: &mut State<'_>,
        account: A,
        members: impl Iterator<Item = u32>,
        deltas: &Deltas<'_>,
        found: &mut Found<A>,
    ) {
        state.ledger.close(&state.inputs);
        let warnings = warnings(&state.ledger.notes);
        let members: Vec<u32> = members.collect();
        let led = &state.ledger.outcome;
        for (class, members) in by_class(self.cuts, self.family, &members) {
            let delta = deltas.all.iter().find(|delta| delta.class == class);
            let mut own = led.totals.clone();
            let mut rows: Vec<CallOutcome> = Vec::new();
            if let Some(delta) = delta {
                rows.extend(delta.rows(&led.calls, led.window));
                delta.apply(&mut own, rows.iter().copied(), &led.calls);
                own.retention.by_rule = state.inputs.named(&delta.broken_by(&state.ledger.broken_by));
            }
            let prompts: Vec<u64> = match delta {
                Some(_) => rows.iter().map(|row| row.actual).chain(led.refetches.iter().map(|refetch| refetch.request.actual)).collect(),
                None => led.requests().map(|call| call.actual).collect(),
            };
            // By budget what it comes to, and by what it comes to the place of the sums.
            let mut over: Vec<(u64, u64)> = Vec::new();
            let mut places: Vec<((u64, bool), u32)> = Vec::new();
            let mut seen: Option<A::Sum> = None;
            for member in members.into_iter().filter_map(|member| self.family.members.get(member as usize)) {
                let over_budget = over.iter().find(|(budget, _)| *budget == member.budget).map(|(_, calls)| *calls).unwrap_or_else(|| {
                    let calls = prompts.iter().filter(|prompt| **prompt > member.budget).count() as u64;
                    over.push((member.budget, calls));
                    calls
                });
                let never_fires = if state.talk.is_some() { state.ledger.never_fires(&state.inputs) } else { member.never_fires };
                let judged = (over_budget, never_fires);
                let place = places.iter().find(|(known, _)| *known == judged).map(|(_, place)| *place).unwrap_or_else(|| {
                    let requests = (delta.is_none() && state.ledger.detail == Detail::Requests).then_some(led);
                    found.seen.push(seen.get_or_insert_with(|| account.clone().close(member.setting, requests)).clone());
                    let mut totals = Totals { over_budget, ..own.clone() };
                    let never = never_fires.then_some(Warning::NeverFires);
                    totals.warnings.extend(warnings.iter().copied().chain(never).map(|warning| (warning, 1)));
                    found.sums.totals.push(totals);
                    let place = found.sums.totals.len() as u32 - 1;
                    places.push((judged, place));
                    place
                });
                if let Some(of) = found.sums.of.get_mut(member.setting) {
                    *of = place;
                }
            }
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
