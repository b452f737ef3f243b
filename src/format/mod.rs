//! FILE -> TRANSCRIPT. One file a recorded format, one row a format in [`READERS`].
//!
//! A reader looks at the head of a file and says whether it is its own ([`Reader::claims`]), and turns a whole file into
//! transcripts ([`Reader::read`]). Damage is reported through [`Source::lose`] and never ends a file that has more to give.

mod aider;
mod anthropic;
mod anthropic_messages;
mod api_exchange;
mod atif;
mod autogen;
mod baseagent;
mod blocks;
mod branches;
mod chat;
mod claude_code;
mod cline;
mod codex;
mod copilot_cli;
mod count;
mod crush;
mod deepseek_harness;
mod exchange;
mod gemini_cli;
mod google;
mod goose;
pub mod image;
mod inspect;
pub mod json;
mod kimi_cli;
pub mod lines;
mod litellm;
mod marks;
mod mini_swe_agent;
mod mycoder;
pub mod native;
pub mod openai_chat;
pub mod opencode;
mod openhands;
mod outline;
pub mod pi;
mod picoclaw;
mod pieces;
mod plain_talk;
mod qwen_code;
mod sharegpt;
mod source;
mod sqlite;
mod swe_agent;
mod tau2;
mod tau_bench;
mod telemetry;
mod time;
mod usage;
mod vcr;
mod vscode_chat;
mod words;
mod yaml;
mod zstd;

pub use openai_chat::LeftOut;
pub use source::{ReadError, Source};
pub use sqlite::why_unclaimed;

use crate::transcript::{Scale, Transcript};

/// How sure a reader is that a file is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// Not this format.
    No,
    /// A companion of another file (a part of a storage tree, an index): belongs to the format, is read with its main file.
    Companion,
    /// The general shape fits; a more specific reader goes first.
    Maybe,
    /// It is this format.
    Yes,
}

/// One recorded format.
pub struct Reader {
    /// The name used by `--format` and in reports.
    pub name: &'static str,
    /// One line for `ctxsim formats`.
    pub about: &'static str,
    /// Decides by the head of the file (the first 64 KiB, decompressed) and, where content cannot tell, by its path.
    pub claims: fn(&Source) -> Claim,
    /// Reads all sessions of the file, handing over each as soon as it is complete.
    pub read: Read,
}

/// Reads all sessions of a source, weighs their texts on the scale, and hands each session over.
pub type Read = fn(&mut Source, &dyn Scale, &mut dyn FnMut(Transcript)) -> Result<(), ReadError>;

/// All readers, the more specific ones first: at equal claims the first one wins.
pub const READERS: &[&Reader] = &[
    &native::READER,
    &qwen_code::READER,
    &claude_code::READER,
    &codex::READER,
    &aider::READER,
    &copilot_cli::READER,
    &deepseek_harness::READER,
    &pi::READER,
    &opencode::READER,
    &cline::READER,
    &crush::READER,
    &goose::READER,
    &vscode_chat::READER,
    &kimi_cli::READER,
    &picoclaw::READER,
    &mycoder::READER,
    &baseagent::READER,
    &gemini_cli::READER,
    &mini_swe_agent::READER,
    &tau2::READER,
    &swe_agent::READER,
    &litellm::READER,
    &openhands::READER,
    &atif::READER,
    &tau_bench::READER,
    &inspect::READER,
    &api_exchange::READER,
    &vcr::READER,
    &telemetry::LANGFUSE,
    &telemetry::OTLP,
    &sharegpt::READER,
    &autogen::READER,
    &plain_talk::DISPLAYED,
    &plain_talk::SUMMARISER,
    &anthropic_messages::READER,
    &openai_chat::READER,
];

/// The reader of this name.
pub fn by_name(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name).copied()
}

/// The reader that claims this file, and how surely; `None` where nobody knows it.
pub fn sniff(source: &Source) -> Option<(&'static Reader, Claim)> {
    let mut best: Option<(&'static Reader, Claim)> = None;
    for reader in READERS {
        let claim = (reader.claims)(source);
        if claim > best.map_or(Claim::No, |(_, claim)| claim) {
            best = Some((reader, claim));
        }
        if claim == Claim::Yes {
            break;
        }
    }
    best
}
