//! How sure a number of independent events is.

use super::normal::NORMAL;

/// The least and the most events that are to be expected where so many came, at the level of all intervals: Byar's approximation of the exact limits of a Poisson
/// count (N. E. Breslow and N. E. Day, "Statistical Methods in Cancer Research" II, 1987), within 1 % at the upper end. What is pooled with weights is no whole number.
pub fn expected(events: f64) -> [f64; 2] {
    let z = *NORMAL;
    let limit = |count: f64, z: f64| count * (1.0 - 1.0 / (9.0 * count) + z / (3.0 * count.sqrt())).max(0.0).powi(3);
    [if events > 0.0 { limit(events, -z) } else { 0.0 }, limit(events + 1.0, z)]
}

/// The same of how many more events came than went, where the one and the other are independent: each limit as far from the difference as those of both numbers
/// together (G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27, 2008).
pub fn expected_difference(came: f64, went: f64) -> [f64; 2] {
    let ([least_came, most_came], [least_went, most_went]) = (expected(came), expected(went));
    let by = came - went;
    [by - (came - least_came).hypot(most_went - went), by + (most_came - came).hypot(went - least_went)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same of differences, one of whose sides may be nothing.
    #[test]
    fn one_difference_in_ten_leaves_the_truth_out() {
        let chances = |truth: f64| {
            let next = |chance: &f64, events: u32| chance * truth / f64::from(events);
            (1..60).fold(vec![(-truth).exp()], |mut all, events| {
                all.extend(all.last().map(|chance| next(chance, events)));
                all
            })
        };
        for came in [0.0, 0.5, 1.0, 2.0, 4.0, 8.0] {
            for went in [0.0, 0.3, 1.5, 3.0, 6.0] {
                let mut left_out = 0.0;
                for (more, chance) in (0_u32..).zip(chances(came)) {
                    for (less, of) in (0_u32..).zip(chances(went)) {
                        let [low, high] = expected_difference(f64::from(more), f64::from(less));
                        left_out += if (low..=high).contains(&(came - went)) { 0.0 } else { chance * of };
                    }
                }
                assert!(left_out <= 0.105, "{came} and {went}: {left_out}");
            }
        }
    }

    #[test]
    fn limits_are_those_of_the_tables() {
        // Exact limits of 90 % (F. Garwood, 1936).
        for (events, low, high) in
            [(0.0, 0.0, 2.996), (1.0, 0.051, 4.744), (2.0, 0.355, 6.296), (5.0, 1.970, 10.513), (20.0, 13.255, 29.062)]
        {
            let [least, most] = expected(events);
            assert!((least - low).abs() < 0.013 && (most - high).abs() < 0.01 * high, "{events}: {least} to {most}");
        }
    }

    /// Of each number that is to be expected: how often chance brings so many or so few that it is left out.
    #[test]
    fn one_count_in_ten_leaves_the_truth_out() {
        for truth in (1..=120).map(|tenth| f64::from(tenth) / 10.0) {
            let mut chance = (-truth).exp();
            let mut left_out = 0.0;
            for events in 0..60 {
                let [low, high] = expected(f64::from(events));
                left_out += if (low..=high).contains(&truth) { 0.0 } else { chance };
                chance *= truth / f64::from(events + 1);
            }
            assert!(left_out <= 0.1, "{truth}: {left_out}");
        }
    }
}
