//! pi: a tree of entries in one file (version 3); a compaction keeps the newest entries beside its summary.

use super::provider::{Provider, Usage};
use super::random::Random;
use super::recorder::{HOME, Recorder};
use super::sources::File;
use super::story::{Action, Agent, Reply};
use serde_json::{Value, json};

/// Tokens that pi keeps free, and tokens of the newest entries that it keeps.
const RESERVE: u64 = 16_384;
const KEEP_RECENT: u64 = 20_000;

/// What distinguishes one recording from another.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Provider and model, as pi names them.
    pub provider: &'static str,
    /// The API that pi speaks with it.
    pub api: &'static str,
    /// The model.
    pub model: &'static str,
    /// The model's window.
    pub window: u64,
    /// Thousand-millionths of a dollar for a token: input, output, cache read, cache write.
    pub prices: [u64; 4],
}

/// An entry that stands in the context.
#[derive(Clone, Debug)]
struct Standing {
    id: String,
    cost: u64,
    /// pi's own estimate: UTF-16 units over four.
    estimate: u64,
    /// May the context be cut before it?
    cut: bool,
}

/// One recording.
#[derive(Debug)]
pub struct Pi {
    recorder: Recorder,
    setup: Setup,
    lines: Vec<Value>,
    parent: Option<String>,
    standing: Vec<Standing>,
    last_total: u64,
    trailing: u64,
    before_turn: (Option<String>, usize, u64),
}

impl Pi {
    /// A new session.
    pub fn new(mut random: Random, start: i64, provider: Provider, setup: Setup) -> Pi {
        let id = random.uuid();
        let recorder = Recorder::new(random, start, provider);
        let header = json!({"type": "session", "version": 3, "id": id, "timestamp": recorder.clock.stamp(), "cwd": HOME});
        let (standing, before_turn) = (Vec::new(), (None, 0, 0));
        let mut pi = Pi { recorder, setup, lines: vec![header], parent: None, standing, last_total: 0, trailing: 0, before_turn };
        pi.entry("model_change", json!({"provider": setup.provider, "modelId": setup.model}));
        pi.entry("thinking_level_change", json!({"thinkingLevel": "medium"}));
        pi
    }

    /// The session's file.
    pub fn finish(self, path: &str, shows: &str) -> File {
        let mut file = File::new(path, self.lines.iter().map(|line| format!("{line}\n")).collect());
        file.row("pi", &format!("pi (session version 3) / {}", self.setup.model), 1, self.recorder.calls, self.recorder.largest, shows);
        file
    }

    fn entry(&mut self, kind: &str, fields: Value) -> String {
        let id = self.recorder.random.hex(8);
        let mut line = json!({"type": kind, "id": id, "parentId": self.parent, "timestamp": self.recorder.clock.stamp()});
        if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
            line.extend(fields);
        }
        self.lines.push(line);
        self.parent = Some(id.clone());
        id
    }

    fn stand(&mut self, id: String, cost: u64, units: usize, cut: bool) {
        self.standing.push(Standing { id, cost, estimate: (units as u64).div_ceil(4), cut });
    }

    fn usage(&self, usage: Usage) -> Value {
        // Anthropic has a price for writing to the cache; the others count it as input.
        let writes = self.setup.prices[3] > 0;
        let (input, written) = if writes { (usage.fresh().min(3), usage.fresh() - usage.fresh().min(3)) } else { (usage.fresh(), 0) };
        let counts = [input, usage.output, usage.cached, written];
        let costs: Vec<u64> = counts.iter().zip(self.setup.prices).map(|(count, price)| count * price).collect();
        let dollars = |nano: u64| nano as f64 / 1e9;
        json!({
            "input": input, "output": usage.output, "cacheRead": usage.cached, "cacheWrite": written, "totalTokens": usage.total(),
            "cost": {"input": dollars(costs[0]), "output": dollars(costs[1]), "cacheRead": dollars(costs[2]), "cacheWrite": dollars(costs[3]),
                "total": dollars(costs.iter().sum())},
        })
    }

    fn result(&mut self, action: &Action, name: &str, id: &str) {
        self.recorder.tool_time(matches!(action, Action::Shell { .. } | Action::Export { .. }));
        let (text, error) = tool_result(action);
        let cost = self.recorder.message(&text);
        let message = json!({"role": "toolResult", "toolCallId": id, "toolName": name, "content": [{"type": "text", "text": text}],
            "isError": error, "timestamp": self.recorder.clock.now});
        let entry = self.entry("message", json!({"message": message}));
        let units = text.encode_utf16().count();
        self.trailing += (units as u64).div_ceil(4);
        self.stand(entry, cost, units, false);
    }
}

impl Agent for Pi {
    fn user(&mut self, text: &str) {
        self.before_turn = (self.parent.clone(), self.standing.len(), self.recorder.ledger.size);
        let cost = self.recorder.message(text);
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": self.recorder.clock.now});
        let entry = self.entry("message", json!({"message": message}));
        let units = text.encode_utf16().count();
        self.trailing += (units as u64).div_ceil(4);
        self.stand(entry, cost, units, true);
    }

    fn reply(&mut self, reply: &Reply) {
        let rendered: Vec<(&str, Value)> = reply.actions.iter().map(tool_call).collect();
        let arguments: Vec<String> = rendered.iter().map(|(_, arguments)| arguments.to_string()).collect();
        let tools: Vec<(&str, &str)> = rendered.iter().zip(&arguments).map(|((name, _), text)| (*name, text.as_str())).collect();
        let timed = self.recorder.call(reply, &tools);
        let mut content = Vec::new();
        if !reply.thinking.is_empty() {
            let length = 120 + reply.thinking.len() / 4;
            content.push(json!({"type": "thinking", "thinking": reply.thinking, "thinkingSignature": self.recorder.random.base64(length)}));
        }
        if !reply.text.is_empty() {
            content.push(json!({"type": "text", "text": reply.text}));
        }
        let prefix = if self.setup.api == "anthropic-messages" { "toolu_01" } else { "call_" };
        let ids: Vec<String> = rendered.iter().map(|_| format!("{prefix}{}", self.recorder.random.base62(22))).collect();
        for ((name, arguments), id) in rendered.iter().zip(&ids) {
            content.push(json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments}));
        }
        let message = json!({
            "role": "assistant", "content": content, "api": self.setup.api, "provider": self.setup.provider, "model": self.setup.model,
            "usage": self.usage(timed.usage), "stopReason": if ids.is_empty() { "stop" } else { "toolUse" }, "timestamp": timed.began.now,
        });
        let entry = self.entry("message", json!({"message": message}));
        let cost = self.recorder.ledger.kept(timed.usage);
        let called: usize = tools.iter().map(|(name, arguments)| name.encode_utf16().count() + arguments.encode_utf16().count()).sum();
        let units = reply.thinking.encode_utf16().count() + reply.text.encode_utf16().count() + called;
        self.stand(entry, cost, units, true);
        self.last_total = timed.usage.total();
        self.trailing = 0;
        for ((action, (name, _)), id) in reply.actions.iter().zip(&rendered).zip(&ids) {
            self.result(action, name, id);
        }
    }

    fn wait(&mut self, millis: u64) {
        self.recorder.clock.wait(millis);
    }

    fn wants_compaction(&self) -> bool {
        self.last_total + self.trailing > self.setup.window - RESERVE
    }

    fn compact(&mut self, summary: &str) {
        let pause = self.recorder.random.between(15_000, 45_000);
        self.recorder.clock.wait(pause);
        let before = self.last_total + self.trailing;
        // From the newest back until the estimates reach the limit; then forward to a place where a cut is allowed.
        let (mut sum, mut reached) = (0, 0);
        for (index, entry) in self.standing.iter().enumerate().rev() {
            sum += entry.estimate;
            if sum >= KEEP_RECENT {
                reached = index;
                break;
            }
        }
        let any = |from: usize| (from..self.standing.len()).find(|index| self.standing[*index].cut);
        let last = self.standing.iter().rposition(|entry| entry.cut);
        let kept = any(reached).or(last).unwrap_or(0);
        self.standing.drain(..kept);
        let first = self.standing.first().map(|entry| entry.id.clone());
        let hidden = self.recorder.ledger.provider.hidden;
        self.recorder.ledger.rewrite(hidden, hidden);
        let cost = self.recorder.message(summary);
        let staying: u64 = self.standing.iter().map(|entry| entry.cost).sum();
        let size = self.recorder.ledger.size + staying;
        self.recorder.ledger.rewrite(size, hidden);
        let id =
            self.entry("compaction", json!({"summary": summary, "firstKeptEntryId": first, "tokensBefore": before, "fromHook": false}));
        self.standing.insert(0, Standing { id, cost, estimate: (summary.encode_utf16().count() as u64).div_ceil(4), cut: false });
        (self.last_total, self.trailing) = (0, 0);
    }

    fn rewind(&mut self) {
        let (parent, length, size) = self.before_turn.clone();
        let left = self.parent.clone();
        self.parent = parent;
        self.standing.truncate(length);
        self.recorder.ledger.rewrite(size, size);
        let summary = "The abandoned branch looked at the export module and found nothing to change there.";
        let cost = self.recorder.message(summary);
        let id = self.entry("branch_summary", json!({"fromId": left, "summary": summary}));
        self.stand(id, cost, summary.len(), true);
    }

    fn prompt(&self) -> u64 {
        self.recorder.ledger.size
    }
}

fn tool_call(action: &Action) -> (&'static str, Value) {
    match action {
        Action::Read { path, whole: true, .. } => ("read", json!({"path": path})),
        Action::Read { path, from, lines, .. } => ("read", json!({"path": path, "offset": from, "limit": lines.len()})),
        Action::Search { pattern, folder, .. } => ("bash", json!({"command": format!("rg -n -F '{pattern}' {folder}")})),
        Action::Shell { command, .. } => ("bash", json!({"command": command})),
        Action::Edit { path, old, new, .. } => ("edit", json!({"path": path, "oldText": old, "newText": new})),
        Action::Export { station, count, .. } => ("export_readings", json!({"station": station, "count": count})),
        Action::Task { prompt, .. } => ("subagent", json!({"prompt": prompt})),
    }
}

fn tool_result(action: &Action) -> (String, bool) {
    match action {
        Action::Read { lines, .. } => (lines.join("\n"), false),
        Action::Search { hits, .. } if hits.is_empty() => ("(no output)".to_owned(), false),
        Action::Search { hits, .. } => (hits.iter().map(|(path, number, line)| format!("{path}:{number}:{line}\n")).collect(), false),
        Action::Shell { output, code: 0, .. } => (output.clone(), false),
        Action::Shell { output, code, .. } => (format!("{output}\n\nCommand exited with code {code}"), true),
        Action::Edit { path, found: true, .. } => (format!("Successfully replaced text in {path}."), false),
        Action::Edit { path, .. } => (
            format!("Could not find the exact text in {path}. The old text must match exactly including all whitespace and newlines."),
            true,
        ),
        Action::Export { output, .. } => (output.clone(), false),
        Action::Task { report, .. } => (report.clone(), false),
    }
}
