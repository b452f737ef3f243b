//! What tells that a part was sent before, wherever it is sent again.

use crate::format::ground::is_drawn;
use crate::transcript::{Message, Part, Role};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::Xxh3;

/// What identifies a part of a message.
pub struct Print {
    /// Whose message the part stands in.
    pub role: Role,
    /// The id of the call that it is, where it has one.
    id: Option<u64>,
    /// Hash of what the part says.
    pub words: u64,
    /// Is the id, or the text of a part without one, so long that no other message has it by chance?
    rare: bool,
    /// Is it the call of a tool?
    call: bool,
}

/// Bytes of a text that no two replies say by chance.
const RARE_TEXT: usize = 100;

/// What a reply that says nothing is known by, beside the message before it.
const EMPTY: u64 = 0;

impl Print {
    /// Is it the same part? Some providers give no ids to calls of tools and their clients do; other clients write new ones.
    pub fn is(&self, other: &Print) -> bool {
        self.role == other.role && (self.words == other.words || self.id.is_some() && self.id == other.id)
    }
}

/// Where a message stands in the exchanges of a log.
#[derive(Clone, Copy, Default)]
pub struct Place {
    /// How many exchanges came before.
    exchanges: u64,
    /// Who speaks first.
    first: Option<Role>,
    /// What identifies the message before it; 0 behind what the request begins with, which may be written anew each time.
    before: u64,
    /// What identifies the reply before it; 0 where there is none.
    reply: u64,
    /// What identifies all before it.
    all: u64,
}

impl Place {
    /// The beginning of a request behind this many exchanges.
    pub fn behind(exchanges: u64) -> Place {
        Place { exchanges, ..Place::default() }
    }

    /// Behind a message that is known by this alone.
    pub fn after(message: u64) -> Place {
        Place { before: message, reply: message, all: message, ..Place::default() }
    }

    /// The place behind these parts, which stand here.
    pub fn past(self, parts: &[Print]) -> Place {
        parts.iter().fold(self, |place, print| {
            let first = place.first.or(Some(print.role));
            let head = place.before == 0 && first == Some(print.role);
            let reply = if print.role == Role::Assistant { print.words } else { place.reply };
            Place { first, before: if head { 0 } else { print.words }, reply, all: joined(place.all, print.words), ..place }
        })
    }
}

/// A reply that stands in a request.
pub struct Repeated {
    /// The index of its message.
    pub at: usize,
    parts: Vec<Print>,
    place: Place,
    /// What identifies what the conversation goes on with, results of tools apart: agents shorten those. `None` where the request ends.
    next: Option<u64>,
}

/// The replies that a log holds with the calls that made them.
#[derive(Default)]
pub struct Replies {
    known: HashSet<u64>,
    /// How many calls behind all this have a reply that the log lacks, and that no request has shown yet.
    unheard: HashMap<u64, usize>,
    /// How many calls made a reply of these words at such a place that go on with nothing yet, and behind how many exchanges the first did.
    open: HashMap<u64, (usize, u64)>,
    /// Replies that requests repeat, by the same.
    shown: HashSet<u64>,
    /// How many more replies the log repeats behind their calls than before them: logs may hold the newest exchange first.
    forward: i64,
}

impl Replies {
    /// Notes the reply of a call.
    pub fn note(&mut self, reply: &Message, place: Place) {
        let parts = prints(reply);
        if parts.is_empty() {
            self.known.insert(joined(EMPTY, place.before));
            // Behind nothing that is known, all calls would be alike.
            *self.unheard.entry(place.all).or_default() += usize::from(place.all != 0 && reply.parts.is_empty());
        }
        self.learn(&parts, place);
        for print in &parts {
            for context in [place.before, place.reply] {
                let spot = joined(print.words, context);
                self.forward -= i64::from(context != 0 && self.shown.contains(&spot));
                let (calls, _) = self.open.entry(spot).or_insert((0, place.exchanges));
                // What many conversations begin with tells little.
                *calls = if context == 0 { 1 } else { *calls + 1 };
            }
        }
    }

    /// Is this the reply of a call whose own the log lacks? It is known from here on.
    pub fn hear(&mut self, parts: &[Print], place: Place) -> bool {
        let Some(calls) = self.unheard.get_mut(&place.all).filter(|calls| **calls > 0 && !parts.is_empty()) else { return false };
        *calls -= 1;
        self.learn(parts, place);
        true
    }

    fn learn(&mut self, parts: &[Print], place: Place) {
        let known =
            |print: &Print| [print.id, Some(print.words), print.id.map(|id| joined(id, print.words)), Some(joined(print.words, place.all))];
        self.known.extend(parts.iter().flat_map(known).flatten());
    }

    /// A reply that stands in a request, with the parts of the request behind it.
    pub fn repeated(&mut self, at: usize, parts: Vec<Print>, place: Place, behind: &[Print]) -> Repeated {
        for spot in parts.iter().map(|print| joined(print.words, context(&parts, place))).filter(|_| context(&parts, place) != 0) {
            self.forward += i64::from(self.open.contains_key(&spot));
            self.shown.insert(spot);
        }
        Repeated { at, parts, place, next: next(behind) }
    }

    /// The conversation goes on with these parts behind a reply: no other conversation repeats that one.
    pub fn go_on(&mut self, reply: &[Print], place: Place, behind: &[Print]) {
        next(behind).into_iter().for_each(|next| self.claim(reply, place, next));
    }

    fn claim(&mut self, reply: &[Print], place: Place, next: u64) {
        for spot in reply.iter().flat_map(|print| [place.before, place.reply].map(|context| joined(print.words, context))) {
            if self.known.insert(joined(spot, next))
                && let Some((calls, _)) = self.open.get_mut(&spot)
            {
                *calls = calls.saturating_sub(1);
            }
        }
    }

    /// Is it one of them? An id of a call tells, with what the call says where the id may be counted; else all that the message says does. Where that may be
    /// said twice, so must what stands before it, and a call makes the reply of one conversation alone.
    pub fn hold(&mut self, reply: &Repeated) -> bool {
        let Repeated { parts, place, next, .. } = reply;
        let newest_first = self.forward < 0;
        let by_id = |print: &Print| print.id.map(|id| if print.rare { id } else { joined(id, print.words) });
        let by_words = |print: &Print| {
            let spot = joined(print.words, context(parts, *place));
            print.rare && print.id.is_none() && self.known.contains(&print.words)
                || self.known.contains(&joined(print.words, place.all))
                || next.is_some_and(|next| self.known.contains(&joined(spot, next)))
                || self
                    .open
                    .get(&spot)
                    .is_some_and(|(calls, since)| (next.is_none() || *calls > 0) && (newest_first || *since < place.exchanges))
        };
        let held = match parts.is_empty() {
            true => self.known.contains(&joined(EMPTY, place.before)),
            false => {
                parts.iter().filter_map(by_id).any(|id| self.known.contains(&id)) || parts.iter().all(by_words) || self.hear(parts, *place)
            }
        };
        if let Some(next) = next.filter(|_| held) {
            self.claim(parts, *place, next);
        }
        held
    }

    /// A reply of no call of the log is counted: where other conversations repeat it, it is the same.
    pub fn count(&mut self, Repeated { parts, place, next, .. }: &Repeated) {
        self.learn(parts, *place);
        let spots = parts.iter().map(|print| joined(print.words, context(parts, *place)));
        self.known.extend(spots.zip(next.iter().cycle()).map(|(spot, next)| joined(spot, *next)));
    }
}

/// What tells one of several replies of the same words: what was asked, or, of calls of tools, the reply before.
fn context(parts: &[Print], place: Place) -> u64 {
    if parts.iter().any(|print| print.call) { place.reply } else { place.before }
}

fn next(parts: &[Print]) -> Option<u64> {
    parts.iter().find(|print| print.role != Role::Tool).map(|print| print.words)
}

/// Do the parts begin with these?
pub fn begins(parts: &[Print], with: &[Print]) -> bool {
    parts.len() >= with.len() && parts.iter().zip(with).all(|(one, other)| one.is(other))
}

/// What identifies the parts of a message.
pub fn prints(message: &Message) -> Vec<Print> {
    message.parts.iter().filter_map(|part| print(message.role, part)).collect()
}

/// One number for what stands before a conversation.
pub fn digest(setting: &[Part]) -> u64 {
    let mut hash = Xxh3::new();
    setting.iter().filter_map(|part| print(Role::System, part)).for_each(|print| hash.update(&print.words.to_le_bytes()));
    hash.digest()
}

/// What identifies a part. Reasoning may be left out when a reply is sent again, so it has none; nor has what is empty.
pub fn print(role: Role, part: &Part) -> Option<Print> {
    let rare = match part {
        Part::Text(text) | Part::Other(text) => text.as_str().len() >= RARE_TEXT,
        Part::ToolCall { id, name, .. } => is_drawn(id, name),
        _ => false,
    };
    let (id, words) = match part {
        Part::Thinking { .. } => return None,
        Part::Text(text) | Part::Other(text) | Part::Tools(text) => {
            (None, hash(["text", Some(text.as_str().trim()).filter(|words| !words.is_empty())?]))
        }
        Part::ToolCall { id, name, arguments } => {
            (Some(id).filter(|id| !id.is_empty()).map(|id| hash(["id", id])), hash([name, &sorted(arguments.as_str())]))
        }
        Part::ToolResult { text, .. } => (None, hash(["result", text.as_str().trim()])),
        Part::Image(image) => (None, hash(["image", &format!("{}x{} {}", image.width, image.height, image.bytes)])),
    };
    Some(Print { role, id, words, rare, call: matches!(part, Part::ToolCall { .. }) })
}

/// Arguments with their names in order: clients write them anew.
fn sorted(arguments: &str) -> Cow<'_, str> {
    serde_json::from_str::<Value>(arguments).map_or(Cow::Borrowed(arguments), |arguments| Cow::Owned(arguments.to_string()))
}

fn joined(one: u64, other: u64) -> u64 {
    let mut hash = Xxh3::new();
    [one, other].iter().for_each(|part| hash.update(&part.to_le_bytes()));
    hash.digest()
}

fn hash(fields: [&str; 2]) -> u64 {
    let mut hash = Xxh3::new();
    for field in fields {
        hash.update(field.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}
