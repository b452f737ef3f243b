//! Puts a rollout's records together.
//!
//! Usage and the items of its response stand in a different order in each generation of the program:
//! before the items (up to 0.5x), between the model's items and the tools' results (0.9x), after both (0.14x). So the usage of a new
//! call goes to the open response if that has none yet, and otherwise to the response that is about to come.

use super::content::{ItemParts, Lost, SEALED, contextual, failed, parts_of, pictures_of, taken_in, text_of};
use super::ledger::{Ledger, hide};
use super::record::{Compacted, Event, Item, Meta, Record, Sent, TokenUsage, TurnContext, is_of_interpreter};
use super::turn::Turn;
use crate::format::ground::{Count, millis, string, text_or_json};
use crate::format::recorder::{Recorder, definitions, thinking};
use crate::format::wire::blocks::Block;
use crate::format::wire::held;
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Text, Transcript, Usage, project};
use serde::Deserialize;
use std::collections::HashSet;

/// The agent's name in transcripts and reports.
pub const AGENT: &str = "codex";

/// Open Interpreter, which is Codex with a few versions of its own: its sessions say nothing else of it.
const INTERPRETER: &str = "open-interpreter";

const UNEXPECTED: &str = "record of an unexpected shape";

/// The session as far as it has been read.
pub struct Session<'s> {
    pub(super) made: Recorder<'s>,
    /// The ids of the session and of those that it was forked from, and the last of them, which copies of a call in a fork share.
    heads: HashSet<String>,
    pub(super) head: String,
    /// The model has said something.
    replied: bool,
    /// No record has come yet.
    first: bool,
    pub(super) model: String,
    /// The last turn's mark of the models that can share a history.
    comp_hash: Option<String>,
    /// How many messages marks have looked through, and whether the model has said one of those behind the last compaction.
    looked_through: (usize, bool),
    /// The message that holds the user's instructions, and its text, until it is known whether another message shows them again.
    instructions: Option<(usize, String)>,
    pub(super) open: Option<Response>,
    /// A call whose items have not come yet.
    pub(super) pending: Option<Call>,
    pub(super) totals: Option<TokenUsage>,
    /// So many messages were there when they last grew.
    pub(super) counted_to: usize,
    pub(super) ledger: Ledger,
    /// The first line that is the session's own, and whether the one at hand is repeated from its parent.
    own_from: u64,
    pub(super) repeats: bool,
    rewind: Option<usize>,
    /// The messages that other agents wrote, by their places: each begins a turn.
    told: Vec<usize>,
    /// A review has ended: the program puts its report into the model's mouth.
    pub(super) report_follows: bool,
    turn: Turn,
    /// The definitions of tools are not those of the last reply.
    tools_changed: bool,
}

/// The model's response that items are being added to.
pub(super) struct Response {
    pub(super) message: usize,
    /// The usage of the response came before the items of the response.
    usage_first: bool,
    /// A tool has answered a call of the response.
    answered: bool,
    aborted: bool,
    /// The provider ran tools of its own.
    pub(super) served: bool,
}

impl<'s> Session<'s> {
    /// A session of which no record has come yet, with this name until a record gives an id.
    pub fn new(scale: &'s dyn Scale, name: String) -> Session<'s> {
        Session {
            made: Recorder::new(AGENT, name, scale),
            heads: HashSet::new(),
            head: String::new(),
            replied: false,
            first: true,
            model: String::new(),
            comp_hash: None,
            looked_through: (0, false),
            instructions: None,
            open: None,
            pending: None,
            totals: None,
            counted_to: 0,
            ledger: Ledger::default(),
            own_from: 0,
            repeats: false,
            rewind: None,
            told: Vec::new(),
            report_follows: false,
            turn: Turn::default(),
            tools_changed: false,
        }
    }

    /// Takes in one record; `line` is the text that it stood in, for records without a payload.
    pub fn take(&mut self, record: &Record, line: &str) -> Lost {
        let time = millis(&record.timestamp);
        let Some(payload) = record.payload.map(|payload| payload.get()) else { return self.bare(record, line, time) };
        // Each file begins with what is known of its session.
        self.made.transcript.begins_in_middle |= std::mem::take(&mut self.first) && &*record.kind != "session_meta";
        if self.repeats && !matches!(record.ordinal, Count::Sound(ordinal) if ordinal < self.own_from) {
            self.close();
            self.repeats = false;
        }
        match &*record.kind {
            "response_item" => match decode(payload)? {
                item if record.is_delivered(&item) => Ok(()),
                item => self.item(&item, time),
            },
            "event_msg" => self.event(payload, time),
            "token_usage_record" => self.used(&decode(payload)?),
            "inter_agent_communication" => self.told(&decode(payload)?, time),
            "turn_context" => {
                let context: TurnContext = decode(payload)?;
                if !context.model.is_empty() {
                    self.model = context.model.to_string();
                }
                self.mark(context.comp_hash.map(|hash| text_or_json(Some(hash))));
                Ok(())
            }
            "session_meta" => {
                self.meta(&decode(payload)?, time);
                Ok(())
            }
            "compacted" => {
                let compacted: Compacted = decode(payload)?;
                self.compacted(&compacted, time);
                Ok(())
            }
            // Definitions beside the conversation, which the file does not show otherwise, are others from the next reply on.
            "dynamic_tools_updated" => {
                self.tools_changed = true;
                Ok(())
            }
            // What the program compares with later to tell the model of changes, when an agent's message came, what judges of commands are told: the
            // texts are items.
            "world_state" | "inter_agent_communication_metadata" | "realtime_item" | "retained_context" | "security_risk_score" => Ok(()),
            _ => Err("unknown record type"),
        }
    }

    /// What is known at the end of the file; `None` where nothing of it could be read.
    pub fn finish(mut self) -> Option<Transcript> {
        self.flush_pending();
        self.close();
        self.settle(None);
        let transcript = self.made.into_transcript();
        (!transcript.messages.is_empty() || !transcript.side_calls.is_empty()).then_some(transcript)
    }

    /// A line of a file from before version 0.30.
    fn bare(&mut self, record: &Record, line: &str, time: Option<i64>) -> Lost {
        if !record.record_type.is_empty() {
            return Ok(());
        }
        if record.kind.is_empty() {
            let meta: Meta = decode(line)?;
            if meta.id.is_empty() {
                return Err("unknown record type");
            }
            self.meta(&meta, time);
            return Ok(());
        }
        self.item(&decode(line)?, time)
    }

    /// Is this the head of another session, of a file put behind this one? The heads that a fork repeats come before all replies, or again.
    pub fn is_over_with(&self, record: &Record, line: &str) -> bool {
        let meta: Result<Meta, _> = match (&*record.kind, record.payload) {
            ("session_meta", Some(payload)) => decode(payload.get()),
            ("", None) => decode(line),
            _ => return false,
        };
        self.replied && meta.is_ok_and(|meta| meta.id.some_id().is_some_and(|id| !self.heads.contains(id)))
    }

    fn meta(&mut self, meta: &Meta, time: Option<i64>) {
        let first = self.heads.is_empty();
        for id in [&meta.id, &meta.forked_from_id].into_iter().filter_map(|id| id.some_id()) {
            if self.heads.insert(id.to_owned()) {
                id.clone_into(&mut self.head);
            }
        }
        // A fork repeats the heads of the sessions that it came from after its own.
        if !first {
            return;
        }
        self.made.identify(&meta.id);
        self.made.transcript.version = meta.cli_version.to_string();
        if is_of_interpreter(&meta.cli_version) {
            INTERPRETER.clone_into(&mut self.made.transcript.agent);
        }
        self.made.transcript.project = project(&meta.cwd);
        self.made.transcript.parent = meta.parent();
        self.made.transcript.begins_in_middle |= meta.goes_on();
        self.own_from = meta.subagent_history_start_ordinal.or_zero().unwrap_or(0);
        self.repeats = self.own_from > 0;
        let base: String = meta
            .base_instructions
            .0
            .iter()
            .map(|block| match block {
                Block::Text(text) => text.as_ref(),
                Block::Object(held::Said { text }) => text,
                Block::Other => "",
            })
            .collect();
        if !base.is_empty() {
            self.push(Message { time, ..Message::new(Role::System, vec![self.made.text(&base)]) });
        }
        let instructions = string(meta.instructions);
        if !instructions.trim().is_empty() {
            self.instructions = Some((self.made.next(), instructions.trim().to_owned()));
            self.push(Message { time, ..Message::new(Role::System, vec![self.made.text(&instructions)]) });
        }
    }

    fn event(&mut self, payload: &str, time: Option<i64>) -> Lost {
        let event: Event = decode(payload)?;
        match &*event.kind {
            "token_count" => event.info.map_or(Ok(()), |info| self.usage(&decode(info.get())?, time)),
            "task_started" | "turn_started" => {
                self.turn.begins();
                Ok(())
            }
            "task_complete" | "turn_complete" => {
                self.turn.ends(&mut self.made.transcript);
                Ok(())
            }
            "turn_aborted" => {
                self.turn.aborts();
                self.open.iter_mut().for_each(|open| open.aborted = true);
                Ok(())
            }
            "error" if string(event.codex_error_info) == "context_window_exceeded" => {
                self.made.refuse();
                Ok(())
            }
            "exited_review_mode" => {
                self.report_follows = true;
                Ok(())
            }
            "thread_rolled_back" => {
                let Ok(turns) = event.num_turns.or_zero() else { return Err(UNEXPECTED) };
                self.roll_back(turns);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn new_call(&mut self, id: String, usage: Option<Usage>) -> Call {
        self.made.transcript.refused = false;
        self.made.call(id, &self.model, usage)
    }

    fn compacted(&mut self, compacted: &Compacted, time: Option<i64>) {
        self.close();
        self.instructions = None;
        let sealed = || Some(Text { tokens: compacted.sealed_tokens()?, ..Text::default() });
        let summary = self.made.scale.weigh_summary(&compacted.message).or_else(sealed);
        // Usage without a response before this point is that of the summariser.
        let call = match self.ledger.take(compacted.response()) {
            Some(used) => {
                self.flush_pending();
                used.call()
            }
            None => self.pending.take(),
        };
        self.made.compact(Compaction { summary, call, time, ..Compaction::default() });
        self.looked_through = (self.made.transcript.messages.len(), false);
        self.turn.compacts(self.made.transcript.compactions.len() - 1, &mut self.made.transcript);
    }

    /// A turn has this mark. The program compacts at the start of a turn whose mark is another one than the last turn's, and writes the mark behind it.
    fn mark(&mut self, comp_hash: Option<String>) {
        let made = &mut self.made.transcript;
        let said = |at| made.messages.get(at).is_some_and(|message| message.role == Role::Assistant);
        let answered = self.looked_through.1 || (self.looked_through.0..made.messages.len()).any(said);
        self.looked_through = (made.messages.len(), answered);
        if let Some(compaction) = made.compactions.last_mut().filter(|_| !answered) {
            let both = self.comp_hash.as_ref().zip(comp_hash.as_ref());
            compaction.incompatible = compaction.incompatible.or(both.map(|(last, this)| last != this));
        }
        self.comp_hash = comp_hash;
    }

    fn item(&mut self, item: &Item, time: Option<i64>) -> Lost {
        self.turn.works(&mut self.made.transcript);
        let scale = self.made.scale;
        match &*item.kind {
            "message" => {
                let ItemParts { parts, lost } = parts_of(&item.content, scale);
                match &*item.role {
                    "assistant" if std::mem::take(&mut self.report_follows) => {
                        self.put_in(item, time, Message::new(Role::Assistant, parts));
                    }
                    "assistant" => self.response_part(item, parts, time),
                    "developer" | "system" => self.prompt(item, Role::System, parts, time),
                    "user" => self.prompt(item, Role::User, parts, time),
                    _ => return Err("message of an unknown role"),
                }
                lost
            }
            // What another agent says to this one stands in the prompt, though a part of it may be sealed.
            "agent_message" => {
                let ItemParts { parts, lost } = parts_of(&item.content, scale);
                self.break_off();
                self.prompt(item, Role::User, parts, time);
                self.told.extend(self.made.next().checked_sub(1));
                lost
            }
            "reasoning" => {
                let text = if item.content.0.is_empty() { text_of(&item.summary) } else { text_of(&item.content) };
                self.response_part(item, vec![thinking(scale, &text, item.encrypted_content.len())], time);
                Ok(())
            }
            "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "web_search_call"
            | "tool_search_call"
            | "image_generation_call" => {
                let id = if item.call_id.is_empty() { &item.id } else { &item.call_id };
                let name = if item.name.is_empty() { item.kind.trim_end_matches("_call") } else { &item.name };
                let call = self.made.tool_call(id, name, item.arguments.or(item.input).or(item.action));
                self.response_part(item, vec![call], time);
                // The provider runs these itself, within the request: the program has nothing to answer.
                if item.call_id.is_empty() && matches!(&*item.kind, "web_search_call" | "tool_search_call" | "image_generation_call") {
                    self.serve();
                }
                Ok(())
            }
            "function_call_output" | "custom_tool_call_output" | "mcp_tool_call_output" | "tool_search_output" => self.result(item, time),
            // Definitions that the conversation carries instead of the request's head.
            "additional_tools" => {
                if let Some(tools) = definitions(scale, item.tools) {
                    self.prompt(item, Role::System, vec![tools], time);
                }
                Ok(())
            }
            // Bookkeeping of the program (a commit to go back to, what a compaction left, how hard the model shall think), not text that the model reads.
            "configuration_update"
            | "ghost_snapshot"
            | "compaction"
            | "compaction_summary"
            | "context_compaction"
            | "compaction_trigger" => Ok(()),
            _ => Err("unknown response item"),
        }
    }

    /// Adds what the model said to the open response, or opens one.
    fn response_part(&mut self, item: &Item, parts: Vec<Part>, time: Option<i64>) {
        // Up to 0.5x a response goes on behind the results of its tools, until the next usage comes; since then results end it.
        let fits = |open: &Response| !open.aborted && (!open.answered || open.usage_first);
        if self.pending.is_none()
            && let Some(open) = self.open.as_ref().filter(|open| fits(open))
            && let Some(message) = self.made.transcript.messages.get_mut(open.message)
        {
            message.parts.extend(parts);
            item.name(&mut message.id);
            return;
        }
        self.close();
        self.instructions = None;
        self.made.chain.broken |= std::mem::take(&mut self.tools_changed);
        let pending = self.pending.take();
        let usage_first = pending.is_some();
        // What is repeated of another session was no call of this one.
        let call = pending.or_else(|| (!self.repeats).then(|| self.new_call(String::new(), None))).map(Box::new);
        self.push(Message { id: item.reply_id().to_owned(), call, time, ..Message::new(Role::Assistant, parts) });
        self.open = Some(Response { message: self.made.next() - 1, usage_first, answered: false, aborted: false, served: false });
    }

    /// The open response holds a call of one of the provider's own tools.
    fn serve(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.served = true;
        if let Some(call) = self.made.transcript.messages.get_mut(open.message).and_then(|message| message.call.as_mut()) {
            hide(call, &mut self.made.chain);
        }
    }

    /// A message that is not the model's.
    fn prompt(&mut self, item: &Item, role: Role, parts: Vec<Part>, time: Option<i64>) {
        self.made.transcript.item_bytes = item.metadata_bytes();
        let text = text_of(&item.content);
        // The head's instructions turn out to be part of a message: they are not counted twice. Nothing refers to messages yet.
        if let Some((index, _)) = self.instructions.take_if(|(_, instructions)| text.contains(instructions.as_str())) {
            self.made.transcript.messages.remove(index);
        }
        let synthetic = role == Role::User && (&*item.kind == "agent_message" || contextual(&text));
        let message = Message { synthetic, ..Message::new(role, parts) };
        // The program warns while it runs the tools of a reply, and counts the reply behind that.
        if synthetic && text.trim_start().starts_with("Warning: ") && self.unpaid().is_some() {
            return self.push(Message { id: item.id.id().to_owned(), time, ..message });
        }
        self.put_in(item, time, message);
    }

    /// What another agent says to this one, in the form of older versions.
    fn told(&mut self, sent: &Sent, time: Option<i64>) -> Lost {
        self.turn.works(&mut self.made.transcript);
        self.break_off();
        self.flush_pending();
        let words = self.made.text(&sent.words());
        self.told.push(self.made.next());
        self.push(Message { id: sent.id.id().to_owned(), time, synthetic: true, ..Message::new(Role::User, vec![words]) });
        if sent.encrypted_content.is_empty() { Ok(()) } else { Err(SEALED) }
    }

    /// A message that no call of this session made.
    fn put_in(&mut self, item: &Item, time: Option<i64>, message: Message) {
        self.flush_pending();
        self.close();
        self.push(Message { id: item.id.id().to_owned(), time, ..message });
    }

    fn result(&mut self, item: &Item, time: Option<i64>) -> Lost {
        self.made.transcript.item_bytes = item.metadata_bytes();
        if let Some(open) = &mut self.open {
            open.answered = true;
        }
        let ItemParts { parts: pictures, lost } = pictures_of(&item.output);
        let text = if item.tools.is_some() { text_or_json(item.tools) } else { taken_in(&item.output, &self.made.transcript.version) };
        let error = failed(&text, &item.output);
        let result = self.made.result(&item.call_id, &text, error);
        let parts = std::iter::once(result).chain(pictures).collect();
        self.push(Message { id: item.id.id().to_owned(), time, ..Message::new(Role::Tool, parts) });
        lost
    }

    /// Takes back the last turns, as the program does: a turn starts with a message that the user really wrote, or another agent (`is_user_turn_boundary` of
    /// `core/src/context_manager/history.rs`).
    fn roll_back(&mut self, turns: u64) {
        self.flush_pending();
        self.close();
        let mut left = turns;
        let mut at = self.rewind.unwrap_or(self.made.next());
        while left > 0 && at > 0 {
            at -= 1;
            let Some(message) = self.made.transcript.messages.get(at) else { return };
            if message.role == Role::User && (!message.synthetic || self.told.binary_search(&at).is_ok()) {
                left -= 1;
                self.rewind = Some(at);
            }
            at = message.rewind.unwrap_or(at);
        }
    }

    fn push(&mut self, mut message: Message) {
        message.rewind = self.rewind.take();
        self.replied |= message.role == Role::Assistant;
        self.made.push(message);
    }

    /// No more items can belong to the open response. One that was aborted before its usage came was no call.
    fn close(&mut self) {
        let Some(open) = self.open.take().filter(|open| open.aborted) else { return };
        self.settle(Some(open.message));
        if let Some(message) = self.made.transcript.messages.get_mut(open.message)
            && message.call.as_ref().is_some_and(|call| call.usage.is_none() && call.id.is_empty())
        {
            message.call = None;
            self.made.chain.broken = true;
        }
    }

    /// A response that another agent's message interrupts before its usage came is asked for anew: it was no call, but what the model
    /// had said stays in the context.
    fn break_off(&mut self) {
        let open = self.open.take().map(|open| open.message);
        if open.is_some() {
            self.settle(open);
        }
        let message = open.and_then(|message| self.made.transcript.messages.get_mut(message));
        let call = message.and_then(|message| message.call.take_if(|call| call.usage.is_none() && call.id.is_empty()));
        self.made.chain.broken |= call.is_some_and(|call| call.unchained);
    }

    /// A call that produced no item of the conversation.
    pub(super) fn flush_pending(&mut self) {
        self.made.transcript.side_calls.extend(self.pending.take());
    }
}

fn decode<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, &'static str> {
    serde_json::from_str(text).map_err(|_| UNEXPECTED)
}
