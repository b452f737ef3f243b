//! Sessions in the native shape, rows of traces as they are where a test says nothing else of them, and the tables that bills are made by.

use ctxsim::catalog::{CacheRules, Catalog, Prices};
use ctxsim::cost::Tariff;
use ctxsim::sim::{CallOutcome, Outcome};
use ctxsim::trace::{CallRow, CompactionRow, HeldUsage, MessageRow, NameLength, PartKind, PartRow, Rare, Trace};
use ctxsim::transcript::{CompactionKind, Role, Text, Usage};
use ctxsim::units::{Index, Time};
use serde_json::{Value, json};
use std::path::Path;

/// A session in the native shape, line by line.
pub struct Native(pub Vec<Value>);

impl Native {
    /// One whose head says this beside what all say.
    pub fn new(mut head: Value) -> Native {
        for (key, value) in [("ctxsim", "native/1"), ("session", "s"), ("agent", "made"), ("model", "gpt-5")] {
            head.as_object_mut().unwrap().entry(key).or_insert_with(|| value.into());
        }
        Native(vec![head])
    }

    /// One more line.
    pub fn line(mut self, line: Value) -> Native {
        self.0.push(line);
        self
    }

    /// A user's words and the reply, its prompt of this size.
    pub fn asked(self, words: &str, reply: &str, prompt: u64, output: u64) -> Native {
        let reply = json!({"role": "assistant", "text": reply, "usage": {"prompt": prompt, "output": output}});
        self.line(json!({"role": "user", "text": words})).line(reply)
    }

    /// The lines of a file.
    pub fn text(&self) -> String {
        self.0.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Writes them there; the path.
    pub fn write(&self, folder: &Path, name: &str) -> String {
        let path = folder.join(name);
        std::fs::write(&path, self.text()).unwrap();
        path.to_string_lossy().into_owned()
    }
}

/// A message of the first turn without parts.
pub fn message(role: Role) -> MessageRow {
    MessageRow {
        role,
        first_part: 0,
        part_count: 0,
        time: Time::default(),
        turn: 1,
        rewind: Index::default(),
        copy: false,
        synthetic: false,
        key: None,
        reported_reasoning: 0,
    }
}

/// The call whose reply is this message.
pub fn call(message: u32) -> CallRow {
    CallRow {
        message,
        model: Index::default(),
        usage: HeldUsage::default(),
        hidden: 0,
        visible: 0,
        missing: 0,
        output: 0,
        chained: true,
        covers: false,
        predicted_growth: Index::default(),
        key: None,
    }
}

/// A part without text.
pub fn part(kind: PartKind) -> PartRow {
    PartRow {
        kind,
        tool: Index::default(),
        name: NameLength::default(),
        id_bytes: 0,
        text: Text::default(),
        image: Rare::default(),
        error: false,
        sealed_bytes: 0,
        truth: 0,
        anchored: false,
        expires: false,
        answers: Index::default(),
    }
}

/// A compaction before this message.
pub fn compaction(before: u32) -> CompactionRow {
    CompactionRow {
        before,
        kept_from: None,
        kind: CompactionKind::Compact,
        automatic: None,
        by_extension: false,
        behind_gap: false,
        between_turns: false,
        tokens_before: None,
        tokens_after: None,
        duration_ms: None,
        incompatible: None,
        summary_tokens: None,
        taken: Vec::new(),
        copy: false,
        usage: None,
        key: None,
    }
}

/// A call of the first model is made so many milliseconds after a session's begin, 1,500 tokens of its prompt hidden, and sent as it was recorded, with so
/// many tokens before it as it had been.
pub fn add_call(trace: &mut Trace, outcome: &mut Outcome, millis: i64, usage: Usage, prefix: u64) {
    let (index, Usage { prompt, output, .. }) = (trace.calls.len() as u32, usage);
    trace.messages.push(MessageRow { time: Some(1_760_000_000_000 + millis).into(), ..message(Role::Assistant) });
    let row = CallRow { model: Some(0).into(), usage: Some(usage).into(), hidden: 1500, visible: prompt - 1500, output, ..call(index) };
    trace.calls.push(row);
    let blocks = 2 + 2 * index;
    outcome.calls.push(CallOutcome { attempted: prompt, actual: prompt, prefix, blocks, output, ..CallOutcome::default() });
}

/// The tables that are built in.
pub struct Tables {
    pub catalog: Catalog,
    pub prices: Prices,
    pub caches: CacheRules,
}

impl Tables {
    pub fn builtin() -> Tables {
        Tables { catalog: Catalog::builtin().unwrap(), prices: Prices::builtin().unwrap(), caches: CacheRules::builtin().unwrap() }
    }

    pub fn tariff(&self) -> Tariff<'_> {
        Tariff { catalog: &self.catalog, prices: &self.prices, caches: &self.caches, model: None, gap_millis: 0 }
    }
}
