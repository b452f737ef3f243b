//! How sure a figure is: the same figure over sessions drawn anew.

use crate::experiment::chance::Chance;

/// So often sessions are drawn.
const DRAWS: usize = 400;

/// Where the numbers begin: the same corpus gives the same intervals.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bounds between which 95 of 100 draws lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval<T> {
    /// All but 2.5 % of the draws lie above.
    pub low: T,
    /// All but 2.5 % of the draws lie below.
    pub high: T,
}

/// The interval of a figure of several numbers. `figure` gets how often each session was drawn. Absent for fewer than two sessions.
pub(super) fn interval<const N: usize>(sessions: usize, figure: impl Fn(&[u32]) -> [i64; N]) -> Option<[Interval<i64>; N]> {
    if sessions < 2 {
        return None;
    }
    let mut chance = Chance::new(SEED);
    let mut drawn: Vec<[i64; N]> = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let mut times = vec![0_u32; sessions];
        for _ in 0..sessions {
            if let Some(count) = times.get_mut(chance.below(sessions)) {
                *count += 1;
            }
        }
        drawn.push(figure(&times));
    }
    let mut intervals = [Interval { low: 0, high: 0 }; N];
    for (place, interval) in intervals.iter_mut().enumerate() {
        let mut numbers: Vec<i64> = drawn.iter().filter_map(|figures| figures.get(place).copied()).collect();
        numbers.sort_unstable();
        let at = |rank: usize| numbers.get(rank).copied().unwrap_or_default();
        *interval = Interval { low: at(DRAWS / 40), high: at(DRAWS - 1 - DRAWS / 40) };
    }
    Some(intervals)
}
