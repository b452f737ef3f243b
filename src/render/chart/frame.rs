//! What stands around every drawing: title, subtitle and key above it, notes below it. What they leave is the drawing's.

use super::font::Weight;
use super::picture::{Area, Hand, Picture, Point};
use super::theme::{Colour, dash, symbol};
use crate::report::chart::{Chart, Form, Hue, Symbol};
use plotters::style::text_anchor::HPos;

/// Sizes and distances that follow from the size of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    /// Size of usual letters, in pixels.
    pub letters: f64,
    /// Size of small letters, in pixels.
    pub small: f64,
    /// Size of the title's letters, in pixels.
    pub title: f64,
    /// Pixels from the picture's edge to its content.
    pub margin: f64,
    /// Width of drawn lines, in pixels.
    pub line: f64,
    /// Radius of symbols, in pixels.
    pub radius: f64,
}

impl Measures {
    /// The measures of a picture of this size.
    pub fn of(width: f64, height: f64) -> Measures {
        let letters = ((width / 1.6).min(height) / 46.0).clamp(10.5, 18.0);
        Measures {
            letters,
            small: letters * 0.88,
            title: letters * 1.28,
            margin: letters * 1.2,
            line: letters / 6.5,
            radius: letters / 3.0,
        }
    }

    /// Small letters of a colour.
    pub fn hand(&self, colour: Colour) -> Hand {
        Hand { size: self.small, weight: Weight::Regular, colour }
    }

    /// From baseline to baseline of usual letters.
    pub fn pitch(&self) -> f64 {
        self.letters * 1.35
    }
}

/// What an entry of the key shows before its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// A stroke of a line, in its colour and form.
    Line(Hue, Form),
    /// A symbol of dots, in its colour.
    Symbol(Hue, Symbol),
    /// A field filled with a colour.
    Field(Hue),
}

/// Writes what stands around a drawing, and hands back the rest.
pub fn frame(picture: &mut Picture, measures: &Measures, chart: &Chart, key: &[(Sample, String)]) -> Area {
    let Measures { margin, small, title, .. } = *measures;
    let mut area = Area { left: margin, top: margin * 0.8, right: picture.width - margin, bottom: picture.height - margin * 0.7 };
    let (ink, soft) = (picture.theme.ink(), picture.theme.soft());
    let heading = Hand { size: title, weight: Weight::Bold, colour: ink };
    for line in picture.font.lines(&crate::render::escape(&chart.title), title, Weight::Bold, area.width(), 2) {
        area.top += title * 1.22;
        picture.write(&line, (area.left, area.top - title * 0.24), HPos::Left, heading, area.width());
    }
    let below = measures.hand(soft);
    for line in picture.font.lines(&crate::render::escape(&chart.subtitle), small, Weight::Regular, area.width(), 2) {
        area.top += small * 1.38;
        picture.write(&line, (area.left, area.top - small * 0.3), HPos::Left, below, area.width());
    }
    area.top += margin * 0.5;
    write_key(picture, measures, key, &mut area);
    // Notes take a fifth of the height at most.
    let most = ((picture.height * 0.2) / (small * 1.32)).floor().max(1.0) as usize;
    let text = [chart.notes.as_slice(), &chart.rests_on].concat().join(" ");
    let notes = picture.font.lines(&crate::render::escape(&text), small * 0.94, Weight::Regular, area.width(), most);
    let hand = Hand { size: small * 0.94, ..below };
    for line in notes.iter().rev() {
        picture.write(line, (area.left, area.bottom), HPos::Left, hand, area.width());
        area.bottom -= small * 1.28;
    }
    if !notes.is_empty() {
        area.bottom -= small * 0.5;
    }
    area
}

/// The key, in as many rows as it needs.
fn write_key(picture: &mut Picture, measures: &Measures, key: &[(Sample, String)], area: &mut Area) {
    let Measures { letters, margin, .. } = *measures;
    let hand = measures.hand(picture.theme.ink());
    let sample = letters * 2.2;
    let mut left = area.left;
    let mut top = area.top;
    for (kind, words) in key {
        let width = sample + letters * 0.4 + picture.width_of(words, hand).min(area.width() - sample - letters);
        if left > area.left && left + width > area.right {
            left = area.left;
            top += measures.pitch();
        }
        let middle = top + letters * 0.55;
        draw_sample(picture, measures, *kind, (left, middle), sample);
        let room = area.right - left - sample - letters * 0.4;
        picture.write(words, (left + sample + letters * 0.4, middle + letters * 0.32), HPos::Left, hand, room);
        left += width + margin;
    }
    if !key.is_empty() {
        area.top = top + measures.pitch() + margin * 0.35;
    }
}

fn draw_sample(picture: &mut Picture, measures: &Measures, sample: Sample, (x, y): Point, width: f64) {
    let theme = picture.theme;
    match sample {
        Sample::Line(hue, form) => {
            let points = vec![(x, y), (x + width, y)];
            match form {
                Form::Faint => picture.line(points, theme.colour(hue), measures.line * 0.6, &[1.0, 2.0]),
                Form::Dots => picture.symbol(symbol(hue), (x + width / 2.0, y), measures.radius, theme.colour(hue)),
                Form::Broad => picture.line(points, theme.colour(Hue::Gone), measures.line * 3.0, &[]),
                Form::Line | Form::Steps => picture.line(points, theme.colour(hue), measures.line, dash(hue)),
            }
        }
        Sample::Symbol(hue, symbol) => picture.symbol(symbol, (x + width / 2.0, y), measures.radius, theme.colour(hue)),
        Sample::Field(hue) => {
            let half = measures.letters * 0.42;
            let field = Area { left: x + width * 0.15, top: y - half, right: x + width, bottom: y + half };
            picture.fill(field.corners(), theme.colour(hue), 1.0, "");
        }
    }
}
