//! What a replay writes down: outcome, events and sums, up to the end of the session.
//!
//! A session that a policy fails ends at the call that is refused to the end. The run goes on behind it, but what it
//! comes to there is kept apart.

use super::belief::Look;
use super::drift::Drift;
use super::event::Warning;
use super::inputs::Inputs;
use super::note::Note;
use super::outcome::{Behind, CallOutcome, Outcome};
use super::request::Requests;
use super::retention::{Broken, Fates};
use super::totals::{AfterEnd, Carried, Totals};
use super::warning::{never_fires, warnings, without_gain};
use crate::context::Context;
use crate::list::Coming;
use crate::statistics::largest_remainder;
use crate::trace::{CallRow, Evidence};
use std::collections::{BTreeMap, BTreeSet};

/// How much of a run is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detail {
    /// The whole outcome: each call, the events by name, the sums.
    #[default]
    Everything,
    /// Sums, and each request with what it has in common with the one before: what a bill needs.
    Requests,
    /// Sums alone: no events by name, no ratios of estimates, no tools.
    Sums,
}

/// What has been written down so far.
#[derive(Clone, Default)]
pub(super) struct Ledger {
    pub outcome: Outcome,
    /// The rows of its calls so far.
    pub calls: Coming<CallOutcome>,
    /// How much is written down.
    pub detail: Detail,
    /// The place of the call at hand, from 0.
    pub index: usize,
    /// What the policy did, in order.
    pub notes: Vec<Note>,
    /// References before this place in the session are made by replies before the last one that was judged.
    pub next_reference: usize,
    tools: Vec<Carried>,
    /// By tool: tokens that calls carry, and the first call that is not counted yet.
    carrying: Vec<(u64, u64)>,
    /// The largest tool result since the last call.
    pub largest_arrival: Option<(u64, u32)>,
    /// The requests that have gone out.
    pub requests: Requests,
    /// Broken references by the rule that broke them.
    pub broken_by: BTreeMap<(Evidence, u32), Fates>,
    /// Parts that were read again before the call at hand.
    pub read_here: BTreeSet<u32>,
    /// How often each part was read again.
    pub times_read: BTreeMap<u32, u32>,
    /// The lowest limit, of those for a request that was not refused, that the policy's program says it looked at.
    pub looked_at: Option<f64>,
    /// Where the session failed, what the run had come to then.
    end: Option<Box<End>>,
}

/// What a run had come to when its session failed.
#[derive(Clone)]
struct End {
    /// The place of the failed call, from 0.
    call: usize,
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

impl Ledger {
    /// A ledger for a replay that has not begun.
    pub fn new(inputs: &Inputs<'_>) -> Ledger {
        let outcome = Outcome {
            window: inputs.conditions.window,
            prompt_limit: inputs.conditions.prompt_limit,
            totals: Totals { sessions: 1, called_sessions: u64::from(!inputs.trace.calls.is_empty()), ..Totals::default() },
            ..Outcome::default()
        };
        let tools = inputs.trace.tools.len();
        let calls = Coming::expecting(inputs.trace.calls.len());
        Ledger { outcome, calls, tools: vec![Carried::default(); tools], carrying: vec![(0, 0); tools], ..Ledger::default() }
    }

    /// An event at this call; the caller fills in the rest.
    pub fn event(&self, rule: Option<usize>) -> Note {
        Note { call: self.index as u32, rule, ..Note::default() }
    }

    /// Writes an event down.
    pub fn note(&mut self, note: Note) {
        self.outcome.totals.count(note.kind);
        self.notes.push(note);
    }

    /// A call counts by what its tries came to, and, where the provider answers it, by what it carried.
    pub fn add_up(&mut self, row: &CallOutcome, call: &CallRow, look: Option<Look>, context: &mut Context) {
        let totals = &mut self.outcome.totals;
        totals.over_budget += u64::from(row.over_budget);
        totals.refused += u64::from(row.refused);
        totals.overflows += u64::from(row.refused > 0);
        totals.recovered += u64::from(row.refused > 0 && !row.unrecovered);
        totals.overflowing_sessions |= u64::from(row.refused > 0);
        totals.peak_tokens = totals.peak_tokens.max(row.attempted).max(row.actual);
        if row.unrecovered && !self.has_ended() {
            self.end_here();
        }
        let totals = &mut self.outcome.totals;
        if row.recorded.get().is_some() {
            let add = if self.detail == Detail::Everything { Drift::add } else { Drift::add_sums };
            add(&mut totals.estimates, row.estimated, row.actual);
            if let Some(look) = look {
                // An estimate from before the context shrank is no estimate of what was left.
                add(&mut totals.beliefs, look.belief, if look.left.is_some() { look.whole } else { row.attempted });
            }
        }
        let before = totals.calls;
        totals.calls += 1;
        totals.reply_cut += u64::from(row.reply_cut);
        totals.prompt_tokens += row.actual;
        totals.anchored_tokens += row.anchored;
        totals.output_tokens += row.output;
        totals.hidden_tokens += call.hidden;
        let visible = context.size().actual.0;
        let missing = (call.hidden + visible).saturating_sub(row.actual);
        totals.missing_tokens += missing;
        if self.detail != Detail::Everything {
            context.count_tools(before + 1);
            return;
        }
        if missing == 0 {
            totals.regions.iter_mut().zip(context.regions()).for_each(|(sum, tokens)| *sum += tokens);
        } else {
            let shown = largest_remainder(visible.saturating_sub(missing), context.regions());
            totals.regions.iter_mut().zip(shown).for_each(|(sum, tokens)| *sum += tokens);
        }
        match context.tools_changed_since(before) {
            Some(changed) => changed.iter().for_each(|tool| self.carry(*tool as usize, context, before)),
            None => (0..self.tools.len()).for_each(|tool| self.carry(tool, context, before)),
        }
        context.count_tools(before + 1);
    }

    /// From this call on, the results of a tool come to what they come to in this context.
    fn carry(&mut self, tool: usize, context: &Context, from: u64) {
        let Some((carried, carrying)) = self.tools.get_mut(tool).zip(self.carrying.get_mut(tool)) else { return };
        carried.carried += carrying.0 * (from - carrying.1);
        *carrying = (context.tools().get(tool).copied().unwrap_or(0), from);
    }

    /// What the calls so far carried of each tool's results.
    fn carried(&self) -> Vec<Carried> {
        let calls = self.outcome.totals.calls;
        let tools = self.tools.iter().zip(&self.carrying);
        tools.map(|(tool, (tokens, from))| Carried { carried: tool.carried + tokens * (calls - from), ..*tool }).collect()
    }

    /// Counts a result that has arrived, whatever the policy made of it.
    pub fn count_result(&mut self, tool: Option<u32>, tokens: u64) {
        let Some(tool) = tool else { return };
        if let Some(carried) = self.tools.get_mut(tool as usize) {
            carried.results += 1;
            carried.tokens += tokens;
        }
        if self.largest_arrival.is_none_or(|(largest, _)| tokens > largest) {
            self.largest_arrival = Some((tokens, tool));
        }
    }

    /// Counts an overflow against the tool whose result was the largest arrival.
    pub fn blame_tool(&mut self) -> Option<u32> {
        let (_, tool) = self.largest_arrival?;
        if let Some(carried) = self.tools.get_mut(tool as usize) {
            carried.overflows += 1;
        }
        Some(tool)
    }

    /// Has the session ended before its last recorded call?
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Is the call at hand one that counts, be it the failed one?
    pub fn counts(&self) -> bool {
        self.end.as_ref().is_none_or(|end| end.call == self.index)
    }

    /// The call at hand fails: what has been written down so far is what counts.
    fn end_here(&mut self) {
        self.end = Some(Box::new(End {
            call: self.index,
            totals: self.outcome.totals.clone(),
            broken: self.outcome.broken.clone(),
            broken_by: self.broken_by.clone(),
            tools: self.carried(),
            notes: self.notes.len(),
            summaries: self.outcome.summaries.len(),
            refetches: self.outcome.refetches.len(),
            behind_from: AfterEnd::default(),
        }));
    }

    /// The recorded call was made. Where it failed, what follows is behind the end.
    pub fn add_call(&mut self, row: CallOutcome, call: &CallRow) {
        let totals = &mut self.outcome.totals;
        totals.baseline_tokens += (call.hidden + call.visible).saturating_sub(call.missing);
        if let Some(end) = self.end.as_mut().filter(|end| end.call == self.index) {
            end.behind_from = AfterEnd::of(totals);
        }
        self.calls.push(row);
    }

    /// The run is over. Where the session failed, what counts is what had been written down then.
    pub fn close(&mut self, inputs: &Inputs<'_>) {
        self.tools = self.carried();
        let outcome = &mut self.outcome;
        outcome.calls = std::mem::take(&mut self.calls).rows();
        let answered = self.end.as_ref().map_or_else(|| outcome.calls.len(), |end| end.call);
        if let Some(end) = self.end.take() {
            let behind = AfterEnd::of(&outcome.totals).since(end.behind_from);
            outcome.totals = Totals { after_end: behind, ..end.totals };
            outcome.broken = end.broken;
            let cut = |length: usize, whole: usize| length.min(whole);
            let ended = cut(end.call + 1, outcome.calls.len());
            outcome.behind = Behind {
                calls: outcome.calls.split_off(ended),
                summaries: outcome.summaries.split_off(cut(end.summaries, outcome.summaries.len())),
                refetches: outcome.refetches.split_off(cut(end.refetches, outcome.refetches.len())),
            };
            self.broken_by = end.broken_by;
            self.tools = end.tools;
            self.notes.truncate(end.notes);
        }
        // What keeping most references takes, now that all is known, and which rules broke what.
        outcome.totals.retention.by_rule = inputs.named(&self.broken_by);
        outcome.totals.retention.needed_tokens = inputs.intake.needed_tokens(inputs.trace, answered);
        let totals = &mut outcome.totals;
        totals.compactions_without_gain = without_gain(inputs.plan, &self.notes);
        // Beside what the log says was sent, where both come to their end.
        let is_ended = totals.called_sessions > 0 && !inputs.trace.refused && totals.failed_sessions == 0;
        if let Some(sent) = inputs.trace.sent.filter(|_| is_ended) {
            (totals.compared_sessions, totals.compared_tokens) = (1, totals.prompt_tokens);
            totals.recorded_tokens = sent.prompt_tokens;
        }
    }

    /// Can the policy never fire but on a refusal?
    pub fn never_fires(&self, inputs: &Inputs<'_>) -> bool {
        never_fires(inputs.plan, inputs.conditions, self.looked_at)
    }

    /// Hands over what was written down.
    pub fn finish(mut self, inputs: &Inputs<'_>) -> Outcome {
        self.close(inputs);
        let totals = &mut self.outcome.totals;
        for (name, carried) in inputs.trace.tools.iter().zip(&self.tools) {
            if *carried != Carried::default() {
                *totals.tools.entry(name.clone()).or_default() += *carried;
            }
        }
        let never = self.never_fires(inputs).then_some(Warning::NeverFires);
        let totals = &mut self.outcome.totals;
        totals.warnings.extend(warnings(&self.notes).into_iter().chain(never).map(|warning| (warning, 1)));
        self.outcome.events = self.notes.iter().map(|note| note.event(inputs.plan, inputs.trace)).collect();
        self.outcome
    }
}
