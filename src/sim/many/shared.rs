//! ONE TRACE x MANY POLICIES. What their replays have in common is worked out once.

use crate::policy::Plan;
use crate::sim::conditions::Conditions;
use crate::sim::hindsight::{self, Lookahead};
use crate::sim::intake::{Intake, Intakes};
use crate::sim::outcome::Outcome;
use crate::sim::run::go_through;
use crate::sim::state::State;
use crate::trace::{Evidence, Trace};

/// The messages of a session of so many parts are held as they enter, and of a longer one made anew for each policy: they would take
/// more memory than the session.
const HELD_PARTS: usize = 1 << 14;

/// A session that is replayed again and again.
pub struct SharedSession<'a> {
    trace: &'a Trace,
    intakes: Intakes<'a, 'a>,
    /// What is known of the session's references before its first call.
    ahead: Lookahead,
}

impl<'a> SharedSession<'a> {
    /// Nothing has been replayed yet.
    pub fn new(trace: &'a Trace) -> SharedSession<'a> {
        let make = if trace.parts.len() <= HELD_PARTS { Intake::new } else { Intake::of_cut };
        SharedSession { trace, intakes: Intakes::new(trace, make), ahead: Lookahead::new(trace) }
    }

    /// Replays one policy as [`simulate`](crate::sim::simulate) does, from what is known of the session.
    pub fn simulate(&mut self, plan: &'a Plan, conditions: &Conditions) -> Outcome {
        go_through(self.state(plan, conditions), &mut |_, _| {})
    }

    /// As [`in_hindsight`](crate::sim::in_hindsight), without an observer. Where the policy itself keeps every reference to lines,
    /// no policy keeps more, and nothing is looked for.
    pub fn with_hindsight(&mut self, plan: &'a Plan, conditions: &Conditions) -> Outcome {
        let trace = self.trace;
        let mut ahead = self.ahead.clone();
        let mut outcome = go_through(self.state(plan, conditions), &mut |context, _| {
            if !ahead.needs.is_empty() {
                ahead.look(trace, context);
            }
        });
        let lines = outcome.totals.retention.of(Evidence::Line);
        if lines.kept < lines.all() {
            hindsight::add(&mut ahead, &mut outcome);
        } else {
            let retention = &mut outcome.totals.retention;
            (retention.hindsight, retention.oracle, retention.achievable) = (1, lines.kept, lines.kept);
        }
        outcome
    }

    fn state<'s>(&mut self, plan: &'a Plan, conditions: &'s Conditions) -> State<'s>
    where
        'a: 's,
    {
        State::with_intake(self.trace, plan, conditions, self.intakes.of(plan, conditions))
    }
}
