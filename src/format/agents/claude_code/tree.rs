//! Which messages stand in the context: the log is a tree of records, and the conversation is the path to the newest of them.
//!
//! Not every fork is a rewind. Results of parallel tool calls are children of different lines of one reply, and the next reply hangs
//! on the last of them alone. A record goes back only where the newest reply in the context is none of its ancestors.
//!
//! Records are nodes, numbered as they come. Messages are known by their index in the transcript. One that comes back is listed again: the
//! index of its first showing is its `original`, that of its newest is what it is `shown_as`. `live` are the indices in the context:
//!
//! ```text
//! record  parent  node  message  live
//! u1      -       0     0        0
//! r1      u1      1     1        0 1
//! u2      r1      2     2        0 1 2
//! r2      u2      3     3        0 1 2 3
//! u3      r1      4     4        0 1 4      2 and 3 leave (rewind: 2)
//! r3      u3      5     5        0 1 4 5
//! u4      r2      6     8        0 1 6 7 8  4 and 5 leave (rewind: 4), 2 and 3 come back as 6 and 7 (again: 2, 3)
//! ```

#![expect(clippy::indexing_slicing, reason = "nodes and places are those of this tree, which never shrinks")]

use crate::format::ground::Repeats;
use crate::transcript::Role;
use std::ops::Range;

/// What the log says of a record's parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// The parent is this node.
    Node(usize),
    /// It has none, and so begins the conversation again.
    Root,
    /// Nothing that helps: the record follows the one before it.
    Unknown,
}

/// What leaves the context before a record arrives, and what comes back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Departure {
    /// The first message that leaves; all after it leave too.
    pub rewind: Option<usize>,
    /// Messages of an abandoned branch that stand in the context again, in order.
    pub again: Vec<usize>,
}

/// A record. Indices are kept small: a long log has as many of them as lines.
struct Node {
    parent: Option<u32>,
    messages: Range<u32>,
    /// The nearest reply at or above this node.
    reply: Option<u32>,
}

struct Place {
    role: Role,
    /// The message that this one shows again; itself where it is new.
    original: u32,
    /// The newest copy of this message; itself where there is none.
    shown_as: u32,
    /// The nearest reply above it.
    reply: Option<u32>,
    /// Of a reply its newest result, of a result the one before it of the same reply; itself where there is none.
    result: u32,
}

/// The tree of one conversation. Messages are known by their index, replies by that of their original.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    places: Vec<Place>,
    /// The messages in the context, ascending.
    live: Vec<u32>,
    newest_reply: Option<u32>,
    chained: bool,
    repeats: Repeats,
}

impl Tree {
    /// Does the log link its records at all? Hand-made logs do not.
    pub fn is_chained(&self) -> bool {
        self.chained
    }

    /// Has no record come yet?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Makes room for so many records and as many messages.
    pub fn reserve(&mut self, room: usize) {
        self.nodes.reserve_exact(room);
        self.places.reserve_exact(room);
        self.live.reserve_exact(room);
    }

    /// Adds a record, and hands back the number of its node.
    pub fn grow(&mut self, parent: Parent) -> usize {
        let (parent, reply) = match parent {
            Parent::Node(node) => {
                self.chained = true;
                (Some(node as u32), self.nodes.get(node).and_then(|node| node.reply))
            }
            Parent::Root => (None, None),
            Parent::Unknown => (self.nodes.len().checked_sub(1).map(|node| node as u32), self.newest_reply),
        };
        self.nodes.push(Node { parent, messages: 0..0, reply });
        self.nodes.len() - 1
    }

    /// The first message of a record, as it is shown now.
    pub fn first_message(&self, node: usize) -> Option<usize> {
        let messages = self.nodes.get(node).map(|node| node.messages.clone())?;
        messages.clone().next().and_then(|first| self.places.get(first as usize)).map(|place| place.shown_as as usize)
    }

    /// A message of this record has been put at this index.
    pub fn stand(&mut self, node: usize, index: usize, role: Role) {
        let Some(node) = self.nodes.get_mut(node) else { return };
        let index = index as u32;
        let answered = node.reply.filter(|_| role == Role::Tool).and_then(|reply| Some((reply, self.places.get_mut(reply as usize)?)));
        let before = answered.map(|(reply, place)| (reply, std::mem::replace(&mut place.result, index)));
        let result = before.filter(|(reply, before)| before != reply).map_or(index, |(_, before)| before);
        self.places.push(Place { role, original: index, shown_as: index, reply: node.reply, result });
        self.live.push(index);
        if node.messages.is_empty() {
            node.messages = index..index + 1;
        } else if node.messages.end == index {
            node.messages.end += 1;
        }
        if role == Role::Assistant {
            node.reply = Some(index);
            self.newest_reply = Some(index);
        }
    }

    /// This record carries on the reply at this index.
    pub fn join(&mut self, node: usize, index: usize) {
        let index = index as u32;
        if let Some(node) = self.nodes.get_mut(node) {
            node.messages = index..index + 1;
            node.reply = Some(index);
        }
    }

    /// A copy of an earlier message has been put at this index.
    pub fn stand_again(&mut self, original: usize, index: usize) {
        let Some(place) = self.places.get_mut(original) else { return };
        let (original, index) = (original as u32, index as u32);
        place.shown_as = index;
        let (role, reply) = (place.role, place.reply);
        self.places.push(Place { role, original, shown_as: index, reply, result: index });
        self.live.push(index);
        if role == Role::Assistant {
            self.newest_reply = Some(original);
        }
    }

    /// What happens to the context before the record of this node arrives; `None` where too much would come back: then it follows the one before it.
    pub fn depart(&mut self, node: usize) -> Option<Departure> {
        if self.nodes.get(node).is_none_or(|node| node.reply == self.newest_reply) {
            return Some(Departure::default());
        }
        let (kept_reply, path) = self.path(node)?;
        let begin = kept_reply.map_or(0, |reply| self.live.partition_point(|index| *index <= self.place(reply).shown_as));
        let abandoned = self.live[begin..].iter().position(|index| self.place(*index).role == Role::Assistant);
        let rewind = abandoned.and_then(|first| {
            // What was said before the abandoned reply leaves with it, up to what the new branch shares.
            let stays = |index: u32| {
                let place = self.place(index);
                path.binary_search(&place.original).is_ok() || (place.role == Role::Tool && place.reply == kept_reply)
            };
            let shared = self.live[begin..begin + first].iter().rposition(|index| stays(*index)).map_or(0, |last| last + 1);
            self.live.get(begin + shared).map(|first| *first as usize).inspect(|_| self.live.truncate(begin + shared))
        });
        let again = path.into_iter().filter(|original| !self.is_live(*original)).map(|original| original as usize).collect();
        self.newest_reply =
            self.live.iter().rev().map(|index| self.place(*index)).find(|place| place.role == Role::Assistant).map(|p| p.original);
        Some(Departure { rewind, again })
    }

    fn place(&self, index: u32) -> &Place {
        &self.places[index as usize]
    }

    /// The results of a reply, the newest first; none of other messages.
    fn results(&self, reply: u32) -> impl Iterator<Item = u32> {
        let before = |at: u32| Some(self.place(at).result).filter(|before| *before != at);
        let newest = before(reply).filter(|_| self.place(reply).role == Role::Assistant);
        std::iter::successors(newest, move |at| before(*at))
    }

    fn is_live(&self, original: u32) -> bool {
        self.live.binary_search(&self.place(original).shown_as).is_ok()
    }

    /// The nearest ancestor reply that is in the context, and the messages between it and the record, in order.
    fn path(&mut self, node: usize) -> Option<(Option<u32>, Vec<u32>)> {
        let records = self.nodes.len();
        let mut path = Vec::new();
        let mut kept_reply = None;
        let mut at = self.nodes[node].parent;
        while let Some(Node { parent, messages, .. }) = at.map(|at| &self.nodes[at as usize]) {
            let replies = |index: &u32| self.place(*index).role == Role::Assistant && self.is_live(*index);
            kept_reply = messages.clone().rev().find(replies);
            if kept_reply.is_some() {
                break;
            }
            if !self.repeats.allow(messages.len().max(1), records) {
                return None;
            }
            path.extend(messages.clone());
            at = *parent;
        }
        // Each reply comes back with all its results, on the path or beside it.
        let results: Vec<u32> = path.iter().flat_map(|index| self.results(*index)).collect();
        let allowed = self.repeats.allow(results.len(), records);
        path.extend(results);
        path.sort_unstable();
        path.dedup();
        allowed.then_some((kept_reply, path))
    }
}
