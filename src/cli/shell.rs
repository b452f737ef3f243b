//! Words for a shell.

use crate::reading::path_of;

/// An option with its values as they would be typed again, the option before each; nothing without a value.
pub fn option(option: &str, values: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    values.into_iter().flat_map(|value| [option.to_owned(), value.to_string()]).collect()
}

/// An option without a value, where it is typed.
pub fn flag(option: &str, is_typed: bool) -> Vec<String> {
    is_typed.then(|| option.to_owned()).into_iter().collect()
}

/// Words as a shell would take them.
pub fn quoted(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty() && !word.starts_with('~') && word.chars().all(|letter| letter.is_alphanumeric() || "_-./@:=,+%~".contains(letter))
    };
    // Bytes that are no text stand as bash and zsh read them.
    let raw = |word: &str| {
        let path = path_of(word);
        let bytes = path.as_os_str().as_encoded_bytes();
        path.to_str().is_none().then(|| {
            let parts = bytes.utf8_chunks().map(|chunk| {
                let hidden = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
                chunk.valid().replace('\\', "\\\\").replace('\'', "\\'") + &hidden
            });
            format!("$'{}'", parts.collect::<String>())
        })
    };
    let quote = |word: &String| {
        if let Some(raw) = raw(word) {
            raw
        } else if plain(word) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
