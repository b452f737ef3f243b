//! How much room a policy's contexts leave for what arrived before: watched call by call beside its replay.

use crate::context::{Context, Ends, Presence};
use crate::sim::needs::{Need, first_call_after, needs};
use crate::sim::retention::{Fate, fate, fate_of, left_in};
use crate::trace::Trace;
use crate::transcript::Role;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A part that replies repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The part's index in the trace.
    pub part: u32,
    /// Tokens of the part as a whole.
    pub whole: u64,
    /// The first call whose prompt may hold it.
    pub enters: u32,
    /// The first call at which carrying it takes room: the one after it has entered, since what has just arrived stands in every context. That
    /// call itself where the policy did not let it in; never for what the system says.
    pub paid_from: u32,
    /// What there is of it when it enters, in tokens.
    pub size: u64,
    /// What is left of it at its ends then; `None`: it is whole.
    pub ends: Option<Ends>,
    /// The calls that use the part.
    pub uses: Vec<u32>,
    /// The least that the policy had of it since the use before.
    least: u64,
}

/// Everything that one who knows the future knows of a session, and of the contexts of one policy.
#[derive(Clone, Debug, Default)]
pub struct Lookahead {
    /// The references to lines, each of which the context of a call meets or not.
    pub needs: Vec<Need>,
    /// The parts that hold what the needs ask for.
    pub sources: Vec<Source>,
    /// For each call: tokens of what the policy carried beyond what the system says and what had just arrived.
    pub rooms: Vec<u64>,
    /// For each call: tokens of what the system says and what had just arrived, as far as the policy let it in.
    pub taken: Vec<u64>,
    /// The first need of a later call.
    next_need: usize,
    /// The first message that has not arrived.
    next_message: u32,
    /// The parts of the system's messages that have arrived.
    system: Vec<u32>,
    /// Sources by the call at which they enter.
    entering: BTreeMap<u32, Vec<u32>>,
    /// Sources that have entered and are used again.
    active: Vec<u32>,
    /// Those of them that are looked at with the next call, whether their part is changed or not.
    fresh: Vec<u32>,
    /// The place among `sources` of each part.
    places: FxHashMap<u32, u32>,
}

impl Lookahead {
    /// What is known before the first call.
    pub fn new(trace: &Trace) -> Lookahead {
        let (mut needs, mut uses) = needs(trace);
        uses.sort_unstable();
        let mut entering: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        let mut sources = Vec::new();
        for uses in uses.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((part, _)) = uses.first().copied() else { continue };
            let uses = uses.iter().map(|(_, call)| *call).collect();
            let place = sources.len() as u32;
            let enters = first_call_after(trace, part);
            let whole = trace.parts.get(part as usize).map_or(0, |row| row.truth);
            places.insert(part, place);
            entering.entry(enters).or_default().push(place);
            sources.push(Source { part, whole, enters, paid_from: enters, size: whole, ends: None, uses, least: u64::MAX });
        }
        for way in needs.iter_mut().flat_map(|need| &mut need.ways) {
            way.source = places.get(&way.source).copied().unwrap_or(u32::MAX);
        }
        Lookahead { needs, sources, entering, places, ..Lookahead::default() }
    }

    /// Looks at the context of the next call, as the policy sends it.
    pub fn look(&mut self, trace: &Trace, context: &Context) {
        let call = self.rooms.len() as u32;
        let Some(row) = trace.calls.get(call as usize) else { return };
        let mut taken = self.system.iter().map(|part| context.left_of(*part)).sum::<u64>();
        for message in self.next_message..row.message {
            let Some(row) = trace.messages.get(message as usize) else { continue };
            for part in row.first_part..row.first_part + row.part_count {
                let stands = matches!(context.presence(part), Presence::Whole | Presence::Cut(_));
                taken += if stands || row.role == Role::System { context.left_of(part) } else { 0 };
                self.system.extend((row.role == Role::System).then_some(part));
            }
        }
        self.next_message = self.next_message.max(row.message);
        self.rooms.push(context.size().actual.0.saturating_sub(taken));
        self.taken.push(taken);
        for source in self.entering.remove(&call).unwrap_or_default() {
            self.enter(trace, source, context);
        }
        self.watch(call, context);
        self.meet(trace, call, context);
    }

    /// Notes how little is left of the sources that are used again. Only what was changed since the call before can have become less, unless another
    /// context went out with that one.
    fn watch(&mut self, call: u32, context: &Context) {
        let changed = (call as usize).checked_sub(1).and_then(|before| context.changed_since(before));
        let looked_at: Vec<u32> = match changed {
            Some(changed) => changed.iter().filter_map(|item| self.places.get(&context.item(*item)?.part?).copied()).collect(),
            None => {
                let sources = &self.sources;
                self.active.retain(|place| sources.get(*place as usize).is_some_and(|source| source.uses.last() >= Some(&call)));
                self.active.clone()
            }
        };
        for place in looked_at.iter().chain(&self.fresh) {
            if let Some(source) = self.sources.get_mut(*place as usize).filter(|source| call >= source.paid_from) {
                source.least = source.least.min(context.left_of(source.part));
            }
        }
        let sources = &self.sources;
        self.fresh
            .retain(|place| sources.get(*place as usize).is_some_and(|source| call < source.paid_from && source.paid_from < u32::MAX));
    }

    /// A source stands before a call for the first time: whole, as the policy's limits cut it, or, where the policy did not let it in at all, at
    /// every choice.
    fn enter(&mut self, trace: &Trace, place: u32, context: &Context) {
        self.active.push(place);
        self.fresh.push(place);
        let Some(source) = self.sources.get_mut(place as usize) else { return };
        let role = trace.message_of(source.part).and_then(|message| trace.messages.get(message as usize)).map(|row| row.role);
        match context.presence(source.part) {
            _ if role == Some(Role::System) => source.paid_from = u32::MAX,
            Presence::Whole => source.paid_from = source.enters + 1,
            Presence::Cut(ends) => {
                source.paid_from = source.enters + 1;
                source.size = context.left_of(source.part).min(source.whole);
                source.ends = Some(ends);
            }
            Presence::Masked(_) | Presence::Summarised | Presence::Gone => {}
        }
    }

    /// Notes which needs of a call the policy has met, and from what.
    fn meet(&mut self, trace: &Trace, call: u32, context: &Context) {
        let mine = self.needs.iter_mut().skip(self.next_need).take_while(|need| need.call == call);
        let mut used = Vec::new();
        for need in mine {
            self.next_need += 1;
            need.met = need.reference(trace).is_some_and(|reference| fate(context, trace, reference) == Fate::Kept);
            for way in &mut need.ways {
                let Some(source) = self.sources.get(way.source as usize) else { continue };
                let there = fate_of(context, trace, &way.place) == Fate::Kept;
                way.held = there.then_some(if source.least == u64::MAX { 0 } else { source.least });
                way.from = way.from.max(source.paid_from);
                way.entered = source.ends.is_none_or(|ends| left_in(ends, trace, &way.place));
                used.push(way.source);
            }
        }
        for place in &used {
            if let Some(source) = self.sources.get_mut(*place as usize) {
                source.least = u64::MAX;
                self.fresh.extend((source.uses.last() > Some(&call)).then_some(*place));
            }
        }
    }

    /// The session ends after so many calls: what later ones need counts no more.
    pub fn end_after(&mut self, calls: usize) {
        self.rooms.truncate(calls);
        self.taken.truncate(calls);
        self.needs.truncate(self.needs.partition_point(|need| (need.call as usize) < calls));
        for source in &mut self.sources {
            source.uses.truncate(source.uses.partition_point(|call| (*call as usize) < calls));
        }
    }

    /// The same future at a budget of so many tokens a call, whatever the policy had; what the system says and what has just arrived always fits.
    pub fn at_budget(&self, budget: u64) -> Lookahead {
        let rooms = self.taken.iter().map(|taken| budget.saturating_sub(*taken)).collect();
        let mut needs = self.needs.clone();
        needs.iter_mut().for_each(|need| need.met = false);
        needs.iter_mut().flat_map(|need| &mut need.ways).for_each(|way| way.held = None);
        Lookahead { needs, sources: self.sources.clone(), rooms, taken: self.taken.clone(), ..Lookahead::default() }
    }

    /// Calls with a need that is not met.
    pub fn broken_calls(&self, kept: &[bool]) -> u64 {
        let mut broken: Vec<u32> = self.needs.iter().zip(kept).filter(|(_, kept)| !**kept).map(|(need, _)| need.call).collect();
        broken.dedup();
        broken.len() as u64
    }
}
