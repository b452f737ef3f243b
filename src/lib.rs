//! Replays recorded agent transcripts through context-management policies.
#![forbid(unsafe_code)]

pub mod advice;
pub mod catalog;
pub mod context;
pub mod corpus;
pub mod cost;
pub mod estimate;
pub mod experiment;
pub mod format;
pub mod measure;
pub mod policy;
pub mod reading;
pub mod render;
pub mod report;
pub mod sim;
pub mod statistics;
pub mod trace;
pub mod transcript;
pub mod units;
