//! The messages of a session: those of a long one that came long ago are held as bytes, which take less room.

use super::evidence::Evidence;
use super::message::{Message, Part};
use crate::list::{packed, unpacked};
use crate::units::adds;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::iter::FlatMap;
use std::mem::take;
use std::ops::Index;
use std::sync::OnceLock;

/// So many messages are packed together.
const BLOCK: usize = 64;

/// So many blocks stay as they are: few sessions have more.
const OPEN: usize = 256;

/// A list of messages. Those that came long ago are packed where its reader asks for it ([`Messages::pack`]). Whoever goes through such a list takes them by
/// [`Messages::each`]: what [`Messages::iter`] and the like show stays unpacked until the list is let go of.
#[derive(Clone, Default)]
pub struct Messages {
    /// All but the last one are full.
    blocks: Vec<Block>,
    /// Are those packed that came long ago?
    packs: bool,
    /// The places of the blocks that are no bytes, by the time since when. Empty where nothing is packed.
    open: VecDeque<usize>,
    /// How many blocks were opened again.
    opened: usize,
}

/// Messages that are packed together.
#[derive(Clone, Default)]
pub struct Block {
    /// Empty where they are packed.
    plain: Vec<Message>,
    packed: Option<Packed>,
}

#[derive(Clone)]
struct Packed {
    /// The messages, and by text what can be recognised of it; nothing of that where no text has any.
    bytes: Box<[u8]>,
    sizes: Sizes,
    /// The messages, once they have been looked at in place.
    shown: OnceLock<Vec<Message>>,
}

/// How much stands in messages.
#[derive(Clone, Copy, Default)]
pub struct Sizes {
    /// Their parts.
    pub parts: usize,
    /// Their calls.
    pub calls: usize,
    /// The recognisable pieces of their texts.
    pub units: usize,
    /// Messages whose time says nothing.
    pub timeless: usize,
}

adds!(Sizes += Sizes: parts, calls, units, timeless);

impl Sizes {
    fn of(messages: &[Message]) -> Sizes {
        let parts = || messages.iter().flat_map(|message| &message.parts);
        let evidence = parts().filter_map(|part| part.text()?.evidence.as_ref());
        let units = evidence.map(|evidence| evidence.units.len()).sum();
        let calls = messages.iter().filter(|message| message.call.is_some()).count();
        let timeless = messages.iter().filter(|message| message.time.is_some() && message.possible_time().is_none()).count();
        Sizes { parts: parts().count(), calls, units, timeless }
    }
}

impl Packed {
    fn of(mut messages: Vec<Message>) -> Packed {
        let sizes = Sizes::of(&messages);
        let texts = messages.iter_mut().flat_map(|message| &mut message.parts).filter_map(Part::text_mut);
        let mut evidence: Vec<Option<Box<Evidence>>> = texts.map(|text| text.evidence.take()).collect();
        if evidence.iter().all(Option::is_none) {
            evidence.clear();
        }
        Packed { bytes: packed(&(messages, evidence)), sizes, shown: OnceLock::new() }
    }

    /// The messages, with what can be recognised of their texts.
    fn unpacked(&self) -> Vec<Message> {
        let (mut messages, evidence): (Vec<Message>, Vec<Option<Box<Evidence>>>) = unpacked(&self.bytes);
        let texts = messages.iter_mut().flat_map(|message| &mut message.parts).filter_map(Part::text_mut);
        texts.zip(evidence).for_each(|(text, evidence)| text.evidence = evidence);
        messages
    }
}

impl Block {
    /// The messages as they are.
    fn open(&mut self) -> &mut Vec<Message> {
        if let Some(packed) = self.packed.take() {
            self.plain = packed.unpacked();
        }
        &mut self.plain
    }

    fn pack(&mut self) {
        if self.packed.is_none() {
            self.packed = Some(Packed::of(take(&mut self.plain)));
        }
    }

    fn shown(&self) -> &[Message] {
        match &self.packed {
            Some(packed) => packed.shown.get_or_init(|| packed.unpacked()),
            None => &self.plain,
        }
    }

    fn each(&self) -> Each<'_> {
        match &self.packed {
            Some(packed) => Each::Unpacked(packed.unpacked().into_iter()),
            None => Each::Plain(self.plain.iter()),
        }
    }
}

/// The messages of one block.
enum Each<'a> {
    Plain(std::slice::Iter<'a, Message>),
    Unpacked(std::vec::IntoIter<Message>),
}

impl<'a> Iterator for Each<'a> {
    type Item = Cow<'a, Message>;

    fn next(&mut self) -> Option<Cow<'a, Message>> {
        match self {
            Each::Plain(messages) => messages.next().map(Cow::Borrowed),
            Each::Unpacked(messages) => messages.next().map(Cow::Owned),
        }
    }
}

impl DoubleEndedIterator for Each<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Each::Plain(messages) => messages.next_back().map(Cow::Borrowed),
            Each::Unpacked(messages) => messages.next_back().map(Cow::Owned),
        }
    }
}

impl Messages {
    /// Packs from here on what came long ago.
    pub fn pack(&mut self) {
        self.packs = true;
        self.open = (0..self.blocks.len()).collect();
    }

    /// Packs nothing any more, and opens what is packed.
    pub fn keep(&mut self) {
        self.packs = false;
        self.open.clear();
        for block in &mut self.blocks {
            block.open();
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.blocks.last().map_or(0, |last| (self.blocks.len() - 1) * BLOCK + last.plain.len())
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// How much stands in all of them.
    pub fn sizes(&self) -> Sizes {
        let sizes = self.blocks.iter().map(|block| block.packed.as_ref().map_or_else(|| Sizes::of(&block.plain), |packed| packed.sizes));
        sizes.fold(Sizes::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }

    /// Adds one at the end.
    pub fn push(&mut self, message: Message) {
        match self.blocks.last_mut().filter(|last| last.plain.len() < BLOCK) {
            Some(last) => last.plain.push(message),
            None => {
                self.blocks.push(Block { plain: vec![message], packed: None });
                self.rest(self.blocks.len() - 1);
            }
        }
    }

    /// Puts one in front of that of this place.
    pub fn insert(&mut self, at: usize, message: Message) {
        let behind = self.split_off(at);
        self.push(message);
        self.extend(behind);
    }

    /// Takes one out.
    pub fn remove(&mut self, at: usize) {
        let behind = self.split_off(at);
        self.extend(behind.into_iter().skip(1));
    }

    /// Takes out all from this place on.
    pub fn split_off(&mut self, at: usize) -> Messages {
        if self.packs {
            self.keep();
        }
        let mut behind = Messages::default();
        let mut blocks = self.blocks.split_off((at / BLOCK).min(self.blocks.len())).into_iter();
        let mut first = blocks.next().unwrap_or_default();
        let messages = first.open();
        let rest = messages.split_off((at % BLOCK).min(messages.len()));
        self.extend(take(messages));
        behind.extend(rest);
        behind.extend(blocks.flat_map(|mut block| take(block.open())));
        behind
    }

    /// Takes out the last one.
    pub fn pop(&mut self) -> Option<Message> {
        self.len().checked_sub(1).and_then(|last| self.split_off(last).into_iter().next())
    }

    /// The message of this place.
    pub fn get(&self, at: usize) -> Option<&Message> {
        self.blocks.get(at / BLOCK)?.shown().get(at % BLOCK)
    }

    /// The message of this place, to be changed.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut Message> {
        let place = at / BLOCK;
        if self.blocks.get(place)?.packed.is_some() {
            self.blocks.get_mut(place)?.open();
            self.opened += 1;
            match self.opened > self.blocks.len() {
                // Who looks back so often would wait for each block again and again.
                true => self.keep(),
                false => self.rest(place),
            }
        }
        self.blocks.get_mut(place)?.plain.get_mut(at % BLOCK)
    }

    /// The last one.
    pub fn last(&self) -> Option<&Message> {
        self.blocks.last()?.plain.last()
    }

    /// The last one, to be changed.
    pub fn last_mut(&mut self) -> Option<&mut Message> {
        self.blocks.last_mut()?.plain.last_mut()
    }

    /// The messages, unpacked while they pass by.
    pub fn each(&self) -> impl DoubleEndedIterator<Item = Cow<'_, Message>> {
        self.blocks.iter().flat_map(Block::each)
    }

    /// The messages in place.
    pub fn iter(&self) -> Shown<'_> {
        self.blocks.iter().flat_map(Block::shown)
    }

    /// The messages, to be changed.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Message> {
        let open = &mut self.open;
        self.blocks.iter_mut().enumerate().flat_map(|(place, block)| {
            if block.packed.is_some() {
                open.push_back(place);
            }
            block.open()
        })
    }

    /// Changes each message.
    pub fn change(&mut self, mut change: impl FnMut(&mut Message)) {
        for block in &mut self.blocks {
            let packed = block.packed.is_some();
            block.open().iter_mut().for_each(&mut change);
            if packed {
                block.pack();
            }
        }
    }

    /// This block is open from here on; those that have been for longest are packed. The last one stays open.
    fn rest(&mut self, open: usize) {
        if !self.packs {
            return;
        }
        self.open.push_back(open);
        let last = self.blocks.len().saturating_sub(1);
        while self.open.len() > OPEN
            && let Some(place) = self.open.pop_front()
        {
            match self.blocks.get_mut(place) {
                Some(_) if place == last => self.open.push_back(place),
                Some(block) => block.pack(),
                None => {}
            }
        }
    }
}

/// Messages in place, one after the other.
type Shown<'a> = FlatMap<std::slice::Iter<'a, Block>, &'a [Message], fn(&'a Block) -> &'a [Message]>;

impl Index<usize> for Messages {
    type Output = Message;

    /// # Panics
    /// Where there is no message at this place, as with any list.
    #[expect(clippy::indexing_slicing, reason = "as with any list")]
    fn index(&self, at: usize) -> &Message {
        &self.blocks[at / BLOCK].shown()[at % BLOCK]
    }
}

impl Extend<Message> for Messages {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

impl FromIterator<Message> for Messages {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Messages {
        let mut made = Messages::default();
        made.extend(messages);
        made
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Messages {
        messages.into_iter().collect()
    }
}

impl IntoIterator for Messages {
    type Item = Message;
    type IntoIter = FlatMap<std::vec::IntoIter<Block>, Vec<Message>, fn(Block) -> Vec<Message>>;

    /// The messages, each block unpacked when its turn comes.
    fn into_iter(self) -> Self::IntoIter {
        self.blocks.into_iter().flat_map(|mut block| take(block.open()))
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Message;
    type IntoIter = Shown<'a>;

    fn into_iter(self) -> Shown<'a> {
        self.iter()
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Messages) -> bool {
        self.len() == other.len() && self.each().eq(other.each())
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.each()).finish()
    }
}
