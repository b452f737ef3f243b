//! x
use super::{Case, Checked, Passed};
pub fn estimate_tokens(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn force_compression(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn is_over_budget(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn safe_boundary(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn shell_truncate_bytes(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn summarize(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn trim_history(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
pub fn truncate_context_smart(_: &Case) -> Checked { Ok(Passed::NotModelled("todo")) }
