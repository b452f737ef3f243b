//! aider: the chat history (`.aider.chat.history.md`), which is what the screen showed, and the history of requests
//! (`--llm-history-file`), which is every prompt as it was sent.
//!
//! The chat history holds neither files nor the map of the repository, and its token counts are rounded for people: they are marked as
//! estimated. The history of requests has no counts, but holds all that the model read.

mod chat_history;
mod request_history;

use crate::format::ground::{ReadError, Source};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use xxhash_rust::xxh3::xxh3_128;

/// Chat histories with rounded token counts, taken as estimates, and histories of requests without any.
pub const READER: Reader = Reader { name: "aider", about: "aider histories (.aider.chat.history.md, --llm-history-file)", claims, read };

/// Replies of fewer bytes, blanks left out, may be given twice.
const SHORT: usize = 200;

/// The replies of a history, each known by its words: both histories of a run hold them. A short one is known together with those before it, back to a long one.
#[derive(Default)]
struct Replies(Option<u128>);

impl Replies {
    /// The id of the next reply; empty where its words tell too little.
    fn next(&mut self, text: &str) -> String {
        let words: String = text.split_whitespace().collect();
        self.0 = match (words.len() < SHORT, self.0) {
            (false, _) => Some(xxh3_128(words.as_bytes())),
            (true, before) => before.map(|before| xxh3_128(format!("{before:x}\0{words}").as_bytes())),
        };
        self.0.map_or_else(String::new, |known| format!("{known:032x}"))
    }
}

fn claims(source: &Source) -> Claim {
    let mut lines = source.head_text().lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    if first.starts_with(chat_history::START) || (request_history::is_request(first) && lines.next() == Some(request_history::RULE)) {
        Claim::Yes
    } else {
        Claim::No
    }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    if source.head_text().lines().any(request_history::is_request) && !source.head_text().contains(chat_history::START) {
        request_history::read(source, scale, hand_over)
    } else {
        chat_history::read(source, scale, hand_over)
    }
}
