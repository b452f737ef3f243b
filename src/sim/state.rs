//! The state of one replay.

use super::belief::Belief;
use super::conditions::Conditions;
use super::inputs::Inputs;
use super::intake::Intake;
use super::ledger::Ledger;
use super::talk::Talk;
use super::window::Window;
use crate::policy::{Plan, Sight};
use crate::trace::{CallRow, Trace};
use std::rc::Rc;

/// What a replay is given, what it holds, and what it writes down.
#[derive(Clone)]
pub(super) struct State<'a> {
    pub inputs: Inputs<'a>,
    pub window: Window<'a>,
    pub belief: Belief,
    pub ledger: Ledger,
    /// Where in the prompt the first of the messages stood that an action has taken: texts for the head come there, behind older ones that stay.
    pub gap: Option<usize>,
    /// The conversation with the policy's program, where it has one.
    pub talk: Option<Talk>,
}

impl<'a> State<'a> {
    /// The state before the first message.
    pub fn new(trace: &'a Trace, plan: &'a Plan, conditions: &'a Conditions) -> State<'a> {
        State::with_intake(trace, plan, conditions, Rc::new(Intake::of_cut(trace, plan, conditions)))
    }

    /// As [`State::new`], where the messages have been seen before.
    pub fn with_intake(trace: &'a Trace, plan: &'a Plan, conditions: &'a Conditions, intake: Rc<Intake>) -> State<'a> {
        let inputs = Inputs::new(trace, plan, conditions, intake);
        let (window, belief, ledger) = (Window::new(&inputs), Belief::new(plan.rule.len()), Ledger::new(&inputs));
        let talk = Talk::begin(&inputs);
        State { inputs, window, belief, ledger, gap: None, talk }
    }

    /// Turns to the next call.
    pub fn turn_to(&mut self, index: usize, call: &'a CallRow) {
        (self.window.index, self.window.call, self.ledger.index) = (index, Some(call), index);
        self.begin_request();
    }

    /// What the policy can see now, for one of its rules.
    pub fn sight(&self, rule: usize) -> Sight<'_> {
        let memory = self.belief.memories.get(rule).copied().unwrap_or_default();
        self.belief.sight(&self.inputs, &self.window, self.ledger.outcome.totals.calls, &memory)
    }

    /// Is a summary on its way that this rule has asked for? Its trigger is not asked until then.
    pub fn waits_for(&self, rule: usize) -> bool {
        self.belief.prepared.as_ref().is_some_and(|prepared| prepared.rule == rule)
    }

    /// Begins another request: what was counted for the one before starts anew.
    pub fn begin_request(&mut self) {
        self.ledger.largest_arrival = None;
        self.belief.memories.iter_mut().for_each(|memory| memory.in_call = 0);
    }

    /// The policy, or the recording, has rewritten the history.
    pub fn rewritten(&mut self) {
        self.belief.rewritten(self.inputs.plan, &self.window);
    }
}
