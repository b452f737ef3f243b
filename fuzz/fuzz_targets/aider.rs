//! Histories in Markdown and plain text.
#![no_main]

const READERS: &[&str] = &["aider"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ctxsim_fuzz::read(READERS, bytes));
