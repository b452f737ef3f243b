//! A policy before a conversation that stands still: each of its rules can be asked and run by itself, by the code of a replay.

use super::intake::whole_item;
use super::outcome::Outcome;
use super::state::{Conditions, Memory, State};
use crate::context::{Arrival, Context, Ends, Item, Replacement, State as ItemState};
use crate::policy::{Hook, Measure, Plan, Rule, Verdict};
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
pub struct Stand<'a> {
    state: State<'a>,
}

impl<'a> Stand<'a> {
    /// Nothing has entered yet.
    pub fn new(trace: &'a Trace, plan: &'a Plan, conditions: &'a Conditions) -> Stand<'a> {
        Stand { state: State::new(trace, plan, conditions) }
    }

    /// Every message of the trace has entered through the ingestion limits; no other rule has run.
    pub fn with_all(trace: &'a Trace, plan: &'a Plan, conditions: &'a Conditions) -> Stand<'a> {
        let mut stand = Stand::new(trace, plan, conditions);
        (0..trace.messages.len() as u32).for_each(|message| stand.enter(message, Standing::Recorded));
        stand
    }

    /// A message enters.
    pub fn enter(&mut self, message: u32, standing: Standing) {
        let state = &mut self.state;
        match (standing, state.trace.messages.get(message as usize)) {
            (Standing::Summary | Standing::SummaryInFront, Some(row)) => {
                let parts = state.trace.parts_of(row).iter().enumerate();
                let gauge = state.gauge();
                let item = |(offset, part): (usize, _)| whole_item(&gauge, row, part, row.first_part + offset as u32);
                let items: Vec<Item> = parts.map(item).collect();
                let arrival =
                    Arrival { message: Some(message), role: row.role, opens_turn: false, is_summary: true, unseen: false, call: 0 };
                let at = (standing == Standing::SummaryInFront).then(|| state.context.after_system());
                state.context.push(arrival, items, at);
            }
            _ => {
                let id = state.push(message);
                state.pending += state.context.entry(id).map_or(0, |entry| entry.estimated);
            }
        }
        state.next_message = message + 1;
    }

    /// The last reply has just entered: the provider reported this prompt and this output for it.
    pub fn report(&mut self, usage: Option<(u64, u64)>) {
        self.state.usage = usage;
        self.state.pending = 0;
        let last = self.state.context.live().last().map(|(id, _)| id);
        if let (Some(id), Some((prompt, output))) = (last, usage) {
            self.state.context.note_usage(id, prompt + output);
        }
    }

    /// A user message of so many estimated tokens is about to enter.
    pub fn expect(&mut self, estimated: u64) {
        self.state.incoming = estimated;
    }

    /// An item has been masked before.
    pub fn mask(&mut self, item: u32) {
        if let Some(old) = self.state.context.item(item).cloned() {
            let ends = Ends::default();
            let by = Replacement { state: ItemState::Masked, ends, guess: old.guess, alone: old.alone, actual: old.actual };
            self.state.context.replace(item, by);
        }
    }

    /// What the trigger of a rule says; it always fires where the rule has none. `None` where there is no such rule.
    pub fn verdict(&self, rule: &str) -> Option<Verdict> {
        let (_, rule) = self.find(rule)?;
        let always = Verdict { fires: true, ..Verdict::default() };
        Some(rule.when.as_ref().map_or(always, |trigger| trigger.evaluate(&self.state.sight(&Memory::default()))))
    }

    /// A size as the policy sees it; `None` where it does not know it.
    pub fn measure(&self, measure: Measure) -> Option<u64> {
        measure.of(&self.state.sight(&Memory::default()))
    }

    /// Runs a rule: trigger, guards, action. Says whether anything changed.
    pub fn run(&mut self, rule: &str) -> bool {
        self.find(rule).is_some_and(|(index, rule)| self.state.run(index, rule))
    }

    /// Runs a rule as if its trigger had fired, as a person asks for it.
    pub fn force(&mut self, rule: &str) -> bool {
        let Some((index, rule)) = self.find(rule) else { return false };
        let rule = Rule { when: None, ..rule.clone() };
        self.state.run(index, &rule)
    }

    /// Runs all rules of one place in the loop, in order.
    pub fn checkpoint(&mut self, hook: Hook) {
        self.state.checkpoint(hook);
    }

    /// The context that the next request is made of.
    pub fn context(&self) -> &Context {
        &self.state.context
    }

    /// The context that comes back after this request: another one where a rule's work is for the request alone.
    pub fn stored(&self) -> &Context {
        self.state.aside.as_ref().or(self.state.aside_for_turn.as_ref()).map_or(&self.state.context, |aside| &aside.context)
    }

    /// What has been written down.
    pub fn outcome(&self) -> &Outcome {
        &self.state.outcome
    }

    fn find(&self, rule: &str) -> Option<(usize, &'a Rule)> {
        let plan: &'a Plan = self.state.plan;
        plan.rule.iter().map(Arc::as_ref).enumerate().find(|(_, known)| known.id == rule)
    }
}
