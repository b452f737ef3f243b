//! A list of what the program knows, for programs.

use serde::Serialize;
use serde_json::{Map, Value};

/// Rows by the keys of their columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListRecord {
    /// What is listed: the name of the schema.
    #[serde(skip)]
    pub question: &'static str,
    /// One object per row; null where there is nothing to say.
    pub rows: Vec<Map<String, Value>>,
}
