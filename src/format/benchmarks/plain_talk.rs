//! Conversations that were printed as one text, with a head before each message: what tau-bench keeps as examples
//! (`messages_display`, `user: …`), and what a summariser was given to read (`[Message 3] assistant:`).

use crate::format::ground::{ReadError, Source, Words, millis, wire};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript};
use xxhash_rust::xxh3::xxh3_64;

/// Examples of conversations, one a line.
pub const DISPLAYED: Reader = Reader {
    name: "messages-display",
    about: "Few-shot examples of tau-bench: a conversation a line, printed as one text (JSONL)",
    claims: |source| Claim::when(source.outline().top().eq(["messages_display"])),
    read: read_displayed,
};

/// The log of a summariser.
pub const SUMMARISER: Reader = Reader {
    name: "summariser",
    about: "Log of an LLM condenser beside mini-swe-agent: what it read and the summary that it made (JSONL)",
    claims: |source| {
        let outline = source.outline();
        let keys = ["input", "output", "summary_model_calls", "message_count"];
        Claim::when(keys.iter().all(|key| outline.has(key)))
    },
    read: read_summaries,
};

wire! {
    struct Example<'a> { messages_display: Option<Words<'a>> }

    struct Summary<'a> {
        timestamp: Words<'a>,
        model_name: Words<'a>,
        instance_name: Words<'a>,
        input: Option<Words<'a>>,
        output: Words<'a>,
    }
}

fn role(name: &str) -> Option<Role> {
    Role::of(if name == "exit" { "tool" } else { name }, &[Role::System, Role::User, Role::Assistant, Role::Tool])
}

/// The messages of a text, by a head that a line may begin with: it gives the role and what follows on the line.
fn split<'t>(text: &'t str, head: impl Fn(&'t str) -> Option<(Role, &'t str)>) -> Vec<(Role, String)> {
    let mut messages: Vec<(Role, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (head(line), messages.last_mut()) {
            (Some((role, rest)), _) => messages.push((role, rest.to_owned())),
            (None, Some((_, words))) => words.push_str(line),
            (None, None) => messages.push((Role::System, line.to_owned())),
        }
    }
    messages
}

fn message(role: Role, words: &str, scale: &dyn Scale) -> Message {
    let parts = match role {
        Role::Tool => vec![Part::ToolResult { call_id: String::new(), name: String::new(), text: scale.weigh_result(words), error: false }],
        _ if words.is_empty() => Vec::new(),
        _ => vec![Part::Text(scale.weigh(words))],
    };
    Message { call: (role == Role::Assistant).then(Box::default), ..Message::new(role, parts) }
}

fn read_displayed(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let name = source.name();
    let mut number = 0;
    source.each_line(|source, line| {
        source.values(line, |example: Example, lose| {
            let Some(text) = example.messages_display else { return lose("unknown record type") };
            number += 1;
            let id = if number == 1 { name.clone() } else { format!("{name}#{number}") };
            let messages = split(&text, |line| {
                let (name, rest) = line.split_once(": ")?;
                Some((role(name)?, rest))
            });
            let messages = messages.into_iter().map(|(role, text)| {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                // A message that was nothing but calls was printed as Python prints what is not there; the calls are lost.
                let unseen = role == Role::Assistant && text == "None";
                if unseen {
                    lose("call of a tool that was not printed");
                }
                message(role, if unseen { "" } else { text }, scale)
            });
            hand_over(Transcript { id, agent: DISPLAYED.name.to_owned(), messages: messages.collect(), ..Transcript::default() });
        });
    })
}

/// A summary that stands in the conversation begins with this line.
const SUMMARY_HEAD: &str = "[Previous work summary]";

fn read_summaries(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut transcript = Transcript { agent: SUMMARISER.name.to_owned(), ..Transcript::default() };
    // What each message was, by its words: the summariser reads what it has read before.
    let mut known: Vec<u64> = Vec::new();
    let mut instance = String::new();
    source.each_line(|source, line| {
        source.values(line, |summary: Summary, lose| {
            let Summary { input: Some(input), output, model_name, timestamp, instance_name } = summary else {
                return lose("unknown record type");
            };
            for (role, words) in unread(split(&input, numbered), &mut known) {
                // What comes after the first reply in the user's role is what the tool printed.
                let replied = transcript.messages.iter().any(|message| message.role == Role::Assistant);
                let role = if role == Role::User && replied { Role::Tool } else { role };
                transcript.messages.push(message(role, &words, scale));
            }
            let id = format!("{}/{}", &*instance_name, &*timestamp);
            instance = instance_name.to_string();
            transcript.compactions.push(Compaction {
                before: transcript.messages.len(),
                automatic: Some(true),
                summary: scale.weigh_summary(&output),
                call: Some(Call { id, model: model_name.to_string(), unchained: true, ..Call::default() }),
                time: millis(&timestamp),
                ..Compaction::default()
            });
        });
    })?;
    if transcript.messages.is_empty() {
        return Ok(());
    }
    transcript.id = if instance.is_empty() { source.name() } else { instance };
    hand_over(transcript);
    Ok(())
}

/// The messages of an input that no earlier one showed: it begins as the conversation does, goes on with the last summary, which is a
/// fact of the compaction and no message, and then with the end of what was known.
fn unread(read: Vec<(Role, String)>, known: &mut Vec<u64>) -> Vec<(Role, String)> {
    let trimmed = read.into_iter().map(|(role, text)| (role, text.trim_end_matches('\n').to_owned()));
    let read: Vec<(Role, String)> = trimmed.filter(|(_, words)| !words.starts_with(SUMMARY_HEAD)).collect();
    let prints: Vec<u64> = read.iter().map(|(_, words)| xxh3_64(words.as_bytes())).collect();
    let begun = prints.iter().zip(known.iter()).take_while(|(one, other)| one == other).count();
    let rest = prints.get(begun..).unwrap_or_default();
    let again = (0..=rest.len()).rev().find(|length| rest.get(..*length).is_some_and(|start| known.ends_with(start))).unwrap_or(0);
    known.extend(rest.iter().skip(again));
    read.into_iter().skip(begun + again).collect()
}

/// A head of the form `[Message 3] assistant:`, with nothing behind it on its line.
fn numbered(line: &str) -> Option<(Role, &str)> {
    let (number, name) = line.trim_end().strip_prefix("[Message ")?.split_once("] ")?;
    let whole = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((role(name.strip_suffix(':')?).filter(|_| whole)?, ""))
}
