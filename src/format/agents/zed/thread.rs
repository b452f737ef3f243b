//! A thread, put together message by message.

use crate::format::ground::{Absurd, Count, Lose, Source, Take, Words, each_piece, image, millis, sound, wire};
use crate::format::recorder::Recorder;
use crate::format::sums::SUM_ALONE;
use crate::format::usage::{Cached, Reported};
use crate::format::wire::blocks::{Block, Blocks};
use crate::transcript::{Compaction, Message, Part, Role, Usage};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};

wire! {
    /// A message: since version 0.3.0 under the name of its kind, before with a role.
    struct Entry<'a> {
        user: Option<Said<'a>> = "User",
        agent: Option<Said<'a>> = "Agent",
        compaction: Option<Summary<'a>> = "Compaction",
        role: Words<'a>,
        // The words of the first threads of all; later ones have segments.
        text: Words<'a>,
        segments: Vec<Piece<'a>>,
        tool_uses: Vec<ToolUse<'a>>,
        tool_results: Vec<Outcome<'a>>,
        /// What was attached to a prompt.
        context: Words<'a>,
        /// The agent said it in the person's name.
        is_hidden: Option<bool>,
    }

    struct Said<'a> { id: Words<'a>, content: Vec<Piece<'a>>, tool_results: BTreeMap<String, Outcome<'a>> }

    /// A provider's own compaction has sealed items instead of a summary.
    struct Summary<'a> { words: Option<Words<'a>> = "Summary" }

    struct Piece<'a> {
        text: Option<Words<'a>> = "Text" | "text",
        mention: Option<Mention<'a>> = "Mention",
        image: Option<Picture<'a>> = "Image",
        thinking: Option<Thought<'a>> = "Thinking",
        redacted: Option<Words<'a>> = "RedactedThinking" | "data",
        tool_use: Option<ToolUse<'a>> = "ToolUse",
        kind: Words<'a> = "type",
        signature: Words<'a>,
    }

    /// What the person refers to; the prompt holds its content.
    struct Mention<'a> { content: Words<'a> }

    struct Picture<'a> { source: Words<'a> }

    struct Thought<'a> { text: Words<'a>, signature: Words<'a> }

    /// The arguments as the model wrote them, and as they were read; the first threads have the latter alone.
    struct ToolUse<'a> { id: Words<'a>, name: Words<'a>, raw_input: Option<&'a RawValue>, input: Option<&'a RawValue> }

    struct Outcome<'a> { tool_use_id: Words<'a>, is_error: Option<bool>, content: Blocks<'a, Piece<'a>> }

    #[derive(Clone, Copy, PartialEq)]
    struct Tokens { input_tokens: Count, output_tokens: Count, cache_creation_input_tokens: Count, cache_read_input_tokens: Count }

    struct Model<'a> { provider: Words<'a>, model: Words<'a> }

    struct Subagent<'a> { parent_thread_id: Words<'a> }
}

impl Tokens {
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.input_tokens,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_creation_input_tokens,
            cached: Cached::Beside,
            output: self.output_tokens,
            ..Reported::default()
        }
        .usage()
    }
}

pub struct Thread<'s> {
    made: Recorder<'s>,
    /// When the thread began, where a database says so.
    pub created: Option<i64>,
    updated: Option<i64>,
    model: String,
    provider: String,
    /// The person's messages by their ids, each with the last reply before the next one.
    turns: Vec<(String, Option<usize>)>,
    /// Places of replies in the list of messages, and in the session.
    replies: Vec<(usize, usize)>,
    /// Was the last entry the mark of a command?
    command: bool,
    /// Usage of the last request of a turn, by the id of the person's message.
    by_turn: HashMap<String, Tokens>,
    /// Usage up to each message of the list, as older threads have it.
    by_place: Vec<Tokens>,
    cumulative: Tokens,
}

impl<'s> Thread<'s> {
    pub fn new(made: Recorder<'s>) -> Thread<'s> {
        Thread {
            made,
            created: None,
            updated: None,
            model: String::new(),
            provider: String::new(),
            turns: Vec::new(),
            replies: Vec::new(),
            command: false,
            by_turn: HashMap::new(),
            by_place: Vec::new(),
            cumulative: Tokens::default(),
        }
    }

    /// Reads the document of a thread.
    pub fn read(&mut self, document: &mut Source) {
        let whole = ["request_token_usage", "cumulative_token_usage", "model", "subagent_context", "updated_at"];
        let wanted: Vec<_> = whole.map(|key| (key, Take::Whole)).into_iter().chain([("messages", Take::Elements)]).collect();
        each_piece(document, &wanted, |document, piece| match piece.key {
            "messages" => piece.take(document, |entry, lose| self.entry(entry, piece.number, lose)),
            "request_token_usage" if piece.text.starts_with('[') => piece.take(document, |spent, _| self.by_place = spent),
            "request_token_usage" => piece.take(document, |spent, _| self.by_turn = spent),
            "cumulative_token_usage" => piece.take(document, |spent, _| self.cumulative = spent),
            "model" => piece.take(document, |model: Option<Model>, _| {
                let model = model.unwrap_or_default();
                (self.model, self.provider) = (model.model.to_string(), model.provider.to_string());
            }),
            "subagent_context" => piece.take(document, |context: Option<Subagent>, _| {
                let parent = context.and_then(|context| context.parent_thread_id.some_id().map(str::to_owned));
                self.made.transcript.parent = parent.or(self.made.transcript.parent.take());
            }),
            _ => piece.take(document, |time: Words, _| self.updated = millis(&time)),
        });
    }

    fn entry(&mut self, entry: Block<'_, Entry<'_>>, number: u64, lose: Lose<'_>) {
        let entry = match entry {
            Block::Object(entry) => entry,
            Block::Text(word) if word == "Resume" => return self.resume(),
            Block::Text(_) | Block::Other => return lose("unknown record type"),
        };
        let place = number.saturating_sub(1) as usize;
        let command = std::mem::take(&mut self.command);
        if let Some(said) = &entry.user {
            self.turns.push((said.id.to_string(), None));
            let parts = self.parts(&said.content, lose);
            self.command = parts.is_empty();
            self.user(&said.id, parts, false);
        } else if let Some(said) = &entry.agent {
            let parts = self.parts(&said.content, lose);
            self.reply(parts, place);
            let called = |id: &str| said.content.iter().position(|piece| piece.tool_use.as_ref().is_some_and(|tool| &*tool.id == id));
            let mut results: Vec<_> = said.tool_results.iter().collect();
            results.sort_by_key(|(id, _)| called(id).unwrap_or(usize::MAX));
            results.into_iter().for_each(|(id, outcome)| self.result(id, outcome, lose));
        } else if let Some(summary) = &entry.compaction {
            self.compaction(summary, command);
        } else {
            self.older(&entry, place, lose);
        }
    }

    /// A message as versions before 0.3.0 wrote it.
    fn older(&mut self, entry: &Entry<'_>, place: usize, lose: Lose<'_>) {
        let said = [&entry.context, &entry.text].into_iter().filter(|words| !words.is_empty());
        let mut parts: Vec<Part> = said.map(|words| self.made.text(words)).collect();
        parts.extend(self.parts(&entry.segments, lose));
        parts.extend(entry.tool_uses.iter().map(|tool| self.made.tool_call(&tool.id, &tool.name, tool.input)));
        let Some(role) = Role::of(&entry.role, &[Role::System, Role::User, Role::Assistant]) else { return lose("unknown record type") };
        if role == Role::Assistant {
            self.reply(parts, place);
            parts = Vec::new();
        }
        entry.tool_results.iter().for_each(|outcome| self.result(&outcome.tool_use_id, outcome, lose));
        // Prompts are put together without system messages of the thread.
        if role == Role::User {
            self.user("", parts, entry.is_hidden.unwrap_or_default() || !entry.tool_results.is_empty());
        }
    }

    fn parts(&mut self, pieces: &[Piece<'_>], lose: Lose<'_>) -> Vec<Part> {
        let mut parts = Vec::new();
        for piece in pieces {
            if let Some(tool) = &piece.tool_use {
                let written = tool.raw_input.filter(|written| written.get() != "\"\"");
                parts.push(self.made.tool_call(&tool.id, &tool.name, written.or(tool.input)));
            } else if let Some(thought) = &piece.thinking {
                parts.push(self.made.thinking(&thought.text, thought.signature.len()));
            } else if let Some(sealed) = &piece.redacted {
                parts.push(self.made.thinking("", sealed.len()));
            } else if let Some(mention) = &piece.mention {
                parts.push(Part::Other(self.made.scale.weigh(&mention.content)));
            } else if let Some(picture) = &piece.image {
                parts.push(Part::Image(image::from_base64(&picture.source)));
            } else if let Some(text) = &piece.text {
                match &*piece.kind {
                    "thinking" => parts.push(self.made.thinking(text, piece.signature.len())),
                    _ if text.is_empty() => {}
                    _ => parts.push(self.made.text(text)),
                }
            } else {
                lose("unknown content part");
            }
        }
        parts
    }

    /// A message of the person's. An empty one is not sent.
    fn user(&mut self, id: &str, parts: Vec<Part>, synthetic: bool) {
        if !parts.is_empty() {
            self.made.push(Message { id: id.to_owned(), synthetic, ..Message::new(Role::User, parts) });
        }
    }

    fn reply(&mut self, parts: Vec<Part>, place: usize) {
        let next = self.made.next();
        if let Some((_, last)) = self.turns.last_mut() {
            *last = Some(next);
        }
        self.replies.push((place, next));
        let call = self.made.call("", "", None);
        self.made.push(Message { call: Some(Box::new(call)), ..Message::new(Role::Assistant, parts) });
    }

    fn result(&mut self, id: &str, outcome: &Outcome<'_>, lose: Lose<'_>) {
        let texts = outcome.content.joined(|piece| piece.text.as_deref());
        let mut parts = vec![self.made.result(id, &texts, outcome.is_error.unwrap_or_default())];
        for piece in outcome.content.objects().filter(|piece| piece.text.is_none()) {
            match &piece.image {
                Some(picture) => parts.push(Part::Image(image::from_base64(&picture.source))),
                None => lose("unknown content part"),
            }
        }
        self.made.push(Message::new(Role::Tool, parts));
    }

    /// The agent goes on by itself. A reply right before it was broken off: one that was not has results behind it.
    fn resume(&mut self) {
        if let Some(broken) = self.made.transcript.messages.last_mut().filter(|last| last.role == Role::Assistant) {
            broken.call = None;
            self.made.chain.broken = true;
        }
        let said = self.made.text("Continue where you left off");
        self.made.push(Message { synthetic: true, ..Message::new(Role::User, vec![said]) });
    }

    /// What the person typed stays, as far as 80,000 bytes reach back from here: no first kept message is named.
    fn compaction(&mut self, summary: &Summary<'_>, is_asked_for: bool) {
        let summary = summary.words.as_ref().and_then(|words| self.made.scale.weigh_summary(words));
        self.made.cut(Compaction { automatic: Some(!is_asked_for), summary, ..Compaction::default() });
    }

    /// Gives each reply what is known of its request.
    pub fn finish(mut self, lose: Lose<'_>) -> Recorder<'s> {
        let messages = &mut self.made.transcript.messages;
        let mut spent: Vec<(usize, Tokens)> = Vec::new();
        // An id that several turns share has the usage of the last of them.
        for (id, last) in self.turns.iter().rev() {
            spent.extend(last.and_then(|last| Some((last, self.by_turn.remove(id)?))));
        }
        for (place, message) in &self.replies {
            // Where a request reported nothing, the figures of the one before are repeated.
            let before = place.checked_sub(1).and_then(|before| self.by_place.get(before));
            spent.extend(self.by_place.get(*place).filter(|tokens| Some(*tokens) != before).map(|tokens| (*message, *tokens)));
        }
        let mut known = 0;
        for (message, tokens) in spent {
            let usage = sound(tokens.usage(), lose);
            known += usage.map_or(0, |usage| usage.prompt);
            if let Some(call) = messages.get_mut(message).and_then(|message| message.call.as_mut()) {
                call.usage = usage;
            }
        }
        let mut lacking = false;
        for call in messages.iter_mut().filter_map(|message| message.call.as_mut()) {
            call.model.clone_from(&self.model);
            lacking |= call.usage.is_none();
        }
        if lacking && self.cumulative.usage().is_ok_and(|all| all.is_some_and(|all| all.prompt > known)) {
            lose(SUM_ALONE);
        }
        if let Some(first) = messages.get_mut(0) {
            first.time = self.created;
        }
        if let Some(last) = messages.last_mut() {
            last.time = self.updated.or(last.time);
        }
        // The name under which other logs have this host.
        let host = if self.provider == "copilot_chat" { "github-copilot" } else { &self.provider };
        if !host.is_empty() {
            self.made.hosts.push((self.model, host.to_owned()));
        }
        self.made
    }
}
