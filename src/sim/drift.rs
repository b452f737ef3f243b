//! How far estimates were from the truth: sums and a histogram of ratios, which merge exactly.

use super::sums::merge;
use crate::statistics::rank;
use crate::units::add_fields;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Ratios from here on, in hundredths, share a bucket: by how much they are larger is not kept.
pub const LARGEST_RATIO: u64 = 10_000;

/// Estimates beside actual sizes, call by call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// Calls that were compared: those with recorded usage.
    pub calls: u64,
    /// Sum of the estimates.
    pub guessed_tokens: u64,
    /// Sum of the actual sizes.
    pub actual_tokens: u64,
    /// Calls by actual / estimated, in hundredths; estimates of 0 count as the largest ratio.
    ratios: BTreeMap<u64, u64>,
}

impl Drift {
    /// Compares the estimate of one call with its actual tokens.
    pub fn add(&mut self, guessed: u64, actual: u64) {
        self.add_sums(guessed, actual);
        let ratio = actual.saturating_mul(100).saturating_add(guessed / 2).checked_div(guessed).unwrap_or(LARGEST_RATIO);
        *self.ratios.entry(ratio.min(LARGEST_RATIO)).or_default() += 1;
    }

    /// Compares one estimate, without a place among the ratios.
    pub fn add_sums(&mut self, guessed: u64, actual: u64) {
        self.calls += 1;
        self.guessed_tokens += guessed;
        self.actual_tokens += actual;
    }

    /// The sums without the ratios.
    pub fn sums(&self) -> Drift {
        Drift { ratios: BTreeMap::new(), ..*self }
    }

    /// The ratio actual / estimated, in hundredths, below or at which this share of the calls lies; `None` without calls.
    pub fn quantile(&self, hundredths: u64) -> Option<u64> {
        let rank = rank(self.calls, hundredths * 10);
        let mut seen = 0;
        self.ratios.iter().find_map(|(ratio, calls)| {
            seen += calls;
            (seen >= rank).then_some(*ratio)
        })
    }
}

impl AddAssign<&Drift> for Drift {
    fn add_assign(&mut self, other: &Drift) {
        add_fields!(self += other: calls, guessed_tokens, actual_tokens);
        merge(&mut self.ratios, &other.ratios);
    }
}
