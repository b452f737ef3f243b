//! Messages that a selection never touches, and those of them that a budget cuts.

use super::action::Truncate;
use super::selector::{Protect, Select, Sizes};
use crate::context::{Seen, View};
use crate::estimate::{Guess, Unit};
use std::collections::BTreeSet;

/// A message that is cut to what was left of a budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortened {
    /// Id of the message in the context.
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
            |message: &&Seen| !message.unseen && (self.kind.is_empty() || self.kind.iter().any(|kind| kind.takes_message(message, view)));
        let matching: Vec<&Seen> = messages.iter().filter(wanted).collect();
        if let (None, None, None) = (self.last, self.first, self.tokens) {
            return (matching.iter().map(|message| message.id).collect(), Vec::new());
        }
        let mut spared: BTreeSet<u32> = BTreeSet::new();
        spared.extend(matching.iter().rev().take(self.last.unwrap_or(0) as usize).map(|message| message.id));
        spared.extend(matching.iter().take(self.first.unwrap_or(0) as usize).map(|message| message.id));
        let Some(budget) = self.tokens else { return (spared, Vec::new()) };
        let size = |message: &&Seen| {
            let texts = view.items(**message).map(|item| item.alone).sum();
            Sized { id: message.id, whole: if self.sizes == Sizes::Parts { message.estimated } else { texts }, texts }
        };
        let all: u64 = matching.iter().map(|message| size(message).whole).sum();
        let oldest = if all > budget { self.oldest.min(budget) } else { 0 };
        let (newest, on_line) = within(matching.iter().rev().map(size), budget - oldest);
        let mut shortened: Vec<Shortened> =
            on_line.map(|(id, keeps, of)| Shortened { id, keeps, of, head: if oldest > 0 { 0.0 } else { 0.5 } }).into_iter().collect();
        if oldest > 0 {
            // What the newest have left of the message on their line is the newest of what the oldest choose from.
            let rest = matching.len() - newest.len();
            let line = shortened.first().map_or(0, |cut| cut.keeps);
            let older = matching.iter().take(rest).map(|message| {
                let size = size(message);
                // What wraps the message stands around either part of it.
                let wrapper = if self.sizes == Sizes::Parts { view.estimator().message(Guess::default(), message.role) } else { 0 };
                match shortened.first() {
                    Some(cut) if cut.id == size.id => {
                        let texts = size.texts - line;
                        Sized { whole: if texts > 0 { texts + wrapper } else { 0 }, texts, ..size }
                    }
                    _ => size,
                }
            });
            let (first, on_line) = within(older, oldest);
            spared.extend(first);
            if let Some((id, keeps, left)) = on_line {
                match shortened.iter_mut().find(|cut| cut.id == id) {
                    Some(cut) => *cut = Shortened { keeps: keeps + line, head: keeps as f64 / (keeps + line).max(1) as f64, ..*cut },
                    None => shortened.push(Shortened { id, keeps, of: left, head: 1.0 }),
                }
            }
        }
        spared.extend(newest);
        spared.extend(shortened.iter().map(|cut| cut.id));
        (spared, shortened)
    }
}

/// A message with what it takes of a budget where it fits whole, and what its texts come to.
struct Sized {
    id: u32,
    whole: u64,
    texts: u64,
}

/// The messages that fit a budget whole, in the order in which they come, and the one on its line with what it keeps and what it has;
/// none where the budget is used up.
fn within(sizes: impl Iterator<Item = Sized>, budget: u64) -> (Vec<u32>, Option<(u32, u64, u64)>) {
    let (mut fitting, mut left) = (Vec::new(), budget);
    for Sized { id, whole, texts } in sizes {
        if left == 0 {
            break;
        }
        if whole > left {
            return (fitting, Some((id, left.min(texts), texts)));
        }
        fitting.push(id);
        left -= whole;
    }
    (fitting, None)
}

impl Select {
    /// The limits of a text that keeps so many estimated tokens of itself, this share of them from its start. `per_token` are the bytes that
    /// so many tokens of it take.
    pub fn excerpt_limits(&self, keeps: u64, head: f64, per_token: (u64, u64)) -> Truncate {
        let marker = self.protect.iter().find(|protect| protect.tokens.is_some()).map(|protect| protect.marker.clone());
        let keep = keeps * per_token.0 / per_token.1.max(1);
        Truncate { max: Some(0), keep: Some(keep), unit: Unit::Bytes, head, marker: marker.unwrap_or_default(), ..Truncate::default() }
    }
}
