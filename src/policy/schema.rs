//! The JSON Schema of policy documents, from which editors complete and check them.

/// The schema as JSON text (draft 2020-12). Wherever the vocabulary has a number, a formula (`"=..."`) may stand.
pub fn schema() -> &'static str {
    include_str!("schema.json")
}
