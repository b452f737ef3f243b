//! Searches by halving.

/// The first number up to a last one for which something holds, if it holds from there on; it holds for the last one.
pub fn first(last: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
