//! mini-swe-agent: `*.traj.json`, one run a file.
//!
//! Version 1 speaks in text: its observations have the role `user`, though no person wrote them. Version 1.1 (agent 2.x) may use real
//! tool calls; with OpenAI's Responses its replies are whole responses, and what its commands printed are items of theirs. A reply that the agent
//! could not use was paid for and is in no prompt. The earliest files are the bare list of messages.

use crate::format::exchange::{openai_responses, weigh};
use crate::format::ground::{Dollars, ReadError, Source, Words, at, fault, sound, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::wire::blocks::Blocks;
use crate::format::wire::chat::{Chat, ChatMessage, ChatPart, ChatUsage, text_of};
use crate::transcript::{Call, Message, Part, Role, Scale, Text, Transcript};
use serde_json::Value;
use serde_json::value::RawValue;

/// One session per run. Replies that the agent could not use are calls that no prompt holds.
pub const READER: Reader = Reader { name: "mini-swe-agent", about: "mini-swe-agent trajectories (*.traj.json)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let named = outline.shows("trajectory_format=mini-swe-agent*");
    let described = outline.shows("info.mini_version|info.model_stats info.mini_version|info.config !trajectory !history");
    // A bare list is known by the wrapping of its observations.
    let observations = || memchr::memmem::find(source.head(), b"<returncode>").is_some();
    if named || described || (outline.shows("[].role [].content") && observations()) {
        return Claim::Yes;
    }
    // A patch longer than the head may hide all that comes after it.
    let patch_first = outline.shows("info.exit_status info.submission") && source.name().contains(".traj.json");
    if patch_first { Claim::Maybe } else { Claim::No }
}

wire! {
    struct Trajectory<'a> { info: Value, messages: Vec<&'a RawValue>, instance_id: Words<'a> }

    /// What the agent keeps beside a message.
    struct Extra<'a> {
        response: Option<&'a RawValue>,
        /// Why the agent broke off: `FormatError` where it could not use a reply.
        interrupt_type: Words<'a>,
        timestamp: Option<f64>,
        cost: Dollars,
        /// In an observation: the command's exit code.
        returncode: Option<i64>,
    }

    /// The provider's response. Its `choices` repeat the message and are not looked at.
    struct Response<'a> {
        id: Words<'a>,
        model: Words<'a>,
        created: Option<f64>,
        usage: Option<&'a RawValue>,
    }

    /// An item of OpenAI's Responses in place of a message.
    struct Item<'a> {
        /// `response` for a whole one.
        object: Words<'a>,
        /// `function_call_output` for what a command printed.
        kind: Words<'a> = "type",
        call_id: Words<'a>,
        output: Option<&'a RawValue>,
    }
}

const MARKS: &[Mark] = &[Mark::Inside("The output of your last command was too long."), Mark::Line("<elided_chars>")];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let text = source.document()?;
    let damaged =
        |error: serde_json::Error| ReadError::Damaged(format!("not a trajectory: {} (line {})", fault(&error, true), error.line()));
    let trajectory: Trajectory = if text.trim_start().starts_with('[') {
        Trajectory { messages: serde_json::from_str(&text).map_err(damaged)?, ..Trajectory::default() }
    } else {
        serde_json::from_str(&text).map_err(damaged)?
    };
    let id = if trajectory.instance_id.is_empty() { source.name() } else { trajectory.instance_id.to_string() };
    let mut made = Recorder::new(READER.name, id, scale);
    made.transcript.version = at(&trajectory.info, "/mini_version").to_string();
    let configured = at(&trajectory.info, "/config/model/model_name").to_string();
    let mut run = Run { made, configured, chat: Chat::default(), answered: false };
    for (written, number) in trajectory.messages.into_iter().zip(1..) {
        run.message(written, number, scale, source);
    }
    run.made.link_calls();
    run.made.end(source, hand_over);
    Ok(())
}

struct Run<'s> {
    made: Recorder<'s>,
    /// The model that the run was started with.
    configured: String,
    chat: Chat,
    /// There was a reply.
    answered: bool,
}

impl Run<'_> {
    fn message(&mut self, raw: &RawValue, number: u64, scale: &dyn Scale, source: &mut Source) {
        let (Ok(written), Ok(item)) = (serde_json::from_str::<ChatMessage>(raw.get()), serde_json::from_str::<Item>(raw.get())) else {
            return source.lose(number, "record of an unexpected shape");
        };
        let extra = written.extra.map(|extra| serde_json::from_str::<Extra>(extra.get())).transpose().unwrap_or_else(|_| {
            source.lose(number, "extra fields of an unexpected shape");
            None
        });
        let extra = extra.unwrap_or_default();
        if &*item.object == "response" {
            return self.response(raw, &extra, number, scale, source);
        }
        let observed = self.answered && &*written.role == "user";
        let observations = Observations(scale);
        let scale: &dyn Scale = if observed { &observations } else { scale };
        let message = match &*item.kind {
            "function_call_output" => Some(self.printed(&item, scale)),
            _ => self.chat.message(&written, scale, &mut |reason| source.lose(number, reason)),
        };
        let Some(mut message) = message else {
            // The agent's farewell, which no model reads.
            if &*written.role != "exit" {
                source.lose(number, "message of an unknown role");
            }
            return;
        };
        let response = extra.response.and_then(|response| serde_json::from_str::<Response>(response.get()).ok());
        let created = extra.timestamp.or(response.as_ref().and_then(|response| response.created));
        message.time = created.map(|seconds| (seconds * 1000.0) as i64);
        if &*extra.interrupt_type == "FormatError" {
            match &response {
                Some(response) => {
                    let call = self.call(Some(response), &extra, number, source);
                    self.made.transcript.side_calls.push(call);
                }
                None => source.lose(number, "call whose reply was thrown away"),
            }
        }
        let text = item.output.filter(|_| message.role == Role::Tool).map(text_of_output).unwrap_or_else(|| text_of(&written.content));
        match message.role {
            Role::Assistant => {
                self.answered = true;
                message.call = Some(Box::new(self.call(response.as_ref(), &extra, number, source)));
            }
            Role::User if self.answered => message = observation(message, &text, scale),
            Role::User | Role::System | Role::Tool => {}
        }
        let failed = extra.returncode.is_some_and(|code| code != 0)
            || text.trim_start().strip_prefix(CODE).is_some_and(|rest| !rest.starts_with("0<"));
        for part in &mut message.parts {
            if let Part::ToolResult { error, .. } = part {
                *error = failed;
            }
        }
        self.made.push(message);
    }

    /// A reply that is kept as the response that it came in.
    fn response(&mut self, raw: &RawValue, extra: &Extra, number: u64, scale: &dyn Scale, source: &mut Source) {
        let Some(reply) = openai_responses::replied(raw.get(), &mut |reason| source.lose(number, reason)) else {
            return source.lose(number, "record of an unexpected shape");
        };
        self.answered = true;
        for mut message in reply.messages {
            weigh(&mut message, scale);
            message.time = extra.timestamp.map(|seconds| (seconds * 1000.0) as i64).or(message.time);
            self.made.tools.note_all(&message.parts);
            if let Some(call) = &mut message.call {
                if call.model.is_empty() {
                    call.model.clone_from(&self.configured);
                }
                call.usage = call.usage.map(|usage| usage.or_cost(extra.cost.0));
            }
            self.made.push(message);
        }
    }

    fn printed(&self, item: &Item, scale: &dyn Scale) -> Message {
        let text = scale.weigh_result(&item.output.map(text_of_output).unwrap_or_default());
        Message::new(Role::Tool, vec![self.made.tools.result(&item.call_id, text, false)])
    }

    fn call(&self, response: Option<&Response>, extra: &Extra, number: u64, source: &mut Source) -> Call {
        let mut call = Call { model: self.configured.clone(), ..Call::default() };
        let Some(response) = response else { return call };
        call.id = response.id.to_string();
        if !response.model.is_empty() {
            call.model = response.model.to_string();
        }
        let usage = sound(response.usage.map_or(Ok(None), ChatUsage::read), &mut |reason| source.lose(number, reason));
        // What the router billed goes before what the agent reckoned.
        call.usage = usage.map(|usage| usage.or_cost(extra.cost.0));
        call
    }
}

/// What a command printed: a text, or a list of texts and pictures.
fn text_of_output(output: &RawValue) -> String {
    serde_json::from_str::<Blocks<ChatPart>>(output.get()).map(|blocks| text_of(&blocks)).unwrap_or_default()
}

/// What a command's exit code stands behind in the text of an observation.
const CODE: &str = "<returncode>";

/// Weighs every text as a tool's result: what the role of a message does not tell, its place does.
struct Observations<'a>(&'a dyn Scale);

impl Scale for Observations<'_> {
    fn weigh(&self, text: &str) -> Text {
        self.0.weigh_result(text)
    }
}

/// What a command printed, whatever role it was sent with.
fn observation(message: Message, text: &str, scale: &dyn Scale) -> Message {
    let mut parts = message.parts;
    // A text by itself has been weighed already, as a result: see `Observations`.
    let text = match parts.as_mut_slice() {
        [Part::Text(only)] => std::mem::take(only),
        _ => scale.weigh_result(text),
    };
    let result = Part::ToolResult { call_id: String::new(), name: String::new(), text, error: false };
    let pictures = parts.into_iter().filter(|part| matches!(part, Part::Image(_)));
    let parts = std::iter::once(result).chain(pictures).collect();
    Message { role: Role::Tool, parts, ..message }
}
