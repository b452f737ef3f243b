//! What a kind of chart is: its name, what it shows, what must be at hand, and how it is made of that. Each kind stands in its own file; the table of
//! all of them is in `mod.rs`.

use super::document::{Chart, Drawn, NothingToDraw};
use crate::corpus::Corpus;
use crate::cost::{CacheKind, Check, Split};
use crate::experiment::Replay;
use crate::experiment::drift::{Pairs, Use};
use crate::experiment::idle::Idle;
use crate::experiment::validate::Validation;
use crate::policy::Plan;
use crate::report::asked::{Baselines, Swept};
use crate::report::notes;
use crate::report::title::title;
use crate::report::words::{counted, grouped};
use crate::sim::Conditions;
use std::collections::BTreeMap;

/// A kind of chart.
pub struct Kind {
    /// Its name, as it is typed.
    pub name: &'static str,
    /// What it shows, in one sentence without its end.
    pub sentence: &'static str,
    /// What must be at hand, beside the sessions.
    pub needs: &'static [Need],
    /// The policy that it shows where none is named; the main presets where this is absent.
    pub usual: Option<&'static str>,
    /// Makes the chart of material, or says why there is nothing to draw.
    pub draw: fn(&Material<'_>) -> Result<Drawn, NothingToDraw>,
}

/// What a chart is made of, and what can be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// References between texts are measured.
    Recall,
    /// Policies are replayed over the sessions.
    Replays,
    /// The recording, and the user's own agents; bills.
    Baselines,
    /// Money is shown: prices and caches can be named.
    Money,
    /// What the cache reads at each call.
    Reads,
    /// What the recorded cache did, and pauses between calls.
    Pauses,
    /// Estimates beside recorded usage.
    Pairs,
    /// Estimators can be named.
    Estimators,
    /// Estimates can be of the whole request, or of what came since the last recorded usage.
    Since,
    /// One session, and its life under each policy.
    Session,
    /// Settings of policies, and what each of them comes to.
    Settings,
    /// Runs under a policy, held against what was predicted of them.
    Arms,
}

/// A session's life under one policy.
pub struct Life<'a> {
    /// The policy's replay of the corpus.
    pub replay: &'a Replay,
    /// The policy's plan for this session.
    pub plan: Plan,
    /// The window, the reserve and the model of summaries.
    pub conditions: Conditions,
    /// Is it the policy that the session's own agent ran by?
    pub is_own: bool,
}

/// What a chart is made of. What its kind does not need may be absent.
#[derive(Clone, Copy)]
pub struct Material<'a> {
    /// The sessions that are drawn.
    pub corpus: &'a Corpus,
    /// The policies that are drawn; empty where the kind needs none.
    pub replays: &'a [Replay],
    /// The recording and the user's own agents.
    pub baselines: Baselines<'a>,
    /// The model of the cache held against the recording, by agent; absent where nothing is priced.
    pub checks: Option<&'a BTreeMap<String, Check>>,
    /// The cache that costs are shown with.
    pub cache: CacheKind,
    /// What the cache makes of the calls with a number, summed over sessions, by policy.
    pub reads: &'a [(&'a Replay, Vec<Split>)],
    /// What the recorded cache did, and pauses between calls.
    pub idle: Option<&'a Idle>,
    /// Estimates beside recorded usage.
    pub pairs: Option<&'a Pairs>,
    /// The estimators that are drawn first.
    pub estimators: &'a [&'a str],
    /// Estimates of whole requests, or on top of recorded usage.
    pub used: Use,
    /// The place of the session in the corpus, and its life under each policy.
    pub session: (usize, &'a [Life<'a>]),
    /// The settings of a sweep, with their rows.
    pub swept: Option<&'a Swept<'a>>,
    /// What was predicted, beside runs under the policy.
    pub validation: Option<&'a Validation>,
    /// The window that the presets' limits are worked out for.
    pub window: u64,
}

impl<'a> Material<'a> {
    /// Sessions alone, in a window of 200,000 tokens.
    pub fn of(corpus: &'a Corpus) -> Material<'a> {
        Material {
            corpus,
            replays: &[],
            baselines: Baselines::default(),
            checks: None,
            cache: CacheKind::default(),
            reads: &[],
            idle: None,
            pairs: None,
            estimators: &[],
            used: Use::SinceUsage,
            session: (0, &[]),
            swept: None,
            validation: None,
            window: 200_000,
        }
    }

    /// Is this the row of the user's own agents, and do they cover some sessions alone? Then it compares with no row over all of them.
    pub fn is_of_some(&self, replay: &Replay) -> bool {
        self.baselines.own.is_some_and(|own| !own.left_out.is_empty() && own.replay.policy == replay.policy)
    }

    /// How many sessions the own agents cover; `None` where they cover all, or are not there.
    pub fn coverage(&self) -> Option<String> {
        let own = self.baselines.own.filter(|own| !own.left_out.is_empty() && own.covered > 0)?;
        let all = counted(self.corpus.facts.called_sessions, "session");
        Some(format!("{} covers {} of {all}", own.replay.policy, grouped(own.covered)))
    }
}

impl Kind {
    /// Draws the chart, with what its figures rest on.
    pub fn chart(&self, material: &Material<'_>) -> Result<Chart, NothingToDraw> {
        let replays = [Need::Replays, Need::Session, Need::Settings].iter().any(|need| self.needs(*need));
        let rests_on = if replays { notes::below_a_replay(material.corpus) } else { notes::below_a_chart(material.corpus) };
        // A chart of one session names it.
        let over = (!self.needs(Need::Session)).then(|| format!("Over {}.", title(&material.corpus.facts)));
        let rests_on = over.into_iter().chain(rests_on).collect();
        let Drawn { title, subtitle, drawing, mut notes, data } = (self.draw)(material)?;
        let compares = self.needs(Need::Baselines) && !self.needs(Need::Money);
        notes.extend(material.coverage().filter(|_| compares).map(|covers| format!("{covers}; the other rows are over all of them.")));
        Ok(Chart { kind: self.name, title, subtitle, drawing, notes, rests_on, data })
    }

    /// Is this at hand when it is made?
    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }
}
