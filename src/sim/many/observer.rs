//! Who looks on while one setting of a batch leads: wherever the leader's plan is asked, the others are asked too.

use super::cuts::Cuts;
use super::decision::{Decision, Known, lead_alike};
use super::delta::Delta;
use super::deltas::{Deltas, Said};
use super::family::Family;
use crate::policy::{Action, NoInflate, Rule, Trigger, Verdict};
use crate::sim::belief::Look;
use crate::sim::candidates::Candidates;
use crate::sim::event::Cause;
use crate::sim::guard::leaves_all;
use crate::sim::observer::Observer;
use crate::sim::outcome::CallOutcome;
use crate::sim::state::State;
use crate::trace::CallRow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The settings that have acted like their leader so far, and those that have parted from it.
pub(super) struct BatchObserver<'a, 'c> {
    family: &'a Family<'a>,
    company: Company,
    pub deltas: Deltas<'c>,
}

/// Who has parted from a leader, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parted {
    /// The place of the call, from 0.
    pub call: usize,
    pub member: u32,
    /// Does it act at this call, in another context than the leader and others do? Then it goes on with those of its class alone.
    pub apart: bool,
}

/// The settings that go with a leader.
#[derive(Clone)]
pub(super) struct Company {
    /// By place in the family, from that of the first of them to that of the last: does it still go with the leader?
    present: Vec<bool>,
    first: u32,
    /// By rule: the limits of all settings' triggers.
    limits: Vec<Limits>,
    /// By rule: settings whose trigger differs from the leader's in more than the limit of a size, by what it is.
    triggers: Vec<Arc<Vec<Vec<u32>>>>,
    /// By rule: settings by what the rule does, the leader's class not among them. Shared until one of them parts.
    actions: Vec<Arc<Vec<Vec<u32>>>>,
    /// Who has parted, in the order of calls.
    parted: Vec<Parted>,
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
    pub fn of(family: &Family<'_>, cuts: &Cuts, members: Vec<u32>) -> Option<(u32, Company)> {
        let class = |member: u32| cuts.class_of(family.ingest(member));
        let (leader, others) = family.choose(members, |member| cuts.weight(class(member)))?;
        let led: Vec<u32> = others.iter().copied().filter(|member| class(*member) == class(leader)).collect();
        Some((leader, Company::new(family, leader, &others, &led)))
    }

    /// `led` are those others to whom messages come as they come to the leader.
    fn new(family: &Family<'_>, leader: u32, others: &[u32], led: &[u32]) -> Company {
        let first = others.iter().min().copied().unwrap_or(0);
        let mut present = vec![false; others.iter().max().map_or(0, |last| (last - first) as usize + 1)];
        for member in others {
            if let Some(present) = present.get_mut((member - first) as usize) {
                *present = true;
            }
        }
        let triggers: Vec<_> = (0..family.rules()).map(|rule| Arc::new(family.other_triggers(rule, leader, led))).collect();
        let by_limit = |(rule, apart): (usize, &Arc<Vec<Vec<u32>>>)| Limits::new(family, rule, led, apart);
        let limits = triggers.iter().enumerate().map(by_limit).collect();
        let actions = (0..family.rules()).map(|rule| Arc::new(family.actions(rule, leader, others))).collect();
        Company { present, first, limits, triggers, actions, parted: Vec::new() }
    }

    /// Does no setting go with the leader?
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// Those who go with the leader.
    pub fn members(&self) -> Vec<u32> {
        self.present.iter().zip(self.first..).filter(|(present, _)| **present).map(|(_, member)| member).collect()
    }

    fn has(&self, member: u32) -> bool {
        member.checked_sub(self.first).is_some_and(|place| self.present.get(place as usize) == Some(&true))
    }

    fn part(&mut self, call: usize, member: u32) {
        self.leave(Parted { call, member, apart: false });
    }

    fn leave(&mut self, parted: Parted) {
        if self.has(parted.member)
            && let Some(present) = self.present.get_mut((parted.member - self.first) as usize)
        {
            *present = false;
            self.parted.push(parted);
        }
    }
}

impl<'a, 'c> BatchObserver<'a, 'c> {
    /// Looks on while these go with their leader.
    pub fn new(family: &'a Family<'a>, company: Company, deltas: Deltas<'c>) -> BatchObserver<'a, 'c> {
        BatchObserver { family, company, deltas }
    }

    /// The classes of which this holds part at this call.
    fn part_classes(&mut self, state: &State<'_>, parts: impl Fn(&Delta) -> bool, apart: impl Fn(&Delta) -> bool) {
        let call = state.window.index;
        for delta in self.deltas.all.iter().filter(|delta| parts(delta)) {
            let apart = apart(delta);
            delta.members.iter().for_each(|member| self.company.leave(Parted { call, member: *member, apart }));
        }
        self.drop_classes();
    }

    /// A rule acts: the classes part for which it would act upon other sizes. They go on where it masks or cuts nothing, whatever the sizes are.
    fn part_where_sizes_count(&mut self, state: &mut State<'a>, index: usize) {
        let rule = state.inputs.plan.rule.get(index).map(Arc::as_ref);
        // Where a rewind has taken back what differed, the last prompt differs still.
        let by_usage = rule.is_some_and(|rule| rule.no_inflate == NoInflate::UsageIn);
        let counts = |delta: &Delta| delta.differing > 0 || (by_usage && delta.beliefs.usage != 0);
        if !self.deltas.all.iter().any(counts) {
            return;
        }
        let looking = rule.filter(|rule| matches!(rule.action(), Some(Action::Mask(_) | Action::Truncate(_))));
        if let Some(rule) = looking {
            self.deltas.measure(state, &rule.select);
        }
        let family = self.family;
        let nothing = |delta: &Delta, none: &dyn Fn(&Rule, u64) -> bool| {
            let Some((led, more)) = looking.and_then(|rule| Some((rule, delta.larger_for(&rule.select)?))) else { return false };
            // Each by its own rule: what its ends keep and what it must save may be dials as well.
            none(led, more) && delta.members.iter().all(|member| family.rule(*member, index).is_some_and(|rule| none(rule, more)))
        };
        let view = state.window.context.view();
        let leaves = |rule: &Rule, more: u64| leaves_all(rule, view, more);
        if self.deltas.all.iter().all(|delta| !counts(delta) || nothing(delta, &leaves)) {
            return;
        }
        let State { inputs, window, .. } = &mut *state;
        let found = looking.and_then(|rule| window.find(inputs, index, rule, rule.mask.as_ref()?));
        let found = found.and_then(|place| state.window.candidates(place));
        let view = state.window.context.view();
        let none = |rule: &Rule, more: u64| {
            let followed = |found: &Candidates<'_>| found.serves(index, &rule.select) && found.replaces_none_with(rule, more);
            leaves_all(rule, view, more) || found.is_some_and(followed)
        };
        self.part_classes(state, |delta| counts(delta) && !nothing(delta, &none), |_| true);
    }

    /// Classes without a setting that is left are followed no more.
    fn drop_classes(&mut self) {
        let company = &self.company;
        self.deltas.all.retain(|delta| delta.members.iter().any(|member| company.has(*member)));
    }

    /// Those who have gone with the leader to the end.
    pub fn faithful(&self) -> Vec<u32> {
        self.company.members()
    }

    /// Who has parted, and at which call, in order.
    pub fn parted(&self) -> &[Parted] {
        &self.company.parted
    }
}

impl<'a> Observer<'a> for BatchObserver<'a, '_> {
    /// Does the trigger speak for the others as it does for the leader? And would a shrinking be as early?
    fn verdict(&mut self, state: &State<'a>, rule: usize, verdict: &Verdict, before: u64) {
        let Some(trigger) = state.inputs.plan.rule.get(rule).and_then(|rule| rule.when.as_ref()).filter(|_| !state.waits_for(rule)) else {
            return;
        };
        let reach = before as f64 + state.inputs.plan.window.safety_buffer as f64;
        let strict = self.family.strict(rule);
        let mut parting = Vec::new();
        if let Some((level, limits)) = verdict.level.zip(self.company.limits.get_mut(rule)) {
            // What reaches its limit and is not above it in truth is early. No setting is where the truth is above the estimate.
            let early = verdict.fires && reach < level.size;
            let decides = || trigger.fires_at(&state.sight(rule), !level.reached) != verdict.fires;
            if early || matches!(trigger, Trigger::Level(_)) || decides() {
                let size = level.size;
                limits.keep(level.limit, |limit| if strict { size > limit } else { size >= limit }, &mut parting);
            }
            if early {
                limits.keep(level.limit, |limit| reach >= limit, &mut parting);
            }
        }
        for others in self.company.triggers.get(rule).into_iter().flat_map(|others| others.iter()) {
            // Some of them may have parted by now, for whatever reason.
            let Some(one) = others.iter().find(|member| self.company.has(**member)) else { continue };
            let when = self.family.rule(*one, rule).and_then(|rule| rule.when.as_ref());
            let tokens = |verdict: &Verdict| verdict.level.map(|level| level.tokens);
            let same = |said: &Verdict| tokens(verdict) == tokens(said) && says_the_same((verdict, reach), (said, reach));
            if !when.is_some_and(|when| same(&when.evaluate(&state.sight(rule)))) {
                parting.extend(others);
            }
        }
        parting.into_iter().for_each(|member| self.company.part(state.window.index, member));
        let parted = self.company.parted.len();
        let (company, call) = (&mut self.company, state.window.index);
        let mut judge = |said: &Said<'_>| {
            if !says_the_same((verdict, reach), (said.verdict, said.reach)) {
                company.leave(Parted { call, member: said.member, apart: said.differs && said.verdict.fires });
            }
        };
        self.deltas.verdict(self.family, state, rule, verdict, before, &mut judge);
        if self.company.parted.len() > parted {
            self.drop_classes();
        }
    }

    /// Would the others act upon the same? What stands in other sizes is acted upon by itself.
    fn action(&mut self, state: &mut State<'a>, rule: usize) {
        self.deltas.sync(state);
        self.part_where_sizes_count(state, rule);
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
                let cut_alike = led.truncate == other.truncate || matches!(decision, Decision::Nothing);
                cut_alike && lead_alike(&led.select, &other.select) && {
                    let others = known.decide(state, rule, other);
                    known.same(state, &decision, &others)
                }
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
    fn overflow(&mut self, state: &State<'a>, cause: Cause) {
        self.deltas.sync(state);
        self.part_classes(state, |delta| !delta.is_level(), |delta| Deltas::is_refused(state, delta));
        let Some(look) = state.belief.look else { return };
        let differs = |limit: f64| state.belief.cause(&state.inputs, Some(Look { limit, ..look })) != cause;
        let of_limits = self.company.limits.get(look.rule).and_then(|limits| limits.sorted.get(limits.low..limits.high)).unwrap_or(&[]);
        let others = self.company.triggers.get(look.rule).into_iter().flat_map(|others| others.iter().flatten());
        let others = others.chain(self.deltas.all.iter().flat_map(|delta| &delta.members));
        let others = others.filter_map(|member| Some((self.family.limit(*member, look.rule)?, *member)));
        let parting: Vec<u32> =
            of_limits.iter().copied().chain(others).filter(|(limit, _)| differs(*limit)).map(|(_, member)| member).collect();
        parting.into_iter().for_each(|member| self.company.part(state.window.index, member));
    }

    fn rewritten(&mut self, state: &State<'a>) {
        self.deltas.rewritten(state);
    }

    /// Would the others' call have been refused?
    fn made(&mut self, state: &State<'a>, row: &CallOutcome, call: &CallRow) {
        self.deltas.sync(state);
        let refused = |delta: &Delta| delta.differing > 0 && Deltas::is_refused(state, delta);
        if self.deltas.all.iter().any(refused) {
            self.part_classes(state, refused, |_| true);
        }
        self.deltas.made(state, row, call);
    }

    fn judged(&mut self, state: &State<'a>, message: u32) {
        self.deltas.judged(state, message);
    }

    fn replied(&mut self, state: &State<'a>) {
        self.deltas.replied(state);
    }
}

/// Do two triggers decide alike? Each verdict stands with its reach, the actual size and the safety buffer: a trigger that fires while its reach is
/// below its limit fires early. The size that a trigger compares with its limit counts only where a call overflows, and is read there.
fn says_the_same((one, reach): (&Verdict, f64), (other, other_reach): (&Verdict, f64)) -> bool {
    let looked = |verdict: &Verdict| verdict.level.map(|level| level.sees_pending);
    let early = |verdict: &Verdict, reach: f64| verdict.level.is_some_and(|level| level.reached && reach < level.limit);
    one.fires == other.fires && looked(one) == looked(other) && (!one.fires || early(one, reach) == early(other, other_reach))
}

/// Keeps up with what classes have beyond the leader, and asks none of their settings.
pub(super) struct Tracker<'a, 'c> {
    pub family: &'a Family<'a>,
    pub deltas: Deltas<'c>,
}

impl<'a> Observer<'a> for Tracker<'a, '_> {
    fn verdict(&mut self, state: &State<'a>, rule: usize, verdict: &Verdict, before: u64) {
        self.deltas.verdict(self.family, state, rule, verdict, before, &mut |_| {});
    }

    fn action(&mut self, state: &mut State<'a>, _rule: usize) {
        self.deltas.sync(state);
    }

    fn rewritten(&mut self, state: &State<'a>) {
        self.deltas.rewritten(state);
    }

    fn made(&mut self, state: &State<'a>, row: &CallOutcome, call: &CallRow) {
        self.deltas.made(state, row, call);
    }

    fn judged(&mut self, state: &State<'a>, message: u32) {
        self.deltas.judged(state, message);
    }

    fn replied(&mut self, state: &State<'a>) {
        self.deltas.replied(state);
    }
}

impl Limits {
    /// Those whose trigger differs in more are judged apart.
    fn new(family: &Family<'_>, rule: usize, others: &[u32], apart: &[Vec<u32>]) -> Limits {
        let apart: BTreeSet<u32> = apart.iter().flatten().copied().collect();
        let limit = |member: &u32| family.limit(*member, rule).filter(|_| !apart.contains(member)).map(|limit| (limit, *member));
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
