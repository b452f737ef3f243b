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
//!
//! In older versions (logs up to 2.1.83 have them) hooks and sub-agents leave `progress` records, which the program writes late: a record that
//! follows them hangs, over them, on an earlier tool call. The conversation in memory is a list and loses nothing by that. A program that loads
//! the file (`--resume`) does: it leaves the `progress` records out, hangs what follows them on what they hang on, and takes the chain of the newest
//! record (`progressBridge` and `buildConversationChain` of `sessionStorage.ts`; `isTranscriptMessage` there says why such records were given up).
//! So a record has two parents where they differ: the one that it has in the running conversation, and the one that it is `loaded` with.

#![expect(clippy::indexing_slicing, reason = "nodes and places are those of this tree, which never shrinks")]

use crate::format::ground::Repeats;
use crate::transcript::Role;
use std::collections::BTreeMap;
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

/// What a program that loads the file loses of the conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reload {
    /// Stretches of messages in the context that it does not find: the first message of each, and the first in the context behind it.
    pub stretches: Vec<(usize, usize)>,
    /// The first of them leaves with all behind it, and what was found comes again.
    pub departure: Departure,
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
    /// Nodes of `progress` records, ascending, and the record above them that is none: `None` where such records begin the conversation.
    bridges: Vec<(u32, Option<u32>)>,
    /// The parents with which nodes are loaded, where these are others than in the running conversation.
    loaded: BTreeMap<u32, Option<u32>>,
    /// What left the context last, if nothing came back for it: the record that it left for, its place among those in the context, the messages.
    left: Option<(usize, usize, Vec<u32>)>,
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
    pub fn grow(&mut self, parent: Parent, is_progress: bool) -> usize {
        let before = self.nodes.len().checked_sub(1).map(|node| node as u32);
        let above = match parent {
            Parent::Node(node) => self.bridge(node).unwrap_or(Some(node as u32)),
            Parent::Root => None,
            Parent::Unknown => before,
        };
        self.chained |= matches!(parent, Parent::Node(_));
        let node = self.nodes.len() as u32;
        if is_progress {
            self.bridges.push((node, above));
        }
        let (parent, reply) = match parent {
            Parent::Node(over) if above.is_some() && (is_progress || self.bridge(over).is_some()) => {
                if !is_progress && above.and_then(|above| self.nodes.get(above as usize)?.reply) != self.newest_reply {
                    self.loaded.insert(node, above);
                }
                (before, self.newest_reply)
            }
            Parent::Node(node) => (Some(node as u32), self.nodes.get(node).and_then(|node| node.reply)),
            Parent::Root => (None, None),
            Parent::Unknown => (before, self.newest_reply),
        };
        self.nodes.push(Node { parent, messages: 0..0, reply });
        self.nodes.len() - 1
    }

    /// Of a `progress` record, the record above it that is none.
    fn bridge(&self, node: usize) -> Option<Option<u32>> {
        let place = self.bridges.binary_search_by_key(&(node as u32), |(node, _)| *node).ok()?;
        self.bridges.get(place).map(|(_, above)| *above)
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
            (begin + shared < self.live.len()).then_some(begin + shared)
        });
        let left = rewind.map(|place| (place, self.live.split_off(place)));
        let rewind = left.as_ref().and_then(|(_, left)| left.first()).map(|first| *first as usize);
        let again: Vec<usize> = path.into_iter().filter(|original| !self.is_live(*original)).map(|original| original as usize).collect();
        self.left = left.filter(|_| again.is_empty()).map(|(place, left)| (node, place, left));
        self.find_newest_reply();
        Some(Departure { rewind, again })
    }

    /// What left last has not left: only a program that loads the file goes back there. False where nothing left.
    pub fn stay(&mut self) -> bool {
        let Some((node, place, left)) = self.left.take() else { return false };
        self.live.splice(place..place, left);
        self.find_newest_reply();
        let (before, reply) = (node.checked_sub(1).map(|node| node as u32), self.newest_reply);
        let record = &mut self.nodes[node];
        let loaded = std::mem::replace(&mut record.parent, before);
        record.reply = reply;
        self.loaded.insert(node as u32, loaded);
        true
    }

    /// Does the file hold less of the conversation, for a program that loads it, than there is?
    pub fn loses(&self) -> bool {
        !self.loaded.is_empty()
    }

    /// All that has come so far stands in the context no longer, or as it was loaded.
    pub fn settle(&mut self) {
        (self.left, self.loaded) = (None, BTreeMap::new());
    }

    /// What a program loses, of the messages from this index on, that loads the file and goes on with this record; `None` where it loses nothing, or too
    /// much would have to be looked through.
    pub fn loss(&mut self, since: usize, node: usize) -> Option<Reload> {
        let records = self.nodes.len();
        let (mut path, mut at) = (Vec::new(), Some(node as u32));
        while let Some(node) = at {
            let Node { parent, messages, .. } = &self.nodes[node as usize];
            if !self.repeats.allow(messages.len().max(1), records) {
                return None;
            }
            path.extend(messages.clone());
            at = *self.loaded.get(&node).unwrap_or(parent);
        }
        // Results of parallel calls are found beside the chain.
        let results: Vec<u32> = path.iter().flat_map(|index| self.results(*index)).collect();
        path.extend(results);
        path.sort_unstable();
        let found = |index: &u32| path.binary_search(&self.place(*index).original).is_ok();
        let first = self.live.iter().position(|index| *index as usize >= since && !found(index))?;
        let mut stretches = Vec::new();
        for pieces in self.live[first..].chunk_by(|one, other| found(one) == found(other)).collect::<Vec<_>>().windows(2) {
            if let [piece, behind] = pieces
                && !found(&piece[0])
            {
                stretches.push((piece[0] as usize, behind[0] as usize));
            }
        }
        let again = self.live[first..].iter().filter(|index| found(index)).map(|index| self.place(*index).original as usize).collect();
        Some(Reload { stretches, departure: Departure { rewind: Some(self.live[first] as usize), again } })
    }

    /// The program has loaded the file, and this is gone.
    pub fn load(&mut self, loss: &Reload) {
        let first = loss.departure.rewind.map_or(self.live.len(), |first| self.live.partition_point(|index| (*index as usize) < first));
        self.live.truncate(first);
        for (node, parent) in std::mem::take(&mut self.loaded) {
            self.nodes[node as usize].parent = parent;
        }
        self.left = None;
        self.find_newest_reply();
    }

    fn find_newest_reply(&mut self) {
        self.newest_reply =
            self.live.iter().rev().map(|index| self.place(*index)).find(|place| place.role == Role::Assistant).map(|p| p.original);
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
