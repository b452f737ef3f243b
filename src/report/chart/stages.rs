//! What each stage of each policy freed.

use super::{Axis, Bar, BarRow, Bars, Chart, Drawing, Hue, NothingToDraw, Piece, Quantity};
use crate::experiment::{Corpus, Replay};
use crate::report::notes;
use crate::report::replay::title as of_what;
use crate::report::words::percent;
use crate::report::{Cell, Column, Provenance, Table, Unit};
use crate::sim::EventKind;
use std::collections::BTreeMap;

/// What frees tokens, in the order of the key.
const KINDS: [EventKind; 5] = [EventKind::Prune, EventKind::Compact, EventKind::Drop, EventKind::Reset, EventKind::Truncate];

/// One stage of one policy: what it does, and its rule.
type Stage = (usize, String);

/// How often a stage acted, and what it freed.
#[derive(Clone, Copy, Default)]
struct Freed {
    events: u64,
    tokens: u64,
}

/// The chart of these policies.
pub fn stages(corpus: &Corpus, replays: &[Replay]) -> Result<Chart, NothingToDraw> {
    let freed: Vec<(&Replay, BTreeMap<Stage, Freed>)> = replays.iter().map(|replay| (replay, of_replay(replay))).collect();
    let seen = |kind: usize| freed.iter().any(|(_, stages)| stages.keys().any(|(known, _)| *known == kind));
    let key: Vec<(Hue, String)> = KINDS
        .iter()
        .enumerate()
        .filter(|(place, _)| seen(*place))
        .map(|(place, kind)| (Hue::Other(place), kind.name().to_owned()))
        .collect();
    if key.is_empty() {
        return Err(NothingToDraw("no stage of these policies freed anything".to_owned()));
    }
    let row = |(replay, stages): &(&Replay, BTreeMap<Stage, Freed>)| {
        let piece =
            |((kind, rule), freed): (&Stage, &Freed)| Piece { name: rule.clone(), hue: Hue::Other(*kind), length: freed.tokens as f64 };
        let saved = percent(replay.totals.tokens_saved(), replay.totals.baseline_tokens);
        BarRow { name: replay.policy.clone(), bar: Bar::Stack(stages.iter().map(piece).collect()), value: format!("saves {saved}") }
    };
    let most = freed.iter().max_by_key(|(_, stages)| stages.values().map(|freed| freed.tokens).sum::<u64>());
    let title = most.map_or(String::new(), |(replay, _)| format!("{} takes the most out of its contexts", replay.policy));
    let how = "A token counts once each time a stage takes it out; what that saves is the share at the end, over all later calls.";
    Ok(Chart {
        kind: super::Kind::Stages.name(),
        title,
        subtitle: format!("Tokens freed by stage, simulated; {}", of_what(&corpus.facts)),
        drawing: Drawing::Bars(Bars {
            x: Axis::of("freed", Quantity::Tokens),
            rows: freed.iter().map(row).collect(),
            limits: Vec::new(),
            key,
        }),
        notes: std::iter::once(how.to_owned()).chain(notes::below_a_replay(corpus)).collect(),
        data: data(&freed),
    })
}

fn of_replay(replay: &Replay) -> BTreeMap<Stage, Freed> {
    let mut stages: BTreeMap<Stage, Freed> = BTreeMap::new();
    for event in replay.outcomes.iter().flat_map(|outcome| &outcome.events) {
        if let Some(kind) = KINDS.iter().position(|kind| *kind == event.kind) {
            let freed = stages.entry((kind, event.rule.clone())).or_default();
            freed.events += 1;
            freed.tokens += event.before.saturating_sub(event.after);
        }
    }
    stages
}

fn data(freed: &[(&Replay, BTreeMap<Stage, Freed>)]) -> Table {
    let columns = vec![
        Column::name("policy", "policy"),
        Column::name("rule", "rule"),
        Column::name("event", "event"),
        Column::number("events", "events", Unit::Count, Provenance::Simulated),
        Column::number("freed_tokens", "freed", Unit::Tokens, Provenance::Simulated),
        Column::number("tokens_saved", "tokens saved by the policy", Unit::Tokens, Provenance::Simulated),
    ];
    let rows = freed.iter().flat_map(|(replay, stages)| {
        stages.iter().map(|((kind, rule), freed)| {
            vec![
                Cell::Name(replay.policy.clone()),
                Cell::Name(rule.clone()),
                Cell::Name(KINDS.get(*kind).map_or("", |kind| kind.name()).to_owned()),
                Cell::Count(freed.events),
                Cell::Tokens(freed.tokens),
                Cell::SignedTokens(replay.totals.tokens_saved()),
            ]
        })
    });
    Table { labels: 3, columns, rows: rows.collect() }
}
