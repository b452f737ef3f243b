//! The sample corpus is what its generator writes, and its table says what the files hold: counted here by plain JSON reading, without
//! the generator's code and without the program's readers.

#[path = "../../examples/make_transcripts/corpus/mod.rs"]
mod corpus;

use crate::support::{names_below, project};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    project().join("transcripts")
}

fn read(path: &str) -> String {
    fs::read_to_string(folder().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn lines(path: &str) -> Vec<Value> {
    read(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_generator_writes_the_same_bytes_again() {
    let elsewhere = tempfile::tempdir().unwrap();
    for file in corpus::files() {
        let path = elsewhere.path().join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &file.content).unwrap();
    }
    let (ours, shipped) = (names_below(elsewhere.path()), names_below(&folder()));
    assert_eq!(ours, shipped);
    for path in &ours {
        let same = fs::read(elsewhere.path().join(path)).unwrap() == fs::read(folder().join(path)).unwrap();
        assert!(same, "{path} differs: run the generator again");
    }
    let bytes: u64 = shipped.iter().map(|path| folder().join(path).metadata().unwrap().len()).sum();
    assert!(bytes <= 6_000_000, "the corpus has grown to {bytes} bytes");
}

/// Sessions, calls with usage, largest prompt.
type Counts = (u64, u64, u64);

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

fn summed(sessions: u64, prompts: &[u64]) -> Counts {
    (sessions, prompts.len() as u64, prompts.iter().copied().max().unwrap_or(0))
}

fn anthropic_prompt(usage: &Value) -> u64 {
    number(usage, "input_tokens") + number(usage, "cache_creation_input_tokens") + number(usage, "cache_read_input_tokens")
}

fn claude_code(path: &str) -> Counts {
    let (mut prompts, mut contexts) = (BTreeMap::new(), BTreeSet::new());
    for line in lines(path) {
        let message = &line["message"];
        if message["usage"].is_object() {
            prompts.insert(message["id"].to_string(), anthropic_prompt(&message["usage"]));
            contexts.insert(line["isSidechain"] == true);
        }
    }
    summed(contexts.len() as u64, &prompts.into_values().collect::<Vec<_>>())
}

fn codex(path: &str) -> Counts {
    let (mut prompts, mut total) = (Vec::new(), 0);
    for line in lines(path) {
        let info = &line["payload"]["info"];
        let now = number(&info["total_token_usage"], "total_tokens");
        if info.is_object() && now != total {
            total = now;
            prompts.push(number(&info["last_token_usage"], "input_tokens"));
        }
    }
    summed(1, &prompts)
}

fn pi(path: &str) -> Counts {
    let usages: Vec<Value> = lines(path).iter().map(|line| line["message"]["usage"].clone()).filter(Value::is_object).collect();
    let prompts: Vec<u64> =
        usages.iter().map(|usage| number(usage, "input") + number(usage, "cacheRead") + number(usage, "cacheWrite")).collect();
    for (usage, prompt) in usages.iter().zip(&prompts) {
        assert_eq!(number(usage, "totalTokens"), prompt + number(usage, "output"));
    }
    summed(1, &prompts)
}

fn document(path: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(&read(path)).unwrap();
    document["messages"].as_array().unwrap().clone()
}

fn opencode(path: &str) -> Counts {
    let tokens = document(path).into_iter().map(|message| message["info"]["tokens"].clone()).filter(Value::is_object);
    let prompts: Vec<u64> =
        tokens.map(|tokens| number(&tokens, "input") + number(&tokens["cache"], "read") + number(&tokens["cache"], "write")).collect();
    summed(1, &prompts)
}

fn mini_swe(path: &str) -> Counts {
    let usages = document(path).into_iter().map(|message| message["extra"]["response"]["usage"].clone()).filter(Value::is_object);
    summed(1, &usages.map(|usage| number(&usage, "prompt_tokens")).collect::<Vec<_>>())
}

fn gemini(path: &str) -> Counts {
    let tokens = document(path).into_iter().map(|message| message["tokens"].clone()).filter(Value::is_object);
    summed(1, &tokens.map(|tokens| number(&tokens, "input")).collect::<Vec<_>>())
}

#[test]
fn the_table_says_what_the_files_hold() {
    let page = read("SOURCES.md");
    let rows: Vec<Vec<&str>> =
        page.lines().filter(|line| line.starts_with('|')).map(|line| line.split('|').map(str::trim).collect()).collect();
    let files: Vec<_> = rows.iter().filter(|row| row[1].contains('/')).collect();
    assert!(files.len() >= 15);
    let mut sum = (0, 0, 0);
    for row in files {
        let (path, format) = (row[1], row[2]);
        let counted = match format {
            "claude-code" => claude_code(path),
            "codex" => codex(path),
            "pi" => pi(path),
            "opencode" => opencode(path),
            "mini-swe-agent" => mini_swe(path),
            "gemini-cli" => gemini(path),
            _ => panic!("{format} is not counted here"),
        };
        let said: Vec<u64> = row[4..7].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!((said[0], said[1], said[2]), counted, "{path}");
        sum = (sum.0 + counted.0, sum.1 + counted.1, sum.2.max(counted.2));
    }
    let all = rows.iter().find(|row| row[1] == "**all**").unwrap();
    assert_eq!((all[4], all[5], all[6]), (&*sum.0.to_string(), &*sum.1.to_string(), &*sum.2.to_string()));
}

/// What a session's context went through, read from its file.
enum Event {
    /// A call: its prompt, and what its reply costs later.
    Call(u64, u64),
    /// A message of one text.
    Said(String),
    /// The context was rewritten.
    Break,
}

fn texts(content: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match content.as_array() {
        Some(blocks) => blocks.iter().filter_map(|block| text(&block["content"]).or_else(|| text(&block["text"]))).collect(),
        None => text(content).into_iter().collect(),
    }
}

fn claude_code_events(path: &str) -> Vec<Event> {
    let (mut events, mut last) = (Vec::new(), Value::Null);
    for line in lines(path).into_iter().filter(|line| line["isSidechain"] != true || path.contains("subagents")) {
        let message = &line["message"];
        if line["subtype"] == "compact_boundary" {
            events.push(Event::Break);
        } else if line["type"] == "user" {
            events.extend(texts(&message["content"]).into_iter().map(Event::Said));
        } else if message["usage"].is_object() {
            let call = Event::Call(anthropic_prompt(&message["usage"]), number(&message["usage"], "output_tokens"));
            // Each block repeats the call; the last one has the final output.
            match events.last_mut().filter(|_| last == message["id"]) {
                Some(event) => *event = call,
                None => events.push(call),
            }
            last = message["id"].clone();
        }
    }
    events
}

fn codex_events(path: &str) -> Vec<Event> {
    let (mut events, mut total) = (Vec::new(), 0);
    for line in lines(path) {
        let payload = &line["payload"];
        let now = number(&payload["info"]["total_token_usage"], "total_tokens");
        if line["type"] == "compacted" {
            events.push(Event::Break);
        } else if payload["info"].is_object() && now != total {
            total = now;
            let usage = &payload["info"]["last_token_usage"];
            let reply = number(usage, "output_tokens") - number(usage, "reasoning_output_tokens");
            events.push(Event::Call(number(usage, "input_tokens"), reply));
        } else if line["type"] == "response_item" && payload["role"] != "assistant" {
            events.extend(texts(&payload["output"]).into_iter().chain(texts(&payload["content"])).map(Event::Said));
        }
    }
    events
}

fn pi_events(path: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for line in lines(path) {
        let message = &line["message"];
        let usage = &message["usage"];
        if line["type"] == "compaction" || line["type"] == "branch_summary" {
            events.push(Event::Break);
        } else if usage.is_object() {
            let prompt = number(usage, "input") + number(usage, "cacheRead") + number(usage, "cacheWrite");
            events.push(Event::Call(prompt, number(usage, "output")));
        } else {
            events.extend(texts(&message["content"]).into_iter().map(Event::Said));
        }
    }
    events
}

fn opencode_events(path: &str) -> Vec<Event> {
    let messages = document(path);
    let results = |message: &Value| message["parts"].as_array().unwrap().clone();
    let pruned: BTreeSet<u64> =
        messages.iter().flat_map(results).map(|part| number(&part["state"]["time"], "compacted")).filter(|time| *time > 0).collect();
    let (mut events, mut before) = (Vec::new(), 0);
    for message in &messages {
        let tokens = &message["info"]["tokens"];
        let time = number(&message["info"]["time"], "created");
        if pruned.range(before..time).next().is_some() || message["info"]["summary"] == true {
            events.push(Event::Break);
        }
        before = time;
        if message["info"]["summary"] == true {
            continue;
        }
        if tokens.is_object() {
            let prompt = number(tokens, "input") + number(&tokens["cache"], "read") + number(&tokens["cache"], "write");
            events.push(Event::Call(prompt, number(tokens, "output")));
        }
        for part in results(message) {
            let said = texts(&part["state"]["output"]).into_iter().chain(texts(&part["state"]["error"]));
            events.extend(said.map(Event::Said));
            if message["info"]["role"] == "user" {
                events.extend(texts(&part["text"]).into_iter().map(Event::Said));
            }
        }
    }
    events
}

fn mini_swe_events(path: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for message in document(path) {
        let usage = &message["extra"]["response"]["usage"];
        if usage.is_object() {
            let reply = number(usage, "completion_tokens") - number(&usage["completion_tokens_details"], "reasoning_tokens");
            events.push(Event::Call(number(usage, "prompt_tokens"), reply));
        } else {
            events.extend(texts(&message["content"]).into_iter().map(Event::Said));
        }
    }
    events
}

fn gemini_events(path: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for message in document(path) {
        if message["tokens"].is_object() {
            events.push(Event::Call(number(&message["tokens"], "input"), number(&message["tokens"], "output")));
            for call in message["toolCalls"].as_array().into_iter().flatten() {
                let response = &call["result"][0]["functionResponse"]["response"];
                events.extend(texts(&response["output"]).into_iter().chain(texts(&response["error"])).map(Event::Said));
            }
        } else {
            events.extend(texts(&message["content"]).into_iter().map(Event::Said));
        }
    }
    events
}

/// `R(k+1) - R(k)` is what the reply of call k costs and what was said after it, wherever the context was not rewritten in between.
/// Hands back how many differences were checked, and how many rewritings there are.
fn explained(path: &str, events: &[Event], percent: u64, per_message: u64) -> (usize, usize) {
    let (mut expected, mut checked, mut breaks) = (None, 0, 0);
    for event in events {
        match event {
            Event::Break => {
                expected = None;
                breaks += 1;
            }
            Event::Said(text) => {
                let counted = tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64;
                expected = expected.map(|size| size + (counted * percent + 50) / 100 + per_message);
            }
            Event::Call(prompt, reply) => {
                if let Some(size) = expected {
                    assert_eq!(*prompt, size, "{path}: call {checked}");
                    checked += 1;
                }
                expected = Some(prompt + reply);
            }
        }
    }
    (checked, breaks)
}

#[test]
fn every_prompt_is_explained_to_the_token() {
    let (new_claude, claude, gpt, gemini) = ((157, 7), (125, 7), (100, 4), (120, 5));
    let sessions = [
        ("claude-code/long-window.jsonl", claude_code_events as fn(&str) -> Vec<Event>, new_claude, 101, 0),
        ("claude-code/automatic-compaction.jsonl", claude_code_events, claude, 98, 1),
        ("claude-code/inline-sub-agent.jsonl", claude_code_events, claude, 15, 0),
        ("claude-code/chinese.jsonl", claude_code_events, claude, 17, 0),
        ("codex/compaction.jsonl", codex_events, gpt, 118, 1),
        ("codex/small.jsonl", codex_events, gpt, 37, 0),
        ("pi/sudden-results.jsonl", pi_events, claude, 82, 1),
        ("opencode/prune-and-compaction.json", opencode_events, claude, 122, 2),
        ("opencode/sub-agent.json", opencode_events, claude, 5, 0),
        ("mini-swe-agent/120-steps.traj.json", mini_swe_events, gpt, 119, 0),
        ("mini-swe-agent/tool-calls.traj.json", mini_swe_events, gpt, 25, 0),
        ("gemini-cli/session.json", gemini_events, gemini, 37, 0),
    ];
    for (path, events, (percent, per_message), checked, breaks) in sessions {
        assert_eq!(explained(path, &events(path), percent, per_message), (checked, breaks), "{path}");
    }
}
