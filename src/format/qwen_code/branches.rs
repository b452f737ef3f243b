//! The tree that records make by naming the one before them, turned into rewinds and second showings.

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
    /// Is there a record of this id already?
    pub fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Puts a record behind the one that it names. What is not on the way to it leaves the conversation; what was left and is on the
    /// way again is listed a second time. True where the conversation went back.
    pub fn place(&mut self, id: &str, parent: &str, messages: &mut Vec<Message>) -> bool {
        let leaf = self.live.last().map(|step| step.node);
        // A first record that names one before it goes on from another file.
        let parent = if parent.is_empty() { None } else { self.by_id.get(parent).copied().or(leaf) };
        let before = self.withdrawn_from;
        if parent != leaf {
            self.switch_to(parent, messages);
        }
        let node = self.nodes.len();
        self.nodes.push(Node { parent, messages: Vec::new() });
        self.live.push(Step { node, first: None });
        if !id.is_empty() {
            self.by_id.insert(id.into(), node);
        }
        self.withdrawn_from != before
    }

    fn switch_to(&mut self, leaf: Option<usize>, messages: &mut Vec<Message>) {
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
