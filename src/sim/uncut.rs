//! The items that a limit looks at anew: what it has left as it is, it would leave so again.

use crate::context::{SeenItem, View};
use crate::policy::{Growing, Rule};

/// What a rule that cuts has looked at in a history that has only grown since.
#[derive(Clone)]
pub(super) struct Uncut<'a> {
    pub rule: &'a Rule,
    growing: Growing<'a>,
    /// So many of the items, the oldest ones, have been looked at.
    looked: usize,
    /// How often the history had been edited.
    pub edits: u64,
}

impl<'a> Uncut<'a> {
    /// Nothing has been looked at.
    pub fn new(rule: &'a Rule, edits: u64) -> Uncut<'a> {
        Uncut { rule, growing: Growing::new(&rule.select), looked: 0, edits }
    }

    /// The items that the rule selects and has not looked at, the oldest first. They count as looked at from now on.
    pub fn grow(&mut self, view: View<'_>, tools: &[String]) -> Vec<SeenItem> {
        let new_from = self.growing.grow(view, tools);
        let from = self.looked.min(new_from);
        self.looked = self.growing.taken(&self.rule.select).max(from);
        let items = self.growing.items(from).take(self.looked - from);
        items.filter_map(|(id, alone)| Some(SeenItem { alone, ..view.item(id)? })).collect()
    }
}
