//! What Anthropic's server leaves out of a prompt before the model reads it. The response says how many of the oldest results that are, and the request with which
//! exceptions. Each request holds the whole conversation and is edited anew: the counts are those of all that it lacks.

use super::prints::Print;
use crate::format::ground::{Count, Lose, Words, wire};
use crate::transcript::{Message, Part, Role};
use serde_json::value::RawValue;
use std::collections::HashSet;

wire! {
    /// What a request asks for.
    struct Asked<'a> { edits: Vec<Rule<'a>> }

    struct Rule<'a> {
        kind: Words<'a> = "type",
        exclude_tools: Vec<Words<'a>>,
        /// All of them, or those of these tools.
        clear_tool_inputs: Option<&'a RawValue>,
    }

    /// What a response says was done.
    struct Done<'a> { applied_edits: Vec<Applied<'a>> }

    struct Applied<'a> {
        kind: Words<'a> = "type",
        cleared_tool_uses: Count,
        cleared_thinking_turns: Count,
        cleared_input_tokens: Count,
    }
}

/// What the server left out of one prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// Uses of tools whose results it left out, the oldest ones.
    tool_uses: u64,
    /// Turns whose reasoning it left out. Which parts those are is not said.
    thinking_turns: u64,
    /// Tokens that all of it came to.
    pub tokens: u64,
    /// Tools whose results stay.
    spared: Vec<String>,
    /// Tools whose arguments go along with their results.
    arguments: Arguments,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Arguments {
    #[default]
    Stay,
    Go,
    GoOf(Vec<String>),
}

impl Edit {
    /// By what the request and its response have as `context_management`. `None` where nothing was left out.
    pub fn read(asked: Option<&RawValue>, done: Option<&RawValue>, lose: Lose<'_>) -> Option<Edit> {
        let done = serde_json::from_str::<Done>(done?.get()).ok()?;
        let mut edit = Edit::default();
        for applied in &done.applied_edits {
            let count = |count: Count| count.or_zero().unwrap_or(0);
            match &*applied.kind {
                kind if kind.starts_with("clear_tool_uses") => edit.tool_uses += count(applied.cleared_tool_uses),
                kind if kind.starts_with("clear_thinking") => edit.thinking_turns += count(applied.cleared_thinking_turns),
                _ => continue,
            }
            edit.tokens += count(applied.cleared_input_tokens);
        }
        if edit.thinking_turns > 0 {
            lose("reasoning that the server left out of a prompt (which is not said; taken to be there)");
        }
        let asked = asked.and_then(|asked| serde_json::from_str::<Asked>(asked.get()).ok()).unwrap_or_default();
        for rule in asked.edits.iter().filter(|rule| rule.kind.starts_with("clear_tool_uses")) {
            edit.spared.extend(rule.exclude_tools.iter().map(|tool| tool.to_string()));
            edit.arguments = match rule.clear_tool_inputs.map(RawValue::get) {
                Some("true") => Arguments::Go,
                Some(list) => serde_json::from_str(list).map_or(Arguments::Stay, Arguments::GoOf),
                None => Arguments::Stay,
            };
        }
        (edit.tool_uses + edit.thinking_turns > 0).then_some(edit)
    }

    /// The parts that it left out of a request, by what identifies each of those that this holds and where it stands in the session; `None` of what the client
    /// put in the place of others, which counts as it stands.
    pub fn taken<'m>(
        &self,
        sent: &[(&Print, Option<(usize, usize)>)],
        message: impl Fn(usize) -> Option<&'m Message>,
    ) -> Vec<(usize, usize)> {
        let part = |(at, part): (usize, usize)| Some((at, message(at)?, message(at)?.parts.get(part)?));
        let mut taken = Vec::new();
        let mut calls = HashSet::new();
        let mut left = self.tool_uses;
        for (_, place) in sent.iter().filter(|(print, _)| print.is_result()) {
            if left == 0 {
                break;
            }
            match place.and_then(part) {
                Some((_, _, Part::ToolResult { name, .. })) if self.spared.contains(name) => continue,
                Some((at, message, Part::ToolResult { call_id, .. })) if message.role == Role::Tool => {
                    taken.extend((0..message.parts.len()).map(|part| (at, part)));
                    calls.insert(call_id.as_str());
                }
                _ => {}
            }
            left -= 1;
        }
        let goes = |name: &String| match &self.arguments {
            Arguments::Stay => false,
            Arguments::Go => true,
            Arguments::GoOf(tools) => tools.contains(name),
        };
        let arguments = sent.iter().filter_map(|(_, place)| *place).filter(|place| match part(*place) {
            Some((_, _, Part::ToolCall { id, name, .. })) => calls.contains(id.as_str()) && goes(name),
            _ => false,
        });
        taken.extend(arguments.collect::<Vec<_>>());
        taken.sort_unstable();
        taken
    }
}
