//! What a trigger can see: estimates, what the provider reported, and what the policy remembers.

use crate::context::View;

/// Everything that a trigger can see.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The context, estimates only.
    pub view: View<'a>,
    /// What messages are estimated at beyond what the view shows, for a context that differs from it in sizes alone.
    pub beyond: i64,
    /// Prompt and output that the provider reported for the last call; `None` where the policy knows of none.
    pub usage: Option<(u64, u64)>,
    /// Has no reply come yet in this turn?
    pub turn_opened: bool,
    /// Estimates of the messages that came after the last reply.
    pub pending: u64,
    /// Estimate of a user message that is about to enter.
    pub incoming: u64,
    /// Calls of the session so far.
    pub calls: u64,
    /// Calls made since the rule last fired.
    pub calls_since_fired: u64,
    /// Seconds since the last call; `None` where the log has no times.
    pub idle_seconds: Option<f64>,
    /// What the policy took the smallest request for that the provider refused; 0 where none was.
    pub refused: u64,
    /// What the policy took the context for right after the rule last changed it; 0 where it has not.
    pub left: u64,
    /// The actual size of the next prompt, for [`Measure::NextPrompt`](super::Measure::NextPrompt) alone.
    pub next_prompt: u64,
}

impl Sight<'_> {
    /// The estimate of the whole request as it stands.
    pub fn request(&self) -> u64 {
        self.view.request_with(self.beyond)
    }

    /// The estimate of all messages but the system's.
    pub fn history(&self) -> u64 {
        self.view.history().saturating_add_signed(self.beyond)
    }
}
