//! Sorting where it is not hot. The standard library's sort is compiled anew for each kind of element and each order; this one is compiled once.
//! A map that is collected sorts too, before it takes its keys: what is gathered takes them one by one.

use std::cmp::Ordering;

/// Sorts a list, and leaves equals in their order. Slower than the standard library's sort by a small factor: for lists that are shown, or gathered once.
pub trait Arrange<T> {
    /// By an order of two elements.
    fn arrange_by(&mut self, order: impl FnMut(&T, &T) -> Ordering);

    /// By a key of each element.
    fn arrange_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.arrange_by(|one, other| key(one).cmp(&key(other)));
    }
}

impl<T> Arrange<T> for [T] {
    fn arrange_by(&mut self, mut order: impl FnMut(&T, &T) -> Ordering) {
        let places = sorted(self.len(), &mut |one, other| match (self.get(one), self.get(other)) {
            (Some(one), Some(other)) => order(one, other),
            _ => Ordering::Equal,
        });
        permute(places, &mut |one, other| self.swap(one, other));
    }
}

/// Makes a map or a set of what comes. Slower than `collect` by a small factor, and half of the code.
pub trait Gather: Iterator + Sized {
    /// The map or set; of a key that comes twice, the last value holds.
    fn gather<M: Default + Extend<Self::Item>>(self) -> M {
        let mut all = M::default();
        all.extend(self);
        all
    }
}

impl<I: Iterator> Gather for I {}

/// The place of the first element that fits; where none does, of a new one behind all others.
pub fn place_or_push<T>(all: &mut Vec<T>, fits: impl FnMut(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    all.iter().position(fits).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    })
}

/// The places of so many elements, in their order.
fn sorted(count: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|one, other| order(*one, *other));
    places
}

/// Brings to each place what stands at the place that is written there, by swaps along each ring.
fn permute(mut places: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..places.len() {
        let mut here = start;
        while let Some(from) =
            places.get_mut(here).map(|place| std::mem::replace(place, here)).filter(|from| *from != start && *from != here)
        {
            swap(here, from);
            here = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_as_the_standard_library_sorts_them() {
        let mut chance = crate::statistics::Chance::new(7);
        for length in 0..60 {
            let drawn: Vec<(usize, usize)> = (0..length).map(|place| (chance.below(9), place)).collect();
            let (mut ours, mut theirs) = (drawn.clone(), drawn);
            ours.arrange_by_key(|(key, _)| std::cmp::Reverse(*key));
            theirs.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            assert_eq!(ours, theirs);
        }
    }
}
