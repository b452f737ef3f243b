//! One line on what was read.

use super::words::{counted, first_few};
use crate::corpus::CorpusFacts;

/// So many formats are named where there is little room.
const FORMATS: usize = 6;

/// One line on what was read.
pub fn title(facts: &CorpusFacts) -> String {
    let formats: Vec<String> = facts.formats.iter().map(|(format, files)| format!("{format} {files}")).collect();
    let formats = if formats.is_empty() { String::new() } else { format!(" ({})", first_few(&formats, formats.len())) };
    read_from(facts, &formats)
}

/// The same for a line with little room: many formats are counted.
pub fn short_title(facts: &CorpusFacts) -> String {
    match facts.formats.len() {
        0..=FORMATS => title(facts),
        many => read_from(facts, &format!(" of {many} formats")),
    }
}

fn read_from(facts: &CorpusFacts, formats: &str) -> String {
    let from = format!("{}{formats}", counted(facts.files, "file"));
    format!("{}, {} from {from}", counted(facts.sessions, "session"), counted(facts.calls, "recorded call"))
}
