//! How large a summary turns out, by the summaries that the recording agents made.

use crate::policy::{Summary, SummaryModel};
use serde::{Deserialize, Serialize};

/// A size of summaries, fitted from recorded ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedSummary {
    /// Always so many tokens.
    Constant(u64),
    /// So many millionths of what it replaces, within bounds in tokens.
    Share {
        /// Millionths of the replaced tokens.
        millionths: u64,
        /// The smallest that was recorded.
        min: u64,
        /// The largest that was recorded.
        max: u64,
    },
}

impl RecordedSummary {
    /// Tokens of a summary that replaces so many.
    pub fn tokens(self, replaced: u64) -> u64 {
        match self {
            RecordedSummary::Constant(tokens) => tokens,
            RecordedSummary::Share { millionths, min, max } => {
                let share = (u128::from(replaced) * u128::from(millionths) + 500_000) / 1_000_000;
                u64::try_from(share).unwrap_or(u64::MAX).clamp(min, max.max(min))
            }
        }
    }
}

/// The size of a summary that replaces so many tokens.
pub(super) fn summary_tokens(summary: &Summary, recorded: Option<RecordedSummary>, replaced: u64) -> u64 {
    match summary.model {
        SummaryModel::Fixed => summary.tokens,
        SummaryModel::Recorded => recorded.map_or(summary.tokens, |model| model.tokens(replaced)),
        SummaryModel::Share => {
            let share = (replaced as f64 * summary.ratio).round() as u64;
            share.clamp(summary.min, if summary.max == 0 { u64::MAX } else { summary.max.max(summary.min) })
        }
    }
}
