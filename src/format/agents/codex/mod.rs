//! Codex CLI: `sessions/YYYY/MM/DD/rollout-*.jsonl`, and what `exec --json` prints ([`printed`]).
//!
//! The `response_item` records are the model's context; `event_msg` records tell the same to the user interface and are not read,
//! apart from usage (`token_count`, beside the records of all responses) and what happened to turns.

mod content;
mod ledger;
mod printed;
mod record;
mod session;
mod turn;
mod usage;

use crate::format::ground::{ReadError, Source};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use record::Record;
use session::{AGENT, Session};

/// Codex CLI rollouts, those from before version 0.30 (bare items) included, and printed runs.
pub const READER: Reader =
    Reader { name: AGENT, about: "Codex CLI rollouts: ~/.codex/sessions/**/rollout-*.jsonl, exec --json", claims, read };

fn claims(source: &Source) -> Claim {
    // The first line may be missing in a shortened file, but its neighbours are of the same kind.
    let wrapped = "type=session_meta,response_item,turn_context,event_msg,compacted payload";
    Claim::when(source.has_line(20, &[wrapped, "id timestamp instructions !type", printed::SIGNATURE]))
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
    if source.has_line(20, &[printed::SIGNATURE]) {
        return printed::read(source, scale, hand_over);
    }
    let mut session = Session::new(scale, source.name());
    let name = source.name();
    source.each_line(|source, line| {
        source.values(line, |record: Record, lose| {
            if session.is_over_with(&record, &line.text) {
                let over = std::mem::replace(&mut session, Session::new(scale, name.clone()));
                over.finish().into_iter().for_each(&mut *hand_over);
            }
            if let Err(reason) = session.take(&record, &line.text) {
                lose(reason);
            }
        });
    })?;
    session.finish().into_iter().for_each(hand_over);
    Ok(())
}
