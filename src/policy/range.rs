//! Which part of the conversation a selection of messages looks at, before heads and tails are measured.

use super::selector::{Carried, Pairs, Replay, Select};
use crate::context::{Calling, Seen, View};
use crate::transcript::Role;

/// So many messages have a sum: those within are added up when they are asked for.
pub(super) const BLOCK: usize = 64;

/// What a selection looks at, and what goes because of it without being looked at.
#[derive(Clone, Debug, Default)]
pub struct Range {
    /// The messages among which is selected.
    pub(super) looked_at: Vec<Seen>,
    /// The places of those that are neither replies nor results, or open a turn: few where a turn is long.
    marks: Vec<usize>,
    /// Where ends are counted: what those before each [`BLOCK`] of them come to, and what all of them do.
    before: Vec<u64>,
    in_ends: u64,
    /// The newest message is a reply that calls nothing.
    pub(super) answered: bool,
    /// What the request is estimated at beyond all messages: system prompt, tools, what the log hides.
    pub(super) overhead: u64,
    /// Messages that leave with the selection, but into no summary.
    pub(super) lost: Vec<Seen>,
}

impl Select {
    pub(super) fn range(&self, all: Vec<Seen>) -> Range {
        let mut range = Range { looked_at: all, ..Range::default() };
        if self.carried == Carried::Lost {
            range.lose_carried();
        }
        if self.replay != Replay::Nothing {
            range.replay_last_user(self.replay);
        }
        let looked_at = std::mem::take(&mut range.looked_at);
        looked_at.iter().enumerate().for_each(|(place, message)| range.note(place, message));
        Range { looked_at, ..range }
    }
}

impl Range {
    /// A message stands at this place, behind all that have been noted.
    pub(super) fn note(&mut self, place: usize, message: &Seen) {
        if is_mark(message) {
            self.marks.push(place);
        }
        if place.is_multiple_of(BLOCK) {
            self.before.push(self.in_ends);
        }
        self.in_ends += message.in_ends;
    }

    /// Only so many messages have been looked at.
    pub(super) fn cut_to(&mut self, messages: usize) {
        self.in_ends = self.in_ends_before(messages);
        self.before.truncate(messages.div_ceil(BLOCK));
        self.marks.truncate(self.marks.partition_point(|place| *place < messages));
        self.looked_at.truncate(messages);
    }

    /// How many messages stand in front of these, the newest ones.
    pub(super) fn ahead_of(&self, newest: &[Seen]) -> usize {
        self.looked_at.len() - newest.len()
    }

    /// The marks from a place on.
    pub(super) fn marks_from(&self, place: usize) -> &[usize] {
        self.marks.get(self.marks.partition_point(|mark| *mark < place)..).unwrap_or(&[])
    }

    /// What the messages from a place on come to where ends are counted.
    pub(super) fn in_ends_from(&self, place: usize) -> u64 {
        self.in_ends - self.in_ends_before(place)
    }

    fn in_ends_before(&self, place: usize) -> u64 {
        let Some(within) = self.looked_at.get(place / BLOCK * BLOCK..place).filter(|_| place < self.looked_at.len()) else {
            return self.in_ends;
        };
        self.before.get(place / BLOCK).map_or(0, |before| before + within.iter().map(|message| message.in_ends).sum::<u64>())
    }

    /// How many messages, the oldest ones, come to something of which this holds, together with all newer ones. It holds of all larger sums as well.
    pub(super) fn reached_back(&self, holds: impl Fn(u64) -> bool) -> usize {
        let reaches = |before: u64| holds(self.in_ends - before);
        let Some(block) = self.before.partition_point(|before| reaches(*before)).checked_sub(1) else { return 0 };
        let mut before = self.before.get(block).copied().unwrap_or(0);
        let within = self.looked_at.iter().skip(block * BLOCK).take(BLOCK).take_while(|message| {
            let reaches = reaches(before);
            before += message.in_ends;
            reaches
        });
        block * BLOCK + within.count()
    }

    /// With what it needs to know of the request beside its messages.
    pub(super) fn seen_in(self, view: View<'_>) -> Range {
        let answered = self.looked_at.last().is_some_and(|message| view.answers(*message));
        Range { answered, overhead: view.request().saturating_sub(view.history()), ..self }
    }

    fn lose_carried(&mut self) {
        let newest = newest_summary(self.looked_at.iter().copied());
        self.lost = self.looked_at.extract_if(.., |message| is_carried(message, newest)).collect();
    }

    fn replay_last_user(&mut self, how: Replay) {
        // A text that was put in and begins a turn asks too; a summary does not.
        let asks = |message: &Seen| message.role == Role::User && (!message.is_summary || message.opens_turn) && !message.unseen;
        let last = self.looked_at.iter().rposition(asks);
        // Where nothing was asked before it, nothing is replayed.
        let last = last.filter(|last| self.looked_at.iter().take(*last).any(asks));
        let is_answered = |last: usize| self.looked_at.iter().skip(last).any(|message| message.role == Role::Assistant);
        match last {
            Some(last) if how == Replay::LastUser || !is_answered(last) => self.lost.extend(self.looked_at.drain(last..).skip(1)),
            _ if how == Replay::Unanswered => self.looked_at.clear(),
            _ => {}
        }
    }
}

/// Is a message neither a reply nor a result, or does it open a turn?
fn is_mark(message: &Seen) -> bool {
    message.is_summary || message.opens_turn || !matches!(message.role, Role::Assistant | Role::Tool)
}

/// The summary that was put in last.
pub(super) fn newest_summary(messages: impl Iterator<Item = Seen>) -> Option<u32> {
    messages.filter(|message| message.is_summary).map(|message| message.id).max()
}

/// What is older than the newest summary, and still there, was carried over by the compaction that made it.
pub(super) fn is_carried(message: &Seen, newest_summary: Option<u32>) -> bool {
    !message.is_summary && newest_summary.is_some_and(|newest| message.id < newest)
}

/// Which messages are one with a reply in front of them.
pub(super) struct Runs {
    pairs: Pairs,
    within: bool,
}

impl Runs {
    pub(super) fn new(pairs: Pairs) -> Runs {
        Runs { pairs, within: false }
    }

    /// Is the next message one with what stands in front of it: a result, or a call of a run that began with reasoning?
    pub(super) fn go_on(&mut self, message: &Seen) -> bool {
        if message.role == Role::Tool {
            return true;
        }
        let goes_on = self.within && message.calling == Calling::Tools;
        self.within = self.pairs == Pairs::Loops && (goes_on || message.calling == Calling::Reasoned);
        goes_on
    }
}

/// Where the run began with reasoning that the message at a place would go on with.
pub(super) fn run_before(all: &[Seen], place: usize) -> Option<usize> {
    let before = all.get(..place)?;
    let begins = before.iter().rposition(|message| message.role != Role::Tool && message.calling != Calling::Tools)?;
    before.get(begins).is_some_and(|message| message.calling == Calling::Reasoned).then_some(begins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Known;

    fn message(id: u32, in_ends: u64) -> Seen {
        let role = if id % 7 == 3 { Role::User } else { Role::Assistant };
        Seen {
            id,
            role,
            opens_turn: id % 21 == 3,
            is_summary: false,
            unseen: false,
            calling: Calling::Nothing,
            estimated: 1,
            in_ends,
            usage: Known::default(),
        }
    }

    #[test]
    fn sums_reach_back_as_far_as_a_walk_over_the_messages() {
        let all: Vec<Seen> = (0..200).map(|id| message(id, u64::from(id * 37 % 11).saturating_sub(3))).collect();
        let mut range = Select::default().range(all.clone());
        for count in [200, 129, 128, 127, 1, 0] {
            range.cut_to(count);
            let all = &all[..count];
            let sum = |from: usize| all[from..].iter().map(|message| message.in_ends).sum::<u64>();
            assert!((0..=count).all(|place| range.in_ends_from(place) == sum(place)));
            for limit in 0..=sum(0) + 1 {
                let walked = (0..count).rev().find(|place| sum(*place) >= limit).map_or(0, |place| place + 1);
                assert_eq!(range.reached_back(|sum| sum >= limit), walked, "{limit} of {count}");
            }
            let users: Vec<usize> = (0..count).filter(|place| all[*place].role == Role::User).collect();
            assert_eq!(range.marks_from(0), users);
        }
    }
}
