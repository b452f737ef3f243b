//! A view of the stored history that is kept from one request to the next.
//!
//! A rule with `mode = "view"` masks items for one request alone: the stored history comes back after it, and the next request masks them
//! again, and a few more. So the last view is not thrown away. The next one is that, with what has come since, and with those few more
//! masked. [`watch_anew`](super::watch_anew) makes each view anew, and is what this is tested against.

use super::act::{Done, kind_of};
use super::arrive::shown_again_by;
use super::aside::Aside;
use super::outcome::EventKind;
use super::refetch::Refetching;
use super::state::State;
use crate::context::Context;
use crate::policy::{Mode, Switch};
use std::collections::BTreeMap;

/// The last view of the stored history.
#[derive(Clone)]
pub(super) struct KeptView {
    /// The rule that made it, by its place in the plan.
    rule: usize,
    /// By its place: what the rule could replace of the stored history.
    finds: usize,
    /// So many of that, the oldest items, are replaced in the view.
    replaced: usize,
    /// The view; absent while it is the context of a request.
    view: Option<Context>,
    /// How often the stored history, and the view, had been edited.
    stored_edits: u64,
    view_edits: u64,
}

impl State<'_> {
    /// Shows a request the stored history with what a mask replaces of it; `None` where that view is not one that can be kept.
    pub fn mask_in_kept_view(&mut self, index: usize) -> Option<Done> {
        let rule = self.plan.rule.get(index).filter(|rule| rule.mode == Mode::View)?;
        let mask = rule.mask.as_ref()?;
        if self.keeps_cuts == Switch::On || self.conditions.refetch != Refetching::Never {
            return None;
        }
        let place = self.find(index, rule, mask)?;
        let items = self.finds.get(place)?.replaced_by(rule);
        if items == 0 {
            return Some(Done::Nothing);
        }
        let (mut view, replaced) = self.last_view(index, place, items).unwrap_or_else(|| (self.context.clone(), 0));
        view.edit_for(Some(index as u32));
        for id in self.finds.get(place)?.ids(replaced..items) {
            if let Some(by) = self.masked(index, rule, mask, *id) {
                view.replace(*id, by);
            }
        }
        let (stored_edits, view_edits) = (self.context.edits(), view.edits());
        self.kept_view = Some(KeptView { rule: index, finds: place, replaced: items, view: None, stored_edits, view_edits });
        let stored = std::mem::replace(&mut self.context, view);
        self.aside = Some(Aside { context: stored, next_message: self.next_message, cuts: BTreeMap::new(), next_reading: 0 });
        Some(Done::Changed(kind_of(rule, EventKind::Prune), items as u32))
    }

    /// The last view with what has come since, and how many items are replaced in it; `None` where it is not the beginning of this one.
    fn last_view(&mut self, index: usize, place: usize, items: usize) -> Option<(Context, usize)> {
        self.update_kept_view();
        let kept = self.kept_view.take().filter(|kept| (kept.rule, kept.finds) == (index, place) && kept.replaced <= items)?;
        Some((kept.view?, kept.replaced))
    }

    /// Adds to the last view what has come since, or drops it where the stored history has changed otherwise.
    fn update_kept_view(&mut self) {
        let Some(kept) = &mut self.kept_view else { return };
        let Some(view) = kept.view.as_mut().filter(|_| kept.stored_edits == self.context.edits()) else {
            self.kept_view = None;
            return;
        };
        for id in view.keep_up(&self.context) {
            let message = view.entry(id).and_then(|entry| entry.message);
            let Some(row) = message.and_then(|message| self.trace.messages.get(message as usize)) else { continue };
            shown_again_by(self.trace, row).for_each(|part| view.supersede(part));
        }
    }

    /// The context of a request goes, as another one comes back: kept where it is the view that this request was shown.
    pub fn keep_view(&mut self, gone: Context) {
        if let Some(kept) = self.kept_view.as_mut().filter(|kept| kept.view.is_none()) {
            if gone.edits() == kept.view_edits {
                kept.view = Some(gone);
            } else {
                self.kept_view = None;
            }
        }
    }

    /// What a request was shown becomes the stored history, or the start of it.
    pub fn give_up_view(&mut self) {
        self.kept_view.take_if(|kept| kept.view.is_none());
    }

    /// Reasoning leaves as a turn begins: from the stored history, and from the view that is kept of it.
    pub fn expire(&mut self) {
        if !self.shows_stored() {
            self.context.expire();
            return;
        }
        self.update_kept_view();
        let before = self.context.edits();
        let reasoning_alone = self.context.expire();
        let edits = before..self.context.edits();
        if !reasoning_alone {
            self.finds.clear();
            self.kept_view = None;
        }
        self.finds.iter_mut().for_each(|finds| finds.outlive(edits.clone()));
        if let Some(kept) = &mut self.kept_view {
            kept.stored_edits = edits.end;
            if let Some(view) = &mut kept.view {
                view.expire();
            }
        }
    }
}
