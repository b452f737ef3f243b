//! Words that are kept beside their numbers.

use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// Words that were kept. Most texts keep none: to have room for them takes one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptText(Box<Box<str>>);

impl Deref for KeptText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Box<str>>> From<T> for KeptText {
    fn from(words: T) -> KeptText {
        KeptText(Box::new(words.into()))
    }
}
