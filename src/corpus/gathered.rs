//! What reading comes to: sessions, facts about them, and what could not be used.

use super::selection::Selected;
use crate::format::sum_in_dollars;
use crate::list::List;
use crate::trace::{BaseFrom, Outputs, Trace, Unseen};
use crate::transcript::Trust;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A file, or a part of one, that gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// The file as it was named.
    pub path: String,
    /// Why the file gave nothing, as a short sentence.
    pub reason: String,
}

/// Lines or records that a reader could not use, in a file whose rest is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileLoss {
    /// The file as it was named.
    pub path: String,
    /// What was wrong, as a short sentence.
    pub reason: String,
    /// Number of lines or records lost for this reason.
    pub count: u64,
    /// The first line or record, from 1; 0 where it has none.
    pub first_line: u64,
}

impl FileLoss {
    /// What the lost records say of whole sessions, in dollars: 0 where it is tokens, and `None` where they are no sums of sessions.
    pub fn sum_in_dollars(&self) -> Option<f64> {
        sum_in_dollars(&self.reason)
    }
}

/// What stood in several files and was counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicates {
    /// Files of which no session was left. They count among the files that were read, and are the source of no session.
    pub files: u64,
    /// Sessions of which nothing was left.
    pub sessions: u64,
    /// The part of them whose run another session holds in another form, with more usage.
    pub other_forms: u64,
    /// Calls left out as copies of others.
    pub calls: u64,
}

/// Sums over calls with usage that take mirrors into account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mirrored {
    /// Calls with usage that the sums cover.
    pub calls: u64,
    /// Tokens of the prompts of these calls.
    pub prompt_tokens: u64,
    /// Tokens of the outputs of these calls.
    pub output_tokens: u64,
}

/// What a corpus holds, for reports. Every number is recorded but `anchored_share`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusFacts {
    /// Files that gave at least one session.
    pub files: u64,
    /// Files by format, by its name.
    pub formats: BTreeMap<String, u64>,
    /// Sessions, copies not counted.
    pub sessions: u64,
    /// Those among them in which a model was called: a policy's figures can cover no other. It follows from the sessions.
    #[serde(skip)]
    pub called_sessions: u64,
    /// Messages, copies not counted.
    pub messages: u64,
    /// Calls that were made, with or without usage.
    pub calls: u64,
    /// Calls with usage, those of recorded summarisers and side calls included.
    pub calls_with_usage: u64,
    /// Calls with usage by trust.
    pub usage_by_trust: BTreeMap<Trust, u64>,
    /// Sum of the prompts of the calls with usage.
    pub recorded_prompt_tokens: u64,
    /// Output tokens of the calls with usage.
    pub outputs: Outputs,
    /// Tokens of the largest recorded prompt.
    pub max_prompt_tokens: u64,
    /// Share of the context tokens of all replayed calls that is anchored on recorded usage, in millionths; 0 where there are none.
    pub anchored_millionths: u64,
    /// Are there any? It follows from the sessions.
    #[serde(skip)]
    pub has_context_tokens: bool,
    /// Recorded compactions and prunings, undone for replay.
    pub recorded_compactions: u64,
    /// What was counted once although it stood in several files.
    pub duplicates: Duplicates,
    /// Calls of sub-agents that are mirrored in the logs of those who started them, and stand in no log of their own. No other number
    /// of these facts holds them.
    pub mirrored: Mirrored,
    /// Conversation from before logs that begin in the middle.
    pub unseen: UnseenFacts,
    /// Sessions that another one started and that were left out because the user asked for it.
    #[serde(skip)]
    pub sub_agents_left_out: u64,
    /// What was asked for by date and project, and what that left out; `None` where every session was.
    #[serde(skip)]
    pub selected: Option<Selected>,
    /// Files that gave nothing, each with its reason.
    pub skipped: Vec<Skipped>,
    /// Hidden folders below the named ones, which were passed over.
    pub hidden: Vec<String>,
    /// Damage within files that were used.
    pub losses: Vec<FileLoss>,
}

impl CorpusFacts {
    /// The share of the tokens of all calls that rests on recorded usage; `None` without a token.
    pub fn anchored(&self) -> Option<f64> {
        self.has_context_tokens.then(|| self.anchored_millionths as f64 / 1e6)
    }

    /// Calls whose usage is a share of a sum that the log has of many.
    pub fn shared_calls(&self) -> u64 {
        self.usage_by_trust.get(&Trust::Shared).copied().unwrap_or(0)
    }
}

/// Measured sessions and what is known of where they came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Corpus {
    /// What the corpus holds, for reports.
    pub facts: CorpusFacts,
    /// The sessions in the order of their identities ([`Trace::by_identity`]): neither the names of folders and files nor the order in which
    /// they were read decide anything. Resamples draw them by their rank here.
    pub traces: List<Trace>,
}

impl CorpusFacts {
    /// The calls with usage and their tokens together with those that are known from mirrors alone; `None` where nothing is mirrored.
    pub fn with_mirrored(&self) -> Option<Mirrored> {
        (self.mirrored.calls > 0).then(|| Mirrored {
            calls: self.calls_with_usage + self.mirrored.calls,
            prompt_tokens: self.recorded_prompt_tokens + self.mirrored.prompt_tokens,
            output_tokens: self.outputs.all() + self.mirrored.output_tokens,
        })
    }
}

impl Corpus {
    /// Gives each file the name that `named` makes of it, in whatever is said of it.
    pub fn rename_files(&mut self, named: &dyn Fn(&str) -> String) {
        for place in 0..self.traces.len() {
            self.traces.change(place, |trace| trace.source = named(&trace.source));
        }
        let skipped = self.facts.skipped.iter_mut().flat_map(|skipped| [&mut skipped.path, &mut skipped.reason]);
        let losses = self.facts.losses.iter_mut().flat_map(|loss| [&mut loss.path, &mut loss.reason]);
        skipped.chain(losses).for_each(|words| *words = named(words));
    }

    /// Keeps of each path the file's name alone: folders may tell whose logs they are, and of what.
    pub fn forget_folders(&mut self) {
        fn forget(path: &mut String) {
            if let Some(name) = Path::new(path.as_str()).file_name().map(|name| name.to_string_lossy().into_owned()) {
                *path = name;
            }
        }
        self.traces.change_each(|trace| forget(&mut trace.source));
        self.facts.skipped.iter_mut().for_each(|skipped| forget(&mut skipped.path));
        self.facts.losses.iter_mut().for_each(|loss| forget(&mut loss.path));
        self.facts.skipped.sort();
        self.facts.losses.sort();
    }
}

/// Conversation from before the logs begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnseenFacts {
    /// Sessions whose logs begin in the middle.
    pub sessions: u64,
    /// Of these, sessions whose overhead nothing tells: all that their first prompts held beyond the log counts as overhead.
    pub unknown: u64,
    /// Tokens of unseen conversation in the first prompts of the others; estimated.
    pub tokens: u64,
}

impl UnseenFacts {
    /// Counts a session that begins in the middle.
    pub(super) fn add(&mut self, unseen: Option<Unseen>) {
        let Some(unseen) = unseen else { return };
        self.sessions += 1;
        self.unknown += u64::from(unseen.base == BaseFrom::Unknown);
        self.tokens += unseen.tokens;
    }
}
