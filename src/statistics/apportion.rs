//! Sharing a whole number out in proportion, so that the shares add up to it exactly.

/// Shares `amount` out in proportion to the weights: each gets the whole part of its share, and what is left over goes one by one to
/// the largest remainders, the earlier one at a tie. Where all weights are zero all count alike. No weights, no shares.
pub fn largest_remainder(amount: u64, weights: &[u64]) -> Vec<u64> {
    let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if total == 0 {
        return if weights.is_empty() { Vec::new() } else { largest_remainder(amount, &vec![1; weights.len()]) };
    }
    let product = |weight: u64| u128::from(amount) * u128::from(weight);
    let mut shares: Vec<u64> = weights.iter().map(|weight| (product(*weight) / total) as u64).collect();
    let left = amount - shares.iter().sum::<u64>();
    let mut by_remainder: Vec<_> = weights.iter().zip(&mut shares).map(|(weight, share)| (product(*weight) % total, share)).collect();
    by_remainder.sort_by_key(|(remainder, _)| std::cmp::Reverse(*remainder));
    by_remainder.into_iter().take(left as usize).for_each(|(_, share)| *share += 1);
    shares
}
