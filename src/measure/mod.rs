//! TRANSCRIPT -> TRACE: token counts, truth anchored on recorded usage. Texts end here.

mod build;
mod evidence;
mod json_strings;
mod references;
mod repetition;
mod scale;
mod share;
mod thinking;
mod truth;

pub use build::{Measure, own_vocabulary, trace};
pub use evidence::Definition;
pub use scale::{Content, TextScale};
pub use share::largest_remainder;
