//! Reused text kept against recorded content carried, one dot per policy, with the bound that no policy can beat.

use super::document::{Axis, Chart, Drawing, Form, Hue, Named, NothingToDraw, Plot, Quantity, Series};
use super::few::{LINES, few};
use crate::corpus::Corpus;
use crate::experiment::{Replay, most_kept};
use crate::report::document::{Cell, Column, Provenance, Table, Unit};
use crate::report::title::short_title as of_what;
use crate::report::words::{counted, counted_as, percent};
use crate::report::{notes, references as table};
use crate::trace::Evidence;

/// The chart of these policies.
pub fn references(corpus: &Corpus, replays: &[Replay]) -> Result<Chart, NothingToDraw> {
    let calls: u64 = corpus.traces.iter().map(|trace| trace.calls.len() as u64).sum();
    let all = replays.first().map_or(0, |replay| replay.totals.retention.of(Evidence::Line).all());
    if calls == 0 || all == 0 {
        return Err(NothingToDraw("no reply repeats lines of earlier text".to_owned()));
    }
    let carried = |replay: &Replay| replay.totals.retention.carried_tokens as f64 / calls as f64;
    let kept = |replay: &Replay| replay.totals.retention.of(Evidence::Line).kept;
    let share = |kept: u64| kept as f64 / all as f64;
    let most = replays.iter().map(|replay| replay.totals.retention.carried_tokens).max().unwrap_or(0);
    let bound = most_kept(corpus, most);
    let line = Series {
        name: "no policy can keep more".to_owned(),
        hue: Hue::Limit,
        form: Form::Line,
        provenance: Provenance::Estimated,
        points: bound.iter().map(|(tokens, kept)| (*tokens as f64 / calls as f64, share(*kept))).collect(),
        band: Vec::new(),
        named: Named::Key,
    };
    let shown = few(replays.len(), LINES, |place| replays.get(place).map(|replay| std::cmp::Reverse(kept(replay))));
    let others = Series {
        name: counted_as(shown.rest() as u64, "more policy", "more policies"),
        form: Form::Dots,
        provenance: Provenance::Simulated,
        points: (0..replays.len())
            .filter(|place| !shown.places.contains(place))
            .filter_map(|place| replays.get(place))
            .map(|replay| (carried(replay), share(kept(replay))))
            .collect(),
        named: if shown.rest() > 0 { Named::Key } else { Named::Nowhere },
        ..line.clone()
    };
    let dots = shown.places.iter().filter_map(|place| replays.get(*place)).enumerate().map(|(number, replay)| Series {
        name: replay.policy.clone(),
        hue: Hue::Other(number),
        form: Form::Dots,
        provenance: Provenance::Simulated,
        points: vec![(carried(replay), share(kept(replay)))],
        named: Named::Beside,
        ..line.clone()
    });
    let oracle = Series {
        name: "one who knows the future, in contexts of the same sizes".to_owned(),
        hue: Hue::Recorded,
        form: Form::Dots,
        provenance: Provenance::Simulated,
        points: replays.iter().map(|replay| (carried(replay), share(replay.totals.retention.oracle))).collect(),
        ..line.clone()
    };
    let worst = replays.iter().min_by_key(|replay| kept(replay));
    let title = worst.map_or(String::new(), |replay| {
        format!("{} keeps {} of the text that the model reuses", replay.policy, percent(kept(replay) as i64, all))
    });
    let how = "The bound carries every source from its last use to the next one, the cheapest first, over all sessions together.";
    let mut notes: Vec<String> = shown.note("reused text kept", "have a name").into_iter().chain([how.to_owned()]).collect();
    notes.extend(table::notes(corpus));
    notes.extend(notes::below_a_replay(corpus));
    Ok(Chart {
        kind: super::kind::Kind::References.name(),
        title,
        subtitle: format!(
            "{} to lines of any earlier text; what policies keep is simulated; {}",
            counted(all, "reference"),
            of_what(&corpus.facts)
        ),
        drawing: Drawing::Plot(Plot {
            x: Axis::of("recorded content in the mean context", Quantity::Tokens),
            // Names of dots at the top stand above them.
            y: Axis { to: Some(1.08), ..Axis::of("reused text kept", Quantity::Share) },
            series: [line.clone(), others, oracle].into_iter().chain(dots).collect(),
            limits: Vec::new(),
            marks: Vec::new(),
        }),
        notes,
        data: data(replays, &bound, calls, all),
    })
}

fn data(replays: &[Replay], bound: &[(u64, u64)], calls: u64, all: u64) -> Table {
    let count = |key| Column::number(key, key, Unit::Count, Provenance::Simulated);
    let columns = vec![
        Column::name("policy", "policy"),
        Column::number("carried_tokens", "carried", Unit::Tokens, Provenance::Simulated),
        count("calls"),
        count("kept"),
        count("references"),
        count("oracle"),
        count("achievable"),
    ];
    let row = |name: &str, carried: u64, kept: u64, [oracle, achievable]: [Cell; 2]| {
        let counts = [Cell::Tokens(carried), Cell::Count(calls), Cell::Count(kept), Cell::Count(all), oracle, achievable];
        std::iter::once(Cell::Name(name.to_owned())).chain(counts).collect::<Vec<Cell>>()
    };
    let policies = replays.iter().map(|replay| {
        let retention = &replay.totals.retention;
        let hindsight = [retention.oracle, retention.achievable].map(Cell::Count);
        row(&replay.policy, retention.carried_tokens, retention.of(Evidence::Line).kept, hindsight)
    });
    let bound = bound.iter().map(|(carried, kept)| row("bound", *carried, *kept, [Cell::Empty, Cell::Empty]));
    Table { labels: 1, columns, rows: policies.chain(bound).collect() }
}
