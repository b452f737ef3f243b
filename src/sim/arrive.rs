//! Messages enter the simulated context, each through the policy's ingestion limits.

use super::outcome::{Event, EventKind};
use super::state::{Aside, Guesses, State};
use crate::context::{Arrival, Ends, Item, Region, State as ItemState};
use crate::estimate::Guess;
use crate::policy::{Cut, Hook, cut};
use crate::trace::{MessageRow, PartRow};
use crate::transcript::{Role, Text};
use std::ops::Range;

impl State<'_> {
    /// Everything up to the reply with this index arrives.
    pub fn arrive(&mut self, until: u32) {
        while self.next_message < until {
            let message = self.next_message;
            let Some(row) = self.trace.messages.get(message as usize) else { return };
            if let Some(from) = row.rewind {
                self.restore_turn_view();
                self.context.withdraw(from);
            }
            if row.opens_turn() {
                self.open_turn(message);
            }
            let id = self.push(message);
            self.pending += self.context.entry(id).map_or(0, |entry| entry.estimated);
            self.next_message = message + 1;
            if row.role == Role::Tool {
                self.checkpoint(Hook::ToolResult);
            }
        }
        // A reply may itself follow a rewind.
        if let Some(from) = self.trace.messages.get(until as usize).and_then(|row| row.rewind) {
            self.restore_turn_view();
            self.context.withdraw(from);
        }
    }

    fn open_turn(&mut self, message: u32) {
        // A turn that was broken off ends when the next one begins.
        self.end_turn();
        self.restore_turn_view();
        self.turn_opened = true;
        self.context.expire();
        self.memories.iter_mut().for_each(|memory| memory.in_turn = 0);
        if self.plan.rule.iter().any(|rule| rule.at == Hook::TurnStart) {
            // The rules see the new message in the request, but act on the history before it.
            self.incoming = self.estimate_of(message);
            self.checkpoint(Hook::TurnStart);
            self.incoming = 0;
        }
    }

    fn estimate_of(&self, message: u32) -> u64 {
        let Some(row) = self.trace.messages.get(message as usize) else { return 0 };
        let estimator = self.context.estimator();
        let guesses = self.trace.parts_of(row).iter().map(|part| self.guess(part, &part.text, part.truth, row.role));
        estimator.message(guesses.fold(Guess::default(), Guess::plus), row.role)
    }

    /// The view of a turn ends: the stored history comes back, and what arrived meanwhile after it.
    pub fn restore_turn_view(&mut self) {
        let Some(aside) = self.aside_for_turn.take() else { return };
        self.aside = None;
        self.restore(aside);
    }

    /// A context that was set aside comes back, and what has arrived since after it.
    pub fn restore(&mut self, aside: Aside) {
        self.context = aside.context;
        self.cuts = aside.cuts;
        for message in aside.next_message..self.next_message {
            self.place(message);
        }
    }

    /// Puts a message at the end of the context and counts what its tools returned.
    pub fn push(&mut self, message: u32) -> u32 {
        if let Some(row) = self.trace.messages.get(message as usize) {
            for part in self.trace.parts_of(row) {
                if part.kind == crate::trace::PartKind::ToolResult && !row.copy {
                    self.count_result(part.tool, part.truth);
                }
            }
        }
        let (id, cuts) = self.place(message);
        for (rule, before, after) in cuts {
            let event = self.event(&rule);
            self.note(Event { kind: EventKind::Truncate, before, after, touched: 1, ..event });
        }
        id
    }

    /// Puts a message at the end of the context; hands back what the ingestion limits cut: rule, tokens before, tokens after.
    fn place(&mut self, message: u32) -> (u32, Vec<(String, u64, u64)>) {
        let fallback = MessageRow {
            role: Role::User,
            first_part: 0,
            part_count: 0,
            time: None,
            turn: 0,
            rewind: None,
            copy: false,
            synthetic: true,
            key: None,
        };
        let row = self.trace.messages.get(message as usize).unwrap_or(&fallback);
        let mut cuts = Vec::new();
        let mut texts = Vec::new();
        let mut items = Vec::with_capacity(row.part_count as usize);
        for (offset, part) in self.trace.parts_of(row).iter().enumerate() {
            let mut item = self.whole_item(row, part, row.first_part + offset as u32);
            if let Some((cut, rule)) = self.ingest(row, part, &item) {
                let before = item.actual;
                item = self.cut_item(&item, part, &cut, row.role);
                cuts.push((rule, before, item.actual));
                texts.push((offset as u32, cut.text));
            }
            items.push(item);
        }
        let arrival =
            Arrival { message: Some(message), role: row.role, opens_turn: row.opens_turn(), is_summary: false, call: self.index as u32 };
        let id = self.context.push(arrival, items, None);
        self.supersede(row.first_part..row.first_part + row.part_count);
        if let Some(first) = self.context.entry(id).map(|entry| entry.first) {
            self.cuts.extend(texts.into_iter().map(|(offset, text)| (first + offset, text)));
        }
        (id, cuts)
    }

    /// What these parts show again is dead weight from now on.
    fn supersede(&mut self, parts: Range<u32>) {
        let trace = self.trace;
        let first = trace.repetitions.partition_point(|repetition| repetition.later < parts.start);
        let mine = trace.repetitions.iter().skip(first).take_while(|repetition| repetition.later < parts.end);
        mine.for_each(|repetition| self.context.supersede(repetition.earlier));
    }

    /// What the policy takes a part for whose text is this and which really costs so much.
    fn guess(&self, part: &PartRow, text: &Text, actual: u64, role: Role) -> Guess {
        match self.conditions.guesses {
            Guesses::Own => self.context.estimator().part(part, text, role),
            Guesses::True => Guess::whole(actual),
        }
    }

    /// The same for the text by itself.
    fn guess_alone(&self, text: &Text, actual: u64) -> u64 {
        match self.conditions.guesses {
            Guesses::Own => self.context.estimator().text(text),
            Guesses::True => actual,
        }
    }

    pub(super) fn whole_item(&self, row: &MessageRow, part: &PartRow, index: u32) -> Item {
        Item {
            part: Some(index),
            tool: part.tool,
            region: Region::of(row.role, part.kind),
            state: ItemState::Whole,
            error: part.error,
            expires: part.expires,
            ends: Ends::default(),
            superseded: false,
            guess: self.guess(part, &part.text, part.truth, row.role),
            alone: self.guess_alone(&part.text, part.truth),
            actual: part.truth,
            anchored: if part.anchored { part.truth } else { 0 },
        }
    }

    /// What the ingestion limits leave of a part, and the last rule that cut it.
    fn ingest(&self, row: &MessageRow, part: &PartRow, item: &Item) -> Option<(Cut, String)> {
        let mut result: Option<(Cut, String)> = None;
        for rule in self.plan.rule.iter().filter(|rule| rule.at == Hook::Ingest) {
            let Some(limits) = &rule.truncate else { continue };
            if !rule.select.wants_arrival(item.region, row.role, part.tool, &self.trace.tools) {
                continue;
            }
            let text = result.as_ref().map_or(&part.text, |(cut, _)| &cut.text);
            if let Some(cut) = cut(limits, text) {
                let kept_tokens = result.as_ref().map_or(cut.kept_tokens, |(before, _)| cut.kept_tokens.min(before.kept_tokens));
                let ends = result.as_ref().map_or(cut.ends, |(before, _)| cut.ends.least(before.ends));
                result = Some((Cut { kept_tokens, ends, ..cut }, rule.id.clone()));
            }
        }
        result
    }

    /// An item after a cut: the share of the truth that its kept tokens have, and the marker.
    pub fn cut_item(&self, item: &Item, part: &PartRow, cut: &Cut, role: Role) -> Item {
        let (text, kept) = (&cut.text, cut.kept_tokens);
        let original = u128::from(part.text.tokens.max(1));
        let share = u128::from(part.truth) * u128::from(kept.min(part.text.tokens)) / original;
        let marker = u64::from(text.tokens.saturating_sub(kept));
        let actual = share as u64 + marker;
        Item {
            state: ItemState::Truncated,
            ends: cut.ends,
            guess: self.guess(part, text, actual, role),
            alone: self.guess_alone(text, actual),
            actual,
            anchored: if part.anchored { share as u64 } else { 0 },
            ..item.clone()
        }
    }
}
