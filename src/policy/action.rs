//! What a rule does, in the words of a policy file. How it is done is the business of `sim`.

use super::newest::Newest;
use super::switch::Switch;
use crate::estimate::{Extent, Unit};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Replace an item by a placeholder.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mask {
    /// Placeholder that stands in the context for the item's text.
    pub text: String,
    /// Ends of the original that stay around the placeholder: the first preview that names the item's tool counts. Empty: nothing stays.
    #[serde(default, deserialize_with = "one_or_several")]
    pub preview: Vec<Preview>,
}

fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Preview>, D::Error> {
    struct Previews;
    // No untagged choice: that would not say which key is misspelt.
    impl<'de> Visitor<'de> for Previews {
        type Value = Vec<Preview>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a preview, or a list of them")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<Preview>, A::Error> {
            Ok(vec![Preview::deserialize(MapAccessDeserializer::new(map))?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<Preview>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    deserializer.deserialize_any(Previews)
}

/// What stays of a masked item.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// Units that stay from the item's start.
    pub head: u32,
    /// Units that stay from the item's end.
    pub tail: u32,
    /// Unit of `head` and `tail`. An item of no more lines than stay keeps its text, and has no placeholder.
    pub unit: Extent,
    /// The tools whose results it is for; empty for all.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// Cut an item that is larger than a limit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Truncate {
    /// Items of at most this many units stay whole.
    pub max: Option<u64>,
    /// Units that a cut item keeps; `max` where absent.
    pub keep: Option<u64>,
    /// Unit of `max` and `keep`.
    pub unit: Unit,
    /// Lines that an item keeps which is cut for its size.
    pub keep_lines: Option<u64>,
    /// Lines that an item may have: one with more is cut. Absent: lines are not counted.
    pub max_lines: Option<u64>,
    /// Longer lines are cut to this many code points.
    pub max_line_chars: Option<u64>,
    /// Where a text is larger than `max`, its long lines are cut first.
    pub long_lines: Option<LongLines>,
    /// Share of what is kept that comes from the start; 1 keeps the head, 0 the tail.
    pub head: f64,
    /// Only whole lines are kept.
    pub whole_lines: Switch,
    /// What stays of a line that does not fit, where only whole lines are kept.
    pub partial_line: PartialLine,
    /// A newline at the very end ends the last line and begins none, where lines are kept whole.
    pub ignore_final_newline: Switch,
    /// What a cut does within a character.
    pub boundary: Boundary,
    /// The text that stands for what was cut; `{removed_bytes}` and the like in it are worked out.
    pub marker: String,
    /// A text in front of a cut item, with the same words.
    pub header: String,
    /// Stands for an item without text, or of blanks alone; a replay knows of the first. Empty: such an item stays as it is.
    pub empty: String,
    /// Terminal escapes and runs of blank lines are removed first.
    pub clean: Switch,
    /// Results that bear the mark of the system's own agent are cut once more: for settings below those that have left the mark.
    pub cuts_marked: Switch,
    /// A result made of several texts is cut text by text; where absent, its texts are cut as one, joined by newlines. A replay has
    /// the joined text alone.
    pub texts: Option<Texts>,
}

/// Lines of a text that is too large. Where it is not any more once they are cut, that is all that happens to it; otherwise the text is cut
/// as it was.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongLines {
    /// Lines of more units than this are cut to it, their ends included.
    pub max: u64,
    /// Stands at the end of what is left of a line, within that limit.
    #[serde(default)]
    pub marker: String,
    /// A line behind a text that stays so, with the words of a cut's marker.
    #[serde(default)]
    pub footer: String,
}

/// Several texts within one limit, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// Each text takes a whole number of so many units from the limit (Codex counts tokens of four bytes).
    pub grain: u64,
    /// The text that stands for those that found no room, with `{omitted}` for their number.
    pub omitted: String,
}

impl Default for Truncate {
    fn default() -> Truncate {
        Truncate {
            max: None,
            keep: None,
            unit: Unit::default(),
            keep_lines: None,
            max_lines: None,
            max_line_chars: None,
            long_lines: None,
            head: 1.0,
            whole_lines: Switch::Off,
            partial_line: PartialLine::None,
            ignore_final_newline: Switch::Off,
            boundary: Boundary::Whole,
            marker: String::new(),
            header: String::new(),
            empty: String::new(),
            clean: Switch::Off,
            cuts_marked: Switch::Off,
            texts: None,
        }
    }
}

/// What stays of a line that does not fit, where only whole lines are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "WrittenLine")]
pub enum PartialLine {
    /// A line that does not fit is left out.
    #[default]
    None,
    /// The end of the last line, where not even that fits whole (pi).
    Last,
    /// At either end as much as has room, with this mark where the line is cut. A line takes its newline with it, what the start leaves
    /// goes to the end, and where the text has fewer lines than the limit, the share of the start is of its own (Qwen Code).
    Marked(String),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a boolean, or a table with the key `marker`")]
enum WrittenLine {
    Switch(Switch),
    Marked(LineMarker),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineMarker {
    marker: String,
}

impl From<WrittenLine> for PartialLine {
    fn from(written: WrittenLine) -> PartialLine {
        match written {
            WrittenLine::Switch(Switch::On) => PartialLine::Last,
            WrittenLine::Switch(Switch::Off) => PartialLine::None,
            WrittenLine::Marked(LineMarker { marker }) => PartialLine::Marked(marker),
        }
    }
}

/// What a cut does that meets the midst of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// The character goes as a whole.
    #[default]
    Whole,
    /// A part of it stays (bytes of a Go string, half a surrogate pair of JavaScript).
    Split,
}

/// Remove messages without a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Drop {
    /// Text put in their place, with `{dropped}` for the number of messages; empty for none.
    pub marker: String,
    /// Where the marker stands.
    pub place: Place,
    /// Role of the message that holds the marker.
    pub role: SummaryRole,
}

impl Drop {
    /// The text in the place of so many messages.
    pub fn marker_for(&self, dropped: usize) -> String {
        self.marker.replace("{dropped}", &dropped.to_string())
    }
}

/// Replace messages by a summary.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Summarise {
    /// Where the summary stands in the prompt.
    pub place: Place,
    /// Role of the message that holds the summary.
    pub role: SummaryRole,
    /// What the summariser reads.
    pub input: Input,
    /// It reads the newest of what goes alone, where its input is the selection. Absent: it reads all of it.
    pub newest: Option<Newest>,
    /// Tokens of the instruction that goes with it.
    pub prompt_tokens: u64,
    /// Tokens of a summary of this rule; absent: as large as those of the policy.
    pub tokens: Option<u64>,
    /// Tool results are cut to so many UTF-16 units for the summariser; 0 for no cut.
    pub tool_cap_utf16: u32,
    /// What such a cut does that meets the midst of a surrogate pair.
    pub tool_boundary: Boundary,
    /// The text behind a result that is cut so, with the words of a cut's marker.
    pub tool_marker: String,
    /// Is there one summary for all, or several?
    pub per: Per,
    /// Calls that one summary takes: each after the first reads the text again, and the summary before.
    pub calls: u32,
    /// Where no more user and assistant messages than this go, one call is enough. Else all calls but the last read a part each, and that one
    /// their summaries. 0: the calls do not share the text.
    pub calls_above: u64,
    /// Where the request does not fit the model's window.
    pub on_overflow: SummariserOverflow,
    /// Text around the summary: prefixes, file lists.
    pub wrapper_tokens: u64,
    /// What stays beside the summary stays as text in its message: results of tools cut so, errors whole, reasoning and pictures gone. Absent: as it is.
    pub flatten: Option<Truncate>,
    /// The summary is written and paid for, and thrown away: what it is of stays (aider).
    pub discard: Switch,
}

impl Default for Summarise {
    fn default() -> Summarise {
        Summarise {
            place: Place::Head,
            role: SummaryRole::User,
            input: Input::Context,
            newest: None,
            prompt_tokens: 300,
            tokens: None,
            tool_cap_utf16: 0,
            tool_boundary: Boundary::Split,
            tool_marker: String::new(),
            per: Per::All,
            calls: 1,
            calls_above: 0,
            on_overflow: SummariserOverflow::Fail,
            wrapper_tokens: 0,
            flatten: None,
            discard: Switch::Off,
        }
    }
}

/// What one of a rule's summaries covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// All that goes, in one summary.
    #[default]
    All,
    /// Of one tool's result and its call: each has a request and a summary of its own, which stands in its place (goose).
    Pair,
    /// Of so many tokens: longer texts are summarised in pieces, and the summaries of these in turn, down to one (Kilo).
    Tokens(u64),
}

/// Where a text of the policy stands in the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Where the first of the messages stood that it takes the place of, behind older ones that stay; without any, after the system messages.
    #[default]
    Head,
    /// After everything that was kept.
    End,
    /// In front of the newest reply.
    BeforeReply,
    /// In the system prompt: it is no message of the history, and a new summary takes the place of the old one (PicoClaw).
    SystemPrompt,
}

/// Role of the message that holds a text of the policy: a summary, a marker, an injection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryRole {
    /// A message of role `system`.
    System,
    /// A message of role `user`.
    #[default]
    User,
    /// A message of role `assistant`, as if the model had written it.
    Assistant,
}

/// What the summariser reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// The whole request as it stands, system prompt and hidden tools included, and the instruction.
    #[default]
    Context,
    /// The request up to the end of what is to be replaced, system prompt and hidden tools included, and the instruction.
    Head,
    /// All messages, and the instruction, without the system prompt and tools: no cache holds the head of such a request.
    Messages,
    /// What is to be replaced, and the instruction.
    Selection,
    /// User and assistant text of what is to be replaced, and the instruction.
    Prose,
    /// The same with the results of tools, each text cut to so many code points (OpenHands).
    Previews(u32),
}

/// What happens to a summariser's request that is larger than the window.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummariserOverflow {
    /// The request is refused, and nothing changes.
    #[default]
    Fail,
    /// The oldest items are left out until it fits, a call with its result, while more than one is left; each refused try is counted.
    DropOldest,
    /// The newest messages within such a share of the estimated tokens stay, after each refusal within the next one of these shares of
    /// what the try before held (Kimi Code). After the last of them it is refused for good.
    Keep(Vec<f64>),
    /// Such a share of the tools' results is left out, from the middle outwards, after each refusal the next one (goose). After the last
    /// of them the request fails.
    WithoutResults(Vec<f64>),
}

/// Text put in by the policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inject {
    /// Name of the text in reports.
    pub what: String,
    /// Tokens of the text; a text that a program wrote has the size that it has.
    pub tokens: u64,
    /// Role of the message that holds the text.
    #[serde(default)]
    pub role: SummaryRole,
    /// Where the text stands in the prompt.
    #[serde(default = "at_the_end")]
    pub place: Place,
    /// Does it open a turn, as what a user writes does?
    #[serde(default)]
    pub opens_turn: Switch,
    /// Results that it brings back beside its own tokens: Claude Code reads files again (documentation of 2026-10-19, "What survives compaction").
    pub results: Option<Returning>,
}

/// Results whose text comes back, as they stood before the rule acted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Returning {
    /// Names of their tools, letter case aside.
    pub tools: Vec<String>,
    /// Names of the tools whose calls hold the text themselves, as those do that write a file.
    #[serde(default)]
    pub written: Vec<String>,
    /// The newest of them come, so many at most; of what is shown again later the later one.
    pub last: u64,
    /// Tokens of each at most.
    pub each: u64,
    /// Tokens of what stands for a larger one; without it the larger one is cut.
    pub larger: Option<u64>,
}

fn at_the_end() -> Place {
    Place::End
}
