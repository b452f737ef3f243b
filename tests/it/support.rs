//! What several tests need: a plain scale, the folder of real transcripts, reading a whole file.

use ctxsim::format::{Source, sniff};
use ctxsim::transcript::{Length, Loss, Scale, Text, Transcript};
use std::path::{Path, PathBuf};

/// A scale that takes a quarter of the bytes for tokens.
pub struct PlainScale {
    /// Keep the words of each text?
    pub keep_content: bool,
}

impl Scale for PlainScale {
    fn weigh(&self, text: &str) -> Text {
        let length = Length {
            bytes: text.len() as u32,
            utf16: text.encode_utf16().count() as u32,
            chars: text.chars().count() as u32,
            newlines: text.matches('\n').count() as u32,
        };
        Text { length, tokens: length.bytes / 4, json_bytes: length.bytes, shape: None, content: self.keep_content.then(|| text.into()) }
    }
}

/// The folder that real transcripts lie under. Absent (with the reason printed) on machines that have none; never on the build server.
pub fn shared() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("CTXSIM_SHARED").unwrap_or_else(|| "../shared".into()));
    if folder.join("transcripts").is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "no real transcripts at {}", folder.display());
    println!("skipped: no real transcripts at {} (set CTXSIM_SHARED)", folder.display());
    None
}

/// All transcripts of a file and what was lost, by the reader that claims it. The words are kept.
pub fn read_all(path: &Path) -> (Vec<Transcript>, Vec<Loss>) {
    let mut source = Source::open(path).unwrap();
    let (reader, _) = sniff(&source).unwrap_or_else(|| panic!("nobody claims {}", path.display()));
    let mut transcripts = Vec::new();
    (reader.read)(&mut source, &PlainScale { keep_content: true }, &mut |transcript| transcripts.push(transcript)).unwrap();
    (transcripts, source.losses().to_vec())
}
