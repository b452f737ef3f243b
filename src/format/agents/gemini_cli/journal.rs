//! The session as the journal has it now, record by record.

use super::record::{Entry, Record};
use crate::format::ground::{Lose, Source, millis};
use crate::format::recorder::Recorder;
use crate::transcript::{Compaction, CompactionKind, Message, Part, Role, Scale, Text, Transcript};
use std::collections::{HashMap, HashSet};

/// The agent's name in transcripts and reports.
pub const AGENT: &str = "gemini-cli";

/// A record as it stands in the journal now.
pub struct Held {
    /// Its id; empty where it has none.
    pub id: String,
    /// What it is known by under another id.
    pub key: u64,
    /// Its message, with the results of its tools. None where other records hold what it says.
    pub messages: Vec<Message>,
    /// The place of the record that this one shows again.
    pub copy_of: Option<usize>,
}

pub struct Session<'s> {
    /// Until the end, its compactions and rewinds refer to places in `held`, and what they took to places and the message there.
    pub made: Recorder<'s>,
    /// The name of the folder that the file lies in.
    folder: Option<String>,
    pub held: Vec<Held>,
    /// The places of those that the agent's list holds now, in its order.
    pub live: Vec<usize>,
    /// The same by id.
    by_id: HashMap<String, usize>,
    /// The places of those that have the results of these calls.
    answers: HashMap<String, usize>,
    /// What stands now in the place of results, by place and the message there.
    pub told: HashMap<(usize, usize), Text>,
    /// The ids of the lines that noted a compression.
    noted: HashSet<String>,
    pub rewind: Option<usize>,
}

impl<'s> Session<'s> {
    pub fn new(scale: &'s dyn Scale, source: &Source) -> Session<'s> {
        let folder = source.path.parent().and_then(|folder| folder.file_name()).map(|name| name.to_string_lossy().into_owned());
        Session {
            made: Recorder::new(AGENT, source.name(), scale),
            folder,
            held: Vec::new(),
            live: Vec::new(),
            by_id: HashMap::new(),
            answers: HashMap::new(),
            told: HashMap::new(),
            noted: HashSet::new(),
            rewind: None,
        }
    }

    pub fn take(&mut self, record: &Record, depth: Depth, lose: Lose<'_>) {
        if let Some(target) = &record.rewind_to {
            self.rewind_to(target);
        } else if let (Some(set), Depth::Journal) = (&record.set, depth) {
            self.take(set, Depth::Patch, lose);
        } else if !record.role.is_empty() {
            self.upsert(record, lose);
        } else {
            self.made.identify(&record.session_id);
            // A sub-agent's chat lies in a folder that has its parent's id.
            if &*record.kind == "subagent" {
                self.made.transcript.parent.clone_from(&self.folder);
            }
            match &record.messages {
                Some(messages) => self.replace(messages, lose),
                None if depth == Depth::Journal && record.session_id.is_empty() => lose("unknown record type"),
                None => {}
            }
        }
    }

    /// The place of the record of this id in the agent's list.
    pub fn live(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Where the agent's list has the result of this call: the place, and the message there.
    pub fn answer(&self, call_id: &str) -> Option<(usize, usize)> {
        let place = *self.answers.get(call_id)?;
        let held = self.held.get(place).filter(|held| self.live(&held.id) == Some(place))?;
        let is_answer = |part: &Part| matches!(part, Part::ToolResult { call_id: id, .. } if id == call_id);
        let within = held.messages.iter().position(|message| message.parts.first().is_some_and(is_answer))?;
        Some((place, within))
    }

    /// Takes back this message and all after it; with an unknown id, all.
    fn rewind_to(&mut self, id: &str) {
        let place = self.live(id);
        let from = place.and_then(|place| self.live.iter().position(|live| *live == place)).unwrap_or(0);
        self.withdraw(from);
    }

    /// Takes back what stands in the list from here on.
    pub fn withdraw(&mut self, from: usize) {
        let gone = self.live.split_off(from.min(self.live.len()));
        for held in gone.iter().filter_map(|place| self.held.get(*place)) {
            self.by_id.remove(&held.id);
        }
        let first = gone.into_iter().filter(|place| self.is_shown(*place)).min();
        self.rewind = self.rewind.into_iter().chain(first).min();
    }

    /// Does it stand in the conversation, as messages of its own?
    pub fn is_shown(&self, place: usize) -> bool {
        self.held.get(place).is_some_and(|held| !held.messages.is_empty())
    }

    /// Makes these the agent's list.
    pub fn relist(&mut self, list: Vec<usize>) {
        let named = |place: &usize| self.held.get(*place).filter(|held| !held.id.is_empty()).map(|held| (held.id.clone(), *place));
        self.by_id = list.iter().filter_map(named).collect();
        self.live = list;
    }

    /// Puts a record behind all others, and gives its place.
    pub fn hold(&mut self, mut held: Held) -> usize {
        let place = self.held.len();
        if let Some(first) = held.messages.first_mut() {
            first.rewind = self.rewind.take();
        }
        self.live.push(place);
        if !held.id.is_empty() {
            self.by_id.insert(held.id.clone(), place);
        }
        self.note_answers(&held, place);
        self.held.push(held);
        place
    }

    fn note_answers(&mut self, held: &Held, place: usize) {
        for part in held.messages.iter().filter_map(|message| message.parts.first()) {
            if let Part::ToolResult { call_id, .. } = part
                && !call_id.is_empty()
            {
                self.answers.insert(call_id.clone(), place);
            }
        }
    }

    pub fn upsert(&mut self, entry: &Entry, lose: Lose<'_>) {
        if let Some(size) = entry.compression() {
            return self.compressed(entry, self.held.len(), size);
        }
        let Some(new) = self.held_of(entry, lose) else { return };
        match self.live(&entry.id) {
            Some(place) => self.put(place, new, lose),
            None => {
                self.hold(new);
            }
        }
    }

    /// A line that notes a compression before this place. A new list since the last reply shows the same one: the agent sets it before it
    /// notes the compression.
    pub fn compressed(&mut self, entry: &Entry, before: usize, size: Option<u64>) {
        if !entry.id.is_empty() && !self.noted.insert(entry.id.to_string()) {
            return;
        }
        let calls =
            |held: &[Held]| held.iter().flat_map(|held| &held.messages).filter_map(|message| message.call.as_deref()).next_back().cloned();
        let compactions = &mut self.made.transcript.compactions;
        let place = compactions.partition_point(|event| event.before <= before);
        let last = compactions.iter_mut().take(place).rev().find(|event| event.kind == CompactionKind::Compact);
        let is_same =
            |event: &&mut Compaction| event.automatic.is_none() && calls(self.held.get(event.before..before).unwrap_or_default()).is_none();
        // The size is that of the agent's last prompt: a larger one than the last recorded is one that the log lacks.
        let usage = calls(self.held.get(..before).unwrap_or_default()).and_then(|call| call.usage);
        let behind_gap = size.zip(usage).is_some_and(|(size, usage)| size > usage.prompt);
        if let Some(event) = last.filter(is_same) {
            (event.automatic, event.tokens_before, event.behind_gap) = (Some(true), size, behind_gap);
            return;
        }
        let (id, time, automatic) = (entry.id.to_string(), millis(&entry.timestamp), Some(true));
        let event = Compaction { id, before, automatic, behind_gap, tokens_before: size, time, ..Compaction::default() };
        compactions.insert(place, event);
    }

    /// Puts a record in the place of the one with its id.
    pub fn put(&mut self, place: usize, mut new: Held, lose: Lose<'_>) {
        self.note_answers(&new, place);
        let Some(old) = self.held.get_mut(place) else { return };
        new.copy_of = old.copy_of;
        if let (Some(before), Some(first)) = (old.messages.first(), new.messages.first_mut()) {
            // A reply is written again as its tools run. Anything else that another message's id names is another message.
            if before.role != first.role || first.role == Role::User && before.parts != first.parts {
                lose("message with the id of another one");
            }
            first.rewind = before.rewind;
            // A second showing is no new call.
            first.call = first.call.take().filter(|_| old.copy_of.is_none());
        }
        *old = new;
    }

    /// Lays the held messages out in one list and turns places in `held` into places in it.
    pub fn finish(mut self) -> Option<Transcript> {
        let mut starts = Vec::with_capacity(self.held.len() + 1);
        let mut next = 0;
        for held in &self.held {
            starts.push(next);
            next += held.messages.len();
        }
        starts.push(next);
        let place = |index: usize| starts.get(index).copied().unwrap_or(next);
        for compaction in &mut self.made.transcript.compactions {
            compaction.before = place(compaction.before);
            compaction.kept_from = compaction.kept_from.map(place);
            // A result is the first part of its message.
            compaction.taken.iter_mut().for_each(|(at, within)| (*at, *within) = (place(*at) + *within, 0));
        }
        let mut cuts =
            self.made.transcript.compactions.iter().map(|compaction| compaction.before).collect::<Vec<_>>().into_iter().peekable();
        for Held { mut messages, copy_of, .. } in self.held {
            while cuts.next_if(|cut| *cut <= self.made.next()).is_some() {
                self.made.chain.broken = true;
            }
            if let Some(first) = messages.first_mut() {
                first.rewind = first.rewind.map(place);
                let is_new = copy_of.is_none();
                if let Some(call) = first.call.as_mut().filter(|_| is_new) {
                    call.unchained = self.made.chain.link(&call.model);
                } else if is_new && first.role == Role::Assistant {
                    self.made.chain.broken = true;
                }
            }
            if let Some(original) = copy_of {
                // More messages than the original had are new ones.
                let shown = place(original)..place(original + 1);
                messages.iter_mut().zip(shown).for_each(|(message, at)| message.copy_of = Some(at));
            }
            self.made.transcript.messages.extend(messages);
        }
        self.made.finish()
    }
}

/// Where a record stands: on a line of its own, or inside `$set`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    Journal,
    Patch,
}
