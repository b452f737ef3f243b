//! Sessions of pi, OpenClaw, Command Code and Letta Code's local backend: JSON lines, a header first. What pi prints (`--mode json`) has the same header and messages, among events of its own.
//!
//! Version 1 is a plain list. From version 2 on every entry names its parent, so that one file holds a tree: going back in the
//! conversation starts a new branch, and what the log tells in order of time is turned into rewinds and second showings.

use crate::format::ground::{Branches, Count, Lose, Outline, ReadError, Source, compact, image, millis, sound, string, values};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{Recorder, definitions, end};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::blocks::Block;
use crate::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Scale, Transcript, Usage, project};
use record::{Content, Details, Entry, Local, Models, Payload, Piece, joined_text, text_of};
use refusal::{Answer, Refusals, Rules};
use serde_json::Value;
use std::collections::HashMap;

pub mod refusal;

mod record;

/// Reads the sessions of pi and of the agents that keep theirs as it does.
pub const READER: Reader =
    Reader { name: "pi", about: "pi, OpenClaw, Command Code and local Letta Code session files (*.jsonl), pi --mode json", claims, read };

/// What Letta Code keeps beside the messages of a conversation.
const BESIDE: [&str; 3] = ["conversation.json", "manifest.json", "system-prompt.json"];

fn claims(source: &Source) -> Claim {
    if source.name() == "sessions.json" && is_index(source.outline()) || Models::are_in(source) {
        return Claim::Companion;
    }
    if BESIDE.contains(&source.name().as_str()) {
        let messages = source.beside(&source.path.with_file_name("messages.jsonl"));
        return if messages.is_ok_and(|messages| claims(&messages) == Claim::Yes) { Claim::Companion } else { Claim::No };
    }
    let first = source.head_text().lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // A file that was cut at its beginning has no header, but its messages are linked and have roles of their own.
    let headed = matches!(values::<record::Header<'_>>(first).next(), Some(Ok(header)) if header.is_of_pi());
    let linked = || matches!(values::<Entry<'_>>(first).next(), Some(Ok(entry)) if entry.is_linked_message());
    // Versions before 0.45.1 print no header.
    let printed = || source.has_line(20, &["type=agent_start"]) && source.has_line(24, &["type=message_start message.role"]);
    Claim::when(headed || linked() || printed())
}

/// OpenClaw's list of its sessions, by the names of their conversations. The window that it names is not that of the models that made the calls, but of the one
/// that is set for the agent, or 200,000 where that is unknown.
fn is_index(outline: &Outline) -> bool {
    outline.top().any(|name| outline.shows_at(&format!("{name}."), "sessionId updatedAt"))
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
    let new = |name: String| Session {
        made: Recorder::new(READER.name, name, scale),
        // Version 1 counts its entries from the header.
        branches: Branches::below_a_header(),
        refusals: None,
        flushed: false,
        places: HashMap::new(),
    };
    let mut session = new(source.name());
    let models = Models::of(source);
    let name = source.name();
    source.each_line(|source, line| {
        source.values(line, |entry: Entry<'_>, lose| {
            if session.is_over_with(&entry) {
                let over = std::mem::replace(&mut session, new(name.clone()));
                over.ended(&models).into_iter().for_each(&mut *give);
            }
            session.enter(&entry, lose);
        });
    })?;
    end(session.ended(&models), 0, source, give);
    Ok(())
}

struct Session<'s> {
    /// The models of its calls have their provider before them.
    made: Recorder<'s>,
    branches: Branches,
    /// How refused requests are known; made when the first reply with an error comes.
    refusals: Option<Refusals>,
    /// OpenClaw has had memories written down, as it does before it compacts by itself.
    flushed: bool,
    /// The messages of the last turn that have an id of their own.
    places: HashMap<String, usize>,
}

/// The agent whose sessions on its own machine are as pi's.
const LETTA_CODE: &str = "letta-code";

/// The agent whose sessions have the same entries, with messages as Anthropic's interface has them and usage beside them (seen of its version 1.4.5).
const COMMAND_CODE: &str = "command-code";

/// The agent that is pi with limits of its own: its changes of the model name the provider and the model in one.
const OH_MY_PI: &str = "oh-my-pi";

/// The agent that is built upon pi, and what it calls itself as a provider.
const OPENCLAW: &str = "openclaw";

/// The model that it names for what it delivers itself, under its former names too.
const DELIVERY: &str = "delivery-mirror";

/// What is printed beside whole messages: their pieces, and where runs, turns and tools begin and end.
const PRINTED: [&str; 13] = [
    "agent_start",
    "agent_end",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "compaction_start",
    "auto_compaction_start",
    "auto_retry_start",
    "auto_retry_end",
];

impl Session<'_> {
    /// Is this the header of another session, of a file that was put behind this one?
    fn is_over_with(&self, entry: &Entry<'_>) -> bool {
        let other = entry.id.some_id().is_some_and(|id| id != self.made.transcript.id);
        &*entry.kind == "session" && self.branches.leaf().is_some() && other
    }

    /// The session; `None` where nothing was said.
    fn ended(self, models: &Models) -> Option<Transcript> {
        let mut transcript = self.made.into_transcript();
        if let (OPENCLAW, Some(host), Some(model)) = (&*transcript.agent, &transcript.host, transcript.main_model()) {
            transcript.window = models.window(host, &model).or(transcript.window);
        }
        // The extension by which OpenClaw compacts is its own.
        let own = transcript.agent != READER.name;
        transcript.compactions.iter_mut().for_each(|event| event.by_extension &= !own);
        Some(transcript).filter(|transcript| !transcript.messages.is_empty() || !transcript.compactions.is_empty())
    }

    fn enter(&mut self, entry: &Entry<'_>, lose: Lose<'_>) {
        if &*entry.kind == "session" {
            self.open(entry, lose);
            return;
        }
        if PRINTED.contains(&&*entry.kind) || !self.place(entry, lose) {
            return;
        }
        let time = entry.timestamp.some_id().and_then(millis);
        match &*entry.kind {
            "message" | "message_end" => match &entry.message {
                Some(payload) => self.message(entry, payload, time, lose),
                None => lose("message entry without a message"),
            },
            "custom_message" => {
                let parts = self.parts(&entry.content, lose);
                self.injected(entry, parts, time);
            }
            "branch_summary" => {
                self.injected(entry, vec![self.made.text(&entry.summary)], time);
                self.summary_call(entry, lose).into_iter().for_each(|call| self.made.transcript.side_calls.push(call));
            }
            "compaction" => self.compaction(entry, time, lose),
            "context_edit" => self.edit(entry, time, lose),
            // What keeps a cache warm, and what else extensions ask a model for.
            "usage" => {
                let call = self.summary_call(entry, lose).map(|call| Call { model: string(entry.model), ..call });
                self.made.transcript.side_calls.extend(call);
            }
            "compaction_end" | "auto_compaction_end" => {
                self.flushed |= &*entry.kind == "auto_compaction_end" || matches!(&*entry.reason, "threshold" | "overflow");
                let made = entry.result.and_then(|result| serde_json::from_str::<Entry<'_>>(result.get()).ok());
                made.iter().for_each(|made| self.compaction(made, time, lose));
            }
            "custom" if &*entry.custom_type == "model-snapshot" || entry.custom_type.starts_with("openclaw:") => self.is_of_openclaw(),
            "model_change" if entry.model.is_some() => OH_MY_PI.clone_into(&mut self.made.transcript.agent),
            "session_init" | "mode_change" | "ttsr_injection" => OH_MY_PI.clone_into(&mut self.made.transcript.agent),
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
        self.made.identify(entry.id.id());
        self.made.transcript.project = project(&entry.cwd);
        if entry.cwd.split(['/', '\\']).any(|folder| matches!(folder, ".openclaw" | ".clawdbot" | ".moltbot")) {
            self.is_of_openclaw();
        }
        // A header that names another session stands for a fork by a person. That is no sub-agent: the session has no parent.
    }

    /// The session is one of OpenClaw, whose limits are not pi's.
    fn is_of_openclaw(&mut self) {
        OPENCLAW.clone_into(&mut self.made.transcript.agent);
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
                    self.made.transcript.begins_in_middle |= leaf.is_none();
                    leaf
                }
            },
        };
        self.made.chain.broken |= self.branches.enter(id.unwrap_or_default(), parent, &mut self.made.transcript.messages, lose);
        true
    }

    /// Lists the message of the entry that was placed last.
    fn give(&mut self, entry: &Entry<'_>, time: Option<i64>, message: Message) {
        let own = entry.message.as_ref().and_then(|payload| payload.id.some_id());
        let begins = message.role == Role::User;
        let next = self.made.next();
        // What begins a turn is a message of its own, whatever its id.
        let earlier = own.and_then(|own| self.places.get(own)).filter(|place| !begins || **place + 1 == next);
        let earlier = earlier.and_then(|place| self.made.transcript.messages.get_mut(*place));
        if let Some(earlier) = earlier.filter(|earlier| earlier.role == message.role) {
            (earlier.parts, earlier.call) = (message.parts, message.call);
            return;
        }
        // Ids are eight digits, unique within a session only; with the time they name the same entry in a forked file, and no other.
        let id = entry.id.some_id().map(|id| format!("{id}@{}", &*entry.timestamp));
        self.branches.list(Message { id: id.unwrap_or_default(), time, ..message }, &mut self.made.transcript.messages);
        if begins {
            self.places.clear();
        }
        self.places.extend(own.map(|own| (own.to_owned(), self.made.next().saturating_sub(1))));
    }

    fn injected(&mut self, entry: &Entry<'_>, parts: Vec<Part>, time: Option<i64>) {
        self.give(entry, time, Message { synthetic: true, ..Message::new(Role::User, parts) });
    }

    fn message(&mut self, entry: &Entry<'_>, payload: &Payload<'_>, time: Option<i64>, lose: Lose<'_>) {
        let local = payload.metadata.and_then(|local| serde_json::from_str::<Local>(local.get()).ok());
        if local.is_some_and(|local| !local.agent_id.is_empty()) {
            LETTA_CODE.clone_into(&mut self.made.transcript.agent);
        }
        if payload.is_of_command_code() {
            COMMAND_CODE.clone_into(&mut self.made.transcript.agent);
        }
        let time = time.or(payload.timestamp.filter(|time| time.is_finite()).map(|time| time as i64));
        match &*payload.role {
            "user" => {
                let parts = self.parts(&payload.content, lose);
                self.flushed |= joined_text(&payload.content).starts_with("Pre-compaction memory flush");
                let returned = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::ToolResult { .. }));
                self.give(entry, time, Message::new(if returned { Role::Tool } else { Role::User }, parts));
            }
            "assistant" => {
                let parts = self.parts(&payload.content, lose);
                self.made.tools.note_all(&parts);
                let call = self.call(entry, payload, lose);
                self.give(entry, time, Message { call: call.map(Box::new), ..Message::new(Role::Assistant, parts) });
            }
            "system" => {
                let parts = self.instructions(payload);
                self.give(entry, time, Message::new(Role::System, parts));
            }
            "toolResult" => {
                let parts = self.result(payload, lose);
                // Tools that ask a model themselves say what for.
                let asked = payload.usage.as_ref().and_then(|usage| usage.read(Cached::Beside, lose));
                let id = || format!("{}@{}", entry.id.id(), &*entry.timestamp);
                self.made.transcript.side_calls.extend(asked.map(|usage| Call { id: id(), usage: Some(usage), ..Call::default() }));
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
                self.injected(entry, vec![self.made.text(&payload.command_as_text())], time);
            }
            "branchSummary" => {
                self.injected(entry, vec![self.made.text(&payload.summary)], time);
            }
            _ => lose("message of an unknown role"),
        }
    }

    /// The instructions and tools of a session, or what is new of them from here on.
    fn instructions(&mut self, payload: &Payload<'_>) -> Vec<Part> {
        let sections = payload.sections.as_ref().and_then(Value::as_object).into_iter().flat_map(serde_json::Map::values);
        let texts = std::iter::once(joined_text(&payload.content)).chain(sections.filter_map(|text| Some(text.as_str()?.to_owned())));
        let parts = texts
            .filter(|text| !text.is_empty())
            .map(|text| self.made.text(&text))
            .chain(definitions(self.made.scale, payload.tools_added));
        // A section or a tool that is taken back left the prompt, and is listed no less.
        let removed = payload.sections.as_ref().and_then(Value::as_object).is_some_and(|sections| sections.values().any(Value::is_null));
        let parts = parts.collect();
        self.made.chain.broken |= removed || payload.tools_removed.is_some();
        parts
    }

    /// From here on the model sees something else, or nothing, in place of what an entry gave it.
    fn edit(&mut self, entry: &Entry<'_>, time: Option<i64>, lose: Lose<'_>) {
        let at = self.branches.place_of(&entry.target_id).and_then(|place| self.branches.first_from(place)).flatten();
        let parts = at.and_then(|at| Some((at, self.made.transcript.messages.get(at)?.parts.len())));
        let Some((at, parts)) = parts else { return lose("edit of an entry that is not there") };
        let before = self.made.next();
        let is_same = |last: &&mut Compaction| last.kind == CompactionKind::Prune && last.before == before;
        let taken = (0..parts).map(|part| (at, part));
        match self.made.transcript.compactions.last_mut().filter(is_same) {
            Some(last) => {
                last.taken.extend(taken);
                last.taken.sort_unstable();
                last.taken.dedup();
            }
            None => self.made.cut(Compaction { kind: CompactionKind::Prune, taken: taken.collect(), time, ..Compaction::default() }),
        }
    }

    fn parts(&self, content: &Content<'_>, lose: Lose<'_>) -> Vec<Part> {
        content.0.iter().filter_map(|block| self.part(block, lose)).collect()
    }

    fn part(&self, block: &Block<'_, Piece<'_>>, lose: Lose<'_>) -> Option<Part> {
        let block = match block {
            Block::Object(block) => block,
            Block::Text(text) => return Some(self.made.text(text)),
            Block::Other => {
                lose("content of an unexpected shape");
                return None;
            }
        };
        Some(match &*block.kind {
            "text" => self.made.text(&block.text),
            "thinking" => self.made.thinking(&block.thinking, block.thinking_signature.len()),
            "toolCall" | "tool_use" => Part::ToolCall {
                id: block.id.some_id().unwrap_or_default().to_owned(),
                name: block.name.to_string(),
                arguments: self.made.scale.weigh(&compact(block.arguments.map_or("{}", |json| json.get()))),
            },
            "tool_result" => self.made.result(&block.tool_use_id, &joined_text(&block.content), block.is_error.unwrap_or_default()),
            "image" => Part::Image(image::from_base64(&block.data)),
            _ => {
                lose("unknown content part");
                return None;
            }
        })
    }

    fn result(&self, payload: &Payload<'_>, lose: Lose<'_>) -> Vec<Part> {
        let result = Part::ToolResult {
            call_id: payload.tool_call_id.some_id().unwrap_or_default().to_owned(),
            name: payload.tool_name.to_string(),
            text: self.made.scale.weigh_result(&joined_text(&payload.content)),
            error: payload.is_error.unwrap_or_default(),
        };
        let beside = payload.content.0.iter().filter(|block| text_of(block).is_none()).filter_map(|block| self.part(block, lose));
        std::iter::once(result).chain(beside).collect()
    }

    /// The request behind an assistant message. One that was aborted or failed counts where the provider still reported usage:
    /// it was made, and paid for; only its reply is not whole.
    fn call(&mut self, entry: &Entry<'_>, payload: &Payload<'_>, lose: Lose<'_>) -> Option<Call> {
        let broken_off = matches!(&*payload.stop_reason, "aborted" | "error");
        let beside = entry.usage.as_ref().filter(|_| payload.is_of_command_code());
        let usage = payload.usage.as_ref().and_then(|usage| usage.read(Cached::Beside, lose));
        let usage = usage.or_else(|| beside.and_then(|usage| usage.read(Cached::Within, lose)));
        // Anthropic's streams begin with a placeholder; those of OpenAI's kind report at their end alone.
        let is_final = !broken_off || payload.api.contains("openai");
        let usage = usage.map(|usage| Usage { output_is_final: is_final, ..usage });
        self.made.transcript.refused = false;
        if self.refused(payload) {
            lose("request that the provider refused as too large");
            self.made.refuse();
        }
        // What OpenClaw itself said to the person stands among the replies.
        if (&*payload.provider == OPENCLAW || &*payload.model == DELIVERY) && usage.is_none() {
            self.is_of_openclaw();
            return None;
        }
        if broken_off && usage.is_none() {
            self.made.chain.broken = true;
            return None;
        }
        let own = if payload.model.is_empty() { string(entry.model) } else { payload.model.to_string() };
        let model = format!("{}/{own}", &*payload.provider);
        let unchained = self.made.chain.link(&model);
        self.made.chain.broken = broken_off;
        if let Some(host) = payload.provider.some_id() {
            self.made.hosts.push((payload.model.to_string(), host.to_owned()));
        }
        let id = payload.response_id.some_id().map(str::to_owned);
        let id = id.or_else(|| Some(payload.usage.as_ref()?.fingerprint(payload.timestamp?)));
        Some(Call { id: id.unwrap_or_default(), model: own, usage, unchained, ..Call::default() })
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
        let usage = entry.usage.as_ref()?.read(Cached::Beside, lose)?;
        let model = self.made.chain.model().split_once('/').map_or("", |(_, model)| model).to_owned();
        let id = entry.id.some_id().map(|id| format!("{id}@{}", &*entry.timestamp)).unwrap_or_default();
        Some(Call { id, model, usage: Some(usage), unchained: true, ..Call::default() })
    }

    fn compaction(&mut self, entry: &Entry<'_>, time: Option<i64>, lose: Lose<'_>) {
        let before = self.made.next();
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
        let details = entry.details.and_then(|details| serde_json::from_str::<Details>(details.get()).ok());
        let stats = details.and_then(|details| details.stats).unwrap_or_default();
        let trigger = stats.trigger.some_id().map(|trigger| trigger != "manual");
        self.made.transcript.window = stats.context_window.known().ok().flatten().or(self.made.transcript.window);
        self.made.compact(Compaction {
            tokens_after: stats.context_tokens_after.known().ok().flatten(),
            tokens_before: entry.tokens_before.known().ok().flatten(),
            summary: self.made.scale.weigh_summary(&entry.summary),
            kept_from,
            by_extension: entry.from_hook == Some(true),
            automatic: std::mem::take(&mut self.flushed).then_some(true).or(trigger),
            call,
            time,
            ..Compaction::default()
        });
    }
}

impl record::Usage {
    /// The usage as a fact; `None` where the log has zeros, which is how requests without an answer are written.
    fn read(&self, cached: Cached, lose: Lose<'_>) -> Option<Usage> {
        let reported = Reported {
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_1h: self.cache_write_1h,
            cached,
            output: self.output,
            reasoning: self.reasoning,
            cost_nano_usd: self.cost.as_ref().and_then(|cost| cost.total.above_zero()).or(self.cost_usd.above_zero()),
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
