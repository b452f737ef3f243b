//! For GitHub's workflows: checks as commands that its log turns into annotations.

use super::escape::escape;
use crate::report::{Check, Outcome};

/// One line per check: an error for each that is broken, a warning where that cannot be told, a notice for each that is kept.
pub fn github(suite: &str, checks: &[Check]) -> String {
    let line = |check: &Check| {
        let command = match check.outcome {
            Outcome::Broken => "error",
            Outcome::CannotTell => "warning",
            Outcome::Kept => "notice",
        };
        format!("::{command} title={}::{}\n", property(&format!("{suite}: {}", check.name)), message(&check.sentence))
    };
    checks.iter().map(line).collect()
}

/// Text behind the last colons: percent signs and ends of lines are written as GitHub's own toolkit writes them.
fn message(text: &str) -> String {
    escape(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text between them: colons and commas too.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
