//! One run: its events turned back into the conversation that the model saw, without the words that the agent puts around them.

use super::record::{Arguments, Event, Extras, Output, Response, Running};
use super::shown::before_the_sdk;
use crate::format::ground::{Lose, Source, fault, image, millis, sound};
use crate::format::recorder::{Recorder, definitions};
use crate::format::sums::SUM_ALONE;
use crate::format::wire::blocks::Block;
use crate::format::wire::chat::{Chat, ChatUsage};
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript, Usage};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// The id of a run's session.
pub fn id(output: &Output, number: u64, source: &Source) -> String {
    match (output.instance_id.is_empty(), number) {
        (false, _) => output.instance_id.to_string(),
        (true, 1) => source.name(),
        (true, _) => format!("{}#{number}", source.name()),
    }
}

/// The session of a run.
pub fn transcript(output: &Output, id: String, scale: &dyn Scale, lose: Lose<'_>) -> Transcript {
    let config = output.metadata.as_ref().and_then(|metadata| metadata.llm_config.as_ref());
    let model = config.map(|config| config.model.to_string());
    let mut run = Run {
        made: Recorder::new(super::READER.name, id, scale),
        model: model.unwrap_or_default(),
        longest: config.and_then(|config| config.max_message_chars),
        chat: Chat::default(),
        answered: HashMap::new(),
        calls: Vec::new(),
        places: HashMap::new(),
        sum: (0, 0),
    };
    for event in &output.history {
        run.events(event, lose);
    }
    run.usages(output, lose);
    run.compare(lose);
    run.made.transcript
}

/// Where a call is waiting for its usage.
enum Waiting {
    /// A message whose response has this id.
    Known(usize, String),
    /// A message of the agent that names no response.
    Reply(usize),
    /// The request of a summariser, by the index of its compaction.
    Condensation(usize),
}

struct Run<'s> {
    made: Recorder<'s>,
    model: String,
    /// The most letters of a result that were sent.
    longest: Option<usize>,
    chat: Chat,
    /// The responses that have their message already: one may lead to several events.
    answered: HashMap<String, usize>,
    /// The calls in order.
    calls: Vec<Waiting>,
    /// The message that each event became, for condensations, which name events.
    places: HashMap<u64, usize>,
    /// Prompt and output of all calls together, where events tell: the largest sum.
    sum: (u64, u64),
}

impl Run<'_> {
    /// An event, or in old versions an action with its observation.
    fn events(&mut self, raw: &RawValue, lose: Lose<'_>) {
        if raw.get().starts_with('[') {
            match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
                Ok(pair) => pair.into_iter().for_each(|event| self.one(event, lose)),
                Err(error) => lose(fault(&error, false)),
            }
        } else {
            self.one(raw, lose);
        }
    }

    /// What holds a list where an event should be is of another shape, however deep the list goes.
    fn one(&mut self, raw: &RawValue, lose: Lose<'_>) {
        // In old versions the arguments stand beside the action's name, and so they are looked for in both places.
        match (serde_json::from_str::<Event>(raw.get()), serde_json::from_str::<Arguments>(raw.get())) {
            (Ok(event), Ok(flat)) => {
                let place = self.made.next();
                self.sum = self.sum.max(sum(&event));
                self.event(&event, event.args.as_ref().unwrap_or(&flat), lose);
                if let Some(id) = id_of(raw) {
                    self.places.insert(id, place);
                }
            }
            (Err(error), _) | (_, Err(error)) => lose(fault(&error, false)),
        }
    }

    fn event(&mut self, event: &Event, arguments: &Arguments, lose: Lose<'_>) {
        if !event.observation.is_empty() {
            return self.observation(event);
        }
        match &*event.action {
            // What the agent notes for itself, and what only its screen shows.
            "recall" | "change_agent_state" | "null" | "condensation_request" | "start" | "stop" | "pause" | "resume" => {}
            "system" => {
                self.made.transcript.version = arguments.openhands_version.to_string();
                if let Some(tools) = definitions(self.made.scale, arguments.tools) {
                    self.push(Role::System, vec![tools], event);
                }
                let text = self.made.scale.weigh(&arguments.content);
                self.push(Role::System, vec![Part::Text(text)], event);
            }
            "condensation" => self.condensation(event, arguments),
            "message" if self.is_users(event) => {
                let mut parts = vec![Part::Text(self.made.scale.weigh(&arguments.content))];
                parts.extend(arguments.image_urls.0.iter().filter_map(|url| match url {
                    Block::Text(url) => Some(Part::Image(image::from_data_url(url))),
                    Block::Object(_) | Block::Other => None,
                }));
                self.push(Role::User, parts, event);
            }
            "" => lose("unknown record type"),
            _ => self.reply(event, arguments, lose),
        }
    }

    /// Old versions do not say who speaks: it starts with the user, and the two take turns.
    fn is_users(&self, event: &Event) -> bool {
        match &*event.source {
            "" => self.made.transcript.messages.last().is_none_or(|message| matches!(message.role, Role::Assistant | Role::System)),
            source => source != "agent",
        }
    }

    fn reply(&mut self, event: &Event, arguments: &Arguments, lose: Lose<'_>) {
        let response = event.tool_call_metadata.as_ref().and_then(|metadata| metadata.model_response.as_ref());
        let written = response.and_then(|response| response.choices.as_ref()?.first()?.message.as_ref());
        let id = response.map_or(&*event.response_id, |response| &*response.id);
        if let Some(place) = self.answered.get(id).copied() {
            let known = self.made.transcript.messages.get(place).and_then(|message| message.call.as_ref()?.usage.as_ref());
            let again = response.and_then(|response| response.usage.and_then(|usage| ChatUsage::read(usage).ok().flatten()));
            if again.is_some_and(|again| known.is_some_and(|known| (known.prompt, known.output) != (again.prompt, again.output))) {
                lose("reply with the id of another one");
            }
            return;
        }
        let message = written.and_then(|written| self.chat.message(written, self.made.scale, lose));
        let parts = message.map_or_else(|| self.action(event, arguments), |message| message.parts);
        let place = self.made.next();
        // Some things a user does in the agent's workspace.
        if &*event.source == "user" && response.is_none() {
            return self.push(Role::User, parts, event);
        }
        self.push(Role::Assistant, parts, event);
        let call = self.call(response, id, lose);
        if let Some(message) = self.made.transcript.messages.last_mut() {
            message.call = Some(Box::new(call));
        }
        if !id.is_empty() {
            self.answered.insert(id.to_owned(), place);
        }
        self.calls.push(if id.is_empty() { Waiting::Reply(place) } else { Waiting::Known(place, id.to_owned()) });
    }

    fn call(&self, response: Option<&Response>, id: &str, lose: Lose<'_>) -> Call {
        let mut call = Call { id: id.to_owned(), model: self.model.clone(), ..Call::default() };
        let Some(response) = response else { return call };
        if !response.model.is_empty() {
            call.model = response.model.to_string();
        }
        let usage = sound(response.usage.map_or(Ok(None), ChatUsage::read), lose);
        call.usage = usage.map(|usage| usage.or_cost(response.cost.above_zero()));
        call
    }

    /// An action that names no response: what the model wrote, as far as the action tells.
    fn action(&self, event: &Event, arguments: &Arguments) -> Vec<Part> {
        let thought = if arguments.thought.is_empty() { &arguments.final_thought } else { &arguments.thought };
        let spoken = matches!(&*event.action, "message" | "finish" | "think" | "reject");
        let text = if spoken && !arguments.content.is_empty() { &arguments.content } else { thought };
        let mut parts = Vec::new();
        if !text.is_empty() {
            parts.push(self.made.text(text));
        }
        if !spoken {
            let candidates = [&arguments.command, &arguments.code, &arguments.path, &arguments.url, &arguments.browser_actions];
            let what = candidates.into_iter().find(|what| !what.is_empty()).unwrap_or(&arguments.content);
            parts.push(Part::ToolCall { id: String::new(), name: event.action.to_string(), arguments: self.made.scale.weigh(what) });
        }
        parts
    }

    fn observation(&mut self, event: &Event) {
        match &*event.observation {
            "agent_state_changed" | "null" | "condense" | "agent_condensation" => {}
            "recall" => self.recalled(event),
            _ => {
                let exit = event.extras.as_ref().and_then(|extras| extras.metadata.as_ref()?.exit_code).or(event.exit_code);
                let error = &*event.observation == "error" || exit.is_some_and(|code| code != 0);
                let (call_id, name) = match &event.tool_call_metadata {
                    Some(metadata) => (metadata.tool_call_id.to_string(), metadata.function_name.to_string()),
                    None => (String::new(), event.observation.to_string()),
                };
                // Files and pages were cut by what read them.
                let limit = self.longest.filter(|_| !matches!(&*event.observation, "read" | "browse"));
                let shown = limit.map_or(Cow::Borrowed(&*event.content), |limit| before_the_sdk(&event.content, limit));
                let text = self.made.scale.weigh_result(&shown);
                self.push(Role::Tool, vec![Part::ToolResult { call_id, name, text, error }], event);
            }
        }
    }

    /// What the agent looked up by itself and puts into the user's mouth.
    fn recalled(&mut self, event: &Event) {
        let Some(extras) = &event.extras else { return };
        let Extras { repo_instructions, additional_agent_instructions, conversation_instructions, microagent_knowledge, .. } = extras;
        let knowledge = microagent_knowledge.iter().flatten().map(|knowledge| &knowledge.content);
        let texts = [repo_instructions, additional_agent_instructions, conversation_instructions].into_iter().chain(knowledge);
        let parts: Vec<Part> = texts.filter(|text| !text.is_empty()).map(|text| Part::Other(self.made.scale.weigh(text))).collect();
        if parts.is_empty() {
            return;
        }
        self.push(Role::User, parts, event);
        if let Some(message) = self.made.transcript.messages.last_mut() {
            message.synthetic = true;
        }
    }

    /// Events in the middle are forgotten; those before them stay, as do those after them.
    fn condensation(&mut self, event: &Event, arguments: &Arguments) {
        let last = arguments.forgotten_events_end_id.or(arguments.forgotten_event_ids.as_ref().and_then(|ids| ids.iter().max().copied()));
        let kept_from = last.and_then(|last| {
            let later = self.places.iter().filter(|(id, _)| **id > last);
            later.map(|(_, place)| *place).min()
        });
        self.calls.push(Waiting::Condensation(self.made.transcript.compactions.len()));
        self.made.compact(Compaction {
            automatic: Some(true),
            summary: self.made.scale.weigh_summary(&arguments.summary),
            kept_from,
            time: millis(&event.timestamp),
            ..Compaction::default()
        });
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, event: &Event) {
        self.made.push(Message { time: millis(&event.timestamp), ..Message::new(role, parts) });
    }

    /// Gives each usage of the run's list to its call: by the response's id or, where an event names none, by its place in the order.
    fn usages(&mut self, output: &Output, lose: Lose<'_>) {
        let Some(metrics) = &output.metrics else { return };
        let calls = std::mem::take(&mut self.calls);
        if metrics.token_usages.is_empty() && metrics.costs.len() == calls.len() {
            return calls.iter().zip(&metrics.costs).for_each(|(waiting, cost)| self.paid(waiting, cost.0));
        }
        let costs = (metrics.costs.len() == metrics.token_usages.len()).then_some(&metrics.costs);
        let mut calls = calls.into_iter().peekable();
        for (index, listed) in metrics.token_usages.iter().enumerate() {
            let usage = sound(listed.usage(), lose);
            let Some(mut usage) = usage else { continue };
            usage.cost_nano_usd = costs.and_then(|costs| costs.get(index)?.0);
            if self.answered.contains_key(&*listed.response_id) {
                // Calls that stand before this one and were given nothing have no usage.
                let at = |waiting: &Waiting| matches!(waiting, Waiting::Known(_, id) if *id == *listed.response_id);
                if let Some(Waiting::Known(place, _)) = calls.by_ref().find(at) {
                    self.complete(place, usage);
                }
                continue;
            }
            let call = Call {
                id: listed.response_id.to_string(),
                model: listed.model.to_string(),
                usage: Some(usage),
                unchained: false,
                ..Call::default()
            };
            match calls.next_if(|waiting| !matches!(waiting, Waiting::Known(..))) {
                Some(Waiting::Reply(place)) => {
                    self.made.transcript.messages.get_mut(place).into_iter().for_each(|message| message.call = Some(Box::new(call.clone())))
                }
                Some(Waiting::Condensation(place)) => {
                    self.made.transcript.compactions.get_mut(place).into_iter().for_each(|compaction| compaction.call = Some(call.clone()));
                }
                _ => self.made.transcript.side_calls.push(call),
            }
        }
    }

    /// What a call cost whose response tells its usage.
    fn paid(&mut self, waiting: &Waiting, cost: Option<i64>) {
        let (Waiting::Known(place, _) | Waiting::Reply(place)) = waiting else { return };
        let call = self.made.transcript.messages.get_mut(*place).and_then(|message| message.call.as_mut());
        call.and_then(|call| call.usage.as_mut()).into_iter().for_each(|usage| *usage = usage.or_cost(cost));
    }

    /// What the run used beside its replies (summaries that no event tells, tries that failed) is known by the sum alone.
    fn compare(&self, lose: Lose<'_>) {
        let Transcript { messages, compactions, side_calls, .. } = &self.made.transcript;
        let replies = messages.iter().filter_map(|message| message.call.as_deref());
        let calls = replies.chain(compactions.iter().filter_map(|made| made.call.as_ref())).chain(side_calls);
        let used =
            calls.filter_map(|call| call.usage).fold((0, 0), |(prompt, output), usage| (prompt + usage.prompt, output + usage.output));
        match used {
            (0, 0) if self.sum > (0, 0) => lose(SUM_ALONE),
            (prompt, output) if self.sum.0 > prompt || self.sum.1 > output => lose("usage of other calls, as a sum alone"),
            _ => {}
        }
    }

    /// The response's own usage is the provider's word and goes first; the list knows the cost.
    fn complete(&mut self, place: usize, listed: Usage) {
        if let Some(call) = self.made.transcript.messages.get_mut(place).and_then(|message| message.call.as_mut()) {
            let cost = call.usage.and_then(|usage| usage.cost_nano_usd).or(listed.cost_nano_usd);
            call.usage = Some(Usage { cost_nano_usd: cost, ..call.usage.unwrap_or(listed) });
        }
    }
}

/// Prompt and output of all calls up to an event; zeros where it does not tell.
fn sum(event: &Event) -> (u64, u64) {
    let told = event.llm_metrics.and_then(|metrics| serde_json::from_str::<Running>(metrics.get()).ok()?.accumulated_token_usage);
    let usage = told.and_then(|sum| sum.usage().ok().flatten());
    usage.map_or((0, 0), |usage| (usage.prompt, usage.output))
}

/// The number by which condensations name an event.
fn id_of(raw: &RawValue) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        id: u64,
    }
    Some(serde_json::from_str::<Numbered>(raw.get()).ok()?.id)
}
