//! The matter of a story.

use crate::corpus::{Corpus, Excerpts};
use crate::cost::{CacheKind, Check, Split};
use crate::experiment::drift::Pairs;
use crate::experiment::{Choice, Composed, Replay};
use crate::report::asked::Baselines;
use crate::report::chart::Life;
use std::collections::BTreeMap;

/// How words of others are shown: renderers know what is harmless in their form.
pub type Shown<'a> = &'a dyn Fn(&str) -> String;

/// The matter of a story.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    /// The sessions.
    pub corpus: &'a Corpus,
    /// The policies, with their bills, and what stood in the context of each call.
    pub composed: &'a Composed,
    /// The recording and the user's own agents.
    pub baselines: Baselines<'a>,
    /// The sessions under no policy, with their bill.
    pub unchanged: &'a Replay,
    /// The model of the cache held against the recording, by agent.
    pub checks: &'a BTreeMap<String, Check>,
    /// The cache that costs are shown with.
    pub cache: CacheKind,
    /// The best policy.
    pub choice: &'a Choice,
    /// What the cache reads at each call, by policy.
    pub reads: &'a [(&'a Replay, Vec<Vec<Split>>)],
    /// Estimates beside recorded usage.
    pub paired: &'a Pairs,
    /// The session that stands for all in a chart, and its life under no policy and under the best one.
    pub example: (usize, &'a [Life<'a>]),
    /// The window that the presets' limits are worked out for.
    pub window: u64,
    /// The beginnings of texts; empty unless the user asked for them.
    pub excerpts: &'a Excerpts,
}
