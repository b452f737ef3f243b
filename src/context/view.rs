//! The context as policies may see it: order, kinds and estimates.

use super::contents::Context;
use super::item::{Calling, Entry, Item, State};
use super::region::Region;
use crate::estimate::{Estimator, Guess};
use crate::transcript::Role;
use crate::units::Known;

/// The context as a policy sees it: order, kinds and estimates. There is no way from here to an actual size.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    context: &'a Context,
}

impl Context {
    /// What policies may look at.
    pub fn view(&self) -> View<'_> {
        View { context: self }
    }
}

/// A message as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Id of the message, for edits.
    pub id: u32,
    /// Role of the message.
    pub role: Role,
    /// Does the message open a turn?
    pub opens_turn: bool,
    /// Is the message a summary?
    pub is_summary: bool,
    /// Does it stand for conversation from before the log begins? No end protects it: what an agent would have kept of it is not known.
    pub unseen: bool,
    /// Did it call tools, and reason, when it entered?
    pub calling: Calling,
    /// Estimate of the message in tokens.
    pub estimated: u64,
    /// What it comes to where protected ends are counted: its estimate, unless the agent measures those otherwise.
    pub in_ends: u64,
    /// For a reply: prompt and output of its call together, as the policy was told.
    pub usage: Known,
}

/// An item as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct SeenItem {
    /// Id of the item, for edits.
    pub id: u32,
    /// Region of reports that the item belongs to.
    pub region: Region,
    /// Index of the item's tool in the trace.
    pub tool: Option<u32>,
    /// Whether the item is whole, cut, masked or gone.
    pub state: State,
    /// The item is the result of a failed tool.
    pub error: bool,
    /// Something later in the context shows it again: an agent knows what it reads.
    pub superseded: bool,
    /// Estimated tokens of the item's text alone.
    pub alone: u64,
    /// What the item adds to its message's estimate.
    pub guess: Guess,
}

impl Seen {
    #[inline]
    fn of(estimator: &Estimator, id: u32, entry: &Entry) -> Seen {
        let Entry { role, opens_turn, is_summary, unseen, calling, estimated, end_units, usage, .. } = *entry;
        let apart = estimator.ends.as_ref().map(|ends| ends.message(Guess { units: end_units, tokens: 0, parts: 1 }, role));
        let in_ends = apart.unwrap_or(estimated);
        Seen { id, role, opens_turn, is_summary, unseen, calling, estimated, in_ends, usage }
    }
}

impl SeenItem {
    fn of(id: u32, item: &Item) -> SeenItem {
        let Item { region, tool, state, error, superseded, alone, guess, .. } = *item;
        SeenItem { id, region, tool, state, error, superseded, alone, guess }
    }
}

impl<'a> View<'a> {
    /// Messages in prompt order.
    pub fn messages(self) -> impl DoubleEndedIterator<Item = Seen> + 'a {
        self.context.order.iter().filter_map(move |id| self.seen(*id))
    }

    /// The message at a place in prompt order; `None` behind the last one.
    #[inline]
    pub fn message(self, place: usize) -> Option<Seen> {
        self.seen(*self.context.order.get(place)?)
    }

    #[inline]
    fn seen(self, id: u32) -> Option<Seen> {
        self.context.entries.look(id, |entry| Seen::of(self.estimator(), id, entry))
    }

    /// Items of a message that are still there.
    pub fn items(self, message: Seen) -> impl DoubleEndedIterator<Item = SeenItem> + 'a {
        self.items_in(message, |_| true)
    }

    /// Those of them that stand in regions that are wanted.
    #[inline]
    pub fn items_in(self, message: Seen, wanted: impl Fn(Region) -> bool + 'a) -> impl DoubleEndedIterator<Item = SeenItem> + 'a {
        let context = self.context;
        let seen = move |id: u32, item: &Item| (wanted(item.region) && item.state != State::Removed).then(|| SeenItem::of(id, item));
        context.entries.items(message.id).filter_map(move |id| context.items.look(id, |item| seen(id, item))?)
    }

    /// One item, whatever has become of it; `None` where there is none of this id.
    pub fn item(self, id: u32) -> Option<SeenItem> {
        self.context.items.look(id, |item| SeenItem::of(id, item))
    }

    /// Is a message a reply that calls no tool?
    pub fn answers(self, message: Seen) -> bool {
        message.role == Role::Assistant && self.items(message).all(|item| item.region != Region::ToolCall)
    }

    /// The policy's estimator, by which the view's estimates are made.
    pub fn estimator(self) -> &'a Estimator {
        &self.context.estimator
    }

    /// Number of live messages, all roles.
    pub fn len(self) -> usize {
        self.context.order.len()
    }

    /// Does the context hold no message?
    pub fn is_empty(self) -> bool {
        self.context.order.is_empty()
    }

    /// Messages of the history: all but the system's own.
    pub fn message_count(self) -> u64 {
        self.context.messages
    }

    /// Results that something later shows again, and that are not masked.
    pub fn superseded_count(self) -> u64 {
        self.context.superseded
    }

    /// Tool results that are not masked.
    pub fn unmasked_results(self) -> u64 {
        self.context.unmasked.count
    }

    /// Estimated tokens of the texts of those results, each by itself.
    pub fn unmasked_texts(self) -> u64 {
        self.context.unmasked.alone
    }

    /// No fewer tokens than those results come to as parts of their messages, each rounded by itself.
    pub fn most_unmasked_parts(self) -> u64 {
        self.context.unmasked.most_as_parts(self.estimator())
    }

    /// Pictures in messages of tools.
    pub fn tool_pictures(self) -> u64 {
        self.context.tool_pictures
    }

    /// Does it hold items of a region?
    pub fn holds(self, region: Region) -> bool {
        self.context.counts.get(region as usize).is_some_and(|count| *count > 0)
    }

    /// User messages that open a turn.
    pub fn turn_count(self) -> u64 {
        self.context.turns
    }

    /// The estimate of the whole request.
    pub fn request(self) -> u64 {
        self.request_with(0)
    }

    /// The same where messages that are not the system's are estimated at so much more.
    pub fn request_with(self, beyond: i64) -> u64 {
        let estimator = &self.context.estimator;
        let messages = self.context.size.estimated.0.saturating_add_signed(beyond);
        let counted =
            if estimator.system == crate::estimate::Counting::Counted { messages } else { messages - self.context.system_estimated };
        estimator.request(counted)
    }

    /// The estimate of the system's messages.
    pub fn system(self) -> u64 {
        self.context.system_estimated
    }

    /// The estimate of all messages but the system's.
    pub fn history(self) -> u64 {
        self.context.size.estimated.0.saturating_sub(self.context.system_estimated)
    }
}
