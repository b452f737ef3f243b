//! What was kept, and what was forgotten: what has become of the evidence of references.

use super::sums::merge;
use crate::context::{Context, Ends, Presence};
use crate::names::named;
use crate::trace::{Evidence, PartKind, PartRow, Place, Reference, Trace};
use crate::transcript::{Role, Standing};
use crate::units::{add_fields, adds};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::AddAssign;

named! {
    /// What has become of the evidence of a reference.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Fate: name {
        /// All of the evidence is there: in one of its sources, or in what several parts hold together.
        Kept = "kept",
        /// A summary took the evidence's place, which it may hold or not.
        Summarised = "summarised",
        /// The evidence, or some of it, was cut away from its text.
        Truncated = "truncated",
        /// A placeholder stands for the text with the evidence.
        Cleared = "cleared",
        /// The message with the evidence was removed.
        Dropped = "dropped",
    }
}

named! {
    /// What kind of text a reference goes back to, in the order of reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Category: name {
        /// What the user wrote.
        UserWords = "user's words",
        /// Results that are errors.
        Errors = "errors",
        /// Calls by which the model changed something: edits, patches, files written.
        Edits = "edits",
        /// What the model wrote.
        Decisions = "decisions",
        /// Results of tools that are no errors.
        ToolResults = "tool results",
        /// Calls that changed nothing, as far as their tools' names tell.
        OtherCalls = "other calls",
        /// Instructions and tool definitions.
        Instructions = "instructions",
    }
}

impl Category {
    /// What a part of a trace is.
    pub fn of(trace: &Trace, part: u32) -> Category {
        let Some(row) = trace.parts.get(part as usize) else { return Category::Instructions };
        let role = trace.message_of(part).and_then(|message| trace.messages.get(message as usize)).map(|row| row.role);
        Category::of_part(&row, role, || changes(trace, row.tool.get()))
    }

    /// What each part of a trace is.
    pub(super) fn of_all(trace: &Trace) -> Vec<Category> {
        let changing: Vec<bool> = (0..trace.tools.len() as u32).map(|tool| changes(trace, Some(tool))).collect();
        let by_changing = |row: &PartRow| row.tool.get().and_then(|tool| changing.get(tool as usize)).copied().unwrap_or(false);
        let mut categories = vec![Category::Instructions; trace.parts.len()];
        for message in &trace.messages {
            let places = categories.iter_mut().skip(message.first_part as usize);
            for (place, row) in places.zip(trace.parts_of(message)) {
                *place = Category::of_part(&row, Some(message.role), || by_changing(&row));
            }
        }
        categories
    }

    fn of_part(row: &PartRow, role: Option<Role>, changes: impl Fn() -> bool) -> Category {
        match (row.kind, role) {
            (PartKind::Tools, _) | (_, Some(Role::System) | None) => Category::Instructions,
            (PartKind::ToolResult, _) if row.error => Category::Errors,
            (PartKind::ToolResult, _) | (_, Some(Role::Tool)) => Category::ToolResults,
            (PartKind::ToolCall, _) if changes() => Category::Edits,
            (PartKind::ToolCall, _) => Category::OtherCalls,
            (_, Some(Role::User)) => Category::UserWords,
            (_, Some(Role::Assistant)) => Category::Decisions,
        }
    }
}

/// Does a tool's name say that it changes files?
fn changes(trace: &Trace, tool: Option<u32>) -> bool {
    let name = tool.and_then(|tool| trace.tools.get(tool as usize)).map(|name| name.to_lowercase()).unwrap_or_default();
    ["edit", "write", "patch", "replace", "insert", "create"].iter().any(|word| name.contains(word))
}

/// References by what has become of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fates {
    /// References whose evidence stands in the context.
    pub kept: u64,
    /// References whose evidence a summary took the place of: at risk, for the summary may hold it.
    pub summarised: u64,
    /// References whose evidence was cut away from its text.
    pub truncated: u64,
    /// References whose evidence a placeholder stands for.
    pub cleared: u64,
    /// References whose evidence was removed with its message.
    pub dropped: u64,
}

impl Fates {
    /// All references that were judged.
    pub fn all(&self) -> u64 {
        self.kept + self.broken()
    }

    /// Those whose evidence is not there any more, summarised ones included.
    pub fn broken(&self) -> u64 {
        self.summarised + self.truncated + self.cleared + self.dropped
    }

    pub(super) fn count(&mut self, fate: Fate) {
        *match fate {
            Fate::Kept => &mut self.kept,
            Fate::Summarised => &mut self.summarised,
            Fate::Truncated => &mut self.truncated,
            Fate::Cleared => &mut self.cleared,
            Fate::Dropped => &mut self.dropped,
        } += 1;
    }
}

adds!(Fates += Fates: kept, summarised, truncated, cleared, dropped);

/// Stands for a rule where the log itself takes text away: an imposed compaction, a rewind.
pub(super) const OF_LOG: u32 = u32::MAX;

/// What a policy kept of what was needed later. Merging is exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// By kind of evidence and kind of source.
    #[serde(serialize_with = "as_list", deserialize_with = "from_list")]
    pub fates: BTreeMap<(Evidence, Category), Fates>,
    /// Calls with a broken reference of whole lines.
    pub broken_calls: u64,
    /// Sessions of which it was asked what could have been kept.
    pub hindsight: u64,
    /// References to lines that any policy could have kept at most in contexts of the same sizes. 0 where it was not asked for.
    pub achievable: u64,
    /// References to lines that the oracle keeps in contexts of the same sizes. 0 where it was not asked for.
    pub oracle: u64,
    /// Calls with a reference to lines that the oracle does not keep. 0 where it was not asked for.
    pub oracle_broken_calls: u64,
    /// Tokens of recorded content, summed over calls.
    pub carried_tokens: u64,
    /// What a policy must carry at least to keep 99 % of the references to lines, in tokens summed over calls.
    pub needed_tokens: u64,
    /// Tokens of dead weight, summed over calls: results that something later in the context shows again.
    pub dead_tokens: u64,
    /// Broken references by kind of evidence and the rule that took the text away; `recorded` stands for the log itself.
    #[serde(serialize_with = "as_list", deserialize_with = "from_list")]
    pub by_rule: BTreeMap<(Evidence, String), Fates>,
}

/// Keys of two words are no keys of JSON: a list of pairs stands for the map.
fn as_list<K: Serialize, S: Serializer>(fates: &BTreeMap<K, Fates>, serializer: S) -> Result<S::Ok, S::Error> {
    fates.iter().collect::<Vec<_>>().serialize(serializer)
}

fn from_list<'de, K: Deserialize<'de> + Ord, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<K, Fates>, D::Error> {
    Vec::deserialize(deserializer).map(|pairs: Vec<(K, Fates)>| pairs.into_iter().collect())
}

impl Retention {
    /// The references of one kind of evidence.
    pub fn of(&self, kind: Evidence) -> Fates {
        let mut sum = Fates::default();
        self.fates.iter().filter(|((evidence, _), _)| *evidence == kind).for_each(|(_, fates)| sum += *fates);
        sum
    }

    /// Is it known what could have been kept? That may be nothing, and is where nothing was reused.
    pub fn knows_hindsight(&self) -> bool {
        self.hindsight > 0 || self.of(Evidence::Line).all() == 0
    }
}

impl AddAssign<&Retention> for Retention {
    fn add_assign(&mut self, other: &Retention) {
        add_fields!(self += other: broken_calls, hindsight, achievable, oracle, oracle_broken_calls, carried_tokens,
            needed_tokens, dead_tokens);
        merge(&mut self.fates, &other.fates);
        merge(&mut self.by_rule, &other.by_rule);
    }
}

/// A reference that a policy has broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// At which call, from 0.
    pub call: u32,
    /// The message of the log that holds the evidence, from 0.
    pub source: u32,
    /// What kind of text the evidence stood in.
    pub category: Category,
    /// The tool, for calls and results.
    pub tool: Option<String>,
    /// What the later message reuses: lines, or identifiers.
    pub kind: Evidence,
    /// How many lines or identifiers are lost. Those that still stand in the context do not count.
    pub weight: u32,
    /// What has become of those lines or identifiers.
    pub fate: Fate,
    /// The rule that took them away; `None` where no rule did.
    pub rule: Option<String>,
    /// The file or address that the source's call names. Only where paths were asked for when the log was measured.
    pub path: Option<String>,
    /// Tokens of all that arrived between the source and the message that refers to it.
    pub distance_tokens: u64,
    /// Calls between the source and the message that refers to it.
    pub distance_calls: u32,
}

/// What has become of a reference's evidence in this context.
pub fn fate(context: &Context, trace: &Trace, reference: &Reference) -> Fate {
    fate_by(trace, reference, |_, place| context.presence(place.part))
}

/// How many pieces of a reference no part shows in this context.
pub(super) fn lost(context: &Context, trace: &Trace, reference: &Reference) -> u32 {
    lost_by(trace, reference, |_, place| context.presence(place.part)).len() as u32
}

/// What has become of a reference by how each of its places stands, which are numbered from 0.
pub(super) fn fate_by(trace: &Trace, reference: &Reference, presence: impl Fn(usize, &Place) -> Presence) -> Fate {
    let (mut first, mut partial) = (None, 0);
    for (source, place) in reference.sources.iter().enumerate() {
        let presence = presence(source, place);
        let fate = fate_where(presence, trace, place);
        if fate == Fate::Kept {
            return Fate::Kept;
        }
        first = first.or(Some(fate));
        partial += u32::from(left(presence).is_some());
    }
    match first {
        // What a recorded summary of the same text repeats, a simulated one is taken to hold.
        Some(Fate::Summarised) if reference.summary.is_some() => Fate::Kept,
        // What one has lost, or never held, another may show.
        _ if (partial > 1 || !reference.beside.is_empty()) && lost_by(trace, reference, presence).is_empty() => Fate::Kept,
        first => first.unwrap_or(Fate::Dropped),
    }
}

/// The pieces of a reference, by number, that no part shows.
fn lost_by(trace: &Trace, reference: &Reference, presence: impl Fn(usize, &Place) -> Presence) -> Vec<usize> {
    let mut lost: Vec<usize> = (0..reference.weight as usize).collect();
    for (number, place) in reference.places().enumerate() {
        match (presence(number, place), left(presence(number, place))) {
            (Presence::Whole, _) => lost.retain(|piece| trace.pieces_at(place).get(*piece).is_some_and(Standing::is_nowhere)),
            (_, Some(ends)) => lost.retain(|piece| !shows(ends, trace, place, trace.pieces_at(place).get(*piece))),
            (_, None) => {}
        }
    }
    lost
}

/// What is left of a part of which not all is.
fn left(presence: Presence) -> Option<Ends> {
    match presence {
        Presence::Cut(ends) | Presence::Masked(ends) => Some(ends),
        Presence::Whole | Presence::Summarised | Presence::Gone => None,
    }
}

/// Does all of the evidence stand in what the ends of a part have kept?
pub(super) fn left_in(ends: Ends, trace: &Trace, place: &Place) -> bool {
    let pieces = trace.pieces_at(place);
    if pieces.is_empty() { shows(ends, trace, place, None) } else { pieces.iter().all(|piece| shows(ends, trace, place, Some(piece))) }
}

/// Does a piece of a part stand wholly in one of the ends that were kept, or in a stretch that was read by itself? Where it stands in the part is
/// `None` if that is not known.
fn shows(ends: Ends, trace: &Trace, place: &Place, piece: Option<&Standing>) -> bool {
    let bytes = trace.parts.get(place.part as usize).map_or(0, |part| part.text.length.bytes);
    let Some(piece) = piece else { return ends.head > 0 || (ends.tail > 0 && ends.tail >= bytes) };
    // A stretch goes from piece to piece, the last of them whole.
    let stretch = ends.stretch.is_some_and(|(first, last)| (first..=last).contains(&piece.last_start));
    !piece.is_nowhere()
        && (piece.first_end <= ends.head || (ends.tail > 0 && piece.last_start >= bytes.saturating_sub(ends.tail)) || stretch)
}

/// What has become of one source.
pub(super) fn fate_of(context: &Context, trace: &Trace, place: &Place) -> Fate {
    fate_where(context.presence(place.part), trace, place)
}

/// What has become of a source whose part stands so.
fn fate_where(presence: Presence, trace: &Trace, place: &Place) -> Fate {
    match presence {
        Presence::Whole => Fate::Kept,
        Presence::Cut(ends) | Presence::Masked(ends) if left_in(ends, trace, place) => Fate::Kept,
        Presence::Cut(_) => Fate::Truncated,
        Presence::Masked(_) => Fate::Cleared,
        Presence::Summarised => Fate::Summarised,
        Presence::Gone => Fate::Dropped,
    }
}
