//! What is to be said of a difference, by one rule for all commands.

use super::interval::Estimate;

/// A difference smaller than this is not worth a change, as a share, where nothing else is asked for.
pub const WORTH: f64 = 0.02;

/// Experiments are planned by differences of this share, and of twice as much.
pub const FINE: f64 = 0.1;

/// What rests on recorded usage for less than this share of its tokens is an estimate: nothing is judged by it.
pub const ANCHORED: f64 = 0.5;

/// What a difference must exceed, in the unit of the difference, and what it rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bars {
    /// What the model itself is off on the recordings; `None` where that is not known, or nothing is modelled.
    pub own_error: Option<f64>,
    /// The smallest difference that is worth a change.
    pub worth: f64,
    /// The share of the tokens that rests on recorded usage; `None` where that is not known.
    pub anchored: Option<f64>,
}

impl Bars {
    /// Is most of it estimated?
    pub fn is_estimated(&self) -> bool {
        self.anchored.is_some_and(|share| share < ANCHORED)
    }
}

/// What is to be said of a difference of which less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The difference lies below zero, beyond chance, own error and worth.
    Better,
    /// The difference lies above zero, beyond chance, own error and worth.
    Worse,
    /// The difference is no larger than what is known of it.
    NoDifference(Within),
    /// There is too little to judge by, or most of it is estimated.
    CannotJudge,
}

/// Why a difference counts as none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// The interval of the difference contains zero.
    Sampling,
    /// The model's own error is as large.
    OwnError,
    /// The difference is smaller than what is worth a change.
    Worth,
}

/// Whether a difference stays within what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// The upper end of the interval lies within the limit.
    Kept,
    /// The difference lies beyond the limit, and surely above zero.
    Broken,
    /// The interval shows neither of the two.
    CannotTell,
}

/// What a measurement says of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The interval of measured over predicted holds 1, and is narrower than the predicted effect.
    Confirmed,
    /// The interval leaves 1 out.
    Off,
    /// The interval holds 1, and is too wide to tell the prediction from no change; or there is none.
    CannotTell,
    /// What is taken for measured is mostly estimated, or what was removed before is not known.
    CannotJudge,
}

/// What measured over predicted says of a prediction, where `unchanged` over predicted would be measured if nothing changed.
pub fn agreement(ratio: &Estimate, unchanged: f64) -> Agreement {
    if !(ratio.low..=ratio.high).contains(&1.0) {
        Agreement::Off
    } else if ratio.high - ratio.low < (unchanged - 1.0).abs() {
        Agreement::Confirmed
    } else {
        Agreement::CannotTell
    }
}

/// The verdict on a difference of which less is better; `None` where there were too few clusters for one. None is given on estimates.
pub fn finding(difference: Option<&Estimate>, bars: &Bars) -> Finding {
    let Some(difference) = difference.filter(|_| !bars.is_estimated()) else { return Finding::CannotJudge };
    let size = difference.value.abs();
    if difference.low <= 0.0 && difference.high >= 0.0 {
        Finding::NoDifference(Within::Sampling)
    } else if bars.own_error.is_some_and(|error| size <= error) {
        Finding::NoDifference(Within::OwnError)
    } else if size < bars.worth {
        Finding::NoDifference(Within::Worth)
    } else if difference.value < 0.0 {
        Finding::Better
    } else {
        Finding::Worse
    }
}

/// Is a difference no more than so much? What is not shown to be more, and not shown to be less, cannot be told.
pub fn keeping(difference: &Estimate, most: f64) -> Keeping {
    if difference.high <= most {
        Keeping::Kept
    } else if difference.low > 0.0 && difference.value > most {
        Keeping::Broken
    } else {
        Keeping::CannotTell
    }
}

/// About so many clusters in all would part a difference from zero, or show that it is not worth a change; an interval narrows with the root of their
/// number. 0 where that is shown already. `None` where no number would: what the model is off is no smaller with more of them, and zero is zero.
pub fn needed(difference: &Estimate, clusters: usize, bars: &Bars) -> Option<f64> {
    let (size, Estimate { low, high, .. }) = (difference.value.abs(), *difference);
    if size == 0.0 || bars.own_error.is_some_and(|error| size <= error) {
        return None;
    }
    let is_apart = low > 0.0 || high < 0.0;
    if size < bars.worth && (is_apart || low >= -bars.worth && high <= bars.worth) {
        return Some(0.0);
    }
    showing(difference, clusters, size.max(bars.worth - size))
}

/// About so many clusters in all would show a difference of this size, in the unit of the interval; `None` for a size of nothing.
pub fn showing(difference: &Estimate, clusters: usize, size: f64) -> Option<f64> {
    // Of an interval that leans, the side that reaches for zero counts where it is the longer one.
    let near = if difference.value < 0.0 { difference.high - difference.value } else { difference.value - difference.low };
    let reach = near.max((difference.high - difference.low) / 2.0);
    (size > 0.0).then(|| clusters as f64 * (reach / size).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low, high }
    }

    #[test]
    fn nothing_rests_on_less_than_is_known() {
        let bars = Bars { own_error: Some(0.03), worth: 0.02, anchored: Some(0.5) };
        let said = |difference: Estimate, bars: &Bars| finding(Some(&difference), bars);
        assert_eq!(said(of(-0.05, -0.07, -0.02), &bars), Finding::Better);
        assert_eq!(said(of(0.05, 0.02, 0.07), &bars), Finding::Worse);
        assert_eq!(said(of(-0.05, -0.11, 0.0), &bars), Finding::NoDifference(Within::Sampling));
        assert_eq!(said(of(-0.03, -0.04, -0.02), &bars), Finding::NoDifference(Within::OwnError));
        let none = Bars { own_error: None, ..bars };
        assert_eq!(said(of(-0.019, -0.03, -0.01), &none), Finding::NoDifference(Within::Worth));
        assert_eq!(said(of(-0.021, -0.03, -0.01), &none), Finding::Better);
        assert_eq!(finding(None, &bars), Finding::CannotJudge);
        assert_eq!(said(of(-0.4, -0.43, -0.37), &Bars { anchored: Some(0.48), ..bars }), Finding::CannotJudge);
    }

    #[test]
    fn a_limit_is_kept_broken_or_cannot_be_told() {
        assert_eq!(keeping(&of(-0.1, -0.2, 0.01), 0.02), Keeping::Kept);
        assert_eq!(keeping(&of(0.0, 0.0, 0.0), 0.0), Keeping::Kept);
        assert_eq!(keeping(&of(0.1, 0.01, 0.2), 0.02), Keeping::Broken);
        assert_eq!(keeping(&of(0.1, -0.01, 0.2), 0.02), Keeping::CannotTell);
        assert_eq!(keeping(&of(-0.01, -0.1, 0.1), 0.02), Keeping::CannotTell);
    }

    #[test]
    fn a_prediction_is_confirmed_by_what_tells_it_from_no_change() {
        // Two thirds are predicted, and nothing to change would be 1.5 times that.
        let said = |low: f64, high: f64| agreement(&of((low + high) / 2.0, low, high), 1.5);
        assert_eq!((said(0.9, 1.2), said(0.8, 0.98)), (Agreement::Confirmed, Agreement::Off));
        // It misses no change, and is no nearer to the prediction.
        assert_eq!((said(0.6, 1.15), agreement(&of(1.0, 0.98, 1.02), 1.0)), (Agreement::CannotTell, Agreement::CannotTell));
        assert_eq!(showing(&of(-0.29, -0.39, -0.19), 8, 0.2).map(f64::round), Some(2.0));
    }

    #[test]
    fn more_sessions_narrow_the_interval_and_not_the_models_own_error() {
        let bars = Bars { worth: 0.02, ..Bars::default() };
        assert_eq!(needed(&of(-0.05, -0.15, 0.05), 10, &bars), Some(40.0));
        assert_eq!(needed(&of(-0.001, -0.041, 0.039), 10, &bars).map(f64::round), Some(44.0));
        let within = of(-0.002, -0.0032, -0.0003);
        assert_eq!(needed(&within, 10, &bars), Some(0.0));
        assert_eq!(needed(&within, 10, &Bars { own_error: Some(0.005), ..bars }), None);
        assert_eq!(needed(&of(-0.05, -0.15, 0.05), 10, &Bars { own_error: Some(0.06), ..bars }), None);
        assert_eq!(needed(&of(0.0, 0.0, 0.0), 10, &bars), None);
    }
}
