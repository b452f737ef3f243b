//! CHART -> BYTES. A chart is laid out once, in pixels, as a picture; SVG and PNG are written from the same picture.

mod backend;
mod bars;
mod font;
mod frame;
mod heat_map;
mod label;
mod picture;
mod plane;
mod plot;
mod png;
mod ruler;
mod svg;
mod theme;
mod truetype;

pub use theme::Theme;

use super::error::RenderError;
use crate::report::chart::{Chart, Drawing};
use font::Font;
use frame::Measures;
use picture::Picture;
use std::io::Write;

/// Width and height of a chart in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

impl Size {
    /// For a column of text.
    pub const SMALL: Size = Size { width: 640, height: 400 };
    /// For a page of a document.
    pub const MEDIUM: Size = Size { width: 960, height: 600 };
    /// For a whole screen.
    pub const LARGE: Size = Size { width: 1440, height: 900 };
    /// No chart is smaller: its words would find no room.
    pub const LEAST: Size = Size { width: 480, height: 300 };
    /// No chart is larger.
    pub const MOST: Size = Size { width: 8_000, height: 8_000 };
}

/// How a chart looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Size of the picture, in pixels.
    pub size: Size,
    /// What the colours are to stand out on.
    pub theme: Theme,
}

impl Default for Look {
    fn default() -> Look {
        Look { size: Size::MEDIUM, theme: Theme::Light }
    }
}

/// A chart as SVG. The same chart gives the same bytes.
pub fn svg(chart: &Chart, look: Look) -> String {
    svg::svg(&picture(chart, look))
}

/// A chart as PNG: the same picture, pixel by pixel. Where the font lacks letters of it, a note says what stands in their place.
pub fn png(chart: &Chart, look: Look) -> Result<Vec<u8>, RenderError> {
    let drawn = picture(chart, look);
    if !drawn.lacks_letters() {
        return png::png(&drawn);
    }
    let mut told = chart.clone();
    told.notes.insert(0, FRAMES.to_owned());
    png::png(&picture(&told, look))
}

/// The figures of a chart as CSV.
pub fn csv(chart: &Chart) -> Result<String, RenderError> {
    let mut bytes = Vec::new();
    csv_into(chart, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The same, written as it is made: it may be longer than the memory is large.
pub fn csv_into(chart: &Chart, out: &mut dyn Write) -> Result<(), RenderError> {
    super::csv::table_into(&chart.data, out)
}

/// What frames in a PNG are.
const FRAMES: &str =
    "Frames stand for letters that the font of this picture lacks; the same chart as SVG shows them, and so does the data beside it.";

fn picture(chart: &Chart, look: Look) -> Picture {
    let bounded = |value: u32, least: u32, most: u32| f64::from(value.clamp(least, most));
    let width = bounded(look.size.width, Size::LEAST.width, Size::MOST.width);
    let height = bounded(look.size.height, Size::LEAST.height, Size::MOST.height);
    let title = super::escape::escape(&chart.title).into_owned();
    let mut picture = Picture { width, height, theme: look.theme, title, shapes: Vec::new(), font: Font::new() };
    let measures = Measures::of(width, height);
    match &chart.drawing {
        Drawing::Plot(plot) => plot::draw(&mut picture, &measures, chart, plot),
        Drawing::Bars(bars) => bars::draw(&mut picture, &measures, chart, bars),
        Drawing::HeatMap(map) => heat_map::draw(&mut picture, &measures, chart, map),
    }
    picture
}
