//! A picture: shapes and texts at their places, in pixels from the upper left corner. The one source of SVG and PNG.

use super::font::{Font, Weight};
use super::theme::{Colour, Theme};
use crate::render::escape;
use crate::report::chart::Symbol;
use plotters::style::text_anchor::HPos;

/// A place in pixels: to the right of the left edge, and below the upper one.
pub type Point = (f64, f64);

/// A chart that is laid out and not yet written as SVG or PNG.
pub struct Picture {
    /// Pixels from left to right.
    pub width: f64,
    /// Pixels from top to bottom.
    pub height: f64,
    /// What the colours of the shapes are taken from.
    pub theme: Theme,
    /// What it is called, for those who cannot see it.
    pub title: String,
    /// From the back to the front.
    pub shapes: Vec<Shape>,
    /// What texts are measured with.
    pub font: Font,
}

/// Part of a picture.
pub enum Shape {
    /// A line or an area.
    Path {
        /// The corners in order.
        points: Vec<Point>,
        /// Is it filled, or drawn as a line?
        paint: Paint,
        /// The tooltip of the shape; empty for none.
        title: String,
    },
    /// A circle, mostly one symbol of a series.
    Circle {
        /// The middle of the circle.
        centre: Point,
        /// The radius in pixels.
        radius: f64,
        /// Is it filled, or drawn as a line?
        paint: Paint,
    },
    /// One line of words.
    Text(Text),
}

/// How a shape is painted.
#[derive(Clone, Debug, PartialEq)]
pub enum Paint {
    /// Filled, with so much of the colour, from 0 to 1.
    Fill(Colour, f64),
    /// A line of this width, with dashes in pixels.
    Line(Colour, f64, Vec<f64>),
}

/// One line of words at a place.
pub struct Text {
    /// The start, middle or end of the baseline, as `anchor` says.
    pub at: Point,
    /// To which side of it the text stands.
    pub anchor: HPos,
    /// Size, weight and colour of the letters.
    pub hand: Hand,
    /// The words as they are shown.
    pub words: String,
    /// The words in full, where they are not.
    pub full: Option<String>,
    /// Width of the words as shown, in pixels.
    pub width: f64,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub struct Hand {
    /// Size of the letters in pixels.
    pub size: f64,
    /// The weight of the letters.
    pub weight: Weight,
    /// The colour of the letters.
    pub colour: Colour,
}

/// A rectangle with upright sides, in pixels of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The left edge, from the left of the picture.
    pub left: f64,
    /// The upper edge, from the top of the picture.
    pub top: f64,
    /// The right edge, from the left of the picture.
    pub right: f64,
    /// The lower edge, from the top of the picture.
    pub bottom: f64,
}

impl Area {
    /// The area between two opposite corners, the first point and the last one; at nothing without any.
    pub fn between(corners: &[Point]) -> Area {
        let (one, other) = (corners.first().copied().unwrap_or_default(), corners.last().copied().unwrap_or_default());
        Area { left: one.0.min(other.0), top: one.1.min(other.1), right: one.0.max(other.0), bottom: one.1.max(other.1) }
    }

    /// The width, in pixels.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// The height, in pixels.
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Do the two have a point in common?
    pub fn meets(&self, other: &Area) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    /// Does it lie within the other one?
    pub fn within(&self, other: &Area) -> bool {
        self.left >= other.left && self.right <= other.right && self.top >= other.top && self.bottom <= other.bottom
    }

    /// The four corners, in clockwise order from the upper left one.
    pub fn corners(&self) -> Vec<Point> {
        vec![(self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)]
    }
}

impl Picture {
    /// Draws a line through points; nothing where there are fewer than two.
    pub fn line(&mut self, points: Vec<Point>, colour: Colour, width: f64, dash: &[f64]) {
        if points.len() > 1 {
            let dash = dash.iter().map(|part| part * width).collect();
            self.shapes.push(Shape::Path { points, paint: Paint::Line(colour, width, dash), title: String::new() });
        }
    }

    /// Fills an area; `title` is its tooltip.
    pub fn fill(&mut self, points: Vec<Point>, colour: Colour, cover: f64, title: &str) {
        self.shapes.push(Shape::Path { points, paint: Paint::Fill(colour, cover), title: escape(title).into_owned() });
    }

    /// Writes words, no more of them than fit into the width. Invisible characters in them are shown.
    pub fn write(&mut self, words: &str, at: Point, anchor: HPos, hand: Hand, width: f64) {
        let all = escape(words);
        let shown = self.font.fitted(&all, hand.size, hand.weight, width);
        let full = (shown != *all).then(|| all.into_owned());
        let width = self.font.width(&shown, hand.size, hand.weight);
        self.shapes.push(Shape::Text(Text { at, anchor, hand, words: shown, full, width }));
    }

    /// Is there a letter that the font has no outline for?
    pub fn lacks_letters(&self) -> bool {
        self.shapes.iter().any(|shape| matches!(shape, Shape::Text(text) if self.font.lacks(&text.words, text.hand.weight)))
    }

    /// How wide words are, once invisible characters in them are shown.
    pub fn width_of(&self, words: &str, hand: Hand) -> f64 {
        self.font.width(&escape(words), hand.size, hand.weight)
    }

    /// Draws a symbol of this radius, with a rim of the background so that it stands out from lines.
    pub fn symbol(&mut self, symbol: Symbol, centre: Point, radius: f64, colour: Colour) {
        let rim = self.theme.background();
        let (x, y) = centre;
        let at = |across: f64, down: f64| (x + across * radius, y + down * radius);
        let polygon = match symbol {
            Symbol::Disc | Symbol::Ring => {
                self.shapes.push(Shape::Circle { centre, radius: radius + 1.0, paint: Paint::Fill(rim, 1.0) });
                let (radius, paint) = match symbol {
                    Symbol::Ring => (radius - 0.6, Paint::Line(colour, 1.6, Vec::new())),
                    _ => (radius, Paint::Fill(colour, 1.0)),
                };
                self.shapes.push(Shape::Circle { centre, radius, paint });
                return;
            }
            Symbol::Cross | Symbol::Plus => {
                let strokes = match symbol {
                    Symbol::Cross => [[at(-0.8, -0.8), at(0.8, 0.8)], [at(-0.8, 0.8), at(0.8, -0.8)]],
                    _ => [[at(-1.1, 0.0), at(1.1, 0.0)], [at(0.0, -1.1), at(0.0, 1.1)]],
                };
                for (colour, width) in [(rim, 4.2), (colour, 2.2)] {
                    strokes.iter().for_each(|stroke| self.line(stroke.to_vec(), colour, width, &[]));
                }
                return;
            }
            Symbol::Speck => {
                self.shapes.push(Shape::Circle { centre, radius: radius * 0.6, paint: Paint::Fill(colour, 1.0) });
                return;
            }
            Symbol::Down => vec![at(-1.05, -0.8), at(1.05, -0.8), at(0.0, 1.1)],
            Symbol::Up => vec![at(-1.05, 0.8), at(1.05, 0.8), at(0.0, -1.1)],
            Symbol::Diamond => vec![at(0.0, -1.2), at(1.2, 0.0), at(0.0, 1.2), at(-1.2, 0.0)],
            Symbol::Star => {
                let corner = |place: u8| (f64::from(place) * std::f64::consts::PI / 5.0, if place.is_multiple_of(2) { 1.5 } else { 0.65 });
                (0..10).map(corner).map(|(turn, far)| at(turn.sin() * far, -turn.cos() * far)).collect()
            }
            Symbol::Square => vec![at(-0.9, -0.9), at(0.9, -0.9), at(0.9, 0.9), at(-0.9, 0.9)],
        };
        let mut around = polygon.clone();
        around.extend(polygon.iter().take(2).copied());
        self.line(around, rim, 2.0, &[]);
        self.fill(polygon, colour, 1.0, "");
    }

    /// Draws a small symbol of many: without a rim, and so that those behind it shine through. Those with corners are squares.
    pub fn speck(&mut self, symbol: Symbol, centre: Point, radius: f64, colour: Colour) {
        let (x, y) = centre;
        if matches!(symbol, Symbol::Square | Symbol::Up | Symbol::Diamond | Symbol::Down | Symbol::Star) {
            let field = Area { left: x - radius * 0.9, top: y - radius * 0.9, right: x + radius * 0.9, bottom: y + radius * 0.9 };
            return self.fill(field.corners(), colour, 0.55, "");
        }
        self.shapes.push(Shape::Circle { centre, radius, paint: Paint::Fill(colour, 0.55) });
    }
}
