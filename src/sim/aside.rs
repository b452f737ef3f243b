//! The stored history is set aside while a request, or a turn, is shown a view of it.

use super::state::State;
use crate::context::Context;
use crate::policy::{Mode, Rule};
use crate::transcript::Text;
use std::collections::BTreeMap;

/// A context set aside while a view is in force.
#[derive(Clone)]
pub(super) struct Aside {
    pub context: Context,
    /// The first message that had not arrived yet.
    pub next_message: u32,
    pub cuts: BTreeMap<u32, Text>,
    /// The first re-read that had not been made yet.
    pub next_reading: usize,
}

impl State<'_> {
    /// Sets the context aside before a view changes it.
    pub fn before_edit(&mut self, rule: &Rule) {
        match rule.mode {
            Mode::View if self.aside.is_none() => self.aside = Some(self.set_aside()),
            Mode::Turn if self.aside_for_turn.is_none() => self.aside_for_turn = Some(self.take_stored()),
            Mode::View | Mode::Turn => {}
            // What is committed on top of a request's view takes the view with it: the system stores the list that it has just worked on.
            Mode::Commit => {
                self.give_up_view();
                self.aside = None;
            }
            Mode::CommitIfFewer => {
                self.give_up_view();
                self.replaced = Some(self.take_stored());
            }
        }
    }

    /// The stored history, from under whatever view of it.
    fn take_stored(&mut self) -> Aside {
        self.aside.take().unwrap_or_else(|| self.set_aside())
    }

    /// The context as it stands.
    fn set_aside(&self) -> Aside {
        Aside { context: self.context.clone(), next_message: self.next_message, cuts: self.cuts.clone(), next_reading: self.readings.len() }
    }

    /// The view of a turn ends: the stored history comes back, and what arrived meanwhile after it.
    pub fn restore_turn_view(&mut self) {
        let Some(aside) = self.aside_for_turn.take() else { return };
        self.aside = None;
        self.restore(aside);
    }

    /// A context that was set aside comes back, and what has arrived since after it.
    pub fn restore(&mut self, aside: Aside) {
        let gone = std::mem::replace(&mut self.context, aside.context);
        self.keep_view(gone);
        self.context.edit_for(None);
        self.cuts = aside.cuts;
        let mut reading = aside.next_reading;
        for message in aside.next_message..self.next_message {
            reading = self.enter_readings(reading, message);
            self.place(message);
        }
        self.enter_readings(reading, self.next_message);
    }
}
