//! The items that a selection looks at, from the oldest to the newest, in a context to whose end messages are added.
//!
//! A scan of the whole context, as in `candidates.rs`, finds what it found before, and what is new. What an end at the new side keeps is
//! always the newest of what was found; and a message that it protects as a whole loses that protection once enough has come after it,
//! and never gets it back. So what was found is kept here, and each message is looked at twice: when it comes, and when it is protected
//! no more.

use super::candidates::Scan;
use super::selector::{End, EndOf, EndUnit, Kind, Select, Stop, Take};
use super::switch::Switch;
use crate::context::{Region, Seen, State, View};
use std::cell::Cell;

/// What a selection has found so far in a context that grows at its end and does not change before it.
#[derive(Clone, Debug)]
pub struct Growing<'a> {
    select: &'a Select,
    found: Vec<Found>,
    /// The estimates of all that was found.
    tokens: u64,
    /// So many messages at the head of the order are protected no more.
    passed: usize,
    /// So many messages have been seen.
    seen: usize,
    /// Counters of the messages that have been seen and not been passed.
    guarded: Scan,
    /// Where an end was found to begin the last time: many selections that differ little ask one after the other.
    begins: Cell<usize>,
}

/// An item that was found.
#[derive(Clone, Copy, Debug)]
struct Found {
    id: u32,
    alone: u64,
    /// The estimates of all older ones that were found.
    before: u64,
}

impl Select {
    /// Does what the selection finds stay found as messages come, and as reasoning expires? Only such selections can be followed.
    pub fn grows(&self) -> bool {
        let lasting = |kind: &Kind| !matches!(kind, Kind::Thinking);
        let steady = |end: &End| end.unit != EndUnit::Tokens || end.of == EndOf::Selected;
        self.takes_the_oldest()
            && self.take == Take::All
            && self.superseded == Switch::Off
            && !self.kind.is_empty()
            && self.kind.iter().all(lasting)
            && self.tail.iter().all(steady)
    }
}

impl<'a> Growing<'a> {
    /// Nothing has been seen yet of what this selection looks at.
    pub fn new(select: &'a Select) -> Growing<'a> {
        Growing { select, found: Vec::new(), tokens: 0, passed: 0, seen: 0, guarded: Scan::default(), begins: Cell::new(0) }
    }

    /// The selection whose items are followed.
    pub fn select(&self) -> &'a Select {
        self.select
    }

    /// Looks at what has come. Hands back the place from which on the items are new: fewer than before where the scan from the newest
    /// one would now end at something newer than they are.
    pub fn grow(&mut self, view: View<'_>, tools: &[String]) -> usize {
        let mut new_from = self.found.len();
        let guards = self.select.tail.iter().any(End::guards_messages);
        while let Some(message) = view.message(self.seen).filter(|_| guards) {
            self.guarded.pass(&message);
            self.seen += 1;
        }
        let mut oldest = view.message(self.passed);
        while let Some(message) = oldest {
            if self.select.tail.iter().any(|end| self.guarded.guards(end)) {
                break;
            }
            self.passed += 1;
            oldest = view.message(self.passed);
            if guards {
                self.guarded.leave_behind(&message, oldest);
            }
            if self.find_in(&message, view, tools) {
                new_from = 0;
            }
        }
        new_from
    }

    /// Finds what is looked for in a message. Does the scan end here, so that all that is older was forgotten?
    fn find_in(&mut self, message: &Seen, view: View<'_>, tools: &[String]) -> bool {
        if message.is_summary && self.select.stop_at.contains(&Stop::Summary) {
            self.forget();
            return true;
        }
        let mut forgotten = false;
        // Most items are nothing that it looks for: only the others are looked at.
        let of_results = self.select.takes_results_alone();
        let items = view.items_in(*message, |region| !of_results || region == Region::ToolResult);
        for item in items.filter(|item| self.select.wants(item, message, tools)) {
            if item.state == State::Masked {
                if self.select.stop_at.contains(&Stop::Masked) {
                    self.forget();
                    forgotten = true;
                }
                continue;
            }
            let alone = self.select.size(view.estimator(), item.guess, item.alone);
            self.found.push(Found { id: item.id, alone, before: self.tokens });
            self.tokens += alone;
        }
        forgotten
    }

    fn forget(&mut self) {
        self.found.clear();
        self.tokens = 0;
    }

    /// Items and their estimates from a place on, the oldest first.
    pub fn items(&self, from: usize) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.found.iter().skip(from).map(|found| (found.id, found.alone))
    }

    /// How many of the items, the oldest ones, a selection takes: those that its ends do not keep, in whole bunches. It looks at the same items as this one.
    pub fn taken(&self, select: &Select) -> usize {
        let count = self.found.len();
        // An item's tokens and those of all newer ones.
        let sum = |found: &Found| (self.tokens - found.before) as f64;
        let within = |holds: &dyn Fn(f64) -> bool| {
            let keeps = |place: usize| self.found.get(place).is_none_or(|found| holds(sum(found)));
            let known = self.begins.get().min(count);
            if !keeps(known) || known.checked_sub(1).is_some_and(keeps) {
                self.begins.set(self.found.partition_point(|found| !holds(sum(found))));
            }
            count - self.begins.get().min(count)
        };
        let eligible = count - select.tail.iter().map(|end| end.kept_of(count, within)).max().unwrap_or(0);
        select.step.map_or(eligible, |step| step.taken(eligible))
    }

    /// Would the ends of a selection keep all that was found, were it larger by so many tokens together? The selection looks at the same items as this one.
    pub fn keeps_all(&self, select: &Select, more: u64) -> bool {
        select.keeps_all(self.tokens + more)
    }

    /// The estimates of all that was found.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }
}
