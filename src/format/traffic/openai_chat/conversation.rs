//! One conversation, message by message.

use crate::format::exchange::{openai_responses, weigh};
use crate::format::ground::{ABSURD, Lose, Words, moment, string, wire};
use crate::format::recorder::{Chain, definitions};
use crate::format::wire::ai_sdk;
use crate::format::wire::chat::{Chat, ChatMessage, ChatUsage, message_id, text_of};
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript, Usage};
use serde_json::value::RawValue;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// The name of the reader.
pub const AGENT: &str = "openai-chat";

/// One session as far as it has been read.
pub struct Conversation {
    /// What has been read.
    pub transcript: Transcript,
    /// The model, where a message does not name its own.
    model: String,
    chain: Chain,
    chat: Chat,
    /// The calls whose results stood within them, and the messages that these became.
    answered: HashMap<String, usize>,
    /// Such results of calls without ids, while tools' messages alone follow.
    unnamed: Vec<String>,
}

wire! {
    /// What frameworks keep of a response beside the message.
    struct Metadata<'a> {
        usage: Option<&'a RawValue> = "usage" | "metrics",
        token_usage: Option<&'a RawValue>,
        model_name: Words<'a>,
        model: Words<'a>,
        id: Words<'a>,
        /// The response itself, in which the same is found once more.
        response: Option<Box<Metadata<'a>>>,
    }
}

impl Conversation {
    /// One that holds nothing yet, with its id and the model of its calls, where they are known.
    pub fn new(id: String, model: String) -> Conversation {
        let transcript = Transcript { id, agent: AGENT.to_owned(), ..Transcript::default() };
        let (chain, chat) = (Chain::default(), Chat::default());
        Conversation { transcript, model, chain, chat, answered: HashMap::new(), unnamed: Vec::new() }
    }

    /// Adds the definitions of tools and the messages of a document.
    pub fn all(&mut self, messages: &[ChatMessage], tools: Option<&RawValue>, scale: &dyn Scale, lose: Lose<'_>) {
        self.transcript.messages.extend(definitions(scale, tools).map(|tools| Message::new(Role::System, vec![tools])));
        for message in messages {
            self.message(message, scale, lose);
        }
    }

    /// Adds a message. One of the model's was made by a call, of which the message may hold the usage. One of the AI SDK's screens may stand for several.
    pub fn message(&mut self, written: &ChatMessage, scale: &dyn Scale, lose: Lose<'_>) {
        let Some(steps) = ai_sdk::steps(written, lose) else { return self.one(written, scale, lose) };
        for step in steps.iter().map(ToString::to_string) {
            if let Ok(step) = serde_json::from_str::<ChatMessage>(&step) {
                self.one(&step, scale, lose);
            }
        }
    }

    fn one(&mut self, written: &ChatMessage, scale: &dyn Scale, lose: Lose<'_>) {
        let mut call = Call { id: message_id(written), model: string(written.model), ..Call::default() };
        if &*written.role == "assistant" {
            match recorded(written, &mut call) {
                Ok(usage) => call.usage = usage,
                Err(()) => lose(ABSURD),
            }
        }
        let Some(mut message) = self.chat.message(written, scale, lose) else { return lose("message of an unknown role") };
        message.time = moment(written.timestamp);
        if message.role == Role::Assistant && written.call.is_some_and(|call| call.get() == "false") {
            self.chain.broken = true;
        } else if message.role == Role::Assistant {
            if call.model.is_empty() {
                call.model.clone_from(&self.model);
            }
            if let Some(reply) = self.transcript.messages.last_mut().filter(|last| is_same_reply(last, &call)) {
                return goes_on(reply, message, call);
            }
            call.unchained |= self.chain.link(&call.model);
            message.call = Some(Box::new(call));
        }
        if message.role != Role::Tool {
            self.unnamed.clear();
        } else if self.stands_within(written, &mut message) {
            return lose("result that stands within its call, too");
        }
        self.transcript.messages.push(message);
        // Programs that number the calls of each message use an id again.
        for call in written.tool_calls.iter().flatten() {
            self.answered.remove(call.told().0);
        }
        for (result, words) in self.chat.answers(written, scale) {
            match &result {
                Part::ToolResult { call_id, .. } if !call_id.is_empty() => {
                    self.answered.insert(call_id.clone(), self.transcript.messages.len());
                }
                _ => self.unnamed.push(words),
            }
            self.transcript.messages.push(Message::new(Role::Tool, vec![result]));
        }
    }

    /// Adds the items of a list of the Responses interface, as the OpenAI Agents SDK keeps a conversation.
    pub fn items(&mut self, list: &str, scale: &dyn Scale, lose: Lose<'_>) {
        let (entries, hidden) = openai_responses::items(list, lose);
        for mut message in entries.into_iter().flat_map(|entry| entry.messages) {
            weigh(&mut message, scale);
            if message.role == Role::Assistant {
                let unchained = self.chain.link(&self.model) || hidden;
                message.call = Some(Box::new(Call { model: self.model.clone(), unchained, ..Call::default() }));
            }
            self.transcript.messages.push(message);
        }
    }

    /// A framework may keep the results within the calls and as messages of their own. Such a message takes the place of what stood within the call, unless it is empty.
    fn stands_within(&mut self, written: &ChatMessage, message: &mut Message) -> bool {
        let answered = self.answered.get(&*written.tool_call_id).copied();
        if answered.is_none() && self.unnamed.is_empty() {
            return false;
        }
        let words = text_of(&written.content);
        let alone = message.parts.len() == 1;
        if let Some(at) = answered {
            if !(alone && words.trim().is_empty())
                && let Some(within) = self.transcript.messages.get_mut(at)
            {
                self.answered.remove(&*written.tool_call_id);
                std::mem::swap(within, message);
            }
            return true;
        }
        let same = self.unnamed.iter().position(|within| alone && *within == words);
        same.map(|at| self.unnamed.remove(at)).is_some()
    }

    /// The time beside the messages is that of the one call that they hold.
    pub fn time_of_the_whole(&mut self, time: Option<i64>) {
        let mut replies = self.transcript.messages.iter_mut().filter(|message| message.call.is_some());
        if let (Some(reply), None) = (replies.next(), replies.next()) {
            reply.time = reply.time.or(time);
        }
    }

    /// Usage beside the messages belongs to the one call that they hold. Of several calls it may be the last one's or the sum.
    pub fn usage_of_the_whole(&mut self, usage: Option<&RawValue>, lose: Lose<'_>) {
        let Some(usage) = usage else { return };
        let mut calls = self.transcript.messages.iter_mut().filter_map(|message| message.call.as_mut());
        match (ChatUsage::read(usage), calls.next(), calls.next()) {
            (Err(_), ..) => lose(ABSURD),
            (Ok(usage), Some(call), None) => call.usage = call.usage.or(usage),
            (Ok(Some(_)), ..) => lose(ai_sdk::OF_SEVERAL),
            (Ok(None), ..) => {}
        }
    }
}

/// Does a call whose reply stands right behind this message stand for the same reply? Converters write its thoughts, its words and each of its calls as messages of
/// their own. Each has its own usage, id or model where it was made by a call of its own.
fn is_same_reply(last: &Message, call: &Call) -> bool {
    let other = |one: &str, other: &str| !one.is_empty() && !other.is_empty() && one != other;
    last.call.as_deref().is_some_and(|held| {
        let same = !held.id.is_empty() && held.id == call.id;
        !other(&held.id, &call.id) && !other(&held.model, &call.model) && (same || held.usage.is_none() || call.usage.is_none())
    })
}

/// Adds what stands in the next message of the same reply.
fn goes_on(reply: &mut Message, message: Message, call: Call) {
    reply.parts.extend(message.parts);
    if let Some(held) = &mut reply.call {
        held.usage = call.usage.or(held.usage);
        if held.id.is_empty() {
            held.id = call.id;
        }
        if held.model.is_empty() {
            held.model = call.model;
        }
    }
}

/// What tells a message of a run from others.
pub fn said(message: &ChatMessage) -> u64 {
    let calls: String = message.tool_calls.iter().flatten().map(|call| call.told()).map(|(id, name, _)| format!("\n{id} {name}")).collect();
    xxh3_64(format!("{}\n{}{calls}", &*message.role, text_of(&message.content)).as_bytes())
}

/// The usage that a framework keeps with a message, and the call's id and model where it keeps them.
fn recorded(written: &ChatMessage, call: &mut Call) -> Result<Option<Usage>, ()> {
    let mut found = written.usage.or(written.usage_metadata);
    for (kept, is_response) in [(written.response_metadata, true), (written.extra, true), (written.metadata, false)] {
        let Some(kept) = kept else { continue };
        let Ok(metadata) = serde_json::from_str::<Metadata>(kept.get()) else { continue };
        for metadata in [Some(&metadata), metadata.response.as_deref()].into_iter().flatten() {
            found = found.or(metadata.usage).or(metadata.token_usage);
            if call.model.is_empty() {
                let model = if metadata.model_name.is_empty() { &metadata.model } else { &metadata.model_name };
                call.model = model.to_string();
            }
            // What stands beside a message may be called by its place in its file.
            if call.id.is_empty() && is_response {
                call.id = metadata.id.to_string();
            }
        }
    }
    found.map_or(Ok(None), |usage| ChatUsage::read(usage).map_err(|_| ()))
}
