//! What Gemini CLI prints with `--output-format stream-json`: the events of one run, a line each.
//!
//! Replies come in pieces. What they used is summed up at the end of the run, by model, and is shared out among the calls.

use crate::format::ground::{ABSURD, Absurd, Count, Lose, ReadError, Source, Words, millis, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::sums::SUM_ALONE;
use crate::format::usage::{Reasoning, Reported};
use crate::format::wire::held;
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript, Usage};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Runs of Gemini CLI as it prints them.
pub const READER: Reader = Reader { name: "gemini-stream", about: "Gemini CLI's printed runs (--output-format stream-json)", claims, read };

/// The agent, as the reader of its chats names it.
const AGENT: &str = "gemini-cli";

fn claims(source: &Source) -> Claim {
    Claim::when(source.has_line(20, &["type=init session_id model", "type=tool_use tool_name tool_id parameters"]))
}

wire! {
    struct Event<'a> {
        kind: Words<'a> = "type",
        timestamp: Words<'a>,
        session_id: Words<'a>,
        model: Words<'a>,
        role: Words<'a>,
        content: Words<'a>,
        tool_name: Words<'a>,
        tool_id: Words<'a>,
        parameters: Option<&'a RawValue>,
        status: Words<'a>,
        output: Option<Words<'a>>,
        error: Option<held::Message<'a>>,
        stats: Option<Stats>,
    }

    /// The input holds what was read from the cache. The thoughts are in the total alone.
    struct Stats {
        total_tokens: Count,
        input_tokens: Count,
        output_tokens: Count,
        cached: Count,
        models: BTreeMap<String, Stats>,
    }
}

impl Stats {
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let beside = self.input_tokens.or_zero()? + self.output_tokens.or_zero()?;
        let thoughts = self.total_tokens.known()?.map(|total| total.saturating_sub(beside)).filter(|thoughts| *thoughts > 0);
        Reported {
            input: self.input_tokens,
            cache_read: self.cached,
            output: self.output_tokens,
            reasoning: thoughts.map_or(Count::Absent, Count::Sound),
            reasoned: Reasoning::Beside,
            total: self.total_tokens,
            ..Reported::default()
        }
        .usage()
    }

    /// The models that were asked.
    fn asked(&self) -> Vec<&String> {
        self.models.iter().filter(|(_, stats)| stats.total_tokens != Count::Sound(0)).map(|(name, _)| name).collect()
    }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut run = Run::new(source.name(), scale);
    source.each_line(|source, line| {
        source.values(line, |event: Event, lose| {
            // Runs that were printed into one file follow each other.
            if &*event.kind == "init" {
                let next = Run { begun: true, ..Run::new(event.session_id.to_string(), scale) };
                let over = std::mem::replace(&mut run, next);
                if over.begun || over.has_replied() {
                    over.finish().into_iter().for_each(&mut *hand_over);
                } else {
                    // The program that starts the agent may write what it asks for.
                    (0..over.made.next()).for_each(|_| lose("message before the first run"));
                }
            }
            run.event(&event, lose);
        });
    })?;
    run.flush();
    run.made.end(source, hand_over);
    Ok(())
}

struct Run<'s> {
    made: Recorder<'s>,
    /// Was the first event of the run read?
    begun: bool,
    /// The text of the reply that is being printed.
    text: String,
    /// When the newest piece of that reply came, in milliseconds since 1970.
    time: Option<i64>,
    model: String,
}

impl<'s> Run<'s> {
    fn new(id: String, scale: &'s dyn Scale) -> Run<'s> {
        let mut made = Recorder::new(AGENT, id, scale);
        made.transcript.printed = true;
        Run { made, begun: false, text: String::new(), time: None, model: String::new() }
    }

    fn event(&mut self, event: &Event<'_>, lose: Lose<'_>) {
        let time = millis(&event.timestamp);
        match &*event.kind {
            "init" => {
                self.made.identify(event.session_id.id());
                self.model = event.model.to_string();
            }
            "message" => match &*event.role {
                "user" => {
                    self.flush();
                    let said = self.made.text(&event.content);
                    self.made.list(Role::User, vec![said]);
                    self.date(time);
                }
                "assistant" => {
                    self.text.push_str(&event.content);
                    self.time = time;
                }
                _ => lose("message of an unknown role"),
            },
            "tool_use" => {
                self.flush();
                let call = self.made.tool_call(&event.tool_id, &event.tool_name, event.parameters);
                self.reply(call, time);
            }
            "tool_result" => {
                self.flush();
                let failed = &*event.status == "error";
                let output = event.output.as_deref().filter(|output| !output.is_empty());
                let told = output.or(event.error.as_ref().map(|error| &*error.message));
                // Results that the screen does not show are not printed either (listings, files).
                if told.is_none() && event.output.is_none() {
                    lose("result that is not printed");
                }
                let result = self.made.result(&event.tool_id, told.unwrap_or_default(), failed);
                self.made.list(Role::Tool, vec![result]);
                self.date(time);
            }
            "result" => {
                self.flush();
                if let Some(stats) = &event.stats {
                    self.spent(stats, lose);
                }
            }
            // What is said to the person alone.
            "error" => {}
            _ => lose("unknown record type"),
        }
    }

    /// Lists the text that was printed so far.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.reply(self.made.text(&text), self.time);
        }
    }

    /// A reply goes on until something answers it.
    fn reply(&mut self, part: Part, time: Option<i64>) {
        match self.made.transcript.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => last.parts.push(part),
            _ => {
                let call = Call { model: self.model.clone(), ..Call::default() };
                self.made.push(Message { time, call: Some(Box::new(call)), ..Message::new(Role::Assistant, vec![part]) });
            }
        }
    }

    fn date(&mut self, time: Option<i64>) {
        if let Some(last) = self.made.transcript.messages.last_mut() {
            last.time = time;
        }
    }

    fn spent(&mut self, stats: &Stats, lose: Lose<'_>) {
        let asked = stats.asked();
        if let [only] = asked.as_slice() {
            (*only).clone_into(&mut self.model);
        }
        let model = self.model.clone();
        // Another model beside the one that the run was begun with chose the way, or looked something up: its calls are on the side.
        let own = stats.models.get(&model).filter(|_| asked.len() > 1);
        let beside = stats.models.iter().filter(|(name, _)| own.is_some() && **name != model);
        let beside: Vec<Call> =
            beside.map(|(name, stats)| Call { model: name.clone(), usage: stats.usage().unwrap_or_default(), ..Call::default() }).collect();
        let calls = self.made.transcript.messages.iter_mut().filter_map(|message| message.call.as_mut());
        calls.for_each(|call| call.model.clone_from(&model));
        match own.unwrap_or(stats).usage() {
            Err(Absurd) => lose(ABSURD),
            Ok(None) => {}
            Ok(Some(sum)) if (asked.len() < 2 || own.is_some()) && self.made.share_out(sum) => {
                self.made.transcript.side_calls.extend(beside.into_iter().filter(|call| call.usage.is_some()));
            }
            Ok(Some(_)) => lose(SUM_ALONE),
        }
    }

    fn has_replied(&self) -> bool {
        !self.text.is_empty() || self.made.transcript.messages.iter().any(|message| message.role == Role::Assistant)
    }

    fn finish(mut self) -> Option<Transcript> {
        self.flush();
        self.made.finish()
    }
}
