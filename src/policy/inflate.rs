//! What a change of the context may come to at the most.

use serde::Deserialize;

/// When what comes is too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub enum NoInflate {
    /// Never.
    #[default]
    Off,
    /// A summary that is larger than what it replaces, and a placeholder or a cut of what arrives that is no smaller than the text.
    Replaced,
    /// A summary behind which the history, by estimate and without the system's messages, is larger than the prompt that the provider reported
    /// last (Gemini CLI). Where no prompt has been reported, none is.
    UsageIn,
}

/// The key as it is written: `true`, a formula that gives 1, or the size that is not to be exceeded.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a boolean, a formula that gives 0 or 1, or \"usage_in\"")]
enum Written {
    Plain(bool),
    Worked(f64),
    Against(Against),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Against {
    UsageIn,
}

impl From<Written> for NoInflate {
    fn from(written: Written) -> NoInflate {
        match written {
            Written::Plain(true) => NoInflate::Replaced,
            Written::Worked(value) if value != 0.0 => NoInflate::Replaced,
            Written::Plain(_) | Written::Worked(_) => NoInflate::Off,
            Written::Against(Against::UsageIn) => NoInflate::UsageIn,
        }
    }
}
