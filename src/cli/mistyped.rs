//! What was typed wrong, in one sentence; and what is typed by a name that it had before.

use super::failure::tell;
use super::logs::Logs;
use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use ctxsim::experiment::Measure;
use ctxsim::format::by_name;
use std::collections::BTreeSet;
use std::error::Error as _;
use std::ffi::OsString;

/// Names that options had, and what is typed today.
const FORMER: [(&str, &str); 3] =
    [("--out", "-o or --output"), ("--write", "-o or --output"), ("--corpus", "the logs alone, without an option")];

/// What to type instead of the former name of an option, which works as well; `None` where no former name is typed.
pub fn former(typed: &[OsString]) -> Option<String> {
    let words = typed.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    let mut names = words.filter_map(|word| word.split('=').next());
    let (old, new) = names.find_map(|word| FORMER.iter().find(|(old, _)| *old == word))?;
    Some(format!("`{old}` is the former name: it is {new} now"))
}

/// Says what measures are called today that were typed by their former names, each once.
pub fn tell_renamed<'a>(typed: impl IntoIterator<Item = &'a String>, logs: &Logs) {
    let renamed: BTreeSet<_> = typed.into_iter().filter_map(|text| Measure::renamed(text)).collect();
    if !logs.quiet {
        renamed.iter().for_each(|(old, new)| tell(&format!("the measure `{old}` is called {new} now")));
    }
}

/// One sentence on what the parser refuses, with the nearest name.
pub fn sentence(error: &Error) -> String {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let option = text(ContextKind::InvalidArg);
    // "--by <ROW>" is `--by` to whoever types it.
    let name = option.split([' ', '=']).next().unwrap_or_default();
    let value = text(ContextKind::InvalidValue);
    let near = |kind: ContextKind| match text(kind).split(", ").last().filter(|near| !near.is_empty()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    match error.kind() {
        ErrorKind::InvalidValue if name == "--format" && by_name(&value).is_some() => {
            format!("`--format {value}`: --format is the form of the output; --input-format {value} names the reader of the logs")
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("`{name}` lacks a value: it is typed {option}"),
        ErrorKind::InvalidValue => {
            let (near, known) = (near(ContextKind::SuggestedValue), text(ContextKind::ValidValue));
            let known = if known.is_empty() || !near.is_empty() { String::new() } else { format!("; there are {known}") };
            format!("`{value}` is no value of {name}{near}{known}")
        }
        ErrorKind::ValueValidation => {
            let why = error.source().map_or_else(String::new, |source| format!(": {source}"));
            format!("`{name} {value}`{why}")
        }
        ErrorKind::UnknownArgument if name == "--format" => {
            "this command has no --format, the form of an output; the reader of the logs is --input-format".to_owned()
        }
        ErrorKind::UnknownArgument if name.starts_with('-') => {
            format!("`{name}` is no option of this command{} (--help lists them)", near(ContextKind::SuggestedArg))
        }
        ErrorKind::UnknownArgument => format!("`{name}` is one word too many (--help shows what is taken)"),
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand);
            format!("`{word}` is neither a command nor a file or folder{}", near(ContextKind::SuggestedSubcommand))
        }
        ErrorKind::MissingRequiredArgument => format!("what is missing: {option}"),
        ErrorKind::ArgumentConflict if !text(ContextKind::PriorArg).is_empty() => {
            format!("{option} cannot be used with {}", text(ContextKind::PriorArg))
        }
        _ => flat(&error.to_string()),
    }
}

/// The parser's own words in one line, without its advice.
fn flat(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information")).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let sentence = lines.join(" ");
    sentence.strip_prefix("error: ").unwrap_or(&sentence).to_owned()
}
