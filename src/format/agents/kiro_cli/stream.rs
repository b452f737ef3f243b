//! A session of the interactive program: its messages line by line, and what is known of the whole in the file beside.
//!
//! Lines with tools, and tokens of turns, are read from descriptions alone.

use super::conversation::{ModelInfo, SHARE};
use crate::format::ground::{ABSURD, Count, Lose, ReadError, Source, Words, fault, string, text_or_json, wire};
use crate::format::recorder::Recorder;
use crate::format::usage::Reported;
use crate::reading::is_beside;
use crate::transcript::{Call, Message, Role};
use serde_json::value::RawValue;

/// Is there a stream of messages beside this state of a session?
pub fn is_beside_stream(source: &Source) -> bool {
    is_beside(&source.path.with_extension("jsonl"))
}

wire! {
    struct Line<'a> { kind: Words<'a>, data: Data<'a> }

    struct Data<'a> { message_id: Words<'a>, content: Vec<Block<'a>>, meta: Option<Meta> }

    struct Meta {
        /// Seconds since 1970.
        timestamp: Option<i64>,
    }

    struct Block<'a> { kind: Words<'a>, data: Option<&'a RawValue> }

    /// A request to run a tool, or what came of it.
    struct Tool<'a> {
        tool_use_id: Words<'a> = "toolUseId",
        name: Words<'a>,
        input: Option<&'a RawValue>,
        content: Vec<Block<'a>>,
        status: Words<'a>,
    }

    /// What the `.json` file beside the messages holds of the whole session.
    struct State<'a> { session_id: Words<'a>, session_state: Inner<'a> }

    struct Inner<'a> { conversation_metadata: Turns<'a>, rts_model_state: ModelState<'a> }

    struct Turns<'a> { user_turn_metadatas: Vec<Turn<'a>> }

    struct Turn<'a> {
        message_ids: Vec<Words<'a>>,
        total_request_count: Count,
        input_token_count: Count,
        output_token_count: Count,
    }

    struct ModelState<'a> { model_info: ModelInfo<'a>, context_usage_percentage: Option<f64> }

    /// A session that was saved by hand (`/chat save`): both in one document.
    struct Export<'a> { metadata: State<'a>, log_entries: Vec<&'a RawValue> }
}

/// Reads a session that was saved by hand; why not, where it is none.
pub fn read_export(text: &str, made: &mut Recorder<'_>, lose: Lose<'_>) -> Result<(), &'static str> {
    let export = serde_json::from_str::<Export>(text).map_err(|error| fault(&error, true))?;
    for entry in export.log_entries {
        match serde_json::from_str::<Line>(entry.get()) {
            Ok(line) => message(&line, made, &mut *lose),
            Err(error) => lose(fault(&error, false)),
        }
    }
    describe(&export.metadata, made, lose);
    Ok(())
}

/// Reads the stream, and what lies beside it.
pub fn read(source: &mut Source, made: &mut Recorder<'_>) -> Result<(), ReadError> {
    made.transcript.id = source.name();
    source.each_line(|source, line| source.values(line, |record: Line, lose| message(&record, made, lose)))?;
    let path = source.path.with_extension("json");
    let mut held = String::new();
    if path != source.path
        && let Some(state) = source.record_beside::<State>(&path, "state of the session that cannot be read", &mut held)
    {
        describe(&state, made, &mut |reason| source.lose(0, reason));
    }
    Ok(())
}

fn message(line: &Line<'_>, made: &mut Recorder<'_>, lose: Lose<'_>) {
    let role = match &*line.kind {
        "Prompt" => Role::User,
        "AssistantMessage" => Role::Assistant,
        "ToolResults" => Role::Tool,
        _ => return lose("unknown record type"),
    };
    let time = line.data.meta.as_ref().and_then(|meta| meta.timestamp).filter(|time| *time > 0).map(|time| time.saturating_mul(1000));
    let mut parts = Vec::new();
    for block in &line.data.content {
        let tool = || block.data.and_then(|data| serde_json::from_str::<Tool>(data.get()).ok());
        match (&*block.kind, tool()) {
            ("text", _) => parts.push(made.text(&string(block.data))),
            ("toolUse", Some(tool)) => parts.push(made.tool_call(&tool.tool_use_id, &tool.name, tool.input)),
            ("toolResult", Some(tool)) => {
                let texts: Vec<String> = tool.content.iter().map(|block| text_or_json(block.data)).collect();
                let error = !tool.status.eq_ignore_ascii_case("success");
                parts.push(made.result(&tool.tool_use_id, &texts.join("\n"), error));
            }
            _ => lose("unknown content part"),
        }
    }
    let call = (role == Role::Assistant).then(Call::default);
    let id = line.data.message_id.id().to_owned();
    made.push(Message { id, time, call: call.map(Box::new), ..Message::new(role, parts) });
}

fn describe(state: &State<'_>, made: &mut Recorder<'_>, lose: Lose<'_>) {
    made.identify(state.session_id.id());
    let transcript = &mut made.transcript;
    let model = &state.session_state.rts_model_state;
    transcript.window = model.model_info.context_window_tokens.known().ok().flatten();
    for call in transcript.messages.iter_mut().filter_map(|message| message.call.as_mut()) {
        call.model = model.model_info.model_id.to_string();
    }
    for turn in &state.session_state.conversation_metadata.user_turn_metadatas {
        let reported = Reported { input: turn.input_token_count, output: turn.output_token_count, ..Reported::default() };
        let reply = |message: &&mut Message| message.call.is_some() && turn.message_ids.iter().any(|id| **id == *message.id);
        match (reported.usage(), transcript.messages.iter_mut().rfind(reply)) {
            (Ok(None), _) => {}
            (Ok(usage), Some(message)) if turn.total_request_count == Count::Sound(1) => {
                if let Some(call) = message.call.as_mut() {
                    call.usage = usage;
                    call.id.clone_from(&message.id);
                }
            }
            (Ok(Some(_)), _) => lose("usage of a whole turn alone"),
            (Err(_), _) => lose(ABSURD),
        }
    }
    if model.context_usage_percentage.is_some() {
        lose(SHARE);
    }
}
