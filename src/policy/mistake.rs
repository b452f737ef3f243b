//! Where in a document a mistake stands.

use super::error::PolicyError;
use super::suggestion::suggestion;
use crate::decode::{Mistake, place_of};

/// A mistake at the place where this word is written.
pub(super) fn no_such(origin: &str, text: &str, (word, reason): (String, String)) -> PolicyError {
    let (line, column) = place_of(text, &word, false).unwrap_or((1, 1));
    PolicyError::Invalid { origin: origin.to_owned(), line, column, reason }
}

/// Words of earlier versions, and what says the same now.
const RENAMED: [(&str, &str); 4] = [
    ("latch_on_fail", "`give_up_after = 1`: failures in a row after which the rule runs no more"),
    ("call_names", "`round_at = \"item\"`, by which a call is rounded with its name"),
    ("result_most", "the limit of `flatten`, by which results that stay are measured"),
    ("first_call", "`turn_start`, where the message that is about to enter counts in `pending`"),
];

/// A mistake that the decoder has found.
pub(super) fn invalid(origin: &str, mistake: &Mistake) -> PolicyError {
    let (line, column) = mistake.place.unwrap_or((1, 1));
    let message = mistake.message.as_str();
    let renamed = message.split('`').nth(1).and_then(|old| RENAMED.iter().find(|(name, _)| *name == old));
    let reason = match renamed {
        Some((old, now)) => format!("`{old}` is now {now}"),
        None => format!("{message}{}", unknown_word(message)),
    };
    PolicyError::Invalid { origin: origin.to_owned(), line, column, reason }
}

/// "unknown field `x`, expected one of `a`, `b`": the nearest of the expected words is worth more than their list.
pub(super) fn unknown_word(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(unknown) if message.starts_with("unknown") => suggestion(unknown, quoted),
        _ => String::new(),
    }
}
