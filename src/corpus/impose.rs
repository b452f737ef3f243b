//! A session in which recorded compactions are imposed: at each, all that stood in the context leaves, and one carried message stands for what the
//! agent's own compaction left (summary, messages that stayed, files that came back).
//!
//! The carried message has the size that follows from the first recorded prompt after it, as in [`segment`](super::segment). Hidden and missing
//! tokens are settled anew, so that policy `none` over the session gives every prompt as it was recorded, for as long as no event follows that
//! is not imposed. Calls keep their places; messages and parts move behind the carried ones.

use super::segment::{carried_message, left_by, less_placeholders, prompt_of};
use crate::list::Rows;
use crate::sim::Whole;
use crate::trace::{CallRow, CompactionRow, MessageRow, PartKind, PartRow, Parts, Place, Reading, Reference, Repetition, Trace};
use crate::transcript::{CompactionKind, Role};
use crate::units::signed;
use std::borrow::Cow;

/// The session with those of its recorded events imposed that are chosen. A pruning that is imposed takes nothing out part by part: what the
/// prompts after it lack is `missing`, in proportion to what stands in the context. Without a chosen event the session is handed back as it is.
pub fn impose<'t>(trace: &'t Trace, chosen: &dyn Fn(&CompactionRow) -> bool) -> Cow<'t, Trace> {
    let events: Vec<(usize, &CompactionRow)> = trace.compactions.iter().enumerate().filter(|(_, event)| chosen(event)).collect();
    if events.is_empty() {
        return Cow::Borrowed(trace);
    }
    let mut cuts: Vec<Cut> =
        events.iter().filter(|(_, event)| event.kind == CompactionKind::Compact).map(|(index, _)| Cut::at(*index)).collect();
    let mut imposed = Trace { messages: Rows::default(), parts: Parts::default(), whole: Rows::default(), ..trace.clone() };
    rebuild(trace, &mut cuts, &mut imposed);
    let moved = Moved { trace, cuts: &cuts };
    imposed.imposed = cuts.iter().map(|cut| cut.message).collect();
    for call in &mut imposed.calls {
        call.message = moved.message(call.message);
    }
    for (index, event) in imposed.compactions.iter_mut().enumerate() {
        let cut = cuts.binary_search_by_key(&index, |cut| cut.event).ok().and_then(|place| cuts.get(place));
        event.before = cut.map_or_else(|| moved.message(event.before), |cut| cut.message);
        event.taken.iter_mut().for_each(|part| *part = moved.part(*part));
        event.kept_from = event.kept_from.map(|message| moved.message(message));
    }
    imposed.refusals.iter_mut().for_each(|message| *message = moved.message(*message));
    let place = |place: &Place| Place { part: moved.part(place.part), ..*place };
    imposed.references = trace.references.iter().map(|reference| moved.reference(reference, &place)).collect();
    let repetition = |one: &Repetition| Repetition { later: moved.part(one.later), earlier: moved.part(one.earlier) };
    imposed.repetitions = trace.repetitions.iter().map(repetition).collect();
    let reading = |one: &Reading| Reading {
        message: moved.message(one.message),
        result: one.result.get().map(|part| moved.part(part)).into(),
        ..*one
    };
    imposed.readings = trace.readings.iter().map(reading).collect();
    imposed.paths = trace.paths.iter().map(|(part, path)| (moved.part(*part), path.clone())).collect();
    settle(trace, &mut imposed, &events.iter().map(|(index, _)| *index).collect::<Vec<_>>());
    Cow::Owned(imposed)
}

/// A recorded compaction that is imposed.
struct Cut {
    /// Index among the session's recorded events.
    event: usize,
    /// The carried message and its part, in the new session.
    message: u32,
    part: u32,
}

impl Cut {
    fn at(event: usize) -> Cut {
        Cut { event, message: 0, part: 0 }
    }
}

/// Copies messages and parts, and puts each carried message in its place.
fn rebuild(trace: &Trace, cuts: &mut [Cut], imposed: &mut Trace) {
    // System prompt and tools stay where they are shown.
    let system = trace.messages.iter().take_while(|row| row.role == Role::System).count();
    let shown: u64 = trace.messages.iter().take(system).flat_map(|row| trace.parts_of(row)).map(|part| part.truth).sum();
    let mut done = 0;
    for index in 0..=trace.messages.len() {
        while let Some(cut) = cuts.get_mut(done) {
            let Some(event) = trace.compactions.get(cut.event).filter(|event| event.before as usize <= index) else { break };
            let first_call = trace.calls.partition_point(|call| call.message < event.before);
            let later = trace.compactions.iter().skip(cut.event + 1).find(|later| later.kind == CompactionKind::Compact);
            let left = left_by(trace, event, first_call, later.map_or(u32::MAX, |later| later.before));
            (cut.message, cut.part) = (imposed.messages.len() as u32, imposed.parts.len() as u32);
            let turn = index.checked_sub(1).and_then(|before| trace.messages.get(before)).map_or(0, |row| row.turn);
            let rewind = Some(system.min(index) as u32).into();
            imposed.parts.push(PartRow { anchored: true, ..PartRow::stand_in(PartKind::Text, left.saturating_sub(shown)) });
            imposed.messages.push(MessageRow { first_part: cut.part, turn, rewind, ..carried_message() });
            done += 1;
        }
        let Some(row) = trace.messages.get(index) else { return };
        let moved = Moved { trace, cuts: cuts.get(..done).unwrap_or_default() };
        let first_part = imposed.parts.len() as u32;
        // Who goes back behind a compaction goes back to what it left.
        let last = moved.cuts.last().map_or(0, |cut| cut.message + 1);
        let rewind = row.rewind.get().map(|message| moved.message(message).max(last)).into();
        imposed.messages.push(MessageRow { first_part, rewind, ..row.clone() });
        let parts = trace.parts_of(row).map(Cow::into_owned);
        imposed
            .parts
            .extend(parts.map(|part| crate::trace::PartRow { answers: part.answers.get().map(|call| moved.part(call)).into(), ..part }));
    }
}

/// Where messages and parts of the recorded session stand in the new one.
struct Moved<'a> {
    trace: &'a Trace,
    cuts: &'a [Cut],
}

impl Moved<'_> {
    /// Where an imposed compaction took place in the recorded session.
    fn before(&self, cut: &Cut) -> u32 {
        self.trace.compactions.get(cut.event).map_or(u32::MAX, |event| event.before)
    }

    fn message(&self, message: u32) -> u32 {
        message + self.cuts.partition_point(|cut| self.before(cut) <= message) as u32
    }

    fn part(&self, part: u32) -> u32 {
        let first_part = |message: u32| self.trace.messages.get(message as usize).map_or(u32::MAX, |row| row.first_part);
        part + self.cuts.partition_point(|cut| first_part(self.before(cut)) <= part) as u32
    }

    /// A reference, with the carried message for one more source where the compactions in between kept the text: in the messages that stayed, or
    /// in the summary.
    fn reference(&self, reference: &Reference, place: &dyn Fn(&Place) -> Place) -> Reference {
        let mut sources: Vec<Place> = reference.sources.iter().map(place).collect();
        for source in &reference.sources {
            let Some(holder) = self.trace.message_of(source.part) else { continue };
            let past = |message: u32| self.cuts.partition_point(|cut| self.before(cut) <= message);
            let between = self.cuts.get(past(holder)..past(reference.message)).unwrap_or(&[]);
            let stayed = |cut: &Cut| {
                let event = self.trace.compactions.get(cut.event);
                event.and_then(|event| event.kept_from).is_some_and(|from| from <= holder)
            };
            // From the last one back, to the one whose summary says it.
            let summarises = |cut: &Cut| reference.summary == Some(cut.event as u32);
            let kept = between.iter().rev().find(|cut| summarises(cut) || !stayed(cut)).is_none_or(summarises);
            let carried = between.last().map(|cut| cut.part);
            let carried = carried.filter(|part| kept && sources.iter().all(|known| known.part != *part));
            sources.extend(carried.map(Place::somewhere));
        }
        Reference { message: self.message(reference.message), sources, beside: reference.beside.iter().map(place).collect(), ..*reference }
    }
}

/// Brings hidden and missing tokens of each call behind an imposed event in line with its recorded prompt.
fn settle(trace: &Trace, imposed: &mut Trace, events: &[usize]) {
    let visible = Whole::of(imposed).visible;
    let mut noted = trace.compactions.iter().enumerate().peekable();
    let mut chain = Chain::Untouched;
    let (mut more_hidden, mut missing) = (0_i64, 0);
    // What imposed prunings took since the last recorded prompt.
    let mut taken = 0;
    for ((call, recorded), visible) in imposed.calls.iter_mut().zip(&trace.calls).zip(visible) {
        while let Some((index, event)) = noted.next_if(|(_, event)| event.before <= recorded.message) {
            match (events.binary_search(&index).is_ok(), event.kind) {
                (true, CompactionKind::Compact) => (missing, taken) = (0, 0),
                (true, CompactionKind::Prune) => taken += less_placeholders(trace, &event.taken),
                (false, _) => {}
            }
            chain = match (events.binary_search(&index).is_ok(), event.kind, chain) {
                // What is imposed later takes place in a context that is the recorded one again.
                (true, CompactionKind::Compact, _) | (true, CompactionKind::Prune, Chain::Untouched) => Chain::Recorded,
                (true, CompactionKind::Prune, chain) => chain,
                (false, ..) => Chain::Undone,
            };
        }
        match (chain, prompt_of(recorded)) {
            (Chain::Untouched, _) => continue,
            (Chain::Recorded, Some(prompt)) => {
                missing = (recorded.hidden + visible).saturating_sub(prompt).min(visible);
                more_hidden = signed(prompt + missing) - signed(recorded.hidden + visible);
                taken = 0;
            }
            (Chain::Recorded, None) => missing += std::mem::take(&mut taken),
            (Chain::Undone, _) => (more_hidden, missing) = (0, scaled(recorded, visible)),
        }
        call.hidden = recorded.hidden.saturating_add_signed(more_hidden);
        (call.visible, call.missing) = (visible, missing.min(visible));
    }
}

/// What holds for the prompts of calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chain {
    /// No event has been imposed so far.
    Untouched,
    /// The context is the recorded one.
    Recorded,
    /// An event that is not imposed has made the recorded context another one.
    Undone,
}

/// What is missing of a context of this size, by the share that was of the recorded one.
fn scaled(call: &CallRow, visible: u64) -> u64 {
    let share = u128::from(call.missing) * u128::from(visible) / u128::from(call.visible.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}
