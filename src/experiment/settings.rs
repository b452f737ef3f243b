//! What a run is told beside its policies.

use super::summaries::RecordedSummaries;
use crate::catalog::Catalog;

/// What holds for all policies of a run.
#[derive(Clone)]
pub struct ReplaySettings<'a> {
    /// Models, their windows and their prices.
    pub catalog: &'a Catalog,
    /// The window to take, instead of the model's.
    pub window: Option<u64>,
    /// The model to take, instead of the one that the log names.
    pub model: Option<String>,
    /// The output reserve to judge by, instead of each policy's own.
    pub reserve: Option<u64>,
    /// The models of summaries, where they are fitted elsewhere: to a corpus of which this one is a part. Else they are fitted here.
    pub summaries: Option<RecordedSummaries>,
    /// The place of the session that is explained: all of its lost references are named.
    pub told: Option<usize>,
}

impl<'a> ReplaySettings<'a> {
    /// Each session for its own model, in its own window.
    pub fn new(catalog: &'a Catalog) -> ReplaySettings<'a> {
        ReplaySettings { catalog, window: None, model: None, reserve: None, summaries: None, told: None }
    }
}
