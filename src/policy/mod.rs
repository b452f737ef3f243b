//! WHAT AN AGENT DOES to stay inside its window: rules, triggers, selectors, actions, guards, as data.
//!
//! A policy is a TOML document. [`Policy::load`] is the only door from text to policy: presets, files and sweeps all pass it.
//! Nothing in this room can see an actual size: a policy physically cannot look at the truth.

mod action;
mod candidates;
mod check;
mod configuration;
mod document;
mod draft;
mod excerpt;
mod expression;
mod family;
mod figures;
mod growing;
mod marker;
mod mistake;
mod parameter;
mod plan;
mod preset;
mod range;
mod recorded_by;
mod schema;
mod select;
mod selector;
mod texts;
mod trigger;
mod truncate;

pub use action::{Boundary, Drop, Inject, Input, Mask, Place, Preview, Summarise, SummariserOverflow, SummaryRole, Texts, Truncate};
pub use configuration::{ConfigurationFile, Key, Syntax};
pub use document::{FALLBACK_WINDOW, Facts, Policy, PolicyError};
pub use draft::{Dialled, Drafts};
pub use excerpt::{apply, apply_to_bytes};
pub use expression::{Expression, ExpressionError, Scope, number};
pub use figures::{arithmetic, figure, formula_of};
pub use growing::Growing;
pub use parameter::{Parameter, SearchRange};
pub use plan::{
    AfterOverflow, AfterRewrite, Basis, Belief, Comparison, Hook, MaxFires, MinSaving, Mode, Plan, Reactive, ReadOutput, ReportedAs, Rule,
    Summary, SummaryModel, Switch, UsageShare, Window,
};
pub use preset::{Preset, preset_names, presets};
pub use range::Range;
pub use recorded_by::{ImpliedWindow, RecordedBy, Recorder, implied_window, window_in_force};
pub use schema::schema;
pub use select::{Bounds, Selection, Shortened};
pub use selector::{
    Absent, AllKept, Carried, Crossing, Direction, End, EndOf, EndUnit, Kind, Missing, Order, Pairs, Protect, Replay, Select, Snap, Stop,
    Tails, Take,
};
pub use texts::apply_to_texts;
pub use trigger::{Belief as BeliefAtLimit, Count, Counted, Level, Measure, Sight, Tally, Trigger, Verdict};
pub use truncate::{Cut, cut, own_text};

/// "; did you mean `x`?" for the known name that is nearest to an unknown one, or nothing where none is near.
pub fn suggestion<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> String {
    // Whoever stops early means the shortest name that goes on so.
    let rank = |name: &'a str| {
        let goes_on = unknown.len() >= 3 && name.starts_with(unknown);
        (if goes_on { 0 } else { strsim::damerau_levenshtein(unknown, name) }, name.len(), name)
    };
    match known.map(rank).min() {
        Some((distance, _, name)) if distance <= 2 || distance * 3 <= unknown.len() => format!("; did you mean `{name}`?"),
        _ => String::new(),
    }
}
