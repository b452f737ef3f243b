//! The bytes of packed elements: in memory up to a bound for the whole process, beyond it in a temporary file.

use super::spill::Spill;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many bytes of packed elements are held in memory, all lists together.
const HELD: usize = 32 << 20;

/// A longer element goes into the file at once: it is that of a very long session, and the next one is made beside it.
const LONG: usize = 1 << 20;

static IN_MEMORY: AtomicUsize = AtomicUsize::new(0);
static SPILLED: OnceLock<Option<Spill>> = OnceLock::new();
static LOST: OnceLock<String> = OnceLock::new();

/// The bytes of one element. A copy of what is spilled shares its place: nothing that is written there is written again.
#[derive(Clone)]
pub(super) enum Bytes {
    Held(Held),
    Spilled(NonZeroU64),
}

/// Bytes in memory, counted as long as they live.
pub(super) struct Held(Box<[u8]>);

impl Bytes {
    /// Puts bytes away: into memory while there is room and they are not long, else into the file. Where the file takes nothing more, they stay in memory.
    pub fn new(bytes: Box<[u8]>) -> Bytes {
        Bytes::within(if bytes.len() > LONG { 0 } else { HELD }, bytes)
    }

    /// Puts bytes away with another bound on the bytes in memory.
    pub fn within(bound: usize, bytes: Box<[u8]>) -> Bytes {
        if IN_MEMORY.load(Ordering::Relaxed) + bytes.len() > bound
            && let Some(place) = SPILLED.get_or_init(Spill::new).as_ref().and_then(|spill| spill.put(&bytes))
        {
            return Bytes::Spilled(place);
        }
        Bytes::Held(Held::new(bytes))
    }

    /// The bytes again. Where they cannot be read any more there are none, and [`lost`] says so.
    pub fn get(&self) -> Cow<'_, [u8]> {
        match self {
            Bytes::Held(held) => Cow::Borrowed(&held.0),
            Bytes::Spilled(place) => {
                let read = SPILLED.get().and_then(Option::as_ref).map(|spill| spill.get(place.get()));
                let read = read.unwrap_or_else(|| Err(std::io::ErrorKind::NotFound.into()));
                Cow::Owned(read.unwrap_or_else(|error| {
                    LOST.get_or_init(|| error.to_string());
                    Vec::new()
                }))
            }
        }
    }
}

/// Why something that was written into the temporary file could not be read again. From then on all figures may be wrong: whoever gives figures asks first,
/// and gives none.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

impl Held {
    fn new(bytes: Box<[u8]>) -> Held {
        IN_MEMORY.fetch_add(bytes.len(), Ordering::Relaxed);
        Held(bytes)
    }
}

impl Clone for Held {
    fn clone(&self) -> Held {
        Held::new(self.0.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        IN_MEMORY.fetch_sub(self.0.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::spill::LONGEST;
    use super::*;

    #[test]
    fn what_is_spilled_comes_back_as_what_is_held() {
        let all: Vec<Box<[u8]>> = (0..1_000_usize).map(|number| vec![number as u8; number].into_boxed_slice()).collect();
        let spilled: Vec<Bytes> = all.iter().map(|bytes| Bytes::within(0, bytes.clone())).collect();
        let held: Vec<Bytes> = all.iter().map(|bytes| Bytes::within(usize::MAX, bytes.clone())).collect();
        // No byte takes no room.
        let in_file = spilled.iter().filter(|bytes| matches!(bytes, Bytes::Spilled(_))).count();
        assert!((999..=1_000).contains(&in_file), "{in_file} of 1,000 in the file");
        assert!(held.iter().all(|bytes| matches!(bytes, Bytes::Held(_))));
        // One after the other, as walks go, and in leaps.
        for place in (0..all.len()).chain((0..all.len()).map(|place| place * 617 % all.len())) {
            let (bytes, spilled, held) = (&all[place], &spilled[place], &held[place]);
            assert_eq!((bytes.as_ref(), bytes.as_ref()), (&*spilled.get(), &*held.get()));
            assert_eq!(*spilled.clone().get(), *held.clone().get());
        }
        assert!(matches!(Bytes::within(0, vec![7; LONGEST + 1].into_boxed_slice()), Bytes::Held(_)), "too long for a place");
        assert_eq!(size_of::<Bytes>(), 16);
    }
}
