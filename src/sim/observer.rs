//! Who looks on at a replay: asked wherever the plan is.

use super::event::Cause;
use super::outcome::CallOutcome;
use super::state::State;
use crate::policy::Verdict;
use crate::trace::CallRow;

/// An observer of decisions. It changes nothing that the replay comes to.
pub(super) trait Observer<'a> {
    /// The trigger of a rule has spoken, at this actual size.
    fn verdict(&mut self, _state: &State<'a>, _rule: usize, _verdict: &Verdict, _before: u64) {}

    /// A rule is about to act.
    fn action(&mut self, _state: &mut State<'a>, _rule: usize) {}

    /// The provider refuses the call, for this reason.
    fn overflow(&mut self, _state: &State<'a>, _cause: Cause) {}

    /// The history has just been rewritten, by the policy or not.
    fn rewritten(&mut self, _state: &State<'a>) {}

    /// The call was made.
    fn made(&mut self, _state: &State<'a>, _row: &CallOutcome, _call: &CallRow) {}

    /// What its reply refers to was looked for.
    fn judged(&mut self, _state: &State<'a>, _message: u32) {}

    /// The reply of the call has entered.
    fn replied(&mut self, _state: &State<'a>) {}
}

/// The observer that looks at nothing.
impl Observer<'_> for () {}
