//! A policy before a conversation that stands still: each of its rules can be asked and run by itself, by the code of a replay.

use super::arrive::enter;
use super::belief::Memory;
use super::checkpoint::{checkpoint, run};
use super::conditions::Conditions;
use super::intake::whole_item;
use super::outcome::Outcome;
use super::state::State;
use crate::context::{Arrival, Context, Ends, Item, State as ItemState};
use crate::policy::{Hook, Measure, Plan, Rule, Sight, Verdict};
use crate::trace::Trace;
use std::sync::Arc;

/// How a message of the trace stands in the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// As what it was recorded as.
    #[default]
    Recorded,
    /// As a summary that the policy has made before.
    Summary,
    /// As such a summary, in front of the messages that its compaction kept: they have entered already.
    SummaryInFront,
}

/// A conversation at one moment, and a policy that looks at it.
pub struct Probe<'a> {
    state: State<'a>,
}

impl<'a> Probe<'a> {
    /// The policy before an empty context.
    pub fn new(trace: &'a Trace, plan: &'a Plan, conditions: &'a Conditions) -> Probe<'a> {
        Probe { state: State::new(trace, plan, conditions) }
    }

    /// A message of the trace enters the context, as it was recorded or as a summary.
    pub fn enter(&mut self, message: u32, standing: Standing) {
        let State { inputs, window, .. } = &mut self.state;
        if let Some(row) = inputs.message(message).filter(|_| standing != Standing::Recorded) {
            let parts = inputs.trace.parts_of(row).enumerate();
            let gauge = inputs.gauge();
            let items: Vec<Item> = parts.map(|(offset, part)| whole_item(&gauge, row, &part, row.first_part + offset as u32)).collect();
            let arrival = Arrival { message: Some(message), role: row.role, opens_turn: false, is_summary: true, unseen: false, call: 0 };
            let at = (standing == Standing::SummaryInFront).then(|| window.context.after_system());
            window.context.push(arrival, items, at);
        } else {
            let id = enter(&mut self.state, message);
            let State { window, belief, .. } = &mut self.state;
            belief.pending += window.context.estimate_of(id);
        }
        self.state.window.next_message = message + 1;
    }

    /// The last reply has just entered: the provider reported this prompt and this output for it.
    pub fn report(&mut self, usage: Option<(u64, u64)>) {
        let State { window, belief, .. } = &mut self.state;
        (belief.usage, belief.pending) = (usage, 0);
        if let Some(id) = window.context.live().last().map(|(id, _)| id) {
            window.note_usage(id, belief.reported());
        }
    }

    /// A user message of so many estimated tokens is about to enter.
    pub fn expect(&mut self, estimated: u64) {
        self.state.belief.incoming = estimated;
    }

    /// An item has been masked before.
    pub fn mask(&mut self, item: u32) {
        let context = &mut self.state.window.context;
        if let Some(old) = context.item(item) {
            context.replace(item, old.replacement(ItemState::Masked, Ends::default()));
        }
    }

    /// What the trigger of a rule says; it always fires where the rule has none. `None` where there is no such rule.
    pub fn verdict(&self, rule: &str) -> Option<Verdict> {
        let (_, rule) = self.find(rule)?;
        let always = Verdict { fires: true, ..Verdict::default() };
        Some(rule.when.as_ref().map_or(always, |trigger| trigger.evaluate(&self.sight())))
    }

    /// A size as the policy sees it; `None` where it does not know it.
    pub fn measure(&self, measure: Measure) -> Option<u64> {
        measure.of(&self.sight())
    }

    /// Runs a rule: trigger, guards, action. Says whether anything changed.
    pub fn run(&mut self, rule: &str) -> bool {
        self.find(rule).is_some_and(|(index, rule)| run(&mut self.state, &mut (), index, rule))
    }

    /// Runs a rule as if its trigger had fired, as a person asks for it.
    pub fn force(&mut self, rule: &str) -> bool {
        let Some((index, rule)) = self.find(rule) else { return false };
        let rule = Rule { when: None, ..rule.clone() };
        run(&mut self.state, &mut (), index, &rule)
    }

    /// Runs all rules of one place in the loop, in order.
    pub fn checkpoint(&mut self, hook: Hook) {
        checkpoint(&mut self.state, &mut (), hook);
    }

    /// The context that the next request is made of.
    pub fn context(&self) -> &Context {
        &self.state.window.context
    }

    /// The context that comes back after this request: another one where a rule's work is for the request alone.
    pub fn stored(&self) -> &Context {
        self.state.window.stored()
    }

    /// The outcome as far as the replay has written it down.
    pub fn outcome(&self) -> &Outcome {
        &self.state.ledger.outcome
    }

    fn sight(&self) -> Sight<'_> {
        let State { inputs, window, belief, ledger, .. } = &self.state;
        belief.sight(inputs, window, ledger.outcome.totals.calls, &Memory::default())
    }

    fn find(&self, rule: &str) -> Option<(usize, &'a Rule)> {
        let plan: &'a Plan = self.state.inputs.plan;
        plan.rule.iter().map(Arc::as_ref).enumerate().find(|(_, known)| known.id == rule)
    }
}
