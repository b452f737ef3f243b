//! The messages that a selection takes where they stand side by side, in a context to whose end messages are added.
//!
//! Agents that make each request anew keep an old and a new end of the history, and leave out what stands between them. `select.rs` looks
//! at all messages for that. Here the messages that it looks at are kept with running sums, so that a request costs what has come since,
//! and the look for its ends.

use super::range::{BLOCK, Range, is_carried, newest_summary, run_before};
use super::select::Bounds;
use super::selector::{Carried, Order, Pairs, Replay, Select, Take};
use crate::context::{Calling, Seen, View};
use crate::transcript::Role;

/// The messages of a context that grows at its end and does not change before it.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    range: Range,
    /// The estimated tokens of those before each [`BLOCK`] of them.
    before: Vec<u64>,
    /// Estimated tokens of all of them.
    tokens: u64,
    /// The messages among them in the user's name, and the summaries.
    users: Vec<usize>,
    summaries: Vec<usize>,
    /// Results that stand behind another one: both are of one batch.
    later_results: Vec<usize>,
    /// By message in prompt order that is none of them (the system's, and what is lost): how many of them stand before it.
    others: Vec<usize>,
    /// What becomes of messages that an earlier compaction has carried over, and the summary that it made.
    carried: Carried,
    newest_summary: Option<u32>,
    /// By message that is lost: its place in prompt order.
    lost_at: Vec<u32>,
}

/// Messages that a selection takes, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first one, and the one behind the last one, by their places in the conversation.
    pub start: usize,
    /// The place behind the last message taken; `start` where none is.
    pub end: usize,
    /// How many messages were looked at, for guards on progress.
    pub looked_at: usize,
    /// How many of the messages taken are no earlier summaries.
    pub new: u64,
    /// Estimated tokens of the messages taken.
    pub tokens: u64,
}

impl Select {
    /// Does the selection take messages that stand side by side?
    pub fn takes_a_stretch(&self) -> bool {
        let side_by_side = match self.take {
            Take::All | Take::TurnsUntilRequest(_) => true,
            Take::UntilRequest(_) => self.order != Order::Largest,
            _ => false,
        };
        side_by_side && self.kind.is_empty() && self.protect.is_empty() && self.is_followed() && self.carried == Carried::Counted
    }

    /// Can the messages that it looks at be followed from call to call?
    pub fn is_followed(&self) -> bool {
        self.replay == Replay::Nothing
    }
}

impl Conversation {
    /// Looks at what has come, as a selection would that does this with what an earlier compaction has carried over.
    pub fn grow(&mut self, view: View<'_>, carried: Carried) {
        if carried != self.carried {
            self.clear();
            self.carried = carried;
        }
        if self.places() == 0 && carried == Carried::Lost {
            self.newest_summary = newest_summary(view.messages());
        }
        // Most of a long session comes at the first look.
        let coming = view.len().saturating_sub(self.places());
        self.range.looked_at.reserve(coming);
        while let Some(message) = view.message(self.places()) {
            let place = self.len();
            if is_carried(&message, self.newest_summary) && message.role != Role::System {
                self.range.lost.push(message);
                self.lost_at.push(self.places() as u32);
                self.others.push(place);
            } else if message.role != Role::System || message.is_summary {
                if message.role == Role::User {
                    self.users.push(place);
                }
                if message.is_summary {
                    self.summaries.push(place);
                }
                if message.role == Role::Tool && self.range.looked_at.last().is_some_and(|last| last.role == Role::Tool) {
                    self.later_results.push(place);
                }
                self.range.note(place, &message);
                if place.is_multiple_of(BLOCK) {
                    self.before.push(self.tokens);
                }
                self.range.looked_at.push(message);
                self.tokens += message.estimated;
            } else {
                self.others.push(place);
            }
        }
        self.range = std::mem::take(&mut self.range).seen_in(view);
    }

    /// Forgets all messages that were looked at.
    pub fn clear(&mut self) {
        self.cut_to(0, 0);
        self.newest_summary = None;
    }

    /// Only so many messages have been looked at, which end at this place in prompt order.
    fn cut_to(&mut self, messages: usize, end: usize) {
        self.tokens = self.tokens_before(messages);
        self.before.truncate(messages.div_ceil(BLOCK));
        self.range.cut_to(messages);
        for places in [&mut self.users, &mut self.summaries, &mut self.later_results] {
            places.truncate(places.partition_point(|place| *place < messages));
        }
        self.others.truncate(end - messages);
        self.lost_at.truncate(self.lost_at.partition_point(|place| (*place as usize) < end));
        self.range.lost.truncate(self.lost_at.len());
    }

    /// The messages of the newest turn have changed: they are looked at again.
    pub fn forget_newest_turn(&mut self) {
        let opening = self.range.looked_at.iter().rposition(|message| message.opens_turn && !message.is_summary).unwrap_or(0);
        self.cut_to(opening, self.place_of(opening));
    }

    /// What selections choose from that look at all messages.
    pub fn range(&self) -> &Range {
        &self.range
    }

    /// The messages that such a selection takes; `None` where they stand apart: what came before the log goes in front of an old end that
    /// stays. `request` is the estimate of the request as it stands.
    pub fn stretch(&self, select: &Select, request: u64) -> Option<Stretch> {
        let Bounds::Between(start, cut) = select.bounds(&self.range) else {
            return Some(Stretch { start: 0, end: 0, looked_at: self.len(), new: 0, tokens: 0 });
        };
        if start > 0 && self.range.looked_at.first().is_some_and(|message| message.unseen) {
            return None;
        }
        let enough = |taken: (usize, usize), target: f64| {
            request.saturating_sub(self.tokens_before(taken.1) - self.tokens_before(taken.0)) as f64 <= target
        };
        let (start, end) = match select.take {
            Take::UntilRequest(target) if select.order == Order::MiddleOut => {
                let first = self.batch_of(start);
                let batches = if start < cut { self.batch_of(cut - 1) + 1 - first } else { 0 };
                let begin_of = |batch: usize| start + fewest(cut - start, |steps| self.batch_of(start + steps) >= batch);
                // What is left has its middle at the right side where it has an odd number of places: `middle_out` takes one by one.
                let taken = |steps: usize| match first + (batches - steps).div_ceil(2) {
                    _ if steps == 0 => (start, start),
                    from => (begin_of(from), begin_of(from + steps)),
                };
                taken(fewest(batches, |steps| enough(taken(steps), target)))
            }
            Take::UntilRequest(target) => {
                let taken = |steps| (start, start + steps);
                taken(fewest(cut - start, |steps| enough(taken(steps), target)))
            }
            Take::TurnsUntilRequest(target) if start < cut => {
                let behind_first = self.users.partition_point(|place| *place <= start);
                let turns = self.users.get(behind_first..).unwrap_or(&[]).partition_point(|place| *place < cut);
                let taken = |steps: usize| match steps.checked_sub(1) {
                    None => (start, start),
                    Some(turn) if turn < turns => (start, self.users.get(behind_first + turn).copied().unwrap_or(cut)),
                    Some(_) => (start, cut),
                };
                taken(fewest(turns + 1, |steps| enough(taken(steps), target)))
            }
            _ => (start, cut),
        };
        let (start, end) = if select.pairs == Pairs::Split { (start, end) } else { self.with_whole_pairs(select.pairs, start, end) };
        let summaries_before = |place: usize| self.summaries.partition_point(|summary| *summary < place);
        let summaries = summaries_before(end) - summaries_before(start);
        Some(Stretch {
            start,
            end,
            looked_at: self.len(),
            new: (end - start - summaries) as u64,
            tokens: self.tokens_before(end) - self.tokens_before(start),
        })
    }

    /// No result outlives its call, and none goes without it; nor a call of a run without the first one, where such runs stay whole.
    fn with_whole_pairs(&self, pairs: Pairs, start: usize, end: usize) -> (usize, usize) {
        let all = &self.range.looked_at;
        let run = |place: usize| run_before(all, place).filter(|_| pairs == Pairs::Loops);
        let caller = |place: usize| {
            let before = all.get(..place)?;
            let caller = before.iter().rposition(|message| message.role != Role::Tool)?;
            before.get(caller).is_some_and(|message| message.role == Role::Assistant).then_some(caller)
        };
        let begun = |place: usize| run(place).or_else(|| caller(place));
        // What goes on, of the messages from a place on.
        let rest = |from: usize, until: usize| {
            let within = run(from).is_some();
            let goes_on = |message: &&Seen| message.role == Role::Tool || (within && message.calling == Calling::Tools);
            all.get(from..until).unwrap_or(&[]).iter().take_while(goes_on).count()
        };
        let first = if begun(start).is_some() { start + rest(start, end) } else { start };
        let last = if begun(end).is_some_and(|begun| begun >= first) { end + rest(end, all.len()) } else { end };
        (first, last)
    }

    /// The number of the batch that a message is of: results in a row are one.
    fn batch_of(&self, place: usize) -> usize {
        place - self.later_results.partition_point(|later| *later <= place)
    }

    fn tokens_before(&self, place: usize) -> u64 {
        let Some(within) = self.range.looked_at.get(place / BLOCK * BLOCK..place).filter(|_| place < self.len()) else {
            return self.tokens;
        };
        self.before.get(place / BLOCK).map_or(0, |before| before + within.iter().map(|message| message.estimated).sum::<u64>())
    }

    /// How many messages have been looked at in prompt order.
    fn places(&self) -> usize {
        self.len() + self.others.len()
    }

    /// Where in prompt order a message stands, by its place in the conversation.
    pub fn place_of(&self, message: usize) -> usize {
        message + self.others.partition_point(|other| *other <= message)
    }

    /// Number of the messages that were looked at.
    pub fn len(&self) -> usize {
        self.range.looked_at.len()
    }

    /// Does the conversation hold no message?
    pub fn is_empty(&self) -> bool {
        self.range.looked_at.is_empty()
    }

    /// The messages from a place on.
    pub fn messages(&self, from: usize) -> &[Seen] {
        self.range.looked_at.get(from..).unwrap_or(&[])
    }

    /// The ids of messages by their places.
    pub fn ids(&self, places: std::ops::Range<usize>) -> impl Iterator<Item = u32> + '_ {
        self.range.looked_at.get(places).unwrap_or(&[]).iter().map(|message| message.id)
    }
}

/// The fewest steps that are enough; all of them where none are. More are never less.
fn fewest(steps: usize, enough: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (0, steps);
    while from < to {
        let middle = from.midpoint(to);
        (from, to) = if enough(middle) { (from, middle) } else { (middle + 1, to) };
    }
    from
}
