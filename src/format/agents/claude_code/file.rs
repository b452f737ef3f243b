//! A file's records, sorted into conversations.

#![expect(clippy::indexing_slicing, reason = "conversations are named by their places in a list that never shrinks")]

use super::attachment;
use super::claim::{is_document, is_list};
use super::conversation::Conversation;
use super::forks::{self, Asked, Forks};
use super::record::{CompactMetadata, Record, Replacement};
use super::said::is_prompt;
use super::tree::Parent;
use crate::format::ground::{Lose, ReadError, Source, Take, Words, each_piece, says, wire, without};
use crate::format::marks::{Mark, Marked};
use crate::format::wire::anthropic::UsageRecord;
use crate::transcript::{Message, Scale, Transcript, project};
use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::value::RawValue;
use std::borrow::Cow;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The records of a document, in its lists.
const LISTS: [(&str, Take); 2] = [("loglines", Take::Elements), ("messages", Take::Elements)];

wire! {
    /// A line as it was recorded: `send` or `recv`.
    struct Passed<'a> { direction: Words<'a>, message: Option<&'a RawValue> }
}

/// Up to 2.1.1 the end of what a command printed is cut off; later a preview stays of every long result, and the middle of a failed
/// command's output goes.
const MARKS: &[Mark] = &[
    Mark::Start("<persisted-output>"),
    Mark::Start("[Truncated. Full output: "),
    // `TaskOutput` has the state of the task in front of it.
    Mark::Inside("<output>\n[Truncated. Full output: "),
    Mark::Line("... [# lines truncated] ..."),
    Mark::Line("... [# characters truncated] ..."),
    Mark::Line("[# lines truncated]"),
];

/// Qoder, whose logs are those of Claude Code but for a record of its own.
const QODER: &str = "qoder";

/// iFlow CLI, a Gemini CLI whose logs are those of Claude Code but for the ids that it makes.
const IFLOW: &str = "iflow";

/// Reads the sessions of a file: the main one and those of sub-agents that write into it.
pub(super) fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let mut file = File {
        scale,
        conversations: Vec::new(),
        sessions: FxHashMap::default(),
        nodes: FxHashMap::default(),
        forked: FxHashSet::default(),
        went_on: FxHashMap::default(),
        latest: [None; 2],
        forks: Forks::default(),
        copies: FxHashMap::default(),
        room: (source.bytes / LEAST_BYTES).min(MOST_ROOM) as usize,
        sums: FxHashMap::default(),
        fork: None,
    };
    // What a tool returned stands in a result once more, in a shape for the screen: nearly half of a log's bytes.
    let (shown, mut held) = (Finder::new("\"toolUseResult\":"), String::new());
    let (progress, content, mut mirrored) = (Finder::new("\"type\":\"progress\""), Finder::new("\"content\":"), String::new());
    let mut take = |source: &mut Source, text: &str, number: u64, at_end: bool| {
        let text = without(text, &shown, 1, &mut held);
        // Of the messages that mirror those of a sub-agent only the usage is taken.
        let text = if says(text, &progress) { without(text, &content, usize::MAX, &mut mirrored) } else { text };
        source.values_of(text, number, at_end, |record: Record, lose| file.record(&record, lose));
    };
    if is_list(source) || is_document(source) {
        // What is sent before the session has its id waits for it.
        let (mut waiting, mut begun) = (Vec::new(), false);
        each_piece(source, &LISTS, |source, piece| match serde_json::from_str::<Passed>(piece.text) {
            Ok(Passed { direction, message: Some(message) }) if !direction.is_empty() => {
                if &*direction == "send" && !begun {
                    waiting.push((message.get().to_owned(), piece.number));
                    return;
                }
                take(source, message.get(), piece.number, false);
                begun |= message.get().contains("\"session_id\"");
                if begun {
                    waiting.drain(..).for_each(|(text, number): (String, u64)| take(source, &text, number, false));
                }
            }
            _ => take(source, piece.text, piece.number, false),
        });
        waiting.iter().for_each(|(_, number)| source.lose(*number, "message before the first run"));
    } else {
        source.each_line(|source, line| take(source, &line.text, line.number, line.last_unterminated))?;
    }
    for path in forks::beside(source) {
        match source.beside(&path) {
            Ok(mut other) => {
                other.each_line(|other, line| take(other, &line.text, line.number, line.last_unterminated))?;
                source.lose_all(0, other.losses());
            }
            Err(_) => source.lose(0, "request beside the session that cannot be read"),
        }
    }
    let name = source.name();
    // Records may come in another order than they were made: by now all are known, and need not be remembered while sessions are measured.
    let File { conversations, forked, went_on, nodes, forks, copies, sessions, mut sums, fork, .. } = file;
    let hand_over: &mut dyn FnMut(Transcript) = &mut |mut transcript| {
        if let Some(fork) = fork {
            fork.clone_into(&mut transcript.agent);
        }
        hand_over(transcript);
    };
    let mut forks = forks.by_owner(|session| sessions.get(&xxh3_64(session.as_bytes())).copied());
    let in_middle: FxHashSet<usize> = went_on.iter().filter(|(_, parent)| !nodes.contains_key(parent)).map(|(index, _)| *index).collect();
    drop(nodes);
    for (index, conversation) in conversations.into_iter().enumerate() {
        let replied = conversation.replied;
        (0..conversation.of_zero()).for_each(|_| source.lose(0, "usage of zero tokens (not used)"));
        let mut transcript = conversation.finish();
        let own = transcript.parent.as_ref().and_then(|parent| transcript.id.strip_prefix(parent)?.strip_prefix('/'));
        transcript.begins_in_middle = in_middle.contains(&index) || forked.contains(own.unwrap_or_default());
        if let Some(replies) = forks.remove(&Some(index)) {
            forks::join(&mut transcript, replies);
        }
        if let Some(asked) = copies.get(&index) {
            let is_here = transcript.parent.as_ref().is_some_and(|session| sessions.contains_key(&xxh3_64(session.as_bytes())));
            if is_here || !forks::leave_copied(&mut transcript, *asked) {
                continue;
            }
        }
        if transcript.messages.is_empty() && transcript.compactions.is_empty() {
            continue;
        }
        // A person who leaves again, or runs commands of the agent's own, asks for nothing.
        if !replied && !has_requests(&transcript) {
            source.lose(0, "session that asks a model for nothing");
            continue;
        }
        if let Some(unprinted) = sums.get_mut(transcript.parent.as_ref().unwrap_or(&transcript.id)) {
            *unprinted = unprinted.saturating_sub(sent(&transcript));
        }
        if transcript.id.is_empty() {
            transcript.id.clone_from(&name);
        }
        hand_over(transcript);
    }
    forks.into_values().flat_map(forks::apart).for_each(hand_over);
    // The output of printed replies is a placeholder; their prompts are whole.
    sums.into_values().filter(|unprinted| *unprinted > 0).for_each(|_| source.lose(0, "usage of other calls, as a sum alone"));
    Ok(())
}

/// Does a session without a reply show a request, or what a person asked for before the log ends?
fn has_requests(session: &Transcript) -> bool {
    let Transcript { refused, compactions, side_calls, mirrored, messages, .. } = session;
    let asked = || messages.each().any(|message| !message.synthetic);
    *refused || !compactions.is_empty() || !side_calls.is_empty() || !mirrored.is_empty() || asked()
}

/// The prompt tokens of a session's calls.
fn sent(session: &Transcript) -> u64 {
    let replies = session.messages.each().filter_map(|message| message.call.as_ref()?.usage);
    let compactions = session.compactions.iter().filter_map(|compaction| compaction.call.as_ref());
    replies.chain(compactions.chain(&session.side_calls).filter_map(|call| call.usage)).map(|usage| usage.prompt).sum()
}

/// A message takes more bytes of a log than this, most of them many more.
const LEAST_BYTES: u64 = 512;

/// Whatever size a file is said to have, there is no room for more messages before they come.
const MOST_ROOM: u64 = 1 << 20;

/// Ids are kept as hashes: a long file has as many of them as lines.
type IdHash = u64;

/// The hash of a record's id that this record names. A copy has the ids of what it is a copy of, which may stand in the same file.
fn id_hash(record: &Record<'_>, id: &str) -> IdHash {
    let copy = if forks::is_of_request(record) { xxh3_64(record.agent().as_bytes()) } else { 0 };
    xxh3_64_with_seed(id.as_bytes(), copy)
}

struct File<'s> {
    scale: &'s dyn Scale,
    conversations: Vec<Conversation<'s>>,
    /// Conversations by session or sub-agent id.
    sessions: FxHashMap<IdHash, usize>,
    /// Conversation and node of each record.
    nodes: FxHashMap<IdHash, (u32, u32)>,
    /// Sub-agents that were forked from a conversation; empty for a session of its own.
    forked: FxHashSet<String>,
    /// What the first record of a conversation goes on from, where that was not known yet.
    went_on: FxHashMap<usize, IdHash>,
    /// The conversation spoken of last: a main one, a sub-agent's.
    latest: [Option<usize>; 2],
    /// Requests over the conversation, beside it.
    forks: Forks,
    /// Conversations in logs of such requests, and where the request was asked.
    copies: FxHashMap<usize, Option<Asked>>,
    /// Messages that the first conversation has room for.
    room: usize,
    /// Prompt tokens of all requests of a printed session, where it tells: the largest sum.
    sums: FxHashMap<String, u64>,
    /// The agent that writes the logs of Claude Code, known by a record that Claude Code does not write.
    fork: Option<&'static str>,
}

impl File<'_> {
    fn record(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        if &*record.kind == "runtime-config" && !record.session().is_empty() {
            self.fork = Some(QODER);
        } else if record.session().starts_with("session-")
            && record.message.as_ref().is_some_and(|message| message.id.starts_with("response-"))
        {
            self.fork = Some(IFLOW);
        }
        if forks::is_of_request(record) {
            // Where the session itself is here, what was copied of it says nothing new.
            if self.sessions.contains_key(&xxh3_64(record.session().as_bytes())) {
                return self.forks.record(record, lose);
            }
            self.forks.record(record, &mut |_| {});
        }
        match &*record.kind {
            "user" | "assistant" | "system" | "attachment" | "progress" => self.node(record, lose),
            "summary" if record.is_summary() => self.node(record, lose),
            "queue-operation" => self.queue(record),
            "content-replacement" => self.replace(record, lose),
            "summary" | "file-history-snapshot" | "file-history-delta" | "last-prompt" | "ai-title" | "custom-title" | "mode" => {}
            "permission-mode" | "pr-link" | "tag" | "agent-name" | "agent-color" | "agent-setting" | "task-summary" | "worktree-state" => {}
            "cost-state"
            | "tools-used"
            | "attribution-snapshot"
            | "bridge-session"
            | "atis-latch"
            | "speculation-accept"
            | "auth_status" => {}
            // Bookkeeping that the newest version (2.1.332) has beside these.
            "session-owner" | "relocated" | "continued-in" | "ended-by-model" | "isolation-latch" | "dev-mods" | "memory-mode" => {}
            // Keeps a session from being sent elsewhere: the log itself is whole.
            "history-suppression" => {}
            // The prompts of a fork begin with its parent's conversation, which its own file does not hold.
            "fork-context-ref" => _ = self.forked.insert(record.agent().to_owned()),
            "derived-from" | "data-flow-records" | "data-flow-incomplete" | "frame-link" | "observer-ref" | "resume-head-vouch" => {}
            "artifact-comment-monitor" | "artifact-autoreact-ledger" => {}
            "api-request" | "api-request-resumed" | "api-request-shape" | "api-request-blob" => {}
            // Of what the program prints: sums, and pieces of replies that follow as a whole.
            "result" => self.sum(record, lose),
            "stream_event" | "tool_progress" | "tool_use_summary" | "rate_limit_event" | "prompt_suggestion" => {}
            // What the program and the one that started it tell each other.
            "control_request" | "control_response" | "control_cancel_request" => {}
            _ => lose("unknown record type"),
        }
    }

    /// Some gateways report nothing with the pieces of a stream: what such calls used is known as a sum. So is what requests used that are not printed.
    fn sum(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        let sum = record.usage.and_then(|usage| serde_json::from_str::<UsageRecord>(usage.get()).ok()?.usage().ok()?);
        let silent = |run: &Conversation| {
            let is_silent = |message: Cow<'_, Message>| message.call.as_ref().is_some_and(|call| call.usage.is_none());
            run.made.transcript.messages.each().any(is_silent)
        };
        if sum.is_some() && self.latest[0].and_then(|index| self.conversations.get(index)).is_some_and(silent) {
            return lose("usage of calls as the sum of their run alone");
        }
        let (told, sent) = (self.sums.entry(record.session().to_owned()).or_default(), record.sent_in_all());
        *told = sent.max(*told);
    }

    /// Conversation and node of the record of this id.
    fn known(&self, hash: IdHash) -> Option<(usize, usize)> {
        self.nodes.get(&hash).map(|(conversation, node)| (*conversation as usize, *node as usize))
    }

    /// What waits before a conversation's first record opens its first turn, and has a record of its own.
    fn queue(&mut self, record: &Record<'_>) {
        let index = self.sessions.get(&xxh3_64(record.session().as_bytes())).copied().or(self.latest[0]);
        let text = record.content.and_then(|content| serde_json::from_str::<String>(content.get()).ok()).unwrap_or_default();
        if let Some(conversation) = index.and_then(|index| self.conversations.get_mut(index)) {
            conversation.queue.operate(&record.operation, text);
        }
    }

    /// Results of one turn that are too large together stand in the log as they came: what the model reads in their place is written behind them.
    fn replace(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        let replacements = record.replacements.and_then(|list| serde_json::from_str::<Vec<Replacement>>(list.get()).ok());
        let Some(replacements) = replacements else { return lose("record of an unexpected shape") };
        let key = if record.agent().is_empty() { record.session().to_owned() } else { format!("{}/{}", record.session(), record.agent()) };
        let index = self.sessions.get(&xxh3_64(key.as_bytes())).copied().or(self.latest[usize::from(!record.agent().is_empty())]);
        if let Some(conversation) = index.and_then(|index| self.conversations.get_mut(index)) {
            replacements.iter().for_each(|one| conversation.replace(one));
        }
    }

    fn node(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        let hash = record.uuid.some_id().map(|uuid| id_hash(record, uuid));
        if let Some((conversation, _)) = hash.and_then(|hash| self.known(hash)) {
            lose("repeated record (same uuid)");
            if let (Some(wire), "assistant") = (&record.message, &*record.kind) {
                self.conversations[conversation].assistant_again(record, wire);
            }
            return;
        }
        let parent = self.known(id_hash(record, record.parent()));
        let index = self.conversation(record, parent.map(|(conversation, _)| conversation));
        let kept_from = self.kept_from(record, index);
        let conversation = &mut self.conversations[index];
        conversation.made.transcript.printed |= record.is_streamed();
        if !record.program().is_empty() {
            conversation.made.transcript.version = record.program().to_owned();
        }
        // A person may go elsewhere later: the project is where the session began.
        let project_of = &mut conversation.made.transcript.project;
        *project_of = project_of.take().or_else(|| project(&record.cwd));
        if parent.is_none() && conversation.tree.is_empty() && !record.parent().is_empty() {
            self.went_on.insert(index, id_hash(record, record.parent()));
        }
        let parent = match parent.filter(|(of, _)| *of == index) {
            Some((_, node)) => Parent::Node(node),
            // A prompt that hangs on nothing is typed into an emptied conversation, and some versions run hooks before it.
            None if record.parent().is_empty() && conversation.tree.is_chained() && (is_prompt(record) || record.is_of_clearing()) => {
                Parent::Root
            }
            None => Parent::Unknown,
        };
        let node = conversation.tree.grow(parent, &*record.kind == "progress");
        if let Some(hash) = hash {
            self.nodes.insert(hash, (index as u32, node as u32));
        }
        if forks::is_of_request(record) {
            let asked = self.copies.entry(index).or_default();
            if forks::asks(record) {
                *asked = Some(Asked { behind: conversation.made.next(), refused: conversation.made.transcript.refused });
            }
        }
        enter(conversation, record, node, kept_from, lose);
        let named = record.logical_parent_uuid.id();
        if !named.is_empty() && self.known(id_hash(record, named)).is_none() {
            let made = self.conversations[index].made.transcript.compactions.last_mut();
            made.into_iter().filter(|event| event.id == record.first_id()).for_each(|event| event.behind_gap = true);
        }
    }

    /// The conversation that a record belongs to. A parent tells it best: a resumed session carries on under a new session id.
    fn conversation(&mut self, record: &Record<'_>, of_parent: Option<usize>) -> usize {
        let side = record.is_side();
        let is_side = |index: &usize| self.conversations[*index].made.transcript.parent.is_some();
        let of_parent = of_parent.filter(|index| is_side(index) == side);
        let session = record.session();
        let key = match (side, record.agent()) {
            (false, _) => session.to_owned(),
            (true, "") => String::new(),
            (true, agent) => format!("{session}/{agent}"),
        };
        let hash = xxh3_64(key.as_bytes());
        let known = self.sessions.get(&hash).copied().filter(|_| !key.is_empty());
        let latest = self.latest[usize::from(side)];
        let index = match (side, key.is_empty()) {
            (true, false) => known.or(of_parent),
            // A sub-agent without an id is known by its chain: it begins where the chain does.
            (true, true) if record.parent().is_empty() => None,
            (true, true) => of_parent.or(latest),
            (false, false) => of_parent.or(known),
            (false, true) => of_parent.or(latest),
        };
        let index = index.unwrap_or_else(|| {
            let mut conversation = Conversation::new(self.scale);
            if side {
                conversation.made.transcript.parent = Some(session.to_owned());
                let own = [record.agent(), record.uuid.id()].into_iter().find(|own| !own.is_empty()).unwrap_or_default();
                conversation.made.transcript.id = format!("{session}/{own}");
            }
            // Room that nothing is written into costs nothing; a list that grows stands in memory twice while it is copied.
            let room = std::mem::take(&mut self.room);
            conversation.tree.reserve(room);
            self.conversations.push(conversation);
            self.conversations.len() - 1
        });
        if !key.is_empty() {
            self.sessions.insert(hash, index);
        }
        if !side && !session.is_empty() {
            session.clone_into(&mut self.conversations[index].made.transcript.id);
        }
        self.latest[usize::from(side)] = Some(index);
        index
    }

    /// The first old message that a boundary keeps in the context.
    fn kept_from(&self, record: &Record<'_>, index: usize) -> Option<usize> {
        let metadata = serde_json::from_str::<CompactMetadata>(record.boundary()?.get()).ok()?;
        let message = |uuid: &Words<'_>| {
            let (conversation, node) = self.known(id_hash(record, uuid))?;
            self.conversations[index].tree.first_message(node).filter(|_| conversation == index)
        };
        let kept = metadata.preserved_messages.iter().flat_map(|kept| &kept.uuids).filter_map(message).min();
        kept.or_else(|| metadata.preserved_segment.and_then(|segment| message(&segment.head_uuid)))
    }
}

/// Puts a record into its conversation.
fn enter(conversation: &mut Conversation<'_>, record: &Record<'_>, node: usize, kept_from: Option<usize>, lose: Lose<'_>) {
    match (&*record.kind, &*record.subtype, &record.message) {
        (_, _, Some(wire)) if record.is_summary() => conversation.summary(record, wire),
        ("user", _, Some(wire)) if record.is_streamed() && record.is_injected() && conversation.awaits_summary() => {
            conversation.summary(record, wire);
        }
        ("user", _, Some(_)) if record.is_visible_in_transcript_only == Some(true) => {}
        ("user", _, Some(wire)) => conversation.user(record, wire, node, lose),
        ("assistant", _, Some(wire)) => conversation.assistant(record, wire, node, lose),
        ("user" | "assistant", _, None) => lose("record without a message"),
        ("system", "compact_boundary", _) => match metadata(record.boundary().map(|raw| raw.get()), lose) {
            Some(metadata) => conversation.boundary(record, &metadata, kept_from),
            None => conversation.boundary(record, &CompactMetadata::default(), kept_from),
        },
        ("system", "microcompact_boundary", _) => {
            let metadata = metadata(record.microcompact_metadata.map(|raw| raw.get()), lose).unwrap_or_default();
            if metadata.compacted_tool_ids.is_empty() && metadata.cleared_attachments.is_empty() {
                lose("microcompact boundary that names no tool result (not taken for a pruning)");
            } else {
                conversation.pruned(record, &metadata);
            }
        }
        // What a command of the agent printed is sent along with the next prompt.
        ("system", "local_command", _) => match record.content.map(|content| serde_json::from_str::<String>(content.get())) {
            Some(Ok(text)) => conversation.aside(record, node, &text, lose),
            _ => lose("command output of an unexpected shape"),
        },
        ("progress", _, _) => record.data.into_iter().for_each(|data| conversation.mirror.progress(data, lose)),
        ("attachment", _, _) => match record.attachment.and_then(attachment::text) {
            Some(text) if text.is_empty() => {}
            Some(text) => conversation.aside(record, node, &text, lose),
            None => lose("attachment of an unexpected shape"),
        },
        _ => {}
    }
}

fn metadata<'a>(raw: Option<&'a str>, lose: Lose<'_>) -> Option<CompactMetadata<'a>> {
    let metadata = serde_json::from_str(raw?).ok();
    if metadata.is_none() {
        lose("compaction data of an unexpected shape");
    }
    metadata
}
