//! Words for a shell.

/// Words as a shell would take them.
pub fn quoted(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty() && !word.starts_with('~') && word.chars().all(|letter| letter.is_alphanumeric() || "_-./@:=,+%~".contains(letter))
    };
    let quote = |word: &String| if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
