//! A measured session: numbers only, no content. Measured once, simulated thousands of times.

mod anchor;
mod dates;
mod pack;
mod part;
mod parts;
mod reference;
mod small;
mod usage;
mod whole;

use crate::list::{Rows, listed};
use crate::transcript::{CompactionKind, Length, Role, Standing, Usage};
use crate::units::{Index, Time, adds};
pub use part::{PartKind, PartRow};
pub use parts::Parts;
pub use reference::{Evidence, Place, Reference};
use serde::{Deserialize, Deserializer, Serialize};
pub use small::{NameLength, Rare};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroU128;
pub use usage::HeldUsage;
pub use whole::WholePrompt;
use xxhash_rust::xxh3::xxh3_64;

/// 128-bit hash of an id. Without a zero, one that may be absent takes no more room.
pub type Key = NonZeroU128;

/// One message, without its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRow {
    /// Whose message it is.
    pub role: Role,
    /// Its parts are `parts[first_part..first_part + part_count]`.
    pub first_part: u32,
    /// How many parts the message has.
    pub part_count: u32,
    /// Milliseconds since 1970; absent where the log has no time.
    pub time: Time,
    /// Number of the turn, from 1; 0 before the first user message.
    pub turn: u32,
    /// Every earlier message from this index on leaves the context before this one arrives.
    pub rewind: Index,
    /// Shown before: it stands in the context again, but is no new message.
    pub copy: bool,
    /// Put in by the agent itself; it opens no turn.
    pub synthetic: bool,
    /// 128-bit hash of the message's id, by which copies in other files are known; `None` where it has none.
    pub key: Option<Key>,
    /// Tokens of reasoning that the provider reported for this reply, 0 without a report. It outlives the call, which may count in another file.
    pub reported_reasoning: u32,
}

/// What stands for the part of a conversation that came before its log begins: an estimated message at the front, which policies may take out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// The message's index in [`Trace::messages`].
    pub message: u32,
    /// Tokens; 0 where nothing tells the hidden overhead from it, or all of the first prompt is explained.
    pub tokens: u64,
    /// From where the hidden overhead below it is known.
    pub base: BaseFrom,
}

/// From where the hidden overhead of a session is known whose log begins in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseFrom {
    /// From a compaction of the session itself.
    Session,
    /// From other sessions of the corpus.
    Corpus,
    /// From the catalogue: the median of the agent.
    Catalogue,
    /// Without an earlier call: all that the first prompt held beyond the log counts as overhead.
    Unknown,
}

impl MessageRow {
    /// The indices in [`Trace::parts`] of its parts.
    pub fn parts(&self) -> std::ops::Range<u32> {
        self.first_part..self.first_part + self.part_count
    }

    /// The index in [`Trace::parts`] of its part with this place; `None` where it has fewer.
    pub fn part(&self, place: usize) -> Option<u32> {
        (place < self.part_count as usize).then_some(self.first_part + place as u32)
    }

    /// Does this message open a turn?
    pub fn opens_turn(&self) -> bool {
        self.role == Role::User && !self.synthetic
    }
}

/// One request to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRow {
    /// The reply's index in [`Trace::messages`]; the prompt is all that stood in the context before it.
    pub message: u32,
    /// Index into [`Trace::models`]; absent where the log names none.
    pub model: Index,
    /// Usage as the log has it; absent where there is none.
    pub usage: HeldUsage,
    /// H: tokens that the call carries and the log does not show.
    pub hidden: u64,
    /// Truth of all visible messages in the context when nothing is ever removed (but rewinds).
    pub visible: u64,
    /// How much smaller than `hidden + visible` the recorded prompt was, for reasons that the log does not tell
    /// (reasoning stripped, context edited by the server). Belongs to the visible part in proportion.
    pub missing: u64,
    /// Tokens of the reply: recorded where trustworthy, else its truth.
    pub output: u64,
    /// Is the chain of recorded usage unbroken between the call before and this one?
    pub chained: bool,
    /// Does the recorded prompt hold all that the log shows of it? Asked of partial usage alone; what a compaction took out is none of it.
    pub covers: bool,
    /// What the visible messages since the call before weigh by calibrated tokenizer counts, the reply by its recorded output:
    /// the prediction that anchoring is judged by. Absent where the chain is broken, and of 2^32 tokens and more.
    #[serde(deserialize_with = "short")]
    pub predicted_growth: Index,
    /// 128-bit hash of the call's id; `None` where it has none.
    pub key: Option<Key>,
}

impl CallRow {
    /// Tokens of the reply as its provider counted them; absent where the log has no usage, or holds a placeholder from the start of the
    /// stream instead. Then [`CallRow::output`] is the estimate.
    pub fn recorded_output(&self) -> Option<u64> {
        self.usage.get().filter(|usage| usage.output_is_final).map(|usage| usage.output)
    }

    /// The size of this call's prompt with so many visible tokens in it, `recorded` of them from the log itself: the hidden overhead
    /// comes on top, and what the recorded prompt lacked is taken off in proportion to what is still there.
    #[inline]
    pub fn prompt(&self, visible: u64, recorded: u64) -> u64 {
        let kept = recorded.min(self.visible);
        let whole = self.visible.max(1);
        let missing = match self.missing.checked_mul(kept) {
            Some(product) => product / whole,
            None => (u128::from(self.missing) * u128::from(kept) / u128::from(whole)) as u64,
        };
        (self.hidden + visible).saturating_sub(missing)
    }
}

/// A number that is held where it is below 2^32.
fn short<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Index, D::Error> {
    let number: Option<u64> = Option::deserialize(deserializer)?;
    Ok(number.and_then(|number| u32::try_from(number).ok()).into())
}

/// Tokens of replies, by how they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outputs {
    /// Tokens as providers counted them.
    pub recorded: u64,
    /// Estimates for replies whose log holds a placeholder from the start of the stream.
    pub estimated: u64,
    /// Tokens that those placeholders name, in place of the real output.
    pub placeholders: u64,
    /// How many replies are estimated.
    pub estimated_replies: u64,
}

impl Outputs {
    /// Takes in a reply with its usage; `estimate` is what it is taken for where the usage holds a placeholder.
    pub fn add(&mut self, usage: &Usage, estimate: u64) {
        if usage.output_is_final {
            self.recorded += usage.output;
        } else {
            self.estimated += estimate;
            self.placeholders += usage.output;
            self.estimated_replies += 1;
        }
    }

    /// Output tokens of all replies, recorded or estimated.
    pub fn all(&self) -> u64 {
        self.recorded + self.estimated
    }
}

adds!(Outputs += Outputs: recorded, estimated, placeholders, estimated_replies);

/// A recorded compaction or pruning, undone in the trace and kept as a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionRow {
    /// Before which message.
    pub before: u32,
    /// The first message that stayed; `None` where none did, or the log does not say.
    pub kept_from: Option<u32>,
    /// The parts that placeholders took the place of, ascending. Empty where the log does not say, and for most compactions.
    pub taken: Vec<u32>,
    /// What was done.
    pub kind: CompactionKind,
    /// By itself or on demand.
    pub automatic: Option<bool>,
    /// Did an extension of the agent make it, by a rule of its own?
    pub by_extension: bool,
    /// Does the log lack what stood right before it?
    pub behind_gap: bool,
    /// Had the turn before it been broken off, and no other begun?
    pub between_turns: bool,
    /// Context tokens before.
    pub tokens_before: Option<u64>,
    /// Context tokens after.
    pub tokens_after: Option<u64>,
    /// Milliseconds that it took.
    pub duration_ms: Option<u64>,
    /// Can the model behind it share no history with the one before, by the agent's own mark?
    pub incompatible: Option<bool>,
    /// Calibrated size of the summary text.
    pub summary_tokens: Option<u64>,
    /// Usage of the summariser's own request.
    pub usage: Option<Usage>,
    /// Hash of that request's id, or else of the event's own.
    pub key: Option<Key>,
    /// Taken over with the calls before it from a session that another file holds: it counts there.
    pub copy: bool,
}

/// One session in numbers, the recording agent's own compactions undone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The session's id: the log's own, or else the name of the file.
    pub id: String,
    /// The session that started this one.
    pub parent: Option<String>,
    /// The session whose end this one repeats after its agent cut its history; `None` where it repeats none, or both are one session.
    pub takes_up: Option<String>,
    /// Is it a copy of a conversation in the log of a request that was made over it? It counts where no log of its own holds the session.
    pub copied: bool,
    /// The name of the recording agent.
    pub agent: String,
    /// The agent's version; empty where unknown.
    pub version: String,
    /// The file it was read from, as it was named on the command line.
    pub source: String,
    /// The window that the log names.
    pub window: Option<u64>,
    /// The host that the calls went to, where the log names one.
    pub host: Option<String>,
    /// A number for the project that the log names; `None` where it names none.
    pub project: Option<u64>,
    /// The folder of that project. Kept while a corpus is read from logs, and never written down: a `.ctxtrace` has the number alone.
    #[serde(skip)]
    pub folder: Option<String>,
    /// Bytes of what the agent writes beside each item and counts with it; 0 where there are none.
    pub item_bytes: u32,
    /// What stands for the conversation before the log begins; `None` where the log holds its beginning.
    pub unseen: Option<Unseen>,
    /// Do logs of this agent tell what the prompt cache did? A corpus says so of all sessions of an agent where one of them has a count,
    /// each time that it is read: it is no part of what a session is.
    #[serde(skip)]
    pub reports_cache: bool,
    /// Names of the models, by first use.
    pub models: Vec<String>,
    /// Names of the tools, by first use.
    pub tools: Vec<String>,
    /// The messages, in order.
    #[serde(with = "listed")]
    pub messages: Rows<MessageRow>,
    /// All parts of all messages, in order.
    pub parts: Parts,
    /// The requests, in order.
    #[serde(with = "listed")]
    pub calls: Rows<CallRow>,
    /// What the recording agent did to its context.
    pub compactions: Vec<CompactionRow>,
    /// Usage of calls outside the conversation, with their keys.
    pub side_calls: Vec<(Usage, Option<Key>)>,
    /// Usage of calls of sub-agents that this log mirrors, with the keys of their messages. No part of [`Trace::usages`].
    pub mirrored: Vec<(Usage, Option<Key>)>,
    /// For each message the hash of the conversation up to it, by which copies of a session are known where ids do not tell. The last one
    /// also tells apart runs of one file that are alike. Empty where all messages and calls have ids.
    pub prints: Vec<u64>,
    /// Session calibration: truth over weight, in thousandths.
    pub calibration_thousandths: u64,
    /// What assistant messages repeat from earlier ones, in the order of the messages that do so.
    #[serde(with = "listed")]
    pub references: Rows<Reference>,
    /// Where the pieces of all references stand in their sources, which [`Place`] points into.
    #[serde(with = "listed")]
    pub pieces: Rows<Standing>,
    /// Results that something later shows again, in the order of what shows them.
    pub repetitions: Vec<Repetition>,
    /// Calls that only look at something, in order.
    pub readings: Vec<Reading>,
    /// Recognisable pieces that were left out of the search for references, because there were too many.
    pub unsearched: u64,
    /// Does the log end in the provider's refusal of a prompt that was too large?
    pub refused: bool,
    /// The requests that the provider refused as too large, each before this message, ascending.
    pub refusals: Vec<u32>,
    /// Is it what the agent printed, beside which it may have written a log of its own?
    pub printed: bool,
    /// What the log says was sent, summed over its calls: what policies are compared with. `None` before the session is part of a corpus; never
    /// written down, for it follows from the rest.
    #[serde(skip)]
    pub sent: Option<SentPrompts>,
    /// By call without recorded usage the estimated size of its prompt as it was sent, where that is not the one under no policy: behind a recorded
    /// compaction. Known and written down as `sent` is.
    #[serde(skip)]
    pub sent_sizes: BTreeMap<u32, u64>,
    /// The prompt of each call under no policy. Known and written down as `sent` is.
    #[serde(skip)]
    pub whole: Rows<WholePrompt>,
    /// The messages, in order, that stand for what a recorded compaction left where it was imposed on the session: all that stood in the
    /// context before, the policy's own texts included, leaves as they arrive, but messages before their `rewind`. Empty in a session as it was
    /// read, and never written down.
    #[serde(skip)]
    pub imposed: Vec<u32>,
    /// The file or address that a call names under one of the usual keys, by the call's part. It is content: kept only where the user asks
    /// for it, and never written down.
    #[serde(skip)]
    pub paths: BTreeMap<u32, String>,
}

/// The prompts of a session's calls as they were sent, the agent's own compactions included. Requests of a summariser are no calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentPrompts {
    /// Tokens: as the provider reported them, estimated for calls without such a report.
    pub prompt_tokens: u64,
    /// The estimated part of those tokens.
    pub estimated_tokens: u64,
    /// Calls whose prompt is estimated.
    pub estimated_calls: u64,
    /// Tokens of the largest prompt.
    pub peak_tokens: u64,
}

/// A result that is dead weight as soon as a later part has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Repetition {
    /// The part that shows it again.
    pub later: u32,
    /// The part with the result that is dead weight.
    pub earlier: u32,
}

/// A call that only looks at something: it reads a file, lists a folder, searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Index of the message with the call.
    pub message: u32,
    /// Part of its result; absent where the log has none, or does not tell which it is.
    pub result: Index,
    /// A number for what is asked for: readings of one tool with the same arguments have the same.
    pub request: u32,
    /// A number for the file that the arguments name; absent where they name none.
    pub file: Index,
}

impl Trace {
    /// Where the pieces of a reference stand in one of its sources; empty where that is not known.
    pub fn pieces_at(&self, place: &Place) -> &[Standing] {
        let (first, pieces) = (place.first as usize, place.pieces as usize);
        self.pieces.get(first..first.saturating_add(pieces)).unwrap_or_default()
    }

    /// The place of the first call behind a recorded event; that behind the last one where no call follows.
    pub fn first_call_behind(&self, event: &CompactionRow) -> usize {
        self.calls.partition_point(|call| call.message < event.before)
    }

    /// The order of sessions by what they are: by id, then by what they hold. The file decides only between copies that hold the same.
    pub fn by_identity(&self, other: &Trace) -> Ordering {
        let size = |trace: &Trace| (trace.calls.len(), trace.messages.len());
        let same = |one: &Trace, other: &Trace| one.likeness().cmp(&other.likeness()).then_with(|| one.source.cmp(&other.source));
        self.id.cmp(&other.id).then_with(|| size(self).cmp(&size(other))).then_with(|| same(self, other))
    }

    /// A number for what the session holds, wherever it was read from, and whatever else was measured of its texts.
    fn likeness(&self) -> u64 {
        let sizes: Vec<(PartKind, u64, Length)> = self.parts.iter().map(|part| (part.kind, part.truth, part.text.length)).collect();
        let held = (&self.agent, &self.version, &self.parent, &self.models, &**self.messages, sizes, &**self.calls);
        xxh3_64(&serde_json::to_vec(&held).unwrap_or_default())
    }

    /// The parts of one message.
    #[inline]
    pub fn parts_of(
        &self,
        message: &MessageRow,
    ) -> impl DoubleEndedIterator<Item = Cow<'_, PartRow>> + ExactSizeIterator + Clone + use<'_> {
        let first = message.first_part as usize;
        self.parts.within(first..first + message.part_count as usize)
    }

    /// The file or address that a part is about, where it was kept: that of a call, or of the call that a result answers.
    pub fn path_of(&self, part: u32) -> Option<&str> {
        let row = self.parts.get(part as usize)?;
        self.paths.get(&row.answers.get().unwrap_or(part)).map(String::as_str)
    }

    /// The message that a part belongs to.
    pub fn message_of(&self, part: u32) -> Option<u32> {
        let after = self.messages.partition_point(|row| row.first_part <= part);
        // Messages without parts share their first index with the next one; the last of them has the part.
        u32::try_from(after.checked_sub(1)?).ok()
    }

    /// Every recorded usage of the session: calls, summariser requests, side calls.
    pub fn usages(&self) -> impl Iterator<Item = Usage> {
        let calls = self.calls.iter().filter_map(|call| call.usage.get());
        let summarisers = self.compactions.iter().filter_map(|compaction| compaction.usage);
        calls.chain(summarisers).chain(self.side_calls.iter().map(|(usage, _)| *usage))
    }

    /// Tokens of all replies with usage: those that were counted, and estimates for those whose log holds a placeholder.
    pub fn outputs(&self) -> Outputs {
        let mut sum = Outputs::default();
        let calls = self.calls.iter().filter_map(|call| Some((call.usage.get()?, call.output)));
        let summaries = self.compactions.iter().filter_map(|event| Some((event.usage?, event.summary_tokens.unwrap_or(0))));
        let beside = self.side_calls.iter().map(|(usage, _)| (*usage, 0));
        for (usage, estimate) in calls.chain(summaries).chain(beside) {
            sum.add(&usage, estimate);
        }
        sum
    }

    /// Does the log tell what the prompt cache did? Then a call without a count read nothing.
    pub fn tells_of_cache(&self) -> bool {
        self.reports_cache || self.counts_cache() || self.caches_nothing()
    }

    /// Does the provider itself say of each call with usage that nothing was read from its cache and nothing written to it? Then the client asked for no cache, where
    /// a provider caches what it is asked to alone.
    pub fn caches_nothing(&self) -> bool {
        let mut usages = self.usages().peekable();
        usages.peek().is_some() && usages.all(|usage| usage.counts_cache && usage.cache_read + usage.cache_write == 0)
    }

    /// Was anything read from the cache, or written to it?
    pub fn counts_cache(&self) -> bool {
        self.usages().any(|usage| usage.cache_read + usage.cache_write > 0)
    }

    /// Tokens of the conversation before the log begins; 0 where the log holds it, or nothing tells them.
    pub fn unseen_tokens(&self) -> u64 {
        self.unseen.map_or(0, |unseen| unseen.tokens)
    }

    /// The place of a message in its log, from 0: what stands for the conversation before the log begins is no message of it.
    pub fn place_in_log(&self, message: u32) -> u32 {
        message - u32::from(self.unseen.is_some_and(|unseen| unseen.message < message))
    }

    /// The largest recorded prompt of a replayed call.
    pub fn largest_prompt(&self) -> u64 {
        self.calls.iter().filter_map(CallRow::own_usage).map(|usage| usage.prompt).max().unwrap_or(0)
    }
}
