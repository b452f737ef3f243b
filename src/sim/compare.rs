//! A replay beside what the log says was sent.

use super::state::State;

impl State<'_> {
    /// Holds the session against its recording, where both come to their end.
    pub fn compare(&mut self) {
        let totals = &mut self.outcome.totals;
        if let Some(sent) = self.trace.sent.filter(|_| !self.trace.refused && totals.failed_sessions == 0) {
            (totals.compared_sessions, totals.compared_tokens) = (1, totals.prompt_tokens);
            totals.recorded_tokens = sent.prompt_tokens;
        }
    }
}
