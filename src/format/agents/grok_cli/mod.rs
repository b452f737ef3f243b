//! Grok CLI (Grok Build): `~/.grok/sessions/<folder>/<id>/` with `updates.jsonl`, what was shown in order of time, and
//! `chat_history.jsonl`, what the model reads. What each request used stands in one log for all sessions, `~/.grok/logs/unified.jsonl`.
//!
//! The session is that of `updates.jsonl`: it is only ever added to. The system prompt, what is put in beside a prompt, and the words of
//! results are those of `chat_history.jsonl`. Which reply a request belongs to is not noted: they go together one by one where there are as
//! many of them.

mod bundle;
mod history;
mod updates;

use crate::format::ground::{ReadError, Source};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::reading::is_beside;
use crate::transcript::{Scale, Transcript};
use bundle::{matched, requests, summary};

/// Sessions of the Grok CLI.
pub const READER: Reader = Reader { name: "grok-cli", about: "Grok CLI sessions (~/.grok/sessions/*/*/updates.jsonl)", claims, read };

const UPDATES: &str = "updates.jsonl";
const HISTORY: &str = "chat_history.jsonl";

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let is_there = |name: &str| is_beside(&source.path.with_file_name(name));
    // Any agent of the Agent Client Protocol sends such updates; Grok numbers them.
    if source.has_line(5, &["params.update.sessionUpdate params.sessionId params._meta.eventId"]) {
        return Claim::Yes;
    }
    if source.name() == HISTORY && outline.shows("type=system,user,assistant,reasoning") {
        return if is_there(UPDATES) { Claim::Companion } else { Claim::Yes };
    }
    let stays_beside = outline.shows("info.id current_model_id") || outline.shows("ts src pid lvl msg");
    if stays_beside { Claim::Companion } else { Claim::No }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut made = Recorder::new(READER.name, String::new(), scale);
    if source.name() != HISTORY {
        updates::read(source, &mut made)?;
        let path = source.path.with_file_name(HISTORY);
        if is_beside(&path) {
            match source.beside(&path).and_then(|mut other| {
                let mut history = Recorder::new(READER.name, String::new(), scale);
                history::read(&mut other, &mut history)?;
                source.lose_all(0, other.losses());
                Ok(history.transcript.messages)
            }) {
                Ok(messages) => updates::enrich(&mut made.transcript.messages, messages),
                Err(_) => source.lose(0, "history beside the updates that cannot be read"),
            }
        }
    } else {
        history::read(source, &mut made)?;
    }
    let transcript = &mut made.transcript;
    let told = summary(source);
    if transcript.id.is_empty() {
        transcript.id = told.as_ref().map_or_else(|| source.name(), |(id, _)| id.clone());
    }
    if let Some((_, model)) = told {
        let calls = transcript.messages.iter_mut().filter_map(|message| message.call.as_mut());
        calls.filter(|call| call.model.is_empty()).for_each(|call| call.model.clone_from(&model));
    }
    if let Some(requests) = requests(source, &transcript.id) {
        matched(transcript, requests, &mut |reason| source.lose(0, reason));
    }
    made.end_spoken(source, hand_over);
    Ok(())
}
