//! The rules of one place in the loop run: trigger, guards, action, and what came of it.

use super::act::act;
use super::ask::ask;
use super::belief::Look;
use super::carry::carry_out;
use super::edit::Done;
use super::event::{EventKind, Lasts};
use super::note::Note;
use super::observer::Observer;
use super::state::State;
use super::window::Window;
use crate::policy::{Hook, Mode, Rule, Verdict};

/// Runs the rules of one place in the loop, in the policy's order.
pub(super) fn checkpoint<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, hook: Hook) {
    run_where(state, observer, |rule| rule.at == hook);
}

/// Runs the rules that look at the finished request.
pub(super) fn before_call<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>) {
    let within_turn = !state.belief.turn_opened;
    run_where(state, observer, |rule| rule.at == Hook::PreCall || (rule.at == Hook::MidTurn && within_turn));
}

/// Runs the rules for a gap behind the last reply; `millis` is how long it lasts, `None` where the log ends with it.
pub(super) fn pause<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, millis: Option<i64>) {
    let lasts = |after: f64| millis.is_none_or(|millis| millis as f64 >= after * 1_000.0);
    let due = |rule: &Rule| rule.at == Hook::Idle && rule.after.is_some_and(lasts);
    if !state.belief.paused && state.inputs.plan.rule.iter().any(|rule| due(rule)) {
        (state.belief.paused, state.belief.ended) = (true, millis.is_none());
        run_where(state, observer, due);
    }
}

/// Runs the rules that are wanted.
pub(super) fn run_where<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, wanted: impl Fn(&Rule) -> bool) {
    let plan = state.inputs.plan;
    for (index, rule) in plan.rule.iter().enumerate().filter(|(_, rule)| wanted(rule)) {
        if state.belief.gives_up {
            return;
        }
        run(state, observer, index, rule);
    }
}

/// Runs one rule if its trigger fires and its guards permit.
pub(super) fn run<'a>(state: &mut State<'a>, observer: &mut impl Observer<'a>, index: usize, rule: &Rule) -> bool {
    let Some(memory) = state.belief.memories.get(index).copied() else { return false };
    let has_fired = |id: &String| {
        state.inputs.plan.place_of(id).and_then(|other| state.belief.memories.get(other)).is_some_and(|other| other.in_call > 0)
    };
    let has_given_up = state.belief.has_given_up(state.inputs.plan, index, rule);
    if rule.unless.iter().any(has_fired) || has_given_up || memory.has_fired_enough(rule.max_fires.as_ref()) {
        return false;
    }
    let State { inputs, window, belief, ledger, .. } = state;
    let calls = ledger.outcome.totals.calls;
    let due = belief.prepared.as_ref().filter(|prepared| prepared.rule == index).map(|prepared| prepared.due);
    if due.is_some_and(|due| calls < due) {
        return false;
    }
    let trigger = rule.when.as_ref().filter(|_| due.is_none());
    let mut verdict = trigger
        .map_or(Verdict { fires: true, ..Verdict::default() }, |trigger| trigger.evaluate(&belief.sight(inputs, window, calls, &memory)));
    let before = window.actual();
    look(state, index, &verdict, before);
    observer.verdict(state, index, &verdict, before);
    if !verdict.fires {
        return false;
    }
    let answer = match rule.asks() {
        true => Some(ask(state, index, rule)),
        false => None,
    };
    if let Some(asked) = &answer {
        let Some(answer) = asked else { return false };
        verdict = answer.verdict.unwrap_or(Verdict { fires: answer.fires, ..verdict });
        let before = state.window.actual();
        look(state, index, &verdict, before);
        if !verdict.fires {
            return false;
        }
    }
    let State { inputs, window, belief, .. } = state;
    if let Some(memory) = belief.memories.get_mut(index) {
        memory.in_call += 1;
        memory.in_turn += 1;
        memory.in_session += 1;
        memory.fired_at = calls;
    }
    if matches!(rule.mode, Mode::Commit | Mode::CommitIfFewer) {
        // What lasts is done to the stored history, not to the view of it that this turn works with.
        window.end_turn_view(inputs, belief.reported());
    }
    observer.action(state, index);
    let rewrites = state.belief.rewrites;
    let changed = match answer.flatten() {
        None => {
            let done = act(state, index, rule);
            if state.belief.rewrites != rewrites {
                observer.rewritten(state);
            }
            report(state, observer, index, rule, &verdict, before, done)
        }
        Some(answer) => {
            let mut changed = false;
            for edits in answer.groups() {
                let before = state.window.actual();
                let done = carry_out(state, index, rule, edits);
                changed |= report(state, observer, index, rule, &verdict, before, done);
            }
            changed
        }
    };
    let after = state.window.actual();
    if let Some(look) = state.belief.look.as_mut().filter(|_| verdict.level.is_some() && rule.shrinks()) {
        look.left = Some(after);
    }
    changed
}

/// The policy has looked at a size.
fn look(state: &mut State<'_>, index: usize, verdict: &Verdict, before: u64) {
    if let Some(level) = verdict.level {
        let covers = if level.sees_pending { before } else { state.belief.actual_after_reply };
        state.belief.look = Some(Look { rule: index, belief: level.tokens, limit: level.limit, covers, whole: before, left: None });
    }
}

fn report<'a>(
    state: &mut State<'a>,
    observer: &mut impl Observer<'a>,
    index: usize,
    rule: &Rule,
    verdict: &Verdict,
    before: u64,
    done: Done,
) -> bool {
    let State { inputs, window, belief, ledger, .. } = state;
    // Where a count made the rule fire, the limit of a size that was looked at as well explains nothing.
    let count = verdict.count.filter(|_| !verdict.level.is_some_and(|level| level.reached));
    let note = Note {
        belief: verdict.level.map(|level| level.tokens),
        limit: verdict.level.filter(|_| count.is_none()).map(|level| level.limit.max(0.0) as u64),
        count,
        before,
        after: window.actual(),
        failed: matches!(done, Done::Failed | Done::Discarded),
        ..ledger.event(Some(index))
    };
    let plan = inputs.plan;
    match done {
        Done::Changed(kind, touched) => {
            let buffer = plan.window.safety_buffer as f64;
            let early = verdict.level.is_some_and(|level| level.reached && (before as f64) + buffer < level.limit);
            let shrinks = matches!(kind, EventKind::Prune | EventKind::Compact | EventKind::Drop | EventKind::Reset);
            ledger.outcome.totals.early += u64::from(early && shrinks);
            ledger.note(Note { kind, touched, lasts: lasts(window, rule), ..note });
            belief.note_success(inputs, window, index);
            return true;
        }
        Done::Begun => return false,
        Done::Discarded => {
            ledger.note(Note { kind: EventKind::Discard, ..note });
            return false;
        }
        Done::Nothing => {}
        Done::Failed => belief.note_failure(plan, index),
    }
    let other = rule.otherwise.as_ref().and_then(|id| plan.place_of(id));
    match other.and_then(|other| plan.rule.get(other).map(|rule| (other, rule))) {
        Some((other, rule)) => run(state, observer, other, rule),
        None => {
            ledger.note(Note { kind: EventKind::NoGain, ..note });
            false
        }
    }
}

/// How long what a rule has just done lasts.
fn lasts(window: &Window<'_>, rule: &Rule) -> Lasts {
    match rule.mode {
        Mode::View => Lasts::Request,
        Mode::Turn => Lasts::Turn,
        // What was there before is set aside where too little came of it.
        Mode::CommitIfFewer if window.under_request.is_some() => Lasts::Request,
        Mode::Commit | Mode::CommitIfFewer => Lasts::Session,
    }
}
