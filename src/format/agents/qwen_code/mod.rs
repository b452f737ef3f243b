//! Qwen Code: `~/.qwen/projects/<folder>/chats/<id>.jsonl`, a relative of Gemini CLI that links its records as Claude Code does.
//!
//! Every record names the one before it. Going back in the conversation makes the next record name an earlier one; a compression is a
//! record that holds the new list of messages. Requests are also reported to the screen's statistics (`ui_telemetry`): those reports
//! repeat the usage of replies, and are the only trace of requests on the side.

mod record;
mod session;

use crate::format::ground::{ReadError, Source};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::NO_MESSAGES;
use crate::list::place_or_push;
use crate::transcript::{Scale, Transcript};
use record::Record;
use session::{AGENT, Session};

/// One session per chat, and one for each sub-agent in it.
pub const READER: Reader = Reader { name: AGENT, about: "Qwen Code chats (~/.qwen/projects/*/chats/*.jsonl)", claims, read };

/// A record of the kinds that only this agent has, or whose message has Google's parts.
fn claims(source: &Source) -> Claim {
    let known = source.head_text().lines().any(|line| {
        // Logs of Claude Code come here first: most of their lines are told apart without being decoded.
        if ["\"systemPayload\"", "\"parts\""].iter().all(|mark| !line.contains(mark)) {
            return false;
        }
        let Ok(record) = serde_json::from_str::<Record>(line) else { return is_cut_record(line) };
        let linked = !record.uuid.is_empty() && !record.session_id.is_empty() && line.contains("\"parentUuid\"");
        let own = record.system_payload.is_some() || record.message.is_some_and(|message| message.parts.is_some());
        linked && own && matches!(&*record.kind, "user" | "assistant" | "tool_result" | "system")
    });
    Claim::when(known)
}

/// The head of a file may end within its first record.
fn is_cut_record(line: &str) -> bool {
    let marks = ["\"parentUuid\":", "\"sessionId\":", "\"message\":", "\"parts\":"];
    line.starts_with('{') && marks.iter().all(|mark| line.contains(mark))
}

const MARKS: &[Mark] = &[Mark::Start("Tool output was too large and has been truncated"), Mark::Line("... [CONTENT TRUNCATED] ...")];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    // Sub-agents write files of their own, or into that of their parent: each has its own context.
    let mut sessions: Vec<(String, Session)> = Vec::new();
    let name = source.name();
    source.each_line(|source, line| {
        source.values(line, |record: Record, lose| {
            let agent = record.agent_id.id();
            let session = || (agent.to_owned(), Session::new(scale, &name));
            let index = place_or_push(&mut sessions, |(known, _)| known == agent, session);
            if let Some((_, session)) = sessions.get_mut(index) {
                session.record(&record, lose);
            }
        });
    })?;
    let mut any = false;
    for transcript in sessions.into_iter().filter_map(|(_, session)| session.finish()) {
        any = true;
        hand_over(transcript);
    }
    if !any {
        source.lose(0, NO_MESSAGES);
    }
    Ok(())
}
