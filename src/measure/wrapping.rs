//! What of a message's truth is its wrapping: it stays where the message's text is cut or replaced.

use crate::trace::{CallRow, Trace};

/// Notes how much of the truth of each message's first part wraps the message: as much as it has of the part's weight. `per_message` are thousandths of a
/// token, as the weights are.
pub(super) fn note(trace: &mut Trace, weights: &[u64], per_message: u64) {
    let Trace { messages, parts, calls, unseen, .. } = trace;
    // The truth of such a reply is its recorded output, which no wrapping is part of (`truth::Anchoring::share`).
    let written = |call: &CallRow| call.anchor().is_some_and(|usage| usage.output_is_final && usage.output > 0);
    let mut replies = calls.iter().filter(|call| written(call)).map(|call| call.message).peekable();
    let unseen = unseen.map(|unseen| unseen.message);
    for (place, row) in (0..).zip(messages.iter_mut()) {
        if replies.next_if_eq(&place).is_some() || unseen == Some(place) || row.part_count == 0 {
            continue;
        }
        let first = row.first_part as usize;
        // Reasoning that leaves at the next user message takes its whole truth along: so the recorded prompts have it.
        let part = parts.get(first).filter(|part| !part.expires);
        let (Some(part), Some(weight)) = (part, weights.get(first).filter(|weight| **weight > 0)) else { continue };
        row.wrapping = u8::try_from(rounded(part.truth, per_message.min(*weight), *weight)).unwrap_or(u8::MAX);
    }
    trace.wrapping = u8::try_from(rounded(trace.calibration_thousandths, per_message, 1_000_000)).unwrap_or(u8::MAX);
}

fn rounded(tokens: u64, share: u64, of: u64) -> u64 {
    ((u128::from(tokens) * u128::from(share) + u128::from(of / 2)) / u128::from(of)) as u64
}
