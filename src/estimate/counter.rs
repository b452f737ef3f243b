//! Exact token counts in public vocabularies.

use super::memo::{self, Memo};
use super::pieces::{Case, Pattern, plain_word_end};
use super::ranks::{self, Ranks};
use super::vocabulary::Vocabulary;
use super::{long_piece, reference, seam};
use crate::list::place_or_push;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which program counts. Both give the same counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The crate `tiktoken`: several times faster, all vocabularies.
    #[default]
    Fast,
    /// The crate `tiktoken-rs`, a port of OpenAI's own program: slow, OpenAI's vocabularies only.
    Reference,
}

/// Why there is no [`Counter`].
#[derive(Debug, thiserror::Error)]
pub enum CounterError {
    /// The reference engine lacks the vocabulary.
    #[error("the reference tokenizer has no vocabulary `{0}` (it has o200k_base and cl100k_base)")]
    NoReference(&'static str),
    /// The reference engine could not load its own data.
    #[error("the reference tokenizer cannot load `{0}`")]
    Broken(&'static str),
}

/// Bytes handed to the crate at once where its own splitter is used. It looks at all that follows a piece of non-ASCII whitespace,
/// which would make its time grow with the square of the text.
const CHUNK: usize = 4096;

/// A single piece longer than this is cut: to encode it takes about forty bytes of memory for each of its bytes.
const LONGEST_PIECE: usize = 4 * 1024 * 1024;

thread_local! {
    // Counts are a function of vocabulary and piece alone, so what one counter learned serves all counters of its thread. Each
    // vocabulary has a memo of its own: texts that are counted in several must not drive out each other's pieces.
    static MEMOS: RefCell<Vec<Memo>> = const { RefCell::new(Vec::new()) };
}

/// The reference engine's pattern matcher overflows its stack on a run of about a million spaces or tabs; well before that it
/// is not asked.
const LONGEST_REFERENCE_SPACE: usize = 64 * 1024;

/// The fast engine, loaded when something needs it, and what we split and encode pieces with where we know the vocabulary's pattern.
struct Loaded {
    vocabulary: Vocabulary,
    engine: OnceLock<tiktoken::CoreBpe>,
    splitter: Option<(Pattern, Ranks)>,
}

impl Loaded {
    fn new(vocabulary: Vocabulary) -> Loaded {
        let engine = OnceLock::new();
        let ranks = match vocabulary {
            Vocabulary::O200kBase => Ranks::of_listing(Cow::Borrowed(O200K_BASE)),
            _ => Ranks::of(engine.get_or_init(|| vocabulary.load())),
        };
        Loaded { vocabulary, engine, splitter: ranks.map(|ranks| (Pattern::of(vocabulary), ranks)) }
    }

    fn splitter(&self) -> Option<Splitter<'_>> {
        self.splitter.as_ref().map(|(pattern, ranks)| Splitter { loaded: self, pattern, ranks })
    }

    fn engine(&self) -> &tiktoken::CoreBpe {
        self.engine.get_or_init(|| self.vocabulary.load())
    }
}

/// The tokens of the vocabulary that most sessions are counted in, as `build.rs` lists them.
static O200K_BASE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.tokens"));

/// Counts tokens in one vocabulary. Special tokens (`<|endoftext|>`) count as the plain text that they are in a log.
pub struct Counter {
    vocabulary: Vocabulary,
    fast: OnceLock<Loaded>,
    reference: Option<tiktoken_rs::CoreBPE>,
    stand_ins: AtomicU64,
}

impl Counter {
    /// A counter that loads the fast engine's data when it is first needed; the reference engine's data at once.
    pub fn new(vocabulary: Vocabulary, engine: Engine) -> Result<Counter, CounterError> {
        let reference = match engine {
            Engine::Fast => None,
            Engine::Reference => {
                if !matches!(vocabulary, Vocabulary::O200kBase | Vocabulary::Cl100kBase) {
                    return Err(CounterError::NoReference(vocabulary.name()));
                }
                Some(reference::load(vocabulary).ok_or(CounterError::Broken(vocabulary.name()))?)
            }
        };
        Ok(Counter { vocabulary, fast: OnceLock::new(), reference, stand_ins: AtomicU64::new(0) })
    }

    /// The vocabulary that it counts in.
    pub fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    /// Does the fast engine count?
    pub fn is_fast(&self) -> bool {
        self.reference.is_none()
    }

    /// Loads the fast engine's data now (a tenth of a second), so that it can be done on another thread beside the first reads.
    pub fn load(&self) {
        self.fast();
    }

    /// The number of tokens of a text.
    pub fn count(&self, text: &str) -> u64 {
        match &self.reference {
            None => self.count_fast(text),
            Some(reference) => count_reference(reference, text).unwrap_or_else(|| {
                self.stand_ins.fetch_add(1, Ordering::Relaxed);
                self.count_fast(text)
            }),
        }
    }

    /// The number of tokens of a text, and on the way the sums so far: `reached` is called at the first seam at or behind the place
    /// `wanted` and of the tokens up to there, and says which place is wanted next.
    pub fn count_along(&self, text: &str, mut wanted: usize, reached: &mut dyn FnMut(usize, u64) -> usize) -> u64 {
        if self.reference.is_none()
            && let Some(splitter) = self.fast().splitter()
        {
            return self.with_memo(|memo| splitter.count(memo, text, wanted, reached));
        }
        let (mut at, mut tokens) = (0, 0);
        while at < text.len() {
            let end = seam::next_seam(text, wanted.max(at + 1));
            tokens += self.count(text.get(at..end).unwrap_or_default());
            at = end;
            if at < text.len() {
                wanted = reached(at, tokens);
            }
        }
        tokens
    }

    /// How many texts the fast engine counted because the reference engine cannot.
    pub fn stand_ins(&self) -> u64 {
        self.stand_ins.load(Ordering::Relaxed)
    }

    fn fast(&self) -> &Loaded {
        self.fast.get_or_init(|| Loaded::new(self.vocabulary))
    }

    fn with_memo(&self, count: impl FnOnce(&mut Memo) -> u64) -> u64 {
        MEMOS.with_borrow_mut(|memos| {
            let place = place_or_push(memos, |memo| memo.vocabulary() == self.vocabulary, || Memo::new(self.vocabulary));
            memos.get_mut(place).map_or(0, count)
        })
    }

    fn count_fast(&self, text: &str) -> u64 {
        let loaded = self.fast();
        match loaded.splitter() {
            Some(splitter) => self.with_memo(|memo| splitter.count(memo, text, usize::MAX, &mut |_, _| usize::MAX)),
            None => seam::chunks(text, CHUNK).map(|chunk| encode(loaded.engine(), chunk)).sum(),
        }
    }
}

/// Splits the text by our own means as far as they go; the engine splits the rest, from seam to seam, and encodes long pieces. `word` tells where most pieces
/// end.
fn count_pieces(
    splitter: &Splitter<'_>,
    word: impl Fn(&[u8], usize) -> Option<usize>,
    memo: &mut Memo,
    text: &str,
    mut wanted: usize,
    reached: &mut dyn FnMut(usize, u64) -> usize,
) -> u64 {
    let bytes = text.as_bytes();
    let (mut at, mut tokens) = (0, 0);
    while at < bytes.len() {
        let (from, before) = (at, tokens);
        let end = memchr::memchr(b'\n', bytes.get(from..).unwrap_or_default()).map_or(bytes.len(), |newline| from + newline + 1);
        // From the start of a piece to a seam a line has the same count wherever it stands. No sum within it is wanted.
        let is_whole = end < wanted && (end == bytes.len() || seam::is_seam(text, end));
        let line = bytes.get(from..end).filter(|_| is_whole).and_then(Memo::line);
        if let Some(known) = line.and_then(|line| memo.count_of_line(line)) {
            (at, tokens) = (end, tokens + known);
            continue;
        }
        while at < end {
            let piece = word(bytes, at).or_else(|| splitter.pattern.end(text, at));
            let known = piece.and_then(|end| Some((end, memo::key(bytes, at, end)?)));
            let (end, more) = match known {
                Some((end, key)) => (end, memo.count(key, || memo::encoded(key, splitter.ranks))),
                None => splitter.others(memo, text, at, piece),
            };
            (at, tokens) = (end, tokens + more);
            // Every seam is the end of a piece.
            if at >= wanted && seam::is_seam(text, at) {
                wanted = reached(at, tokens);
            }
        }
        if let Some(line) = line {
            memo.keep_line(line, tokens - before);
        }
    }
    tokens
}

/// What splits texts and encodes pieces.
struct Splitter<'l> {
    loaded: &'l Loaded,
    pattern: &'l Pattern,
    ranks: &'l Ranks,
}

impl Splitter<'_> {
    fn count(&self, memo: &mut Memo, text: &str, wanted: usize, reached: &mut dyn FnMut(usize, u64) -> usize) -> u64 {
        match self.pattern.cases() {
            Some(Case::Splits) => count_pieces(self, plain_word_end::<true>, memo, text, wanted, reached),
            Some(Case::Ignored) => count_pieces(self, plain_word_end::<false>, memo, text, wanted, reached),
            None => count_pieces(self, |_, _| None, memo, text, wanted, reached),
        }
    }

    /// Where a piece ends that is not short, or a stretch whose pieces are not known, and the number of its tokens.
    #[inline(never)]
    fn others(&self, memo: &mut Memo, text: &str, at: usize, piece: Option<usize>) -> (usize, u64) {
        let end = piece.unwrap_or_else(|| seam::next_seam(text, at + 1));
        let words = text.get(at..end).unwrap_or_default();
        let stretch = || encode(self.loaded.engine(), words);
        let tokens = match (piece, memo::long_key(words.as_bytes())) {
            (None, _) => stretch(),
            (Some(_), Some(key)) => memo.count(key, || self.ranks.count_longer(words.as_bytes())),
            (Some(_), None) if words.len() <= ranks::LONGEST_PIECE => self.ranks.count_longer(words.as_bytes()),
            (Some(_), None) if words.len() <= long_piece::WINDOW => stretch(),
            (Some(_), None) => long_piece::count(self.loaded.engine(), self.pattern, words).unwrap_or_else(stretch),
        };
        (end, tokens)
    }
}

fn encode(engine: &tiktoken::CoreBpe, mut text: &str) -> u64 {
    let mut tokens = 0;
    while let Some((head, rest)) = text.split_at_checked(text.floor_char_boundary(LONGEST_PIECE)).filter(|(_, rest)| !rest.is_empty()) {
        tokens += engine.count(head) as u64;
        text = rest;
    }
    tokens + engine.count(text) as u64
}

fn count_reference(engine: &tiktoken_rs::CoreBPE, text: &str) -> Option<u64> {
    if text.len() > LONGEST_REFERENCE_SPACE && longest_space(text) > LONGEST_REFERENCE_SPACE {
        return None;
    }
    // Counting changes nothing in the engine that an unwound call could leave half done.
    catch_unwind(AssertUnwindSafe(|| engine.encode_ordinary(text).len() as u64)).ok()
}

/// Bytes of the longest run of whitespace.
fn longest_space(text: &str) -> usize {
    text.split(|character: char| !character.is_whitespace()).map(str::len).max().unwrap_or(0)
}
