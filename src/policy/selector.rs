//! What a rule acts upon, in the words of a policy file. How it is found is in `select.rs`.

use super::switch::Switch;
use serde::Deserialize;

/// What a rule acts upon. The default is everything but system messages and tool definitions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Select {
    /// Only these kinds; empty for all but system messages.
    pub kind: Vec<Kind>,
    /// Only results and calls of these tools; empty for all.
    pub tools: Vec<String>,
    /// Not results and calls of these tools.
    pub not_tools: Vec<String>,
    /// Errors of tools are left out.
    pub not_errors: Switch,
    /// Only results that something later in the conversation shows again.
    pub superseded: Switch,
    /// What is protected at the old end.
    pub head: Vec<End>,
    /// What is protected at the new end. Several ends: whatever one of them protects.
    pub tail: Vec<End>,
    /// Several tails protect what any of them protects, or only what all of them do.
    pub tails: Tails,
    /// What happens where the tails protect everything.
    pub all_kept: AllKept,
    /// May a cut between messages part a tool's result from its call?
    pub pairs: Pairs,
    /// The scan from new to old ends here.
    pub stop_at: Vec<Stop>,
    /// Where the cut between gone and kept may lie, for messages.
    pub snap: Option<Snap>,
    /// Kept out of the selection, wherever they lie.
    pub protect: Vec<Protect>,
    /// A message that stays although it is new, and is asked again.
    pub replay: Replay,
    /// What becomes of messages that an earlier compaction has carried over.
    pub carried: Carried,
    /// How much of what is eligible is taken.
    pub take: Take,
    /// In which order it is taken.
    pub order: Order,
    /// What an item's size counts: its text alone, or all that it adds.
    pub sizes: Sizes,
    /// What is taken grows by so many items at once, for the sake of the prompt cache; for items.
    pub step: Option<Step>,
}

/// Items are taken in bunches.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Items of a bunch; 1 and below: one by one.
    pub by: f64,
    /// So many items count as taken before the first one: where the first bunch begins.
    #[serde(default)]
    pub ahead: f64,
}

impl Step {
    /// How many of so many eligible items are taken.
    pub(super) fn taken(&self, eligible: usize) -> usize {
        let (by, ahead) = ((self.by.max(1.0)) as usize, self.ahead.max(0.0) as usize);
        ((eligible + ahead) / by * by).saturating_sub(ahead)
    }
}

/// Kinds of items that a selection can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// System messages.
    System,
    /// Tool definitions that the log shows.
    Tools,
    /// What the user wrote.
    User,
    /// Of this, what opens a turn: no reminders and the like in the user's name.
    Prompt,
    /// What the model wrote.
    Assistant,
    /// Reasoning of the model.
    Thinking,
    /// Calls of tools.
    ToolCall,
    /// Results of tools, errors included.
    ToolResult,
    /// Pictures, as items of any message.
    Image,
    /// Summaries that a policy made.
    Summary,
}

/// A protected end of the conversation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Number of units that the end protects.
    pub n: f64,
    /// Unit that `n` counts.
    pub unit: EndUnit,
    /// Tokens and items are counted over everything, or over what the selection looks for.
    #[serde(default)]
    pub of: EndOf,
    /// What happens to the item on the line, for tokens.
    #[serde(default)]
    pub crossing: Crossing,
    /// An end at the new side keeps so many messages fewer.
    #[serde(default)]
    pub less: f64,
    /// An end at the new side keeps no more tokens than a request of this size has room for beside the system prompt and tools; one at
    /// least.
    pub request: Option<f64>,
    /// A share of the messages at the new side that gets smaller where too much would stay.
    pub shrink: Option<Shrink>,
}

/// The share of the messages that stay gets smaller, step by step, until what stays behind a permitted place is within the other ends (Letta).
/// What goes is rounded half up.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shrink {
    /// Share of the messages by which each step is smaller.
    pub by: f64,
    /// Of fewer messages than this none stays.
    #[serde(default)]
    pub least: f64,
    /// So many messages more, in front of all, count among those that go.
    #[serde(default)]
    pub ahead: f64,
}

/// Units of a protected end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndUnit {
    /// Tokens by the policy's estimate.
    Tokens,
    /// Items of the selection.
    Items,
    /// Messages, each result of a tool as one.
    Messages,
    /// Messages, the results of one reply as one, as APIs have them that take such results together.
    Batches,
    /// Messages of user and model: results of tools are none, and those between stay with them.
    Spoken,
    /// Turns: from a user message to the next.
    Turns,
    /// User messages of any kind, synthetic ones and summaries in the user's name included, as agents count them that know no other turns.
    UserMessages,
    /// A share of all turns, the kept number rounded up; of all messages where there are no turns.
    TurnShare,
    /// A share of all messages, the kept number rounded up.
    MessageShare,
    /// The same with the results of one reply as one.
    BatchShare,
    /// A share of the estimated size of all messages.
    SizeShare,
}

/// What an end's tokens or items are counted over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndOf {
    /// All messages.
    #[default]
    All,
    /// What the selection looks for.
    Selected,
    /// Differences of the usage that the provider reported for the replies (pi 0.12, which has no estimator).
    Usage,
}

/// What becomes of the item on a token line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crossing {
    /// The item stays in the context.
    #[default]
    Keep,
    /// The item is selected.
    Select,
}

/// How several protected ends combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tails {
    /// Protected is what one of them protects.
    #[default]
    Union,
    /// Protected is what all of them protect.
    Intersection,
}

/// What happens where the ends protect everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllKept {
    /// The rule selects nothing.
    #[default]
    Nothing,
    /// The rule selects everything.
    Everything,
    /// All but the newest turn goes. Where that is all there is, everything goes, or an earlier summary alone, if there is one (OpenCode 2).
    /// A cut that a snap moves in front of everything counts as well.
    LastTurn,
    /// What stands before the first permitted place goes: a summary, and results whose calls have gone (pi).
    Snap,
}

/// Calls and their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// Stay together: a cut before a result moves back to its call.
    #[default]
    Whole,
    /// Stay together, and so does a run of calls with their results that began with reasoning: a cut within it moves to its end.
    Loops,
    /// Stay together, and a cut straight behind results moves in front of their call, too (Hermes Agent).
    Clear,
    /// May be parted, as in the system itself.
    Split,
}

/// Marks at which a backward scan ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// A result that is masked already.
    Masked,
    /// A summary of an earlier compaction.
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
    /// Where the whole conversation holds none of these.
    #[serde(default)]
    pub absent: Absent,
}

/// What a snap does in a conversation without any place to snap to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absent {
    /// As where none is found in its direction.
    #[default]
    Missing,
    /// The cut stays where it is.
    Stay,
}

/// Way in which a snap moves the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// To older messages: more of them stay.
    Back,
    /// To newer messages: fewer of them stay.
    Forward,
}

/// What a snap does that finds no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The rule selects nothing.
    #[default]
    Nothing,
    /// The snap looks in the other direction.
    Turn,
    /// The rule selects all that it looks at.
    Everything,
    /// Everything is selected where the newest message is a reply that calls nothing; else it looks in the other direction (Gemini CLI).
    Answered,
    /// The first kept message is the oldest one that it could be: what stands in front of that is selected.
    Oldest,
}

/// Messages that are never touched.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Protect {
    /// Only messages of these kinds; empty for all.
    pub kind: Vec<Kind>,
    /// The newest of them, as messages.
    pub last: Option<u64>,
    /// The oldest of them, as messages.
    pub first: Option<u64>,
    /// The newest of them within so many estimated tokens of text; the first that does not fit is cut to what is left (Codex).
    pub tokens: Option<u64>,
    /// So many of these tokens go to the oldest of them instead, where not all of them fit (Kimi Code).
    pub oldest: u64,
    /// What a message that fits whole takes of the budget; of one that is cut, only texts count, and only texts stay.
    pub sizes: Sizes,
    /// The text in the midst of the one that is cut; the words of a cut's marker stand in it.
    pub marker: String,
}

/// Is a message replayed after the selection has gone?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// No message is replayed.
    #[default]
    Nothing,
    /// The newest user message (OpenCode after a refusal): the selection looks at what stands before it, and what has come after it is
    /// lost. Where no other user message stands before it, everything is selected.
    LastUser,
    /// The same where no reply has come since and another user message stands before it (Kilo Code after a refusal); else nothing is selected.
    Unanswered,
}

/// Messages that stayed at an earlier compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carried {
    /// Such messages are like all others.
    #[default]
    Counted,
    /// The next compaction forgets them: they go into no summary and count for no end (pi 0.58).
    Lost,
}

/// How much is taken.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// All items or messages that are eligible.
    #[default]
    All,
    /// A share of the eligible messages, rounded down.
    Share(f64),
    /// A share of the eligible messages, rounded down to an even number.
    EvenShare(f64),
    /// A fixed number of items or messages.
    Count(u64),
    /// Until the estimate of the request is at or below this.
    UntilRequest(f64),
    /// Whole turns, until the estimate of the request is at or below this.
    TurnsUntilRequest(f64),
    /// Until what is left of all items that the selection looks for, those that its ends keep included, is at or below a size; for items.
    DownTo(DownTo),
    /// The oldest messages that make so many calls, where there are enough; for messages.
    Calls(Calls),
    /// The oldest messages, the results of one reply as one; of items, those in the oldest such messages that hold some, masked ones included
    /// (Strands).
    Batches(u64),
}

/// Messages go in bunches of calls.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// Calls of tools that go at a time; parallel ones go together.
    pub n: u64,
    /// Nothing goes where the eligible messages make no more than this.
    pub above: u64,
}

/// Items go until what is left of them is small enough.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DownTo {
    /// Estimated tokens that are left at most.
    pub tokens: f64,
    /// Nothing goes where they come to no more than this; `tokens` where absent.
    pub above: Option<f64>,
}

/// What items count for where they are counted in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizes {
    /// Estimate of the text alone.
    #[default]
    Texts,
    /// What they add to their messages, with names and all that wraps them.
    Parts,
}

/// In which order eligible messages are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The oldest item or message first.
    #[default]
    Oldest,
    /// The largest by the policy's estimate first.
    Largest,
    /// From the middle of the eligible ones outwards; where messages go until a request fits, results in a row are one.
    MiddleOut,
}
