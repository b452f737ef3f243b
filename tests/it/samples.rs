//! The sample corpus is what its generator writes, and its table says what the files hold: counted here by plain JSON reading, without
//! the generator's code and without the program's readers.

#[path = "../../examples/make_transcripts/corpus/mod.rs"]
mod corpus;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts")
}

fn read(path: &str) -> String {
    fs::read_to_string(folder().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn lines(path: &str) -> Vec<Value> {
    read(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn files_below(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() { files_below(&entry.path(), &format!("{path}/"), found) } else { assert!(found.insert(path)) }
    }
}

#[test]
fn the_generator_writes_the_same_bytes_again() {
    let elsewhere = tempfile::tempdir().unwrap();
    for file in corpus::files() {
        let path = elsewhere.path().join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &file.content).unwrap();
    }
    let (mut ours, mut shipped) = (BTreeSet::new(), BTreeSet::new());
    files_below(elsewhere.path(), "", &mut ours);
    files_below(&folder(), "", &mut shipped);
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

fn tokens(text: &str, percent: u64) -> u64 {
    (tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64 * percent + 50) / 100
}

/// The texts of a Claude Code user line: what was said, or the tool results.
fn said(content: &Value) -> Vec<&str> {
    match content.as_array() {
        Some(blocks) => blocks.iter().filter_map(|block| block["content"].as_str()).collect(),
        None => content.as_str().into_iter().collect(),
    }
}

/// `R(k+1) - R(k)` is the output of call k and what came after it, to the token.
#[test]
fn prompts_of_claude_code_are_explained_to_the_token() {
    for (path, percent, breaks) in [("claude-code/long-window.jsonl", 157, 0), ("claude-code/automatic-compaction.jsonl", 125, 1)] {
        let (mut expected, mut last_id, mut broken, mut checked) = (None, String::new(), 0, 0);
        for line in lines(path) {
            let message = &line["message"];
            if line["subtype"] == "compact_boundary" {
                expected = None;
                broken += 1;
            } else if line["type"] == "user" {
                let cost: u64 = said(&message["content"]).iter().map(|text| tokens(text, percent) + 7).sum();
                expected = expected.map(|size| size + cost);
            } else if message["usage"].is_object() && message["id"] != last_id.as_str() {
                last_id = message["id"].as_str().unwrap().to_owned();
                let prompt = anthropic_prompt(&message["usage"]);
                if let Some(size) = expected {
                    assert_eq!(prompt, size, "{path} {last_id}");
                    checked += 1;
                }
                expected = Some(prompt + number(&message["usage"], "output_tokens"));
            }
        }
        assert_eq!(broken, breaks, "{path}");
        assert!(checked > 90, "{path}: only {checked} calls were checked");
    }
}

/// The same for Codex, where reasoning is not sent back.
#[test]
fn prompts_of_codex_are_explained_to_the_token() {
    let (mut expected, mut total, mut checked, mut broken) = (None, 0, 0, 0);
    for line in lines("codex/compaction.jsonl") {
        let payload = &line["payload"];
        let info = &payload["info"];
        let now = number(&info["total_token_usage"], "total_tokens");
        if line["type"] == "compacted" {
            expected = None;
            broken += 1;
        } else if info.is_object() && now != total {
            total = now;
            let usage = &info["last_token_usage"];
            if let Some(size) = expected {
                assert_eq!(number(usage, "input_tokens"), size);
                checked += 1;
            }
            expected = Some(number(usage, "total_tokens") - number(usage, "reasoning_output_tokens"));
        } else if let Some(output) = payload["output"].as_str() {
            expected = expected.map(|size| size + tokens(output, 100) + 4);
        } else if line["type"] == "response_item" && payload["role"] == "user" {
            let text = payload["content"][0]["text"].as_str().unwrap();
            expected = expected.map(|size| size + tokens(text, 100) + 4);
        }
    }
    assert_eq!(broken, 1);
    assert!(checked > 90, "only {checked} calls were checked");
}
