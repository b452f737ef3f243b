//! `ctxsim.toml`: a project's own defaults, and the command that shows them.
//!
//! A key is an option's long name without its dashes (or `logs`). On top it holds for every command that has such an option, in a table
//! for the command that the table is named after. What is typed goes first. The values become the options' defaults before the
//! arguments are parsed, so that they pass the same checks and stand in `--help`.

use super::failure::{Failure, tell};
use super::output::print;
use clap::{Arg, ArgAction, Args, Command, CommandFactory};
use ctxsim::policy::suggestion;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Value;

/// The name of the file.
const NAME: &str = "ctxsim.toml";

/// The environment variable that names another file; empty for none at all.
const VARIABLE: &str = "CTXSIM_CONFIG";

/// What every command's positional logs are called.
const LOGS: &str = "logs";

/// Options whose values are paths, and are meant from the folder of the file. A policy is one where such a file is there.
const PATHS: [&str; 5] = [LOGS, "policy", "prices", "baseline", "out"];

/// Options that say what is done this one time. A default for them would surprise.
const NEVER: [&str; 6] = ["help", "version", "resume", "update-baseline", "force", "output"];

const EXAMPLES: &str = "\
Examples:
  ctxsim config                        the file that holds here, and what it says
  ctxsim config --template > ctxsim.toml
                                       a file with every option in it, each commented out

A ctxsim.toml, looked for in the folder and then in those above it:
  logs = [\"logs/\"]                     paths are meant from the file's own folder
  policy = [\"none\", \"opencode\", \"policies/mine.toml\"]
  window = \"200k\"

  [sweep]                              for one command alone
  vary = [\"opencode:prune_protect=10k..80k:10k\"]

CTXSIM_CONFIG names another file; set to nothing, none is read.";

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
    /// For every command.
    all: BTreeMap<String, Vec<String>>,
    /// For a command.
    by_command: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

impl Project {
    /// The file that the environment names, or the first one from this folder upwards.
    pub fn discover(command: &Command) -> Result<Option<Project>, Failure> {
        let path = match std::env::var_os(VARIABLE) {
            Some(name) if name.is_empty() => return Ok(None),
            Some(name) => Some(PathBuf::from(name)),
            None => upwards(Path::new("")),
        };
        path.map(|path| Project::read(path, command)).transpose()
    }

    fn read(path: PathBuf, command: &Command) -> Result<Project, Failure> {
        let wrong = |reason: &dyn std::fmt::Display| Failure::Usage(format!("{}: {reason}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(&error.to_string().trim_end()))?;
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
                    project.by_command.insert(key, own.map_err(|reason: String| wrong(&reason))?);
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
        let options = || commands.iter().flat_map(|command| leaves(command)).flat_map(Command::get_arguments);
        if !options().any(|option| named(option) == Some(name)) {
            let hint = suggestion(name, options().filter_map(named));
            return Err(format!("`{name}` is no option{hint} (`ctxsim config --template` lists them)"));
        }
        let values = match value {
            Value::Array(values) => values.into_iter().map(|value| word(name, value)).collect::<Result<Vec<_>, _>>()?,
            value => vec![word(name, value)?],
        };
        Ok((name.to_owned(), values.into_iter().map(|value| self.meant_from_its_folder(name, value)).collect()))
    }

    fn meant_from_its_folder(&self, name: &str, value: String) -> String {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let Some(joined) = folder.map(|folder| folder.join(&value)).filter(|_| PATHS.contains(&name) && value != "-") else { return value };
        let meant = name != "policy" || joined.is_file();
        if meant { joined.to_string_lossy().into_owned() } else { value }
    }

    /// The command with these defaults in the places of its own.
    pub fn apply(&self, command: Command) -> Command {
        let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        names.into_iter().fold(command, |command, name| {
            let mut values = self.all.clone();
            values.extend(self.by_command.get(&name).cloned().unwrap_or_default());
            command.mut_subcommand(name, |sub| with_defaults(sub, &values))
        })
    }
}

/// The commands below a command that do something: itself, where it has none.
fn leaves(command: &Command) -> Vec<&Command> {
    if command.has_subcommands() { command.get_subcommands().flat_map(leaves).collect() } else { vec![command] }
}

fn with_defaults(command: Command, values: &BTreeMap<String, Vec<String>>) -> Command {
    let below: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = below.into_iter().fold(command, |command, name| command.mut_subcommand(name, |sub| with_defaults(sub, values)));
    command.mut_args(|option| match named(&option).and_then(|name| values.get(name)) {
        // What must be given is given then.
        Some(values) => option.required(false).default_values(values.clone()),
        None => option,
    })
}

/// The name that an option has in the file; `None` for those that cannot stand there.
fn named(option: &Arg) -> Option<&str> {
    let name = option.get_long().or_else(|| (option.get_id() == LOGS).then_some(LOGS))?;
    let takes = matches!(option.get_action(), ArgAction::Set | ArgAction::Append | ArgAction::SetTrue);
    (takes && !NEVER.contains(&name)).then_some(name)
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

/// The file in this folder, or in the next one above that has it.
fn upwards(from: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    // As short as it can be told: `ctxsim.toml`, `../ctxsim.toml`.
    (0..here.ancestors().count()).map(|steps| from.join("../".repeat(steps)).join(NAME)).find(|path| path.is_file())
}

impl Config {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        let command = super::Cli::command();
        if self.template {
            return print(&template(&command));
        }
        let Some(project) = Project::discover(&command)? else {
            tell(&format!("there is no {NAME} in this folder or above it: every option has the default that its command's --help names"));
            return Ok(());
        };
        print(&project.shown())
    }
}

impl Project {
    fn shown(&self) -> String {
        let escaped = |text: &str| ctxsim::render::escape(text).into_owned();
        let line = |(name, values): (&String, &Vec<String>)| format!("  --{name} {}\n", escaped(&super::replay::quoted(values)));
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

/// Every option, once for all commands where several have it.
fn template(command: &Command) -> String {
    let mut seen: BTreeMap<&str, (String, Vec<&str>)> = BTreeMap::new();
    for sub in command.get_subcommands() {
        for option in leaves(sub).into_iter().flat_map(Command::get_arguments) {
            if let Some(name) = named(option) {
                let help = option.get_help().map(|help| help.to_string()).unwrap_or_default();
                let (_, commands) = seen.entry(name).or_insert_with(|| (help, Vec::new()));
                if !commands.contains(&sub.get_name()) {
                    commands.push(sub.get_name());
                }
            }
        }
    }
    let mut text = format!("# {NAME}: defaults for the project in this folder. What is typed goes first.\n\n");
    let (shared, own): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(_, (_, commands))| commands.len() > 1);
    let entry = |(name, (help, _)): &(&str, (String, Vec<&str>))| format!("# {help}\n#{name} = \n\n");
    text.extend(shared.iter().map(entry));
    let mut by_command: BTreeMap<&str, String> = BTreeMap::new();
    for option in &own {
        if let (_, (_, commands)) = option
            && let Some(command) = commands.first()
        {
            by_command.entry(command).or_default().push_str(&entry(option));
        }
    }
    text.extend(by_command.into_iter().map(|(command, options)| format!("#[{command}]\n\n{options}")));
    text
}
