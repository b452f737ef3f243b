//! ShareGPT and its relatives: conversations that models are trained on, as a list or one a line. They hold no usage; tools are a JSON
//! string beside the conversation, and a call or a result of one is a turn of its own.

use crate::format::ground::{Lose, ReadError, Source, Words, compact, string, text_or_json, wire};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Message, Part, Role, Scale, Transcript};
use serde_json::value::RawValue;

/// Conversations in ShareGPT's shape.
pub const READER: Reader =
    Reader { name: "sharegpt", about: "ShareGPT: conversations for training, with tools (a JSON list, or JSONL)", claims, read };

fn claims(source: &Source) -> Claim {
    let turn = |at: &&str| source.outline().shows_at(at, "conversations[].from conversations[].value");
    Claim::when(["", "[]."].iter().any(turn))
}

wire! {
    struct Dialogue<'a> {
        id: Option<&'a RawValue>,
        system: Words<'a>,
        tools: Option<&'a RawValue>,
        conversations: Option<Vec<Turn<'a>>>,
    }

    struct Turn<'a> { from: Words<'a>, value: Option<&'a RawValue> }

    /// A call, as the text of its turn holds it.
    struct Wanted<'a> { name: Words<'a>, arguments: Option<&'a RawValue> = "arguments" | "parameters" }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let name = source.name();
    let mut number = 0;
    let mut take = |dialogue: &Dialogue, lose: Lose<'_>| {
        if dialogue.conversations.is_none() {
            return lose("unknown record type");
        }
        number += 1;
        let own = if number == 1 { name.clone() } else { format!("{name}#{number}") };
        hand_over(transcript(dialogue, own, scale, lose));
    };
    let lists: &[&str] = if source.head_text().trim_start().starts_with('[') { &[""] } else { &[] };
    source.each_text(lists, |source, text, number, at_end| {
        source.values_of(text, number, at_end, |dialogue: Dialogue, lose| take(&dialogue, lose));
    })
}

fn transcript(dialogue: &Dialogue, name: String, scale: &dyn Scale, lose: &mut dyn FnMut(&str)) -> Transcript {
    // A number is no id: every file counts from 0.
    let id = string(dialogue.id.filter(|raw| raw.get().starts_with('"')));
    let mut transcript = Transcript { id: if id.is_empty() { name } else { id }, agent: READER.name.to_owned(), ..Transcript::default() };
    let mut setting = Vec::new();
    if !dialogue.system.is_empty() {
        setting.push(Part::Text(scale.weigh(&dialogue.system)));
    }
    let tools = text_or_json(dialogue.tools);
    if !matches!(tools.trim(), "" | "[]" | "null") {
        setting.push(Part::Tools(scale.weigh(&compact(&tools))));
    }
    if !setting.is_empty() {
        transcript.messages.push(Message::new(Role::System, setting));
    }
    let mut called = String::new();
    for turn in dialogue.conversations.iter().flatten() {
        let value = text_or_json(turn.value);
        let (role, parts) = match turn.from.to_lowercase().as_str() {
            "human" | "user" => (Role::User, vec![Part::Text(scale.weigh(&value))]),
            "gpt" | "assistant" | "chatgpt" | "model" | "bing" | "bard" => (Role::Assistant, vec![Part::Text(scale.weigh(&value))]),
            "system" => (Role::System, vec![Part::Text(scale.weigh(&value))]),
            "function_call" | "tool_call" => (Role::Assistant, calls(&value, &mut called, scale)),
            "observation" | "tool" | "function" | "function_response" | "tool_response" => {
                let (name, text) = (called.clone(), scale.weigh_result(&value));
                (Role::Tool, vec![Part::ToolResult { call_id: String::new(), name, text, error: false }])
            }
            _ => {
                lose("message of an unknown role");
                continue;
            }
        };
        let mut message = Message::new(role, parts);
        message.call = (role == Role::Assistant).then(Box::default);
        transcript.messages.push(message);
    }
    transcript
}

/// The calls of a turn: one, or a list of them; a turn whose text is no JSON is a call all the same.
fn calls(value: &str, called: &mut String, scale: &dyn Scale) -> Vec<Part> {
    let list = serde_json::from_str::<Vec<Wanted>>(value);
    let list = list.or_else(|_| serde_json::from_str::<Wanted>(value).map(|one| vec![one]));
    let Ok(list) = list else { return vec![Part::ToolCall { id: String::new(), name: String::new(), arguments: scale.weigh(value) }] };
    let part = |wanted: Wanted| {
        *called = wanted.name.to_string();
        let arguments = scale.weigh(&text_or_json(wanted.arguments));
        Part::ToolCall { id: String::new(), name: called.clone(), arguments }
    };
    list.into_iter().map(part).collect()
}
