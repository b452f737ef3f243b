//! BaseAgent's events, as it prints them: `thread.started`, `item.completed`, `turn.completed`, one a line. (Its lists of messages are
//! OpenAI's and need no reader of their own.)
//!
//! The events name neither the task nor the requests: a reply begins with its words or, where it has none, with a command. Usage is
//! that of the whole turn, and shared out among its calls.

use crate::format::ground::{Absurd, Count, Lose, ReadError, Source, Words, sound, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::sums::SUM_ALONE;
use crate::format::usage::Reported;
use crate::transcript::{Message, Part, Role, Scale, Transcript, Usage};

/// One session per run.
pub const READER: Reader = Reader { name: "baseagent", about: "BaseAgent events (thread.started, item.completed)", claims, read };

fn claims(source: &Source) -> Claim {
    // Codex prints events of the same names, but its threads have other ids.
    Claim::when(source.outline().shows("type=thread.started thread_id=sess_*"))
}

wire! {
    struct Event<'a> {
        kind: Words<'a> = "type",
        thread_id: Words<'a>,
        item: Option<Item<'a>>,
        usage: Option<Tokens>,
    }

    struct Item<'a> {
        id: Words<'a>,
        kind: Words<'a> = "type",
        text: Words<'a>,
        command: Words<'a>,
        aggregated_output: Words<'a>,
        status: Words<'a>,
    }

    struct Tokens { input_tokens: Count, cached_input_tokens: Count, output_tokens: Count }
}

impl Tokens {
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let Tokens { input_tokens, cached_input_tokens, output_tokens } = *self;
        Reported { input: input_tokens, cache_read: cached_input_tokens, output: output_tokens, ..Reported::default() }.usage()
    }
}

const MARKS: &[Mark] = &[Mark::Line("...# tokens truncated..."), Mark::Line("[Output truncated, # bytes total]")];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let mut made = Recorder::new(READER.name, source.name(), scale);
    source.each_line(|source, line| source.values(line, |event: Event, lose| take(&event, &mut made, lose)))?;
    made.end(source, hand_over);
    Ok(())
}

fn take(event: &Event<'_>, made: &mut Recorder<'_>, lose: Lose<'_>) {
    let nothing = Item::default();
    let item = event.item.as_ref().unwrap_or(&nothing);
    match (&*event.kind, &*item.kind) {
        ("thread.started", _) => made.identify(event.thread_id.id()),
        ("item.completed", "agent_message") => begin(made, made.text(&item.text)),
        ("item.completed", "reasoning") => begin(made, made.thinking(&item.text, 0)),
        ("item.started", "command_execution") => {
            // `tool(arguments)`.
            let (name, arguments) = item.command.split_once('(').unwrap_or((&item.command, ""));
            let arguments = made.scale.weigh(arguments.strip_suffix(')').unwrap_or(arguments));
            let call = Part::ToolCall { id: item.id.to_string(), name: name.to_owned(), arguments };
            match made.transcript.messages.last_mut().filter(|last| last.role == Role::Assistant) {
                Some(reply) => reply.parts.push(call),
                None => begin(made, call),
            }
        }
        ("item.completed", "command_execution") => {
            let (call_id, name) = (item.id.to_string(), item.command.to_string());
            let text = made.scale.weigh_result(&item.aggregated_output);
            let part = Part::ToolResult { call_id, name, text, error: &*item.status == "failed" };
            made.list(Role::Tool, vec![part]);
        }
        ("turn.completed", _) => {
            let sum = event.usage.as_ref().and_then(|tokens| sound(tokens.usage(), lose));
            if sum.is_some_and(|sum| !made.share_out(sum)) {
                lose(SUM_ALONE);
            }
        }
        ("turn.started" | "turn.failed" | "error", _) => {}
        ("item.started" | "item.updated" | "item.completed", "file_change" | "todo_list" | "agent_message" | "reasoning") => {}
        _ => lose("unknown record type"),
    }
}

fn begin(made: &mut Recorder<'_>, part: Part) {
    // Reasoning comes before the words of the same reply.
    let goes_on = |last: &&mut Message| last.role == Role::Assistant && last.parts.iter().all(|part| matches!(part, Part::Thinking { .. }));
    match made.transcript.messages.last_mut().filter(goes_on) {
        Some(reply) => reply.parts.push(part),
        None => made.reply(vec![part]),
    }
}
