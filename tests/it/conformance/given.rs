//! What a vector gives, as the program would have read it: messages of a trace, texts measured, nothing else.

use crate::made;
use ctxsim::policy::{Plan, Policy};
use ctxsim::sim::{Conditions, Guesses, Probe, Refetching, Standing};
use ctxsim::trace::{CallRow, MessageRow, PartKind, PartRow, Trace};
use ctxsim::transcript::{Length, Role, Text};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The world of a vector: a window that refuses nothing.
pub const ENDLESS: Conditions = Conditions {
    window: u64::MAX / 4,
    prompt_limit: u64::MAX / 4,
    reserve: None,
    recorded_summary: None,
    guesses: Guesses::Own,
    refetch: Refetching::Never,
    names_all_lost: false,
};

/// A change of one parameter of one preset, for the test that such a change is noticed.
#[derive(Clone, Debug)]
pub struct Mutation {
    pub preset: &'static str,
    pub parameter: String,
    pub value: String,
}

thread_local! {
    /// The change in force on this thread.
    static MUTATION: RefCell<Option<Mutation>> = const { RefCell::new(None) };
    /// The presets that were asked for on this thread.
    static ASKED: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// What something comes to, and the presets that it asks for: no change of another one can matter to it.
pub fn presets_of<T>(run: impl FnOnce() -> T) -> (T, BTreeSet<&'static str>) {
    ASKED.take();
    (run(), ASKED.take())
}

/// Runs something while one parameter of one preset is another.
pub fn with_mutation<T>(mutation: &Mutation, run: impl FnOnce() -> T) -> T {
    MUTATION.set(Some(mutation.clone()));
    let result = run();
    MUTATION.set(None);
    result
}

/// A preset for these facts. A setting that says what the preset says by itself is left to the preset, so that vectors with a
/// system's own numbers try the numbers of the preset.
pub fn plan(preset: &'static str, facts: ctxsim::policy::Facts, settings: &[(&str, &Value)]) -> Plan {
    ASKED.with_borrow_mut(|asked| asked.insert(preset));
    let mut policy = Policy::load(preset).unwrap();
    let given: Vec<_> = settings.iter().filter(|(_, value)| !value.is_null()).collect();
    let differs = |name: &str, value: &Value| {
        let own = &policy.params.get(name).unwrap_or_else(|| panic!("{preset} has no parameter {name}")).value;
        let number = own.as_integer().map(|number| number as f64).or(own.as_float());
        number.is_none() || number != value.as_f64().or(value.as_bool().map(|yes| f64::from(u8::from(yes))))
    };
    let differing: Vec<_> = given.into_iter().filter(|(name, value)| differs(name, value)).collect();
    MUTATION.with_borrow(|mutation| {
        if let Some(mutation) = mutation.as_ref().filter(|mutation| mutation.preset == preset) {
            policy.set(&mutation.parameter, &mutation.value).unwrap();
        }
    });
    for (name, value) in differing {
        policy.set(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str()).unwrap();
    }
    policy.plan(&facts).unwrap()
}

/// Expands `{"$rep": [unit, count]}` and `{"$cat": [...]}` wherever they stand.
pub fn expanded(value: &Value) -> Value {
    match value {
        Value::Object(map) if map.contains_key("$rep") => {
            let unit = expanded(&map["$rep"][0]);
            Value::String(unit.as_str().unwrap().repeat(map["$rep"][1].as_u64().unwrap() as usize))
        }
        Value::Object(map) if map.contains_key("$cat") => {
            Value::String(map["$cat"].as_array().unwrap().iter().map(|part| expanded(part).as_str().unwrap().to_owned()).collect())
        }
        Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), expanded(value))).collect()),
        Value::Array(values) => Value::Array(values.iter().map(expanded).collect()),
        other => other.clone(),
    }
}

/// The string, or none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// The items of an array; none where there is no array.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A measured text.
pub fn weigh(text: &str) -> Text {
    let json = Value::from(text).to_string();
    let non_ascii = if text.is_ascii() { 0 } else { text.chars().filter(|letter| !letter.is_ascii()).count() as u32 };
    Text { length: Length::of(text), tokens: text.len() as u32 / 4, json_bytes: json.len() as u32 - 2, non_ascii, ..Text::default() }
}

/// A part of this kind.
pub fn part(kind: PartKind, text: &str) -> PartRow {
    PartRow { text: weigh(text), ..made::part(kind) }
}

/// A tool call.
pub fn call(name: &str, arguments: &str) -> PartRow {
    PartRow { name: Length::of(name).into(), ..part(PartKind::ToolCall, arguments) }
}

/// A conversation.
#[derive(Default)]
pub struct Given {
    pub trace: Trace,
    standings: Vec<Standing>,
    masked: Vec<u32>,
}

impl Given {
    /// A message is added; its index.
    pub fn push(&mut self, role: Role, parts: Vec<PartRow>) -> u32 {
        let (first_part, part_count) = (self.trace.parts.len() as u32, parts.len() as u32);
        let row = MessageRow { first_part, part_count, turn: 0, ..made::message(role) };
        self.trace.parts.extend(parts);
        self.trace.messages.push(row);
        self.standings.push(Standing::Recorded);
        self.trace.messages.len() as u32 - 1
    }

    /// The message that was added last is a summary.
    pub fn is_summary(&mut self) {
        *self.standings.last_mut().unwrap() = Standing::Summary;
    }

    /// The message that was added last is a summary, and stands in front of those before it.
    pub fn is_summary_in_front(&mut self) {
        *self.standings.last_mut().unwrap() = Standing::SummaryInFront;
    }

    /// The part that was added last has been masked before.
    pub fn is_masked(&mut self, part: u32) {
        self.masked.push(part);
    }

    /// The conversation before a policy, with all messages in it.
    pub fn probe<'a>(&'a self, plan: &'a Plan, conditions: &'a Conditions) -> Probe<'a> {
        let mut probe = Probe::new(&self.trace, plan, conditions);
        for (message, standing) in self.standings.iter().enumerate() {
            probe.enter(message as u32, *standing);
        }
        self.masked.iter().for_each(|item| probe.mask(*item));
        probe
    }

    /// How a message stands in the context.
    pub fn standing(&self, message: usize) -> Standing {
        self.standings[message]
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.trace.messages.len()
    }
}

/// Messages in the shape of OpenAI chat, as BaseAgent and PicoClaw keep them.
pub fn chat(messages: &[Value]) -> Given {
    let mut given = Given::default();
    for message in messages {
        let role = match text(&message["role"]) {
            "system" => Role::System,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::User,
        };
        let kind = if role == Role::Tool { PartKind::ToolResult } else { PartKind::Text };
        let mut parts: Vec<PartRow> = match &message["content"] {
            Value::Array(blocks) => blocks.iter().filter(|block| block.is_object()).flat_map(|block| chat_block(kind, block)).collect(),
            content => {
                let words = longer_prompt(text(content), list(&message["system_parts"]));
                vec![PartRow { id_bytes: text(&message["tool_call_id"]).len() as u32, ..part(kind, &words) }]
            }
        };
        parts.extend(message["reasoning_content"].as_str().map(|text| part(PartKind::Thinking, text)));
        for given in list(&message["tool_calls"]) {
            let function = &given["function"];
            let name = if function.is_object() { &function["name"] } else { &given["name"] };
            let id_bytes = text(&given["id"]).len() as u32;
            let arguments = match &function["arguments"] {
                Value::Object(_) => function["arguments"].to_string(),
                arguments => text(arguments).to_owned(),
            };
            parts.push(PartRow { id_bytes, ..call(text(name), &arguments) });
        }
        parts.extend(list(&message["media"]).iter().map(|_| part(PartKind::Image, "")));
        given.push(role, parts);
    }
    given
}

/// PicoClaw keeps a system prompt as one text and as parts, and counts whichever is longer, parts with twenty characters each.
fn longer_prompt(content: &str, parts: &[Value]) -> String {
    let joined: String = parts.iter().map(|part| format!("{}{}", text(&part["text"]), " ".repeat(20))).collect();
    if joined.chars().count() > content.chars().count() { joined } else { content.to_owned() }
}

/// A block of a content list: BaseAgent counts the text of any block, and a picture beside it.
fn chat_block(kind: PartKind, block: &Value) -> Vec<PartRow> {
    let image = (block["type"] == "image_url").then(|| part(PartKind::Image, ""));
    let words = block["text"].as_str().map(|text| part(kind, text));
    words.into_iter().chain(image).collect()
}

/// Roles of what stands in a context, a letter each.
pub fn roles(context: &ctxsim::context::Context) -> String {
    let letter = |role: Role| match role {
        Role::System => 's',
        Role::User => 'u',
        Role::Assistant => 'a',
        Role::Tool => 't',
    };
    context.live().map(|(_, entry)| letter(entry.role)).collect()
}

/// The call of a reply, its prompt of this size whatever stands in the context.
pub fn reply_row(message: u32, hidden: u64) -> CallRow {
    CallRow { hidden, ..made::call(message) }
}
