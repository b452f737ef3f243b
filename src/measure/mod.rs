//! Measures what was recorded.

mod scale;

pub use scale::{Content, TextScale};
