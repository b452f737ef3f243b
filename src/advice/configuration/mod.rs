//! AN AGENT'S OWN CONFIGURATION: its parameters read from its own file, and as text to paste. Which keys an agent knows stands in the presets; here
//! stands how files are written.

mod nested;
mod read;
mod snippet;

pub use read::Configured;
pub use snippet::{Snippet, Snippets, Unset};
