//! A file of `opencode export`: one object with the session and all its messages.

use super::record::SessionInfo;
use super::session::{Session, Stored};
use crate::format::ground::{ReadError, Source, fault};
use crate::format::recorder::end;
use crate::transcript::{Scale, Transcript};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Reads the session of an export file.
pub fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let text = source.document()?;
    let mut session = Session::new(source.name(), scale);
    let mut json = serde_json::Deserializer::from_str(&text);
    let outcome = Export { session: &mut session, source }.deserialize(&mut json);
    // What was read before the damage stays.
    if let Err(error) = outcome.and_then(|()| json.end()) {
        source.lose(0, fault(&error, true));
    }
    end(session.finish(&mut |reason| source.lose(0, reason)), 0, source, give);
    Ok(())
}

struct Export<'e, 's> {
    session: &'e mut Session<'s>,
    source: &'e mut Source,
}

impl<'de> DeserializeSeed<'de> for Export<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Export<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an exported session")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "info" => self.session.describe(&entries.next_value::<SessionInfo<'de>>()?),
                "messages" => entries.next_value_seed(Messages(&mut self))?,
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Messages<'m, 'e, 's>(&'m mut Export<'e, 's>);

impl<'de> DeserializeSeed<'de> for Messages<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Messages(Export { session, source }) = self;
        let mut number = 0;
        // Each message is taken as raw text first, so that one of an unknown shape costs no other.
        while let Some(raw) = items.next_element::<&'de RawValue>()? {
            number += 1;
            match serde_json::from_str::<Stored<'de>>(raw.get()) {
                Ok(stored) => session.stored(&stored, &mut |reason| source.lose(number, reason)),
                Err(_) => source.lose(number, "message of an unexpected shape"),
            }
        }
        Ok(())
    }
}
