//! The context of one simulation, and the only legal edits of it.

use super::cow_vec::CowVec;
use super::entries::Entries;
use super::item::{Arrival, Calling, Entry, Item, Replacement, State};
use super::items::Items;
use super::prefix::{Prefix, Sent};
use super::presence::Ends;
use super::region::Region;
use super::results::Results;
use crate::estimate::{Estimator, Guess};
use crate::transcript::{Role, Text};
use crate::units::{Index, Known, Size, Tokens};

/// Stands for an index that is absent.
pub(super) const NONE: u32 = u32::MAX;

/// The context of one simulation: every message that has ever stood in it, and what is left.
#[derive(Clone, Debug, Default)]
pub struct Context {
    pub(super) estimator: Estimator,
    pub(super) entries: Entries,
    pub(super) items: Items,
    /// By item: the id of its message.
    pub(super) owners: CowVec<u32>,
    /// The item of each part of the trace; [`NONE`] where it has none.
    pub(super) places: CowVec<u32>,
    /// Live entries in prompt order; dead ones are swept out after each edit that removes.
    pub(super) order: Vec<u32>,
    pub(super) size: Size,
    pub(super) system_estimated: u64,
    pub(super) anchored: u64,
    pub(super) regions: [u64; 9],
    pub(super) tools: Vec<u64>,
    /// The call with which they were counted last, and the tools whose results have come, changed or left since.
    pub(super) tools_counted: Option<u64>,
    pub(super) tools_changed: Vec<u32>,
    pub(super) turns: u64,
    pub(super) messages: u64,
    /// Actual tokens of superseded items.
    pub(super) dead: u64,
    /// How many of them are not masked.
    pub(super) superseded: u64,
    /// The superseded items, in the order in which that was found.
    pub(super) shown_again: CowVec<u32>,
    /// Sum of truths of trace messages that are live and untouched, for [`Context::kept`].
    pub(super) original: u64,
    /// Items that are still there, by region, in the order of [`Region::ALL`].
    pub(super) counts: [u32; 9],
    /// Those of them that are results and not masked, and those that are pictures in messages of tools.
    pub(super) unmasked: Results,
    pub(super) tool_pictures: u64,
    pub(super) prefix: Prefix,
    pub(super) fingerprint: u64,
    /// The rule that edits now; `None` where no rule does.
    pub(super) acting: Option<u32>,
    pub(super) edits: u64,
    /// The call that it was last shown to, and the items that were changed or have left since.
    pub(super) shown: Option<usize>,
    pub(super) changed: Vec<u32>,
}

impl Context {
    /// An empty context, estimated by this estimator.
    pub fn new(estimator: Estimator) -> Context {
        Context { estimator, ..Context::default() }
    }

    /// Estimated and actual size of all that is visible.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The part of the actual size that is anchored on recorded usage.
    pub fn anchored(&self) -> u64 {
        self.anchored
    }

    /// Actual tokens by region, in the order of [`Region::ALL`].
    pub fn regions(&self) -> &[u64; 9] {
        &self.regions
    }

    /// Actual tokens of tool results, by the tool's index in the trace.
    pub fn tools(&self) -> &[u64] {
        &self.tools
    }

    /// The tools of which that may have changed since it was counted with this call; `None` where another context was counted then.
    pub fn tools_changed_since(&self, call: u64) -> Option<&[u32]> {
        (self.tools_counted == Some(call)).then_some(self.tools_changed.as_slice())
    }

    /// Tokens by tool have been counted with this call.
    pub fn count_tools(&mut self, call: u64) {
        self.tools_counted = Some(call);
        self.tools_changed.clear();
    }

    /// Actual tokens of what the log itself holds, without what the policy put in.
    pub fn recorded(&self) -> u64 {
        self.original
    }

    /// What stands in it, as one number: the same for the same items in the same state and size, in whatever order and whatever an
    /// estimator makes of them.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Adds a message at the end, or at a place in the order.
    pub fn push(&mut self, arrival: Arrival, items: impl IntoIterator<Item = Item>, place: Option<usize>) -> u32 {
        let id = self.entries.len() as u32;
        let first = self.items.len() as u32;
        if let Some(place) = place {
            self.prefix.touch_from(place, &self.order, &self.entries);
        }
        self.edits += u64::from(place.is_some() || arrival.message.is_none());
        let mut entry = Entry {
            message: arrival.message.into(),
            role: arrival.role,
            opens_turn: arrival.opens_turn,
            is_summary: arrival.is_summary,
            unseen: arrival.unseen,
            calling: Calling::Nothing,
            first,
            count: 0,
            guess: Guess::default(),
            estimated: 0,
            end_units: 0,
            actual: 0,
            arrived: arrival.call,
            usage: Known::default(),
            live: true,
            summarised: false,
            by: Index::default(),
        };
        match place {
            Some(place) if place < self.order.len() => self.order.insert(place, id),
            _ => self.order.push(id),
        }
        let mut reasons = false;
        for item in items {
            self.note_place(&item);
            self.items.push(&item);
            self.owners.push(id);
            self.account(&item, &mut entry);
            entry.calling = entry.calling.with(item.region, &mut reasons);
            entry.count += 1;
        }
        self.turns += u64::from(arrival.opens_turn);
        self.messages += u64::from(arrival.role != Role::System || arrival.is_summary);
        self.re_estimate(&mut entry);
        self.entries.push(&entry);
        self.prefix.come();
        id
    }

    /// The message that was added last opens a turn.
    pub fn open_turn(&mut self) {
        let Some((newest, entry)) = self.newest().and_then(|newest| Some((newest, self.entry(newest)?))) else { return };
        self.turns += u64::from(!entry.opens_turn);
        self.entries.put(newest, &Entry { opens_turn: true, ..entry });
    }

    /// The provider has told what a reply's call came to, prompt and output together.
    pub fn note_usage(&mut self, id: u32, tokens: u64) {
        self.entries.note_usage(id, tokens);
    }

    /// Replaces an item by a smaller one (masked or cut). Nothing happens to items that are gone.
    pub fn replace(&mut self, item: u32, by: Replacement) {
        self.change(item, |slot| {
            let Replacement { state, ends, guess, alone, end_units, actual } = by;
            Item { state, ends, guess, alone, end_units, actual, anchored: 0, ..slot }
        });
    }

    /// Removes one item of a message.
    pub fn remove_item(&mut self, item: u32) {
        self.change(item, |slot| Item {
            state: State::Removed,
            guess: Guess::default(),
            alone: 0,
            end_units: 0,
            actual: 0,
            anchored: 0,
            ..slot
        });
    }

    /// Puts what is made of an item that is still there in its place.
    fn change(&mut self, item: u32, change: impl FnOnce(Item) -> Item) {
        let Some(owner) = self.owner(item) else { return };
        let Some(before) = self.items.get(item).filter(|slot| slot.state != State::Removed) else { return };
        self.prefix.touch(owner, &self.order, &self.entries);
        let Some(mut entry) = self.entries.get(owner) else { return };
        self.edits += 1;
        self.changed.push(item);
        self.unaccount(&before, &mut entry);
        let by = Item { by: self.acting, ..change(before) };
        self.items.put(item, &by);
        if by.state != State::Removed {
            self.account(&by, &mut entry);
        }
        self.re_estimate(&mut entry);
        self.entries.put(owner, &entry);
    }

    /// Removes messages with all their items. Hands back where in prompt order the first of them stood; `None` where none was there.
    pub fn remove(&mut self, gone: &[u32]) -> Option<usize> {
        self.leave(gone, false);
        self.sweep(0)
    }

    /// Messages leave with all their items, for a summary or none; they stand in the order until they are swept out.
    pub(super) fn leave(&mut self, gone: &[u32], summarised: bool) {
        self.edits += gone.len() as u64;
        for id in gone {
            self.prefix.touch(*id, &self.order, &self.entries);
            let Some(mut entry) = self.entries.get(*id).filter(|entry| entry.live) else { continue };
            for item in entry.first..entry.first + entry.count {
                self.changed.push(item);
                if let Some(item) = self.items.get(item).filter(|item| item.state != State::Removed) {
                    self.unaccount(&item, &mut entry);
                }
            }
            self.size.estimated = Tokens(self.size.estimated.0.saturating_sub(entry.estimated));
            self.system_estimated -= if entry.role == Role::System { entry.estimated } else { 0 };
            self.turns -= u64::from(entry.opens_turn);
            self.messages -= u64::from(entry.role != Role::System || entry.is_summary);
            self.entries.leave(*id, self.acting, summarised);
        }
    }

    /// Takes what has left out of the order, from this place on. Hands back where the first of it stood.
    pub(super) fn sweep(&mut self, from: usize) -> Option<usize> {
        // What leaves the context has left its unchanged head.
        let from = from.max(self.prefix.entries).min(self.order.len());
        let kept = self.order.iter().skip(from).take_while(|id| self.entries.is_live(**id)).count();
        self.order.extract_if(from + kept.., |id| !self.entries.is_live(*id)).count().checked_sub(1).map(|_| from + kept)
    }

    /// The message that was added last, wherever it stands; `None` where there is none.
    pub fn newest(&self) -> Option<u32> {
        self.entries.len().checked_sub(1).map(|id| id as u32)
    }

    /// Takes back the message that was added last, if it is one of the policy's own: the next one gets its number.
    pub fn retract(&mut self) {
        let Some(id) = self.newest().filter(|id| self.entry(*id).is_some_and(|entry| entry.message.get().is_none())) else { return };
        self.remove(&[id]);
        self.prefix.take_back();
        for _ in 0..self.entries.pop().map_or(0, |entry| entry.count) {
            self.items.pop();
            self.owners.pop();
        }
    }

    /// Removes what the policy has put into the system prompt: summaries that are no messages of the history.
    pub fn remove_own_system_text(&mut self) {
        self.remove_where(|entry| entry.message.get().is_none() && entry.role == Role::System && !entry.is_summary);
    }

    /// A user went back: every trace message from this index on leaves.
    pub fn withdraw(&mut self, from: u32) {
        // Messages of the log stand in their own order; what the policy put in stands between them.
        let behind = |id: &u32| self.entry(*id).is_none_or(|entry| entry.message.get().is_none_or(|message| message >= from));
        let place = self.order.len() - self.order.iter().rev().take_while(|id| behind(id)).count();
        let of_log = |id: &u32| self.entry(*id).is_some_and(|entry| entry.message.get().is_some());
        let gone: Vec<u32> = self.order.iter().skip(place).copied().filter(of_log).collect();
        self.leave(&gone, false);
        self.sweep(place);
    }

    /// What the policy itself has put in leaves, wherever it stands.
    pub fn withdraw_own(&mut self) {
        self.remove_where(|entry| entry.message.get().is_none());
    }

    fn remove_where(&mut self, leaves: impl Fn(&Entry) -> bool) {
        let gone: Vec<u32> = self.live().filter(|(_, entry)| leaves(entry)).map(|(id, _)| id).collect();
        self.remove(&gone);
    }

    /// A real user message has come: reasoning of the turn before leaves, as its provider strips it. Hands back the items.
    pub fn expire(&mut self) -> Vec<u32> {
        let mut gone = Vec::new();
        // Only the newest turn can hold such items; older ones have expired before.
        for id in self.order.iter().rev() {
            let expires = |slot: &Item| slot.expires && slot.state != State::Removed;
            gone.extend(self.entries.items(*id).filter(|item| self.items.look(*item, expires) == Some(true)));
            // A turn that the policy has opened itself lies within one of the log.
            if self.entries.look(*id, |entry| entry.opens_turn && entry.message.get().is_some()) == Some(true) {
                break;
            }
        }
        gone.iter().for_each(|item| self.remove_item(*item));
        gone
    }

    /// The context goes out as the request of this number: from now on all of it is known.
    pub fn sent(&mut self, request: u32) {
        self.prefix.send(request, self.order.len(), self.size.actual.0);
    }

    /// The messages at the head that stand as they were sent in the request of this number, up to the first message that was changed,
    /// removed or put in: how many, and their actual tokens. `None` where another context was that request.
    pub fn unchanged_since(&self, request: u32) -> Option<(usize, u64)> {
        (self.prefix.request == request).then_some((self.prefix.entries, self.prefix.actual))
    }

    /// The context was shown to the one who watches the calls, at this one.
    pub fn show(&mut self, call: usize) {
        self.shown = Some(call);
        self.changed.clear();
    }

    /// The items that were changed or have left since the context was shown at this call; `None` where another context was shown then.
    pub fn changed_since(&self, call: usize) -> Option<&[u32]> {
        (self.shown == Some(call)).then_some(self.changed.as_slice())
    }

    /// Items in the context: what a provider counts as blocks.
    pub fn blocks(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Messages as they would be sent now, in order, from a place on.
    pub fn messages_as_sent(&self, from: usize) -> impl Iterator<Item = Sent> + '_ {
        self.order.get(from..).unwrap_or(&[]).iter().filter_map(|id| self.entries.look(*id, Sent::of))
    }

    /// Live entries in prompt order, with their ids.
    pub fn live(&self) -> impl DoubleEndedIterator<Item = (u32, Entry)> {
        self.live_from(0)
    }

    /// Live messages from a place in the order on.
    pub fn live_from(&self, place: usize) -> impl DoubleEndedIterator<Item = (u32, Entry)> {
        let order = self.order.get(place..).unwrap_or(&[]);
        order.iter().filter_map(|id| Some((*id, self.entry(*id)?)))
    }

    /// A message, whether or not it has left; `None` where there never was one.
    pub fn entry(&self, id: u32) -> Option<Entry> {
        self.entries.get(id)
    }

    /// Something of a message, without the rest of it; `None` where there never was one.
    pub fn look_at<T>(&self, id: u32, of: impl FnOnce(&Entry) -> T) -> Option<T> {
        self.entries.look(id, of)
    }

    /// Estimate of a message in tokens; 0 where it has left.
    pub fn estimate_of(&self, id: u32) -> u64 {
        self.entries.look(id, |entry| entry.estimated).unwrap_or(0)
    }

    /// What a message really costs; 0 where it has left.
    pub fn actual_of(&self, id: u32) -> u64 {
        self.entries.look(id, |entry| if entry.live { entry.actual } else { 0 }).unwrap_or(0)
    }

    /// An item, whatever has become of it; `None` where there never was one.
    #[inline]
    pub fn item(&self, item: u32) -> Option<Item> {
        self.items.get(item)
    }

    /// The place in the order right after the last system message at the head.
    pub fn after_system(&self) -> usize {
        let is_system = |entry: &Entry| entry.role == Role::System && !entry.is_summary;
        self.order.iter().take_while(|id| self.entries.look(**id, is_system) == Some(true)).count()
    }

    /// The place in the order of the newest reply of the log; `None` where none is left.
    pub fn newest_reply(&self) -> Option<usize> {
        let is_reply = |entry: &Entry| entry.role == Role::Assistant && entry.message.get().is_some();
        self.order.iter().rposition(|id| self.entries.look(*id, is_reply) == Some(true))
    }

    /// The place of a message in prompt order; `None` where it has left.
    pub fn place_of(&self, id: u32) -> Option<usize> {
        self.order.iter().position(|known| *known == id)
    }

    /// How many live entries there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Does the context hold no message?
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The estimator of the policy.
    pub fn estimator(&self) -> &Estimator {
        &self.estimator
    }

    /// An item of a text that the policy puts in.
    pub fn own_text(&self, text: &Text, region: Region) -> Item {
        Item {
            part: None,
            tool: None,
            region,
            state: State::Whole,
            error: false,
            expires: false,
            ends: Ends::default(),
            superseded: false,
            by: None,
            guess: self.estimator.message_text(text),
            alone: self.estimator.text(text),
            end_units: self.estimator.end_units(|ends| ends.message_text(text)),
            actual: u64::from(text.tokens),
            anchored: 0,
        }
    }

    /// Role of the message that an item belongs to; `None` where it is gone.
    pub fn role_of(&self, item: u32) -> Option<Role> {
        self.owner(item).and_then(|owner| self.entries.look(owner, |entry| entry.role))
    }

    /// Notes where an item will stand that is about to come.
    fn note_place(&mut self, item: &Item) {
        let Some(part) = item.part.map(|part| part as usize) else { return };
        while self.places.len() <= part {
            self.places.push(NONE);
        }
        let place = self.items.len() as u32;
        if let Some(known) = self.places.get_mut(part) {
            self.changed.extend((*known != NONE).then_some(place));
            *known = place;
        }
    }

    pub(super) fn owner(&self, item: u32) -> Option<u32> {
        let id = *self.owners.get(item as usize)?;
        self.entries.is_live(id).then_some(id)
    }

    pub(super) fn re_estimate(&mut self, entry: &mut Entry) {
        let estimated = self.estimator.message(entry.guess, entry.role);
        self.size.estimated = Tokens(self.size.estimated.0 + estimated - entry.estimated);
        if entry.role == Role::System {
            self.system_estimated = self.system_estimated + estimated - entry.estimated;
        }
        entry.estimated = estimated;
    }
}
