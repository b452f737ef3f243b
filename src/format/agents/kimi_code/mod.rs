//! Kimi Code: `~/.kimi-code/sessions/<project>/session_<id>/agents/<agent>/wire.jsonl`, one record per line, and `state.json` for all agents of
//! the session.
//!
//! Records rebuild the context: messages that are put in, steps of the loop (texts, calls of tools, their results), compactions, steps
//! back. The usage of a step stands at its end and comes again as `usage.record`. What no log shows so far (compactions, `context.undo`,
//! `context.clear`) is read as the published source writes it.

mod context;
mod record;

use crate::format::ground::json::{fault, values};
use crate::format::ground::outline::Outline;
use crate::format::ground::source::{ReadError, Source};
use crate::format::reader::{Claim, Reader};
use crate::reading::is_beside;
use crate::transcript::{Role, Scale, Transcript};
use context::Context;
use record::{Record, State};
use std::path::{Path, PathBuf};

/// Wires of Kimi Code.
pub const READER: Reader =
    Reader { name: "kimi-code", about: "Kimi Code sessions (~/.kimi-code/sessions/*/*/agents/*/wire.jsonl)", claims, read };

/// Types of records that no other program's wire has.
const OWN: [&str; 9] = [
    "turn.prompt",
    "llm.request",
    "llm.tools_snapshot",
    "usage.record",
    "config.update",
    "profile.bind",
    "tools.set_active_tools",
    "context.append_message",
    "context.append_loop_event",
];

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let state = outline.has("agents") && outline.has("workDir") && source.name() == "state.json";
    let index = outline.has("sessionDir") && outline.has("workDir") && source.name() == "session_index.jsonl";
    if state || index {
        return Claim::Companion;
    }
    let mut lines = source.head_text().lines().filter(|line| !line.trim().is_empty()).take(20);
    if lines.any(|line| OWN.contains(&Outline::of(line).text("type"))) { Claim::Yes } else { Claim::No }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut transcript = Transcript { id: source.name(), agent: READER.name.to_owned(), ..Transcript::default() };
    if let Some((session, agent)) = place(&source.path) {
        transcript.parent = (agent != MAIN).then(|| named(&session, &parent(source, &agent)));
        transcript.id = named(&session, &agent);
    }
    let mut context = Context::new(transcript, scale);
    source.each_line(|source, line| {
        for value in values::<Record>(&line.text) {
            match value {
                Ok(record) => context.record(&record, &mut |reason| source.lose(line.number, reason)),
                Err(error) => source.lose(line.number, fault(&error, line.last_unterminated)),
            }
        }
    })?;
    let transcript = context.finish();
    if transcript.messages.iter().all(|message| message.role == Role::System) {
        source.lose(0, "session without messages");
    } else {
        hand_over(transcript);
    }
    Ok(())
}

/// The agent that a person talks to.
const MAIN: &str = "main";

/// The session and the agent that the folders of a wire name.
fn place(path: &Path) -> Option<(String, String)> {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    let agent = path.parent()?;
    let agents = agent.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "agents"))?;
    Some((name(agents.parent()?)?, name(agent)?))
}

fn named(session: &str, agent: &str) -> String {
    if agent == MAIN { session.to_owned() } else { format!("{session}/{agent}") }
}

/// The agent that this one was started by, as the session's state tells it.
fn parent(source: &mut Source, agent: &str) -> String {
    let beside = |path: &Path| Some(path.parent()?.parent()?.parent()?.join("state.json"));
    let state: Option<PathBuf> = beside(&source.path).filter(|path| is_beside(path));
    let Some(text) = state.and_then(|path| source.document_beside(&path, 0, UNREADABLE)) else { return MAIN.to_owned() };
    match serde_json::from_str::<State>(&text) {
        Ok(state) => {
            let parent = state.agents.get(agent).and_then(|agent| agent.parent_agent_id.some_id());
            parent.unwrap_or(MAIN).to_owned()
        }
        Err(_) => {
            source.lose(0, UNREADABLE);
            MAIN.to_owned()
        }
    }
}

const UNREADABLE: &str = "state of the session that cannot be read";
