//! THE CLOSED LOOP: an agent that needs lines which its policy took from it reads their source again, before it goes on.
//!
//! At a call whose reply takes up lines that are gone, one more request goes out for each source: its prompt is the context as it stands,
//! its reply the call of a tool, and the source comes back as a result, through the policy's limits. It counts for triggers, windows and
//! caches like everything else. Then the recorded call is tried anew.

use super::attempt::{Attempt, attempt, made};
use super::checkpoint::{before_call, checkpoint};
use super::conditions::Refetching;
use super::edit::text_of;
use super::event::EventKind;
use super::inputs::Inputs;
use super::judge::{readable, references_of};
use super::note::Note;
use super::observer::Observer;
use super::outcome::Refetch;
use super::retention::{Category, Fate, fate};
use super::state::State;
use super::window::{Reading, Window};
use crate::context::{Context, Item, Region, State as ItemState};
use crate::policy::Hook;
use crate::trace::{Evidence, PartKind, Reference};
use std::borrow::Cow;

/// So many sources are read again before one call at most.
pub const MOST_IN_A_CALL: usize = 16;

/// So many in a session.
pub const MOST_IN_A_SESSION: u64 = 1_000;

/// Tokens of a call that reads a source again whose own call the log does not show.
const UNKNOWN_CALL: u32 = 50;

/// A part whose lines are needed, and from where to where they stand in it: from the start of the first to that of the last.
struct Needed {
    part: u32,
    stretch: (u32, u32),
}

/// Reads again what the reply needs, as far as the agent does so; hands back how the recorded call fared in the end.
pub(super) fn refetch<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, message: u32, first: Attempt) -> Attempt {
    let mut tried = first;
    state.ledger.read_here.clear();
    while let Some(needed) = needed(state, message).filter(|_| !tried.unrecovered) {
        read_again(state, observer, message, &needed, tried);
        before_call(state, observer);
        tried = attempt(state, observer);
    }
    tried
}

/// The first source that was lost, can be read again, and was not yet at this call.
fn needed(state: &State<'_>, message: u32) -> Option<Needed> {
    let State { inputs, window, ledger, .. } = state;
    let spent = ledger.read_here.len() >= MOST_IN_A_CALL || ledger.outcome.totals.refetches.calls >= MOST_IN_A_SESSION;
    if inputs.conditions.refetch == Refetching::Never || spent {
        return None;
    }
    let references = references_of(inputs.trace, message).iter();
    let lost: Vec<&Reference> = references.filter(|reference| is_lost(inputs, &window.context, reference)).collect();
    let mut sources = lost.iter().filter_map(|reference| readable(inputs.trace, reference)).map(|place| place.part);
    let part = sources.find(|part| !ledger.read_here.contains(part))?;
    let places = lost.iter().flat_map(|reference| &reference.sources).filter(|place| place.part == part);
    let starts = places.flat_map(|place| inputs.trace.pieces_at(place)).map(|piece| piece.last_start);
    let stretch = starts.fold((u32::MAX, 0), |(first, last), start| (first.min(start), last.max(start)));
    Some(Needed { part, stretch })
}

fn is_lost(inputs: &Inputs<'_>, context: &Context, reference: &Reference) -> bool {
    reference.kind == Evidence::Line
        && match fate(context, inputs.trace, reference) {
            Fate::Kept => false,
            Fate::Summarised => inputs.conditions.refetch == Refetching::AtRisk,
            Fate::Truncated | Fate::Cleared | Fate::Dropped => true,
        }
}

/// One more request, and what it brings back.
fn read_again<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, message: u32, needed: &Needed, tried: Attempt) {
    let Some(call) = state.window.call else { return };
    let part = needed.part;
    let reading = reading(&state.inputs, &state.window, message, needed);
    let request = made(state, tried, call, reading.call.actual, None);
    state.window.end_request_view(&state.inputs, state.belief.reported());
    // The request is over: what follows belongs to the next one.
    state.begin_request();
    let State { inputs, window, belief, ledger, .. } = state;
    window.enter_call(&reading, belief.reported());
    belief.last_time = inputs.message(call.message).and_then(|row| row.time.get()).or(belief.last_time);
    let before = window.actual();
    belief.actual_after_reply = before;
    let result = window.enter_result(&reading);
    belief.pending = window.context.estimate_of(result);
    let tokens = reading.result.actual;
    ledger.count_result(reading.result.tool, tokens);
    let tool = inputs.part(part).and_then(|row| row.tool.get());
    ledger.note(Note { kind: EventKind::Refetch, before, after: window.actual(), touched: 1, tool, ..ledger.event(None) });
    let tool = tool.and_then(|tool| inputs.trace.tools.get(tool as usize)).cloned();
    let source = inputs.trace.message_of(part).unwrap_or(0);
    let times = ledger.times_read.entry(part).or_default();
    let again = *times;
    *times += 1;
    let refetches = &mut ledger.outcome.totals.refetches;
    refetches.calls += 1;
    refetches.prompt_tokens += request.actual;
    refetches.output_tokens += request.output;
    refetches.result_tokens += tokens;
    refetches.sources += u64::from(again == 0);
    refetches.sources_again += u64::from(again == 1);
    ledger.outcome.refetches.push(Refetch {
        call: ledger.index as u32,
        source,
        category: Category::of(inputs.trace, part),
        tool,
        before: again,
        result_tokens: tokens,
        request,
    });
    ledger.read_here.insert(part);
    window.remember(reading);
    checkpoint(state, observer, Hook::ToolResult);
}

/// The two messages: the source's own call as it was recorded, and the source as the policy's limits left it. Where they cut it, the
/// agent asks for the piece that it needs.
fn reading(inputs: &Inputs<'_>, window: &Window<'_>, before: u32, needed: &Needed) -> Reading {
    let trace = inputs.trace;
    let part = needed.part;
    let source = inputs.part(part);
    let message = trace.message_of(part).unwrap_or(0);
    let offset = part - inputs.message(message).map_or(part, |row| row.first_part).min(part);
    let item_of = |part: u32| {
        let message = trace.message_of(part)?;
        let first = inputs.message(message)?.first_part;
        let items = window.arrived(message).map_or_else(|| inputs.items(message), |arrived| Cow::Borrowed(&arrived.items));
        items.get((part - first.min(part)) as usize).copied()
    };
    let simulated = |item: Item| Item { anchored: 0, superseded: false, ..item };
    let unknown = || window.context.own_text(&text_of(u64::from(UNKNOWN_CALL)), Region::ToolCall);
    let call = source.as_ref().and_then(|row| row.answers.get()).and_then(item_of).map_or_else(unknown, simulated);
    let mut result = item_of(part).map_or_else(unknown, simulated);
    result.region = Region::ToolResult;
    if source.is_some_and(|row| row.kind != PartKind::ToolResult) {
        // It is not the tool that wrote the file which reads it again.
        result.tool = None;
    }
    let cut = inputs.intake.cuts(message).iter().find(|cut| cut.offset == offset).map(|cut| cut.text.clone());
    let by_program = window.arrived(message).and_then(|arrived| arrived.cuts.iter().find(|(place, _)| *place == offset));
    let cut = by_program.map(|(_, text)| text.clone()).or(cut);
    if result.state == ItemState::Truncated {
        result.ends.stretch = Some(needed.stretch);
    }
    Reading { part, before, call, result, cut }
}
