//! A list whose copies share what neither of them has changed since: a view of a long history costs what it changes, not what it shows.

use std::rc::Rc;

/// Elements of so many bytes stand together: what is changed is copied with its neighbours. With two counters they are as long as allocators make them.
const BYTES: usize = 1280 - 16;

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
    const TOGETHER: usize = BYTES / size_of::<T>();

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.full.len() * Self::TOGETHER + self.rest.len()
    }

    /// Adds one at the end.
    pub fn push(&mut self, element: T) {
        if self.rest.capacity() == 0 {
            self.rest.reserve_exact(Self::TOGETHER);
        }
        self.rest.push(element);
        if self.rest.len() == Self::TOGETHER {
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
        match self.full.get(place / Self::TOGETHER) {
            Some(elements) => elements.get(place % Self::TOGETHER),
            None => self.rest.get(place.checked_sub(self.full.len() * Self::TOGETHER)?),
        }
    }

    /// The same, to be changed: no copy that was made of the list before sees it.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        let full = self.full.len();
        match self.full.get_mut(place / Self::TOGETHER) {
            Some(elements) => Rc::make_mut(elements).get_mut(place % Self::TOGETHER),
            None => self.rest.get_mut(place.checked_sub(full * Self::TOGETHER)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many numbers stand together.
    const FULL: usize = CowVec::<i32>::TOGETHER;

    #[test]
    fn copies_go_their_own_ways() {
        let mut one = CowVec::default();
        (0..1000).for_each(|number| one.push(number));
        let mut other = one.clone();
        other.push(1000);
        let places = [0, FULL - 1, FULL, 999];
        for place in places {
            *other.get_mut(place).unwrap() += 5000;
        }
        let all = |list: &CowVec<i32>| (0..list.len()).map(|place| *list.get(place).unwrap()).collect::<Vec<_>>();
        assert_eq!(all(&one), (0..1000).collect::<Vec<_>>());
        let changed = |number: i32| if places.contains(&(number as usize)) { number + 5000 } else { number };
        assert_eq!(all(&other), (0..=1000).map(changed).collect::<Vec<_>>());
        assert_eq!((one.get(1000), other.get(1001)), (None, None));
        assert_eq!(one.get_mut(1000), None);
    }

    #[test]
    fn what_is_taken_away_stays_in_a_copy() {
        let mut one = CowVec::default();
        (0..=FULL as i32).for_each(|number| one.push(number));
        let other = one.clone();
        assert_eq!([one.pop(), one.pop(), one.get(FULL - 1).copied()], [Some(FULL as i32), Some(FULL as i32 - 1), None]);
        one.push(7);
        let last = FULL - 1;
        assert_eq!((one.len(), one.get(last), other.get(last), other.len()), (FULL, Some(&7), Some(&(last as i32)), FULL + 1));
        assert_eq!(CowVec::<i32>::default().pop(), None);
    }
}
