//! Claude Code: one JSON line for each content block, a tree by `parentUuid`, sub-agents as side chains.

use super::provider::{Ledger, Provider, Usage};
use super::random::Random;
use super::recorder::{HOME, Recorder};
use super::sources::File;
use super::story::{Action, Agent, Reply};
use serde_json::{Map, Value, json};

/// Where a sub-agent's lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Between the lines of the session, marked `isSidechain` (1.x).
    Inline,
    /// Into `<session>/subagents/agent-<id>.jsonl` (2.1.x).
    Folder,
}

/// What distinguishes one recording from another.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Claude Code's version.
    pub version: &'static str,
    /// The model.
    pub model: &'static str,
    /// It compacts when the next prompt reaches this.
    pub limit: u64,
    /// Where side chains go.
    pub sides: Sides,
    /// Does only the last line of a message carry the final output count?
    pub placeholders: bool,
}

/// A context with its place in the tree: the main one, or a side chain.
#[derive(Clone, Debug)]
struct Branch {
    parent: Option<String>,
    /// The sub-agent's id; none for the main conversation.
    agent: Option<String>,
}

/// One recording.
#[derive(Debug)]
pub struct ClaudeCode {
    recorder: Recorder,
    setup: Setup,
    session: String,
    lines: Vec<Value>,
    side_lines: Vec<Value>,
    side_files: Vec<(String, Vec<Value>)>,
    branch: Branch,
    turn_began: i64,
    /// Where the last user message hangs, and the context before it.
    before_turn: (Option<String>, Ledger),
    sessions: u64,
}

impl ClaudeCode {
    /// A new session.
    pub fn new(mut random: Random, start: i64, provider: Provider, setup: Setup) -> ClaudeCode {
        let session = random.uuid();
        let recorder = Recorder::new(random, start, provider);
        let before_turn = (None, recorder.ledger);
        let branch = Branch { parent: None, agent: None };
        let (lines, side_lines, side_files) = (Vec::new(), Vec::new(), Vec::new());
        ClaudeCode { recorder, setup, session, lines, side_lines, side_files, branch, turn_began: start, before_turn, sessions: 1 }
    }

    /// The files of the session, the sub-agents' ones after it.
    pub fn finish(self, path: &str, shows: &str) -> Vec<File> {
        let mut file = File::new(path, json_lines(&self.lines));
        let model = format!("Claude Code {} / {}", self.setup.version, self.setup.model);
        file.row("claude-code", &model, self.sessions - self.side_files.len() as u64, self.recorder.calls, self.recorder.largest, shows);
        let stem = path.trim_end_matches(".jsonl");
        let mut files = vec![file];
        for (agent, lines) in &self.side_files {
            let mut side = File::new(&format!("{stem}/subagents/agent-{agent}.jsonl"), json_lines(lines));
            let (calls, largest) = counts(lines);
            side.row("claude-code", &model, 1, calls, largest, "The sub-agent of the session above, in a file of its own");
            if let Some(row) = files[0].row.as_mut() {
                row.calls -= calls;
            }
            files.push(side);
        }
        files
    }

    /// Writes a line with the common fields and hangs the next one below it.
    fn line(&mut self, kind: &str, fields: Value) -> String {
        let uuid = self.recorder.random.uuid();
        let side = self.branch.agent.is_some();
        let mut line = Map::new();
        line.insert("parentUuid".into(), json!(self.branch.parent));
        line.insert("isSidechain".into(), json!(side));
        line.insert("userType".into(), json!("external"));
        line.insert("cwd".into(), json!(HOME));
        line.insert("sessionId".into(), json!(self.session));
        line.insert("version".into(), json!(self.setup.version));
        line.insert("gitBranch".into(), json!("main"));
        line.insert("type".into(), json!(kind));
        line.insert("uuid".into(), json!(uuid));
        line.insert("timestamp".into(), json!(self.recorder.clock.stamp()));
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        if let Some(agent) = self.branch.agent.as_ref().filter(|_| self.setup.sides == Sides::Folder) {
            line.insert("agentId".into(), json!(agent));
        }
        let into_file = side && self.setup.sides == Sides::Folder;
        if into_file { &mut self.side_lines } else { &mut self.lines }.push(Value::Object(line));
        self.branch.parent = Some(uuid.clone());
        uuid
    }

    fn usage(&self, usage: Usage, output: u64) -> Value {
        // The provider reports a few tokens as uncached, the rest as read from the cache or written to it.
        let uncached = usage.fresh().min(3);
        let written = usage.fresh() - uncached;
        let hour = self.recorder.ledger.provider.cache.lifetime > 300_000;
        let (short, long) = if hour { (0, written) } else { (written, 0) };
        json!({
            "input_tokens": uncached,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": usage.cached,
            "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
            "output_tokens": output,
            "service_tier": "standard",
        })
    }

    fn answer(&mut self, reply: &Reply) {
        let rendered: Vec<(&str, Value)> = reply.actions.iter().map(tool_use).collect();
        let arguments: Vec<String> = rendered.iter().map(|(_, input)| input.to_string()).collect();
        let tools: Vec<(&str, &str)> = rendered.iter().zip(&arguments).map(|((name, _), input)| (*name, input.as_str())).collect();
        let timed = self.recorder.call(reply, &tools);
        let ids: Vec<String> = rendered.iter().map(|_| format!("toolu_01{}", self.recorder.random.base62(22))).collect();
        let mut blocks = Vec::new();
        if !reply.thinking.is_empty() {
            let length = 120 + reply.thinking.len() / 4;
            blocks.push(json!({"type": "thinking", "thinking": reply.thinking, "signature": self.recorder.random.base64(length)}));
        }
        if !reply.text.is_empty() {
            blocks.push(json!({"type": "text", "text": reply.text}));
        }
        for ((name, input), id) in rendered.iter().zip(&ids) {
            blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        }
        let message = format!("msg_01{}", self.recorder.random.base62(22));
        let request = format!("req_011C{}", self.recorder.random.base62(20));
        let first_tool = blocks.len() - ids.len();
        let mut askers = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let last = index + 1 == blocks.len();
            let stop = if ids.is_empty() { "end_turn" } else { "tool_use" };
            let output = if self.setup.placeholders && !last { 8 } else { timed.usage.output };
            let body = json!({
                "id": message, "type": "message", "role": "assistant", "model": self.setup.model, "content": [block],
                "stop_reason": if last { json!(stop) } else { Value::Null }, "stop_sequence": null,
                "usage": self.usage(timed.usage, output),
            });
            self.recorder.clock.wait(350);
            let uuid = self.line("assistant", json!({"message": body, "requestId": request}));
            if index >= first_tool {
                askers.push(uuid);
            }
        }
        for ((action, id), asker) in reply.actions.iter().zip(&ids).zip(askers) {
            self.run(action, id, asker);
        }
    }

    /// Writes the result of a tool below the line that asked for it.
    fn run(&mut self, action: &Action, id: &str, asker: String) {
        if let Action::Task { prompt, steps, .. } = action {
            self.side_chain(prompt, steps);
        }
        self.recorder.tool_time(matches!(action, Action::Shell { .. } | Action::Export { .. }));
        let (content, error) = tool_result(action);
        self.recorder.message(&content);
        self.branch.parent = Some(asker.clone());
        let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": content});
        if error {
            block["is_error"] = json!(true);
        }
        let mut fields = json!({"message": {"role": "user", "content": [block]}, "sourceToolAssistantUUID": asker});
        // The copy for the screen. Real logs have it for every result; here long ones are left out to keep the files small.
        if content.len() < 600 {
            fields["toolUseResult"] = json!({"stdout": content, "stderr": "", "interrupted": false, "isImage": false});
        }
        self.line("user", fields);
    }

    fn side_chain(&mut self, prompt: &str, steps: &[Reply]) {
        let agent = self.recorder.random.hex(8);
        let branch = std::mem::replace(&mut self.branch, Branch { parent: None, agent: Some(agent.clone()) });
        let hidden = self.recorder.ledger.provider.hidden / 2;
        let ledger = Ledger::new(Provider { hidden, ..self.recorder.ledger.provider });
        let ledger = std::mem::replace(&mut self.recorder.ledger, ledger);
        self.recorder.message(prompt);
        self.line("user", json!({"message": {"role": "user", "content": prompt}}));
        for step in steps {
            self.answer(step);
        }
        self.recorder.ledger = ledger;
        self.branch = branch;
        self.sessions += 1;
        if self.setup.sides == Sides::Folder {
            self.side_files.push((agent, std::mem::take(&mut self.side_lines)));
        }
    }
}

impl Agent for ClaudeCode {
    fn user(&mut self, text: &str) {
        self.before_turn = (self.branch.parent.clone(), self.recorder.ledger);
        self.turn_began = self.recorder.clock.now;
        self.recorder.message(text);
        let uuid = self.line("user", json!({"message": {"role": "user", "content": text}, "permissionMode": "default"}));
        let stamp = self.recorder.clock.stamp();
        let snapshot = json!({"messageId": uuid, "trackedFileBackups": {}, "timestamp": stamp});
        self.lines.push(json!({"type": "file-history-snapshot", "messageId": uuid, "snapshot": snapshot, "isSnapshotUpdate": false}));
    }

    fn reply(&mut self, reply: &Reply) {
        self.answer(reply);
    }

    fn wait(&mut self, millis: u64) {
        self.recorder.clock.wait(millis);
    }

    fn end_turn(&mut self) {
        let duration = self.recorder.clock.now - self.turn_began;
        self.line("system", json!({"subtype": "turn_duration", "durationMs": duration, "isMeta": false}));
    }

    fn wants_compaction(&self) -> bool {
        self.prompt() >= self.setup.limit
    }

    fn compact(&mut self, summary: &str) {
        let before = self.prompt();
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n{summary}\n\nPlease continue the conversation from where we left it off without asking the user any further questions."
        );
        let hidden = self.recorder.ledger.provider.hidden;
        self.recorder.ledger.rewrite(hidden, hidden);
        self.recorder.message(&text);
        let pause = self.recorder.random.between(38_000, 75_000);
        self.recorder.clock.wait(pause);
        let logical = self.branch.parent.take();
        let metadata = json!({"trigger": "auto", "preTokens": before, "postTokens": self.prompt(), "durationMs": pause});
        self.line(
            "system",
            json!({"subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false, "level": "info", "logicalParentUuid": logical, "compactMetadata": metadata}),
        );
        self.line(
            "user",
            json!({"message": {"role": "user", "content": text}, "isVisibleInTranscriptOnly": true, "isCompactSummary": true}),
        );
    }

    fn rewind(&mut self) {
        let (parent, ledger) = self.before_turn.clone();
        self.branch.parent = parent;
        let unchanged = ledger.size;
        self.recorder.ledger.rewrite(ledger.size, unchanged);
    }

    fn prompt(&self) -> u64 {
        self.recorder.ledger.size
    }
}

fn tool_use(action: &Action) -> (&'static str, Value) {
    match action {
        Action::Read { path, whole: true, .. } => ("Read", json!({"file_path": format!("{HOME}/{path}")})),
        Action::Read { path, from, lines, .. } => {
            ("Read", json!({"file_path": format!("{HOME}/{path}"), "offset": from, "limit": lines.len()}))
        }
        Action::Search { pattern, folder, .. } => {
            ("Grep", json!({"pattern": pattern, "path": format!("{HOME}/{folder}"), "output_mode": "content", "-n": true}))
        }
        Action::Shell { command, purpose, .. } => ("Bash", json!({"command": command, "description": purpose})),
        Action::Edit { path, old, new, .. } => {
            ("Edit", json!({"file_path": format!("{HOME}/{path}"), "old_string": old, "new_string": new, "replace_all": false}))
        }
        Action::Export { station, count, .. } => ("mcp__tides__export_readings", json!({"station": station, "count": count})),
        Action::Task { purpose, prompt, .. } => ("Task", json!({"description": purpose, "prompt": prompt, "subagent_type": "Explore"})),
    }
}

fn tool_result(action: &Action) -> (String, bool) {
    match action {
        Action::Read { from, lines, .. } => {
            let numbered: Vec<String> = lines.iter().enumerate().map(|(index, line)| format!("{:6}→{line}", from + index)).collect();
            (numbered.join("\n"), false)
        }
        Action::Search { hits, .. } if hits.is_empty() => ("No matches found".to_owned(), false),
        Action::Search { hits, .. } => {
            let lines: Vec<String> = hits.iter().map(|(path, number, line)| format!("{path}:{number}:{line}")).collect();
            (lines.join("\n"), false)
        }
        Action::Shell { output, code: 0, .. } => (output.clone(), false),
        Action::Shell { output, code, .. } => (format!("Exit code {code}\n{output}"), true),
        Action::Edit { path, found: true, .. } => (format!("The file {HOME}/{path} has been updated successfully."), false),
        Action::Edit { old, .. } => (format!("<tool_use_error>String to replace not found in file.\nString: {old}</tool_use_error>"), true),
        Action::Export { output, .. } => (output.clone(), false),
        Action::Task { report, .. } => (report.clone(), false),
    }
}

fn json_lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Calls and largest prompt of the lines of one sub-agent.
fn counts(lines: &[Value]) -> (u64, u64) {
    let mut prompts: Vec<(&str, u64)> = Vec::new();
    for line in lines {
        let message = &line["message"];
        let usage = &message["usage"];
        let part = |name: &str| usage[name].as_u64().unwrap_or(0);
        if let Some(id) = message["id"].as_str().filter(|id| prompts.last().is_none_or(|(last, _)| last != id)) {
            prompts.push((id, part("input_tokens") + part("cache_creation_input_tokens") + part("cache_read_input_tokens")));
        }
    }
    (prompts.len() as u64, prompts.iter().map(|(_, prompt)| *prompt).max().unwrap_or(0))
}
