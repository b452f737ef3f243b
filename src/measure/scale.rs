//! Stand-in.
use crate::estimate::Counter;
use crate::transcript::{Length, Scale, Text};

/// Stand-in.
pub struct TextScale<'a> {
    counter: &'a Counter,
}
impl<'a> TextScale<'a> {
    /// Stand-in.
    pub fn new(counter: &'a Counter) -> TextScale<'a> {
        TextScale { counter }
    }
}
impl Scale for TextScale<'_> {
    fn weigh(&self, text: &str) -> Text {
        let length = Length {
            bytes: text.len() as u32,
            utf16: text.encode_utf16().count() as u32,
            chars: text.chars().count() as u32,
            newlines: text.bytes().filter(|byte| *byte == b'\n').count() as u32,
        };
        Text { length, tokens: self.counter.count(text) as u32, json_bytes: text.len() as u32, shape: None, content: None }
    }
}
