//! The stored history, set aside while a request or a turn works with a view of it.

use super::state::State;
use crate::context::{Context, Item};
use crate::policy::{Hook, Mode, Rule};
use crate::transcript::Text;
use std::collections::BTreeMap;

/// A context set aside while a view is in force.
#[derive(Clone)]
pub(super) struct Aside {
    pub context: Context,
    /// The first message that had not arrived yet.
    pub next_message: u32,
    pub cuts: BTreeMap<u32, Text>,
}

/// An item as it was before a mask, and what was known of its text if it had been cut.
#[derive(Clone)]
pub(super) struct UnderMask {
    pub item: Item,
    pub id: u32,
    pub cut: Option<Text>,
}

impl State<'_> {
    /// Sets the context aside before a view changes it.
    pub fn before_edit(&mut self, rule: &Rule) {
        if self.only_masks(rule) {
            return;
        }
        match rule.mode {
            Mode::View => self.copy_aside(),
            Mode::Turn if self.aside_for_turn.is_none() => {
                let aside = self.set_aside();
                self.aside_for_turn = Some(aside);
                self.forget_request_view();
            }
            Mode::Turn => self.keep_under_masks(),
            // What is committed on top of a request's view takes the view with it: the system stores the list that it has just worked on.
            Mode::Commit | Mode::CommitIfFewer => self.forget_request_view(),
        }
    }

    /// Is this a view that a few items undo? So it is where masks alone make it, and nothing arrives before the reply.
    pub fn only_masks(&self, rule: &Rule) -> bool {
        let within_call = matches!(rule.at, Hook::PreCall | Hook::MidTurn | Hook::Overflow);
        rule.mode == Mode::View && rule.mask.is_some() && rule.inject.is_empty() && within_call && self.aside.is_none()
    }

    /// The stored history as it stands, under whatever view of it.
    pub fn set_aside(&self) -> Aside {
        self.aside.clone().unwrap_or_else(|| {
            let (mut context, mut cuts) = (self.context.clone(), self.cuts.clone());
            put_back(&mut context, &mut cuts, &self.under_masks);
            Aside { context, next_message: self.next_message, cuts }
        })
    }

    /// Sets a copy of the stored history aside, if none is.
    pub fn copy_aside(&mut self) {
        if self.aside.is_none() {
            self.aside = Some(self.set_aside());
            self.under_masks.clear();
        }
    }

    /// As [`State::copy_aside`], but only where masks have made a view.
    pub fn keep_under_masks(&mut self) {
        if !self.under_masks.is_empty() {
            self.copy_aside();
        }
    }

    fn forget_request_view(&mut self) {
        self.aside = None;
        self.under_masks.clear();
    }

    /// The view of a request ends.
    pub fn restore_request_view(&mut self) {
        match self.aside.take() {
            Some(aside) => self.restore(aside),
            None => {
                put_back(&mut self.context, &mut self.cuts, &self.under_masks);
                self.under_masks.clear();
            }
        }
    }

    /// The view of a turn ends: the stored history comes back, and what arrived meanwhile after it.
    pub fn restore_turn_view(&mut self) {
        let Some(aside) = self.aside_for_turn.take() else { return };
        self.forget_request_view();
        self.restore(aside);
    }

    /// A context that was set aside comes back, and what has arrived since after it.
    fn restore(&mut self, aside: Aside) {
        self.context = aside.context;
        self.cuts = aside.cuts;
        for message in aside.next_message..self.next_message {
            self.place(message);
        }
    }
}

fn put_back(context: &mut Context, cuts: &mut BTreeMap<u32, Text>, under_masks: &[UnderMask]) {
    for under in under_masks.iter().rev() {
        context.put_back(under.id, under.item);
        if let Some(cut) = &under.cut {
            cuts.insert(under.id, cut.clone());
        }
    }
}
