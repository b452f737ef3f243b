//! Which files are logs of Claude Code, by their records.

use super::forks;
use super::record::Record;
use crate::format::ground::Source;
use crate::format::reader::Claim;

/// Claims files whose records have Claude Code's ids.
pub(super) fn claims(source: &Source) -> Claim {
    if forks::is_companion(source) {
        return Claim::Companion;
    }
    if is_list(source) {
        let first = source.outline();
        let streamed = matches!(first.text("[].type"), "system" | "user" | "assistant") && first.has("[].session_id");
        let hook = first.text("[].subtype").starts_with("hook_") && first.has("[].hook_id");
        let own = hook || first.has("[].parent_tool_use_id") || (first.text("[].subtype") == "init" && first.has("[].tools"));
        return Claim::when(streamed && own);
    }
    if is_document(source) {
        return Claim::Yes;
    }
    let mut best = Claim::No;
    // Lines without any of these say nothing here, and need not be decoded.
    let telling = ["sessionId", "session_id", "leafUuid", "isSnapshotUpdate", "usageMetadata", "systemPayload", "parts\":["];
    for line in source.head_text().lines().filter(|line| telling.iter().any(|key| line.contains(key))) {
        best = best.max(match serde_json::from_str::<Record>(line) {
            Ok(record) if is_foreign(&record, line) => return Claim::No,
            Ok(record) => claim(&record, line),
            // A long line is cut by the end of the head; others are damaged.
            Err(_) if is_cut_record(line) => Claim::Maybe,
            Err(_) => Claim::No,
        });
        if best == Claim::Yes {
            break;
        }
    }
    best
}

/// What the program prints is kept by some as one list.
pub(super) fn is_list(source: &Source) -> bool {
    source.head_text().trim_start().starts_with('[')
}

/// Is it a document that holds the records: a session's lines in one list, or what programs that start the agent record of its lines?
pub(super) fn is_document(source: &Source) -> bool {
    let shows = |signature| source.outline().shows(signature);
    shows("loglines[].type loglines[].message") || shows("metadata.cli_version messages[].direction messages[].message.type")
}

/// A relative of Gemini CLI links its records in the same way, but its messages have parts and its notes payloads.
fn is_foreign(record: &Record<'_>, line: &str) -> bool {
    let marks = ["\"usageMetadata\"", "\"systemPayload\""];
    marks.iter().any(|mark| line.contains(mark)) || (record.message.is_some() && line.contains("\"parts\":["))
}

fn claim(record: &Record<'_>, line: &str) -> Claim {
    let logged = !record.is_streamed() && !record.session().is_empty();
    let linked = line.contains("\"parentUuid\"") && !record.uuid.is_empty() && logged;
    match &*record.kind {
        "user" | "assistant" | "system" | "progress" | "attachment" if linked => Claim::Yes,
        // Tools that keep a log in short leave the links out. Anthropic's usage tells it from logs of relatives.
        "assistant" if logged && record.message.as_ref().is_some_and(|wire| !wire.id.is_empty() && wire.usage.is_some()) => Claim::Maybe,
        "summary" if !record.leaf_uuid.is_empty() => Claim::Yes,
        "file-history-snapshot" if line.contains("\"isSnapshotUpdate\"") => Claim::Maybe,
        "queue-operation" | "permission-mode" | "custom-title" | "mode" | "last-prompt" if logged => Claim::Maybe,
        "system" if record.is_streamed() && &*record.subtype == "init" && line.contains("\"tools\"") => Claim::Yes,
        // Hooks run before it, and may say more than the head holds.
        "system" if record.is_streamed() && record.subtype.starts_with("hook_") && line.contains("\"hook_id\"") => Claim::Yes,
        "system" if record.is_streamed() && STATES.contains(&&*record.subtype) => Claim::Maybe,
        "user" | "assistant" if record.is_streamed() && record.message.is_some() && line.contains("\"parent_tool_use_id\"") => Claim::Yes,
        _ => Claim::No,
    }
}

/// What the program prints of its own state.
const STATES: [&str; 4] = ["status", "api_retry", "compact_boundary", "task_started"];

fn is_cut_record(line: &str) -> bool {
    let marks = ["\"parentUuid\":", "\"sessionId\":", "\"isSidechain\":"];
    line.starts_with('{') && marks.iter().all(|mark| line.contains(mark)) && !line.contains("\"parts\":[")
}
