//! Is reasoning sent back? The catalogue has a first opinion; where a session's own usage speaks clearly, that decides.

use crate::catalog::Thinking;
use crate::trace::{CallRow, PartKind, Trace};
use crate::transcript::Usage;

/// Another fate of reasoning must explain the recorded growth this much better than the catalogue's, in hundredths.
const CLEARLY: u128 = 80;

/// The fate of reasoning in this session.
pub(super) fn fate(trace: &Trace, weights: &[u64], prior: Thinking) -> Thinking {
    let error_of = |fate: Thinking| error(trace, weights, fate);
    let Some(expected) = error_of(prior) else { return prior };
    let others = [Thinking::Kept, Thinking::Turn, Thinking::Dropped].into_iter().filter(|fate| *fate != prior);
    let best = others.filter_map(|fate| Some((error_of(fate)?, fate))).min_by_key(|(error, _)| *error);
    match best {
        Some((error, fate)) if error * 100 < expected * CLEARLY => fate,
        _ => prior,
    }
}

/// Sum of absolute errors of the predicted growth over all stretches; `None` where no reply of the session has reasoning.
fn error(trace: &Trace, weights: &[u64], fate: Thinking) -> Option<u128> {
    let mut sum = 0_u128;
    let mut seen = 0;
    // Reasoning of the turn so far that stands in the context.
    let mut standing = 0_u64;
    for pair in trace.calls.windows(2) {
        let [before, after] = pair else { continue };
        let (Some(first), Some(second)) = (before.anchor(), after.anchor()) else { continue };
        let reply = Reply::of(trace, before, &first, weights);
        seen += u32::from(reply.reasoning > 0);
        let between = before.message as usize + 1..after.message as usize;
        let opens_turn = trace.messages.get(between.clone()).is_some_and(|rows| rows.iter().any(|row| row.opens_turn()));
        let kept = match fate {
            Thinking::Kept => reply.reasoning,
            Thinking::Turn if !opens_turn => reply.reasoning,
            _ => 0,
        };
        let expired = if fate == Thinking::Turn && opens_turn { standing } else { 0 };
        standing = match (fate, opens_turn) {
            (Thinking::Turn, false) => standing + reply.reasoning,
            _ => 0,
        };
        if !after.chained || !first.output_is_final || rewritten(trace, before, after) {
            continue;
        }
        let arrived: u64 = between.filter_map(|index| trace.messages.get(index)).map(|row| weight_of(row, weights)).sum();
        let predicted = (reply.visible + kept + arrived / 1000) as i64 - expired as i64;
        let growth = second.prompt as i64 - first.prompt as i64;
        sum += u128::from(growth.abs_diff(predicted).min(first.prompt));
    }
    (seen >= 3).then_some(sum)
}

/// Did the recording agent or its user change the conversation between these calls? Then the growth says nothing about reasoning.
fn rewritten(trace: &Trace, before: &CallRow, after: &CallRow) -> bool {
    let compacted = !trace.compactions_before(before.message as usize + 1..after.message as usize + 1).is_empty();
    let rows = trace.messages.get(before.message as usize + 1..=after.message as usize);
    compacted || rows.is_some_and(|rows| rows.iter().any(|row| row.rewind.get().is_some() || row.copy))
}

fn weight_of(row: &crate::trace::MessageRow, weights: &[u64]) -> u64 {
    let first = row.first_part as usize;
    weights.get(first..first + row.part_count as usize).map_or(0, |weights| weights.iter().sum())
}

/// A reply's recorded output, parted into what is shown and what is reasoning.
pub(super) struct Reply {
    pub visible: u64,
    pub reasoning: u64,
}

impl Reply {
    /// Where the provider itemises reasoning, that; otherwise the share of it by weight.
    pub fn of(trace: &Trace, call: &CallRow, usage: &Usage, weights: &[u64]) -> Reply {
        let reasoning = match usage.reasoning {
            Some(reasoning) => reasoning.min(usage.output),
            None => {
                let Some(row) = trace.messages.get(call.message as usize) else { return Reply { visible: usage.output, reasoning: 0 } };
                let all = weight_of(row, weights).max(1);
                let first = row.first_part as usize;
                let thinking: u64 = (first..first + row.part_count as usize)
                    .filter(|index| trace.parts.get(*index).is_some_and(|part| part.kind == PartKind::Thinking))
                    .filter_map(|index| weights.get(index))
                    .sum();
                (u128::from(usage.output) * u128::from(thinking) / u128::from(all)) as u64
            }
        };
        Reply { visible: usage.output - reasoning, reasoning }
    }
}
