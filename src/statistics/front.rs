//! The Pareto front: what nothing else beats.

use std::cmp::Ordering;

/// Which of some candidates are on the front: no other is as good in everything and better in something. Candidates of a lower class beat all of a
/// higher one. `orders` compares two of them by each thing that counts, `Less` being better.
pub fn front<C: Ord>(classes: &[C], orders: impl Fn(usize, usize) -> Vec<Ordering>) -> Vec<bool> {
    let class = |place: &usize| classes.get(*place);
    let first_unequal = |one: usize, other: usize| orders(one, other).into_iter().find(|order| *order != Ordering::Equal);
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by(|one, other| class(one).cmp(&class(other)).then_with(|| first_unequal(*one, *other).unwrap_or(one.cmp(other))));
    let mut on_front = vec![false; classes.len()];
    let mut kept: Vec<usize> = Vec::new();
    for place in order {
        // Whatever beats a candidate stands before it in this order, and is beaten itself only by what stands before it and is kept.
        let beats = |known: &usize| {
            let orders = orders(*known, place);
            class(known) < class(&place) || orders.iter().all(|order| *order != Ordering::Greater) && orders.contains(&Ordering::Less)
        };
        if kept.iter().any(beats) {
            continue;
        }
        if let Some(mark) = on_front.get_mut(place) {
            *mark = true;
        }
        // Those that are equal in everything stand on the front together; one of them is enough to compare with.
        if kept.last().is_none_or(|last| first_unequal(*last, place).is_some()) {
            kept.push(place);
        }
    }
    on_front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_on_the_front_is_beaten() {
        let points = [(1, 5), (2, 4), (2, 5), (5, 1), (5, 1), (0, 0)];
        let orders = |one: usize, other: usize| vec![points[one].0.cmp(&points[other].0), points[one].1.cmp(&points[other].1)];
        assert_eq!(front(&[0, 0, 0, 0, 0, 1], orders), [true, true, false, true, true, false]);
        assert_eq!(front(&[0; 6], orders), [false, false, false, false, false, true]);
    }
}
