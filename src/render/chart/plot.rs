//! Lines, dots, bands and marks between two axes. Names stand beside what they name, as far as there is room; the key has the others.

use super::backend::{Drawn, at};
use super::frame::{Measures, Sample, frame};
use super::label::{Beside, Spots, beside};
use super::picture::{Area, Picture, Point};
use super::plane::{Grid, Plane, Plotted, plane};
use super::ruler::Ruler;
use super::theme::{Theme, dash, symbol};
use crate::list::Arrange;
use crate::report::chart::{Chart, Form, Hue, Limit, Marks, Named, Place, Plot, Series};
use plotters::coord::ranged1d::Ranged;
use plotters::element::Polygon;
use plotters::style::Color;
use plotters::style::text_anchor::HPos;
use std::ops::Range;

/// Beyond so many dots of a series they are drawn small and without a rim.
const MANY: usize = 150;

/// Draws series, marks and limits between two axes, with title, key and notes.
pub fn draw(picture: &mut Picture, measures: &Measures, chart: &Chart, plot: &Plot) {
    let (ink, soft) = (measures.hand(picture.theme.ink()), measures.hand(picture.theme.soft()));
    let lines = plot.series.iter().filter(|series| series.named == Named::Beside && series.form != Form::Dots).count();
    let heights = plot.limits.iter().filter(|limit| matches!(limit.place, Place::Height(_)));
    // Half of the height is the least that the drawing gets.
    let roomy = (lines + heights.clone().count()) as f64 * measures.small * 1.25 < picture.height * 0.48;
    let across: Vec<&Limit> = plot.limits.iter().filter(|limit| matches!(limit.place, Place::Across(_))).collect();
    let values = || plot.series.iter().flat_map(|series| &series.points).chain(plot.marks.iter().flat_map(|marks| &marks.points));
    let edges = plot.series.iter().flat_map(|series| series.band.iter().flat_map(|(_, low, high)| [*low, *high]));
    let x = Ruler::new(&plot.x, values().map(|point| point.0).chain(across.iter().filter_map(|limit| place_of(limit))));
    let y = Ruler::new(&plot.y, values().map(|point| point.1).chain(edges).chain(heights.filter_map(place_of)));
    let ranges = (x.range(), y.range());
    let area = frame(picture, measures, chart, &key(plot, roomy, &ranges));
    let words = names(plot, roomy).map(|name| picture.width_of(&name, ink)).fold(0.0, f64::max);
    let right = if words > 0.0 { words.min(area.width() * 0.27) + measures.letters * 1.6 } else { measures.letters };
    picture.write(&y.words, (area.left, area.top + measures.small * 0.85), HPos::Left, soft, area.width());
    // Where names stand above the plane depends on how high it is, which depends on how many rows they need: so they are placed twice.
    let about = (area.left + measures.letters * 3.0, area.right - right);
    let places = |at: &dyn Fn(f64) -> f64| {
        let mut places: Vec<(f64, &str)> = across.iter().filter_map(|limit| Some((at(place_of(limit)?), limit.name.as_str()))).collect();
        places.arrange_by(|one, other| other.0.total_cmp(&one.0));
        places
    };
    let pitch = measures.small * 1.25;
    let placed = names_above(picture, measures, &places(&|value| x.at(value, about)), area.right, ROWS);
    let rows = placed.iter().map(|(.., area)| (-area.bottom / pitch).round() as usize + 1).max().unwrap_or(0);
    let rows = if rows > 2 { rows + 1 } else { rows };
    let top = area.top + measures.small * 1.5;
    let plotted =
        Area { top: (top + rows as f64 * pitch).min(area.bottom - measures.small * 2.9 - 20.0), right: area.right - right, ..area };
    let theme = picture.theme;
    let drawn = plane(picture, measures, plotted, Grid::Across, (x, y), |plane| {
        limits(plane, measures, theme, plot, &ranges)?;
        for series in &plot.series {
            let band = series.band.iter().map(|(x, _, high)| (*x, *high));
            let band: Vec<Point> = band.chain(series.band.iter().rev().map(|(x, low, _)| (*x, *low))).collect();
            plane.draw_series((band.len() > 3).then(|| Polygon::new(band, theme.colour(series.hue).mix(0.16))))?;
        }
        plot.series.iter().try_for_each(|series| draw_series(plane, measures, theme, series))?;
        plane.draw_series(plot.marks.iter().map(|marks| {
            // What was recorded, or is best, stands around what was simulated, or is one's own.
            let radius = measures.radius * if marks.hue == Hue::Recorded { 1.7 } else { 1.0 };
            let colour = theme.colour(marks.hue);
            at(marks.points.clone(), move |picture, places| {
                places.iter().for_each(|place| picture.symbol(marks.symbol, *place, radius, colour));
            })
        }))?;
        Ok(())
    });
    let Some(plane) = drawn else { return };
    let rows = ((plane.area.top - top) / pitch + 0.01).floor().max(1.0) as usize;
    for (name, x, spot) in names_above(picture, measures, &places(&|x| plane.at(&(x, 0.0)).0), area.right, rows) {
        let y = plane.area.top + spot.bottom - measures.small * 0.35;
        picture.line(vec![(x, y - measures.small * 0.7), (x, plane.area.top)], picture.theme.rule(), measures.line * 0.5, &[]);
        picture.write(name, (spot.left, y), HPos::Left, ink, spot.width());
    }
    if roomy {
        beside(picture, measures, plane.area, ends(&plane, plot), area.right);
    }
    name_dots(picture, measures, &plane, plot, area);
}

/// Names that stand beside the ends of lines.
fn names(plot: &Plot, roomy: bool) -> impl Iterator<Item = String> {
    let lines = plot.series.iter().filter(|series| series.named == Named::Beside && series.form != Form::Dots);
    let heights = plot.limits.iter().filter(|limit| matches!(limit.place, Place::Height(_)));
    lines.map(|series| series.name.clone()).chain(heights.map(|limit| limit.name.clone())).filter(move |_| roomy)
}

/// What needs an entry in the key: names that stand nowhere else, of what is drawn.
fn key(plot: &Plot, roomy: bool, ranges: &(Range<f64>, Range<f64>)) -> Vec<(Sample, String)> {
    let unsaid = |series: &&Series| match series.named {
        Named::Key => true,
        Named::Beside => !roomy && series.form != Form::Dots,
        Named::Nowhere => false,
    };
    let series = plot.series.iter().filter(unsaid).map(|series| (Sample::Line(series.hue, series.form), series.name.clone()));
    let limit = |limit: &&Limit| match limit.place {
        Place::Identity => identity(ranges).is_some(),
        Place::Height(_) => !roomy,
        Place::Across(_) => false,
    };
    let limits = plot.limits.iter().filter(limit).map(|limit| (Sample::Line(limit.hue, Form::Line), limit.name.clone()));
    series.chain(limits).chain(marks_key(&plot.marks)).collect()
}

/// What happened, each kind once: in the colour of what it happened to, or in ink where it happened to several.
pub fn marks_key(all: &[Marks]) -> Vec<(Sample, String)> {
    let mut key: Vec<(Sample, String)> = Vec::new();
    for marks in all.iter().filter(|marks| !marks.points.is_empty()) {
        match key.iter_mut().find(|(_, name)| *name == marks.name) {
            Some((sample, _)) if *sample != Sample::Symbol(marks.hue, marks.symbol) => {
                *sample = Sample::Symbol(Hue::Recorded, marks.symbol)
            }
            Some(_) => {}
            None => key.push((Sample::Symbol(marks.hue, marks.symbol), marks.name.clone())),
        }
    }
    key
}

fn place_of(limit: &Limit) -> Option<f64> {
    match limit.place {
        Place::Height(value) | Place::Across(value) => Some(value),
        Place::Identity => None,
    }
}

/// The ends of the line where both axes have the same value; absent where no value stands on both.
fn identity((x, y): &(Range<f64>, Range<f64>)) -> Option<[Point; 2]> {
    let (start, end) = (x.start.max(y.start), x.end.min(y.end));
    (start < end).then_some([(start, start), (end, end)])
}

/// Lines that the others are held against. Solid is what was recorded or simulated; every limit is dashed, in the colour of what it is a limit of.
fn limits(plane: &mut Plotted<'_, '_>, measures: &Measures, theme: Theme, plot: &Plot, ranges: &(Range<f64>, Range<f64>)) -> Drawn {
    let (x, y) = ranges;
    let width = measures.line * 0.7;
    plane.draw_series(plot.limits.iter().filter_map(|limit| {
        let ends = match limit.place {
            Place::Height(value) => vec![(x.start, value), (x.end, value)],
            Place::Across(value) => vec![(value, y.start), (value, y.end)],
            Place::Identity => identity(ranges)?.to_vec(),
        };
        let dash = if limit.place == Place::Identity { &[] } else { dash(Hue::Limit) };
        Some(at(ends, move |picture, ends| picture.line(ends.to_vec(), theme.colour(limit.hue), width, dash)))
    }))?;
    Ok(())
}

/// So many rows of names stand above a plane at most.
const ROWS: usize = 8;

/// Names of limits above the plane, with the places of their limits and the areas where they stand, seen from the upper edge of the plane: each in the
/// lowest row where it meets no other one, nor the line that leads down from another one. The rightmost goes first; one without room is left out.
fn names_above<'a>(picture: &Picture, measures: &Measures, places: &[(f64, &'a str)], end: f64, rows: usize) -> Vec<(&'a str, f64, Area)> {
    let (hand, pitch, margin) = (measures.hand(picture.theme.ink()), measures.small * 1.25, measures.letters * 0.3);
    let mut taken: Vec<Area> = Vec::new();
    let place = |(x, name): &(f64, &'a str)| {
        let width = picture.width_of(name, hand).min(end * 0.4);
        let left = (x + 3.0).min(end - width);
        let spot = |row: usize| {
            let bottom = -(row as f64) * pitch;
            let area = Area { left, top: bottom - pitch + 0.1, right: left + width + margin, bottom };
            let line = Area { left: x - 2.0, top: bottom, right: x + 2.0, bottom: 0.0 };
            (!taken.iter().any(|taken| taken.meets(&area) || taken.meets(&line))).then_some((area, line))
        };
        let (area, line) = (0..rows).find_map(spot)?;
        taken.extend([Area { left: area.left - margin, ..area }, line]);
        Some((*name, *x, area))
    };
    places.iter().filter_map(place).collect()
}

/// The unbroken stretches of a series: where a value is not known, the line breaks.
fn stretches(series: &Series) -> impl Iterator<Item = &[Point]> {
    series.points.split(|point| !point.1.is_finite() || !point.0.is_finite()).filter(|stretch| !stretch.is_empty())
}

fn draw_series(plane: &mut Plotted<'_, '_>, measures: &Measures, theme: Theme, series: &Series) -> Drawn {
    let colour = theme.colour(if series.form == Form::Broad { Hue::Gone } else { series.hue });
    let (width, dash) = match series.form {
        Form::Broad => (measures.line * 3.0, [].as_slice()),
        Form::Faint => (measures.line * 0.6, [1.0, 2.0].as_slice()),
        _ if matches!(series.hue, Hue::Recorded | Hue::Own) => (measures.line * 1.3, dash(series.hue)),
        _ => (measures.line, dash(series.hue)),
    };
    let is_many = series.points.len() > MANY;
    plane.draw_series(stretches(series).map(|stretch| {
        at(stretch.to_vec(), move |picture, places| match (series.form, places) {
            (Form::Dots, _) => places.iter().for_each(|place| match is_many {
                true => picture.speck(symbol(series.hue), *place, measures.radius * 0.45, colour),
                false => picture.symbol(symbol(series.hue), *place, measures.radius, colour),
            }),
            (_, [(x, y)]) => picture.line(vec![(x - width, *y), (x + width, *y)], colour, width, &[]),
            _ => picture.line(corners(series.form, places.to_vec()), colour, width, dash),
        })
    }))?;
    Ok(())
}

/// The corners of a line through these places.
fn corners(form: Form, places: Vec<Point>) -> Vec<Point> {
    if form != Form::Steps {
        return places;
    }
    let before = std::iter::once(None).chain(places.iter().map(|(_, y)| Some(*y)));
    before.zip(&places).flat_map(|(before, (x, y))| before.map(|before| (*x, before)).into_iter().chain([(*x, *y)])).collect()
}

/// Where the named lines end.
fn ends<'a>(plane: &Plane, plot: &'a Plot) -> Vec<Beside<'a>> {
    let line = |series: &'a Series| {
        let end = series.points.iter().rev().find(|(x, y)| x.is_finite() && y.is_finite())?;
        Some(Beside { at: plane.at(end), name: &series.name, hue: series.hue })
    };
    let lines = plot.series.iter().filter(|series| series.named == Named::Beside && series.form != Form::Dots).filter_map(line);
    let limits = plot.limits.iter().filter_map(|limit| match limit.place {
        Place::Height(value) => Some(Beside { at: (plane.area.right, plane.at(&(0.0, value)).1), name: &limit.name, hue: limit.hue }),
        _ => None,
    });
    lines.chain(limits).collect()
}

/// Names beside single dots, wherever there is room.
fn name_dots(picture: &mut Picture, measures: &Measures, plane: &Plane, plot: &Plot, area: Area) {
    // Beside the plane stand the names of lines, where there are any.
    let right = if names(plot, true).next().is_some() { plane.area.right } else { area.right };
    let mut spots = Spots::new(Area { left: plane.area.left + 2.0, right, ..plane.area });
    let (dots, lines): (Vec<&Series>, Vec<&Series>) = plot.series.iter().partition(|series| series.form == Form::Dots);
    for point in dots.iter().flat_map(|series| &series.points).chain(plot.marks.iter().flat_map(|marks| &marks.points)) {
        spots.take_around(plane.at(point), measures.radius * 1.2);
    }
    for (series, stretch) in lines.iter().flat_map(|series| stretches(series).map(move |stretch| (series, stretch))) {
        spots.take_along(&corners(series.form, stretch.iter().map(|point| plane.at(point)).collect()), measures.line);
    }
    for series in dots.iter().filter(|series| series.named == Named::Beside) {
        if let Some(point) = series.points.last() {
            spots.name(picture, measures, plane.at(point), &series.name, series.hue);
        }
    }
}
