//! Exported traces.
#![no_main]

const READERS: &[&str] = &["langfuse", "langsmith", "otlp"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ctxsim_fuzz::read(READERS, bytes));
