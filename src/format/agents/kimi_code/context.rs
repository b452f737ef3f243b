//! The context that the records of a wire build.

use super::record::{Event, Origin, Put, Record};
use crate::format::ground::{Count, Figures, Lose, compact, sound, text_or_json};
use crate::format::recorder::Recorder;
use crate::format::usage::{Cached, Reported};
use crate::format::wire::kimi::{parts, texts};
use crate::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Text, Usage};
use serde_json::value::RawValue;

/// Families of records that say nothing of the context.
const SILENT: &str = "permission. plan_mode. plan. swarm_mode. tower_mode. goal. cron. task. token_counting. tools. mcp. interaction. runtime. \
                      staleGuard. plugin. prompt. interruptionReminder. turn. metadata forked full_compaction.complete \
                      context.update_token_count todo. file_history.";

pub struct Context<'s> {
    made: Recorder<'s>,
    /// The messages of the context; `None` is a summary.
    shown: Vec<Option<usize>>,
    /// A prompt that has not been put in. Some wires hold no other record of it.
    prompt: Option<(Vec<Part>, Option<i64>)>,
    puts_messages: bool,
    /// The message of the step that goes on, and whether its begin was seen.
    step: Option<usize>,
    begun: bool,
    /// The usage that the open step has reported so far, and when. It comes again at the step's end, where it has one.
    reported: Option<(Usage, Option<i64>)>,
    /// Has a step ended whose usage may come again?
    ended: bool,
    /// The reminder of the swarm mode.
    reminder: Option<usize>,
    model: String,
    /// What the last call came to, until a compaction.
    size: Option<u64>,
    /// The longest reply that any request allowed.
    longest: u64,
    rewind: Option<usize>,
    /// Is a compaction going on, and did the user ask for it?
    compacting: Option<Option<bool>>,
    summariser: Option<Call>,
}

impl<'s> Context<'s> {
    /// A context of which nothing is known but the session.
    pub fn new(made: Recorder<'s>) -> Context<'s> {
        Context {
            made,
            shown: Vec::new(),
            prompt: None,
            puts_messages: false,
            step: None,
            begun: false,
            reported: None,
            ended: false,
            reminder: None,
            model: String::new(),
            size: None,
            longest: 0,
            rewind: None,
            compacting: None,
            summariser: None,
        }
    }

    /// The session that the wire's records make.
    pub fn finish(mut self) -> Recorder<'s> {
        self.put_prompt();
        self.close();
        self.made.transcript.side_calls.extend(self.summariser);
        self.made
    }

    pub fn record(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        match &*record.kind {
            "turn.prompt" | "turn.steer" if !self.puts_messages => {
                self.put_prompt();
                self.prompt = Some((parts(&record.input, self.made.scale, lose), record.time));
            }
            "config.update" | "profile.bind" => {
                if !record.system_prompt.is_empty() {
                    self.instruct(self.made.text(&record.system_prompt), record.time);
                }
            }
            "llm.tools_snapshot" => {
                let tools = compact(record.tools.map_or("[]", RawValue::get));
                self.instruct(Part::Tools(self.made.scale.weigh(&tools)), record.time);
            }
            "llm.request" if self.compacting.is_none() => {
                self.put_prompt();
                self.model = record.model.to_string();
                self.window(record.max_tokens.or_zero().unwrap_or(0));
            }
            "llm.request" => {}
            "context.append_message" => match &record.message {
                Some(put) => self.put(put, record.time, lose),
                None => lose("record without a message"),
            },
            "context.append_loop_event" => match &record.event {
                Some(event) => self.event(event, record.time, lose),
                None => lose("record without a message"),
            },
            "usage.record" => self.spent(record, lose),
            "full_compaction.begin" => {
                self.close();
                let source = text_or_json(record.source);
                self.compacting = Some((!source.is_empty()).then(|| source == "auto"));
            }
            "full_compaction.cancel" => {
                self.compacting = None;
                self.made.transcript.side_calls.extend(self.summariser.take());
            }
            "context.apply_compaction" => self.compaction(record, lose),
            "micro_compaction.apply" => self.compacted(CompactionKind::Prune, record, None, None, Some(true), lose),
            "context.undo" => self.undo(record.count),
            "context.clear" => self.clear(),
            // The reminder leaves with the mode, where nothing has come since.
            "swarm_mode.exit" => {
                if let Some(at) = self.reminder.take_if(|at| self.shown.last() == Some(&Some(*at))) {
                    self.take_back(at);
                }
            }
            kind if SILENT.split(' ').any(|start| kind.starts_with(start)) => {}
            _ => lose("unknown record type"),
        }
    }

    /// A reply may be as long as the model's longest or, where that is less, as what the last call left of the window.
    fn window(&mut self, longest: u64) {
        if let Some(size) = self.size.filter(|_| (1..self.longest).contains(&longest)) {
            self.made.transcript.window = Some(size + longest);
        }
        self.longest = self.longest.max(longest);
    }

    fn list(&mut self, message: Message) -> usize {
        let at = self.made.next();
        if message.role != Role::System {
            self.shown.push(Some(at));
        }
        let rewind = self.rewind.take();
        self.made.push(Message { rewind, ..message });
        at
    }

    /// A part of the system prompt. One that comes later takes the place of the first unseen.
    fn instruct(&mut self, part: Part, time: Option<i64>) {
        let same = |known: &Part| std::mem::discriminant(known) == std::mem::discriminant(&part);
        let known = self.made.transcript.messages.iter().position(|message| message.role == Role::System);
        match known.and_then(|at| self.made.transcript.messages.get_mut(at)) {
            Some(message) if message.parts.iter().any(same) => self.made.chain.broken |= !message.parts.contains(&part),
            Some(message) => message.parts.push(part),
            None => {
                self.list(Message { time, ..Message::new(Role::System, vec![part]) });
            }
        }
    }

    fn put_prompt(&mut self) {
        if let Some((parts, time)) = self.prompt.take() {
            self.close_unless_begun();
            self.list(Message { time, ..Message::new(Role::User, parts) });
        }
    }

    fn put(&mut self, put: &Put<'_>, time: Option<i64>, lose: Lose<'_>) {
        self.puts_messages = true;
        let origin = |kind: &str| put.origin.as_ref().is_some_and(|origin| &*origin.kind == kind);
        let (role, typed) = match &*put.role {
            "system" => (Role::System, false),
            "user" => (Role::User, put.origin.as_ref().is_none_or(Origin::is_typed)),
            "assistant" => (Role::Assistant, false),
            "tool" => (Role::Tool, false),
            _ => return lose("message of an unknown role"),
        };
        if typed {
            self.prompt = None;
        }
        // The summary of a compaction is kept as a fact.
        if origin("compaction_summary") && !self.made.transcript.compactions.is_empty() {
            return;
        }
        let mut parts = parts(&put.content, self.made.scale, lose);
        if role == Role::Tool {
            parts.retain(|part| !matches!(part, Part::Text(_)));
            parts.insert(0, self.made.result(&put.tool_call_id, &texts(&put.content), put.is_error == Some(true)));
        }
        parts.extend(put.tool_calls.iter().map(|call| call.part(&mut self.made)));
        self.close_unless_begun();
        let at = self.list(Message { time, synthetic: role == Role::User && !typed, ..Message::new(role, parts) });
        if put.origin.as_ref().is_some_and(|origin| &*origin.variant == "swarm_mode") {
            self.reminder = Some(at);
        }
    }

    fn event(&mut self, event: &Event<'_>, time: Option<i64>, lose: Lose<'_>) {
        self.put_prompt();
        match &*event.kind {
            "step.begin" => {
                self.close();
                self.begun = true;
            }
            "content.part" => match &event.part {
                Some(piece) => {
                    let part = piece.part(self.made.scale, lose);
                    self.reply(part, time);
                }
                None => lose("record without a message"),
            },
            "tool.call" => {
                let part = self.made.tool_call(&event.tool_call_id, &event.name, event.args);
                self.reply(Some(part), time);
            }
            "tool.result" => {
                let outcome = event.result.as_ref();
                let output = outcome.map(|outcome| texts(&outcome.output)).unwrap_or_default();
                let text = if output.is_empty() { outcome.map_or("", |outcome| &outcome.error) } else { &output };
                let error = outcome.and_then(|outcome| outcome.is_error) == Some(true);
                let result = self.made.result(&event.tool_call_id, text, error);
                let beside = outcome.map(|outcome| parts(&outcome.output, self.made.scale, lose)).unwrap_or_default();
                let beside = beside.into_iter().filter(|part| !matches!(part, Part::Text(_)));
                self.list(Message { time, ..Message::new(Role::Tool, std::iter::once(result).chain(beside).collect()) });
            }
            "step.end" => {
                let usage = usage(event.usage.as_ref(), lose);
                let at = self.step.take();
                self.begun = false;
                let reported = self.reported.take();
                self.ended = usage.is_some() && reported.is_none();
                // A step that was interrupted behind its reply has no usage at its end. One that was interrupted within it is no call: what had come
                // of its text is shown, and no call of a tool.
                match usage.map(|usage| (usage, time)).or(reported) {
                    Some((usage, time)) => self.settle(at, usage, event.message_id.id(), time),
                    None if matches!(&*event.finish_reason, "interrupted" | "error") && !self.calls_tools(at) => {
                        self.made.chain.broken |= at.is_some();
                    }
                    None => self.answered(at, event.message_id.id()),
                }
            }
            _ => lose("unknown record type"),
        }
    }

    /// Adds to the reply of the step, or begins it.
    fn reply(&mut self, part: Option<Part>, time: Option<i64>) {
        let Some(part) = part else { return };
        match self.step.and_then(|at| self.made.transcript.messages.get_mut(at)) {
            Some(message) => message.parts.push(part),
            None => {
                self.ended = false;
                self.step = Some(self.list(Message { time, ..Message::new(Role::Assistant, vec![part]) }));
            }
        }
    }

    /// A step that ends without usage was not answered to the end.
    fn close(&mut self) {
        if let Some((usage, time)) = self.reported.take() {
            self.settle(self.step, usage, "", time);
        }
        let open = self.step.take().and_then(|at| self.made.transcript.messages.get(at));
        self.made.chain.broken |= open.is_some_and(|message| message.call.is_none());
        self.begun = false;
        self.ended = false;
    }

    /// What is put in while a step goes on stands behind it. It ends with its end, or as the next one begins.
    fn close_unless_begun(&mut self) {
        if !self.begun {
            self.close();
        }
    }

    fn calls_tools(&self, at: Option<usize>) -> bool {
        let reply = at.and_then(|at| self.made.transcript.messages.get(at));
        reply.is_some_and(|message| message.parts.iter().any(|part| matches!(part, Part::ToolCall { .. })))
    }

    /// The step came to its end, and its provider reports nothing.
    fn answered(&mut self, at: Option<usize>, id: &str) {
        let reply = at.and_then(|at| self.made.transcript.messages.get_mut(at));
        if let Some(message) = reply.filter(|message| message.call.is_none()) {
            let unchained = self.made.chain.link(&self.model);
            message.call = Some(Box::new(Call { id: id.to_owned(), model: self.model.clone(), unchained, ..Call::default() }));
        }
    }

    fn settle(&mut self, at: Option<usize>, usage: Usage, id: &str, time: Option<i64>) {
        self.size = Some(usage.prompt + usage.output);
        let id = if id.is_empty() { own_id(time, &usage) } else { id.to_owned() };
        let call = Call { id, model: self.model.clone(), usage: Some(usage), unchained: false, ..Call::default() };
        match at.and_then(|at| self.made.transcript.messages.get_mut(at)) {
            Some(message) if message.call.is_none() => {
                message.call = Some(Box::new(Call { unchained: self.made.chain.link(&self.model), ..call }));
            }
            Some(_) => {}
            None => self.made.transcript.side_calls.push(call),
        }
    }

    fn spent(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        let beside = &*record.usage_scope == "session";
        // What stands at the end of a step comes again, behind it in older versions.
        if !beside && std::mem::take(&mut self.ended) {
            return;
        }
        let usage = usage(record.usage.as_ref(), lose);
        if self.compacting.is_some() {
            let id = format!("{}-compaction", record.time.unwrap_or_default());
            let call =
                usage.map(|usage| Call { id, model: record.model.to_string(), usage: Some(usage), unchained: true, ..Call::default() });
            let tried = std::mem::replace(&mut self.summariser, call);
            return self.made.transcript.side_calls.extend(tried);
        }
        if beside {
            let call =
                |usage| Call { id: own_id(record.time, &usage), model: record.model.to_string(), usage: Some(usage), ..Call::default() };
            return self.made.transcript.side_calls.extend(usage.map(call));
        }
        if self.model.is_empty() {
            self.model = record.model.to_string();
        }
        match usage {
            // The end of the step is still to come.
            Some(usage) if self.begun => {
                if let Some((other, time)) = self.reported.replace((usage, record.time)) {
                    self.settle(None, other, "", time);
                }
            }
            Some(usage) => {
                let at = self.step.take();
                self.settle(at, usage, "", record.time);
            }
            None if self.begun => {}
            None => self.made.chain.broken |= self.step.take().is_some(),
        }
    }

    fn compaction(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        let summary = if record.context_summary.is_empty() { text_or_json(record.summary) } else { record.context_summary.to_string() };
        let summary = self.made.scale.weigh_summary(&summary);
        // Newer versions keep what a person typed, from all over the conversation; older ones kept its end.
        let counts = [record.kept_user_message_count, record.compacted_count].map(|count| count.known().ok().flatten());
        let kept = match counts {
            [None, Some(gone)] => self.shown.split_off(usize::try_from(gone).unwrap_or(usize::MAX).min(self.shown.len())),
            _ => Vec::new(),
        };
        let before = self.made.next();
        let kept_from = match counts {
            [None, Some(_)] => Some(kept.iter().flatten().next().copied().unwrap_or(before)),
            _ => None,
        };
        self.shown = [None].into_iter().chain(kept).collect();
        let automatic = self.compacting.take().flatten();
        self.close();
        self.compacted(CompactionKind::Compact, record, summary, kept_from, automatic, lose);
    }

    fn compacted(
        &mut self,
        kind: CompactionKind,
        record: &Record<'_>,
        summary: Option<Text>,
        kept_from: Option<usize>,
        automatic: Option<bool>,
        lose: Lose<'_>,
    ) {
        let mut size = |count: Count| sound(count.known(), lose);
        // The agent estimates the messages alone; the last call tells more, but nothing of what came after it.
        let tokens_before = size(record.tokens_before).max(self.size.take().filter(|_| kind == CompactionKind::Compact));
        let tokens_after = size(record.tokens_after);
        let (call, time) = (self.summariser.take(), record.time);
        self.made.cut(Compaction { kind, automatic, tokens_before, tokens_after, summary, kept_from, call, time, ..Compaction::default() });
    }

    /// Goes back behind so many prompts, but not behind a summary.
    fn undo(&mut self, count: Count) {
        self.close();
        self.size = None;
        let mut left = count.known().ok().flatten().unwrap_or(0);
        while left > 0
            && let Some(&Some(at)) = self.shown.last()
        {
            self.take_back(at);
            let typed = self.made.transcript.messages.get(at).is_some_and(|message| message.role == Role::User && !message.synthetic);
            left -= u64::from(typed);
        }
    }

    /// The message at this place, the last of the context, leaves it.
    fn take_back(&mut self, at: usize) {
        self.shown.pop();
        self.rewind = Some(self.rewind.map_or(at, |rewind| rewind.min(at)));
    }

    /// The system prompt stays.
    fn clear(&mut self) {
        self.close();
        self.size = None;
        self.rewind = self.made.transcript.messages.iter().position(|message| message.role != Role::System);
        self.shown.clear();
    }
}

/// What a call without an id is known by.
fn own_id(time: Option<i64>, usage: &Usage) -> String {
    format!("{}-{}-{}", time.unwrap_or_default(), usage.prompt, usage.output)
}

/// The input is without what was read from the cache or written to it.
fn usage(tokens: Option<&Figures>, lose: Lose<'_>) -> Option<Usage> {
    let tokens = tokens?;
    let reported = Reported {
        input: tokens.count("inputOther"),
        cache_read: tokens.count("inputCacheRead"),
        cache_write: tokens.count("inputCacheCreation"),
        cached: Cached::Beside,
        output: tokens.count("output"),
        ..Reported::default()
    };
    sound(reported.usage(), lose)
}
