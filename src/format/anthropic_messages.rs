//! Anthropic Messages API: request bodies, recorded exchanges, bare conversations.
//!
//! Understood are, as one document or one a line: a request body `{model, system, tools, messages}`, an exchange `{request, response}`
//! (also with `api`, as recorders of several providers write it), a list of messages, and single messages `{role, content, usage}`.
//! Each request repeats the whole conversation, so a request that extends the one before it carries on its session.

use super::anthropic::{Content, Piece, UsageRecord, Weigher};
use super::blocks::{Block, Blocks};
use super::count::ABSURD;
use super::json::{compact, fault, values};
use super::words::Words;
use super::{Claim, ReadError, Reader, Source};
use crate::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Scale, Transcript, Trust, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_128;

/// Requests, exchanges and conversations of the Anthropic Messages API.
pub const READER: Reader = Reader {
    name: "anthropic-messages",
    about: "Anthropic Messages API: request bodies, recorded exchanges, conversations (JSON or JSONL)",
    claims,
    read,
};

/// The keys of a request body, and those that people add to one.
const BODY_KEYS: [&str; 26] = [
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "max_tokens",
    "metadata",
    "stop_sequences",
    "stream",
    "temperature",
    "top_k",
    "top_p",
    "thinking",
    "container",
    "context_management",
    "mcp_servers",
    "service_tier",
    "betas",
    "anthropic_version",
    "anthropic_beta",
    "cache_control",
    "output_config",
    "output_format",
    "id",
    "name",
    "usage",
];

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let keys: Vec<&str> = outline.top().collect();
    let head = source.head();
    let has = |key: &str| keys.contains(&key);
    let holds = |marks: &[&str]| marks.iter().any(|mark| memchr::memmem::find(head, mark.as_bytes()).is_some());
    let own = holds(&["\"tool_use_id\"", "\"input_schema\"", "\"cache_creation_input_tokens\"", "\"cache_read_input_tokens\""]);
    let hint = holds(&["\"stop_reason\"", "\"input_tokens\""]);
    if has("api") && has("request") {
        return if outline.text("api") == ANTHROPIC || outline.text("[].api") == ANTHROPIC { Claim::Yes } else { Claim::No };
    }
    let exchange =
        has("request") && keys.iter().all(|key| matches!(*key, "request" | "response" | "url" | "seq" | "source" | "timestamp" | "id"));
    let body = has("messages") && keys.iter().all(|key| BODY_KEYS.contains(key));
    let message = has("role") && has("content") && !has("type");
    match (exchange || body || message || (has("role") && holds(&["\"type\":\"message\"", "\"type\": \"message\""])), own) {
        (false, _) => Claim::No,
        (true, true) => Claim::Yes,
        (true, false) if hint || (body && has("system") && has("max_tokens")) => Claim::Maybe,
        (true, false) => Claim::No,
    }
}

/// The name under which recorders of several providers keep these exchanges.
const ANTHROPIC: &str = "anthropic_messages";

/// A line or document of any of the shapes.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow)]
    api: Words<'a>,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<Vec<Turn<'a>>>,
    #[serde(borrow)]
    role: Words<'a>,
}

/// A message of a request, or a response.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Turn<'a> {
    #[serde(rename = "type", borrow)]
    kind: Words<'a>,
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    role: Words<'a>,
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    usage: Option<UsageRecord>,
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut file = File { name: source.name(), scale, session: None, count: 0 };
    if source.is_printed_over_lines() {
        let text = source.document()?;
        file.values(&text, true, &mut |reason| source.lose(1, reason), hand_over);
    } else {
        source.each_line(|source, line| {
            file.values(&line.text, line.last_unterminated, &mut |reason| source.lose(line.number, reason), hand_over);
        })?;
    }
    if let Some(session) = file.session.take() {
        hand_over(session.transcript);
    }
    Ok(())
}

type Lose<'l> = &'l mut dyn FnMut(&'static str);

struct File<'s> {
    name: String,
    scale: &'s dyn Scale,
    session: Option<Session<'s>>,
    count: usize,
}

impl<'s> File<'s> {
    /// `at_end`: the text is the end of the file, and may be cut off.
    fn values(&mut self, text: &str, at_end: bool, lose: Lose<'_>, hand_over: &mut dyn FnMut(Transcript)) {
        for value in values::<&RawValue>(text) {
            let value = match value {
                Ok(value) => value,
                Err(error) => {
                    lose(fault(&error, at_end));
                    continue;
                }
            };
            if value.get().starts_with('[') {
                match serde_json::from_str::<Vec<Turn>>(value.get()) {
                    Ok(messages) => self.conversation(&Item { messages: Some(messages), ..Item::default() }, lose, hand_over),
                    Err(_) => lose("list that holds no messages"),
                }
            } else {
                match serde_json::from_str::<Item>(value.get()) {
                    Ok(item) => self.item(&item, value.get(), lose, hand_over),
                    Err(_) => lose("record of an unexpected shape"),
                }
            }
        }
    }

    fn item(&mut self, item: &Item<'_>, raw: &str, lose: Lose<'_>, hand_over: &mut dyn FnMut(Transcript)) {
        if !item.api.is_empty() && &*item.api != ANTHROPIC {
            lose("exchange of another API");
        } else if let Some(request) = item.request {
            match serde_json::from_str::<Item>(request.get()) {
                Ok(body) => self.exchange(&body, item.response, lose, hand_over),
                Err(_) => lose("request of an unexpected shape"),
            }
        } else if item.messages.is_some() {
            self.conversation(item, lose, hand_over);
        } else if !item.role.is_empty() {
            match serde_json::from_str::<Turn>(raw) {
                Ok(turn) => self.session(&[], false, hand_over).turn(&turn, Reply::Recorded, lose),
                Err(_) => lose("message of an unexpected shape"),
            }
        } else {
            lose("record of an unexpected shape");
        }
    }

    /// The session that a list of messages belongs to: the current one where the list extends it.
    fn session(&mut self, prints: &[u128], is_whole: bool, hand_over: &mut dyn FnMut(Transcript)) -> &mut Session<'s> {
        let carries_on = |session: &Session<'_>| !is_whole || (!session.prints.is_empty() && prints.starts_with(&session.prints));
        if let Some(ended) = self.session.take_if(|session| !carries_on(session)) {
            hand_over(ended.transcript);
        }
        let (scale, name, count) = (self.scale, &self.name, &mut self.count);
        self.session.get_or_insert_with(|| {
            *count += 1;
            let id = if *count == 1 { name.clone() } else { format!("{name}#{count}") };
            Session::new(id, scale)
        })
    }

    /// A list of messages without a response of its own: the replies in it were recorded with it.
    fn conversation(&mut self, body: &Item<'_>, lose: Lose<'_>, hand_over: &mut dyn FnMut(Transcript)) {
        let prints = prints(body);
        let session = self.session(&prints, true, hand_over);
        session.prompt(body, prints, Reply::Recorded, lose);
    }

    fn exchange(&mut self, body: &Item<'_>, response: Option<&RawValue>, lose: Lose<'_>, hand_over: &mut dyn FnMut(Transcript)) {
        let prints = prints(body);
        let session = self.session(&prints, true, hand_over);
        session.prompt(body, prints, Reply::Foreign, lose);
        match response.map(|response| serde_json::from_str::<Turn>(response.get())) {
            Some(Ok(reply)) if &*reply.role == "assistant" => {
                print(&reply, &mut session.prints);
                session.reply(&reply, &body.model, lose);
            }
            _ => {
                lose("request without a message in response (failed call)");
                session.interrupted = true;
            }
        }
    }
}

/// Where an assistant message in a list comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reply {
    /// A request of this conversation made it, though its usage may not be recorded.
    Recorded,
    /// The exchanges of this file are the calls, and this is none of them.
    Foreign,
}

struct Session<'s> {
    transcript: Transcript,
    weigher: Weigher<'s>,
    /// What identifies each block seen so far.
    prints: Vec<u128>,
    last_model: String,
    /// System prompt and tools, as hashes.
    setting: Option<[u128; 2]>,
    interrupted: bool,
}

impl<'s> Session<'s> {
    fn new(id: String, scale: &'s dyn Scale) -> Session<'s> {
        let transcript = Transcript { id, agent: READER.name.to_owned(), ..Transcript::default() };
        Session {
            transcript,
            weigher: Weigher::new(scale),
            prints: Vec::new(),
            last_model: String::new(),
            setting: None,
            interrupted: false,
        }
    }

    /// Adds what a request holds beyond the messages already known.
    fn prompt(&mut self, body: &Item<'_>, prints: Vec<u128>, reply: Reply, lose: Lose<'_>) {
        let hash = |raw: Option<&RawValue>| raw.map_or(0, |raw| xxh3_128(raw.get().as_bytes()));
        let setting = [hash(body.system), hash(body.tools)];
        match self.setting.replace(setting) {
            None => self.setting_message(body, lose),
            // The changed texts cannot be put where the old ones stand; the next call begins a new chain.
            Some(before) => self.interrupted |= before != setting,
        }
        if self.last_model.is_empty() {
            self.last_model = body.model.to_string();
        }
        let mut known = self.prints.len();
        for turn in body.messages.iter().flatten() {
            let mut own = Vec::new();
            print(turn, &mut own);
            if own.len() <= known {
                known -= own.len();
            } else {
                // The API joins messages of one role: a part of this one may be known already.
                self.turn_from(turn, known, reply, lose);
                known = 0;
            }
        }
        self.prints = prints;
    }

    fn setting_message(&mut self, body: &Item<'_>, lose: Lose<'_>) {
        let mut parts = Vec::new();
        match body.system.map(|system| serde_json::from_str::<Content>(system.get())) {
            Some(Ok(system)) => {
                parts.extend(self.weigher.messages(Role::System, &system, lose).into_iter().flat_map(|message| message.parts))
            }
            Some(Err(_)) => lose("system prompt of an unexpected shape"),
            None => {}
        }
        if let Some(tools) = body.tools.map(|tools| compact(tools.get())).filter(|tools| tools != "[]" && tools != "null") {
            parts.push(Part::Tools(self.weigher.scale.weigh(&tools)));
        }
        if !parts.is_empty() {
            self.transcript.messages.push(Message::new(Role::System, parts));
        }
    }

    fn turn(&mut self, turn: &Turn<'_>, reply: Reply, lose: Lose<'_>) {
        self.turn_from(turn, 0, reply, lose);
    }

    fn turn_from(&mut self, turn: &Turn<'_>, known: usize, reply: Reply, lose: Lose<'_>) {
        let role = match &*turn.role {
            "assistant" => Role::Assistant,
            "user" => Role::User,
            "system" => Role::System,
            _ => return lose("message of an unknown role"),
        };
        if role == Role::Assistant && reply == Reply::Recorded {
            return self.reply(turn, "", lose);
        }
        let mut messages = match known {
            0 => self.weigher.messages(role, &turn.content, lose),
            _ => self.weigher.messages(role, &rest(turn, known), lose),
        };
        self.compactions(turn, None);
        self.interrupted |= role == Role::Assistant;
        self.transcript.messages.append(&mut messages);
    }

    /// A reply and the call that made it.
    fn reply(&mut self, reply: &Turn<'_>, asked: &str, lose: Lose<'_>) {
        let model = if reply.model.is_empty() { asked } else { &reply.model };
        let usage = reply.usage.as_ref().and_then(|usage| {
            let usage = usage.usage().inspect_err(|_| lose(ABSURD)).ok()?;
            (usage.prompt > 0).then_some(usage).or_else(|| {
                lose("usage of zero tokens (not used)");
                None
            })
        });
        let serves_itself = reply.content.objects().any(Piece::is_server_call);
        let passes = reply.usage.as_ref().and_then(|usage| usage.iterations.as_deref()).unwrap_or_default();
        let own_passes = passes.iter().filter(|pass| !pass.is_kind("compaction")).count();
        (1..own_passes).for_each(|_| lose("earlier pass of a call with server tools (no call of its own)"));
        // With the provider's own tools the prompt counts passes that have read parts of the reply: it is no size of the context before it.
        let trust = if serves_itself || own_passes > 1 { Trust::Partial } else { Trust::Provider };
        self.compactions(reply, Some(passes));
        let changed =
            !self.last_model.is_empty() && !model.is_empty() && model != self.last_model && !is_version_of(model, &self.last_model);
        let call = Call {
            id: reply.id.to_string(),
            model: model.to_owned(),
            usage: usage.map(|usage| Usage { trust, ..usage }),
            unchained: self.interrupted || changed || trust == Trust::Partial,
        };
        self.interrupted = trust == Trust::Partial;
        if !model.is_empty() {
            self.last_model = model.to_owned();
        }
        let mut messages = self.weigher.messages(Role::Assistant, &reply.content, lose);
        // A reply without content is one all the same: its call was made.
        if messages.first().is_none_or(|message| message.role != Role::Assistant) {
            messages.insert(0, Message::new(Role::Assistant, Vec::new()));
        }
        if let Some(message) = messages.first_mut() {
            message.id = reply.id.to_string();
            message.call = Some(call);
        }
        self.transcript.messages.append(&mut messages);
    }

    /// Compactions that the provider made: a block with the summary, and a pass of its own in the usage.
    fn compactions(&mut self, turn: &Turn<'_>, passes: Option<&[UsageRecord]>) {
        let mut summarising = passes.unwrap_or_default().iter().filter(|pass| pass.is_kind("compaction"));
        for block in turn.content.objects().filter(|block| &*block.kind == "compaction") {
            let usage = summarising.next().and_then(|pass| pass.usage().ok());
            let after = turn.usage.as_ref().and_then(|usage| usage.usage().ok());
            let summary = block.content.and_then(|content| serde_json::from_str::<String>(content.get()).ok());
            self.transcript.compactions.push(Compaction {
                before: self.transcript.messages.len(),
                kind: CompactionKind::Compact,
                automatic: Some(true),
                tokens_before: usage.map(|usage| usage.prompt),
                tokens_after: after.filter(|_| usage.is_some()).map(|usage| usage.prompt),
                summary: summary.map(|summary| self.weigher.scale.weigh(&summary)),
                kept_from: None,
                call: usage.map(|usage| Call {
                    id: format!("{}/compaction", &*turn.id),
                    model: turn.model.to_string(),
                    usage: Some(usage),
                    unchained: false,
                }),
                time: None,
            });
        }
    }
}

/// Is one of them the other with its date? A request names `claude-sonnet-4-5`, its response `claude-sonnet-4-5-20250929`.
fn is_version_of(model: &str, other: &str) -> bool {
    let dated = |long: &str, short: &str| {
        long.strip_prefix(short)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|date| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
    };
    dated(model, other) || dated(other, model)
}

fn prints(body: &Item<'_>) -> Vec<u128> {
    let mut prints = Vec::new();
    body.messages.iter().flatten().for_each(|turn| print(turn, &mut prints));
    prints
}

/// What identifies the blocks of a message wherever it is sent again.
fn print(turn: &Turn<'_>, prints: &mut Vec<u128>) {
    prints.extend(turn.content.0.iter().filter_map(|block| print_of(&turn.role, block)));
}

/// Calls and results are known by their ids. Thinking may be left out when a reply is sent again, so it has none.
fn print_of(role: &str, block: &Block<'_, Piece<'_>>) -> Option<u128> {
    let block = match block {
        Block::Text(text) => return Some(block_print(role, "text", text)),
        Block::Object(block) => block,
        Block::Other => return None,
    };
    let content = || [block.source, block.content].into_iter().flatten().next().map_or("", |raw| raw.get());
    match &*block.kind {
        "thinking" | "redacted_thinking" => None,
        "text" if block.text.is_empty() => None,
        "text" => Some(block_print(role, "text", &block.text)),
        kind if !block.id.is_empty() => Some(block_print(role, kind, &block.id)),
        kind if !block.tool_use_id.is_empty() => Some(block_print(role, kind, &block.tool_use_id)),
        kind => Some(block_print(role, kind, content())),
    }
}

fn block_print(role: &str, kind: &str, text: &str) -> u128 {
    xxh3_128(format!("{role}\0{kind}\0{text}").as_bytes())
}

/// The blocks of a message after those that are known: the API joins messages of one role, so a known one may come back longer.
fn rest<'a>(turn: &Turn<'a>, known: usize) -> Content<'a> {
    let mut seen = 0;
    let is_new = |block: &&Block<'a, Piece<'a>>| {
        seen += usize::from(print_of(&turn.role, block).is_some());
        seen > known
    };
    Blocks(turn.content.0.iter().filter(is_new).cloned().collect())
}
