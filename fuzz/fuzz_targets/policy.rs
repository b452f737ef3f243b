//! Policy documents: parsed, and worked out for models large and small.
#![no_main]

use ctxsim::policy::{Facts, Policy};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(policy) = Policy::parse("input", text) else { return };
    policy.default_window();
    for window in [None, Some(0), Some(8_000), Some(1_000_000), Some(u64::MAX)] {
        let _ = policy.plan(&Facts { window, max_output: 4_000, ..Facts::default() });
    }
});
