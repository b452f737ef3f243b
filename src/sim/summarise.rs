//! Messages are replaced by a summary, and the summariser's own request is counted.

use super::belief::Prepared;
use super::edit::{Done, insert, shorten, text_of, with_tokens};
use super::event::{EventKind, reported_as};
use super::guard::permitted;
use super::inputs::Inputs;
use super::note::Note;
use super::outcome::SummaryCall;
use super::state::State;
use super::summary::summary_tokens;
use super::window::Window;
use crate::context::{Context, Entry, Item, Region, Seen};
use crate::policy::{
    Input, Newest, NoInflate, Per, Place, Reads, Rule, Selection, Summarise, SummariserOverflow, Switch, around_middle, own_text,
};
use crate::trace::PartKind;
use crate::transcript::{Role, Text};
use std::collections::{BTreeMap, BTreeSet};

/// Replaces what a rule selects by a summary.
pub(super) fn summarise(state: &mut State<'_>, index: usize, rule: &Rule, summarise: &Summarise) -> Done {
    if let Some(mut prepared) = state.belief.prepared.take() {
        state.window.before_edit(rule);
        // What has left since it was asked for is in it, and no longer there.
        let context = &state.window.context;
        prepared.selection.gone.retain(|id| context.look_at(*id, |entry| entry.live) == Some(true));
        let asked = state.inputs.plan.rule.get(prepared.rule);
        return match asked.and_then(|rule| Some((rule, rule.summarise.as_ref()?))) {
            Some((rule, summarise)) => put_in(state, rule, summarise, prepared),
            None => Done::Nothing,
        };
    }
    if is_refused_unread(state, rule, summarise) {
        return Done::Failed;
    }
    match state.window.selection(rule, state.belief.incoming) {
        Some(selection) => summarise_these(state, index, rule, summarise, selection, None),
        None => Done::Nothing,
    }
}

/// Replaces these messages by a summary.
pub(super) fn summarise_these(
    state: &mut State<'_>,
    index: usize,
    rule: &Rule,
    summarise: &Summarise,
    selection: Selection,
    text: Option<Text>,
) -> Done {
    let replaced = state.window.in_request(actual_of(&state.window.context, &selection.gone));
    let own = || summary_tokens(&state.inputs.plan.summary, state.inputs.conditions.recorded_summary, replaced);
    let size = summarise.tokens.unwrap_or_else(own);
    let newest = summarise.newest.as_ref().filter(|newest| newest.tokens > 0);
    let reads = newest.map(|newest| (newest, newest_of(&state.inputs, &state.window.context, newest, &selection.gone)));
    if let Some((newest, Reads { more: 0, .. })) = reads.filter(|(_, reads)| reads.from == selection.gone.len()) {
        // Nothing that could be read is left: a sentence stands for the summary, and no model is asked.
        let text = own_text(&newest.otherwise);
        let tokens = u64::from(text.tokens) + summarise.wrapper_tokens;
        state.window.before_edit(rule);
        return put_in(state, rule, summarise, Prepared { rule: index, selection, tokens, text: Some(text), due: 0 });
    }
    let Some(read) = summariser_input(state, summarise, &selection, reads.map(|(_, reads)| reads)) else { return Done::Failed };
    let context = &state.window.context;
    let prose = |id: &&u32| matches!(context.look_at(**id, |entry| entry.role), Some(Role::User | Role::Assistant));
    let few = || selection.gone.iter().filter(prose).count() as u64 <= summarise.calls_above;
    let calls = u64::from(if summarise.calls > 1 && few() { 1 } else { summarise.calls });
    let results = || items_of(context, &selection.gone).filter(|item| item.region == Region::ToolResult).count() as u64;
    let pairs = if summarise.per == Per::Pair { results() } else { 0 };
    let work = Work::of(summarise, read.input, calls, pairs, size);
    let tokens = work.summaries * (size + summarise.wrapper_tokens);
    let rejected = match rule.no_inflate {
        NoInflate::Off => false,
        NoInflate::Replaced => size + summarise.wrapper_tokens > replaced,
        NoInflate::UsageIn => state.belief.usage.is_some_and(|(prompt, _)| history_behind(context, &selection, tokens) > prompt),
    };
    let State { inputs, window, ledger, belief, .. } = state;
    let discarded = summarise.discard == Switch::On;
    if rule.delay == 0 && !rejected && !discarded {
        window.before_edit(rule);
    }
    let outcome = &mut ledger.outcome;
    outcome.totals.summariser_calls += work.calls;
    outcome.totals.summariser_tokens += work.input + work.output.max(size);
    if work.calls > 0 {
        let reads_context = matches!(summarise.input, Input::Context | Input::Head);
        let prefix = if reads_context { ledger.requests.prefix(inputs.plan, window).min(read.head) } else { 0 };
        let Work { calls, input: prompt, output, .. } = work;
        let waited_seconds = rule.after.map_or(0, |seconds| seconds as u32);
        let (call, at_end) = (ledger.index as u32, belief.ended);
        outcome.summaries.push(SummaryCall { call, prompt, prefix, output, calls, waited_seconds, at_end });
    }
    // It has been written, and paid for.
    if rejected {
        return Done::Failed;
    }
    if discarded {
        return Done::Discarded;
    }
    let due = ledger.outcome.totals.calls + rule.delay;
    let prepared = Prepared { rule: index, selection, tokens, text, due };
    if rule.delay > 0 {
        state.belief.prepared = Some(prepared);
        return Done::Begun;
    }
    put_in(state, rule, summarise, prepared)
}

/// The estimated history without what leaves, and with a summary of so many tokens.
fn history_behind(context: &Context, selection: &Selection, tokens: u64) -> u64 {
    let leaves: u64 = selection.gone.iter().chain(&selection.lost).map(|id| context.estimate_of(*id)).sum();
    context.view().history().saturating_sub(leaves) + context.own_text(&text_of(tokens), Region::Summary).alone
}

/// A summary takes the place of what it is of.
fn put_in(state: &mut State<'_>, rule: &Rule, summarise: &Summarise, prepared: Prepared) -> Done {
    let State { inputs, window, .. } = state;
    window.forget_conversation(rule);
    let context = &mut window.context;
    let selection = prepared.selection;
    shorten(inputs, context, rule, &selection);
    state.gap = context.condense(&selection.gone, &selection.lost);
    if let Some(limits) = &summarise.flatten {
        window.flatten(inputs, limits);
    }
    if summarise.place == Place::SystemPrompt {
        window.context.remove_own_system_text();
    }
    let text = prepared.text.map_or_else(|| text_of(prepared.tokens), |text| with_tokens(text, prepared.tokens));
    insert(state, &text, summarise.role, summarise.place);
    state.belief.note_summary();
    state.rewritten();
    Done::Changed(reported_as(rule, EventKind::Compact), (selection.gone.len() + selection.lost.len()) as u32)
}

/// What a summariser is asked with.
struct Read {
    /// Tokens of its request.
    input: u64,
    /// Tokens in front of all that the context does not hold there: the instruction, or what follows the first message left out.
    head: u64,
}

/// What the summariser does for one compaction.
struct Work {
    /// Summaries that stand in the context afterwards.
    summaries: u64,
    /// Requests to the summariser.
    calls: u64,
    /// Tokens that those requests read, and that they write.
    input: u64,
    output: u64,
}

impl Work {
    /// `input` is what one request would read, `calls` how many one summary takes, `size` what each of them writes.
    fn of(summarise: &Summarise, input: u64, calls: u64, pairs: u64, size: u64) -> Work {
        let prompt = summarise.prompt_tokens;
        match summarise.per {
            Per::All => {
                // Each further call reads what was written before: beside the same text, or as the one that merges parts of it.
                let again = if summarise.calls_above > 0 { prompt } else { input };
                Work { summaries: 1, calls, input: input + calls.saturating_sub(1) * (again + size), output: calls * size }
            }
            Per::Pair => {
                let pairs = pairs.max(1);
                Work { summaries: pairs, calls: pairs, input: input + (pairs - 1) * prompt, output: pairs * size }
            }
            Per::Tokens(most) => {
                let (mut text, mut work) = (input.saturating_sub(prompt), Work { summaries: 1, calls: 0, input: 0, output: 0 });
                loop {
                    let pieces = text.div_ceil(most).max(1);
                    (work.calls, work.input, work.output) =
                        (work.calls + pieces, work.input + text + pieces * prompt, work.output + pieces * size);
                    // Summaries as long as what they are of would never come to one.
                    if pieces == 1 || pieces * size >= text {
                        return work;
                    }
                    text = pieces * size;
                }
            }
        }
    }
}

/// Is the summariser refused whatever there is to replace? Where it reads the whole context, or all of its head, there is no need to list what
/// would go. A session that has outgrown its window asks this at every call.
fn is_refused_unread(state: &mut State<'_>, rule: &Rule, summarise: &Summarise) -> bool {
    let reads_all = matches!(summarise.input, Input::Context | Input::Head | Input::Messages);
    if summarise.on_overflow != SummariserOverflow::Fail || !reads_all {
        return false;
    }
    let Some(taken) = state.window.stretch(rule, state.belief.incoming).filter(|taken| permitted(rule, *taken)) else { return false };
    let text = match summarise.input {
        Input::Context => state.window.actual(),
        Input::Head => {
            let stays = state.window.spoken_behind(taken);
            state.window.actual().saturating_sub(state.window.in_request(stays))
        }
        _ => state.window.in_request(spoken(&state.window.context)),
    };
    accepted(state, summarise, &Selection::default(), text).is_none()
}

/// What is read of messages that go by a summariser that reads the newest of them.
fn newest_of(inputs: &Inputs<'_>, context: &Context, newest: &Newest, gone: &[u32]) -> Reads {
    let going: BTreeSet<u32> = gone.iter().copied().collect();
    let messages: Vec<Seen> = context.view().messages().filter(|message| going.contains(&message.id)).collect();
    newest.of(&messages, |message, tokens| {
        // Lines are taken to be alike, and what stands beside them in the message to be little.
        let of_log = items_of(context, std::slice::from_ref(&message.id))
            .filter_map(|item| inputs.part(item.part?))
            .map(|part| part.text.length.newlines);
        let lines = u64::from(of_log.fold(0_u32, u32::saturating_add)) + 1;
        let fit = u128::from(lines) * u128::from(tokens) / u128::from(message.estimated.max(1));
        (u128::from(context.actual_of(message.id)) * fit.min(u128::from(lines)) / u128::from(lines)) as u64
    })
}

/// What the summariser reads; `None` where its request is refused.
fn summariser_input(state: &mut State<'_>, summarise: &Summarise, selection: &Selection, reads: Option<Reads>) -> Option<Read> {
    let State { inputs, window, .. } = state;
    let text = match summarise.input {
        Input::Context => window.actual(),
        Input::Head => {
            // All but the messages that stay.
            let context = &window.context;
            let gone = selection.gone.iter().filter_map(|id| Some((*id, context.entry(*id)?)));
            window.actual().saturating_sub(window.in_request(spoken(context).saturating_sub(spoken_in(context, gone))))
        }
        Input::Messages => window.in_request(spoken(&window.context)),
        Input::Selection | Input::Prose | Input::Previews(_) => {
            let Reads { from, more } = reads.unwrap_or(Reads { from: 0, more: 0 });
            let whole = selection.gone.get(from..).unwrap_or(&[]);
            window.in_request(more + read_by_summariser(inputs, &window.context, summarise, whole))
        }
    };
    accepted(state, summarise, selection, text)
}

/// The summariser is asked with a text of so many tokens; `None` where its request is refused.
fn accepted(state: &mut State<'_>, summarise: &Summarise, selection: &Selection, text: u64) -> Option<Read> {
    let State { inputs, window, belief, ledger, .. } = state;
    let limit = inputs.conditions.prompt_limit;
    let input = text + summarise.prompt_tokens;
    let largest = match summarise.per {
        Per::All => input,
        Per::Tokens(most) => text.min(most) + summarise.prompt_tokens,
        // What one result and its call come to lies far below the window.
        Per::Pair => 0,
    };
    if largest <= limit {
        return Some(Read { input, head: text });
    }
    let left = with_less(inputs, window, summarise, selection, input);
    let (fits, refused) = left.map_or((None, 1), |(fits, refused)| (Some(fits), refused));
    let event = ledger.event(None);
    ledger.note(Note { kind: EventKind::SummariserOverflow, before: input, after: limit, touched: refused, ..event });
    belief.summariser_refused |= fits.is_none();
    fits
}

/// The request of a summariser that leaves out more after each refusal, and the number of refused tries. `None` where nothing
/// that may be left out makes it fit.
fn with_less(inputs: &Inputs<'_>, window: &Window<'_>, summarise: &Summarise, selection: &Selection, input: u64) -> Option<(Read, u32)> {
    let context = &window.context;
    let gone: BTreeSet<u32> = selection.gone.iter().copied().collect();
    let of_input = |message: &Seen| match summarise.input {
        Input::Context | Input::Messages => message.role != Role::System,
        Input::Head | Input::Selection | Input::Prose | Input::Previews(_) => gone.contains(&message.id),
    };
    let read: Vec<Seen> = context.view().messages().filter(of_input).collect();
    let limit = inputs.conditions.prompt_limit;
    let without = |from: usize, input: u64| {
        let first = read.get(from)?.id;
        let behind = context.live().map(|(id, _)| id).skip_while(|id| *id != first).map(|id| context.actual_of(id)).sum();
        let head = window.actual().saturating_sub(window.in_request(behind));
        Some(Read { input, head: head.min(input.saturating_sub(summarise.prompt_tokens)) })
    };
    if summarise.on_overflow == SummariserOverflow::DropOldest {
        let units = units_of(inputs, context, summarise, &read);
        let left = units.iter().take(units.len().saturating_sub(1)).scan(input, |left, unit| {
            *left = left.saturating_sub(window.in_request(*unit));
            Some(*left)
        });
        let (left, refused) = left.zip(1..).find(|(left, _)| *left <= limit)?;
        return Some((without(0, left)?, refused));
    }
    let size = |message: &Seen| window.in_request(read_by_summariser(inputs, context, summarise, &[message.id]));
    if let SummariserOverflow::WithoutResults(shares) = &summarise.on_overflow {
        let results: Vec<usize> =
            (0..read.len()).filter(|place| read.get(*place).is_some_and(|message| message.role == Role::Tool)).collect();
        let left = |share: &f64| {
            let gone = around_middle(&results, *share);
            let tokens: u64 = gone.iter().filter_map(|place| read.get(*place)).map(size).sum();
            (input.saturating_sub(tokens), gone.into_iter().min())
        };
        let ((left, from), refused) = shares.iter().map(left).zip(1..).find(|((left, _), _)| *left <= limit)?;
        return Some((without(from?, left)?, refused));
    }
    let (mut left, mut rest) = (input, read.as_slice());
    for refused in 1.. {
        let goes = summarise.on_overflow.leaves_out(rest, refused)?;
        let (gone, stays) = rest.split_at_checked(goes)?;
        left = left.saturating_sub(gone.iter().map(size).sum());
        rest = stays;
        if left <= limit {
            return if rest.is_empty() { None } else { Some((without(0, left)?, refused)) };
        }
    }
    None
}

/// What all messages but the system's come to.
fn spoken(context: &Context) -> u64 {
    spoken_in(context, context.live())
}

fn spoken_in(context: &Context, entries: impl Iterator<Item = (u32, Entry)>) -> u64 {
    entries.filter(|(_, entry)| entry.role != Role::System).map(|(id, _)| context.actual_of(id)).sum()
}

/// What messages of the context come to.
fn actual_of(context: &Context, messages: &[u32]) -> u64 {
    messages.iter().map(|id| context.actual_of(*id)).sum()
}

fn is_prose(kind: PartKind) -> bool {
    matches!(kind, PartKind::Text | PartKind::Other)
}

/// What leaves a summariser's request at one time, by its tokens, the oldest first: an item, a call with the results that answer it.
fn units_of(inputs: &Inputs<'_>, context: &Context, summarise: &Summarise, messages: &[Seen]) -> Vec<u64> {
    let mut units: Vec<u64> = Vec::new();
    let mut places = BTreeMap::new();
    for item in messages.iter().filter_map(|message| context.entry(message.id)).flat_map(|entry| items_in(context, entry)) {
        let call = item.part.and_then(|part| inputs.part(part)?.answers.get());
        let with_its_call = call.and_then(|call| units.get_mut(*places.get(&call)?));
        match (with_its_call, read_of_item(inputs, summarise, &item)) {
            (Some(unit), tokens) => *unit += tokens,
            (None, 0) => {}
            (None, tokens) => {
                places.extend(item.part.map(|part| (part, units.len())));
                units.push(tokens);
            }
        }
    }
    units
}

/// What the summariser reads of these messages.
fn read_by_summariser(inputs: &Inputs<'_>, context: &Context, summarise: &Summarise, messages: &[u32]) -> u64 {
    if summarise.input == Input::Selection && summarise.tool_cap_utf16 == 0 {
        return actual_of(context, messages);
    }
    items_of(context, messages).map(|item| read_of_item(inputs, summarise, &item)).sum()
}

/// What the summariser reads of an item.
fn read_of_item(inputs: &Inputs<'_>, summarise: &Summarise, item: &Item) -> u64 {
    let part = item.part.and_then(|part| inputs.part(part));
    let kind = part.as_ref().map_or(PartKind::Text, |part| part.kind);
    let length = part.as_ref().map(|part| part.text.length);
    let (cap, length) = match summarise.input {
        Input::Prose if !is_prose(kind) => return 0,
        Input::Previews(_) if !is_prose(kind) && kind != PartKind::ToolResult => return 0,
        Input::Previews(cap) => (cap, length.map(|length| length.chars)),
        Input::Selection if kind == PartKind::ToolResult && summarise.tool_cap_utf16 > 0 => {
            (summarise.tool_cap_utf16, length.map(|length| length.utf16))
        }
        _ => return item.actual,
    };
    // Of what the policy has put in the tokens alone are known: four characters make one.
    let (tokens, length) = part.zip(length).map_or((item.actual, item.actual * 4), |(part, length)| (part.truth, u64::from(length)));
    if length > u64::from(cap) { item.actual.min(tokens * u64::from(cap) / length) } else { item.actual }
}

fn items_of<'c>(context: &'c Context, messages: &'c [u32]) -> impl Iterator<Item = Item> {
    messages.iter().filter_map(|id| context.entry(*id)).flat_map(|entry| items_in(context, entry))
}

fn items_in<'c>(context: &'c Context, entry: Entry) -> impl Iterator<Item = Item> + use<'c> {
    (entry.first..entry.first + entry.count).filter_map(|id| context.item(id))
}
