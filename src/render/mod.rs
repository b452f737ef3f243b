//! REPORT -> BYTES. One file a form. Knows the report and nothing below it.

pub mod chart;
mod csv;
mod escape;
mod github;
mod html;
mod json;
mod junit;
mod layout;
mod markdown;
mod text;

pub use csv::csv;
pub use escape::escape;
pub use github::github;
pub use html::{GENERATOR, html};
pub use json::{harmless_json, json};
pub use junit::junit;
pub use layout::NARROWEST;
pub use markdown::{markdown, summary};
pub use text::{Emphasis, Page, prose, section_alone, table_alone, text};

/// Why a report has no such form.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The spreadsheet could not be written.
    #[error("the report cannot be written as CSV: {0}")]
    Csv(#[from] ::csv::Error),
    /// The record could not be written.
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The calls of a session could not be packed.
    #[error("the calls of a session cannot be packed: {0}")]
    Packing(#[from] std::io::Error),
    /// The picture would not fit into memory.
    #[error("a chart of this size cannot be drawn")]
    TooLarge,
    /// The picture could not be written.
    #[error("the chart cannot be written as PNG: {0}")]
    Png(String),
}
