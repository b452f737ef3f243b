//! Why a report has no such form.

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
