//! The typed form of a policy: what its TOML says once every formula has become a number for one model.
//!
//! The words are those of the policy vocabulary: hooks, triggers, selectors, actions, guards, each orthogonal to the others.

use super::action::{Drop, Inject, Mask, Summarise, Truncate};
use super::inflate::NoInflate;
use super::program::Program;
use super::selector::Select;
use super::switch::Switch;
use super::trigger::Trigger;
use crate::estimate::Estimator;
use crate::names::named;
use crate::transcript::Usage;
use serde::{Deserialize, Deserializer};
use std::sync::Arc;

/// A policy for one model: numbers only.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The agents, as readers name them, whose marks of truncation its own limits have left in their logs.
    pub agents: Vec<String>,
    /// What the policy takes the window to be.
    pub window: Window,
    /// The policy's estimate of what texts cost.
    pub estimator: Estimator,
    /// How its estimate of the whole context comes about.
    pub belief: Belief,
    /// How large its summaries are.
    pub summary: Summary,
    /// What the policy does when the provider refuses a call.
    pub reactive: Reactive,
    /// The program that decides where a rule asks; `None` where no rule does.
    pub program: Option<Program>,
    /// The rules, in the order in which the system runs them. Settings of one policy share those in which they do not differ.
    pub rule: Vec<Arc<Rule>>,
}

impl Plan {
    /// The place of the rule with this id.
    pub fn place_of(&self, id: &str) -> Option<usize> {
        self.rule.iter().position(|rule| rule.id == id)
    }

    /// The place of the rule at which failures of the one at this place are counted.
    pub fn gives_up_with(&self, index: usize) -> usize {
        self.rule.get(index).and_then(|rule| self.place_of(rule.give_up_with.as_ref()?)).unwrap_or(index)
    }

    /// The lowest size at which a rule looks at the context, rules that run on a refusal left out; `None` where none looks at a size, and where one may
    /// fire at any: by a count, or a pause.
    pub fn lowest_limit(&self) -> Option<u64> {
        let triggers = || self.rule.iter().filter(|rule| rule.at != Hook::Overflow).filter_map(|rule| rule.when.as_ref());
        if !triggers().all(Trigger::needs_a_size) {
            return None;
        }
        let triggers = triggers();
        triggers.flat_map(Trigger::levels).map(|limit| limit.max(0.0) as u64).min()
    }
}

/// The policy's view of the window.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Window {
    /// The window taken for a model that the catalogue does not know.
    pub default: Option<u64>,
    /// Output reserve: tokens kept free for the reply.
    pub reserve: u64,
    /// A compaction is `early` where the context was below the limit by more than this.
    pub safety_buffer: u64,
}

/// The estimate of the whole context.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Belief {
    /// What recorded usage is worth after the policy itself rewrote the context.
    pub after_rewrite: AfterRewrite,
    /// What a refused call teaches the policy.
    pub after_overflow: AfterOverflow,
    /// What the context is taken for where it is taken to be full; the window where absent.
    pub full: Option<u64>,
    /// Are tokens that a call wrote to the cache part of what the policy reads as its usage?
    pub cache_write: UsageShare,
    /// Which count of a reply's tokens the policy reads.
    pub output: ReadOutput,
    /// Is encrypted reasoning from before the last real user message added to the usage, by estimate (Codex, unless the server tells it not to)?
    pub old_reasoning: Switch,
}

/// Does the policy read a part of the reported usage?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageShare {
    /// The policy counts the part with the rest.
    #[default]
    Counted,
    /// The policy looks at other fields alone.
    Ignored,
}

/// The reply's tokens in the usage that a policy reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadOutput {
    /// All of them, as they stand at the end of the stream.
    #[default]
    Whole,
    /// Those that its log holds, a placeholder from the beginning of the stream included.
    Logged,
}

impl Belief {
    /// The reply's tokens as the policy reads them: of the whole reply, or as the log has them, where it has any.
    pub fn reads_output(&self, whole: u64, logged: Option<u64>) -> u64 {
        match self.output {
            ReadOutput::Whole => whole,
            ReadOutput::Logged => logged.unwrap_or(whole),
        }
    }

    /// Prompt and output as the policy reads them in what a provider reported.
    pub fn reads(&self, usage: &Usage) -> (u64, u64) {
        let ignored = if self.cache_write == UsageShare::Ignored { usage.cache_write } else { 0 };
        (usage.prompt.saturating_sub(ignored), usage.output)
    }
}

/// What the last usage is worth after a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterRewrite {
    /// The policy estimates the new context and goes on from there.
    #[default]
    Estimate,
    /// The policy knows nothing until the next response: triggers on usage stay silent.
    Unknown,
    /// The policy keeps the old usage.
    Stale,
}

/// What a refused call teaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterOverflow {
    /// The refusal does not change the policy's estimate.
    #[default]
    Nothing,
    /// The context is taken to be exactly full.
    Full,
}

/// How large a summary is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Summary {
    /// Which model gives the summary's tokens.
    pub model: SummaryModel,
    /// Tokens of a `fixed` summary, and of a `recorded` one where the corpus holds none.
    pub tokens: u64,
    /// Share of what it replaces, for `share`.
    pub ratio: f64,
    /// Least tokens of a summary, for `share`.
    pub min: u64,
    /// Most tokens of a summary, for `share`; 0 for no bound.
    pub max: u64,
}

impl Default for Summary {
    fn default() -> Summary {
        Summary { model: SummaryModel::Fixed, tokens: 1_500, ratio: 0.1, min: 0, max: 0 }
    }
}

/// The models of a summary's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryModel {
    /// The number of tokens that the document fixes.
    #[default]
    Fixed,
    /// A share of what it replaces, within bounds.
    Share,
    /// The median of the summaries that the corpus recorded.
    Recorded,
}

/// The answer to a refused call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reactive {
    /// How often the call is tried again.
    pub retries: u32,
}

impl Rule {
    /// What it does to what it selects; `None` where it only puts text in.
    pub fn action(&self) -> Option<Action<'_>> {
        let items = || self.mask.as_ref().map(Action::Mask).or_else(|| self.truncate.as_ref().map(Action::Truncate));
        let messages = || self.drop.as_ref().map(Action::Drop).or_else(|| self.summarise.as_ref().map(Action::Summarise));
        items().or_else(messages)
    }

    /// Does it make the context smaller, or does it only put text in? What a program does is taken to.
    pub fn shrinks(&self) -> bool {
        self.action().is_some() || self.asks()
    }

    /// Does a program decide what it does?
    pub fn asks(&self) -> bool {
        self.ask == Switch::On
    }
}

/// What a rule does to what it selects: the one of its four words that is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action<'r> {
    /// Items are replaced by a short text.
    Mask(&'r Mask),
    /// Items are cut to a limit.
    Truncate(&'r Truncate),
    /// Messages are removed without a summary.
    Drop(&'r Drop),
    /// Messages are replaced by a summary.
    Summarise(&'r Summarise),
}

/// One rule. Rules of one place in the loop run in the order of the document. Each is asked in turn: has it fired, or failed, as often as it
/// may? Does its trigger fire? Then its selection is made, its guards are asked, and its one action is done. Where that changes
/// nothing, the rule that `else` names is run instead, trigger and all.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Name of the rule within the policy.
    pub id: String,
    /// Where in the loop the rule runs.
    pub at: Hook,
    /// For a check point within a gap: so many seconds after the last reply.
    #[serde(default, deserialize_with = "seconds")]
    pub after: Option<f64>,
    /// The rule exists only where this is not zero (a condition on model and parameters).
    #[serde(rename = "if")]
    pub condition: Option<f64>,
    /// Of the reactive rules, the one for the n-th refusal; absent for all.
    pub attempt: Option<u32>,
    /// Not at a call at which one of these other rules has fired, whatever came of it: they are one check (Qwen Code, deepagents).
    #[serde(default, deserialize_with = "one_or_more")]
    pub unless: Vec<String>,
    /// Condition under which the rule fires. Absent: always.
    pub when: Option<Trigger>,
    /// Items or messages that the rule acts upon.
    #[serde(default)]
    pub select: Select,
    /// Replace items by a short text.
    pub mask: Option<Mask>,
    /// Cut items to a limit.
    pub truncate: Option<Truncate>,
    /// Remove messages without a summary.
    pub drop: Option<Drop>,
    /// Replace messages by a summary.
    pub summarise: Option<Summarise>,
    /// Text put in, alone or after the action.
    #[serde(default)]
    pub inject: Vec<Inject>,
    /// The program of the document decides what is done.
    #[serde(default)]
    pub ask: Switch,
    /// Do it only if it saves at least (more than) this.
    pub min_saving: Option<MinSaving>,
    /// The least share of all messages that are looked at that must go, else the rule fails.
    pub min_progress: Option<f64>,
    /// The least number of messages that must go, earlier summaries not counted, else the rule fails
    /// (pi 1.5 refuses a compaction in which nothing new would be summarised).
    pub min_messages: Option<u64>,
    /// Refuse what comes where it is too large.
    #[serde(default)]
    pub no_inflate: NoInflate,
    /// How often it may fire.
    pub max_fires: Option<MaxFires>,
    /// After so many failures in a row it runs no more, until a success of a rule that summarises, or of one that counts with it, begins the
    /// count anew. A success of its own does so as well.
    pub give_up_after: Option<u32>,
    /// The other rule with whose failures this one's are counted: what makes the other one give up makes this one too (Gemini CLI, Qwen Code).
    /// The other one counts by itself.
    #[serde(default)]
    pub give_up_with: Option<String>,
    /// A summary is asked for at once, and takes its place so many calls later: what came in between stays. A rule that summarises
    /// meanwhile waits for it instead of asking for another.
    #[serde(default)]
    pub delay: u64,
    /// The agent gives up instead of calling: the session ends here.
    #[serde(default)]
    pub refuse: Switch,
    /// How long the change of the context lasts.
    #[serde(default)]
    pub mode: Mode,
    /// The rule to run where this one failed to change anything.
    #[serde(rename = "else")]
    pub otherwise: Option<String>,
    /// What the rule is reported as; by default that of its action.
    pub event: Option<ReportedAs>,
}

/// Seconds as a number, or as `90s`, `54m`, `2h`.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected seconds, or a text such as \"54m\"")]
    enum Written {
        Number(f64),
        Text(String),
    }
    let wrong = |text: &str| serde::de::Error::custom(format!("`{text}` is no time: write seconds, or a number with s, m or h"));
    Ok(Some(match Written::deserialize(deserializer)? {
        Written::Number(seconds) => seconds,
        Written::Text(text) => {
            let unit =
                text.chars().last().and_then(|unit| [('s', 1.0), ('m', 60.0), ('h', 3_600.0)].iter().find(|(known, _)| *known == unit));
            let number = text.get(..text.len().saturating_sub(1)).and_then(|number| number.parse::<f64>().ok());
            let seconds = number.zip(unit).map(|(number, (_, seconds))| number * seconds).filter(|seconds| seconds.is_finite());
            seconds.ok_or_else(|| wrong(&text))?
        }
    }))
}

/// A name alone, or a list of them.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected the id of a rule, or a list of them")]
    enum Written {
        One(String),
        More(Vec<String>),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::One(name) => vec![name],
        Written::More(names) => names,
    })
}

/// The names under which a rule's work may be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedAs {
    /// Old items were replaced by placeholders.
    Prune,
    /// Messages were replaced by a summary.
    Compact,
    /// Messages were removed without a summary.
    Drop,
    /// Everything but a few messages was replaced.
    Reset,
}

named! {
    /// The places of the loop at which rules run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Hook: name {
        /// As an item arrives, before it stands in the context.
        Ingest = "ingest",
        /// A user message is about to enter: the stored history is checked first.
        TurnStart = "turn_start",
        /// A tool's result has arrived; further results of the same reply may follow.
        ToolResult = "tool_result",
        /// Right before a call, everything included.
        PreCall = "pre_call",
        /// Right before a call, but not before the first one after a user message: between two steps of one turn
        /// (Codex and pi 1.5 check there, beside their check between turns).
        MidTurn = "mid_turn",
        /// After each reply of the model.
        PostCall = "post_call",
        /// After the last reply of a turn.
        TurnEnd = "turn_end",
        /// No user message has come for a while: once in each gap, behind the last reply of a session too.
        Idle = "idle",
        /// The provider refused the call as too long.
        Overflow = "overflow",
        /// Only when another rule names it.
        Manual = "manual",
    }
}

/// Saving that a rule must reach, or exceed, to act.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinSaving {
    /// Estimated tokens of what would be replaced.
    pub tokens: u64,
    /// Gross counts what goes; net subtracts what comes in its place.
    #[serde(default)]
    pub basis: Basis,
    /// Exactly this much is enough (`ge`), or it must be more (`gt`).
    #[serde(default)]
    pub cmp: Comparison,
}

/// Which tokens a saving counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Estimated tokens of what goes.
    #[default]
    Gross,
    /// Estimated tokens of what goes, less those of what comes in its place.
    Net,
}

/// How a limit compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// The value must lie above the limit.
    #[default]
    Gt,
    /// The value must lie at the limit or above.
    Ge,
}

/// How often a rule may fire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MaxFires {
    /// Firings within one call; absent: no bound.
    pub per_call: Option<u32>,
    /// Firings within one turn; absent: no bound.
    pub per_turn: Option<u32>,
    /// Firings within one session; absent: no bound.
    pub per_session: Option<u32>,
}

/// How long a change of the context lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The change stays in the stored history.
    #[default]
    Commit,
    /// It is made anew for each request and forgotten after it (BaseAgent forgets its pruning so).
    View,
    /// It lasts where it leaves fewer messages than there were; else it is forgotten after the request (BaseAgent's loop keeps only what
    /// is shorter).
    CommitIfFewer,
    /// It is made for the rest of the turn; the stored history comes back at the next one (PicoClaw trims so).
    Turn,
}
