//! How sure a figure is: the same figure over sessions that are drawn anew, with replacement.
//!
//! Sessions are drawn by their rank. Corpora hold them in the order of their identities (`Corpus::traces`), so that the same sessions give
//! the same resamples, whatever folders and files they stand in.

use super::chance::Chance;
use super::quantile::between;

/// So often sessions are drawn for an interval.
const DRAWS: usize = 400;

/// Where the numbers begin: the same corpus gives the same intervals.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The share of the resamples beyond each bound of an interval, in thousandths.
const OUTSIDE: u64 = 25;

/// The bounds between which 95 of 100 resamples lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval<T> {
    /// The 2.5th percentile of the resamples.
    pub low: T,
    /// The 97.5th.
    pub high: T,
}

/// So many resamples of sessions: each says how often each of them was drawn, by rank. None where there are fewer than two sessions:
/// one session says nothing of others.
pub fn resamples(sessions: usize, count: usize, seed: u64) -> impl Iterator<Item = Vec<u32>> {
    let mut chance = Chance::new(seed);
    let count = if sessions < 2 { 0 } else { count };
    (0..count).map(move |_| {
        let mut times = vec![0_u32; sessions];
        for _ in 0..sessions {
            if let Some(times) = times.get_mut(chance.below(sessions)) {
                *times += 1;
            }
        }
        times
    })
}

/// The same by session: how often it stands in each of the resamples.
pub fn weights(sessions: usize, count: usize, seed: u64) -> Vec<Vec<u16>> {
    let mut weights = vec![Vec::with_capacity(count); sessions];
    for times in resamples(sessions, count, seed) {
        weights.iter_mut().zip(times).for_each(|(weights, times)| weights.push(u16::try_from(times).unwrap_or(u16::MAX)));
    }
    weights
}

/// The interval of a figure of several numbers. `figure` is told how often each session was drawn. Absent for fewer than two sessions.
pub fn interval<const N: usize>(sessions: usize, figure: impl Fn(&[u32]) -> [i64; N]) -> Option<[Interval<i64>; N]> {
    let drawn: Vec<[i64; N]> = resamples(sessions, DRAWS, SEED).map(|times| figure(&times)).collect();
    let mut intervals = [Interval::default(); N];
    for (place, interval) in intervals.iter_mut().enumerate() {
        let (low, high) = between(drawn.iter().filter_map(|figures| figures.get(place).copied()).collect(), OUTSIDE)?;
        *interval = Interval { low, high };
    }
    Some(intervals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resample_draws_as_many_sessions_as_there_are() {
        let all: Vec<Vec<u32>> = resamples(7, 50, 1).collect();
        assert!(all.len() == 50 && all.iter().all(|times| times.len() == 7 && times.iter().sum::<u32>() == 7));
        let by_session = weights(7, 50, 1);
        for (place, times) in all.iter().enumerate() {
            assert!(by_session.iter().zip(times).all(|(weights, times)| u32::from(weights[place]) == *times));
        }
        assert_eq!((resamples(1, 50, 1).count(), resamples(0, 50, 1).count()), (0, 0));
        assert_ne!(all, resamples(7, 50, 2).collect::<Vec<_>>());
        assert_eq!(interval(1, |_| [1]), None);
        assert_eq!(interval(9, |times| [i64::from(times.iter().sum::<u32>())]), Some([Interval { low: 9, high: 9 }]));
    }
}
