//! How full the window was at each call of each session under one policy, and where it overflowed.

use super::document::{Axis, Drawing, Drawn, HeatMap, Hue, Marks, NothingToDraw, Quantity, Symbol};
use super::few::under;
use super::kind::{Kind, Material, Need};
use crate::corpus::Corpus;
use crate::experiment::Replay;
use crate::report::document::{Cell, Column, Fields, Table, Unit};
use crate::report::words::{capital, counted, grouped};
use crate::sim::{CallOutcome, Outcome};
use crate::trace::Trace;
use crate::transcript::CompactionKind;
use std::borrow::Cow;

/// So many sessions have a row: those whose window was fullest.
const ROWS: usize = 30;

/// Calls share so many columns at most.
const COLUMNS: usize = 60;

/// A call that overflows is above one by this at least.
const ABOVE: f64 = 1e-6;

/// Fullness of the window, sessions by calls.
pub const OVERFLOWS: Kind = Kind {
    name: "overflows",
    sentence: "how full the window was at each call of each session under one policy, and where it overflowed",
    needs: &[Need::Replays],
    usual: Some("none"),
    draw: overflows,
};

fn overflows(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let corpus = material.corpus;
    let [replay] = material.replays else {
        return Err(NothingToDraw::Asked("a chart of overflows shows one policy: name one with --policy, and no more than one".to_owned()));
    };
    // Fullest first, by the largest part of its limit that a session filled, then in the order of the corpus.
    let fullest = |outcome: &Outcome| u128::from(outcome.totals.peak_tokens) * 1_000_000 / u128::from(outcome.prompt_limit.max(1));
    let with_calls = replay.outcomes.each().enumerate().filter(|(_, outcome)| !outcome.calls.is_empty());
    let mut order: Vec<(std::cmp::Reverse<u128>, usize)> =
        with_calls.map(|(place, outcome)| (std::cmp::Reverse(fullest(&outcome)), place)).collect();
    if order.is_empty() {
        return Err(NothingToDraw::Nothing("no session has a call".to_owned()));
    }
    order.sort_unstable();
    let with_calls = order.len() as u64;
    let left_out = order.len().saturating_sub(ROWS);
    let session = |(_, place): &(_, usize)| Some((corpus.traces.at(*place)?, replay.outcomes.at(*place)?));
    let sessions: Vec<(Cow<'_, Trace>, Cow<'_, Outcome>)> = order.iter().take(ROWS).filter_map(session).collect();
    let longest = sessions.iter().map(|(trace, _)| trace.calls.len()).max().unwrap_or(1);
    let each = longest.div_ceil(COLUMNS);
    let columns = (0..longest.div_ceil(each)).map(|column| grouped((column * each + 1) as u64)).collect();
    let cells = sessions.iter().map(|(trace, outcome)| {
        let mut row: Vec<Option<f64>> =
            outcome.calls.chunks(each).map(|calls| calls.iter().map(|call| fullness(outcome, call)).max_by(f64::total_cmp)).collect();
        // Behind the end of a session that fails there are calls that the policy never makes.
        row.resize(trace.calls.len().div_ceil(each).max(row.len()), Some(f64::NAN));
        row.resize(longest.div_ceil(each), None);
        row
    });
    let across = if each == 1 { "call".to_owned() } else { format!("call; a column shows the fullest of {each}") };
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(format!(
            "{} whose windows were less full have no row; the data beside this chart holds them.",
            counted(left_out as u64, "session")
        ));
    }
    let totals = &replay.totals;
    let under = capital(&under(replay));
    let compacted: Vec<(f64, f64)> = sessions.iter().enumerate().flat_map(|(row, (trace, _))| compacted(trace, row, each)).collect();
    let all = counted(with_calls, "session");
    Ok(Drawn {
        title: match totals.overflows {
            0 => format!("{under} no call of {all} overflows"),
            overflows => format!("{under}, {} in {} of {all}", counted(overflows, "overflow"), grouped(totals.overflowing_sessions)),
        },
        subtitle: "How much of the largest prompt that the provider takes each call filled, simulated; sessions from the fullest down"
            .to_owned(),
        drawing: Drawing::HeatMap(HeatMap {
            across,
            columns,
            down: "session".to_owned(),
            rows: sessions.iter().map(|(trace, _)| short(&trace.id)).collect(),
            colour: Axis { to: Some(1.0), ..Axis::of("filled", Quantity::Share) },
            cells: cells.collect(),
            // Without an overflow the key has nothing to explain.
            alarm: (totals.overflows > 0).then(|| (1.0 + ABOVE / 2.0, "overflow".to_owned())),
            marks: if compacted.is_empty() { Vec::new() } else { vec![recorded(compacted)] },
            gone: "recorded, but behind the end of a session that fails".to_owned(),
        }),
        notes,
        data: data(corpus, replay),
    })
}

/// Where the recording agent itself compacted, in a row of the map whose columns hold so many calls each.
fn compacted(trace: &Trace, row: usize, each: usize) -> impl Iterator<Item = (f64, f64)> {
    let events = trace.compactions.iter().filter(|event| !event.copy && event.kind == CompactionKind::Compact);
    let calls = events.map(|event| trace.first_call_behind(event).min(trace.calls.len().saturating_sub(1)));
    calls.map(move |call| ((call / each.max(1)) as f64 + 0.5, row as f64 + 0.5))
}

fn recorded(points: Vec<(f64, f64)>) -> Marks {
    Marks { name: "recorded compaction".to_owned(), symbol: Symbol::Ring, hue: Hue::Recorded, points }
}

/// The part of its limit that a call filled; above one where the provider would have refused it, however little.
fn fullness(outcome: &Outcome, call: &CallOutcome) -> f64 {
    let part = call.attempted as f64 / outcome.prompt_limit.max(1) as f64;
    if call.refused > 0 { part.max(1.0 + ABOVE) } else { part.min(1.0) }
}

/// An id as tables shorten it: its beginning and its end.
pub(super) fn short(id: &str) -> String {
    let letters: Vec<char> = id.chars().collect();
    match (letters.get(..8), letters.get(letters.len().saturating_sub(3)..)) {
        (Some(head), Some(tail)) if letters.len() > 14 => head.iter().chain(['…'].iter()).chain(tail).collect(),
        _ => id.to_owned(),
    }
}

fn data(corpus: &Corpus, replay: &Replay) -> Table {
    let calls = corpus.traces.each().zip(replay.outcomes.each()).flat_map(|(trace, outcome)| {
        let row = |(number, call): (usize, &CallOutcome)| (trace.id.clone(), outcome.prompt_limit, number, *call);
        outcome.calls.iter().enumerate().map(row).collect::<Vec<_>>()
    });
    Fields::<(String, u64, usize, CallOutcome)>::new()
        .with(Column::name("session", "session"), |(session, ..)| Cell::text(session))
        .with(Column::simulated("call", "call", Unit::Count), |(_, _, number, _)| Cell::Count(*number as u64 + 1))
        .with(Column::simulated("context", "context", Unit::Tokens), |(.., call)| Cell::Tokens(call.attempted))
        .with(Column::simulated("prompt_limit", "limit", Unit::Tokens), |(_, limit, ..)| Cell::Tokens(*limit))
        .with(Column::simulated("refused_tries", "refused_tries", Unit::Count), |(.., call)| Cell::Count(u64::from(call.refused)))
        .table(2, calls)
}
