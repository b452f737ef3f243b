//! A made home: forty sessions of Claude Code in five projects, some of them long enough for the agent's own compactions. Every figure follows from the
//! number of the session alone.

use crate::support::Drawn;
use serde_json::{Value, json};
use std::path::Path;

/// So many sessions are written.
pub const SESSIONS: u64 = 40;

const PROJECTS: [&str; 5] = ["atlas", "beacon", "cinder", "delta", "ember"];

/// What every call carries and the log does not show.
const HIDDEN: u64 = 17_000;

/// The agent compacts where its last prompt and reply have reached this.
const LIMIT: u64 = 167_000;

/// Writes the sessions below `.claude/projects` of a home.
pub fn write(home: &Path) {
    for number in 0..SESSIONS {
        let project = PROJECTS[number as usize % PROJECTS.len()];
        let folder = home.join(format!(".claude/projects/-home-ada-{project}"));
        std::fs::create_dir_all(&folder).unwrap();
        let session = Session::made(number, project);
        let lines: Vec<String> = session.lines.iter().map(Value::to_string).collect();
        std::fs::write(folder.join(format!("{}.jsonl", session.id)), lines.join("\n") + "\n").unwrap();
    }
}

struct Session {
    id: String,
    project: &'static str,
    lines: Vec<Value>,
    /// Seconds since the first session began.
    time: u64,
    /// What the next prompt holds.
    context: u64,
    /// What the last prompt held.
    cached: u64,
    chance: Drawn,
}

impl Session {
    fn made(number: u64, project: &'static str) -> Session {
        let id = format!("{:08x}-0000-4000-8000-{number:012x}", (number + 1) * 0x0193_1d5b % 0xffff_fff1);
        let mut session =
            Session { id, project, lines: Vec::new(), time: number * 20 * 3_600, context: HIDDEN, cached: 0, chance: Drawn(number + 1) };
        // Every eighth session is long.
        let (calls, least, most) = if number % 8 == 3 { (70, 6_000, 18_000) } else { (8 + number % 17, 200, 3_000) };
        session.user(json!("Find out why the totals differ, and mend it."));
        for call in 0..calls {
            session.call(call, least, most);
        }
        session
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.chance.below(below as usize) as u64
    }

    fn line(&mut self, kind: &str, rest: Value) {
        self.time += 20;
        let place = self.lines.len();
        let parent = place.checked_sub(1).map(|before| format!("{}-{before}", self.id));
        let day = self.time / 86_400;
        let (hour, minute, second) = (self.time / 3_600 % 24, self.time / 60 % 60, self.time % 60);
        let (month, day) = if day < 24 { (1, 8 + day) } else { (2, day - 23) };
        let mut record = json!({
            "type": kind, "uuid": format!("{}-{place}", self.id), "parentUuid": parent, "sessionId": self.id, "isSidechain": false,
            "version": "2.1.79", "cwd": format!("/home/ada/{}", self.project),
            "timestamp": format!("2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z"),
        });
        record.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        self.lines.push(record);
    }

    fn user(&mut self, content: Value) {
        self.context += content.to_string().len() as u64 / 4;
        self.line("user", json!({ "message": { "role": "user", "content": content } }));
    }

    /// A reply that reads a file, or takes a line of the last one up again, and what the tool brings.
    fn call(&mut self, call: u64, least: u64, most: u64) {
        let (id, text) = (format!("toolu_{}_{call}", self.id), self.text(call, least, most));
        let taken_up = text.lines().next().unwrap_or_default().to_owned();
        let tool = match call % 3 {
            0 => {
                json!({ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": format!("/home/ada/{}/src/part_{}.rs", self.project, call % 7) } })
            }
            1 => json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": format!("grep -rn total_{call} src") } }),
            _ => {
                json!({ "type": "tool_use", "id": id, "name": "Edit", "input": { "file_path": "src/lib.rs", "old_string": self.earlier(call), "new_string": taken_up } })
            }
        };
        let output = 40 + tool.to_string().len() as u64 / 4;
        let usage = json!({ "input_tokens": 3, "cache_read_input_tokens": self.cached, "cache_creation_input_tokens": self.context - self.cached, "output_tokens": output });
        let prompt = self.context + 3;
        let message = json!({
            "id": format!("msg_{}_{call}", self.id), "type": "message", "role": "assistant", "model": "claude-opus-4-6", "content": [tool],
            "stop_reason": "tool_use", "usage": usage,
        });
        self.line("assistant", json!({ "requestId": format!("req_{}_{call}", self.id), "message": message }));
        self.cached = self.context;
        self.context += output;
        self.user(json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]));
        if prompt + output >= LIMIT {
            self.compact(prompt);
        }
    }

    /// Lines that no other call of the session has.
    fn text(&mut self, call: u64, least: u64, most: u64) -> String {
        let bytes = least + self.draw(most - least);
        let line = |number: u64| {
            format!("src/part_{}.rs:{number}: let total_{call}_{number} = entries.iter().map(weight_{number}).sum();", call % 7)
        };
        (0..bytes / 80 + 1).map(line).collect::<Vec<_>>().join("\n")
    }

    /// A line of the text of some calls ago.
    fn earlier(&mut self, call: u64) -> String {
        let call = call.saturating_sub(1 + self.draw(12));
        format!("src/part_{}.rs:1: let total_{call}_1 = entries.iter().map(weight_1).sum();", call % 7)
    }

    fn compact(&mut self, before: u64) {
        let metadata = json!({ "trigger": "auto", "preTokens": before, "durationMs": 40_000 + self.draw(50_000) });
        self.line("system", json!({ "subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": metadata }));
        let summary = "This session is being continued from a previous conversation.\n".repeat(80);
        (self.context, self.cached) = (HIDDEN + summary.len() as u64 / 4, HIDDEN);
        self.line(
            "user",
            json!({ "isCompactSummary": true, "isVisibleInTranscriptOnly": true, "message": { "role": "user", "content": summary } }),
        );
    }
}
