//! A picture as PNG, pixel by pixel from the same shapes as the SVG, with the letters of the font that is part of the program.

use super::picture::{Paint, Picture, Shape, Text};
use super::theme::Colour;
use crate::render::error::RenderError;
use plotters::style::text_anchor::HPos;
use tiny_skia::{FillRule, LineCap, LineJoin, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

/// The picture as the bytes of a PNG file.
pub fn png(picture: &Picture) -> Result<Vec<u8>, RenderError> {
    let mut pixels = Pixmap::new(picture.width.round() as u32, picture.height.round() as u32).ok_or(RenderError::TooLarge)?;
    let Colour(red, green, blue) = picture.theme.background();
    pixels.fill(tiny_skia::Color::from_rgba8(red, green, blue, 255));
    for shape in &picture.shapes {
        match shape {
            Shape::Path { points, paint, .. } => {
                let mut builder = PathBuilder::new();
                for (place, (x, y)) in points.iter().enumerate() {
                    if place == 0 { builder.move_to(*x as f32, *y as f32) } else { builder.line_to(*x as f32, *y as f32) }
                }
                if matches!(paint, Paint::Fill(..)) {
                    builder.close();
                }
                draw(&mut pixels, builder.finish(), paint, Transform::identity());
            }
            Shape::Circle { centre: (x, y), radius, paint } => {
                draw(&mut pixels, PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32), paint, Transform::identity());
            }
            Shape::Text(text) => write(&mut pixels, text, picture),
        }
    }
    pixels.encode_png().map_err(|error| RenderError::Png(error.to_string()))
}

fn draw(pixels: &mut Pixmap, path: Option<Path>, paint: &Paint, at: Transform) {
    let Some(path) = path else { return };
    let (Colour(red, green, blue), cover) = match paint {
        Paint::Fill(colour, cover) => (*colour, *cover),
        Paint::Line(colour, ..) => (*colour, 1.0),
    };
    let mut brush = tiny_skia::Paint { anti_alias: true, ..tiny_skia::Paint::default() };
    brush.set_color_rgba8(red, green, blue, (cover * 255.0).round() as u8);
    match paint {
        Paint::Fill(..) => pixels.fill_path(&path, &brush, FillRule::Winding, at, None),
        Paint::Line(_, width, dash) => {
            let dash = StrokeDash::new(dash.iter().map(|part| *part as f32).collect(), 0.0);
            let stroke = Stroke { width: *width as f32, line_cap: LineCap::Butt, line_join: LineJoin::Round, dash, ..Stroke::default() };
            pixels.stroke_path(&path, &brush, &stroke, at, None);
        }
    }
}

fn write(pixels: &mut Pixmap, text: &Text, picture: &Picture) {
    let back = match text.anchor {
        HPos::Left => 0.0,
        HPos::Center => -text.width / 2.0,
        HPos::Right => -text.width,
    };
    let (x, y) = (text.at.0 as f32, text.at.1 as f32);
    let at = Transform::from_translate(x + back as f32, y);
    draw(pixels, picture.font.outline(&text.words, text.hand.size, text.hand.weight), &Paint::Fill(text.hand.colour, 1.0), at);
}
