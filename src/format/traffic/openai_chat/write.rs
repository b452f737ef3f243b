//! Writing a session as OpenAI chat messages: one line with all that stands in the context at its end.

use crate::transcript::{Message, Part, Role, Transcript, Trust, Usage};
use crate::units::adds;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::io::{self, Write};

/// What of a session this dialect has no place for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Messages that the user took back.
    pub withdrawn: u64,
    /// Pictures, whose data is not kept.
    pub images: u64,
    /// Compactions and prunings of the recording agent.
    pub compactions: u64,
    /// Calls of summarisers and the like.
    pub side_calls: u64,
    /// That the counted output of a reply is a placeholder from the start of the stream.
    pub placeholders: u64,
    /// That usage is an estimate of the agent, or of a part of the prompt.
    pub doubtful: u64,
}

adds!(LeftOut += LeftOut: withdrawn, images, compactions, side_calls, placeholders, doubtful);

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    messages: Vec<ChatLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Box<RawValue>>,
}

#[derive(Default, Serialize)]
struct ChatLine<'a> {
    role: &'static str,
    content: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    /// Where it is not that of the session.
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    /// Milliseconds since 1970; left out where the log has no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<i64>,
    /// Written where a message of the model's is no answered call: one that was aborted, or put in by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<bool>,
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning_content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallLine<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    tool_call_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageLine>,
}

#[derive(Serialize)]
struct CallLine<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: FunctionLine<'a>,
}

#[derive(Serialize)]
struct FunctionLine<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct UsageLine {
    prompt_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<u64>,
    prompt_tokens_details: PromptDetails,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Serialize)]
struct PromptDetails {
    cached_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    cache_write_tokens: u64,
    /// The part of them that lives for one hour, by LangChain's name.
    #[serde(skip_serializing_if = "is_zero")]
    ephemeral_1h_input_tokens: u64,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

/// Writes a session whose words were kept: how many messages that came to, and what there was no place for.
pub fn write(transcript: &Transcript, out: &mut dyn Write) -> io::Result<(u64, LeftOut)> {
    let live = at_the_end(transcript);
    let images = |part: &&Part| matches!(part, Part::Image(_));
    let usages = || live.iter().filter_map(|message| message.call.as_ref()?.usage);
    let left_out = LeftOut {
        withdrawn: (transcript.messages.len() - live.len()) as u64,
        images: live.iter().flat_map(|message| &message.parts).filter(images).count() as u64,
        compactions: transcript.compactions.len() as u64,
        side_calls: transcript.side_calls.len() as u64 + transcript.compactions.iter().filter(|event| event.call.is_some()).count() as u64,
        placeholders: usages().filter(|usage| !usage.output_is_final && usage.output > 0).count() as u64,
        doubtful: usages().filter(|usage| usage.trust != Trust::Provider).count() as u64,
    };
    let model = live.iter().filter_map(|message| message.call.as_ref()).map(|call| &*call.model).find(|model| !model.is_empty());
    let model = model.unwrap_or_default();
    let tools = live.iter().flat_map(|message| &message.parts).find_map(|part| match part {
        Part::Tools(text) => definitions(text.as_str()),
        _ => None,
    });
    let messages: Vec<ChatLine<'_>> = live.into_iter().flat_map(|message| chat_lines(message, model)).collect();
    let written = messages.len() as u64;
    serde_json::to_writer(&mut *out, &Line { id: &transcript.id, model, messages, tools })?;
    out.write_all(b"\n")?;
    Ok((written, left_out))
}

/// Definitions of tools as this dialect has them. Those of Anthropic's are put into its shape: a list in theirs would be read as one of their logs.
fn definitions(text: &str) -> Option<Box<RawValue>> {
    let written = || serde_json::from_str::<Box<RawValue>>(text).ok();
    let Ok(mut tools) = serde_json::from_str::<Vec<Map<String, Value>>>(text) else { return written() };
    if !tools.iter().any(|tool| tool.contains_key("input_schema")) {
        return written();
    }
    for tool in tools.iter_mut().filter(|tool| tool.contains_key("input_schema")) {
        let mut function = std::mem::take(tool);
        if let Some(schema) = function.remove("input_schema") {
            function.insert("parameters".to_owned(), schema);
        }
        function.remove("cache_control");
        tool.insert("type".to_owned(), Value::from("function"));
        tool.insert("function".to_owned(), Value::Object(function));
    }
    to_raw_value(&tools).ok()
}

/// The messages that stand in the context at the end if nothing was compacted: what was taken back is gone.
fn at_the_end(transcript: &Transcript) -> Vec<&Message> {
    let mut live: Vec<(usize, &Message)> = Vec::new();
    for (place, message) in transcript.messages.iter().enumerate() {
        if let Some(from) = message.rewind {
            live.retain(|(place, _)| *place < from);
        }
        live.push((place, message));
    }
    live.into_iter().map(|(_, message)| message).collect()
}

/// A message as this dialect has it: a result is a message of its own.
fn chat_lines<'a>(message: &'a Message, model: &str) -> Vec<ChatLine<'a>> {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut lines = Vec::new();
    let mut own = ChatLine { role, ..ChatLine::default() };
    let mut texts: Vec<&str> = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) | Part::Other(text) => texts.push(text.as_str()),
            Part::Thinking { text, .. } => own.reasoning_content.push_str(text.as_str()),
            Part::ToolCall { id, name, arguments } => {
                own.tool_calls.push(CallLine { id, kind: "function", function: FunctionLine { name, arguments: arguments.as_str() } });
            }
            Part::ToolResult { call_id, name, text, .. } => {
                let content = Some(text.as_str().to_owned());
                lines.push(ChatLine { role: "tool", content, tool_call_id: call_id, name, ..ChatLine::default() });
            }
            Part::Image(_) | Part::Tools(_) => {}
        }
    }
    own.content = (!texts.is_empty()).then(|| texts.join("\n"));
    own.usage = message.call.as_ref().and_then(|call| call.usage.as_ref()).map(usage);
    // A message of results alone has said all in them; an empty reply was a reply all the same.
    let says = own.content.is_some() || !own.tool_calls.is_empty() || !own.reasoning_content.is_empty();
    if says || message.role == Role::Assistant {
        own.model = message.call.as_ref().map(|call| &*call.model).filter(|own| *own != model).unwrap_or_default();
        own.call = (message.role == Role::Assistant && message.call.is_none()).then_some(false);
        lines.push(own);
    }
    lines.iter_mut().for_each(|line| line.timestamp = message.time);
    if let Some(first) = lines.first_mut() {
        // The id of a call is that by which its copies are known.
        first.id = message.call.as_ref().map(|call| &call.id).filter(|id| !id.is_empty()).unwrap_or(&message.id);
    }
    lines
}

fn usage(usage: &Usage) -> UsageLine {
    UsageLine {
        prompt_tokens: usage.prompt,
        completion_tokens: usage.reported_output(),
        total_tokens: usage.reported_output().map(|output| usage.prompt + output),
        prompt_tokens_details: PromptDetails {
            cached_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
            ephemeral_1h_input_tokens: usage.cache_write_1h,
        },
        completion_tokens_details: usage.reasoning.map(|reasoning_tokens| CompletionDetails { reasoning_tokens }),
    }
}
