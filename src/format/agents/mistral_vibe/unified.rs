//! The store of version 3: a folder a session (`unified/<id>/`) with the generation that `CURRENT` names, the journal of what came since, and lists in `chunks/`.
//!
//! A generation holds the messages that stand in the context: of what a compaction took the place of, the store has what the screen shows, which is no prompt.
//! Of the instructions it has those that were given to the core, which puts its own before them; the tools as the model sees them are not in it.

use crate::format::ground::{ATTACHED, Count, Lose, ReadError, Source, Words, fault, sound, wire};
use crate::format::recorder::Recorder;
use crate::format::usage::Reported;
use crate::transcript::{Call, Compaction, Image, Message, Part, Role, Scale, Transcript, Usage, project};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The agent of the sessions, and the name of their reader.
pub const AGENT: &str = "mistral-vibe";

/// The file that names the generation that holds.
const CURRENT: &str = "CURRENT";

/// How the name of the store's format begins.
const FORMAT: &str = "mistral.vibe.unified-session-store/";

/// What stands around the summary, in a message that the core puts in.
const SUMMARY: &str = "<compaction_summary>";

const UNREAD: &str = "file of the session that cannot be read";

/// The reason for the loss of usage that a sum alone holds.
pub const SUMMED: &str = "usage of the whole session and of its last call alone";

wire! {
    struct Pointer<'a> { session_id: Words<'a>, generation: Words<'a> }

    struct Manifest<'a> {
        checkpoint: Stored<'a>,
        runtime_state: Stored<'a>,
        projection_state: Stored<'a>,
        recovery_journal_segment: Stored<'a>,
    }

    /// The name of a document, and the chunks of its list, where the list stands in them.
    struct Stored<'a> { path: Words<'a>, chunks: Option<Vec<Words<'a>>> }

    struct Checkpoint<'a> { context: Context<'a>, last_reported_context_tokens: Count }

    struct Context<'a> { messages: Vec<&'a RawValue> }

    struct Standing<'a> { message: Spoken<'a>, source: Words<'a> }

    struct Spoken<'a> {
        role: Words<'a>,
        content: Vec<Block<'a>>,
        tool_call_id: Words<'a>,
        outcome: Words<'a>,
    }

    /// A part of a message, or of a reply in the journal.
    struct Block<'a> {
        kind: Words<'a> = "type",
        text: Words<'a>,
        content: Option<Vec<Thought<'a>>>,
        id: Words<'a>,
        name: Words<'a>,
        arguments: Option<Arguments<'a>>,
        arguments_json: Words<'a>,
    }

    struct Thought<'a> { text: Words<'a>, data: Words<'a> }

    struct Arguments<'a> { raw: Words<'a> }

    struct State<'a> {
        session_metadata: About<'a>,
        core_system_instructions: Words<'a>,
        actions: Vec<Acted<'a>>,
    }

    struct About<'a> {
        cwd: Words<'a>,
        active_model: Words<'a>,
        parent_session_id: Words<'a>,
        subagent_spawn_key: Words<'a>,
    }

    struct Projection { snapshot: Snapshot }

    struct Snapshot { session: Shown }

    struct Shown {
        created_at: Option<i64> = "createdAt",
        updated_at: Option<i64> = "updatedAt",
        token_usage: Option<Tokens> = "tokenUsage",
        context_usage: Option<Tokens> = "contextUsage",
    }

    struct Tokens {
        input: Count = "inputTokens" | "input_tokens",
        output: Count = "outputTokens" | "output_tokens",
        total: Count = "totalTokens" | "total_tokens",
        cached: Count = "cachedInputTokens" | "cached_input_tokens",
        written: Count = "cache_write_tokens",
        reasoning: Count = "reasoning_tokens",
    }

    struct Recorded<'a> { kind: Words<'a> = "type", payload: Option<&'a RawValue> }

    /// An action and what it asked for.
    struct Acted<'a> { action_id: Words<'a>, request: Option<Asked<'a>> }

    struct Asked<'a> { purpose: Words<'a> }

    struct Input<'a> { input: Given<'a> }

    struct Given<'a> { command: Option<&'a RawValue> }

    struct Kind<'a> { kind: Words<'a> = "type" }

    struct Command<'a> {
        content: Vec<Block<'a>>,
        action_id: Words<'a>,
        call_id: Words<'a>,
        result: Option<Answer<'a>>,
    }

    struct Answer<'a> { parts: Vec<Block<'a>>, content: Vec<Block<'a>>, usage: Option<Tokens> }
}

impl Tokens {
    /// The usage of a call. Zero stands for what the provider does not report, too.
    fn usage(&self, lose: Lose<'_>) -> Option<Usage> {
        let above = |count: Count| if count == Count::Sound(0) { Count::Absent } else { count };
        let (cache_read, cache_write) = (above(self.cached), above(self.written));
        let reported = Reported { input: self.input, output: self.output, total: self.total, ..Reported::default() };
        sound(Reported { cache_read, cache_write, reasoning: above(self.reasoning), ..reported }.usage(), lose)
    }
}

/// Is this the file that a session of the store is read with?
pub fn is_main(source: &Source) -> bool {
    source.name() == CURRENT && source.outline().text("store_format").starts_with(FORMAT)
}

/// Does this file belong to such a session?
pub fn is_part(source: &Source) -> bool {
    let Some(folder) = source.path.parent() else { return false };
    let is_named = |folder: &Path, names: &[&str]| names.iter().any(|name| folder.ends_with(name));
    let root = match folder.parent() {
        Some(root) if is_named(folder, &["journal", "chunks", "quarantine"]) => root,
        Some(above) if is_named(above, &["generations"]) => above.parent().unwrap_or(above),
        _ => return false,
    };
    source.beside(&root.join(CURRENT)).is_ok_and(|current| is_main(&current))
}

/// A name that leads nowhere else.
fn plain(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':']))
}

/// Reads the session that `CURRENT` stands for.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let damaged = |error: serde_json::Error| ReadError::Damaged(fault(&error, false).to_owned());
    let text = source.document()?;
    let pointer: Pointer = serde_json::from_str(&text).map_err(damaged)?;
    let root = source.path.with_file_name("");
    let gone = || ReadError::Damaged("names a generation that is not there".to_owned());
    let folder = root.join("generations").join(plain(&pointer.generation).ok_or_else(gone)?);
    let [mut manifest, mut checkpoint, mut state, mut projection] = [const { String::new() }; 4];
    let manifest: Manifest = source.record_beside(&folder.join("manifest.json"), UNREAD, &mut manifest).ok_or_else(gone)?;
    let path = |stored: &Stored<'_>| folder.join(plain(&stored.path).unwrap_or("-"));
    let checkpoint: Checkpoint = source.record_beside(&path(&manifest.checkpoint), UNREAD, &mut checkpoint).ok_or_else(gone)?;
    let state: State = source.record_beside(&path(&manifest.runtime_state), UNREAD, &mut state).unwrap_or_default();
    let projection: Projection = source.record_beside(&path(&manifest.projection_state), UNREAD, &mut projection).unwrap_or_default();
    let shown = projection.snapshot.session;

    let mut session = Session::begin(pointer.session_id.id(), &state, scale);
    session.standing(&checkpoint, &manifest.checkpoint, &root, source);
    session.spent(&shown, checkpoint.last_reported_context_tokens, &mut |reason| source.lose(0, reason));
    if let Some(name) = manifest.recovery_journal_segment.path.strip_prefix("journal/").and_then(plain) {
        session.journal(&root.join("journal").join(name), source);
    }
    let messages = &mut session.made.transcript.messages;
    if let Some(first) = messages.get_mut(0) {
        first.time = shown.created_at;
    }
    if let Some(last) = messages.last_mut() {
        last.time = shown.updated_at.or(last.time);
    }
    session.made.end_spoken(source, hand_over);
    Ok(())
}

struct Session<'s> {
    made: Recorder<'s>,
    model: String,
    /// Actions that ask for a summary.
    summarising: HashSet<String>,
    /// Calls of tools in the journal without a result so far.
    open: Vec<String>,
}

impl<'s> Session<'s> {
    fn begin(id: &str, state: &State<'_>, scale: &'s dyn Scale) -> Session<'s> {
        let about = &state.session_metadata;
        let mut made = Recorder::new(AGENT, id.to_owned(), scale);
        made.transcript.project = project(&about.cwd);
        // A fork names the session that it was made of.
        let parent = about.parent_session_id.some_id().filter(|_| !about.subagent_spawn_key.is_empty());
        made.transcript.parent = parent.map(str::to_owned);
        if !state.core_system_instructions.is_empty() {
            let said = made.text(&state.core_system_instructions);
            made.list(Role::System, vec![said]);
        }
        let mut session = Session { made, model: about.active_model.to_string(), summarising: HashSet::new(), open: Vec::new() };
        state.actions.iter().for_each(|action| session.asks(action));
        session
    }

    /// Remembers an action that asks for a summary.
    fn asks(&mut self, action: &Acted<'_>) {
        if action.request.as_ref().is_some_and(|request| &*request.purpose == "compaction") {
            self.summarising.insert(action.action_id.to_string());
        }
    }

    /// The context of the generation.
    fn standing(&mut self, checkpoint: &Checkpoint<'_>, stored: &Stored<'_>, root: &Path, source: &mut Source) {
        let mut number = 0;
        let names = stored.chunks.iter().flatten().filter_map(|digest| plain(digest));
        let chunks: Vec<PathBuf> = names.map(|digest| root.join("chunks").join(format!("{digest}.json"))).collect();
        let texts: Vec<String> = chunks.iter().filter_map(|chunk| source.document_beside(chunk, 0, UNREAD)).collect();
        let mut raws = checkpoint.context.messages.clone();
        for text in &texts {
            match serde_json::from_str::<Vec<&RawValue>>(text) {
                Ok(list) => raws.extend(list),
                Err(error) => source.lose(0, fault(&error, false)),
            }
        }
        let mut entries: Vec<(u64, Standing)> = Vec::new();
        for raw in raws {
            number += 1;
            match serde_json::from_str(raw.get()) {
                Ok(entry) => entries.push((number, entry)),
                Err(_) => source.lose(number, "record of an unexpected shape"),
            }
        }
        let summary =
            entries.iter().rposition(|(_, entry)| &*entry.source == "injection" && said(&entry.message.content).contains(SUMMARY));
        if let Some((_, entry)) = summary.and_then(|at| entries.get(at)) {
            // What it stands for is gone. It comes behind the prompts that stay, which changes no size.
            let (summary, next) = (self.made.scale.weigh_summary(&said(&entry.message.content)), self.made.next());
            self.made.cut(Compaction { summary, kept_from: Some(next), ..Compaction::default() });
        }
        for (at, (number, entry)) in entries.iter().enumerate().filter(|(at, _)| Some(*at) != summary) {
            // The last reply stays right behind the summary: its call came before.
            let is_kept = summary.is_some_and(|summary| at <= summary + 1);
            self.entry(entry, is_kept, &mut |reason| source.lose(*number, reason));
        }
    }

    fn entry(&mut self, entry: &Standing<'_>, is_kept: bool, lose: Lose<'_>) {
        let content = &entry.message.content;
        match &*entry.message.role {
            "user" => self.user(content, &*entry.source == "injection", lose),
            "assistant" => {
                let parts = self.parts(content, lose);
                let call = (!is_kept).then(|| Box::new(self.made.call("", &self.model, None)));
                self.made.push(Message { call, ..Message::new(Role::Assistant, parts) });
            }
            "tool" => self.result(&entry.message.tool_call_id, content, &*entry.message.outcome == "failure", lose),
            "system" => {
                let parts = self.parts(content, lose);
                self.made.list(Role::System, parts);
            }
            _ => lose("message of an unknown role"),
        }
    }

    fn user(&mut self, content: &[Block<'_>], synthetic: bool, lose: Lose<'_>) {
        let parts = self.parts(content, lose);
        self.made.push(Message { synthetic, ..Message::new(Role::User, parts) });
    }

    fn result(&mut self, call: &str, content: &[Block<'_>], error: bool, lose: Lose<'_>) {
        let mut parts = vec![self.made.result(call, &said(content), error)];
        parts.extend(self.parts(content, lose).into_iter().filter(|part| matches!(part, Part::Image(_))));
        self.made.list(Role::Tool, parts);
    }

    fn parts(&mut self, content: &[Block<'_>], lose: Lose<'_>) -> Vec<Part> {
        let mut parts = Vec::new();
        for block in content {
            parts.push(match &*block.kind {
                "text" => self.made.text(&block.text),
                "reasoning" => {
                    let thoughts = || block.content.iter().flatten();
                    let text: Vec<&str> = thoughts().map(|thought| &*thought.text).filter(|text| !text.is_empty()).collect();
                    self.made.thinking(&text.join("\n"), thoughts().map(|thought| thought.data.len()).sum())
                }
                "tool_call" => {
                    let raw = block.arguments.as_ref().map_or(&*block.arguments_json, |arguments| &*arguments.raw);
                    let arguments = self.made.scale.weigh(raw);
                    self.made.tools.call(&block.id, &block.name, arguments)
                }
                "image" => Part::Image(Image::default()),
                _ => {
                    lose(ATTACHED);
                    continue;
                }
            });
        }
        parts
    }

    /// Gives the last reply its usage, where it is the one that the context was counted with.
    fn spent(&mut self, shown: &Shown, counted: Count, lose: Lose<'_>) {
        let Some(last) = &shown.context_usage else { return };
        let mut usage = None;
        if counted != Count::Absent && counted == last.total {
            usage = last.usage(lose);
            if let Some(call) = self.made.transcript.messages.iter_mut().filter_map(|message| message.call.as_mut()).next_back() {
                call.usage = usage;
            }
        }
        let sum = shown.token_usage.as_ref().map_or(Ok(0), |sum| sum.input.or_zero());
        if sum.is_ok_and(|sum| sum > usage.map_or(0, |usage| usage.prompt)) {
            lose(SUMMED);
        }
    }

    /// What came since the generation.
    fn journal(&mut self, path: &Path, source: &mut Source) {
        let Ok(mut journal) = source.beside(path) else { return source.lose(0, UNREAD) };
        let read = journal.each_line(|journal, line| journal.values(line, |record: Recorded, lose| self.record(&record, lose)));
        source.lose_all(0, journal.losses());
        if read.is_err() {
            source.lose(0, UNREAD);
        }
    }

    fn record(&mut self, record: &Recorded<'_>, lose: Lose<'_>) {
        let payload = record.payload.map_or("{}", RawValue::get);
        let read = match &*record.kind {
            "action_intent" => serde_json::from_str(payload).map(|action| self.asks(&action)),
            "core_input" => self.input(payload, lose),
            _ => return,
        };
        if read.is_err() {
            lose("record of an unexpected shape");
        }
    }

    fn input(&mut self, payload: &str, lose: Lose<'_>) -> serde_json::Result<()> {
        let json = serde_json::from_str::<Input>(payload)?.input.command.map_or("{}", RawValue::get);
        let Kind { kind } = serde_json::from_str(json)?;
        match &*kind {
            "user_message" | "context_message" | "completion_succeeded" | "tool_succeeded" | "tool_failed" => {
                self.said(&kind, &serde_json::from_str(json)?, lose);
            }
            "agent_message" | "notification" => lose("message in the journal that the core puts into words"),
            _ => {}
        }
        Ok(())
    }

    fn said(&mut self, kind: &str, command: &Command<'_>, lose: Lose<'_>) {
        let answer = command.result.as_ref();
        match kind {
            "user_message" => self.user(&command.content, false, lose),
            "context_message" => self.user(&command.content, true, lose),
            "completion_succeeded" => {
                let parts = answer.map_or(&[][..], |answer| &answer.parts);
                let usage = answer.and_then(|answer| answer.usage.as_ref()?.usage(lose));
                self.open.drain(..).for_each(|_| lose("result that the journal does not hold"));
                if self.summarising.contains(&*command.action_id) {
                    let call = Some(Call { model: self.model.clone(), usage, unchained: true, ..Call::default() });
                    let summary = self.made.scale.weigh_summary(&said(parts));
                    return self.made.cut(Compaction { summary, call, ..Compaction::default() });
                }
                self.open = parts.iter().filter(|block| &*block.kind == "tool_call").map(|block| block.id.to_string()).collect();
                let parts = self.parts(parts, lose);
                let call = Some(Box::new(self.made.call(command.action_id.id(), &self.model, usage)));
                self.made.push(Message { call, ..Message::new(Role::Assistant, parts) });
            }
            // Programs that the model writes call tools, too: the model sees no result of those.
            _ => {
                if let Some(at) = self.open.iter().position(|id| **id == *command.call_id) {
                    self.open.remove(at);
                    self.result(&command.call_id, answer.map_or(&[], |answer| &answer.content), kind == "tool_failed", lose);
                }
            }
        }
    }
}

/// The text of a message.
fn said(content: &[Block<'_>]) -> String {
    let texts: Vec<&str> = content.iter().filter(|block| &*block.kind == "text").map(|block| &*block.text).collect();
    texts.join("\n")
}
