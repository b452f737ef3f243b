//! Codex CLI: `sessions/YYYY/MM/DD/rollout-*.jsonl`.
//!
//! The `response_item` records are the model's context; `event_msg` records tell the same to the user interface and are not read,
//! apart from usage (`token_count`) and what happened to turns.

mod content;
mod record;
mod session;
mod turn;

use crate::format::ground::json::{fault, values};
use crate::format::ground::outline::Outline;
use crate::format::ground::source::{ReadError, Source};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use record::Record;
use session::{AGENT, Session};

/// Codex CLI rollouts, those from before version 0.30 (bare items) included.
pub const READER: Reader = Reader { name: AGENT, about: "Codex CLI rollouts (~/.codex/sessions/**/rollout-*.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    // The first line may be missing in a shortened file, but its neighbours are of the same kind.
    let known = source.head_text().lines().take(20).any(|line| {
        let outline = Outline::of(line);
        let wrapped = matches!(outline.text("type"), "session_meta" | "response_item" | "turn_context" | "event_msg" | "compacted");
        let bare = outline.has("id") && outline.has("timestamp") && outline.has("instructions") && !outline.has("type");
        (wrapped && outline.has("payload")) || bare
    });
    if known { Claim::Yes } else { Claim::No }
}

/// What a command printed is cut before it is sent, and every result once more as it is recorded.
const MARKS: &[Mark] = &[
    Mark::Inside("…# tokens truncated…"),
    Mark::Inside("…# chars truncated…"),
    Mark::Inside("[... omitted # of # lines ...]"),
    Mark::Inside("[... output truncated to fit # bytes ...]"),
    Mark::Line("Total output lines: #"),
    Mark::Line("[omitted # text items ...]"),
];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let mut session = Session::new(scale, source.name());
    source.each_line(|source, line| {
        for value in values::<Record>(&line.text) {
            let lost = match value {
                Ok(record) => session.take(&record, &line.text),
                Err(error) => Err(fault(&error, line.last_unterminated)),
            };
            if let Err(reason) = lost {
                source.lose(line.number, reason);
            }
        }
    })?;
    let transcript = session.finish();
    // A file of which nothing could be read has no session.
    if !transcript.messages.is_empty() || !transcript.side_calls.is_empty() {
        hand_over(transcript);
    }
    Ok(())
}
