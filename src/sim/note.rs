//! Events as they are noted during a run, before names are written out.

use super::outcome::{Cause, Event, EventKind, Lasts};
use super::state::State;
use crate::policy::{Plan, Tally};
use crate::trace::Trace;

/// An event with places in the plan and the trace instead of names. See [`Event`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub call: u32,
    pub kind: EventKind,
    pub rule: Option<usize>,
    pub belief: Option<u64>,
    pub limit: Option<u64>,
    pub count: Option<Tally>,
    pub before: u64,
    pub after: u64,
    pub touched: u32,
    pub lasts: Lasts,
    pub cause: Option<Cause>,
    pub tool: Option<u32>,
}

impl Note {
    /// The event with its names.
    pub fn event(&self, plan: &Plan, trace: &Trace) -> Event {
        let rule = self.rule.and_then(|rule| plan.rule.get(rule)).map_or_else(String::new, |rule| rule.id.clone());
        let tool = self.tool.and_then(|tool| trace.tools.get(tool as usize).cloned());
        let Note { call, kind, belief, limit, count, before, after, touched, lasts, cause, .. } = *self;
        Event { call, kind, rule, belief, limit, count, before, after, touched, lasts, cause, tool }
    }
}

impl State<'_> {
    /// An event at this call; the caller fills in the rest.
    pub fn event(&self, rule: Option<usize>) -> Note {
        let call = self.index as u32;
        let kind = EventKind::NoGain;
        let lasts = Lasts::Session;
        Note { call, kind, rule, belief: None, limit: None, count: None, before: 0, after: 0, touched: 0, lasts, cause: None, tool: None }
    }

    /// Writes an event down.
    pub fn note(&mut self, note: Note) {
        self.outcome.totals.count(note.kind);
        self.notes.push(note);
    }
}
