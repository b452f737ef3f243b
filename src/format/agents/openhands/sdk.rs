//! Runs of OpenHands' SDK (version 1): events with a `kind`, turned back into the conversation that the model saw.

use super::sdk_record::{Action, Condensation, Event, Observation, Piece, Said, Spoken, State, SystemPrompt, Thought};
use super::shown::by_the_sdk;
use super::spent::Spent;
use crate::format::ground::{Lose, Words, fault, image, millis, text_or_json};
use crate::format::recorder::{Recorder, definitions};
use crate::format::wire::blocks::{Block, Blocks};
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript};
use serde::Deserialize;
use std::collections::HashMap;

/// Is this the kind of an event that is in no prompt? It is what the program tells its screens and its other half, and what
/// another agent that works for it (by the Agent Client Protocol) does in a context of its own.
fn is_unseen(kind: &str) -> bool {
    match kind {
        "ACPToolCallEvent"
        | "CondensationRequest"
        | "CondensationSummaryEvent"
        | "ConversationErrorEvent"
        | "ConversationStateUpdateEvent" => true,
        "HookExecutionEvent" | "InterruptEvent" | "LLMCompletionLogEvent" | "PauseEvent" | "ResumeTranscriptEvent" => true,
        kind => matches!(kind, "SecurityAnalysisEvent" | "ServerErrorEvent" | "StreamingDeltaEvent" | "TokenEvent"),
    }
}

/// Is this the kind of an event of the SDK?
pub fn is_kind(kind: &str) -> bool {
    match kind {
        "ActionEvent" | "AgentErrorEvent" | "Condensation" | "MessageEvent" | "ObservationEvent" | "SystemPromptEvent" => true,
        kind => kind == "UserRejectObservation" || is_unseen(kind),
    }
}

/// A run as far as its events have come.
pub struct Run<'s> {
    /// The session so far.
    made: Recorder<'s>,
    /// The message that each response became: one may lead to several events.
    replies: HashMap<String, usize>,
    /// The message that each event became, in their order; condensations name events.
    places: Vec<(String, usize)>,
    spent: Spent,
    /// The instructions changed since the last call.
    changed: bool,
}

impl<'s> Run<'s> {
    /// No event yet, of a session with this id.
    pub fn new(id: String, version: String, spent: Spent, scale: &'s dyn Scale) -> Run<'s> {
        let mut made = Recorder::new(super::READER.name, id, scale);
        made.transcript.version = version;
        Run { made, replies: HashMap::new(), places: Vec::new(), spent, changed: false }
    }

    /// Takes in the next event.
    pub fn event(&mut self, text: &str, lose: Lose<'_>) {
        let event = match serde_json::from_str::<Event>(text) {
            Ok(event) => event,
            Err(error) => return lose(fault(&error, false)),
        };
        let known = match &*event.kind {
            "SystemPromptEvent" | "SystemPromptUpdateEvent" => decode(text).map(|prompt| self.system(&event, prompt)),
            "MessageEvent" => decode(text).and_then(|said| self.message(&event, said)),
            "ActionEvent" => decode(text).zip(decode(text)).map(|(action, thought)| self.action(&event, action, &thought)),
            "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => decode(text).map(|seen| self.observation(&event, seen)),
            "Condensation" => decode(text).map(|condensation| self.condensation(&event, condensation)),
            "ConversationStateUpdateEvent" => decode(text).map(|state: State| self.spent.state(&state, lose)),
            kind if is_unseen(kind) => Some(()),
            _ => return lose("unknown record type"),
        };
        if known.is_none() {
            lose("record of an unexpected shape");
        }
    }

    /// The session, with what is left of the usage.
    pub fn finish(mut self) -> Transcript {
        self.made.transcript.side_calls.extend(self.spent.rest());
        self.made.transcript
    }

    fn system(&mut self, event: &Event, prompt: SystemPrompt) {
        let mut parts = Vec::from_iter(definitions(self.made.scale, prompt.tools));
        for text in [&prompt.system_prompt, &prompt.dynamic_context] {
            parts.extend(self.content(text));
        }
        self.changed = !self.made.transcript.messages.is_empty();
        self.push(Role::System, parts, event);
    }

    fn message(&mut self, event: &Event, said: Said) -> Option<()> {
        let message = said.llm_message?.get();
        let (message, thought) = (decode::<Spoken>(message)?, decode::<Thought>(message)?);
        let mut parts = self.thoughts(&thought);
        parts.extend(self.content(&message.content));
        parts.extend(self.content(&said.extended_content));
        match &*message.role {
            "assistant" => self.reply(&said.llm_response_id, parts, event),
            "system" => self.push(Role::System, parts, event),
            _ => {
                self.push(Role::User, parts, event);
                if let Some(message) = self.made.transcript.messages.last_mut() {
                    message.synthetic = &*event.source != "user";
                }
            }
        }
        Some(())
    }

    fn action(&mut self, event: &Event, action: Action, thought: &Thought) {
        let call = action.tool_call.unwrap_or_default();
        let (id, name, arguments) = call.told();
        let id = if id.is_empty() { &action.tool_call_id } else { id };
        let name = if name.is_empty() { &action.tool_name } else { name };
        let arguments = self.made.scale.weigh(&text_or_json(arguments));
        let call = Part::ToolCall { id: id.to_string(), name: name.to_string(), arguments };
        // Calls that the model asked for at once are an event each.
        let together = self.replies.get(&*action.llm_response_id).copied();
        if let Some(place) = together.filter(|_| !action.llm_response_id.is_empty()) {
            self.made.transcript.messages.get_mut(place).into_iter().for_each(|message| message.parts.push(call.clone()));
            self.places.push((event.id.to_string(), place));
            return;
        }
        let mut parts = self.thoughts(thought);
        parts.extend(self.content(&action.thought));
        parts.push(call);
        self.reply(&action.llm_response_id, parts, event);
    }

    fn reply(&mut self, response: &str, parts: Vec<Part>, event: &Event) {
        if !response.is_empty() {
            self.replies.insert(response.to_owned(), self.made.next());
        }
        self.push(Role::Assistant, parts, event);
        let (usage, model) = self.spent.of_reply(response);
        let call = Call { id: response.to_owned(), model, usage, unchained: std::mem::take(&mut self.changed), ..Call::default() };
        if let Some(message) = self.made.transcript.messages.last_mut() {
            message.call = Some(Box::new(call));
        }
    }

    fn observation(&mut self, event: &Event, seen: Observation) {
        let observed = seen.observation.unwrap_or_default();
        let mut texts: Vec<String> = [&observed.content, &seen.extended_content].into_iter().flat_map(texts).collect();
        // Older versions keep the text under names of the tool's own.
        if texts.iter().all(String::is_empty) {
            texts = [&observed.output, &observed.text].into_iter().flat_map(self::texts).collect();
        }
        let refused = match &*event.kind {
            "AgentErrorEvent" => seen.error.to_string(),
            "UserRejectObservation" => format!("Action rejected: {}", &*seen.rejection_reason),
            _ => String::new(),
        };
        texts.extend(Some(refused).filter(|text| !text.is_empty()));
        let error =
            &*event.kind != "ObservationEvent" || observed.is_error == Some(true) || observed.exit_code.is_some_and(|code| code > 0);
        let text = self.made.scale.weigh_result(&by_the_sdk(&texts.join("\n")));
        let (call_id, name) = (seen.tool_call_id.to_string(), seen.tool_name.to_string());
        let mut parts = vec![Part::ToolResult { call_id, name, text, error }];
        parts.extend(pictures(&observed.content));
        self.push(Role::Tool, parts, event);
    }

    /// Some events are forgotten; those before them stay, as do those after them.
    fn condensation(&mut self, event: &Event, condensation: Condensation) {
        let forgotten = |id: &str| condensation.forgotten_event_ids.iter().any(|other| **other == *id);
        let after = self.places.iter().rposition(|(id, _)| forgotten(id)).map(|last| last + 1);
        let kept_from = after.and_then(|after| Some(self.places.get(after)?.1));
        let (usage, model) = self.spent.of_condensation(&condensation.llm_response_id);
        let id = condensation.llm_response_id.to_string();
        self.made.compact(Compaction {
            automatic: Some(true),
            summary: self.made.scale.weigh_summary(&condensation.summary),
            kept_from,
            call: usage.map(|usage| Call { id, model, usage: Some(usage), unchained: false, ..Call::default() }),
            time: millis(&event.timestamp),
            ..Compaction::default()
        });
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, event: &Event) {
        self.places.push((event.id.to_string(), self.made.next()));
        self.made.push(Message { time: millis(&event.timestamp), ..Message::new(role, parts) });
    }

    fn content(&self, content: &Blocks<Piece>) -> Vec<Part> {
        let texts = texts(content).filter(|text| !text.is_empty()).map(|text| self.made.text(&text));
        texts.chain(pictures(content)).collect()
    }

    /// Reasoning in the form that it is sent back in; what else there is repeats it.
    fn thoughts(&self, thought: &Thought) -> Vec<Part> {
        let blocks = thought.thinking_blocks.iter().flatten();
        let blocks = blocks.map(|block| self.made.thinking(&block.thinking, block.signature.len() + block.data.len()));
        let item = thought.responses_reasoning_item.iter().map(|item| {
            let texts: Vec<&str> = item.summary.iter().chain(&item.content).flatten().map(|text| &**text).collect();
            self.made.thinking(&texts.join("\n"), item.encrypted_content.len())
        });
        let mut parts: Vec<Part> = blocks.chain(item).collect();
        if parts.is_empty() && !thought.reasoning_content.is_empty() {
            parts.push(self.made.thinking(&thought.reasoning_content, 0));
        }
        parts
    }
}

fn decode<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    serde_json::from_str(text).ok()
}

fn texts<'c>(content: &'c Blocks<Piece>) -> impl Iterator<Item = String> + 'c {
    content.0.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.to_string()),
        Block::Object(piece) if piece.image_urls.is_none() => Some(piece.text.to_string()),
        Block::Object(_) | Block::Other => None,
    })
}

fn pictures<'c>(content: &'c Blocks<Piece>) -> impl Iterator<Item = Part> + 'c {
    let urls = content.objects().flat_map(|piece: &Piece| piece.image_urls.iter().flatten());
    urls.map(|url: &Words| Part::Image(image::from_data_url(url)))
}
