//! A bar, or a range, for each row.

use super::axes::along;
use super::font::Weight;
use super::frame::{Measures, Sample, frame};
use super::picture::{Anchor, Area, Hand, Picture};
use super::ruler::Ruler;
use super::theme::dash;
use crate::report::chart::{Bar, BarRow, Bars, Chart, Form, Hue, Limit, Piece, Place};

/// Draws bars.
pub fn draw(picture: &mut Picture, measures: &Measures, chart: &Chart, bars: &Bars) {
    let ink = Hand { size: measures.small, weight: Weight::Regular, colour: picture.theme.ink() };
    let limits = bars.limits.iter().map(|limit| (Sample::Line(limit.hue, Form::Line), limit.name.clone()));
    let key: Vec<(Sample, String)> = bars.key.iter().map(|(hue, name)| (Sample::Field(*hue), name.clone())).chain(limits).collect();
    let area = frame(picture, measures, chart, &key);
    let widest = |words: &dyn Fn(&BarRow) -> String| bars.rows.iter().map(|row| picture.width_of(&words(row), ink)).fold(0.0, f64::max);
    let names = widest(&|row| row.name.clone()).min(area.width() * 0.3);
    let ends = widest(&|row| row.value.clone()).min(area.width() * 0.22);
    let gap = measures.letters * 0.6;
    let plane = Area {
        left: area.left + names + gap,
        top: area.top,
        right: area.right - if ends > 0.0 { ends + gap } else { gap },
        bottom: area.bottom - measures.small * 3.0,
    };
    let ruler = along(picture, measures, plane, (&bars.x, &values(bars)));
    for (value, _) in ruler.ticks((plane.width() / (measures.small * 5.0)).clamp(2.0, 12.0) as usize) {
        picture.line(vec![(ruler.at(value), plane.top), (ruler.at(value), plane.bottom)], picture.theme.grid(), 1.0, &[]);
    }
    // Rows that would be lower than letters are not drawn: the last one says so.
    let room = (plane.height() / (measures.small * 1.25)).floor().max(1.0) as usize;
    let shown = if bars.rows.len() <= room { bars.rows.len() } else { room.saturating_sub(1) };
    let pitch = (plane.height() / shown.max(1) as f64).min(measures.letters * 5.0);
    let pitch = if shown < bars.rows.len() { plane.height() / room as f64 } else { pitch };
    for (place, row) in bars.rows.iter().take(shown).enumerate() {
        let strip = Area { top: plane.top + place as f64 * pitch, bottom: plane.top + (place + 1) as f64 * pitch, ..plane };
        let baseline = (strip.top + strip.bottom) / 2.0 + measures.small * 0.34;
        picture.write(&row.name, (plane.left - gap, baseline), Anchor::End, ink, names + 0.5);
        let drawn = draw_row(picture, measures, &ruler, row, strip);
        // What is said of a range stands in a column of its own: beside the range it would lie on what runs across.
        let end = if matches!(row.bar, Bar::Range { .. }) { plane.right } else { drawn };
        picture.write(&row.value, (end.max(plane.left) + gap * 0.6, baseline), Anchor::Start, ink, area.right - end - gap * 0.5);
    }
    if shown < bars.rows.len() {
        let words = format!("and {} more rows, which the data beside this chart holds", bars.rows.len() - shown);
        let soft = Hand { colour: picture.theme.soft(), ..ink };
        picture.write(&words, (plane.left, plane.top + (shown as f64 + 0.7) * pitch), Anchor::Start, soft, plane.width());
    }
    for limit in &bars.limits {
        limit_line(picture, measures, &ruler, limit, plane);
    }
}

/// All values that the axis must reach.
fn values(bars: &Bars) -> Vec<f64> {
    let of_row = |row: &BarRow| match &row.bar {
        Bar::Stack(pieces) => vec![pieces.iter().map(|piece| piece.length).sum()],
        Bar::Range { at, singles, .. } => at.iter().chain(singles).copied().collect(),
    };
    let limits = bars.limits.iter().filter_map(|limit| if let Place::Across(value) = limit.place { Some(value) } else { None });
    bars.rows.iter().flat_map(of_row).chain(limits).collect()
}

fn limit_line(picture: &mut Picture, measures: &Measures, ruler: &Ruler, limit: &Limit, plane: Area) {
    if let Place::Across(value) = limit.place {
        let points = vec![(ruler.at(value), plane.top), (ruler.at(value), plane.bottom)];
        picture.line(points, picture.theme.colour(limit.hue), measures.line * 0.8, dash(limit.hue));
    }
}

/// Draws a row, and says where it ends.
fn draw_row(picture: &mut Picture, measures: &Measures, ruler: &Ruler, row: &BarRow, strip: Area) -> f64 {
    let half = (strip.height() * 0.32).min(measures.letters * 1.25);
    let middle = (strip.top + strip.bottom) / 2.0;
    let strip = Area { top: middle - half, bottom: middle + half, ..strip };
    match &row.bar {
        Bar::Stack(pieces) => stack(picture, measures, ruler, pieces, strip),
        Bar::Range { hue, at, singles } => range(picture, measures, ruler, (*hue, at, singles), strip),
    }
}

fn stack(picture: &mut Picture, measures: &Measures, ruler: &Ruler, pieces: &[Piece], strip: Area) -> f64 {
    let mut sum = 0.0;
    for piece in pieces {
        let (from, to) = (ruler.at(sum), ruler.at(sum + piece.length));
        sum += piece.length;
        let colour = picture.theme.colour(piece.hue);
        // A thin gap keeps neighbours of one lightness apart on grey paper.
        let field = Area { left: from, right: (to - 1.2).max(from + 0.4), ..strip };
        picture.fill(field.corners(), colour, 1.0, &piece.name);
        let hand = Hand { size: measures.small * 0.9, weight: Weight::Regular, colour: colour.legible() };
        let width = picture.width_of(&piece.name, hand);
        if width + measures.letters * 0.6 < field.width() && hand.size * 1.15 < field.height() {
            let at = ((field.left + field.right) / 2.0, (strip.top + strip.bottom) / 2.0 + hand.size * 0.34);
            picture.write(&piece.name, at, Anchor::Middle, hand, width + 0.5);
        }
    }
    ruler.at(sum)
}

fn range(picture: &mut Picture, measures: &Measures, ruler: &Ruler, (hue, at, singles): (Hue, &[f64; 5], &[f64]), strip: Area) -> f64 {
    let colour = picture.theme.colour(hue);
    let [low, first, median, third, high] = at.map(|value| ruler.at(value));
    let middle = (strip.top + strip.bottom) / 2.0;
    picture.line(vec![(low, middle), (high, middle)], colour, measures.line * 0.8, &[]);
    for end in [low, high] {
        let half = strip.height() * 0.22;
        picture.line(vec![(end, middle - half), (end, middle + half)], colour, measures.line * 0.8, &[]);
    }
    let box_ = Area { left: first, right: third.max(first + 1.0), ..strip };
    let background = picture.theme.background();
    picture.fill(box_.corners(), background, 1.0, "");
    picture.fill(box_.corners(), colour, 0.3, "");
    let mut around = box_.corners();
    around.extend(box_.corners().first().copied());
    picture.line(around, colour, measures.line * 0.6, &[]);
    for single in singles {
        picture.speck(crate::report::chart::Symbol::Disc, (ruler.at(*single), middle), measures.radius * 0.5, colour);
    }
    picture.line(vec![(median, strip.top), (median, strip.bottom)], picture.theme.ink(), measures.line * 1.4, &[]);
    high
}
