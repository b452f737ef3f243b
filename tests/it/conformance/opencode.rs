//! x
use super::{Case, Checked, Passed};
pub fn compaction_select(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn filter_compacted(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn is_overflow_2025(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn is_overflow(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn prune_2025(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn prune(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn token_estimate(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn truncate_tool_output(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
