//! Anything at all: the reader that claims it, then that reader.
#![no_main]

use ctxsim::format::sniff;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(source) = ctxsim_fuzz::source(bytes) else { return };
    if let Some((reader, _)) = sniff(&source) {
        ctxsim_fuzz::read_with(reader, bytes);
    }
});
