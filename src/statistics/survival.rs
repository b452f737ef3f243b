//! How many go on how long: the estimate of Kaplan and Meier ("Nonparametric Estimation from Incomplete Observations", 1958). Who ends without
//! having failed says nothing of the time that they do not have.

/// A step of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Time of the step, in the unit of the times given.
    pub at: u64,
    /// Number of those that had reached that time without failing.
    pub at_risk: u64,
    /// Number of those that fail at that time.
    pub failed: u64,
    /// Share of all that have not failed after that time.
    pub surviving: f64,
}

/// The steps, from each one's last time and whether it fails there.
pub fn survival(mut ends: Vec<(u64, bool)>) -> Vec<Step> {
    ends.sort_unstable();
    let mut surviving = 1.0;
    let mut at_risk = ends.len() as u64;
    let mut steps = Vec::new();
    for group in ends.chunk_by(|one, other| one.0 == other.0) {
        let failed = group.iter().filter(|(_, fails)| *fails).count() as u64;
        surviving *= 1.0 - failed as f64 / at_risk as f64;
        steps.extend(group.first().map(|(at, _)| Step { at: *at, at_risk, failed, surviving }));
        at_risk -= group.len() as u64;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_early_is_at_risk_no_more() {
        let steps = survival(vec![(3, true), (1, true), (2, false), (3, false)]);
        let told: Vec<(u64, u64, u64)> = steps.iter().map(|step| (step.at, step.at_risk, step.failed)).collect();
        assert_eq!(told, [(1, 4, 1), (2, 3, 0), (3, 2, 1)]);
        assert_eq!(steps.iter().map(|step| step.surviving).collect::<Vec<_>>(), [0.75, 0.75, 0.375]);
        assert_eq!(survival(Vec::new()), []);
    }
}
