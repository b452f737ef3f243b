//! What stood in the context of each call, by kind and age.

use super::replay::{Ready, ReplaySettings, ready};
use crate::context::{Context, Region, State};
use crate::corpus::Corpus;
use crate::names::named;
use crate::policy::{Plan, Policy, PolicyError};
use crate::sim::{Conditions, watch};
use crate::statistics::largest_remainder;
use crate::trace::Trace;

/// A result that so many calls have carried, or fewer, is recent.
const RECENT: usize = 10;

named! {
    /// What stands in a context, told apart as an observer wants it, in the order in which it is stacked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Content: name {
        /// What the call carries and the log does not show.
        Hidden = "hidden",
        /// System messages and tool definitions.
        System = "system and tools",
        /// Summaries and texts that the policy put in.
        Summary = "summaries",
        /// Text of user messages.
        User = "user",
        /// Text of the model's replies, without reasoning and tool calls.
        Assistant = "assistant",
        /// The model's reasoning (thinking parts).
        Thinking = "reasoning",
        /// Names and arguments of tool calls.
        ToolCall = "tool calls",
        /// Tool results that more than ten calls have carried.
        OlderResult = "older results",
        /// Tool results that ten calls have carried, or fewer.
        RecentResult = "recent results",
        /// Pictures, wherever they came from.
        Image = "pictures",
    }
}

impl Content {
    /// Where a region counts; results count as older until their age is looked at.
    fn of(region: Region) -> Content {
        match region {
            Region::System | Region::Tools => Content::System,
            Region::Summary => Content::Summary,
            Region::User => Content::User,
            Region::Assistant => Content::Assistant,
            Region::Thinking => Content::Thinking,
            Region::ToolCall => Content::ToolCall,
            Region::ToolResult => Content::OlderResult,
            Region::Image => Content::Image,
        }
    }
}

/// Actual tokens of one call's prompt by what they were, in the order of [`Content::ALL`]. They add up to the size of the prompt: what
/// a recorded prompt lacked for reasons that the log does not tell is taken off what is visible, in proportion.
pub type Composition = [u64; 10];

/// What stands in the contexts of sessions under some policies: worked out for a session when it is asked for.
pub struct Composer<'a> {
    ready: Vec<Ready<'a>>,
}

impl<'a> Composer<'a> {
    /// For these policies over a corpus.
    pub fn new(corpus: &Corpus, policies: &'a [Policy], settings: &ReplaySettings<'_>) -> Result<Composer<'a>, PolicyError> {
        Ok(Composer { ready: ready(corpus, policies, settings)? })
    }

    /// By policy and call what stands in the context of the session at this place in the corpus.
    pub fn session(&self, place: usize, trace: &Trace) -> Vec<Vec<Composition>> {
        let under = |(plan, conditions): (&Plan, Conditions)| compositions(trace, plan, &conditions);
        self.ready.iter().map(|policy| policy.session(place).map(under).unwrap_or_default()).collect()
    }
}

/// What stood in the context of each call of a session that is never shortened.
pub fn whole(trace: &Trace) -> Vec<Composition> {
    compositions(trace, &Plan::default(), &Conditions::endless())
}

fn compositions(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Vec<Composition> {
    let mut seen = Vec::with_capacity(trace.calls.len());
    watch(trace, plan, conditions, &mut |context| seen.push(composition(trace, seen.len(), context)));
    seen
}

/// The composition of one call's prompt.
fn composition(trace: &Trace, call: usize, context: &Context) -> Composition {
    let mut sizes: Composition = [0; 10];
    let Some(row) = trace.calls.get(call) else { return sizes };
    for (region, tokens) in Region::ALL.into_iter().zip(context.regions()) {
        add(&mut sizes, Content::of(region), *tokens);
    }
    let recent = recent_results(trace, call, context);
    add(&mut sizes, Content::RecentResult, recent);
    if let Some(older) = sizes.get_mut(Content::OlderResult as usize) {
        *older = older.saturating_sub(recent);
    }
    let visible: u64 = sizes.iter().sum();
    let actual = row.prompt(visible, context.recorded());
    let shown = actual.saturating_sub(row.hidden);
    if shown != visible {
        sizes = <Composition>::try_from(largest_remainder(shown, &sizes)).unwrap_or(sizes);
    }
    add(&mut sizes, Content::Hidden, actual - shown);
    sizes
}

fn add(sizes: &mut Composition, content: Content, tokens: u64) {
    if let Some(size) = sizes.get_mut(content as usize) {
        *size += tokens;
    }
}

/// Tokens of the results that came after the reply of ten calls ago. Entries stand in the order in which they came, so that only the
/// newest are looked at.
fn recent_results(trace: &Trace, call: usize, context: &Context) -> u64 {
    let border = call.checked_sub(RECENT).and_then(|place| trace.calls.get(place)).map(|row| row.message);
    let is_recent = |message: Option<u32>| message.is_none_or(|message| border.is_none_or(|border| message > border));
    let newest = context.live().rev().take_while(|(_, entry)| is_recent(entry.message.get()));
    let items = newest.filter(|(_, entry)| entry.message.get().is_some()).flat_map(|(_, entry)| entry.first..entry.first + entry.count);
    let items = items.filter_map(|item| context.item(item));
    items.filter(|item| item.region == Region::ToolResult && item.state != State::Removed).map(|item| item.actual).sum()
}
