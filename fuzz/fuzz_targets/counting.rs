//! Token counts: whatever the text, each vocabulary counts as its crate does.
#![no_main]

use ctxsim::estimate::{Counter, Engine, Vocabulary};
use std::sync::LazyLock;

static COUNTERS: LazyLock<Vec<Counter>> =
    LazyLock::new(|| Vocabulary::ALL.iter().map(|one| Counter::new(*one, Engine::Fast).expect("the vocabulary is built in")).collect());

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // The crate's own splitter takes the square of the length of what it looks at.
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(4096)).unwrap_or_default());
    for counter in COUNTERS.iter() {
        let engine = tiktoken::get_encoding(counter.vocabulary().name()).expect("the crate has it");
        assert_eq!(counter.count(&text), engine.count(&text) as u64, "{}", counter.vocabulary().name());
    }
});
