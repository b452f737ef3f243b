//! A session put together from its events.

use crate::format::ground::{Lose, Source, Words, sound, wire};
use crate::format::recorder::{Recorder, end};
use crate::format::wire::google::{Content, TokenCounts, piece, text_of};
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript};

/// The agent of the sessions, and the name of their reader.
pub const AGENT: &str = "adk";

wire! {
    /// What an agent, a tool or the user said.
    pub struct Event<'a> {
        id: Words<'a>,
        author: Words<'a>,
        content: Option<Content<'a>>,
        partial: Option<bool>,
        usage_metadata: Option<TokenCounts> = "usageMetadata" | "usage_metadata",
        model_version: Words<'a> = "modelVersion" | "model_version",
        timestamp: Option<f64>,
        actions: Option<Actions<'a>>,
    }

    struct Actions<'a> {
        compaction: Option<Summary<'a>>,
        rewind_before_invocation_id: Words<'a> = "rewindBeforeInvocationId" | "rewind_before_invocation_id",
    }

    /// A summary of the events of some time.
    struct Summary<'a> {
        end_timestamp: Option<f64> = "endTimestamp" | "end_timestamp",
        compacted_content: Option<Content<'a>> = "compactedContent" | "compacted_content",
    }
}

/// A session as far as its events have come.
pub struct Session<'s> {
    made: Recorder<'s>,
    /// The agent that was called last.
    speaker: String,
    /// Were pieces of a reply met that no whole one has followed yet?
    streamed: bool,
}

impl<'s> Session<'s> {
    /// No event yet, of a session with this id.
    pub fn new(id: String, scale: &'s dyn Scale) -> Session<'s> {
        Session { made: Recorder::new(AGENT, id, scale), speaker: String::new(), streamed: false }
    }

    /// Names the session otherwise.
    pub fn rename(&mut self, id: String) {
        self.made.transcript.id = id;
    }

    /// Hands the session over, or counts that it is empty.
    pub fn end(self, number: u64, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
        if self.streamed {
            source.lose(number, "pieces of a reply whose whole is missing");
        }
        end(self.made.finish(), number, source, hand_over);
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event<'_>, lose: Lose<'_>) {
        // The whole reply follows its pieces.
        if event.partial == Some(true) {
            self.streamed = true;
            return;
        }
        self.streamed = false;
        let time = event.timestamp.filter(|time| *time > 0.0).map(millis);
        if let Some(actions) = &event.actions {
            if let Some(summary) = &actions.compaction {
                self.compaction(summary, time);
            }
            if !actions.rewind_before_invocation_id.is_empty() {
                lose("step back to an earlier run (not taken)");
            }
        }
        let (mut parts, mut results) = (Vec::new(), Vec::new());
        for block in event.content.iter().flat_map(|content| &content.parts.0) {
            piece(block, self.made.scale, &mut parts, &mut results, lose);
        }
        let is_reply = &*event.author != "user" && event.content.as_ref().is_some_and(|content| &*content.role != "user");
        let usage = sound(event.usage_metadata.as_ref().map_or(Ok(None), |tokens| tokens.reported()?.usage()), lose);
        let call = || Call { id: event.id.id().to_owned(), model: event.model_version.to_string(), usage, ..Call::default() };
        let message = |role, parts| Message { id: event.id.id().to_owned(), time, ..Message::new(role, parts) };
        if !parts.is_empty() && is_reply {
            // Another agent has instructions and tools of its own, and sees the others' words as told.
            self.made.chain.broken |= !self.speaker.is_empty() && self.speaker != *event.author;
            self.speaker = event.author.to_string();
            let unchained = self.made.chain.link(&event.model_version);
            self.made.tools.note_all(&parts);
            self.made.push(Message { call: Some(Box::new(Call { unchained, ..call() })), ..message(Role::Assistant, parts) });
        } else {
            if !parts.is_empty() {
                self.made.push(message(Role::User, parts));
            }
            // A call that was answered with nothing was paid for.
            self.made.transcript.side_calls.extend(usage.map(|_| call()));
        }
        for result in results {
            match (result, self.made.transcript.messages.last_mut()) {
                // Pictures belong to the answer before them.
                (picture @ Part::Image(_), Some(last)) => last.parts.push(picture),
                (result, _) => self.made.push(message(Role::Tool, vec![result])),
            }
        }
    }

    fn compaction(&mut self, summary: &Summary<'_>, time: Option<i64>) {
        let end = summary.end_timestamp.map(millis);
        let kept = |message: &Message| end.zip(message.time).is_some_and(|(end, time)| time > end);
        self.made.cut(Compaction {
            automatic: Some(true),
            summary: summary.compacted_content.as_ref().and_then(|content| self.made.scale.weigh_summary(&text_of(&content.parts))),
            kept_from: self.made.transcript.messages.iter().position(kept),
            time,
            ..Compaction::default()
        });
    }
}

fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}
