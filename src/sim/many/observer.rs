//! Who looks on while one setting of a batch leads: wherever the leader's plan is asked, the others are asked too.

use super::decision::{Known, lead_alike};
use super::family::Family;
use crate::policy::Verdict;
use crate::sim::belief::Look;
use crate::sim::event::Cause;
use crate::sim::observer::Observer;
use crate::sim::state::State;
use std::sync::Arc;

/// The settings that have acted like their leader so far, and those that have parted from it.
pub(super) struct BatchObserver<'a> {
    family: &'a Family<'a>,
    company: Company,
}

/// Those who go with a leader.
#[derive(Clone)]
pub(super) struct Company {
    /// By place in the family: does it still go with the leader?
    present: Vec<bool>,
    /// By rule.
    limits: Vec<Limits>,
    /// By rule: settings by what the rule does, the leader's class not among them. Shared until one of them parts.
    actions: Vec<Arc<Vec<Vec<u32>>>>,
    /// Who has parted, and at which call, in order.
    parted: Vec<(usize, u32)>,
}

/// The limits of one rule, and to whom they belong, from the lowest to the highest. Those outside of `low..high` have parted.
#[derive(Clone)]
struct Limits {
    sorted: Arc<[(f64, u32)]>,
    low: usize,
    high: usize,
}

impl Company {
    /// The leader of these members of a family, and those who go with it.
    pub fn of(family: &Family<'_>, members: Vec<u32>) -> Option<(u32, Company)> {
        let (leader, others) = family.choose(members)?;
        Some((leader, Company::new(family, leader, &others)))
    }

    fn new(family: &Family<'_>, leader: u32, others: &[u32]) -> Company {
        let mut present = vec![false; if others.is_empty() { 0 } else { family.members.len() }];
        for member in others {
            if let Some(present) = present.get_mut(*member as usize) {
                *present = true;
            }
        }
        let limits = (0..family.rules()).map(|rule| Limits::new(family, rule, others)).collect();
        let actions = (0..family.rules()).map(|rule| Arc::new(family.actions(rule, leader, others))).collect();
        Company { present, limits, actions, parted: Vec::new() }
    }

    /// Does no setting go with the leader?
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    fn has(&self, member: u32) -> bool {
        self.present.get(member as usize) == Some(&true)
    }

    fn part(&mut self, call: usize, member: u32) {
        if let Some(present) = self.present.get_mut(member as usize).filter(|present| **present) {
            *present = false;
            self.parted.push((call, member));
        }
    }
}

impl<'a> BatchObserver<'a> {
    /// Looks on while these go with their leader.
    pub fn new(family: &'a Family<'a>, company: Company) -> BatchObserver<'a> {
        BatchObserver { family, company }
    }

    /// Those who have gone with the leader to the end.
    pub fn faithful(&self) -> impl Iterator<Item = u32> + '_ {
        self.company.present.iter().zip(0..).filter(|(present, _)| **present).map(|(_, member)| member)
    }

    /// Who has parted, and at which call, in order.
    pub fn parted(&self) -> &[(usize, u32)] {
        &self.company.parted
    }
}

impl<'a> Observer<'a> for BatchObserver<'a> {
    /// Is the limit reached for the others as it is for the leader? And would a shrinking be as early?
    fn verdict(&mut self, state: &State<'_>, rule: usize, verdict: &Verdict, before: u64) {
        let Some(level) = verdict.level else { return };
        let strict = self.family.strict(rule);
        let Some(limits) = self.company.limits.get_mut(rule) else { return };
        let tokens = level.size;
        let mut parting = Vec::new();
        limits.keep(level.limit, |limit| if strict { tokens > limit } else { tokens >= limit }, &mut parting);
        if verdict.fires {
            let reach = before as f64 + state.inputs.plan.window.safety_buffer as f64;
            limits.keep(level.limit, |limit| reach >= limit, &mut parting);
        }
        parting.into_iter().for_each(|member| self.company.part(state.window.index, member));
    }

    /// Would the others act upon the same?
    fn action(&mut self, state: &mut State<'a>, rule: usize) {
        let Some(classes) = self.company.actions.get(rule).map(Arc::clone) else { return };
        let Some(led) = state.inputs.plan.rule.get(rule).filter(|_| !classes.is_empty()) else { return };
        let mut known = Known::default();
        let decision = known.decide(state, rule, led);
        let mut gone = false;
        for class in classes.iter() {
            // Some of the class may have parted by now, for whatever reason.
            let Some(one) = class.iter().find(|member| self.company.has(**member)) else {
                gone = true;
                continue;
            };
            let same = self.family.rule(*one, rule).is_some_and(|other| {
                let others = known.decide(state, rule, other);
                lead_alike(&led.select, &other.select) && known.same(state, &decision, &others)
            });
            if !same {
                class.iter().for_each(|member| self.company.part(state.window.index, *member));
                gone = true;
            }
        }
        if gone {
            let left = classes.iter().filter(|class| class.iter().any(|member| self.company.has(*member))).cloned().collect();
            if let Some(place) = self.company.actions.get_mut(rule) {
                *place = Arc::new(left);
            }
        }
    }

    /// Would the overflow be put down to the same cause?
    fn overflow(&mut self, state: &State<'_>, cause: Cause) {
        let Some(look) = state.belief.look else { return };
        let Some(limits) = self.company.limits.get(look.rule).and_then(|limits| limits.sorted.get(limits.low..limits.high)) else { return };
        let differs = |limit: f64| state.belief.cause(&state.inputs, Some(Look { limit, ..look })) != cause;
        let parting: Vec<u32> = limits.iter().filter(|(limit, _)| differs(*limit)).map(|(_, member)| *member).collect();
        parting.into_iter().for_each(|member| self.company.part(state.window.index, member));
    }
}

impl Limits {
    fn new(family: &Family<'_>, rule: usize, others: &[u32]) -> Limits {
        let limit = |member: &u32| family.limit(*member, rule).map(|limit| (limit, *member));
        let mut sorted: Vec<(f64, u32)> = others.iter().filter_map(limit).collect();
        sorted.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let high = sorted.len();
        Limits { sorted: sorted.into(), low: 0, high }
    }

    /// Keeps those for whose limit the test says the same as for the leader's. It holds for all limits up to some point and for none above.
    fn keep(&mut self, leader: f64, holds: impl Fn(f64) -> bool, parting: &mut Vec<u32>) {
        if holds(leader) {
            while let Some((_, member)) = self.sorted.get(self.low..self.high).and_then(<[_]>::last).filter(|last| !holds(last.0)) {
                parting.push(*member);
                self.high -= 1;
            }
        } else {
            while let Some((_, member)) = self.sorted.get(self.low..self.high).and_then(<[_]>::first).filter(|first| holds(first.0)) {
                parting.push(*member);
                self.low += 1;
            }
        }
    }
}
