//! What a rule acts upon: items for masking and cutting, whole messages for dropping and summarising.

use super::protect::Shortened;
use super::range::{Range, Runs, is_carried, newest_summary};
use super::selector::{
    Absent, AllKept, Calls, Carried, Direction, End, EndUnit, Kind, Missing, Order, Pairs, Select, Shrink, Sizes, Snap, Tails, Take,
};
use super::switch::Switch;
use crate::context::{Calling, Region, Seen, SeenItem, State, View};
use crate::estimate::{Estimator, Guess};
use crate::transcript::Role;
use crate::units::Known;
use std::collections::BTreeSet;

/// Messages that go, and those that stay in part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Ids of the messages that go, oldest first.
    pub gone: Vec<u32>,
    /// Ids of messages that go as well, but into no summary.
    pub lost: Vec<u32>,
    /// Messages that stay in part.
    pub shortened: Vec<Shortened>,
    /// How many messages were looked at, for guards on progress.
    pub looked_at: usize,
}

impl Selection {
    /// Ids of all messages that leave.
    pub fn leaving(&self) -> Vec<u32> {
        self.gone.iter().chain(&self.lost).copied().collect()
    }
}

/// Where a selection may take messages, by their places among those that it looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// The protected ends leave nothing to take.
    Nothing,
    /// From the first place up to the second one.
    Between(usize, usize),
}

impl Select {
    /// What an item counts for whose text is estimated at `alone` by itself, and which adds this to its message.
    #[inline]
    pub fn size(&self, estimator: &Estimator, guess: Guess, alone: u64) -> u64 {
        match self.sizes {
            Sizes::Texts => alone,
            Sizes::Parts => estimator.message_part(guess),
        }
    }

    #[inline]
    pub(super) fn wants(&self, item: &SeenItem, message: &Seen, tools: &[String]) -> bool {
        let kind = if self.kind.is_empty() {
            !matches!(item.region, Region::System | Region::Tools)
        } else {
            self.kind.iter().any(|kind| kind.matches_item(item, message))
        };
        let fresh = self.superseded == Switch::On && !item.superseded;
        kind && self.wants_tool(item.tool, tools) && !fresh && !(item.error && self.not_errors == Switch::On)
    }

    /// Does the selection want results and calls of this tool? Tools without a name are wanted only where no list is given.
    #[inline]
    pub fn wants_tool(&self, tool: Option<u32>, tools: &[String]) -> bool {
        if self.tools.is_empty() && self.not_tools.is_empty() {
            return true;
        }
        let name = tool.and_then(|tool| tools.get(tool as usize));
        let listed = |list: &[String]| name.is_some_and(|name| list.iter().any(|entry| entry.eq_ignore_ascii_case(name)));
        (self.tools.is_empty() || listed(&self.tools)) && !listed(&self.not_tools)
    }

    /// Does an ingestion rule with this selection look at an item that arrives? Without kinds it looks at tool results.
    #[inline]
    pub fn wants_arrival(&self, region: Region, role: Role, tool: Option<u32>, tools: &[String]) -> bool {
        let item =
            SeenItem { id: 0, region, tool, state: State::Whole, error: false, superseded: false, alone: 0, guess: Guess::default() };
        let message = Seen {
            id: 0,
            role,
            opens_turn: false,
            is_summary: false,
            unseen: false,
            calling: Calling::Nothing,
            estimated: 0,
            in_ends: 0,
            usage: Known::default(),
        };
        let kind = match self.kind.as_slice() {
            [] => region == Region::ToolResult,
            kinds => kinds.iter().any(|kind| kind.matches_item(&item, &message)),
        };
        kind && self.wants_tool(tool, tools)
    }

    /// Messages whose items are left alone: those at the protected old end and those that are protected wherever they lie.
    pub(super) fn untouched(&self, view: View<'_>) -> BTreeSet<u32> {
        if self.protect.is_empty() && self.head.iter().all(|end| end.unit == EndUnit::Items) {
            return BTreeSet::new();
        }
        let all: Vec<Seen> = view.messages().filter(|message| message.role != Role::System || message.is_summary).collect();
        let head = self.head_of(&all, |end| end.unit != EndUnit::Items);
        let mut spared: BTreeSet<u32> = all.iter().take(head).map(|message| message.id).collect();
        spared.extend(self.protect.iter().flat_map(|protect| protect.spared(&all, view).0));
        spared
    }

    /// The oldest items that the selection looks for stay, where an old end is counted in items.
    pub(super) fn spare_first(&self, taken: &mut Vec<SeenItem>, view: View<'_>, tools: &[String]) {
        let first = self.head.iter().filter(|end| end.unit == EndUnit::Items).map(|end| end.n.max(0.0) as usize).max().unwrap_or(0);
        if first == 0 {
            return;
        }
        let wanted = view.messages().flat_map(|message| view.items(message).filter(move |item| self.wants(item, &message, tools)));
        let spared: BTreeSet<u32> = wanted.take(first).map(|item| item.id).collect();
        taken.retain(|item| !spared.contains(&item.id));
    }

    /// The messages that the selection takes. `request` is the estimate of the request as it stands.
    pub fn messages(&self, view: View<'_>, request: u64) -> Selection {
        let range = self.looked_at(view);
        self.between(&range, self.bounds(&range), view, request)
    }

    /// The messages among which the selection takes some.
    pub fn looked_at(&self, view: View<'_>) -> Range {
        let mut all = Vec::with_capacity(view.len());
        all.extend(view.messages().filter(|message| message.role != Role::System || message.is_summary));
        let range = self.range(all);
        range.seen_in(view)
    }

    /// Where, between the ends that it protects, the selection may take messages.
    pub fn bounds(&self, range: &Range) -> Bounds {
        let all = &range.looked_at;
        // Where what was carried over is lost, earlier summaries are summed up again whatever stays.
        let old = if self.carried == Carried::Lost { all.iter().take_while(|message| message.is_summary).count() } else { 0 };
        let Some(cut) = self.cut_of(range).or((old > 0).then_some(old)) else { return Bounds::Nothing };
        let cut = cut.max(old);
        Bounds::Between(self.head_of(all, |_| true).min(cut), cut)
    }

    /// How many messages the protected old ends come to. What came before the log is in front of all of them, and counts as none.
    fn head_of(&self, all: &[Seen], counts: fn(&End) -> bool) -> usize {
        let (unseen, seen) = all.split_at(unseen_in(all));
        let head = self.head.iter().filter(|end| counts(end)).map(|end| end.length(seen)).max().unwrap_or(0);
        if head == 0 { 0 } else { head + unseen.len() }
    }

    /// Index of the first kept message; `None` where nothing may go. What came before the log may always go.
    fn cut_of(&self, range: &Range) -> Option<usize> {
        let all = &range.looked_at;
        let (unseen, seen) = all.split_at(unseen_in(all));
        let cut = self.cut(seen, range).map(|cut| cut + unseen.len());
        cut.or((!unseen.is_empty()).then_some(unseen.len()))
    }

    /// Do two selections look at the same messages?
    pub fn looks_at_messages_like(&self, other: &Select) -> bool {
        self.carried == other.carried && self.replay == other.replay
    }

    /// Do two selections take the same messages wherever their bounds are the same?
    pub fn takes_messages_like(&self, other: &Select) -> bool {
        self.looks_at_messages_like(other)
            && self.kind == other.kind
            && self.protect == other.protect
            && self.take == other.take
            && self.order == other.order
            && self.pairs == other.pairs
    }

    /// The messages that the selection takes between its bounds. `request` is the estimate of the request as it stands.
    pub fn between(&self, range: &Range, bounds: Bounds, view: View<'_>, request: u64) -> Selection {
        let Range { looked_at: all, lost, .. } = range;
        let ids = |messages: &[Seen]| messages.iter().map(|message| message.id).collect::<Vec<u32>>();
        let (start, cut) = match bounds {
            Bounds::Nothing => return Selection { looked_at: all.len(), ..Selection::default() },
            Bounds::Between(start, cut) => (start, cut),
        };
        let unseen = all.get(..unseen_in(all)).filter(|_| start > 0).unwrap_or(&[]);
        let mut candidates: Vec<&Seen> = unseen.iter().chain(all.get(start.max(unseen.len())..cut).unwrap_or(&[])).collect();
        if !self.kind.is_empty() {
            candidates.retain(|message| self.kind.iter().any(|kind| kind.takes_message(message, view)));
        }
        let mut shortened = Vec::new();
        for protect in &self.protect {
            // What is newest or oldest is so among all messages, not among those that happen to be left.
            let (spared, cut) = protect.spared(all, view);
            shortened.extend(cut.into_iter().filter(|cut| candidates.iter().any(|message| message.id == cut.id)));
            candidates.retain(|message| !spared.contains(&message.id));
        }
        let mut gone = self.taken(candidates, view, request);
        if self.pairs != Pairs::Split {
            gone = self.with_whole_pairs(all, gone);
        }
        Selection { gone, lost: ids(lost), shortened, looked_at: all.len() }
    }

    /// No result outlives its call; and unless the selection asks for certain kinds, no result goes without its call. So it is with the calls of
    /// a run, where such runs stay whole.
    fn with_whole_pairs(&self, all: &[Seen], gone: Vec<u32>) -> Vec<u32> {
        let mut chosen = gone;
        chosen.sort_unstable();
        let mut caller_goes = None;
        let mut runs = Runs::new(self.pairs);
        let goes = |message: &&Seen| {
            let chosen = chosen.len() == all.len() || chosen.binary_search(&message.id).is_ok();
            if !runs.go_on(message) {
                // What a user says calls nothing: a result behind it goes or stays by itself.
                caller_goes = (message.role == Role::Assistant).then_some(chosen);
                return chosen;
            }
            match caller_goes {
                Some(true) => true,
                Some(false) if self.kind.is_empty() => false,
                _ => chosen,
            }
        };
        all.iter().filter(goes).map(|message| message.id).collect()
    }

    /// Index of the first kept message; `None` where nothing may go.
    fn cut(&self, all: &[Seen], range: &Range) -> Option<usize> {
        if let Some((end, shrink)) = self.tail.iter().find_map(|end| Some((end, end.shrink?))) {
            return self.shrunk(all, range, end, shrink);
        }
        let cuts = self.tail.iter().map(|end| end.first_kept(all, range));
        let cut = match self.tails {
            Tails::Union => cuts.min(),
            Tails::Intersection => cuts.max(),
        }
        .unwrap_or(all.len());
        if self.all_kept == AllKept::LastTurn {
            return self.last_turn(all, cut);
        }
        if cut == 0 && self.all_kept != AllKept::Snap {
            // Where the ends protect everything, a snap must not find something to take after all.
            return (self.all_kept == AllKept::Everything).then_some(all.len());
        }
        self.moved(all, range, cut)
    }

    /// The first place of an end that shrinks at which the other ends would keep what stays. The newest message never stays by itself. Where
    /// there is no such place all goes but a call without its results.
    fn shrunk(&self, all: &[Seen], range: &Range, end: &End, shrink: Shrink) -> Option<usize> {
        let waits = all.last().is_some_and(|message| message.role == Role::Assistant) && !range.answered;
        let most = all.len() - usize::from(waits);
        let others = self.tail.iter().filter(|end| end.shrink.is_none());
        let first = others.map(|end| end.first_kept(all, range)).max().unwrap_or(0);
        let places = end.places(shrink, all.len()).map(|place| place.min(most.saturating_sub(2)));
        let cut = places.filter_map(|place| self.moved(all, range, place)).find(|cut| *cut >= first && cut + 1 < most).unwrap_or(most);
        (cut > 0).then_some(cut)
    }

    /// The cut at a place that the snap permits, or between calls with their results; `None` where nothing may go.
    fn moved(&self, all: &[Seen], range: &Range, mut cut: usize) -> Option<usize> {
        if let Some(snap) = self.snap.as_ref().filter(|snap| snap.moves(cut, all)) {
            let permitted = Permitted { all, to: &snap.to, range };
            let back = || permitted.last(1, cut);
            let forward = || permitted.first(cut);
            let missing = match snap.missing {
                Missing::Answered if range.answered => Missing::Everything,
                Missing::Answered => Missing::Turn,
                missing => missing,
            };
            let place = match (snap.direction, missing) {
                (Direction::Back, Missing::Turn) => back().or_else(forward),
                (Direction::Forward, Missing::Turn) => forward().or_else(back),
                (Direction::Back, _) => back(),
                (Direction::Forward, _) => forward(),
            };
            cut = match (place, missing) {
                (Some(place), _) => place,
                (None, Missing::Everything) => all.len(),
                (None, Missing::Oldest) => permitted.first(0)?,
                (None, Missing::Nothing | Missing::Turn | Missing::Answered) => return None,
            };
        } else if self.pairs != Pairs::Split {
            let is_result = |place: usize| all.get(place).is_some_and(|message| message.role == Role::Tool);
            let is_behind = self.pairs == Pairs::Clear && cut < all.len() && cut.checked_sub(1).is_some_and(is_result);
            cut -= usize::from(is_behind);
            while cut > 0 && cut < all.len() && is_result(cut) {
                cut -= 1;
            }
        }
        match (cut, self.all_kept) {
            (0, AllKept::Everything) => Some(all.len()),
            (0, _) => None,
            (cut, _) => Some(cut),
        }
    }

    /// The cut where it lies behind something, moved back to a permitted place; else before the newest turn, if something stands in front of
    /// that; else everything goes, but all that has come since the newest compaction stays where that has carried something over. Earlier
    /// summaries and what they have carried over are nothing that could be kept: where nothing has come since, nothing goes.
    fn last_turn(&self, all: &[Seen], cut: usize) -> Option<usize> {
        let summaries = all.iter().take_while(|message| message.is_summary).count();
        let made = newest_summary(all.iter().take(summaries).copied());
        let old = summaries + all.iter().skip(summaries).take_while(|message| is_carried(message, made)).count();
        let fits = |index: &usize| {
            let to = self.snap.as_ref().map_or(&[][..], |snap| &snap.to);
            to.is_empty() || all.get(*index).is_some_and(|message| to.iter().any(|kind| kind.matches_message(message)))
        };
        let place = (old..=cut.min(all.len().saturating_sub(1))).rev().find(fits).filter(|place| *place > old);
        let newest = || all.iter().rposition(|message| message.opens_turn).filter(|place| *place > old);
        let rest = if old > summaries { old } else { all.len() };
        (old < all.len()).then(|| place.or_else(newest).unwrap_or(rest))
    }

    fn taken(&self, candidates: Vec<&Seen>, view: View<'_>, request: u64) -> Vec<u32> {
        let count = candidates.len();
        let ids = |messages: &[&Seen]| messages.iter().map(|message| message.id).collect::<Vec<u32>>();
        let first = |n: usize| ids(candidates.get(..n.min(count)).unwrap_or(&[]));
        match self.take {
            Take::All | Take::DownTo(_) => ids(&candidates),
            Take::Count(n) => first(n as usize),
            Take::Share(share) => first((count as f64 * share).floor() as usize),
            Take::EvenShare(share) => first((count as f64 * share).floor() as usize / 2 * 2),
            Take::Batches(n) => {
                let batches = candidates.chunk_by(|one, next| one.role == Role::Tool && next.role == Role::Tool);
                ids(&batches.take(n as usize).flatten().copied().collect::<Vec<&Seen>>())
            }
            // Results in a row are one message to systems that take from the middle.
            Take::UntilRequest(target) if self.order == Order::MiddleOut => {
                let batches = candidates.chunk_by(|one, next| one.role == Role::Tool && next.role == Role::Tool);
                until(&mut middle_out(batches.collect()).into_iter(), request, target)
            }
            Take::UntilRequest(target) => until(&mut self.ordered(candidates).chunks(1), request, target),
            // What stands before the first turn goes first, and the last turn goes too where nothing less is enough.
            Take::TurnsUntilRequest(target) => until(&mut candidates.chunk_by(|_, next| next.role != Role::User), request, target),
            Take::Calls(Calls { n, above }) => {
                let calls = |message: &&Seen| view.items(**message).filter(|item| item.region == Region::ToolCall).count() as u64;
                if candidates.iter().map(calls).sum::<u64>() <= above {
                    return Vec::new();
                }
                let mut before = 0;
                let goes = |message: &&&Seen| {
                    let goes = before < n;
                    before += calls(message);
                    goes
                };
                candidates.iter().take_while(goes).map(|message| message.id).collect()
            }
        }
    }

    fn ordered<'s>(&self, mut rest: Vec<&'s Seen>) -> Vec<&'s Seen> {
        match self.order {
            Order::Oldest => rest,
            Order::Largest => {
                rest.sort_by_key(|message| (std::cmp::Reverse(message.estimated), message.id));
                rest
            }
            Order::MiddleOut => middle_out(rest),
        }
    }
}

/// The messages at which a snap lets a cut lie, by their places among these.
struct Permitted<'r> {
    all: &'r [Seen],
    to: &'r [Kind],
    range: &'r Range,
}

impl Permitted<'_> {
    fn fits(&self, place: &usize) -> bool {
        self.all.get(*place).is_some_and(|message| self.to.iter().any(|kind| kind.matches_message(message)))
    }

    /// The places of marks, where nothing else can be permitted, and what stands in front of these messages in the range.
    fn marks(&self) -> Option<(&[usize], usize)> {
        let ahead = self.range.ahead_of(self.all);
        self.to.iter().all(|kind| kind.is_of_marks()).then(|| (self.range.marks_from(ahead), ahead))
    }

    /// The first one from a place on.
    fn first(&self, from: usize) -> Option<usize> {
        match self.marks() {
            Some((marks, ahead)) => {
                let behind = marks.partition_point(|mark| *mark < from + ahead);
                marks.iter().skip(behind).map(|mark| mark - ahead).find(|place| self.fits(place))
            }
            None => (from..self.all.len()).find(|place| self.fits(place)),
        }
    }

    /// The last one between two places, both included.
    fn last(&self, from: usize, to: usize) -> Option<usize> {
        match self.marks() {
            Some((marks, ahead)) => {
                let until = marks.partition_point(|mark| *mark <= to + ahead);
                let back = marks.iter().take(until).rev().map(|mark| mark - ahead);
                back.take_while(|place| *place >= from).find(|place| self.fits(place))
            }
            None => (from..=to.min(self.all.len().saturating_sub(1))).rev().find(|place| self.fits(place)),
        }
    }
}

impl Snap {
    /// Is there anything to move? A cut behind everything keeps nothing, and needs no place further back.
    fn moves(&self, cut: usize, all: &[Seen]) -> bool {
        let behind_all = cut >= all.len() && self.direction == Direction::Back;
        let fits = |message: &Seen| self.to.iter().any(|kind| kind.matches_message(message));
        !behind_all && (self.absent == Absent::Missing || all.iter().any(fits))
    }
}

/// From the middle outwards: each time the middle one of what is left, which is the right one of two.
pub(super) fn middle_out<T: Copy>(rest: Vec<T>) -> Vec<T> {
    let (mut left, mut right) = (rest.len() / 2, rest.len() / 2);
    let mut taken = Vec::with_capacity(rest.len());
    while taken.len() < rest.len() {
        // `left..right` is taken. What is left has its middle at the right side where it has an odd number of places there.
        let remaining = rest.len() - taken.len();
        let take_right = right < rest.len() && (left == 0 || remaining / 2 >= left);
        if take_right {
            taken.extend(rest.get(right).copied());
            right += 1;
        } else {
            left = left.saturating_sub(1);
            taken.extend(rest.get(left).copied());
        }
    }
    taken
}

/// The messages of these stretches, one stretch after the other, until no more than the target is left of the request.
fn until<'a>(stretches: &mut dyn Iterator<Item = &'a [&'a Seen]>, request: u64, target: f64) -> Vec<u32> {
    let mut left = request;
    let mut gone = Vec::new();
    for stretch in stretches {
        if left as f64 <= target {
            break;
        }
        left = left.saturating_sub(stretch.iter().map(|message| message.estimated).sum());
        gone.extend(stretch.iter().map(|message| message.id));
    }
    gone
}

/// How many messages stand for what came before the log: one at the front, or none.
fn unseen_in(all: &[Seen]) -> usize {
    usize::from(all.first().is_some_and(|message| message.unseen))
}
