//! Builds the transcript of one OpenCode session from its messages and parts, in whatever form they are stored.

use super::history::{End, Entry, EntryKind, Request, in_context, latest};
use super::record::{Attachment, MessageInfo, PartRecord, SessionInfo, Tokens, millis, sealed_bytes};
use crate::format::ground::{Dollars, Lose, compact, image};
use crate::format::recorder::Recorder;
use crate::format::usage::Reasoning;
use crate::list::Arrange;
use crate::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Scale, Text, Transcript, Usage, project};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The agent's name in transcripts and reports.
pub const AGENT: &str = "opencode";

/// What OpenCode tells the model where a person has started a tool: the log holds a `subtask` in its place.
const SUBTASK: &str = "The following tool was executed by the user";

/// A message together with its parts.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Stored<'a> {
    info: MessageInfo<'a>,
    parts: Vec<&'a RawValue>,
}

/// A session while it is being read.
pub struct Session<'s> {
    /// Provider, model and agent are the speaker of a call: each has its own prompt and tools.
    pub(super) made: Recorder<'s>,
    open: Option<Open>,
    /// The messages of the log so far, as OpenCode's rule for reading them back sees them, each with the index of its first message.
    history: Vec<Entry>,
    first_of: Vec<usize>,
    /// When each call was made, with the index of its message.
    pub(super) calls: Vec<(i64, usize)>,
    /// When each pruned tool result was pruned, with the index of its message.
    pub(super) prunings: Vec<(i64, usize)>,
    /// Instructions that came with a user message.
    system: Option<u64>,
    /// The first message that OpenCode leaves out from now on.
    withdrawn_from: Option<usize>,
}

/// The message whose parts are arriving.
struct Open {
    id: String,
    user: bool,
    summary: bool,
    time: Option<i64>,
    completed: Option<i64>,
    tokens: Option<Tokens>,
    cost: Dollars,
    speaker: String,
    model: String,
    /// The reply is not whole.
    broken_off: bool,
    /// Neither an end nor a failure is noted.
    unended: bool,
    /// It failed, and is not sent to the model again.
    withdrawn: bool,
    /// The provider refused the prompt for its size.
    refused: bool,
    asked: Option<Request>,
    /// The message holds text that the model is not shown: notices of plugins.
    ignored: bool,
    subtasks: usize,
    /// The user message that it answers.
    parent: String,
    end: End,
    summary_text: String,
    /// Runs of a user message's parts, or steps of an assistant message.
    runs: Vec<Run>,
}

/// A user message's parts of one kind, typed by the person or put in by the agent; or one step of an assistant message: a request
/// with what came of it. Old versions put all steps of a turn into one message.
#[derive(Default)]
struct Run {
    synthetic: bool,
    parts: Vec<Part>,
    results: Vec<Message>,
    /// When results were pruned, with their places among them.
    pruned: Vec<(i64, usize)>,
    ended: bool,
    tokens: Option<Tokens>,
    cost: Dollars,
}

impl<'s> Session<'s> {
    /// A session that is known by this name until it says its id.
    pub fn new(name: String, scale: &'s dyn Scale) -> Session<'s> {
        Session {
            made: Recorder::new(AGENT, name, scale),
            open: None,
            history: Vec::new(),
            first_of: Vec::new(),
            calls: Vec::new(),
            prunings: Vec::new(),
            system: None,
            withdrawn_from: None,
        }
    }

    /// Takes what is known of the session itself.
    pub fn describe(&mut self, info: &SessionInfo<'_>) {
        self.made.identify(info.id.id());
        self.made.transcript.parent = info.parent.some_id().map(str::to_owned);
        self.made.transcript.version = info.version.to_string();
        self.made.transcript.project = project(if info.directory.is_empty() { &info.location.directory } else { &info.directory });
    }

    /// Takes a message with all its parts.
    pub fn stored(&mut self, stored: &Stored<'_>, lose: Lose<'_>) {
        self.begin(&stored.info, stored.info.id.id(), lose);
        for part in &stored.parts {
            self.part(part.get(), None, lose);
        }
        self.end(lose);
    }

    /// Begins a message. Its parts follow.
    pub fn begin(&mut self, info: &MessageInfo<'_>, id: &str, lose: Lose<'_>) {
        let user = match &*info.role {
            "user" => true,
            "assistant" => false,
            _ => {
                lose("message of an unknown role");
                return;
            }
        };
        if user {
            self.instructions(&info.system, lose);
        }
        // A reply that comes first answers a message that the export lacks.
        self.made.transcript.begins_in_middle |= !user && info.parent.some_id().is_some() && self.made.transcript.messages.is_empty();
        if !user && !info.provider.is_empty() {
            self.made.hosts.push((info.model.to_string(), info.provider.to_string()));
        }
        let agent = if info.agent.is_empty() { &info.mode } else { &info.agent };
        let failure = info.error.as_ref().map(|failure| &failure.name);
        self.open = Some(Open {
            id: id.to_owned(),
            user,
            summary: !user && info.summary,
            time: millis(info.time.created),
            completed: millis(info.time.completed),
            tokens: info.tokens,
            cost: info.cost,
            speaker: format!("{}/{}/{}", &*info.provider, &*info.model, &**agent),
            model: info.model.to_string(),
            broken_off: failure.is_some() || info.time.completed.is_none(),
            unended: failure.is_none() && info.finish.is_empty() && info.time.completed.is_none(),
            withdrawn: failure.is_some_and(|name| &**name != "MessageAbortedError"),
            refused: failure.is_some_and(|name| &**name == "ContextOverflowError"),
            asked: None,
            ignored: false,
            subtasks: 0,
            parent: info.parent.to_string(),
            end: match (failure, info.finish.is_empty() && info.time.completed.is_none()) {
                (_, true) => End::Open,
                (Some(_), _) => End::Failed,
                (None, _) => End::Finished,
            },
            summary_text: String::new(),
            runs: Vec::new(),
        });
    }

    /// The instructions of a user message stand before the conversation. They are repeated with every message.
    fn instructions(&mut self, system: &str, lose: Lose<'_>) {
        if system.is_empty() {
            return;
        }
        let known = xxhash_rust::xxh3::xxh3_64(system.as_bytes());
        match self.system {
            None => {
                self.system = Some(known);
                self.list(Message::new(Role::System, vec![self.made.text(system)]));
            }
            Some(system) if system == known => {}
            Some(_) => lose("instructions that changed within the session"),
        }
    }

    /// Takes the next part of the message, as JSON. Where the part is stored apart from its id, the id comes with it.
    pub fn part(&mut self, json: &str, id: Option<&str>, lose: Lose<'_>) {
        let Some(mut open) = self.open.take() else { return };
        match serde_json::from_str::<PartRecord<'_>>(json) {
            Ok(part) if open.user => self.user_part(&mut open, &part, lose),
            Ok(part) => self.assistant_part(&mut open, &part, id.unwrap_or(part.id.id()), lose),
            Err(_) => lose("part of an unexpected shape"),
        }
        self.open = Some(open);
    }

    fn user_part(&self, open: &mut Open, part: &PartRecord<'_>, lose: Lose<'_>) {
        let measured = match &*part.kind {
            // OpenCode leaves it out of prompts, but its own rules count the message (`toModelMessages` and `prune` of 1.15.12).
            "text" if part.ignored => {
                open.ignored = true;
                return;
            }
            "text" => self.made.text(&part.text),
            // OpenCode turns these into text parts that follow.
            "file" if matches!(&*part.mime, "text/plain" | "application/x-directory") => return,
            "file" => self.file(&part.mime, &part.url, &part.filename, lose),
            "subtask" => {
                open.subtasks += 1;
                self.made.text(SUBTASK)
            }
            "compaction" => {
                let kept_from = part.kept_from.some_id().map(str::to_owned);
                open.asked = Some(Request { automatic: part.auto, kept_from });
                return;
            }
            "agent" | "snapshot" | "patch" => return,
            _ => return lose("unknown content part"),
        };
        match open.runs.last_mut() {
            Some(run) if run.synthetic == part.synthetic => run.parts.push(measured),
            _ => open.runs.push(Run { synthetic: part.synthetic, parts: vec![measured], ..Run::default() }),
        }
    }

    fn assistant_part(&mut self, open: &mut Open, part: &PartRecord<'_>, id: &str, lose: Lose<'_>) {
        match &*part.kind {
            "text" if open.summary => {
                if !open.summary_text.is_empty() {
                    open.summary_text.push('\n');
                }
                open.summary_text.push_str(&part.text);
            }
            "text" => open.step().parts.push(self.made.text(&part.text)),
            "reasoning" => {
                let text = self.made.scale.weigh(&part.text);
                open.step().parts.push(Part::Thinking { text, sealed_bytes: sealed_bytes(part.metadata) });
            }
            "file" => {
                let file = self.file(&part.mime, &part.url, &part.filename, lose);
                open.step().parts.push(file);
            }
            "tool" => self.tool(open, part, id, lose),
            // A step that begins before the last one has ended is a new try.
            "step-start" => open.runs.push(Run::default()),
            "step-finish" => {
                let step = open.step();
                (step.ended, step.tokens, step.cost) = (true, part.tokens, part.cost);
            }
            // Bookkeeping that the model does not see.
            "patch" | "snapshot" | "agent" | "retry" => {}
            _ => lose("unknown content part"),
        }
    }

    fn tool(&mut self, open: &mut Open, part: &PartRecord<'_>, id: &str, lose: Lose<'_>) {
        let Some(state) = &part.state else { return lose("tool part without a state") };
        // Where the call's id is covered, the part's own still tells which result is whose: both stand in it.
        let call_id = part.call.some_id().unwrap_or(id);
        let name = &part.tool;
        let arguments = self.made.scale.weigh(&compact(state.input.map_or("{}", |json| json.get())));
        let step = open.step();
        step.parts.push(Part::ToolCall { id: call_id.to_owned(), name: name.to_string(), arguments });
        // A tool that has not ended has no result.
        let Some((output, error)) = state.result() else { return };
        // By its own ids of messages, which stand in prompts alone (opencode-dynamic-context-pruning, lib/compress/range.ts).
        if &**name == "compress" && !error && output.starts_with("Compressed ") {
            lose("messages that a plugin replaced by a summary (`compress`): they stay in place");
        }
        let text = self.made.scale.weigh_result(&output);
        let text = Text { truncated: text.truncated || state.truncated(), ..text };
        let mut parts = vec![Part::ToolResult { call_id: call_id.to_owned(), name: name.to_string(), text, error }];
        for Attachment { mime, url, filename } in state.attachments.iter().flatten() {
            parts.push(self.file(mime, url, filename, lose));
        }
        step.results.push(Message { id: id.to_owned(), time: millis(state.time.end), ..Message::new(Role::Tool, parts) });
        step.pruned.extend(millis(state.time.compacted).map(|time| (time, step.results.len() - 1)));
    }

    fn file(&self, mime: &str, url: &str, name: &str, lose: Lose<'_>) -> Part {
        if mime.starts_with("image/") {
            return Part::Image(image::from_data_url(url));
        }
        lose("attachment that is neither text nor picture: its content is not measured");
        Part::Other(self.made.scale.weigh(name))
    }

    /// Ends a message: all its parts are there.
    pub fn end(&mut self, lose: Lose<'_>) {
        let Some(open) = self.open.take() else { return };
        self.first_of.push(self.made.next());
        self.history.push(self.entry(&open));
        match open {
            Open { user: true, .. } => self.end_user(open),
            Open { summary: true, .. } => self.end_summary(open, lose),
            _ => self.end_assistant(open, lose),
        }
    }

    /// The message as OpenCode's rule for reading it back sees it. Versions that name no parent answer the newest user message.
    fn entry(&self, open: &Open) -> Entry {
        let newest_user = || self.history.iter().rev().find(|entry| matches!(entry.kind, EntryKind::User { .. }));
        let parent = || match open.parent.as_str() {
            "" => newest_user().map(|entry| entry.id.clone()),
            parent => Some(parent.to_owned()),
        };
        let kind = if open.user {
            EntryKind::User { request: open.asked.clone(), subtasks: open.subtasks }
        } else {
            EntryKind::Reply { end: open.end, summary_of: if open.summary { parent() } else { None } }
        };
        Entry { id: open.id.clone(), kind }
    }

    /// The compaction that the summary at the end of the history answers; `None` in versions that keep no requests.
    fn request(&self) -> Option<&Request> {
        let EntryKind::Reply { summary_of: Some(asked), .. } = &self.history.last()?.kind else { return None };
        match &self.history.iter().rev().find(|entry| entry.id == *asked)?.kind {
            EntryKind::User { request, .. } => request.as_ref(),
            EntryKind::Reply { .. } => None,
        }
    }

    /// Index of the first message that stands in the context beside the summary at the end of the history.
    fn kept_from(&self) -> usize {
        let summary = self.history.len().saturating_sub(1);
        let context = in_context(&self.history);
        // What stands behind the summary was kept. Where the summary stands at the end instead, nothing in front of its request went.
        let behind = context.iter().position(|place| *place == summary).and_then(|at| context.get(at + 1));
        let first = match (behind, self.request().and_then(|request| request.kept_from.as_ref())) {
            (None, Some(_)) => context.first(),
            (behind, _) => behind,
        };
        first.and_then(|place| self.first_of.get(*place)).copied().unwrap_or(self.made.next())
    }

    fn end_user(&mut self, mut open: Open) {
        if open.ignored && open.runs.is_empty() {
            open.runs.push(Run { synthetic: true, ..Run::default() });
        }
        for (number, run) in open.runs.into_iter().enumerate() {
            let id = if number == 0 { open.id.clone() } else { String::new() };
            let message = Message::new(Role::User, run.parts);
            self.list(Message { id, time: open.time, synthetic: run.synthetic, ..message });
        }
    }

    /// A summary is no message of the conversation but what replaced its beginning. One that failed replaced nothing.
    fn end_summary(&mut self, mut open: Open, lose: Lose<'_>) {
        let asked = self.request().cloned().unwrap_or_default();
        let failed = open.broken_off || open.summary_text.is_empty();
        let steps = std::mem::take(&mut open.runs);
        let last = steps.len().saturating_sub(1);
        let mut calls: Vec<Call> = if steps.is_empty() {
            self.call(&open, &Run::default(), 0, true, lose).into_iter().collect()
        } else {
            let steps = steps.iter().enumerate();
            steps.filter_map(|(number, step)| self.call(&open, step, number, number == last, lose)).collect()
        };
        let call = if failed { None } else { calls.pop() };
        self.made.transcript.side_calls.append(&mut calls);
        self.made.chain.broken = true;
        if steps.iter().any(|step| !step.results.is_empty()) {
            lose("tool call of a summariser");
        }
        if failed {
            return lose("summary that was broken off");
        }
        if asked.kept_from.as_ref().is_some_and(|id| self.history.iter().all(|entry| entry.id != *id)) {
            lose("compaction that keeps an unknown message: it leaves everything in place");
        }
        let kept_from = self.kept_from();
        self.made.compact(Compaction {
            automatic: asked.automatic,
            summary: self.made.scale.weigh_summary(&open.summary_text),
            kept_from: Some(kept_from),
            call,
            time: open.time,
            ..Compaction::default()
        });
    }

    fn end_assistant(&mut self, mut open: Open, lose: Lose<'_>) {
        self.made.transcript.refused = false;
        if open.refused {
            self.made.refuse();
        }
        let first = self.made.next();
        let mut steps = std::mem::take(&mut open.runs);
        steps.retain(|step| step.ended || !step.parts.is_empty());
        if steps.is_empty() {
            steps.push(Run::default());
        }
        // The numbers of a message are those of its last step. Only a step that ended has a reply to count them for.
        let holder = steps.iter().rposition(|step| step.ended).unwrap_or(steps.len() - 1);
        let withdrawn = open.withdrawn && steps.iter().any(|step| !step.parts.is_empty());
        let mut time = open.time;
        for (number, step) in steps.into_iter().enumerate() {
            let call = self.call(&open, &step, number, number == holder, lose);
            if let (Some(time), Some(_)) = (time, &call) {
                self.calls.push((time, self.made.next()));
            }
            self.made.chain.broken |= call.is_none();
            let id = if number == 0 || open.id.is_empty() { open.id.clone() } else { format!("{}/{number}", open.id) };
            self.list(Message { id, time, call: call.map(Box::new), ..Message::new(Role::Assistant, step.parts) });
            // The next step begins when the last tool has ended.
            time = step.results.iter().filter_map(|result| result.time).max().max(time);
            let first_result = self.made.next();
            self.prunings.extend(step.pruned.iter().map(|(time, place)| (*time, first_result + place)));
            step.results.into_iter().for_each(|result| self.list(result));
        }
        self.made.chain.broken |= open.broken_off;
        if withdrawn {
            self.withdrawn_from = Some(first);
        }
    }

    /// The request of a step. `is_holder`: the numbers of the message itself belong to this step.
    fn call(&mut self, open: &Open, step: &Run, number: usize, is_holder: bool, lose: Lose<'_>) -> Option<Call> {
        let thinking = step.parts.iter().any(|part| matches!(part, Part::Thinking { .. }));
        let recorded = step.tokens.filter(|tokens| !tokens.is_nothing());
        let (tokens, cost) = match recorded {
            Some(tokens) => (Some(tokens), step.cost),
            None if is_holder => (open.tokens, open.cost),
            None => (None, Dollars::default()),
        };
        // Some versions write the reasoning as a part of the output, others beside it. The total tells, where there is one.
        let usage = tokens.and_then(|tokens| tokens.read(cost, Reasoning::Within, thinking, lose));
        let usage = usage.map(|usage| Usage { output_is_final: step.ended || !open.broken_off, ..usage });
        // Without numbers, only the end of a step shows that a request was made and answered.
        if usage.is_none() && !step.ended {
            if is_holder && !step.parts.is_empty() && open.unended {
                lose("reply without usage that did not end (no call)");
            }
            return None;
        }
        let chain = &mut self.made.chain;
        let unchained = if open.summary { std::mem::take(&mut chain.broken) } else { chain.link(&open.speaker) };
        // A fork of a session gives its copies new ids, but leaves times and numbers as they are.
        let (start, end) = (open.time.unwrap_or_default(), open.completed.unwrap_or_default());
        let id = format!("{start}-{end}-{number}-{}", tokens.unwrap_or_default().fingerprint());
        Some(Call { id, model: open.model.clone(), usage, unchained, ..Call::default() })
    }

    fn list(&mut self, message: Message) {
        let rewind = self.withdrawn_from.take();
        self.made.push(Message { rewind, ..message });
    }

    /// The transcript; `None` where the session holds nothing.
    pub fn finish(mut self, lose: Lose<'_>) -> Option<Transcript> {
        (0..latest(&self.history, &in_context(&self.history)).pending)
            .for_each(|_| lose("compaction or sub-task that was asked for and never done"));
        let end = self.made.next();
        // OpenCode prunes each tool result at a time of its own, milliseconds apart: what lies between the same calls is one pruning.
        let mut prunings: BTreeMap<usize, (i64, Vec<(usize, usize)>)> = BTreeMap::new();
        for (time, result) in self.prunings {
            let before = self.calls.iter().find(|(call, _)| *call > time).map_or(end, |(_, index)| *index);
            let (last, taken) = prunings.entry(before).or_insert((time, Vec::new()));
            *last = time.max(*last);
            // Its pictures go with it.
            let parts = self.made.transcript.messages.get(result).map_or(0, |message| message.parts.len());
            taken.extend((0..parts).map(|part| (result, part)));
        }
        let prunings = prunings.into_iter().map(|(before, (time, taken))| Compaction {
            before,
            kind: CompactionKind::Prune,
            automatic: Some(true),
            taken,
            time: Some(time),
            ..Compaction::default()
        });
        self.made.transcript.compactions.extend(prunings);
        self.made.transcript.compactions.arrange_by_key(|compaction| (compaction.before, compaction.time));
        let transcript = self.made.into_transcript();
        let Transcript { messages, compactions, side_calls, .. } = &transcript;
        let unsaid = messages.each().all(|message| message.parts.is_empty() && message.call.is_none());
        let empty = unsaid && compactions.is_empty() && side_calls.is_empty();
        (!empty).then_some(transcript)
    }
}

impl Open {
    /// The step that parts belong to now.
    #[expect(clippy::indexing_slicing, reason = "one was pushed where there was none")]
    fn step(&mut self) -> &mut Run {
        if self.runs.last().is_none_or(|step| step.ended) {
            self.runs.push(Run::default());
        }
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }
}
