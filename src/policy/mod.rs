//! WHAT AN AGENT DOES to stay inside its window: rules, triggers, selectors, actions, guards, as data.
//!
//! A policy is a TOML document. [`Policy::load`] is the only door from text to policy: presets, files and sweeps all pass it.
//! Nothing in this room can see an actual size: a policy physically cannot look at the truth.

mod document;
mod expression;
mod plan;
mod preset;
mod select;
mod trigger;
mod truncate;

pub use document::{FALLBACK_WINDOW, Facts, Parameter, Policy, PolicyError};
pub use expression::{Expression, ExpressionError, Scope, number};
pub use plan::*;
pub use preset::{Preset, presets};
pub use select::Selection;
pub use trigger::{Belief as BeliefAtLimit, Sight, Verdict};
pub use truncate::{Cut, cut, own_text};

/// "; did you mean `x`?" for the known name that is nearest to an unknown one, or nothing where none is near.
pub fn suggestion<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known.map(|name| (strsim::damerau_levenshtein(unknown, name), name)).min();
    match near {
        Some((distance, name)) if distance <= 2 || distance * 3 <= unknown.len() => format!("; did you mean `{name}`?"),
        _ => String::new(),
    }
}
