//! Reused text kept against recorded content carried, one dot per policy, with the bound that no policy can beat.

use super::document::{Axis, Drawing, Drawn, Form, Hue, Named, NothingToDraw, Plot, Quantity, Series};
use super::few::{LINES, few, told_apart};
use super::kind::{Kind, Material, Need};
use crate::experiment::{Replay, most_kept};
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::references as table;
use crate::report::words::{counted, counted_as, percent_of};
use crate::sim::Retention;
use crate::trace::Evidence;

/// Reused text kept against recorded content carried.
pub const REFERENCES: Kind = Kind {
    name: "references",
    sentence: "reused text kept against recorded content carried, a dot for each policy, with the bound that none can beat",
    needs: &[Need::Recall, Need::Replays, Need::Baselines],
    usual: None,
    draw: references,
};

/// The references of a policy's sessions, and of what it carries the mean over its calls: a session that it fails counts up to its end on both sides.
fn place(replay: &Replay, kept: u64) -> (f64, f64) {
    let lines = replay.totals.retention.of(Evidence::Line).all();
    (replay.totals.retention.carried_tokens as f64 / replay.totals.calls.max(1) as f64, kept as f64 / lines.max(1) as f64)
}

/// The part of a bound that stands in the range of the dots. Where all is kept before that, more content keeps no more.
fn within(bound: Vec<(f64, f64)>, (left, right): (f64, f64), low: f64) -> Vec<(f64, f64)> {
    let before = bound.iter().rev().find(|(carried, _)| *carried < left).map(|(_, kept)| (left, *kept));
    let end = bound.last().filter(|(carried, _)| *carried < right).map(|(_, kept)| (right, *kept));
    let inside = bound.iter().copied().filter(|(carried, kept)| *carried >= left && *kept >= low);
    before.into_iter().chain(inside).chain(end).collect()
}

fn references(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { corpus, replays, baselines, .. } = *material;
    let calls: u64 = corpus.traces.each().map(|trace| trace.calls.len() as u64).sum();
    let lines = |replay: &Replay| replay.totals.retention.of(Evidence::Line);
    let known = || baselines.with_own(replays).filter(|replay| lines(replay).all() > 0);
    let bound = most_kept(corpus, known().map(|replay| replay.totals.retention.carried_tokens).max().unwrap_or(0));
    // The bound is over whole sessions, and so are all references.
    let all = known().map(|replay| lines(replay).all()).chain(bound.last().map(|(_, kept)| *kept)).max().unwrap_or(0);
    if calls == 0 || all == 0 {
        return Err(NothingToDraw::Nothing("no reply repeats anything that stood before it".to_owned()));
    }
    let kept = |replay: &Replay| place(replay, lines(replay).kept);
    let least = |places: &mut dyn Iterator<Item = f64>| places.fold(f64::MAX, f64::min);
    let (left, low) = (least(&mut known().map(|replay| kept(replay).0)), least(&mut known().map(|replay| kept(replay).1)));
    let right = known().map(|replay| kept(replay).0).fold(0.0, f64::max);
    let share = |(tokens, kept): &(u64, u64)| (*tokens as f64 / calls as f64, *kept as f64 / all as f64);
    let most = within(bound.iter().map(share).collect(), (left, right), low);
    let line = Series::of("no policy can keep more", Hue::Limit, Form::Line, Provenance::Estimated, most).named(Named::Key);
    let dots = |name: &str, hue: Hue, points: Vec<(f64, f64)>| Series::of(name, hue, Form::Dots, Provenance::Simulated, points);
    let shown = few(replays.len(), LINES, |place| replays.get(place).map(|replay| std::cmp::Reverse(lines(replay).kept)));
    let rest = (0..replays.len()).filter(|place| !shown.places.contains(place)).filter_map(|place| replays.get(place));
    let others = dots(&counted_as(shown.rest() as u64, "more policy", "more policies"), Hue::Limit, rest.map(kept).collect());
    let others = others.named(if shown.rest() > 0 { Named::Key } else { Named::Nowhere });
    let policies = told_apart(baselines, replays, &shown).into_iter().map(|(hue, replay)| dots(&replay.policy, hue, vec![kept(replay)]));
    let best = known().map(|replay| place(replay, replay.totals.retention.oracle)).collect();
    let oracle = dots("best possible, in contexts of the same sizes", Hue::Recorded, best).named(Named::Key);
    let by_share = |one: &&Replay, other: &&Replay| kept(one).1.total_cmp(&kept(other).1);
    let percent = |replay: &Replay| percent_of(lines(replay).kept, lines(replay).all());
    let of = |replay: Option<&Replay>| replay.map(|replay| format!("{} keeps {}", replay.policy, percent(replay)));
    let compared = || known().filter(|replay| !material.is_of_some(replay));
    let (low_end, own) = (compared().min_by(by_share), baselines.own.map(|own| &own.replay).filter(|own| lines(own).all() > 0));
    let own = own.filter(|own| !material.is_of_some(own)).filter(|own| low_end.is_none_or(|least| !std::ptr::eq(*own, least)));
    let ends: Vec<String> = of(low_end).into_iter().chain(of(own)).collect();
    let how = "The bound carries every source from its last use to the next one, the cheapest first, over all sessions together.";
    let mut notes: Vec<String> = shown.note("reused text kept", "have a name").into_iter().chain([how.to_owned()]).collect();
    notes.extend(table::notes(corpus));
    Ok(Drawn {
        title: format!("{} of the reused text", ends.join(", ")),
        subtitle: format!(
            "{} to lines of earlier text; what policies keep is simulated; both axes show the range of the data",
            counted(all, "reference"),
        ),
        drawing: Drawing::Plot(Plot {
            x: Axis { from: None, ..Axis::of("recorded content in the mean context", Quantity::Tokens) },
            y: Axis { from: None, ..Axis::of("reused text kept", Quantity::Share) },
            series: [line, others, oracle].into_iter().chain(policies).collect(),
            limits: Vec::new(),
            marks: Vec::new(),
        }),
        notes,
        data: data(&known().collect::<Vec<_>>(), &bound, calls, all),
    })
}

fn data(replays: &[&Replay], bound: &[(u64, u64)], calls: u64, all: u64) -> Table {
    let count = |key| Column::simulated(key, key, Unit::Count);
    let policies = replays.iter().map(|replay| {
        let retention = &replay.totals.retention;
        let lines = retention.of(Evidence::Line);
        (replay.policy.as_str(), retention.carried_tokens, [replay.totals.calls, lines.kept, lines.all()], Some(retention))
    });
    let bound = bound.iter().map(|(carried, kept)| ("bound", *carried, [calls, *kept, all], None));
    let hindsight = |found: Option<u64>| found.map_or(Cell::Empty, Cell::Count);
    Fields::<(&str, u64, [u64; 3], Option<&Retention>)>::new()
        .with(Column::name("policy", "policy"), |(name, ..)| Cell::name(name))
        .with(Column::simulated("carried_tokens", "carried", Unit::Tokens), |(_, carried, ..)| Cell::Tokens(*carried))
        .with(count("calls"), |(_, _, [calls, ..], _)| Cell::Count(*calls))
        .with(count("kept"), |(_, _, [_, kept, _], _)| Cell::Count(*kept))
        .with(count("references"), |(_, _, [.., all], _)| Cell::Count(*all))
        .with(count("line_references_oracle"), move |(.., known)| hindsight(known.map(|known| known.oracle)))
        .with(count("line_references_achievable"), move |(.., known)| hindsight(known.map(|known| known.achievable)))
        .table(1, policies.chain(bound))
}
