//! Every file of the folder of real transcripts: who claims it, and whether its calls are those of its row in `SOURCES.tsv` and those
//! of an independent count. Another folder of the same layout does as well: nothing is listed here but the exceptions.

use crate::sums::{independent, sums, sums_of_replies};
use crate::support::{claim, files, read_all, read_source, shared};
use ctxsim::format::{Claim, Source};
use ctxsim::transcript::{Loss, Transcript};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folders of formats that have a reader. One of them holds several, told apart by the beginning of the file's name.
const OWN: [(&str, &str); 33] = [
    ("claude-code/", "claude-code"),
    ("codex/", "codex"),
    ("pi/", "pi"),
    ("opencode-export/", "opencode"),
    ("opencode-sqlite/", "opencode"),
    ("opencode-wal/", "opencode"),
    ("gemini-cli/", "gemini-cli"),
    ("copilot-cli/", "copilot-cli"),
    ("crush-sqlite/", "crush"),
    ("opencode-go-sqlite/", "crush"),
    ("aider/", "aider"),
    ("dsh/", "deepseek-harness"),
    ("vscode-chat/", "vscode-chat"),
    ("mini_swe_traj/", "mini-swe-agent"),
    ("tau2_results/", "tau2"),
    ("tau2_task_json/", "tau2"),
    ("swe_agent_traj/", "swe-agent"),
    ("litellm_reqres_log/", "litellm"),
    ("openhands_output_jsonl/", "openhands"),
    ("openhands_events_json/", "openhands"),
    ("atif/openhands", "atif"),
    ("atif/terminus2", "atif"),
    ("tau1_results/", "tau-bench"),
    ("inspect_eval/", "inspect"),
    ("inspect_json/", "inspect"),
    ("openai_chat_jsonl/", "openai-chat"),
    ("api_reqres_jsonl/", "api-exchange"),
    ("vcr_yaml/", "vcr"),
    ("langfuse_trace/", "langfuse"),
    ("otlp_json/", "otlp"),
    ("sharegpt/", "sharegpt"),
    ("autogen_whowhen/", "autogen"),
    ("summariser_log/", "summariser"),
];

/// Files in folders of other formats that are rightly claimed all the same.
const GUESTS: [(&str, &str, &str); 6] = [
    ("atif/gemini-cli", "gemini-cli", "the chat that the trajectory beside it was made of"),
    ("fixtures/claude-code-log/", "claude-code", "sessions written for the tests of another program"),
    ("fixtures/agent-history/", "claude-code", "as above"),
    ("fixtures/agent-history/", "codex", "as above"),
    ("fixtures/agent-history/", "gemini-cli", "as above"),
    ("fixtures/dsh-mock/", "deepseek-harness", "sessions written for the tests of another program, with a model that is a program"),
];

/// Files that no reader takes, and why: `docs/formats.md` tells the same. Once one of them is read, its line may go.
const UNREAD: [(&str, &str); 7] = [
    ("SOURCES.", "the list of the files itself"),
    ("fixtures/agent-history/tests_fixtures_expected_values", "what another program's tests expect; no log"),
    ("fixtures/agent-history/tests_fixtures_v1_expected_values", "as above"),
    ("fixtures/agent-history/tests_fixtures_telemetry_", "lists of prompts that were typed, and events; no conversation"),
    ("opencode-sqlite/", "companions of a database"),
    ("opencode-wal/", "companions of a database"),
    ("atif/", "lists of what lies in the folder"),
];

/// Rows that describe something else than all calls of the file: calls, largest prompt, why.
const OTHERWISE: [(&str, u64, u64, &str); 18] = [
    ("api_reqres_jsonl/gemini_generate.dev.jsonl", 46, 1_482, "the row leaves out what tools of the provider's gave the model"),
    ("vcr_yaml/test_google_model_file_search_grounding_gemini_3_False_.yaml", 2, 975, "the same"),
    ("vcr_yaml/test_google_model_web_search_tool.yaml", 2, 495, "the same"),
    ("vcr_yaml/test_google_model_file_search_tool.yaml", 2, 1_482, "the same"),
    ("api_reqres_jsonl/openai_responses.dev.jsonl", 79, 115_886, "as below"),
    ("vcr_yaml/test_openai_responses_model_retry.yaml", 1, 335, "the row counts a call whose usage is all zeros: that is no measurement"),
    (
        "vcr_yaml/test_anthropic_advisor_tool_message_replay.yaml",
        2,
        1_311,
        "the row adds up the passes of a call with a tool of the provider's; the context is that of the last pass",
    ),
    ("langfuse_trace/agno-2025-06-11.trace.json", 2, 663, "the row counts the two spans around the two calls, which sum up what they hold"),
    ("langfuse_trace/vercel-aisdk-2025-11-17.trace.json", 1, 62, "the row counts the span around the call too"),
    (
        "inspect_json/2025-05-12T20-27-36-04-00_browser.json",
        5,
        5_915,
        "the totals say that the input holds its cached part already; the row adds it once more",
    ),
    (
        "api_reqres_jsonl/anthropic_messages.dev.jsonl",
        65,
        55_196,
        "the row counts responses; one of them holds a compaction that the provider made by a pass of its own",
    ),
    (
        "opencode-sqlite/session-bridge__imported-opencode.db",
        76,
        105_534,
        "the row describes the larger one of the two sessions in the database",
    ),
    (
        "copilot-cli/agentv__6a_6787e4f86b_0.jsonl",
        1,
        15_517,
        "the row has what the program took for the context at the exit; the one request read what the totals say",
    ),
    ("copilot-cli/agentv__d8_8be769afd1_0.jsonl", 0, 0, "the row counts replies; what their prompts were is not recorded"),
    ("crush-sqlite/fit-rs__fitrs-crush.db", 5, 106_405, "the row adds the reply of the session's last call to its prompt"),
    ("opencode-go-sqlite/Noora__noora-opencode.db", 0, 0, "its last call counts what was read from the cache among the reply"),
    ("opencode-go-sqlite/utils__utils-opencode.db", 4, 21_104, "as above, for the largest session, which the row has"),
    ("aider/Monochromatic__aider.chat.history.md.md", 39, 29_000, "the row leaves the rounded sizes out"),
];

/// Readers whose rows count the calls of the conversation alone, and why there are others.
const REPLIES_ALONE: [(&str, &str); 1] = [("tau2", "the model that plays the user is no part of the agent's session")];

/// Folders whose rows count calls in another way than by the recorded usage, and why.
const COUNTED_OTHERWISE: [(&str, &str); 1] =
    [("openhands_events_json/", "the rows know of a list of usage at the end only, and not of the response beside each action")];

/// A file with its path below the folder of transcripts, and its row: calls with usage, largest prompt, messages.
struct Entry {
    path: PathBuf,
    name: String,
    row: Option<(u64, u64)>,
    empty: bool,
}

fn entries(shared: &Path) -> Vec<Entry> {
    let transcripts = shared.join("transcripts");
    let table = std::fs::read_to_string(transcripts.join("SOURCES.tsv")).unwrap();
    let rows: BTreeMap<&str, (u64, u64, Option<u64>)> = table
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<&str>>())
        .filter(|row| row.len() > 6)
        .map(|row| (row[0], (row[5].parse().unwrap_or(0), row[6].parse().unwrap_or(0), row[4].parse().ok())))
        .collect();
    let mut found = Vec::new();
    let mut folders = vec![transcripts.clone()];
    while let Some(folder) = folders.pop() {
        for path in files(&folder) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&transcripts).unwrap().to_string_lossy().replace('\\', "/");
            let row = rows.get(name.as_str());
            let empty = row.is_some_and(|(.., messages)| *messages == Some(0));
            let row = row.map(|(calls, max_prompt, _)| (*calls, *max_prompt));
            found.push(Entry { path, name, row, empty });
        }
    }
    let missing: Vec<&&str> = rows.keys().filter(|name| !found.iter().any(|entry| entry.name == **name)).collect();
    assert!(missing.is_empty(), "listed, but not there: {missing:?}");
    found
}

/// The file as if it lay alone in a folder.
fn read_alone(path: &Path) -> (Vec<Transcript>, Vec<Loss>) {
    let elsewhere = Path::new("nowhere").join(path.file_name().unwrap());
    read_source(Source::from_reader(&elsewhere, Box::new(std::fs::File::open(path).unwrap())).unwrap())
}

fn owner(name: &str) -> Option<&'static str> {
    OWN.iter().find(|(start, _)| name.starts_with(start)).map(|(_, reader)| *reader)
}

#[test]
fn files_of_read_formats_have_the_calls_that_their_rows_name() {
    let Some(shared) = shared() else { return };
    let mut by_reader: BTreeMap<&str, Vec<Entry>> = BTreeMap::new();
    for entry in entries(&shared) {
        let Some(reader) = owner(&entry.name) else { continue };
        let (claimed_by, claim) = claim(&entry.path).unwrap_or_else(|| panic!("no reader claims {}", entry.name));
        assert_eq!(claimed_by, reader, "{}", entry.name);
        // A call logged by itself has a row of its own, though it is read with the first of its session.
        if (claim != Claim::Companion || reader == "litellm") && !(cfg!(not(feature = "sqlite")) && entry.name.ends_with(".db")) {
            by_reader.entry(reader).or_default().push(entry);
        }
    }
    for (reader, entries) in by_reader {
        let paths: Vec<PathBuf> = entries.iter().map(|entry| entry.path.clone()).collect();
        let counted = independent(reader, &paths);
        for (index, Entry { path, name, row, empty }) in entries.iter().enumerate() {
            let (transcripts, losses) = if reader == "litellm" { read_alone(path) } else { read_all(path) };
            assert!(
                (!transcripts.is_empty() || (*empty && row.is_some_and(|(calls, _)| calls == 0)))
                    && transcripts.iter().all(|transcript| !transcript.messages.is_empty()),
                "{name}"
            );
            let found = sums(&transcripts);
            let otherwise = OTHERWISE.iter().find(|(listed, ..)| listed == name).map(|(_, calls, max_prompt, _)| (*calls, *max_prompt));
            let counted_otherwise = COUNTED_OTHERWISE.iter().any(|(folder, _)| name.starts_with(folder));
            if let Some(expected) = otherwise.or(row.filter(|_| !counted_otherwise)) {
                let listed = if REPLIES_ALONE.iter().any(|(alone, _)| *alone == reader) { sums_of_replies(&transcripts) } else { found };
                assert_eq!((listed.calls, listed.max_prompt), expected, "{name} {losses:?}");
            }
            if let Some(counted) = &counted {
                assert_eq!(found, counted[index], "{name}");
            }
            for loss in losses {
                println!("{name}: {} ({} times, first at {})", loss.reason, loss.count, loss.first_line);
            }
        }
    }
}

#[test]
fn files_of_other_formats_are_left_alone_or_read_as_what_they_are() {
    let Some(shared) = shared() else { return };
    for Entry { path, name, row, .. } in entries(&shared).into_iter().filter(|entry| owner(&entry.name).is_none()) {
        let Some((reader, _)) = claim(&path) else {
            assert!(UNREAD.iter().any(|(start, _)| name.starts_with(start)), "no reader takes {name}");
            continue;
        };
        let explained = GUESTS.iter().find(|(start, guest, _)| name.starts_with(start) && *guest == reader);
        assert!(explained.is_some(), "{reader} claims {name}");
        let found = sums(&read_all(&path).0);
        println!("{name}: {reader}, {found:?}");
        if let Some([counted]) = independent(reader, &[path]).as_deref() {
            assert_eq!(&found, counted, "{name}");
        }
        // Fixtures and chats beside their trajectories are listed without their calls.
        let described = row.filter(|(calls, _)| *calls > 0);
        assert!(described.is_none_or(|row| row == (found.calls, found.max_prompt)), "{name} {found:?}");
    }
}

/// Files of the second folder that give nothing, and why.
const UNREAD_2: [(&str, &str); 1] =
    [("factory/linux-home-marmutapp-needlehaystack/774f4bf6-8025-4790-95b6-e8f854f09891.jsonl", "a session in which nothing was said")];

/// The second folder: its table names the format of each file, and nothing of the calls.
#[test]
fn files_of_the_second_folder_have_the_calls_that_a_script_counts() {
    let Some(folder) = shared().map(|shared| shared.join("transcripts-2")) else { return };
    if !folder.is_dir() {
        return crate::support::skip("CTXSIM_REQUIRE_SHARED", "no second folder of real transcripts");
    }
    let table = std::fs::read_to_string(folder.join("SOURCES.tsv")).unwrap();
    let mut by_reader: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for row in table.lines().skip(1) {
        let (name, format) = row.split_once('\t').map(|(name, rest)| (name, rest.split('\t').next().unwrap())).unwrap();
        let expected = if format == "opencode-export" { "opencode" } else { format };
        let path = folder.join(name);
        let (reader, claim) = claim(&path).unwrap_or_else(|| panic!("no reader claims {name}"));
        assert_eq!(reader, expected, "{name}");
        // Packed files are further ones of formats that the first folder holds too, and scripts do not unpack.
        if claim != Claim::Companion && path.extension().is_none_or(|ending| ending != "gz") {
            by_reader.entry(reader).or_default().push(path);
        }
    }
    for (reader, paths) in by_reader {
        for (path, counted) in paths.iter().zip(independent(reader, &paths).unwrap_or_default()) {
            let (transcripts, losses) = read_all(path);
            let unread = UNREAD_2.iter().any(|(name, _)| path.ends_with(name));
            assert!(unread == transcripts.is_empty(), "{} {losses:?}", path.display());
            assert_eq!(sums(&transcripts), counted, "{}", path.display());
        }
    }
}
