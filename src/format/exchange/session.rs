//! One conversation as its requests repeat it: what it holds so far, and what each further request adds.

use super::cut::{self, Cut};
use super::edit::Edit;
use super::entry::{Entry, Exchange, is_version_of};
use super::prints::{Marks, Place, Print, Repeated, Replies, digest, is_printed, name, print, prints};
use super::verbatim::weigh;
use crate::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Scale, Transcript, Trust};
use std::collections::{HashMap, HashSet};

/// One conversation.
#[derive(Default)]
pub struct Session {
    pub transcript: Transcript,
    /// What identifies each part so far, the last reply included.
    pub prints: Vec<Print>,
    /// How many of them the last request held, without its reply.
    pub asked: usize,
    /// Which part of which message each of them is; `None` of what the agent put in the place of others.
    pub places: Vec<Option<(usize, usize)>>,
    /// The last reply, where it is a text that tells; empty otherwise.
    pub said: String,
    /// The log lacks what the last call replied: nothing of it came so far.
    pub unheard: bool,
    /// What stands before the conversation in the last request.
    pub setting: Setting,
    /// The model of its last call.
    pub model: String,
    pub known_as: Vec<String>,
    /// The names of tools by the ids of their calls, for results whose request does not repeat the call.
    pub names: HashMap<String, String>,
    /// Something unseen happened after the last call.
    pub interrupted: bool,
    /// The conversation goes back to before this message.
    pub back: Option<usize>,
    /// Where the next message of a request stands while it is taken in.
    pub place: Place,
    /// How many parts of the request stand before that.
    pub past: usize,
    /// Replies that stand in a request alone.
    pub repeated: Vec<Repeated>,
    /// What the replies of its own calls are known by, as far as its requests repeat them as they were.
    pub own: Marks,
    /// How many of these are of calls before the last one.
    pub before_last: usize,
    /// The places of replies, and what each says that no other says by chance.
    pub marked: Vec<(usize, u64)>,
    /// The session before its last cut, as long as a request that goes on from there may show that the cut is none.
    pub uncut: Option<Box<Uncut>>,
    /// The session before its last question, as long as a request that goes on from there may show that this was asked aside.
    pub aside: Option<Box<Uncut>>,
    /// The session that this one may have asked something aside, and how many requests that must have made then.
    pub beside: Option<(String, usize)>,
    /// How many requests it has made.
    pub requests: usize,
    /// What the compactions are known by that its provider made.
    pub compacted: Vec<u64>,
    /// Does the request that is taken in begin behind one of them?
    pub behind_one: bool,
    /// What the server left out of the last prompt, and the parts that this were.
    pub left_out: (Edit, Vec<(usize, usize)>),
}

/// A session before a request that seems to cut it. Agents also ask something apart from the conversation (a title, a check) behind the end of that alone.
pub struct Uncut {
    /// What the request replaces. It holds no message but a reply that is heard late; its own marks are those of the last reply.
    pub before: Session,
    /// How many parts the request has, where it was kept as a question.
    pub asked: usize,
    /// The request.
    pub exchange: Exchange,
    /// So much stands before the request.
    pub had: Extent,
    /// So much stands up to its reply; `None` until that is taken in.
    pub has: Option<Extent>,
}

/// What stands before a conversation.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// What the request sends apart, in one number.
    apart: u64,
    /// The words of each instruction in front of the messages.
    pub lead: Vec<u64>,
}

impl Setting {
    /// That of a request.
    pub fn of(exchange: &Exchange) -> Setting {
        Setting { apart: digest(&exchange.setting), lead: exchange.lead.iter().flat_map(prints).map(|print| print.words).collect() }
    }

    /// Does it begin as another one does?
    pub fn begins_as(&self, other: &Setting) -> bool {
        self.apart == other.apart && self.lead.first() == other.lead.first()
    }
}

/// How much a session holds.
pub struct Extent {
    /// Messages.
    pub messages: usize,
    /// Events.
    pub compactions: usize,
    /// Places of parts.
    pub places: usize,
    /// Marks of its own, without those of the last reply.
    pub own: usize,
}

impl Session {
    /// One that holds nothing of its conversation yet, with the digest of what stands before that.
    pub fn new(transcript: Transcript, setting: Setting) -> Session {
        Session { transcript, setting, ..Session::default() }
    }

    /// A reply that a call of the log has made is none of another call where a request repeats it.
    pub fn settle(&mut self, replies: &mut Replies) {
        let messages = &mut self.transcript.messages;
        self.repeated.retain(|reply| {
            let held = replies.hold(reply);
            let taken = messages.get_mut(reply.at).filter(|_| held).and_then(|message| message.call.take());
            // What broke the chain before it broke it before the next call.
            if taken.is_some_and(|call| call.unchained) {
                let is_call = |at: &usize| messages.get(*at).is_some_and(|message| message.call.is_some());
                let next = (reply.at + 1..messages.len()).find(is_call);
                next.and_then(|at| messages.get_mut(at)?.call.as_mut()).into_iter().for_each(|call| call.unchained = true);
            }
            !held
        });
    }

    /// Names the replies of a log of one exchange by what each says and no other says by chance: one exchange a file is all that many logs hold, and each
    /// file repeats the replies of those before. So they are known in other files.
    pub fn name_replies(&mut self) {
        for (at, mark) in self.marked.drain(..) {
            let Some(message) = self.transcript.messages.get_mut(at) else { continue };
            let Some(call) = message.call.as_deref_mut() else { continue };
            // Models say the same again: a logged call that has no id is its own.
            let is_logged = call.usage.is_some() || call.output.is_some() || !call.model.is_empty();
            if is_logged && call.id.is_empty() && message.id.is_empty() {
                continue;
            }
            let id = std::mem::replace(&mut message.id, format!("reply {mark:016x}"));
            if call.id.is_empty() {
                call.id = id;
            }
        }
    }

    /// Notes what a reply says that no other says by chance.
    fn mark(&mut self, parts: &[Print]) {
        self.marked.extend(name(parts).map(|name| (self.transcript.messages.len(), name)));
    }

    /// How much it holds.
    pub fn extent(&self) -> Extent {
        let Transcript { messages, compactions, .. } = &self.transcript;
        Extent { messages: messages.len(), compactions: compactions.len(), places: self.places.len(), own: self.before_last }
    }

    /// Is all that left what the agent sends with one request alone, a reminder or the state of a page? It is no history, and no policy would keep it.
    pub fn is_passing(&self, cut: &Cut<'_>) -> bool {
        let place = |at: &usize| self.places.get(*at).copied().flatten();
        let stands: HashSet<usize> = cut.stands_for.iter().flatten().filter_map(|at| Some(place(at)?.0)).collect();
        let is_reply = |at: &usize| self.prints.get(*at).is_some_and(|print| matches!(print.role, Role::Assistant | Role::Tool));
        let alone = |at: &usize| place(at).is_some_and(|(message, _)| !stands.contains(&message));
        cut.stands_for.iter().all(Option::is_some)
            && !cut.dropped.is_empty()
            && !cut.dropped.iter().any(is_reply)
            && cut.dropped.iter().all(alone)
    }

    /// Stood all that left among the last parts of the request before?
    pub fn is_tail(&self, cut: &Cut<'_>) -> bool {
        cut.dropped.first().is_some_and(|at| at + cut::MOST_PASSING >= self.asked) && cut.dropped.iter().all(|at| self.place(*at).is_some())
    }

    /// Did the oldest alone leave, and had an earlier request sent them, too? So an agent trims its history.
    pub fn is_head(&self, cut: &Cut<'_>) -> bool {
        // The second call behind them: a window that slides asks at each request, and all calls are not counted for it.
        let is_sent_twice = |(at, _)| self.transcript.messages.iter().skip(at).filter(|message| message.call.is_some()).nth(1).is_some();
        let sent_before = cut.dropped.last().and_then(|at| self.place(*at)).is_some_and(is_sent_twice);
        sent_before && cut.dropped.iter().copied().eq(0..cut.dropped.len())
    }

    fn place(&self, at: usize) -> Option<(usize, usize)> {
        self.places.get(at).copied().flatten()
    }

    /// Notes which arguments of calls the next request masks, which begins with what the last one held.
    pub fn mask(&mut self, request: &[Print]) {
        let asked = self.prints.get(..self.asked).unwrap_or_default();
        let taken: Vec<(usize, usize)> = cut::masked(asked, request).filter_map(|at| self.place(at)).collect();
        if !taken.is_empty() {
            let event = Compaction { before: self.transcript.messages.len(), kind: CompactionKind::Prune, taken, ..Compaction::default() };
            self.transcript.compactions.push(event);
            self.interrupted = true;
        }
    }

    /// Notes what the agent did to its history before the next request, what it put in, and the call apart that wrote this.
    pub fn cut(&mut self, cut: &Cut<'_>, put_in: &[&str], writer: Option<Call>, scale: &dyn Scale) {
        let place = |at: &usize| self.places.get(*at).copied().flatten();
        let call = cut.summarised.then(|| place(&cut.base)).flatten().filter(|(_, part)| *part == 0).map(|(at, _)| at);
        // What shares its message with what stayed was taken out of that: a picture beside a text.
        let stands: HashSet<usize> = cut.stands_for.iter().flatten().filter_map(|at| Some(place(at)?.0)).collect();
        let dropped = cut.dropped.iter().filter(|_| !cut.passing);
        let (within, left): (Vec<usize>, Vec<usize>) =
            dropped.partition(|at| place(at).is_some_and(|(message, _)| stands.contains(&message)));
        let mut taken: Vec<(usize, usize)> = cut.shortened.iter().chain(&within).filter_map(place).collect();
        let kept = (cut.kept..cut.base).find_map(|at| place(&at));
        let mut moved: Vec<Option<(usize, usize)>> = cut.stands_for.iter().map(|at| at.as_ref().and_then(place)).collect();
        if cut.passing {
            let passed = cut.dropped.iter().filter_map(place).collect();
            let shown = self.pass(&passed);
            for place in moved.iter_mut().flatten().chain(&mut taken) {
                *place = shown.get(place).copied().unwrap_or(*place);
            }
        }
        taken.sort_unstable();
        let summariser = call.and_then(|at| self.take_back(at)).or(writer);
        let before = self.transcript.messages.len();
        let event = Compaction { before, ..Compaction::default() };
        if !taken.is_empty() {
            self.transcript.compactions.push(Compaction { kind: CompactionKind::Prune, taken, ..event.clone() });
        }
        if !left.is_empty() {
            let summary = scale.weigh_summary(&put_in.join("\n"));
            let kept_from = Some(kept.map_or(before, |(message, _)| message));
            self.transcript.compactions.push(Compaction { summary, kept_from, call: summariser, ..event });
        }
        self.places = moved;
        self.unheard &= cut.base == self.prints.len();
        self.interrupted = true;
        // The rest of the last reply may stand anywhere in the request.
        if cut.base < self.prints.len() {
            self.own.truncate(self.before_last);
        }
    }

    /// Goes back before what the last request alone was sent with, and shows again what else came since. Where that stands now.
    fn pass(&mut self, passed: &HashSet<(usize, usize)>) -> HashMap<(usize, usize), (usize, usize)> {
        let messages = &mut self.transcript.messages;
        let mut shown = HashMap::new();
        let from = passed.iter().map(|(at, _)| *at).min().unwrap_or(messages.len());
        self.back = Some(from);
        for original in from..messages.len() {
            let Some(message) = messages.get(original).cloned() else { continue };
            let at = messages.len();
            let stays = message.parts.into_iter().enumerate().filter(|(part, _)| !passed.contains(&(original, *part)));
            let (places, parts): (Vec<usize>, Vec<Part>) = stays.unzip();
            if parts.is_empty() {
                // The agent says it by itself.
                messages.get_mut(original).into_iter().for_each(|message| message.synthetic = message.role == Role::User);
                continue;
            }
            shown.extend(places.into_iter().enumerate().map(|(part, was)| ((original, was), (at, part))));
            messages.push(Message { parts, call: None, copy_of: Some(original), rewind: self.back.take(), ..message });
        }
        shown
    }

    /// Takes back the messages from this one on: a request for a summary, and its reply. Its call.
    fn take_back(&mut self, from: usize) -> Option<Call> {
        let mut call = None;
        while self.transcript.messages.len() > from {
            call = self.transcript.messages.pop()?.call.or(call);
        }
        self.repeated.retain(|reply| reply.at < from);
        self.marked.retain(|(at, _)| *at < from);
        self.transcript.compactions.iter_mut().for_each(|event| event.before = event.before.min(from));
        // What it was before stands no more.
        let is_gone = |uncut: &mut Box<Uncut>| uncut.had.messages > from || uncut.has.as_ref().is_some_and(|has| has.messages > from);
        self.aside.take_if(is_gone);
        self.uncut.take_if(is_gone);
        call.map(|call| *call)
    }

    pub fn take(&mut self, exchange: Exchange, mut known: usize, scale: &dyn Scale, replies: &mut Replies) {
        let setting = Setting::of(&exchange);
        // Changed instructions cannot be put where the old ones stand; the next call begins a new chain.
        self.interrupted |= setting != self.setting || exchange.hidden;
        self.setting = setting;
        self.transcript.window = exchange.window.or(self.transcript.window);
        let mut repeats = std::mem::take(&mut self.behind_one) || known > 0;
        (self.place, self.past) = (Place::default(), 0);
        let had = self.transcript.messages.len();
        for entry in exchange.entries {
            self.entry(entry, &mut known, &mut repeats, scale, replies);
        }
        // An agent that cuts its history has the results of its last calls already.
        let Transcript { messages, compactions, .. } = &mut self.transcript;
        let results = messages.iter().skip(had).take_while(|message| message.role == Role::Tool).count();
        let is_cut = |event: &&mut Compaction| event.before == had && (event.kept_from.is_some() || !event.taken.is_empty());
        compactions.iter_mut().rev().take_while(is_cut).for_each(|event| event.before += results);
        // What a request ends with, instructions apart, begins the reply that it asks for.
        let behind = |at: usize| self.transcript.messages.iter().skip(at + 1);
        let begun = self.repeated.last_mut().filter(|reply| behind(reply.at).all(|message| message.role == Role::System));
        if let Some(begun) = begun.filter(|_| exchange.failed || exchange.reply.is_some()) {
            *begun = Repeated::no_call(begun.at);
        }
        self.interrupted |= exchange.failed;
        let said = exchange.reply.iter().flat_map(|reply| &reply.messages).flat_map(|message| &message.parts);
        let said: Option<Vec<&str>> =
            said.filter(|part| is_printed(part)).map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect();
        self.said = said.map(|said| said.concat().trim().to_owned()).filter(|said| said.len() >= cut::FEWEST_BYTES).unwrap_or_default();
        if let Some(mut reply) = exchange.reply {
            self.compacted.extend(reply.compacted);
            // What a compaction by request kept is known already, unless the conversation itself is not in the log.
            if !self.transcript.messages.is_empty() && reply.messages.iter().all(|message| message.call.is_none()) {
                reply.messages.clear();
                if exchange.follows.is_some() {
                    // What the provider kept of the conversation is not in the request: its output says what stays.
                    self.asked = self.prints.len();
                    self.places.resize(self.asked, None);
                } else {
                    self.prints.truncate(self.asked);
                }
            }
            self.reply(reply, &exchange.model, exchange.hidden, scale);
        }
        if !exchange.known_as.is_empty() {
            self.known_as = exchange.known_as;
        }
        self.requests += 1;
        for kept in self.uncut.iter_mut().chain(&mut self.aside).filter(|kept| kept.has.is_none()) {
            kept.has = Some(Extent {
                messages: self.transcript.messages.len(),
                compactions: self.transcript.compactions.len(),
                places: self.places.len(),
                own: self.before_last,
            });
        }
    }

    /// Adds what an entry holds beyond the parts that are known. `repeats`: nothing new has come so far.
    fn entry(&mut self, mut entry: Entry, known: &mut usize, repeats: &mut bool, scale: &dyn Scale, replies: &mut Replies) {
        let mut compactions = entry.compactions;
        for mut message in entry.messages {
            let own = prints(&message);
            let count = own.len();
            let place = self.place;
            (self.place, self.past) = (place.past(&own), self.past + count);
            if *repeats && count <= *known {
                // What cannot be recognised is taken for known as long as all before it was.
                *known -= count;
                continue;
            }
            *repeats = false;
            let goes_on = *known > 0;
            if goes_on {
                // A message of one role may come back longer: interfaces join them.
                let mut seen = 0;
                let role = message.role;
                message.parts.retain(|part| {
                    seen += usize::from(print(role, part).is_some());
                    seen > *known
                });
                *known = 0;
            }
            self.unheard &= compactions.is_empty();
            for mut compaction in compactions.drain(..) {
                compaction.before = self.transcript.messages.len();
                compaction.summary = compaction.summary.and_then(|summary| scale.weigh_summary(summary.as_str()));
                self.transcript.compactions.push(compaction);
            }
            let unheard = std::mem::take(&mut self.unheard) && message.role == Role::Assistant;
            let behind = self.prints.get(self.past..).unwrap_or_default();
            if unheard && !own.is_empty() {
                self.own.extend(replies.hear(&own, place));
                self.own.extend(replies.go_on(&own, behind));
                self.hear(message, scale);
                continue;
            }
            self.interrupted |= message.role == Role::Assistant && message.call.is_none();
            if message.call.as_deref() == Some(&Call::default()) {
                let at = self.transcript.messages.len();
                let replies = place.replies(&own) && !goes_on;
                self.repeated.push(if replies { Repeated::new(at, &own, place, behind) } else { Repeated::no_call(at) });
                self.mark(&own);
            }
            // What the log has of a reply by a request alone says nothing of its prompt.
            if message.call.as_deref().is_some_and(|call| *call != Call::default()) {
                self.leave_out(entry.edit.take(), &message);
            }
            self.push(message, scale);
        }
    }

    /// Notes what the server left out of the prompt of this reply. What it had left out of the one before, too, is no other event.
    fn leave_out(&mut self, edit: Option<Edit>, reply: &Message) {
        let (was, out) = std::mem::take(&mut self.left_out);
        let Some(edit) = edit else {
            // All of it is there again.
            self.interrupted |= was != Edit::default();
            return;
        };
        let messages = &self.transcript.messages;
        let sent: Vec<_> = self.prints.iter().zip(self.places.iter().copied()).collect();
        let all = edit.taken(&sent, |at| messages.get(at));
        self.interrupted |= (&was, &out) != (&edit, &all);
        let taken: Vec<_> = all.iter().filter(|part| out.binary_search(part).is_err()).copied().collect();
        if !taken.is_empty() {
            let tokens_after = reply.call.as_ref().and_then(|call| call.usage).map(|usage| usage.prompt);
            let more = edit.tokens.checked_sub(was.tokens).filter(|more| *more > 0);
            self.transcript.compactions.push(Compaction {
                before: messages.len(),
                kind: CompactionKind::Prune,
                automatic: Some(true),
                tokens_before: tokens_after.zip(more).map(|(after, more)| after.saturating_add(more)),
                tokens_after,
                taken,
                ..Compaction::default()
            });
        }
        self.left_out = (edit, all);
    }

    /// Puts what a request repeats in the place of the last reply, of which the log has the call alone, or what the model thought before it.
    fn hear(&mut self, reply: Message, scale: &dyn Scale) {
        let Some(made) = self.transcript.messages.pop() else { return };
        let thinks = reply.parts.iter().any(|part| matches!(part, Part::Thinking { .. }));
        let thoughts = made.parts.into_iter().filter(|_| !thinks);
        let parts = thoughts.chain(reply.parts).collect();
        self.push(Message { id: made.id, time: made.time, call: None, parts, ..reply }, scale);
        if let Some(last) = self.transcript.messages.last_mut() {
            last.call = made.call;
        }
    }

    /// Adds what came back.
    fn reply(&mut self, mut reply: Entry, asked: &str, hidden: bool, scale: &dyn Scale) {
        for mut compaction in reply.compactions {
            compaction.before = self.transcript.messages.len();
            compaction.summary = compaction.summary.and_then(|summary| scale.weigh_summary(summary.as_str()));
            self.transcript.compactions.push(compaction);
        }
        let mut replied = false;
        self.unheard =
            reply.messages.iter().all(|message| prints(message).is_empty() && message.call.is_some()) && reply.messages.len() == 1;
        for mut message in reply.messages {
            if let Some(call) = &mut message.call {
                if call.model.is_empty() {
                    call.model = asked.to_owned();
                }
                if let Some(usage) = call.usage.as_mut().filter(|_| hidden) {
                    usage.trust = Trust::Beyond;
                }
                replied = true;
                self.leave_out(reply.edit.take(), &message);
                self.mark(&prints(&message));
            }
            self.push(message, scale);
        }
        // What a hidden prompt held stays in the context, or does not: the next call cannot be compared with this one.
        self.interrupted = hidden || (self.interrupted && !replied);
    }

    fn push(&mut self, mut message: Message, scale: &dyn Scale) {
        let at = self.transcript.messages.len();
        let printed = message.parts.iter().enumerate().filter(|(_, part)| is_printed(part));
        self.places.extend(printed.map(|(part, _)| Some((at, part))));
        weigh(&mut message, scale);
        for part in &mut message.parts {
            match part {
                Part::ToolCall { id, name, .. } => drop(self.names.insert(id.clone(), name.clone())),
                Part::ToolResult { call_id, name, .. } if name.is_empty() => {
                    *name = self.names.get(call_id).cloned().unwrap_or_default();
                }
                _ => {}
            }
        }
        if let Some(call) = &mut message.call {
            let changed = !self.model.is_empty() && !call.model.is_empty() && !is_version_of(&call.model, &self.model);
            call.unchained |= self.interrupted || changed;
            self.interrupted = false;
            if !call.model.is_empty() {
                self.model.clone_from(&call.model);
            }
        }
        message.rewind = self.back.take();
        self.transcript.messages.push(message);
    }
}
