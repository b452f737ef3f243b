//! The loop: one trace, one policy, one outcome.

use super::arrive::{arrive, end_turn, enter};
use super::attempt::{attempt, made};
use super::checkpoint::{before_call, checkpoint, pause};
use super::conditions::Conditions;
use super::judge::judge;
use super::ledger::Detail;
use super::observer::Observer;
use super::outcome::Outcome;
use super::refetch::refetch;
use super::state::State;
use super::window::Views;
use crate::context::Context;
use crate::policy::{Hook, Plan};
use crate::trace::{CallRow, MessageRow, PartKind, Trace};

/// Replays a session through a policy.
///
/// For each recorded call, in order: messages arrive, checkpoints run, the call is made (and, where the provider would refuse it,
/// the policy's fallback), and the recorded reply enters. Replay is open-loop: it keeps the recorded messages.
/// Where the fallback does not bring a refused call through, the session fails: what follows is in no sum but `after_end`.
pub fn simulate(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Outcome {
    watch(trace, plan, conditions, &mut |_| {})
}

/// As [`simulate`], and `look` is shown the context of each call, as it goes out. The last one is that of a failed call, where there is one.
pub fn watch(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context)) -> Outcome {
    follow(trace, plan, conditions, &mut |context, _| look(context))
}

/// As [`watch`], and beside the context lies the number of events so far.
pub fn follow(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context, usize)) -> Outcome {
    go_through(State::new(trace, plan, conditions), look)
}

/// As [`watch`], but no view of the history is kept from one request to the next: slower, and what the others are tested against.
pub fn watch_anew(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context)) -> Outcome {
    let mut state = State::new(trace, plan, conditions);
    state.window.views = Views::Anew;
    go_through(state, &mut |context, _| look(context))
}

/// Makes all calls of a session.
pub(super) fn go_through(mut state: State<'_>, look: &mut dyn FnMut(&Context, usize)) -> Outcome {
    for (index, call) in state.inputs.trace.calls.iter().enumerate() {
        step(&mut state, &mut (), index, call, look);
    }
    let State { inputs, window, ledger, .. } = state;
    // Of a long session the context takes more than all that is written down.
    drop(window);
    ledger.finish(&inputs)
}

/// One call, from the arrival of its messages to the end of its reply. `look` sees the context as it goes out, and how many events
/// there have been, up to the call at which the session fails.
pub(super) fn step<'a>(
    state: &mut State<'a>,
    observer: &mut impl Observer<'a>,
    index: usize,
    call: &'a CallRow,
    look: &mut dyn FnMut(&Context, usize),
) {
    state.turn_to(index, call);
    arrive(state, observer, call.message);
    before_call(state, observer);
    let tried = attempt(state, observer);
    let tried = refetch(state, observer, call.message, tried);
    let row = made(state, tried, call, call.output, call.usage.get().map(|usage| usage.prompt));
    state.ledger.add_call(row, call);
    observer.made(state, &row, call);
    if state.ledger.counts() {
        look(&state.window.context, state.ledger.notes.len());
    }
    state.window.context.show(index);
    if state.ledger.has_ended() && state.ledger.detail != Detail::Everything {
        // No sum counts what is behind the end.
        return;
    }
    judge(&state.inputs, &state.window, &mut state.ledger, call.message);
    observer.judged(state, call.message);
    reply(state, call.message);
    observer.replied(state);
    checkpoint(state, observer, Hook::PostCall);
    if is_last_of_turn(state.inputs.trace, call.message) {
        end_turn(state, observer);
        if index + 1 == state.inputs.trace.calls.len() && !state.ledger.has_ended() {
            pause(state, observer, None);
        }
    }
}

/// The recorded reply enters the context.
fn reply(state: &mut State<'_>, message: u32) {
    state.window.end_request_view(&state.inputs, state.belief.reported());
    let id = enter(state, message);
    let State { inputs, window, belief, .. } = state;
    window.note_usage(id, belief.reported());
    window.next_message = message + 1;
    belief.pending = 0;
    belief.last_time = inputs.message(message).and_then(|row| row.time.get());
    belief.actual_after_reply = window.actual();
}

/// Is the turn over with this reply? So it is where the next message opens another one, and at the end of the session unless a
/// tool was called, for then the log breaks off within the turn.
fn is_last_of_turn(trace: &Trace, message: u32) -> bool {
    let calls_a_tool = |row: &MessageRow| trace.parts_of(row).any(|part| part.kind == PartKind::ToolCall);
    match trace.messages.get(message as usize + 1) {
        Some(next) => next.opens_turn(),
        None => !trace.messages.get(message as usize).is_some_and(calls_a_tool),
    }
}
