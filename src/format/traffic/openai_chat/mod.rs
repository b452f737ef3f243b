//! Conversations in OpenAI's chat dialect, in the shapes that people keep them in: a document or a line with `messages`, a list of
//! messages, a message a line, and logs of requests with their responses.

mod conversation;
mod lines;
mod shape;
mod write;

pub use write::{LeftOut, write};

use crate::format::exchange::{Exchange, Sessions, anthropic, openai_responses};
use crate::format::ground::{Lose, ReadError, Source, Words, decoded, fault, odd, string, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::sums::SUM_ALONE;
use crate::format::wire::chat::ChatMessage;
use crate::transcript::{Scale, Transcript};
use conversation::{AGENT, Conversation, said};
use lines::{Record, Records};
use serde_json::value::RawValue;
use shape::{Shape, is_reply};
use std::collections::BTreeMap;

/// The chat dialect of OpenAI and its followers.
pub const READER: Reader = Reader {
    name: AGENT,
    about: "OpenAI chat messages: JSON, JSONL (a message, a conversation or an exchange a line), request logs",
    claims,
    read,
};

/// The line before the messages of a session of nanobot: its name, times, and how many of the messages its memory has taken in.
const NANOBOT: &str = "_type=metadata last_consolidated|last_archived";

/// What shows a reply beside the request that it was made for.
const ANSWERED: &str = "completion|output|response|response_body|choices|reply";

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    // Records around a message that other formats have. People put some of them beside their messages, too.
    let own = "!api !type !uuid !sessionId !history !trajectory !simulations !trajectory_format !schema_version !task_id !kwargs !latency_sec \
               !context_window !call_type !response_cost !model_parameters !source_message_count ![].api ![].type ![].task_id";
    let lists =
        ["messages[].", "[].messages[].", "request.messages[].", "[].request.messages[].", "conversations[].", "[].conversations[]."];
    let mut places = ["", "[]."].iter().chain(&lists);
    // Lists of messages under other names are requests where a reply stands beside them.
    let beside = |at: &&str| {
        let asked = ["input", "prompt", "prompt_messages", "input.messages", "request_body.messages"].iter();
        outline.shows_at(at, ANSWERED) && asked.clone().any(|list| outline.shows_at(&format!("{at}{list}[]."), "role content|tool_calls"))
    };
    if outline.shows(NANOBOT) {
        return Claim::Maybe;
    }
    // Anthropic's interface has the same messages, beside a system prompt of their own.
    if ["", "[]."].iter().any(|at| outline.shows_at(at, anthropic::EXCHANGE)) {
        return Claim::No;
    }
    let is_chat = places.any(|at| outline.shows_at(at, "role content|tool_calls|toolInvocations|parts[].type"));
    match (is_chat || ["", "[]."].iter().any(beside), outline.shows(own)) {
        (false, _) => Claim::No,
        (true, false) => Claim::Perhaps,
        (true, true) => Claim::Maybe,
    }
}

wire! {
    /// Where a message was taken over from.
    struct Origin<'a> { session_id: Words<'a>, model: Words<'a> }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let name = source.name();
    let exchanges = Sessions::new(READER.name, name.clone(), scale);
    let mut file =
        File { scale, name, sessions: 0, hand_over, single: None, episodes: BTreeMap::new(), records: Records::default(), exchanges };
    source.each_text(&[], |source, text, number, at_end| {
        source.values_of(text, number, at_end, |value: &RawValue, lose| file.value(value.get(), lose));
    })?;
    file.finish();
    Ok(())
}

struct File<'s> {
    scale: &'s dyn Scale,
    name: String,
    /// How many sessions were handed over.
    sessions: u64,
    hand_over: &'s mut dyn FnMut(Transcript),
    /// The session of the messages that stand alone, one a line.
    single: Option<Conversation>,
    /// By the names of runs: the longest episodes of a trace, of which none repeats another, with a hash of each of their messages.
    episodes: BTreeMap<String, Vec<(Conversation, Vec<u64>)>>,
    /// Conversations that may be requests.
    records: Records,
    exchanges: Sessions<'s>,
}

impl File<'_> {
    fn value(&mut self, text: &str, lose: Lose<'_>) {
        if text.starts_with('[') {
            match serde_json::from_str::<Vec<&RawValue>>(text) {
                Ok(_) if openai_responses::are_items(text) => {
                    let mut conversation = Conversation::new(String::new(), String::new());
                    conversation.items(text, self.scale, lose);
                    self.give(conversation);
                }
                Ok(elements) => {
                    for element in elements {
                        self.object(element.get(), lose);
                    }
                    // A list of messages is a whole session, and the next list is another.
                    self.end_single();
                }
                Err(error) => lose(&odd(&error, false, text)),
            }
        } else {
            self.object(text, lose);
        }
    }

    fn object(&mut self, text: &str, lose: Lose<'_>) {
        let mut held = String::new();
        let shape = match decoded::<Shape, ChatMessage>(text, "messages", &mut held, lose) {
            Ok(shape) => shape,
            Err(error) => return lose(&odd(&error, false, if held.is_empty() { text } else { &held })),
        };
        let scale = self.scale;
        if matches!(&*shape.beside, "metadata" | "provider_state") {
            return;
        }
        if let Some(exchange) = shape.exchange(text, lose) {
            return self.exchange(exchange);
        }
        match shape {
            Shape { messages: Some(_), .. } => self.record(text, &shape, lose),
            Shape { conversations: Some(list), tools, tool_definitions, episode, trial_name, .. } => {
                let mut held = String::new();
                let messages = match decoded::<Vec<ChatMessage>, ChatMessage>(list.get(), "", &mut held, lose) {
                    Ok(messages) => messages,
                    Err(error) => return lose(fault(&error, false)),
                };
                let mut conversation = Conversation::new(shape.id(), shape.model());
                conversation.all(&messages, tools.or(tool_definitions), scale, lose);
                if episode.is_none() {
                    return self.give(conversation);
                }
                let said = messages.iter().map(said).collect();
                self.episode(string(trial_name), conversation, said);
            }
            Shape { role: Some(_), .. } => match serde_json::from_str::<ChatMessage>(text) {
                Ok(message) => {
                    let origin = message.source.and_then(|raw| serde_json::from_str::<Origin>(raw.get()).ok()).unwrap_or_default();
                    // Messages of several conversations may follow each other.
                    let is_other = |single: &Conversation| {
                        let own = single.transcript.id.as_str();
                        !own.is_empty() && !origin.session_id.is_empty() && own != &*origin.session_id
                    };
                    if self.single.as_ref().is_some_and(is_other) {
                        self.end_single();
                    }
                    let new = || Conversation::new(origin.session_id.to_string(), origin.model.to_string());
                    let single = self.single.get_or_insert_with(new);
                    if message.transcript_token_usage.is_some() && single.transcript.messages.is_empty() {
                        lose(SUM_ALONE);
                    }
                    single.message(&message, scale, lose);
                }
                Err(error) => lose(&odd(&error, false, text)),
            },
            _ => lose("unknown record type"),
        }
    }

    /// A record with messages: a conversation, or a request that repeats the one before and goes on.
    fn record(&mut self, text: &str, shape: &Shape, lose: Lose<'_>) {
        let messages = shape.messages.as_deref().unwrap_or_default();
        let said: Vec<u64> = messages.iter().map(said).collect();
        let replies: Vec<bool> = messages.iter().map(is_reply).collect();
        // A request does not say what earlier replies took.
        let is_measured = messages.iter().any(|message| message.usage.or(message.usage_metadata).or(message.call).is_some());
        if !self.records.are_requests && !is_measured && self.records.go_on(&said, &replies) {
            self.records.are_requests = true;
            for record in self.records.take() {
                // What of it is lost was counted before.
                let mut held = String::new();
                if let Ok(shape) = decoded::<Shape, ChatMessage>(&record.text, "messages", &mut held, &mut |_| {}) {
                    self.exchange(shape.repeated(&record.text, &mut |_| {}));
                }
            }
        }
        if self.records.are_requests {
            return self.exchange(shape.repeated(text, lose));
        }
        let mut conversation = Conversation::new(shape.id(), shape.model());
        conversation.all(messages, shape.tools, self.scale, lose);
        conversation.usage_of_the_whole(shape.usage, lose);
        conversation.time_of_the_whole(shape.time());
        let replied = replies.last().copied().unwrap_or_default();
        let over = self.records.hold(Record { text: text.to_owned(), said, replied, conversation });
        over.into_iter().for_each(|record| self.give(record.conversation));
    }

    /// An episode repeats the one before it in its run, and goes on. Those of several runs may be mixed, and in any order.
    fn episode(&mut self, run: String, episode: Conversation, said: Vec<u64>) {
        let is_named = !run.is_empty();
        let held = self.episodes.entry(run).or_default();
        if is_named && held.iter().any(|(_, longer)| longer.starts_with(&said)) {
            return;
        }
        held.retain(|(_, shorter)| !said.starts_with(shorter));
        // Runs without a name follow each other.
        let over = if is_named { Vec::new() } else { std::mem::take(held) };
        held.push((episode, said));
        over.into_iter().for_each(|(last, _)| self.give(last));
    }

    fn exchange(&mut self, exchange: Exchange) {
        self.exchanges.add(exchange).into_iter().for_each(&mut *self.hand_over);
    }

    fn give(&mut self, conversation: Conversation) {
        let mut transcript = conversation.transcript;
        if transcript.messages.is_empty() && transcript.side_calls.is_empty() {
            return;
        }
        self.sessions += 1;
        if transcript.id.is_empty() {
            transcript.id = if self.sessions == 1 { self.name.clone() } else { format!("{}#{}", self.name, self.sessions) };
        }
        (self.hand_over)(transcript);
    }

    fn end_single(&mut self) {
        if let Some(conversation) = self.single.take() {
            self.give(conversation);
        }
    }

    fn finish(mut self) {
        self.end_single();
        for record in self.records.take() {
            self.give(record.conversation);
        }
        for (episode, _) in std::mem::take(&mut self.episodes).into_values().flatten() {
            self.give(episode);
        }
        self.exchanges.finish().for_each(self.hand_over);
    }
}
