//! Settings that differ in nothing but *dials*: limits of triggers, selections, guards, texts, the output reserve that they are judged by.

use crate::policy::{EndOf, Hook, MinSaving, Plan, Rule, Trigger, Truncate, Window};
use crate::sim::conditions::{Conditions, Refetching};
use crate::sim::intake::limits;
use crate::sim::warning::never_fires;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings that differ in their dials alone.
pub(super) struct Family<'a> {
    pub conditions: &'a Conditions,
    pub members: Vec<Member<'a>>,
    /// By rule: a number for each member, the same for those whose rule does the same wherever it fires.
    actions: Vec<Vec<u32>>,
    /// By rule: a number for each member, the same for those whose trigger is the same.
    triggers: Vec<Vec<u32>>,
    /// A plan for each set of ingestion limits, and their places by the numbers in them.
    ingests: Vec<&'a Plan>,
    by_limits: BTreeMap<u64, Vec<u32>>,
    /// Can settings of several sets of limits go through a session together, wherever they act alike?
    pub together: bool,
}

/// So many sets of ingestion limits go through a session together at most: each holds the texts that it cuts.
const MOST_INGESTS: usize = 256;

/// One setting of a family, with its dials.
pub(super) struct Member<'a> {
    pub setting: usize,
    pub plan: &'a Plan,
    /// By rule: the limit of its trigger, where that is a dial.
    limits: Vec<Option<f64>>,
    /// Above this many tokens a call is over budget.
    pub budget: u64,
    pub never_fires: bool,
    /// The number of its ingestion limits.
    ingest: u32,
}

impl<'a> Family<'a> {
    /// A family of one.
    pub fn new(conditions: &'a Conditions, first: Member<'a>) -> Family<'a> {
        let together = conditions.refetch == Refetching::Never && sizes_decide(first.plan);
        let (members, actions, triggers, ingests) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut family = Family { conditions, members, actions, triggers, ingests, by_limits: BTreeMap::new(), together };
        family.add(first);
        family
    }

    /// Does a setting belong to it?
    pub fn takes(&self, plan: &Plan, conditions: &Conditions) -> bool {
        let alike = self.conditions == conditions && self.members.first().is_some_and(|first| same_frame(first.plan, plan));
        alike && (self.ingests.len() < MOST_INGESTS || self.known_limits(plan).is_some())
    }

    /// A setting that belongs to it.
    pub fn add(&mut self, member: Member<'a>) {
        let plan = member.plan;
        let ingest = self.known_limits(plan).unwrap_or_else(|| {
            let number = self.ingests.len() as u32;
            self.ingests.push(plan);
            self.by_limits.entry(mixed_limits_of(plan)).or_default().push(number);
            number
        });
        self.members.push(Member { ingest, ..member });
    }

    /// The number of a plan's ingestion limits.
    fn known_limits(&self, plan: &Plan) -> Option<u32> {
        let same = |number: &&u32| self.ingests.get(**number as usize).is_some_and(|known| limits(known).eq(limits(plan)));
        self.by_limits.get(&mixed_limits_of(plan))?.iter().find(same).copied()
    }

    /// A plan for each set of ingestion limits.
    pub fn ingests(&self) -> &[&'a Plan] {
        &self.ingests
    }

    /// The number of a member's ingestion limits.
    pub fn ingest(&self, member: u32) -> u32 {
        self.members.get(member as usize).map_or(0, |member| member.ingest)
    }

    /// A number of a member's trigger, the same where the triggers are.
    pub fn trigger(&self, rule: usize, member: u32) -> u32 {
        self.triggers.get(rule).and_then(|numbers| numbers.get(member as usize)).copied().unwrap_or(0)
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
        when.and_then(Trigger::only_level).is_some_and(|level| level.gt.is_some())
    }

    /// These members by what a rule does, those that do as the leader left out.
    pub fn actions(&self, rule: usize, leader: u32, members: &[u32]) -> Vec<Vec<u32>> {
        let Some(actions) = self.actions.get(rule) else { return Vec::new() };
        let action = |member: u32| actions.get(member as usize).copied();
        let mut others: Vec<u32> = members.iter().copied().filter(|member| action(*member) != action(leader)).collect();
        others.sort_by_key(|member| action(*member));
        others.chunk_by(|one, other| action(*one) == action(*other)).map(<[u32]>::to_vec).collect()
    }

    /// Those of these members whose trigger of a rule differs from the leader's in more than the limit of a size, by what it is.
    pub fn other_triggers(&self, rule: usize, leader: u32, members: &[u32]) -> Vec<Vec<u32>> {
        let when = |member: u32| self.rule(member, rule).and_then(|rule| rule.when.as_ref());
        let Some(led) = when(leader).filter(|led| !matches!(led, Trigger::Level(_))) else { return Vec::new() };
        let mut others: Vec<(&Trigger, Vec<u32>)> = Vec::new();
        for member in members {
            let Some(when) = when(*member).filter(|when| !led.is_like(when, false)) else { continue };
            match others.iter_mut().find(|(known, _)| *known == when) {
                Some((_, alike)) => alike.push(*member),
                None => others.push((when, vec![*member])),
            }
        }
        others.into_iter().map(|(_, alike)| alike).collect()
    }

    /// All members are known.
    pub fn compare(&mut self) {
        let rules = self.members.first().map_or(0, |member| member.plan.rule.len());
        for rule in 0..rules {
            let rules = || self.members.iter().map(|member| member.plan.rule.get(rule).map(Arc::as_ref));
            let (actions, triggers) =
                (numbered(rules(), mixed_numbers_of, same_action), numbered(rules(), mixed_levels_of, |one, other| one.when == other.when));
            self.actions.push(actions);
            self.triggers.push(triggers);
        }
    }

    /// The leader is the one with the highest limits, and of these the one that lets least in: it goes furthest before it acts.
    pub fn choose(&self, mut members: Vec<u32>, weight: impl Fn(u32) -> i64) -> Option<(u32, Vec<u32>)> {
        let height = |member: u32| {
            let limits = self.members.get(member as usize).map_or(&[][..], |member| &member.limits);
            limits.iter().flatten().fold(f64::INFINITY, |lowest, limit| lowest.min(*limit))
        };
        let highest = (0..members.len()).max_by(|one, other| {
            let at = |place: usize| members.get(place).map_or((0.0, 0), |member| (height(*member), weight(*member)));
            let ((height, weight), (other_height, other_weight)) = (at(*one), at(*other));
            height.total_cmp(&other_height).then(other_weight.cmp(&weight)).then(other.cmp(one))
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
        Member { setting, plan, limits, budget, never_fires: never_fires(plan, conditions, None), ingest: 0 }
    }
}

/// The limit of a trigger that holds one size against a limit, whatever else it asks. Beside other conditions a limit of nothing is none.
fn dial(trigger: &Trigger) -> Option<f64> {
    let limit = trigger.only_level()?.limit()?;
    (limit > 0.0 || matches!(trigger, Trigger::Level(_))).then_some(limit)
}

/// Are two plans the same but for their dials? What is no dial is named here, so that a new word of the vocabulary must be thought of.
fn same_frame(one: &Plan, other: &Plan) -> bool {
    let Plan { agents, window, estimator, belief, summary, reactive, program, rule } = one;
    let Window { default: _, reserve: _, safety_buffer } = window;
    // A program talks with one session at a time: it follows no leader.
    program.is_none()
        && other.program.is_none()
        && *agents == other.agents
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
        // What arrives is cut otherwise: what that makes of a session is looked at for each.
        let frame = |rule: &Rule| Rule { truncate: None, ..rule.clone() };
        return one == two || (one.truncate.is_some() == two.truncate.is_some() && frame(one) == frame(two));
    }
    let Rule { id, at, after, condition, attempt, unless, when, select: _, mask, truncate, drop, summarise, inject, .. } = one;
    let Rule {
        min_saving,
        min_progress,
        min_messages,
        no_inflate,
        max_fires,
        give_up_after,
        give_up_with,
        refuse,
        delay,
        mode,
        otherwise,
        event,
        ..
    } = one;
    let guard = |guard: &Option<MinSaving>| guard.as_ref().map(|guard| (guard.basis, guard.cmp));
    (id, at, after, delay, condition, attempt) == (&two.id, &two.at, &two.after, &two.delay, &two.condition, &two.attempt)
        && *unless == two.unless
        && same_trigger_frame(when.as_ref(), two.when.as_ref())
        && truncate.is_some() == two.truncate.is_some()
        && (mask, drop, summarise, inject) == (&two.mask, &two.drop, &two.summarise, &two.inject)
        && guard(min_saving) == guard(&two.min_saving)
        && min_progress.is_some() == two.min_progress.is_some()
        && min_messages.is_some() == two.min_messages.is_some()
        && (no_inflate, max_fires, give_up_after, refuse) == (&two.no_inflate, &two.max_fires, &two.give_up_after, &two.refuse)
        && (mode, otherwise, event, give_up_with) == (&two.mode, &two.otherwise, &two.event, &two.give_up_with)
}

/// Of a trigger that holds several sizes against limits, none of these is a dial: which of them came nearest decides what is remembered.
fn same_trigger_frame(one: Option<&Trigger>, other: Option<&Trigger>) -> bool {
    let dials = |trigger: &Trigger| trigger.levels().is_empty() || dial(trigger).is_some();
    one == other || one.zip(other).is_some_and(|(one, other)| dials(one) && dials(other) && one.is_like(other, true))
}

/// Do two rules of one family do the same wherever they fire?
fn same_action(one: &Rule, other: &Rule) -> bool {
    one.select == other.select
        && one.min_saving == other.min_saving
        && one.min_progress == other.min_progress
        && one.min_messages == other.min_messages
        && cuts_of(one) == cuts_of(other)
}

/// The limits by which a rule cuts what has arrived.
fn cuts_of(rule: &Rule) -> Option<&Truncate> {
    rule.truncate.as_ref().filter(|_| rule.at != Hook::Ingest)
}

/// Numbers for rules, the same for those that are the same. What is mixed of them tells most of the others apart.
fn numbered<'r>(rules: impl Iterator<Item = Option<&'r Rule>>, mixed: fn(&Rule) -> u64, same: fn(&Rule, &Rule) -> bool) -> Vec<u32> {
    let mut known: BTreeMap<u64, Vec<(&Rule, u32)>> = BTreeMap::new();
    let mut numbers = 0;
    let number = |rule: Option<&'r Rule>| {
        let Some(rule) = rule else { return 0 };
        let alike = known.entry(mixed(rule)).or_default();
        let found = alike.iter().find(|(known, _)| same(known, rule)).map(|(_, number)| *number);
        found.unwrap_or_else(|| {
            numbers += 1;
            alike.push((rule, numbers));
            numbers
        })
    };
    rules.map(number).collect()
}

/// Does a plan look at nothing but sizes that have a name? What follows from the difference of two contexts is known of these alone.
fn sizes_decide(plan: &Plan) -> bool {
    let by_usage = |rule: &Arc<Rule>| rule.select.tail.iter().chain(&rule.select.head).any(|end| end.of == EndOf::Usage);
    plan.rule.iter().all(|rule| rule.when.as_ref().is_none_or(Trigger::names_its_sizes) && !by_usage(rule))
}

fn mixed(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, |mixed: u64, number| (mixed.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The numbers in ingestion limits, mixed into one: limits in which it differs are not the same. Those that are most often varied are enough.
fn mixed_limits_of(plan: &Plan) -> u64 {
    let truncates = limits(plan).filter_map(|(_, rule)| rule.truncate.as_ref());
    mixed(truncates.flat_map(numbers_of))
}

fn numbers_of(limits: &Truncate) -> [u64; 4] {
    [limits.max, limits.keep, limits.max_lines, limits.max_line_chars].map(Option::unwrap_or_default)
}

/// The same of the limits of a trigger.
fn mixed_levels_of(rule: &Rule) -> u64 {
    mixed(rule.when.iter().flat_map(Trigger::levels).map(f64::to_bits))
}

/// The numbers in an action, mixed into one: two actions in which it differs are not the same. Those that are most often varied are enough.
fn mixed_numbers_of(rule: &Rule) -> u64 {
    let guards = [
        rule.min_saving.as_ref().map_or(0, |guard| guard.tokens),
        rule.min_progress.map_or(0, f64::to_bits),
        rule.min_messages.unwrap_or(0),
    ];
    let ends = rule.select.tail.iter().chain(&rule.select.head).map(|end| end.n.to_bits());
    mixed(guards.into_iter().chain(ends).chain(cuts_of(rule).into_iter().flat_map(numbers_of)))
}
