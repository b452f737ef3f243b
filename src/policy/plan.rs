//! The typed form of a policy: what its TOML says once every formula has become a number for one model.
//!
//! The words are those of the policy vocabulary: hooks, triggers, selectors, actions, guards, each orthogonal to the others.

use crate::estimate::{Estimator, Unit};
use serde::Deserialize;

/// A policy for one model: numbers only.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// What the policy takes the window to be.
    pub window: Window,
    /// What it believes that texts cost.
    pub estimator: Estimator,
    /// How its belief about the whole context comes about.
    pub belief: Belief,
    /// How large its summaries are.
    pub summary: Summary,
    /// What it does when the provider refuses a call.
    pub reactive: Reactive,
    /// The rules, in the order in which the system runs them.
    pub rule: Vec<Rule>,
}

/// The policy's view of the window.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Window {
    /// The window taken for a model that the catalogue does not know.
    pub default: Option<u64>,
    /// Output reserve: tokens kept free for the reply.
    pub reserve: u64,
    /// A compaction is `premature` where the context was below the limit by more than this.
    pub safety_buffer: u64,
}

/// The belief about the whole context.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Belief {
    /// What recorded usage is worth after the policy itself rewrote the context.
    pub after_rewrite: AfterRewrite,
    /// What a refused call teaches the policy.
    pub after_overflow: AfterOverflow,
}

/// What the last usage is worth after a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterRewrite {
    /// The policy estimates the new context and goes on from there.
    #[default]
    Estimate,
    /// It knows nothing until the next response: triggers on usage stay silent.
    Unknown,
    /// It goes on believing the old usage.
    Stale,
}

/// What a refused call teaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterOverflow {
    /// Nothing.
    #[default]
    Nothing,
    /// The context is taken to be exactly full.
    Full,
}

/// How large a summary is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Summary {
    /// Which model of size.
    pub model: SummaryModel,
    /// Tokens of a `fixed` summary, and of a `recorded` one where the corpus holds none.
    pub tokens: u64,
    /// Share of what it replaces, for `share`.
    pub ratio: f64,
    /// Least tokens, for `share`.
    pub min: u64,
    /// Most tokens, for `share`; 0 for no bound.
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
    /// Always the same.
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

/// One rule.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name within the policy.
    pub id: String,
    /// Where in the loop.
    pub at: Hook,
    /// The rule exists only where this is not zero (a condition on model and parameters).
    #[serde(default, rename = "if")]
    pub condition: Option<f64>,
    /// Of the reactive rules, the one for the n-th refusal; absent for all.
    #[serde(default)]
    pub attempt: Option<u32>,
    /// When. Absent: always.
    #[serde(default)]
    pub when: Option<Trigger>,
    /// What is acted upon.
    #[serde(default)]
    pub select: Select,
    /// Replace items by a short text.
    #[serde(default)]
    pub mask: Option<Mask>,
    /// Cut items.
    #[serde(default)]
    pub truncate: Option<Truncate>,
    /// Remove messages.
    #[serde(default)]
    pub drop: Option<Drop>,
    /// Replace messages by a summary.
    #[serde(default)]
    pub summarise: Option<Summarise>,
    /// Text put in, alone or after the action.
    #[serde(default)]
    pub inject: Vec<Inject>,
    /// Do it only if it saves at least (more than) this.
    #[serde(default)]
    pub min_saving: Option<MinSaving>,
    /// The least share of the eligible messages that must go, else the rule fails.
    #[serde(default)]
    pub min_progress: Option<f64>,
    /// Refuse a summary that is larger than what it replaces.
    #[serde(default)]
    pub no_inflate: Switch,
    /// How often it may fire.
    #[serde(default)]
    pub max_fires: Option<MaxFires>,
    /// After a failure, never again in this session.
    #[serde(default)]
    pub latch_on_fail: Switch,
    /// Does the change last, or is it made anew for each request?
    #[serde(default)]
    pub mode: Mode,
    /// The rule to run where this one failed to change anything.
    #[serde(default, rename = "else")]
    pub otherwise: Option<String>,
    /// Kind of the event that it is reported as; by default that of its action.
    #[serde(default)]
    pub event: Option<String>,
}

/// On or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "bool")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    #[default]
    Off,
}

impl From<bool> for Switch {
    fn from(on: bool) -> Switch {
        if on { Switch::On } else { Switch::Off }
    }
}

/// The places of the loop at which rules run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hook {
    /// As an item arrives.
    Ingest,
    /// A user message is about to enter: the stored history is checked first.
    TurnStart,
    /// Right before a call, everything included.
    PreCall,
    /// After a reply.
    PostCall,
    /// After a reply that calls no tool.
    TurnEnd,
    /// The provider refused the call.
    Overflow,
    /// Only when another rule names it.
    Manual,
}

/// A condition on the state of the context.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A size has reached a limit.
    Level(Level),
    /// A number of things has been reached.
    Count(Count),
    /// Seconds since the last call.
    Idle(f64),
    /// One of them holds.
    Any(Vec<Trigger>),
    /// All of them hold.
    All(Vec<Trigger>),
}

/// Size against limit. Exactly one of `gt` and `ge` is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Which size.
    pub of: Measure,
    /// Holds above this.
    #[serde(default)]
    pub gt: Option<f64>,
    /// Holds at or above this.
    #[serde(default)]
    pub ge: Option<f64>,
}

/// Sizes that a policy can look at. None of them is the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The prompt that the provider reported for the last call.
    UsageIn,
    /// That and its output.
    UsageTotal,
    /// That and estimates of all that came after the reply.
    UsagePlusPending,
    /// The estimate of the whole request.
    EstRequest,
    /// The estimate of all messages but the system's.
    EstHistory,
}

/// Number against limit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// What is counted.
    pub of: Counted,
    /// Holds above this.
    #[serde(default)]
    pub gt: Option<f64>,
    /// Holds at or above this.
    #[serde(default)]
    pub ge: Option<f64>,
    /// Counted since the rule last fired, instead of what stands in the context.
    #[serde(default)]
    pub since_fired: Switch,
}

/// Things that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Messages in the context, system messages not counted.
    Messages,
    /// User messages in the context that open a turn.
    Turns,
    /// Tool results in the context that are not masked.
    ToolResults,
    /// Calls.
    Calls,
}

/// What a rule acts upon. The default is everything but system messages and tool definitions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Select {
    /// Only these kinds; empty for all but system messages.
    pub kind: Vec<Kind>,
    /// Only results and calls of these tools; empty for all.
    pub tools: Vec<String>,
    /// Not those of these tools.
    pub not_tools: Vec<String>,
    /// Not results that are errors.
    pub not_errors: Switch,
    /// What is protected at the old end.
    pub head: Vec<End>,
    /// What is protected at the new end. Several ends: whatever one of them protects.
    pub tail: Vec<End>,
    /// Several tails protect what any of them protects, or only what all of them do.
    pub tails: Tails,
    /// What happens where the tails protect everything.
    pub all_kept: Missing,
    /// May a cut between messages part a tool's result from its call?
    pub pairs: Pairs,
    /// The scan from new to old ends here.
    pub stop_at: Vec<Stop>,
    /// Where the cut between gone and kept may lie, for messages.
    pub snap: Option<Snap>,
    /// Kept out of the selection, wherever they lie.
    pub protect: Vec<Protect>,
    /// How much of what is eligible is taken.
    pub take: Take,
    /// In which order it is taken.
    pub order: Order,
}

impl Default for Select {
    fn default() -> Select {
        Select {
            kind: Vec::new(),
            tools: Vec::new(),
            not_tools: Vec::new(),
            not_errors: Switch::Off,
            head: Vec::new(),
            tail: Vec::new(),
            tails: Tails::Union,
            all_kept: Missing::Nothing,
            pairs: Pairs::Whole,
            stop_at: Vec::new(),
            snap: None,
            protect: Vec::new(),
            take: Take::All,
            order: Order::Oldest,
        }
    }
}

/// Kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// System messages.
    System,
    /// Tool definitions.
    Tools,
    /// What the user wrote.
    User,
    /// What the model wrote.
    Assistant,
    /// Reasoning.
    Thinking,
    /// Tool calls.
    ToolCall,
    /// Tool results.
    ToolResult,
    /// Pictures.
    Image,
    /// Summaries that a policy made.
    Summary,
}

/// A protected end of the conversation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// How much.
    pub n: f64,
    /// Of what.
    pub unit: EndUnit,
    /// Tokens and items are counted over everything, or over what the selection looks for.
    #[serde(default)]
    pub of: EndOf,
    /// What happens to the item on the line, for tokens.
    #[serde(default)]
    pub crossing: Crossing,
}

/// Units of a protected end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndUnit {
    /// Estimated tokens.
    Tokens,
    /// Items of the selection.
    Items,
    /// Messages.
    Messages,
    /// Turns: from a user message to the next.
    Turns,
    /// User messages of any kind, synthetic ones included, as agents count them that know no other turns.
    UserMessages,
    /// A share of all turns, the kept number rounded up.
    TurnShare,
    /// A share of all messages, the kept number rounded up.
    MessageShare,
    /// A share of the estimated size of all messages.
    SizeShare,
}

/// What an end counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndOf {
    /// All messages.
    #[default]
    All,
    /// What the selection looks for.
    Selected,
}

/// The fate of the item that crosses a token line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crossing {
    /// It is kept.
    #[default]
    Keep,
    /// It goes.
    Select,
}

/// How several tails combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tails {
    /// Protected is what one of them protects.
    #[default]
    Union,
    /// Protected is what all of them protect.
    Intersection,
}

/// Calls and their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// Stay together: a cut before a result moves back to its call.
    #[default]
    Whole,
    /// May be parted, as in the system itself.
    Split,
}

/// Marks at which a backward scan ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// A result that is masked already.
    Masked,
    /// A summary.
    Summary,
}

/// Moves the cut to a permitted place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snap {
    /// Back keeps more, forward less.
    pub direction: Direction,
    /// The first kept message must be one of these.
    pub to: Vec<Kind>,
    /// Where no such place is found in that direction.
    #[serde(default)]
    pub missing: Missing,
}

/// A direction in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// To older messages.
    Back,
    /// To newer messages.
    Forward,
}

/// What a snap does that finds no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Nothing is selected.
    #[default]
    Nothing,
    /// It looks in the other direction.
    Turn,
    /// Everything is selected.
    Everything,
}

/// Messages that are never touched.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protect {
    /// Of these kinds; empty for all.
    #[serde(default)]
    pub kind: Vec<Kind>,
    /// The newest of them, as messages.
    #[serde(default)]
    pub last: Option<u64>,
    /// The oldest of them, as messages.
    #[serde(default)]
    pub first: Option<u64>,
    /// The newest of them within so many estimated tokens; the first that does not fit is cut to what is left.
    #[serde(default)]
    pub tokens: Option<u64>,
}

/// How much is taken.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// All that is eligible.
    #[default]
    All,
    /// A share of the eligible messages, rounded down.
    Share(f64),
    /// A share of the eligible messages, rounded down to an even number.
    EvenShare(f64),
    /// So many.
    Count(u64),
    /// Until the estimate of the request is at or below this.
    UntilRequest(f64),
    /// Whole turns, until the estimate of the request is at or below this.
    TurnsUntilRequest(f64),
}

/// In which order eligible messages are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The oldest first.
    #[default]
    Oldest,
    /// The largest first.
    Largest,
    /// From the middle outwards.
    MiddleOut,
}

/// Replace an item by a text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mask {
    /// The placeholder.
    pub text: String,
    /// What of the original stays in front of and behind it.
    #[serde(default)]
    pub preview: Option<Preview>,
}

/// What stays of a masked item.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// From its start.
    pub head: u32,
    /// From its end.
    pub tail: u32,
    /// Counted in.
    pub unit: Unit,
}

/// Cut an item.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truncate {
    /// Items of at most this many units stay whole.
    #[serde(default)]
    pub max: Option<u64>,
    /// Units that a cut item keeps; `max` where absent.
    #[serde(default)]
    pub keep: Option<u64>,
    /// Counted in.
    #[serde(default)]
    pub unit: Unit,
    /// At most so many lines.
    #[serde(default)]
    pub max_lines: Option<u64>,
    /// Longer lines are cut to this many code points.
    #[serde(default)]
    pub max_line_chars: Option<u64>,
    /// Share of what is kept that comes from the start; 1 keeps the head, 0 the tail.
    #[serde(default = "whole_head")]
    pub head: f64,
    /// Only whole lines are kept.
    #[serde(default)]
    pub whole_lines: Switch,
    /// The text that stands for what was cut.
    #[serde(default)]
    pub marker: String,
    /// Terminal escapes and runs of blank lines are removed first.
    #[serde(default)]
    pub clean: Switch,
}

fn whole_head() -> f64 {
    1.0
}

/// Remove messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Drop {
    /// Text put in their place; empty for none.
    pub marker: String,
}

/// Replace messages by a summary.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Summarise {
    /// Where the summary stands afterwards.
    pub place: Place,
    /// Whose message the summary is.
    pub role: SummaryRole,
    /// What the summariser reads.
    pub input: Input,
    /// Tokens of the instruction that goes with it.
    pub prompt_tokens: u64,
    /// Tool results are cut to so many UTF-16 units for the summariser; 0 for no cut.
    pub tool_cap_utf16: u32,
    /// Calls that one summary takes.
    pub calls: u32,
    /// Where the request does not fit the model's window.
    pub on_overflow: SummariserOverflow,
    /// Text around the summary: prefixes, file lists.
    pub wrapper_tokens: u64,
}

impl Default for Summarise {
    fn default() -> Summarise {
        Summarise {
            place: Place::Head,
            role: SummaryRole::User,
            input: Input::Context,
            prompt_tokens: 300,
            tool_cap_utf16: 0,
            calls: 1,
            on_overflow: SummariserOverflow::Fail,
            wrapper_tokens: 0,
        }
    }
}

/// Where a summary stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// After the system messages.
    #[default]
    Head,
    /// After everything that was kept.
    End,
}

/// Whose message a summary is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryRole {
    /// The system's.
    System,
    /// The user's.
    #[default]
    User,
    /// The model's.
    Assistant,
}

/// What the summariser reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// The whole request as it stands, system prompt and hidden tools included, and the instruction.
    #[default]
    Context,
    /// What is to be replaced, and the instruction.
    Selection,
    /// User and assistant text of what is to be replaced, and the instruction.
    Prose,
}

/// What happens to a summariser's request that is larger than the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummariserOverflow {
    /// It is refused and nothing changes.
    #[default]
    Fail,
    /// The oldest items are left out until it fits, each refused try counted.
    DropOldest,
}

/// Text put in by the policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inject {
    /// What it is, for reports.
    pub what: String,
    /// How large.
    pub tokens: u64,
    /// Whose message it is.
    #[serde(default)]
    pub role: SummaryRole,
}

/// The least saving.
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

/// Gross or net.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// What goes.
    #[default]
    Gross,
    /// What goes less what comes in its place.
    Net,
}

/// How a limit compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Above.
    #[default]
    Gt,
    /// At or above.
    Ge,
}

/// How often a rule may fire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MaxFires {
    /// Within one call.
    pub per_call: Option<u32>,
    /// Within one turn.
    pub per_turn: Option<u32>,
    /// Within one session.
    pub per_session: Option<u32>,
}

/// Does a change last?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It lasts.
    #[default]
    Commit,
    /// It is made anew for each request and forgotten after it.
    View,
}
