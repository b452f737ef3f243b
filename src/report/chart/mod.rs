//! OUTCOMES -> CHART. One file per kind. A chart is data in the units of its question: it knows no pixel, no colour, no font.

mod breaks;
mod cache;
mod context;
mod cost;
mod document;
mod drift;
mod few;
mod kind;
mod overflows;
mod pauses;
mod peaks;
mod predicted;
mod range;
mod references;
mod reuse;
mod stages;
mod survival;
mod sweep;
mod trade;

pub use context::busiest;
pub use document::{
    Axis, Bar, BarRow, Bars, Chart, Drawing, Form, HeatMap, Hue, Limit, Marks, Named, NothingToDraw, Piece, Place, Plot, Quantity, Scale,
    Series, Symbol,
};
pub use kind::{Kind, Life, Material, Need};

/// All kinds, in the order of lists.
pub const KINDS: [&Kind; 18] = [
    &context::CONTEXT,
    &peaks::PEAKS,
    &survival::SURVIVAL,
    &stages::STAGES,
    &overflows::OVERFLOWS,
    &cost::COST,
    &sweep::SWEEP,
    &sweep::SWEEP_MAP,
    &trade::TRADE,
    &drift::DRIFT,
    &drift::ERRORS,
    &drift::BUFFER,
    &cache::CACHE,
    &breaks::BREAKS,
    &pauses::PAUSES,
    &predicted::PREDICTED,
    &reuse::REUSE,
    &references::REFERENCES,
];

/// The kind of this name.
pub fn by_name(name: &str) -> Option<&'static Kind> {
    KINDS.into_iter().find(|kind| kind.name == name)
}

/// The charts of these kinds that there is something to draw in.
pub fn drawn(kinds: &[&str], material: &Material<'_>) -> Vec<Chart> {
    kinds.iter().filter_map(|name| by_name(name)).filter_map(|kind| kind.chart(material).ok()).collect()
}
