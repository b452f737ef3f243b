//! Coloured cells in rows and columns, with the scale of the colours.

use super::backend::at;
use super::frame::{Measures, Sample, frame};
use super::picture::{Area, Picture};
use super::plane::{Grid, plane};
use super::plot::marks_key;
use super::ruler::Ruler;
use crate::report::chart::{Chart, HeatMap, Hue};
use plotters::coord::ranged1d::{BoldPoints, Ranged, ValueFormatter};
use plotters::style::text_anchor::HPos;

/// Draws a heat map.
pub fn draw(picture: &mut Picture, measures: &Measures, chart: &Chart, map: &HeatMap) {
    let soft = measures.hand(picture.theme.soft());
    let is_gone = map.cells.iter().flatten().flatten().any(|value| value.is_nan());
    let gone = is_gone.then(|| (Sample::Field(Hue::Gone), map.gone.clone()));
    let alarm = map.alarm.iter().map(|(_, name)| (Sample::Field(Hue::Alarm), name.clone()));
    let area = frame(picture, measures, chart, &alarm.chain(gone).chain(marks_key(&map.marks)).collect::<Vec<_>>());
    let calm = map.cells.iter().flatten().flatten().copied().filter(|value| map.alarm.as_ref().is_none_or(|(from, _)| value < from));
    let ruler = Ruler::new(&map.colour, calm);
    picture.write(&map.down, (area.left, area.top + measures.small * 0.8), HPos::Left, soft, area.width() * 0.45);
    let words = ruler.words.clone();
    picture.write(&words, (area.right, area.top + measures.small * 0.8), HPos::Right, soft, area.width() * 0.5);
    let height = (map.rows.len() as f64 * measures.letters * 7.0 + measures.small * 2.9).min(area.height() - measures.small * 1.5);
    let top = area.top + measures.small * 1.5;
    let plotted = Area { top, bottom: top + height, right: area.right - measures.letters * 5.0, ..area };
    let axes = (Ruler::of_names(&map.across, map.columns.iter(), false), Ruler::of_names("", map.rows.iter(), true));
    let drawn = plane(picture, measures, plotted, Grid::Absent, axes, |plane| {
        let rows = map.cells.iter().enumerate();
        let cells = rows.flat_map(|(down, row)| row.iter().enumerate().filter_map(move |(across, value)| Some((down, across, (*value)?))));
        plane.draw_series(cells.map(|(down, across, value)| {
            let corners = vec![(across as f64, down as f64), (across as f64 + 1.0, down as f64 + 1.0)];
            let ruler = &ruler;
            at(corners, move |picture, corners| draw_cell(picture, measures, map, ruler, value, Area::between(corners)))
        }))?;
        for marks in &map.marks {
            plane.draw_series([at(marks.points.clone(), |picture, places| {
                let colour = picture.theme.colour(marks.hue);
                places.iter().for_each(|place| {
                    picture.symbol(marks.symbol, *place, measures.radius * if marks.hue == Hue::Recorded { 1.7 } else { 1.0 }, colour)
                });
            })])?;
        }
        Ok(())
    });
    if let Some(plane) = drawn {
        colour_scale(picture, measures, &ruler, plane.area, area.right);
    }
}

fn draw_cell(picture: &mut Picture, measures: &Measures, map: &HeatMap, ruler: &Ruler, value: f64, cell: Area) {
    let theme = picture.theme;
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
        None if value.is_nan() => picture.fill(field.corners(), theme.colour(Hue::Gone), 1.0, ""),
        None => picture.fill(field.corners(), theme.ramp(ruler.at(value, (0.0, 1.0))), 1.0, ""),
    }
}

fn colour_scale(picture: &mut Picture, measures: &Measures, ruler: &Ruler, plane: Area, right: f64) {
    const STEPS: usize = 40;
    let soft = measures.hand(picture.theme.soft());
    let left = plane.right + measures.letters * 0.9;
    let strip = Area { left, right: left + measures.letters * 0.9, ..plane };
    for step in 0..STEPS {
        let height = plane.height() / STEPS as f64;
        let bottom = plane.bottom - step as f64 * height;
        let cell = Area { top: bottom - height - 0.3, bottom, ..strip };
        picture.fill(cell.corners(), picture.theme.ramp((step as f64 + 0.5) / STEPS as f64), 1.0, "");
    }
    let most = (plane.height() / (measures.small * 3.0)).clamp(2.0, 7.0) as usize;
    let ruler = ruler.clone().with_ticks(most);
    for value in ruler.key_points(BoldPoints(most)) {
        let y = ruler.at(value, (plane.bottom, plane.top)) + measures.small * 0.34;
        let left = strip.right + measures.letters * 0.4;
        picture.write(&ruler.format_ext(&value), (left, y), HPos::Left, soft, right - left);
    }
}
