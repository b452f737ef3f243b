//! What tells that a part was sent before, wherever it is sent again.

use crate::format::ground::is_drawn;
use crate::transcript::{Message, Part, Role};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// What identifies a part of a message.
#[derive(Clone)]
pub struct Print {
    /// Whose message the part stands in.
    pub role: Role,
    /// The id of the call that it is, where it has one.
    pub id: Option<u64>,
    /// The id of the call that it is the result of, where it names one.
    answers: Option<u64>,
    /// Hash of what the part says.
    pub words: u64,
    /// Bytes of what it says; 0 of an image.
    pub bytes: usize,
    /// Is the id, or the text of a part without one, so long that no other message has it by chance?
    pub rare: bool,
    /// Is it the call of a tool?
    pub call: bool,
    /// Did the client put it into the conversation?
    inserted: bool,
}

/// How ids of calls begin that no model made. pydantic-ai loads what a capability needs by a call of its own (seen in its recorded requests of 2026).
const INSERTED: &str = "auto_load_";

/// Bytes of a text that no two replies say by chance.
const RARE_TEXT: usize = 100;

impl Print {
    /// Is it the same part? Some providers give no ids to calls of tools and their clients do; other clients write new ones.
    pub fn is(&self, other: &Print) -> bool {
        self.role == other.role && (self.words == other.words || self.id.is_some() && self.id == other.id)
    }

    /// Is it the result of a call?
    pub fn is_result(&self) -> bool {
        self.answers.is_some()
    }

    /// Is it the same call of a tool with arguments that were masked?
    pub fn masks(&self, other: &Print) -> bool {
        self.call && self.words != other.words && self.bytes < other.bytes
    }

    /// May it be the same part with other words? Agents write results anew, which some interfaces have as messages of the user, and shorten replies.
    pub fn may_replace(&self, other: &Print) -> bool {
        let alike = match self.role {
            Role::Tool | Role::User => self.answers == other.answers,
            Role::Assistant => self.call == other.call && self.bytes < other.bytes,
            Role::System => false,
        };
        self.role == other.role && alike
    }
}

/// Where a message stands in a request.
#[derive(Clone, Copy, Default)]
pub struct Place {
    /// What identifies the first part of a user or a tool before it: the task, where a client keeps the first message.
    task: Option<u64>,
    /// What identifies the part before it; 0 at the beginning.
    before: u64,
    /// What identifies the last part of the reply before it; 0 where there is none.
    reply: u64,
    /// Whose part stands before it.
    role: Option<Role>,
}

impl Place {
    /// Behind a question that is known by this alone.
    pub fn after(question: u64) -> Place {
        Place { task: Some(question), before: question, reply: question, role: Some(Role::User) }
    }

    /// The place behind these parts, which stand here.
    pub fn past(self, parts: &[Print]) -> Place {
        parts.iter().fold(self, |place, print| Place {
            task: place.task.or(matches!(print.role, Role::User | Role::Tool).then_some(print.words)),
            before: print.words,
            reply: if print.role == Role::Assistant { print.words } else { place.reply },
            role: Some(print.role),
        })
    }

    /// Is a message that says this a reply of its own? It is none where nothing was asked, or more of the reply before it, or where it says nothing of its own.
    pub fn replies(self, parts: &[Print]) -> bool {
        self.task.is_some() && self.role != Some(Role::Assistant) && !parts.iter().all(|print| print.inserted)
    }
}

/// What a reply is known by, each of them a number. Clients shorten what stands before a reply, write it anew, leave it out, or do so with parts of the reply:
/// one of them is enough.
pub type Marks = Vec<u64>;

/// How a reply is found again by what stands around it.
#[derive(Clone, Copy)]
enum By {
    /// By what was asked.
    Question,
    /// By what was asked, where the log lacks what was replied.
    Unheard,
    /// By the same words behind what was asked.
    Before,
    /// By the same words behind the reply before, or behind another part of the same reply.
    Reply,
    /// By the same words before what the conversation goes on with.
    Next,
    /// By the same call of a tool for the same task.
    Task,
}

/// What a reply says that no other says by chance: drawn ids, long texts, and counted ids with their words.
fn rare(parts: &[Print]) -> Marks {
    let rare = |print: &Print| match print.id {
        Some(id) => Some(if print.rare { id } else { joined([id, print.words]) }),
        None => print.rare.then_some(print.words),
    };
    parts.iter().filter_map(rare).collect()
}

/// What a reply is known by in other files: the id of a call rather than a text, which clients leave out, and models say again.
pub fn name(parts: &[Print]) -> Option<u64> {
    let (calls, texts): (Vec<&Print>, Vec<&Print>) = parts.iter().partition(|print| print.id.is_some());
    calls.into_iter().chain(texts).find_map(|print| rare(std::slice::from_ref(print)).first().copied())
}

/// What a reply is known by where it may have been said several times.
fn placed(parts: &[Print], place: Place, next: Option<u64>) -> Marks {
    let calls = parts.iter().any(|print| print.call);
    let mut marks = Marks::new();
    let mut said = None;
    for Print { words, call, rare, .. } in parts {
        // Conversations of agents begin with equal calls: a drawn id that is not known tells more than the reply before, or the task.
        let drawn = *call && *rare;
        let told = said.replace(*words);
        // Beside a call a text tells little.
        if calls && !call {
            continue;
        }
        // The question alone tells where a text stands.
        marks.extend((calls && place.before != 0).then(|| joined([By::Before as u64, *words, place.before])));
        let behind = [Some(place.reply).filter(|_| !drawn), told].into_iter().flatten();
        marks.extend(behind.map(|reply| joined([By::Reply as u64, *words, reply])));
        marks.extend(next.map(|next| joined([By::Next as u64, *words, next])));
        marks.extend(place.task.filter(|_| calls && !drawn).map(|task| joined([By::Task as u64, *words, task])));
    }
    marks
}

fn by_place(by: By, place: Place) -> Option<u64> {
    (place.before != 0).then(|| joined([by as u64, place.before]))
}

/// What the conversation goes on with, results of tools apart: agents shorten those.
fn next(behind: &[Print]) -> Option<u64> {
    behind.iter().find(|print| print.role != Role::Tool).map(|print| print.words)
}

/// The replies of a log: by each mark, how many calls made such a one.
#[derive(Default)]
pub struct Replies(HashMap<u64, usize>);

impl Replies {
    /// Notes the reply of a call, which has these marks.
    pub fn note(&mut self, parts: &[Print], place: Place) -> Marks {
        let mut marks = placed(parts, place, None);
        marks.extend(by_place(By::Question, place));
        marks.extend(by_place(By::Unheard, place).filter(|_| parts.is_empty()));
        self.add(rare(parts), marks)
    }

    /// Notes what a call replied whose own reply the log lacks.
    pub fn hear(&mut self, parts: &[Print], place: Place) -> Marks {
        self.add(rare(parts), placed(parts, place, None))
    }

    /// Notes that the conversation goes on with these parts behind a reply.
    pub fn go_on(&mut self, reply: &[Print], behind: &[Print]) -> Marks {
        let marks = next(behind).map(|next| reply.iter().map(move |print| joined([By::Next as u64, print.words, next])));
        self.add(Marks::new(), marks.into_iter().flatten().collect())
    }

    fn add(&mut self, rare: Marks, mut marks: Marks) -> Marks {
        marks.sort_unstable();
        marks.dedup();
        for mark in rare.into_iter().chain(marks.iter().copied()) {
            *self.0.entry(mark).or_default() += 1;
        }
        marks
    }

    /// Is it the reply of a call that is known? Then that is known by all its marks.
    pub fn hold(&mut self, reply: &Repeated) -> bool {
        let held = reply.marks.iter().chain(&reply.unheard).any(|(mark, number)| self.0.get(mark).is_some_and(|calls| calls >= number));
        if held {
            self.count(reply);
        }
        held || !reply.counts
    }

    /// Counts the call of a reply: where other requests repeat it, it is the same.
    pub fn count(&mut self, reply: &Repeated) {
        for (mark, number) in &reply.marks {
            let calls = self.0.entry(*mark).or_default();
            *calls = (*calls).max(*number);
        }
    }

    /// Is this the reply of a call that is known? If not, its call is counted, and known from here on.
    pub fn repeat(&mut self, parts: &[Print], place: Place) -> bool {
        let mut reply = [Repeated::new(0, parts, place, &[])];
        number(&mut reply, &[]);
        let held = reply.iter().all(|reply| self.hold(reply));
        reply.iter().for_each(|reply| self.count(reply));
        held
    }
}

/// A reply that stands in a request.
pub struct Repeated {
    /// The index of its message.
    pub at: usize,
    /// Is it a call, where it is that of no other?
    counts: bool,
    /// What it is known by, and which of the session's replies it is that have that mark, from 1. As many calls must have made them.
    marks: Vec<(u64, usize)>,
    /// The same of a call whose reply the log lacks, and which may be the one.
    unheard: Option<(u64, usize)>,
}

impl Repeated {
    /// The only one in its session with its marks, the parts of the request behind it given.
    pub fn new(at: usize, parts: &[Print], place: Place, behind: &[Print]) -> Repeated {
        let mut marks = placed(parts, place, next(behind));
        // Clients write texts anew. A call of a tool that is another one was made by another call.
        marks.extend(by_place(By::Question, place).filter(|_| !parts.iter().any(|print| print.call)));
        marks.sort_unstable();
        marks.dedup();
        let once = rare(parts).into_iter().map(|mark| (mark, 1));
        let marks = once.chain(marks.into_iter().map(|mark| (mark, 0))).collect();
        Repeated { at, counts: true, marks, unheard: by_place(By::Unheard, place).map(|mark| (mark, 0)) }
    }

    /// A message of the model that is no reply of its own.
    pub fn no_call(at: usize) -> Repeated {
        Repeated { at, counts: false, marks: Vec::new(), unheard: None }
    }
}

/// Numbers the replies of a session, behind those that its own calls made, which have these marks.
pub fn number(replies: &mut [Repeated], own: &[u64]) {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    own.iter().for_each(|mark| *seen.entry(*mark).or_default() += 1);
    let marks = replies.iter_mut().flat_map(|reply| reply.marks.iter_mut().chain(&mut reply.unheard));
    for (mark, number) in marks.filter(|(_, number)| *number == 0) {
        let seen = seen.entry(*mark).or_default();
        *seen += 1;
        *number = *seen;
    }
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

/// What identifies a part, where anything does.
pub fn print(role: Role, part: &Part) -> Option<Print> {
    let rare = match part {
        Part::Text(text) | Part::Other(text) => text.as_str().len() >= RARE_TEXT,
        Part::ToolCall { id, name, .. } => is_drawn(id, name),
        _ => false,
    };
    let id_of = |id: &String| Some(id).filter(|id| !id.is_empty()).map(|id| hash(["id", id]));
    if !is_printed(part) {
        return None;
    }
    let (id, words) = match part {
        Part::Thinking { .. } => return None,
        Part::Text(text) | Part::Other(text) | Part::Tools(text) => (None, hash(["text", text.as_str().trim()])),
        Part::ToolCall { id, name, arguments } => (id_of(id), hash([name, &sorted(arguments.as_str())])),
        Part::ToolResult { text, .. } => (None, hash(["result", text.as_str().trim()])),
        Part::Image(image) => (None, hash(["image", &format!("{}x{} {}", image.width, image.height, image.bytes)])),
    };
    let inserted = matches!(part, Part::ToolCall { id, .. } if id.starts_with(INSERTED));
    let answers = if let Part::ToolResult { call_id, .. } = part { id_of(call_id) } else { None };
    let bytes = part.text().map_or(0, |text| text.as_str().len());
    Some(Print { role, id, answers, words, bytes, rare, call: matches!(part, Part::ToolCall { .. }), inserted })
}

/// Does anything identify a part? Reasoning may be left out when a reply is sent again, so it has no print; nor has what is empty.
pub fn is_printed(part: &Part) -> bool {
    match part {
        Part::Thinking { .. } => false,
        Part::Text(text) | Part::Other(text) | Part::Tools(text) => !text.as_str().trim().is_empty(),
        _ => true,
    }
}

/// Arguments with their names in order: clients write them anew.
fn sorted(arguments: &str) -> Cow<'_, str> {
    serde_json::from_str::<Value>(arguments).map_or(Cow::Borrowed(arguments), |arguments| Cow::Owned(arguments.to_string()))
}

fn joined<const N: usize>(numbers: [u64; N]) -> u64 {
    xxh3_64(numbers.map(u64::to_le_bytes).as_flattened())
}

fn hash(fields: [&str; 2]) -> u64 {
    let mut hash = Xxh3::new();
    for field in fields {
        hash.update(field.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}
