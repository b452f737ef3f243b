//! A bar, or a range, for each row.

use super::backend::at;
use super::font::Weight;
use super::frame::{Measures, Sample, frame};
use super::picture::{Area, Hand, Picture, Point};
use super::plane::{Grid, plane};
use super::ruler::Ruler;
use super::theme::{Colour, dash, legible};
use crate::report::chart::{Bar, BarRow, Bars, Chart, Form, Piece, Place, Symbol};
use plotters::coord::ranged1d::Ranged;
use plotters::element::Rectangle;
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// Draws a chart of bars, with title, key and notes.
pub fn draw(picture: &mut Picture, measures: &Measures, chart: &Chart, bars: &Bars) {
    let ink = measures.hand(picture.theme.ink());
    let limits = bars.limits.iter().map(|limit| (Sample::Line(limit.hue, Form::Line), limit.name.clone()));
    let key: Vec<(Sample, String)> = bars.key.iter().map(|(hue, name)| (Sample::Field(*hue), name.clone())).chain(limits).collect();
    let area = frame(picture, measures, chart, &key);
    let gap = measures.letters * 0.6;
    let ends = bars.rows.iter().map(|row| picture.width_of(&row.value, ink)).fold(0.0, f64::max).min(area.width() * 0.22);
    // Rows that would be lower than letters are not drawn: the last one says so.
    let pitch = measures.small * 1.25;
    let room = ((area.height() - measures.small * 3.0) / pitch).floor().max(1.0) as usize;
    let shown = if bars.rows.len() <= room { bars.rows.len() } else { room.saturating_sub(1) };
    let rest = bars.rows.len() - shown;
    let foot = if rest > 0 { pitch } else { 0.0 };
    let height = (shown as f64 * measures.letters * 5.0 + measures.small * 3.0).min(area.height() - foot);
    let plotted = Area { right: area.right - ends - gap * 2.0, bottom: area.top + height, ..area };
    let rows = bars.rows.get(..shown).unwrap_or_default();
    let x = Ruler::new(&bars.x, values(bars).into_iter());
    let y = Ruler::of_names("", rows.iter().map(|row| &row.name), true);
    let (theme, start, thin) = (picture.theme, x.range().start, measures.line * 0.8);
    // Bars are not higher than letters two times and a half.
    let half = (measures.letters * 1.25 * shown as f64 / (height - measures.small * 2.9)).min(0.32);
    let stroke = |points: Vec<Point>, colour: Colour, width: f64| {
        at(points, move |picture, points| picture.line(points.to_vec(), colour, width, &[]))
    };
    let drawn = plane(picture, measures, plotted, Grid::Upright, (x, y), |plane| {
        for (place, row) in rows.iter().enumerate() {
            let (top, middle, bottom) = (place as f64 + 0.5 - half, place as f64 + 0.5, place as f64 + 0.5 + half);
            match &row.bar {
                Bar::Stack(pieces) => {
                    let ends = pieces.iter().scan(0.0, |sum, piece| {
                        *sum += piece.length;
                        Some(*sum)
                    });
                    plane.draw_series(pieces.iter().zip(ends).map(|(piece, end)| {
                        let corners = vec![((end - piece.length).max(start), top), (end, bottom)];
                        at(corners, move |picture, corners| draw_piece(picture, measures, piece, Area::between(corners)))
                    }))?;
                }
                Bar::Range { hue, at: [low, first, median, third, high], singles } => {
                    let colour = theme.colour(*hue);
                    let upright = |x: f64, part: f64| vec![(x, middle - half * part), (x, middle + half * part)];
                    let corners =
                        |colour: Colour, cover: f64| Rectangle::new([(*first, top), (*third, bottom)], colour.mix(cover).filled());
                    plane.draw_series([stroke(vec![(*low, middle), (*high, middle)], colour, thin)])?;
                    plane.draw_series([corners(theme.background(), 1.0), corners(colour, 0.3)])?;
                    let around = vec![(*first, top), (*third, top), (*third, bottom), (*first, bottom), (*first, top)];
                    let whiskers = [low, high].map(|end| stroke(upright(*end, 0.4), colour, thin));
                    plane.draw_series(whiskers.into_iter().chain([stroke(around, colour, thin)]))?;
                    let singles = singles.iter().map(|single| (*single, middle)).collect();
                    plane.draw_series([at(singles, |picture, places| {
                        places.iter().for_each(|place| picture.speck(Symbol::Disc, *place, measures.radius * 0.5, colour));
                    })])?;
                    plane.draw_series([stroke(upright(*median, 1.0), theme.ink(), measures.line * 1.4)])?;
                }
            }
        }
        let limits = bars.limits.iter().filter_map(|limit| match limit.place {
            Place::Across(value) => Some((limit.hue, vec![(value, 0.0), (value, rows.len() as f64)])),
            _ => None,
        });
        plane.draw_series(
            limits.map(|(hue, ends)| at(ends, move |picture, ends| picture.line(ends.to_vec(), theme.colour(hue), thin, dash(hue)))),
        )?;
        Ok(())
    });
    let Some(plane) = drawn else { return };
    for (place, row) in rows.iter().enumerate() {
        // What is said of a range stands in a column of its own: beside the range it would lie on what runs across.
        let (end, y) = plane.at(&(length(row), place as f64 + 0.5));
        let end = if matches!(row.bar, Bar::Range { .. }) { plane.area.right } else { end };
        picture.write(&row.value, (end + gap * 0.6, y + measures.small * 0.34), HPos::Left, ink, area.right - end - gap * 0.5);
    }
    if rest > 0 {
        let words = format!("and {rest} more rows, which the data beside this chart holds");
        let soft = measures.hand(picture.theme.soft());
        picture.write(&words, (plane.area.left, area.bottom - measures.small * 0.3), HPos::Left, soft, plane.area.width());
    }
}

/// The whole length of a stack.
fn length(row: &BarRow) -> f64 {
    match &row.bar {
        Bar::Stack(pieces) => pieces.iter().map(|piece| piece.length).sum(),
        Bar::Range { at, .. } => at[4],
    }
}

/// All values that the axis must reach.
fn values(bars: &Bars) -> Vec<f64> {
    let of_row = |row: &BarRow| match &row.bar {
        Bar::Stack(_) => vec![length(row)],
        Bar::Range { at, singles, .. } => at.iter().chain(singles).copied().collect(),
    };
    let limits = bars.limits.iter().filter_map(|limit| if let Place::Across(value) = limit.place { Some(value) } else { None });
    bars.rows.iter().flat_map(of_row).chain(limits).collect()
}

fn draw_piece(picture: &mut Picture, measures: &Measures, piece: &Piece, field: Area) {
    let colour = picture.theme.colour(piece.hue);
    // A thin gap keeps neighbours of one lightness apart on grey paper.
    let field = Area { right: (field.right - 1.2).max(field.left + 0.4), ..field };
    picture.fill(field.corners(), colour, 1.0, &piece.name);
    let hand = Hand { size: measures.small * 0.9, weight: Weight::Regular, colour: legible(colour) };
    let width = picture.width_of(&piece.name, hand);
    if width + measures.letters * 0.6 < field.width() && hand.size * 1.15 < field.height() {
        let at = ((field.left + field.right) / 2.0, (field.top + field.bottom) / 2.0 + hand.size * 0.34);
        picture.write(&piece.name, at, HPos::Center, hand, width + 0.5);
    }
}
