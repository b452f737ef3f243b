//! Sessions of any format, written down in another one.

use super::counters::Counters;
use super::discover::{Found, discover};
use super::gathered::{FileLoss, Skipped};
use super::read::{Companions, Opened, file_loss, not_counted_again, opened};
use super::selection::{Selected, Whereabouts};
use super::settings::ReadSettings;
use crate::estimate::{CounterError, Vocabulary};
use crate::format::traffic::openai_chat;
use crate::format::{LeftOut, native};
use crate::measure::{Content, TextScale};
use crate::reading::name_of;
use crate::transcript::Transcript;
use std::io::{self, Write};
use std::path::Path;

/// The shape that sessions are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The native shape, every text in full.
    Native,
    /// The native shape without a word of the texts: sizes stay, so that a replay gives the same numbers.
    Redacted,
    /// OpenAI chat messages, a session a line.
    OpenAiChat,
}

/// What a conversion wrote, and what it left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Converted {
    /// Number of sessions written.
    pub sessions: u64,
    /// Messages in them, as the target counts them: in chat messages a tool's result is one of its own.
    pub messages: u64,
    /// What the target has no place for.
    pub left_out: LeftOut,
    /// What was asked for by date and project, and what that left out; `None` where every session was.
    pub selected: Option<Selected>,
    /// Sessions that another one started, which were not asked for.
    pub sub_agents_left_out: u64,
    /// Files that gave no session, each with its reason.
    pub skipped: Vec<Skipped>,
    /// Hidden folders below the named ones, which were passed over.
    pub hidden: Vec<String>,
    /// What could not be used of others.
    pub losses: Vec<FileLoss>,
}

/// Why a conversion stopped.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// A vocabulary could not be loaded.
    #[error(transparent)]
    Counter(#[from] CounterError),
    /// The output could not be written.
    #[error("the output cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// Converts all sessions of some files, in the order of their names. The sessions of one file are held in memory together.
pub fn convert(paths: &[String], target: Target, settings: &ReadSettings<'_>, out: &mut dyn Write) -> Result<Converted, ConvertError> {
    let Found { files, missing, hidden } = discover(paths);
    settings.progress.files(files.len());
    let counters = Counters::new(settings)?;
    let mut converted = Converted { skipped: missing, hidden, ..Converted::default() };
    let mut selected = Selected::by(&settings.selection);
    let companions = if files.len() == 1 { Companions::Read } else { Companions::PassOver };
    for file in &files {
        let source = name_of(file.as_os_str());
        for (transcript, vocabulary) in sessions(file, target, settings, &counters, companions, &mut converted) {
            if !selected.takes(Whereabouts::of(&transcript, &source)) {
                continue;
            }
            if settings.without_sub_agents && transcript.parent.is_some() {
                converted.sub_agents_left_out += 1;
                continue;
            }
            converted.sessions += 1;
            let messages = transcript.messages.len() as u64;
            converted.messages += match target {
                Target::Native => native::write(&transcript, vocabulary.name(), out).map(|()| messages)?,
                Target::Redacted => native::write(&native::redacted(transcript), vocabulary.name(), out).map(|()| messages)?,
                Target::OpenAiChat => {
                    let (written, left_out) = openai_chat::write(&transcript, out)?;
                    converted.left_out += left_out;
                    written
                }
            };
        }
        settings.progress.file_done();
    }
    converted.selected = Some(selected).filter(|selected| selected.selection.is_asked());
    Ok(converted)
}

/// The sessions of a file, each with the vocabulary that it was measured in.
fn sessions(
    file: &Path,
    target: Target,
    settings: &ReadSettings<'_>,
    counters: &Counters<'_>,
    companions: Companions,
    converted: &mut Converted,
) -> Vec<(Transcript, Vocabulary)> {
    let name = file.to_string_lossy().into_owned();
    let (reader, mut source) = match opened(file, settings, companions) {
        Opened::Log(reader, source) => (reader, source),
        Opened::Measured(_) => {
            converted.skipped.push(Skipped { path: name, reason: "is measured already: it holds no text to convert".to_owned() });
            return Vec::new();
        }
        Opened::Companion => return Vec::new(),
        Opened::Skipped(skipped) => {
            converted.skipped.push(skipped);
            return Vec::new();
        }
    };
    let guess = counters.guess(source.head());
    let read = |source: &mut crate::format::Source, vocabulary: Vocabulary| {
        let mut transcripts = Vec::new();
        if let Some(counter) = counters.get(vocabulary) {
            let content = if target == Target::Redacted { Content::Drop } else { Content::Keep };
            let scale = TextScale::new(counter.clone(), content).with_public(counters.public()).wanting(settings.wanted);
            reader.sessions(source, &scale, &mut |transcript| {
                transcripts.push(transcript);
                scale.next_session();
            })?;
        }
        Ok::<Vec<Transcript>, crate::format::ReadError>(transcripts)
    };
    let transcripts = match read(&mut source, guess) {
        Ok(transcripts) => transcripts,
        Err(error) => {
            converted.skipped.push(Skipped { path: name, reason: error.to_string() });
            return Vec::new();
        }
    };
    if transcripts.is_empty() {
        converted.skipped.push(Skipped { path: name.clone(), reason: "holds no session".to_owned() });
    }
    let mut sessions: Vec<(Transcript, Vocabulary)> = transcripts.into_iter().map(|transcript| (transcript, guess)).collect();
    // Measures are taken in the vocabulary of each session's own model, as a replay would take them; words are the same in all of them.
    let wanted: Vec<Vocabulary> = sessions.iter().map(|(transcript, _)| counters.wanted_by(transcript.main_model().as_deref())).collect();
    let mut others: Vec<Vocabulary> =
        wanted.iter().copied().filter(|vocabulary| *vocabulary != guess && target == Target::Redacted).collect();
    others.sort_unstable();
    others.dedup();
    for vocabulary in others {
        let Some(Ok(mut again)) = source.again() else {
            source.lose(0, &not_counted_again(guess, vocabulary));
            continue;
        };
        let Ok(measured) = read(&mut again, vocabulary) else { break };
        for ((session, wanted), other) in sessions.iter_mut().zip(&wanted).zip(measured) {
            if *wanted == vocabulary {
                *session = (other, vocabulary);
            }
        }
    }
    converted.losses.extend(source.losses().iter().map(|loss| file_loss(&name, loss)));
    sessions
}
