//! Do agents really read again what references call needed? Recorded compactions are the experiment: what they took away, what they left, and what of
//! either was asked for again.

use crate::corpus::Corpus;
use crate::list::Gather;
use crate::names::named;
use crate::statistics::wilson;
use crate::trace::{CompactionRow, Evidence, Reading, Trace};
use crate::transcript::CompactionKind;
use std::collections::{BTreeMap, BTreeSet};

named! {
    /// What a recorded compaction did to the result of a reading.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Standing: name {
        /// The compaction removed the result.
        Removed = "removed",
        /// The compaction kept the result.
        Kept = "kept",
        /// The session was not compacted: looked at from the middle of its messages on, as if something had happened there.
        Undisturbed = "undisturbed",
    }
}

named! {
    /// What makes a result one that was needed later.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Basis: name {
        /// A later reply repeats lines of it, before it, or its file, is asked for again: the reading again cannot have made the reference.
        Lines = "lines",
        /// As [`Basis::Lines`], with names in place of lines.
        Names = "names",
        /// A later reply repeats lines of it, at any time. Where the result was taken away, most such replies can only be written once it is read again: circular,
        /// and shown to say so.
        LinesAnyTime = "lines_any_time",
    }
}

/// The result of one reading after one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Watched {
    session: usize,
    standing: Standing,
    /// By [`Basis::ALL`]: was it reused?
    taken_up: [bool; 3],
    /// Was the same asked for again?
    again: bool,
    /// Was the same, or another part of its file?
    file_again: bool,
}

/// Results of one kind, and how many of them were asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// What the compaction had done to the results.
    pub standing: Standing,
    /// What makes a result of these a needed one.
    pub basis: Basis,
    /// Are these the needed results?
    pub taken_up: bool,
    /// Number of results.
    pub results: u64,
    /// Sessions with such a result.
    pub sessions: u64,
    /// Those of them that were asked for again, with the same tool and the same arguments.
    pub again: u64,
    /// Those whose file was read again, with whatever arguments, or that were asked for again.
    pub file_again: u64,
}

impl Group {
    /// The interval of the share that was asked for again, in millionths. It takes results for independent, which those of one session are not.
    pub fn interval(&self) -> Option<(u64, u64)> {
        wilson(self.again, self.results)
    }
}

/// What was read again, over a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadAgain {
    /// Recorded compactions that were looked at.
    pub compactions: u64,
    /// Recorded prunings, which are not looked at.
    pub prunings: u64,
    /// Readings of all sessions.
    pub readings: u64,
    /// Those of them that asked for what another had asked for before.
    pub repeated: u64,
    /// By what had become of the results and whether they were needed later. Groups without any are left out.
    pub groups: Vec<Group>,
}

/// Counts what was read again.
pub fn read_again(corpus: &Corpus) -> ReadAgain {
    let watched = corpus.traces.par_each(|session, trace| Some(watch(session, &trace)));
    let watched: Vec<Watched> = watched.into_iter().flatten().collect();
    let mut found = ReadAgain::default();
    for trace in corpus.traces.each() {
        let prunings = trace.compactions.iter().filter(|event| event.kind == CompactionKind::Prune).count() as u64;
        found.prunings += prunings;
        found.compactions += trace.compactions.len() as u64 - prunings;
        found.readings += trace.readings.len() as u64;
        let requests: BTreeSet<u32> = trace.readings.iter().map(|reading| reading.request).collect();
        found.repeated += (trace.readings.len() - requests.len()) as u64;
    }
    for standing in Standing::ALL {
        for (place, basis) in Basis::ALL.into_iter().enumerate() {
            for taken_up in [true, false] {
                let mine = |one: &&Watched| one.standing == standing && one.taken_up.get(place) == Some(&taken_up);
                let all: Vec<&Watched> = watched.iter().filter(mine).collect();
                let count = |of: fn(&Watched) -> bool| all.iter().filter(|one| of(one)).count() as u64;
                let sessions = all.iter().map(|one| one.session).gather::<BTreeSet<_>>().len() as u64;
                let (results, again, file_again) = (all.len() as u64, count(|one| one.again), count(|one| one.file_again));
                if results > 0 {
                    found.groups.push(Group { standing, basis, taken_up, results, sessions, again, file_again });
                }
            }
        }
    }
    found
}

/// An event, recorded or made up, as far as it decides what stands.
struct Cut {
    /// Before which message it took place.
    before: u32,
    /// Messages from here on were left; `None`: all of them.
    kept_from: Option<u32>,
}

impl Cut {
    fn recorded(event: &CompactionRow) -> Cut {
        Cut { before: event.before, kept_from: Some(event.kept_from.unwrap_or(event.before).min(event.before)) }
    }

    fn removes(&self, message: u32) -> bool {
        message < self.before && self.kept_from.is_some_and(|from| message < from)
    }
}

/// The results of a session's readings after each of its events.
fn watch(session: usize, trace: &Trace) -> Vec<Watched> {
    let end = trace.messages.len() as u32;
    let cuts: Vec<Cut> = match trace.compactions.as_slice() {
        [] => vec![Cut { before: end / 2, kept_from: None }],
        events => events.iter().filter(|event| event.kind == CompactionKind::Compact).map(Cut::recorded).collect(),
    };
    let withdrawn = withdrawn(trace);
    let uses = uses(trace);
    let mut watched = Vec::new();
    for (place, cut) in cuts.iter().enumerate() {
        // Of several readings of the same the latest stands for all.
        let mut latest: BTreeMap<u32, (u32, &Reading)> = BTreeMap::new();
        for reading in &trace.readings {
            let Some(message) = reading.result.get().and_then(|part| trace.message_of(part)).filter(|message| *message < cut.before) else {
                continue;
            };
            latest.insert(reading.request, (message, reading));
        }
        for (message, reading) in latest.into_values() {
            let gone = withdrawn.get(&message).copied().unwrap_or(end);
            let taken_before = cuts.iter().take(place).any(|earlier| earlier.removes(message));
            if gone <= cut.before || taken_before {
                continue;
            }
            let standing = match cut.kept_from {
                None => Standing::Undisturbed,
                Some(_) if cut.removes(message) => Standing::Removed,
                Some(_) => Standing::Kept,
            };
            // What was left is watched until something takes it away, what was taken away to the end.
            let taken = cuts.iter().skip(place + 1).find(|later| later.removes(message)).map_or(end, |later| later.before);
            let until = if standing == Standing::Removed { gone } else { gone.min(taken) };
            watched.push(watch_one(session, standing, reading, trace, &uses, cut.before..until));
        }
    }
    watched
}

fn watch_one(
    session: usize,
    standing: Standing,
    reading: &Reading,
    trace: &Trace,
    uses: &BTreeMap<u32, Vec<(u32, Evidence)>>,
    while_watched: std::ops::Range<u32>,
) -> Watched {
    let later = || trace.readings.iter().filter(|other| while_watched.contains(&other.message));
    let same = |other: &&Reading| other.request == reading.request;
    let same_file = |other: &&Reading| same(other) || (reading.file.get().is_some() && other.file == reading.file);
    let asked: BTreeSet<u32> = later().filter(same_file).map(|other| other.message).collect();
    let first_asked = asked.first().copied().unwrap_or(while_watched.end);
    let mine = reading.result.get().and_then(|part| uses.get(&part)).map_or(&[][..], Vec::as_slice);
    let before = |kind: Evidence| mine.iter().any(|(message, use_)| *use_ == kind && (while_watched.start..first_asked).contains(message));
    let any_time =
        mine.iter().any(|(message, use_)| *use_ == Evidence::Line && while_watched.contains(message) && !asked.contains(message));
    Watched {
        session,
        standing,
        taken_up: [before(Evidence::Line), before(Evidence::Identifier), any_time],
        again: later().any(|other| same(&other)),
        file_again: !asked.is_empty(),
    }
}

/// For each message that a user took back: before which message that was.
pub(super) fn withdrawn(trace: &Trace) -> BTreeMap<u32, u32> {
    let mut live: Vec<u32> = Vec::new();
    let mut gone = BTreeMap::new();
    for (index, row) in trace.messages.iter().enumerate() {
        if let Some(from) = row.rewind.get() {
            while let Some(message) = live.pop_if(|message| *message >= from) {
                gone.insert(message, index as u32);
            }
        }
        live.push(index as u32);
    }
    gone
}

/// For each part the messages that take something of it up.
fn uses(trace: &Trace) -> BTreeMap<u32, Vec<(u32, Evidence)>> {
    let mut uses: BTreeMap<u32, Vec<(u32, Evidence)>> = BTreeMap::new();
    for reference in &trace.references {
        for place in &reference.sources {
            uses.entry(place.part).or_default().push((reference.message, reference.kind));
        }
    }
    uses
}
