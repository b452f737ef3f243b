//! References to lines as demands on a context: at this call, one of these parts has to be there.

use crate::trace::{Evidence, Place, Reference, Trace};

/// One reference to lines, of a reply whose call is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The call, from 0.
    pub call: u32,
    /// The parts that hold the evidence: any one of them will do.
    pub ways: Vec<Way>,
    /// Do parts that each hold some of the evidence hold all of it together? What room that takes at least is not worked out.
    pub together: bool,
    /// Has the policy met it, from whatever?
    pub met: bool,
    /// The place of the reference in the trace.
    reference: usize,
}

/// One part that a need can be met from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The place of the part in the list of sources.
    pub source: u32,
    /// Where in the part the evidence stands.
    pub place: Place,
    /// The call after the part's use before, or the first at which it has to be paid for: from here on it is carried for this need.
    pub from: u32,
    /// So many needs of this call may be met from the part: they share what it costs.
    pub shared: u32,
    /// Where the policy has met the need from this part: the least that was left of the part meanwhile, in tokens.
    pub held: Option<u64>,
    /// Did the evidence stand in the part as it entered, if it was cut then?
    pub entered: bool,
}

impl Need {
    /// The reference that it stands for.
    pub fn reference<'a>(&self, trace: &'a Trace) -> Option<&'a Reference> {
        trace.references.get(self.reference)
    }

    /// The policy has met it, but from none of its sources alone: a summary is taken to hold it, or what is left of several holds it together.
    pub fn met_otherwise(&self) -> bool {
        self.met && self.ways.iter().all(|way| way.held.is_none())
    }
}

/// The needs of a session in the order of calls, and the parts that they may be met from, each with a call that uses it, in the order of calls.
pub fn needs(trace: &Trace) -> (Vec<Need>, Vec<(u32, u32)>) {
    let mut uses: Vec<(u32, u32)> = Vec::new();
    // By part: the call behind its last use.
    let mut free: Vec<u32> = vec![0; trace.parts.len()];
    let mut needs: Vec<Need> = Vec::new();
    let mut sources: Vec<u32> = Vec::new();
    let mut references = trace.references.iter().enumerate().filter(|(_, reference)| reference.kind == Evidence::Line).peekable();
    for (call, row) in trace.calls.iter().enumerate() {
        let call = call as u32;
        let first = needs.len();
        while let Some((place, reference)) = references.next_if(|(_, reference)| reference.message <= row.message) {
            if reference.message == row.message && !reference.sources.is_empty() {
                let way = |place: &Place| Way { source: place.part, place: *place, from: 0, shared: 0, held: None, entered: true };
                let ways = reference.sources.iter().map(way).collect();
                needs.push(Need { call, ways, together: stand_together(trace, reference), met: false, reference: place });
            }
        }
        let mine = needs.get_mut(first..).unwrap_or_default();
        sources.clear();
        sources.extend(mine.iter().flat_map(|need| &need.ways).map(|way| way.source));
        sources.sort_unstable();
        for way in mine.iter_mut().flat_map(|need| &mut need.ways) {
            way.from = free.get(way.source as usize).copied().unwrap_or(0);
            let same = |than: u32| sources.partition_point(|source| *source < than);
            way.shared = (same(way.source + 1) - same(way.source)) as u32;
        }
        sources.dedup();
        for part in &sources {
            uses.push((*part, call));
            if let Some(free) = free.get_mut(*part as usize) {
                *free = call + 1;
            }
        }
    }
    (needs, uses)
}

/// Do the parts beside the sources of a reference hold all of it together?
fn stand_together(trace: &Trace, reference: &Reference) -> bool {
    let is_held = |piece: usize| reference.beside.iter().any(|place| trace.pieces_at(place).get(piece).is_some_and(|at| !at.is_nowhere()));
    !reference.beside.is_empty() && (0..reference.weight as usize).all(is_held)
}

/// What the references to lines of the first so many calls cost at least, in tokens times calls, the cheapest first: the size of a source, times the calls from its last use, or
/// its arrival, to the call that refers to it. Where several parts hold the evidence, the cheapest counts, and nothing where they do so together; references of one call share the cost of a part.
pub fn costs(trace: &Trace, calls: usize) -> Vec<u64> {
    let (needs, _) = needs(trace);
    let size = |part: u32| trace.parts.get(part as usize).map_or(0, |row| row.truth);
    let cost = |need: &Need| {
        let ways = need.ways.iter().map(|way| {
            let from = way.from.max(first_call_after(trace, way.source));
            size(way.source) * u64::from((need.call + 1).saturating_sub(from)) / u64::from(way.shared.max(1))
        });
        if need.together { Some(0) } else { ways.min() }
    };
    let mut costs: Vec<u64> = needs.iter().take_while(|need| (need.call as usize) < calls).filter_map(cost).collect();
    costs.sort_unstable();
    costs
}

/// The first call whose prompt may hold a part.
pub fn first_call_after(trace: &Trace, part: u32) -> u32 {
    let message = trace.message_of(part).unwrap_or(0);
    trace.calls.partition_point(|call| call.message <= message) as u32
}
