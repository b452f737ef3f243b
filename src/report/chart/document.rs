//! A chart: what is to be seen, in the units of the question. It knows no pixel, no colour, no font.

use crate::report::document::{Provenance, Table};

/// What a kind of chart makes of its material.
pub struct Drawn {
    /// One line: what is to be seen.
    pub title: String,
    /// One line: of what it is shown, and whether it is recorded, estimated or simulated.
    pub subtitle: String,
    /// The geometry, with the values.
    pub drawing: Drawing,
    /// Sentences below: how it is read, what was left out.
    pub notes: Vec<String>,
    /// The figures that are drawn, for spreadsheets.
    pub data: Table,
}

/// A chart, ready for any size and theme.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The name of the chart's kind.
    pub kind: &'static str,
    /// One line: what is to be seen.
    pub title: String,
    /// One line: of what it is shown, and whether it is recorded, estimated or simulated.
    pub subtitle: String,
    /// The geometry, with the values.
    pub drawing: Drawing,
    /// Sentences below: how it is read, what was left out.
    pub notes: Vec<String>,
    /// What the figures of all charts of these sessions rest on; [`super::Kind::chart`] fills it in.
    pub rests_on: Vec<String>,
    /// The figures that are drawn, for spreadsheets.
    pub data: Table,
}

/// The geometries that renderers know.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// Lines, dots, bands and marks between two axes.
    Plot(Plot),
    /// A bar, or a range, for each row.
    Bars(Bars),
    /// Coloured cells in rows and columns.
    HeatMap(HeatMap),
}

/// What an axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A number of tokens.
    Tokens,
    /// A number of calls, sessions or events.
    Count,
    /// Parts of one, shown as percent.
    Share,
    /// Thousand-millionths of a dollar.
    Money,
    /// A number of no unit that is known, such as a parameter's.
    Number,
}

/// How places on an axis follow from values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// In proportion to the values.
    Even,
    /// By the logarithm. Values below 1 stand at 1.
    Logarithmic,
}

/// An axis, with a scale and ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What the axis counts, without the unit.
    pub label: String,
    /// The unit of the values.
    pub quantity: Quantity,
    /// Even, or by the logarithm.
    pub scale: Scale,
    /// It reaches down to this at least; absent for the least value that is shown.
    pub from: Option<f64>,
    /// It reaches up to this at least; absent for the largest value that is shown.
    pub to: Option<f64>,
}

impl Axis {
    /// An even axis from nothing on.
    pub fn of(label: &str, quantity: Quantity) -> Axis {
        Axis { label: label.to_owned(), quantity, scale: Scale::Even, from: Some(0.0), to: None }
    }
}

/// Which of several things of a kind this is: each has a colour, a dash and a symbol of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hue {
    /// What was recorded, or what all else is held against.
    Recorded,
    /// The user's own agent, or the policy's own setting.
    Own,
    /// A limit: it stands behind everything else.
    Limit,
    /// What a policy that fails a session never comes to.
    Gone,
    /// Overflows, failures, predictions that are off.
    Alarm,
    /// The first, second, third of the others.
    Other(usize),
}

/// What a series looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line from point to point.
    Line,
    /// A line that keeps its height until the next point.
    Steps,
    /// A thin line of dots, behind the others: an estimate of the policy.
    Faint,
    /// A broad pale line, behind the others: what they should coincide with.
    Broad,
    /// A symbol for each point.
    Dots,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name. From a transcript or not, renderers escape it.
    pub name: String,
    /// The colour, dash and symbol of the series.
    pub hue: Hue,
    /// A line, steps or dots.
    pub form: Form,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// Its points, in the order of the line.
    pub points: Vec<(f64, f64)>,
    /// The edges of its uncertainty: for each place on the x axis, from where to where.
    pub band: Vec<(f64, f64, f64)>,
    /// Where the name of the series is said.
    pub named: Named,
}

impl Series {
    /// A series without a band, whose name stands beside it.
    pub fn of(name: impl Into<String>, hue: Hue, form: Form, provenance: Provenance, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), hue, form, provenance, points, band: Vec::new(), named: Named::Beside }
    }

    /// The same with its name there.
    pub fn named(self, named: Named) -> Series {
        Series { named, ..self }
    }
}

/// Where the name of a series is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Beside it, where it fits.
    Beside,
    /// In the key above the drawing.
    Key,
    /// Not named: something else says it.
    Nowhere,
}

/// Where a limit stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// A horizontal line, at this value of the y axis.
    Height(f64),
    /// An upright line, at this value of the x axis.
    Across(f64),
    /// Where both axes are equal.
    Identity,
}

/// A line that the others are held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What the limit is called.
    pub name: String,
    /// The colour and dash of the line.
    pub hue: Hue,
    /// The place of the line.
    pub place: Place,
}

/// Something that happened, by the symbol that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// A filled circle, round.
    Disc,
    /// A triangle that points down.
    Down,
    /// A square that stands on a corner.
    Diamond,
    /// A filled square, upright.
    Square,
    /// A cross from corner to corner.
    Cross,
    /// A circle without a filling.
    Ring,
    /// A triangle that points up.
    Up,
    /// Two strokes that cross, upright.
    Plus,
    /// A star: the user's own, or the best.
    Star,
    /// A small filled circle: one of those without a name.
    Speck,
}

/// Things of one kind that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Marks {
    /// What happened, for the key.
    pub name: String,
    /// The symbol that stands at each point.
    pub symbol: Symbol,
    /// The hue of the series that these happened to.
    pub hue: Hue,
    /// The points, by x and y.
    pub points: Vec<(f64, f64)>,
}

/// Lines, dots, bands and marks between two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from the bottom up.
    pub y: Axis,
    /// The series, the last one on top.
    pub series: Vec<Series>,
    /// The lines that series are held against.
    pub limits: Vec<Limit>,
    /// Things that happened, by kind.
    pub marks: Vec<Marks>,
}

/// A bar, or a range, for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The axis along which bars grow.
    pub x: Axis,
    /// The rows, from the top down.
    pub rows: Vec<BarRow>,
    /// What the rows are held against.
    pub limits: Vec<Limit>,
    /// The names of the hues, for the key.
    pub key: Vec<(Hue, String)>,
}

/// A bar, with a name and a value.
#[derive(Clone, Debug, PartialEq)]
pub struct BarRow {
    /// What stands before the bar.
    pub name: String,
    /// The pieces or the range of the row.
    pub bar: Bar,
    /// What is said at its end; empty for nothing.
    pub value: String,
}

/// What stands in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Bar {
    /// Pieces that add up from nothing on.
    Stack(Vec<Piece>),
    /// From the lowest to the highest, the middle half, and the middle; and single values, where they are few.
    Range {
        /// The colour of the range.
        hue: Hue,
        /// Lowest, first quarter, middle, third quarter, highest.
        at: [f64; 5],
        /// Single values; empty where they are many.
        singles: Vec<f64>,
    },
}

/// A piece of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its name, said within it where it fits.
    pub name: String,
    /// The colour of the piece.
    pub hue: Hue,
    /// The length of the piece, in the unit of the axis.
    pub length: f64,
}

/// Coloured cells in rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// What the columns are, with their unit.
    pub across: String,
    /// The names of the columns; many of them may be left out where they do not fit.
    pub columns: Vec<String>,
    /// What the rows are.
    pub down: String,
    /// The names of the rows, from the top down.
    pub rows: Vec<String>,
    /// What the colour says.
    pub colour: Axis,
    /// A value for each row and column; absent where there is none, not a number for what lies behind the end of a session that fails.
    pub cells: Vec<Vec<Option<f64>>>,
    /// What cells stand for whose value is not a number.
    pub gone: String,
    /// From this value on a cell is an alarm; absent for none.
    pub alarm: Option<(f64, String)>,
    /// What is marked: places count columns from the left and rows from the top, the middle of the first cell is at 0.5, 0.5.
    pub marks: Vec<Marks>,
}

/// Why there is no chart: a sentence without its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NothingToDraw {
    /// The logs hold nothing that it could show.
    #[error("there is nothing to draw: {0}")]
    Nothing(String),
    /// It was asked for wrongly.
    #[error("{0}")]
    Asked(String),
}
