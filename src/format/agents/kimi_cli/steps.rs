//! The wire beside a context: what the program shows while it runs. Each step of it reports the usage of its request, with the cache, and the window.

use crate::format::ground::{Count, Lose, ReadError, Source, Words, moment, sound, wire};
use crate::format::usage::{Cached, Reported};
use crate::transcript::{Call, Transcript, Usage};
use serde_json::value::RawValue;

/// The name of a wire.
pub const WIRE: &str = "wire.jsonl";

wire! {
    struct Record<'a> { timestamp: Option<&'a RawValue>, message: Event<'a> }

    struct Event<'a> { kind: Words<'a> = "type", payload: Option<&'a RawValue> }

    struct OfSubAgent<'a> { event: Event<'a> }

    struct Status<'a> { token_usage: Option<Tokens>, message_id: Words<'a>, max_context_tokens: Count }

    struct Tokens { input_other: Count, input_cache_read: Count, input_cache_creation: Count, output: Count }
}

/// A request that was answered.
struct Step {
    call: Call,
    usage: Usage,
    /// When it was answered, in milliseconds since 1970.
    time: Option<i64>,
    window: Option<u64>,
    is_matched: bool,
}

/// The requests of a wire.
#[derive(Default)]
pub struct Steps {
    /// Those of the agent whose context is read.
    own: Vec<Step>,
    /// Those of the agents that it started.
    mirrored: Vec<Call>,
    /// The one behind that which was matched last.
    next: usize,
}

impl Steps {
    /// Reads a wire; `of_sub_agents`: the context is that of one of the agents whose steps it mirrors.
    pub fn read(wire: &mut Source, of_sub_agents: bool) -> Result<Steps, ReadError> {
        let mut steps = Steps::default();
        wire.each_line(|wire, line| {
            wire.values(line, |record: Record, lose| {
                let mirrored = (&*record.message.kind == "SubagentEvent").then(|| payload::<OfSubAgent>(record.message.payload));
                let event = mirrored.as_ref().map_or(&record.message, |mirrored| &mirrored.event);
                let Some(step) = step(event, moment(record.timestamp), lose) else { return };
                if mirrored.is_some() == of_sub_agents {
                    steps.own.push(step);
                } else if mirrored.is_some() && !step.call.id.is_empty() {
                    steps.mirrored.push(step.call);
                }
            });
        })?;
        Ok(steps)
    }

    /// The replies of a session take cache and time from the steps of their sizes, and the session its window. Requests whose answer the context does
    /// not hold are beside the conversation: those of `unanswered` prompts, and where the context is the session's only one (`is_whole`), all that are left.
    pub fn enrich(mut self, transcript: &mut Transcript, prompts: &[(usize, u64)], unanswered: &[u64], is_whole: bool) {
        let mut windows = Vec::new();
        for (place, prompt) in prompts {
            let Some(message) = transcript.messages.get_mut(*place) else { continue };
            let Some(call) = message.call.as_deref_mut() else { continue };
            let output = call.usage.map(|usage| usage.output);
            let Some(step) = self.take(|usage| usage.prompt == *prompt && output.is_none_or(|output| usage.output == output)) else {
                continue;
            };
            call.usage = Some(step.usage);
            if !step.call.id.is_empty() {
                call.id.clone_from(&step.call.id);
            }
            message.time = step.time;
            windows.extend(step.window);
        }
        for prompt in unanswered {
            transcript.side_calls.extend(self.take(|usage| usage.prompt == *prompt).map(|step| step.call.clone()));
        }
        if is_whole {
            transcript.side_calls.extend(self.own.into_iter().filter(|step| !step.is_matched).map(|step| step.call));
        }
        transcript.window = windows.last().copied();
        transcript.mirrored = self.mirrored;
    }

    /// The next step of such usage.
    fn take(&mut self, is_it: impl Fn(&Usage) -> bool) -> Option<&Step> {
        let mut places = (self.next..self.own.len()).chain(0..self.next);
        let place = places.find(|place| self.own.get(*place).is_some_and(|step| !step.is_matched && is_it(&step.usage)))?;
        self.next = place + 1;
        let step = self.own.get_mut(place)?;
        step.is_matched = true;
        Some(step)
    }
}

/// What an event brings; nothing where it has another shape.
fn payload<'a, T: serde::Deserialize<'a> + Default>(payload: Option<&'a RawValue>) -> T {
    payload.and_then(|payload| serde_json::from_str(payload.get()).ok()).unwrap_or_default()
}

fn step(event: &Event<'_>, time: Option<i64>, lose: Lose<'_>) -> Option<Step> {
    if &*event.kind != "StatusUpdate" {
        return None;
    }
    let status: Status = payload(event.payload);
    let tokens = status.token_usage?;
    let reported = Reported {
        input: tokens.input_other,
        cache_read: tokens.input_cache_read,
        cache_write: tokens.input_cache_creation,
        cached: Cached::Beside,
        output: tokens.output,
        ..Reported::default()
    };
    let usage = sound(reported.usage(), lose)?;
    let call = Call { id: status.message_id.to_string(), usage: Some(usage), ..Call::default() };
    Some(Step {
        call,
        usage,
        time,
        window: status.max_context_tokens.known().ok().flatten().filter(|window| *window > 0),
        is_matched: false,
    })
}
