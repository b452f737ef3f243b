//! How large the largest context of each session is, recorded and under each policy.

use super::context::short_tokens;
use super::document::{Axis, BarRow, Bars, Drawing, Drawn, Hue, NothingToDraw, Quantity, Scale};
use super::few::{ROWS, few, told_apart};
use super::kind::{Kind, Material, Need};
use super::range::{quarters, row, spread};
use crate::corpus::Corpus;
use crate::experiment::Replay;
use crate::report::document::{Cell, Column, Fields, Table, Unit};
use crate::report::words::{counted, grouped};

/// Distribution of the sessions' peak context.
pub const PEAKS: Kind = Kind {
    name: "peaks",
    sentence: "the largest context of each session, recorded and under policies",
    needs: &[Need::Replays, Need::Baselines],
    usual: None,
    draw: peaks,
};

fn peaks(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { corpus, replays, baselines, .. } = *material;
    let recorded: Vec<u64> = corpus.traces.each().map(|trace| trace.largest_prompt()).collect();
    let unrecorded = corpus.traces.each().filter(|trace| !trace.calls.is_empty() && trace.largest_prompt() == 0).count() as u64;
    let simulated = |replay: &Replay| replay.outcomes.each().map(|outcome| outcome.totals.peak_tokens).collect::<Vec<u64>>();
    let drawn = few(replays.len(), ROWS, |place| replays.get(place).map(|replay| replay.totals.peak_tokens));
    let shown = told_apart(baselines, replays, &drawn);
    let rows = shown.iter().map(|(hue, replay)| (replay.policy.as_str(), *hue, simulated(replay)));
    let rows: Vec<(&str, Hue, Vec<u64>)> = std::iter::once(("recorded", Hue::Recorded, recorded.clone())).chain(rows).collect();
    let all: Vec<(&str, Vec<u64>)> = std::iter::once(("recorded", recorded))
        .chain(baselines.with_own(replays).map(|replay| (replay.policy.as_str(), simulated(replay))))
        .collect();
    // What made no call, or recorded no usage, has no peak.
    let known = |peaks: &[u64]| peaks.iter().copied().filter(|peak| *peak > 0).collect::<Vec<u64>>();
    let bars: Vec<BarRow> = rows
        .iter()
        .filter_map(|(name, hue, peaks)| {
            let values: Vec<f64> = known(peaks).iter().map(|peak| *peak as f64).collect();
            let median = quarters(&values).map(|[_, _, median, ..]| short_tokens(median.round() as u64))?;
            row(name, *hue, &values, format!("median {median}"))
        })
        .collect();
    let middle = |peaks: &[u64]| quarters(&known(peaks).iter().map(|peak| *peak as f64).collect::<Vec<f64>>());
    let [.., median, _, largest] = rows.iter().find_map(|(_, _, peaks)| middle(peaks)).unwrap_or_default();
    let of = if rows.first().is_some_and(|(_, _, peaks)| known(peaks).is_empty()) { "simulated" } else { "recorded" };
    let peaks: Vec<u64> = rows.iter().flat_map(|(.., peaks)| known(peaks)).collect();
    let (Some(least), Some(most)) = (peaks.iter().min(), peaks.iter().max()) else {
        return Err(NothingToDraw::Nothing("no session has a call".to_owned()));
    };
    let scale = spread(*least as f64, *most as f64);
    let from = if scale == Scale::Even { Some(0.0) } else { None };
    let unrecorded = (unrecorded > 0)
        .then(|| format!("Not in the row `recorded`: {} whose log holds no size of a prompt.", counted(unrecorded, "session")));
    let how = "A box holds the middle half of the sessions, the thick stroke is the middle one.";
    Ok(Drawn {
        title: format!(
            "Half of the {of} sessions stay below {} tokens; the largest context is {}",
            grouped(median.round() as u64),
            grouped(largest.round() as u64)
        ),
        subtitle: "The largest context of each session, recorded and simulated".to_owned(),
        drawing: Drawing::Bars(Bars {
            x: Axis { scale, from, ..Axis::of("peak context", Quantity::Tokens) },
            rows: bars,
            limits: Vec::new(),
            key: Vec::new(),
        }),
        notes: drawn.note("their largest context", "have a row").into_iter().chain([how.to_owned()]).chain(unrecorded).collect(),
        data: data(corpus, &all),
    })
}

fn data(corpus: &Corpus, all: &[(&str, Vec<u64>)]) -> Table {
    let ids: Vec<String> = corpus.traces.each().map(|trace| trace.id.clone()).collect();
    let peaks = all.iter().flat_map(|(name, peaks)| ids.iter().zip(peaks).map(move |(id, peak)| (*name, id, *peak)));
    let tokens = Column::simulated("peak_tokens", "peak", Unit::Tokens);
    Fields::<(&str, &String, u64)>::new()
        .with(Column::name("policy", "policy"), |(name, ..)| Cell::name(name))
        .with(Column::name("session", "session"), |(_, id, _)| Cell::text(id))
        .with(tokens, |(.., peak)| if *peak > 0 { Cell::Tokens(*peak) } else { Cell::Empty })
        .table(2, peaks)
}
