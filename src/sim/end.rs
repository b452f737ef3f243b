//! THE END OF A SESSION THAT A POLICY FAILS: the call at which a refusal stands that nothing mended. The run goes on behind it, but what it
//! comes to there is kept apart.

use super::outcome::{CallOutcome, Carried, EventKind, Outcome, SummaryCall, Totals};
use super::references::{Broken, Fates};
use super::refetch::Refetch;
use super::state::State;
use crate::trace::Evidence;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What a replay comes to behind the call at which its session fails, summed. No other figure holds any of it. The failed call itself is
/// not among these calls either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterEnd {
    /// Calls that the log holds behind the failed one.
    pub calls: u64,
    /// Their prompts.
    pub prompt_tokens: u64,
    /// Their replies.
    pub output_tokens: u64,
    /// Those whose prompt is larger than the provider accepts.
    pub overflows: u64,
    /// Compactions and resets.
    pub compactions: u64,
    /// Prunings.
    pub prunes: u64,
}

impl AfterEnd {
    /// These figures of a run as far as it has gone.
    fn of(totals: &Totals) -> AfterEnd {
        AfterEnd {
            calls: totals.calls,
            prompt_tokens: totals.prompt_tokens,
            output_tokens: totals.output_tokens,
            overflows: totals.overflows,
            compactions: totals.events_of(EventKind::Compact) + totals.events_of(EventKind::Reset),
            prunes: totals.events_of(EventKind::Prune),
        }
    }

    /// What has been added since.
    fn since(self, before: AfterEnd) -> AfterEnd {
        AfterEnd {
            calls: self.calls - before.calls,
            prompt_tokens: self.prompt_tokens - before.prompt_tokens,
            output_tokens: self.output_tokens - before.output_tokens,
            overflows: self.overflows - before.overflows,
            compactions: self.compactions - before.compactions,
            prunes: self.prunes - before.prunes,
        }
    }
}

impl AddAssign for AfterEnd {
    fn add_assign(&mut self, other: AfterEnd) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.output_tokens += other.output_tokens;
        self.overflows += other.overflows;
        self.compactions += other.compactions;
        self.prunes += other.prunes;
    }
}

/// The requests of a replay behind the call at which its session fails. Empty where it reaches its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behind {
    /// A row for each call behind the failed one.
    pub calls: Vec<CallOutcome>,
    /// The summariser's own requests.
    pub summaries: Vec<SummaryCall>,
    /// What was read again.
    pub refetches: Vec<Refetch>,
}

/// What a run had come to when its session failed.
#[derive(Clone)]
pub(super) struct End {
    /// The failed call.
    pub call: usize,
    /// All that counts: the failed call's refusals, and nothing of its request.
    totals: Totals,
    broken: Vec<Broken>,
    broken_by: BTreeMap<(Evidence, u32), Fates>,
    tools: Vec<Carried>,
    notes: usize,
    summaries: usize,
    refetches: usize,
    /// Sums with the failed call among them, as the run goes on with it.
    behind_from: AfterEnd,
}

impl State<'_> {
    /// Has the session ended before its last recorded call?
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// The call at hand fails: what has been written down so far is what counts.
    pub fn end_here(&mut self) {
        self.end = Some(Box::new(End {
            call: self.index,
            totals: self.outcome.totals.clone(),
            broken: self.outcome.broken.clone(),
            broken_by: self.broken_by.clone(),
            tools: self.tools.clone(),
            notes: self.notes.len(),
            summaries: self.outcome.summaries.len(),
            refetches: self.outcome.refetches.len(),
            behind_from: AfterEnd::default(),
        }));
    }

    /// The failed call has been added up like any other: what follows is behind the end.
    pub fn behind_here(&mut self) {
        let index = self.index;
        if let Some(end) = self.end.as_mut().filter(|end| end.call == index) {
            end.behind_from = AfterEnd::of(&self.outcome.totals);
        }
    }

    /// The run is over. Where the session failed, what counts is what had been written down then.
    pub fn close(&mut self) {
        if let Some(end) = self.end.take() {
            let behind = AfterEnd::of(&self.outcome.totals).since(end.behind_from);
            let outcome = &mut self.outcome;
            outcome.totals = Totals { after_end: behind, ..end.totals };
            outcome.broken = end.broken;
            let cut = |length: usize, whole: usize| length.min(whole);
            outcome.behind = Behind {
                calls: outcome.calls.split_off(cut(end.call + 1, outcome.calls.len())),
                summaries: outcome.summaries.split_off(cut(end.summaries, outcome.summaries.len())),
                refetches: outcome.refetches.split_off(cut(end.refetches, outcome.refetches.len())),
            };
            self.broken_by = end.broken_by;
            self.tools = end.tools;
            self.notes.truncate(end.notes);
        }
        self.judge_all();
        self.compare();
    }
}

impl Outcome {
    /// The call at which the policy fails the session, from 0: it has the last row of `calls`. `None` where the session reaches its end.
    pub fn ended_at(&self) -> Option<usize> {
        self.calls.last().filter(|row| row.unrecovered).map(|_| self.calls.len() - 1)
    }

    /// The calls that the provider answered: all rows but that of a failed call.
    pub fn answered(&self) -> &[CallOutcome] {
        self.calls.get(..self.ended_at().unwrap_or(self.calls.len())).unwrap_or_default()
    }
}
