//! A line of a journal, as far as it is read.

use crate::format::ground::{Absurd, Count, Words, wire};
use crate::format::usage::{Reasoning, Reported};
use crate::format::wire::blocks::{Block, Blocks};
use crate::format::wire::google::{Piece, text_of};
use crate::transcript::Usage;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

wire! {
    /// A line of a journal; an old file is one such record with all messages in it.
    pub struct Record<'a> {
        pub session_id: Words<'a> = "sessionId",
        pub kind: Words<'a>,
        pub messages: Option<Vec<Entry<'a>>>,
        pub set: Option<Box<Record<'a>>> = "$set",
        pub rewind_to: Option<Words<'a>> = "$rewindTo",
        // A record that is a message itself.
        pub id: Words<'a>,
        pub timestamp: Words<'a>,
        pub role: Words<'a> = "type",
        pub content: Blocks<'a, Piece<'a>>,
        pub thoughts: Option<Vec<Thought<'a>>>,
        pub tokens: Option<Tokens>,
        pub model: Words<'a>,
        pub tool_calls: Option<Vec<ToolCall<'a>>> = "toolCalls",
    }

    pub struct Thought<'a> { pub subject: Words<'a>, pub description: Words<'a> }

    /// `input` includes the cached ones; `thoughts` are not in `output`; `tool` is what server-side tools added to the prompt.
    pub struct Tokens {
        pub input: Count,
        pub output: Count,
        pub cached: Count,
        pub thoughts: Count,
        pub tool: Count,
    }

    pub struct ToolCall<'a> {
        pub id: Words<'a>,
        pub name: Words<'a>,
        pub args: Option<&'a RawValue>,
        pub result: Blocks<'a, Piece<'a>>,
        pub status: Words<'a>,
    }
}

/// A message is a record without the journal's commands.
pub type Entry<'a> = Record<'a>;

impl Tokens {
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
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

/// How the agent begins what it says of its surroundings, in front of a conversation.
const CONTEXT: &str = "<session_context>";

/// What every older note of a compression says before its sizes; what brought the compression on stands before it.
const SENT_COMPRESSED: &str = "A compressed context will be sent for future messages (compressed from: ";

impl Entry<'_> {
    /// Does the model see it? Of lines on the screen it sees the files that a tool read and that are no text.
    pub fn is_sent(&self) -> bool {
        matches!(&*self.role, "user" | "gemini") || self.holds_files()
    }

    /// What a tool read and is no text follows its result, as a line on the screen.
    pub fn holds_files(&self) -> bool {
        &*self.role == "info" && self.content.objects().any(|piece| piece.inline_data.is_some())
    }

    /// The size before a compression that this line on the screen notes, where the line names it. The agent writes one for each compression that it
    /// makes by itself, and none for `/compress` (`handleChatCompressionEvent` of `useGeminiStream.ts`): up to 0.29 with the size of its last
    /// prompt, then with rounded shares of the window, which are no sizes. The second size is an estimate of the new history, not of a prompt.
    pub fn compression(&self) -> Option<Option<u64>> {
        if &*self.role != "info" {
            return None;
        }
        let text = text_of(&self.content);
        let sizes = text.strip_prefix("IMPORTANT: This conversation ").and_then(|text| text.split_once(SENT_COMPRESSED));
        if let Some((before, _)) = sizes.and_then(|(_, sizes)| sizes.split_once(" to ")) {
            return Some(before.parse().ok());
        }
        let (before, after) = text.strip_prefix("Context compressed from ")?.split_once("% to ")?;
        let is_share = |share: &str| share.parse::<u64>().is_ok();
        (is_share(before) && after.split('%').next().is_some_and(is_share)).then_some(None)
    }

    /// Are these the agent's surroundings?
    pub fn is_context(&self) -> bool {
        &*self.role == "user" && text_of(&self.content).trim_start().starts_with(CONTEXT)
    }

    /// A reply of the agent's own that holds nothing but thoughts: they are taken out of each request.
    pub fn is_thought_alone(&self) -> bool {
        let is_thought = |block: &Block<Piece>| matches!(block, Block::Object(Piece { thought: Some(true), .. }));
        let bare = self.model.is_empty() && self.tokens.is_none() && self.tool_calls.as_ref().is_none_or(Vec::is_empty);
        &*self.role == "gemini" && bare && !self.content.0.is_empty() && self.content.0.iter().all(is_thought)
    }

    /// Does the content name the calls of tools itself, as the agent's history has them?
    pub fn names_calls(&self) -> bool {
        self.content.objects().any(|piece| piece.function_call.is_some())
    }

    /// What it is known by under another id: its words, the names of the tools it calls, the calls it answers. The agent's history has the
    /// words of a reply as they came, and calls in the content.
    pub fn key(&self) -> u64 {
        let words = self.content.joined(|piece| piece.text.as_deref().filter(|_| piece.thought != Some(true)));
        let words = if self.is_context() { CONTEXT } else { &words };
        let mut key: String = self.role.chars().chain(words.chars()).filter(|letter| !letter.is_whitespace()).collect();
        let mut add = |mark: char, word: &str| {
            key.push(mark);
            key.push_str(word);
        };
        for piece in self.content.objects() {
            piece.function_call.iter().for_each(|call| add('\n', &call.name));
            piece.function_response.iter().for_each(|answer| add('\r', &answer.id));
        }
        let beside = self.tool_calls.iter().flatten().filter(|_| !self.names_calls());
        beside.for_each(|call| add('\n', &call.name));
        xxh3_64(key.as_bytes())
    }
}
