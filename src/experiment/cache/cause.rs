//! Why a call read less than was expected, by what the log shows between it and the call before.

use super::step::{Before, Step};
use crate::catalog::{CacheRules, Hits};
use crate::names::named;
use crate::trace::{MessageRow, PartKind, Trace};
use crate::transcript::Role;

named! {
    /// Why a call read less than was expected. The first cause of this order that the log shows is the one that is named.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Cause: key {
        /// More time has passed than the entry is kept for.
        Idle = "idle",
        /// Another model answered: caches are kept by model.
        Model = "model",
        /// The conversation was compacted, pruned, cleared or taken back.
        Compacted = "compacted",
        /// The prompt is smaller than the one before, and the log does not say why.
        Shrank = "shrank",
        /// The session was taken up in this log, or a reply without usage stands between the two calls.
        Resumed = "resumed",
        /// Tool definitions or system prompt have changed, as far as the log shows.
        Head = "head",
        /// So many blocks have come since the last call that the cache does not find the end of the last prompt.
        Blocks = "blocks",
        /// A user message has come, at which the provider drops earlier reasoning.
        Thinking = "thinking",
        /// A cache without promise: implicit caches miss at random.
        Implicit = "implicit",
        /// No more was read than the session's first prompt held, at the first call of a turn: agent or provider, the log cannot say.
        StartAtTurn = "start_at_turn",
        /// As [`Cause::StartAtTurn`], within a turn.
        StartWithinTurn = "start_within_turn",
        /// Read was what an older call had left.
        Older = "older",
        /// The log shows none of these causes.
        Unexplained = "unexplained",
    }
}

/// The cause of a break. `earlier` are the calls of the session up to the one before.
pub(super) fn cause(trace: &Trace, rules: &CacheRules, step: &Step<'_>, before: &Before<'_>, earlier: &[Step<'_>]) -> Cause {
    let rule = step.known.cache;
    let since = Since { trace, from: before.message, to: step.message };
    let writes = || earlier.first().into_iter().chain([step]).any(|step| step.usage.cache_write > 0);
    let holds = |cause: &Cause| match cause {
        Cause::Idle => before.gap.zip(before.lifetime).is_some_and(|(gap, lifetime)| gap > lifetime),
        Cause::Model => before.model != step.known.name,
        Cause::Compacted => since.rewritten(),
        Cause::Shrank => step.usage.prompt < before.usage.prompt,
        Cause::Resumed => before.session != step.session || since.interrupted(),
        Cause::Head => since.changes_head(rules),
        Cause::Blocks => rule.and_then(|rule| rule.lookback).is_some_and(|lookback| since.blocks() >= lookback),
        Cause::Thinking => since.opens_turn() && since.drops_thinking(),
        // Writes of a model that no table knows show a cache that is asked for.
        Cause::Implicit => rule.is_some_and(|rule| rule.hits == Hits::Prefix && !(rule.is_assumed() && writes())),
        Cause::StartAtTurn | Cause::StartWithinTurn => {
            let at_start = earlier.first().is_some_and(|first| step.usage.cache_read <= first.usage.cache_read + first.usage.cache_write);
            at_start && since.opens_turn() == (*cause == Cause::StartAtTurn)
        }
        Cause::Older => earlier.iter().any(|step_before| step_before.leaves() == step.usage.cache_read),
        Cause::Unexplained => true,
    };
    Cause::ALL.into_iter().find(holds).unwrap_or(Cause::Unexplained)
}

/// What a log shows between two calls, by the messages with their replies.
struct Since<'a> {
    trace: &'a Trace,
    from: u32,
    to: u32,
}

impl<'a> Since<'a> {
    /// What came between the two replies.
    fn between(&self) -> &'a [MessageRow] {
        self.trace.messages.get(self.from as usize + 1..self.to as usize).unwrap_or(&[])
    }

    /// What the second prompt holds and the first does not: the first reply, and what came since.
    fn arrived(&self) -> &'a [MessageRow] {
        self.trace.messages.get(self.from as usize..self.to as usize).unwrap_or(&[])
    }

    fn rewritten(&self) -> bool {
        let compactions = |to: u32| self.trace.compactions.partition_point(|event| event.before <= to);
        let went_back = |row: &MessageRow| row.rewind.get().is_some();
        compactions(self.from) < compactions(self.to)
            || self.between().iter().any(went_back)
            || self.trace.messages.get(self.to as usize).is_some_and(went_back)
    }

    fn interrupted(&self) -> bool {
        self.between().iter().any(|row| row.role == Role::Assistant)
    }

    fn changes_head(&self, rules: &CacheRules) -> bool {
        let tool = |index: u32| self.trace.tools.get(index as usize).is_some_and(|tool| rules.changes_head(&self.trace.agent, tool));
        let used = |row: &MessageRow| {
            let parts = self.trace.parts_of(row);
            parts.clone().any(|part| part.kind == PartKind::Tools)
                || parts.filter(|part| part.kind == PartKind::ToolCall).filter_map(|part| part.tool.get()).any(tool)
        };
        self.arrived().iter().any(used) || self.between().iter().any(|row| row.role == Role::System)
    }

    fn blocks(&self) -> u32 {
        self.arrived().iter().map(|row| row.part_count).sum()
    }

    fn opens_turn(&self) -> bool {
        self.between().iter().any(|row| row.opens_turn() && !row.copy)
    }

    /// Does the turn that has ended hold reasoning that the provider drops behind it?
    fn drops_thinking(&self) -> bool {
        let rows = self.trace.messages.get(..=self.from as usize).unwrap_or(&[]);
        let turn = rows.last().map_or(0, |row| row.turn);
        let expires = |row: &MessageRow| self.trace.parts_of(row).any(|part| part.expires && part.truth > 0);
        rows.iter().rev().take_while(|row| row.turn == turn).any(expires)
    }
}
