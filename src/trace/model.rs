//! The models of a session.

use super::{CallRow, Trace};
use std::cmp::Reverse;

impl Trace {
    /// The name of a call's model; `None` where the log names none.
    pub fn model_of(&self, call: &CallRow) -> Option<&str> {
        self.models.get(call.model.get()? as usize).map(String::as_str)
    }

    /// The model that made most of the session's calls; the earlier one at a tie. Without any call the first model that is named at all.
    pub fn main_model(&self) -> Option<&str> {
        // By model: its calls, and the first of them.
        let mut made: Vec<(u64, Reverse<usize>)> = vec![(0, Reverse(usize::MAX)); self.models.len()];
        for (place, call) in self.calls.iter().enumerate() {
            if let Some((calls, first)) = call.model.get().and_then(|model| made.get_mut(model as usize)) {
                (*calls, first.0) = (*calls + 1, first.0.min(place));
            }
        }
        let most = made.iter().zip(&self.models).filter(|((calls, _), _)| *calls > 0).max_by_key(|(made, _)| *made);
        most.map(|(_, model)| model).or_else(|| self.models.first()).map(String::as_str)
    }
}
