//! Work on all cores. Rayon compiles an iterator anew for each kind of element and each function; here it is compiled for one.

use rayon::prelude::*;
use std::sync::Mutex;

/// What is made of so many places, in their order. A place of which nothing is made is left out.
pub fn on_all_cores<T: Send>(count: usize, make: &(dyn Fn(usize) -> Option<T> + Sync)) -> Vec<T> {
    let made: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::default()).collect();
    each_on_all_cores(count, &|place| {
        let new = make(place);
        if let Some(mut slot) = made.get(place).and_then(|slot| slot.lock().ok()) {
            *slot = new;
        }
    });
    made.into_iter().filter_map(|slot| slot.into_inner().ok()?).collect()
}

/// What is made of each of these, in their order.
pub fn each_of<'a, E: Sync, T: Send>(all: &'a [E], make: impl Fn(&'a E) -> T + Sync) -> Vec<T> {
    on_all_cores(all.len(), &|place| all.get(place).map(&make))
}

/// What changing each of these gives, in their order.
pub(super) fn changed_on_all_cores<E: Send, R: Send>(all: &mut [E], change: &(dyn Fn(&mut E) -> R + Sync)) -> Vec<R> {
    let all: Vec<Mutex<&mut E>> = all.iter_mut().map(Mutex::new).collect();
    on_all_cores(all.len(), &|place| {
        let mut one = all.get(place)?.lock().ok()?;
        Some(change(&mut one))
    })
}

/// The sum of what is made of so many places, which are added in any order.
pub fn sum_on_all_cores<T, S: Default + Send>(
    count: usize,
    make: &(dyn Fn(usize) -> Option<T> + Sync),
    add: &(dyn Fn(&mut S, T) + Sync),
) -> S {
    let sum = Mutex::<S>::default();
    each_on_all_cores(count, &|place| {
        if let Some(part) = make(place)
            && let Ok(mut sum) = sum.lock()
        {
            add(&mut sum, part);
        }
    });
    sum.into_inner().unwrap_or_default()
}

/// Sessions differ in length, so that each is handed out by itself.
fn each_on_all_cores(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_on_all_cores_stands_in_the_order_of_its_places() {
        let even = on_all_cores(1_000, &|place| place.is_multiple_of(2).then(|| place.to_string()));
        assert_eq!(even, (0..1_000).step_by(2).map(|place| place.to_string()).collect::<Vec<_>>());
        assert_eq!(each_of(&even, String::len), even.iter().map(String::len).collect::<Vec<_>>());
        let mut texts = even.clone();
        assert_eq!(changed_on_all_cores(&mut texts, &|text| std::mem::take(text)), even);
        assert!(texts.iter().all(String::is_empty));
        let sum: usize = sum_on_all_cores(1_000, &|place| (place > 9).then_some(place), &|sum, place| *sum += place);
        assert_eq!(sum, (10..1_000).sum::<usize>());
    }
}
