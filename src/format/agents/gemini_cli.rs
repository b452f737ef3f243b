//! Gemini CLI: `tmp/<project>/chats/session-*.json`, since 2026 `.jsonl`.
//!
//! The newer files are a journal: records with the same id replace each other, `$rewindTo` takes messages back, and `$set.messages`
//! puts a new list in the place of the old one (after a compression, or to take an aborted turn back).

use crate::format::ground::{ABSURD, Absurd, Count, Lose, ReadError, Source, Take, Words, compact, each_piece, millis, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::usage::{Reasoning, Reported};
use crate::format::wire::blocks::Blocks;
use crate::format::wire::google::{Content, Piece, piece, text_of};
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript, Usage};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Gemini CLI chat recordings.
pub const READER: Reader =
    Reader { name: "gemini-cli", about: "Gemini CLI chats (~/.gemini/tmp/*/chats/session-*.json, .jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let head = outline.shows("sessionId projectHash|startTime !messages[].role|chatMessages|type");
    // A conversation that the user saved is the model's context and nothing else.
    let saved = ["[].", "history[]."].iter().any(|at| outline.shows_at(at, "parts role"));
    Claim::when(head || saved)
}

wire! {
    /// A line of a journal; an old file is one such record with all messages in it.
    struct Record<'a> {
        session_id: Words<'a> = "sessionId",
        kind: Words<'a>,
        messages: Option<Vec<Entry<'a>>>,
        set: Option<Box<Record<'a>>> = "$set",
        rewind_to: Option<Words<'a>> = "$rewindTo",
        // A record that is a message itself.
        id: Words<'a>,
        timestamp: Words<'a>,
        role: Words<'a> = "type",
        content: Blocks<'a, Piece<'a>>,
        thoughts: Option<Vec<Thought<'a>>>,
        tokens: Option<Tokens>,
        model: Words<'a>,
        tool_calls: Option<Vec<ToolCall<'a>>> = "toolCalls",
    }

    struct Thought<'a> { subject: Words<'a>, description: Words<'a> }

    /// `input` includes the cached ones; `thoughts` are not in `output`; `tool` is what server-side tools added to the prompt.
    struct Tokens {
        input: Count,
        output: Count,
        cached: Count,
        thoughts: Count,
        tool: Count,
    }

    struct ToolCall<'a> {
        id: Words<'a>,
        name: Words<'a>,
        args: Option<&'a RawValue>,
        result: Blocks<'a, Piece<'a>>,
        status: Words<'a>,
    }
}

/// A message is a record without the journal's commands.
type Entry<'a> = Record<'a>;

impl Tokens {
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        // Errors and cancelled requests are recorded with zeros, and so is what a provider reported nothing of.
        let (input, tool) = (self.input.or_zero()?, self.tool.or_zero()?);
        let reported = Reported {
            input: Count::Sound(input + tool),
            cache_read: self.cached,
            output: self.output,
            reasoning: self.thoughts,
            reasoned: Reasoning::Beside,
            ..Reported::default()
        };
        Ok(reported.usage()?.filter(|_| input > 0))
    }
}

/// A conversation that `/chat save` wrote (`checkpoint-*.json`): it holds no usage, and no model is named.
fn saved(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) {
    let mut made = Recorder::new(READER.name, source.name(), scale);
    each_piece(source, &[("history", Take::Elements)], |source, taken| {
        taken.take(source, |content: Content, lose| {
            let role = match &*content.role {
                "user" | "function" => Role::User,
                "model" => Role::Assistant,
                _ => return lose("message of an unknown role"),
            };
            let (mut parts, mut results) = (Vec::new(), Vec::new());
            content.parts.0.iter().for_each(|block| piece(block, scale, &mut parts, &mut results, lose));
            results.into_iter().for_each(|result| made.list(Role::Tool, vec![result]));
            if !parts.is_empty() {
                let call = (role == Role::Assistant).then(Call::default);
                made.push(Message { call: call.map(Box::new), ..Message::new(role, parts) });
            }
        });
    });
    made.end(source, hand_over);
}

const MARKS: &[Mark] = &[
    Mark::Line("IMPORTANT: The file content has been truncated."),
    Mark::Start("Output too large. Showing "),
    Mark::Line("... [CONTENT TRUNCATED] ..."),
    Mark::Start("<tool_output_masked>"),
];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    if !source.outline().has("sessionId") && ["[].parts", "history[].parts"].iter().any(|key| source.outline().has(key)) {
        saved(source, scale, hand_over);
        return Ok(());
    }
    let mut session = Session::new(scale, source);
    // The old files are printed over lines.
    source.each_text(&[], |source, text, number, at_end| {
        source.values_of(text, number, at_end, |record: Record, lose| session.take(&record, Depth::Journal, lose));
    })?;
    // A file of which nothing could be read has no session, and neither has a chat in which nothing was said.
    session.finish().into_iter().for_each(hand_over);
    Ok(())
}

/// A message as it stands in the journal now, with the results of its tools.
struct Held {
    message: Message,
    results: Vec<Message>,
    /// The place of the message that this one shows again.
    copy_of: Option<usize>,
}

struct Session<'s> {
    /// Until the end, its compactions and rewinds refer to places in `held`.
    made: Recorder<'s>,
    /// The name of the folder that the file lies in.
    folder: Option<String>,
    held: Vec<Held>,
    /// The places of those that are not withdrawn, ascending.
    live: Vec<usize>,
    /// The same by id.
    by_id: HashMap<String, Vec<usize>>,
    rewind: Option<usize>,
}

impl<'s> Session<'s> {
    fn new(scale: &'s dyn Scale, source: &Source) -> Session<'s> {
        let folder = source.path.parent().and_then(|folder| folder.file_name()).map(|name| name.to_string_lossy().into_owned());
        Session {
            made: Recorder::new(READER.name, source.name(), scale),
            folder,
            held: Vec::new(),
            live: Vec::new(),
            by_id: HashMap::new(),
            rewind: None,
        }
    }

    fn take(&mut self, record: &Record, depth: Depth, lose: Lose<'_>) {
        if let Some(target) = &record.rewind_to {
            self.rewind_to(target);
        } else if let (Some(set), Depth::Journal) = (&record.set, depth) {
            self.take(set, Depth::Patch, lose);
        } else if !record.role.is_empty() {
            self.upsert(record, lose);
        } else {
            self.made.identify(&record.session_id);
            // A sub-agent's chat lies in a folder that has its parent's id.
            if &*record.kind == "subagent" {
                self.made.transcript.parent.clone_from(&self.folder);
            }
            match &record.messages {
                Some(messages) => self.replace(messages, lose),
                None if depth == Depth::Journal && record.session_id.is_empty() => lose("unknown record type"),
                None => {}
            }
        }
    }

    /// The place of the newest message of this id that is not withdrawn.
    fn live(&self, id: &str) -> Option<usize> {
        self.by_id.get(id)?.last().copied()
    }

    /// Takes back this message and all after it; with an unknown id, all.
    fn rewind_to(&mut self, id: &str) {
        let from = self.live(id).unwrap_or(0);
        self.withdraw(from);
    }

    fn withdraw(&mut self, from: usize) {
        let gone = self.live.split_off(self.live.partition_point(|place| *place < from));
        if gone.is_empty() {
            return;
        }
        self.rewind = Some(self.rewind.map_or(from, |earlier| earlier.min(from)));
        for place in gone.into_iter().rev() {
            // What stands before it under the same id is found again.
            if let Some(places) = self.held.get(place).and_then(|held| self.by_id.get_mut(&held.message.id)) {
                places.pop();
            }
        }
    }

    fn hold(&mut self, held: Held) {
        let place = self.held.len();
        self.live.push(place);
        if !held.message.id.is_empty() {
            self.by_id.entry(held.message.id.clone()).or_default().push(place);
        }
        self.held.push(held);
    }

    fn upsert(&mut self, entry: &Entry, lose: Lose<'_>) {
        let Some(mut new) = self.held_of(entry, lose) else { return };
        match self.live(&entry.id).and_then(|index| self.held.get_mut(index)) {
            Some(old) => {
                // A reply is written again as its tools run. Anything else that another message's id names is another message.
                let other =
                    old.message.role != new.message.role || new.message.role == Role::User && old.message.parts != new.message.parts;
                if other {
                    lose("message with the id of another one");
                }
                new.message.rewind = old.message.rewind;
                // A second showing is no new call.
                new.copy_of = old.copy_of;
                new.message.call = new.message.call.filter(|_| old.copy_of.is_none());
                *old = new;
            }
            None => {
                new.message.rewind = self.rewind.take();
                self.hold(new);
            }
        }
    }

    /// Puts a message that was taken back behind all others, as no new one.
    fn show_again(&mut self, index: usize) {
        let Some(held) = self.held.get(index) else { return };
        let message = Message { call: None, rewind: self.rewind.take(), ..held.message.clone() };
        let (results, copy_of) = (held.results.clone(), held.copy_of.or(Some(index)));
        self.hold(Held { message, results, copy_of });
    }

    /// Puts a new list in the place of the live one, and tells by it what happened.
    fn replace(&mut self, messages: &[Entry], lose: Lose<'_>) {
        let spoken = |entry: &&Entry| matches!(&*entry.role, "user" | "gemini");
        let new: Vec<&Entry> = messages.iter().filter(spoken).collect();
        let same = |(entry, index): &(&&Entry, &usize)| self.live(&entry.id) == Some(**index);
        let common = new.iter().zip(&self.live).take_while(same).count();
        let parting = self.live.get(common).copied();
        if parting.is_none() || common == new.len() {
            // The list goes on, or it was cut: an aborted turn taken back.
            parting.into_iter().for_each(|first| self.withdraw(first));
            for entry in messages {
                self.upsert(entry, lose);
            }
            return;
        }
        let known: Option<Vec<usize>> = new.iter().map(|entry| self.live(&entry.id)).collect();
        if let Some(known) = known {
            // Nothing is new, so that nothing was summarised: the conversation went back to what is left.
            parting.into_iter().for_each(|first| self.withdraw(first));
            known.into_iter().skip(common).for_each(|index| self.show_again(index));
            return;
        }
        let kept_from = new.iter().filter_map(|entry| self.live(&entry.id)).min();
        let summary = new.iter().find(|entry| self.live(&entry.id).is_none());
        let summary = summary.and_then(|entry| self.made.scale.weigh_summary(&text_of(&entry.content)));
        self.made.transcript.compactions.push(Compaction { before: self.held.len(), summary, kept_from, ..Compaction::default() });
        // What follows the newest message that is known has arrived since; what stands before it is the summary and its answer.
        let newest = new.iter().rposition(|entry| self.live(&entry.id).is_some());
        for entry in newest.map_or(&[][..], |newest| new.get(newest + 1..).unwrap_or_default()) {
            self.upsert(entry, lose);
        }
    }

    fn held_of(&self, entry: &Entry, lose: Lose<'_>) -> Option<Held> {
        let role = match &*entry.role {
            "user" => Role::User,
            "gemini" => Role::Assistant,
            // Lines on the screen, which the model never sees.
            "info" | "warning" | "error" => return None,
            _ => {
                lose("unknown record type");
                return None;
            }
        };
        let time = millis(&entry.timestamp);
        let mut message = Message { id: entry.id.to_string(), time, ..Message::new(role, Vec::new()) };
        let thoughts: Vec<String> =
            entry.thoughts.iter().flatten().map(|thought| format!("{}\n{}", &*thought.subject, &*thought.description)).collect();
        if !thoughts.is_empty() {
            message.parts.push(self.made.thinking(&thoughts.join("\n\n"), 0));
        }
        // What a tool answered stands in messages of its own.
        let (mut results, thoughts) = (Vec::new(), message.parts.len());
        for block in &entry.content.0 {
            piece(block, self.made.scale, &mut message.parts, &mut results, lose);
        }
        let mut answered = message.parts.len() > thoughts;
        let mut results: Vec<Message> = results.into_iter().map(|part| Message { time, ..Message::new(Role::Tool, vec![part]) }).collect();
        for call in entry.tool_calls.iter().flatten() {
            let arguments = self.made.scale.weigh(&call.args.map_or_else(Default::default, |args| compact(args.get())));
            message.parts.push(Part::ToolCall { id: call.id.to_string(), name: call.name.to_string(), arguments });
            let mut pictures = Vec::new();
            let mut answers = Vec::new();
            for block in &call.result.0 {
                piece(block, self.made.scale, &mut pictures, &mut answers, lose);
            }
            results.extend(self.result(call, pictures, answers, time));
            answered |= &*call.status != "cancelled";
        }
        if role == Role::Assistant {
            let usage = entry.tokens.as_ref().map_or(Ok(None), Tokens::usage);
            // A reply without words, tools or usage is what a request that failed leaves behind.
            let called = answered && !self.goes_on(&message) || !matches!(usage, Ok(None));
            if usage.is_err() {
                lose(ABSURD);
            }
            let (id, model) = (entry.id.to_string(), entry.model.to_string());
            message.call = called.then(|| Box::new(Call { id, model, usage: usage.ok().flatten(), unchained: false, ..Call::default() }));
        }
        Some(Held { message, results, copy_of: None })
    }

    /// Are these the tools of the reply before, which has the words and the usage? A line on the screen in between parts a reply in two entries.
    fn goes_on(&self, message: &Message) -> bool {
        let calls = |message: &Message| message.parts.iter().filter(|part| matches!(part, Part::ToolCall { .. })).count();
        let before = self.held.iter().rev().map(|held| &held.message).find(|before| before.id != message.id);
        let is_open = |before: &Message| before.call.as_ref().is_some_and(|call| call.usage.is_some()) && calls(before) == 0;
        calls(message) == message.parts.len() && before.is_some_and(is_open)
    }

    /// The message with one call's answer. Pictures and texts beside the answer belong to it.
    fn result(&self, call: &ToolCall, extra: Vec<Part>, mut parts: Vec<Part>, time: Option<i64>) -> Option<Message> {
        if parts.is_empty() && extra.is_empty() {
            return None;
        }
        if parts.is_empty() {
            parts.push(Part::ToolResult { call_id: String::new(), name: String::new(), text: self.made.scale.weigh(""), error: false });
        }
        for part in &mut parts {
            if let Part::ToolResult { call_id, name, error, .. } = part {
                call_id.clone_from(&call.id.to_string());
                name.clone_from(&call.name.to_string());
                *error |= matches!(&*call.status, "error" | "cancelled");
            }
        }
        parts.extend(extra);
        Some(Message { time, ..Message::new(Role::Tool, parts) })
    }

    /// Lays the held messages out in one list and turns places in `held` into places in it.
    fn finish(mut self) -> Option<Transcript> {
        let mut starts = Vec::with_capacity(self.held.len() + 1);
        let mut next = 0;
        for held in &self.held {
            starts.push(next);
            next += 1 + held.results.len();
        }
        starts.push(next);
        let place = |index: usize| starts.get(index).copied().unwrap_or(next);
        for compaction in &mut self.made.transcript.compactions {
            compaction.before = place(compaction.before);
            compaction.kept_from = compaction.kept_from.map(place);
        }
        for Held { mut message, mut results, copy_of, .. } in self.held {
            message.rewind = message.rewind.map(place);
            if let Some(original) = copy_of {
                message.copy_of = Some(place(original));
                // More results than the original had are new ones.
                let shown = place(original) + 1..place(original + 1);
                results.iter_mut().zip(shown).for_each(|(result, at)| result.copy_of = Some(at));
            } else if let Some(call) = &mut message.call {
                call.unchained = self.made.chain.link(&call.model);
            } else if message.role == Role::Assistant {
                self.made.chain.broken = true;
            }
            self.made.push(message);
            self.made.transcript.messages.extend(results);
        }
        self.made.finish()
    }
}

/// Where a record stands: on a line of its own, or inside `$set`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Journal,
    Patch,
}
