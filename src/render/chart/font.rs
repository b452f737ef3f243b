//! The font that charts are measured and drawn with: it is part of the program, so that no chart depends on the fonts of a machine.

use super::truetype::Face;
use tiny_skia::{Path, PathBuilder, Transform};
use unicode_width::UnicodeWidthChar;

/// Subsets of DejaVu Sans; `font/LICENSE` says under which terms.
const REGULAR: &[u8] = include_bytes!("font/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("font/DejaVuSans-Bold.ttf");

/// What stands for the rest of a text that is too long.
const ELLIPSIS: char = '…';

/// How heavy letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The weight of all text but titles.
    Regular,
    /// The heavier weight of titles.
    Bold,
}

/// The font in both weights.
pub struct Font {
    regular: Option<Face>,
    bold: Option<Face>,
}

impl Font {
    /// Opens the font that is part of the program.
    pub fn new() -> Font {
        Font { regular: Face::new(REGULAR), bold: Face::new(BOLD) }
    }

    fn face(&self, weight: Weight) -> Option<&Face> {
        if weight == Weight::Bold { self.bold.as_ref() } else { self.regular.as_ref() }
    }

    /// Does the text hold a letter that has no outline here?
    pub fn lacks(&self, text: &str, weight: Weight) -> bool {
        self.face(weight).is_some_and(|face| text.chars().any(|letter| face.glyph(letter).is_none()))
    }

    /// The width of a letter, as a part of the size. Letters that the font lacks are taken for as wide as a terminal has them.
    fn advance(&self, letter: char, weight: Weight) -> f64 {
        let known = self.face(weight).and_then(|face| {
            let glyph = face.glyph(letter)?;
            Some(f64::from(face.advance(glyph)?) / f64::from(face.units))
        });
        known.unwrap_or_else(|| if letter.width() == Some(2) { 1.0 } else { 0.61 })
    }

    /// The width of a text in pixels.
    pub fn width(&self, text: &str, size: f64, weight: Weight) -> f64 {
        text.chars().map(|letter| self.advance(letter, weight)).sum::<f64>() * size
    }

    /// The text, or as much of it as fits.
    pub fn fitted(&self, text: &str, size: f64, weight: Weight, width: f64) -> String {
        if self.width(text, size, weight) <= width {
            return text.to_owned();
        }
        let mut left = width / size - self.advance(ELLIPSIS, weight);
        let mut shown = String::new();
        for letter in text.chars() {
            left -= self.advance(letter, weight);
            if left < 0.0 {
                break;
            }
            shown.push(letter);
        }
        let mut shown = shown.trim_end().to_owned();
        shown.push(ELLIPSIS);
        shown
    }

    /// The text in lines of this width, broken at spaces; so many at most, the last one shortened.
    pub fn lines(&self, text: &str, size: f64, weight: Weight, width: f64, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        // A sign of percent stays with its number.
        let text = text.replace(" %", "\u{a0}%");
        for word in text.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
            let longer = lines.last().map(|line| format!("{line} {word}"));
            match longer.filter(|line| lines.len() >= most || self.width(line, size, weight) <= width) {
                Some(longer) => {
                    lines.pop();
                    lines.push(longer);
                }
                None => lines.push(word.to_owned()),
            }
        }
        lines.iter().map(|line| self.fitted(line, size, weight, width)).collect()
    }

    /// The outlines of a text whose baseline begins at nothing; y points down. Absent where there is nothing to see.
    pub fn outline(&self, text: &str, size: f64, weight: Weight) -> Option<Path> {
        let face = self.face(weight)?;
        let (mut pen, mut left) = (PathBuilder::new(), 0.0);
        let scale = (size / f64::from(face.units)) as f32;
        for letter in text.chars() {
            let width = self.advance(letter, weight) * size;
            match face.glyph(letter) {
                Some(glyph) => face.draw(glyph, &mut pen, Transform::from_row(scale, 0.0, 0.0, -scale, left as f32, 0.0)),
                None => frame(&mut pen, left as f32, width as f32, size as f32),
            }
            left += width;
        }
        pen.finish()
    }
}

/// A frame stands for a letter that the font lacks.
fn frame(pen: &mut PathBuilder, left: f32, width: f32, size: f32) {
    // The inner ring runs the other way round, so that it is a hole.
    for (inset, is_hole) in [(0.0, false), (size * 0.07, true)] {
        let (left, right) = (left + size * 0.06 + inset, left + width - size * 0.06 - inset);
        let (top, bottom) = (-size * 0.72 + inset, -inset);
        let (second, fourth) = if is_hole { ((left, bottom), (right, top)) } else { ((right, top), (left, bottom)) };
        pen.move_to(left, top);
        pen.line_to(second.0, second.1);
        pen.line_to(right, bottom);
        pen.line_to(fourth.0, fourth.1);
        pen.close();
    }
}
