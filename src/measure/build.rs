//! Rows from messages: names become indices, ids become keys, texts have been numbers since they were read.

use super::pieces::Pieces;
use super::{limit, prints, readings, references, repetition, thinking, truth, unseen};
use crate::catalog::{Catalog, Family, Model};
use crate::estimate::Vocabulary;
use crate::trace::{BaseFrom, CallRow, CompactionRow, Key, MessageRow, PartKind, PartRow, Parts, Trace, Unseen};
use crate::transcript::{Call, Compaction, Image, Length, Message, Part, Text, Transcript};
use crate::units::Index;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// What measuring needs to know beside the transcript.
#[derive(Clone, Copy)]
pub struct Measure<'a> {
    /// The models that the names in logs are looked up in.
    pub catalog: &'a Catalog,
    /// The model to take for every call, instead of what the log names.
    pub model: Option<&'a Model>,
    /// The vocabulary that the texts were counted in. Where it is not the model's own, the family's factor applies.
    pub vocabulary: Vocabulary,
}

/// Measures a transcript that was read from `source`.
pub fn trace(mut transcript: Transcript, source: &str, measure: Measure<'_>) -> Trace {
    // The walks below go through them in the order of the messages.
    transcript.compactions.sort_by_key(|event| event.before);
    let unseen = unseen::make_room(&mut transcript);
    let sizes = transcript.messages.sizes();
    let mut builder = Builder { pieces: Pieces::with_room(sizes.parts, sizes.units), ..Builder::default() };
    let agent = transcript.agent.clone();
    let mut turn = 0;
    let mut last_model: Option<u32> = None;
    // Memory that is not written yet costs nothing; a list that grows is copied again and again.
    builder.trace.messages.reserve_exact(transcript.messages.len());
    builder.trace.calls.reserve_exact(sizes.calls);
    builder.trace.parts = Parts::with_capacity(sizes.parts);
    for mut message in transcript.messages {
        let call = message.call.take();
        builder.copies.push(message.copy_of.is_some());
        let row = builder.message(message, call.as_deref(), &agent, &mut turn);
        builder.trace.messages.push(row);
        if let Some(call) = call {
            let row = builder.call(&call, &agent, last_model);
            last_model = row.model.get().or(last_model);
            builder.trace.calls.push(row);
        }
    }
    let Builder { mut trace, pieces, copies, calls, .. } = builder;
    trace.agent = agent.clone();
    references::find(&mut trace, &pieces, &transcript.compactions, &copies);
    repetition::find(&mut trace, &pieces, &copies);
    readings::find(&mut trace, &pieces, &copies);
    trace.prints = prints::of(&trace, &pieces, &calls);
    trace.paths = pieces.paths().collect();
    trace.messages.shrink_to_fit();
    trace.parts.shrink_to_fit();
    trace.calls.shrink_to_fit();
    trace.compactions = transcript.compactions.iter().map(|compaction| compaction_row(compaction, &trace.messages, &agent)).collect();
    let beside = |calls: &[Call]| calls.iter().filter_map(|call| Some((call.usage?, key(&agent, &call.id, None)))).collect();
    trace.side_calls = beside(&transcript.side_calls);
    trace.mirrored = beside(&transcript.mirrored);
    trace.id = transcript.id;
    trace.parent = transcript.parent;
    trace.takes_up = transcript.takes_up;
    trace.copied = transcript.copied;
    trace.version = transcript.version;
    trace.window = transcript.window;
    trace.host = transcript.host;
    trace.item_bytes = transcript.item_bytes;
    trace.project = transcript.project.as_ref().map(|project| project.number);
    trace.folder = transcript.project.and_then(|project| project.folder);
    if let Some(row) = unseen.and_then(|place| trace.messages.get_mut(place)) {
        // It is no message of the log, and counts as none.
        row.copy = true;
    }
    trace.unseen = unseen.map(|place| Unseen { message: place as u32, tokens: 0, base: BaseFrom::Unknown });
    // A compaction that came last has taken it away.
    trace.refused = transcript.refused && transcript.compactions.iter().all(|event| event.before < trace.messages.len());
    trace.refusals = transcript.refusals.iter().map(|place| *place as u32).collect();
    trace.printed = transcript.printed;
    trace.source = source.to_owned();
    let model = measure.model.or_else(|| trace.main_model().and_then(|model| measure.catalog.find(model)));
    let weights = weights(&trace, model, measure);
    let fate = thinking::fate(&trace, &weights, model.map(|model| model.thinking).unwrap_or_default());
    limit::mark(&mut trace);
    truth::assign(&mut trace, &weights, fate, transcript.overhead);
    unseen::settle(&mut trace);
    trace
}

/// How many messages have a time that says nothing, and are measured without it.
pub fn impossible_times(transcript: &Transcript) -> u64 {
    transcript.messages.sizes().timeless as u64
}

#[derive(Default)]
struct Builder {
    trace: Trace,
    pieces: Pieces,
    /// Which messages are second showings of earlier ones.
    copies: Vec<bool>,
    /// Where the calls stand, by the hashes of their ids.
    calls: FxHashMap<u64, u32>,
    /// The numbers of tools and models.
    tools: FxHashMap<String, u32>,
    models: FxHashMap<String, u32>,
}

impl Builder {
    fn message(&mut self, message: Message, call: Option<&Call>, agent: &str, turn: &mut u32) -> MessageRow {
        let (time, first_part) = (message.possible_time(), self.trace.parts.len() as u32);
        let shows_reasoning = message.parts.iter().any(|part| matches!(part, Part::Thinking { .. }));
        for part in message.parts {
            let row = self.part(part);
            self.push(row);
        }
        // Reasoning that is billed but not shown needs a place to stand in.
        let reasoning = call.and_then(|call| call.usage).and_then(|usage| usage.reasoning).unwrap_or(0);
        if reasoning > 0 && !shows_reasoning {
            self.push(plain(PartKind::Thinking, Text::default()));
        }
        let row = MessageRow {
            role: message.role,
            first_part,
            part_count: self.trace.parts.len() as u32 - first_part,
            time: time.into(),
            turn: 0,
            rewind: message.rewind.map(|index| index as u32).into(),
            copy: message.copy_of.is_some(),
            synthetic: message.synthetic,
            key: key(agent, &message.id, time),
            reported_reasoning: u32::try_from(reasoning).unwrap_or(u32::MAX),
        };
        *turn += u32::from(row.opens_turn() && !row.copy);
        MessageRow { turn: *turn, ..row }
    }

    fn push(&mut self, mut row: PartRow) {
        self.pieces.push(row.kind, row.text.evidence.take());
        self.trace.parts.push(row);
    }

    fn part(&mut self, part: Part) -> PartRow {
        match part {
            Part::Text(text) => plain(PartKind::Text, text),
            Part::Other(text) => plain(PartKind::Other, text),
            Part::Tools(text) => plain(PartKind::Tools, text),
            Part::Thinking { text, sealed_bytes } => PartRow { sealed_bytes, ..plain(PartKind::Thinking, text) },
            Part::ToolCall { id, name, arguments } => {
                let id_bytes = id.len() as u32;
                self.calls.insert(xxh3_64(id.as_bytes()), self.trace.parts.len() as u32);
                PartRow { tool: self.tool(&name).into(), name: length(&name).into(), id_bytes, ..plain(PartKind::ToolCall, arguments) }
            }
            Part::ToolResult { call_id, name, text, error } => {
                let answers = self.calls.get(&xxh3_64(call_id.as_bytes())).copied().filter(|_| !call_id.is_empty());
                let id_bytes = call_id.len() as u32;
                PartRow {
                    tool: self.tool(&name).into(),
                    name: length(&name).into(),
                    id_bytes,
                    error,
                    answers: answers.into(),
                    ..plain(PartKind::ToolResult, text)
                }
            }
            Part::Image(image) => PartRow { image: image.into(), ..plain(PartKind::Image, Text::default()) },
        }
    }

    fn tool(&mut self, name: &str) -> Option<u32> {
        (!name.is_empty()).then(|| index_of(&mut self.tools, &mut self.trace.tools, name))
    }

    fn call(&mut self, call: &Call, agent: &str, last_model: Option<u32>) -> CallRow {
        let model = (!call.model.is_empty()).then(|| index_of(&mut self.models, &mut self.trace.models, &call.model));
        let same_model = model.is_none() || last_model.is_none() || model == last_model;
        CallRow {
            message: self.trace.messages.len() as u32 - 1,
            model: model.into(),
            usage: call.usage.into(),
            hidden: 0,
            visible: 0,
            missing: 0,
            output: call.output.unwrap_or(0),
            chained: same_model && !call.unchained,
            covers: false,
            predicted_growth: Index::default(),
            key: key(agent, &call.id, self.trace.messages.last().and_then(|message| message.time.get())),
        }
    }
}

fn plain(kind: PartKind, text: Text) -> PartRow {
    PartRow { text, ..PartRow::stand_in(kind, 0) }
}

fn compaction_row(compaction: &Compaction, messages: &[MessageRow], agent: &str) -> CompactionRow {
    CompactionRow {
        before: compaction.before as u32,
        kept_from: compaction.kept_from.map(|message| message as u32),
        taken: compaction.taken.iter().filter_map(|(message, part)| messages.get(*message)?.part(*part)).collect(),
        kind: compaction.kind,
        automatic: compaction.automatic,
        by_extension: compaction.by_extension,
        behind_gap: compaction.behind_gap,
        between_turns: compaction.between_turns,
        tokens_before: compaction.tokens_before,
        tokens_after: compaction.tokens_after,
        duration_ms: compaction.duration_ms,
        incompatible: compaction.incompatible,
        summary_tokens: compaction.summary.as_ref().map(|text| u64::from(text.tokens)),
        usage: compaction.call.as_ref().and_then(|call| call.usage),
        key: compaction.call.as_ref().and_then(|call| key(agent, &call.id, None)).or_else(|| key(agent, &compaction.id, None)),
        copy: false,
    }
}

/// The number of a name; a new one gets the next.
fn index_of(known: &mut FxHashMap<String, u32>, names: &mut Vec<String>, name: &str) -> u32 {
    if let Some(index) = known.get(name) {
        return *index;
    }
    let index = names.len() as u32;
    known.insert(name.to_owned(), index);
    names.push(name.to_owned());
    index
}

fn length(text: &str) -> Length {
    Length {
        bytes: text.len() as u32,
        utf16: text.encode_utf16().count() as u32,
        chars: text.chars().count() as u32,
        newlines: text.bytes().filter(|byte| *byte == b'\n').count() as u32,
    }
}

/// Ids of fewer bytes (`m1`, a number of a table's row, eight digits) tell apart what stands in one log, but not in all.
const UNIQUE: usize = 16;

/// How the ids begin that a provider draws for its responses.
const PROVIDERS: [&str; 4] = ["chatcmpl-", "msg_", "resp_", REQUEST];

/// How the ids begin that Anthropic draws for requests.
const REQUEST: &str = "req_";

/// Did a provider draw the id? Then it tells a call in the logs of all agents. Counters and scrubbed ids are short, or have few different characters.
/// Logs of requests put sizes behind the id, apart from it by a blank.
fn is_providers(id: &str) -> bool {
    let drawn = PROVIDERS.iter().find_map(|begin| id.strip_prefix(begin)).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    let different = drawn.bytes().fold(0_u128, |seen, byte| seen | 1 << (byte & 127)).count_ones();
    drawn.len() >= 20 && different >= 8
}

/// What tells a message or a call from all others of an agent, also in another file: its id, and the time of a short one; `None` of a short one without a time.
/// Of a message and a request (`msg_…/req_…`) the request: copies may have another id of the message.
fn key(agent: &str, id: &str, time: Option<i64>) -> Option<Key> {
    let id = id
        .split_once('/')
        .map(|(_, request)| request)
        .filter(|request| request.starts_with(REQUEST) && is_providers(request))
        .unwrap_or(id);
    let agent = if is_providers(id) { "" } else { agent };
    let mut bytes = Vec::with_capacity(agent.len() + id.len() + 10);
    [agent, "\0", id].iter().for_each(|text| bytes.extend_from_slice(text.as_bytes()));
    if id.len() < UNIQUE {
        bytes.push(0);
        bytes.extend_from_slice(&time?.to_le_bytes());
    }
    Key::new(xxh3_128(&bytes)).filter(|_| !id.is_empty())
}

/// The public vocabulary of a model, where it has one that can be counted in.
pub fn own_vocabulary(model: &Model) -> Option<Vocabulary> {
    let name = serde_json::to_value(model.vocabulary?).ok()?;
    Vocabulary::by_name(name.as_str()?)
}

/// What each part is expected to cost, in thousandths of a token: public tokenizer counts by the family's factor, pictures by the
/// family's rule, and the wrapping of a message on its first part.
fn weights(trace: &Trace, model: Option<&Model>, measure: Measure<'_>) -> Vec<u64> {
    let unknown = measure.catalog.family(Family::Other);
    let factor = match model {
        Some(model) if own_vocabulary(model) == Some(measure.vocabulary) => 1000,
        Some(model) => model.tokens_per_1000_o200k,
        None => unknown.tokens_per_1000_o200k,
    };
    let per_message = model.map_or(unknown.per_message, |model| model.per_message) * 1000;
    let mut weights = Vec::with_capacity(trace.parts.len());
    let unseen = trace.unseen.map(|unseen| unseen.message);
    for (place, message) in (0..).zip(&trace.messages) {
        let per_message = if unseen == Some(place) { 0 } else { per_message };
        for (index, part) in trace.parts_of(message).enumerate() {
            let tokens = u64::from(part.text.tokens);
            let own = match part.kind {
                PartKind::Image => {
                    let Image { width, height, .. } = part.image.get();
                    1000 * model.map_or_else(|| unknown.image.tokens(width, height), |model| model.image_tokens(width, height))
                }
                PartKind::ToolCall => (tokens + u64::from(part.name.get().bytes.div_ceil(4)) + truth::CALL_WRAPPER) * factor,
                // Base64 of an opaque blob: about four characters for three bytes, four bytes of text a token.
                PartKind::Thinking if tokens == 0 => u64::from(part.sealed_bytes) * 3 / 16 * 1000,
                _ => tokens * factor,
            };
            weights.push(own + if index == 0 { per_message } else { 0 });
        }
    }
    weights
}
