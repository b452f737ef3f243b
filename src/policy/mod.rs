//! WHAT AN AGENT DOES to stay inside its window: rules, triggers, selectors, actions, guards, as data.
//!
//! A policy is a TOML document. [`Policy::load`] is the only door from text to policy: presets, files and sweeps all pass it.
//! Nothing in this room can see an actual size: a policy physically cannot look at the truth. The one exception is the total of the next
//! prompt, for systems whose provider counts it for them.

mod action;
mod arithmetic;
mod candidates;
mod check;
mod configuration;
mod document;
mod draft;
mod end;
mod error;
mod expression;
mod family;
mod figure;
mod growing;
mod inflate;
mod inherit;
mod kind;
mod marker;
mod mirrored;
mod mistake;
mod newest;
mod parameter;
mod plan;
mod preset;
mod program;
mod protect;
mod range;
mod recorded_by;
mod schema;
mod select;
mod selector;
mod shown;
mod sight;
mod size;
mod stretch;
mod suggestion;
mod switch;
mod trigger;
mod truncate;

pub use action::{
    Boundary, Drop, Inject, Input, LongLines, Mask, PartialLine, Per, Place, Preview, Returning, Summarise, SummariserOverflow,
    SummaryRole, Texts, Truncate,
};
pub use arithmetic::{arithmetic, formula_of};
pub use configuration::{ConfigurationFile, Key, Syntax};
pub use document::{FALLBACK_WINDOW, Facts, Policy};
pub use draft::{Dialled, Drafts};
pub use end::{around_middle, older_than};
pub use error::PolicyError;
pub use expression::{Expression, ExpressionError, Scope, number};
pub use figure::figure;
pub use growing::Growing;
pub use inflate::NoInflate;
pub use marker::{Extents, marker};
pub use mirrored::{Check, Mirrored};
pub use newest::{Newest, Reads};
pub(crate) use parameter::is_switch_word;
pub use parameter::{Parameter, SearchRange};
pub use plan::{
    Action, AfterOverflow, AfterRewrite, Basis, Belief, Comparison, Hook, MaxFires, MinSaving, Mode, Plan, Reactive, ReadOutput,
    ReportedAs, Rule, Summary, SummaryModel, UsageShare, Window,
};
pub use preset::{Preset, is_called, preset, preset_names, presets};
pub use program::{
    Answer, Changed, Consult, Decide, Decider, Edit, ItemSeen, Lengths, MessageSeen, Opening, PROTOCOL, Program, Put, Question, Refusal,
    Session, SizesSeen, UsageSeen,
};
pub use protect::Shortened;
pub use range::Range;
pub use recorded_by::{
    Beyond, ImpliedWindow, RecordedBy, Recorder, begins_later, beyond, implied_window, notes_compactions, untied, window_in_force,
};
pub use schema::schema;
pub use select::{Bounds, Selection};
pub use selector::{
    Absent, AllKept, Calls, Carried, Crossing, Direction, DownTo, End, EndOf, EndUnit, Kind, Missing, Order, Pairs, Protect, Replay,
    Select, Shrink, Sizes, Snap, Stop, Tails, Take,
};
pub use sight::Sight;
pub use size::{Formula, Measure, Size};
pub use stretch::{Conversation, Stretch};
pub use suggestion::suggestion;
pub use switch::Switch;
pub use trigger::{Belief as BeliefAtLimit, Count, Counted, Level, Tally, Trigger, Verdict};
pub use truncate::{Cut, cut, own_text};
