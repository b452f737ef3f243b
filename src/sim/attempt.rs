//! A call is tried, with the policy's fallback where the provider refuses it.

use super::note::Note;
use super::outcome::{EventKind, Warning};
use super::state::State;
use crate::policy::Hook;

/// A call is tried again this often at most, whatever the policy says: a guard against policies that never give up.
const MOST_RETRIES: u32 = 100;

/// How a call fared before the provider answered it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempt {
    /// Actual size at the first try.
    pub attempted: u64,
    /// Tries that the provider refused.
    pub refused: u32,
    /// Their prompts, summed.
    pub refused_tokens: u64,
    /// The size that it was left with.
    pub actual: u64,
    /// Is even that refused?
    pub unrecovered: bool,
}

impl State<'_> {
    /// Tries the call, with the policy's fallback where the provider would refuse it.
    pub fn attempt(&mut self) -> Attempt {
        let limit = self.conditions.prompt_limit;
        let attempted = self.actual();
        let mut refused = 0;
        let mut refused_tokens = 0;
        if attempted > limit {
            refused = 1;
            refused_tokens = attempted;
            self.overflow(attempted);
            let retries = self.plan.reactive.retries.min(MOST_RETRIES);
            while self.actual() > limit && refused <= retries && self.fall_back(refused) {
                if self.actual() > limit {
                    refused += 1;
                    refused_tokens += self.actual();
                }
            }
        }
        let actual = self.actual();
        let unrecovered = actual > limit;
        if unrecovered {
            self.give_up(refused);
        }
        Attempt { attempted, refused, refused_tokens, actual, unrecovered }
    }

    fn fall_back(&mut self, attempt: u32) -> bool {
        let before = self.actual();
        let plan = self.plan;
        for (index, rule) in plan.rule.iter().enumerate().filter(|(_, rule)| rule.at == Hook::Overflow) {
            if rule.attempt.is_none_or(|wanted| wanted == attempt) {
                self.run(index, rule);
            }
        }
        let after = self.actual();
        let moved = after < before;
        if moved {
            self.note(Note { kind: EventKind::Retry, before, after, ..self.event(None) });
        }
        // A level that finds nothing to do is no reason not to try the next one.
        moved || plan.rule.iter().any(|rule| rule.at == Hook::Overflow && rule.attempt.is_some_and(|wanted| wanted > attempt))
    }

    fn give_up(&mut self, refused: u32) {
        let totals = &mut self.outcome.totals;
        if totals.failed_sessions == 0 {
            totals.failed_sessions = 1;
            let actual = self.actual();
            self.note(Note { kind: EventKind::Unrecoverable, before: actual, after: actual, ..self.event(None) });
        }
        if refused > 1 {
            self.outcome.totals.warnings.insert(Warning::Loop, 1);
        }
    }
}
