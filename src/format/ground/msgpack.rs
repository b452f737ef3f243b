//! MessagePack, written out as JSON text, so that what is packed is read as what is not.
//!
//! What is no JSON (bytes, broken numbers, extensions) is null, unless the caller has something to say of an extension.

use std::fmt::Write;

/// A value that is nested deeper is damaged, or made to exhaust the stack. JSON text has the same bound.
const DEEPEST: usize = 100;

/// What an extension of this kind with this content is in JSON; `None` where nothing is known of it.
pub type Extension = fn(u8, &[Json]) -> Option<String>;

/// JSON text.
pub type Json = String;

/// The JSON text of a packed value; `None` of a damaged one. Of an extension that holds a packed value the elements of the list that it is (or itself, where
/// it is none) are handed to `extension`.
pub fn json(packed: &[u8], extension: Extension) -> Option<Json> {
    let mut reader = Reader { rest: packed, extension };
    let mut text = String::new();
    reader.value(&mut text, 0)?;
    Some(text)
}

struct Reader<'p> {
    rest: &'p [u8],
    extension: Extension,
}

impl<'p> Reader<'p> {
    fn value(&mut self, text: &mut String, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let first = self.number(1)? as u8;
        match first {
            0x00..=0x7f => write!(text, "{first}").ok()?,
            0x80..=0x8f => self.map(u64::from(first & 15), text, depth)?,
            0x90..=0x9f => self.list(u64::from(first & 15), text, depth)?,
            0xa0..=0xbf => self.string(u64::from(first & 31), text)?,
            0xc2 => text.push_str("false"),
            0xc3 => text.push_str("true"),
            0xc4..=0xc6 => {
                let length = self.number(1 << (first - 0xc4))?;
                self.bytes(length)?;
                text.push_str("null");
            }
            0xc7..=0xc9 => {
                let length = self.number(1 << (first - 0xc7))?;
                self.extended(length, text, depth)?;
            }
            0xca => float(f64::from(f32::from_bits(self.number(4)? as u32)), text),
            0xcb => float(f64::from_bits(self.number(8)?), text),
            0xcc..=0xcf => write!(text, "{}", self.number(1 << (first - 0xcc))?).ok()?,
            0xd0 => write!(text, "{}", self.number(1)? as i8).ok()?,
            0xd1 => write!(text, "{}", self.number(2)? as i16).ok()?,
            0xd2 => write!(text, "{}", self.number(4)? as i32).ok()?,
            0xd3 => write!(text, "{}", self.number(8)? as i64).ok()?,
            0xd4..=0xd8 => self.extended(1 << (first - 0xd4), text, depth)?,
            0xd9..=0xdb => {
                let length = self.number(1 << (first - 0xd9))?;
                self.string(length, text)?;
            }
            0xdc | 0xdd => {
                let length = self.number(2 << (first - 0xdc))?;
                self.list(length, text, depth)?;
            }
            0xde | 0xdf => {
                let length = self.number(2 << (first - 0xde))?;
                self.map(length, text, depth)?;
            }
            0xe0..=0xff => write!(text, "{}", first as i8).ok()?,
            0xc0 | 0xc1 => text.push_str("null"),
        }
        Some(())
    }

    fn bytes(&mut self, length: u64) -> Option<&'p [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(bytes)
    }

    /// A whole number of so many bytes, the largest first.
    fn number(&mut self, length: u64) -> Option<u64> {
        Some(self.bytes(length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn string(&mut self, length: u64, text: &mut String) -> Option<()> {
        let string = String::from_utf8_lossy(self.bytes(length)?);
        text.push_str(&serde_json::to_string(&string).ok()?);
        Some(())
    }

    fn list(&mut self, length: u64, text: &mut String, depth: usize) -> Option<()> {
        text.push('[');
        for at in 0..length {
            if at > 0 {
                text.push(',');
            }
            self.value(text, depth + 1)?;
        }
        text.push(']');
        Some(())
    }

    fn map(&mut self, length: u64, text: &mut String, depth: usize) -> Option<()> {
        text.push('{');
        for at in 0..length {
            if at > 0 {
                text.push(',');
            }
            let mut key = String::new();
            self.value(&mut key, depth + 1)?;
            // JSON has no keys but strings.
            text.push_str(&if key.starts_with('"') { key } else { serde_json::to_string(&key).ok()? });
            text.push(':');
            self.value(text, depth + 1)?;
        }
        text.push('}');
        Some(())
    }

    fn extended(&mut self, length: u64, text: &mut String, depth: usize) -> Option<()> {
        let kind = self.number(1)? as u8;
        let mut inner = Reader { rest: self.bytes(length)?, extension: self.extension };
        let first = inner.rest.first().copied().unwrap_or_default();
        let elements = match first {
            0x90..=0x9f => inner.number(1)? & 15,
            _ => 1,
        };
        let mut values = Vec::new();
        for _ in 0..elements {
            let mut value = String::new();
            // An extension of another program's holds anything.
            if inner.value(&mut value, depth + 1).is_none() {
                values.clear();
                break;
            }
            values.push(value);
        }
        text.push_str(&(self.extension)(kind, &values).unwrap_or_else(|| "null".to_owned()));
        Some(())
    }
}

fn float(number: f64, text: &mut String) {
    text.push_str(&serde_json::to_string(&number).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(packed: &[u8]) -> Option<String> {
        json(packed, |kind, values| (kind == 5).then(|| values.join("+")))
    }

    #[test]
    fn each_kind_of_value_has_its_json() {
        let cases: [(&[u8], &str); 14] = [
            (&[0x07], "7"),
            (&[0xff], "-1"),
            (&[0xd0, 0x80], "-128"),
            (&[0xd1, 0xff, 0x00], "-256"),
            (&[0xcd, 0x01, 0x00], "256"),
            (&[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], "1.5"),
            (&[0xca, 0x7f, 0xc0, 0, 0], "null"),
            (&[0x93, 0xc0, 0xc2, 0xc3], "[null,false,true]"),
            (&[0xdc, 0, 1, 0xa1, b'"'], r#"["\""]"#),
            (&[0x82, 0xa1, b'a', 1, 2, 0xd9, 1, b'b'], r#"{"a":1,"2":"b"}"#),
            (&[0xde, 0, 0], "{}"),
            (&[0xc4, 2, 9, 9], "null"),
            (&[0xd5, 5, 0x91, 4], "4"),
            (&[0xc7, 3, 5, 0x92, 4, 5], "4+5"),
        ];
        for (packed, expected) in cases {
            assert_eq!(shown(packed).as_deref(), Some(expected), "{packed:x?}");
        }
    }

    #[test]
    fn what_is_damaged_gives_nothing() {
        for packed in [&[][..], &[0xa5, b'a'], &[0xdd, 0xff, 0xff, 0xff, 0xff], &[0x81, 1], &[0xc8, 0xff], &[0x91; 200]] {
            assert_eq!(shown(packed), None, "{packed:x?}");
        }
        // What is damaged within an extension is lost alone.
        assert_eq!(shown(&[0x92, 0xd5, 7, 0x92, 1, 3]).as_deref(), Some("[null,3]"));
    }
}
