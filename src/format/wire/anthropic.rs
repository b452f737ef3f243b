//! The Anthropic Messages shapes that several formats store: content blocks and usage.

use super::blocks::{Block, Blocks};
use crate::format::ground::{ATTACHED, Absurd, Count, InPieces, Lose, Words, compact, image, said, sound, wire};
use crate::format::recorder::{Recorder, Tools, thinking};
use crate::format::usage::{Cached, Reported, billed};
use crate::transcript::{Message, Part, Role, Scale, Usage};
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The content of a message or of a tool result.
pub type Content<'a> = Blocks<'a, Piece<'a>>;

wire! {
    /// One content block with the fields of all kinds; most are absent in each of them.
    #[derive(Clone, Debug)]
    pub struct Piece<'a> {
        /// What the block is: `text`, `tool_use`, ...
        pub kind: Words<'a> = "type",
        /// Of `text`: the words.
        pub text: Words<'a> as InPieces,
        /// Of `thinking`: the reasoning as far as the provider shows it.
        pub thinking: Words<'a>,
        /// Of `thinking`: the sealed form, of which only the length counts.
        pub signature: Words<'a>,
        /// Of `redacted_thinking`: the sealed form, of which only the length counts.
        pub data: Words<'a>,
        /// Of tool calls: the id that the result names.
        pub id: Words<'a>,
        /// Of tool calls: the tool's name.
        pub name: Words<'a>,
        /// Of tool results: the id of the call that they answer.
        pub tool_use_id: Words<'a>,
        /// Of `tool_reference` and `tool_addition`: the tool's name.
        pub tool_name: Words<'a>,
        /// Of tool calls: the arguments.
        pub input: Option<&'a RawValue>,
        /// Of tool results, documents, compactions.
        pub content: Option<&'a RawValue>,
        /// Of images and documents.
        pub source: Option<&'a RawValue>,
        /// Of tool results: whether the tool failed; it did not where this is absent.
        pub is_error: Option<bool>,
    }

    struct Media<'a> { kind: Words<'a> = "type", data: Words<'a>, url: Words<'a> }
}

impl Piece<'_> {
    /// Is it the result of a tool, run by the agent or by the provider?
    pub fn is_result(&self) -> bool {
        self.kind.ends_with("tool_result")
    }

    /// Is it a tool call that the provider answers by itself, within the same request?
    pub fn is_server_call(&self) -> bool {
        matches!(&*self.kind, "server_tool_use" | "mcp_tool_use")
    }
}

/// Weighs content blocks, and remembers which tool each call id belongs to.
pub struct Weigher<'w> {
    /// What measures the texts.
    pub scale: &'w dyn Scale,
    /// The tools that were called.
    pub tools: &'w mut Tools,
    /// There was an attached file among the content: what its pages cost is not known.
    pub attached: bool,
}

impl Recorder<'_> {
    /// The messages that one recorded message of Anthropic's dialect stands for. They come next in the conversation, or join its last reply.
    pub fn anthropic(&mut self, role: Role, content: &Content<'_>, lose: Lose<'_>) -> Vec<Message> {
        let mut weigher = Weigher::new(self.scale, &mut self.tools);
        let messages = weigher.messages(role, content, lose);
        if weigher.attached {
            self.attached.push(self.transcript.messages.len());
        }
        messages
    }
}

impl<'w> Weigher<'w> {
    /// What weighs content on this scale.
    pub fn new(scale: &'w dyn Scale, tools: &'w mut Tools) -> Weigher<'w> {
        Weigher { scale, tools, attached: false }
    }

    /// The messages that one recorded message stands for, in order: each tool result is a message of its own, whatever role the wire gives it.
    /// The first one has the role asked for, if it has any part of its own before a result.
    pub fn messages(&mut self, role: Role, content: &Content<'_>, lose: Lose<'_>) -> Vec<Message> {
        let mut own: Vec<Part> = Vec::new();
        let mut messages = Vec::new();
        for block in &content.0 {
            let block = match block {
                Block::Object(block) => block,
                Block::Text(text) => {
                    own.push(Part::Text(self.scale.weigh(text)));
                    continue;
                }
                Block::Other => {
                    lose("content block of an unexpected shape");
                    continue;
                }
            };
            if !block.is_result() {
                own.extend(self.part(block, lose));
                continue;
            }
            // A result that the provider put into its own reply does not split the reply.
            if role != Role::Assistant && !own.is_empty() {
                messages.push(Message::new(role, std::mem::take(&mut own)));
            }
            messages.push(Message::new(Role::Tool, self.result(block, lose)));
        }
        match (own.is_empty(), role) {
            (true, _) => {}
            (false, Role::Assistant) => messages.insert(0, Message::new(role, own)),
            (false, _) => messages.push(Message::new(role, own)),
        }
        messages
    }

    fn part(&mut self, block: &Piece<'_>, lose: Lose<'_>) -> Option<Part> {
        match &*block.kind {
            "text" => Some(Part::Text(self.scale.weigh(&block.text))),
            "thinking" => Some(thinking(self.scale, &block.thinking, block.signature.len())),
            "redacted_thinking" => Some(thinking(self.scale, "", block.data.len())),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let arguments = self.scale.weigh_json(&block.input.map(|input| compact(input.get())).unwrap_or_default());
                Some(match &*block.id {
                    "" => Part::ToolCall { id: String::new(), name: block.name.to_string(), arguments },
                    id => self.tools.call(id, &block.name, arguments),
                })
            }
            "image" | "document" => self.media(block, lose),
            // The summary of a compaction is no message; its reader keeps it as a fact.
            "compaction" => None,
            // The file lies in the provider's container: the model never reads it as text.
            "container_upload" => None,
            "tool_addition" | "tool_reference" => Some(Part::Other(self.scale.weigh(&block.tool_name))),
            kind => {
                if kind != "search_result" {
                    lose("unknown content part");
                }
                let visible = block.content.map(|content| visible_text(content.get())).unwrap_or_default();
                let text = if block.text.is_empty() { visible } else { block.text.to_string() };
                Some(Part::Other(self.scale.weigh(&text)))
            }
        }
    }

    fn media(&mut self, block: &Piece<'_>, lose: Lose<'_>) -> Option<Part> {
        let Some((source, Ok(media))) = block.source.map(|source| (source, serde_json::from_str::<Media>(source.get()))) else {
            lose("picture or document without a source");
            return None;
        };
        match (&*media.kind, &*media.data, &*media.url) {
            ("text", data, _) => Some(Part::Other(self.scale.weigh(data))),
            ("content", ..) => Some(Part::Other(self.scale.weigh(&visible_text(source.get())))),
            // How many pages it has, and how much text and how many pictures the provider makes of each, no log says.
            _ if &*block.kind == "document" => {
                lose(ATTACHED);
                self.attached = true;
                None
            }
            (_, "", url) => Some(Part::Image(image::from_data_url(url))),
            (_, data, _) => Some(Part::Image(image::from_base64(data))),
        }
    }

    fn result(&mut self, block: &Piece<'_>, lose: Lose<'_>) -> Vec<Part> {
        let mut pictures = Vec::new();
        let text = match block.content {
            None => Cow::Borrowed(""),
            // What a provider's own tool returns has a shape for each tool, with sealed parts in between.
            Some(content) if &*block.kind != "tool_result" => Cow::Owned(visible_text(content.get())),
            Some(content) => said(content.get()).unwrap_or_else(|| match serde_json::from_str(content.get()) {
                Ok(Blocks(blocks)) => self.result_text(blocks, &mut pictures, lose),
                Err(_) => {
                    lose("tool result of an unexpected shape");
                    Cow::Borrowed("")
                }
            }),
        };
        let mut parts = vec![self.tools.result(&block.tool_use_id, self.scale.weigh_result(&text), block.is_error.unwrap_or(false))];
        parts.append(&mut pictures);
        parts
    }

    fn result_text<'a>(&mut self, blocks: Vec<Block<'a, Piece<'a>>>, pictures: &mut Vec<Part>, lose: Lose<'_>) -> Cow<'a, str> {
        let mut texts: Vec<Cow<'a, str>> = Vec::new();
        for block in blocks {
            match block {
                Block::Text(text) => texts.push(text),
                Block::Object(block) if &*block.kind == "text" => texts.push(block.text.0),
                Block::Object(block) if &*block.kind == "tool_reference" => texts.push(block.tool_name.0),
                Block::Object(block) => pictures.extend(self.part(&block, lose)),
                Block::Other => lose("content block of an unexpected shape"),
            }
        }
        match texts.len() {
            0 | 1 => texts.pop().unwrap_or_default(),
            _ => Cow::Owned(texts.join("\n")),
        }
    }
}

/// Adds the strings in a value, but for those under names that are not read.
pub fn gather<'v>(value: &'v Value, is_unread: fn(&str) -> bool, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if !text.is_empty() => texts.push(text),
        Value::Array(list) => list.iter().for_each(|item| gather(item, is_unread, texts)),
        Value::Object(map) => map.iter().filter(|(key, _)| !is_unread(key)).for_each(|(_, item)| gather(item, is_unread, texts)),
        _ => {}
    }
}

/// The strings that a model can read in a value of any shape, one a line: no names, ids, or sealed content.
pub fn visible_text(json: &str) -> String {
    let is_unread = |key: &str| {
        key.starts_with("encrypted")
            || matches!(key, "type" | "signature" | "tool_use_id" | "id" | "file_id" | "media_type" | "stop_reason")
    };
    let value = serde_json::from_str(json).unwrap_or_default();
    let mut texts = Vec::new();
    gather(&value, is_unread, &mut texts);
    texts.join("\n")
}

wire! {
    /// Reported usage as the log holds it.
    pub struct UsageRecord {
        kind: String = "type",
        input_tokens: Count,
        cache_creation_input_tokens: Count,
        cache_read_input_tokens: Count,
        output_tokens: Count,
        cache_creation: Option<CacheCreation>,
        output_tokens_details: Option<OutputDetails>,
        /// The passes of one request, where the provider made several.
        pub iterations: Option<Vec<UsageRecord>>,
        server_tool_use: Option<IgnoredAny>,
        service_tier: Value,
        speed: Value,
        inference_geo: Value,
    }

    struct CacheCreation { ephemeral_5m_input_tokens: Count, ephemeral_1h_input_tokens: Count }

    struct OutputDetails { reasoning_tokens: Count = "reasoning_tokens" | "thinking_tokens" }
}

impl UsageRecord {
    /// Usage that can be used; a loss is reported where there is none.
    pub fn reported(&self, lose: Lose<'_>) -> Option<Usage> {
        let told = self.usage();
        if let Ok(None) = told {
            lose("usage of zero tokens (not used)");
        }
        sound(told, lose)
    }

    /// The usage; `None` where it is of zero tokens. The three input figures are disjoint parts of the prompt; a request of several
    /// passes has the context of its last one.
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let last = self.iterations.iter().flatten().rfind(|pass| matches!(&*pass.kind, "message" | "fallback_message"));
        let context = last.unwrap_or(self);
        let lifetimes = context.cache_creation.as_ref();
        let one_hour = lifetimes.map_or(Ok(0), |split| split.ephemeral_1h_input_tokens.or_zero())?;
        let five_minutes = lifetimes.map_or(Ok(0), |split| split.ephemeral_5m_input_tokens.or_zero())?;
        // Some logs hold the split alone.
        let cache_write = context.cache_creation_input_tokens.or_zero()?.max(one_hour + five_minutes);
        let counts_writes = context.cache_creation_input_tokens != Count::Absent || lifetimes.is_some();
        Reported {
            input: context.input_tokens,
            cache_read: context.cache_read_input_tokens,
            cache_write: Count::Sound(cache_write),
            cache_write_1h: Count::Sound(one_hour),
            cached: Cached::Beside,
            output: self.output_tokens,
            reasoning: self.output_tokens_details.as_ref().map(|details| details.reasoning_tokens).unwrap_or_default(),
            counts_cache: counts_writes && context.cache_read_input_tokens != Count::Absent,
            ..Reported::default()
        }
        .usage()
    }

    /// The model as the call is billed.
    pub fn billed(&self, model: &str) -> String {
        billed(model, [&self.service_tier, &self.speed, &self.inference_geo].into_iter().filter_map(Value::as_str))
    }

    /// Does it hold what the provider sends only when the reply is complete?
    pub fn is_settled(&self) -> bool {
        self.iterations.is_some() || self.server_tool_use.is_some()
    }

    /// Is it one pass of this kind?
    pub fn is_kind(&self, kind: &str) -> bool {
        self.kind == kind
    }
}
