//! What actions have in common: texts of the policy's own, and messages that stay in part.

use super::event::EventKind;
use super::inputs::Inputs;
use super::state::State;
use crate::context::{Context, Ends, Item, Region, Replacement, State as ItemState};
use crate::estimate::Guess;
use crate::policy::{Inject, Place, Rule, Selection, Shortened, SummaryRole, Switch, cut};
use crate::trace::PartKind;
use crate::transcript::{Length, Text};

/// What an action did.
pub(super) enum Done {
    /// It changed this many items or messages.
    Changed(EventKind, u32),
    /// It is on its way, and changes nothing yet.
    Begun,
    /// A summary was written and thrown away: nothing takes its place.
    Discarded,
    /// There was nothing to do, or not enough of it.
    Nothing,
    /// It was tried and came to nothing: the summariser was refused, its summary would have been larger than what it replaces, or the
    /// history behind it larger than the last prompt.
    Failed,
}

impl Done {
    /// What it and another one come to together: changes of one kind are counted together, and where anything has changed the rest does not matter.
    pub fn and(self, other: Done) -> Done {
        match (self, other) {
            (Done::Changed(kind, one), Done::Changed(_, two)) => Done::Changed(kind, one + two),
            (changed @ Done::Changed(..), _) | (_, changed @ Done::Changed(..)) => changed,
            (failed @ Done::Failed, _) | (_, failed) => failed,
        }
    }
}

/// A text of so many tokens that a policy brings along, of four characters each.
pub(super) fn text_of(tokens: u64) -> Text {
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    let chars = tokens.saturating_mul(4);
    let length = Length { bytes: chars, utf16: chars, chars, newlines: 0 };
    Text { length, tokens, json_bytes: chars, ..Text::default() }
}

/// A text, and as much as makes it one of so many tokens.
pub(super) fn with_tokens(text: Text, tokens: u64) -> Text {
    let rest = text_of(tokens.saturating_sub(u64::from(text.tokens)));
    let (one, two) = (text.length, rest.length);
    Text {
        length: Length {
            bytes: one.bytes.saturating_add(two.bytes),
            utf16: one.utf16.saturating_add(two.utf16),
            chars: one.chars.saturating_add(two.chars),
            newlines: one.newlines,
        },
        tokens: text.tokens.saturating_add(rest.tokens),
        json_bytes: text.json_bytes.saturating_add(rest.json_bytes),
        ..text
    }
}

/// Puts a text of the policy's own into the context.
pub(super) fn insert(state: &mut State<'_>, text: &Text, role: SummaryRole, place: Place) {
    if text.tokens == 0 {
        return;
    }
    let context = &state.window.context;
    let at = match place {
        Place::End => None,
        Place::BeforeReply => context.newest_reply(),
        Place::Head => Some(state.gap.unwrap_or_else(|| context.after_system())),
        Place::SystemPrompt => Some(context.after_system()),
    };
    let item = state.window.context.own_text(text, Region::Summary);
    state.ledger.outcome.totals.injected_tokens += item.actual;
    let id = state.window.insert(item, role, place, at);
    state.belief.pending += state.window.context.estimate_of(id);
}

/// Puts in a text that a document asks for, of these words or of its size.
pub(super) fn inject(state: &mut State<'_>, inject: &Inject, text: Option<Text>) {
    insert(state, &text.unwrap_or_else(|| text_of(inject.tokens)), inject.role, inject.place);
    if inject.opens_turn == Switch::On && inject.tokens > 0 {
        state.window.context.open_turn();
    }
}

/// Cuts the messages that stay in part.
pub(super) fn shorten(inputs: &Inputs<'_>, context: &mut Context, rule: &Rule, selection: &Selection) {
    selection.shortened.iter().for_each(|cut| shorten_one(inputs, context, rule, *cut));
}

/// Cuts all texts of a message alike, each with a marker where something went.
fn shorten_one(inputs: &Inputs<'_>, context: &mut Context, rule: &Rule, cut: Shortened) {
    let Shortened { id, keeps, of, head } = cut;
    let Some(entry) = context.entry(id) else { return };
    for item in entry.first..entry.first + entry.count {
        let Some(old) = context.item(item) else { continue };
        if old.region == Region::Image {
            // Only texts stay of a message that is cut.
            context.remove_item(item);
            continue;
        }
        if let Some(by) = excerpt(inputs, context, rule, item, &old, cut) {
            context.replace(item, by);
            continue;
        }
        let share = |value: u64| share(value, keeps, of);
        let bytes = old.part.and_then(|part| inputs.part(part)).map_or(0, |part| part.text.length.bytes);
        let by = Replacement {
            state: ItemState::Truncated,
            // What is older goes first, unless the oldest is wanted.
            ends: if head == 1.0 { ends(share(u64::from(bytes)), 0) } else { ends(0, share(u64::from(bytes))) },
            guess: Guess { units: share(old.guess.units), tokens: share(old.guess.tokens), parts: old.guess.parts },
            alone: share(old.alone),
            end_units: share(u64::from(old.end_units)) as u32,
            actual: share(old.actual),
        };
        context.replace(item, by);
    }
}

/// An item of a recorded text, cut to its share of what the message keeps; `None` for what is no such text.
fn excerpt(inputs: &Inputs<'_>, context: &Context, rule: &Rule, id: u32, item: &Item, whole: Shortened) -> Option<Replacement> {
    let text = &inputs.part(item.part?).filter(|part| part.kind == PartKind::Text)?.text;
    let estimator = context.estimator();
    let per_token = match &estimator.non_ascii {
        None => (estimator.denominator, estimator.numerator),
        // What an earlier cut has left is what the estimate is of.
        Some(_) if item.state == ItemState::Truncated => (u64::from(item.ends.head) + u64::from(item.ends.tail), item.alone),
        Some(_) => (u64::from(text.length.bytes), item.alone),
    };
    let cut = cut(&rule.select.excerpt_limits(share(item.alone, whole.keeps, whole.of), whole.head, per_token), text)?;
    inputs.cut(context, id, &cut)
}

fn ends(head: u64, tail: u64) -> Ends {
    Ends { head: head as u32, tail: tail as u32, ..Ends::default() }
}

fn share(value: u64, keeps: u64, of: u64) -> u64 {
    (u128::from(value) * u128::from(keeps) / u128::from(of.max(1))) as u64
}
