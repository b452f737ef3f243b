//! The reference engine: the splitter and the encoder of `tiktoken-rs`, on the ranks that the fast engine holds.
//!
//! The crate has the ranks of OpenAI's vocabularies as five megabytes of base64. A program that calls the crate's own constructors
//! carries them; these tables are the same, as `tests/it/counting.rs` holds them to.

use super::vocabulary::Vocabulary;

/// How `cl100k_base` splits a text, as the crate writes it.
const CL100K_BASE: &str =
    concat!(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|", r"\s+(?!\S)|\s");

/// The engine for a vocabulary. `None` if it is none of OpenAI's, or cannot be loaded.
pub fn load(vocabulary: Vocabulary) -> Option<tiktoken_rs::CoreBPE> {
    let pattern = match vocabulary {
        Vocabulary::O200kBase => tiktoken_rs::O200K_BASE_PAT_STR,
        Vocabulary::Cl100kBase => CL100K_BASE,
        _ => return None,
    };
    let engine = vocabulary.load();
    // Special tokens have ranks behind all others. What a log says is plain text, so there is no need of them.
    let ranks = 0..u32::try_from(engine.vocab_size()).ok()?;
    let tokens = ranks.map(|rank| (engine.decode(&[rank]), rank)).collect();
    tiktoken_rs::CoreBPE::new(tokens, [].into_iter().collect(), pattern).ok()
}
