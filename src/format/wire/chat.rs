//! The OpenAI chat dialect: messages and usage as that interface, its many imitations and most frameworks write them.

use super::blocks::{Block, Blocks};
use crate::format::ground::{ATTACHED, Absurd, Count, Dollars, InPieces, Words, image, string, text_or_json, wire};
use crate::format::recorder::{Recorder, Tools, thinking};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::held;
use crate::transcript::{Message, Part, Role, Scale, Usage};
use serde_json::value::RawValue;
use std::borrow::Cow;

wire! {
    /// One message. Every field may be absent.
    pub struct ChatMessage<'a> {
        /// `system`, `developer`, `user`, `assistant`, `tool`, `function`.
        pub role: Words<'a>,
        /// The text, or a list of parts.
        pub content: Blocks<'a, ChatPart<'a>>,
        /// The reasoning as DeepSeek and its followers send it.
        pub reasoning_content: Words<'a> as InPieces,
        /// The reasoning as OpenRouter sends it.
        pub reasoning: Option<&'a RawValue>,
        /// What the model says instead of an answer that it refuses.
        pub refusal: Words<'a>,
        /// The tools that the model wants to run.
        pub tool_calls: Option<Vec<ChatToolCall<'a>>>,
        /// The same in the interface's first version: one, without an id.
        pub function_call: Option<ChatFunction<'a>>,
        /// In a tool's message: the call that it answers.
        pub tool_call_id: Words<'a>,
        /// In a tool's message: the tool's name.
        pub name: Words<'a>,
        /// The message's id, where a framework gives it one.
        pub id: Option<&'a RawValue>,
        /// The model, where a framework notes it.
        pub model: Option<&'a RawValue>,
        /// `false` in a message of the model's that no answered call produced, as ctxsim writes it.
        pub call: Option<&'a RawValue>,
        /// When, where a framework notes it.
        pub timestamp: Option<&'a RawValue> = "timestamp" | "createdAt" | "created_at",
        /// Usage of the call that produced the message, where a framework keeps it there.
        pub usage: Option<&'a RawValue>,
        /// The same, as LangChain keeps it.
        pub usage_metadata: Option<&'a RawValue>,
        /// What LangChain keeps of the response.
        pub response_metadata: Option<&'a RawValue>,
        /// What other frameworks keep beside the message.
        pub extra: Option<&'a RawValue>,
        pub metadata: Option<&'a RawValue>,
        /// What the AI SDK shows of it, in place of the content; and the calls of tools in its older versions, with what came back.
        pub parts: Option<&'a RawValue>,
        pub tool_invocations: Option<&'a RawValue> = "toolInvocations",
        /// Where a message comes from that another program has taken over.
        pub source: Option<&'a RawValue>,
        /// Usage of the whole conversation, which each of its messages repeats.
        pub transcript_token_usage: Option<&'a RawValue>,
    }

    /// One of the replies in a response.
    pub struct ChatChoice<'a> {
        /// The reply; absent where the response holds none.
        pub message: Option<ChatMessage<'a>>,
    }

    /// One part of a message's content.
    pub struct ChatPart<'a> {
        kind: Words<'a> = "type",
        /// The text, under the names that people keep it by.
        text: Words<'a> as InPieces,
        value: Option<&'a RawValue>,
        content: Option<&'a RawValue>,
        refusal: Words<'a>,
        /// A call of a tool among the parts, as Anthropic writes it.
        id: Option<&'a RawValue>,
        name: Option<&'a RawValue> = "name" | "toolName",
        input: Option<&'a RawValue> = "input" | "args" | "arguments",
        thinking: Option<&'a RawValue>,
        /// The same as the AI SDK writes it, and what a tool returned, as both do.
        call_id: Words<'a> = "toolCallId" | "tool_call_id" | "tool_use_id",
        output: Option<&'a RawValue> = "output" | "result",
        image: Option<&'a RawValue>,
        image_url: Blocks<'a, held::Url<'a>>,
        file: Option<File<'a>>,
    }

    struct File<'a> { filename: Words<'a> }

    /// What a tool returned, as the AI SDK keeps it in messages to a model.
    struct Output<'a> { kind: Words<'a> = "type", value: Option<&'a RawValue> }

    /// A tool that the model wants to run: with its function nested, or, in some frameworks, flat.
    pub struct ChatToolCall<'a> {
        id: Words<'a>,
        function: Option<ChatFunction<'a>>,
        name: Words<'a> = "name" | "tool",
        arguments: Option<&'a RawValue> = "arguments" | "args" | "input",
        /// What the tool returned, where a framework keeps it within the call.
        output: Option<&'a RawValue> = "output" | "result",
    }

    /// A function's name and arguments.
    pub struct ChatFunction<'a> { pub name: Words<'a>, pub arguments: Option<&'a RawValue> }
}

impl ChatPart<'_> {
    /// Is it prose? Exporters have kinds of their own for the same (`tool_output`).
    fn is_prose(&self) -> bool {
        match &*self.kind {
            "text" | "input_text" | "output_text" | "" => true,
            "tool_use" | "tool_call" | "tool-call" | "tool-result" | "tool_result" | "refusal" | "thinking" | "reasoning" | "image_url"
            | "input_image" | "file" | "input_file" => false,
            _ => !self.text.is_empty(),
        }
    }

    /// What a tool returned, where that is what it is.
    fn returned(&self) -> Option<String> {
        if !matches!(&*self.kind, "tool-result" | "tool_result") {
            return None;
        }
        let told = self.output.and_then(|raw| serde_json::from_str::<Output>(raw.get()).ok()).unwrap_or_default();
        let kept = match &*told.kind {
            "text" | "json" | "error-text" | "error-json" | "content" => told.value.or(self.output),
            _ => self.output.or(self.content),
        };
        let texts = kept.filter(|raw| raw.get().starts_with('[')).and_then(|raw| serde_json::from_str::<Blocks<ChatPart>>(raw.get()).ok());
        Some(texts.map(|texts| text_of(&texts)).filter(|text| !text.is_empty()).unwrap_or_else(|| text_or_json(kept)))
    }

    fn words(&self) -> Cow<'_, str> {
        match [self.value, self.content].into_iter().find(Option::is_some) {
            Some(kept) if self.text.is_empty() => Cow::Owned(string(kept)),
            _ => Cow::Borrowed(&self.text),
        }
    }
}

impl ChatToolCall<'_> {
    /// Its id, its name and its arguments.
    pub fn told(&self) -> (&str, &str, Option<&RawValue>) {
        let flat = (&self.name, self.arguments);
        let (name, arguments) = self.function.as_ref().map_or(flat, |function| (&function.name, function.arguments));
        (&self.id, name, arguments)
    }

    /// The same as a part of a message of a session.
    pub fn part(&self, made: &mut Recorder<'_>) -> Part {
        let (id, name, arguments) = self.told();
        made.tool_call(id, name, arguments)
    }
}

/// The message's id; empty where it has none, or only a number within its file.
pub fn message_id(message: &ChatMessage) -> String {
    let id = string(message.id);
    if id.len() >= SHORTEST_ID { id } else { String::new() }
}

/// A shorter id cannot be unique among files.
const SHORTEST_ID: usize = 8;

/// Turns chat messages into recorded ones. Remembers the calls of one session, so that results find their tools' names.
#[derive(Default)]
pub struct Chat {
    tools: Tools,
}

impl Chat {
    /// The recorded message, without its call. `None` for an unknown role.
    pub fn message(&mut self, message: &ChatMessage, scale: &dyn Scale, lose: &mut dyn FnMut(&str)) -> Option<Message> {
        let role = match &*message.role {
            "system" | "developer" => Role::System,
            "user" | "human" => Role::User,
            "assistant" | "model" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ => return None,
        };
        let mut parts = Vec::new();
        if role == Role::Assistant {
            let openrouter = string(message.reasoning);
            let thought = if message.reasoning_content.is_empty() { openrouter.as_str() } else { &message.reasoning_content };
            if !thought.is_empty() {
                parts.push(thinking(scale, thought, 0));
            }
        }
        self.content(message, role, scale, &mut parts, lose);
        if !message.refusal.is_empty() {
            parts.push(Part::Text(scale.weigh(&message.refusal)));
        }
        let results = message.content.objects().any(|part| part.returned().is_some());
        if role == Role::Tool && !(results && message.tool_call_id.is_empty()) {
            self.result(message, scale, &mut parts);
        }
        for call in message.tool_calls.iter().flatten() {
            let (id, name, arguments) = call.told();
            parts.push(self.call(id, name, arguments, scale));
        }
        if let Some(function) = &message.function_call {
            parts.push(self.call("", &function.name, function.arguments, scale));
        }
        // What Anthropic's interface takes from the user, tools have returned.
        let returned = |part: &Part| matches!(part, Part::ToolResult { .. });
        let role = if role == Role::User && results && parts.iter().all(returned) { Role::Tool } else { role };
        let mut recorded = Message::new(role, parts);
        recorded.id = message_id(message);
        Some(recorded)
    }

    /// What tools returned to the calls of this message, where it is kept within them, with its words. What is empty stands for a result that is not there yet.
    pub fn answers(&self, message: &ChatMessage, scale: &dyn Scale) -> Vec<(Part, String)> {
        let answered = message.tool_calls.iter().flatten().map(|call| (call, text_or_json(call.output)));
        let result = |(call, words): (&ChatToolCall, String)| {
            let (id, name, _) = call.told();
            let text = scale.weigh_result(&words);
            (Part::ToolResult { call_id: id.to_owned(), name: name.to_owned(), text, error: false }, words)
        };
        answered.filter(|(_, words)| !matches!(words.trim(), "" | "{}")).map(result).collect()
    }

    fn content(&mut self, message: &ChatMessage, role: Role, scale: &dyn Scale, parts: &mut Vec<Part>, lose: &mut dyn FnMut(&str)) {
        for block in &message.content.0 {
            match block {
                // The result's own text is joined by `result`.
                Block::Text(_) if role == Role::Tool => {}
                Block::Text(text) if text.is_empty() => {}
                Block::Text(text) => parts.push(Part::Text(scale.weigh(text))),
                Block::Object(part) if part.is_prose() => {
                    if role != Role::Tool {
                        parts.push(Part::Text(scale.weigh(&part.words())));
                    }
                }
                Block::Object(part) => match &*part.kind {
                    // Frameworks that keep a provider's own content list the same calls beside it.
                    "tool_use" | "tool_call" | "tool-call" if message.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty()) => {}
                    "tool_use" | "tool-call" | "tool_call" if part.name.is_some() => {
                        let own = string(part.id);
                        let id = if part.call_id.is_empty() { own.as_str() } else { &part.call_id };
                        parts.push(self.call(id, &string(part.name), part.input, scale));
                    }
                    "tool-result" | "tool_result" => {
                        let name = Some(string(part.name)).filter(|name| !name.is_empty());
                        let name = name.or_else(|| self.tools.name(&part.call_id).map(str::to_owned)).unwrap_or_default();
                        let text = scale.weigh_result(&part.returned().unwrap_or_default());
                        parts.push(Part::ToolResult { call_id: part.call_id.to_string(), name, text, error: false });
                    }
                    "image" if part.image.is_some_and(|image| image.get().starts_with('"')) => {
                        let address = string(part.image);
                        parts.push(Part::Image(match address.contains(':') {
                            true => image::from_data_url(&address),
                            false => image::from_base64(&address),
                        }));
                    }
                    "tool_call" => match serde_json::from_str::<ChatFunction>(&part.words()) {
                        Ok(function) => parts.push(self.call(&string(part.id), &function.name, function.arguments, scale)),
                        Err(_) => lose("unknown content part"),
                    },
                    "refusal" => parts.push(Part::Text(scale.weigh(&part.refusal))),
                    "thinking" | "reasoning" => {
                        let words = part.words();
                        let text = if words.is_empty() { Cow::Owned(string(part.thinking)) } else { words };
                        parts.push(thinking(scale, &text, 0));
                    }
                    "image_url" | "input_image" => parts.extend(part.image_url.0.iter().map(|address| {
                        Part::Image(image::from_data_url(match address {
                            Block::Text(url) => url,
                            Block::Object(address) => &address.url,
                            Block::Other => "",
                        }))
                    })),
                    "file" | "input_file" => {
                        let name = part.file.as_ref().map_or("", |file| &file.filename);
                        parts.push(Part::Other(scale.weigh(name)));
                        lose(ATTACHED);
                    }
                    "input_audio" | "audio" | "audio_url" | "input_video" | "video" | "video_url" => lose(ATTACHED),
                    _ => lose("unknown content part"),
                },
                Block::Other => lose("unknown content part"),
            }
        }
    }

    /// Puts the result in front of what else (pictures) the tool's message holds.
    fn result(&self, message: &ChatMessage, scale: &dyn Scale, parts: &mut Vec<Part>) {
        let name = if message.name.is_empty() {
            self.tools.name(&message.tool_call_id).filter(|_| !message.tool_call_id.is_empty()).unwrap_or_default().to_owned()
        } else {
            message.name.to_string()
        };
        let text = text_of(&message.content);
        parts
            .insert(0, Part::ToolResult { call_id: message.tool_call_id.to_string(), name, text: scale.weigh_result(&text), error: false });
    }

    fn call(&mut self, id: &str, name: &str, arguments: Option<&RawValue>, scale: &dyn Scale) -> Part {
        self.tools.call(id, name, scale.weigh(&text_or_json(arguments)))
    }
}

/// The text of all text parts, joined by newlines.
pub fn text_of(content: &Blocks<ChatPart>) -> String {
    content.joined(|part| part.is_prose().then(|| part.words()))
}

wire! {
    /// Usage under the names that OpenAI's chat interface, LiteLLM, OpenRouter, DeepSeek and LangChain use.
    pub struct ChatUsage {
        // The AI SDK writes them in its own way, and counts the cached part in.
        prompt_tokens: Count = "prompt_tokens" | "promptTokens" | "inputTokens",
        completion_tokens: Count = "completion_tokens" | "completionTokens" | "outputTokens",
        total_tokens: Count = "total_tokens" | "totalTokens",
        prompt_tokens_details: Option<Details>,
        completion_tokens_details: Option<Details>,
        prompt_cache_hit_tokens: Count = "prompt_cache_hit_tokens" | "cachedInputTokens",
        reasoning_tokens: Count = "reasoningTokens",
        input_tokens: Count,
        output_tokens: Count,
        input_tokens_details: Option<Details> = "input_tokens_details" | "input_token_details",
        output_tokens_details: Option<Details> = "output_tokens_details" | "output_token_details",
        cache_read_input_tokens: Count,
        cache_creation_input_tokens: Count,
        /// Mistral alone has it, whether it lists the tokens of sounds or not.
        prompt_audio_seconds: Count,
        /// Moonshot counts them here.
        cached_tokens: Count,
        cost: Dollars,
    }

    #[derive(Clone, Copy)]
    struct Details {
        cached_tokens: Count,
        cache_read: Count,
        cache_write_tokens: Count,
        cache_creation_tokens: Count,
        /// Alibaba counts its explicit cache so, and beside it by lifetimes in `cache_creation`.
        cache_creation_input_tokens: Count,
        cache_creation: Count,
        ephemeral_1h_input_tokens: Count,
        reasoning_tokens: Count,
        reasoning: Count,
        audio_tokens: Count,
    }
}

impl ChatUsage {
    /// Decodes a usage record. `Ok(None)` where it holds no measurement: nothing at all, or zeros.
    pub fn read(raw: &RawValue) -> Result<Option<Usage>, Absurd> {
        let usage: Option<ChatUsage> = serde_json::from_str(raw.get()).map_err(|_| Absurd)?;
        usage.map_or(Ok(None), |usage| usage.usage())
    }

    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let input = self.prompt_tokens_details.or(self.input_tokens_details).unwrap_or_default();
        let output = self.completion_tokens_details.or(self.output_tokens_details).unwrap_or_default();
        let written =
            input.cache_write_tokens.or(input.cache_creation_tokens).or(input.cache_creation_input_tokens).or(input.cache_creation);
        // Anthropic's own dialect has no details. All others count the cached part in.
        let apart = self.prompt_tokens == Count::Absent && self.prompt_tokens_details.is_none() && self.input_tokens_details.is_none();
        let written = written.or(self.cache_creation_input_tokens);
        let read = [input.cache_read, self.prompt_cache_hit_tokens, self.cache_read_input_tokens, self.cached_tokens];
        let read = read.into_iter().fold(input.cached_tokens, Count::or);
        Reported {
            input: self.prompt_tokens.or(self.input_tokens),
            cache_read: read,
            cache_write: written,
            counts_cache: read != Count::Absent && written != Count::Absent,
            cache_write_1h: input.ephemeral_1h_input_tokens,
            sound: input.audio_tokens.known().unwrap_or_default().or_else(|| self.unlisted_sounds()).unwrap_or(0),
            cached: if apart { Cached::Beside } else { Cached::Within },
            output: self.completion_tokens.or(self.output_tokens),
            reasoning: output.reasoning_tokens.or(output.reasoning).or(self.reasoning_tokens),
            total: self.total_tokens,
            cost_nano_usd: self.cost.0,
            ..Reported::default()
        }
        .usage()
    }

    /// What Mistral's total holds beside prompt and reply, where it does not list it.
    fn unlisted_sounds(&self) -> Option<u64> {
        let counts = [self.prompt_audio_seconds, self.total_tokens, self.prompt_tokens, self.completion_tokens];
        let [seconds, total, prompt, reply] = counts.map(|count| count.known().ok().flatten());
        seconds.and(total)?.checked_sub(prompt? + reply?)
    }
}
