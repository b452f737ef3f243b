//! Words of others, made harmless: what a terminal or a build server would obey, or a reader could not see, is shown instead.

use std::borrow::Cow;

/// How GitHub's older commands begin, wherever they stand in a line of a workflow's log.
pub(super) const OLD_COMMAND: &str = "##[";

/// Shows control characters (and with them ends of lines and terminal escapes), bidirectional controls and invisible characters as `\u{..}`; and
/// the first sign of what a GitHub workflow would take for a command: `::` where a word begins, as a line may begin there, and `##[`.
pub fn escape(text: &str) -> Cow<'_, str> {
    let is_plain = !text.contains("::") && !text.contains(OLD_COMMAND);
    if is_plain && !text.chars().any(is_hazardous) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = None;
    for (at, letter) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let begins_word = before.is_none_or(|before: char| before.is_whitespace() || is_hazardous(before));
        let is_command = rest.starts_with(OLD_COMMAND) || begins_word && rest.starts_with("::");
        // A selector behind a picture chooses how it is drawn, and is no letter that hides.
        let is_emoji = letter == '\u{fe0f}' && before.is_some_and(|before| !before.is_ascii() && !is_hazardous(before));
        let hides = is_hazardous(letter) && !is_emoji;
        if hides || is_command {
            out.extend(letter.escape_unicode())
        } else {
            out.push(letter)
        }
        before = Some(letter);
    }
    Cow::Owned(out)
}

/// Text in which HTML, SVG and XML find nothing to act upon, within an element or an attribute's quotes, and no character that XML forbids.
pub(super) fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in escape(text).chars() {
        match letter {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\u{fffe}' | '\u{ffff}' => out.extend(letter.escape_unicode()),
            other => out.push(other),
        }
    }
    out
}

/// Would this character change how its neighbours are shown, or hide among them?
pub(super) fn is_hazardous(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
            // Selectors of variants; letters of Hangul and Braille that are blank.
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}')
}
