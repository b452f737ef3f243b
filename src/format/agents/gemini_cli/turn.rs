//! A record as messages: what was said, and what tools answered.

use super::journal::{Held, Session};
use super::record::{Entry, ToolCall};
use crate::format::ground::{ABSURD, Lose, compact, millis};
use crate::format::wire::blocks::Block;
use crate::format::wire::google::{Piece, piece};
use crate::transcript::{Call, Message, Part, Role};

impl Session<'_> {
    pub fn held_of(&self, entry: &Entry, lose: Lose<'_>) -> Option<Held> {
        let role = match &*entry.role {
            "user" => Role::User,
            "gemini" => Role::Assistant,
            "info" if entry.holds_files() => Role::User,
            // Lines on the screen, which the model never sees. Of compressions `Session::compressed` takes note.
            "info" | "warning" | "error" => return None,
            _ => {
                lose("unknown record type");
                return None;
            }
        };
        let held = |messages| Some(Held { id: entry.id.to_string(), key: entry.key(), messages, copy_of: None });
        if entry.is_thought_alone() {
            return held(Vec::new());
        }
        let time = millis(&entry.timestamp);
        let mut message = Message { id: entry.id.to_string(), time, synthetic: entry.holds_files(), ..Message::new(role, Vec::new()) };
        let thoughts: Vec<String> =
            entry.thoughts.iter().flatten().map(|thought| format!("{}\n{}", &*thought.subject, &*thought.description)).collect();
        if !thoughts.is_empty() {
            message.parts.push(self.made.thinking(&thoughts.join("\n\n"), 0));
        }
        // What a tool answered stands in messages of its own, and beside its call in newer versions: there alone it counts then.
        let (mut results, thoughts) = (Vec::new(), message.parts.len());
        let mut beside: Vec<&Part> = Vec::new();
        for block in &entry.content.0 {
            match answered(block).and_then(|id| self.answer(id)).and_then(|(place, within)| Some((self.held.get(place)?, within))) {
                Some((holder, within)) if holder.id != *entry.id => {
                    beside.extend(holder.messages.get(within).iter().flat_map(|message| &message.parts));
                }
                _ => piece(block, self.made.scale, &mut message.parts, &mut results, lose),
            }
        }
        message.parts.retain(|part| !beside.contains(&part));
        let mut has_words = message.parts.len() > thoughts;
        let only_answers = role == Role::User && !has_words && entry.content.0.iter().any(|block| answered(block).is_some());
        let mut results: Vec<Message> = results.into_iter().map(|part| Message { time, ..Message::new(Role::Tool, vec![part]) }).collect();
        let names_calls = entry.names_calls();
        for call in entry.tool_calls.iter().flatten() {
            if !names_calls {
                let arguments = self.made.scale.weigh(&call.args.map_or_else(Default::default, |args| compact(args.get())));
                message.parts.push(Part::ToolCall { id: call.id.to_string(), name: call.name.to_string(), arguments });
            }
            let mut pictures = Vec::new();
            let mut answers = Vec::new();
            for block in call.own_result() {
                piece(block, self.made.scale, &mut pictures, &mut answers, lose);
            }
            results.extend(self.result(call, pictures, answers, time));
            has_words |= &*call.status != "cancelled";
        }
        if role == Role::Assistant {
            let usage = entry.tokens.as_ref().map_or(Ok(None), |tokens| tokens.usage());
            // A reply without words, tools or usage is what a request that failed leaves behind. What the agent puts in the model's mouth,
            // and what it writes again under a new id, names no model.
            let called = has_words && !entry.model.is_empty() && !self.goes_on(&message) || !matches!(usage, Ok(None));
            if usage.is_err() {
                lose(ABSURD);
            }
            let (id, model) = (entry.id.to_string(), entry.model.to_string());
            message.call = called.then(|| Box::new(Call { id, model, usage: usage.ok().flatten(), unchained: false, ..Call::default() }));
        }
        let own = (!only_answers).then_some(message);
        held(own.into_iter().chain(results).collect())
    }

    /// Are these the tools of the reply before, which has the words and the usage? A line on the screen in between parts a reply in two entries.
    fn goes_on(&self, message: &Message) -> bool {
        let calls = |message: &Message| message.parts.iter().filter(|part| matches!(part, Part::ToolCall { .. })).count();
        let before = self.held.iter().rev().filter(|held| held.id != message.id).find_map(|held| held.messages.first());
        let is_open = |before: &Message| before.call.as_ref().is_some_and(|call| call.usage.is_some()) && calls(before) == 0;
        calls(message) == message.parts.len() && before.is_some_and(is_open)
    }

    /// The message with one call's answer. Pictures and texts beside the answer belong to it.
    fn result(&self, call: &ToolCall, extra: Vec<Part>, mut parts: Vec<Part>, time: Option<i64>) -> Option<Message> {
        if parts.is_empty() && extra.is_empty() {
            return None;
        }
        if parts.is_empty() {
            parts.push(Part::ToolResult { call_id: String::new(), name: String::new(), text: self.made.scale.weigh(""), error: false });
        }
        for part in &mut parts {
            if let Part::ToolResult { call_id, name, error, .. } = part {
                call_id.clone_from(&call.id.to_string());
                name.clone_from(&call.name.to_string());
                *error |= matches!(&*call.status, "error" | "cancelled");
            }
        }
        parts.extend(extra);
        Some(Message { time, ..Message::new(Role::Tool, parts) })
    }
}

/// The id of the call that this piece answers; `None` of other pieces.
pub fn answered<'b>(block: &'b Block<'_, Piece<'_>>) -> Option<&'b str> {
    match block {
        Block::Object(piece) => piece.function_response.as_ref().map(|answer| &*answer.id),
        Block::Text(_) | Block::Other => None,
    }
}

impl<'a> ToolCall<'a> {
    /// What this call returned: a list that the agent sets anew has the answers of all calls of a reply beside each of them.
    pub fn own_result<'b>(&'b self) -> impl Iterator<Item = &'b Block<'a, Piece<'a>>> {
        let has_own = self.result.0.iter().any(|block| answered(block) == Some(&*self.id));
        self.result.0.iter().filter(move |block| !has_own || answered(block).is_none_or(|id| id == &*self.id))
    }
}
