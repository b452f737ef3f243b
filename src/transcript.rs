//! Recorded facts: what one conversation held, as its log tells it.
//!
//! A reader builds a [`Transcript`] while it reads. Every text passes the [`Scale`] at once, which measures it and, unless the caller
//! needs the words themselves, lets them go: no text outlives the line that it stood on, so a session of a gigabyte needs no gigabyte.

mod evidence;
mod kept;
mod length;
mod lines;
mod messages;
mod steps;
mod windows;

pub use evidence::{Evidence, Standing, Unit};
pub use kept::KeptText;
pub use length::{Length, Step};
pub use lines::Lines;
pub use messages::Messages;
pub use steps::Steps;
pub use windows::NamedWindows;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;
use xxhash_rust::xxh3::xxh3_64;

/// What was measured of a text, and its words where the caller needs them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The text's length in each unit.
    pub length: Length,
    /// Its exact token count in the vocabulary of the [`Scale`].
    pub tokens: u32,
    /// Its exact counts in the two vocabularies that agents use most. Absent where they were not asked for.
    pub counts: Option<Counts>,
    /// What it is made of, by its bytes.
    pub kind: TextKind,
    /// UTF-8 bytes of the text inside a compact JSON string: escapes counted, the two quotes not.
    pub json_bytes: u32,
    /// Words, as whitespace divides them.
    pub words: u32,
    /// Code points that are not ASCII.
    pub non_ascii: u32,
    /// The recording agent cut this result: it bears the agent's own mark of truncation, or its log says so.
    #[serde(default)]
    pub truncated: bool,
    /// What ingestion limits need to know about a tool's long result. Absent for short ones and for all other texts.
    pub shape: Option<Box<Shape>>,
    /// The words, kept only where the scale was asked to keep them.
    pub content: Option<KeptText>,
    /// What can be recognised in later texts. It is gone once the session is measured, and never written down.
    #[serde(skip)]
    pub evidence: Option<Box<Evidence>>,
}

impl Text {
    /// The words; empty where they were not kept.
    pub fn as_str(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }
}

/// Exact token counts in vocabularies of OpenAI, whatever the session's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Tokens in the vocabulary of GPT-4o and later models.
    pub o200k_base: u32,
    /// Tokens in the vocabulary of GPT-4 and GPT-3.5; 0 where they were not asked for.
    pub cl100k_base: u32,
}

/// What a text is made of, as far as its bytes tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// Words of a language written in letters; also what is too short to tell.
    #[default]
    Prose,
    /// Source code, diffs, tables: text with many symbols.
    Code,
    /// JSON.
    Json,
    /// Chinese, Japanese, Korean.
    Cjk,
}

/// The profile of a long result: where its tokens lie, so that a cut at any place can be sized without the words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Cumulative sizes at ascending places within the text.
    pub steps: Steps,
    /// Where the lines near its ends lie.
    pub lines: Lines,
    /// Code points of each line longer than [`LONG_LINE`], in order.
    pub long_lines: Box<[u32]>,
    /// Sizes after terminal escapes are removed and runs of blank lines collapsed. Absent where that changes nothing.
    pub cleaned: Option<Step>,
}

/// A line of more code points than this is listed in [`Shape::long_lines`].
pub const LONG_LINE: u32 = 400;

/// Measures texts for a reader. The reader neither knows nor cares how tokens are counted.
pub trait Scale {
    /// Measures one text. Its words go, unless the scale is one that keeps them.
    fn weigh(&self, text: &str) -> Text;

    /// Measures what a tool returned: agents cut such texts, so their [`Shape`] is taken too.
    fn weigh_result(&self, text: &str) -> Text {
        self.weigh(text)
    }

    /// Measures a summary. `None` of a blank one, and of marks that a publishing tool wrote in its place: they do not say how long it was.
    fn weigh_summary(&self, text: &str) -> Option<Text> {
        let is_known = text.lines().any(|line| !line.trim().is_empty() && !is_redacted(line));
        is_known.then(|| self.weigh(text))
    }

    /// The vocabulary that tokens are counted in, by its name; `None` where no tokens are counted.
    fn vocabulary(&self) -> Option<&'static str> {
        None
    }
}

/// Is the whole of a line, within tags or without, a mark that publishing tools write in the place of words: `REDACTED`, `[REDACTED ...]`, `<redacted>`, `[redacted:text:...]`? A tag alone is one too.
fn is_redacted(text: &str) -> bool {
    const WORD: &str = "redacted";
    let begins = |inside: &str| inside.get(..WORD.len()).is_some_and(|front| front.eq_ignore_ascii_case(WORD));
    let mut text = text.trim();
    if let Some((tag, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && !begins(tag)
    {
        text = rest.trim();
    }
    if let Some((before, _)) = text.strip_suffix('>').and_then(|rest| rest.rsplit_once("</")) {
        text = before.trim();
    }
    let bare = text.trim_matches('*');
    let marked = [('[', ']'), ('<', '>'), ('(', ')')].into_iter().find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?.strip_suffix(close)?;
        (!inside.contains([open, close, '\n'])).then_some(inside)
    });
    text.is_empty() || bare.eq_ignore_ascii_case(WORD) || marked.is_some_and(begins)
}

/// Whose message it is. A tool result is never a user message, whatever role the provider's wire format gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions: system and developer messages.
    System,
    /// The person, or what the agent says in the person's name.
    User,
    /// The model: what it replies.
    Assistant,
    /// A tool: what it returned.
    Tool,
}

impl Role {
    /// The role of this name, where it is one of these.
    pub fn of(name: &str, among: &[Role]) -> Option<Role> {
        let role = match name {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => return None,
        };
        among.contains(&role).then_some(role)
    }
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// What was said, by whoever speaks.
    Text(Text),
    /// Reasoning as far as the log shows it. Signatures and encrypted blobs are never tokenised: only their length is kept.
    Thinking {
        /// The visible reasoning or its summary; empty where all is encrypted.
        text: Text,
        /// Bytes of the signature or encrypted content, 0 where there is none.
        sealed_bytes: u32,
    },
    /// A request to run a tool.
    ToolCall {
        /// The call's id, as the result names it. Empty where the format has none.
        id: String,
        /// The tool's name, as the model calls it.
        name: String,
        /// The arguments as compact JSON, or the raw argument string where the log holds a string.
        arguments: Text,
    },
    /// What a tool returned.
    ToolResult {
        /// The id of the call that it answers. Empty where the format has none.
        call_id: String,
        /// The tool's name; empty where it cannot be told.
        name: String,
        /// The text part of the result.
        text: Text,
        /// Did the tool fail?
        error: bool,
    },
    /// A picture, of which the log's size is kept.
    Image(Image),
    /// Definitions of the tools, as JSON.
    Tools(Text),
    /// Anything else that the model reads: attachments, documents.
    Other(Text),
}

impl Part {
    /// The text that it holds: a picture holds none.
    pub fn text(&self) -> Option<&Text> {
        match self {
            Part::Text(text) | Part::Tools(text) | Part::Other(text) | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => {
                Some(text)
            }
            Part::ToolCall { arguments, .. } => Some(arguments),
            Part::Image(_) => None,
        }
    }

    /// The same, to be changed.
    pub fn text_mut(&mut self) -> Option<&mut Text> {
        match self {
            Part::Text(text) | Part::Tools(text) | Part::Other(text) | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => {
                Some(text)
            }
            Part::ToolCall { arguments, .. } => Some(arguments),
            Part::Image(_) => None,
        }
    }
}

/// A picture, by what the log says about it. Its base64 text is never counted as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Image {
    /// Pixels; 0 where unknown.
    pub width: u32,
    /// Pixels; 0 where unknown.
    pub height: u32,
    /// Length of the encoded data; 0 where it is only referred to.
    pub bytes: u32,
    /// Length of its address without encoded data: all of a link, the head of a data URL. 0 where the log has none.
    pub address: u32,
}

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The log's own id of the message, unique within its agent; empty where it has none.
    pub id: String,
    /// Whose message it is.
    pub role: Role,
    /// The parts of the message, in order.
    pub parts: Vec<Part>,
    /// Milliseconds since 1970, where the log has a time.
    pub time: Option<i64>,
    /// The request that produced it. Only assistant messages have one; an assistant message that was aborted, failed or put in by hand has none.
    /// It has a place of its own: half of all messages have none, and it is larger than they are.
    pub call: Option<Box<Call>>,
    /// Set where the conversation went back before this message: every earlier message from this index on leaves the context first.
    pub rewind: Option<usize>,
    /// A second showing of an earlier message (its index): it stands in the context again but is no new message.
    pub copy_of: Option<usize>,
    /// Text that the agent put in by itself (reminders, continuation prompts): it has the role `user`, but opens no turn.
    pub synthetic: bool,
}

impl Message {
    /// A message of this role and these parts, and nothing else known of it.
    pub fn new(role: Role, mut parts: Vec<Part>) -> Message {
        // A list that was filled one by one has room for four: in a session of short messages most of its memory.
        parts.shrink_to_fit();
        Message { id: String::new(), role, parts, time: None, call: None, rewind: None, copy_of: None, synthetic: false }
    }
}

/// One request to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// An id by which copies of the same call in other files are known (message id, response id); empty where there is none.
    pub id: String,
    /// The model as the log names it; empty where unknown.
    pub model: String,
    /// What the provider reported; absent where nothing was recorded.
    pub usage: Option<Usage>,
    /// Tokens of the reply, where the log counts them and not the prompt.
    pub output: Option<u64>,
    /// Set where something unseen may have changed in the prompt before this call (model or tool set changed, an aborted call in between).
    pub unchained: bool,
}

/// What the provider reported for a call, in one dialect for all providers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Context tokens R(k): all input, cache reads and writes included.
    pub prompt: u64,
    /// The part of `prompt` that was read from the cache.
    pub cache_read: u64,
    /// The part of `prompt` that was written to the cache (all lifetimes).
    pub cache_write: u64,
    /// The part of `cache_write` with a lifetime of one hour.
    pub cache_write_1h: u64,
    /// The reply, reasoning included.
    pub output: u64,
    /// The part of `output` that is reasoning. Absent where the provider does not itemise it.
    pub reasoning: Option<u64>,
    /// What the log says that the call cost, in thousand-millionths of a dollar.
    pub cost_nano_usd: Option<i64>,
    /// How far the numbers can be trusted.
    pub trust: Trust,
    /// False where `output` is a placeholder written at the start of the stream.
    pub output_is_final: bool,
}

impl Usage {
    /// The output as it was reported; `None` where it was not.
    pub fn reported_output(&self) -> Option<u64> {
        (self.output > 0 || self.output_is_final).then_some(self.output)
    }

    /// What was written beside reasoning: the size of a summary whose text is not in the log, by its own request. `None` where that is not known.
    pub fn written(&self) -> Option<u64> {
        Some(self.output.saturating_sub(self.reasoning.unwrap_or_default())).filter(|tokens| self.output_is_final && *tokens > 0)
    }

    /// The same with this cost, where it has none.
    pub fn or_cost(self, nano_usd: Option<i64>) -> Usage {
        Usage { cost_nano_usd: self.cost_nano_usd.or(nano_usd), ..self }
    }
}

/// Where recorded usage comes from. Only `Provider` anchors truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The provider's own response.
    #[default]
    Provider,
    /// A local estimate of the agent.
    Estimated,
    /// The provider's, of a prompt that is not all in the log, or of a part of the prompt alone.
    Partial,
    /// A mock server, which makes its numbers up.
    Mock,
}

/// What a recording agent did to its own context. It is undone for replay and kept as a fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// It took place before the message with this index arrived (the number of messages where it came last).
    pub before: usize,
    /// Whether a summary took the place of messages, or placeholders that of results.
    pub kind: CompactionKind,
    /// By itself, or because the user asked for it. Absent where the log does not say.
    pub automatic: Option<bool>,
    /// Context tokens before, where the log says so.
    pub tokens_before: Option<u64>,
    /// Context tokens after, where the log says so.
    pub tokens_after: Option<u64>,
    /// Milliseconds that it took, where the log says so.
    pub duration_ms: Option<u64>,
    /// Is the model behind it one that cannot share a history with the one before, by the agent's own mark? Agents compact then, whatever the size.
    /// Absent where the log does not say so of both.
    pub incompatible: Option<bool>,
    /// The summary that replaced the old messages; absent for prunings and where the log is silent.
    pub summary: Option<Text>,
    /// The first message that stayed in the context, where the log says so.
    pub kept_from: Option<usize>,
    /// What placeholders took the place of, as message and part of it by their indices, ascending. Empty where the log does not say.
    pub taken: Vec<(usize, usize)>,
    /// The summariser's own request, where it was recorded.
    pub call: Option<Call>,
    /// Milliseconds since 1970, where the log has a time.
    pub time: Option<i64>,
}

/// The parts of messages for which something holds, as message and part of it by their indices, in order.
pub fn parts_where(messages: &Messages, holds: impl Fn(&Message, &Part) -> bool) -> Vec<(usize, usize)> {
    let within = |(at, message): (usize, Cow<'_, Message>)| {
        let places = message.parts.iter().enumerate().filter(|(_, part)| holds(&message, part)).map(|(place, _)| (at, place));
        places.collect::<Vec<_>>()
    };
    messages.each().enumerate().flat_map(within).collect()
}

/// The two ways in which agents shrink a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionKind {
    /// Old messages replaced by a summary.
    #[default]
    Compact,
    /// Old tool results replaced by placeholders.
    Prune,
}

/// One recorded session: a linear conversation with one model context, the recording agent's own compactions undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The session's id in its log; the file's name where it has none.
    pub id: String,
    /// The session that this one was started from (sub-agents).
    pub parent: Option<String>,
    /// The agent that recorded it, as its reader names it: `claude-code`, `codex`, ...
    pub agent: String,
    /// The agent's version; empty where unknown.
    pub version: String,
    /// The conversation in order of time.
    pub messages: Messages,
    /// What the recording agent did to its context, in order.
    pub compactions: Vec<Compaction>,
    /// The window that the log itself names, if it does.
    pub window: Option<u64>,
    /// What each prompt carries beside the conversation (system prompt, definitions of tools), as the agent itself counted it. It counts where no
    /// prompt was recorded.
    pub overhead: Option<u64>,
    /// Does the log end in the provider's refusal of a prompt that was too large? False where the format does not show it.
    pub refused: bool,
    /// The host that the model's calls went to, as the log names it; `None` where it names none.
    pub host: Option<String>,
    /// Bytes of what the agent writes beside each item of its history and counts with it, as the log's last items have it; 0 where there are none.
    pub item_bytes: u32,
    /// The project that the session is of: [`project`] of what the log names. `None` where it names none.
    pub project: Option<Project>,
    /// The log itself shows that it begins in the middle: its first message goes on from one that it does not hold.
    pub begins_in_middle: bool,
    /// Calls with usage that belong to no message of the conversation (titles, checks). Counted in corpus totals, not replayed.
    pub side_calls: Vec<Call>,
    /// Calls of sub-agents that this log only mirrors: they are counted where no log of the sub-agent's own holds them, and never replayed.
    /// Their id is that of the message, so that they are known there.
    pub mirrored: Vec<Call>,
}

impl Transcript {
    /// The model that made most of the session's calls; the earlier one at a tie.
    pub fn main_model(&self) -> Option<String> {
        let calls = self.messages.each().filter_map(|message| Some(message.call.as_ref()?.model.clone()));
        most_frequent(calls.filter(|model| !model.is_empty()))
    }
}

/// The project that a session belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Enough to know sessions of one project by, and not where it lies.
    pub number: u64,
    /// The folder or name by which the log has it; `None` where it has the number alone.
    pub folder: Option<String>,
}

/// A project by its folder or name; `None` for an empty one.
pub fn project(name: &str) -> Option<Project> {
    let name = name.trim().trim_end_matches(['/', '\\']);
    (!name.is_empty()).then(|| Project { number: xxh3_64(name.as_bytes()), folder: Some(name.to_owned()) })
}

/// The name that comes most often; the earlier one at a tie, `None` of none.
pub fn most_frequent<T: Hash + Eq>(names: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: HashMap<T, (u64, Reverse<usize>)> = HashMap::new();
    for (place, name) in names.enumerate() {
        counts.entry(name).or_insert((0, Reverse(place))).0 += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name)
}

/// Something that a reader could not use: counted and shown, never passed over in silence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// What was wrong, as a short sentence without any of the file's content.
    pub reason: String,
    /// How often this reason was met.
    pub count: u64,
    /// The first place, as a line number (or record number) from 1; 0 where it has none.
    pub first_line: u64,
}
