//! What recorded sessions hold, before any policy looks at them.

use super::window::logged;
use crate::catalog::Catalog;
use crate::corpus::Corpus;
use crate::statistics::median;
use crate::trace::{Outputs, PartKind, Trace};
use crate::transcript::{CompactionKind, Role};
use crate::units::add_fields;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;
use xxhash_rust::xxh3::xxh3_128;

/// What one session holds, or many together. Every number is recorded but [`Contents::overheads`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Number of sessions, sub-agents included.
    pub sessions: u64,
    /// Sessions that another session started.
    pub sub_agents: u64,
    /// System and developer messages.
    pub system: u64,
    /// Messages that users wrote.
    pub user: u64,
    /// User messages that the agent wrote by itself: reminders, continuation prompts.
    pub injected: u64,
    /// Replies of the model.
    pub assistant: u64,
    /// Messages that hold results of tools.
    pub results: u64,
    /// Requests to run a tool.
    pub tool_calls: u64,
    /// Results that report a failure.
    pub failures: u64,
    /// Pictures in messages and results.
    pub images: u64,
    /// Calls, those of summarisers and side calls with usage included.
    pub calls: u64,
    /// Calls with recorded usage.
    pub calls_with_usage: u64,
    /// Sum of the recorded prompts, in tokens.
    pub prompt_tokens: u64,
    /// The part of it in sessions that another one started.
    pub sub_agent_prompt_tokens: u64,
    /// Output tokens of these calls, by how they are known.
    pub outputs: Outputs,
    /// The largest recorded prompt, in tokens; 0 where no usage is recorded.
    pub largest_prompt: u64,
    /// Compactions that the log records, copies from other files left out.
    pub compactions: u64,
    /// Prunings that the log records, copies likewise.
    pub prunings: u64,
    /// Estimated: the hidden overhead (system prompt, tool definitions) of each session's first call with usage, in no order. Sessions
    /// without recorded usage have none.
    pub overheads: Vec<u64>,
    /// Milliseconds since 1970 of the earliest message; `None` where no message has a time.
    pub first: Option<i64>,
    /// Milliseconds since 1970 of the latest message; `None` likewise.
    pub last: Option<i64>,
    /// Versions of the agent that the logs name.
    pub versions: BTreeSet<String>,
    /// Hashes of the names of the files that the sessions stand in.
    pub sources: BTreeSet<u128>,
}

/// The part that a model had in some sessions. Every number is recorded but a window by the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelShare {
    /// Sessions with a call of it.
    pub sessions: u64,
    /// Replayed calls that the model answered.
    pub calls: u64,
    /// Calls of these with recorded usage.
    pub calls_with_usage: u64,
    /// Sum of the recorded prompts, in tokens.
    pub prompt_tokens: u64,
    /// Output tokens of the calls with usage, by how they are known.
    pub outputs: Outputs,
    /// The largest recorded prompt, in tokens; 0 where no usage is recorded.
    pub largest_prompt: u64,
    /// The window by the catalogue, else the largest that logs name of sessions with this main model, as their agents reckon with it; `None` where neither knows it.
    pub window: Option<u64>,
}

impl Contents {
    /// What a session holds.
    pub fn of(trace: &Trace) -> Contents {
        let mut contents = Contents {
            sessions: 1,
            sub_agents: u64::from(trace.parent.is_some()),
            versions: Some(&trace.version).filter(|version| !version.is_empty()).cloned().into_iter().collect(),
            sources: std::iter::once(xxh3_128(trace.source.as_bytes())).collect(),
            ..Contents::default()
        };
        for message in trace.messages.iter().filter(|message| !message.copy) {
            match message.role {
                Role::System => contents.system += 1,
                Role::User if message.synthetic => contents.injected += 1,
                Role::User => contents.user += 1,
                Role::Assistant => contents.assistant += 1,
                Role::Tool => contents.results += 1,
            }
            for part in trace.parts_of(message) {
                contents.tool_calls += u64::from(part.kind == PartKind::ToolCall);
                contents.failures += u64::from(part.kind == PartKind::ToolResult && part.error);
                contents.images += u64::from(part.kind == PartKind::Image);
            }
            contents.first = contents.first.into_iter().chain(message.time.get()).min();
            contents.last = contents.last.max(message.time.get());
        }
        let summarisers = trace.compactions.iter().filter(|compaction| compaction.usage.is_some()).count();
        contents.calls = (trace.calls.len() + summarisers + trace.side_calls.len()) as u64;
        for usage in trace.usages() {
            contents.calls_with_usage += 1;
            contents.prompt_tokens += usage.prompt;
            contents.largest_prompt = contents.largest_prompt.max(usage.prompt);
        }
        contents.outputs = trace.outputs();
        contents.sub_agent_prompt_tokens = if trace.parent.is_some() { contents.prompt_tokens } else { 0 };
        for compaction in trace.compactions.iter().filter(|compaction| !compaction.copy) {
            match compaction.kind {
                CompactionKind::Compact => contents.compactions += 1,
                CompactionKind::Prune => contents.prunings += 1,
            }
        }
        contents.overheads.extend(trace.calls.iter().find(|call| call.usage.get().is_some() || call.hidden > 0).map(|call| call.hidden));
        contents
    }

    /// Messages of all roles.
    pub fn messages(&self) -> u64 {
        self.system + self.user + self.injected + self.assistant + self.results
    }

    /// The overhead in the middle; `None` where no log tells it.
    pub fn overhead(&self) -> Option<u64> {
        median(self.overheads.clone())
    }
}

impl AddAssign for Contents {
    fn add_assign(&mut self, other: Contents) {
        add_fields!(self += other:
            sessions, sub_agents, system, user, injected, assistant, results, tool_calls, failures, images, calls, calls_with_usage,
            prompt_tokens, sub_agent_prompt_tokens, outputs, compactions, prunings);
        self.largest_prompt = self.largest_prompt.max(other.largest_prompt);
        self.overheads.extend(other.overheads);
        self.first = self.first.into_iter().chain(other.first).min();
        self.last = self.last.max(other.last);
        self.versions.extend(other.versions);
        self.sources.extend(other.sources);
    }
}

/// What the sessions of each agent hold, by its name.
pub fn by_agent(corpus: &Corpus) -> BTreeMap<String, Contents> {
    let mut agents: BTreeMap<String, Contents> = BTreeMap::new();
    for trace in corpus.traces.each() {
        *agents.entry(trace.agent.clone()).or_default() += Contents::of(&trace);
    }
    agents
}

/// The models of the replayed calls, by the names that the logs give them; calls without a name are those of the empty one.
pub fn by_model(corpus: &Corpus, catalog: &Catalog) -> BTreeMap<String, ModelShare> {
    let mut models: BTreeMap<String, ModelShare> = BTreeMap::new();
    for trace in corpus.traces.each() {
        let mut met: BTreeSet<Option<u32>> = BTreeSet::new();
        for call in &trace.calls {
            let name = trace.model_of(call).unwrap_or_default();
            let share = models.entry(name.to_owned()).or_default();
            share.sessions += u64::from(met.insert(call.model.get()));
            share.calls += 1;
            if let Some(usage) = &call.usage.get() {
                share.calls_with_usage += 1;
                share.prompt_tokens += usage.prompt;
                share.outputs.add(usage, call.output);
                share.largest_prompt = share.largest_prompt.max(call.own_usage().map_or(0, |usage| usage.prompt));
            }
        }
        if let Some(share) = models.get_mut(trace.main_model().unwrap_or_default()) {
            share.window = share.window.max(logged(&trace, trace.day().as_deref()));
        }
    }
    for (name, share) in &mut models {
        share.window = catalog.find(name).map(|model| model.context.0).or(share.window);
    }
    models
}
