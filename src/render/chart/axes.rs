//! Two axes: grid, ticks and labels around a plane.

use super::font::Weight;
use super::frame::Measures;
use super::picture::{Anchor, Area, Hand, Picture};
use super::ruler::Ruler;
use crate::report::chart::Axis;

/// Two axes that are drawn.
pub struct Axes {
    /// From left to right.
    pub x: Ruler,
    /// From the bottom up.
    pub y: Ruler,
    /// What lies between them.
    pub plane: Area,
    /// Names may stand above the plane down from here.
    pub top: f64,
}

/// An axis and the values that it shows.
type Shown<'a> = (&'a Axis, &'a [f64]);

/// Draws two axes into an area. They leave so many pixels on the right, and so many rows of small letters above the plane.
pub fn axes(picture: &mut Picture, measures: &Measures, area: Area, right: f64, x: Shown<'_>, y: Shown<'_>, rows: f64) -> Axes {
    let small = hand(picture, measures);
    let label = measures.small * 1.5;
    let bottom = area.bottom - label - measures.small * 1.5;
    let top = area.top + label;
    let plane_top = (top + rows * measures.small * 1.25).min(bottom - 20.0);
    let y_ruler = Ruler::new(y.0, y.1.iter().copied(), bottom, plane_top);
    let y_ticks = y_ruler.ticks(((bottom - plane_top) / (measures.small * 3.2)).clamp(2.0, 9.0) as usize);
    let widest = y_ticks.iter().map(|(_, words)| picture.width_of(words, small)).fold(0.0, f64::max);
    let plane = Area { left: area.left + widest + measures.letters * 0.6, top: plane_top, right: area.right - right, bottom };
    picture.write(&y_ruler.label(y.0), (area.left, area.top + measures.small * 0.85), Anchor::Start, small, area.width());
    for (value, words) in &y_ticks {
        let at = y_ruler.at(*value);
        picture.line(vec![(plane.left, at), (plane.right, at)], picture.theme.grid(), 1.0, &[]);
        picture.write(words, (plane.left - measures.letters * 0.4, at + measures.small * 0.35), Anchor::End, small, widest + 1.0);
    }
    let x_ruler = along(picture, measures, plane, x);
    Axes { x: x_ruler, y: y_ruler, plane, top }
}

/// Draws an axis below a plane.
pub fn along(picture: &mut Picture, measures: &Measures, plane: Area, (axis, values): Shown<'_>) -> Ruler {
    let small = hand(picture, measures);
    let ruler = Ruler::new(axis, values.iter().copied(), plane.left, plane.right);
    let most = (plane.width() / (measures.small * 5.0)).clamp(2.0, 12.0) as usize;
    let below = plane.bottom + measures.small * 1.25;
    let mut taken = f64::MIN;
    for (value, words) in ruler.ticks(most) {
        let at = ruler.at(value);
        picture.line(vec![(at, plane.bottom), (at, plane.bottom + measures.letters * 0.3)], picture.theme.rule(), 1.0, &[]);
        let half = picture.width_of(&words, small) / 2.0;
        let middle = at.min(picture.width - half - 2.0);
        if middle - half > taken {
            picture.write(&words, (middle, below), Anchor::Middle, small, half * 2.0 + 1.0);
            taken = middle + half + measures.small * 0.6;
        }
    }
    picture.line(vec![(plane.left, plane.bottom), (plane.right, plane.bottom)], picture.theme.rule(), 1.0, &[]);
    let middle = (plane.left + plane.right) / 2.0;
    let words = ruler.label(axis);
    let half = picture.width_of(&words, small).min(picture.width - 8.0) / 2.0;
    let middle = middle.min(picture.width - half - 4.0).max(half + 4.0);
    picture.write(&words, (middle, below + measures.small * 1.5), Anchor::Middle, small, picture.width - 8.0);
    ruler
}

fn hand(picture: &Picture, measures: &Measures) -> Hand {
    Hand { size: measures.small, weight: Weight::Regular, colour: picture.theme.soft() }
}
