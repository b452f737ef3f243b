//! OUTCOMES -> CHART. One file a kind. A chart is data in the units of its question: it knows no pixel, no colour, no font.

mod context;
mod document;
mod kind;
mod peaks;
mod range;
mod survival;

pub use context::{Life, context};
pub use document::{
    Axis, Bar, BarRow, Bars, Chart, Drawing, Form, HeatMap, Hue, Limit, Marks, Named, NothingToDraw, Piece, Place, Plot, Quantity, Scale,
    Series, Symbol,
};
pub use kind::Kind;
pub use peaks::peaks;
pub use survival::survival;
