//! Continue: sessions of its extensions and of its command line, a document each (`~/.continue/sessions/<id>.json`).
//!
//! An entry of `history` holds a message, what was put in before it (`contextItems`), and the results of the tools that it calls. The extensions keep each
//! prompt as one text (`promptLogs`), of which the instructions are read; the command line keeps the usage of each reply.

use crate::format::ground::{Absurd, Count, Lose, ReadError, Source, Take, Words, each_piece, image, sound, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::sums::SUM_ALONE;
use crate::format::usage::{Cached, Reasoning, Reported};
use crate::format::wire::blocks::{Block, Blocks};
use crate::format::wire::chat::ChatToolCall;
use crate::format::wire::held;
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript, Usage};
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64;

/// Sessions of Continue.
pub const READER: Reader = Reader { name: "continue", about: "Continue sessions (~/.continue/sessions/*.json)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    // The list of all sessions.
    if outline.shows("[].sessionId [].dateCreated [].workspaceDirectory") {
        return Claim::Companion;
    }
    // Kiro's editor descends from Continue, and keeps the replies elsewhere.
    let said = outline.shows("history[].contextItems history[].message.role !selectedModel|autonomyMode");
    Claim::when(said || outline.shows("sessionId title workspaceDirectory history !history[].message|history.timeline"))
}

wire! {
    struct Entry<'a> {
        message: Option<Said<'a>>,
        context_items: Blocks<'a, Kept<'a>> = "contextItems",
        prompt_logs: Blocks<'a, Log<'a>> = "promptLogs",
        tool_call_states: Blocks<'a, State<'a>> = "toolCallStates" | "toolCallState",
        reasoning: Option<held::Said<'a>>,
        conversation_summary: Words<'a> = "conversationSummary",
    }

    struct Said<'a> {
        role: Words<'a>,
        id: Words<'a>,
        content: Blocks<'a, Piece<'a>>,
        tool_calls: Option<Vec<ChatToolCall<'a>>> = "toolCalls",
        tool_call_id: Words<'a> = "toolCallId",
        usage: Option<Spent<'a>>,
        signature: Words<'a>,
        redacted_thinking: Words<'a> = "redactedThinking",
    }

    struct Piece<'a> {
        kind: Words<'a> = "type",
        text: Words<'a>,
        image_url: Option<held::Url<'a>> = "imageUrl",
    }

    /// What was put in before a message, or what a tool gave.
    struct Kept<'a> { content: Words<'a>, status: Words<'a> }

    struct Log<'a> {
        model_title: Words<'a> = "modelTitle",
        prompt: Words<'a>,
        completion_options: Option<Options<'a>> = "completionOptions",
    }

    struct Options<'a> { model: Words<'a> }

    /// A call of a tool, as far as it has come.
    struct State<'a> {
        tool_call_id: Words<'a> = "toolCallId",
        status: Words<'a>,
        output: Option<Blocks<'a, Kept<'a>>>,
    }

    /// The command line has the names of OpenAI's interface, the extensions their own.
    struct Spent<'a> {
        model: Words<'a>,
        prompt: Count = "prompt_tokens" | "promptTokens",
        completion: Count = "completion_tokens" | "completionTokens",
        total: Count = "total_tokens" | "totalTokens",
        read: Option<Details> = "prompt_tokens_details" | "promptTokensDetails",
        written: Option<Details> = "completion_tokens_details" | "completionTokensDetails",
    }

    struct Details {
        cached: Count = "cached_tokens" | "cachedTokens",
        /// Of Anthropic's interface alone.
        cache_read: Count = "cache_read_tokens" | "cacheReadTokens",
        cache_write: Count = "cache_write_tokens" | "cacheWriteTokens",
        reasoning: Count = "reasoning_tokens" | "reasoningTokens",
    }
}

impl Spent<'_> {
    /// Anthropic's cached tokens stand beside the prompt, those of others within it. Google's thoughts are in the total alone.
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let (read, written) = (self.read.as_ref(), self.written.as_ref());
        let of_anthropic = read.is_some_and(|details| details.cache_read != Count::Absent);
        let said = self.prompt.or_zero()? + self.completion.or_zero()?;
        let thought = self.total.known()?.and_then(|total| total.checked_sub(said)).filter(|thought| *thought > 0);
        let reasoning = written.map(|details| details.reasoning).unwrap_or_default();
        let apart = reasoning == Count::Absent && thought.is_some();
        Reported {
            input: self.prompt,
            cache_read: read.map(|details| details.cached).unwrap_or_default(),
            cache_write: read.map(|details| details.cache_write).unwrap_or_default(),
            cached: if of_anthropic { Cached::Beside } else { Cached::Either },
            output: self.completion,
            reasoning: reasoning.or(thought.map_or(Count::Absent, Count::Sound)),
            reasoned: if apart { Reasoning::Beside } else { Reasoning::Within },
            // Anthropic's leaves out what was read and written.
            total: if of_anthropic { Count::Absent } else { self.total },
            ..Reported::default()
        }
        .usage()
    }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let made = Recorder::new(READER.name, String::new(), scale);
    let mut session = Session { made, thoughts: Vec::new(), answered: HashSet::new(), drawn: String::new() };
    let mut title = String::new();
    let mut spent = false;
    let wanted = [("history", Take::Elements), ("sessionId", Take::Whole), ("chatModelTitle", Take::Whole), ("usage", Take::Whole)];
    each_piece(source, &wanted, |source, piece| match piece.key {
        "sessionId" => piece.take(source, |id: Words, _| session.made.identify(id.id())),
        "chatModelTitle" => piece.take(source, |words: Words, _| title = words.to_string()),
        "usage" => piece.take(source, |sum: Spent, _| spent = sum.prompt.or_zero() != Ok(0)),
        "history" => piece.take(source, |entry: Entry, lose| session.entry(&entry, lose)),
        _ => {}
    });
    if !session.thoughts.is_empty() {
        source.lose(0, "reasoning without a reply");
    }
    let mut calls: Vec<&mut Call> = session.made.transcript.messages.iter_mut().filter_map(|message| message.call.as_deref_mut()).collect();
    if calls.iter().all(|call| call.model.is_empty()) {
        calls.iter_mut().for_each(|call| call.model.clone_from(&title));
    }
    if spent && calls.iter().all(|call| call.usage.is_none()) {
        source.lose(0, SUM_ALONE);
    }
    session.made.end(source, hand_over);
    Ok(())
}

struct Session<'s> {
    made: Recorder<'s>,
    /// Reasoning that stands before the reply that it belongs to.
    thoughts: Vec<Part>,
    /// Calls whose results stood beside them.
    answered: HashSet<String>,
    /// The id of the last call of a tool that a provider drew; empty before the first.
    drawn: String,
}

impl Session<'_> {
    fn entry(&mut self, entry: &Entry<'_>, lose: Lose<'_>) {
        let Some(said) = &entry.message else { return lose("message without content") };
        let parts = self.content(&said.content, lose);
        match &*said.role {
            "system" => self.made.list(Role::System, parts),
            "user" => {
                let kept = entry.context_items.objects().filter(|kept| !kept.content.trim().is_empty());
                let kept: Vec<Part> = kept.map(|kept| self.made.text(&format!("{}\n", &*kept.content))).collect();
                self.made.push(Message { id: said.id.id().to_owned(), ..Message::new(Role::User, [kept, parts].concat()) });
            }
            "thinking" => {
                self.thoughts.push(self.made.thinking(&words(&said.content), said.signature.len() + said.redacted_thinking.len()))
            }
            "assistant" => self.reply(entry, said, parts, lose),
            // The same stands beside the call.
            "tool" if self.answered.contains(&*said.tool_call_id) => {}
            "tool" => {
                let result = self.made.result(&said.tool_call_id, &words(&said.content), false);
                self.made.list(Role::Tool, vec![result]);
            }
            _ => lose("message of an unknown role"),
        }
        if let Some(summary) = self.made.scale.weigh_summary(&entry.conversation_summary) {
            self.made.cut(Compaction { summary: Some(summary), ..Compaction::default() });
        }
    }

    fn content(&self, content: &Blocks<'_, Piece<'_>>, lose: Lose<'_>) -> Vec<Part> {
        let part = |block: &Block<'_, Piece<'_>>| match block {
            Block::Text(text) if text.is_empty() => None,
            Block::Text(text) => Some(self.made.text(text)),
            Block::Object(Piece { image_url: Some(address), .. }) => Some(Part::Image(image::from_data_url(&address.url))),
            Block::Object(piece) if &*piece.kind == "text" => Some(self.made.text(&piece.text)),
            Block::Object(_) | Block::Other => {
                lose("unknown content part");
                None
            }
        };
        content.0.iter().filter_map(part).collect()
    }

    fn reply(&mut self, entry: &Entry<'_>, said: &Said<'_>, text: Vec<Part>, lose: Lose<'_>) {
        let log = entry.prompt_logs.objects().find(|log| !log.prompt.is_empty());
        // Instructions are in the prompts alone.
        if let Some(instructions) = log.and_then(|log| instructions(&log.prompt)).filter(|_| !self.is_instructed()) {
            let system = Message::new(Role::System, vec![self.made.text(instructions)]);
            self.made.transcript.messages.insert(0, system);
        }
        let mut parts = std::mem::take(&mut self.thoughts);
        parts.extend(entry.reasoning.iter().filter(|shown| !shown.text.is_empty()).map(|shown| self.made.thinking(&shown.text, 0)));
        parts.extend(text);
        parts.extend(said.tool_calls.iter().flatten().map(|call| call.part(&mut self.made)));
        if parts.is_empty() {
            return lose("request without a reply");
        }
        let own = said.usage.as_ref().map(|spent| &spent.model);
        let asked = log.and_then(|log| log.completion_options.as_ref()).map(|options| &options.model);
        let names = [own, asked, log.map(|log| &log.model_title)];
        let model = names.into_iter().flatten().find(|name| !name.is_empty()).map(|name| name.to_string()).unwrap_or_default();
        let usage = sound(said.usage.as_ref().map_or(Ok(None), Spent::usage), lose);
        let id = self.known_by(said, &parts);
        let call = self.made.call(id.clone(), &model, usage);
        self.made.push(Message { id, call: Some(Box::new(call)), ..Message::new(Role::Assistant, parts) });
        entry.tool_call_states.objects().for_each(|state| self.result(state));
    }

    /// What tells a reply from all others, also in a fork, which begins with a copy of the history (`startNewSession(history)` of the command line): its own id, else what it says behind
    /// the last call of a tool whose id a provider drew. Two runs that say the same before any such call are two runs.
    fn known_by(&mut self, said: &Said<'_>, parts: &[Part]) -> String {
        let calls = parts.iter().filter_map(|part| if let Part::ToolCall { id, .. } = part { Some(id) } else { None });
        let ids: Vec<&String> = calls.collect();
        if let Some(id) = ids.iter().find(|id| is_drawn(id)) {
            self.drawn.clone_from(id);
        }
        if let Some(id) = said.id.some_id() {
            return id.to_owned();
        }
        let spent = said.usage.as_ref().map(|spent| [spent.prompt, spent.completion].map(|count| count.or_zero().unwrap_or_default()));
        let text = format!("{spent:?} {ids:?} {}", words(&said.content));
        if self.drawn.is_empty() { String::new() } else { format!("{}@{:016x}", self.drawn, xxh3_64(text.as_bytes())) }
    }

    /// Without the prompts of a compacted session nothing says where it began.
    fn is_instructed(&self) -> bool {
        let first = self.made.transcript.messages.iter().next();
        !self.made.transcript.compactions.is_empty() || first.is_some_and(|message| message.role == Role::System)
    }

    /// What the model reads as the result of a call; of one that has not ended, nothing.
    fn result(&mut self, state: &State<'_>) {
        let failed = &*state.status == "errored";
        let kept = state.output.as_ref().map(|output| {
            let told = output.objects().map(|kept| match &*kept.status {
                "" => kept.content.to_string(),
                status => format!("{}\n[Status: {status}]", &*kept.content),
            });
            told.collect::<Vec<_>>().join("\n\n")
        });
        let text = match (&*state.status, kept) {
            ("canceled", _) => "The user cancelled this tool call.".to_owned(),
            (_, Some(kept)) => kept,
            ("errored", None) => "There was an error calling the tool.".to_owned(),
            ("done", None) => "No tool output".to_owned(),
            _ => return,
        };
        self.answered.insert(state.tool_call_id.to_string());
        let result = self.made.result(&state.tool_call_id, &text, failed);
        self.made.list(Role::Tool, vec![result]);
    }
}

/// Did a provider draw the id? Counters and names have no long run of letters with digits among them.
fn is_drawn(id: &str) -> bool {
    id.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|run| run.len() >= 12 && run.bytes().any(|byte| byte.is_ascii_digit()))
}

fn words(content: &Blocks<'_, Piece<'_>>) -> String {
    content.joined(|piece| Some(&*piece.text))
}

/// The instructions at the beginning of a prompt that was kept as one text, each message behind its role.
fn instructions(prompt: &str) -> Option<&str> {
    let rest = prompt.strip_prefix("<system>\n")?;
    let end = ["\n\n<user>\n", "\n\n<assistant>\n"].iter().filter_map(|next| rest.find(next)).min()?;
    rest.get(..end)
}
