//! SWE-agent: `*.traj`, one run a file, with several agents or several attempts where the agent was set up so.
//!
//! The conversation is `history`; `trajectory` repeats it step by step. Usage is summed over the run and counted by the agent itself
//! (`litellm.token_counter`), so it says nothing of a single call and is never a provider's.

use crate::format::ground::{ABSURD, Absurd, Count, Dollars, ReadError, Source, Take, Words, at, each_piece, fault, text_or_json, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{NO_MESSAGES, thinking};
use crate::format::usage::Reported;
use crate::format::wire::chat::{Chat, ChatMessage, text_of};
use crate::list::place_or_push;
use crate::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Scale, Text, Transcript, Trust, Usage};
use serde_json::Value;
use serde_json::value::RawValue;

/// One session for each agent or attempt of a run. Token counts are the agent's own estimates.
pub const READER: Reader = Reader { name: "swe-agent", about: "SWE-agent trajectories (*.traj)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let steps = "trajectory[].action trajectory[].observation trajectory[].thought";
    let entries = "history[].role history[].content history[].agent|history[].message_type";
    Claim::when(["", "attempts[]."].iter().any(|at| outline.shows_at(at, steps) || outline.shows_at(at, entries)))
}

wire! {
    /// What an entry of the history has beside a chat message.
    struct Entry<'a> {
        agent: Words<'a>,
        message_type: Words<'a>,
        action: Words<'a>,
        is_demo: Option<bool>,
        tool_call_ids: Option<Vec<Words<'a>>>,
        tags: Option<Vec<Words<'a>>>,
        thinking_blocks: Option<Vec<Thought<'a>>>,
    }

    struct Thought<'a> { thinking: Words<'a>, signature: Words<'a> }

    struct Info<'a> { swe_agent_version: Words<'a>, model_stats: Option<Stats> }

    struct Stats {
        instance_cost: Dollars,
        tokens_sent: Count,
        tokens_received: Count,
        api_calls: Count,
    }

    /// A step of the trajectory: what the model replied, and the action that was taken from it.
    struct Step<'a> { response: Words<'a>, action: Words<'a> }

    /// One of several attempts at the same task.
    struct Attempt<'a> {
        history: Vec<&'a RawValue>,
        trajectory: Vec<&'a RawValue>,
        info: Option<&'a RawValue>,
        replay_config: Option<&'a RawValue>,
    }
}

/// What stands in the place of a reply where a run ends at the window (`exit_context` in sweagent/agent/agents.py).
const REFUSED: &str = "Exit due to context window";

const MARKS: &[Mark] = &[Mark::Inside("<response clipped><NOTE>")];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let name = source.name();
    let mut run = Run::new(name.clone(), scale);
    let mut attempts = 0;
    let wanted = [
        ("attempts", Take::Elements),
        ("history", Take::Elements),
        ("trajectory", Take::Elements),
        ("info", Take::Whole),
        ("replay_config", Take::Whole),
    ];
    each_piece(source, &wanted, |source, piece| match piece.key {
        "attempts" => {
            attempts = piece.number;
            match serde_json::from_str::<Attempt>(piece.text) {
                Ok(attempt) => attempt.read(format!("{name}#{attempts}"), scale, source, hand_over),
                Err(error) => source.lose(piece.number, fault(&error, false)),
            }
        }
        // Beside its attempts a file repeats the best of them.
        _ if attempts > 0 => {}
        "history" => run.entry(piece.text, piece.number, source),
        "trajectory" => run.step(piece.text, piece.number),
        "info" => run.info(piece.text, source),
        _ => run.config(piece.text),
    });
    if attempts == 0 {
        run.finish(source, hand_over);
    }
    Ok(())
}

impl Attempt<'_> {
    fn read(&self, name: String, scale: &dyn Scale, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
        let mut run = Run::new(name, scale);
        for (index, entry) in self.history.iter().enumerate() {
            run.entry(entry.get(), index as u64 + 1, source);
        }
        if let Some(last) = self.trajectory.last() {
            run.step(last.get(), self.trajectory.len() as u64);
        }
        if let Some(info) = self.info {
            run.info(info.get(), source);
        }
        if let Some(config) = self.replay_config {
            run.config(config.get());
        }
        run.finish(source, hand_over);
    }
}

/// One run as far as it has been read.
struct Run<'s> {
    name: String,
    scale: &'s dyn Scale,
    /// The agents in the order in which they first speak.
    agents: Vec<Agent>,
    /// How many steps the trajectory has, and the last of them.
    steps: u64,
    last_step: String,
    version: String,
    model: String,
    masking: Option<Masking>,
    stats: Stats,
}

/// What of old observations each request leaves out: `LastNObservations` of sweagent/agent/history_processors.py (tags v1.0.1 and v1.1.0).
struct Masking {
    newest: usize,
    polling: usize,
    always_removed: Vec<String>,
    always_kept: Vec<String>,
}

/// An observation, the task as the first of them.
struct Observation {
    /// The place of its message.
    message: usize,
    tags: Vec<String>,
}

/// One agent's conversation: each agent of a run has its own context.
#[derive(Default)]
struct Agent {
    name: String,
    messages: Vec<Message>,
    compactions: Vec<Compaction>,
    observations: Vec<Observation>,
    /// Before which messages the provider refused a prompt.
    refusals: Vec<usize>,
    chat: Chat,
    /// How many replies there are, and the words of the last one.
    replies: u64,
    last_words: String,
}

impl Run<'_> {
    fn new(name: String, scale: &dyn Scale) -> Run<'_> {
        let (steps, last_step, version, model) = Default::default();
        Run { name, scale, agents: Vec::new(), steps, last_step, version, model, masking: None, stats: Stats::default() }
    }

    fn step(&mut self, text: &str, number: u64) {
        self.steps = number;
        text.clone_into(&mut self.last_step);
    }

    fn entry(&mut self, text: &str, number: u64, source: &mut Source) {
        match (serde_json::from_str::<ChatMessage>(text), serde_json::from_str::<Entry>(text)) {
            (Ok(message), Ok(entry)) => {
                let agent = || Agent { name: entry.agent.to_string(), ..Agent::default() };
                let index = place_or_push(&mut self.agents, |agent| agent.name == *entry.agent, agent);
                if let Some(agent) = self.agents.get_mut(index) {
                    agent.entry(message, &entry, self.scale, &mut |reason| source.lose(number, reason));
                }
            }
            (Err(error), _) | (_, Err(error)) => source.lose(number, fault(&error, false)),
        }
    }

    fn info(&mut self, text: &str, source: &mut Source) {
        match serde_json::from_str::<Info>(text) {
            Ok(info) => {
                self.version = info.swe_agent_version.to_string();
                self.stats = info.model_stats.unwrap_or_default();
            }
            Err(error) => source.lose(0, fault(&error, false)),
        }
    }

    /// The configuration is JSON within a string.
    fn config(&mut self, text: &str) {
        let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return };
        let config: Value = serde_json::from_str(&text_or_json(Some(raw))).unwrap_or_default();
        let processors = config.pointer("/agent/history_processors").and_then(Value::as_array);
        self.masking = processors.into_iter().flatten().find_map(Masking::of);
        let model = at(&config, "/agent/model/name");
        // Runs that only repeat another one, or a person's, have no model.
        let named = !matches!(&*model, "replay" | "human" | "human_thought");
        self.model = if named { model.to_string() } else { String::new() };
    }

    /// The history is what the next request would hold, and some versions leave out the reply that ended the run. It stands in the trajectory alone then.
    fn last_reply(&mut self) {
        let Ok(step) = serde_json::from_str::<Step>(&self.last_step) else { return };
        let [agent] = self.agents.as_mut_slice() else { return };
        // Why the agent ended a run itself has no action, or one that is named so.
        let replied = !step.response.trim().is_empty() && !step.action.is_empty() && !step.action.starts_with("exit_");
        if replied && self.steps > agent.replies && agent.last_words.trim() != step.response.trim() {
            let mut parts = vec![Part::Text(self.scale.weigh(&step.response))];
            // Where actions are calls of tools, the words do not hold them.
            if !step.response.contains(step.action.trim()) {
                let name = step.action.split_whitespace().next().unwrap_or_default().to_owned();
                parts.push(Part::ToolCall { id: String::new(), name, arguments: self.scale.weigh(&step.action) });
            }
            agent.messages.push(Message { call: Some(Box::default()), ..Message::new(Role::Assistant, parts) });
        }
    }

    fn finish(mut self, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
        self.last_reply();
        let Run { name, mut agents, version, model, masking, stats, .. } = self;
        agents.iter_mut().for_each(|agent| masking.iter().for_each(|rule| agent.mask(rule)));
        agents.retain(|agent| !agent.messages.is_empty());
        if agents.is_empty() {
            source.lose(0, NO_MESSAGES);
        }
        let mut calls: Vec<&mut Call> =
            agents.iter_mut().flat_map(|agent| &mut agent.messages).filter_map(|message| message.call.as_deref_mut()).collect();
        calls.iter_mut().for_each(|call| call.model.clone_from(&model));
        match (stats.usage(), calls.as_mut_slice()) {
            (Err(_), _) => source.lose(0, ABSURD),
            (Ok(Some((1, usage))), [only]) => only.usage = Some(usage),
            (Ok(Some((asked, _))), calls) => {
                source.lose(0, "usage of the whole run alone, estimated by the agent");
                if asked > calls.len() as u64 {
                    source.lose(0, "calls of a run whose replies were thrown away");
                }
            }
            (Ok(None), _) => {}
        }
        let several = agents.len() > 1;
        for agent in agents {
            let id = if several { format!("{name}/{}", agent.name) } else { name.clone() };
            let Agent { messages, compactions, refusals, .. } = agent;
            // Behind the refusal stands what the agent printed when it ended.
            let refused = refusals.last().is_some_and(|at| messages.iter().skip(*at).all(|message| message.call.is_none()));
            let messages = messages.into();
            let version = version.clone();
            let agent = READER.name.to_owned();
            hand_over(Transcript { id, agent, version, messages, compactions, refusals, refused, ..Transcript::default() });
        }
    }
}

impl Masking {
    fn of(processor: &Value) -> Option<Masking> {
        if &*at(processor, "/type") != "last_n_observations" {
            return None;
        }
        let number = |name: &str| processor.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let tags = |name: &str, default: &str| match processor.get(name).and_then(Value::as_array) {
            Some(tags) => tags.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => vec![default.to_owned()],
        };
        Some(Masking {
            newest: number("n")?,
            polling: number("polling").unwrap_or(1).max(1),
            always_removed: tags("always_remove_output_for_tags", "remove_output"),
            always_kept: tags("always_keep_output_for_tags", "keep_output"),
        })
    }

    /// So many of the first observations are left out of a request that has these, but for the task, the first of all.
    fn old(&self, observations: usize) -> usize {
        (observations / self.polling * self.polling).saturating_sub(self.newest)
    }
}

impl Stats {
    /// The number of calls and their usage together; `None` where there is nothing, as in runs that only repeat another.
    fn usage(&self) -> Result<Option<(u64, Usage)>, Absurd> {
        let reported = Reported {
            input: self.tokens_sent,
            output: self.tokens_received,
            cost_nano_usd: self.instance_cost.above_zero(),
            trust: Trust::Estimated,
            ..Reported::default()
        };
        let calls = self.api_calls.or_zero()?;
        Ok(reported.usage()?.map(|usage| (calls, usage)))
    }
}

impl Agent {
    fn entry(&mut self, mut written: ChatMessage, entry: &Entry, scale: &dyn Scale, lose: &mut dyn FnMut(&str)) {
        if entry.tags.iter().flatten().any(|tag| &**tag == "summary") {
            return self.summary(scale.weigh_summary(&text_of(&written.content)));
        }
        // The agent says in the model's name that its prompt was refused as too large.
        let ended = entry.action.is_empty() || entry.action.starts_with("exit_");
        if ended && &*written.role == "assistant" && text_of(&written.content) == REFUSED {
            lose("request that the provider refused as too large");
            return self.refusals.push(self.messages.len());
        }
        if let Some(answered) = entry.tool_call_ids.iter().flatten().next() {
            written.tool_call_id = Words(answered.to_string().into());
        }
        let demonstration = entry.is_demo == Some(true) || &*entry.message_type == "demonstration";
        let observation = !demonstration && self.replies > 0 && &*written.role == "user";
        if observation {
            // In its text protocol the agent reports what a command printed in the user's name.
            written.role = Words("tool".into());
        }
        let Some(mut message) = self.chat.message(&written, scale, lose) else { return lose("message of an unknown role") };
        match message.role {
            Role::Assistant => {
                let thoughts = entry.thinking_blocks.iter().flatten();
                let thoughts = thoughts.map(|thought| thinking(scale, &thought.thinking, thought.signature.len()));
                message.parts.splice(..0, thoughts);
                if !demonstration {
                    self.replies += 1;
                    self.last_words = text_of(&written.content);
                    message.call = Some(Box::default());
                }
            }
            // The task itself is the first message of a user; what is shown before it as an example opens no turn.
            Role::User => message.synthetic = demonstration,
            Role::System | Role::Tool => {}
        }
        if !demonstration && &*entry.message_type == "observation" {
            let tags = entry.tags.iter().flatten().map(|tag| tag.to_string()).collect();
            self.observations.push(Observation { message: self.messages.len(), tags });
        }
        self.messages.push(message);
    }

    /// Each request has lines in the place of old observations, which the history holds whole.
    fn mask(&mut self, rule: &Masking) {
        let is_tagged = |observation: &Observation, tags: &[String]| observation.tags.iter().any(|tag| tags.contains(tag));
        let parts =
            |message: usize| (0..self.messages.get(message).map_or(0, |message| message.parts.len())).map(move |part| (message, part));
        let mut coming = self.observations.iter().peekable();
        let mut waiting = self.observations.iter().enumerate().peekable();
        let mut seen = 0;
        for (before, _) in self.messages.iter().enumerate().filter(|(_, message)| message.call.is_some()) {
            let mut taken = Vec::new();
            while let Some(observation) = coming.next_if(|observation| observation.message < before) {
                seen += 1;
                taken.extend(Some(observation.message).filter(|_| is_tagged(observation, &rule.always_removed)));
            }
            while let Some((place, observation)) = waiting.next_if(|(place, _)| *place < rule.old(seen)) {
                let stays = place == 0 || [&rule.always_kept, &rule.always_removed].iter().any(|tags| is_tagged(observation, tags));
                taken.extend(Some(observation.message).filter(|_| !stays));
            }
            if !taken.is_empty() {
                taken.sort_unstable();
                let taken = taken.into_iter().flat_map(parts).collect();
                let kind = CompactionKind::Prune;
                self.compactions.push(Compaction { before, kind, automatic: Some(true), taken, ..Compaction::default() });
            }
        }
        self.compactions.sort_by_key(|event| event.before);
    }

    /// A condenser of forks of the agent writes its summary into the history.
    fn summary(&mut self, summary: Option<Text>) {
        self.compactions.push(Compaction { before: self.messages.len(), automatic: Some(true), summary, ..Compaction::default() });
    }
}
