//! TRANSCRIPT -> TRACE: token counts, truth anchored on recorded usage. Texts end here.

mod build;
mod share;
mod thinking;
mod truth;

pub use build::{Measure, trace};
pub use share::largest_remainder;
