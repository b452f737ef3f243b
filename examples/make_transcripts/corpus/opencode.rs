//! OpenCode: an export of messages made of parts; a tool part holds call and result. Old results are pruned at the end of a turn.

use super::provider::{Provider, Usage};
use super::random::Random;
use super::recorder::{HOME, Recorder};
use super::sources::File;
use super::story::{Action, Agent, Reply};
use serde_json::{Value, json};

/// OpenCode's own estimates (UTF-16 units over four): results that stay, and the least that is worth pruning.
const PROTECTED: u64 = 40_000;
const WORTH_PRUNING: u64 = 20_000;
const PLACEHOLDER: &str = "[Old tool result content cleared]";
const CONTINUE: &str = "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.";
/// The part of the hidden overhead that tool definitions are: a summariser goes without them.
const TOOLS: u64 = 6_000;

/// What distinguishes one recording from another.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The model.
    pub model: &'static str,
    /// The provider, as OpenCode names it.
    pub provider: &'static str,
    /// It compacts when a call's total reaches this: the window less the longest reply.
    pub limit: u64,
    /// The session's title.
    pub title: &'static str,
}

/// A tool result that may be pruned.
#[derive(Clone, Copy, Debug)]
struct Result {
    message: usize,
    part: usize,
    turn: u64,
    estimate: u64,
    cost: u64,
    /// Where in the prompt it begins.
    place: u64,
    pruned: bool,
}

/// One recording.
#[derive(Debug)]
pub struct OpenCode {
    recorder: Recorder,
    setup: Setup,
    session: String,
    parent_session: Option<String>,
    messages: Vec<Value>,
    asked: String,
    results: Vec<Result>,
    turn: u64,
    last_total: u64,
    created: i64,
}

impl OpenCode {
    /// A new session, perhaps a sub-agent's.
    pub fn new(mut random: Random, start: i64, provider: Provider, setup: Setup, parent_session: Option<&str>) -> OpenCode {
        let session = format!("ses_{}ffe{}", random.hex(9), random.base62(14));
        let recorder = Recorder::new(random, start, provider);
        let parent_session = parent_session.map(str::to_owned);
        let (messages, results) = (Vec::new(), Vec::new());
        let asked = String::new();
        OpenCode { recorder, setup, session, parent_session, messages, asked, results, turn: 0, last_total: 0, created: start }
    }

    /// The session's id, for its sub-agents.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The export.
    pub fn finish(self, path: &str, shows: &str) -> File {
        let mut info = json!({
            "id": self.session, "slug": "quiet-harbour", "projectID": "5f0c2a9be1d74c3f8a66", "directory": HOME, "title": self.setup.title,
            "version": "1.2.24", "summary": {"additions": 64, "deletions": 31, "files": 6},
            "time": {"created": self.created, "updated": self.recorder.clock.now},
        });
        if let Some(parent) = &self.parent_session {
            info["parentID"] = json!(parent);
        }
        // One message a line: valid JSON that can still be read and compared.
        let messages: Vec<String> = self.messages.iter().map(Value::to_string).collect();
        let mut file = File::new(path, format!("{{\"info\":{info},\n\"messages\":[\n{}\n]}}\n", messages.join(",\n")));
        file.row("opencode", &format!("OpenCode 1.2.24 / {}", self.setup.model), 1, self.recorder.calls, self.recorder.largest, shows);
        file
    }

    fn id(&mut self, kind: &str) -> String {
        format!("{kind}_{:012x}{}", (self.recorder.clock.now as u64) << 4 & 0xffff_ffff_ffff, self.recorder.random.base62(14))
    }

    fn push(&mut self, mut info: Value, parts: Vec<Value>) {
        let id = self.id("msg");
        info["id"] = json!(id);
        info["sessionID"] = json!(self.session);
        let mut complete = Vec::new();
        for mut part in parts {
            part["id"] = json!(self.id("prt"));
            part["sessionID"] = json!(self.session);
            part["messageID"] = json!(id);
            complete.push(part);
        }
        if info["role"] == "user" {
            self.asked = id;
        }
        self.messages.push(json!({"info": info, "parts": complete}));
    }

    fn user_info(&self) -> Value {
        json!({"role": "user", "agent": "build", "time": {"created": self.recorder.clock.now}, "summary": {"diffs": []},
            "model": {"providerID": self.setup.provider, "modelID": self.setup.model}})
    }

    fn assistant_info(&self, agent: &str, began: i64, usage: Usage, finish: &str) -> Value {
        json!({
            "role": "assistant", "parentID": self.asked, "mode": agent, "agent": agent, "modelID": self.setup.model,
            "providerID": self.setup.provider, "path": {"cwd": HOME, "root": HOME}, "cost": 0, "tokens": tokens(usage), "finish": finish,
            "time": {"created": began, "completed": self.recorder.clock.now},
        })
    }

    fn prune(&mut self) {
        let (mut seen, mut gain, mut chosen) = (0, 0, Vec::new());
        for (index, result) in self.results.iter().enumerate().rev().filter(|(_, result)| result.turn < self.turn) {
            if result.pruned {
                break;
            }
            seen += result.estimate;
            if seen > PROTECTED {
                gain += result.estimate;
                chosen.push(index);
            }
        }
        if gain <= WORTH_PRUNING {
            return;
        }
        let placeholder = self.recorder.tokens(PLACEHOLDER);
        let mut size = self.recorder.ledger.size;
        let mut unchanged = size;
        for index in chosen {
            let result = &mut self.results[index];
            result.pruned = true;
            size = size - result.cost + placeholder;
            unchanged = unchanged.min(result.place);
            self.messages[result.message]["parts"][result.part]["state"]["time"]["compacted"] = json!(self.recorder.clock.now);
        }
        self.recorder.ledger.rewrite(size, unchanged);
    }
}

impl Agent for OpenCode {
    fn user(&mut self, text: &str) {
        self.turn += 1;
        self.recorder.message(text);
        self.push(self.user_info(), vec![json!({"type": "text", "text": text})]);
    }

    fn reply(&mut self, reply: &Reply) {
        let rendered: Vec<(&str, Value)> = reply.actions.iter().map(tool_call).collect();
        let arguments: Vec<String> = rendered.iter().map(|(_, input)| input.to_string()).collect();
        let tools: Vec<(&str, &str)> = rendered.iter().zip(&arguments).map(|((name, _), text)| (*name, text.as_str())).collect();
        let timed = self.recorder.call(reply, &tools);
        let (began, ended) = (timed.began.now, self.recorder.clock.now);
        let snapshot = self.recorder.random.hex(40);
        let mut parts = vec![json!({"type": "step-start", "snapshot": snapshot})];
        if !reply.thinking.is_empty() {
            let sealed = self.recorder.random.base64(240);
            let metadata = json!({"anthropic": {"signature": sealed}});
            parts.push(json!({"type": "reasoning", "text": reply.thinking, "metadata": metadata, "time": {"start": began + 700, "end": ended - 90}}));
        }
        if !reply.text.is_empty() {
            parts.push(json!({"type": "text", "text": reply.text, "time": {"start": ended - 80, "end": ended}}));
        }
        let mut changed = Vec::new();
        for (action, (tool, input)) in reply.actions.iter().zip(&rendered) {
            let id = format!("toolu_01{}", self.recorder.random.base62(22));
            let start = self.recorder.clock.now;
            self.recorder.tool_time(matches!(action, Action::Shell { .. }));
            let time = json!({"start": start, "end": self.recorder.clock.now});
            let (output, error) = tool_result(action);
            let place = self.recorder.ledger.size;
            self.recorder.message(&output);
            let cost = self.recorder.tokens(&output);
            let state = if error {
                json!({"status": "error", "input": input, "error": output, "time": time})
            } else {
                let estimate = (output.encode_utf16().count() as u64 + 2) / 4;
                let (message, part, turn) = (self.messages.len(), parts.len(), self.turn);
                self.results.push(Result { message, part, turn, estimate, cost, place, pruned: false });
                json!({"status": "completed", "input": input, "output": output, "title": "", "metadata": {"truncated": false}, "time": time})
            };
            parts.push(json!({"type": "tool", "callID": id, "tool": tool, "state": state}));
            if let Action::Edit { path, found: true, .. } = action {
                changed.push(format!("{HOME}/{path}"));
            }
        }
        let finish = if rendered.is_empty() { "stop" } else { "tool-calls" };
        parts.push(json!({"type": "step-finish", "reason": finish, "snapshot": snapshot, "cost": 0, "tokens": tokens(timed.usage)}));
        if !changed.is_empty() {
            parts.push(json!({"type": "patch", "hash": snapshot, "files": changed}));
        }
        self.last_total = timed.usage.total();
        let info = self.assistant_info("build", began, timed.usage, finish);
        self.push(info, parts);
    }

    fn wait(&mut self, millis: u64) {
        self.recorder.clock.wait(millis);
    }

    fn end_turn(&mut self) {
        self.recorder.clock.wait(40);
        self.prune();
    }

    fn wants_compaction(&self) -> bool {
        self.last_total >= self.setup.limit
    }

    fn compact(&mut self, summary: &str) {
        self.push(self.user_info(), vec![json!({"type": "compaction", "auto": true})]);
        let began = self.recorder.clock.now;
        let mut aside = self.recorder.ledger;
        aside.rewrite(aside.size - TOOLS, 0);
        let written = self.recorder.tokens(summary) + 1;
        let usage = aside.aside(began, 0, written);
        self.recorder.count(usage);
        self.recorder.think_time(usage);
        let parts = vec![
            json!({"type": "step-start"}),
            json!({"type": "text", "text": summary, "time": {"start": began + 900, "end": self.recorder.clock.now}}),
            json!({"type": "step-finish", "reason": "stop", "cost": 0, "tokens": tokens(usage)}),
        ];
        let mut info = self.assistant_info("compaction", began, usage, "stop");
        info["summary"] = json!(true);
        self.push(info, parts);
        let hidden = self.recorder.ledger.provider.hidden;
        self.recorder.ledger.rewrite(hidden + usage.output, hidden);
        self.results.clear();
        self.recorder.clock.wait(5);
        self.recorder.message(CONTINUE);
        self.push(self.user_info(), vec![json!({"type": "text", "text": CONTINUE, "synthetic": true})]);
        self.last_total = 0;
    }

    fn prompt(&self) -> u64 {
        self.recorder.ledger.size
    }
}

/// Anthropic reports a few tokens as uncached; the rest is read from the cache or written to it. Its reasoning is not itemised.
fn tokens(usage: Usage) -> Value {
    let uncached = usage.fresh().min(3);
    let cache = json!({"read": usage.cached, "write": usage.fresh() - uncached});
    json!({"total": usage.total(), "input": uncached, "output": usage.output, "reasoning": 0, "cache": cache})
}

fn tool_call(action: &Action) -> (&'static str, Value) {
    match action {
        Action::Read { path, whole: true, .. } => ("read", json!({"filePath": format!("{HOME}/{path}")})),
        Action::Read { path, from, lines, .. } => {
            ("read", json!({"filePath": format!("{HOME}/{path}"), "offset": from, "limit": lines.len()}))
        }
        Action::Search { pattern, folder, .. } => ("grep", json!({"pattern": pattern, "path": format!("{HOME}/{folder}")})),
        Action::Shell { command, purpose, .. } => ("bash", json!({"command": command, "description": purpose})),
        Action::Edit { path, old, new, .. } => ("edit", json!({"filePath": format!("{HOME}/{path}"), "oldString": old, "newString": new})),
        Action::Export { station, count, .. } => ("tides_export_readings", json!({"station": station, "count": count})),
        Action::Task { purpose, prompt, .. } => ("task", json!({"description": purpose, "prompt": prompt, "subagent_type": "general"})),
    }
}

fn tool_result(action: &Action) -> (String, bool) {
    match action {
        Action::Read { path, from, lines, .. } => {
            let numbered: String = lines.iter().enumerate().map(|(index, line)| format!("{}: {line}\n", from + index)).collect();
            (
                format!("<path>{HOME}/{path}</path>\n<type>file</type>\n<content>\n{numbered}\n({} lines shown)\n</content>", lines.len()),
                false,
            )
        }
        Action::Search { hits, .. } if hits.is_empty() => ("No files found".to_owned(), false),
        Action::Search { hits, .. } => {
            let mut output = format!("Found {} matches\n", hits.len());
            let mut current = "";
            for (path, number, line) in hits {
                if path != current {
                    output.push_str(&format!("{HOME}/{path}:\n"));
                    current = path;
                }
                output.push_str(&format!("  Line {number}: {line}\n"));
            }
            (output, false)
        }
        // A failing command is a completed tool for OpenCode: the model sees what it printed.
        Action::Shell { output, .. } => (output.clone(), false),
        Action::Edit { found: true, .. } => ("Edit applied successfully.".to_owned(), false),
        Action::Edit { .. } => (
            "Error: Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings."
                .to_owned(),
            true,
        ),
        Action::Export { output, .. } => (output.clone(), false),
        Action::Task { report, .. } => (report.clone(), false),
    }
}
