//! A message, its parts and its call.

use super::evidence::Evidence;
use super::kept::KeptText;
use super::length::{Length, Step};
use super::lines::Lines;
use super::steps::Steps;
use serde::{Deserialize, Serialize};

/// What was measured of a text, and its words where the caller needs them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The text's length in each unit.
    pub length: Length,
    /// Its exact token count in the vocabulary of the [`Scale`](super::Scale).
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
    /// The first byte of each of the long lines. Empty in files from before it was measured.
    #[serde(default)]
    pub long_starts: Box<[u32]>,
}

/// A line of more code points than this is listed in [`Shape::long_lines`].
pub const LONG_LINE: u32 = 400;

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

    /// Its time; `None` of one before 1970 or after 2199, when no message was written.
    pub fn possible_time(&self) -> Option<i64> {
        self.time.filter(|time| (0..7_258_118_400_000).contains(time))
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
    /// The provider itself said what was read from its cache and written to it, or the request asked for no cache: then a 0 is a count. Agents that keep numbers of their own
    /// write a 0 for what is not reported, too.
    pub counts_cache: bool,
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

/// Where recorded usage comes from. Only `Provider` anchors truth; a bill goes by `Beyond` and `Shared` as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The provider's own response.
    #[default]
    Provider,
    /// A local estimate of the agent.
    Estimated,
    /// Of a part of the prompt alone, or of other requests too.
    Partial,
    /// A mock server, which makes its numbers up.
    Mock,
    /// The provider's, of a prompt that is not all in the log: of an attached file, of what its own tools found.
    Beyond,
    /// A share of what the provider counted of many calls together: the sum is recorded, the share is an estimate.
    Shared,
}
