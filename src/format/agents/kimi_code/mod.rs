//! Kimi Code: `~/.kimi-code/sessions/<project>/session_<id>/agents/<agent>/wire.jsonl`, one record per line, and `state.json` for all agents of
//! the session.
//!
//! Records rebuild the context: messages that are put in, steps of the loop (texts, calls of tools, their results), compactions, steps
//! back. The usage of a step stands at its end and comes again as `usage.record`. What no log shows so far (compactions, `context.undo`,
//! `context.clear`) is read as the published source writes it.

mod context;
mod record;

use crate::format::ground::{Outline, ReadError, Source};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::reading::is_beside;
use crate::transcript::{Scale, Transcript};
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
    let state = outline.shows("agents workDir") && source.name() == "state.json";
    let index = outline.shows("sessionDir workDir") && source.name() == "session_index.jsonl";
    if state || index {
        return Claim::Companion;
    }
    let mut lines = source.head_text().lines().filter(|line| !line.trim().is_empty()).take(20);
    Claim::when(lines.any(|line| OWN.contains(&Outline::of(line).text("type"))))
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut made = Recorder::new(READER.name, source.name(), scale);
    if let Some((session, agent)) = place(&source.path) {
        made.transcript.parent = (agent != MAIN).then(|| named(&session, &parent(source, &agent)));
        made.transcript.id = named(&session, &agent);
    }
    let mut context = Context::new(made);
    source.each_line(|source, line| source.values(line, |record: Record, lose| context.record(&record, lose)))?;
    context.finish().end_spoken(source, hand_over);
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
