//! How far the protected ends of a conversation reach, in messages.

use super::action::SummariserOverflow;
use super::range::Range;
use super::selector::{Crossing, End, EndOf, EndUnit, Shrink};
use crate::context::Seen;
use crate::transcript::Role;

impl End {
    /// How many of so many items, the newest ones, an end at the new side keeps. `within` counts those whose tokens hold to this, those of all newer
    /// ones among them.
    pub(super) fn kept_of(&self, count: usize, within: impl Fn(&dyn Fn(f64) -> bool) -> usize) -> usize {
        match (self.unit, self.of, self.crossing) {
            (EndUnit::Items, ..) => count.min(self.n.max(0.0) as usize),
            (EndUnit::Tokens, EndOf::Selected, Crossing::Select) => within(&|sum| sum <= self.n),
            // The item that crosses the line is kept.
            (EndUnit::Tokens, EndOf::Selected, Crossing::Keep) if self.n > 0.0 => count.min(within(&|sum| sum < self.n) + 1),
            _ => 0,
        }
    }

    /// Index of the first message that an end at the new side keeps. These are the newest of a range.
    pub(super) fn first_kept(&self, all: &[Seen], range: &Range) -> usize {
        (self.reaches_to(all, range) + self.less.max(0.0) as usize).min(all.len())
    }

    fn reaches_to(&self, all: &[Seen], range: &Range) -> usize {
        let room = self.request.map_or(f64::MAX, |request| (request - range.overhead as f64).floor().max(1.0));
        let n = self.n.max(0.0).min(room);
        let (count, ahead) = (all.len(), range.ahead_of(all));
        // What opens a turn, or comes from a user, is a mark.
        let marks = |test: fn(&Seen) -> bool| {
            let places = range.marks_from(ahead).iter().map(move |mark| mark - ahead);
            places.filter(move |place| all.get(*place).is_some_and(test))
        };
        let opening = |test: fn(&Seen) -> bool, kept: usize| {
            let mut starts = marks(test).rev();
            kept.checked_sub(1).map_or(count, |newer| starts.nth(newer).unwrap_or(0))
        };
        let turn: fn(&Seen) -> bool = |message| message.opens_turn;
        let any_user: fn(&Seen) -> bool = |message| message.role == Role::User;
        match self.unit {
            EndUnit::Messages | EndUnit::Items => count.saturating_sub(n as usize),
            EndUnit::Batches => match n as usize {
                0 => count,
                n => (0..count).rev().filter(|place| begins_batch(all, *place)).nth(n - 1).unwrap_or(0),
            },
            EndUnit::Spoken => match n as usize {
                0 => count,
                n => (0..count).rev().filter(|place| all.get(*place).is_some_and(is_spoken)).nth(n - 1).unwrap_or(0),
            },
            EndUnit::Turns if n >= 1.0 => match opening(turn, n as usize) {
                0 => before_turns(all, marks(turn).next().unwrap_or(0)),
                start => start,
            },
            EndUnit::Turns => count,
            EndUnit::UserMessages => opening(any_user, n as usize),
            EndUnit::TurnShare => {
                let turns = marks(turn).count();
                if turns == 0 {
                    return count - ((count as f64 * n).ceil() as usize).min(count);
                }
                opening(turn, (turns as f64 * n).ceil() as usize)
            }
            EndUnit::MessageShare => count - ((count as f64 * n).ceil() as usize).min(count),
            EndUnit::BatchShare => {
                let begins: Vec<usize> = (0..count).filter(|place| begins_batch(all, *place)).collect();
                let kept = share_of(begins.len(), n).min(begins.len());
                begins.get(begins.len() - kept).copied().unwrap_or(count)
            }
            EndUnit::Tokens if self.of == EndOf::Usage => usage_cut(all, n),
            EndUnit::Tokens => token_cut(range, ahead, n, self.crossing),
            EndUnit::SizeShare => token_cut(range, ahead, range.in_ends_from(ahead) as f64 * n, self.crossing),
        }
    }

    /// Where an end that shrinks lets messages go, the first place that it may reach and each one behind it.
    pub(super) fn places(&self, shrink: Shrink, count: usize) -> impl Iterator<Item = usize> {
        let goes = std::iter::successors(Some(1.0 - self.n), move |share| Some(share + shrink.by)).take_while(|share| *share < 1.0);
        let none = (count as f64) < shrink.least;
        let place = move |share: f64| (share * (count as f64 + shrink.ahead)).round() - shrink.ahead;
        goes.filter(move |_| !none).map(move |share| place(share).max(0.0) as usize)
    }

    /// How many messages an end at the old side keeps. Tokens keep what fits; shares keep their rounded-up number.
    pub(super) fn length(&self, all: &[Seen]) -> usize {
        let n = self.n.max(0.0) as usize;
        let starts = |begins: &dyn Fn(usize, &Seen) -> bool| {
            (0..all.len()).zip(all).filter(|(place, message)| begins(*place, message)).nth(n).map_or(all.len(), |(place, _)| place)
        };
        match self.unit {
            // What stands before all turns ends with the first reply at the latest: a conversation may begin within a turn, as behind a compaction.
            EndUnit::Turns if n == 0 => all.iter().position(|message| message.opens_turn || message.role == Role::Assistant).unwrap_or(0),
            EndUnit::Turns => starts(&|_, message| message.opens_turn),
            EndUnit::UserMessages => starts(&|_, message| message.role == Role::User),
            EndUnit::Tokens | EndUnit::SizeShare => {
                let whole: u64 = all.iter().map(|message| message.in_ends).sum();
                let budget = if self.unit == EndUnit::Tokens { self.n } else { whole as f64 * self.n };
                let mut sum = 0;
                all.iter()
                    .take_while(|message| {
                        sum += message.in_ends;
                        sum as f64 <= budget
                    })
                    .count()
            }
            EndUnit::MessageShare | EndUnit::TurnShare => ((all.len() as f64 * self.n.max(0.0)).ceil() as usize).min(all.len()),
            EndUnit::BatchShare => {
                let batches = (0..all.len()).filter(|place| begins_batch(all, *place)).count();
                let kept = share_of(batches, self.n.max(0.0));
                End { n: kept as f64, unit: EndUnit::Batches, ..self.clone() }.length(all)
            }
            EndUnit::Messages | EndUnit::Items => n,
            EndUnit::Batches => starts(&|place, _| begins_batch(all, place)),
            EndUnit::Spoken => starts(&|_, message| is_spoken(message)),
        }
    }
}

/// A share of so many, rounded up. One that was worked out as what another share leaves may be a trace too large: 1 - 0.7 of ten are three.
fn share_of(count: usize, share: f64) -> usize {
    (count as f64 * share - 1e-9).ceil().max(0.0) as usize
}

/// Does a message stand at this place that is no further result of the same reply?
fn begins_batch(all: &[Seen], place: usize) -> bool {
    let is_result = |place: usize| all.get(place).is_some_and(|message| message.role == Role::Tool);
    !is_result(place) || !place.checked_sub(1).is_some_and(is_result)
}

/// Is a message of the user or the model, and no result?
fn is_spoken(message: &Seen) -> bool {
    message.role != Role::Tool
}

/// Where the oldest turn begins, if what stands before it is more than summaries: an end counted in turns keeps nothing that is in none.
fn before_turns(all: &[Seen], oldest: usize) -> usize {
    if all.iter().take(oldest).all(|message| message.is_summary) { 0 } else { oldest }
}

/// The first message kept of those behind so many of a range, where the newest ones are kept up to a budget.
fn token_cut(range: &Range, ahead: usize, budget: f64, crossing: Crossing) -> usize {
    let first = match crossing {
        Crossing::Keep => range.reached_back(|sum| sum as f64 >= budget).saturating_sub(1),
        Crossing::Select => range.reached_back(|sum| sum as f64 > budget),
    };
    first.saturating_sub(ahead)
}

/// The reply after the newest one whose reported usage lies below the newest by the budget; where none does, everything is kept.
/// Where nothing was reported, the last user message is all that is kept.
fn usage_cut(all: &[Seen], budget: f64) -> usize {
    let mut replies = all.iter().enumerate().rev().filter_map(|(index, message)| Some((index, message.usage.get()?)));
    let Some((mut newer, newest)) = replies.next() else {
        return all.iter().rposition(|message| message.role == Role::User && !message.is_summary).unwrap_or(0);
    };
    for (index, usage) in replies {
        if newest as f64 - usage as f64 >= budget {
            return newer;
        }
        newer = index;
    }
    0
}

impl SummariserOverflow {
    /// How many of the messages of a summariser's request, the oldest ones, it leaves out after its n-th refusal; `None` where it gives up, or
    /// leaves out no whole messages.
    pub fn leaves_out(&self, messages: &[Seen], refused: u32) -> Option<usize> {
        match self {
            SummariserOverflow::Fail | SummariserOverflow::DropOldest | SummariserOverflow::WithoutResults(_) => None,
            SummariserOverflow::Keep(shares) => {
                let share = shares.get(refused.checked_sub(1)? as usize)?;
                let all: u64 = messages.iter().map(|message| message.estimated).sum();
                (messages.len() > 1).then(|| older_than(messages, (all as f64 * share).floor() as u64))
            }
        }
    }
}

/// A share of what is listed, one at least, in turns to the left and to the right of the middle. The newest of an odd number stays always.
pub fn around_middle<T: Copy>(all: &[T], share: f64) -> Vec<T> {
    let (middle, count) = (all.len() / 2, ((all.len() as f64 * share).floor() as usize).max(1));
    let place = |turn: usize| if turn.is_multiple_of(2) { middle.checked_sub(turn / 2 + 1) } else { Some(middle + turn / 2) };
    (0..count).filter_map(place).filter_map(|place| all.get(place).copied()).collect()
}

/// How many messages stand before the newest ones that fit into so many estimated tokens: one at least, and no result without its call.
pub fn older_than(messages: &[Seen], tokens: u64) -> usize {
    let mut left = tokens;
    let fits = |message: &&Seen| {
        let fits = message.estimated <= left;
        left = left.saturating_sub(message.estimated);
        fits
    };
    let newest = messages.iter().rev().take_while(fits).count();
    without_results(messages, (messages.len() - newest).max(1))
}

/// The place from which on messages stay, once results that lead them have gone as well.
fn without_results(messages: &[Seen], from: usize) -> usize {
    let results = messages.iter().skip(from).take_while(|message| message.role == Role::Tool).count();
    (from + results).min(messages.len())
}
