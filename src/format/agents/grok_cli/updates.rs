//! `updates.jsonl`: notifications of the Agent Client Protocol, as they went to the screen.

use crate::format::ground::json::{fault, text_or_json, values};
use crate::format::ground::source::{ReadError, Source};
use crate::format::ground::words::Words;
use crate::format::wire::anthropic::visible_text;
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Line<'a> {
    params: Params<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Params<'a> {
    session_id: Words<'a>,
    update: Update<'a>,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Meta<'a> {
    agent_timestamp_ms: Option<i64>,
    event_id: Words<'a>,
    model_id: Words<'a>,
}

/// An update, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Update<'a> {
    session_update: Words<'a>,
    content: Option<&'a RawValue>,
    tool_call_id: Words<'a>,
    title: Words<'a>,
    raw_input: Option<&'a RawValue>,
    raw_output: Option<&'a RawValue>,
    status: Words<'a>,
    #[serde(rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Shown<'a> {
    #[serde(rename = "type")]
    kind: Words<'a>,
    text: Words<'a>,
    content: Option<&'a RawValue>,
    new_text: Words<'a>,
}

/// Pieces of one text, which is weighed when it is whole.
#[derive(Default)]
struct Text {
    kind: &'static str,
    said: String,
}

struct Session<'s, 't> {
    scale: &'s dyn Scale,
    transcript: &'t mut Transcript,
    tools: HashMap<String, String>,
    text: Text,
    model: String,
    called: String,
    /// Where and when the text that is being gathered began.
    began: (String, Option<i64>),
}

/// Reads the updates of a session.
pub fn read(source: &mut Source, scale: &dyn Scale, transcript: &mut Transcript) -> Result<(), ReadError> {
    let mut session = Session {
        scale,
        transcript,
        tools: HashMap::new(),
        text: Text::default(),
        model: String::new(),
        called: String::new(),
        began: Default::default(),
    };
    source.each_line(|source, line| {
        for value in values::<Line>(&line.text) {
            match value {
                Ok(record) => session.update(&record.params, &mut |reason| source.lose(line.number, reason)),
                Err(error) => source.lose(line.number, fault(&error, line.last_unterminated)),
            }
        }
    })?;
    session.put_text();
    Ok(())
}

impl Session<'_, '_> {
    fn update(&mut self, params: &Params<'_>, lose: &mut dyn FnMut(&str)) {
        let update = &params.update;
        if let Some(id) = params.session_id.some_id() {
            self.transcript.id = id.to_owned();
        }
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
                self.tools.insert(update.tool_call_id.to_string(), update.title.to_string());
                let part = Part::ToolCall {
                    id: update.tool_call_id.to_string(),
                    name: update.title.to_string(),
                    arguments: self.scale.weigh(&text_or_json(update.raw_input)),
                };
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
            _ => lose("unknown content block"),
        }
    }

    fn put_text(&mut self) {
        let Text { kind, said } = std::mem::take(&mut self.text);
        let at = std::mem::take(&mut self.began);
        if said.is_empty() {
            return;
        }
        let text = self.scale.weigh(&said);
        match kind {
            "user" => self.list(Message::new(Role::User, vec![Part::Text(text)]), at),
            "thought" => self.reply(Part::Thinking { text, sealed_bytes: 0 }, at),
            _ => self.reply(Part::Text(text), at),
        }
    }

    fn list(&mut self, message: Message, (id, time): (String, Option<i64>)) {
        self.transcript.messages.push(Message { id, time, ..message });
    }

    /// What follows a result or a prompt is a new reply.
    fn reply(&mut self, part: Part, at: (String, Option<i64>)) {
        match self.transcript.messages.last_mut().filter(|last| last.role == Role::Assistant) {
            Some(last) => last.parts.push(part),
            None => {
                let unchained = !self.called.is_empty() && self.called != self.model;
                self.called.clone_from(&self.model);
                let call = Some(Call { model: self.model.clone(), unchained, ..Call::default() });
                self.list(Message { call, ..Message::new(Role::Assistant, vec![part]) }, at);
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
        let part = Part::ToolResult {
            call_id: update.tool_call_id.to_string(),
            name: self.tools.get(&*update.tool_call_id).cloned().unwrap_or_default(),
            text: self.scale.weigh_result(&text),
            error: &*update.status == "failed",
        };
        self.list(Message::new(Role::Tool, vec![part]), at);
    }
}

/// The words of an output that nothing was shown of.
fn output(raw: &RawValue) -> String {
    #[derive(Deserialize, Default)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Output<'a> {
        #[serde(alias = "Content", alias = "content")]
        output: Option<&'a RawValue>,
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
pub fn enrich(messages: &mut Vec<Message>, history: Vec<Message>) {
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
    for mut message in messages.drain(..) {
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
    *messages = merged;
}
