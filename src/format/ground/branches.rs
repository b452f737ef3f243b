//! The tree that records make by naming the one before them, turned into rewinds and second showings. Places in it are numbers, in the
//! order in which the records came.

use crate::transcript::Message;
use std::collections::HashMap;

/// A record: the one before it, and the messages that it gave.
struct Node {
    parent: Option<usize>,
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
}

impl Branches {
    /// A tree whose places are counted from a header, which takes the place 0 and has nothing behind it.
    pub fn below_a_header() -> Branches {
        Branches { nodes: vec![Node { parent: None, messages: Vec::new() }], ..Branches::default() }
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
    /// what was left and is on the way again is listed a second time. True where messages left.
    pub fn enter(&mut self, id: &str, parent: Option<usize>, messages: &mut Vec<Message>) -> bool {
        let goes_back = parent != self.leaf() && self.switch_to(parent, messages);
        let node = self.nodes.len();
        self.nodes.push(Node { parent, messages: Vec::new() });
        self.live.push(Step { node, first: None });
        if !id.is_empty() {
            self.by_id.insert(id.into(), node);
        }
        goes_back
    }

    /// The first message from the record of this place on, as far as the conversation goes: `None` where that record is not on the way to
    /// where it stands, `Some(None)` where no message has come since.
    pub fn first_from(&self, place: usize) -> Option<Option<usize>> {
        let from = self.live.iter().position(|step| step.node == place)?;
        Some(self.live.iter().skip(from).find_map(|step| step.first))
    }

    fn switch_to(&mut self, leaf: Option<usize>, messages: &mut Vec<Message>) -> bool {
        let mut back = Vec::new();
        let mut meeting = leaf;
        let kept = loop {
            let Some(node) = meeting else { break 0 };
            if let Some(place) = self.live.iter().rposition(|step| step.node == node) {
                break place + 1;
            }
            back.push(node);
            meeting = self.nodes.get(node).and_then(|node| node.parent);
        };
        let withdrawn = self.live.drain(kept..).find_map(|step| step.first);
        self.withdrawn_from = [self.withdrawn_from, withdrawn].into_iter().flatten().min();
        for node in back.into_iter().rev() {
            let originals = self.nodes.get(node).map(|node| node.messages.clone()).unwrap_or_default();
            self.live.push(Step { node, first: (!originals.is_empty()).then_some(messages.len()) });
            for original in originals {
                if let Some(copy) = messages.get(original).cloned() {
                    messages.push(Message { call: None, copy_of: Some(original), rewind: self.withdrawn_from.take(), ..copy });
                }
            }
        }
        withdrawn.is_some()
    }

    /// Lists a message of the record that was placed last.
    pub fn list(&mut self, message: Message, messages: &mut Vec<Message>) {
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
