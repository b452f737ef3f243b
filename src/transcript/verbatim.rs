//! Words that are kept beside their numbers.

use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// Words that were kept. Most texts keep none: to have room for them takes one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Verbatim(Box<Box<str>>);

impl Deref for Verbatim {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Box<str>>> From<T> for Verbatim {
    fn from(words: T) -> Verbatim {
        Verbatim(Box::new(words.into()))
    }
}
