//! Quantiles by nearest rank: the smallest of the numbers at or below which at least this share of them lies (the inverse of the empirical
//! distribution; type 1 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996). A quantile is always one of the numbers:
//! whole numbers stay exact, and the median of an even number of them is the lower of the two in the middle.
//!
//! Shares are in thousandths.

/// Some numbers in ascending order.
pub fn sorted<T: Ord>(numbers: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut numbers: Vec<T> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers
}

/// The same, each number once.
pub fn distinct<T: Ord>(numbers: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut numbers = sorted(numbers);
    numbers.dedup();
    numbers
}

/// The rank of a quantile among so many sorted numbers, from 1: the share of their count, rounded up, and 1 at least.
pub fn rank(count: u64, thousandths: u64) -> u64 {
    let rank = (u128::from(count) * u128::from(thousandths.min(1_000))).div_ceil(1_000);
    u64::try_from(rank).unwrap_or(count).max(1)
}

/// A quantile of sorted numbers; `None` of nothing.
pub fn quantile<T: Copy>(sorted: &[T], thousandths: u64) -> Option<T> {
    sorted.get(place(sorted.len(), thousandths)).copied()
}

/// The middle one of some numbers; `None` of nothing.
pub fn median<T: Copy + Ord>(mut numbers: Vec<T>) -> Option<T> {
    if numbers.is_empty() {
        return None;
    }
    let middle = median_place(numbers.len());
    let (_, middle, _) = numbers.select_nth_unstable(middle);
    Some(*middle)
}

/// A quantile of figures with weights of 1 or more, in any order; `None` of nothing. The figures may come to stand in another order.
pub fn of_weighted(figures: &mut [(f64, u64)], thousandths: u64) -> Option<f64> {
    let in_order = |(one, _): &(f64, u64), (other, _): &(f64, u64)| one.total_cmp(other);
    let weight: u64 = figures.iter().map(|(_, weight)| weight).sum();
    if weight == figures.len() as u64 {
        // To select a few of them takes less than to sort all.
        let place = place(figures.len(), thousandths);
        return (place < figures.len()).then(|| figures.select_nth_unstable_by(place, in_order).1.0);
    }
    figures.sort_unstable_by(in_order);
    let mut left = rank(weight, thousandths);
    let reached = figures.iter().find(|(_, weight)| {
        left = left.saturating_sub(*weight);
        left == 0
    });
    reached.map(|(figure, _)| *figure)
}

/// The place of the median among that many sorted numbers.
pub fn median_place(count: usize) -> usize {
    place(count, 500)
}

fn place(count: usize, thousandths: u64) -> usize {
    usize::try_from(rank(count as u64, thousandths)).map_or(0, |rank| rank - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_numbers_that_are_there() {
        let numbers = [1, 2, 3, 4];
        let at = [0, 1, 250, 251, 500, 501, 750, 751, 1_000, 2_000];
        assert_eq!(at.map(|share| quantile(&numbers, share)), [1, 1, 1, 2, 2, 3, 3, 4, 4, 4].map(Some));
        assert_eq!((quantile::<u64>(&[], 500), median::<u64>(Vec::new())), (None, None));
        assert_eq!((median(vec![9, 1, 5]), median(vec![9, 1, 5, 3]), median(vec![7])), (Some(5), Some(3), Some(7)));
    }

    #[test]
    fn a_weight_stands_for_as_many_of_the_same() {
        let figures = [(2.5, 1), (-1.0, 2), (9.0, 4), (2.5, 3), (0.0, 1)];
        let mut repeated: Vec<(f64, u64)> = figures.iter().flat_map(|(figure, weight)| vec![(*figure, 1); *weight as usize]).collect();
        let mut sorted: Vec<f64> = repeated.iter().map(|(figure, _)| *figure).collect();
        sorted.sort_by(f64::total_cmp);
        for share in (0..=1_000).rev() {
            let expected = quantile(&sorted, share);
            assert_eq!([of_weighted(&mut figures.clone(), share), of_weighted(&mut repeated, share)], [expected; 2]);
        }
        assert_eq!(of_weighted(&mut [], 500), None);
    }

    /// By its definition, at every share: enough lie at or below it, and too few below it.
    #[test]
    fn quantiles_are_the_smallest_that_suffice() {
        for count in 1..40_u64 {
            let numbers: Vec<u64> = (0..count).map(|number| number * number / 7).collect();
            for share in 0..=1_000 {
                let found = quantile(&numbers, share).unwrap();
                let within = |bound: &dyn Fn(u64) -> bool| numbers.iter().filter(|number| bound(**number)).count() as u64 * 1_000;
                assert!(within(&|number| number <= found) >= share * count);
                assert!(share == 0 || within(&|number| number < found) < share * count);
            }
        }
    }
}
