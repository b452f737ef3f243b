//! Readings: calls that only look at something, and which of them ask for the same again.

use super::pieces::Pieces;
use crate::trace::{PartKind, PartRow, Reading, Trace};
use crate::units::Index;
use std::collections::BTreeMap;

/// Words of a tool's name that say that it shows what it is asked for.
const SHOWING: [&str; 7] = ["read", "readfile", "view", "cat", "open", "fetch", "webfetch"];

/// Words that say that it looks for something among many.
const SEARCHING: [&str; 6] = ["grep", "search", "glob", "find", "list", "ls"];

/// Words that say that it changes something, whatever the others say.
const CHANGING: [&str; 6] = ["edit", "write", "patch", "replace", "insert", "create"];

/// Programs that only look, as a shell names them.
const PROGRAMS: [&str; 14] = ["cat", "head", "tail", "less", "more", "nl", "bat", "ls", "tree", "find", "fd", "grep", "rg", "ag"];

/// Finds the readings of a session whose parts hold these pieces; `copies` says which messages are second showings.
///
/// A reading is a call of a tool whose name says that it looks, or a shell's command that begins with a program that looks and writes into no file. Two
/// readings ask for the same if tool and arguments are the same, of a shell the command.
pub fn find(trace: &mut Trace, held: &Pieces, copies: &[bool]) {
    // By part: the first result of the call that it is.
    let mut results = vec![Index::default(); trace.parts.len()];
    for (part, row) in trace.parts.iter().enumerate().rev() {
        if let Some(result) = row.answers.get().and_then(|call| results.get_mut(call as usize)) {
            *result = Some(part as u32).into();
        }
    }
    // Numbers in the order of first appearance stand for what is asked for and for files, so that no content is left.
    let mut requests: BTreeMap<(Option<u32>, u64), u32> = BTreeMap::new();
    let mut files: BTreeMap<u64, u32> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, row) in trace.messages.iter().enumerate().filter(|(index, _)| !copies.get(*index).copied().unwrap_or(false)) {
        for call in row.first_part..row.first_part + row.part_count {
            let Some(part) = trace.parts.get(call as usize).filter(|part| part.kind == PartKind::ToolCall) else { continue };
            let Some(asked) = asked_for(trace, held, call, &part) else { continue };
            let next = requests.len() as u32;
            let request = *requests.entry((part.tool.get(), asked)).or_insert(next);
            let subject = held.call(call).map_or(0, |call| call.subject);
            let next = files.len() as u32;
            let file = (subject != 0).then(|| *files.entry(subject).or_insert(next)).into();
            found.push(Reading { message: index as u32, result: results.get(call as usize).copied().unwrap_or_default(), request, file });
        }
    }
    found.shrink_to_fit();
    trace.readings = found;
}

/// A hash of what a reading asks for; `None` where the call is none.
fn asked_for(trace: &Trace, held: &Pieces, part: u32, call: &PartRow) -> Option<u64> {
    if let Some(call) = held.call(part).filter(|call| call.looks != 0) {
        return Some(call.looks);
    }
    let name = call.tool.get().and_then(|tool| trace.tools.get(tool as usize))?;
    Some(held.identity(part)).filter(|identity| *identity != 0 && looks(name))
}

/// Does a tool's name say that it looks and changes nothing?
fn looks(name: &str) -> bool {
    has_word(name, &SHOWING) && !has_word(name, &CHANGING) || searches(name)
}

/// Does a tool's name say that it looks for something in a file or folder, and shows no file as a whole?
pub fn searches(name: &str) -> bool {
    has_word(name, &SEARCHING) && !has_word(name, &SHOWING) && !has_word(name, &CHANGING)
}

/// Has a tool's name one of these words?
fn has_word(name: &str, known: &[&str]) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.iter().any(|word| known.contains(&word.as_str()))
}

/// Does a shell's command only look at something? It begins, behind a change of folder, with a program that does, and writes into no file.
pub fn only_looks(command: &str) -> bool {
    let mut command = command.trim();
    if let Some((_, rest)) = command.strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        command = rest.trim_start();
    }
    let first = command.split_whitespace().next().unwrap_or_default();
    let quiet = ["2>&1", "2>/dev/null", "2> /dev/null"].iter().fold(command.to_owned(), |text, idle| text.replace(idle, ""));
    let writes = quiet.contains('>') || [" -delete", " -exec", "xargs"].iter().any(|mark| quiet.contains(mark));
    (PROGRAMS.contains(&first) || command.starts_with("sed -n ")) && !writes
}
