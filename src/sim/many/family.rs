//! Settings that differ in nothing but *dials*: limits of triggers, selections, guards, the output reserve that they are judged by.

use crate::policy::{Hook, Level, MinSaving, Plan, Rule, Trigger, Window};
use crate::sim::conditions::Conditions;
use crate::sim::warning::never_fires;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings that differ in their dials alone.
pub(super) struct Family<'a> {
    pub conditions: &'a Conditions,
    pub members: Vec<Member<'a>>,
    /// By rule: a number for each member, the same for those whose rule does the same wherever it fires.
    actions: Vec<Vec<u32>>,
}

/// One setting.
pub(super) struct Member<'a> {
    pub setting: usize,
    pub plan: &'a Plan,
    /// By rule: the limit of its trigger, where that is a dial.
    limits: Vec<Option<f64>>,
    /// Above this many tokens a call is over budget.
    pub budget: u64,
    pub never_fires: bool,
}

impl<'a> Family<'a> {
    /// A family of one.
    pub fn new(conditions: &'a Conditions, first: Member<'a>) -> Family<'a> {
        Family { conditions, members: vec![first], actions: Vec::new() }
    }

    /// Does a setting belong to it?
    pub fn takes(&self, plan: &Plan, conditions: &Conditions) -> bool {
        self.conditions == conditions && self.members.first().is_some_and(|first| same_frame(first.plan, plan))
    }

    pub fn rules(&self) -> usize {
        self.actions.len()
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
    pub fn actions(&self, rule: usize, leader: u32, members: &[u32]) -> Vec<Vec<u32>> {
        let Some(actions) = self.actions.get(rule) else { return Vec::new() };
        let action = |member: u32| actions.get(member as usize).copied();
        let mut others: Vec<u32> = members.iter().copied().filter(|member| action(*member) != action(leader)).collect();
        others.sort_by_key(|member| action(*member));
        others.chunk_by(|one, other| action(*one) == action(*other)).map(<[u32]>::to_vec).collect()
    }

    /// All members are known.
    pub fn compare_actions(&mut self) {
        let rules = self.members.first().map_or(0, |member| member.plan.rule.len());
        for rule in 0..rules {
            // Actions by the numbers in them, and a number for each of those that differ.
            let mut known: BTreeMap<u64, Vec<(&Rule, u32)>> = BTreeMap::new();
            let mut numbers = 0;
            let mut number = |rule: &'a Rule| {
                let alike = known.entry(mixed_numbers_of(rule)).or_default();
                let found = alike.iter().find(|(known, _)| same_action(known, rule)).map(|(_, number)| *number);
                found.unwrap_or_else(|| {
                    numbers += 1;
                    alike.push((rule, numbers));
                    numbers
                })
            };
            let actions = self.members.iter().map(|member| member.plan.rule.get(rule).map_or(0, |rule| number(rule)));
            self.actions.push(actions.collect());
        }
    }

    /// The leader is the one with the highest limits: it goes furthest before it acts.
    pub fn choose(&self, mut members: Vec<u32>) -> Option<(u32, Vec<u32>)> {
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
}

impl<'a> Member<'a> {
    /// A setting, by its place among all.
    pub fn new(setting: usize, plan: &'a Plan, conditions: &Conditions) -> Member<'a> {
        let limits = plan.rule.iter().map(|rule| rule.when.as_ref().and_then(dial)).collect();
        let budget = conditions.budget(plan.window.reserve);
        Member { setting, plan, limits, budget, never_fires: never_fires(plan, conditions) }
    }
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
    let Rule { id, at, after, condition, attempt, when, select: _, mask, truncate, drop, summarise, inject, .. } = one;
    let Rule {
        min_saving, min_progress, min_messages, no_inflate, max_fires, give_up_after, refuse, delay, mode, otherwise, event, ..
    } = one;
    let guard = |guard: &Option<MinSaving>| guard.as_ref().map(|guard| (guard.basis, guard.cmp));
    (id, at, after, delay, condition, attempt) == (&two.id, &two.at, &two.after, &two.delay, &two.condition, &two.attempt)
        && same_trigger_frame(when.as_ref(), two.when.as_ref())
        && (mask, truncate, drop, summarise, inject) == (&two.mask, &two.truncate, &two.drop, &two.summarise, &two.inject)
        && guard(min_saving) == guard(&two.min_saving)
        && min_progress.is_some() == two.min_progress.is_some()
        && min_messages.is_some() == two.min_messages.is_some()
        && (no_inflate, max_fires, give_up_after, refuse) == (&two.no_inflate, &two.max_fires, &two.give_up_after, &two.refuse)
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
fn same_action(one: &Rule, other: &Rule) -> bool {
    one.select == other.select
        && one.min_saving == other.min_saving
        && one.min_progress == other.min_progress
        && one.min_messages == other.min_messages
}

/// The numbers in a action, mixed into one: two actions in which it differs are not the same. Those that are most often varied are enough.
fn mixed_numbers_of(rule: &Rule) -> u64 {
    let guards = [
        rule.min_saving.as_ref().map_or(0, |guard| guard.tokens),
        rule.min_progress.map_or(0, f64::to_bits),
        rule.min_messages.unwrap_or(0),
    ];
    let ends = rule.select.tail.iter().chain(&rule.select.head).map(|end| end.n.to_bits());
    guards.into_iter().chain(ends).fold(0, |mixed: u64, number| (mixed.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
