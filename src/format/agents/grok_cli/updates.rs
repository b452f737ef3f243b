//! `updates.jsonl`: notifications of the Agent Client Protocol, as they went to the screen.

use crate::format::ground::{ReadError, Source, Words, text_or_json, wire};
use crate::format::recorder::Recorder;
use crate::format::wire::anthropic::visible_text;
use crate::transcript::{Message, Messages, Part, Role};
use serde_json::value::RawValue;
use std::collections::HashMap;

wire! {
    struct Line<'a> { params: Params<'a> }

    struct Params<'a> { session_id: Words<'a> = "sessionId", update: Update<'a>, meta: Meta<'a> = "_meta" }

    struct Meta<'a> {
        agent_timestamp_ms: Option<i64> = "agentTimestampMs",
        event_id: Words<'a> = "eventId",
        model_id: Words<'a> = "modelId",
    }

    /// An update, with the fields of all kinds.
    struct Update<'a> {
        session_update: Words<'a> = "sessionUpdate",
        content: Option<&'a RawValue>,
        tool_call_id: Words<'a> = "toolCallId",
        title: Words<'a>,
        raw_input: Option<&'a RawValue> = "rawInput",
        raw_output: Option<&'a RawValue> = "rawOutput",
        status: Words<'a>,
        meta: Option<Meta<'a>> = "_meta",
    }

    struct Shown<'a> {
        kind: Words<'a> = "type",
        text: Words<'a>,
        content: Option<&'a RawValue>,
        new_text: Words<'a> = "newText",
    }
}

/// Pieces of one text, which is weighed when it is whole.
#[derive(Default)]
struct Text {
    kind: &'static str,
    said: String,
}

struct Session<'s, 'm> {
    made: &'m mut Recorder<'s>,
    text: Text,
    model: String,
    /// Where and when the text that is being gathered began.
    began: (String, Option<i64>),
}

/// Reads the updates of a session.
pub fn read(source: &mut Source, made: &mut Recorder<'_>) -> Result<(), ReadError> {
    let mut session = Session { made, text: Text::default(), model: String::new(), began: Default::default() };
    source.each_line(|source, line| source.values(line, |record: Line, lose| session.update(&record.params, lose)))?;
    session.put_text();
    Ok(())
}

impl Session<'_, '_> {
    fn update(&mut self, params: &Params<'_>, lose: &mut dyn FnMut(&str)) {
        let update = &params.update;
        self.made.identify(params.session_id.id());
        let at = (params.meta.event_id.id().to_owned(), params.meta.agent_timestamp_ms.filter(|time| *time > 0));
        match &*update.session_update {
            "user_message_chunk" => {
                if let Some(meta) = &update.meta {
                    self.model = meta.model_id.to_string();
                }
                self.chunk("user", update, at, lose);
            }
            "agent_thought_chunk" => self.chunk("thought", update, at, lose),
            "agent_message_chunk" => self.chunk("message", update, at, lose),
            "tool_call" => {
                self.put_text();
                let part = self.made.tool_call(&update.tool_call_id, &update.title, update.raw_input);
                self.reply(part, at);
            }
            "tool_call_update" => {
                self.put_text();
                if matches!(&*update.status, "completed" | "failed") {
                    self.result(update, at);
                }
            }
            "turn_completed" => self.put_text(),
            "hook_execution" | "plan" | "available_commands_update" | "current_mode_update" => {}
            _ => lose("unknown record type"),
        }
    }

    fn chunk(&mut self, kind: &'static str, update: &Update<'_>, at: (String, Option<i64>), lose: &mut dyn FnMut(&str)) {
        if self.text.kind != kind {
            self.put_text();
            self.text.kind = kind;
            self.began = at;
        }
        match update.content.and_then(|content| serde_json::from_str::<Shown>(content.get()).ok()) {
            Some(shown) if &*shown.kind == "text" => self.text.said.push_str(&shown.text),
            _ => lose("unknown content part"),
        }
    }

    fn put_text(&mut self) {
        let Text { kind, said } = std::mem::take(&mut self.text);
        let at = std::mem::take(&mut self.began);
        if said.is_empty() {
            return;
        }
        match kind {
            "user" => self.list(Message::new(Role::User, vec![self.made.text(&said)]), at),
            "thought" => self.reply(self.made.thinking(&said, 0), at),
            _ => self.reply(self.made.text(&said), at),
        }
    }

    fn list(&mut self, message: Message, (id, time): (String, Option<i64>)) {
        self.made.push(Message { id, time, ..message });
    }

    /// What follows a result or a prompt is a new reply.
    fn reply(&mut self, part: Part, at: (String, Option<i64>)) {
        match self.made.transcript.messages.last_mut().filter(|last| last.role == Role::Assistant) {
            Some(last) => last.parts.push(part),
            None => {
                let call = Some(self.made.call("", &self.model, None));
                self.list(Message { call: call.map(Box::new), ..Message::new(Role::Assistant, vec![part]) }, at);
            }
        }
    }

    fn result(&mut self, update: &Update<'_>, at: (String, Option<i64>)) {
        let shown = update.content.and_then(|content| serde_json::from_str::<Vec<Shown>>(content.get()).ok()).unwrap_or_default();
        let texts: Vec<String> = shown
            .iter()
            .map(|block| match block.content {
                Some(content) => visible_text(content.get()),
                None if block.text.is_empty() => block.new_text.to_string(),
                None => block.text.to_string(),
            })
            .collect();
        let text = if texts.is_empty() { update.raw_output.map(output).unwrap_or_default() } else { texts.join("\n") };
        let part = self.made.result(&update.tool_call_id, &text, &*update.status == "failed");
        self.list(Message::new(Role::Tool, vec![part]), at);
    }
}

/// The words of an output that nothing was shown of.
fn output(raw: &RawValue) -> String {
    wire! {
        struct Output<'a> { output: Option<&'a RawValue> = "output" | "Content" | "content" }
    }
    let mut raw = raw;
    let mut depth = 0;
    while let Ok(Output { output: Some(inner) }) = serde_json::from_str::<Output>(raw.get())
        && depth < 4
    {
        raw = inner;
        depth += 1;
    }
    text_or_json(Some(raw))
}

/// Takes over from the history what was not shown, or not as the model has it: the system prompt, all that is sent with a prompt, and the
/// words of results.
pub fn enrich(messages: &mut Messages, history: Messages) {
    let mut groups: Vec<Vec<Message>> = Vec::new();
    let mut front = Vec::new();
    let mut results = HashMap::new();
    let mut before = Role::System;
    for mut message in history {
        let role = message.role;
        match role {
            Role::System if groups.is_empty() => front.push(message),
            Role::User if message.synthetic || before == Role::User => match groups.last_mut() {
                Some(group) => group.push(message),
                None => front.push(message),
            },
            Role::User => groups.push(vec![message]),
            Role::Tool => {
                if let Some(Part::ToolResult { call_id, text, .. }) = message.parts.pop() {
                    results.insert(call_id, text);
                }
            }
            Role::System | Role::Assistant => {}
        }
        before = role;
    }
    let mut groups = groups.into_iter();
    let mut merged = front;
    for mut message in std::mem::take(messages) {
        if message.role == Role::User
            && let Some(group) = groups.next()
        {
            let (id, time) = (message.id, message.time);
            merged.extend(group.into_iter().map(|message| Message { id: id.clone(), time, ..message }));
            continue;
        }
        for part in &mut message.parts {
            if let Part::ToolResult { call_id, text, .. } = part
                && let Some(exact) = results.remove(call_id)
            {
                *text = exact;
            }
        }
        merged.push(message);
    }
    *messages = merged.into();
}
