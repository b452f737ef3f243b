//! A request and its response in files of their own, by their names: `request.json` and `response.json`, `chat_request.json` and `chat_response.json`,
//! `req-1.json` and `resp-1.json`. The names are those that people give.

use std::path::{Path, PathBuf};

/// Which half of an exchange a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// What was sent.
    Request,
    /// What came back.
    Response,
}

/// Words in names of files, with those of the other half.
const NAMES: [(&str, Half, &[&str]); 5] = [
    ("request", Half::Request, &["response"]),
    ("req", Half::Request, &["resp", "res"]),
    ("response", Half::Response, &["request"]),
    ("resp", Half::Response, &["req"]),
    ("res", Half::Response, &["req"]),
];

/// The half that a file holds by its name, and where the other one lies; `None` where the name says neither.
pub fn half(path: &Path) -> Option<(Half, Vec<PathBuf>)> {
    let name = path.file_name()?.to_str()?;
    NAMES.iter().find_map(|(word, half, others)| {
        let (before, held, behind) = standing(name, word)?;
        let named = |other: &&str| path.with_file_name(format!("{before}{}{behind}", cased(other, held)));
        Some((*half, others.iter().map(named).collect()))
    })
}

/// A name before, at and behind the last place where this word stands by itself in it.
fn standing<'n>(name: &'n str, word: &str) -> Option<(&'n str, &'n str, &'n str)> {
    let lower = name.to_ascii_lowercase();
    lower.rmatch_indices(word).find_map(|(at, _)| {
        let (before, rest) = name.split_at_checked(at)?;
        let (held, behind) = rest.split_at_checked(word.len())?;
        let alone = !before.ends_with(char::is_alphabetic) && !behind.starts_with(char::is_alphabetic);
        alone.then_some((before, held, behind))
    })
}

/// A word in the letters of another one: all small, all large, or the first large.
fn cased(word: &str, like: &str) -> String {
    let large = |letter: char| letter.is_ascii_uppercase();
    match like.chars().filter(|letter| large(*letter)).count() {
        0 => word.to_owned(),
        count if count == like.len() => word.to_ascii_uppercase(),
        _ => word.chars().take(1).map(|first| first.to_ascii_uppercase()).chain(word.chars().skip(1)).collect(),
    }
}
