//! MANY SETTINGS x ONE TRACE. Settings that act alike share one run, and part at the call at which one of them first acts otherwise.
//!
//! Settings that differ in nothing but *dials* (limits of triggers, selections, guards, the output reserve that they are judged by) make
//! a family. One of a family leads: its plan is carried out by the loop of [`simulate`](super::simulate). A referee looks on, and wherever
//! the plan is asked (is the limit reached? what is selected? why does this call overflow?) it asks the others too. Who would answer
//! otherwise parts from the leader at that call. Then a second run of the leader's plan comes by each of those calls in turn, and a copy
//! of it goes on from there under the lead of one of those that parted there, the others of that call behind it.
//!
//! So nothing is worked out twice that is the same for two settings, and whatever is worked out is worked out by the one loop.

use super::cause::{never_fires, warnings};
use super::intake::Intake;
use super::outcome::{CallOutcome, Totals, Warning};
use super::referee::Referee;
use super::state::{Conditions, State};
use crate::policy::{Hook, Level, MinSaving, Plan, Rule, Select, Trigger, Window};
use crate::trace::Trace;
use std::rc::Rc;

/// Settings under which sessions are replayed together.
pub struct Flock<'a> {
    families: Vec<Family<'a>>,
    settings: usize,
}

/// What settings came to in one session: sums without ratios of guesses and without tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared {
    /// For each setting the place of its sums in `totals`.
    pub of: Vec<u32>,
    /// The sums that occur.
    pub totals: Vec<Totals>,
    /// Runs that were begun: how much was worked out anew.
    pub runs: u64,
}

/// Settings that differ in their dials alone.
pub(super) struct Family<'a> {
    conditions: &'a Conditions,
    members: Vec<Member<'a>>,
    /// By rule: a number for each member, the same for those whose rule does the same wherever it fires.
    deeds: Vec<Vec<u32>>,
}

struct Member<'a> {
    setting: usize,
    plan: &'a Plan,
    /// By rule: the limit of its trigger, where that is a dial.
    limits: Vec<Option<f64>>,
    /// Above this many tokens a call is over budget.
    budget: u64,
    never_fires: bool,
}

impl<'a> Flock<'a> {
    /// Sorts settings into families.
    pub fn new(settings: &[(&'a Plan, &'a Conditions)]) -> Flock<'a> {
        let mut families: Vec<(Plan, Family<'a>)> = Vec::new();
        for (setting, (plan, conditions)) in settings.iter().enumerate() {
            let frame = frame(plan);
            let family = families.iter().position(|(known, family)| family.conditions == *conditions && *known == frame);
            let member = Member::new(setting, plan, conditions);
            match family.and_then(|family| families.get_mut(family)) {
                Some((_, family)) => family.members.push(member),
                None => families.push((frame, Family { conditions, members: vec![member], deeds: Vec::new() })),
            }
        }
        let mut families: Vec<Family<'a>> = families.into_iter().map(|(_, family)| family).collect();
        families.iter_mut().for_each(Family::compare_deeds);
        Flock { families, settings: settings.len() }
    }

    /// Replays a session under all settings.
    pub fn simulate(&self, trace: &Trace) -> Shared {
        let mut shared = Shared { of: vec![0; self.settings], totals: Vec::new(), runs: 0 };
        for family in &self.families {
            let Some(first) = family.members.first() else { continue };
            let intake = Rc::new(Intake::new(trace, first.plan, family.conditions));
            let start = State::with_intake(trace, first.plan, family.conditions, intake).sums_only();
            family.fly(Box::new(start), 0, (0..family.members.len() as u32).collect(), &mut shared);
        }
        shared
    }
}

impl<'a> Family<'a> {
    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn rules(&self) -> usize {
        self.deeds.len()
    }

    pub fn limit(&self, member: u32, rule: usize) -> Option<f64> {
        self.members.get(member as usize).and_then(|member| member.limits.get(rule).copied().flatten())
    }

    pub fn rule(&self, member: u32, rule: usize) -> Option<&'a Rule> {
        self.members.get(member as usize).and_then(|member| member.plan.rule.get(rule))
    }

    /// Must the limit be exceeded, or is it enough to reach it?
    pub fn strict(&self, rule: usize) -> bool {
        let when = self.rule(0, rule).and_then(|rule| rule.when.as_ref());
        matches!(when, Some(Trigger::Level(Level { gt: Some(_), .. })))
    }

    /// These members by what a rule does, those that do as the leader left out.
    pub fn deeds(&self, rule: usize, leader: u32, members: &[u32]) -> Vec<Vec<u32>> {
        let Some(deeds) = self.deeds.get(rule) else { return Vec::new() };
        let deed = |member: u32| deeds.get(member as usize).copied();
        let mut others: Vec<u32> = members.iter().copied().filter(|member| deed(*member) != deed(leader)).collect();
        others.sort_by_key(|member| deed(*member));
        others.chunk_by(|one, other| deed(*one) == deed(*other)).map(<[u32]>::to_vec).collect()
    }

    fn compare_deeds(&mut self) {
        let rules = self.members.first().map_or(0, |member| member.plan.rule.len());
        for rule in 0..rules {
            let mut known: Vec<&Rule> = Vec::new();
            let mut number = |rule: &'a Rule| {
                known.iter().position(|known| same_deed(known, rule)).unwrap_or_else(|| {
                    known.push(rule);
                    known.len() - 1
                })
            };
            let deeds = self.members.iter().map(|member| member.plan.rule.get(rule).map_or(0, |rule| number(rule) as u32));
            let deeds = deeds.collect();
            self.deeds.push(deeds);
        }
    }

    /// Replays from a call on under members that have acted alike before it. `start` stands right before that call.
    fn fly<'t>(&'t self, mut start: Box<State<'t>>, call: usize, members: Vec<u32>, shared: &mut Shared)
    where
        'a: 't,
    {
        let Some((leader, others)) = self.choose(members) else { return };
        let Some(plan) = self.members.get(leader as usize).map(|member| member.plan) else { return };
        shared.runs += 1;
        start.plan = plan;
        if let Some(look) = &mut start.look
            && let Some(limit) = self.limit(leader, look.rule)
        {
            look.limit = limit;
        }
        if others.is_empty() {
            run(&mut start, call, usize::MAX);
            start.judge_all();
            self.collect(&start, [leader].into_iter(), shared);
            return;
        }
        let mut first = start.clone();
        first.referee = Some(Box::new(Referee::new(self, leader, &others)));
        run(&mut first, call, usize::MAX);
        first.judge_all();
        let Some(referee) = first.referee.take() else { return };
        self.collect(&first, std::iter::once(leader).chain(referee.faithful()), shared);
        drop(first);
        let mut at = call;
        let groups: Vec<&[(usize, u32)]> = referee.parted.chunk_by(|one, other| one.0 == other.0).collect();
        for group in groups {
            let Some((parts_at, _)) = group.first() else { continue };
            run(&mut start, at, *parts_at);
            at = *parts_at;
            self.fly(start.clone(), at, group.iter().map(|(_, member)| *member).collect(), shared);
        }
    }

    /// The leader is the one with the highest limits: it goes furthest before it acts.
    fn choose(&self, mut members: Vec<u32>) -> Option<(u32, Vec<u32>)> {
        let height = |member: u32| {
            let limits = self.members.get(member as usize).map_or(&[][..], |member| &member.limits);
            limits.iter().flatten().fold(f64::INFINITY, |lowest, limit| lowest.min(*limit))
        };
        let highest = (0..members.len()).max_by(|one, other| {
            let at = |place: usize| members.get(place).map_or(0.0, |member| height(*member));
            at(*one).total_cmp(&at(*other)).then(other.cmp(one))
        })?;
        let leader = members.swap_remove(highest);
        Some((leader, members))
    }

    /// Gives each of these members the sums of a run, with what it alone is judged by.
    fn collect(&self, state: &State<'_>, members: impl Iterator<Item = u32>, shared: &mut Shared) {
        let mut found: Vec<(u64, bool, u32)> = Vec::new();
        for member in members.filter_map(|member| self.members.get(member as usize)) {
            let known = found.iter().find(|(budget, never, _)| *budget == member.budget && *never == member.never_fires);
            let place = match known {
                Some((.., place)) => *place,
                None => {
                    let place = shared.totals.len() as u32;
                    shared.totals.push(member.totals(state));
                    found.push((member.budget, member.never_fires, place));
                    place
                }
            };
            if let Some(of) = shared.of.get_mut(member.setting) {
                *of = place;
            }
        }
    }
}

impl<'a> Member<'a> {
    fn new(setting: usize, plan: &'a Plan, conditions: &Conditions) -> Member<'a> {
        let limits = plan.rule.iter().map(|rule| rule.when.as_ref().and_then(dial)).collect();
        let reserve = conditions.reserve.unwrap_or(plan.window.reserve);
        let budget = conditions.prompt_limit.min(conditions.window.saturating_sub(reserve));
        Member { setting, plan, limits, budget, never_fires: never_fires(plan, conditions) }
    }

    fn totals(&self, state: &State<'_>) -> Totals {
        let mut totals = state.outcome.totals.clone();
        let over = |call: &&CallOutcome| call.actual > self.budget;
        totals.over_budget = state.outcome.requests().filter(over).count() as u64;
        let never = self.never_fires.then_some(Warning::NeverFires);
        totals.warnings.extend(warnings(&state.notes).into_iter().chain(never).map(|warning| (warning, 1)));
        totals
    }
}

/// Goes on from a call up to another one, which is not made.
fn run(state: &mut State<'_>, from: usize, to: usize) {
    let trace = state.trace;
    for (index, call) in trace.calls.iter().enumerate().take(to).skip(from) {
        state.step(index, call, &mut |_, _| {});
    }
}

/// The limit of a trigger that is nothing but a size against a limit.
fn dial(trigger: &Trigger) -> Option<f64> {
    match trigger {
        Trigger::Level(Level { gt: Some(limit), ge: None, .. } | Level { gt: None, ge: Some(limit), .. }) => Some(*limit),
        _ => None,
    }
}

/// A plan with its dials at nought: the same for all of a family.
fn frame(plan: &Plan) -> Plan {
    let mut frame = Plan { window: Window { default: None, reserve: 0, ..plan.window.clone() }, ..plan.clone() };
    for rule in frame.rule.iter_mut().filter(|rule| rule.at != Hook::Ingest) {
        if let Some(Trigger::Level(level)) = rule.when.as_mut().filter(|when| dial(when).is_some()) {
            level.gt = level.gt.map(|_| 0.0);
            level.ge = level.ge.map(|_| 0.0);
        }
        rule.select = Select::default();
        rule.min_saving = rule.min_saving.take().map(|guard| MinSaving { tokens: 0, ..guard });
        rule.min_progress = rule.min_progress.map(|_| 0.0);
        rule.min_messages = rule.min_messages.map(|_| 0);
    }
    frame
}

/// Do two rules of one family do the same wherever they fire?
fn same_deed(one: &Rule, other: &Rule) -> bool {
    one.select == other.select
        && one.min_saving == other.min_saving
        && one.min_progress == other.min_progress
        && one.min_messages == other.min_messages
}
