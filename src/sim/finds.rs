//! What masks would replace of the stored history: kept from call to call, and looked at again only where it has grown.

use super::act::enough;
use super::state::{State, Views};
use crate::context::Context;
use crate::policy::{Growing, Mask, Rule, Select};
use std::ops::Range;

/// So many selections that look at different items are followed at most: each holds a list of its own.
const FOLLOWED: usize = 16;

/// The items that a mask could replace, the oldest first, whatever the ends of its selection keep.
#[derive(Clone)]
pub(super) struct Finds<'a> {
    /// The rule, by its place in the plan.
    rule: usize,
    growing: Growing<'a>,
    ids: Vec<u32>,
    /// What the oldest so many items that were looked at come to, from none of them to all.
    worth: Vec<Worth>,
    /// How often the context had been edited.
    edits: u64,
}

#[derive(Clone, Copy, Default)]
struct Worth {
    items: u32,
    gross: u64,
    comes: u64,
}

impl<'a> Finds<'a> {
    /// What the context as it stands holds of what a selection looks at.
    pub fn new(state: &State<'_>, index: usize, rule: &'a Rule, mask: &Mask) -> Finds<'a> {
        let growing = Growing::new(&rule.select);
        let mut finds = Finds { rule: index, growing, ids: Vec::new(), worth: vec![Worth::default()], edits: state.context.edits() };
        finds.grow(state, rule, mask);
        finds
    }

    /// Is this what the rule at this place looks for with such a selection?
    pub fn serves(&self, index: usize, select: &Select) -> bool {
        self.rule == index && self.growing.select().looks_alike(select)
    }

    fn grow(&mut self, state: &State<'_>, rule: &Rule, mask: &Mask) {
        let from = self.growing.grow(state.context.view(), &state.trace.tools);
        self.worth.truncate(from + 1);
        let mut sum = self.worth.last().copied().unwrap_or_default();
        self.ids.truncate(sum.items as usize);
        for (id, alone) in self.growing.items(from) {
            if let Some(by) = state.masked(self.rule, rule, mask, id) {
                sum = Worth { items: sum.items + 1, gross: sum.gross + alone, comes: sum.comes + by.alone };
                self.ids.push(id);
            }
            self.worth.push(sum);
        }
    }

    /// How many items a rule would replace, the oldest ones; none where a guard forbids it.
    pub fn replaced_by(&self, rule: &Rule) -> usize {
        let worth = self.worth.get(self.growing.taken(&rule.select)).copied().unwrap_or_default();
        if enough(rule.min_saving.as_ref(), worth.gross, worth.comes) { worth.items as usize } else { 0 }
    }

    /// Items that could be replaced, by their places among them.
    pub fn ids(&self, range: Range<usize>) -> &[u32] {
        self.ids.get(range).unwrap_or(&[])
    }

    /// The context was edited in a way that touches none of these items.
    pub fn outlive(&mut self, edits: Range<u64>) {
        if self.edits == edits.start {
            self.edits = edits.end;
        }
    }
}

impl<'a> State<'a> {
    /// The place of what a mask could replace of the stored history as it stands; `None` where that is not followed.
    pub fn find(&mut self, index: usize, rule: &'a Rule, mask: &Mask) -> Option<usize> {
        if self.views == Views::Anew || !self.shows_stored() || !rule.select.grows() {
            return None;
        }
        let known = self.finds.iter().position(|finds| finds.serves(index, &rule.select));
        let mut all = std::mem::take(&mut self.finds);
        let current = |context: &Context, finds: &Finds<'_>| finds.edits == context.edits();
        let place = match known {
            None if all.len() >= FOLLOWED => None,
            None => {
                all.push(Finds::new(self, index, rule, mask));
                Some(all.len() - 1)
            }
            Some(place) => {
                if let Some(finds) = all.get_mut(place) {
                    if current(&self.context, finds) {
                        finds.grow(self, rule, mask);
                    } else {
                        *finds = Finds::new(self, index, rule, mask);
                    }
                }
                Some(place)
            }
        };
        self.finds = all;
        place
    }

    /// Is the context the stored history itself, and no view of it?
    pub fn shows_stored(&self) -> bool {
        self.aside.is_none() && self.aside_for_turn.is_none()
    }
}
