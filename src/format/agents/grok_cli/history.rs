//! `chat_history.jsonl`: what the model reads, line by line. Lines have no time.

use crate::format::ground::json::{fault, text_or_json, values};
use crate::format::ground::source::{ReadError, Source};
use crate::format::ground::words::Words;
use crate::format::wire::blocks::{Block, Blocks};
use crate::transcript::{Call, Message, Part, Role, Scale};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: Words<'a>,
    content: Blocks<'a, Piece<'a>>,
    synthetic_reason: Words<'a>,
    summary: Blocks<'a, Piece<'a>>,
    encrypted_content: Words<'a>,
    tool_calls: Vec<ToolCall<'a>>,
    tool_call_id: Words<'a>,
    model_id: Words<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Piece<'a> {
    #[serde(rename = "type")]
    kind: Words<'a>,
    text: Words<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ToolCall<'a> {
    id: Words<'a>,
    name: Words<'a>,
    arguments: Option<&'a RawValue>,
}

/// All messages. Reasoning is a line before its reply.
pub fn read(source: &mut Source, scale: &dyn Scale) -> Result<Vec<Message>, ReadError> {
    let mut messages = Vec::new();
    let mut thoughts = Vec::new();
    let mut tools = HashMap::new();
    source.each_line(|source, line| {
        for value in values::<Line>(&line.text) {
            let mut lose = |reason: &str| source.lose(line.number, reason);
            match value {
                Ok(record) => message(&record, &mut messages, &mut thoughts, &mut tools, scale, &mut lose),
                Err(error) => lose(fault(&error, line.last_unterminated)),
            }
        }
    })?;
    Ok(messages)
}

fn message(
    line: &Line<'_>,
    messages: &mut Vec<Message>,
    thoughts: &mut Vec<Part>,
    tools: &mut HashMap<String, String>,
    scale: &dyn Scale,
    lose: &mut dyn FnMut(&str),
) {
    let role = match &*line.kind {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool_result" => Role::Tool,
        "reasoning" => {
            let text = scale.weigh(&texts(&line.summary, lose).join("\n"));
            return thoughts.push(Part::Thinking { text, sealed_bytes: u32::try_from(line.encrypted_content.len()).unwrap_or(u32::MAX) });
        }
        _ => return lose("unknown record type"),
    };
    let written = texts(&line.content, lose);
    let mut parts = std::mem::take(thoughts);
    if role == Role::Tool {
        let name = tools.get(&*line.tool_call_id).cloned().unwrap_or_default();
        let text = scale.weigh_result(&written.join("\n"));
        parts = vec![Part::ToolResult { call_id: line.tool_call_id.to_string(), name, text, error: false }];
    } else {
        parts.extend(written.iter().filter(|text| !text.is_empty()).map(|text| Part::Text(scale.weigh(text))));
    }
    for call in &line.tool_calls {
        tools.insert(call.id.to_string(), call.name.to_string());
        let arguments = scale.weigh(&text_or_json(call.arguments));
        parts.push(Part::ToolCall { id: call.id.to_string(), name: call.name.to_string(), arguments });
    }
    let call = (role == Role::Assistant).then(|| Call { model: line.model_id.to_string(), ..Call::default() });
    let synthetic = role == Role::User && !line.synthetic_reason.is_empty();
    messages.push(Message { call, synthetic, ..Message::new(role, parts) });
}

fn texts(content: &Blocks<Piece<'_>>, lose: &mut dyn FnMut(&str)) -> Vec<String> {
    let mut texts = Vec::new();
    for block in &content.0 {
        match block {
            Block::Text(text) => texts.push(text.to_string()),
            Block::Object(piece) if matches!(&*piece.kind, "text" | "summary_text") => texts.push(piece.text.to_string()),
            Block::Object(_) | Block::Other => lose("unknown content block"),
        }
    }
    texts
}
