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
    /// What it looked at last, and those items that it looks at again: a cut may leave what can be cut once more.
    last: Vec<u32>,
    again: Vec<u32>,
    /// How often the history had been edited.
    pub edits: u64,
}

impl<'a> Uncut<'a> {
    /// Nothing has been looked at.
    pub fn new(rule: &'a Rule, edits: u64) -> Uncut<'a> {
        Uncut { rule, growing: Growing::new(&rule.select), looked: 0, last: Vec::new(), again: Vec::new(), edits }
    }

    /// The items that the rule selects and that it may not leave as they are, the oldest first.
    pub fn grow(&mut self, view: View<'_>, tools: &[String]) -> Vec<SeenItem> {
        let new_from = self.growing.grow(view, tools);
        let from = self.looked.min(new_from);
        self.looked = self.growing.taken(&self.rule.select).max(from);
        self.last = std::mem::take(&mut self.again);
        self.last.extend(self.growing.items(from).take(self.looked - from).map(|(id, _)| id));
        let size = |item: SeenItem| SeenItem { alone: self.rule.select.size(view.estimator(), item.guess, item.alone), ..item };
        self.last.iter().filter_map(|id| view.item(*id)).map(size).collect()
    }

    /// The rule has cut what it looked at last: since then the history has been edited so often. Where its end keeps what has a certain size,
    /// all of it is looked at again.
    pub fn has_cut(&mut self, edits: u64) {
        if self.rule.select.tail.is_empty() {
            (self.again, self.edits) = (std::mem::take(&mut self.last), edits);
        }
    }
}
