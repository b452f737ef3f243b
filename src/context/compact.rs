//! Lists of a context that a long session has many elements of: nearly all of them hold small numbers, and take less room so.

use super::cow_vec::CowVec;
use std::fmt::Debug;

/// An element in little room.
pub(super) trait Small: Copy + Debug {
    /// The element as it is.
    type Whole: Copy + Debug;

    /// The element in little room; `None` where a number of it is too large.
    fn of(whole: &Self::Whole) -> Option<Self>;

    /// The element as it is.
    fn whole(&self) -> Self::Whole;
}

/// A list whose copies share what neither of them has changed since.
#[derive(Clone, Debug)]
pub(super) struct Compact<S: Small>(CowVec<Held<S>>);

#[derive(Clone, Debug)]
pub(super) enum Held<S: Small> {
    Small(S),
    Large(Box<S::Whole>),
}

impl<S: Small> Held<S> {
    pub(super) fn of(whole: &S::Whole) -> Held<S> {
        S::of(whole).map_or_else(|| Held::Large(Box::new(*whole)), Held::Small)
    }

    fn whole(&self) -> S::Whole {
        match self {
            Held::Small(small) => small.whole(),
            Held::Large(whole) => **whole,
        }
    }
}

impl<S: Small> Default for Compact<S> {
    fn default() -> Compact<S> {
        Compact(CowVec::default())
    }
}

impl<S: Small> Compact<S> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds one at the end.
    pub fn push(&mut self, whole: &S::Whole) {
        self.0.push(Held::of(whole));
    }

    /// Takes away the last one.
    pub fn pop(&mut self) -> Option<S::Whole> {
        self.0.pop().map(|held| held.whole())
    }

    /// The element of an id; `None` where there never was one.
    #[inline]
    pub fn get(&self, id: u32) -> Option<S::Whole> {
        self.0.get(id as usize).map(Held::whole)
    }

    /// Something of an element, without the rest of it; `None` where there never was one.
    #[inline]
    pub fn look<T>(&self, id: u32, of: impl FnOnce(&S::Whole) -> T) -> Option<T> {
        self.0.get(id as usize).map(|held| match held {
            // What is not asked for is not taken out of its little room.
            Held::Small(small) => of(&small.whole()),
            Held::Large(whole) => of(whole),
        })
    }

    /// Changes one where it stands. `small` makes the change there, and says `false` where it does not fit and nothing was changed: `whole` makes it
    /// to the element as it is.
    pub fn edit(&mut self, id: u32, small: impl FnOnce(&mut S) -> bool, whole: impl FnOnce(&mut S::Whole)) {
        let Some(slot) = self.0.get_mut(id as usize) else { return };
        if let Held::Small(held) = slot
            && small(held)
        {
            return;
        }
        let mut changed = slot.whole();
        whole(&mut changed);
        *slot = Held::of(&changed);
    }

    /// Puts another one in its place.
    pub fn put(&mut self, id: u32, whole: &S::Whole) {
        if let Some(slot) = self.0.get_mut(id as usize) {
            *slot = Held::of(whole);
        }
    }
}

/// An index that may be absent in so little room; `None` where it is too large.
#[inline]
pub(super) fn narrow<N: TryFrom<u32>>(index: Option<u32>) -> Option<N> {
    let number = index.map_or(Some(0), |index| index.checked_add(1))?;
    N::try_from(number).ok()
}

/// The index that was made narrow.
#[inline]
pub(super) fn wide(number: impl Into<u32>) -> Option<u32> {
    number.into().checked_sub(1)
}
