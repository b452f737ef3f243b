//! Requests and responses of providers.
#![no_main]

const READERS: &[&str] = &["api-exchange", "litellm", "anthropic-messages", "openai-chat"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ctxsim_fuzz::read(READERS, bytes));
