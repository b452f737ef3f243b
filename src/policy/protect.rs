//! Messages that a selection never touches, and those of them that a budget cuts.

use super::selector::Protect;
use crate::context::{Seen, View};
use std::collections::BTreeSet;

/// A message that is cut to what was left of a budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortened {
    /// The message.
    pub id: u32,
    /// Estimated tokens of its texts that it keeps.
    pub keeps: u64,
    /// Estimated tokens of its texts before.
    pub of: u64,
    /// The share of what it keeps that comes from its start.
    pub head: f64,
}

impl Protect {
    /// The messages that it protects, and those of them that are cut to what is left of the budget.
    pub(super) fn spared(&self, messages: &[Seen], view: View<'_>) -> (BTreeSet<u32>, Vec<Shortened>) {
        let wanted =
            |message: &&Seen| !message.unseen && (self.kind.is_empty() || self.kind.iter().any(|kind| kind.matches_message(message)));
        let matching: Vec<&Seen> = messages.iter().filter(wanted).collect();
        if let (None, None, None) = (self.last, self.first, self.tokens) {
            return (matching.iter().map(|message| message.id).collect(), Vec::new());
        }
        let mut spared: BTreeSet<u32> = BTreeSet::new();
        spared.extend(matching.iter().rev().take(self.last.unwrap_or(0) as usize).map(|message| message.id));
        spared.extend(matching.iter().take(self.first.unwrap_or(0) as usize).map(|message| message.id));
        let Some(budget) = self.tokens else { return (spared, Vec::new()) };
        // The budget is one of texts: what wraps a message counts for nothing here.
        let size = |message: &&Seen| (message.id, view.items(**message).map(|item| item.alone).sum());
        let oldest = if self.oldest > 0 && matching.iter().map(|message| size(message).1).sum::<u64>() > budget { self.oldest } else { 0 };
        let (newest, on_line) = within(matching.iter().rev().map(size), budget - oldest);
        let mut shortened: Vec<Shortened> =
            on_line.map(|(id, keeps, of)| Shortened { id, keeps, of, head: if oldest > 0 { 0.0 } else { 0.5 } }).into_iter().collect();
        if oldest > 0 {
            // What the newest have left of the message on their line is the newest of what the oldest choose from.
            let rest = matching.len() - newest.len();
            let line = shortened.first().map_or(0, |cut| cut.keeps);
            let older = matching.iter().take(rest).map(size).enumerate();
            let older = older.map(|(place, (id, of))| (id, if place + 1 == rest { of - line } else { of }));
            let (first, on_line) = within(older, oldest);
            spared.extend(first);
            if let Some((id, keeps, left)) = on_line {
                match shortened.iter_mut().find(|cut| cut.id == id) {
                    Some(cut) => *cut = Shortened { keeps: keeps + line, head: keeps as f64 / (keeps + line) as f64, ..*cut },
                    None => shortened.push(Shortened { id, keeps, of: left, head: 1.0 }),
                }
            }
        }
        spared.extend(newest);
        spared.extend(shortened.iter().map(|cut| cut.id));
        (spared, shortened)
    }
}

/// The messages that fit a budget whole, in the order in which they come, and the one on its line with what it keeps and what it has;
/// none where the budget is used up.
fn within(sizes: impl Iterator<Item = (u32, u64)>, budget: u64) -> (Vec<u32>, Option<(u32, u64, u64)>) {
    let (mut whole, mut left) = (Vec::new(), budget);
    for (id, of) in sizes {
        if left == 0 {
            break;
        }
        if of > left {
            return (whole, Some((id, left, of)));
        }
        whole.push(id);
        left -= of;
    }
    (whole, None)
}
