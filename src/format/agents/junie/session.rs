//! A session, put together from what the screen showed.

use super::record::{Event, Record, Spent};
use crate::format::ground::count::ABSURD;
use crate::format::ground::json::compact;
use crate::transcript::{Call, Message, NamedWindows, Part, Role, Scale, Transcript};
use std::collections::HashSet;

/// Takes the reason for something that could not be used.
type Lose<'a> = &'a mut dyn FnMut(&str);

/// Events of an agent that say nothing of the conversation.
const SILENT: [&str; 8] = [
    "AgentCurrentStatusUpdatedEvent",
    "CurrentDirectoryUpdatedEvent",
    "EnvironmentVariablesUpdatedEvent",
    "TipSuggestionCreatedEvent",
    "AgentTaskNameUpdatedEvent",
    "AgentPatchCreatedEvent",
    "NextPromptSuggestionEvent",
    "",
];

/// What came one after the other. Which requests belong to the conversation is known only later.
enum Item {
    User(Message),
    /// A part of the reply.
    Part(Part, Option<i64>),
    Result(Message),
    Request(Call, bool),
}

pub struct Session<'s> {
    scale: &'s dyn Scale,
    items: Vec<Item>,
    /// Blocks that were seen, and those that have ended.
    begun: HashSet<String>,
    ended: HashSet<String>,
    windows: NamedWindows,
    is_reported: bool,
}

impl<'s> Session<'s> {
    pub fn new(scale: &'s dyn Scale) -> Session<'s> {
        let (begun, ended, windows) = (HashSet::new(), HashSet::new(), NamedWindows::default());
        Session { scale, items: Vec::new(), begun, ended, windows, is_reported: false }
    }

    pub fn record(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        let time = record.timestamp_ms.filter(|time| *time > 0);
        match (&*record.kind, &record.event) {
            ("UserPromptEvent", _) => {
                let parts = vec![Part::Text(self.scale.weigh(&record.prompt))];
                let id = record.request_id.id().to_owned();
                self.items.push(Item::User(Message { id, time, ..Message::new(Role::User, parts) }));
            }
            ("SessionA2uxEvent", Some(wrapped)) => self.event(&wrapped.agent_event, time, lose),
            ("TaskStartedEvent" | "UserMessagesCommittedToHistory" | "TaskState", _) => {}
            _ => lose("unknown record type"),
        }
    }

    fn event(&mut self, event: &Event<'_>, time: Option<i64>, lose: Lose<'_>) {
        let of_main = matches!(&*event.agent.kind, "" | "MainAgent");
        match &*event.kind {
            "LlmResponseMetadataEvent" => {
                event.model_usage.iter().for_each(|spent| self.request(spent, time, lose));
            }
            _ if SILENT.contains(&&*event.kind) => {}
            _ if !of_main => lose("event of a sub-agent"),
            "ContextWindowReportEvent" => self.report(event, lose),
            "AgentThoughtBlockUpdatedEvent" => {
                if self.begun.insert(event.step_id.to_string()) {
                    self.items.push(Item::Part(Part::Thinking { text: self.scale.weigh(&event.text), sealed_bytes: 0 }, time));
                }
            }
            "ResultBlockUpdatedEvent" => {
                if self.begun.insert(event.step_id.to_string()) {
                    self.items.push(Item::Part(Part::Text(self.scale.weigh(&event.result)), time));
                }
            }
            kind => match kind.strip_suffix("BlockUpdatedEvent") {
                Some(name) => {
                    if !matches!(name, "Terminal" | "FileChanges") {
                        lose("unknown kind of block");
                    }
                    self.block(name, event, time);
                }
                None => lose("unknown record type"),
            },
        }
    }

    fn request(&mut self, spent: &Spent<'_>, time: Option<i64>, lose: Lose<'_>) {
        match spent.usage() {
            Ok(Some(usage)) => {
                let id = format!("{}-{}-{}", time.unwrap_or_default(), usage.prompt, usage.output);
                let call = Call { id, model: spent.model.to_string(), usage: Some(usage), unchained: false };
                self.items.push(Item::Request(call, false));
            }
            Ok(None) => {}
            Err(_) => lose(ABSURD),
        }
    }

    /// The size of the context is that of the last request of the conversation.
    fn report(&mut self, event: &Event<'_>, lose: Lose<'_>) {
        let (Ok(Some(used)), Ok(size)) = (event.used.known(), event.size.known()) else { return lose(ABSURD) };
        self.is_reported = true;
        let fits = |item: &&mut Item| matches!(item, Item::Request(call, _) if call.usage.is_some_and(|usage| usage.prompt == used));
        match self.items.iter_mut().rev().find(fits) {
            Some(Item::Request(call, own)) => {
                *own = true;
                if let Some(size) = size {
                    self.windows.name(&call.model, size);
                }
            }
            _ => lose("size of the context that is no request's"),
        }
    }

    fn block(&mut self, name: &str, event: &Event<'_>, time: Option<i64>) {
        let id = event.step_id.to_string();
        if self.begun.insert(id.clone()) {
            let arguments = match event.changes {
                Some(changes) => compact(changes.get()).into_owned(),
                None => event.command.to_string(),
            };
            let part = Part::ToolCall { id: id.clone(), name: name.to_owned(), arguments: self.scale.weigh(&arguments) };
            self.items.push(Item::Part(part, time));
        }
        if !matches!(&*event.status, "" | "IN_PROGRESS") && self.ended.insert(id.clone()) {
            let text = self.scale.weigh_result(&event.output);
            let error = &*event.status != "COMPLETED";
            let part = Part::ToolResult { call_id: id, name: name.to_owned(), text, error };
            self.items.push(Item::Result(Message { time, ..Message::new(Role::Tool, vec![part]) }));
        }
    }

    /// The session, with each request of the conversation at the reply that follows it.
    pub fn finish(self, id: String, lose: Lose<'_>) -> Transcript {
        let mut transcript = Transcript { id, ..Transcript::default() };
        let mut waiting: Option<Call> = None;
        let mut open = None;
        let mut called = String::new();
        if !self.is_reported && self.items.iter().any(|item| matches!(item, Item::Request(..))) {
            lose("requests of which no report of the context's size tells whose they are");
        }
        for item in self.items {
            match item {
                Item::User(message) | Item::Result(message) => {
                    open = None;
                    transcript.messages.push(message);
                }
                Item::Request(call, false) => transcript.side_calls.push(call),
                Item::Request(mut call, true) => {
                    call.unchained = !called.is_empty() && called != call.model;
                    called.clone_from(&call.model);
                    open = None;
                    transcript.side_calls.extend(waiting.replace(call));
                }
                Item::Part(part, time) => match open.and_then(|at: usize| transcript.messages.get_mut(at)) {
                    Some(message) => message.parts.push(part),
                    None => {
                        open = Some(transcript.messages.len());
                        let call = waiting.take();
                        transcript.messages.push(Message { time, call, ..Message::new(Role::Assistant, vec![part]) });
                    }
                },
            }
        }
        transcript.side_calls.extend(waiting);
        transcript.window = self.windows.of(transcript.main_model());
        transcript
    }
}
