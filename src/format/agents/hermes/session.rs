//! A conversation, put together row by row, through the compactions that its sessions are parted by.

use crate::format::ground::{Count, Lose, sound};
use crate::format::recorder::{Recorder, definitions};
use crate::format::sums::{Among, SUM_ALONE, share_out};
use crate::format::usage::Reported;
use crate::format::wire::chat::{Chat, ChatMessage, text_of};
use crate::transcript::{Compaction, Message, Part, Role, Transcript};
use serde_json::value::RawValue;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// How summaries begin, and what stands before one that was put behind the words of a message.
const SUMMARIES: [&str; 2] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"];
const WITHIN: &str = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]";

/// A message as it is kept.
#[derive(Default)]
pub struct Row<'a> {
    pub message: ChatMessage<'a>,
    pub time: Option<i64>,
    /// The agent said it in the person's name.
    pub hidden: bool,
    /// The row itself says that it is a summary.
    pub summary: bool,
    /// It was taken back, or stands for nothing but its copy.
    pub taken_back: bool,
}

pub struct Session<'s> {
    pub made: Recorder<'s>,
    chat: Chat,
    model: String,
    /// Messages by what they say or answer and when, and by that without the time, in their order.
    exact: HashMap<u64, usize>,
    loose: HashMap<u64, Vec<usize>>,
    /// A row of this session is no copy: copies that come later have the times of what they are of.
    begun: bool,
    /// The rows are copies of what stands in the context: the last message that one is of, and whether a summary was among them.
    copying: bool,
    copied: Option<usize>,
    summarised: bool,
    /// Copies behind the summary without the times of what they are of, and the messages that the first of them may be of.
    tail: (usize, Vec<usize>),
    /// The first of the messages that were taken back, right before the next row.
    taken_back: Option<usize>,
    spent: Vec<(Reported, Count)>,
}

impl<'s> Session<'s> {
    pub fn new(made: Recorder<'s>) -> Session<'s> {
        Session {
            made,
            chat: Chat::default(),
            model: String::new(),
            exact: HashMap::new(),
            loose: HashMap::new(),
            begun: false,
            copying: false,
            copied: None,
            summarised: false,
            tail: Default::default(),
            taken_back: None,
            spent: Vec::new(),
        }
    }

    /// A session begins, or another one that goes on with it: with copies then.
    pub fn begin(&mut self, model: &str, host: &str, instructions: &str, tools: Option<&RawValue>) {
        (self.begun, self.copying, self.copied) = (false, true, None);
        if !model.is_empty() {
            model.clone_into(&mut self.model);
        }
        if !host.is_empty() {
            // The name under which other logs have this host.
            let host = if host == "copilot" { "github-copilot" } else { host };
            self.made.hosts.push((self.model.clone(), host.to_owned()));
        }
        if self.made.next() == 0 {
            let said = Some(instructions).filter(|said| !said.is_empty()).map(|said| self.made.text(said));
            let parts: Vec<Part> = said.into_iter().chain(definitions(self.made.scale, tools)).collect();
            if !parts.is_empty() {
                self.made.list(Role::System, parts);
            }
        }
    }

    /// Usage of a whole session, of so many requests.
    pub fn spend(&mut self, reported: &Reported, requests: Count) {
        self.spent.push((*reported, requests));
    }

    /// Gives the ends of the session their times, where its messages have none.
    pub fn lasted(&mut self, began: Option<i64>, changed: Option<i64>) {
        let messages = &mut self.made.transcript.messages;
        if let Some(first) = messages.get_mut(0) {
            first.time = first.time.or(began);
        }
        if let Some(last) = messages.last_mut() {
            last.time = last.time.or(changed);
        }
    }

    pub fn row(&mut self, row: &Row<'_>, lose: Lose<'_>) {
        let text = text_of(&row.message.content);
        let begun = text.trim_start();
        let within = text.split_once(WITHIN).map(|(_, summary)| summary);
        if row.summary || within.is_some() || SUMMARIES.iter().any(|start| begun.starts_with(start)) {
            let summary = self.made.scale.weigh_summary(within.unwrap_or(&text));
            self.made.cut(Compaction { summary, time: row.time, ..Compaction::default() });
            (self.copying, self.summarised, self.taken_back, self.tail) = (true, true, None, Default::default());
            self.copied.take_if(|_| self.begun);
            return;
        }
        let called = row.message.tool_calls.iter().flatten().next().map_or("", |call| call.told().0);
        let ids = [&*row.message.tool_call_id, called];
        // The agent shortens results and arguments of what it keeps.
        let said = if ids == [""; 2] { &*text } else { "" };
        let key = |said: &str| xxh3_64([&*row.message.role, ids[0], ids[1], said].join("\0").as_bytes());
        let exact = row.time.map(|time| key(&format!("{time} {said}")));
        let next = self.made.next();
        let known = exact.and_then(|exact| self.exact.get(&exact)).copied();
        let loose = self.loose.get(&key(said)).filter(|_| known.is_none() && self.copying && !(self.begun && exact.is_some()));
        // Copies ascend: what was said before the last of them is said again.
        let later = loose.and_then(|places| places.iter().find(|place| self.copied.is_none_or(|copied| **place > copied)));
        if let Some(place) = known.or(later.copied()) {
            if let Some(last) = self.made.transcript.compactions.last_mut().filter(|_| self.summarised) {
                let (copies, first) = &mut self.tail;
                if let Some(places) = loose.filter(|_| *copies > 0 || last.kept_from.is_none()) {
                    if *copies == 0 {
                        first.clone_from(places);
                    }
                    *copies += 1;
                    // The first of them may say what was said before, too: at least as many messages as there are copies stand from it on.
                    last.kept_from = first.iter().rfind(|place| **place + *copies <= next).copied().or(last.kept_from);
                }
                last.kept_from.get_or_insert(place);
            }
            (self.copying, self.copied, self.taken_back) = (true, Some(place), None);
            return;
        }
        let Some(message) = self.chat.message(&row.message, self.made.scale, lose) else { return lose("message of an unknown role") };
        // A history that was written anew without a summary lacks what was taken back.
        let shorter = self.copied.take().map(|last| last + 1).filter(|from| *from < next && !self.summarised);
        let mut rewind = if row.taken_back { None } else { self.taken_back.take() }.or(shorter);
        rewind = rewind.filter(|from| *from < next);
        (self.begun, self.copying, self.summarised) = (true, false, false);
        if row.taken_back {
            self.taken_back.get_or_insert(next);
        }
        self.made.chain.broken |= rewind.is_some();
        self.exact.extend(exact.map(|exact| (exact, next)));
        self.loose.entry(key(said)).or_default().push(next);
        let model = self.model.clone();
        let call = (message.role == Role::Assistant).then(|| Box::new(self.made.call("", &model, None)));
        self.made.push(Message { id: String::new(), time: row.time, call, rewind, synthetic: row.hidden, ..message });
    }

    /// The session; `None` where nothing was said.
    pub fn finish(mut self, lose: Lose<'_>) -> Option<Transcript> {
        let mut usages: Vec<_> =
            self.spent.iter().filter_map(|(reported, requests)| Some((sound(reported.usage(), lose)?, *requests))).collect();
        let shared = match (usages.pop(), self.spent.as_slice()) {
            (Some((sum, requests)), [_]) => {
                let requests = requests.known().ok().flatten().filter(|requests| *requests > 0);
                let replies = 0..self.made.next();
                share_out(&mut [Among { made: &mut self.made, replies }], "", requests, sum)
            }
            (last, _) => last.is_none(),
        };
        if !shared {
            lose(SUM_ALONE);
        }
        self.made.finish()
    }
}
