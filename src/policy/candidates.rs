//! The items that a selection looks at, from the newest to the oldest, and where those begin that it takes.
//!
//! What an end at the new side keeps of the items that are looked for is always the newest of them. So one scan of the context serves all
//! selections that differ in nothing but how much such an end keeps.

use super::select::middle_out;
use super::selector::{DownTo, End, EndOf, EndUnit, Kind, Order, Select, Sizes, Stop, Take};
use crate::context::{Seen, SeenItem, State, View};
use crate::transcript::Role;
use std::collections::BTreeSet;

/// What a scan of the context has found.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    found: Vec<Candidate>,
    /// Estimated tokens of what the selection looks for in messages that its ends keep as a whole.
    beside: u64,
}

/// An item that a selection looks at.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    item: SeenItem,
    /// The message that it belongs to.
    owner: u32,
    /// Estimated tokens of the item and of all newer ones.
    sum: u64,
}

impl Candidates {
    /// How many of them, the newest ones, the ends of a selection keep.
    pub fn kept(&self, select: &Select) -> usize {
        let within = |holds: &dyn Fn(f64) -> bool| self.found.partition_point(|candidate| holds(candidate.sum as f64));
        select.tail.iter().map(|end| end.kept_of(self.found.len(), within)).max().unwrap_or(0)
    }
}

impl DownTo {
    /// How many of the items go, of those that may, so that all that were found come down to the size.
    fn taken(self, found: &Candidates, may_go: &[SeenItem]) -> usize {
        let mut left = (found.found.last().map_or(0, |oldest| oldest.sum) + found.beside) as f64;
        if left <= self.above.unwrap_or(self.tokens) {
            return 0;
        }
        let goes = |item: &&SeenItem| {
            let goes = left > self.tokens;
            left -= item.alone as f64;
            goes
        };
        may_go.iter().take_while(goes).count()
    }
}

impl Select {
    /// The items that the selection takes, in the order in which they are taken. Masked ones are never taken again.
    pub fn items(&self, view: View<'_>, tools: &[String]) -> Vec<SeenItem> {
        self.choose(&self.candidates(view, tools), view, tools)
    }

    /// The items that it takes of those that it looks at.
    pub fn choose(&self, candidates: &Candidates, view: View<'_>, tools: &[String]) -> Vec<SeenItem> {
        let untouched = self.untouched(view);
        let found = candidates.found.get(candidates.kept(self)..).unwrap_or(&[]);
        let within = match self.take {
            Take::Batches(n) => Some(self.oldest_batches(view, tools, &untouched, n)),
            _ => None,
        };
        let eligible =
            |found: &&Candidate| !untouched.contains(&found.owner) && within.as_ref().is_none_or(|within| within.contains(&found.owner));
        let mut taken = Vec::with_capacity(found.len());
        taken.extend(found.iter().rev().filter(eligible).map(|found| found.item));
        self.spare_first(&mut taken, view, tools);
        taken.truncate(self.step.map_or(taken.len(), |step| step.taken(taken.len())));
        match self.order {
            Order::Oldest => {}
            Order::Largest => taken.sort_by_key(|item| (std::cmp::Reverse(item.alone), item.id)),
            Order::MiddleOut => taken = middle_out(taken),
        }
        let share = |share: f64| (taken.len() as f64 * share).floor() as usize;
        match self.take {
            Take::All | Take::UntilRequest(_) | Take::TurnsUntilRequest(_) | Take::Calls(_) | Take::Batches(_) => {}
            Take::DownTo(size) => taken.truncate(size.taken(candidates, &taken)),
            Take::Count(n) => taken.truncate(n as usize),
            Take::Share(part) => taken.truncate(share(part)),
            Take::EvenShare(part) => taken.truncate(share(part) / 2 * 2),
        }
        taken
    }

    /// The messages of the oldest batches that hold what is looked for, masked or not.
    fn oldest_batches(&self, view: View<'_>, tools: &[String], untouched: &BTreeSet<u32>, n: u64) -> BTreeSet<u32> {
        let holds = |message: &Seen| view.items(*message).any(|item| self.wants(&item, message, tools));
        let mut scan = Scan::default();
        let mut oldest = BTreeSet::new();
        let mut begun = 0;
        let mut counted = None;
        for message in view.messages() {
            scan.pass(&message);
            if untouched.contains(&message.id) || !holds(&message) {
                continue;
            }
            if counted != Some(scan.batches) {
                counted = Some(scan.batches);
                begun += 1;
            }
            if begun > n {
                break;
            }
            oldest.insert(message.id);
        }
        oldest
    }

    /// No fewer tokens than the items come to that it looks at; `None` where these may be others than results.
    pub fn most(&self, view: View<'_>) -> Option<u64> {
        self.takes_results_alone().then(|| match self.sizes {
            Sizes::Texts => view.unmasked_texts(),
            Sizes::Parts => view.most_unmasked_parts(),
        })
    }

    /// Does it look at nothing but results of tools?
    pub(super) fn takes_results_alone(&self) -> bool {
        !self.kind.is_empty() && self.kind.iter().all(|kind| *kind == Kind::ToolResult)
    }

    /// Do its ends keep all that it looks at, where that comes to so many tokens at most?
    pub fn keeps_all(&self, most: u64) -> bool {
        self.tail.iter().any(|end| (end.unit, end.of) == (EndUnit::Tokens, EndOf::Selected) && (most as f64) < end.n)
    }

    /// Does it take all that it looks at but what its ends at the new side keep, the oldest first?
    pub fn takes_the_rest(&self) -> bool {
        self.takes_the_oldest() && self.step.is_none()
    }

    /// Does the selection take the oldest of those items, all of them or in whole bunches?
    pub(super) fn takes_the_oldest(&self) -> bool {
        let all = matches!(self.take, Take::All | Take::UntilRequest(_) | Take::TurnsUntilRequest(_));
        all && self.order == Order::Oldest && self.head.iter().all(|end| end.n <= 0.0) && self.protect.is_empty()
    }

    /// Do two selections that take the oldest look at the same items?
    pub fn looks_alike(&self, other: &Select) -> bool {
        let keeps_items = |end: &End| end.unit == EndUnit::Items || (end.unit == EndUnit::Tokens && end.of == EndOf::Selected);
        let alike = |(one, other): (&End, &End)| one == other || (keeps_items(one) && End { n: other.n, ..one.clone() } == *other);
        self.takes_the_oldest()
            && other.takes_the_oldest()
            && self.tail.len() == other.tail.len()
            && self.tail.iter().zip(&other.tail).all(alike)
            && self.kind == other.kind
            && self.tools == other.tools
            && self.not_tools == other.not_tools
            && self.not_errors == other.not_errors
            && self.superseded == other.superseded
            && self.stop_at == other.stop_at
            && self.sizes == other.sizes
    }

    /// The items that the selection looks at: those of the kinds and tools that it asks for, outside of messages that it protects as a
    /// whole, and not masked.
    pub fn candidates(&self, view: View<'_>, tools: &[String]) -> Candidates {
        let mut found = Vec::with_capacity(view.len());
        let (mut sum, mut beside) = (0, 0);
        let mut scan = Scan::default();
        'scan: for message in view.messages().rev() {
            scan.pass(&message);
            let guarded = self.tail.iter().any(|end| scan.guards(end));
            if guarded && !matches!(self.take, Take::DownTo(_)) {
                continue;
            }
            if !guarded && message.is_summary && self.stop_at.contains(&Stop::Summary) {
                break;
            }
            for mut item in view.items(message).rev() {
                if !self.wants(&item, &message, tools) {
                    continue;
                }
                if item.state == State::Masked {
                    if !guarded && self.stop_at.contains(&Stop::Masked) {
                        break 'scan;
                    }
                    continue;
                }
                item.alone = self.size(view.estimator(), item.guess, item.alone);
                if guarded {
                    beside += item.alone;
                    continue;
                }
                sum += item.alone;
                found.push(Candidate { item, owner: message.id, sum });
            }
        }
        Candidates { found, beside }
    }
}

impl End {
    /// May it protect messages as a whole?
    pub(super) fn guards_messages(&self) -> bool {
        let by_messages = matches!(self.unit, EndUnit::Turns | EndUnit::UserMessages | EndUnit::Messages | EndUnit::Batches);
        by_messages || (self.unit, self.of) == (EndUnit::Tokens, EndOf::All)
    }
}

/// Counters of a scan from the newest message to the oldest.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    messages: u64,
    batches: u64,
    /// The last message that was passed is a result.
    in_batch: bool,
    turns: u64,
    user_messages: u64,
    tokens: u64,
}

impl Scan {
    /// Counts a message that the scan has passed.
    pub fn pass(&mut self, message: &Seen) {
        self.messages += 1;
        let is_result = message.role == Role::Tool;
        self.batches += u64::from(!(is_result && self.in_batch));
        self.in_batch = is_result;
        self.turns += u64::from(message.opens_turn);
        self.user_messages += u64::from(message.role == Role::User);
        self.tokens += message.in_ends;
    }

    /// A message counts no more: the oldest of those that were passed. `next` came behind it.
    pub fn leave_behind(&mut self, message: &Seen, next: Option<Seen>) {
        self.messages -= 1;
        let goes_on = message.role == Role::Tool && next.is_some_and(|next| next.role == Role::Tool);
        self.batches -= u64::from(!goes_on);
        self.turns -= u64::from(message.opens_turn);
        self.user_messages -= u64::from(message.role == Role::User);
        self.tokens = self.tokens.saturating_sub(message.in_ends);
    }

    /// Is the oldest message that was passed protected as a whole?
    pub fn guards(&self, end: &End) -> bool {
        let number = match (end.unit, end.of) {
            (EndUnit::Turns, _) => return (self.turns as f64) < end.n,
            (EndUnit::UserMessages, _) => return (self.user_messages as f64) < end.n,
            (EndUnit::Messages, _) => self.messages,
            (EndUnit::Batches, _) => self.batches,
            (EndUnit::Tokens, EndOf::All) => self.tokens,
            _ => return false,
        };
        number as f64 <= end.n
    }
}
