//! OUTCOMES -> CHART. One file per kind. A chart is data in the units of its question: it knows no pixel, no colour, no font.

mod cache;
mod context;
mod cost;
mod document;
mod drift;
mod few;
mod kind;
mod overflows;
mod peaks;
mod range;
mod references;
mod reuse;
mod stages;
mod survival;
mod sweep;

pub use cache::cache;
pub use context::{Life, context};
pub use cost::cost;
pub use document::{
    Axis, Bar, BarRow, Bars, Chart, Drawing, Form, HeatMap, Hue, Limit, Marks, Named, NothingToDraw, Piece, Place, Plot, Quantity, Scale,
    Series, Symbol,
};
pub use drift::{buffer, drift, errors};
pub use kind::Kind;
pub use overflows::overflows;
pub use peaks::peaks;
pub use references::references;
pub use reuse::reuse;
pub use stages::stages;
pub use survival::survival;
pub use sweep::{sweep, sweep_map};
