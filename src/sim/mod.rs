//! ONE TRACE x ONE POLICY -> OUTCOME. The loop is [`simulate`]; everything else is below it.

mod act;
mod arrive;
mod bound;
mod cause;
mod drift;
mod outcome;
mod references;
mod request;
mod stand;
mod state;
mod summary;

pub use bound::{bound, costs};
pub use drift::{Drift, LARGEST_RATIO};
pub use outcome::{CallOutcome, Carried, Cause, Event, EventKind, Outcome, SummaryCall, Totals, Warning};
pub use references::{Broken, Category, Fate, Fates, Retention, fate};
pub use stand::{Stand, Standing};
pub use state::{Conditions, Guesses};
pub use summary::RecordedSummary;

use crate::context::Context;
use crate::policy::{Hook, Plan};
use crate::trace::Trace;
use state::State;

/// Replays a session through a policy.
///
/// For each recorded call, in order: messages arrive, checkpoints run, the call is made (and, where the provider would refuse it,
/// the policy's fallback), and the recorded reply enters. Replay is open-loop: the recorded messages follow whatever the policy did.
pub fn simulate(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Outcome {
    watch(trace, plan, conditions, &mut |_| {})
}

/// As [`simulate`], and somebody looks at the context of each call, as it goes out.
pub fn watch(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context)) -> Outcome {
    follow(trace, plan, conditions, &mut |context, _| look(context))
}

/// As [`watch`], and what has been written down so far lies beside the context, this call the last of it.
pub fn follow(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context, &Outcome)) -> Outcome {
    let mut state = State::new(trace, plan, conditions);
    for (index, call) in trace.calls.iter().enumerate() {
        state.begin(index, call);
        state.arrive(call.message);
        state.before_call();
        state.call();
        state.judge(call.message);
        look(&state.context, &state.outcome);
        state.reply(call.message);
        state.checkpoint(Hook::PostCall);
        state.after_reply(call.message);
    }
    state.finish()
}
