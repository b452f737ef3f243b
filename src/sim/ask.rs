//! A rule asks the policy's program what is to be done.

use super::carry::{possible, truncations};
use super::event::{EventKind, Warning};
use super::intake::cut_item;
use super::known::{News, item_seen, role_name};
use super::note::Note;
use super::state::State;
use super::warning::limits_of;
use super::window::Arrived;
use crate::context::{Item, State as ItemState};
use crate::policy::{Answer, Edit, Hook, Measure, MessageSeen, Mode, Question, Refusal, Rule, Sight, SizesSeen, UsageSeen, Verdict, cut};
use crate::transcript::Text;
use std::sync::Arc;

/// What a program has decided.
pub(super) struct Decided {
    /// Whether the rule acts.
    pub fires: bool,
    /// What it looked at, where it says so.
    pub verdict: Option<Verdict>,
    edits: Vec<Edit>,
}

impl Decided {
    /// The edits that make one event each: those of one kind that follow each other, and texts that are put in with the edit before them.
    pub fn groups(&self) -> impl Iterator<Item = &[Edit]> {
        let together = |one: &Edit, other: &Edit| {
            let kind = |edit: &Edit| (edit.mask.is_some(), edit.truncate.is_some(), edit.drop.is_some(), edit.summarise.is_some());
            other.inject.is_some() || kind(one) == kind(other) && one.inject.is_none()
        };
        let none = self.edits.is_empty().then_some(&[][..]);
        self.edits.chunk_by(together).chain(none)
    }
}

/// What the program decides; `None` where it cannot, and the session ends for the policy.
pub(super) fn ask(state: &mut State<'_>, index: usize, rule: &Rule) -> Option<Decided> {
    let talk = state.talk.clone().filter(|talk| !talk.is_over())?;
    let State { inputs, window, belief, ledger, .. } = state;
    if rule.mode == Mode::Commit {
        // What lasts is done to the stored history: that is what is looked at.
        window.end_turn_view(inputs, belief.reported());
    }
    let memory = belief.memories.get(index).copied().unwrap_or_default();
    let sight = belief.sight(inputs, window, ledger.outcome.totals.calls, &memory);
    let turn = window.call.and_then(|call| inputs.message(call.message)).map_or(0, |row| row.turn);
    let answer = talk.ask(|known| {
        let News { gone, put, changed } = known.update(inputs, window);
        let attempt = (rule.at == Hook::Overflow).then_some(memory.in_call + 1);
        let sizes = Some(sizes(&sight));
        Question { rule: rule.id.clone(), at: rule.at.name(), call: sight.calls, turn, attempt, gone, put, changed, arrives: None, sizes }
    });
    let decided = answer.map_err(|refusal| (refusal, None)).and_then(|answer| {
        possible(&window.context, &answer.edits).map_err(|why| (Refusal::Wrong, Some(why)))?;
        let verdict = answer.when.as_ref().map(|when| when.evaluate(&sight));
        let acts = answer.fired.unwrap_or(!answer.edits.is_empty());
        let fires = verdict.map_or(acts, |verdict| verdict.fires);
        if fires || answer.edits.is_empty() { Ok((answer, verdict, fires)) } else { Err((Refusal::Wrong, Some(NOT_FIRED.to_owned()))) }
    });
    let (Answer { when, edits, .. }, verdict, fires) = match decided {
        Ok(decided) => decided,
        Err((refusal, why)) => return fail(state, index, refusal, why.as_deref()),
    };
    if let Some(when) = when.filter(|_| rule.at != Hook::Overflow) {
        state.belief.looked |= when.looks_at_size();
        let limits = limits_of(&when).into_iter().chain(state.ledger.looked_at);
        state.ledger.looked_at = limits.reduce(f64::min);
    }
    Some(Decided { fires, verdict, edits })
}

const NOT_FIRED: &str = "it edits something where what it says it looked at does not hold";

/// The program decides no more: the session ends here for the policy.
fn fail<T>(state: &mut State<'_>, index: usize, refusal: Refusal, why: Option<&str>) -> Option<T> {
    if let Some(talk) = &state.talk {
        talk.end(state.window.index, why);
    }
    let ledger = &mut state.ledger;
    if !ledger.has_ended() {
        ledger.outcome.totals.warnings.insert(Warning::from(refusal), 1);
    }
    let actual = state.window.actual();
    ledger.note(Note { kind: EventKind::GiveUp, before: actual, after: actual, ..ledger.event(Some(index)) });
    state.belief.gives_up = true;
    None
}

fn sizes(sight: &Sight<'_>) -> SizesSeen {
    SizesSeen {
        usage: sight.usage.map(|(prompt, output)| UsageSeen { prompt, output }),
        usage_plus_pending: Measure::UsagePlusPending.of(sight).unwrap_or(0),
        pending: sight.pending + sight.incoming,
        est_request: sight.view.request() + sight.incoming,
        est_history: sight.view.history(),
        est_system: sight.view.system(),
        refused: sight.refused,
        left: sight.left,
        idle_seconds: sight.idle_seconds,
    }
}

/// A message is about to enter: the rules that ask at that place may cut its items.
pub(super) fn ask_at_ingest(state: &mut State<'_>, message: u32) {
    let rules = state.inputs.plan.rule.iter().map(Arc::as_ref).enumerate();
    for (index, rule) in rules.filter(|(_, rule)| rule.at == Hook::Ingest && rule.asks()) {
        ask_of_arrival(state, index, rule, message);
    }
}

fn ask_of_arrival(state: &mut State<'_>, index: usize, rule: &Rule, message: u32) -> Option<()> {
    let talk = state.talk.clone().filter(|talk| !talk.is_over())?;
    let State { inputs, window, ledger, .. } = state;
    let row = inputs.message(message)?;
    let before = window.arrived(message);
    let items: Vec<Item> = before.map_or_else(|| inputs.items(message).into_owned(), |arrived| arrived.items.clone());
    let mut cuts: Vec<(u32, Text)> = before.map_or_else(Vec::new, |arrived| arrived.cuts.clone());
    let by_limits = inputs.intake.cuts(message);
    let text_of = |cuts: &[(u32, Text)], place: u32| {
        let own = cuts.iter().find(|(known, _)| *known == place).map(|(_, text)| text);
        own.or_else(|| by_limits.iter().find(|cut| cut.offset == place).map(|cut| &cut.text)).cloned()
    };
    let seen = (0..).zip(&items).map(|(place, item)| item_seen(inputs, place, item, text_of(&cuts, place).map(|text| text.length)));
    let arrives = MessageSeen {
        role: role_name(row.role),
        turn: row.turn,
        call: window.index as u32,
        tokens: inputs.estimate_of(message),
        opens_turn: row.opens_turn(),
        items: seen.collect(),
        ..MessageSeen::default()
    };
    let (call, turn, at) = (ledger.outcome.totals.calls, row.turn, rule.at.name());
    let question = Question { rule: rule.id.clone(), at, call, turn, arrives: Some(arrives), ..Question::default() };
    let answer = talk.ask(|_| question).map_err(|refusal| (refusal, None));
    let limits = answer.and_then(|answer| truncations(&items, &answer.edits).map_err(|why| (Refusal::Wrong, Some(why))));
    let limits = match limits {
        Ok(limits) => limits,
        Err((refusal, why)) => return fail(state, index, refusal, why.as_deref()),
    };
    let mut items = items;
    for (place, limits) in limits {
        let Some(item) = items.get_mut(place as usize) else { continue };
        let Some(part) = item.part.and_then(|part| inputs.part(part)) else { continue };
        let Some(cut) = cut(&limits, text_of(&cuts, place).as_ref().unwrap_or(&part.text)) else { continue };
        let left = cut_item(&inputs.gauge(), item, &part, &cut, row.role);
        if left.alone >= item.alone {
            continue;
        }
        let ends = if item.state == ItemState::Whole { cut.ends } else { cut.ends.least(item.ends) };
        let (before, after) = (item.actual, left.actual);
        *item = Item { by: Some(index as u32), ends, ..left };
        cuts.retain(|(known, _)| *known != place);
        cuts.push((place, cut.text));
        ledger.note(Note { kind: EventKind::Truncate, before, after, touched: 1, ..ledger.event(Some(index)) });
    }
    window.note_arrival(message, Arrived { items, cuts });
    Some(())
}
