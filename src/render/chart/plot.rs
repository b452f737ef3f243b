//! Lines, dots, bands and marks between two axes. Names stand beside what they name, as far as there is room; the key has the others.

use super::axes::{Axes, axes};
use super::font::Weight;
use super::frame::{Measures, Sample, frame};
use super::label::{Beside, Spots, beside};
use super::picture::{Anchor, Area, Hand, Picture, Point};
use super::ruler::Ruler;
use super::theme::{dash, symbol};
use crate::report::chart::{Chart, Form, Hue, Limit, Marks, Named, Place, Plot, Series};

/// Beyond so many dots of a series they are drawn small and without a rim.
const MANY: usize = 150;

/// Draws a plot.
pub fn draw(picture: &mut Picture, measures: &Measures, chart: &Chart, plot: &Plot) {
    let small = Hand { size: measures.small, weight: Weight::Regular, colour: picture.theme.ink() };
    let lines = plot.series.iter().filter(|series| series.named == Named::Beside && series.form != Form::Dots).count();
    let heights = plot.limits.iter().filter(|limit| matches!(limit.place, Place::Height(_))).count();
    // Half of the height is the least that the drawing gets.
    let roomy = (lines + heights) as f64 * measures.small * 1.25 < picture.height * 0.48;
    let area = frame(picture, measures, chart, &key(plot, roomy));
    let words = names(plot, roomy).map(|name| picture.width_of(&name, small)).fold(0.0, f64::max);
    let right = if words > 0.0 { words.min(area.width() * 0.27) + measures.letters * 1.6 } else { measures.letters };
    let across: Vec<&Limit> = plot.limits.iter().filter(|limit| matches!(limit.place, Place::Across(_))).collect();
    let values = || plot.series.iter().flat_map(|series| series.points.iter().copied());
    let xs = values().map(|point| point.0).chain(across.iter().filter_map(|limit| place_of(limit)));
    let edges = plot.series.iter().flat_map(|series| series.band.iter().flat_map(|(_, low, high)| [*low, *high]));
    let heights = plot.limits.iter().filter(|limit| matches!(limit.place, Place::Height(_))).filter_map(place_of);
    let ys = values().map(|point| point.1).chain(edges).chain(heights);
    let xs: Vec<f64> = xs.collect();
    // Where names stand above the plane depends on how high it is, which depends on how many rows they need: so they are placed twice.
    let ruler = Ruler::new(&plot.x, xs.iter().copied(), area.left + measures.letters * 3.0, area.right - right);
    let placed = names_above(picture, measures, &ruler, &across, area.right, ROWS);
    let rows = placed.iter().map(|name| name.row + 1).max().unwrap_or(0);
    let rows = if rows > 2 { rows + 1 } else { rows };
    let axes = axes(picture, measures, area, right, (&plot.x, &xs), (&plot.y, &ys.collect::<Vec<_>>()), rows as f64);
    limits(picture, measures, &axes, plot);
    above(picture, measures, &axes, &across, area.right);
    for series in &plot.series {
        band(picture, &axes, series);
    }
    for series in &plot.series {
        draw_series(picture, measures, &axes, series);
    }
    for marks in &plot.marks {
        draw_marks(picture, measures, &axes, marks);
    }
    if roomy {
        beside(picture, measures, &axes, ends(&axes, plot), area.right);
    }
    name_dots(picture, measures, &axes, plot, area);
}

/// Names that stand beside the ends of lines.
fn names(plot: &Plot, roomy: bool) -> impl Iterator<Item = String> {
    let lines = plot.series.iter().filter(|series| series.named == Named::Beside && series.form != Form::Dots);
    let heights = plot.limits.iter().filter(|limit| matches!(limit.place, Place::Height(_)));
    lines.map(|series| series.name.clone()).chain(heights.map(|limit| limit.name.clone())).filter(move |_| roomy)
}

fn key(plot: &Plot, roomy: bool) -> Vec<(Sample, String)> {
    let unsaid = |series: &&Series| match series.named {
        Named::Key => true,
        Named::Beside => !roomy && series.form != Form::Dots,
        Named::Nowhere => false,
    };
    let series = plot.series.iter().filter(unsaid).map(|series| (Sample::Line(series.hue, series.form), series.name.clone()));
    let limit = |limit: &&Limit| match limit.place {
        Place::Identity => true,
        Place::Height(_) => !roomy,
        Place::Across(_) => false,
    };
    let limits = plot.limits.iter().filter(limit).map(|limit| (Sample::Line(limit.hue, Form::Line), limit.name.clone()));
    series.chain(limits).chain(marks_key(&plot.marks)).collect()
}

/// What happened, each kind once: in the colour of what it happened to, or in ink where it happened to several.
fn marks_key(all: &[Marks]) -> Vec<(Sample, String)> {
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

fn limits(picture: &mut Picture, measures: &Measures, axes: &Axes, plot: &Plot) {
    let plane = axes.plane;
    for limit in &plot.limits {
        let points = match limit.place {
            Place::Height(value) => vec![(plane.left, axes.y.at(value)), (plane.right, axes.y.at(value))],
            Place::Across(value) => vec![(axes.x.at(value), plane.top), (axes.x.at(value), plane.bottom)],
            Place::Identity => {
                let ((x1, x2), (y1, y2)) = (axes.x.range(), axes.y.range());
                let (low, high) = (x1.max(y1), x2.min(y2));
                vec![(axes.x.at(low), axes.y.at(low)), (axes.x.at(high), axes.y.at(high))]
            }
        };
        // Solid is what was recorded or simulated; every limit is dashed, in the colour of what it is a limit of.
        let dash = if limit.place == Place::Identity { &[] } else { dash(Hue::Limit) };
        picture.line(points, picture.theme.colour(limit.hue), measures.line * 0.7, dash);
    }
}

/// So many rows of names stand above a plane at most.
const ROWS: usize = 8;

/// A name above the plane: the place of its limit, where it starts, and its row from the plane upwards.
struct Above<'a> {
    name: &'a str,
    x: f64,
    start: f64,
    width: f64,
    row: usize,
}

/// Names of limits above the plane, each in the lowest row where it meets no other one. The rightmost goes first, so that the line that
/// leads down from a name passes to the left of all names below it. Where there is no room on the right of its line, a name stands on the
/// left; where there is none either, it is left out.
fn names_above<'a>(picture: &Picture, measures: &Measures, ruler: &Ruler, across: &[&'a Limit], right: f64, rows: usize) -> Vec<Above<'a>> {
    let hand = small(picture, measures);
    let mut sorted: Vec<(f64, &str)> = across.iter().filter_map(|limit| Some((ruler.at(place_of(limit)?), limit.name.as_str()))).collect();
    sorted.sort_by(|one, other| other.0.total_cmp(&one.0));
    // By row, from the plane upwards: what stands there.
    let mut taken: Vec<Vec<(f64, f64)>> = vec![Vec::new(); rows];
    let mut placed = Vec::with_capacity(sorted.len());
    for (x, name) in sorted.iter().copied() {
        let width = picture.width_of(name, hand).min((ruler.at(ruler.range().1) - ruler.at(ruler.range().0)) * 0.5);
        let free = |row: &Vec<(f64, f64)>, (from, to): (f64, f64)| row.iter().all(|(left, right)| to <= *left || from >= *right);
        // Neither may the name meet another one, nor the line that leads down from it.
        let line = (x - 2.0, x + 2.0);
        let margin = measures.letters * 0.3;
        let fits = |row: usize, start: f64| {
            taken.iter().take(row).all(|lower| free(lower, line))
                && taken.get(row).is_some_and(|names| free(names, (start - margin, start + width + margin)))
        };
        let on_the_right = (x + 3.0).min(right - width);
        let on_the_left = x - 4.0 - width;
        // Below a name on the left there is room for those whose lines it stands over.
        let over = sorted.iter().filter(|(other, _)| (on_the_left - margin..x).contains(other)).count();
        let inside = on_the_left >= ruler.at(ruler.range().0);
        let left_rows = if inside { over..rows } else { 0..0 };
        let places = (0..rows).map(|row| (row, on_the_right)).chain(left_rows.map(|row| (row, on_the_left)));
        let Some((row, start)) = places.into_iter().find(|(row, start)| fits(*row, *start)) else { continue };
        let (from, to) = (start - margin, start + width + margin);
        for (place, names) in taken.iter_mut().enumerate().take(row + 1) {
            names.push(if place == row { (from.min(line.0), to.max(line.1)) } else { line });
        }
        placed.push(Above { name, x, start, width, row });
    }
    placed
}

/// Writes names of limits above the plane.
fn above(picture: &mut Picture, measures: &Measures, axes: &Axes, across: &[&Limit], right: f64) {
    let hand = small(picture, measures);
    let pitch = measures.small * 1.25;
    let rows = ((axes.plane.top - axes.top) / pitch + 0.01).floor().max(1.0) as usize;
    for Above { name, x, start, width, row } in names_above(picture, measures, &axes.x, across, right, rows) {
        let y = axes.plane.top - row as f64 * pitch - measures.small * 0.35;
        picture.line(vec![(x, y - measures.small * 0.7), (x, axes.plane.top)], picture.theme.rule(), measures.line * 0.5, &[]);
        picture.write(name, (start, y), Anchor::Start, hand, width + 0.5);
    }
}

fn small(picture: &Picture, measures: &Measures) -> Hand {
    Hand { size: measures.small, weight: Weight::Regular, colour: picture.theme.ink() }
}

fn band(picture: &mut Picture, axes: &Axes, series: &Series) {
    if series.band.len() > 1 {
        let upper = series.band.iter().map(|(x, _, high)| (axes.x.at(*x), axes.y.at(*high)));
        let lower = series.band.iter().rev().map(|(x, low, _)| (axes.x.at(*x), axes.y.at(*low)));
        picture.fill(upper.chain(lower).collect(), picture.theme.colour(series.hue), 0.16, "");
    }
}

/// The unbroken stretches of a series: where a value is not known, the line breaks.
fn stretches(series: &Series) -> impl Iterator<Item = &[(f64, f64)]> {
    series.points.split(|point| !point.1.is_finite() || !point.0.is_finite()).filter(|stretch| !stretch.is_empty())
}

fn draw_series(picture: &mut Picture, measures: &Measures, axes: &Axes, series: &Series) {
    let colour = picture.theme.colour(series.hue);
    if series.form == Form::Dots {
        return dots(picture, measures, axes, series);
    }
    let (width, dash) = match series.form {
        Form::Faint => (measures.line * 0.6, [1.0, 2.0].as_slice()),
        _ if series.hue == Hue::Recorded => (measures.line * 1.1, dash(series.hue)),
        _ => (measures.line, dash(series.hue)),
    };
    for stretch in stretches(series) {
        let points = corners(axes, series.form, stretch);
        match points.as_slice() {
            [(x, y)] => picture.line(vec![(x - width, *y), (x + width, *y)], colour, width, &[]),
            _ => picture.line(points, colour, width, dash),
        }
    }
}

/// The corners of a line through these points.
fn corners(axes: &Axes, form: Form, stretch: &[(f64, f64)]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(stretch.len());
    for (x, y) in stretch {
        let at = (axes.x.at(*x), axes.y.at(*y));
        if let (Form::Steps, Some((_, height))) = (form, points.last().copied()) {
            points.push((at.0, height));
        }
        points.push(at);
    }
    points
}

fn dots(picture: &mut Picture, measures: &Measures, axes: &Axes, series: &Series) {
    let colour = picture.theme.colour(series.hue);
    for (x, y) in &series.points {
        let centre = (axes.x.at(*x), axes.y.at(*y));
        if series.points.len() > MANY {
            picture.speck(symbol(series.hue), centre, measures.radius * 0.45, colour);
        } else {
            picture.symbol(symbol(series.hue), centre, measures.radius, colour);
        }
    }
}

fn draw_marks(picture: &mut Picture, measures: &Measures, axes: &Axes, marks: &Marks) {
    for (x, y) in &marks.points {
        picture.symbol(marks.symbol, (axes.x.at(*x), axes.y.at(*y)), measures.radius, picture.theme.colour(marks.hue));
    }
}

/// Where the named lines end.
fn ends<'a>(axes: &Axes, plot: &'a Plot) -> Vec<Beside<'a>> {
    let line = |series: &'a Series| {
        let (x, y) = series.points.iter().rev().find(|(x, y)| x.is_finite() && y.is_finite())?;
        Some(Beside { at: (axes.x.at(*x), axes.y.at(*y)), name: &series.name, hue: series.hue })
    };
    let lines = plot.series.iter().filter(|series| series.named == Named::Beside && series.form != Form::Dots).filter_map(line);
    let limits = plot.limits.iter().filter_map(|limit| match limit.place {
        Place::Height(value) => Some(Beside { at: (axes.plane.right, axes.y.at(value)), name: &limit.name, hue: limit.hue }),
        _ => None,
    });
    lines.chain(limits).collect()
}

/// Names beside single dots, wherever there is room.
fn name_dots(picture: &mut Picture, measures: &Measures, axes: &Axes, plot: &Plot, area: Area) {
    let named = |series: &&Series| series.named == Named::Beside && series.form == Form::Dots;
    // Beside the plane stand the names of lines, where there are any.
    let right = if names(plot, true).next().is_some() { axes.plane.right } else { area.right };
    let mut spots = Spots::new(Area { left: axes.plane.left + 2.0, right, ..axes.plane });
    let pixel = |ruler: &(&Ruler, &Ruler), (x, y): &(f64, f64)| (ruler.0.at(*x), ruler.1.at(*y));
    let rulers = (&axes.x, &axes.y);
    for point in plot.series.iter().filter(|series| series.form == Form::Dots).flat_map(|series| &series.points) {
        spots.take_around(pixel(&rulers, point), measures.radius * 1.2);
    }
    for series in plot.series.iter().filter(|series| series.form != Form::Dots) {
        for stretch in stretches(series) {
            spots.take_along(&corners(axes, series.form, stretch), measures.line);
        }
    }
    for series in plot.series.iter().filter(named) {
        if let Some(point) = series.points.last() {
            spots.name(picture, measures, pixel(&rulers, point), &series.name, series.hue);
        }
    }
}
