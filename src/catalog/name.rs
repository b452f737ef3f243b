//! How logs spell the names of models.

/// The mark by which Claude Code asks for the bigger window.
const LONG_CONTEXT: &str = "[1m]";

/// A model's name in a log, less what says where it is hosted.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    spelled: &'a str,
    /// Was the bigger window asked for?
    pub(super) long_context: bool,
}

impl<'a> Name<'a> {
    /// Takes a name apart: the path in front (`openrouter/anthropic/`), the mark of the bigger window, the revision of Bedrock (`-v1:0`).
    pub(super) fn new(spelled: &'a str) -> Name<'a> {
        let spelled = spelled.rsplit('/').next().unwrap_or(spelled).trim();
        let (spelled, long_context) = match spelled.len().checked_sub(LONG_CONTEXT.len()).and_then(|end| spelled.split_at_checked(end)) {
            Some((stem, mark)) if mark.eq_ignore_ascii_case(LONG_CONTEXT) => (stem, true),
            _ => (spelled, false),
        };
        Name { spelled: without_revision(spelled), long_context }
    }

    /// The spelling under which names are compared: lower case, and a dash for each dot, colon and at sign.
    pub(super) fn key(self) -> String {
        self.spelled.chars().map(|letter| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }).collect()
    }

    /// The name without a vendor in front of it (`us.anthropic.`, `openai:`), where the first word can be one.
    pub(super) fn without_vendor(self) -> Option<Name<'a>> {
        let (vendor, spelled) = self.spelled.split_once(['.', ':'])?;
        let vendor = vendor.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-');
        (vendor && spelled.starts_with(|first: char| first.is_ascii_alphabetic())).then_some(Name { spelled, ..self })
    }
}

/// Cuts off `-v1:0` and `-1:0`.
fn without_revision(spelled: &str) -> &str {
    match spelled.rsplit_once(':') {
        Some((stem, minor)) if !minor.is_empty() && minor.bytes().all(|digit| digit.is_ascii_digit()) => {
            stem.rsplit_once('-').map_or(stem, |(stem, _)| stem)
        }
        _ => spelled,
    }
}

/// Does what follows a model's name make it another version (`9` after `gpt-5`, `6v` after `glm-4`)?
/// Dates, revisions and sizes do not: `2025-08-07`, `0613`, `001`, `70b`.
pub(super) fn names_another_version(rest: &str) -> bool {
    let first = rest.split('-').next().unwrap_or(rest);
    if !first.starts_with(|letter: char| letter.is_ascii_digit()) {
        return false;
    }
    let digits = |text: &str| text.bytes().all(|letter| letter.is_ascii_digit());
    let date_or_revision = digits(first) && (first.len() >= 3 || first.len() == 2 && first.starts_with('0'));
    let size = first.strip_suffix('b').is_some_and(digits);
    !date_or_revision && !size
}
