//! A conversation as one JSON value: pairs of what the user's side sent and what the model replied.

use crate::format::ground::{Absurd, Count, Lose, Words, fault, millis, sound, text_or_json, wire};
use crate::format::recorder::Recorder;
use crate::format::usage::{Cached, Reported};
use crate::transcript::{Call, Compaction, Message, Part, Role, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The reason for the loss of what is no measurement.
pub const SHARE: &str = "size as a share of the window alone (not used)";

wire! {
    struct Conversation<'a> {
        conversation_id: Words<'a>,
        history: Vec<&'a RawValue>,
        /// The summary that stands for what is not in the list any more, and the request that made it.
        latest_summary: Option<(Words<'a>, Option<Request<'a>>)>,
        model_info: Option<ModelInfo<'a>>,
    }

    /// The model, and its window.
    pub struct ModelInfo<'a> { pub model_id: Words<'a>, pub context_window_tokens: Count }

    struct Pair<'a> { user: Sent<'a>, assistant: Option<Reply<'a>>, request_metadata: Option<Request<'a>> }

    struct Sent<'a> { additional_context: Words<'a>, content: Option<Content<'a>>, timestamp: Words<'a> }

    /// A prompt, results, or both, where a person breaks off what was to be run.
    struct Prompt<'a> { prompt: Words<'a>, tool_use_results: Vec<Outcome<'a>> }

    struct Outcome<'a> { tool_use_id: Words<'a>, content: Vec<Block<'a>>, status: Words<'a> }

    struct Said<'a> { message_id: Words<'a>, content: Words<'a>, tool_uses: Vec<ToolUse<'a>> }

    struct ToolUse<'a> { id: Words<'a>, name: Words<'a>, args: Option<&'a RawValue> }

    /// What is known of a request. The names say that the input leaves out what was cached.
    struct Request<'a> {
        request_id: Words<'a>,
        model_id: Words<'a>,
        request_start_timestamp_ms: Option<i64>,
        stream_end_timestamp_ms: Option<i64>,
        context_usage_percentage: Option<f64>,
        total_tokens: Count,
        uncached_input_tokens: Count,
        output_tokens: Count,
        cache_read_input_tokens: Count,
        cache_write_input_tokens: Count,
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
enum Content<'a> {
    Prompt(Prompt<'a>),
    CancelledToolUses(Prompt<'a>),
    ToolUseResults(Prompt<'a>),
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
enum Block<'a> {
    Text(Words<'a>),
    Json(&'a RawValue),
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
enum Reply<'a> {
    Response(Said<'a>),
    ToolUse(Said<'a>),
}

impl Request<'_> {
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.uncached_input_tokens,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_write_input_tokens,
            cached: Cached::Beside,
            output: self.output_tokens,
            total: self.total_tokens,
            ..Reported::default()
        }
        .usage()
    }

    fn call(&self, lose: Lose<'_>) -> Call {
        let usage = sound(self.usage(), lose);
        if usage.is_none() && self.context_usage_percentage.is_some() {
            lose(SHARE);
        }
        Call { id: self.request_id.id().to_owned(), model: self.model_id.to_string(), usage, unchained: false, ..Call::default() }
    }
}

/// The conversation of a value; why not, where it is none.
pub fn read(text: &str, made: &mut Recorder<'_>, lose: Lose<'_>) -> Result<(), &'static str> {
    let conversation = serde_json::from_str::<Conversation>(text).map_err(|error| fault(&error, true))?;
    made.transcript.window = conversation.model_info.as_ref().and_then(|info| info.context_window_tokens.known().ok().flatten());
    made.identify(conversation.conversation_id.id());
    for pair in &conversation.history {
        match serde_json::from_str::<Pair>(pair.get()) {
            Ok(pair) => {
                user(&pair, made);
                assistant(&pair, made, lose);
            }
            Err(_) => lose("record of an unexpected shape"),
        }
    }
    let calls = made.transcript.messages.iter_mut().filter_map(|message| message.call.as_mut());
    for call in calls.filter(|call| call.model.is_empty()) {
        call.model = conversation.model_info.as_ref().map(|info| info.model_id.to_string()).unwrap_or_default();
    }
    made.link_calls();
    if let Some((summary, request)) = &conversation.latest_summary {
        // What it stands for is cut off: the conversation begins with it.
        let call = request.as_ref().map(|request| request.call(lose)).filter(|call| call.usage.is_some());
        let summary = made.scale.weigh_summary(summary);
        made.transcript.compactions.push(Compaction { summary, kept_from: Some(0), call, ..Compaction::default() });
    }
    Ok(())
}

fn user(pair: &Pair<'_>, made: &mut Recorder<'_>) {
    let sent = &pair.user;
    let started = pair.request_metadata.as_ref().and_then(|request| request.request_start_timestamp_ms);
    let time = millis(&sent.timestamp).or(started);
    let Some(Content::Prompt(content) | Content::CancelledToolUses(content) | Content::ToolUseResults(content)) = &sent.content else {
        return;
    };
    for outcome in &content.tool_use_results {
        let text = |block: &Block<'_>| match block {
            Block::Text(text) => text.to_string(),
            Block::Json(json) => text_or_json(Some(json)),
        };
        let texts: Vec<String> = outcome.content.iter().map(text).collect();
        let error = !outcome.status.eq_ignore_ascii_case("success");
        let part = made.result(&outcome.tool_use_id, &texts.join("\n"), error);
        made.push(Message { time, ..Message::new(Role::Tool, vec![part]) });
    }
    let texts = [&sent.additional_context, &content.prompt].into_iter().filter(|text| !text.is_empty());
    let parts: Vec<Part> = texts.map(|text| made.text(text)).collect();
    if !parts.is_empty() {
        made.push(Message { time, ..Message::new(Role::User, parts) });
    }
}

fn assistant(pair: &Pair<'_>, made: &mut Recorder<'_>, lose: Lose<'_>) {
    let Some(Reply::Response(said) | Reply::ToolUse(said)) = &pair.assistant else { return };
    let mut parts = Vec::new();
    if !said.content.is_empty() {
        parts.push(made.text(&said.content));
    }
    parts.extend(said.tool_uses.iter().map(|tool| made.tool_call(&tool.id, &tool.name, tool.args)));
    let request = pair.request_metadata.as_ref();
    let message = Message {
        id: said.message_id.id().to_owned(),
        time: request.and_then(|request| request.stream_end_timestamp_ms),
        call: Some(Box::new(request.map(|request| request.call(lose)).unwrap_or_default())),
        ..Message::new(Role::Assistant, parts)
    };
    made.push(message);
}
