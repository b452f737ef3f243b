//! What a call, an arrival and a refusal add to the sums of a run.

use super::drift::Drift;
use super::outcome::CallOutcome;
use super::state::{Detail, State};
use crate::measure::largest_remainder;
use crate::trace::CallRow;

impl State<'_> {
    /// A call counts by what its tries came to, and, where the provider answers it, by what it carried.
    pub fn add_up(&mut self, row: &CallOutcome, call: &CallRow) {
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
        if row.recorded.is_some() {
            let add = if self.detail == Detail::Everything { Drift::add } else { Drift::add_sums };
            add(&mut totals.estimates, row.estimated, row.actual);
            if let Some(look) = self.look {
                // What a policy believed before it shrank the context is no belief about what was left.
                add(&mut totals.beliefs, look.belief, if look.left.is_some() { look.whole } else { row.attempted });
            }
        }
        totals.calls += 1;
        totals.reply_cut += u64::from(row.reply_cut);
        totals.prompt_tokens += row.actual;
        totals.anchored_tokens += row.anchored;
        totals.output_tokens += row.output;
        totals.hidden_tokens += call.hidden;
        let visible = self.context.size().actual.0;
        let missing = (call.hidden + visible).saturating_sub(row.actual);
        totals.missing_tokens += missing;
        if self.detail == Detail::Sums {
            return;
        }
        if missing == 0 {
            totals.regions.iter_mut().zip(self.context.regions()).for_each(|(sum, tokens)| *sum += tokens);
        } else {
            let shown = largest_remainder(visible.saturating_sub(missing), self.context.regions());
            totals.regions.iter_mut().zip(shown).for_each(|(sum, tokens)| *sum += tokens);
        }
        for (carried, tokens) in self.tools.iter_mut().zip(self.context.tools()) {
            carried.carried += tokens;
        }
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
}
