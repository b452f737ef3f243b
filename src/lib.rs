//! Replays recorded agent transcripts through context-management policies.
#![forbid(unsafe_code)]

pub mod estimate;
pub mod format;
pub mod measure;
pub mod transcript;
pub mod units;
