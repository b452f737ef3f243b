//! AN AGENT'S OWN CONFIGURATION: where its parameters are set, by the keys of its own documentation, and the same as text to paste.
//! Which keys an agent knows stands in the presets; here stands how files are written.

mod file;
mod nested;
mod read;
mod snippet;

pub use file::{ConfigurationFile, Key, Syntax};
pub use read::Configured;
pub use snippet::{Snippet, Snippets, Unset};
