//! Messages enter the simulated context, each through the policy's ingestion limits.

use super::note::Note;
use super::outcome::EventKind;
use super::state::State;
use crate::context::Arrival;
use crate::estimate::Guess;
use crate::policy::{Hook, Switch};
use crate::trace::{MessageRow, Trace};
use crate::transcript::Role;
use std::rc::Rc;

impl State<'_> {
    /// Everything up to the reply with this index arrives.
    pub fn arrive(&mut self, until: u32) {
        while self.next_message < until {
            let message = self.next_message;
            let Some(row) = self.trace.messages.get(message as usize) else { return };
            let imposed = self.trace.imposed.binary_search(&message).is_ok();
            if let Some(from) = row.rewind {
                self.restore_turn_view();
                self.context.withdraw(from);
                if imposed {
                    self.context.withdraw_own();
                }
            }
            if row.opens_turn() {
                self.open_turn(message);
            }
            let id = self.push(message);
            // What is shown again came before the last reply, or has been counted when it came.
            if !row.copy {
                self.pending += self.context.entry(id).map_or(0, |entry| entry.estimated);
            }
            self.next_message = message + 1;
            if imposed {
                // The history was rewritten, whoever did it: the last usage says no more than after a compaction of the policy's own.
                self.rewritten();
            }
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
        self.expire();
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
        let guesses = self.trace.parts_of(row).iter().map(|part| self.gauge().part(part, &part.text, part.truth, row.role));
        estimator.message(guesses.fold(Guess::default(), Guess::plus), row.role)
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
        let id = self.place(message);
        let intake = Rc::clone(&self.intake);
        for cut in intake.cuts(message) {
            let event = self.event(Some(cut.rule));
            self.note(Note { kind: EventKind::Truncate, before: cut.before, after: cut.after, touched: 1, ..event });
        }
        id
    }

    /// Puts a message at the end of the context, as the ingestion limits have left it.
    pub fn place(&mut self, message: u32) -> u32 {
        let row = self.trace.messages.get(message as usize);
        let (role, opens_turn) = row.map_or((Role::User, false), |row| (row.role, row.opens_turn()));
        let unseen = self.trace.unseen.is_some_and(|unseen| unseen.message == message);
        let arrival = Arrival { message: Some(message), role, opens_turn, is_summary: false, unseen, call: self.index as u32 };
        let id = self.context.push(arrival, self.intake.items(message).iter().copied(), None);
        let trace = self.trace;
        row.into_iter().flat_map(|row| shown_again_by(trace, row)).for_each(|part| self.context.supersede(part));
        let keeps = self.keeps_cuts == Switch::On;
        if let Some(first) = self.context.entry(id).filter(|_| keeps).map(|entry| entry.first) {
            self.cuts.extend(self.intake.cuts(message).iter().map(|cut| (first + cut.offset, cut.text.clone())));
        }
        id
    }
}

/// The parts that a message shows again: they are dead weight from now on.
pub(super) fn shown_again_by<'t>(trace: &'t Trace, row: &MessageRow) -> impl Iterator<Item = u32> + 't {
    let (start, end) = (row.first_part, row.first_part + row.part_count);
    let first = trace.repetitions.partition_point(|repetition| repetition.later < start);
    let mine = trace.repetitions.iter().skip(first).take_while(move |repetition| repetition.later < end);
    mine.map(|repetition| repetition.earlier)
}
