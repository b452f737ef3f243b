//! What was typed wrong, in one sentence; and what is typed by a name that it had before.

use super::failure::tell;
use super::logs::Logs;
use crate::experiment::Measure;
use crate::format::by_name;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use std::collections::BTreeSet;
use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};

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

/// Options that say in which form a report is.
pub const FORMS: [&str; 7] = ["format", "json", "csv", "markdown", "html", "junit", "github"];

/// Those that say where it goes.
const PLACES: [&str; 3] = ["output", "o", "force"];

/// Longer lists of values are left to the help.
const MOST_VALUES: usize = 16;

/// One sentence on what the parser refuses of this command, with the nearest name.
pub fn sentence(error: &Error, command: &Command) -> String {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let option = text(ContextKind::InvalidArg);
    // "--by <ROW>" is `--by` to whoever types it, and so is "--by[=<ROW>]".
    let name = option.split([' ', '=', '[']).next().unwrap_or_default();
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
            let known = match known.split(", ").count() {
                _ if known.is_empty() => String::new(),
                ..=MOST_VALUES if !near.is_empty() => format!(" (there are {known})"),
                _ if !near.is_empty() => String::new(),
                1 => format!("; there is {known} alone"),
                2..=MOST_VALUES => format!("; there are {known}"),
                _ if name == "--columns" => " (`ctxsim help metrics` lists them)".to_owned(),
                _ => " (--help lists them)".to_owned(),
            };
            format!("`{value}` is no value of {name}{near}{known}")
        }
        ErrorKind::ValueValidation => {
            let why = |source: &(dyn std::error::Error + 'static)| match source.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
                Some(IntErrorKind::PosOverflow) => ": the number is too large".to_owned(),
                Some(_) => ": it takes a whole number".to_owned(),
                None => format!(": {source}"),
            };
            let why = error.source().map_or_else(String::new, why);
            format!("`{name} {value}`{why}")
        }
        ErrorKind::UnknownArgument if FORMS.iter().chain(&PLACES).any(|known| *known == name.trim_start_matches('-')) => {
            format!("`{name}`: {}", writes(command))
        }
        ErrorKind::UnknownArgument if name.parse::<f64>().is_ok() => format!("`{name}`: no option of this command takes a number below 0"),
        ErrorKind::UnknownArgument if name.starts_with('-') => {
            format!("`{name}` is no option of this command{} (--help lists them)", near(ContextKind::SuggestedArg))
        }
        ErrorKind::UnknownArgument => format!("`{name}` is one word too many (--help shows what is taken)"),
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand);
            format!("`{word}` is neither a command nor a file or folder{}", near(ContextKind::SuggestedSubcommand))
        }
        ErrorKind::MissingRequiredArgument => format!("{option} is missing"),
        ErrorKind::ArgumentConflict if !text(ContextKind::PriorArg).is_empty() => {
            format!("{option} cannot be used with {}", text(ContextKind::PriorArg))
        }
        _ => flat(&error.to_string()),
    }
}

/// What a command can write, and by which options.
fn writes(command: &Command) -> String {
    let option = |id: &str| command.get_arguments().find(|option| option.get_id() == id);
    let forms: Vec<String> = option("format")
        .map(|format| format.get_possible_values())
        .unwrap_or_default()
        .iter()
        .map(|form| form.get_name().to_owned())
        .collect();
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    match (forms.as_slice(), option("output")) {
        ([], None) => format!("`{name}` prints one text and writes no file; `> FILE` keeps what it prints"),
        ([], Some(_)) => format!("`{name}` prints one text; -o says where its files go"),
        ([only], _) => format!("`{name}` writes {only} alone; -o says where"),
        (all, _) => format!("`{name}` writes {} (--format); -o says where", all.join(", ")),
    }
}

/// The parser's own words in one line, without its advice.
fn flat(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information")).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let sentence = lines.join(" ");
    sentence.strip_prefix("error: ").unwrap_or(&sentence).to_owned()
}
