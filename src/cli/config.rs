//! `ctxsim.toml`: a project's own defaults, and the command that shows them.
//!
//! A key is an option's long name without its dashes (or `logs`). On top it holds for every command whose option takes the value, in a table
//! for the command that the table is named after. An empty text or list is the default of the program itself. What is typed goes first. The
//! values become the options' defaults before the arguments are parsed, so that they pass the same checks and stand in `--help`.
//!
//! The file may be another person's: it comes with a repository that was cloned. It says what is read and how that is judged, and never where or
//! what is written, nor what content is shown.

use super::failure::{Failure, tell};
use super::heading::{SHOWS, WRITES};
use super::mistyped;
use super::print::print;
use crate::policy::suggestion;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::Value;

/// The name of the file.
const NAME: &str = "ctxsim.toml";

/// The environment variable that names another file; empty for none at all.
const VARIABLE: &str = "CTXSIM_CONFIG";

/// What every command's positional logs are called.
const LOGS: &str = "logs";

/// The option that names another file.
const OPTION: &str = "--config";

/// Options whose values are paths, and are meant from the folder of the file. A policy is one where such a file is there.
const PATHS: [&str; 4] = [LOGS, "policy", "prices", "baseline"];

/// Options that are no defaults of anything.
const NEVER: [&str; 3] = ["help", "version", "config"];

const EXAMPLES: &str = "\
Examples:
  ctxsim config                    the file that holds here, and what it says
  ctxsim config --template > ctxsim.toml
                                   a file with every option in it, each
                                   commented out

A ctxsim.toml, looked for in the folder and, within a repository, in those above
it up to the repository's root:
  logs = [\"logs/\"]                 paths are meant from the file's own folder
  policy = [\"none\", \"opencode\", \"policies/mine.toml\"]
  window = \"200k\"

  [sweep]                          for one command alone
  vary = [\"opencode:preserve_recent_tokens=2k..16k:2k\"]

It says what is read and how that is judged. Where and what is written, and what
content is shown, is typed each time. A file of another owner is ignored.
--config FILE or CTXSIM_CONFIG names another file, whoever owns it; set to
nothing, none is read.";

/// Show the defaults of the project: the ctxsim.toml that holds here, and each value in it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Config {
    /// Print a file with every option in it, each commented out with what it is for
    #[arg(long)]
    template: bool,
}

/// A file of defaults.
pub struct Project {
    path: PathBuf,
    /// Values for every command, by option.
    all: BTreeMap<String, Vec<String>>,
    /// Values for one command, by its name and option.
    by_command: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// The file of defaults that holds, or why the one that was found does not.
pub struct Discovered {
    /// The file that holds; `None` where no file does.
    pub project: Option<Project>,
    /// A sentence on one that was found and does not hold.
    pub ignored: Option<String>,
}

impl Project {
    /// The file that was typed or that the environment names, or the first one from this folder up to the root of its repository.
    pub fn discover(command: &Command) -> Result<Discovered, Failure> {
        let named = typed().or_else(|| std::env::var_os(VARIABLE));
        let found = match &named {
            Some(name) if name.is_empty() => None,
            Some(name) => Some(PathBuf::from(name)),
            None => upwards(),
        };
        let strange = found.as_deref().filter(|_| named.is_none()).and_then(why_strange);
        if let (Some(path), Some(why)) = (&found, strange) {
            let sentence = format!("{} is ignored: it {why} ({OPTION} FILE obeys it)", path.display());
            return Ok(Discovered { project: None, ignored: Some(sentence) });
        }
        let project = found.map(|path| Project::read(path, command)).transpose()?;
        Ok(Discovered { project, ignored: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does the file give this option of a command its value, where none is typed?
    pub fn sets(&self, command: &str, option: &Arg) -> bool {
        let values = self.values(command);
        named(option).and_then(|name| values.get(name)).is_some_and(|values| !values.is_empty())
    }

    /// What the file says to a command, by option: what holds for all commands, and before it what its own table says.
    fn values(&self, command: &str) -> BTreeMap<String, Vec<String>> {
        let mut values = self.all.clone();
        values.extend(self.by_command.get(command).cloned().unwrap_or_default());
        values
    }

    /// Leaves out what a typed option excludes: `json` where `--csv` or a file for Markdown is typed. What is typed goes first.
    pub fn give_way(&mut self, command: &Command, matches: &ArgMatches) {
        let mut command = command.clone();
        // Groups have their options only then.
        command.build();
        let (command, matches) = innermost(&command, matches);
        let is_typed = |option: &&Arg| matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
        let (typed, others): (Vec<&Arg>, Vec<&Arg>) = command.get_arguments().partition(is_typed);
        let groups: Vec<Vec<_>> =
            command.get_groups().filter(|group| !(*group).clone().is_multiple()).map(|group| group.get_args().collect()).collect();
        let is_form = |option: &Arg| option.get_long().is_some_and(|name| mistyped::FORMS.contains(&name));
        // A folder gets all forms, beside what is printed in that of the file.
        let is_file = |path: &PathBuf| path.extension().is_some() && !path.is_dir() && !path.as_os_str().to_string_lossy().ends_with('/');
        let path = |option: &Arg| matches.try_get_one(option.get_id().as_str()).ok().flatten();
        let says_form = |option: &Arg| option.get_id() == "output" && path(option).is_some_and(is_file);
        let excludes = |one: &Arg, other: &Arg| {
            says_form(one) && is_form(other)
                || command.get_arg_conflicts_with(one).contains(&other)
                || command.get_arg_conflicts_with(other).contains(&one)
                || groups.iter().any(|group| group.contains(&one.get_id()) && group.contains(&other.get_id()))
        };
        for name in others.into_iter().filter(|other| typed.iter().any(|one| excludes(one, other))).filter_map(named) {
            self.all.remove(name);
            self.by_command.values_mut().for_each(|own| drop(own.remove(name)));
        }
    }

    /// Says on stderr what holds by the file alone, and what of it this command does not take.
    pub fn tell(&self, command: &Command, matches: &ArgMatches) {
        let below = matches.subcommand_name().unwrap_or_default();
        let (command, matches) = innermost(command, matches);
        let by_default = |option: &&Arg| matches.value_source(option.get_id().as_str()) == Some(ValueSource::DefaultValue);
        let set = command.get_arguments().filter(|option| self.sets(below, option)).filter(by_default);
        let names: Vec<&str> = set.filter_map(named).collect();
        if !names.is_empty() {
            tell(&format!("{} sets {} (`ctxsim config` shows it, {OPTION} '' goes without)", self.path.display(), names.join(", ")));
        }
        for (name, values) in self.values(below) {
            if let Err(reason) = check(command, &name, &values) {
                tell(&format!("{}: `{name}` does not hold for `{below}`: {reason}", self.path.display()));
            }
        }
    }

    fn read(path: PathBuf, command: &Command) -> Result<Project, Failure> {
        let wrong = |reason: &dyn std::fmt::Display| Failure::Usage(format!("{}: {reason}", path.display()));
        let text = crate::reading::text(&path).map_err(|error| wrong(&error))?;
        // The place of the mistake, without the line: a link could lead to a private file.
        let line =
            |error: &toml::de::Error| text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default().matches('\n').count() + 1;
        let table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| wrong(&format!("line {}: {}", line(&error), error.message())))?;
        let mut project = Project { path: path.clone(), all: BTreeMap::new(), by_command: BTreeMap::new() };
        for (key, value) in table {
            match value {
                Value::Table(options) => {
                    let commands: Vec<&Command> = command.get_subcommands().filter(|sub| sub.get_name() == key).collect();
                    if commands.is_empty() {
                        let hint = suggestion(&key, command.get_subcommands().map(Command::get_name));
                        return Err(wrong(&format!("`[{key}]` is named after no command{hint}")));
                    }
                    let own = options.into_iter().map(|(name, value)| project.option(&name, value, &commands)).collect::<Result<_, _>>();
                    let own = own.map_err(|reason: String| wrong(&format!("[{key}] {reason}")))?;
                    project.by_command.insert(key, own);
                }
                value => {
                    let commands: Vec<&Command> = command.get_subcommands().collect();
                    let (name, values) = project.option(&key, value, &commands).map_err(|reason| wrong(&reason))?;
                    project.all.insert(name, values);
                }
            }
        }
        Ok(project)
    }

    /// An option and its values as they would be typed, if one of these commands has it.
    fn option(&self, name: &str, value: Value, commands: &[&Command]) -> Result<(String, Vec<String>), String> {
        let leaves = || commands.iter().flat_map(|command| leaves(command));
        let options = || leaves().flat_map(Command::get_arguments);
        if !options().any(|option| named(option) == Some(name)) {
            if options().any(|option| option.get_long() == Some(name) && is_typed_only(option)) {
                return Err(format!(
                    "`{name}` says what is written or what content is shown, which is typed each time and stands in no file"
                ));
            }
            let hint = suggestion(name, options().filter_map(named));
            return Err(format!("`{name}` is no option{hint} (`ctxsim config --template` lists them)"));
        }
        let values = match value {
            Value::Array(values) => values.into_iter().map(|value| word(name, value)).collect::<Result<Vec<_>, _>>()?,
            Value::String(text) if text.is_empty() => Vec::new(),
            value => vec![word(name, value)?],
        };
        // Commands that do not take it keep their own default.
        let refused: Vec<Option<String>> =
            leaves().filter(|command| has(command, name)).map(|command| check(command, name, &values).err()).collect();
        if let Some(reason) = refused.iter().flatten().next().filter(|_| refused.iter().all(Option::is_some)) {
            return Err(format!("`{name}`: {reason}"));
        }
        Ok((name.to_owned(), values.into_iter().map(|value| self.meant_from_its_folder(name, value)).collect()))
    }

    fn meant_from_its_folder(&self, name: &str, value: String) -> String {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let Some(joined) = folder.map(|folder| folder.join(&value)).filter(|_| PATHS.contains(&name) && value != "-") else { return value };
        let meant = name != "policy" || joined.is_file();
        if meant { joined.to_string_lossy().into_owned() } else { value }
    }

    /// A sentence on what went wrong with the file and the key before it, where the sentence speaks of a value that was not typed but stands in
    /// the file.
    pub fn blame(&self, sentence: String, command: &Command, matches: &ArgMatches) -> String {
        let Some((name, _)) = matches.subcommand() else { return sentence };
        let (command, matches) = innermost(command, matches);
        let values = self.values(name);
        let in_force = values.iter().filter(|(key, _)| {
            let option = command.get_arguments().find(|option| named(option) == Some(key.as_str()));
            option.is_some_and(|option| matches.value_source(option.get_id().as_str()) == Some(ValueSource::DefaultValue))
        });
        // Of `opencode:prune_protect=20k` a sentence may name the parameter alone.
        let pieces = |value: &String| {
            let pieces = value.split(['=', ':']).filter(|piece| piece.len() > 3).map(str::to_owned);
            pieces.chain([value.clone()]).collect::<Vec<String>>()
        };
        let speaks_of = |value: String| {
            let stands_alone = |(place, _): (usize, &str)| {
                let letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '-');
                let (before, after) = (sentence.get(..place), sentence.get(place + value.len()..));
                !letter(before.and_then(|text| text.chars().next_back())) && !letter(after.and_then(|text| text.chars().next()))
            };
            !value.is_empty() && sentence.match_indices(value.as_str()).any(stands_alone)
        };
        let keys: Vec<String> =
            in_force.filter(|(_, values)| values.iter().flat_map(pieces).any(speaks_of)).map(|(key, _)| format!("`{key}`")).collect();
        if keys.is_empty() { sentence } else { format!("{}: {}: {sentence}", self.path.display(), keys.join(", ")) }
    }

    /// The command with these defaults in the places of its own.
    pub fn apply(&self, command: Command) -> Command {
        let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        names.into_iter().fold(command, |command, name| {
            let values = self.values(&name);
            command.mut_subcommand(name, |sub| with_defaults(sub, &values))
        })
    }
}

/// Would the command take these values if they were typed? The same parser says so, before anything else is asked of the command line.
fn check(command: &Command, name: &str, values: &[String]) -> Result<(), String> {
    let Some(option) = command.get_arguments().find(|option| named(option) == Some(name)).filter(|_| !values.is_empty()) else {
        return Ok(());
    };
    match option.get_action() {
        ArgAction::SetTrue if !matches!(values, [value] if value == "true" || value == "false") => {
            return Err("it is either true or false".to_owned());
        }
        ArgAction::SetTrue => return Ok(()),
        ArgAction::Set if values.len() != 1 => return Err("it takes one value, and no list".to_owned()),
        _ => {}
    }
    let flag = option.get_long().map(|long| format!("--{long}="));
    let typed = values.iter().map(|value| format!("{}{value}", flag.as_deref().unwrap_or_default()));
    let words = std::iter::once(command.get_name().to_owned()).chain(flag.is_none().then(|| "--".to_owned())).chain(typed);
    match command.clone().try_get_matches_from(words) {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) => {
            Err(mistyped::sentence(&error, command))
        }
        _ => Ok(()),
    }
}

/// Has the command this option?
fn has(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|option| named(option) == Some(name))
}

/// The command that was typed, down to its last word, with what was typed for it.
pub fn innermost<'a>(command: &'a Command, matches: &'a ArgMatches) -> (&'a Command, &'a ArgMatches) {
    let below = matches.subcommand().and_then(|(name, matches)| Some((command.find_subcommand(name)?, matches)));
    below.map_or((command, matches), |(command, matches)| innermost(command, matches))
}

/// The commands below a command that do something: itself, where it has none.
fn leaves(command: &Command) -> Vec<&Command> {
    if command.has_subcommands() { command.get_subcommands().flat_map(leaves).collect() } else { vec![command] }
}

fn with_defaults(command: Command, values: &BTreeMap<String, Vec<String>>) -> Command {
    let below: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = below.into_iter().fold(command, |command, name| command.mut_subcommand(name, |sub| with_defaults(sub, values)));
    let taken: BTreeMap<_, _> =
        values.iter().filter(|(name, values)| !values.is_empty() && check(&command, name, values).is_ok()).collect();
    command.mut_args(|option| match named(&option).and_then(|name| taken.get(&name.to_owned())) {
        // What must be given is given then. Help prints defaults as they are: those that a terminal would obey are left out of it.
        Some(values) => {
            let is_harmless = values.iter().all(|value| crate::render::escape(value) == *value);
            option.required(false).default_values((*values).clone()).hide_default_value(!is_harmless)
        }
        None => option,
    })
}

/// The name that an option has in the file; `None` for those that cannot stand there.
fn named(option: &Arg) -> Option<&str> {
    let name = option.get_long().or_else(|| (option.get_id() == LOGS).then_some(LOGS))?;
    let takes = matches!(option.get_action(), ArgAction::Set | ArgAction::Append | ArgAction::SetTrue);
    (takes && !is_typed_only(option) && !option.is_hide_set() && !NEVER.contains(&name)).then_some(name)
}

/// Does the option say where or what is written, or show content? Its heading is the mark.
fn is_typed_only(option: &Arg) -> bool {
    [WRITES, SHOWS].iter().any(|mark| option.get_help_heading() == Some(mark))
}

/// The file that is named on the command line. It is looked for before anything is parsed, as it changes what is parsed.
fn typed() -> Option<OsString> {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    while let Some(word) = words.next() {
        if word == OPTION {
            return words.next();
        }
        if let Some(name) = word.to_str().and_then(|word| word.strip_prefix(OPTION)?.strip_prefix('=')) {
            return Some(name.into());
        }
    }
    None
}

/// A value as it would be typed.
fn word(name: &str, value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(value) => Ok(value.to_string()),
        other => Err(format!("`{name}` takes a text, a number, true or false, or a list of them, no {}", other.type_str())),
    }
}

/// The file in this folder, or in the next one above that has it and is in the same repository. Where there is no repository, this folder is
/// all: what stands above it may belong to another account.
fn upwards() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    // As short as it can be told: `ctxsim.toml`, `../ctxsim.toml`.
    (0..=root).map(|steps| PathBuf::from("../".repeat(steps)).join(NAME)).find(|path| path.is_file())
}

/// Why a file that the command line does not name is not obeyed: it belongs to another account, or lies elsewhere and is linked.
fn why_strange(path: &Path) -> Option<&'static str> {
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Some("is a link");
    }
    is_of_another(path).then_some("belongs to another account")
}

#[cfg(unix)]
fn is_of_another(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.uid() != rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_of_another(_: &Path) -> bool {
    false
}

impl Config {
    pub fn run(&self, command: &Command) -> Result<(), Failure> {
        if self.template {
            return print(&template(command));
        }
        let Some(project) = Project::discover(command)?.project else {
            tell(&format!("no {NAME} holds here: every option has the default that its command's --help names"));
            return Ok(());
        };
        print(&project.shown())
    }
}

impl Project {
    fn shown(&self) -> String {
        let escaped = |text: &str| crate::render::escape(text).into_owned();
        let line = |(name, values): (&String, &Vec<String>)| format!("  --{name} {}\n", escaped(&super::shell::quoted(values)));
        let logs = |line: String| line.replacen("--logs", "LOGS", 1);
        let mut shown = format!("{}\n\nevery command\n", escaped(&self.path.to_string_lossy()));
        shown.extend(self.all.iter().map(line).map(logs));
        for (command, values) in &self.by_command {
            shown.push_str(&format!("\nctxsim {command}\n"));
            shown.extend(values.iter().map(line).map(logs));
        }
        shown
    }
}

fn value_name(option: &Arg) -> &str {
    option.get_value_names().and_then(|names| names.first()).map_or("VALUE", |name| name.as_str())
}

/// Does a command take several values of the option, or some commands?
fn is_list(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append) || option.get_value_delimiter().is_some()
}

/// What an option is without being typed, as the file has it: its default; for one without, what kind of value it takes.
fn usual(option: &Arg) -> String {
    let value_name = value_name(option);
    let plain = |text: &str| match text.parse::<u64>() {
        Ok(number) => number.to_string(),
        Err(_) => Value::String(text.to_owned()).to_string(),
    };
    let first = option.get_default_values().first().map(|value| plain(&value.to_string_lossy()));
    match option.get_action() {
        ArgAction::SetTrue => "false".to_owned(),
        _ if is_list(option) => first.map_or_else(|| format!("[]  # a list of {value_name}"), |first| format!("[{first}]")),
        _ => first.unwrap_or_else(|| format!("\"\"  # {value_name}; none by itself")),
    }
}

/// Every option, once for all commands where several have it.
fn template(command: &Command) -> String {
    let mut seen: BTreeMap<&str, (String, String, Vec<&str>)> = BTreeMap::new();
    for sub in command.get_subcommands() {
        for option in leaves(sub).into_iter().flat_map(Command::get_arguments) {
            if let Some(name) = named(option) {
                let help = option.get_help().map(|help| help.to_string()).unwrap_or_default();
                let own = usual(option);
                let (_, value, commands) = seen.entry(name).or_insert_with(|| (help, own.clone(), Vec::new()));
                if *value != own {
                    *value = format!("\"\"  # {}; each command has its own", value_name(option));
                }
                if !commands.contains(&sub.get_name()) {
                    commands.push(sub.get_name());
                }
            }
        }
    }
    let mut text = format!("# {NAME}: defaults for the project in this folder. What is typed goes first.\n\n");
    let (shared, own): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(_, (.., commands))| commands.len() > 1);
    let entry = |(name, (help, usual, _)): &(&str, (String, String, Vec<&str>))| format!("# {help}\n#{name} = {usual}\n\n");
    text.extend(shared.iter().map(entry));
    let mut by_command: BTreeMap<&str, String> = BTreeMap::new();
    for option in &own {
        // A key and a table of one name cannot both stand in a file: `policy` is the option.
        if let (_, (.., commands)) = option
            && let Some(command) = commands.first()
            && !shared.iter().any(|(name, _)| name == command)
        {
            by_command.entry(command).or_default().push_str(&entry(option));
        }
    }
    text.extend(by_command.into_iter().map(|(command, options)| format!("#[{command}]\n\n{options}")));
    text
}
