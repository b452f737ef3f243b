//! Junie: `~/.junie/sessions/<id>/events.jsonl`, what the screen showed, event by event.
//!
//! Blocks of the screen (a command, changes of files, the result) come several times under one id: when they begin, when they end, and
//! once more at the end of the task. The usage of every request stands there, those of small models for titles and labels among them: the
//! requests of the conversation are those whose prompt a report of the context's size repeats.

mod record;
mod session;

use crate::format::ground::json::{fault, values};
use crate::format::ground::outline::Outline;
use crate::format::ground::source::{ReadError, Source};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use record::Record;
use session::Session;
use std::path::Path;

/// Sessions of Junie.
pub const READER: Reader = Reader { name: "junie", about: "Junie sessions (~/.junie/sessions/*/events.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    if outline.has("sessionId") && outline.has("projectDir") && outline.has("taskName") {
        return Claim::Companion;
    }
    let own = |line: &Outline| {
        let prompt = line.text("kind") == "UserPromptEvent" && line.has("prompt");
        let event = line.text("kind") == "SessionA2uxEvent" && line.has("event.agentEvent");
        let other = matches!(line.text("kind"), "TaskStartedEvent" | "UserMessagesCommittedToHistory");
        line.has("timestampMs") && (prompt || event || other)
    };
    if source.head_text().lines().take(5).any(|line| own(&Outline::of(line))) { Claim::Yes } else { Claim::No }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut session = Session::new(scale);
    source.each_line(|source, line| {
        for value in values::<Record>(&line.text) {
            match value {
                Ok(record) => session.record(&record, &mut |reason| source.lose(line.number, reason)),
                Err(error) => source.lose(line.number, fault(&error, line.last_unterminated)),
            }
        }
    })?;
    // No record names its session: its folder does.
    let folder = source.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let id = folder.filter(|name| source.name() == "events.jsonl" && !name.is_empty()).unwrap_or_else(|| source.name());
    let transcript = session.finish(id, &mut |reason| source.lose(0, reason));
    if transcript.messages.is_empty() {
        source.lose(0, "session without messages");
    } else {
        hand_over(Transcript { agent: READER.name.to_owned(), ..transcript });
    }
    Ok(())
}
