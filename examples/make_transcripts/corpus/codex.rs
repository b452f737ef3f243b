//! Codex: a rollout of response items, with events that repeat them and a token count written twice for each call.

use super::provider::{Provider, Usage};
use super::random::Random;
use super::recorder::{HOME, Recorder};
use super::sources::File;
use super::story::{Action, Agent, Reply};
use serde_json::{Value, json};

const VERSION: &str = "0.94.0";
/// Where Codex compacts: nine tenths of a window of 272,000.
const LIMIT: u64 = 244_800;
/// The window that the log names: 95 % of the model's.
const WINDOW: u64 = 258_400;
const INSTRUCTIONS: &str = "You are a coding agent that runs in a terminal. Read before you write, keep changes small, run the narrow tests after each change, and say plainly what you did and what you did not check.";
const AGENTS: &str = "# AGENTS.md instructions for /home/mara/tidewatch\n\n<INSTRUCTIONS>\n# Working on tidewatch\n\n- Python 3.12, pytest; run the narrow tests first.\n- Heights are integers in millimetres, times are UTC.\n- Never write a zero for a missing reading: skip it and count it.\n- Keep the spool format as it is; older gauges depend on it.\n</INSTRUCTIONS>";
const ENVIRONMENT: &str = "<environment_context>\n  <cwd>/home/mara/tidewatch</cwd>\n  <shell>bash</shell>\n</environment_context>";
const SUMMARY_PREFIX: &str = "Another language model started to solve this problem and produced a summary of its thinking process. Use it to build on the work that has already been done.";

/// One recording.
#[derive(Debug)]
pub struct Codex {
    recorder: Recorder,
    model: &'static str,
    lines: Vec<Value>,
    total: Usage,
    last: Usage,
    /// Bytes of the items that came after the last reply.
    since: u64,
    requests: Vec<String>,
}

impl Codex {
    /// A new session: its instructions are in the log, its tools are not.
    pub fn new(mut random: Random, start: i64, provider: Provider, model: &'static str) -> Codex {
        let id = random.uuid();
        let recorder = Recorder::new(random, start, provider);
        let (lines, requests) = (Vec::new(), Vec::new());
        let mut codex = Codex { recorder, model, lines, total: Usage::default(), last: Usage::default(), since: 0, requests };
        let stamp = codex.recorder.clock.stamp();
        codex.recorder.message(INSTRUCTIONS);
        codex.line(
            "session_meta",
            json!({"id": id, "timestamp": stamp, "cwd": HOME, "originator": "codex_cli_rs", "cli_version": VERSION, "source": "cli",
                "model_provider": "openai", "base_instructions": {"text": INSTRUCTIONS}, "git": {"branch": "main"}}),
        );
        codex.item(message("user", "input_text", AGENTS));
        codex.recorder.message(AGENTS);
        codex.item(message("user", "input_text", ENVIRONMENT));
        codex.recorder.message(ENVIRONMENT);
        codex
    }

    /// The rollout.
    pub fn finish(self, path: &str, shows: &str) -> File {
        let mut file = File::new(path, self.lines.iter().map(|line| format!("{line}\n")).collect());
        file.row("codex", &format!("Codex CLI {VERSION} / {}", self.model), 1, self.recorder.calls, self.recorder.largest, shows);
        file
    }

    fn line(&mut self, kind: &str, payload: Value) {
        let stamp = self.recorder.clock.stamp();
        self.lines.push(json!({"timestamp": stamp, "type": kind, "payload": payload}));
    }

    fn item(&mut self, item: Value) {
        self.line("response_item", item);
    }

    fn turn_context(&mut self) {
        let model = self.model;
        self.line(
            "turn_context",
            json!({"cwd": HOME, "approval_policy": "on-request", "sandbox_policy": {"type": "workspace-write", "network_access": false},
                "model": model, "effort": "medium", "summary": "auto", "truncation_policy": {"mode": "tokens", "limit": 10_000}}),
        );
    }

    fn token_count(&mut self, last: Value) {
        let info = json!({"total_token_usage": usage(self.total), "last_token_usage": last, "model_context_window": WINDOW});
        let limits =
            json!({"primary": {"used_percent": 12.0, "window_minutes": 300}, "secondary": {"used_percent": 4.0, "window_minutes": 10_080}});
        self.line("event_msg", json!({"type": "token_count", "info": info, "rate_limits": limits}));
    }

    fn output(&mut self, action: &Action, id: &str) {
        let slow = matches!(action, Action::Shell { .. });
        let before = self.recorder.clock.now;
        self.recorder.tool_time(slow);
        let tenths = (self.recorder.clock.now - before + 50) / 100;
        let (kind, text) = match action {
            Action::Edit { path, found: true, .. } => {
                ("custom_tool_call_output", json!({"output": format!("Success. Updated the following files:\nM {path}\n"), "metadata": {"exit_code": 0, "duration_seconds": 0.0}}).to_string())
            }
            Action::Edit { path, old, .. } => {
                ("custom_tool_call_output", format!("apply_patch verification failed: Failed to find expected lines in {HOME}/{path}:\n{old}"))
            }
            _ => {
                let (output, code) = printed(action);
                ("function_call_output", format!("Exit code: {code}\nWall time: {}.{} seconds\nOutput:\n{output}", tenths / 10, tenths % 10))
            }
        };
        self.recorder.message(&text);
        self.since += text.len() as u64;
        self.item(json!({"type": kind, "call_id": id, "output": text}));
    }
}

impl Agent for Codex {
    fn user(&mut self, text: &str) {
        self.recorder.message(text);
        self.since += text.len() as u64;
        self.requests.push(text.to_owned());
        self.item(message("user", "input_text", text));
        self.line("event_msg", json!({"type": "user_message", "message": text, "images": [], "local_images": [], "text_elements": []}));
        self.turn_context();
    }

    fn reply(&mut self, reply: &Reply) {
        let rendered: Vec<(&str, String)> = reply.actions.iter().map(tool_call).collect();
        let tools: Vec<(&str, &str)> = rendered.iter().map(|(name, arguments)| (*name, arguments.as_str())).collect();
        let timed = self.recorder.call(reply, &tools);
        if !reply.thinking.is_empty() {
            let summary = format!("**Planning the next step**\n\n{}", reply.thinking);
            self.line("event_msg", json!({"type": "agent_reasoning", "text": summary}));
            let sealed = format!("gAAAAABp{}", self.recorder.random.base64(300 + reply.thinking.len()));
            self.item(json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": summary}], "content": null, "encrypted_content": sealed}));
        }
        if !reply.text.is_empty() {
            self.line("event_msg", json!({"type": "agent_message", "message": reply.text}));
            self.item(message("assistant", "output_text", &reply.text));
        }
        let ids: Vec<String> = rendered.iter().map(|_| format!("call_{}", self.recorder.random.base62(24))).collect();
        for ((name, arguments), id) in rendered.iter().zip(&ids) {
            if *name == "apply_patch" {
                self.item(json!({"type": "custom_tool_call", "status": "completed", "call_id": id, "name": name, "input": arguments}));
            } else {
                self.item(json!({"type": "function_call", "name": name, "arguments": arguments, "call_id": id}));
            }
        }
        self.last = timed.usage;
        self.since = 0;
        let total = &mut self.total;
        total.prompt += timed.usage.prompt;
        total.cached += timed.usage.cached;
        total.output += timed.usage.output;
        total.reasoning += timed.usage.reasoning;
        self.token_count(usage(timed.usage));
        for (action, id) in reply.actions.iter().zip(&ids) {
            self.output(action, id);
        }
        // The event is written a second time, as the agent does when it refreshes the rate limits.
        self.token_count(usage(timed.usage));
    }

    fn wait(&mut self, millis: u64) {
        self.recorder.clock.wait(millis);
    }

    /// By the last reply's usage, plus four bytes a token for what came after it.
    fn wants_compaction(&self) -> bool {
        self.last.total() + self.since.div_ceil(4) >= LIMIT
    }

    fn compact(&mut self, summary: &str) {
        let pause = self.recorder.random.between(20_000, 50_000);
        self.recorder.clock.wait(pause);
        let text = format!("{SUMMARY_PREFIX}\n{summary}");
        let hidden = self.recorder.ledger.provider.hidden;
        self.recorder.ledger.rewrite(hidden, hidden);
        self.recorder.message(INSTRUCTIONS);
        let mut history = Vec::new();
        let kept = [AGENTS, ENVIRONMENT].into_iter().map(str::to_owned).chain(self.requests.clone()).chain([text.clone()]);
        for kept in kept {
            self.recorder.message(&kept);
            history.push(message("user", "input_text", &kept));
        }
        let estimate: u64 = history.iter().map(|item| (item.to_string().len() as u64).div_ceil(4)).sum();
        self.line("compacted", json!({"message": text, "replacement_history": history}));
        self.turn_context();
        self.token_count(json!({"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": estimate}));
        self.line("event_msg", json!({"type": "context_compacted"}));
        self.last = Usage { prompt: estimate, ..Usage::default() };
        self.since = 0;
    }

    fn prompt(&self) -> u64 {
        self.recorder.ledger.size
    }
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn usage(usage: Usage) -> Value {
    json!({"input_tokens": usage.prompt, "cached_input_tokens": usage.cached, "output_tokens": usage.output,
        "reasoning_output_tokens": usage.reasoning, "total_tokens": usage.total()})
}

fn tool_call(action: &Action) -> (&'static str, String) {
    let shell = |command: String| ("shell_command", json!({"command": command, "workdir": HOME}).to_string());
    match action {
        Action::Read { path, whole: true, .. } => shell(format!("cat {path}")),
        Action::Read { path, from, lines, .. } => shell(format!("sed -n '{from},{}p' {path}", from + lines.len() - 1)),
        Action::Search { pattern, folder, .. } => shell(format!("rg -n -F '{pattern}' {folder}")),
        Action::Shell { command, .. } => shell(command.clone()),
        Action::Edit { path, old, new, .. } => {
            let removed: String = old.lines().map(|line| format!("-{line}\n")).collect();
            let added: String = new.lines().map(|line| format!("+{line}\n")).collect();
            ("apply_patch", format!("*** Begin Patch\n*** Update File: {path}\n@@\n{removed}{added}*** End Patch\n"))
        }
        Action::Export { station, count, .. } => ("mcp__tides__export_readings", json!({"station": station, "count": count}).to_string()),
        Action::Task { prompt, .. } => ("spawn_agent", json!({"message": prompt}).to_string()),
    }
}

fn printed(action: &Action) -> (String, i64) {
    match action {
        Action::Read { lines, .. } => (lines.join("\n") + "\n", 0),
        Action::Search { hits, .. } if hits.is_empty() => (String::new(), 1),
        Action::Search { hits, .. } => (hits.iter().map(|(path, number, line)| format!("{path}:{number}:{line}\n")).collect(), 0),
        Action::Shell { output, code, .. } => (output.clone(), *code),
        Action::Export { output, .. } => (output.clone(), 0),
        Action::Task { report, .. } => (report.clone(), 0),
        Action::Edit { .. } => (String::new(), 0),
    }
}
