//! What is followed in the stored history from call to call: what masks could replace, what limits may cut, the messages that selections take,
//! and the last view.

use super::candidates::Candidates;
use super::guard::{Chosen, leaves_all, permitted, selection};
use super::inputs::Inputs;
use super::kept_view::{KeptView, Shown};
use super::uncut::Uncut;
use super::window::{Stored, Views, Window};
use crate::context::{Context, Region, SeenItem};
use crate::policy::{Conversation, Mask, Mode, Rule, Select, Selection, Stretch, Switch};
use crate::transcript::Role;
use std::collections::BTreeMap;
use std::ops::Range;

/// So many selections that look at different items are followed at most: each holds a list of its own.
const FOLLOWED: usize = 16;

/// The room of a conversation of so many messages is kept for the next one.
const SHORT: usize = 1 << 10;

impl<'a> Window<'a> {
    /// Does a rule that masks or cuts leave all that stands there? Told from sums, where views are kept.
    pub fn leaves_all(&self, rule: &Rule) -> bool {
        self.views == Views::Kept && leaves_all(rule, self.context.view(), 0)
    }

    /// The place of what a mask could replace of the stored history as it stands; `None` where that is not followed.
    pub fn find(&mut self, inputs: &Inputs<'_>, index: usize, rule: &'a Rule, mask: &Mask) -> Option<usize> {
        if self.views == Views::Anew || !self.shows_stored() || !rule.select.grows() {
            return None;
        }
        let known = self.candidates.iter().position(|candidates| candidates.serves(index, &rule.select));
        let place = known.unwrap_or(self.candidates.len());
        if let Some(candidates) = self.candidates.get_mut(place) {
            candidates.update(inputs, &self.context, index, rule, mask);
        } else if place < FOLLOWED {
            self.candidates.push(Candidates::new(inputs, &self.context, index, rule, mask));
        } else {
            return None;
        }
        Some(place)
    }

    /// What was found at a place.
    pub fn candidates(&self, place: usize) -> Option<&Candidates<'a>> {
        self.candidates.get(place)
    }

    /// Looks at the messages of the stored history that have come, as a selection does; hands them back, or `None` where they are not followed.
    fn followed(&mut self, select: &Select) -> Option<&Conversation> {
        if self.views == Views::Anew || !self.shows_stored() || !select.is_followed() {
            return None;
        }
        let edits = self.context.edits();
        let (known, conversation) = self.conversation.get_or_insert_default();
        if std::mem::replace(known, edits) != edits {
            conversation.clear();
            self.spoken.clear();
        }
        conversation.grow(self.context.view(), select.carried);
        Some(conversation)
    }

    /// The messages that a rule takes, where they stand side by side; `None` where that is not followed. A message of so many estimated tokens
    /// is about to enter.
    pub fn stretch(&mut self, rule: &Rule, incoming: u64) -> Option<Stretch> {
        let request = self.context.view().request() + incoming;
        self.followed(&rule.select).filter(|_| rule.select.takes_a_stretch())?.stretch(&rule.select, request)
    }

    /// Actual tokens of the messages that stay where these go, but for the system's.
    pub fn spoken_behind(&mut self, taken: Stretch) -> u64 {
        let Some((_, conversation)) = &self.conversation else { return 0 };
        let mut sum = self.spoken.last().copied().unwrap_or(0);
        for message in conversation.messages(self.spoken.len()) {
            sum += if message.role == Role::System { 0 } else { self.context.actual_of(message.id) };
            self.spoken.push(sum);
        }
        let before = |place: usize| place.checked_sub(1).and_then(|last| self.spoken.get(last)).copied().unwrap_or(0);
        sum - (before(taken.end) - before(taken.start))
    }

    /// The messages that a rule would remove or summarise; `None` where there are none, or a guard forbids it.
    pub fn selection(&mut self, rule: &Rule, incoming: u64) -> Option<Selection> {
        if self.followed(&rule.select).is_none() {
            return selection(rule, &self.context, incoming);
        }
        if let Some(taken) = self.stretch(rule, incoming) {
            let gone = self.conversation.as_ref()?.1.ids(taken.start..taken.end);
            let selection = || Selection { gone: gone.collect(), looked_at: taken.looked_at, ..Selection::default() };
            return permitted(rule, taken).then(selection);
        }
        let range = self.conversation.as_ref()?.1.range();
        let chosen = Chosen::between(&rule.select, range, rule.select.bounds(range), &self.context, incoming);
        chosen.permitted(rule).then_some(chosen.selection)
    }

    /// The items that a rule cuts, but for those that it has looked at before and left as they are; `None` where that is not followed.
    pub fn uncut(&mut self, inputs: &Inputs<'_>, rule: &'a Rule) -> Option<Vec<SeenItem>> {
        let follows = self.views == Views::Kept && self.shows_stored() && rule.mode == Mode::Commit;
        if !follows || rule.min_saving.is_some() || !rule.select.grows() {
            return None;
        }
        let edits = self.context.edits();
        let mut uncut = match self.uncut.iter().position(|uncut| std::ptr::eq(uncut.rule, rule)) {
            Some(place) => self.uncut.swap_remove(place),
            None => Uncut::new(rule, edits),
        };
        if uncut.edits != edits {
            uncut = Uncut::new(rule, edits);
        }
        let items = uncut.grow(self.context.view(), &inputs.trace.tools);
        self.uncut.push(uncut);
        Some(items)
    }

    /// A rule has cut some of what it looked at.
    pub fn note_cuts(&mut self, rule: &Rule) {
        let edits = self.context.edits();
        self.uncut.iter_mut().filter(|uncut| std::ptr::eq(uncut.rule, rule)).for_each(|uncut| uncut.has_cut(edits));
    }

    /// Can a rule of this mode be shown by a view that is kept?
    fn keeps_views(&self, rule: &Rule) -> bool {
        rule.mode == Mode::View && self.keeps_cuts == Switch::Off
    }

    /// Shows a request the stored history with what a mask replaces of it, and hands back how many items that are; `None` where that view
    /// is not one that can be kept.
    pub fn mask_in_kept_view(&mut self, inputs: &Inputs<'_>, index: usize, rule: &'a Rule, mask: &Mask) -> Option<usize> {
        if !self.keeps_views(rule) {
            return None;
        }
        let place = self.find(inputs, index, rule, mask)?;
        let items = self.candidates.get(place)?.replaced_by(rule);
        if items == 0 {
            return Some(0);
        }
        let known = |shown| match shown {
            Shown::Masked { candidates, replaced } if candidates == place && replaced <= items => Some(replaced),
            _ => None,
        };
        let (mut view, replaced) = self.last_view(index, known).unwrap_or_else(|| (self.context.clone(), 0));
        view.edit_for(Some(index as u32));
        for id in self.candidates.get(place)?.ids(replaced..items) {
            if let Some(by) = inputs.masked(&self.context, index, rule, mask, *id) {
                view.replace(*id, by);
            }
        }
        self.show_view(index, view, Shown::Masked { candidates: place, replaced: items });
        Some(items)
    }

    /// Shows a request the stored history without the messages that a rule drops, and hands back how many those are and where in the prompt
    /// they stood; `None` where that view is not one that can be kept. A message of so many estimated tokens is about to enter.
    pub fn drop_in_kept_view(&mut self, index: usize, rule: &Rule, incoming: u64) -> Option<(usize, Option<usize>)> {
        if !self.keeps_views(rule) || !rule.inject.is_empty() {
            return None;
        }
        let taken = self.stretch(rule, incoming)?;
        if !permitted(rule, taken) {
            return Some((0, None));
        }
        let known = |shown| match shown {
            Shown::Dropped { start, end, .. } => Some(start..end),
            Shown::Masked { .. } => None,
        };
        let (goes, nothing) = (taken.start..taken.end, taken.start..taken.start);
        let (mut view, gone) = self.last_view(index, known).unwrap_or_else(|| (self.context.clone(), nothing));
        view.edit_for(Some(index as u32));
        let (_, conversation) = self.conversation.as_ref()?;
        // What came back before the gap stands where it stood; what comes back behind it has the rest of the gap in front of it.
        let [before, behind] = without(&gone, &goes);
        let left = behind.start.saturating_sub(gone.start.max(before.end));
        for (place, ahead) in before.map(|place| (place, 0)).chain(behind.map(|place| (place, left))) {
            let id = conversation.ids(place..place + 1).next()?;
            view.bring_back(id, conversation.place_of(place) - ahead, &self.context);
        }
        let leaving = without(&goes, &gone).into_iter().flat_map(|places| conversation.ids(places));
        view.remove(&leaving.collect::<Vec<u32>>());
        let next = conversation.ids(taken.end..taken.end + 1).next();
        let gap = next.map_or(Some(view.len()), |next| view.place_of(next));
        self.show_view(index, view, Shown::Dropped { start: taken.start, end: taken.end, marker: None });
        Some((taken.end - taken.start, gap))
    }

    /// A line has been put into the view for what was dropped: it leaves before the view is used again.
    pub fn note_marker(&mut self) {
        let edits = self.context.edits();
        let newest = self.context.newest();
        if let Some(kept) = self.kept_view.as_mut().filter(|kept| kept.view.is_none() && kept.view_edits != edits)
            && let Shown::Dropped { marker, .. } = &mut kept.shown
        {
            (*marker, kept.view_edits) = (newest, edits);
        }
    }

    /// A view of the stored history becomes what the request is shown.
    fn show_view(&mut self, rule: usize, view: Box<Context>, shown: Shown) {
        let (stored_edits, view_edits) = (self.context.edits(), view.edits());
        self.kept_view = Some(KeptView { rule, shown, view: None, stored_edits, view_edits });
        let stored = std::mem::replace(&mut self.context, view);
        self.under_request =
            Some(Stored { context: stored, next_message: self.next_message, cuts: BTreeMap::new(), next_reading: self.readings.len() });
    }

    /// The last view with what has come since, and how far it has got; `None` where it is not the beginning of this one.
    fn last_view<T>(&mut self, rule: usize, known: impl Fn(Shown) -> Option<T>) -> Option<(Box<Context>, T)> {
        self.update_kept_view();
        let kept = self.kept_view.take().filter(|kept| kept.rule == rule)?;
        let known = known(kept.shown)?;
        Some((kept.view?, known))
    }

    /// Adds to the last view what has come since, or drops it where the stored history has changed otherwise.
    fn update_kept_view(&mut self) {
        let Some(kept) = &mut self.kept_view else { return };
        let Some(view) = kept.view.as_mut().filter(|_| kept.stored_edits == self.context.edits()) else {
            self.kept_view = None;
            return;
        };
        view.keep_up(&self.context);
    }

    /// The context of a request goes, as another one comes back: kept where it is the view that this request was shown.
    pub fn keep_view(&mut self, gone: Box<Context>) {
        if let Some(kept) = self.kept_view.as_mut().filter(|kept| kept.view.is_none()) {
            match kept.settled(gone) {
                Some(view) => kept.view = Some(view),
                None => self.kept_view = None,
            }
        }
    }

    /// Reasoning leaves as a turn begins: from the stored history, and from the view that is kept of it.
    pub fn expire(&mut self) {
        if !self.shows_stored() {
            self.context.expire();
            return;
        }
        self.update_kept_view();
        let before = self.context.edits();
        let expired = self.context.expire();
        let edits = before..self.context.edits();
        if expired.iter().any(|item| self.context.item(*item).is_some_and(|item| item.region != Region::Thinking)) {
            self.forget_views();
        }
        if let Some((known, conversation)) = self.conversation.as_mut().filter(|(known, _)| *known == edits.start && !edits.is_empty()) {
            *known = edits.end;
            conversation.forget_newest_turn();
            self.spoken.truncate(conversation.len());
        }
        self.candidates.iter_mut().for_each(|candidates| candidates.outlive(edits.clone()));
        self.uncut.iter_mut().filter(|uncut| uncut.edits == edits.start).for_each(|uncut| uncut.edits = edits.end);
        if let Some(kept) = &mut self.kept_view {
            kept.stored_edits = edits.end;
            if let Some(view) = &mut kept.view {
                // Its newest turn may be another one: where it begins may have been dropped.
                expired.iter().for_each(|item| view.remove_item(*item));
            }
        }
    }

    /// This rule is about to change the history: its messages are looked at anew the next time. A long one has so many of them that they go first.
    pub fn forget_conversation(&mut self, rule: &Rule) {
        match &mut self.conversation {
            Some((_, conversation)) if rule.mode == Mode::Commit && conversation.len() <= SHORT => {
                conversation.clear();
                self.spoken.clear();
            }
            _ if rule.mode == Mode::Commit => (self.conversation, self.spoken) = (None, Vec::new()),
            _ => {}
        }
    }

    /// What is known of the stored history holds no more.
    pub fn forget_views(&mut self) {
        self.candidates.clear();
        self.uncut.clear();
        self.conversation = None;
        self.kept_view = None;
    }

    /// What a request was shown becomes the stored history, or the start of it. The edits of a view are numbered by itself.
    pub fn give_up_view(&mut self) {
        if self.under_request.is_some() {
            self.forget_views();
        }
    }
}

/// What of a range of places lies before another one, and what behind it.
fn without(places: &Range<usize>, others: &Range<usize>) -> [Range<usize>; 2] {
    [places.start..places.end.min(others.start), places.start.max(others.end)..places.end]
}
