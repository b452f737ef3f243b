//! What a program knows of the context, and what is to be said to bring it up to date. Actual sizes are in neither.

use super::inputs::Inputs;
use super::window::Window;
use crate::context::{Context, Entry, Item, Region, State as ItemState};
use crate::policy::{Changed, ItemSeen, Lengths, MessageSeen, Put};
use crate::transcript::{Length, Role};

/// The messages that a program knows of, in prompt order.
#[derive(Default)]
pub(super) struct KnownContext(Vec<KnownMessage>);

/// What has become of them since.
#[derive(Default)]
pub(super) struct News {
    pub gone: Vec<u32>,
    pub put: Vec<Put>,
    pub changed: Vec<Changed>,
}

/// A message as the program knows it. What makes it this message and no other stands in front.
struct KnownMessage {
    id: u32,
    message: Option<u32>,
    role: Role,
    first: u32,
    arrived: u32,
    tokens: u64,
    usage: Option<u64>,
    items: Vec<KnownItem>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct KnownItem {
    id: u32,
    state: ItemState,
    superseded: bool,
    alone: u64,
}

impl KnownContext {
    /// What has changed; it is known from now on.
    pub fn update(&mut self, inputs: &Inputs<'_>, window: &Window<'_>) -> News {
        let context = &window.context;
        let mut news = News::default();
        let before = std::mem::take(&mut self.0);
        let (stays, leaves): (Vec<KnownMessage>, Vec<KnownMessage>) = before.into_iter().partition(|known| known.is_there(context));
        news.gone = leaves.iter().map(|known| known.id).collect();
        // A context that came back may hold what is known in another order: then all of it is said anew.
        let mut order = stays.iter().map(|known| known.id).peekable();
        for (id, _) in context.live() {
            order.next_if_eq(&id);
        }
        let in_order = order.next().is_none();
        if !in_order {
            news.gone.extend(stays.iter().map(|known| known.id));
        }
        let mut stays = stays.into_iter().filter(|_| in_order).peekable();
        let view = View { inputs, window };
        for (place, (id, entry)) in context.live().enumerate() {
            let known = match stays.next_if(|known| known.id == id) {
                Some(mut known) => {
                    news.changed.extend(known.update(&view, entry));
                    known
                }
                None => {
                    news.put.push(Put { place, message: view.message(id, entry) });
                    KnownMessage::of(context, id, entry)
                }
            };
            self.0.push(known);
        }
        news
    }
}

impl KnownMessage {
    fn of(context: &Context, id: u32, entry: Entry) -> KnownMessage {
        let Entry { message, role, first, arrived, estimated: tokens, usage, .. } = entry;
        KnownMessage {
            id,
            message: message.get(),
            role,
            first,
            arrived,
            tokens,
            usage: usage.get(),
            items: items(context, entry).map(|(id, item)| KnownItem::of(id, item)).collect(),
        }
    }

    /// Is it still there, and the same?
    fn is_there(&self, context: &Context) -> bool {
        let own = (self.message, self.role, self.first, self.arrived);
        context.entry(self.id).is_some_and(|entry| entry.live && own == (entry.message.get(), entry.role, entry.first, entry.arrived))
    }

    /// What is to be said of it; `None` where it is what it was.
    fn update(&mut self, view: &View<'_>, entry: Entry) -> Option<Changed> {
        let context = &view.window.context;
        let same_items = || items(context, entry).map(|(id, item)| KnownItem::of(id, item)).eq(self.items.iter().copied());
        if self.tokens == entry.estimated && self.usage == entry.usage.get() && same_items() {
            return None;
        }
        let now = KnownMessage::of(context, self.id, entry);
        let is_new = |item: &&KnownItem| !self.items.contains(item);
        let changed = now.items.iter().filter(is_new).filter_map(|known| Some(view.item(known.id, &context.item(known.id)?)));
        let left = |item: &&KnownItem| !now.items.iter().any(|other| other.id == item.id);
        let news = Changed {
            id: self.id,
            tokens: entry.estimated,
            usage: entry.usage.get(),
            items: changed.collect(),
            without: self.items.iter().filter(left).map(|item| item.id).collect(),
        };
        *self = now;
        Some(news)
    }
}

impl KnownItem {
    fn of(id: u32, item: Item) -> KnownItem {
        KnownItem { id, state: item.state, superseded: item.superseded, alone: item.alone }
    }
}

/// The items of a message that are still there.
fn items<'c>(context: &'c Context, entry: Entry) -> impl Iterator<Item = (u32, Item)> + use<'c> {
    let there = |id: u32| Some((id, context.item(id).filter(|item| item.state != ItemState::Removed)?));
    (entry.first..entry.first + entry.count).filter_map(there)
}

/// The context in the words of the protocol.
struct View<'v> {
    inputs: &'v Inputs<'v>,
    window: &'v Window<'v>,
}

impl View<'_> {
    fn message(&self, id: u32, entry: Entry) -> MessageSeen {
        let context = &self.window.context;
        let row = entry.message.get().and_then(|message| self.inputs.message(message));
        let now = || self.window.call.and_then(|call| self.inputs.message(call.message));
        MessageSeen {
            id,
            role: role_name(entry.role),
            turn: row.or_else(now).map_or(0, |row| row.turn),
            call: entry.arrived,
            tokens: entry.estimated,
            usage: entry.usage.get(),
            opens_turn: entry.opens_turn,
            summary: entry.is_summary,
            unseen: entry.unseen,
            own: entry.message.get().is_none(),
            items: items(context, entry).map(|(id, item)| self.item(id, &item)).collect(),
        }
    }

    fn item(&self, id: u32, item: &Item) -> ItemSeen {
        item_seen(self.inputs, id, item, self.window.cuts.get(&id).map(|text| text.length))
    }
}

/// An item in the words of the protocol. `cut` is how long the text of one is that a limit has cut, where that is known.
pub(super) fn item_seen(inputs: &Inputs<'_>, id: u32, item: &Item, cut: Option<Length>) -> ItemSeen {
    let part = item.part.and_then(|part| inputs.part(part));
    let length = match item.state {
        ItemState::Whole => part.as_ref().filter(|_| item.region != Region::Image).map(|part| part.text.length),
        ItemState::Truncated => cut,
        ItemState::Masked | ItemState::Removed => None,
    };
    ItemSeen {
        id,
        kind: item.region.name(),
        tool: item.tool.and_then(|tool| inputs.trace.tools.get(tool as usize).cloned()),
        tokens: item.alone,
        state: match item.state {
            ItemState::Whole => "whole",
            ItemState::Truncated => "truncated",
            ItemState::Masked | ItemState::Removed => "masked",
        },
        error: item.error,
        superseded: item.superseded,
        cut_by_agent: part.is_some_and(|part| part.text.truncated),
        lengths: length.map(|Length { bytes, utf16, chars, newlines }| Lengths { bytes, utf16, chars, newlines }),
        text: None,
        part: item.part,
        ends: (item.state != ItemState::Whole).then_some((item.ends.head, item.ends.tail)),
    }
}

/// The name of a role in the protocol.
pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
