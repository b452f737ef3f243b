//! Which earlier texts a message repeats: from the pieces that both hold, in one pass over the session.

use super::pieces::Pieces;
use crate::trace::{Evidence, MessageRow, PartKind, Place, Reference, Trace};
use crate::transcript::{Compaction, Role, Standing, Unit};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// A piece that stands in more messages than these is not distinctive.
const MOST_MESSAGES: u32 = 8;

/// So many of the latest parts that hold a piece are remembered: any one of them that is still there will do.
const LATEST: usize = 3;

/// So many parts that hold pieces of one reference are followed, those of its first pieces.
const MOST_PARTS: usize = 8;

/// Finds the references of a session whose parts hold these pieces.
///
/// `copies` says for each message whether it shows an earlier one again: its pieces are no new ones, and it refers to nothing.
pub fn find(trace: &mut Trace, held: &Pieces, compactions: &[Compaction], copies: &[bool]) {
    if held.is_empty() {
        return;
    }
    let repeated = Repeated::of(trace, held, copies);
    let mut search = Search::new(&repeated, trace.parts.len());
    let mut summaries = compactions.iter().enumerate().peekable();
    let (mut references, mut pieces) = (Vec::new(), Vec::new());
    for (index, row) in trace.messages.iter().enumerate() {
        if let Some(from) = row.rewind.get().and_then(|from| trace.messages.get(from as usize)) {
            search.withdraw(from.first_part);
        }
        while let Some((number, compaction)) = summaries.next_if(|(_, compaction)| compaction.before <= index) {
            if let Some(evidence) = compaction.summary.as_ref().and_then(|text| text.evidence.as_ref()) {
                search.summarise(number as u32, &evidence.units);
            }
        }
        let parts = parts(row);
        if row.role == Role::Assistant && !copies.get(index).copied().unwrap_or(false) {
            let units = parts.clone().flat_map(|part| units_of(trace, held, part));
            references.extend(search.refer(units).map(|group| group.reference(index as u32, &mut pieces)));
        }
        for part in parts {
            search.hold(part, units_of(trace, held, part));
            search.live.push(part);
        }
    }
    (trace.references, trace.pieces) = (references.into(), pieces.into());
    trace.unsearched = held.left_out;
}

/// The parts of a message.
fn parts(row: &MessageRow) -> Range<u32> {
    row.first_part..row.first_part + row.part_count
}

/// The pieces of a part. Reasoning neither refers nor is referred to: most of it leaves the context by itself.
fn units_of<'p>(trace: &Trace, held: &'p Pieces, part: u32) -> &'p [Unit] {
    let row = trace.parts.get(part as usize).filter(|row| row.kind != PartKind::Thinking);
    row.map_or(&[], |_| held.units(part))
}

/// The hashes that stand in at least two messages and in no more than are distinctive, ascending.
struct Repeated {
    hashes: Vec<u64>,
    /// Lets all of them through.
    sieve: Sieve,
}

impl Repeated {
    fn of(trace: &Trace, held: &Pieces, copies: &[bool]) -> Repeated {
        let is_new = |(index, _): &(usize, &MessageRow)| !copies.get(*index).copied().unwrap_or(false);
        let new = || trace.messages.iter().enumerate().filter(is_new).map(|(_, row)| row);
        // Most pieces come once: they need not be sorted.
        let sieve = Sieve::of(held.len(), new().flat_map(parts).flat_map(|part| units_of(trace, held, part)));
        let mut all: Vec<u64> = Vec::new();
        let mut own: Vec<u64> = Vec::new();
        for row in new() {
            // Within a message a piece counts once, however many parts hold it; but each result counts by itself, for some providers
            // put all results of a call into one message.
            for part in parts(row) {
                let hashes = units_of(trace, held, part).iter().map(|unit| unit.hash).filter(|hash| sieve.passes(*hash));
                if trace.parts.get(part as usize).is_some_and(|part| part.kind == PartKind::ToolResult) {
                    all.extend(hashes);
                } else {
                    own.extend(hashes);
                }
            }
            own.sort_unstable();
            own.dedup();
            all.append(&mut own);
        }
        all.sort_unstable();
        let runs = all.chunk_by(|one, other| one == other);
        let distinctive = runs.filter(|run| (2..=MOST_MESSAGES as usize).contains(&run.len()));
        Repeated { hashes: distinctive.filter_map(|run| run.first().copied()).collect(), sieve }
    }

    fn place(&self, hash: u64) -> Option<usize> {
        if self.sieve.passes(hash) { self.hashes.binary_search(&hash).ok() } else { None }
    }
}

/// What lets hashes through that come more than once, and few others.
struct Sieve {
    /// A bit for each place, of which a hash has one.
    again: Vec<u64>,
}

/// Places for each hash.
const PLACES: usize = 8;

impl Sieve {
    /// Of so many units.
    fn of<'u>(count: usize, units: impl Iterator<Item = &'u Unit>) -> Sieve {
        let words = (count * PLACES / 64).next_power_of_two();
        let (mut once, mut sieve) = (vec![0_u64; words], Sieve { again: vec![0; words] });
        for unit in units {
            let (word, bit) = sieve.place(unit.hash);
            if let (Some(once), Some(again)) = (once.get_mut(word), sieve.again.get_mut(word)) {
                *again |= *once & bit;
                *once |= bit;
            }
        }
        sieve
    }

    fn passes(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.again.get(word).is_some_and(|again| again & bit != 0)
    }

    /// The lowest bits of a hash tell its kind, and which are left out.
    fn place(&self, hash: u64) -> (usize, u64) {
        ((hash >> 38) as usize & (self.again.len() - 1), 1 << (hash >> 58))
    }
}

/// Who holds a piece: the latest parts, the latest first.
#[derive(Clone, Copy, Default)]
struct Holders {
    latest: [Option<Holder>; LATEST],
    summary: Option<u32>,
}

#[derive(Clone, Copy)]
struct Holder {
    part: u32,
    at: Standing,
}

struct Search<'a> {
    repeated: &'a Repeated,
    holders: Vec<Holders>,
    /// Parts that stand in the context if nothing is ever removed but what the user took back.
    live: Vec<u32>,
    gone: Vec<bool>,
}

/// What is gathered for one source of a message, before it is a reference.
struct Group {
    kind: Evidence,
    /// How many pieces.
    weight: usize,
    /// The source, and others that hold some of the pieces, or all.
    held: Vec<Held>,
    summary: Option<u32>,
}

/// A part that holds pieces of a reference.
struct Held {
    part: u32,
    /// How many of them.
    count: usize,
    /// Where each stands, up to the last that it holds.
    pieces: Vec<Standing>,
}

impl<'a> Search<'a> {
    fn new(repeated: &'a Repeated, parts: usize) -> Search<'a> {
        Search { repeated, holders: vec![Holders::default(); repeated.hashes.len()], live: Vec::new(), gone: vec![false; parts] }
    }

    /// Every part from this index on leaves.
    fn withdraw(&mut self, from: u32) {
        while let Some(part) = self.live.pop_if(|part| *part >= from) {
            if let Some(gone) = self.gone.get_mut(part as usize) {
                *gone = true;
            }
        }
    }

    fn hold(&mut self, part: u32, units: &[Unit]) {
        for unit in units {
            let Some(holders) = self.repeated.place(unit.hash).and_then(|place| self.holders.get_mut(place)) else { continue };
            holders.latest.rotate_right(1);
            if let Some(first) = holders.latest.first_mut() {
                *first = Some(Holder { part, at: unit.at });
            }
            // A summary that was written before knows nothing of what comes.
            holders.summary = None;
        }
    }

    fn summarise(&mut self, compaction: u32, units: &[Unit]) {
        for unit in units {
            if let Some(holders) = self.repeated.place(unit.hash).and_then(|place| self.holders.get_mut(place)) {
                holders.summary = Some(compaction);
            }
        }
    }

    /// The references of one message: its pieces by kind and by the latest part that holds them.
    fn refer<'u>(&self, units: impl Iterator<Item = &'u Unit>) -> impl Iterator<Item = Group> {
        let mut hashes: Vec<u64> = units.map(|unit| unit.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let mut groups: BTreeMap<(Evidence, u32), Group> = BTreeMap::new();
        for hash in hashes {
            let Some(holders) = self.repeated.place(hash).and_then(|place| self.holders.get(place)) else { continue };
            let there = |holder: &&Holder| !self.gone.get(holder.part as usize).copied().unwrap_or(true);
            let present = holders.latest.iter().flatten().filter(there);
            let Some(latest) = present.clone().next() else { continue };
            let kind = if hash & 1 == 0 { Evidence::Line } else { Evidence::Identifier };
            match groups.entry((kind, latest.part)) {
                Entry::Vacant(entry) => {
                    entry.insert(Group { kind, weight: 0, held: Vec::new(), summary: holders.summary }).join(present, holders.summary)
                }
                Entry::Occupied(mut entry) => entry.get_mut().join(present, holders.summary),
            }
        }
        groups.into_values()
    }
}

impl Group {
    /// One more piece, and the parts that hold it.
    fn join<'h>(&mut self, holders: impl Iterator<Item = &'h Holder>, summary: Option<u32>) {
        for holder in holders {
            let known = self.held.iter().position(|held| held.part == holder.part);
            if known.is_none() && self.held.len() < MOST_PARTS {
                self.held.push(Held { part: holder.part, count: 0, pieces: Vec::new() });
            }
            let place = known.unwrap_or(self.held.len() - 1);
            if let Some(held) = self.held.get_mut(place).filter(|held| held.part == holder.part) {
                held.pieces.resize(self.weight, Standing::NOWHERE);
                held.pieces.push(holder.at);
                held.count += 1;
            }
        }
        self.weight += 1;
        // One summary must hold them all.
        self.summary = self.summary.zip(summary).filter(|(mine, theirs)| mine == theirs).map(|(mine, _)| mine);
    }

    /// The reference of a message; the places of its pieces go to those of the whole session.
    fn reference(self, message: u32, all: &mut Vec<Standing>) -> Reference {
        let Group { kind, weight, held, summary } = self;
        let mut place = |mut held: Held| {
            let first = all.len() as u32;
            held.pieces.resize(weight, Standing::NOWHERE);
            all.extend(held.pieces);
            Place { part: held.part, first, pieces: weight as u32 }
        };
        let (sources, mut beside): (Vec<Held>, Vec<Held>) = held.into_iter().partition(|held| held.count == weight);
        beside.sort_unstable_by_key(|held| std::cmp::Reverse(held.part));
        let sources = sources.into_iter().map(&mut place).collect();
        Reference { message, kind, weight: weight as u32, sources, beside: beside.into_iter().map(place).collect(), summary }
    }
}
