//! What stands in a context: messages as entries, and their parts as items.

use super::presence::Ends;
use super::region::Region;
use crate::estimate::Guess;
use crate::transcript::Role;
use crate::units::{Index, Known};

/// What has become of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// As recorded, or as ingestion left it.
    Whole,
    /// Cut by a rule; the ends are left.
    Truncated,
    /// Replaced by a placeholder.
    Masked,
    /// The item has left the context and does not come back.
    Removed,
}

/// One part of a message in the context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Index of the part in the trace; `None` for what the policy put in.
    pub part: Option<u32>,
    /// Index of the tool in the trace.
    pub tool: Option<u32>,
    /// Region of reports in which the item's tokens count.
    pub region: Region,
    /// Whether the item is whole, cut, masked or gone.
    pub state: State,
    /// The item is the result of a failed tool.
    pub error: bool,
    /// Reasoning that leaves at the next real user message.
    pub expires: bool,
    /// What is left of it at its ends, where it was cut or masked.
    pub ends: Ends,
    /// Something later in the context shows it again.
    pub superseded: bool,
    /// The rule that changed it last, by its place in the plan; `None` where none has.
    pub by: Option<u32>,
    /// What the item adds to its message's estimate.
    pub guess: Guess,
    /// What its text is estimated at by itself.
    pub alone: u64,
    /// What it adds to its message where protected ends are counted, in the estimator's units for those; 0 where it has none apart.
    pub end_units: u32,
    /// Truth in tokens: what the item costs in the prompt.
    pub actual: u64,
    /// The part of `actual` that is anchored on recorded usage.
    pub anchored: u64,
}

impl Item {
    /// What of it takes the place of another item, or of itself.
    pub fn replacement(&self, state: State, ends: Ends) -> Replacement {
        Replacement { state, ends, guess: self.guess, alone: self.alone, end_units: self.end_units, actual: self.actual }
    }

    /// Part, region, state and size, mixed as SplitMix64 does it.
    pub(super) fn fingerprint(&self) -> u64 {
        let kind = u64::from(self.part.map_or(u32::MAX, |part| part)) << 8 | (self.region as u64) << 4 | self.state as u64;
        [kind, self.actual].into_iter().fold(0, |mixed: u64, value| {
            let mixed = (mixed ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        })
    }
}

/// What a message is for runs of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calling {
    /// It calls no tool.
    #[default]
    Nothing,
    /// It calls tools.
    Tools,
    /// It reasons, and calls tools.
    Reasoned,
}

impl Calling {
    /// By the regions of a message's items.
    pub(super) fn with(self, region: Region, reasons: &mut bool) -> Calling {
        *reasons |= region == Region::Thinking;
        match (self, region, *reasons) {
            (Calling::Nothing, Region::ToolCall, false) => Calling::Tools,
            (Calling::Nothing, Region::ToolCall, true) | (Calling::Tools, _, true) => Calling::Reasoned,
            (calling, ..) => calling,
        }
    }
}

/// One message in the context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Index of the message in the trace; absent for what the policy put in.
    pub message: Index,
    /// Role of the message.
    pub role: Role,
    /// Does the message open a turn?
    pub opens_turn: bool,
    /// Is the message a summary?
    pub is_summary: bool,
    /// Does the message stand for conversation from before the log begins?
    pub unseen: bool,
    /// Did it call tools, and reason, when it entered?
    pub calling: Calling,
    /// The message's items are `items[first..first + count]`.
    pub first: u32,
    /// Number of the message's items.
    pub count: u32,
    /// Sum of the items' estimates.
    pub guess: Guess,
    /// Estimate of the message in tokens.
    pub estimated: u64,
    /// Sum of its items' units for protected ends.
    pub(super) end_units: u64,
    /// Truth in tokens: what the message costs in the prompt.
    pub(super) actual: u64,
    /// The call after which it arrived.
    pub arrived: u32,
    /// For a reply: prompt and output together, as the provider reported them. Absent for other messages, and where nothing was reported.
    pub usage: Known,
    /// Is the message still in the context?
    pub live: bool,
    /// Did a summary take the place of a message that has left?
    pub summarised: bool,
    /// The rule that took it out, by its place in the plan; absent where none has.
    pub by: Index,
}

/// What is known of a message as it enters.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Index in the trace; `None` for what the policy put in.
    pub message: Option<u32>,
    /// Role of the message.
    pub role: Role,
    /// Does the message open a turn?
    pub opens_turn: bool,
    /// Is the message a summary?
    pub is_summary: bool,
    /// Does the message stand for conversation from before the log begins?
    pub unseen: bool,
    /// Number of calls made before the message.
    pub call: u32,
}

/// What stands in an item's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replacement {
    /// Whether the item is masked or truncated from now on.
    pub state: State,
    /// What is left of the text at its ends.
    pub ends: Ends,
    /// What the replacement adds to the message's estimate.
    pub guess: Guess,
    /// Estimated tokens of the replacement's text alone.
    pub alone: u64,
    /// Units that the replacement adds where protected ends are counted.
    pub end_units: u32,
    /// Truth in tokens: what the replacement costs in the prompt.
    pub actual: u64,
}
