//! x
use super::{Case, Checked, Passed};
pub fn estimate_context_tokens(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn estimate_tokens(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn find_cut_point(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn is_context_overflow(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn prepare_compaction(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn serialize_conversation(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn should_compact(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn truncate(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
