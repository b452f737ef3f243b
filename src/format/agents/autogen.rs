//! Logs of groups of agents that talk to each other (AutoGen, Magentic-One), as collections of failed runs keep them: one list of what
//! all of them said. Each agent saw a view of its own, so the list is an upper bound of every prompt, and no call is compared with the
//! one before it. There is neither usage nor any definition of tools.

use crate::format::ground::{ReadError, Source, Words, fault, string, text_or_json, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::end_said;
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Talks of groups of agents.
pub const READER: Reader =
    Reader { name: "autogen", about: "AutoGen and Magentic-One: group chats of agents with their verdict (JSON)", claims, read };

/// What such collections note beside a run.
const NOTES: [&str; 9] =
    ["question", "question_ID", "ground_truth", "is_correct", "is_corrected", "mistake_agent", "mistake_step", "mistake_reason", "level"];

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let said = outline
        .shows("history[].role history[].content !history[].agent !history[].message_type !trajectory !environment !instance_id !metrics");
    let top: Vec<&str> = outline.top().collect();
    let noted = NOTES.iter().filter(|note| top.contains(*note)).count();
    if !said {
        Claim::No
    } else if noted >= 2 {
        Claim::Yes
    } else if top.as_slice() == ["history"] {
        // A long talk hides what follows it.
        Claim::Maybe
    } else {
        Claim::No
    }
}

wire! {
    struct Run<'a> { system_prompt: Option<&'a RawValue>, history: Vec<Said<'a>> }

    struct Said<'a> { role: Words<'a>, name: Words<'a>, content: Option<&'a RawValue> }
}

/// The agent that runs programs for the others: what it says is their output.
const TERMINALS: [&str; 2] = ["Computer_terminal", "ComputerTerminal"];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let text = source.document()?;
    let run = match serde_json::from_str::<Run>(&text) {
        Ok(run) => run,
        Err(error) => {
            source.lose(0, fault(&error, true));
            return Ok(());
        }
    };
    // The same question is asked in runs of several groups: its id is not the run's.
    let mut transcript = Transcript { id: source.name(), agent: READER.name.to_owned(), ..Transcript::default() };
    let prompts = run.system_prompt.map(|raw| match serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()) {
        Ok(by_agent) => by_agent.into_values().map(|prompt| text_or_json(Some(prompt))).collect(),
        Err(_) => vec![string(Some(raw))],
    });
    for prompt in prompts.into_iter().flatten().filter(|prompt| !prompt.is_empty()) {
        transcript.messages.push(Message::new(Role::System, vec![Part::Text(scale.weigh(&prompt))]));
    }
    for said in &run.history {
        transcript.messages.push(message(said, scale));
    }
    end_said(transcript, 0, source, hand_over);
    Ok(())
}

fn message(said: &Said, scale: &dyn Scale) -> Message {
    let text = text_or_json(said.content);
    let speaker = if said.name.is_empty() { &*said.role } else { &*said.name };
    let result =
        |name: &str| Part::ToolResult { call_id: String::new(), name: name.to_owned(), text: scale.weigh_result(&text), error: false };
    if TERMINALS.contains(&speaker) {
        return Message::new(Role::Tool, vec![result(speaker)]);
    }
    let own = vec![Part::Text(scale.weigh(&text))];
    match &*said.role {
        "human" => Message::new(Role::User, own),
        "system" => Message::new(Role::System, own),
        // What another agent said, or the framework in the name of another.
        "user" => Message { synthetic: !said.name.is_empty(), ..Message::new(Role::User, own) },
        _ => Message { call: Some(Box::new(Call { unchained: true, ..Call::default() })), ..Message::new(Role::Assistant, own) },
    }
}
