//! Coloured cells in rows and columns, with the scale of the colours.

use super::font::Weight;
use super::frame::{Measures, Sample, frame};
use super::picture::{Anchor, Area, Hand, Picture};
use super::ruler::Ruler;
use crate::report::chart::{Chart, HeatMap, Hue, Symbol};

/// Draws a heat map.
pub fn draw(picture: &mut Picture, measures: &Measures, chart: &Chart, map: &HeatMap) {
    let hand = Hand { size: measures.small, weight: Weight::Regular, colour: picture.theme.soft() };
    let ink = Hand { colour: picture.theme.ink(), ..hand };
    let alarm = map.alarm.iter().map(|(_, name)| (Sample::Field(Hue::Alarm), name.clone()));
    let words = if map.best.len() > 1 { "best, all equal" } else { "best" };
    let best = map.best.iter().take(1).map(|_| (Sample::Symbol(Hue::Recorded, Symbol::Ring), words.to_owned()));
    let area = frame(picture, measures, chart, &alarm.chain(best).collect::<Vec<_>>());
    let names = map.rows.iter().map(|row| picture.width_of(row, ink)).fold(0.0, f64::max).min(area.width() * 0.28);
    let gap = measures.letters * 0.5;
    let values: Vec<f64> = map.cells.iter().flatten().flatten().copied().collect();
    let calm = values.iter().copied().filter(|value| map.alarm.as_ref().is_none_or(|(from, _)| value < from));
    let scale_width = measures.letters * 5.0;
    let plane = Area {
        left: area.left + names + gap,
        top: area.top + measures.small * 1.5,
        right: area.right - scale_width,
        bottom: area.bottom - measures.small * 3.0,
    };
    picture.write(&map.down, (area.left, area.top + measures.small * 0.8), Anchor::Start, hand, plane.right - area.left);
    let (rows, columns) = (map.rows.len().max(1), map.columns.len().max(1));
    let (width, height) = (plane.width() / columns as f64, (plane.height() / rows as f64).min(measures.letters * 7.0));
    let plane = Area { bottom: plane.top + height * rows as f64, ..plane };
    let ruler = Ruler::new(&map.colour, calm, plane.bottom, plane.top);
    for (down, row) in map.cells.iter().enumerate() {
        for (across, value) in row.iter().enumerate() {
            let Some(value) = value else { continue };
            let cell = Area {
                left: plane.left + across as f64 * width,
                top: plane.top + down as f64 * height,
                right: plane.left + (across + 1) as f64 * width,
                bottom: plane.top + (down + 1) as f64 * height,
            };
            let mark = map.best.contains(&(down, across));
            draw_cell(picture, measures, map, &ruler, *value, cell);
            if mark {
                let centre = ((cell.left + cell.right) / 2.0, (cell.top + cell.bottom) / 2.0);
                picture.symbol(Symbol::Ring, centre, measures.radius * 1.3, picture.theme.ink());
            }
        }
    }
    row_names(picture, measures, map, plane, height, ink, names + 0.5);
    column_names(picture, measures, map, plane, hand);
    colour_scale(picture, measures, map, &ruler, plane, area.right, hand);
}

fn draw_cell(picture: &mut Picture, measures: &Measures, map: &HeatMap, ruler: &Ruler, value: f64, cell: Area) {
    let theme = picture.theme;
    let (low, high) = ruler.range();
    // Cells with hairlines between them, but not where they are too small for that.
    let inset = if cell.width() > 6.0 && cell.height() > 6.0 { 0.5 } else { 0.0 };
    let field = Area { left: cell.left + inset, top: cell.top + inset, right: cell.right - inset, bottom: cell.bottom - inset };
    match map.alarm.as_ref().filter(|(from, _)| value >= *from) {
        Some(_) => {
            picture.fill(field.corners(), theme.colour(Hue::Alarm), 1.0, "");
            // On grey paper a stroke across says the same.
            let (x, y) = ((field.left + field.right) / 2.0, (field.top + field.bottom) / 2.0);
            let half = (field.width().min(field.height()) * 0.28).min(measures.radius);
            picture.line(vec![(x - half, y + half), (x + half, y - half)], theme.background(), 1.4, &[]);
        }
        None => picture.fill(field.corners(), theme.ramp((value - low) / (high - low).max(f64::MIN_POSITIVE)), 1.0, ""),
    }
}

/// Names of rows; where they would stand too close, only each second, third... one.
fn row_names(picture: &mut Picture, measures: &Measures, map: &HeatMap, plane: Area, height: f64, hand: Hand, width: f64) {
    let every = (measures.small * 1.2 / height).ceil().max(1.0) as usize;
    for (place, name) in map.rows.iter().enumerate().step_by(every) {
        let y = plane.top + (place as f64 + 0.5) * height + measures.small * 0.34;
        picture.write(name, (plane.left - measures.letters * 0.4, y), Anchor::End, hand, width);
    }
}

fn column_names(picture: &mut Picture, measures: &Measures, map: &HeatMap, plane: Area, hand: Hand) {
    let width = plane.width() / map.columns.len().max(1) as f64;
    let widest = map.columns.iter().map(|name| picture.width_of(name, hand)).fold(0.0, f64::max) + measures.letters * 0.7;
    let every = (widest / width).ceil().max(1.0) as usize;
    let y = plane.bottom + measures.small * 1.25;
    for (place, name) in map.columns.iter().enumerate().step_by(every) {
        picture.write(name, (plane.left + (place as f64 + 0.5) * width, y), Anchor::Middle, hand, widest.max(width));
    }
    picture.write(&map.across, ((plane.left + plane.right) / 2.0, y + measures.small * 1.5), Anchor::Middle, hand, plane.width());
}

fn colour_scale(picture: &mut Picture, measures: &Measures, map: &HeatMap, ruler: &Ruler, plane: Area, right: f64, hand: Hand) {
    const STEPS: usize = 40;
    let left = plane.right + measures.letters * 0.9;
    let strip = Area { left, right: left + measures.letters * 0.9, ..plane };
    let (low, high) = ruler.range();
    for step in 0..STEPS {
        let share = (step as f64 + 0.5) / STEPS as f64;
        let height = plane.height() / STEPS as f64;
        let bottom = plane.bottom - step as f64 * height;
        let cell = Area { top: bottom - height - 0.3, bottom, ..strip };
        picture.fill(cell.corners(), picture.theme.ramp(share), 1.0, "");
    }
    for (value, words) in ruler.ticks(((plane.height()) / (measures.small * 3.0)).clamp(2.0, 7.0) as usize) {
        let y = plane.bottom - (value - low) / (high - low) * plane.height() + measures.small * 0.34;
        picture.write(&words, (strip.right + measures.letters * 0.4, y), Anchor::Start, hand, right - strip.right - measures.letters * 0.4);
    }
    let words = ruler.label(&map.colour);
    picture.write(&words, (right, plane.top - measures.small * 0.7), Anchor::End, hand, measures.letters * 18.0);
}
