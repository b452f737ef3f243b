//! The calls of a file in sums, by a reader and by a script that counts them straight from the raw file, in another language.

use crate::support::{files, project, python, read_all, skip};
use ctxsim::transcript::{Call, Transcript, Trust};
use std::path::PathBuf;

/// What a file says of its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Calls with usage.
    pub calls: u64,
    /// Prompt tokens of all calls.
    pub prompt: u64,
    /// Output tokens of all calls.
    pub output: u64,
    /// The largest prompt.
    pub max_prompt: u64,
}

/// All calls of a transcript: those of messages, of compactions and on the side.
pub fn calls(transcript: &Transcript) -> impl Iterator<Item = &Call> {
    let replies = transcript.messages.iter().filter_map(|message| message.call.as_deref());
    let summaries = transcript.compactions.iter().filter_map(|compaction| compaction.call.as_ref());
    replies.chain(summaries).chain(&transcript.side_calls)
}

/// The sums over these transcripts.
pub fn sums(transcripts: &[Transcript]) -> Sums {
    sums_of(transcripts.iter().flat_map(calls))
}

/// The sums over the calls of the conversations alone, without those on the side.
pub fn sums_of_replies(transcripts: &[Transcript]) -> Sums {
    sums_of(transcripts.iter().flat_map(|transcript| &transcript.messages).filter_map(|message| message.call.as_deref()))
}

fn sums_of<'c>(calls: impl Iterator<Item = &'c Call>) -> Sums {
    let mut sums = Sums::default();
    // A share of a sum is no count of a call: the readers' own tests hold sums and shares together.
    for usage in calls.filter_map(|call| call.usage).filter(|usage| usage.trust != Trust::Shared) {
        sums.calls += 1;
        sums.prompt += usage.prompt;
        sums.output += usage.output;
        sums.max_prompt = sums.max_prompt.max(usage.prompt);
    }
    sums
}

/// Readers of formats that hold no usage at all.
const WITHOUT_USAGE: [&str; 4] = ["sharegpt", "autogen", "messages-display", "summariser"];

/// What the script of this reader under `tests/independent` finds in each of the files. Absent (with the reason printed) where there
/// is no python3.
pub fn independent(reader: &str, files: &[PathBuf]) -> Option<Vec<Sums>> {
    if WITHOUT_USAGE.contains(&reader) {
        return Some(vec![Sums::default(); files.len()]);
    }
    let name = format!("{}.py", reader.replace('-', "_"));
    let text = python(&name, files)?;
    if text.trim() == "skipped" {
        skip("CTXSIM_REQUIRE_PYTHON", &format!("what {name} needs is not installed"));
        return None;
    }
    let row = |line: &str| {
        let numbers: Vec<u64> = line.split('\t').skip(1).map(|number| number.parse().unwrap()).collect();
        Sums { calls: numbers[0], prompt: numbers[1], output: numbers[2], max_prompt: numbers[3] }
    };
    let rows: Vec<Sums> = text.lines().map(row).collect();
    assert_eq!(rows.len(), files.len());
    Some(rows)
}

/// Compares the sums of a reader with those of its script, file by file.
pub fn compare(reader: &str, files: &[PathBuf]) {
    for (path, expected) in files.iter().zip(independent(reader, files).unwrap_or_default()) {
        assert_eq!(sums(&read_all(path).0), expected, "{}", path.display());
    }
}

/// The made files of readers that a script counts too; all of a folder where none is named.
const MADE: [(&str, &[&str]); 27] = [
    ("adk", &["broken.jsonl", "events.json", "session.json", "thought.json"]),
    ("agno", &["sessions.json", "unstored.json", "v1.json"]),
    ("aider", &["chat.md", "requests.txt"]),
    ("amp", &[]),
    ("cline", &["task1/api_conversation_history.json", "task2/ui_messages.json", "task3/api_conversation_history.json"]),
    ("claude-managed-agents", &[]),
    ("cline-cli", &["s1.messages.json"]),
    ("continue", &["session.json", "cli.json", "sums.json"]),
    ("copilot-cli", &["events.jsonl", "single.jsonl"]),
    ("deepseek-harness", &["session.jsonl"]),
    ("factory-droid", &["droid-1.jsonl", "droid-2.jsonl", "droid-3.jsonl"]),
    ("gemini-stream", &[]),
    ("grok-cli", &["sessions/%2Fx/grok-1/updates.jsonl", "sessions/%2Fy/grok-2/updates.jsonl", "updates.jsonl"]),
    ("hermes", &["export.jsonl"]),
    ("junie", &["session-1/events.jsonl", "unreported.jsonl"]),
    ("kimi-cli", &["s1/context.jsonl", "s2/context.jsonl", "s2/context_sub_1.jsonl"]),
    ("kimi-code", &["session_1/agents/main/wire.jsonl", "session_1/agents/scout/wire.jsonl", "older.jsonl"]),
    ("kiro-cli", &["conversation.json", "flat.jsonl", "plain.jsonl"]),
    ("langchain", &["broken.jsonl", "dict.json", "dumped.json", "state.json"]),
    (
        "mistral-vibe",
        &[
            "session_20260801_100000_0a1b2c3d/messages.jsonl",
            "session_20260801_100000_0a1b2c3d/agents/explore_20260801_100002_9f8e7d6c/messages.jsonl",
        ],
    ),
    ("muse", &["session.jsonl", "broken.jsonl", "muse-1/subagent/muse-3/session.jsonl"]),
    (
        "opencode",
        &[
            "export.json",
            "tree_since_0.6/storage/session/pr/ses_tree.json",
            "tree_before_0.6/project/src/storage/session/info/ses_tree.json",
        ],
    ),
    ("pi", &["version1.jsonl", "tree.jsonl", "broken.jsonl"]),
    ("pydantic-ai", &[]),
    ("qwen-code", &["session.jsonl"]),
    ("trae-agent", &[]),
    ("zed", &["thread.json", "older.json"]),
];

#[test]
fn an_independent_count_finds_the_same_calls() {
    for (reader, names) in MADE {
        let folder = project().join("tests/data").join(reader);
        let paths = if names.is_empty() { files(&folder) } else { names.iter().map(|name| folder.join(name)).collect() };
        compare(reader, &paths);
    }
}
