//! Logs of Inspect: JSON documents and archives.
#![no_main]

const READERS: &[&str] = &["inspect"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ctxsim_fuzz::read(READERS, bytes));
