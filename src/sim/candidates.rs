//! What masks would replace of the stored history: kept from call to call, and looked at again only where it has grown.

use super::guard::enough;
use super::inputs::{Inputs, gross_of};
use crate::context::Context;
use crate::policy::{Growing, Mask, Rule, Select};
use std::ops::Range;

/// The items that a mask could replace, the oldest first, whatever the ends of its selection keep.
#[derive(Clone)]
pub(super) struct Candidates<'a> {
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

impl<'a> Candidates<'a> {
    /// What the context as it stands holds of what a selection looks at.
    pub fn new(inputs: &Inputs<'_>, context: &Context, index: usize, rule: &'a Rule, mask: &Mask) -> Candidates<'a> {
        let growing = Growing::new(&rule.select);
        let mut candidates = Candidates { rule: index, growing, ids: Vec::new(), worth: vec![Worth::default()], edits: context.edits() };
        candidates.grow(inputs, context, rule, mask);
        candidates
    }

    /// Looks at what has come since, or, where the context was edited, at all of it.
    pub fn update(&mut self, inputs: &Inputs<'_>, context: &Context, index: usize, rule: &'a Rule, mask: &Mask) {
        if self.edits == context.edits() {
            self.grow(inputs, context, rule, mask);
        } else {
            *self = Candidates::new(inputs, context, index, rule, mask);
        }
    }

    /// Is this what the rule at this place looks for with such a selection?
    pub fn serves(&self, index: usize, select: &Select) -> bool {
        self.rule == index && self.growing.select().looks_alike(select)
    }

    fn grow(&mut self, inputs: &Inputs<'_>, context: &Context, rule: &Rule, mask: &Mask) {
        let from = self.growing.grow(context.view(), &inputs.trace.tools);
        self.worth.truncate(from + 1);
        let mut sum = self.worth.last().copied().unwrap_or_default();
        self.ids.truncate(sum.items as usize);
        for (id, alone) in self.growing.items(from) {
            let by = inputs.masked(context, self.rule, rule, mask, id);
            sum.gross += gross_of(rule, alone, by.is_some());
            if let Some(by) = by {
                sum = Worth {
                    items: sum.items + 1,
                    gross: sum.gross,
                    comes: sum.comes + rule.select.size(context.estimator(), by.guess, by.alone),
                };
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

    /// Would a rule replace nothing even if the items were larger by so many tokens together?
    pub fn replaces_none_with(&self, rule: &Rule, more: u64) -> bool {
        self.growing.keeps_all(&rule.select, more) || !enough(rule.min_saving.as_ref(), self.growing.tokens() + more, 0)
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
