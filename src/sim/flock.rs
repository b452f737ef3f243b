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
use super::intake::Intakes;
use super::outcome::{Totals, Warning};
use super::referee::{Company, Referee};
use super::state::{Conditions, State};
use crate::policy::{Hook, Level, MinSaving, Plan, Rule, Trigger, Window};
use crate::trace::Trace;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// Runs that were begun.
    pub runs: u64,
    /// Calls that were made in all of them: how much was worked out.
    pub steps: u64,
}

/// Settings that differ in their dials alone.
pub(super) struct Family<'a> {
    conditions: &'a Conditions,
    members: Vec<Member<'a>>,
    /// By rule: a number for each member, the same for those whose rule does the same wherever it fires.
    deeds: Vec<Vec<u32>>,
    /// The leader of all of them, and the others behind it: how every session begins.
    opening: Option<(u32, Company)>,
}

/// Who goes on from a call.
enum Who {
    /// The whole family.
    All,
    /// These members.
    Some(Vec<u32>),
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
        let mut families: Vec<Family<'a>> = Vec::new();
        for (setting, (plan, conditions)) in settings.iter().enumerate() {
            let member = Member::new(setting, plan, conditions);
            let akin = |family: &&mut Family<'a>| {
                let first = family.members.first();
                family.conditions == *conditions && first.is_some_and(|first| same_frame(first.plan, plan))
            };
            match families.iter_mut().find(akin) {
                Some(family) => family.members.push(member),
                None => families.push(Family::new(conditions, member)),
            }
        }
        families.iter_mut().for_each(Family::complete);
        Flock { families, settings: settings.len() }
    }

    /// Replays a session under all settings.
    pub fn simulate(&self, trace: &Trace) -> Shared {
        let mut shared = Shared { of: vec![0; self.settings], ..Shared::default() };
        let mut intakes = Intakes::new(trace);
        for family in &self.families {
            let Some(first) = family.members.first() else { continue };
            let intake = intakes.of(first.plan, family.conditions);
            let start = State::with_intake(trace, first.plan, family.conditions, intake).sums_only();
            family.fly(Box::new(start), 0, Who::All, &mut shared);
        }
        shared
    }
}

impl<'a> Family<'a> {
    fn new(conditions: &'a Conditions, first: Member<'a>) -> Family<'a> {
        Family { conditions, members: vec![first], deeds: Vec::new(), opening: None }
    }

    /// All members are known.
    fn complete(&mut self) {
        self.compare_deeds();
        self.opening = self.choose((0..self.members.len() as u32).collect()).map(|(leader, others)| {
            let company = Company::new(self, leader, &others);
            (leader, company)
        });
    }

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
        self.members.get(member as usize).and_then(|member| member.plan.rule.get(rule)).map(Arc::as_ref)
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
            // Deeds by the numbers in them, and a number for each of those that differ.
            let mut known: BTreeMap<u64, Vec<(&Rule, u32)>> = BTreeMap::new();
            let mut numbers = 0;
            let mut number = |rule: &'a Rule| {
                let alike = known.entry(mixed_numbers_of(rule)).or_default();
                let found = alike.iter().find(|(known, _)| same_deed(known, rule)).map(|(_, number)| *number);
                found.unwrap_or_else(|| {
                    numbers += 1;
                    alike.push((rule, numbers));
                    numbers
                })
            };
            let deeds = self.members.iter().map(|member| member.plan.rule.get(rule).map_or(0, |rule| number(rule)));
            let deeds = deeds.collect();
            self.deeds.push(deeds);
        }
    }

    /// Replays from a call on under members that have acted alike before it. `start` stands right before that call.
    fn fly<'t>(&'t self, mut start: Box<State<'t>>, call: usize, who: Who, shared: &mut Shared)
    where
        'a: 't,
    {
        let (leader, company) = match who {
            Who::All => match &self.opening {
                Some((leader, company)) => (*leader, company.clone()),
                None => return,
            },
            Who::Some(members) => match self.choose(members) {
                Some((leader, others)) => (leader, Company::new(self, leader, &others)),
                None => return,
            },
        };
        let Some(plan) = self.members.get(leader as usize).map(|member| member.plan) else { return };
        shared.runs += 1;
        start.plan = plan;
        if let Some(look) = &mut start.look
            && let Some(limit) = self.limit(leader, look.rule)
        {
            look.limit = limit;
        }
        if company.is_empty() {
            shared.steps += run(&mut start, call, usize::MAX);
            start.close();
            self.collect(&start, [leader].into_iter(), shared);
            return;
        }
        let mut first = start.clone();
        first.referee = Some(Box::new(Referee::new(self, company)));
        shared.steps += run(&mut first, call, usize::MAX);
        first.close();
        let Some(referee) = first.referee.take() else { return };
        self.collect(&first, std::iter::once(leader).chain(referee.faithful()), shared);
        drop(first);
        let mut at = call;
        let groups: Vec<&[(usize, u32)]> = referee.parted().chunk_by(|one, other| one.0 == other.0).collect();
        for group in groups {
            let Some((parts_at, _)) = group.first() else { continue };
            let members = Who::Some(group.iter().map(|(_, member)| *member).collect());
            shared.steps += run(&mut start, at, *parts_at);
            at = *parts_at;
            self.fly(start.clone(), at, members, shared);
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
        let warnings = warnings(&state.notes);
        // By budget what it comes to, and by what it comes to the place of the sums.
        let mut over: Vec<(u64, u64)> = Vec::new();
        let mut found: Vec<((u64, bool), u32)> = Vec::new();
        for member in members.filter_map(|member| self.members.get(member as usize)) {
            let over_budget = over.iter().find(|(budget, _)| *budget == member.budget).map(|(_, calls)| *calls).unwrap_or_else(|| {
                let calls = state.outcome.requests().filter(|call| call.actual > member.budget).count() as u64;
                over.push((member.budget, calls));
                calls
            });
            let own = (over_budget, member.never_fires);
            let place = found.iter().find(|(known, _)| *known == own).map(|(_, place)| *place).unwrap_or_else(|| {
                let mut totals = Totals { over_budget, ..state.outcome.totals.clone() };
                let never = member.never_fires.then_some(Warning::NeverFires);
                totals.warnings.extend(warnings.iter().copied().chain(never).map(|warning| (warning, 1)));
                shared.totals.push(totals);
                let place = shared.totals.len() as u32 - 1;
                found.push((own, place));
                place
            });
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
}

/// Goes on from a call up to another one, which is not made, or to the call at which the session fails; hands back how many were tried.
fn run(state: &mut State<'_>, from: usize, to: usize) -> u64 {
    let trace = state.trace;
    let mut tried = 0;
    for (index, call) in trace.calls.iter().enumerate().take(to).skip(from) {
        if state.has_ended() {
            break;
        }
        state.step(index, call, &mut |_, _| {});
        tried += 1;
    }
    tried
}

/// The limit of a trigger that is nothing but a size against a limit.
fn dial(trigger: &Trigger) -> Option<f64> {
    match trigger {
        Trigger::Level(Level { gt, ge, .. }) => dial_of(gt, ge),
        _ => None,
    }
}

fn dial_of(gt: &Option<f64>, ge: &Option<f64>) -> Option<f64> {
    gt.xor(*ge)
}

/// Are two plans the same but for their dials? What is no dial is named here, so that a new word of the vocabulary must be thought of.
fn same_frame(one: &Plan, other: &Plan) -> bool {
    let Plan { agents, window, estimator, belief, summary, reactive, rule } = one;
    let Window { default: _, reserve: _, safety_buffer } = window;
    *agents == other.agents
        && *safety_buffer == other.window.safety_buffer
        && *estimator == other.estimator
        && *belief == other.belief
        && *summary == other.summary
        && *reactive == other.reactive
        && rule.len() == other.rule.len()
        && rule.iter().zip(&other.rule).all(|(one, other)| Arc::ptr_eq(one, other) || same_rule_frame(one, other))
}

fn same_rule_frame(one: &Rule, two: &Rule) -> bool {
    if one.at == Hook::Ingest {
        return one == two;
    }
    let Rule { id, at, condition, attempt, when, select: _, mask, truncate, drop, summarise, inject, .. } = one;
    let Rule { min_saving, min_progress, min_messages, no_inflate, max_fires, latch_on_fail, mode, otherwise, event, .. } = one;
    let guard = |guard: &Option<MinSaving>| guard.as_ref().map(|guard| (guard.basis, guard.cmp));
    (id, at, condition, attempt) == (&two.id, &two.at, &two.condition, &two.attempt)
        && same_trigger_frame(when.as_ref(), two.when.as_ref())
        && (mask, truncate, drop, summarise, inject) == (&two.mask, &two.truncate, &two.drop, &two.summarise, &two.inject)
        && guard(min_saving) == guard(&two.min_saving)
        && min_progress.is_some() == two.min_progress.is_some()
        && min_messages.is_some() == two.min_messages.is_some()
        && (no_inflate, max_fires, latch_on_fail) == (&two.no_inflate, &two.max_fires, &two.latch_on_fail)
        && (mode, otherwise, event) == (&two.mode, &two.otherwise, &two.event)
}

fn same_trigger_frame(one: Option<&Trigger>, other: Option<&Trigger>) -> bool {
    match (one, other) {
        (Some(Trigger::Level(Level { of, gt, ge })), Some(Trigger::Level(level))) if dial_of(gt, ge).is_some() => {
            *of == level.of && gt.is_some() == level.gt.is_some() && ge.is_some() == level.ge.is_some()
        }
        _ => one == other,
    }
}

/// Do two rules of one family do the same wherever they fire?
fn same_deed(one: &Rule, other: &Rule) -> bool {
    one.select == other.select
        && one.min_saving == other.min_saving
        && one.min_progress == other.min_progress
        && one.min_messages == other.min_messages
}

/// The numbers in a deed, mixed into one: two deeds in which it differs are not the same. Those that are most often varied are enough.
fn mixed_numbers_of(rule: &Rule) -> u64 {
    let guards = [
        rule.min_saving.as_ref().map_or(0, |guard| guard.tokens),
        rule.min_progress.map_or(0, f64::to_bits),
        rule.min_messages.unwrap_or(0),
    ];
    let ends = rule.select.tail.iter().chain(&rule.select.head).map(|end| end.n.to_bits());
    guards.into_iter().chain(ends).fold(0, |mixed: u64, number| (mixed.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
