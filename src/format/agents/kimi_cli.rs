//! Kimi CLI: `~/.kimi/sessions/<folder>/<id>/context.jsonl`, the context line by line.
//!
//! The size that the provider reports for a prompt is written before the reply (`_usage`), the size with the reply after it. Newer
//! versions write an estimate again after the results of tools: only a size next to a reply is a measurement. Going back and compacting
//! begin a new file and leave the old one as `context_<n>.jsonl`; each file is a session as far as it goes.

use crate::format::ground::{ABSURD, Count, Lose, ReadError, Source, Words, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::usage::Reported;
use crate::format::wire::chat::ChatToolCall;
use crate::format::wire::kimi::{Content, parts, texts};
use crate::transcript::{Call, Message, Messages, Part, Role, Scale, Transcript};
use std::path::Path;

/// Contexts of Kimi CLI.
pub const READER: Reader = Reader { name: "kimi-cli", about: "Kimi CLI contexts (~/.kimi/sessions/*/*/context.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let own = source.head_text().lines().filter(|line| !line.trim().is_empty()).take(50).any(|line| {
        serde_json::from_str::<Line>(line).is_ok_and(|line| matches!(&*line.role, "_usage" | "_checkpoint" | "_system_prompt"))
    });
    if own {
        return Claim::Yes;
    }
    // The events for the screen repeat the context, in a file of this name beside it.
    let beside = source.path.parent().is_some_and(|folder| crate::reading::is_beside(&folder.join("context.jsonl")));
    if source.name() == "wire.jsonl" && beside { Claim::Companion } else { Claim::No }
}

wire! {
    struct Line<'a> {
        role: Words<'a>,
        content: Content<'a>,
        tool_calls: Option<Vec<ChatToolCall<'a>>>,
        tool_call_id: Words<'a>,
        is_error: Option<bool>,
        token_count: Count,
    }
}

/// What the line before was.
enum Before {
    Size(u64),
    Reply,
    Other,
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    // The session's id is the name of its folder; older contexts after a step back lie beside the newest.
    let folder = source.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = source.name();
    let id = match folder.filter(|folder| !folder.is_empty()) {
        Some(folder) if name == "context.jsonl" => folder,
        Some(folder) => format!("{folder}/{name}"),
        None => name,
    };
    let mut context = Context { made: Recorder::new(READER.name, id, scale), before: Before::Other, prompt: None };
    source.each_line(|source, line| source.values(line, |record: Line, lose| context.line(&record, lose)))?;
    let messages = &mut context.made.transcript.messages;
    if messages.iter().all(|message| message.role == Role::System) {
        *messages = Messages::default();
    }
    context.made.end(source, hand_over);
    Ok(())
}

struct Context<'s> {
    made: Recorder<'s>,
    before: Before,
    /// The prompt of the reply that was read last.
    prompt: Option<u64>,
}

impl Context<'_> {
    fn line(&mut self, line: &Line<'_>, lose: Lose<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Other);
        match &*line.role {
            "_usage" => match line.token_count.known() {
                Ok(size) => {
                    if let (Before::Reply, Some(size)) = (before, size)
                        && !self.replied(size)
                    {
                        lose("size with a reply, but none without it (not used)");
                    }
                    self.before = size.map_or(Before::Other, Before::Size);
                }
                Err(_) => lose(ABSURD),
            },
            "_checkpoint" => {}
            "_system_prompt" | "system" => self.list(line, Role::System, lose),
            "user" => self.list(line, Role::User, lose),
            "assistant" => {
                self.list(line, Role::Assistant, lose);
                self.prompt = if let Before::Size(size) = before { Some(size) } else { None };
                self.before = Before::Reply;
            }
            "tool" => self.result(line, lose),
            _ => lose("unknown record type"),
        }
    }

    /// The size of the context with the reply in it: both sizes together are the call's usage. Is it known by them?
    fn replied(&mut self, size: u64) -> bool {
        let number = self.made.next();
        let Some(call) = self.made.transcript.messages.last_mut().and_then(|message| message.call.as_mut()) else { return false };
        let sizes = self.prompt.and_then(|prompt| Some((prompt, size.checked_sub(prompt)?)));
        let Some((prompt, output)) = sizes else { return false };
        let reported = Reported { input: Count::Sound(prompt), output: Count::Sound(output), ..Reported::default() };
        let Ok(Some(usage)) = reported.usage() else { return false };
        call.usage = Some(usage);
        // A context that goes back begins with a copy of the old file.
        call.id = format!("{number}-{prompt}-{output}");
        true
    }

    fn list(&mut self, line: &Line<'_>, role: Role, lose: Lose<'_>) {
        let mut parts = parts(&line.content, self.made.scale, lose);
        for call in line.tool_calls.iter().flatten() {
            let (id, name, arguments) = call.told();
            parts.push(self.made.tool_call(id, name, arguments));
        }
        // Marks of checkpoints are put in by the program.
        let synthetic = role == Role::User && line.content.objects().any(|piece| piece.text.starts_with("<system>"));
        let call = (role == Role::Assistant).then(Call::default);
        self.made.push(Message { synthetic, call: call.map(Box::new), ..Message::new(role, parts) });
    }

    fn result(&mut self, line: &Line<'_>, lose: Lose<'_>) {
        let result = self.made.result(&line.tool_call_id, &texts(&line.content), line.is_error.unwrap_or_default());
        let beside = parts(&line.content, self.made.scale, lose).into_iter().filter(|part| !matches!(part, Part::Text(_)));
        self.made.list(Role::Tool, std::iter::once(result).chain(beside).collect());
    }
}
