//! Records in, a transcript out: what every reader does with what it finds.

use super::ground::{Source, compact, text_or_json};
use crate::transcript::{
    Call, Compaction, CompactionKind, Message, NamedWindows, Part, Role, Scale, Text, Transcript, Trust, Usage, most_frequent,
};
use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

/// Names of tools by the ids of their calls: most results name their call alone.
#[derive(Default)]
pub struct Tools {
    /// Places among the names, by the hashes of the calls' ids: a long session has as many ids as messages.
    calls: FxHashMap<u64, u32>,
    names: Vec<String>,
    places: FxHashMap<String, u32>,
}

impl Tools {
    /// Remembers whose the call of this id is.
    pub fn note(&mut self, id: &str, name: &str) {
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            let place = self.names.len() as u32;
            self.names.push(name.to_owned());
            self.places.insert(name.to_owned(), place);
            place
        });
        self.calls.insert(xxh3_64(id.as_bytes()), place);
    }

    /// A call, which is remembered.
    pub fn call(&mut self, id: &str, name: &str, arguments: Text) -> Part {
        self.note(id, name);
        Part::ToolCall { id: id.to_owned(), name: name.to_owned(), arguments }
    }

    /// Remembers the calls among these parts.
    pub fn note_all(&mut self, parts: &[Part]) {
        for part in parts {
            if let Part::ToolCall { id, name, .. } = part {
                self.note(id, name);
            }
        }
    }

    /// The tool of the call of this id, where it is known.
    pub fn name(&self, id: &str) -> Option<&str> {
        let place = self.calls.get(&xxh3_64(id.as_bytes()))?;
        self.names.get(*place as usize).map(String::as_str)
    }

    /// The result of the call of this id.
    pub fn result(&self, call_id: &str, text: Text, error: bool) -> Part {
        let name = self.name(call_id).unwrap_or_default().to_owned();
        Part::ToolResult { call_id: call_id.to_owned(), name, text, error }
    }
}

/// Tells which calls go on from the one before them.
#[derive(Default)]
pub struct Chain {
    model: String,
    /// Something unseen may have changed in the prompt of the next call.
    pub broken: bool,
}

impl Chain {
    /// The next call is one of this model: is it unchained?
    pub fn link(&mut self, model: &str) -> bool {
        let changed = !self.model.is_empty() && self.model != model;
        model.clone_into(&mut self.model);
        std::mem::take(&mut self.broken) || changed
    }

    /// The model of the last call; empty before the first one.
    pub fn model(&self) -> &str {
        &self.model
    }
}

/// A session as far as it has been read.
pub struct Recorder<'s> {
    /// What measures the session's texts.
    pub scale: &'s dyn Scale,
    /// The session as far as it has been read.
    pub transcript: Transcript,
    /// The tools that were called, by the ids that results name.
    pub tools: Tools,
    /// The calls of the conversation.
    pub chain: Chain,
    /// The windows that the log names.
    pub windows: NamedWindows,
    /// Model and host of each reply, where the log names hosts.
    pub hosts: Vec<(String, String)>,
    /// Where files whose size in tokens is unknown join the conversation, by the place of the next message.
    pub attached: Vec<usize>,
}

impl<'s> Recorder<'s> {
    /// An empty session of this agent.
    pub fn new(agent: &str, id: String, scale: &'s dyn Scale) -> Recorder<'s> {
        let transcript = Transcript { id, agent: agent.to_owned(), ..Transcript::default() };
        Recorder {
            scale,
            transcript,
            tools: Tools::default(),
            chain: Chain::default(),
            windows: NamedWindows::default(),
            hosts: Vec::new(),
            attached: Vec::new(),
        }
    }

    /// The session has this id, where it is one.
    pub fn identify(&mut self, id: &str) {
        if !id.is_empty() {
            id.clone_into(&mut self.transcript.id);
        }
    }

    /// The index of the message that comes next.
    pub fn next(&self) -> usize {
        self.transcript.messages.len()
    }

    /// A part of prose, measured.
    pub fn text(&self, text: &str) -> Part {
        Part::Text(self.scale.weigh(text))
    }

    /// Reasoning, with so many bytes of it sealed.
    pub fn thinking(&self, text: &str, sealed: usize) -> Part {
        thinking(self.scale, text, sealed)
    }

    /// A call of a tool, its arguments a JSON value or the text of one.
    pub fn tool_call(&mut self, id: &str, name: &str, arguments: Option<&RawValue>) -> Part {
        self.tools.call(id, name, self.scale.weigh(&text_or_json(arguments)))
    }

    /// The result of a tool.
    pub fn result(&self, call_id: &str, text: &str, error: bool) -> Part {
        self.tools.result(call_id, self.scale.weigh_result(text), error)
    }

    /// Adds a message behind those that the session has.
    pub fn push(&mut self, message: Message) {
        self.transcript.messages.push(message);
    }

    /// Lists a message of which nothing else is known.
    pub fn list(&mut self, role: Role, parts: Vec<Part>) {
        self.push(Message::new(role, parts));
    }

    /// Lists a reply of which nothing else is known, as one that a call made.
    pub fn reply(&mut self, parts: Vec<Part>) {
        self.push(Message { call: Some(Box::default()), ..Message::new(Role::Assistant, parts) });
    }

    /// The next call of the conversation.
    pub fn call(&mut self, id: impl Into<String>, model: &str, usage: Option<Usage>) -> Call {
        Call { id: id.into(), model: model.to_owned(), usage, unchained: self.chain.link(model), ..Call::default() }
    }

    /// Finds out which of the calls listed so far do not go on from the one before them.
    pub fn link_calls(&mut self) {
        for call in self.transcript.messages.iter_mut().filter_map(|message| message.call.as_mut()) {
            call.unchained = self.chain.link(&call.model);
        }
    }

    /// The provider refuses a request here as too large.
    pub fn refuse(&mut self) {
        self.transcript.refused = true;
        let next = self.next();
        self.transcript.refusals.push(next);
    }

    /// Lists what the agent does to its context here.
    pub fn compact(&mut self, compaction: Compaction) {
        self.transcript.compactions.push(Compaction { before: self.next(), ..compaction });
    }

    /// Lists it, where the next call does not go on from the last one.
    pub fn cut(&mut self, compaction: Compaction) {
        self.compact(compaction);
        self.chain.broken = true;
    }

    /// Notes which prompts hold an attached file: each until a compaction takes it away.
    fn go_beyond(&mut self) {
        let Transcript { messages, compactions, .. } = &mut self.transcript;
        for from in std::mem::take(&mut self.attached) {
            let takes = |event: &&Compaction| {
                event.kind == CompactionKind::Compact && event.before > from && event.kept_from.is_none_or(|kept| kept > from)
            };
            let until = compactions.iter().filter(takes).map(|event| event.before).min().unwrap_or(messages.len());
            for at in from..until {
                let Some(call) = messages.get_mut(at).and_then(|message| message.call.as_mut()) else { continue };
                call.unchained = true;
                call.usage.iter_mut().filter(|usage| usage.trust == Trust::Provider).for_each(|usage| usage.trust = Trust::Beyond);
            }
        }
    }

    /// The session, even where it holds no message.
    pub fn into_transcript(mut self) -> Transcript {
        self.go_beyond();
        // Most logs name no window: models need not be counted then.
        if self.transcript.window.is_none() && self.windows != NamedWindows::default() {
            self.transcript.window = self.windows.of(self.transcript.main_model().as_deref());
        }
        if !self.hosts.is_empty() {
            let main = self.transcript.main_model().unwrap_or_default();
            let hosts = self.hosts.iter().filter(|(model, _)| *model == main).map(|(_, host)| host.as_str());
            self.transcript.host = most_frequent(hosts).map(str::to_owned);
        }
        self.transcript
    }

    /// The session; `None` where nothing was said.
    pub fn finish(self) -> Option<Transcript> {
        Some(self.into_transcript()).filter(|transcript| !transcript.messages.is_empty())
    }

    /// Hands the session over, or counts that it is empty.
    pub fn end(self, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
        end(self.finish(), 0, source, hand_over);
    }

    /// The same, where instructions alone are no session.
    pub fn end_spoken(self, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
        let said = self.transcript.messages.iter().any(|message| message.role != Role::System);
        end(self.finish().filter(|_| said), 0, source, hand_over);
    }
}

/// What a session without messages is counted as.
pub const NO_MESSAGES: &str = "session without messages";

/// Hands a session over, or counts that it is empty.
pub fn end(session: Option<Transcript>, number: u64, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
    match session {
        Some(transcript) => hand_over(transcript),
        None => source.lose(number, NO_MESSAGES),
    }
}

/// The same, where a session is one that has messages.
pub fn end_said(session: Transcript, number: u64, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
    end(Some(session).filter(|session| !session.messages.is_empty()), number, source, hand_over);
}

/// Definitions of tools; `None` where there are none.
pub fn definitions(scale: &dyn Scale, tools: Option<&RawValue>) -> Option<Part> {
    let tools = compact(tools?.get());
    (tools != "[]").then(|| Part::Tools(scale.weigh(&tools)))
}

/// Reasoning, with so many bytes of it sealed.
pub fn thinking(scale: &dyn Scale, text: &str, sealed: usize) -> Part {
    Part::Thinking { text: scale.weigh(text), sealed_bytes: u32::try_from(sealed).unwrap_or(u32::MAX) }
}
