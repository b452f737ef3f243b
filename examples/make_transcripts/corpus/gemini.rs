//! Gemini CLI: one JSON document; a tool's result stands inside the message that called it.

use super::provider::Provider;
use super::random::Random;
use super::recorder::Recorder;
use super::sources::File;
use super::story::{Action, Agent, Reply};
use serde_json::{Value, json};

/// One recording.
#[derive(Debug)]
pub struct Gemini {
    recorder: Recorder,
    model: &'static str,
    session: String,
    project: String,
    began: String,
    messages: Vec<Value>,
}

impl Gemini {
    /// A new session.
    pub fn new(mut random: Random, start: i64, provider: Provider, model: &'static str) -> Gemini {
        let (session, project) = (random.uuid(), random.hex(64));
        let recorder = Recorder::new(random, start, provider);
        let began = recorder.clock.stamp();
        Gemini { recorder, model, session, project, began, messages: Vec::new() }
    }

    /// The document. The head comes first, as in the agent's own files.
    pub fn finish(self, path: &str, shows: &str) -> File {
        let messages: Vec<String> = self.messages.iter().map(Value::to_string).collect();
        let content = format!(
            "{{\"sessionId\":\"{}\",\"projectHash\":\"{}\",\"startTime\":\"{}\",\"lastUpdated\":\"{}\",\"kind\":\"main\",\"messages\":[\n{}\n]}}\n",
            self.session,
            self.project,
            self.began,
            self.recorder.clock.stamp(),
            messages.join(",\n")
        );
        let mut file = File::new(path, content);
        file.row("gemini-cli", &format!("Gemini CLI / {}", self.model), 1, self.recorder.calls, self.recorder.largest, shows);
        file
    }
}

impl Agent for Gemini {
    fn user(&mut self, text: &str) {
        self.recorder.message(text);
        let id = self.recorder.random.uuid();
        let stamp = self.recorder.clock.stamp();
        self.messages.push(json!({"id": id, "timestamp": stamp, "type": "user", "content": [{"text": text}]}));
    }

    fn reply(&mut self, reply: &Reply) {
        let rendered: Vec<(&str, &str, Value)> = reply.actions.iter().map(tool_call).collect();
        let arguments: Vec<String> = rendered.iter().map(|(_, _, args)| args.to_string()).collect();
        let tools: Vec<(&str, &str)> = rendered.iter().zip(&arguments).map(|((name, _, _), text)| (*name, text.as_str())).collect();
        let timed = self.recorder.call(reply, &tools);
        let usage = timed.usage;
        let stamp = self.recorder.clock.stamp();
        let mut calls = Vec::new();
        for (action, (name, display, args)) in reply.actions.iter().zip(&rendered) {
            self.recorder.tool_time(matches!(action, Action::Shell { .. }));
            let id = format!("{name}_{}_{}", self.recorder.clock.now, calls.len());
            let (output, error) = tool_result(action);
            self.recorder.message(&output);
            let response = if error { json!({"error": output}) } else { json!({"output": output}) };
            calls.push(json!({
                "id": id, "name": name, "args": args, "result": [{"functionResponse": {"id": id, "name": name, "response": response}}],
                "status": if error { "error" } else { "success" }, "timestamp": self.recorder.clock.stamp(), "resultDisplay": "",
                "displayName": display, "renderOutputAsMarkdown": true,
            }));
        }
        let mut thoughts = Vec::new();
        if !reply.thinking.is_empty() {
            thoughts.push(json!({"subject": "Weighing the Next Step", "description": reply.thinking, "timestamp": timed.began.stamp()}));
        }
        let id = self.recorder.random.uuid();
        let tokens = json!({"input": usage.prompt, "output": usage.output - usage.reasoning, "cached": usage.cached, "thoughts": usage.reasoning, "tool": 0, "total": usage.total()});
        let mut message = json!({"id": id, "timestamp": stamp, "type": "gemini", "content": reply.text, "thoughts": thoughts, "tokens": tokens, "model": self.model});
        if !calls.is_empty() {
            message["toolCalls"] = json!(calls);
        }
        self.messages.push(message);
    }

    fn wait(&mut self, millis: u64) {
        self.recorder.clock.wait(millis);
    }

    fn prompt(&self) -> u64 {
        self.recorder.ledger.size
    }
}

fn tool_call(action: &Action) -> (&'static str, &'static str, Value) {
    match action {
        Action::Read { path, whole: true, .. } => ("read_file", "ReadFile", json!({"file_path": path})),
        Action::Read { path, from, lines, .. } => {
            ("read_file", "ReadFile", json!({"file_path": path, "start_line": from, "end_line": from + lines.len() - 1}))
        }
        Action::Search { pattern, folder, .. } => ("grep_search", "SearchText", json!({"pattern": pattern, "dir_path": folder})),
        Action::Shell { command, purpose, .. } => ("run_shell_command", "Shell", json!({"command": command, "description": purpose})),
        Action::Edit { path, old, new, .. } => {
            ("replace", "Edit", json!({"file_path": path, "instruction": "Apply the change", "old_string": old, "new_string": new}))
        }
        Action::Export { station, count, .. } => ("export_readings", "export_readings", json!({"station": station, "count": count})),
        Action::Task { prompt, .. } => ("codebase_investigator", "Codebase Investigator", json!({"objective": prompt})),
    }
}

fn tool_result(action: &Action) -> (String, bool) {
    match action {
        Action::Read { lines, .. } => (lines.join("\n"), false),
        Action::Search { pattern, hits, .. } => {
            let lines: String = hits.iter().map(|(path, number, line)| format!("File: {path}\nL{number}: {line}\n")).collect();
            (format!("Found {} matches for pattern \"{pattern}\":\n---\n{lines}---", hits.len()), false)
        }
        Action::Shell { command, output, code, .. } => {
            (format!("Command: {command}\nDirectory: (root)\nOutput: {output}\nExit Code: {code}"), false)
        }
        Action::Edit { path, found: true, .. } => (format!("Successfully modified file: {path} (1 replacements)."), false),
        Action::Edit { path, .. } => (format!("Failed to edit, 0 occurrences found for old_string in {path}. No edits made."), true),
        Action::Export { output, .. } => (output.clone(), false),
        Action::Task { report, .. } => (report.clone(), false),
    }
}
