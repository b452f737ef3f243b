//! mini-swe-agent: chat messages with the provider's whole response beside each reply. Version 1 puts commands into the text and hands
//! results back as user messages; version 1.1 has real tool calls.

use super::provider::{Provider, Usage};
use super::random::Random;
use super::recorder::Recorder;
use super::sources::File;
use super::story::{Action, Agent, Reply};
use serde_json::{Value, json};

/// The two trajectory formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `mini-swe-agent-1`.
    Text,
    /// `mini-swe-agent-1.1`.
    Tools,
}

/// Dollars for a thousand million tokens: input, cached input, output.
const PRICES: [u64; 3] = [250, 25, 2000];
const SYSTEM: &str = "You are a helpful assistant that can interact multiple times with a computer shell to solve programming tasks. Explain your reasoning before each command, and issue exactly one command at a time. Every command runs in a new subshell.";
/// A longer output is shown by its head and its tail.
const LONGEST: usize = 10_000;
/// The tokens that open the reply.
pub const OPENING: u64 = 3;

/// One recording.
#[derive(Debug)]
pub struct MiniSwe {
    recorder: Recorder,
    protocol: Protocol,
    instance: &'static str,
    messages: Vec<Value>,
    cost: u64,
}

impl MiniSwe {
    /// A new run; its system prompt is in the file.
    pub fn new(random: Random, start: i64, provider: Provider, protocol: Protocol, instance: &'static str) -> MiniSwe {
        let mut recorder = Recorder::new(random, start, provider);
        recorder.message(SYSTEM);
        MiniSwe { recorder, protocol, instance, messages: vec![json!({"role": "system", "content": SYSTEM})], cost: 0 }
    }

    /// The trajectory, closed with what was submitted.
    pub fn finish(mut self, path: &str, shows: &str) -> File {
        let submission = "diff --git a/src/tidewatch/ingest/spool.py b/src/tidewatch/ingest/spool.py\n";
        let (role, format, version) = match self.protocol {
            Protocol::Text => ("user", "mini-swe-agent-1", "1.15.0"),
            Protocol::Tools => ("exit", "mini-swe-agent-1.1", "2.1.0"),
        };
        let mut last = json!({"role": role, "content": submission});
        if self.protocol == Protocol::Tools {
            last["extra"] = json!({"exit_status": "Submitted", "submission": submission});
        }
        self.messages.push(last);
        let info = json!({
            "exit_status": "Submitted", "submission": submission, "mini_version": version,
            "model_stats": {"instance_cost": self.cost as f64 / 1e9, "api_calls": self.recorder.calls},
            "config": {"agent": {"system_template": SYSTEM, "step_limit": 250, "cost_limit": 3.0}, "model": {"model_name": "openai/gpt-5-mini"},
                "environment": {"cwd": "/testbed", "timeout": 60}},
        });
        let messages: Vec<String> = self.messages.iter().map(Value::to_string).collect();
        let content = format!(
            "{{\"info\":{info},\n\"messages\":[\n{}\n],\n\"trajectory_format\":\"{format}\",\"instance_id\":\"{}\"}}\n",
            messages.join(",\n"),
            self.instance
        );
        let mut file = File::new(path, content);
        file.row("mini-swe-agent", &format!("mini-swe-agent {version} / gpt-5-mini"), 1, self.recorder.calls, self.recorder.largest, shows);
        file
    }

    fn response(&mut self, usage: Usage, message: Value) -> Value {
        let cost = usage.fresh() * PRICES[0] + usage.cached * PRICES[1] + usage.output * PRICES[2];
        self.cost += cost;
        let id = format!("gen-{}-{}", self.recorder.clock.now / 1000, self.recorder.random.base62(20));
        json!({
            "id": id, "provider": "OpenAI", "model": "openai/gpt-5-mini", "object": "chat.completion", "created": self.recorder.clock.now / 1000,
            "choices": [{"finish_reason": "stop", "index": 0, "message": message}],
            "usage": {"prompt_tokens": usage.prompt, "completion_tokens": usage.output, "total_tokens": usage.total(), "cost": cost as f64 / 1e9,
                "prompt_tokens_details": {"cached_tokens": usage.cached}, "completion_tokens_details": {"reasoning_tokens": usage.reasoning}},
        })
    }

    fn observe(&mut self, action: &Action, id: &str) {
        self.recorder.tool_time(true);
        let (output, code) = printed(action);
        let text = observation(&output, code);
        self.recorder.message(&text);
        self.messages.push(match self.protocol {
            Protocol::Text => json!({"role": "user", "content": text}),
            Protocol::Tools => {
                json!({"role": "tool", "tool_call_id": id, "content": text, "extra": {"returncode": code, "timestamp": self.seconds()}})
            }
        });
    }

    fn seconds(&self) -> f64 {
        self.recorder.clock.now as f64 / 1000.0
    }
}

impl Agent for MiniSwe {
    fn user(&mut self, text: &str) {
        self.recorder.message(text);
        self.messages.push(json!({"role": "user", "content": text}));
    }

    fn reply(&mut self, reply: &Reply) {
        let command = reply.actions.first().map_or_else(|| "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT".to_owned(), command);
        let text = if reply.text.is_empty() { "Next step." } else { &reply.text };
        let id = format!("call_{}", self.recorder.random.base62(24));
        let arguments = json!({"command": command}).to_string();
        let content = match self.protocol {
            Protocol::Text => format!("THOUGHT: {text}\n\n```bash\n{command}\n```"),
            Protocol::Tools => text.to_owned(),
        };
        let tools = match self.protocol {
            Protocol::Text => Vec::new(),
            Protocol::Tools => vec![("bash", arguments.as_str())],
        };
        let said = Reply { thinking: reply.thinking.clone(), text: content.clone(), actions: Vec::new() };
        let timed = self.recorder.call(&said, &tools);
        let mut inner = json!({"role": "assistant", "content": content, "refusal": null, "reasoning": null});
        if !reply.thinking.is_empty() {
            inner["reasoning"] = json!(reply.thinking);
        }
        let mut message = json!({"role": "assistant", "content": content});
        if self.protocol == Protocol::Tools {
            let call = json!([{"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}}]);
            inner["tool_calls"] = call.clone();
            message["tool_calls"] = call;
        }
        let response = self.response(timed.usage, inner);
        message["extra"] = match self.protocol {
            Protocol::Text => json!({"response": response}),
            Protocol::Tools => {
                json!({"response": response, "actions": [{"command": command, "tool_call_id": id}], "timestamp": self.seconds()})
            }
        };
        self.messages.push(message);
        if let Some(action) = reply.actions.first() {
            self.observe(action, &id);
        }
    }

    fn wait(&mut self, millis: u64) {
        self.recorder.clock.wait(millis);
    }

    fn prompt(&self) -> u64 {
        self.recorder.ledger.size
    }
}

fn observation(output: &str, code: i64) -> String {
    if output.len() < LONGEST {
        return format!("<returncode>{code}</returncode>\n<output>\n{output}</output>");
    }
    let head: String = output.chars().take(LONGEST / 2).collect();
    let count = output.chars().count();
    let tail: String = output.chars().skip(count - LONGEST / 2).collect();
    let elided = count - LONGEST;
    format!(
        "<returncode>{code}</returncode>\n<output_head>\n{head}\n</output_head>\n<elided_chars>\n{elided} characters elided\n</elided_chars>\n<output_tail>\n{tail}</output_tail>"
    )
}

fn command(action: &Action) -> String {
    match action {
        Action::Read { path, from, lines, .. } => format!("nl -ba {path} | sed -n '{from},{}p'", from + lines.len() - 1),
        Action::Search { pattern, folder, .. } => format!("grep -rnF '{pattern}' {folder}"),
        Action::Shell { command, .. } => command.clone(),
        Action::Edit { path, old, new, .. } => {
            format!(
                "python - <<'EOF'\nfrom pathlib import Path\npath = Path('{path}')\nold = '''{old}'''\nnew = '''{new}'''\ntext = path.read_text()\nassert text.count(old) == 1\npath.write_text(text.replace(old, new))\nEOF"
            )
        }
        Action::Export { station, count, .. } => format!("python -m tidewatch.export --station {station} --limit {count}"),
        Action::Task { .. } => "true".to_owned(),
    }
}

fn printed(action: &Action) -> (String, i64) {
    match action {
        Action::Read { from, lines, .. } => {
            (lines.iter().enumerate().map(|(index, line)| format!("{:6}\t{line}\n", from + index)).collect(), 0)
        }
        Action::Search { hits, .. } if hits.is_empty() => (String::new(), 1),
        Action::Search { hits, .. } => (hits.iter().map(|(path, number, line)| format!("{path}:{number}:{line}\n")).collect(), 0),
        Action::Shell { output, code, .. } => (output.clone(), *code),
        Action::Edit { found, .. } => (if *found { String::new() } else { "AssertionError\n".to_owned() }, i64::from(!found)),
        Action::Export { output, .. } => (output.clone(), 0),
        Action::Task { report, .. } => (report.clone(), 0),
    }
}
