//! ONE TRACE x ONE POLICY -> OUTCOME. The loop is [`simulate`]; everything else is below it.

mod act;
mod arrive;
mod aside;
mod attempt;
mod cause;
mod compare;
mod drift;
mod end;
mod finds;
mod flock;
mod ground;
pub mod hindsight;
mod intake;
mod intent;
mod kept_view;
mod mask;
mod note;
mod outcome;
mod referee;
mod references;
mod refetch;
mod request;
mod stand;
mod state;
mod summary;
mod tally;

pub use drift::{Drift, LARGEST_RATIO};
pub use end::{AfterEnd, Behind};
pub use flock::{Flock, Shared};
pub use ground::Ground;
pub use hindsight::in_hindsight;
pub use outcome::{CallOutcome, Carried, Cause, Event, EventKind, Lasts, Outcome, SummaryCall, Totals, Warning};
pub use references::{Broken, Category, Fate, Fates, Retention, fate};
pub use refetch::{MOST_IN_A_CALL, MOST_IN_A_SESSION, Refetch, Refetches, Refetching, UNKNOWN_CALL};
pub use stand::{Stand, Standing};
pub use state::{Conditions, Guesses};
pub use summary::RecordedSummary;

use crate::context::Context;
use crate::policy::Plan;
use crate::trace::Trace;
use state::State;

/// Replays a session through a policy.
///
/// For each recorded call, in order: messages arrive, checkpoints run, the call is made (and, where the provider would refuse it,
/// the policy's fallback), and the recorded reply enters. Replay is open-loop: it keeps the recorded messages, whatever the policy does.
/// Where nothing mends a refusal, the session fails: what follows is in no sum but `after_end`.
pub fn simulate(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Outcome {
    watch(trace, plan, conditions, &mut |_| {})
}

/// As [`simulate`], and `look` is shown the context of each call, as it goes out. The last one is that of a failed call, where there is one.
pub fn watch(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context)) -> Outcome {
    follow(trace, plan, conditions, &mut |context, _| look(context))
}

/// As [`watch`], and beside the context lies the number of events so far.
pub fn follow(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context, usize)) -> Outcome {
    go_through(State::new(trace, plan, conditions), look)
}

/// As [`watch`], but no view of the history is kept from one request to the next: slower, and what the others are tested against.
pub fn watch_anew(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context)) -> Outcome {
    go_through(State::new(trace, plan, conditions).views_anew(), &mut |context, _| look(context))
}

fn go_through(mut state: State<'_>, look: &mut dyn FnMut(&Context, usize)) -> Outcome {
    for (index, call) in state.trace.calls.iter().enumerate() {
        state.step(index, call, look);
    }
    state.finish()
}
