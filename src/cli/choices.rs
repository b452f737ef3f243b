//! Options that take one of some values by its name.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Values by their names, with what the help says of each.
pub type Choices<T> = &'static [(&'static str, T, &'static str)];

/// Reads the name of one of them.
pub fn one_of<T: Copy + Send + Sync>(all: Choices<T>) -> impl TypedValueParser<Value = T> {
    let names = all.iter().map(|(name, _, help)| PossibleValue::new(*name).help(*help)).collect::<Vec<_>>();
    let named = |name: String| all.iter().find(|(known, ..)| *known == name).map(|(_, value, _)| *value);
    PossibleValuesParser::new(names).try_map(move |name| named(name).ok_or("no such value"))
}

/// The name of one of them.
pub fn name_of<T: PartialEq>(all: Choices<T>, value: &T) -> &'static str {
    all.iter().find(|(_, known, _)| known == value).map_or("", |(name, ..)| name)
}
