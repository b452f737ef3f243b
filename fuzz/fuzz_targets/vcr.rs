//! Cassettes: YAML, JSON, bodies within bodies.
#![no_main]

const READERS: &[&str] = &["vcr"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ctxsim_fuzz::read(READERS, bytes));
