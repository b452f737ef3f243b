//! How many tokens a text really is, beside what it weighs: learnt from what came between recorded prompts.

/// The calibration begins at the family's prior, as if so many tokens had confirmed it.
const PRIOR_TOKENS: u64 = 2_000;

/// One stretch counts for the calibration between these bounds only: hidden reminders and the like must not carry it away.
const CALIBRATION_BOUNDS: (u64, u64) = (500, 2_500);

/// Truth over weight in this session so far, as a ratio of sums.
pub(super) struct Calibration {
    truth: u64,
    weight: u64,
}

impl Default for Calibration {
    fn default() -> Calibration {
        Calibration { truth: PRIOR_TOKENS, weight: PRIOR_TOKENS }
    }
}

impl Calibration {
    /// Calibrated tokens of a weight in thousandths.
    pub(super) fn tokens(&self, weight: u64) -> u64 {
        let product = u128::from(weight) * u128::from(self.truth);
        ((product + u128::from(self.weight) * 500) / (u128::from(self.weight) * 1000)) as u64
    }

    /// Takes in what so many thousandths of weight came to.
    pub(super) fn learn(&mut self, truth: u64, weight: u64) {
        let tokens = weight / 1000;
        let (low, high) = CALIBRATION_BOUNDS;
        self.truth += truth.clamp(tokens * low / 1000, tokens * high / 1000);
        self.weight += tokens;
    }

    /// The ratio, in thousandths.
    pub(super) fn thousandths(&self) -> u64 {
        self.truth * 1000 / self.weight.max(1)
    }
}
