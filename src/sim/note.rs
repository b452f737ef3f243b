//! Events as they are noted during a run, before names are written out.

use super::event::{Cause, Event, EventKind, Lasts};
use crate::policy::{Plan, Tally};
use crate::trace::Trace;

/// An event with places in the plan and the trace instead of names. See [`Event`].
#[derive(Clone, Copy, Debug, Default)]
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
    /// A summary was tried and came to nothing.
    pub failed: bool,
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
