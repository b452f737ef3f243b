//! The reuse-distance curve: the share of references that the newest so many tokens would keep, and where the presets stand.

use super::context::short_tokens;
use super::document::{Axis, Drawing, Drawn, Form, Hue, Limit, NothingToDraw, Place, Plot, Quantity, Scale, Series};
use super::kind::{Kind, Material, Need};
use crate::experiment::{Axis as Distances, Curve, Distance, Point, curve, distances, kept_by, newest_limits, protections, to_results};
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::references;
use crate::report::words::{FEWEST, counted, first_few, grouped, percent_of};
use crate::trace::Evidence;
use std::collections::BTreeMap;

/// What the curves are of: their names, the evidence, and what distances count.
const CURVES: [(&str, Evidence, Distances); 3] = [
    ("lines", Evidence::Line, Distances::Tokens),
    ("lines, by tool output", Evidence::Line, Distances::OutputTokens),
    ("names", Evidence::Identifier, Distances::Tokens),
];

/// So many presets are named at one limit; the others are counted.
const NAMED: usize = 2;

/// Limits below this would stand outside: nothing is nearer than that.
const NEAREST: u64 = 1_000;

/// The curve of reused text that retention would keep.
pub const REUSE: Kind = Kind {
    name: "reuse",
    sentence: "the share of references that the newest so many tokens would keep, and where the presets stand",
    needs: &[Need::Recall],
    usual: None,
    draw: reuse,
};

/// The chart of a corpus; the presets' limits are worked out for the window.
fn reuse(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { corpus, window, .. } = *material;
    let all = distances(corpus);
    let curves: Vec<(Hue, &str, Distances, Vec<&Distance>)> = CURVES
        .iter()
        .enumerate()
        .map(|(number, (name, evidence, axis))| (Hue::Other(number), *name, *axis, to_results(&all, *evidence)))
        .filter(|(.., distances)| !distances.is_empty())
        .collect();
    let Some((.., lines)) = curves.first() else {
        return Err(NothingToDraw::Nothing("no reply repeats anything of a tool result".to_owned()));
    };
    let series = curves.iter().map(|(hue, name, axis, distances)| {
        let curve = curve(distances, *axis);
        let share = |kept: u64| kept as f64 / curve.references.max(1) as f64;
        let points = curve.points.iter().map(|point| (point.retained as f64, share(point.kept))).collect();
        // Both curves of lines have nearly the same band: it is drawn once.
        let banded = curve.points.iter().filter(|_| *axis == Distances::Tokens);
        let edges = |point: &Point| point.band.map(|(low, high)| (point.retained as f64, low as f64 / 1e6, high as f64 / 1e6));
        Series { band: banded.filter_map(edges).collect(), ..Series::of(*name, *hue, Form::Line, Provenance::Estimated, points) }
    });
    let (kept, of) = kept_by(lines, Distances::Tokens, 20_000);
    let whole = curve(lines, Distances::Tokens);
    let title = if whole.is_of_few(FEWEST) {
        let (kept, sessions) = (grouped(kept), counted(whole.sessions, "session"));
        format!(
            "The newest 20k tokens keep {kept} of {} to lines of tool results, in {sessions}: too few to conclude from",
            counted(of, "reference")
        )
    } else {
        format!("The newest 20k tokens keep {} of the reused lines of tool results", percent_of(kept, of))
    };
    let bands = "Bands are 90 % intervals over whole projects, or sessions where there are fewer than five. Upright dashed lines are limits of the newest presets, in the colour of the curve whose tokens they count.";
    let mut notes = vec![bands.to_owned()];
    notes.extend(references::notes(corpus));
    Ok(Drawn {
        title,
        subtitle: format!("{} to lines of tool results in {}, estimated", counted(of, "reference"), counted(whole.sessions, "session"),),
        drawing: Drawing::Plot(Plot {
            x: Axis { scale: Scale::Logarithmic, from: None, ..Axis::of("the newest that stay", Quantity::Tokens) },
            y: Axis { to: Some(1.0), ..Axis::of("reused text of tool results kept", Quantity::Share) },
            series: series.collect(),
            limits: limits(window),
            marks: Vec::new(),
        }),
        notes,
        data: data(&curves, window),
    })
}

/// The limits in tokens of the newest preset of each system, each once, with the systems that have it.
fn limits(window: u64) -> Vec<Limit> {
    let limit = |((axis, tokens), systems): ((Distances, u64), Vec<&str>)| {
        let curve = CURVES.iter().position(|(.., known)| *known == axis).filter(|_| tokens >= NEAREST)?;
        Some(Limit {
            name: format!("{} {}", first_few(&systems, NAMED).replace(" and ", " + "), short_tokens(tokens)),
            hue: Hue::Other(curve),
            place: Place::Across(tokens as f64),
        })
    };
    let mut places: BTreeMap<(Distances, u64), Vec<&str>> = BTreeMap::new();
    for (newest, systems) in newest_limits(window) {
        places.entry((newest.axis, newest.limit)).or_default().extend(systems);
    }
    places.into_iter().filter_map(limit).collect()
}

/// A point of a curve, or where a preset stands on it: which, the newest so many, what they keep of how many, and the band of that.
type Row<'a> = (&'a str, Option<&'a str>, u64, (u64, u64), Option<(u64, u64)>);

fn data(curves: &[(Hue, &str, Distances, Vec<&Distance>)], window: u64) -> Table {
    let count = |key| Column::estimated(key, key, Unit::Count);
    let share = |key| Column::estimated(key, key, Unit::Share);
    let protections = protections(window);
    let rows = curves.iter().flat_map(|(_, name, axis, distances)| {
        let Curve { points, references, .. } = curve(distances, *axis);
        let limits =
            protections.iter().map(|protection| (protection.preset, &protection.newest)).filter(|(_, newest)| newest.axis == *axis);
        let limits = limits.map(|(preset, newest)| (*name, Some(preset), newest.limit, newest.kept(distances), None));
        points.into_iter().map(move |point| (*name, None, point.retained, (point.kept, references), point.band)).chain(limits)
    });
    Fields::<Row<'_>>::new()
        .with(Column::name("curve", "curve"), |(name, ..)| Cell::name(name))
        .with(Column::name("preset", "preset"), |(_, preset, ..)| preset.map_or(Cell::Empty, Cell::name))
        .with(Column::estimated("retained", "retained", Unit::Tokens), |(_, _, newest, ..)| Cell::Tokens(*newest))
        .with(count("kept"), |(.., (kept, _), _)| Cell::Count(*kept))
        .with(count("references"), |(.., (_, references), _)| Cell::Count(*references))
        .with(share("low"), |(.., band)| Cell::millionths(band.map(|band| band.0)))
        .with(share("high"), |(.., band)| Cell::millionths(band.map(|band| band.1)))
        .table(2, rows)
}
