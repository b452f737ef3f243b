//! A task, put together from the conversation and the screen's list, or from the list alone.

use super::record::Spoken;
use super::screen::{Kind, Shown, asked};
use super::{READER, request};
use crate::format::ground::{Source, Take, each_piece, sound};
use crate::format::recorder::{Chain, Tools, thinking};
use crate::format::wire::anthropic::Weigher;
use crate::format::wire::blocks::Block;
use crate::list::Arrange;
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Text, Transcript, Usage};

/// A task of which there is the screen's list alone.
pub fn from_screen(id: String, entries: &[Shown], scale: &dyn Scale, source: &mut Source) -> Transcript {
    let mut transcript = Transcript { id, agent: READER.name.to_owned(), ..Transcript::default() };
    let mut calls = Chain::default();
    // The reply to a request that was tried again belongs to the last try.
    let mut open: Option<Asked> = None;
    for entry in entries {
        match &entry.kind {
            Kind::Request { text, .. } => {
                transcript.side_calls.extend(open.take().and_then(Asked::paid));
                if !text.is_empty() {
                    transcript.messages.push(Message { time: entry.time, ..asked(text, scale) });
                }
                open = Asked::of(entries, entry);
            }
            Kind::Said { reasoning, text } => {
                let part = if *reasoning { thinking(scale, text, 0) } else { Part::Text(scale.weigh(text)) };
                reply(&mut transcript, part, &mut open, &mut calls, entry.time);
            }
            Kind::Tool { name, text } => {
                let part = Part::ToolCall { id: String::new(), name: name.clone(), arguments: scale.weigh(text) };
                reply(&mut transcript, part, &mut open, &mut calls, entry.time);
            }
            Kind::Deleted { .. } => {
                let before = transcript.messages.len();
                transcript.compactions.push(compaction(before, None, entry.time));
                calls.broken = true;
            }
            Kind::Condensed { before, after, summary, .. } => {
                let summary = summary.as_deref().and_then(|summary| scale.weigh_summary(summary));
                let at = transcript.messages.len();
                let sizes = Compaction { tokens_before: *before, tokens_after: *after, ..compaction(at, summary, entry.time) };
                transcript.compactions.push(sizes);
                calls.broken = true;
            }
        }
    }
    transcript.side_calls.extend(open.and_then(Asked::paid));
    if !transcript.messages.is_empty() {
        source.lose(0, "no conversation beside the list of the screen: messages as the screen showed them");
    }
    transcript
}

/// Adds to the reply that is being given, or begins it.
fn reply(transcript: &mut Transcript, part: Part, open: &mut Option<Asked>, calls: &mut Chain, time: Option<i64>) {
    if let Some(asked) = open.take() {
        let call = made(calls, asked.call, !asked.cancelled);
        transcript.messages.push(Message { time, call: call.map(Box::new), ..Message::new(Role::Assistant, vec![part]) });
    } else if let Some(last) = transcript.messages.last_mut().filter(|last| last.role == Role::Assistant) {
        last.parts.push(part);
    }
}

/// A request of the screen's list.
#[derive(Default)]
struct Asked {
    call: Call,
    time: Option<i64>,
    cancelled: bool,
}

impl Asked {
    /// The request of this entry, where it is one.
    fn of(entries: &[Shown], entry: &Shown) -> Option<Asked> {
        let Kind::Request { model, usage, cancelled, .. } = &entry.kind else { return None };
        let id = known_as(entries, entry, *usage);
        let call = Call { id, model: model.clone(), usage: *usage, ..Call::default() };
        Some(Asked { call, time: entry.time, cancelled: *cancelled })
    }

    /// The call, where it has usage: it was made, and paid for.
    fn paid(self) -> Option<Call> {
        Some(self.call).filter(|call| call.usage.is_some())
    }
}

/// What a request is known by in copies of its task, whatever their folders are called: when the task began and when the request, and the size of
/// its prompt. Empty where a time is missing.
fn known_as(entries: &[Shown], request: &Shown, usage: Option<Usage>) -> String {
    let began = entries.first().and_then(|entry| entry.time);
    let prompt = usage.map_or(0, |usage| usage.prompt);
    began.zip(request.time).map_or_else(String::new, |(began, asked)| format!("{began}@{asked}-{prompt}"))
}

/// The call, where it was answered: providers that report no usage leave zeros.
fn made(chain: &mut Chain, call: Call, answered: bool) -> Option<Call> {
    if call.usage.is_none() && !answered {
        chain.broken = true;
        return None;
    }
    Some(Call { unchained: chain.link(&call.model), ..call })
}

fn compaction(before: usize, summary: Option<Text>, time: Option<i64>) -> Compaction {
    Compaction { before, summary, time, ..Compaction::default() }
}

/// An entry of the conversation that was listed.
struct Listed {
    /// The index of its first message.
    at: usize,
    time: Option<i64>,
    is_reply: bool,
    /// The model and the usage that stand with the reply itself.
    model: String,
    usage: Option<Usage>,
    /// The agent ends the reply by saying that its request was broken off.
    broken_off: bool,
}

/// How the agent ends a reply that did not come to its end. One that it cuts behind a call of a tool was answered.
const BROKEN_OFF: [&str; 2] = ["[Response interrupted by API Error]", "[Response interrupted by user]"];

/// A task from its conversation, with what the screen's list says of its requests.
pub fn from_conversation(id: String, entries: &[Shown], scale: &dyn Scale, source: &mut Source) -> Transcript {
    let mut transcript = Transcript { id, agent: READER.name.to_owned(), ..Transcript::default() };
    let mut tools = Tools::default();
    let mut weigher = Weigher::new(scale, &mut tools);
    let mut listed: Vec<Listed> = Vec::new();
    let mut marks: Vec<Option<String>> = Vec::new();
    each_piece(source, &[("", Take::Elements)], |source, piece| {
        let at = transcript.messages.len();
        let (mut time, mut model, mut usage, mut broken_off) = (None, String::new(), None, false);
        piece.take(source, |spoken: Spoken, lose| {
            time = spoken.ts.filter(|time| time.is_finite()).map(|time| time as i64);
            model = spoken.model_info.as_ref().map_or_else(String::new, |info| info.model_id.to_string());
            broken_off = words(&spoken).last().is_some_and(|text| BROKEN_OFF.iter().any(|mark| text.ends_with(mark)));
            usage = sound(spoken.usage(), lose).map(|usage| Usage { output_is_final: usage.output_is_final && !broken_off, ..usage });
            if spoken.is_summary == Some(true) || spoken.is_truncation_marker == Some(true) {
                let text = words(&spoken);
                let summary = (spoken.is_summary == Some(true)).then(|| scale.weigh_summary(&text.join("\n"))).flatten();
                transcript.compactions.push(Compaction { kept_from: Some(at), ..compaction(at, summary, time) });
                marks.push((spoken.is_truncation_marker == Some(true)).then(|| spoken.truncation_id.to_string()));
            } else {
                let said = messages(&spoken, &mut weigher, lose).into_iter();
                transcript.messages.extend(said.map(|message| Message { time: message.time.or(time), ..message }));
            }
        });
        // Sealed reasoning may be an entry of its own, before the reply that it belongs to.
        let is_reply = transcript.messages.get(at).is_some_and(|message| message.role == Role::Assistant);
        listed.push(Listed { at, time, is_reply, model, usage, broken_off });
    });
    assign(&mut transcript, entries, listed, &marks);
    transcript
}

fn words<'s>(spoken: &'s Spoken<'_>) -> Vec<&'s str> {
    let text = |block: &'s Block<'_, _>| match block {
        Block::Text(text) => Some(text.as_ref()),
        Block::Object(crate::format::wire::anthropic::Piece { kind, text, .. }) => (&**kind == "text").then_some(&**text),
        Block::Other => None,
    };
    spoken.content.0.iter().filter_map(text).collect()
}

/// The messages that one entry stands for. Where tools are called in prose, their results are prose as well.
fn messages(spoken: &Spoken<'_>, weigher: &mut Weigher<'_>, lose: &mut dyn FnMut(&str)) -> Vec<Message> {
    match &*spoken.role {
        "assistant" => weigher.messages(Role::Assistant, &spoken.content, lose),
        "user" => {
            let texts = words(spoken);
            let prose = texts.len() == spoken.content.0.len();
            if prose { vec![request::message(&texts, weigher.scale)] } else { weigher.messages(Role::User, &spoken.content, lose) }
        }
        _ => {
            lose("message of an unknown role");
            Vec::new()
        }
    }
}

/// Gives each reply the request that it answers, and each compaction of the screen's list its place. `marks` has the conversation's own
/// compactions: the ids of its markers of truncation, none of its summaries.
fn assign(transcript: &mut Transcript, entries: &[Shown], listed: Vec<Listed>, marks: &[Option<String>]) {
    let mut requests: Vec<Option<Asked>> = listed.iter().map(|_| None).collect();
    let mut next = 0;
    // Where some have usage and nothing tells which reply is whose, a request without it is one that was not answered.
    let all_without = entries.iter().all(|entry| !matches!(entry.kind, Kind::Request { usage: Some(_), .. }));
    // The conversation's own compactions that no entry of the screen describes yet, in order: what the screen alone tells comes behind them.
    let mut condensed: Vec<usize> = (0..marks.len()).collect();
    for entry in entries {
        // The first reply after the request: by the place that is noted, by time, or simply the next one.
        let (from, is_told) = match (entry.place, entry.time) {
            (Some(place), _) => (place, true),
            (None, Some(time)) if listed.iter().any(|one| one.time.is_some()) => {
                (listed.iter().position(|one| one.time.is_some_and(|said| said >= time)).unwrap_or(listed.len()), true)
            }
            _ => (next, false),
        };
        let target = listed.iter().enumerate().skip(from).find(|(_, one)| one.is_reply).map(|(index, _)| index);
        match &entry.kind {
            Kind::Request { usage, cancelled, .. } => {
                let asked = Asked::of(entries, entry);
                let (beside, answers) = match target.and_then(|target| requests.get_mut(target)) {
                    // A request that was tried again was made, and paid for.
                    Some(slot) if usage.is_some() || slot.as_ref().is_none_or(|earlier| earlier.call.usage.is_none()) => {
                        (std::mem::replace(slot, asked), usage.is_some() || !cancelled && (is_told || all_without))
                    }
                    _ => (asked, false),
                };
                transcript.side_calls.extend(beside.and_then(Asked::paid));
                next = target.filter(|_| answers).map_or(next, |target| target + 1);
            }
            Kind::Deleted { last } => {
                let before = target.and_then(|target| listed.get(target)).map_or(transcript.messages.len(), |one| one.at);
                let kept = usize::try_from(*last).ok().and_then(|last| listed.get(last.checked_add(1)?)).map(|one| one.at);
                transcript.compactions.push(Compaction { kept_from: kept, ..compaction(before, None, entry.time) });
            }
            Kind::Condensed { before, after, truncation_id, .. } => {
                let is_named =
                    |place: &usize| !truncation_id.is_empty() && matches!(marks.get(*place), Some(Some(id)) if id == truncation_id);
                let next = condensed.iter().position(is_named).unwrap_or(0);
                let place = (next < condensed.len()).then(|| condensed.remove(next));
                if let Some((place, compaction)) = place.and_then(|place| Some((place, transcript.compactions.get_mut(place)?))) {
                    (compaction.tokens_before, compaction.tokens_after) = (*before, *after);
                    // A marker of truncation stands where it cuts: the screen shows when that was.
                    if marks.get(place).is_some_and(Option::is_some) {
                        let asked = target.and_then(|target| listed.get(target)).map_or(transcript.messages.len(), |one| one.at);
                        (compaction.before, compaction.time) = (compaction.before.max(asked), entry.time.or(compaction.time));
                    }
                }
            }
            Kind::Said { .. } | Kind::Tool { .. } => {}
        }
    }
    transcript.compactions.arrange_by_key(|compaction| compaction.before);
    let mut calls = Chain::default();
    let mut compacted = transcript.compactions.iter().map(|compaction| compaction.before).peekable();
    for (one, request) in listed.into_iter().zip(requests) {
        if !one.is_reply {
            continue;
        }
        while compacted.next_if(|before| *before <= one.at).is_some() {
            calls.broken = true;
        }
        let Asked { call, time, cancelled } = request.unwrap_or_default();
        let model = if call.model.is_empty() { one.model } else { call.model };
        let usage = call.usage.or(one.usage);
        let call = made(&mut calls, Call { model, usage, ..call }, !cancelled && !one.broken_off);
        if let Some(message) = transcript.messages.get_mut(one.at).filter(|message| message.role == Role::Assistant) {
            message.call = call.map(Box::new);
            message.time = message.time.or(time);
        }
    }
}
