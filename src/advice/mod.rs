//! WHAT IS SAID ABOUT POLICIES: findings, sentences, differences, and the configuration of the agents that they model.

mod configuration;
mod difference;
mod effect;
mod findings;
mod words;

pub use configuration::{Configured, Snippet, Snippets, Unset};
pub use difference::{Differences, differences};
pub use effect::WithoutEffect;
pub use findings::{Finding, Gravity};
pub use words::Facet;
