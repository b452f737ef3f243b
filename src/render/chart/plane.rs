//! Two axes with ticks, grid and labels, and what is drawn between them: a chart of `plotters`.

use super::backend::{Canvas, Drawn, parts, pixels};
use super::frame::Measures;
use super::picture::{Area, Picture, Point};
use super::ruler::Ruler;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::CoordTranslate;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::IntoDrawingArea;
use plotters::style::{Color, TextStyle};

/// What series are drawn into.
pub type Plotted<'a, 'p> = ChartContext<'a, Canvas<'p>, Cartesian2d<Ruler, Ruler>>;

/// A plane that is drawn, for what stands beside it.
pub struct Plane {
    /// The area between the axes; what is written beside them lies outside of it.
    pub area: Area,
    places: Cartesian2d<Ruler, Ruler>,
}

impl Plane {
    /// The pixel of a point.
    pub fn at(&self, point: &Point) -> Point {
        pixels(self.places.translate(point))
    }
}

/// Which lines of a grid are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// From left to right, at the ticks of the upright axis.
    Across,
    /// From the bottom up, at the ticks of the other one.
    Upright,
    /// Neither of the two.
    Absent,
}

/// Draws two axes along the lower and the left edge of an area, and series between them. Absent where the area has no room for a plane.
pub fn plane(
    picture: &mut Picture,
    measures: &Measures,
    area: Area,
    grid: Grid,
    (x, y): (Ruler, Ruler),
    series: impl FnOnce(&mut Plotted<'_, '_>) -> Drawn,
) -> Option<Plane> {
    let (ink, soft) = (measures.hand(picture.theme.ink()), measures.hand(picture.theme.soft()));
    let tick = measures.letters * 0.3;
    let below = measures.small * 2.9;
    let rows = ((area.height() - below) / (measures.small * if y.has_names() { 1.2 } else { 3.2 })) as usize;
    let rows = if y.has_names() { rows } else { rows.clamp(2, 9) };
    let widest = y.labels(rows).iter().map(|words| picture.width_of(words, ink)).fold(0.0, f64::max);
    let left = widest.min(area.width() * 0.3) + tick * 2.0;
    let columns = x.most(area.width() - left, measures.letters * 0.7, |words| picture.width_of(words, soft));
    let thin = parts(1.0).unsigned_abs();
    let (lines, edges) = (picture.theme.grid().stroke_width(thin), picture.theme.rule().stroke_width(thin));
    let [label, name] = [soft, if y.has_names() { ink } else { soft }].map(|hand| {
        let style = TextStyle::from(("sans-serif", parts(hand.size)));
        TextStyle { color: hand.colour.to_backend_color(), ..style }
    });
    let (x, y) = (x.with_ticks(columns), y.with_ticks(rows));
    let words = x.words.clone();
    let (width, height) = (picture.width, picture.height);
    let root = Canvas(picture).into_drawing_area();
    let root = root.margin(parts(area.top), parts(height - area.bottom), parts(area.left), parts(width - area.right));
    let mut builder = ChartBuilder::on(&root);
    let mut chart = builder.x_label_area_size(parts(below)).y_label_area_size(parts(left)).build_cartesian_2d(x, y).ok()?;
    let mut mesh = chart.configure_mesh();
    mesh.x_labels(columns).y_labels(rows).x_label_style(label.clone()).y_label_style(name).axis_desc_style(label).x_desc(words);
    mesh.bold_line_style(lines).axis_style(edges).set_all_tick_mark_size(parts(tick));
    match grid {
        Grid::Across => mesh.disable_x_mesh(),
        Grid::Upright => mesh.disable_y_mesh(),
        Grid::Absent => mesh.disable_mesh(),
    };
    mesh.draw().and_then(|()| series(&mut chart)).ok()?;
    let area = Area { left: area.left + left, bottom: area.bottom - below, ..area };
    Some(Plane { area, places: chart.as_coord_spec().clone() })
}
