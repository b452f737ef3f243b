//! Junie: `~/.junie/sessions/<id>/events.jsonl`, what the screen showed, event by event.
//!
//! Blocks of the screen (a command, changes of files, the result) come several times under one id: when they begin, when they end, and
//! once more at the end of the task. The usage of every request stands there, those of small models for titles and labels among them: the
//! requests of the conversation are those whose prompt a report of the context's size repeats.

mod record;
mod session;

use crate::format::ground::{ReadError, Source};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::transcript::{Scale, Transcript};
use record::Record;
use session::Session;
use std::path::Path;

/// One session per folder, put together from what the screen showed.
pub const READER: Reader = Reader { name: "junie", about: "Junie sessions (~/.junie/sessions/*/events.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    if source.outline().shows("sessionId projectDir taskName") {
        return Claim::Companion;
    }
    let other = "timestampMs kind=TaskStartedEvent,UserMessagesCommittedToHistory";
    let event = "timestampMs kind=SessionA2uxEvent event.agentEvent";
    Claim::when(source.has_line(5, &["timestampMs kind=UserPromptEvent prompt", event, other]))
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    // No record names its session: its folder does.
    let folder = source.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let id = folder.filter(|name| source.name() == "events.jsonl" && !name.is_empty()).unwrap_or_else(|| source.name());
    let mut session = Session::new(Recorder::new(READER.name, id, scale));
    source.each_line(|source, line| source.values(line, |record: Record, lose| session.record(&record, lose)))?;
    session.finish(&mut |reason| source.lose(0, reason)).end(source, hand_over);
    Ok(())
}
