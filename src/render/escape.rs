//! Words of others, made harmless: what a terminal would obey, or a reader could not see, is shown instead.

use std::borrow::Cow;

/// Shows control characters (and with them terminal escapes), bidirectional controls and invisible characters as `\u{..}`.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hazardous) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_hazardous(letter) { out.extend(letter.escape_unicode()) } else { out.push(letter) }
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
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
