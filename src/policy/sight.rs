//! What a trigger can see: estimates, what the provider reported, and what the policy remembers.

use crate::context::View;

/// Everything that a trigger can see.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The context, estimates only.
    pub view: View<'a>,
    /// Prompt and output that the provider reported for the last call; `None` where the policy knows of none.
    pub usage: Option<(u64, u64)>,
    /// Estimates of the messages that came after the last reply.
    pub pending: u64,
    /// Estimate of a user message that is about to enter.
    pub incoming: u64,
    /// Calls made so far.
    pub calls: u64,
    /// Calls made since the rule last fired.
    pub calls_since_fired: u64,
    /// Seconds since the last call; `None` where the log has no times.
    pub idle_seconds: Option<f64>,
    /// What the policy took the last request for that the provider refused; 0 where none was.
    pub refused: u64,
    /// What the policy took the context for right after the rule last changed it; 0 where it has not.
    pub left: u64,
    /// The actual size of the next prompt, for [`Measure::NextPrompt`](super::Measure::NextPrompt) alone.
    pub next_prompt: u64,
}
