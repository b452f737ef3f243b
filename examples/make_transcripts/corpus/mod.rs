//! The sample corpus: which sessions it holds, and the files that they make.

mod author;
mod claude_code;
mod clock;
mod codex;
mod edits;
mod gemini;
mod mini_swe;
mod opencode;
mod outputs;
mod pi;
mod project;
mod provider;
mod random;
mod recorder;
mod sessions;
mod sources;
mod story;
mod words;

pub use sources::File;

/// Every file of the corpus, `SOURCES.md` among them, in a fixed order.
pub fn files() -> Vec<File> {
    sources::with_table(sessions::all())
}
