//! Which part of the conversation a selection of messages looks at, before heads and tails are measured.

use super::selector::{Carried, Pairs, Replay, Select};
use crate::context::{Calling, Seen, View};
use crate::transcript::Role;

/// What a selection looks at, and what goes because of it without being looked at.
#[derive(Clone, Debug, Default)]
pub struct Range {
    /// The messages among which is selected.
    pub(super) looked_at: Vec<Seen>,
    /// The places of those that are neither replies nor results: few where a turn is long.
    pub(super) marks: Vec<usize>,
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
        range.marks.extend(range.looked_at.iter().enumerate().filter(|(_, message)| is_mark(message)).map(|(place, _)| place));
        range
    }
}

impl Range {
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

/// Is a message neither a reply nor a result?
pub(super) fn is_mark(message: &Seen) -> bool {
    message.is_summary || !matches!(message.role, Role::Assistant | Role::Tool)
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
