//! Messages enter the simulated context, each through the policy's ingestion limits.

use super::ask::ask_at_ingest;
use super::checkpoint::{checkpoint, pause};
use super::event::EventKind;
use super::ledger::Detail;
use super::note::Note;
use super::observer::Observer;
use super::state::State;
use crate::policy::Hook;
use crate::trace::PartKind;
use crate::transcript::Role;

/// Everything up to the reply with this index arrives.
pub(super) fn arrive<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, until: u32) {
    while state.window.next_message < until {
        let message = state.window.next_message;
        let Some(row) = state.inputs.message(message) else { return };
        let imposed = state.inputs.trace.imposed.binary_search(&message).is_ok();
        if let Some(from) = row.rewind.get() {
            rewind(state, from);
            if imposed {
                state.window.context.withdraw_own();
            }
        }
        if row.opens_turn() {
            open_turn(state, observer, message);
        }
        let id = enter(state, message);
        // What is shown again came before the last reply, or has been counted when it came.
        if !row.copy {
            state.belief.pending += state.window.context.estimate_of(id);
        }
        state.window.next_message = message + 1;
        if imposed {
            // The history was rewritten, by the policy or not: the last usage says no more than after a compaction of the policy's own.
            state.rewritten();
            observer.rewritten(state);
        }
        if row.role == Role::Tool {
            checkpoint(state, observer, Hook::ToolResult);
        }
    }
    // A reply may itself follow a rewind.
    if let Some(from) = state.inputs.message(until).and_then(|row| row.rewind.get()) {
        rewind(state, from);
    }
}

fn rewind(state: &mut State<'_>, from: u32) {
    state.window.end_turn_view(&state.inputs, state.belief.reported());
    state.window.context.withdraw(from);
}

fn open_turn<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, message: u32) {
    // A turn that was broken off ends when the next one begins.
    end_turn(state, observer);
    let comes = state.inputs.message(message).and_then(|row| row.time.get());
    if let Some((comes, last)) = comes.zip(state.belief.last_time) {
        pause(state, observer, Some(comes - last));
    }
    let State { inputs, window, belief, .. } = state;
    window.end_turn_view(inputs, belief.reported());
    window.expire();
    belief.turn_opened = true;
    belief.memories.iter_mut().for_each(|memory| memory.in_turn = 0);
    if inputs.plan.rule.iter().any(|rule| rule.at == Hook::TurnStart) {
        // The rules see the new message in the request, but act on the history before it.
        belief.incoming = inputs.estimate_of(message);
        checkpoint(state, observer, Hook::TurnStart);
        state.belief.incoming = 0;
    }
}

/// Runs the rules for the end of a turn, once for each.
pub(super) fn end_turn<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>) {
    if !state.belief.turn_ended && !state.ledger.calls.is_empty() {
        state.belief.turn_ended = true;
        checkpoint(state, observer, Hook::TurnEnd);
    }
}

/// Puts a message at the end of the context and counts what its tools returned.
pub(super) fn enter(state: &mut State<'_>, message: u32) -> u32 {
    let State { inputs, ledger, .. } = state;
    // Sums alone say nothing of tools.
    if let Some(row) = inputs.message(message).filter(|row| !row.copy && ledger.detail == Detail::Everything) {
        let results = inputs.trace.parts_of(row).filter(|part| part.kind == PartKind::ToolResult);
        results.for_each(|part| ledger.count_result(part.tool.get(), part.truth));
    }
    for cut in inputs.intake.cuts(message) {
        let event = ledger.event(Some(cut.rule));
        ledger.note(Note { kind: EventKind::Truncate, before: cut.before, after: cut.after, touched: 1, ..event });
    }
    if state.talk.is_some() {
        ask_at_ingest(state, message);
    }
    state.window.place(&state.inputs, message)
}
