//! One conversation, put together record by record.

use super::asked_for::AskedFor;
use super::mirror::Mirror;
use super::prompts::Prompts;
use super::queue::Queue;
use super::record::{CompactMetadata, Record, Replacement, SYNTHETIC, Wire};
use super::said::{is_refusal, is_written_by_agent, only_text};
use super::tree::{Departure, Tree};
use super::window::Chosen;
use crate::format::ground::{Lose, TAKEN_UP, Words, millis, sound};
use crate::format::recorder::Recorder;
use crate::format::wire::anthropic::{Content, Piece, UsageRecord, visible_text};
use crate::format::wire::blocks::{Block, Blocks};
use crate::transcript::{Compaction, CompactionKind, Message, Part, Role, Scale, Transcript, Usage, parts_where};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashSet;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Versions that record usage at the start of the stream write a handful of tokens there. A count above this that also covers three quarters of the
/// visible text, at four bytes a token, is taken for the real one.
const LARGEST_PLACEHOLDER: u64 = 50;

/// Among so many messages a result is looked for that is replaced as it comes.
const LATELY: usize = 64;

/// A conversation under construction.
pub(super) struct Conversation<'s> {
    /// The session as far as it has been read.
    pub made: Recorder<'s>,
    /// Which of its messages stand in the context.
    pub tree: Tree,
    /// Calls of sub-agents that the log shows.
    pub mirror: Mirror,
    /// What people say during a turn.
    pub queue: Queue,
    /// The models that the person chose.
    chosen: Chosen,
    asked_for: AskedFor,
    /// By the hash of what they are known by. Each has a place of its own: a table has up to twice as many places as elements, and beside the old one while it grows.
    replies: FxHashMap<u64, Box<Reply>>,
    /// The compaction whose summary has not come yet.
    unsummarised: Option<usize>,
    /// The last compaction, and the records that it kept where they are written behind it.
    kept_behind: (usize, FxHashSet<u64>),
    /// Where the next message goes back to.
    rewind: Option<usize>,
    /// What replies since the last compaction report.
    prompts: Prompts,
    /// Where the conversation went back since the last reply, and where to, if nothing came back.
    went_back: Option<(usize, usize)>,
    /// A person has spoken since the last reply.
    asked: bool,
    /// A model answered, be it in a reply that is no call.
    pub replied: bool,
}

/// What the lines of one reply have told so far. It is kept small: a long log has a reply for every second line.
struct Reply {
    message: u32,
    /// Hash of its request; 0 without one.
    request: u64,
    lowest_output: u64,
    settled: bool,
    /// Is the usage of its first line one of zero tokens? Gateways write these before they know it, and some never do.
    of_zero: bool,
    /// Hashes of its content blocks: some resumed sessions write a reply anew.
    blocks: Box<[u64]>,
}

impl<'s> Conversation<'s> {
    /// A conversation of which no record has come yet.
    pub fn new(scale: &'s dyn Scale) -> Conversation<'s> {
        let mut made = Recorder::new("claude-code", String::new(), scale);
        made.transcript.messages.pack();
        Conversation {
            made,
            tree: Tree::default(),
            mirror: Mirror::default(),
            queue: Queue::default(),
            chosen: Chosen::default(),
            asked_for: AskedFor::default(),
            replies: FxHashMap::default(),
            unsummarised: None,
            kept_behind: Default::default(),
            rewind: None,
            prompts: Prompts::default(),
            went_back: None,
            asked: false,
            replied: false,
        }
    }

    /// A prompt, a tool's results, or text that the agent put in.
    pub fn user(&mut self, record: &Record<'_>, wire: &Wire<'_>, node: usize, lose: Lose<'_>) {
        let synthetic = record.is_injected() || is_written_by_agent(record, wire);
        self.chosen.read(only_text(wire), self.made.next());
        self.asked_for.read(only_text(wire), synthetic, &mut self.made.transcript.compactions);
        let attached = self.made.attached.len();
        let messages = self.made.anthropic(Role::User, &wire.content, lose);
        if messages.is_empty() && self.made.attached.len() == attached {
            lose("user record without content");
        }
        // Results of parallel calls hang on different lines of one reply: they never go back.
        if messages.iter().all(|message| message.role != Role::Tool) {
            self.go_back(node, lose);
            self.asked |= !synthetic;
        }
        for message in messages {
            self.add(record, node, Message { synthetic: synthetic && message.role == Role::User, ..message });
        }
    }

    /// Text that reaches the model beside the prompts.
    pub fn aside(&mut self, record: &Record<'_>, node: usize, text: &str, lose: Lose<'_>) {
        self.queue.shown(text);
        self.chosen.read(text, self.made.next());
        self.go_back(node, lose);
        self.put_aside(record, node, text);
    }

    fn put_aside(&mut self, record: &Record<'_>, node: usize, text: &str) {
        let part = Part::Other(self.made.scale.weigh(text));
        self.add(record, node, Message { synthetic: true, ..Message::new(Role::User, vec![part]) });
    }

    /// A line of a reply: the first one begins it, others add to it.
    pub fn assistant(&mut self, record: &Record<'_>, wire: &Wire<'_>, node: usize, lose: Lose<'_>) {
        let (request, key) = (id_hash(record.request_id.id()), reply_key(record, wire));
        let carried_on = self.replies.get(&key).filter(|reply| reply.request == request || reply.request == 0 || request == 0);
        let index = carried_on.filter(|_| key != 0).map(|reply| reply.message as usize);
        let seen = index.and_then(|_| self.replies.get(&key)).map(|reply| &*reply.blocks).unwrap_or_default();
        let blocks: Vec<u64> = wire.content.0.iter().map(block_hash).collect();
        let mut messages = if blocks.iter().any(|block| seen.contains(block)) {
            lose("repeated content block");
            self.made.anthropic(Role::Assistant, &unseen(&wire.content, seen), lose)
        } else {
            self.made.anthropic(Role::Assistant, &wire.content, lose)
        };
        let results = messages.split_off(usize::from(messages.first().is_some_and(|message| message.role == Role::Assistant)));
        let parts = messages.pop().map(|message| message.parts).unwrap_or_default();
        match index {
            Some(index) => {
                if let Some(message) = self.made.transcript.messages.get_mut(index) {
                    message.parts.extend(parts);
                }
                self.tree.join(node, index);
                self.observe_again(key, index, wire, lose);
            }
            None => self.begin_reply(record, wire, node, key, parts, lose),
        }
        if let Some(reply) = self.replies.get_mut(&key) {
            reply.blocks = match reply.blocks.is_empty() {
                true => blocks.into(),
                false => [&*reply.blocks, &blocks].concat().into(),
            };
        }
        self.judge(key);
        for result in results {
            self.add(record, node, result);
        }
    }

    /// A line that is a copy of an earlier one may still know more of the usage.
    pub fn assistant_again(&mut self, record: &Record<'_>, wire: &Wire<'_>) {
        let key = reply_key(record, wire);
        if let Some(index) = self.replies.get(&key).map(|reply| reply.message as usize) {
            self.observe_again(key, index, wire, &mut |_| {});
            self.judge(key);
        }
    }

    /// Judges the output count of a reply by what its lines have told so far.
    fn judge(&mut self, key: u64) {
        let Some(reply) = self.replies.get(&key) else { return };
        let Some(message) = self.made.transcript.messages.get_mut(reply.message as usize) else { return };
        let visible: u64 = message.parts.iter().map(visible_bytes).sum();
        if let Some(usage) = message.call.as_mut().and_then(|call| call.usage.as_mut()) {
            let grown = usage.output > reply.lowest_output;
            usage.output_is_final = reply.settled || grown || is_plausible(usage.output, visible);
        }
    }

    fn begin_reply(&mut self, record: &Record<'_>, wire: &Wire<'_>, node: usize, key: u64, parts: Vec<Part>, lose: Lose<'_>) {
        self.go_back(node, lose);
        self.asked_for = AskedFor::default();
        let real = &*wire.model != SYNTHETIC && record.is_api_error_message != Some(true);
        self.replied |= real;
        let told = wire.usage.as_ref().filter(|_| real);
        let usage = told.and_then(|usage| sound(usage.usage(), lose));
        let succeeded = usage.is_some() || !wire.id.id().is_empty() || !wire.stop_reason.is_empty();
        if real && !succeeded {
            lose("reply without an id, usage and a reason to stop (no call)");
        }
        let model = wire.billed_model();
        if let Some(usage) = usage.filter(|usage| usage.prompt > 0) {
            self.compare(usage.prompt, &model, node);
        }
        let call = (real && succeeded).then(|| self.made.call(call_id(message_id(record, wire), record.request_id.id()), &model, usage));
        if call.is_some()
            && let Some(host) = wire.host()
        {
            self.made.hosts.push((model, host.to_owned()));
        }
        // The call after a reply without one does not go on from the last one.
        self.made.chain.broken = call.is_none();
        self.made.transcript.refused &= call.is_none();
        if call.is_none() && is_refusal(record, wire) {
            self.made.refuse();
        }
        if call.is_some() {
            self.queue.delivered().iter().for_each(|text| self.put_aside(record, node, text));
        }
        let index = self.made.next();
        let reply = Reply {
            message: index as u32,
            request: id_hash(record.request_id.id()),
            lowest_output: usage.map_or(0, |usage| usage.output),
            settled: is_settled(wire),
            of_zero: told.is_some_and(|usage| matches!(usage.usage(), Ok(None))),
            blocks: Box::default(),
        };
        usage.into_iter().filter(|usage| usage.prompt > 0).for_each(|usage| self.prompts.note(index, usage));
        self.add(record, node, Message { call: call.map(Box::new), ..Message::new(Role::Assistant, parts) });
        if let Some(message) = self.made.transcript.messages.get_mut(index)
            && !wire.id.id().is_empty()
        {
            message.id = wire.id.to_string();
        }
        self.replies.insert(key, Box::new(reply));
    }

    /// What the file leaves behind has left the context only if the next prompt does not hold it. A branch that is lost when the file is loaded is lost from
    /// the prompt on that lacks it.
    fn compare(&mut self, prompt: u64, model: &str, node: usize) {
        let (went_back, asked) = (self.went_back.take(), std::mem::take(&mut self.asked));
        if self.made.chain.model() != model {
            return self.prompts.forget(self.made.next());
        }
        if let Some((at, to)) = went_back {
            let since: Vec<Message> = (at..self.made.next()).filter_map(|at| self.made.transcript.messages.get_mut(at).cloned()).collect();
            if self.prompts.holds(to, prompt, since.iter()) && self.tree.stay() {
                self.rewind = None;
                self.made.transcript.messages.get_mut(at).into_iter().for_each(|message| message.rewind = None);
            }
        }
        if asked
            && self.tree.loses()
            && self.prompts.shrank(prompt)
            && let Some(loss) = self.tree.loss(self.prompts.since, node)
            && self.prompts.lacks(&loss.stretches, prompt)
        {
            self.tree.load(&loss);
            self.leave(loss.departure);
        }
    }

    /// Takes in another line of a reply.
    fn observe_again(&mut self, key: u64, index: usize, wire: &Wire<'_>, lose: Lose<'_>) {
        let Some(reply) = self.replies.get_mut(&key) else { return };
        let Some(call) = self.made.transcript.messages.get_mut(index).and_then(|message| message.call.as_mut()) else { return };
        let (was_settled, settles) = (reply.settled, is_settled(wire));
        reply.settled |= settles;
        let billed = wire.billed_model();
        if billed != *wire.model {
            // The first line may not know the tier yet.
            call.model = billed;
        }
        let Some(again) = wire.usage.as_ref().and_then(|usage| sound(usage.usage(), lose)) else { return };
        match &mut call.usage {
            Some(usage) => {
                reply.lowest_output = reply.lowest_output.min(again.output);
                if !agree(usage, again, was_settled, settles) {
                    lose("lines of one reply that disagree on its prompt (largest kept)");
                }
            }
            None => {
                reply.lowest_output = again.output;
                call.usage = Some(again);
            }
        }
        call.usage.into_iter().filter(|usage| usage.prompt > 0).for_each(|usage| self.prompts.note(index, usage));
    }

    /// The boundary that a compaction leaves.
    pub fn boundary(&mut self, record: &Record<'_>, metadata: &CompactMetadata<'_>, kept_from: Option<usize>) {
        (self.unsummarised, self.went_back) = (Some(self.made.transcript.compactions.len()), None);
        self.prompts.forget(self.made.next());
        self.tree.settle();
        let kept = metadata.preserved_messages.iter().flat_map(|kept| &kept.uuids).filter(|_| kept_from.is_none());
        self.kept_behind = (self.made.transcript.compactions.len(), kept.map(|uuid| xxh3_64(uuid.as_bytes())).collect());
        self.made.compact(Compaction {
            id: record.first_id(),
            automatic: automatic(metadata),
            tokens_before: metadata.pre_tokens.known().ok().flatten(),
            tokens_after: metadata.post_tokens.known().ok().flatten(),
            duration_ms: metadata.duration_ms.known().ok().flatten(),
            kept_from,
            time: millis(&record.timestamp),
            ..Compaction::default()
        });
    }

    /// The boundary that a pruning of old tool results leaves. Its figures are no context tokens, and are not taken.
    pub fn pruned(&mut self, record: &Record<'_>, metadata: &CompactMetadata<'_>) {
        let results: HashSet<&str> = metadata.compacted_tool_ids.iter().map(Words::id).collect();
        let attachments: HashSet<&str> = metadata.cleared_attachments.iter().map(Words::id).collect();
        let is_taken = |message: &Message, part: &Part| match part {
            Part::ToolResult { call_id, .. } => results.contains(call_id.as_str()),
            _ => attachments.contains(message.id.as_str()),
        };
        // Each pruning looks through all of them.
        self.made.transcript.messages.keep();
        let taken = parts_where(&self.made.transcript.messages, is_taken);
        self.made.compact(Compaction {
            id: record.first_id(),
            kind: CompactionKind::Prune,
            automatic: automatic(metadata),
            taken,
            time: millis(&record.timestamp),
            ..Compaction::default()
        });
    }

    /// The summary that stands for the old messages. Older versions, and files that begin with it, have no boundary before it.
    pub fn summary(&mut self, record: &Record<'_>, wire: &Wire<'_>) {
        let text = |block: &Block<'_, Piece<'_>>| match block {
            Block::Text(text) => text.to_string(),
            Block::Object(piece) if piece.text.is_empty() => piece.content.map(|content| visible_text(content.get())).unwrap_or_default(),
            Block::Object(piece) => piece.text.to_string(),
            Block::Other => String::new(),
        };
        let text = wire.content.0.iter().map(text).collect::<Vec<_>>().join("\n");
        if self.unsummarised.is_none() {
            self.boundary(record, &CompactMetadata::default(), None);
            self.asked_for.summary(&mut self.made.transcript.compactions);
        }
        if let Some(compaction) = self.unsummarised.take().and_then(|index| self.made.transcript.compactions.get_mut(index)) {
            compaction.summary = self.made.scale.weigh_summary(&text);
        }
    }

    /// Has a boundary come whose summary has not?
    pub fn awaits_summary(&self) -> bool {
        self.unsummarised.is_some()
    }

    /// Puts what the model reads in the place of a result that has come lately.
    pub fn replace(&mut self, by: &Replacement<'_>) {
        let text = self.made.scale.weigh_result(&by.replacement);
        let next = self.made.next();
        for at in (next.saturating_sub(LATELY)..next).rev() {
            let parts = self.made.transcript.messages.get_mut(at).map_or(&mut [][..], |message| &mut message.parts);
            let result = parts.iter_mut().find_map(|part| match part {
                Part::ToolResult { call_id, text, .. } if *call_id == *by.tool_use_id => Some(text),
                _ => None,
            });
            if let Some(result) = result {
                *result = text;
                return;
            }
        }
    }

    fn go_back(&mut self, node: usize, lose: Lose<'_>) {
        let Some(departure) = self.tree.depart(node) else { return lose(TAKEN_UP) };
        if let Some(to) = departure.rewind {
            self.went_back = departure.again.is_empty().then_some((self.made.next(), to));
        }
        self.leave(departure);
    }

    /// What leaves is taken back by the message that comes next.
    fn leave(&mut self, departure: Departure) {
        let mut rewind = departure.rewind;
        for original in departure.again {
            let index = self.made.next();
            let Some(message) = self.made.transcript.messages.get_mut(original).cloned() else { continue };
            self.made.push(Message { call: None, rewind: rewind.take(), copy_of: Some(original), ..message });
            self.tree.stand_again(original, index);
        }
        self.rewind = rewind.or(self.rewind);
    }

    fn add(&mut self, record: &Record<'_>, node: usize, message: Message) {
        let index = self.made.next();
        let role = message.role;
        let id = match self.tree.first_message(node) {
            None => record.first_id(),
            Some(_) if record.uuid.id().is_empty() => String::new(),
            Some(first) => [&record.first_id(), "/", &index.saturating_sub(first).to_string()].concat(),
        };
        let rewind = self.rewind.take();
        self.made.push(Message { id, time: millis(&record.timestamp), rewind, ..message });
        self.tree.stand(node, index, role);
        // Said before the compaction, which takes place behind it then.
        if !self.kept_behind.1.is_empty() && self.kept_behind.1.contains(&xxh3_64(record.uuid.as_bytes())) {
            let before = self.made.next();
            if let Some(compaction) = self.made.transcript.compactions.get_mut(self.kept_behind.0) {
                compaction.before = before;
                compaction.kept_from.get_or_insert(index);
            }
        }
    }

    /// The replies of which no line has usage but one of zero tokens.
    pub fn of_zero(&self) -> usize {
        let call = |reply: &Reply| self.made.transcript.messages.get(reply.message as usize).and_then(|message| message.call.as_ref());
        self.replies.values().filter(|reply| reply.of_zero && call(reply).is_some_and(|call| call.usage.is_none())).count()
    }

    /// The finished transcript.
    pub fn finish(mut self) -> Transcript {
        self.made.transcript.mirrored = self.mirror.finish();
        self.made.transcript.window = self.chosen.window(&self.made.transcript);
        self.made.into_transcript()
    }
}

/// Can it be the count of a reply with so many visible bytes? Four bytes a token, whether texts are counted or not: what is recorded is no matter of how it is looked at.
pub(super) fn is_plausible(output: u64, visible: u64) -> bool {
    output > LARGEST_PLACEHOLDER && output * 16 >= visible * 3
}

/// Takes the usage of another line of a reply: is it clear which of the two counts is right? The lines agree on the prompt, but for gateways that open a reply with
/// an estimate and close it with the count. Output is counted while it streams: the largest count is the latest.
pub(super) fn agree(known: &mut Usage, again: Usage, was_settled: bool, settles: bool) -> bool {
    let is_clear = known.prompt == again.prompt || was_settled != settles;
    let output = known.output.max(again.output);
    let is_count = if was_settled == settles { again.prompt > known.prompt } else { settles };
    if is_count {
        *known = again;
    }
    known.output = output;
    is_clear
}

/// Has the provider told the final count? It sends the reason to stop, and the count of its own tools, with it.
pub(super) fn is_settled(wire: &Wire<'_>) -> bool {
    !wire.stop_reason.is_empty() || wire.usage.as_ref().is_some_and(UsageRecord::is_settled)
}

/// The provider's id of a message. Where 2.1.45 forks a session, the copied lines of a reply have new ids each, those of their records; the request alone keeps its own.
fn message_id<'r>(record: &Record<'_>, wire: &'r Wire<'_>) -> &'r str {
    let is_records = wire.id.id() == record.uuid.id() && !record.request_id.id().is_empty();
    if is_records { "" } else { wire.id.id() }
}

/// What the lines of a reply are known by: the first id that they have. 0 where they have none.
fn reply_key(record: &Record<'_>, wire: &Wire<'_>) -> u64 {
    [message_id(record, wire), record.request_id.id(), record.uuid.id()].into_iter().find(|key| !key.is_empty()).map_or(0, id_hash)
}

/// 0 for an empty id.
fn id_hash(id: &str) -> u64 {
    if id.is_empty() { 0 } else { xxh3_64(id.as_bytes()) }
}

/// What tells a block of a reply from the others.
fn block_hash(block: &Block<'_, Piece<'_>>) -> u64 {
    let with = |hash: u64, text: &str| xxh3_64_with_seed(text.as_bytes(), hash);
    match block {
        Block::Text(text) => with(1, text),
        Block::Object(Piece { kind, id, text, thinking, signature, data, .. }) => {
            // Most of these fields are empty in each block.
            let fields = (2..).zip([kind, id, text, thinking, signature, data]).filter(|(_, text)| !text.is_empty());
            fields.fold(0, |hash, (place, text)| with(hash ^ place, text))
        }
        Block::Other => 0,
    }
}

fn unseen<'a>(content: &Content<'a>, seen: &[u64]) -> Content<'a> {
    Blocks(content.0.iter().filter(|block| !seen.contains(&block_hash(block))).cloned().collect())
}

/// The id of a call: of its reply, and of the request.
pub(super) fn call_id(message: &str, request: &str) -> String {
    match (message, request) {
        ("", request) => request.to_owned(),
        (message, "") => message.to_owned(),
        // A text that is written piece by piece has room for twice as much.
        (message, request) => [message, "/", request].concat(),
    }
}

fn automatic(metadata: &CompactMetadata<'_>) -> Option<bool> {
    match &*metadata.trigger {
        "auto" => Some(true),
        "manual" => Some(false),
        _ => None,
    }
}

fn visible_bytes(part: &Part) -> u64 {
    u64::from(match part {
        Part::Text(text) | Part::Thinking { text, .. } | Part::ToolCall { arguments: text, .. } | Part::Other(text) => text.length.bytes,
        Part::ToolResult { .. } | Part::Image(_) | Part::Tools(_) => 0,
    })
}
