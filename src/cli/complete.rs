//! What can stand where a shell asks: commands, options, and the names that options take.

use super::failure::Failure;
use super::known::catalog;
use super::logs::Logs;
use super::print::print;
use crate::corpus::Vocabularies;
use crate::estimate::Vocabulary;
use crate::experiment::measure_names;
use crate::format::READERS;
use crate::measure::Wanted;
use crate::policy::{Policy, preset_names};
use crate::reading::name_of;
use crate::report::chart::KINDS;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, Args, Command};
use std::path::Path;

/// Print what can stand at a place of a command line
#[derive(Args, Debug)]
pub struct Complete {
    /// The place of the word that is typed, from 0: the program itself
    place: usize,
    /// The words so far, the program first
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_parser = OsStringValueParser::new().map(|word| name_of(&word)))]
    words: Vec<String>,
}

impl Complete {
    /// Does it. Nothing is printed where files are meant: the shell knows them.
    pub fn run(&self, mut root: Command) -> Result<(), Failure> {
        // Options of all commands reach each of them only then.
        root.build();
        let typed = self.words.get(self.place).map_or("", String::as_str);
        let before: Vec<&str> = self.words.iter().take(self.place).skip(1).map(String::as_str).collect();
        // What a name depends on may stand behind it: `explain SESSION LOGS`.
        let others: Vec<&str> =
            self.words.iter().enumerate().filter(|(place, _)| *place > 0 && *place != self.place).map(|(_, word)| word.as_str()).collect();
        let found = found(&root, &before, typed, &others);
        print(&found.iter().map(|word| format!("{word}\n")).collect::<String>())
    }
}

/// What can stand behind these words and begins like this one, among these others.
fn found(root: &Command, before: &[&str], typed: &str, others: &[&str]) -> Vec<String> {
    let (command, own) = command_of(root, before);
    // Some shells part `--cache=mod` at the sign.
    let behind: Vec<&str> = own.iter().copied().filter(|word| *word != "=").collect();
    let typed = if typed == "=" { "" } else { typed };
    let of_option = behind.last().and_then(|word| option(command, word)).filter(|option| option.get_action().takes_values());
    let (start, words) = match (of_option, typed.split_once('=').filter(|_| typed.starts_with("--"))) {
        (Some(option), _) => (String::new(), values(option.get_id().as_str(), option, others)),
        (None, Some((name, _))) => {
            let words = option(command, name).map(|option| values(option.get_id().as_str(), option, others)).unwrap_or_default();
            (format!("{name}="), words)
        }
        (None, None) if typed.starts_with('-') => (String::new(), options(command)),
        (None, None) => (String::new(), positional(command, &behind, others)),
    };
    words.into_iter().map(|word| format!("{start}{word}")).filter(|word| word.starts_with(typed)).collect()
}

/// The command that the words lead to, and those behind its name. Where none is named, it is `replay`.
pub fn command_of<'c, 'w>(root: &'c Command, words: &'w [&'w str]) -> (&'c Command, &'w [&'w str]) {
    let (mut command, mut rest) = (root, words);
    while let Some((first, others)) = rest.split_first()
        && let Some(below) = command.find_subcommand(first)
    {
        (command, rest) = (below, others);
    }
    match root.find_subcommand("replay").filter(|_| std::ptr::eq(command, root) && !rest.is_empty()) {
        Some(replay) => (replay, rest),
        None => (command, rest),
    }
}

fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let long = word.strip_prefix("--").filter(|name| !name.is_empty());
    let short = word.strip_prefix('-').filter(|rest| rest.chars().count() == 1).and_then(|rest| rest.chars().next());
    command.get_arguments().find(|option| long.is_some() && option.get_long() == long || short.is_some() && option.get_short() == short)
}

fn options(command: &Command) -> Vec<String> {
    let shown = command.get_arguments().filter(|option| !option.is_hide_set());
    shown.filter_map(|option| Some(format!("--{}", option.get_long()?))).chain(["--help".to_owned()]).collect()
}

/// Commands below this one, and what its next word without an option can be.
fn positional(command: &Command, behind: &[&str], others: &[&str]) -> Vec<String> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set()).map(|below| below.get_name().to_owned());
    let takes = |word: &&str| option(command, word).is_some_and(|option| option.get_action().takes_values());
    let of_option = |place: usize| place.checked_sub(1).and_then(|before| behind.get(before)).is_some_and(takes);
    let place = behind.iter().enumerate().filter(|(place, word)| !word.starts_with('-') && !of_option(*place)).count();
    let next = command.get_positionals().nth(place);
    below.chain(next.into_iter().flat_map(|next| values(next.get_id().as_str(), next, others))).collect()
}

/// What an option or a word takes: names that the program knows, else what the parser lists.
fn values(id: &str, option: &Arg, others: &[&str]) -> Vec<String> {
    let owned = |names: &mut dyn Iterator<Item = &'static str>| names.map(str::to_owned).collect::<Vec<String>>();
    match id {
        "policies" | "name" | "one" | "other" | "extends" | "policy" => owned(&mut preset_names()),
        "set" | "vary" | "params" | "break_even" => parameters(others),
        "minimise" | "maximise" | "subject_to" | "allow" => owned(&mut measure_names()),
        "input_format" => owned(&mut READERS.iter().map(|reader| reader.name)),
        "tokenizer" => owned(&mut Vocabulary::ALL.iter().map(|vocabulary| vocabulary.name()).chain(["reference"])),
        "model" | "pattern" => catalog().map(|catalog| catalog.models().map(|model| model.id.clone()).collect()).unwrap_or_default(),
        "kind" => owned(&mut KINDS.iter().map(|kind| kind.name).chain(["list"])),
        "session" => sessions(others),
        _ => option.get_possible_values().iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name().to_owned()).collect(),
    }
}

/// The parameters of the policies that are named, ready for a value.
fn parameters(others: &[&str]) -> Vec<String> {
    let named = others.windows(2).filter_map(|pair| match pair {
        ["-p" | "--policy", name] => Policy::load(name).ok(),
        _ => None,
    });
    named.flat_map(|policy| policy.params.into_keys().collect::<Vec<_>>()).map(|name| format!("{name}=")).collect()
}

/// The ids of the sessions in the logs that are named, or in those at home.
fn sessions(others: &[&str]) -> Vec<String> {
    let logs = others.iter().filter(|word| Path::new(word).exists()).map(|word| (*word).to_owned()).collect();
    let logs = Logs { logs, quiet: true, ..Logs::default() };
    let read = logs.read_in(Vocabularies::None, Wanted::SIZES);
    read.map(|corpus| corpus.traces.each().map(|trace| trace.id.clone()).collect()).unwrap_or_default()
}
