//! ATIF, the trajectory format of Harbor: one run a file, converted from many agents.
//!
//! What a tool returned stands in the step of its call. Summarisers write trajectories of their own; the step of a system that refers to
//! them says that the context was rewritten there, and the user's step after it holds what replaced it. Since version 1.7 such a step is marked,
//! what replaced the context may stand in it, and trajectories of sub-agents may stand in the one that started them.
//!
//! Of Claude Code's logs, Harbor made each line of a reply a step at first: all with the same metrics, and what was written to the cache beside the prompt; later with
//! metrics in the first of them alone. Both were read in its `claude_code.py`.

use crate::format::ground::{Absurd, Count, Dollars, Figures, ReadError, Source, Words, fault, millis, sound, values, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{Recorder, definitions};
use crate::format::sums::SUM_ALONE;
use crate::format::usage::Reported;
use crate::format::wire::blocks::Blocks;
use crate::reading::is_beside;
use crate::transcript::{Call, Compaction, Image, Message, Part, Role, Scale, Text, Transcript, Trust, Usage};
use serde_json::value::RawValue;
use std::path::Path;

/// One session per trajectory; those of summarisers and sub-agents are sessions of their own.
pub const READER: Reader = Reader { name: "atif", about: "Harbor's Agent Trajectory Interchange Format (ATIF)", claims, read };

fn claims(source: &Source) -> Claim {
    // Devin writes that name, and messages of Chat Completions in place of steps.
    Claim::when(source.outline().shows("schema_version=ATIF*|[].schema_version=ATIF* !messages[].role"))
}

wire! {
    struct Trajectory<'a> {
        session_id: Words<'a>,
        /// Its own id; a session's trajectories share that of the session.
        trajectory_id: Words<'a>,
        agent: Agent<'a>,
        steps: Vec<Step<'a>>,
        final_metrics: Option<Totals>,
        subagent_trajectories: Option<Vec<Trajectory<'a>>>,
    }

    /// Sums over the run, with the calls that no step has: those of summarisers.
    struct Totals { total_prompt_tokens: Count, total_completion_tokens: Count, total_cached_tokens: Count, total_cost_usd: Dollars }

    struct Agent<'a> {
        name: Words<'a>,
        version: Words<'a>,
        model_name: Words<'a>,
        tool_definitions: Option<&'a RawValue>,
        extra: Option<AgentExtra<'a>>,
    }

    struct AgentExtra<'a> { parent_session_id: Words<'a> }

    struct Step<'a> {
        step_id: Count,
        timestamp: Words<'a>,
        source: Words<'a>,
        model_name: Words<'a>,
        message: Blocks<'a, ContentPart<'a>>,
        reasoning_content: Words<'a>,
        tool_calls: Option<Vec<ToolCall<'a>>>,
        observation: Option<Observation<'a>>,
        metrics: Option<Metrics<'a>>,
        is_copied_context: Option<bool>,
        /// How many requests the step stands for; absent in older versions, where it is one.
        llm_call_count: Count,
        extra: Option<StepExtra<'a>>,
    }

    struct Metrics<'a> {
        prompt_tokens: Count,
        cached_tokens: Count,
        completion_tokens: Count,
        cost_usd: Dollars,
        /// What the format has no word for.
        extra: Option<&'a RawValue>,
    }

    struct MetricsExtra<'a> { cache_creation: Option<&'a RawValue> }

    struct StepExtra<'a> {
        is_copied_context: Option<bool>,
        /// The call that the step's result answers, where the result does not name it.
        tool_call_id: Words<'a>,
        context_management: Option<ContextManagement<'a>>,
    }

    /// What the agent did to its context at a step.
    struct ContextManagement<'a> {
        /// `replace`: nothing from before the step is in the context after it.
        boundary: Words<'a>,
    }

    struct ContentPart<'a> { kind: Words<'a> = "type", text: Words<'a> }

    struct ToolCall<'a> { tool_call_id: Words<'a>, function_name: Words<'a>, arguments: Option<&'a RawValue> }

    struct Observation<'a> { results: Vec<ObservedResult<'a>> }

    struct ObservedResult<'a> {
        source_call_id: Words<'a>,
        content: Blocks<'a, ContentPart<'a>>,
        subagent_trajectory_ref: Option<&'a RawValue>,
    }

    struct Reference<'a> { trajectory_path: Words<'a> }
}

/// Tokens of prompts and of replies.
type Sum = (u64, u64);

impl Totals {
    fn sum(&self) -> Sum {
        let known = |count: &Count| count.known().ok().flatten().unwrap_or(0);
        (known(&self.total_prompt_tokens), known(&self.total_completion_tokens))
    }

    /// The totals as usage. The prompts hold what was read from the cache.
    fn usage(&self) -> Option<Usage> {
        let reported = Reported {
            input: self.total_prompt_tokens,
            cache_read: self.total_cached_tokens,
            output: self.total_completion_tokens,
            cost_nano_usd: self.total_cost_usd.0,
            ..Reported::default()
        };
        reported.usage().ok().flatten()
    }
}

impl Trajectory<'_> {
    /// The sum of the steps, those of sub-agents in the same file included. Where several have one request, totals count it as often.
    fn in_steps(&self) -> Sum {
        let known = |count: &Count| count.known().ok().flatten().unwrap_or(0);
        let metrics = self.steps.iter().filter_map(|step| step.metrics.as_ref());
        let own = metrics.map(|metrics| (known(&metrics.prompt_tokens), known(&metrics.completion_tokens)));
        let started = self.subagent_trajectories.iter().flatten().map(Trajectory::in_steps);
        own.chain(started).fold((0, 0), plus)
    }

    /// The files beside that the steps refer to: those of summarisers.
    fn referred(&self) -> impl Iterator<Item = String> {
        let raws = self.steps.iter().flat_map(Step::results).filter_map(|result| result.subagent_trajectory_ref);
        raws.flat_map(|raw| {
            let named = serde_json::from_str::<Blocks<Reference>>(raw.get()).unwrap_or_default();
            named.objects().map(|found| found.trajectory_path.to_string()).collect::<Vec<_>>()
        })
    }

    /// Counts what the totals hold beside the calls that are known: those of the steps, and of the files beside. Where no step has usage and all are of one conversation, the
    /// totals are given back.
    fn count_rest(&self, source: &mut Source) -> Option<Usage> {
        let totals = self.final_metrics.as_ref().map(Totals::sum).unwrap_or_default();
        let known = self.in_steps();
        // The totals of a run that goes on from another file may be those of both.
        let goes_on = self.steps.iter().any(Step::is_copied);
        let is_more = |known: Sum| !goes_on && (totals.0 > known.0 || totals.1 > known.1);
        if known == (0, 0) && is_more(known) {
            let is_one = self.subagent_trajectories.is_none() && self.referred().next().is_none();
            let sum = self.final_metrics.as_ref().filter(|_| is_one).and_then(Totals::usage);
            if sum.is_none() {
                source.lose(0, SUM_ALONE);
            }
            return sum;
        }
        // Files beside are opened where something is missing alone.
        if is_more(known) && is_more(self.referred().fold(known, |known, path| plus(known, in_file(source, &path)))) {
            source.lose(0, "usage of other calls, as a sum alone");
        }
        None
    }
}

fn plus(one: Sum, other: Sum) -> Sum {
    (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
}

/// What the steps of the trajectory in a file beside say; nothing where it is not there.
fn in_file(source: &Source, path: &str) -> Sum {
    let name = Path::new(path).file_name().unwrap_or_default();
    let path = source.path.with_file_name(name);
    let text = Some(path).filter(|path| is_beside(path)).and_then(|path| source.beside(&path).ok()?.document().ok());
    let trajectory = text.as_ref().and_then(|text| serde_json::from_str::<Trajectory>(text).ok());
    trajectory.map(|trajectory| trajectory.in_steps()).unwrap_or_default()
}

impl Step<'_> {
    /// What the tools of this step returned.
    fn results(&self) -> &[ObservedResult<'_>] {
        self.observation.as_ref().map_or(&[], |observation| &observation.results)
    }

    /// Does the step bring results alone? Some converters make each result of a log a step of its own, and the message says it a second time.
    fn only_results(&self) -> bool {
        let replied = self.metrics.is_some() || !self.reasoning_content.is_empty() || self.tool_calls.iter().flatten().next().is_some();
        let requested = self.llm_call_count.known().ok().flatten().is_some_and(|requests| requests > 0);
        let said = joined(&self.message);
        let repeats = || said.is_empty() || self.results().iter().any(|result| joined(&result.content) == said);
        !replied && !requested && !self.results().is_empty() && repeats()
    }

    fn is_copied(&self) -> bool {
        self.is_copied_context.or(self.extra.as_ref().and_then(|extra| extra.is_copied_context)) == Some(true)
    }

    /// Does the message only name the call beside it? Such words are the converter's.
    fn only_names_its_call(&self) -> bool {
        let said = joined(&self.message);
        self.tool_calls.iter().flatten().any(|call| said == ["Executed ", &call.function_name, " ", &call.tool_call_id].concat())
    }

    fn replaces_context(&self) -> bool {
        let management = self.extra.as_ref().and_then(|extra| extra.context_management.as_ref());
        management.is_some_and(|management| &*management.boundary == "replace")
    }
}

/// What Harbor's own tests write in place of a session's id. Their models are a mock server, which makes its usage up.
const MOCKED: &str = "NORMALIZED_SESSION_ID";

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let text = source.document()?;
    let damaged =
        |error: serde_json::Error| Err(ReadError::Damaged(format!("not a trajectory: {} (line {})", fault(&error, true), error.line())));
    for value in values::<&RawValue>(&text) {
        let decoded = value.and_then(|value| match value.get().starts_with('[') {
            true => serde_json::from_str::<Vec<Trajectory>>(value.get()),
            false => serde_json::from_str::<Trajectory>(value.get()).map(|trajectory| vec![trajectory]),
        });
        match decoded {
            Ok(trajectories) => trajectories.into_iter().for_each(|trajectory| give(trajectory, None, scale, source, hand_over)),
            Err(error) => return damaged(error),
        }
    }
    Ok(())
}

/// Hands over a trajectory, and those of the sub-agents that it holds.
fn give(trajectory: Trajectory, within: Option<&Session>, scale: &dyn Scale, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
    // The totals of a run are those of its sub-agents, too.
    let sum = if within.is_none() { trajectory.count_rest(source) } else { None };
    let Trajectory { session_id, trajectory_id, agent, steps, subagent_trajectories, .. } = trajectory;
    let named = agent.extra.as_ref().map(|extra| extra.parent_session_id.to_string()).filter(|parent| !parent.is_empty());
    let mocked = &*session_id == MOCKED || named.as_deref() == Some(MOCKED);
    let session = match within {
        _ if mocked => Session { id: source.name(), named: false },
        Some(parent) if !trajectory_id.is_empty() => Session { id: format!("{}/{}", parent.id, &*trajectory_id), named: parent.named },
        _ if !session_id.is_empty() => Session { id: session_id.to_string(), named: true },
        _ => Session { id: source.name(), named: false },
    };
    let mut made = Recorder::new(READER.name, session.id.clone(), scale);
    made.transcript.parent = within.map(|parent| parent.id.clone()).or(named);
    made.transcript.version = agent.version.to_string();
    let trust = if mocked { Trust::Mock } else { Trust::Provider };
    let split = &*agent.name == "claude-code";
    let beside = split && steps.iter().filter_map(|step| step.metrics.as_ref()).any(Metrics::has_writes_beside);
    let mut run =
        Run { made, named: session.named, model: agent.model_name.to_string(), trust, split, beside, open: None, rewritten: false };
    if let Some(tools) = definitions(scale, agent.tool_definitions) {
        run.made.list(Role::System, vec![tools]);
    }
    for (index, step) in steps.iter().enumerate() {
        run.step(step, index as u64 + 1, source);
    }
    if sum.is_some_and(|sum| !run.made.share_out(Usage { trust, ..sum })) {
        source.lose(0, SUM_ALONE);
    }
    run.made.end(source, hand_over);
    for (number, mut started) in subagent_trajectories.into_iter().flatten().enumerate() {
        if started.trajectory_id.is_empty() {
            started.trajectory_id = Words(format!("{}", number + 1).into());
        }
        give(started, Some(&session), scale, source, hand_over);
    }
}

/// What a session is called.
struct Session {
    id: String,
    /// Does the id come from the trajectory? Files without one are called by their names, which are others in copies.
    named: bool,
}

struct Run<'s> {
    made: Recorder<'s>,
    named: bool,
    model: String,
    trust: Trust,
    /// May a reply stand in several steps?
    split: bool,
    /// Do prompts lack what was written to the cache?
    beside: bool,
    /// The last request, which the next step may belong to, too.
    open: Option<Request>,
    /// The last step was a rewriting of the context.
    rewritten: bool,
}

/// A request that was read.
struct Request {
    /// The index of its reply.
    reply: usize,
    counts: [Count; 3],
    /// Something else than replies and results came behind it: what has no metrics is another request.
    followed: bool,
}

impl Run<'_> {
    fn step(&mut self, step: &Step, number: u64, source: &mut Source) {
        let results = step.results();
        let handed_over = std::mem::take(&mut self.rewritten);
        if let Some(open) = &mut self.open {
            open.followed |= &*step.source != "agent" || step.replaces_context();
        }
        match &*step.source {
            _ if step.replaces_context() => return self.rewrite(step),
            "system" if results.iter().any(|result| result.subagent_trajectory_ref.is_some()) => return self.rewrite(step),
            "system" => self.add(Role::System, step),
            "user" if handed_over => {
                let summary = self.text(&step.message);
                if let Some(compaction) = self.made.transcript.compactions.last_mut() {
                    compaction.summary = Some(summary);
                }
            }
            "user" => self.add(Role::User, step),
            "agent" if step.only_results() => {}
            "agent" => self.reply(step, number, source),
            _ => return source.lose(number, "message of an unknown role"),
        }
        let named = step.extra.as_ref().map_or("", |extra| &*extra.tool_call_id);
        for result in results {
            let call = if result.source_call_id.is_empty() { named } else { &*result.source_call_id };
            let mut parts = vec![self.made.result(call, &joined(&result.content), false)];
            parts.extend(pictures(&result.content));
            self.push(Role::Tool, parts, step);
        }
    }

    /// What replaced the context stands in the step, or in the user's step after it.
    fn rewrite(&mut self, step: &Step) {
        let texts: Vec<String> = step.results().iter().filter(|_| step.replaces_context()).map(|result| joined(&result.content)).collect();
        let summary = texts.join("\n");
        self.rewritten = summary.is_empty();
        self.made.compact(Compaction {
            automatic: Some(true),
            summary: self.made.scale.weigh_summary(&summary),
            time: millis(&step.timestamp),
            ..Compaction::default()
        });
    }

    fn reply(&mut self, step: &Step, number: u64, source: &mut Source) {
        let mut parts = Vec::new();
        if !step.reasoning_content.is_empty() {
            parts.push(self.made.thinking(&step.reasoning_content, 0));
        }
        if !self.split || !step.only_names_its_call() {
            parts.extend(self.content(&step.message));
        }
        for call in step.tool_calls.iter().flatten() {
            parts.push(self.made.tool_call(&call.tool_call_id, &call.function_name, call.arguments));
        }
        let requests = step.llm_call_count.known().ok().flatten();
        let told = step.metrics.as_ref().map_or(Ok(None), |metrics| usage(metrics, self.beside, self.trust));
        let mut usage = sound(told, &mut |reason| source.lose(number, reason));
        // The program itself wrote it, not the model.
        let is_written = requests == Some(0) || &*step.model_name == "<synthetic>";
        let counts = step.metrics.as_ref().map(Metrics::counts);
        let goes_on = |open: &&mut Request| counts.map_or(!open.followed, |counts| open.counts == counts);
        if self.split
            && requests.is_none()
            && !is_written
            && !step.is_copied()
            && let Some(open) = self.open.as_mut().filter(goes_on)
            && let Some(message) = self.made.transcript.messages.get_mut(open.reply)
        {
            message.parts.extend(parts);
            // Output is counted while it streams.
            if let (Some(usage), Some(again)) = (message.call.as_mut().and_then(|call| call.usage.as_mut()), usage) {
                usage.output = usage.output.max(again.output);
            }
            return;
        }
        let reply = self.made.next();
        self.push(Role::Assistant, parts, step);
        if requests.is_some_and(|requests| requests > 1) && usage.take().is_some() {
            source.lose(number, "usage of several calls in one step");
        }
        // What was copied stands in the trajectory before.
        if is_written || step.is_copied() && usage.is_none() {
            return;
        }
        self.open = counts.filter(|_| usage.is_some()).map(|counts| Request { reply, counts, followed: false });
        let model = if step.model_name.is_empty() { self.model.clone() } else { step.model_name.to_string() };
        // Sessions converted from elsewhere may share their id; with the time of its step a call is known.
        let id = match (step.timestamp.is_empty(), step.step_id.known()) {
            (false, Ok(Some(step_id))) if self.named => format!("{}:{step_id}:{}", self.made.transcript.id, &*step.timestamp),
            _ => String::new(),
        };
        if let Some(message) = self.made.transcript.messages.last_mut() {
            message.call = Some(Box::new(Call { id, model, usage, unchained: false, ..Call::default() }));
        }
    }

    fn add(&mut self, role: Role, step: &Step) {
        let parts = self.content(&step.message);
        self.push(role, parts, step);
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, step: &Step) {
        self.made.transcript.messages.push(Message { time: millis(&step.timestamp), ..Message::new(role, parts) });
    }

    fn content(&self, content: &Blocks<ContentPart>) -> Vec<Part> {
        let text = joined(content);
        let words = (!text.is_empty()).then(|| Part::Text(self.made.scale.weigh(&text)));
        words.into_iter().chain(pictures(content)).collect()
    }

    fn text(&self, content: &Blocks<ContentPart>) -> Text {
        self.made.scale.weigh(&joined(content))
    }
}

/// The text of all parts, joined by newlines.
fn joined(content: &Blocks<ContentPart>) -> String {
    content.joined(|part| (&*part.kind != "image").then_some(&*part.text))
}

/// The pictures, which are files beside the trajectory.
fn pictures<'c>(content: &'c Blocks<ContentPart>) -> impl Iterator<Item = Part> + 'c {
    content.objects().filter(|part| &*part.kind == "image").map(|_| Part::Image(Image::default()))
}

impl Metrics<'_> {
    /// The numbers that the format has no word for.
    fn figures(&self) -> Figures {
        figures(self.extra)
    }

    /// Tokens that were written to the cache. Converters copy the provider's own names.
    fn written(&self) -> Count {
        let figures = self.figures();
        match figures.count("cache_creation_tokens") {
            Count::Absent => figures.count("cache_creation_input_tokens"),
            known => known,
        }
    }

    /// What requests are told apart by: prompts, and what of them was read from the cache and written to it.
    fn counts(&self) -> [Count; 3] {
        [self.prompt_tokens, self.cached_tokens, self.written()]
    }

    /// Was more written to the cache than the prompt has room for?
    fn has_writes_beside(&self) -> bool {
        let [prompt, read, written] = self.counts().map(|count| count.or_zero().unwrap_or(0));
        written > prompt.saturating_sub(read)
    }
}

fn figures(record: Option<&RawValue>) -> Figures {
    record.and_then(|record| serde_json::from_str(record.get()).ok()).unwrap_or_default()
}

fn usage(metrics: &Metrics, beside: bool, trust: Trust) -> Result<Option<Usage>, Absurd> {
    let lifetimes = metrics.extra.and_then(|extra| serde_json::from_str::<MetricsExtra>(extra.get()).ok()?.cache_creation);
    let [input, cache_read, cache_write] = metrics.counts();
    Reported {
        input: if beside { Count::of(input.or_zero()? + cache_write.or_zero()?) } else { input },
        cache_read,
        cache_write,
        cache_write_1h: figures(lifetimes).count("ephemeral_1h_input_tokens"),
        output: metrics.completion_tokens,
        // It tells whether the prompt holds what was cached.
        total: metrics.figures().count("total_tokens"),
        cost_nano_usd: metrics.cost_usd.above_zero(),
        trust,
        ..Reported::default()
    }
    .usage()
}
