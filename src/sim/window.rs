//! The window of a replay: the context that the call at hand would carry, and the stored history while an overlay of it is in force.
//!
//! What is kept of a view from one request to the next is in `kept_view`.

use super::candidates::Candidates;
use super::conditions::Guesses;
use super::guard::enough;
use super::inputs::Inputs;
use super::intake::Entering;
use super::kept_view::KeptView;
use super::uncut::Uncut;
use crate::context::{Arrival, Context, Item, Region, Replacement, SeenItem, State as ItemState};
use crate::policy::{Conversation, Hook, Mode, Place, Rule, SummaryRole, Switch, Truncate, cut};
use crate::trace::{CallRow, MessageRow, Trace};
use crate::transcript::{Role, Text};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How the stored history is shown to one request alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Views {
    /// The view of the last request is kept, and goes on where it can.
    #[default]
    Kept,
    /// Each view is made anew.
    Anew,
}

/// The context of a replay, and what comes back into it.
#[derive(Clone, Default)]
pub(super) struct Window<'a> {
    // A context and a view of it change places at every request of some policies: they are moved as one address.
    pub context: Box<Context>,
    /// The call at hand, and its place among the calls.
    pub call: Option<&'a CallRow>,
    pub index: usize,
    /// The first message that has not arrived.
    pub next_message: u32,
    /// The stored history under what one request, or one turn, is shown.
    pub under_request: Option<Stored>,
    pub under_turn: Option<Stored>,
    /// What a rule has just replaced that may still turn out not to last.
    pub replaced: Option<Stored>,
    /// How views are made.
    pub views: Views,
    /// The last view that a request was shown, where it can be used again.
    pub(super) kept_view: Option<KeptView>,
    /// What masks could replace of the stored history.
    pub(super) candidates: Vec<Candidates<'a>>,
    /// What rules that cut have looked at in the stored history.
    pub(super) uncut: Vec<Uncut<'a>>,
    /// The messages of the stored history, where a rule selects some; and how often it had been edited.
    pub(super) conversation: Option<(u64, Conversation)>,
    /// Sums of what its messages really cost, but for the system's: by message, itself included.
    pub(super) spoken: Vec<u64>,
    /// Texts of items that a limit has cut, by item.
    pub cuts: BTreeMap<u32, Text>,
    /// Does a rule cut items that have arrived? Only then the texts of cut items are kept.
    pub(super) keeps_cuts: Switch,
    /// What was read again, as it entered.
    pub(super) readings: Vec<Reading>,
    /// By message: what a program has left of it as it arrived.
    arrived: BTreeMap<u32, Rc<Arrived>>,
}

/// A message as a program has left it.
pub(super) struct Arrived {
    pub items: Vec<Item>,
    /// The texts of those that are cut, by their places among the items.
    pub cuts: Vec<(u32, Text)>,
}

/// A context set aside while an overlay of it is in force.
#[derive(Clone)]
pub(super) struct Stored {
    pub context: Box<Context>,
    /// The first message that had not arrived yet.
    pub next_message: u32,
    pub cuts: BTreeMap<u32, Text>,
    /// The first re-read that had not been made yet.
    pub next_reading: usize,
}

/// Two messages that the log does not hold: the call of a tool that reads a part again, and its result.
#[derive(Clone)]
pub(super) struct Reading {
    /// The part that comes back.
    pub part: u32,
    /// The recorded message before which they stand.
    pub before: u32,
    pub call: Item,
    pub result: Item,
    /// What a limit has left of the text.
    pub cut: Option<Text>,
}

impl<'a> Window<'a> {
    /// The window before the first message.
    pub fn new(inputs: &Inputs<'_>) -> Window<'a> {
        let cuts = |rule: &Rule| rule.asks() || rule.truncate.is_some() || rule.summarise.as_ref().is_some_and(|how| how.flatten.is_some());
        let cuts_later = inputs.plan.rule.iter().any(|rule| (rule.at != Hook::Ingest || rule.asks()) && cuts(rule));
        let keeps_cuts = if cuts_later { Switch::On } else { Switch::Off };
        let mut estimator = inputs.plan.estimator.clone();
        if inputs.conditions.guesses == Guesses::True {
            // Who knows the truth counts ends by it as well.
            estimator.ends = None;
        }
        Window { context: Box::new(Context::new(estimator)), keeps_cuts, ..Window::default() }
    }

    /// Actual size of the context as it stands.
    #[inline]
    pub fn actual(&self) -> u64 {
        let visible = self.context.size().actual.0;
        self.call.map_or(visible, |call| call.prompt(visible, self.context.recorded()))
    }

    /// What so many tokens of the context come to in a request.
    pub fn in_request(&self, tokens: u64) -> u64 {
        self.call.map_or(tokens, |call| call.in_prompt(tokens, self.context.size().actual.0, self.actual()))
    }

    /// Puts a message at the end of the context, as the ingestion limits have left it.
    pub fn place(&mut self, inputs: &Inputs<'_>, message: u32) -> u32 {
        let row = inputs.message(message);
        let (role, opens_turn) = row.map_or((Role::User, false), |row| (row.role, row.opens_turn()));
        let unseen = inputs.trace.unseen.is_some_and(|unseen| unseen.message == message);
        let arrival = Arrival { message: Some(message), role, opens_turn, is_summary: false, unseen, call: self.index as u32 };
        let arrived = self.arrived.get(&message).map(Rc::clone);
        let items = arrived.as_ref().map_or_else(|| inputs.items(message), |arrived| Cow::Borrowed(&arrived.items));
        let id = self.context.push(arrival, items.iter().copied(), None);
        row.into_iter().flat_map(|row| shown_again_by(inputs.trace, row)).for_each(|part| self.context.supersede(part));
        let keeps = self.keeps_cuts == Switch::On;
        if let Some(first) = self.context.look_at(id, |entry| entry.first).filter(|_| keeps) {
            self.cuts.extend(inputs.intake.cuts(message).iter().map(|cut| (first + cut.offset, cut.text.clone())));
            self.cuts.extend(arrived.iter().flat_map(|arrived| &arrived.cuts).map(|(offset, text)| (first + offset, text.clone())));
        }
        id
    }

    /// A program has left this of a message that is about to enter: so it comes in, now and whenever a context comes back.
    pub fn note_arrival(&mut self, message: u32, arrived: Arrived) {
        self.arrived.insert(message, Rc::new(arrived));
    }

    /// The items of a message as they come in, where a program has looked at it.
    pub fn arrived(&self, message: u32) -> Option<&Arrived> {
        self.arrived.get(&message).map(Rc::as_ref)
    }

    /// Puts an item of the policy's own into the context, at a place in prompt order or behind all.
    pub fn insert(&mut self, item: Item, role: SummaryRole, place: Place, at: Option<usize>) -> u32 {
        let role = match (place, role) {
            (Place::SystemPrompt, _) | (_, SummaryRole::System) => Role::System,
            (_, SummaryRole::User) => Role::User,
            (_, SummaryRole::Assistant) => Role::Assistant,
        };
        let is_summary = place != Place::SystemPrompt;
        let arrival = Arrival { message: None, role, opens_turn: false, is_summary, unseen: false, call: self.index as u32 };
        self.context.push(arrival, [item], at)
    }

    /// The items that a limit would cut, and what is left of them; none where a guard forbids it.
    pub fn cuttable(&self, inputs: &Inputs<'_>, rule: &Rule, limits: &Truncate, items: &[SeenItem]) -> Vec<(u32, Replacement, Text)> {
        let mut changes = Vec::new();
        let (mut gross, mut comes) = (0, 0);
        for item in items {
            let Some(part) = self.context.item(item.id).and_then(|item| item.part).and_then(|part| inputs.part(part)) else { continue };
            let Some(cut) = cut(limits, self.cuts.get(&item.id).unwrap_or(&part.text)) else { continue };
            // A text that was cut before, marker and all, is not cut again for nothing.
            let size = |by: &Replacement| rule.select.size(self.context.estimator(), by.guess, by.alone);
            if let Some(by) = inputs.cut(&self.context, item.id, &cut).filter(|by| size(by) < item.alone) {
                gross += item.alone;
                comes += size(&by);
                changes.push((item.id, by, cut.text));
            }
        }
        if enough(rule.min_saving.as_ref(), gross, comes) { changes } else { Vec::new() }
    }

    /// What stands in the history stays as text alone: results cut to a limit, but for errors, reasoning and pictures gone.
    pub fn flatten(&mut self, inputs: &Inputs<'_>, limits: &Truncate) {
        let stays = self.context.live().filter(|(_, entry)| entry.role != Role::System && !entry.is_summary);
        let items: Vec<u32> = stays.flat_map(|(_, entry)| entry.first..entry.first + entry.count).collect();
        for id in items {
            let Some(item) = self.context.item(id) else { continue };
            match item.region {
                Region::Image | Region::Thinking => self.context.remove_item(id),
                Region::ToolResult if item.state != ItemState::Masked && !item.error => {
                    let Some(part) = item.part.and_then(|part| inputs.part(part)) else { continue };
                    let Some(cut) = cut(limits, self.cuts.get(&id).unwrap_or(&part.text)) else { continue };
                    if let Some(by) = inputs.cut(&self.context, id, &cut) {
                        self.context.replace(id, by);
                        self.cuts.insert(id, cut.text);
                    }
                }
                _ => {}
            }
        }
    }

    /// Sets the context aside before a rule changes a view of it.
    pub fn before_edit(&mut self, rule: &Rule) {
        match rule.mode {
            Mode::View if self.under_request.is_none() => self.under_request = Some(self.set_aside()),
            Mode::Turn if self.under_turn.is_none() => self.under_turn = Some(self.take_stored()),
            Mode::View | Mode::Turn => {}
            // What is committed on top of a request's view takes the view with it: the system stores the list that it has just worked on.
            Mode::Commit => {
                self.give_up_view();
                self.under_request = None;
            }
            Mode::CommitIfFewer => {
                self.give_up_view();
                self.replaced = Some(self.take_stored());
            }
        }
    }

    /// The stored history, from under whatever view of it.
    fn take_stored(&mut self) -> Stored {
        self.under_request.take().unwrap_or_else(|| self.set_aside())
    }

    /// The context as it stands.
    fn set_aside(&self) -> Stored {
        let (context, cuts) = (self.context.clone(), self.cuts.clone());
        Stored { context, next_message: self.next_message, cuts, next_reading: self.readings.len() }
    }

    /// Is the context the stored history itself, and no view of it?
    pub fn shows_stored(&self) -> bool {
        self.under_request.is_none() && self.under_turn.is_none()
    }

    /// The stored history, whatever the request is shown.
    pub fn stored(&self) -> &Context {
        self.under_request.as_ref().or(self.under_turn.as_ref()).map_or(&self.context, |stored| &stored.context)
    }

    /// The view of a request ends. `reported` is what the provider reported for the last call.
    pub fn end_request_view(&mut self, inputs: &Inputs<'_>, reported: Option<u64>) {
        if let Some(stored) = self.under_request.take() {
            self.restore(inputs, reported, stored);
        }
    }

    /// The view of a turn ends: the stored history comes back, and what arrived meanwhile after it.
    pub fn end_turn_view(&mut self, inputs: &Inputs<'_>, reported: Option<u64>) {
        if let Some(stored) = self.under_turn.take() {
            self.under_request = None;
            self.restore(inputs, reported, stored);
        }
    }

    /// A context that was set aside comes back, and what has arrived since after it.
    fn restore(&mut self, inputs: &Inputs<'_>, reported: Option<u64>, stored: Stored) {
        let gone = std::mem::replace(&mut self.context, stored.context);
        self.keep_view(gone);
        self.context.edit_for(None);
        self.cuts = stored.cuts;
        let mut reading = stored.next_reading;
        for message in stored.next_message..self.next_message {
            reading = self.enter_readings(reading, message, reported);
            self.place(inputs, message);
        }
        self.enter_readings(reading, self.next_message, reported);
    }

    /// A message entered in one way and now has entered in another, whichever context it stands in.
    pub fn exchange(&mut self, first_part: u32, before: &Entering, by: &Entering) {
        self.forget_views();
        let keeps = self.keeps_cuts == Switch::On;
        let stored = self.under_request.iter_mut().chain(&mut self.under_turn).map(|stored| (&mut stored.context, &mut stored.cuts));
        for (context, cuts) in std::iter::once((&mut self.context, &mut self.cuts)).chain(stored) {
            for (offset, (old, new)) in (0..).zip(before.items.iter().zip(&by.items)).filter(|(_, (old, new))| old != new) {
                let id = if old.part.is_some() { context.exchange(first_part + offset, *new) } else { None };
                let Some(id) = id.filter(|_| keeps) else { continue };
                match by.cuts.iter().find(|cut| cut.offset == offset) {
                    Some(cut) => cuts.insert(id, cut.text.clone()),
                    None => cuts.remove(&id),
                };
            }
        }
    }

    /// A part is read again: a tool is called for it, and later its result enters.
    pub fn enter_call(&mut self, reading: &Reading, reported: Option<u64>) {
        let id = self.context.push(self.arrival(reading, Role::Assistant), [reading.call], None);
        self.note_usage(id, reported);
    }

    /// The provider has reported what the call of this reply came to.
    pub fn note_usage(&mut self, id: u32, reported: Option<u64>) {
        if let Some(tokens) = reported {
            self.context.note_usage(id, tokens);
        }
    }

    /// The result of a reading that the agent repeats enters the context.
    pub fn enter_result(&mut self, reading: &Reading) -> u32 {
        self.context.supersede(reading.part);
        let id = self.context.push(self.arrival(reading, Role::Tool), [reading.result], None);
        if let (Some(entry), Some(text)) = (self.context.entry(id), &reading.cut) {
            self.cuts.insert(entry.first, text.clone());
        }
        id
    }

    /// What was read again has entered: it does so again where a context comes back.
    pub fn remember(&mut self, reading: Reading) {
        self.readings.push(reading);
    }

    fn arrival(&self, reading: &Reading, role: Role) -> Arrival {
        Arrival { message: Some(reading.before), role, opens_turn: false, is_summary: false, unseen: false, call: self.index as u32 }
    }

    /// A context comes back from which re-reads were missing: those from this place on enter that stood before this message. Hands back
    /// the place behind them.
    fn enter_readings(&mut self, from: usize, before: u32, reported: Option<u64>) -> usize {
        let mut place = from;
        while let Some(reading) = self.readings.get(place).filter(|reading| reading.before <= before).cloned() {
            self.enter_call(&reading, reported);
            self.enter_result(&reading);
            place += 1;
        }
        place
    }
}

/// The parts that a message shows again: they are dead weight from now on.
fn shown_again_by<'t>(trace: &'t Trace, row: &MessageRow) -> impl Iterator<Item = u32> + 't {
    let (start, end) = (row.first_part, row.first_part + row.part_count);
    let first = trace.repetitions.partition_point(|repetition| repetition.later < start);
    let mine = trace.repetitions.iter().skip(first).take_while(move |repetition| repetition.later < end);
    mine.map(|repetition| repetition.earlier)
}
