//! `.ctxtrace` files (the magic below is that of the current version): as they are, and with the bytes as what was packed, which a checksum would keep out of reach otherwise.
#![no_main]

use ctxsim::corpus::read_traces;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = read_traces(bytes);
    let mut packed = GzEncoder::new(b"ctxtrace/9\n".to_vec(), Compression::none());
    if packed.write_all(bytes).is_ok()
        && let Ok(file) = packed.finish()
    {
        let _ = read_traces(&*file);
    }
});
