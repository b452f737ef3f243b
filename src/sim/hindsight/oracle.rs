//! The oracle: it knows which call will repeat what, and fills a policy's own contexts with it.
//!
//! Wherever the policy had less room than the oracle would like, it lets go for good of what is used again farthest in the future, and of the larger
//! first (Belady's rule with sizes); what is never used again it has let go already. Going by the room that a source takes until its next use, size times calls, does better in
//! some sessions, and the policy itself in a few more: the best of the three is the oracle, so that it is never behind the policy that it stands beside.

use super::lookahead::{Lookahead, Source};
use crate::sim::needs::Way;

/// In which order the oracle prefers sources.
#[derive(Clone, Copy)]
enum Preference {
    /// The next used first, the smaller at a tie.
    NextUse,
    /// What takes least room until its next use first: size times calls.
    Footprint,
}

/// What the oracle carries.
#[derive(Default)]
struct Carried {
    /// Sources, and some that it has let go of.
    places: Vec<u32>,
    /// By source: is it carried?
    holds: Vec<bool>,
    /// Tokens of the carried sources.
    tokens: u64,
}

impl Carried {
    fn has(&self, place: u32) -> bool {
        self.holds.get(place as usize).copied().unwrap_or(false)
    }

    fn take(&mut self, place: u32, tokens: u64) {
        self.places.push(place);
        self.tokens += tokens;
        if let Some(holds) = self.holds.get_mut(place as usize) {
            *holds = true;
        }
    }

    fn drop(&mut self, place: u32, tokens: u64) {
        if let Some(holds) = self.holds.get_mut(place as usize).filter(|holds| **holds) {
            *holds = false;
            self.tokens -= tokens;
        }
    }
}

impl Lookahead {
    /// Which needs the oracle meets.
    pub fn oracle(&self) -> Vec<bool> {
        let policy: Vec<bool> = self.needs.iter().map(|need| need.met).collect();
        let met = |kept: &Vec<bool>| kept.iter().filter(|kept| **kept).count();
        let mut best = policy;
        for preference in [Preference::NextUse, Preference::Footprint] {
            if met(&best) == self.needs.len() {
                break;
            }
            let kept = self.fill(preference);
            if met(&kept) > met(&best) {
                best = kept;
            }
        }
        best
    }

    /// Goes from call to call and fills the room of each.
    fn fill(&self, preference: Preference) -> Vec<bool> {
        let by = |key: fn(&Source) -> Option<u32>| {
            let mut places: Vec<u32> = (0..self.sources.len() as u32).collect();
            places.sort_by_key(|place| self.source(*place).and_then(key));
            places.into_iter().peekable()
        };
        let mut entering = by(|source| Some(source.paid_from));
        let mut leaving = by(|source| source.uses.last().copied());
        let mut needs = self.needs.iter().peekable();
        let mut carried = Carried { holds: vec![false; self.sources.len()], ..Carried::default() };
        let mut kept = Vec::with_capacity(self.needs.len());
        for (call, room) in self.rooms.iter().enumerate() {
            let call = call as u32;
            while let Some(place) = leaving.next_if(|place| self.source(*place).is_some_and(|source| source.uses.last() < Some(&call))) {
                carried.drop(place, self.room_of(place));
            }
            while let Some(place) = entering.next_if(|place| self.source(*place).is_some_and(|source| source.paid_from <= call)) {
                if self.source(place).is_some_and(|source| source.next_use(call).is_some()) {
                    carried.take(place, self.room_of(place));
                }
            }
            if carried.tokens > *room {
                self.fit(&mut carried, *room, call, preference);
            }
            while let Some(need) = needs.next_if(|need| need.call == call) {
                kept.push(need.ways.iter().any(|way| self.meets(way, call, &carried)));
            }
        }
        // A call that was not looked at meets nothing.
        kept.resize(self.needs.len(), false);
        kept
    }

    /// Lets go of what does not fit.
    fn fit(&self, carried: &mut Carried, room: u64, call: u32, preference: Preference) {
        let rank = |place: &u32| {
            let (next, size) = (self.source(*place).and_then(|source| source.next_use(call)).unwrap_or(u32::MAX), self.room_of(*place));
            match preference {
                Preference::NextUse => (u64::from(next), size, *place),
                Preference::Footprint => (size * u64::from(next - call + 1), u64::from(next), *place),
            }
        };
        let mut places: Vec<u32> = std::mem::take(&mut carried.places).into_iter().filter(|place| carried.has(*place)).collect();
        places.sort_by_cached_key(rank);
        let mut left = room;
        places.retain(|place| {
            let rest = left.checked_sub(self.room_of(*place));
            left = rest.unwrap_or(left);
            if rest.is_none() {
                carried.drop(*place, self.room_of(*place));
            }
            rest.is_some()
        });
        carried.places = places;
    }

    fn room_of(&self, place: u32) -> u64 {
        self.source(place).map_or(0, |source| source.size)
    }

    fn meets(&self, way: &Way, call: u32, carried: &Carried) -> bool {
        let Some(source) = self.source(way.source) else { return false };
        if source.paid_from == u32::MAX {
            // What the system says stands as the policy has it.
            return way.held.is_some();
        }
        way.entered && (call < source.paid_from || carried.has(way.source))
    }

    fn source(&self, place: u32) -> Option<&Source> {
        self.sources.get(place as usize)
    }
}

impl Source {
    /// The first call from this one on that uses it.
    fn next_use(&self, call: u32) -> Option<u32> {
        self.uses.get(self.uses.partition_point(|use_| *use_ < call)).copied()
    }
}
