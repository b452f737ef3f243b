//! Do two figures rise together? Spearman's rank correlation.

/// The rank correlation of pairs, from -1 to 1; equal values share the mean of their ranks. `None` where one of the figures never differs.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let (one, other) = (ranks(pairs.iter().map(|pair| pair.0)), ranks(pairs.iter().map(|pair| pair.1)));
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| (one - mean) * (other - mean)).sum::<f64>();
    let spread = (product(&one, &one) * product(&other, &other)).sqrt();
    (spread > 0.0).then(|| product(&one, &other) / spread)
}

fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|value| below(*value) + (equal(*value) + 1.0) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_rise_together_whatever_the_sizes() {
        let of = |ys: [f64; 4]| rank_correlation(&[1.0, 2.0, 30.0, 400.0].into_iter().zip(ys).collect::<Vec<_>>());
        assert_eq!((of([1.0, 4.0, 9.0, 16.0]), of([4.0, 3.0, 2.0, 1.0]), of([7.0; 4])), (Some(1.0), Some(-1.0), None));
        assert!((of([1.0, 1.0, 2.0, 3.0]).unwrap() - 0.948_683).abs() < 1e-6);
    }
}
