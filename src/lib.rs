//! Replays recorded agent transcripts through context-management policies.
#![forbid(unsafe_code)]

pub mod catalog;
pub mod format;
pub mod transcript;
pub mod units;
