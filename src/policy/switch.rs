//! On or off, as a document says it.

use serde::Deserialize;

/// A yes-or-no key of a policy document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Flag")]
pub enum Switch {
    /// `true`, or a formula that gives any number but 0.
    On,
    /// `false`, or a formula that gives 0.
    #[default]
    Off,
}

/// A switch as it is written: `true`, or a formula that gives 1.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a boolean, or a formula that gives 0 or 1")]
enum Flag {
    Plain(bool),
    Worked(f64),
}

impl From<Flag> for Switch {
    fn from(flag: Flag) -> Switch {
        match flag {
            Flag::Plain(true) => Switch::On,
            Flag::Worked(value) if value != 0.0 => Switch::On,
            _ => Switch::Off,
        }
    }
}
