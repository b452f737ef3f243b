//! A call is tried, with the policy's fallback where the provider refuses it, and made.

use super::checkpoint::run_where;
use super::event::{Cause, EventKind, Warning};
use super::ledger::Detail;
use super::note::Note;
use super::observer::Observer;
use super::outcome::CallOutcome;
use super::state::State;
use crate::policy::Hook;
use crate::trace::CallRow;

/// A call is tried again this often at most, whatever the policy says: a guard against policies that never give up.
const MOST_RETRIES: u32 = 100;

/// How a call fared before the provider answered it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempt {
    /// Actual size of the prompt at the first try, in tokens.
    pub attempted: u64,
    /// Tries that the provider refused.
    pub refused: u32,
    /// Tokens of the refused prompts, summed.
    pub refused_tokens: u64,
    /// Actual size of the prompt that the fallback left, in tokens; that at the first try where none ran.
    pub actual: u64,
    /// Is even that refused?
    pub unrecovered: bool,
}

/// Tries the call, with the policy's fallback where the provider would refuse it.
pub(super) fn attempt<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>) -> Attempt {
    let limit = state.inputs.conditions.prompt_limit;
    let attempted = state.window.actual();
    let mut tried = Attempt { attempted, actual: attempted, ..Attempt::default() };
    if attempted > limit && !state.belief.gives_up {
        (tried.refused, tried.refused_tokens) = (1, attempted);
        overflow(state, observer, attempted);
        let retries = state.inputs.plan.reactive.retries.min(MOST_RETRIES);
        while tried.actual > limit && tried.refused <= retries && fall_back(state, observer, tried.refused) && !state.belief.gives_up {
            tried.actual = state.window.actual();
            if tried.actual > limit {
                tried.refused += 1;
                tried.refused_tokens += tried.actual;
            }
        }
        tried.actual = state.window.actual();
    }
    tried.unrecovered = tried.actual > limit || state.belief.gives_up;
    if tried.unrecovered {
        give_up(state, &tried);
    }
    tried
}

/// The provider refuses the call: counts it, and says why.
fn overflow<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, actual: u64) {
    let cause = state.belief.cause(&state.inputs, state.belief.look);
    let request = state.window.context.view().request();
    let smallest = Some(state.belief.refused).filter(|refused| *refused > 0);
    state.belief.refused = smallest.map_or(request, |refused| refused.min(request));
    observer.overflow(state, cause);
    let ledger = &mut state.ledger;
    let tool = ledger.blame_tool();
    let totals = &mut ledger.outcome.totals;
    *totals.causes.entry(cause).or_default() += 1;
    totals.missed += u64::from(matches!(cause, Cause::BlindSpot | Cause::Drift | Cause::Reserve));
    ledger.note(Note {
        kind: EventKind::Overflow,
        belief: state.belief.look.map(|look| look.belief),
        limit: Some(state.inputs.conditions.prompt_limit),
        before: actual,
        after: actual,
        cause: Some(cause),
        tool,
        ..ledger.event(None)
    });
}

fn fall_back<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, attempt: u32) -> bool {
    let before = state.window.actual();
    run_where(state, observer, |rule| rule.at == Hook::Overflow && rule.attempt.is_none_or(|wanted| wanted == attempt));
    let after = state.window.actual();
    let moved = after < before;
    if moved {
        state.ledger.note(Note { kind: EventKind::Retry, before, after, ..state.ledger.event(None) });
    }
    // A level that finds nothing to do is no reason not to try the next one.
    let later = |wanted: u32| wanted > attempt;
    moved || state.inputs.plan.rule.iter().any(|rule| rule.at == Hook::Overflow && rule.attempt.is_some_and(later))
}

fn give_up(state: &mut State<'_>, tried: &Attempt) {
    let ledger = &mut state.ledger;
    if ledger.outcome.totals.failed_sessions == 0 {
        ledger.outcome.totals.failed_sessions = 1;
        ledger.note(Note { kind: EventKind::Unrecoverable, before: tried.actual, after: tried.actual, ..ledger.event(None) });
    }
    if tried.refused > 1 {
        ledger.outcome.totals.warnings.insert(Warning::Loop, 1);
    }
}

/// A request has gone out, and its reply is of this size.
pub(super) fn made(state: &mut State<'_>, tried: Attempt, call: &CallRow, output: u64, recorded: Option<u64>) -> CallOutcome {
    let State { inputs, window, belief, ledger, .. } = state;
    let Attempt { attempted, refused, refused_tokens, actual, unrecovered } = tried;
    let look = belief.look;
    let conditions = inputs.conditions;
    let row = CallOutcome {
        attempted,
        actual,
        anchored: call.anchored_in(window.context.anchored(), window.context.size().actual.0, actual),
        belief: look.map(|look| look.belief).into(),
        rewritten: look.is_some_and(|look| look.left.is_some_and(|left| left != look.whole)),
        estimated: window.context.view().request(),
        output,
        recorded: recorded.into(),
        // No sum rests on it.
        prefix: if ledger.detail == Detail::Sums { 0 } else { ledger.requests.send(inputs.plan, window, actual) },
        blocks: window.context.blocks(),
        refused,
        refused_tokens,
        unrecovered,
        reply_cut: !unrecovered && actual + output > conditions.window,
        over_budget: actual > conditions.budget(inputs.plan.window.reserve),
    };
    ledger.add_up(&row, call, look, &mut window.context);
    belief.answered(inputs, call, actual, output, unrecovered);
    row
}
