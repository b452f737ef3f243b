//! A list whose copies share what neither of them has changed since: a view of a long history costs what it changes, not what it shows.

use std::rc::Rc;

/// So many elements stand together: what is changed is copied with its neighbours.
const TOGETHER: usize = 32;

/// A list that grows at its end.
#[derive(Clone, Debug)]
pub(super) struct CowVec<T> {
    full: Vec<Rc<[T]>>,
    /// The last elements, fewer than stand together.
    rest: Vec<T>,
}

impl<T> Default for CowVec<T> {
    fn default() -> CowVec<T> {
        CowVec { full: Vec::new(), rest: Vec::new() }
    }
}

impl<T: Clone> CowVec<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.full.len() * TOGETHER + self.rest.len()
    }

    /// Adds one at the end.
    pub fn push(&mut self, element: T) {
        if self.rest.capacity() == 0 {
            self.rest.reserve_exact(TOGETHER);
        }
        self.rest.push(element);
        if self.rest.len() == TOGETHER {
            self.full.push(self.rest.drain(..).collect());
        }
    }

    /// Takes away the last one.
    pub fn pop(&mut self) -> Option<T> {
        if self.rest.is_empty() {
            self.rest.extend_from_slice(&self.full.pop()?);
        }
        self.rest.pop()
    }

    /// The element at a place.
    pub fn get(&self, place: usize) -> Option<&T> {
        match self.full.get(place / TOGETHER) {
            Some(elements) => elements.get(place % TOGETHER),
            None => self.rest.get(place.checked_sub(self.full.len() * TOGETHER)?),
        }
    }

    /// The same, to be changed: no copy that was made of the list before sees it.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        let full = self.full.len();
        match self.full.get_mut(place / TOGETHER) {
            Some(elements) => Rc::make_mut(elements).get_mut(place % TOGETHER),
            None => self.rest.get_mut(place.checked_sub(full * TOGETHER)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_go_their_own_ways() {
        let mut one = CowVec::default();
        (0..100).for_each(|number| one.push(number));
        let mut other = one.clone();
        other.push(100);
        for place in [0, 31, 32, 99] {
            *other.get_mut(place).unwrap() += 1000;
        }
        let all = |list: &CowVec<i32>| (0..list.len()).map(|place| *list.get(place).unwrap()).collect::<Vec<_>>();
        assert_eq!(all(&one), (0..100).collect::<Vec<_>>());
        let changed = |number: i32| if [0, 31, 32, 99].contains(&number) { number + 1000 } else { number };
        assert_eq!(all(&other), (0..=100).map(changed).collect::<Vec<_>>());
        assert_eq!((one.get(100), other.get(101)), (None, None));
        assert_eq!(one.get_mut(100), None);
    }

    #[test]
    fn what_is_taken_away_stays_in_a_copy() {
        let mut one = CowVec::default();
        (0..33).for_each(|number| one.push(number));
        let other = one.clone();
        assert_eq!([one.pop(), one.pop(), one.get(31).copied()], [Some(32), Some(31), None]);
        one.push(7);
        assert_eq!((one.len(), one.get(31), other.get(31), other.len()), (32, Some(&7), Some(&31), 33));
        assert_eq!(CowVec::<i32>::default().pop(), None);
    }
}
