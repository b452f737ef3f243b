//! How large the largest context of each session is, recorded and under each policy.

use super::context::short_tokens;
use super::document::{Axis, BarRow, Bars, Chart, Drawing, Hue, NothingToDraw, Quantity, Scale};
use super::few::{ROWS, few};
use super::range::{quarters, row};
use crate::corpus::Corpus;
use crate::experiment::Replay;
use crate::report::document::{Cell, Column, Provenance, Table, Unit};
use crate::report::notes;
use crate::report::title::short_title as of_what;
use crate::report::words::grouped;

/// From this ratio of the largest to the smallest peak on the axis is a logarithmic one.
const WIDE: u64 = 40;

/// The chart of these policies.
pub fn peaks(corpus: &Corpus, replays: &[Replay]) -> Result<Chart, NothingToDraw> {
    let recorded: Vec<u64> = corpus.traces.iter().map(crate::trace::Trace::largest_prompt).collect();
    let simulated = |replay: &Replay| replay.outcomes.iter().map(|outcome| outcome.totals.peak_tokens).collect::<Vec<u64>>();
    let mut all: Vec<(&str, Hue, Provenance, Vec<u64>)> = vec![("recorded", Hue::Recorded, Provenance::Recorded, recorded)];
    all.extend(
        replays
            .iter()
            .enumerate()
            .map(|(number, replay)| (replay.policy.as_str(), Hue::Other(number), Provenance::Simulated, simulated(replay))),
    );
    // What made no call, or recorded no usage, has no peak.
    let known = |peaks: &[u64]| peaks.iter().copied().filter(|peak| *peak > 0).collect::<Vec<u64>>();
    let drawn = few(replays.len(), ROWS, |place| replays.get(place).map(|replay| replay.totals.peak_tokens));
    // What was recorded stands above the policies.
    let shown = std::iter::once(0).chain(drawn.places.iter().map(|place| place + 1)).filter_map(|place| all.get(place));
    let rows: Vec<BarRow> = shown
        .filter_map(|(name, hue, _, peaks)| {
            let values: Vec<f64> = known(peaks).iter().map(|peak| *peak as f64).collect();
            let median = quarters(&values).map(|[_, _, median, ..]| short_tokens(median.round() as u64))?;
            row(name, *hue, &values, format!("median {median}"))
        })
        .collect();
    let peaks: Vec<u64> = all.iter().flat_map(|(.., peaks)| known(peaks)).collect();
    let (Some(least), Some(most)) = (peaks.iter().min(), peaks.iter().max()) else {
        return Err(NothingToDraw("no session has a call".to_owned()));
    };
    let scale = if *most > least.saturating_mul(WIDE) { Scale::Logarithmic } else { Scale::Even };
    let from = if scale == Scale::Even { Some(0.0) } else { None };
    let how = "A dot is a session; a box holds the middle half of them, the thick stroke is the middle one.";
    Ok(Chart {
        kind: super::kind::Kind::Peaks.name(),
        title: format!("Peak contexts reach {} tokens", grouped(*most)),
        subtitle: format!("The largest context of each session, recorded and simulated; {}", of_what(&corpus.facts)),
        drawing: Drawing::Bars(Bars {
            x: Axis { scale, from, ..Axis::of("peak context", Quantity::Tokens) },
            rows,
            limits: Vec::new(),
            key: Vec::new(),
        }),
        notes: drawn
            .note("their largest context", "have a row")
            .into_iter()
            .chain([how.to_owned()])
            .chain(notes::below_a_replay(corpus))
            .collect(),
        data: data(corpus, &all),
    })
}

fn data(corpus: &Corpus, all: &[(&str, Hue, Provenance, Vec<u64>)]) -> Table {
    let columns = vec![
        Column::name("policy", "policy"),
        Column::name("session", "session"),
        Column::number("peak_tokens", "peak", Unit::Tokens, Provenance::Simulated),
    ];
    let rows = all.iter().flat_map(|(name, .., peaks)| {
        corpus.traces.iter().zip(peaks).map(move |(trace, peak)| {
            let cell = if *peak > 0 { Cell::Tokens(*peak) } else { Cell::Empty };
            vec![Cell::Name((*name).to_owned()), Cell::Text(trace.id.clone()), cell]
        })
    });
    Table { labels: 2, columns, rows: rows.collect() }
}
