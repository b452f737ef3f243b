//! Cline and its relatives Roo and Kilo: a folder for each task, with the conversation in `api_conversation_history.json` and what the
//! screen showed in `ui_messages.json` (once `claude_messages.json`).
//!
//! The screen's list has the usage, in a JSON string of each `api_req_started`; newer conversations have it with each reply too, without
//! telling reads of the cache from writes. Both are read together, by way of the conversation's file. The screen's list alone is a
//! session too: each request repeats there what the user's side said.

mod record;
mod request;
mod screen;
mod task;

use crate::format::ground::{ReadError, Source};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::end_said;
use crate::reading::is_beside;
use crate::transcript::{Scale, Transcript};
use record::Metadata;
use std::path::{Path, PathBuf};

/// Task folders of Cline, Roo and Kilo.
pub const READER: Reader =
    Reader { name: "cline", about: "Cline, Roo and Kilo tasks (tasks/*/api_conversation_history.json, ui_messages.json)", claims, read };

const CONVERSATION: &str = "api_conversation_history.json";

const METADATA: &str = "task_metadata.json";

/// Names of the screen's list.
const SCREENS: [&str; 2] = ["ui_messages.json", "claude_messages.json"];

fn claims(source: &Source) -> Claim {
    let name = source.name();
    let outline = source.outline();
    if is_screen(source) {
        return if is_beside(&beside(&source.path, CONVERSATION)) { Claim::Companion } else { Claim::Yes };
    }
    let conversation = name.ends_with(CONVERSATION) && outline.has("[].role") && outline.has("[].content");
    let stays_beside = matches!(name.as_str(), METADATA | "context_history.json" | "history_item.json");
    if conversation {
        Claim::Yes
    } else if stays_beside && is_beside(&beside(&source.path, CONVERSATION)) {
        Claim::Companion
    } else {
        Claim::No
    }
}

/// Entries of the screen's list have a time, and say or ask something.
fn is_screen(source: &Source) -> bool {
    source.outline().shows("[].ts [].type=say,ask [].say|[].ask")
}

fn beside(path: &Path, name: &str) -> PathBuf {
    path.parent().map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
}

/// The task's id is the name of its folder.
fn task_id(source: &Source) -> String {
    let folder = source.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    folder.filter(|name| !name.is_empty()).unwrap_or_else(|| source.name())
}

const MARKS: &[Mark] = &[
    Mark::Line("[... output truncated ...]"),
    Mark::Line("[File truncated]"),
    Mark::Line("[... output truncated, full output persisted ...]"),
];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let id = task_id(source);
    let (path, mut held) = (beside(&source.path, METADATA), String::new());
    let metadata: Metadata = source.record_beside(&path, "models of the task beside it that cannot be read", &mut held).unwrap_or_default();
    let transcript = if is_screen(source) {
        let entries = screen::entries(source, &metadata);
        task::from_screen(id, &entries, scale, source)
    } else {
        let path = SCREENS.iter().map(|name| beside(&source.path, name)).find(|path| path.exists());
        let is_alone = path.is_none();
        let entries = match path.map(|path| source.beside(&path)) {
            Some(Ok(mut screen)) => {
                let entries = screen::entries(&mut screen, &metadata);
                source.lose_all(0, screen.losses());
                entries
            }
            Some(Err(_)) => {
                source.lose(0, "list of the screen that cannot be read");
                Vec::new()
            }
            None => Vec::new(),
        };
        let transcript = task::from_conversation(id, &entries, scale, source);
        if is_alone && !transcript.messages.iter().any(|message| message.call.as_ref().is_some_and(|call| call.usage.is_some())) {
            source.lose(0, "no list of the screen beside the conversation, and so no usage");
        }
        transcript
    };
    end_said(transcript, 0, source, hand_over);
    Ok(())
}
