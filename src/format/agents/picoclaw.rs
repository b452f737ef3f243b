//! PicoClaw: `workspace/sessions/<key>.json` with all messages in it, and since 2026 `<key>.jsonl` with a `<key>.meta.json` beside it.
//!
//! Messages are OpenAI's; there is no usage and no model, and the system prompt is put together anew each time. A summary stands in for
//! messages that the older form has cut off, and that the newer one skips.

use crate::format::ground::{Count, ReadError, Source, Words, fault, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::wire::chat::{Chat, ChatMessage};
use crate::transcript::{Compaction, Role, Scale, Transcript};
use serde_json::value::RawValue;
use std::path::PathBuf;

/// Sessions without usage and model: PicoClaw keeps neither.
pub const READER: Reader =
    Reader { name: "picoclaw", about: "PicoClaw sessions (sessions/*.json, *.jsonl with *.meta.json)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    if outline.shows("key messages created updated") {
        return Claim::Yes;
    }
    if outline.shows("key skip count created_at") {
        return Claim::Companion;
    }
    // A line is a plain message of OpenAI's: only the file beside it tells whose.
    Claim::when(outline.has("role") && has_meta(source))
}

wire! {
    /// A session of the older form; of the newer one, what stands in the file beside it.
    struct Session<'a> {
        key: Words<'a>,
        summary: Words<'a>,
        messages: Vec<&'a RawValue>,
        skip: Count,
    }
}

/// Where the file beside a list of messages lies.
fn meta_path(source: &Source) -> Option<PathBuf> {
    Some(source.path.with_file_name(format!("{}.meta.json", source.name().strip_suffix(".jsonl")?)))
}

fn has_meta(source: &Source) -> bool {
    let text = meta_path(source).and_then(|path| source.beside(&path).ok()?.document().ok()).unwrap_or_default();
    serde_json::from_str::<Session>(&text).is_ok_and(|meta| meta.skip != Count::Absent && !meta.key.is_empty())
}

const MARKS: &[Mark] =
    &[Mark::Line("... (truncated, # more chars)"), Mark::Inside("[TRUNCATED - "), Mark::Line("[Content truncated due to size limit]")];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let mut made = Recorder::new(READER.name, source.name(), scale);
    let mut chat = Chat::default();
    let (reason, mut held) = ("description beside the messages that cannot be read", String::new());
    let beside: Option<Session> = meta_path(source).and_then(|path| source.record_beside(&path, reason, &mut held));
    let one_document = source.outline().has("messages");
    if one_document {
        let text = source.document()?;
        let session: Session = serde_json::from_str(&text).map_err(|error| ReadError::Damaged(fault(&error, false).to_owned()))?;
        made.identify(&session.key);
        for (number, written) in (1..).zip(&session.messages) {
            message(written.get(), &mut made, &mut chat, &mut |reason| source.lose(number, reason));
        }
        // What the summary stands for is cut off: the session begins with it.
        summarise(&mut made, &session.summary, 0, 0);
    } else {
        source.each_line(|source, line| {
            message(&line.text, &mut made, &mut chat, &mut |reason| source.lose(line.number, reason));
        })?;
        if let Some(meta) = beside {
            made.identify(&meta.key);
            let skipped = meta.skip.or_zero().ok().and_then(|skip| usize::try_from(skip).ok()).unwrap_or(0);
            // When it was done is not noted: before now, and after what it skips.
            let before = made.next();
            summarise(&mut made, &meta.summary, before, skipped.min(before));
        }
    }
    made.end(source, hand_over);
    Ok(())
}

fn message(text: &str, made: &mut Recorder<'_>, chat: &mut Chat, lose: &mut dyn FnMut(&str)) {
    match serde_json::from_str::<ChatMessage>(text) {
        Ok(written) => match chat.message(&written, made.scale, lose) {
            Some(mut message) => {
                message.call = (message.role == Role::Assistant).then(Box::default);
                made.push(message);
            }
            None => lose("message of an unknown role"),
        },
        Err(error) => lose(fault(&error, false)),
    }
}

fn summarise(made: &mut Recorder<'_>, summary: &str, before: usize, kept_from: usize) {
    if summary.is_empty() && kept_from == 0 {
        return;
    }
    made.transcript.compactions.push(Compaction {
        before,
        summary: made.scale.weigh_summary(summary),
        kept_from: Some(kept_from),
        ..Compaction::default()
    });
}
