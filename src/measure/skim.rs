//! A scale for whoever reports what was recorded: it estimates sizes from lengths, and needs no vocabulary.

use super::evidence::identity;
use crate::transcript::{Evidence, Length, Scale, Text};

/// Takes so many bytes of UTF-8 for one token.
const BYTES_PER_TOKEN: u32 = 4;

/// Weighs a text by its length alone, in a small part of the time that counting takes. Lengths are exact, tokens are estimates. Copies are
/// known by the hashes of their texts, and nothing else is measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct SkimScale;

impl Scale for SkimScale {
    fn weigh(&self, text: &str) -> Text {
        let length = Length::of(text);
        let evidence = (!text.is_empty()).then(|| Box::new(Evidence { identity: identity(text), ..Evidence::default() }));
        Text { length, tokens: length.bytes.div_ceil(BYTES_PER_TOKEN), evidence, ..Text::default() }
    }
}
