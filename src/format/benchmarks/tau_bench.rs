//! The first tau-bench: a list of runs in OpenAI's chat dialect, or one run alone. It records no usage of the agent's calls, and of the
//! simulated user only what it cost in all.

use crate::format::ground::{ReadError, Source, decoded, each_piece, fault, text_or_json, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::end_said;
use crate::format::wire::chat::{Chat, ChatMessage};
use crate::transcript::{Role, Scale, Transcript};
use serde_json::value::RawValue;

/// One session per run, without usage of the agent's calls.
pub const READER: Reader = Reader { name: "tau-bench", about: "tau-bench (the first): lists of runs, or one run", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let run = |at: &&str| {
        // A run that failed has no messages.
        let failed = outline.shows_at(at, "info.error traj=") && outline.keys(&format!("{at}traj[]")).next().is_none();
        outline.shows_at(at, "task_id reward") && (failed || outline.shows_at(at, "traj[].role|messages[].role|info.task"))
    };
    Claim::when(["[].", ""].iter().any(run))
}

wire! {
    struct Run<'a> {
        task_id: Option<&'a RawValue>,
        trial: Option<&'a RawValue>,
        traj: Option<Vec<ChatMessage<'a>>>,
        messages: Option<Vec<ChatMessage<'a>>>,
    }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    if source.head_text().trim_start().starts_with('[') {
        each_piece(source, &[], |source, piece| run(piece.text, piece.number, scale, source, hand_over));
    } else {
        let text = source.document()?;
        run(&text, 1, scale, source, hand_over);
    }
    Ok(())
}

fn run(text: &str, number: u64, scale: &dyn Scale, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
    let mut held = String::new();
    let run = match decoded::<Run, ChatMessage>(text, "traj", &mut held, &mut |reason| source.lose(number, reason)) {
        Ok(run) => run,
        Err(error) => return source.lose(number, fault(&error, false)),
    };
    let id = format!("{}#{}.{}", source.name(), text_or_json(run.task_id), text_or_json(run.trial));
    let mut transcript = Transcript { id, agent: READER.name.to_owned(), ..Transcript::default() };
    let mut chat = Chat::default();
    for written in run.traj.as_ref().or(run.messages.as_ref()).into_iter().flatten() {
        let Some(mut message) = chat.message(written, scale, &mut |reason| source.lose(number, reason)) else {
            source.lose(number, "message of an unknown role");
            continue;
        };
        if message.role == Role::Assistant {
            message.call = Some(Box::default());
        }
        transcript.messages.push(message);
    }
    end_said(transcript, number, source, hand_over);
}
