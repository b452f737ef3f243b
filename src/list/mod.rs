//! Lists with an element for each session: as they are, or packed where there are so many that they would fill the memory. What is packed stands in memory
//! up to a bound, and beyond it in a temporary file.

mod arrange;
mod bytes;
mod cores;
pub mod listed;
mod once;
mod pack;
mod rows;
mod spill;

pub use arrange::{Arrange, Gather, place_or_push};
use bytes::Bytes;
pub use bytes::lost;
use cores::changed_on_all_cores;
pub use cores::{each_of, on_all_cores, sum_on_all_cores};
pub use once::Once;
pub use pack::{Pack, packed, unpacked};
pub use rows::{Coming, Rows};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// Lists of more elements than this are packed: below, whatever a session holds counts more than how many there are.
pub const MANY: usize = 4_096;

/// A list. Whoever walks a long one takes its elements one by one ([`List::each`], [`List::at`]); as a slice it is unpacked once and for all.
/// A copy shares what it holds until one of both is changed.
pub struct List<T>(Arc<Held<T>>);

#[derive(Clone)]
struct Held<T> {
    plain: OnceLock<Vec<T>>,
    packed: Option<Vec<Bytes>>,
    /// What stands for elements where there are none.
    none: Vec<T>,
}

impl<T> List<T> {
    fn of_packed(mut packed: Vec<Bytes>) -> List<T> {
        // A list that is collected from a list of elements keeps the room of those: kilobytes for one session.
        packed.shrink_to_fit();
        List(Arc::new(Held { plain: OnceLock::new(), packed: Some(packed), none: Vec::new() }))
    }
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List::from(Vec::new())
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(all: Vec<T>) -> List<T> {
        List(Arc::new(Held { plain: OnceLock::from(all), packed: None, none: Vec::new() }))
    }
}

/// What comes one by one is packed where there are many.
impl<T: Pack> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> List<T> {
        gathered(&mut all.into_iter())
    }
}

/// The list of what comes: compiled once for each kind of element, whatever it comes from.
fn gathered<T: Pack>(all: &mut dyn Iterator<Item = T>) -> List<T> {
    let first: Vec<T> = all.take(MANY).collect();
    match all.next() {
        None => List::from(first),
        Some(next) => List::of_packed(first.into_iter().chain([next]).chain(all).map(stored).collect()),
    }
}

impl<T: Pack> List<T> {
    /// A list of these elements, each packed into bytes.
    pub fn packed(all: Vec<T>) -> List<T> {
        List::of_packed(all.into_iter().map(stored).collect())
    }

    /// What is made of the places of another list, on all cores, in their order; packed where that one is.
    pub fn made<L: Pack>(like: &List<L>, make: impl Fn(usize) -> T + Sync + Send) -> List<T> {
        if !like.is_packed() {
            return List::from(on_all_cores(like.len(), &|place| Some(make(place))));
        }
        List::of_packed(on_all_cores(like.len(), &|place| Some(stored(make(place)))))
    }

    /// Two lists at once, of both things that are made of a place.
    pub fn made_in_pairs<L: Pack, U: Pack>(like: &List<L>, make: impl Fn(usize) -> (T, U) + Sync + Send) -> (List<T>, List<U>) {
        if !like.is_packed() {
            let (ones, others): (Vec<T>, Vec<U>) = on_all_cores(like.len(), &|place| Some(make(place))).into_iter().unzip();
            return (List::from(ones), List::from(others));
        }
        let both = |place| {
            let (one, other) = make(place);
            Some((stored(one), stored(other)))
        };
        let (ones, others) = on_all_cores(like.len(), &both).into_iter().unzip();
        (List::of_packed(ones), List::of_packed(others))
    }

    /// So many lists at once, one for each of the things that are made of a place; packed where that list is, or where they are `long`. `make` gives them one
    /// after the other: none waits unpacked for the others.
    pub fn made_together<L: Pack>(
        like: &List<L>,
        width: usize,
        long: bool,
        make: impl Fn(usize, &mut dyn FnMut(T)) + Sync + Send,
    ) -> Vec<List<T>> {
        fn apart<E>(rows: Vec<Vec<E>>, width: usize) -> impl Iterator<Item = Vec<E>> {
            let mut lists: Vec<Vec<E>> = (0..width).map(|_| Vec::with_capacity(rows.len())).collect();
            rows.into_iter().for_each(|row| row.into_iter().zip(&mut lists).for_each(|(element, list)| list.push(element)));
            lists.into_iter()
        }
        fn row<T, E>(make: impl Fn(&mut dyn FnMut(T)), held: fn(T) -> E) -> Vec<E> {
            let mut row = Vec::new();
            make(&mut |element| row.push(held(element)));
            row
        }
        if !like.is_packed() && !long {
            let plain = |place| Some(row(|give| make(place, give), |element| element));
            return apart(on_all_cores(like.len(), &plain), width).map(List::from).collect();
        }
        let packed = |place| Some(row(|give| make(place, give), stored));
        apart(on_all_cores(like.len(), &packed), width).map(List::of_packed).collect()
    }

    /// Packs it where it has many elements.
    pub fn settle(&mut self) {
        if self.len() > MANY {
            self.pack();
        }
    }

    /// Packs the elements, where they are not packed yet.
    pub fn pack(&mut self) {
        if self.0.packed.is_none() {
            *self = List::packed(self.take());
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.packed.as_ref().map_or_else(|| self.0.plain.get().map_or(0, Vec::len), Vec::len)
    }

    /// Are the elements held as bytes?
    fn is_packed(&self) -> bool {
        self.0.packed.is_some()
    }

    /// Does the list have no element?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A list of the first `length` elements.
    pub fn head(&self, length: usize) -> List<T> {
        self.each().take(length).map(Cow::into_owned).collect()
    }

    /// The element at a place; `None` behind the last one.
    pub fn at(&self, place: usize) -> Option<Cow<'_, T>> {
        match (self.0.plain.get(), &self.0.packed) {
            (None, Some(packed)) => packed.get(place).map(|bytes| Cow::Owned(T::unpack(&bytes.get()))),
            (plain, _) => plain?.get(place).map(Cow::Borrowed),
        }
    }

    /// All elements, one after the other.
    pub fn each(&self) -> impl DoubleEndedIterator<Item = Cow<'_, T>> + ExactSizeIterator + Clone {
        (0..self.len()).map(|place| self.at(place).unwrap_or_default())
    }

    /// What is made of each place and its element, on all cores, in their order. An element of which nothing is made is left out.
    pub fn par_each<R: Send>(&self, make: impl Fn(usize, Cow<'_, T>) -> Option<R> + Sync) -> Vec<R> {
        on_all_cores(self.len(), &|place| make(place, self.at(place)?))
    }

    /// Each of these with the element at its place. Neighbours of one place share what is unpacked for the first: an element may be a session of any
    /// length, and every call of it may stand here. What has no element is left out.
    pub fn beside<'a, U>(
        &'a self,
        all: impl IntoIterator<Item = U>,
        place: impl Fn(&U) -> usize,
    ) -> impl Iterator<Item = (Rc<Cow<'a, T>>, U)> {
        let mut last: Option<(usize, Rc<Cow<'a, T>>)> = None;
        all.into_iter().filter_map(move |one| {
            let place = place(&one);
            if last.as_ref().is_none_or(|(known, _)| *known != place) {
                last = self.at(place).map(|element| (place, Rc::new(element)));
            }
            last.as_ref().map(|(_, element)| (Rc::clone(element), one))
        })
    }

    /// Changes the element at a place.
    pub fn change<R>(&mut self, place: usize, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        match self.all() {
            All::Plain(all) => all.get_mut(place).map(change),
            All::Packed(all) => all.get_mut(place).map(|bytes| changed(bytes, change)),
        }
    }

    /// Changes all elements on all cores; what that gives stands in their order.
    pub fn change_each<R: Send>(&mut self, change: impl Fn(&mut T) -> R + Sync + Send) -> Vec<R> {
        match self.all() {
            All::Plain(all) => changed_on_all_cores(all, &change),
            All::Packed(all) => changed_on_all_cores(all, &|bytes| changed(bytes, &change)),
        }
    }

    /// Keeps the elements of which this is true, in their order. It is told the place and a way to the element.
    pub fn keep(&mut self, mut keep: impl FnMut(usize, &dyn Fn() -> T) -> bool) {
        let mut places = 0..;
        let mut next = || places.next().unwrap_or_default();
        match self.all() {
            All::Plain(all) => all.retain(|element| keep(next(), &|| element.clone())),
            All::Packed(all) => all.retain(|bytes| keep(next(), &|| T::unpack(&bytes.get()))),
        }
    }

    /// The elements at the places of which this is true, and the others.
    pub fn parted(mut self, first: impl Fn(usize) -> bool) -> (List<T>, List<T>) {
        fn parted<E>(all: &mut Vec<E>, first: impl Fn(usize) -> bool) -> (Vec<E>, Vec<E>) {
            let (ones, others): (Vec<_>, Vec<_>) = all.drain(..).enumerate().partition(|(place, _)| first(*place));
            let alone = |all: Vec<(usize, E)>| all.into_iter().map(|(_, element)| element).collect();
            (alone(ones), alone(others))
        }
        match self.all() {
            All::Plain(all) => {
                let (ones, others) = parted(all, first);
                (List::from(ones), List::from(others))
            }
            All::Packed(all) => {
                let (ones, others) = parted(all, first);
                (List::of_packed(ones), List::of_packed(others))
            }
        }
    }

    /// Puts the elements into this order of their places.
    pub fn arrange(&mut self, order: &[usize]) {
        fn arranged<E>(all: &mut Vec<E>, order: &[usize]) {
            let mut left: Vec<Option<E>> = all.drain(..).map(Some).collect();
            all.extend(order.iter().filter_map(|place| left.get_mut(*place).and_then(Option::take)));
        }
        match self.all() {
            All::Plain(all) => arranged(all, order),
            All::Packed(all) => arranged(all, order),
        }
    }

    /// Puts the elements of another list behind these.
    pub fn append(&mut self, mut other: List<T>) {
        if self.0.packed.is_some() {
            other.pack();
        } else if other.0.packed.is_some() {
            self.pack();
        }
        match (self.all(), other.all()) {
            (All::Plain(all), All::Plain(more)) => all.append(more),
            (All::Packed(all), All::Packed(more)) => all.append(more),
            _ => {}
        }
    }

    /// Does something with all elements together, unpacked.
    pub fn edit<R>(&mut self, edit: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let mut all = self.take();
        let given = edit(&mut all);
        *self = List::from(all);
        given
    }

    /// All elements, unpacked; none are left.
    fn take(&mut self) -> Vec<T> {
        let Held { plain, packed, .. } = Arc::unwrap_or_clone(std::mem::take(self).0);
        plain.into_inner().unwrap_or_else(|| packed.iter().flatten().map(|bytes| T::unpack(&bytes.get())).collect())
    }

    /// A way to all elements as they are held, to change them.
    fn all(&mut self) -> All<'_, T> {
        let held = Arc::make_mut(&mut self.0);
        match &mut held.packed {
            Some(packed) => {
                held.plain = OnceLock::new();
                All::Packed(packed)
            }
            None => All::Plain(held.plain.get_mut().unwrap_or(&mut held.none)),
        }
    }
}

/// All elements of a list, as they are held.
enum All<'a, T> {
    Plain(&'a mut Vec<T>),
    Packed(&'a mut Vec<Bytes>),
}

/// The bytes of an element, put away.
fn stored<T: Pack>(element: T) -> Bytes {
    Bytes::new(element.pack())
}

/// Puts an element away again, if it is another one now.
fn changed<T: Pack, R>(bytes: &mut Bytes, change: impl FnOnce(&mut T) -> R) -> R {
    let before = bytes.get();
    let mut element = T::unpack(&before);
    let given = change(&mut element);
    let now = element.pack();
    if *now != *before {
        *bytes = Bytes::new(now);
    }
    given
}

impl<T: Pack> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.plain.get_or_init(|| self.0.packed.iter().flatten().map(|bytes| T::unpack(&bytes.get())).collect())
    }
}

impl<T: Pack> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.0.packed.is_some() {
            *self = List::from(self.take());
        }
        match self.all() {
            All::Plain(all) => all,
            All::Packed(_) => &mut [],
        }
    }
}

impl<T: Pack> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(mut self) -> std::vec::IntoIter<T> {
        self.take().into_iter()
    }
}

impl<'a, T: Pack> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> std::slice::Iter<'a, T> {
        (**self).iter()
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> List<T> {
        List(Arc::clone(&self.0))
    }
}

impl<T: Pack + fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.each()).finish()
    }
}

impl<T: Pack + PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &List<T>) -> bool {
        self.len() == other.len() && self.each().zip(other.each()).all(|(one, other)| one == other)
    }
}

impl<T: Pack> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.each())
    }
}

impl<'de, T: Pack> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<List<T>, D::Error> {
        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

/// Elements that come one by one.
struct Elements<T>(PhantomData<T>);

impl<'de, T: Pack> Visitor<'de> for Elements<T> {
    type Value = List<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<List<T>, A::Error> {
        std::iter::from_fn(|| all.next_element().transpose()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Pack for u64 {}
    impl Pack for [u64; 16] {}

    /// The same list as it is and packed.
    fn both(all: std::ops::Range<u64>) -> [List<u64>; 2] {
        [List::from(all.clone().collect::<Vec<u64>>()), List::packed(all.collect())]
    }

    #[test]
    fn a_packed_list_is_as_the_plain_one() {
        for mut list in both(0..100) {
            let copy = list.clone();
            list.change(7, |number| *number = 700);
            assert_eq!(list.change_each(|number| *number + 1).get(7), Some(&701));
            list.keep(|place, number| place != 3 && number() < 90);
            list.arrange(&(0..list.len()).rev().collect::<Vec<usize>>());
            list.append(List::packed(vec![1, 2]));
            let all: Vec<u64> = list.each().map(Cow::into_owned).collect();
            assert_eq!((list.len(), all.first(), all.last()), (90, Some(&89), Some(&2)));
            assert_eq!((list.at(90), list.par_each(|_, element| Some(element.into_owned()))), (None, all.clone()));
            assert_eq!((all.as_slice(), list.contains(&3)), (&*list, false));
            let beside: Vec<(u64, usize)> =
                list.beside([2, 2, 400, 0], |place| *place).map(|(element, place)| (**element, place)).collect();
            assert_eq!(beside, [(87, 2), (87, 2), (89, 0)]);
            assert_eq!((copy.len(), copy.at(7).map(Cow::into_owned)), (100, Some(7)), "a copy stays as it was");
            let (even, odd) = list.clone().parted(|place| place % 2 == 0);
            assert_eq!((even.len(), odd.len(), even.at(1).map(Cow::into_owned), odd.is_packed()), (45, 45, Some(87), list.is_packed()));
            list.edit(|all| all.truncate(1));
            assert_eq!(list, List::packed(vec![89]));
        }
        let [one, other] = both(0..100);
        assert_eq!((&one, packed(&one)), (&other, packed(&other)));
        let [many, few] = [MANY as u64 + 1, 5].map(|count| unpacked::<List<u64>>(&packed(&(0..count).collect::<List<u64>>())));
        assert_eq!((many.len(), many.is_packed(), many.at(MANY).map(Cow::into_owned)), (MANY + 1, true, Some(MANY as u64)));
        assert_eq!((few.len(), few.is_packed()), (5, false));
    }

    #[test]
    fn a_packed_list_keeps_no_room_of_its_elements() {
        let mut all = Vec::with_capacity(4);
        all.push([1_u64; 16]);
        assert_eq!(List::packed(all).0.packed.as_ref().map(Vec::capacity), Some(1));
    }

    #[test]
    fn what_is_made_of_a_packed_list_is_packed() {
        for like in both(0..100) {
            let list = List::made(&like, |place| place as u64);
            let (ones, others) = List::made_in_pairs(&like, |place| (place as u64, 1_u64));
            let made = |long| List::made_together(&like, 2, long, |place, give| [place as u64, 1].into_iter().for_each(give));
            let (together, long) = (made(false), made(true));
            assert_eq!((&long, long.iter().all(List::is_packed)), (&together, true));
            assert_eq!([&list, &ones, &others].map(List::is_packed), [like.is_packed(); 3]);
            assert_eq!(
                ([list.clone(), ones, others.clone()], together),
                ([list.clone(), list.clone(), others.clone()], vec![list, others])
            );
        }
    }
}
