//! A picture as what `plotters` draws on. Its own backends know whole pixels alone, measure text with the fonts of the machine and draw the ends of
//! thick lines wrongly: here a pixel has a hundred parts, and text is measured by the font that is part of the program.

use super::font::Weight;
use super::picture::{Hand, Picture, Point};
use super::theme::Colour;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::DrawingAreaErrorKind;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle};
use std::convert::Infallible;

/// Parts of a pixel.
const PARTS: f64 = 100.0;

/// A picture that is drawn on.
pub struct Canvas<'p>(pub &'p mut Picture);

/// What `plotters` says of a drawing. A picture takes every shape, so that there is no failure to report.
pub type Drawn = Result<(), DrawingAreaErrorKind<Infallible>>;

type Done = Result<(), DrawingErrorKind<Infallible>>;

/// Pixels in parts, as `plotters` counts them.
pub fn parts(pixels: f64) -> i32 {
    (pixels * PARTS).round() as i32
}

/// A point in pixels.
pub fn pixels((x, y): BackendCoord) -> Point {
    (f64::from(x) / PARTS, f64::from(y) / PARTS)
}

fn colour(colour: BackendColor) -> Colour {
    let (red, green, blue) = colour.rgb;
    Colour(red, green, blue)
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let size = |pixels: f64| parts(pixels).unsigned_abs();
        (size(self.0.width), size(self.0.height))
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Done {
        self.draw_circle(at, 1, &colour, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, (left, top): BackendCoord, (right, bottom): BackendCoord, style: &S, is_filled: bool) -> Done {
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        if is_filled { self.fill_polygon(corners, style) } else { self.draw_path(corners.into_iter().chain([(left, top)]), style) }
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        self.0.line(path.into_iter().map(pixels).collect(), colour(style.color()), f64::from(style.stroke_width()) / PARTS, &[]);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, corners: I, style: &S) -> Done {
        self.0.fill(corners.into_iter().map(pixels).collect(), colour(style.color()), style.color().alpha, "");
        Ok(())
    }

    /// Words stay within the picture: they move, and are shortened where they are too long.
    fn draw_text<S: BackendTextStyle>(&mut self, words: &str, style: &S, at: BackendCoord) -> Done {
        let (picture, (x, y)) = (&mut *self.0, pixels(at));
        let hand = hand(style);
        let baseline = match style.anchor().v_pos {
            VPos::Top => y + hand.size * 0.78,
            VPos::Center => y + hand.size * 0.35,
            VPos::Bottom => y - hand.size * 0.24,
        };
        let room = picture.width - 8.0;
        let half = picture.width_of(words, hand).min(room) / 2.0;
        let (x, room) = match style.anchor().h_pos {
            HPos::Left => (x, picture.width - 4.0 - x),
            HPos::Center => (x.min(picture.width - half - 4.0).max(half + 4.0), room),
            HPos::Right => (x, x - 4.0),
        };
        picture.write(words, (x, baseline), style.anchor().h_pos, hand, room);
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(&self, words: &str, style: &S) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let hand = hand(style);
        Ok((parts(self.0.width_of(words, hand)).unsigned_abs(), parts(hand.size).unsigned_abs()))
    }
}

fn hand<S: BackendTextStyle>(style: &S) -> Hand {
    let weight = if matches!(style.style(), FontStyle::Bold) { Weight::Bold } else { Weight::Regular };
    Hand { size: style.size() / PARTS, weight, colour: colour(style.color()) }
}

/// An element of a series: `plotters` finds its places, and the picture draws there what `plotters` cannot: dashes, symbols with a rim, fields with a title.
pub struct At<F>(Vec<Point>, F);

/// An element that is painted at these points.
pub fn at<F: Fn(&mut Picture, &[Point])>(points: Vec<Point>, paint: F) -> At<F> {
    At(points, paint)
}

impl<'a, F> PointCollection<'a, Point> for &'a At<F> {
    type Point = &'a Point;
    type IntoIter = &'a [Point];

    fn point_iter(self) -> &'a [Point] {
        &self.0
    }
}

impl<'p, F: Fn(&mut Picture, &[Point])> Drawable<Canvas<'p>> for At<F> {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, places: I, canvas: &mut Canvas<'p>, _: (u32, u32)) -> Done {
        (self.1)(canvas.0, &places.map(pixels).collect::<Vec<Point>>());
        Ok(())
    }
}
