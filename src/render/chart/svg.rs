//! A picture as SVG. It holds no id, no script and no style sheet, so that many of them can stand in one page.

use super::font::Weight;
use super::picture::{Paint, Picture, Point, Shape, Text};
use super::theme::Colour;
use crate::render::escape::markup;
use plotters::style::text_anchor::HPos;
use std::fmt::Write;

/// The picture as SVG, with a newline at its end.
pub fn svg(picture: &Picture) -> String {
    let (width, height) = (number(picture.width), number(picture.height));
    let title = markup(&picture.title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{title}\" font-family=\"'DejaVu Sans',Verdana,sans-serif\">\n<title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        code(picture.theme.background())
    );
    for shape in &picture.shapes {
        match shape {
            Shape::Path { points, paint, title } => path(&mut out, points, paint, title),
            Shape::Circle { centre: (x, y), radius, paint } => {
                let _ = writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>", number(*x), number(*y), number(*radius), painted(paint));
            }
            Shape::Text(text) => words(&mut out, text),
        }
    }
    out += "</svg>\n";
    out
}

fn path(out: &mut String, points: &[Point], paint: &Paint, title: &str) {
    let mut data = String::new();
    for (place, (x, y)) in points.iter().enumerate() {
        let step = if place == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{step}{} {}", number(*x), number(*y));
    }
    if matches!(paint, Paint::Fill(..)) {
        data.push('Z');
    }
    let painted = painted(paint);
    let _ = match title {
        "" => writeln!(out, "<path d=\"{data}\"{painted}/>"),
        title => writeln!(out, "<path d=\"{data}\"{painted}><title>{}</title></path>", markup(title)),
    };
}

fn painted(paint: &Paint) -> String {
    match paint {
        Paint::Fill(colour, cover) if *cover >= 1.0 => format!(" fill=\"{}\"", code(*colour)),
        Paint::Fill(colour, cover) => format!(" fill=\"{}\" fill-opacity=\"{}\"", code(*colour), number(*cover)),
        Paint::Line(colour, width, dash) => {
            let dash: Vec<String> = dash.iter().map(|part| number(*part)).collect();
            let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", dash.join(" ")) };
            format!(" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}", code(*colour), number(*width))
        }
    }
}

/// Every text says how wide it is, so that it takes the same room in whatever font a reader has.
fn words(out: &mut String, text: &Text) {
    let (x, y) = (number(text.at.0), number(text.at.1));
    let anchor = match text.anchor {
        HPos::Left => "",
        HPos::Center => " text-anchor=\"middle\"",
        HPos::Right => " text-anchor=\"end\"",
    };
    let weight = if text.hand.weight == Weight::Bold { " font-weight=\"bold\"" } else { "" };
    let length = format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", number(text.width));
    let full = text.full.as_ref().map(|full| format!("<title>{}</title>", markup(full))).unwrap_or_default();
    let (size, colour, words) = (number(text.hand.size), code(text.hand.colour), markup(&text.words));
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{anchor}{weight}{length}>{full}{words}</text>");
}

/// A number with two decimals at most, always written the same way.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn code(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
