//! Results of benchmarks and sets of conversations.
#![no_main]

const READERS: &[&str] = &["tau2", "swe-agent", "atif", "tau-bench", "sharegpt", "autogen", "messages-display", "summariser"];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ctxsim_fuzz::read(READERS, bytes));
