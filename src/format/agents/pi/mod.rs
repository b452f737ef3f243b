//! Sessions of pi and OpenClaw: JSON lines, a header first.
//!
//! Version 1 is a plain list. From version 2 on every entry names its parent, so that one file holds a tree: going back in the
//! conversation starts a new branch, and what the log tells in order of time is turned into rewinds and second showings.

use crate::format::ground::branches::Branches;
use crate::format::ground::count::{Count, sound};
use crate::format::ground::image;
use crate::format::ground::json::{compact, values};
use crate::format::ground::source::{Lose, ReadError, Source};
use crate::format::ground::time::millis;
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{end, thinking};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::blocks::Block;
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript, Usage, project};
use record::{Content, Entry, Payload, Piece, joined_text, text_of};
use refusal::{Answer, Refusals, Rules};

pub mod refusal;

mod record;

/// Reads the sessions of pi and OpenClaw.
pub const READER: Reader = Reader { name: "pi", about: "pi and OpenClaw session files (*.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let first = source.head_text().lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // A file that was cut at its beginning has no header, but its messages are linked and have roles of their own.
    let headed = matches!(values::<record::Header<'_>>(first).next(), Some(Ok(header)) if header.is_of_pi());
    let linked = || matches!(values::<Entry<'_>>(first).next(), Some(Ok(entry)) if entry.is_linked_message());
    if headed || linked() { Claim::Yes } else { Claim::No }
}

/// Limits of lines and bytes of all versions. That a file has more lines than were asked for is no cut.
const MARKS: &[Mark] = &[
    Mark::Line("[Showing lines #-# of #"),
    Mark::Line("[Showing last #KB of line #"),
    Mark::Line("[# matches limit reached"),
    Mark::Line("[# results limit reached"),
    Mark::Line("[# entries limit reached"),
    Mark::Line("[#KB limit reached"),
    Mark::Line("... (# more lines not shown. Use offset=# to continue reading)"),
    Mark::Line("(truncated, "),
];

fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let mut session = Session::new(source.name(), scale);
    source.each_line(|source, line| source.values(line, |entry: Entry<'_>, lose| session.enter(&entry, lose)))?;
    let said = |transcript: &Transcript| !transcript.messages.is_empty() || !transcript.compactions.is_empty();
    end(Some(session.transcript).filter(said), 0, source, give);
    Ok(())
}

struct Session<'s> {
    scale: &'s dyn Scale,
    transcript: Transcript,
    branches: Branches,
    /// The model of the last call, with its provider.
    model: String,
    /// Something unseen may have changed in the prompt of the next call.
    unchained: bool,
    /// How refused requests are known; made when the first reply with an error comes.
    refusals: Option<Refusals>,
}

impl<'s> Session<'s> {
    fn new(id: String, scale: &'s dyn Scale) -> Session<'s> {
        let transcript = Transcript { id, agent: READER.name.to_owned(), ..Transcript::default() };
        Session {
            scale,
            transcript,
            // Version 1 counts its entries from the header.
            branches: Branches::below_a_header(),
            model: String::new(),
            unchained: false,
            refusals: None,
        }
    }

    fn enter(&mut self, entry: &Entry<'_>, lose: Lose<'_>) {
        if &*entry.kind == "session" {
            self.open(entry, lose);
            return;
        }
        if !self.place(entry, lose) {
            return;
        }
        let time = entry.timestamp.some_id().and_then(millis);
        match &*entry.kind {
            "message" => match &entry.message {
                Some(payload) => self.message(entry, payload, time, lose),
                None => lose("message entry without a message"),
            },
            "custom_message" => {
                let parts = self.parts(&entry.content, lose);
                self.injected(entry, parts, time);
            }
            "branch_summary" => {
                let parts = vec![Part::Text(self.scale.weigh(&entry.summary))];
                self.injected(entry, parts, time);
                self.summary_call(entry, lose).into_iter().for_each(|call| self.transcript.side_calls.push(call));
            }
            "compaction" => self.compaction(entry, time, lose),
            // Settings, bookmarks and the state of extensions never reach the model.
            "model_change" | "thinking_level_change" | "custom" | "label" | "session_info" => {}
            _ => lose("unknown record type"),
        }
    }

    fn open(&mut self, entry: &Entry<'_>, lose: Lose<'_>) {
        if self.branches.leaf().is_some() {
            lose("second session header");
            return;
        }
        if let Some(id) = entry.id.some_id() {
            self.transcript.id = id.to_owned();
        }
        self.transcript.project = project(&entry.cwd);
        // A header that names another session stands for a fork by a person. That is no sub-agent: the session has no parent.
    }

    /// Puts the entry into the tree. False where it is there already.
    fn place(&mut self, entry: &Entry<'_>, lose: Lose<'_>) -> bool {
        let id = entry.id.some_id();
        if id.is_some_and(|id| self.branches.place_of(id).is_some()) {
            lose("entry that is in the file already");
            return false;
        }
        let leaf = self.branches.leaf();
        let parent = match entry.parent_id.as_ref() {
            // Version 1: each entry follows the one before it.
            None => leaf,
            Some(None) => None,
            Some(Some(parent)) => match self.branches.place_of(parent) {
                Some(parent) => Some(parent),
                None => {
                    lose("parent entry is not in the file: read on in order of time");
                    self.transcript.begins_in_middle |= leaf.is_none();
                    leaf
                }
            },
        };
        self.unchained |= self.branches.enter(id.unwrap_or_default(), parent, &mut self.transcript.messages);
        true
    }

    /// Lists the message of the entry that was placed last.
    fn give(&mut self, entry: &Entry<'_>, time: Option<i64>, message: Message) {
        // Ids are eight digits, unique within a session only; with the time they name the same entry in a forked file, and no other.
        let id = entry.id.some_id().map(|id| format!("{id}@{}", &*entry.timestamp));
        self.branches.list(Message { id: id.unwrap_or_default(), time, ..message }, &mut self.transcript.messages);
    }

    fn injected(&mut self, entry: &Entry<'_>, parts: Vec<Part>, time: Option<i64>) {
        self.give(entry, time, Message { synthetic: true, ..Message::new(Role::User, parts) });
    }

    fn message(&mut self, entry: &Entry<'_>, payload: &Payload<'_>, time: Option<i64>, lose: Lose<'_>) {
        let time = time.or(payload.timestamp.filter(|time| time.is_finite()).map(|time| time as i64));
        match &*payload.role {
            "user" => {
                let parts = self.parts(&payload.content, lose);
                self.give(entry, time, Message::new(Role::User, parts));
            }
            "assistant" => {
                let parts = self.parts(&payload.content, lose);
                let call = self.call(payload, lose);
                self.give(entry, time, Message { call, ..Message::new(Role::Assistant, parts) });
            }
            "toolResult" => {
                let parts = self.result(payload, lose);
                self.give(entry, time, Message::new(Role::Tool, parts));
            }
            // Extensions' messages; version 2 calls them hook messages.
            "custom" | "hookMessage" => {
                let parts = self.parts(&payload.content, lose);
                self.injected(entry, parts, time);
            }
            // With `!!` a person runs a command that the model does not hear of.
            "bashExecution" if payload.exclude_from_context == Some(true) => {}
            "bashExecution" => {
                let parts = vec![Part::Text(self.scale.weigh(&payload.command_as_text()))];
                self.injected(entry, parts, time);
            }
            "branchSummary" => {
                let parts = vec![Part::Text(self.scale.weigh(&payload.summary))];
                self.injected(entry, parts, time);
            }
            _ => lose("unknown message role"),
        }
    }

    fn parts(&self, content: &Content<'_>, lose: Lose<'_>) -> Vec<Part> {
        content.0.iter().filter_map(|block| self.part(block, lose)).collect()
    }

    fn part(&self, block: &Block<'_, Piece<'_>>, lose: Lose<'_>) -> Option<Part> {
        let block = match block {
            Block::Object(block) => block,
            Block::Text(text) => return Some(Part::Text(self.scale.weigh(text))),
            Block::Other => {
                lose("content of an unexpected shape");
                return None;
            }
        };
        Some(match &*block.kind {
            "text" => Part::Text(self.scale.weigh(&block.text)),
            "thinking" => thinking(self.scale, &block.thinking, block.thinking_signature.len()),
            "toolCall" => Part::ToolCall {
                id: block.id.some_id().unwrap_or_default().to_owned(),
                name: block.name.to_string(),
                arguments: self.scale.weigh(&compact(block.arguments.map_or("{}", |json| json.get()))),
            },
            "image" => Part::Image(image::from_base64(&block.data)),
            _ => {
                lose("unknown content block");
                return None;
            }
        })
    }

    fn result(&self, payload: &Payload<'_>, lose: Lose<'_>) -> Vec<Part> {
        let result = Part::ToolResult {
            call_id: payload.tool_call_id.some_id().unwrap_or_default().to_owned(),
            name: payload.tool_name.to_string(),
            text: self.scale.weigh_result(&joined_text(&payload.content)),
            error: payload.is_error.unwrap_or_default(),
        };
        let beside = payload.content.0.iter().filter(|block| text_of(block).is_none()).filter_map(|block| self.part(block, lose));
        std::iter::once(result).chain(beside).collect()
    }

    /// The request behind an assistant message. One that was aborted or failed counts where the provider still reported usage:
    /// it was made, and paid for; only its reply is not whole.
    fn call(&mut self, payload: &Payload<'_>, lose: Lose<'_>) -> Option<Call> {
        let broken_off = matches!(&*payload.stop_reason, "aborted" | "error");
        let usage = payload.usage.as_ref().and_then(|usage| usage.read(lose));
        let usage = usage.map(|usage| Usage { output_is_final: !broken_off, ..usage });
        self.transcript.refused = self.refused(payload);
        if self.transcript.refused {
            lose("request that the provider refused as too large");
        }
        if broken_off && usage.is_none() {
            self.unchained = true;
            return None;
        }
        let model = format!("{}/{}", &*payload.provider, &*payload.model);
        let changed = !self.model.is_empty() && self.model != model;
        let unchained = std::mem::replace(&mut self.unchained, broken_off) || changed;
        self.model = model;
        let id = payload.response_id.some_id().map(str::to_owned);
        let id = id.or_else(|| Some(payload.usage.as_ref()?.fingerprint(payload.timestamp?)));
        Some(Call { id: id.unwrap_or_default(), model: payload.model.to_string(), usage, unchained })
    }

    /// Did the provider refuse the request because of its size? The log does not name the window: what a provider took in silence
    /// although it was too large is not seen here.
    fn refused(&mut self, payload: &Payload<'_>) -> bool {
        if &*payload.stop_reason != "error" {
            return false;
        }
        let refusals = self.refusals.get_or_insert_with(|| Refusals::by(Rules::Since1));
        let answer =
            Answer { stop_reason: &payload.stop_reason, error: &payload.error_message, provider: &payload.provider, ..Answer::default() };
        refusals.include(&answer)
    }

    /// The request of a summariser, where the log has its usage.
    fn summary_call(&mut self, entry: &Entry<'_>, lose: Lose<'_>) -> Option<Call> {
        let usage = entry.usage.as_ref()?.read(lose)?;
        let model = self.model.split_once('/').map_or("", |(_, model)| model).to_owned();
        let id = entry.id.some_id().map(|id| format!("{id}@{}", &*entry.timestamp)).unwrap_or_default();
        Some(Call { id, model, usage: Some(usage), unchained: true })
    }

    fn compaction(&mut self, entry: &Entry<'_>, time: Option<i64>, lose: Lose<'_>) {
        let before = self.transcript.messages.len();
        let first_kept = match (entry.first_kept_entry_id.some_id(), entry.first_kept_entry_index) {
            (Some(id), _) => self.branches.place_of(id),
            (None, Count::Sound(index)) => usize::try_from(index).ok(),
            _ => None,
        };
        // What is kept may begin with an entry that is no message (a change of model): the first message after it counts.
        let kept_from = first_kept.and_then(|first| Some(self.branches.first_from(first)?.unwrap_or(before)));
        if first_kept.is_some() && kept_from.is_none() {
            lose("compaction that keeps an entry of another branch");
        }
        let call = self.summary_call(entry, lose);
        self.transcript.compactions.push(Compaction {
            before,
            tokens_before: match entry.tokens_before {
                Count::Sound(tokens) => Some(tokens),
                _ => None,
            },
            summary: Some(self.scale.weigh(&entry.summary)),
            kept_from,
            call,
            time,
            ..Compaction::default()
        });
    }
}

impl record::Usage {
    /// The usage as a fact; `None` where the log has zeros, which is how requests without an answer are written.
    fn read(&self, lose: Lose<'_>) -> Option<Usage> {
        let reported = Reported {
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cached: Cached::Beside,
            output: self.output,
            reasoning: self.reasoning,
            cost_nano_usd: self.cost.as_ref().and_then(|cost| cost.total.above_zero()),
            ..Reported::default()
        };
        sound(reported.usage(), lose)
    }

    /// A name for the call by which a forked file's copy of it is known.
    fn fingerprint(&self, time: f64) -> String {
        let number = |count: Count| count.or_zero().unwrap_or_default();
        let [input, output, read, write] = [self.input, self.output, self.cache_read, self.cache_write].map(number);
        format!("{time}-{input}-{output}-{read}-{write}")
    }
}
