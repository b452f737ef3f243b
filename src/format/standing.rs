//! Histories that are listed anew again and again, as checkpoints and runs do: what is new in a listing, and what left since the last one.

use super::ground::{Lose, Repeats, TAKEN_UP};
use super::recorder::Recorder;
use crate::transcript::{Compaction, CompactionKind, Message, Part, Role, Text};
use std::collections::HashMap;

/// A message of a listing.
#[derive(Clone, Copy, Default)]
pub struct Entry {
    /// What it is known by in later listings.
    pub key: u64,
    /// What it says.
    pub body: u64,
    /// The log itself says that it is new, whatever it is known by.
    pub fresh: bool,
    /// It gives instructions.
    pub instructs: bool,
    /// The log itself says that it is a summary.
    pub summarises: bool,
}

/// A message that stands in the context.
struct Live {
    entry: Entry,
    /// Where it was listed; of a summary the place where it was put in.
    at: usize,
}

/// Reads a message of a listing, by its place there.
pub type ReadMessage<'r> = &'r mut dyn FnMut(usize, Lose<'_>) -> Option<Message>;

/// What stands in the context of a session.
#[derive(Default)]
pub struct Standing {
    live: Vec<Live>,
    /// All that was listed, by its key; `None` where there was nothing to read.
    known: HashMap<u64, Option<usize>>,
    /// The first message that left before the next one came.
    left_from: Option<usize>,
    repeats: Repeats,
}

impl Standing {
    /// Takes in the next listing. `is_branch`: it goes on from another one than the last. `told`: a summary that the log keeps beside it since then.
    pub fn list(
        &mut self,
        entries: &[Entry],
        is_branch: bool,
        told: Option<Text>,
        made: &mut Recorder<'_>,
        read: ReadMessage<'_>,
        lose: Lose<'_>,
    ) {
        let stays = |(live, entry): &(&Live, &Entry)| live.entry.key == entry.key && !entry.fresh;
        let same = self.live.iter().zip(entries).take_while(stays).count();
        let mut places: Vec<Option<usize>> = (0..entries.len()).map(|at| Some(at).filter(|at| *at < same)).collect();
        if !is_branch {
            self.align(same, entries, &mut places);
        }
        let told = told.filter(|_| !is_branch);
        let left = self.leave(same, entries, is_branch, &places, told, made, read, lose);
        let next: Vec<Live> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| {
                let live = places.get(at).copied().flatten().and_then(|place| self.live.get(place));
                let stands = match live {
                    Some(live) => {
                        let was_read = self.known.get(&entry.key).is_some_and(Option::is_some);
                        Some((live.at, was_read && live.entry.body != entry.body))
                    }
                    None if left.stands_for_it(at, entry) => {
                        self.known.insert(entry.key, None);
                        Some((made.next(), false))
                    }
                    None => None,
                };
                match stands {
                    Some((listed, changed)) => {
                        if changed {
                            change(listed, read(at, lose), made, lose);
                        }
                        Some(Live { entry: *entry, at: listed })
                    }
                    None => self.come(at, entry, made, read, lose).map(|at| Live { entry: *entry, at }),
                }
            })
            .collect();
        self.live = next;
    }

    /// Finds what else of the context stands in a listing, in its order.
    fn align(&self, same: usize, entries: &[Entry], places: &mut [Option<usize>]) {
        let mut by_key: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, live) in self.live.iter().enumerate().skip(same) {
            by_key.entry(live.entry.key).or_default().push(place);
        }
        let mut from = same;
        for (entry, found) in entries.iter().zip(places).skip(same).filter(|(entry, _)| !entry.fresh) {
            let kept = by_key.get(&entry.key).and_then(|places| places.get(places.partition_point(|place| *place < from)).copied());
            if let Some(place) = kept {
                (*found, from) = (Some(place), place + 1);
            }
        }
    }

    /// Notes what left the context.
    #[allow(clippy::too_many_arguments)]
    fn leave(
        &mut self,
        same: usize,
        entries: &[Entry],
        is_branch: bool,
        places: &[Option<usize>],
        told: Option<Text>,
        made: &mut Recorder<'_>,
        read: ReadMessage<'_>,
        lose: Lose<'_>,
    ) -> Left {
        let kept: Vec<usize> = places.iter().skip(same).copied().flatten().collect();
        let last = places.iter().skip(same).rposition(Option::is_some).map_or(0, |last| same + last);
        let unread = |range: std::ops::Range<usize>| range.filter(|at| places.get(*at).is_some_and(Option::is_none));
        let tail = kept.last().map_or(same, |last| last + 1);
        let front = self.live.get(same..kept.first().copied().unwrap_or(same)).unwrap_or_default();
        let is_summary = |at: &usize| {
            let put_in = |entry: &Entry| entry.summarises || (*at < last && !entry.instructs && !entry.fresh && !front.is_empty());
            !is_branch && entries.get(*at).is_some_and(|entry| put_in(entry) && !self.known.contains_key(&entry.key))
        };
        let summary = unread(same..entries.len()).find(is_summary);
        let summarised = told.is_some() || summary.is_some();
        let gone = self.live.get(tail..).unwrap_or_default();
        // Who takes up a branch from before a cut sees again what was cut.
        let back = entries.iter().skip(same).filter(|_| is_branch && !gone.is_empty()).filter_map(|entry| *self.known.get(&entry.key)?);
        let mut gone_from = gone.iter().map(|live| live.at).chain(back).min();
        let replaced = kept.is_empty() && summarised && gone_from.is_some();
        let cut = replaced || front.iter().any(|live| !live.entry.instructs);
        if cut {
            let kept_from = kept.first().and_then(|place| self.live.get(*place)).map_or(made.next(), |live| live.at);
            let said = summary.and_then(|at| read(at, lose)).and_then(|message| message.parts.iter().find_map(Part::text).cloned());
            made.cut(Compaction { summary: said.or(told), kept_from: Some(kept_from), ..Compaction::default() });
            gone_from = gone_from.filter(|_| !replaced);
        } else {
            made.chain.broken |= !front.is_empty();
        }
        for between in kept.windows(2) {
            if let [one, next] = between {
                (one + 1..*next).for_each(|_| lose("message that left from within the history (kept)"));
                made.chain.broken |= one + 1 < *next;
            }
        }
        self.left_from = [self.left_from, gone_from].into_iter().flatten().min();
        let put_in = if kept.is_empty() || front.is_empty() { 0 } else { last };
        Left { put_in, cut }
    }

    /// Lists what is new in the context, or comes back to it. Gives its place.
    fn come(&mut self, at: usize, entry: &Entry, made: &mut Recorder<'_>, read: ReadMessage<'_>, lose: Lose<'_>) -> Option<usize> {
        let place = made.next();
        let known = self.known.get(&entry.key).copied().filter(|_| !entry.fresh);
        let message = match known {
            // Nothing could be read of it, or it is a summary.
            Some(None) => return Some(place),
            Some(Some(_)) if !self.repeats.allow(1, self.known.len()) => {
                lose(TAKEN_UP);
                return None;
            }
            Some(Some(original)) => {
                let copy = made.transcript.messages.get(original).cloned()?;
                Some(Message { call: None, copy_of: Some(copy.copy_of.unwrap_or(original)), ..copy })
            }
            None => read(at, lose),
        };
        self.known.entry(entry.key).or_insert(message.is_some().then_some(place));
        let mut message = message?;
        message.rewind = self.left_from.take().filter(|from| *from < place);
        made.chain.broken |= message.rewind.is_some();
        if let Some(call) = &mut message.call {
            call.unchained = made.chain.link(&call.model);
        }
        made.push(message);
        Some(place)
    }
}

/// What a listing put in the place of what left.
struct Left {
    /// New entries before this one stand for what left.
    put_in: usize,
    /// Was the history cut?
    cut: bool,
}

impl Left {
    /// Does the new entry of this place stand for what left, so that it is no message?
    fn stands_for_it(&self, at: usize, entry: &Entry) -> bool {
        (at < self.put_in && !entry.fresh && (self.cut || entry.instructs)) || (self.cut && entry.summarises)
    }
}

/// A message stands in the context with other words.
fn change(at: usize, now: Option<Message>, made: &mut Recorder<'_>, lose: Lose<'_>) {
    let (Some(was), Some(now)) = (made.transcript.messages.get(at), now) else { return };
    if was.role == Role::System {
        made.chain.broken = true;
        return;
    }
    if was.parts == now.parts {
        return;
    }
    let bytes = |message: &Message| message.parts.iter().filter_map(Part::text).map(|text| text.json_bytes).sum::<u32>();
    let results = was.parts.iter().enumerate().filter(|(_, part)| matches!(part, Part::ToolResult { .. }));
    let taken: Vec<(usize, usize)> = results.map(|(place, _)| (at, place)).collect();
    if taken.is_empty() || bytes(&now) >= bytes(was) {
        return lose("message that was written anew (read as it first was)");
    }
    let next = made.next();
    match made.transcript.compactions.last_mut().filter(|last| last.kind == CompactionKind::Prune && last.before == next) {
        Some(last) => last.taken.extend(taken),
        None => made.cut(Compaction { kind: CompactionKind::Prune, taken, ..Compaction::default() }),
    }
}
