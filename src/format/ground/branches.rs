//! The tree that records make by naming the one before them, turned into rewinds and second showings. Places in it are numbers, in the
//! order in which the records came.

use super::source::Lose;
use crate::transcript::{Message, Messages};
use std::collections::HashMap;

/// Records that branches may list again for each record of the file, beside [`FREE`] ones: branches that take turns would list the whole history with each
/// record, in the square of the file.
const MOST_REPEATED: usize = 16;
/// Records that branches may list again in any file.
const FREE: usize = 1_000;

/// The reason for the loss of a record's place in the tree.
pub const TAKEN_UP: &str = "message of a branch that is taken up too often";

/// Counts what is looked at to list messages a second time, because the conversation goes on from a branch that it had left.
#[derive(Default)]
pub struct Repeats {
    seen: usize,
}

impl Repeats {
    /// May so many more be looked at, of so many records that have come?
    pub fn allow(&mut self, more: usize, records: usize) -> bool {
        let allowed = self.seen.saturating_add(more) <= records * MOST_REPEATED + FREE;
        self.seen += if allowed { more } else { 0 };
        allowed
    }
}

/// A record: the one before it, and the messages that it gave.
struct Node {
    parent: Option<usize>,
    /// Which step it is on the way from the root to the newest record; `None` off that way.
    step: Option<usize>,
    messages: Vec<usize>,
}

/// A record on the way from the root to the newest one.
struct Step {
    node: usize,
    /// The index of its first message, where it has any.
    first: Option<usize>,
}

/// Where in the tree the conversation stands.
#[derive(Default)]
pub struct Branches {
    nodes: Vec<Node>,
    by_id: HashMap<Box<str>, usize>,
    live: Vec<Step>,
    /// The first message that was withdrawn since the last one was listed.
    withdrawn_from: Option<usize>,
    repeats: Repeats,
}

impl Branches {
    /// A tree whose places are counted from a header, which takes the place 0 and has nothing behind it.
    pub fn below_a_header() -> Branches {
        Branches { nodes: vec![Node { parent: None, step: None, messages: Vec::new() }], ..Branches::default() }
    }

    /// The place of the record of this id; `None` where there is none.
    pub fn place_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The place of the record at which the conversation stands; `None` before the first one.
    pub fn leaf(&self) -> Option<usize> {
        self.live.last().map(|step| step.node)
    }

    /// Puts a record behind the one of this place, or at the root; its id may be empty. What is not on the way to it leaves the conversation;
    /// what was left and is on the way again is listed a second time, unless that has been done too often: then the record follows the one before it.
    /// True where messages left.
    pub fn enter(&mut self, id: &str, mut parent: Option<usize>, messages: &mut Messages, lose: Lose<'_>) -> bool {
        let mut goes_back = false;
        match self.way_to(parent) {
            Some((kept, back)) => goes_back = self.switch_to(kept, back, messages),
            None => {
                lose(TAKEN_UP);
                parent = self.leaf();
            }
        }
        let node = self.nodes.len();
        self.nodes.push(Node { parent, step: Some(self.live.len()), messages: Vec::new() });
        self.live.push(Step { node, first: None });
        if !id.is_empty() {
            self.by_id.insert(id.into(), node);
        }
        goes_back
    }

    /// The first message from the record of this place on, as far as the conversation goes: `None` where that record is not on the way to
    /// where it stands, `Some(None)` where no message has come since.
    pub fn first_from(&self, place: usize) -> Option<Option<usize>> {
        let from = self.nodes.get(place)?.step?;
        Some(self.live.iter().skip(from).find_map(|step| step.first))
    }

    /// How many steps of the way to where the conversation stands are those to this place, and what else is on the way there, backwards.
    fn way_to(&mut self, leaf: Option<usize>) -> Option<(usize, Vec<usize>)> {
        let mut back = Vec::new();
        let mut meeting = leaf;
        while let Some((place, node)) = meeting.and_then(|place| Some((place, self.nodes.get(place)?))) {
            if let Some(step) = node.step {
                return Some((step + 1, back));
            }
            if !self.repeats.allow(node.messages.len().max(1), self.nodes.len()) {
                return None;
            }
            back.push(place);
            meeting = node.parent;
        }
        Some((0, back))
    }

    fn switch_to(&mut self, kept: usize, back: Vec<usize>, messages: &mut Messages) -> bool {
        let left = self.live.split_off(kept);
        for step in &left {
            if let Some(node) = self.nodes.get_mut(step.node) {
                node.step = None;
            }
        }
        let withdrawn = left.iter().find_map(|step| step.first);
        self.withdrawn_from = [self.withdrawn_from, withdrawn].into_iter().flatten().min();
        for node in back.into_iter().rev() {
            let Some(entered) = self.nodes.get_mut(node) else { continue };
            entered.step = Some(self.live.len());
            let originals = entered.messages.clone();
            self.live.push(Step { node, first: (!originals.is_empty()).then_some(messages.len()) });
            for original in originals {
                if let Some(copy) = messages.get_mut(original).cloned() {
                    messages.push(Message { call: None, copy_of: Some(original), rewind: self.withdrawn_from.take(), ..copy });
                }
            }
        }
        withdrawn.is_some()
    }

    /// Lists a message of the record that was placed last.
    pub fn list(&mut self, message: Message, messages: &mut Messages) {
        let at = messages.len();
        if let Some(step) = self.live.last_mut() {
            step.first.get_or_insert(at);
            if let Some(node) = self.nodes.get_mut(step.node) {
                node.messages.push(at);
            }
        }
        messages.push(Message { rewind: self.withdrawn_from.take(), ..message });
    }
}
