//! A new list in the place of the old one, and what it says about what happened.

use super::journal::{Held, Session};
use super::record::Entry;
use super::turn::answered;
use crate::format::ground::Lose;
use crate::format::wire::blocks::{Block, Blocks};
use crate::format::wire::google::{Piece, piece, text_of};
use crate::transcript::{Compaction, CompactionKind, Message, Part, Text};
use std::collections::{HashMap, HashSet};

impl Session<'_> {
    /// Puts a new list in the place of the live one, and tells by it what happened.
    pub fn replace(&mut self, messages: &[Entry], lose: Lose<'_>) {
        let new: Vec<&Entry> = messages.iter().filter(|entry| entry.is_sent()).collect();
        self.take_back_repeated(&new);
        let known = self.known(&new);
        // What a person or a summariser said since. The agent puts in its surroundings, and words in the model's mouth.
        let is_fresh: Vec<bool> = new
            .iter()
            .zip(&known)
            .map(|(entry, known)| known.is_none() && &*entry.role == "user" && !entry.is_context() && !self.is_answered(&entry.content))
            .collect();
        let last = known.iter().rposition(Option::is_some);
        let shown: Vec<usize> = self.live.iter().copied().filter(|place| self.is_shown(*place)).collect();
        let stays: Vec<usize> = known.iter().flatten().copied().filter(|place| self.is_shown(*place)).collect();
        let common = stays.iter().zip(&shown).take_while(|(one, other)| one == other).count();
        let parting = shown.get(common).copied();
        let summary = is_fresh.iter().position(|is_fresh| *is_fresh);
        let summary = summary.filter(|at| parting.is_some() || last.is_some_and(|last| *at < last));
        if let Some(at) = summary {
            let before = self.held.len();
            let kept_from = known.iter().skip(at).flatten().copied().find(|place| self.is_shown(*place));
            let text = new.get(at).and_then(|entry| self.made.scale.weigh_summary(&text_of(&entry.content)));
            self.made.transcript.compactions.push(Compaction { before, summary: text, kept_from, ..Compaction::default() });
            // What follows the newest message that is known has arrived since; what stands before it is the summary and its answer.
            let arrived = last.filter(|last| *last > at).map_or(new.len(), |last| last + 1);
            self.list(&new, &known, arrived, lose);
            self.changed(&new);
            self.note(messages);
            return;
        }
        if let Some(at) = parting.and_then(|first| self.live.iter().position(|place| *place == first)) {
            // The list was cut, an aborted turn taken back; or nothing is new, so that nothing was summarised: the conversation went back
            // to what is left, and shows it again.
            self.withdraw(at);
        }
        let remain: HashSet<usize> = self.live.iter().copied().collect();
        let known: Vec<Option<usize>> = known
            .into_iter()
            .map(|place| place.map(|place| if remain.contains(&place) { place } else { self.show_again(place) }))
            .collect();
        self.list(&new, &known, last.map_or(0, |last| last + 1), lose);
        for entry in messages.iter().filter(|entry| !entry.is_sent()) {
            self.held_of(entry, lose);
        }
        let taken = self.changed(&new);
        if !taken.is_empty() {
            let kind = CompactionKind::Prune;
            let pruned = Compaction { before: self.held.len(), kind, automatic: Some(true), taken, ..Compaction::default() };
            self.made.transcript.compactions.push(pruned);
        }
        self.note(messages);
    }

    /// Takes note of the compressions that lines of a list name, each behind what the list has before it.
    fn note(&mut self, messages: &[Entry]) {
        let mut before = 0;
        for entry in messages {
            if entry.is_sent() {
                before = self.live(&entry.id).map_or(before, |place| place + 1);
            } else if let Some(size) = entry.compression() {
                self.compressed(entry, before, size);
            }
        }
    }

    /// Takes back the turns that were written again just before their list, as it sets the agent's whole history: they are those that it leaves
    /// out, under new ids.
    fn take_back_repeated(&mut self, new: &[&Entry]) {
        let Some((start, from)) = self.live.len().checked_sub(new.len()).zip(self.held.len().checked_sub(new.len())) else { return };
        let (old, tail) = self.live.split_at(start);
        let appended = tail.iter().copied().eq(from..self.held.len());
        let is_listed = tail.iter().zip(new).all(|(place, entry)| self.live(&entry.id) == Some(*place));
        let mut repeated = self.held.get(from..).unwrap_or_default().iter();
        let keys: HashSet<u64> = old.iter().filter_map(|place| Some(self.held.get(*place)?.key)).collect();
        let asks = |held: &Held| held.messages.first().is_some_and(|message| message.call.is_some());
        if !appended || !is_listed || repeated.clone().any(asks) || !repeated.clone().any(|held| keys.contains(&held.key)) {
            return;
        }
        let rewind = repeated.find_map(|held| held.messages.first()).and_then(|first| first.rewind);
        self.rewind = self.rewind.or(rewind);
        let old = old.to_vec();
        self.held.truncate(from);
        self.relist(old);
    }

    /// The places of these entries in the live list: by their ids, and of others by what they say, from the end backwards.
    fn known(&self, new: &[&Entry]) -> Vec<Option<usize>> {
        let mut known: Vec<Option<usize>> = new.iter().map(|entry| self.live(&entry.id)).collect();
        let named: HashSet<usize> = known.iter().flatten().copied().collect();
        let mut by_key: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut position: HashMap<usize, usize> = HashMap::new();
        for (at, place) in self.live.iter().enumerate() {
            position.insert(*place, at);
            if let Some(held) = self.held.get(*place).filter(|_| !named.contains(place)) {
                by_key.entry(held.key).or_default().push(at);
            }
        }
        let mut end = self.live.len();
        for (entry, known) in new.iter().zip(&mut known).rev() {
            let found = match known {
                Some(place) => position.get(place).copied(),
                None => by_key.get(&entry.key()).and_then(|at| {
                    let before = at.partition_point(|at| *at < end);
                    at.get(before.checked_sub(1)?).copied()
                }),
            };
            if let Some(at) = found {
                end = end.min(at);
                *known = self.live.get(at).copied();
            }
        }
        known
    }

    /// Is it nothing but answers of tools that stand beside their calls?
    fn is_answered(&self, content: &Blocks<'_, Piece<'_>>) -> bool {
        !content.0.is_empty() && content.0.iter().all(|block| answered(block).is_some_and(|id| self.answer(id).is_some()))
    }

    /// Makes the entries the agent's list: known ones under the ids that they have now, and as messages those from `arrived` on. The others stand
    /// for what the conversation holds already, or for a summary.
    fn list(&mut self, new: &[&Entry], known: &[Option<usize>], arrived: usize, lose: Lose<'_>) {
        let mut list = Vec::new();
        for (entry, known) in new.iter().zip(known).take(arrived) {
            let place = known.unwrap_or_else(|| {
                self.held.push(Held { id: entry.id.to_string(), key: entry.key(), messages: Vec::new(), copy_of: None });
                self.held.len() - 1
            });
            self.rename(place, entry);
            list.push(place);
        }
        self.relist(list);
        for entry in new.iter().skip(arrived) {
            self.upsert(entry, lose);
        }
    }

    /// Gives a record the id that it has now. Under the same id, results may have come that were not there before.
    fn rename(&mut self, place: usize, entry: &Entry) {
        let Some(held) = self.held.get_mut(place) else { return };
        if held.id != *entry.id {
            held.id = entry.id.to_string();
        } else if !held.messages.is_empty() {
            let count = held.messages.len();
            let more = self.held_of(entry, &mut |_| {}).filter(|more| more.messages.len() > count);
            more.into_iter().for_each(|more| self.put(place, more, &mut |_| {}));
        }
    }

    /// Puts a message that was taken back behind all others, as no new one.
    fn show_again(&mut self, place: usize) -> usize {
        let Some(held) = self.held.get(place) else { return place };
        let mut messages = held.messages.clone();
        if let Some(first) = messages.first_mut() {
            *first = Message { call: None, rewind: None, ..first.clone() };
        }
        let held = Held { id: held.id.clone(), key: held.key, messages, copy_of: held.copy_of.or(Some(place)) };
        self.hold(held)
    }

    /// The results that the list has in other words than before, as place and the message there.
    fn changed(&mut self, new: &[&Entry]) -> Vec<(usize, usize)> {
        let mut changed = Vec::new();
        for entry in new {
            let beside = entry.tool_calls.iter().flatten().flat_map(|call| call.own_result());
            for block in entry.content.0.iter().chain(beside) {
                let Some(at) = answered(block).and_then(|id| self.answer(id)) else { continue };
                let Some(now) = self.answer_text(block) else { continue };
                let held = self.held.get(at.0).and_then(|held| held.messages.get(at.1)?.parts.first()?.text());
                if self.told.get(&at).or(held) != Some(&now) {
                    self.told.insert(at, now);
                    changed.push(at);
                }
            }
        }
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    fn answer_text(&self, block: &Block<'_, Piece<'_>>) -> Option<Text> {
        let mut results = Vec::new();
        piece(block, self.made.scale, &mut Vec::new(), &mut results, &mut |_| {});
        results.into_iter().find_map(|part| match part {
            Part::ToolResult { text, .. } => Some(text),
            _ => None,
        })
    }
}
