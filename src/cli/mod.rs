//! THE COMMAND: arguments, terminal, progress, exit codes. One file per subcommand.

mod arms;
mod backtest;
mod cache;
mod chart;
mod choices;
mod complete;
mod completions;
mod config;
mod content;
mod convert;
mod cost;
mod curve;
mod demo;
mod diff;
mod door;
mod drift;
mod explain;
mod failure;
mod formats;
mod gate;
mod goal;
mod heading;
mod idle;
mod inspect;
mod known;
mod logs;
mod man;
mod metrics;
mod mistyped;
mod models;
mod next;
mod output;
mod own;
mod policies;
mod policy;
mod pricing;
mod print;
mod program;
mod progress;
mod refetch;
mod replay;
mod report;
mod shell;
mod sweep;
mod target;
mod trace;
mod tune;
mod validate;
mod when;
mod worker;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use config::{Discovered, Project};
use door::Door;
use failure::{Failure, tell};
use print::{Color, set_color};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ctxsim                           find logs, replay them under the main presets
  ctxsim transcripts/              the same of these logs
  ctxsim demo                      try it without logs of your own
  ctxsim inspect logs/             what is in there?
  ctxsim replay transcripts/ --policy codex
                                   one policy over a folder of logs
  ctxsim replay logs/ -p opencode --set prune=1 --set prune_protect=20k
  ctxsim report transcripts/ -o reports/
                                   all of it as one page for a browser, with
                                   tables and charts beside it
  ctxsim explain 4f2a --policy pi logs/
                                   one session, call by call
  ctxsim backtest logs/            what the agents really compacted, beside what
                                   is predicted
  ctxsim diff logs/ --policy opencode --policy codex
                                   where two policies part, and what each
                                   dropped there
  ctxsim sweep logs/ -p baseagent --vary prune_protect=10k..80k:10k
                                   many settings of a policy, the best first
  ctxsim chart context logs/ -p opencode -o session.svg
                                   a picture, with its data beside it
  ctxsim policy show opencode > mine.toml
                                   start a policy of your own
  ctxsim help metrics              what each measure says

Exit codes:
  0  fine, whatever the policies did
  1  a check that was asked for failed: --fail-on, --strict, a limit of `gate`,
     a finding of `policy check`
  2  the command, a policy, a file of settings or the place for the output is
     wrong
  3  nothing readable";

/// Replays recorded agent transcripts through context-management policies: where would the context have overflowed, what does each
/// policy save, how far were the estimates off. Works offline and never writes into an agent's own folders.
#[derive(Parser)]
#[command(name = "ctxsim", bin_name = "ctxsim", version, about, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Take the project's defaults from this file, whoever owns it; '' reads none
    #[arg(long = "config", value_name = "FILE", global = true, value_parser = OsStringValueParser::new().map(PathBuf::from))]
    config_file: Option<PathBuf>,
    /// When the best figures are shown in bold
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    color: Color,
}

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Inspect),
    Replay(Box<replay::Replay>),
    Report(Box<report::Report>),
    Cost(Box<cost::Cost>),
    Cache(Box<cache::Cache>),
    Idle(Box<idle::Idle>),
    Explain(explain::Explain),
    Drift(Box<drift::Drift>),
    Backtest(backtest::Backtest),
    Diff(diff::Diff),
    Sweep(Box<sweep::Sweep>),
    Tune(Box<tune::Tune>),
    Gate(Box<gate::Gate>),
    Validate(Box<validate::Validate>),
    Curve(curve::Curve),
    Chart(Box<chart::Chart>),
    #[command(subcommand)]
    Trace(trace::Trace),
    #[command(subcommand)]
    Worker(Box<worker::Worker>),
    #[command(subcommand)]
    Policy(policy::Policy),
    Convert(convert::Convert),
    Formats(formats::Formats),
    Models(models::Models),
    Demo(demo::Demo),
    Config(config::Config),
    Completions(completions::Completions),
    Man(man::Man),
    #[command(hide = true)]
    Metrics(metrics::Metrics),
    #[command(hide = true)]
    Complete(complete::Complete),
}

/// Parses the arguments and does what they say.
pub fn run() -> Result<(), Failure> {
    door::withstand_limits();
    #[cfg(feature = "sqlite")]
    door::before_the_end(crate::format::remove_copies);
    let mut command = Cli::command();
    let typed = with_command(&command, std::env::args_os().collect());
    let parse = |command: &clap::Command| command.clone().try_get_matches_from(&typed).map_err(|error| refused(error, command, &typed));
    // A broken file of defaults does not keep --help from printing: the file is read again before anything is done.
    let mut discovered = Project::discover(&command);
    if let Ok(Discovered { project: Some(project), .. }) = &mut discovered {
        let all = project.apply(command.clone());
        project.give_way(&all, &parse(&all)?);
        command = project.apply(command);
    }
    let matches = parse(&command)?;
    let parsed = Cli::from_arg_matches(&matches).map_err(|error| refused(error, &command, &typed))?;
    let Discovered { project, ignored } = discovered?;
    set_color(parsed.color);
    let (_, asked) = config::innermost(&command, &matches);
    // A file that says `quiet` silences itself no more than it is obeyed unseen.
    let is_quiet = asked.try_contains_id("quiet").is_ok() && asked.value_source("quiet") == Some(ValueSource::CommandLine);
    if !is_quiet {
        ignored.iter().chain(&mistyped::former(&typed)).for_each(|sentence| tell(sentence));
        project.iter().for_each(|project| project.tell(&command, &matches));
    }
    let door = Door::of(&command, &matches, project.as_ref());
    let cache = asked.try_get_one::<PathBuf>("program_cache").ok().flatten();
    let begun = program::begin(&door, cache.map(PathBuf::as_path));
    let done = begun.and_then(|()| done(parsed.command, &matches, &door));
    let ended = program::end(&door);
    let done = done.and(ended);
    // Whoever typed nothing wrong is told in which file the wrong word stands.
    let blame = |sentence| project.iter().fold(sentence, |sentence, project| project.blame(sentence, &command, &matches));
    done.map_err(|failure| match failure {
        Failure::Usage(sentence) => Failure::Usage(blame(sentence)),
        Failure::NothingReadable(sentence) => Failure::NothingReadable(blame(sentence)),
        other => other,
    })
}

/// What the parser refuses. Help and versions are printed, and end the run.
fn refused(error: clap::Error, root: &clap::Command, typed: &[OsString]) -> Failure {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match error.print().and_then(|()| io::stdout().flush()) {
            Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => Failure::writing(Path::new("standard output"), &failed),
            _ => Failure::Enough,
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => {
            let mut root = root.clone();
            // Commands below know their whole names only then.
            root.build();
            let words = typed.iter().skip(1).filter_map(|word| word.to_str());
            let words: Vec<&str> = words.skip_while(|word| root.find_subcommand(word).is_none()).collect();
            Failure::Usage(mistyped::sentence(&error, complete::command_of(&root, &words).0))
        }
    }
}

/// What was typed, with `replay` in it where no command is named: the root takes a path, and every option of that command.
fn with_command(command: &clap::Command, mut typed: Vec<OsString>) -> Vec<OsString> {
    let mut place = 1;
    // `--config FILE` and `--color WHEN` may stand in front of any command.
    let is_global = |word: &&str| ["--config", "--color"].contains(&word.split('=').next().unwrap_or_default());
    while let Some(word) = typed.get(place).and_then(|word| word.to_str()).filter(is_global) {
        place += if word.contains('=') { 1 } else { 2 };
    }
    // The glossary is help, and no command.
    if typed.get(place).is_some_and(|word| word == "help") && typed.get(place + 1).is_some_and(|word| word == "metrics") {
        typed.remove(place);
        return typed;
    }
    let names_none = typed.get(place).is_none_or(|word| {
        let known = word.to_str().is_some_and(|word| command.find_subcommand(word).is_some() || ANSWERED_HERE.contains(&word));
        let option = word.to_str().is_some_and(|word| word.starts_with('-'));
        !known && (option || Path::new(word).exists())
    });
    if names_none {
        let named = behind_options(command, &typed, place).map_or("replay".into(), |at| typed.remove(at));
        typed.insert(place.min(typed.len()), named);
    }
    typed
}

/// Where the command stands behind options of its own, if no file has its name.
fn behind_options(command: &clap::Command, typed: &[OsString], mut place: usize) -> Option<usize> {
    let takes_value = |word: &str| {
        let is_named = |arg: &&clap::Arg| {
            arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
                || arg.get_short().is_some_and(|short| word.strip_prefix('-') == Some(short.to_string().as_str()))
        };
        let known = command.get_subcommands().flat_map(clap::Command::get_arguments).find(is_named);
        known.is_some_and(|arg| arg.get_action().takes_values() && !arg.is_require_equals_set())
    };
    loop {
        let word = typed.get(place)?.to_str()?;
        match word {
            "-" | "--" => return None,
            option if option.starts_with('-') => place += if takes_value(option) { 2 } else { 1 },
            name => return (command.find_subcommand(name).is_some() && !Path::new(name).exists()).then_some(place),
        }
    }
}

/// Words that the root itself answers.
const ANSWERED_HERE: [&str; 5] = ["help", "-h", "--help", "-V", "--version"];

/// Does what was asked for. How options came by their values stands in the matches.
fn done(command: Option<Command>, matches: &ArgMatches, door: &Door) -> Result<(), Failure> {
    match command {
        None => Ok(()),
        Some(Command::Convert(convert)) => convert.run(door),
        Some(Command::Demo(demo)) => demo.run(door),
        Some(Command::Config(config)) => config.run(&Cli::command()),
        Some(Command::Completions(completions)) => completions.run(),
        Some(Command::Man(man)) => man.run(door),
        Some(Command::Metrics(metrics)) => metrics.run(door),
        Some(Command::Complete(complete)) => complete.run(Cli::command()),
        Some(Command::Inspect(inspect)) => inspect.run(door),
        Some(Command::Replay(replay)) => replay.run(door),
        Some(Command::Report(report)) => report.run(door),
        Some(Command::Cost(cost)) => cost.run(door),
        Some(Command::Cache(cache)) => cache.run(door),
        Some(Command::Idle(idle)) => idle.run(door),
        Some(Command::Explain(explain)) => explain.run(door),
        Some(Command::Drift(drift)) => drift.run(door),
        Some(Command::Backtest(backtest)) => backtest.run(door),
        Some(Command::Diff(diff)) => diff.run(door),
        Some(Command::Sweep(sweep)) => sweep.run(door),
        Some(Command::Tune(tune)) => tune.run(door),
        Some(Command::Gate(gate)) => gate.run(door),
        Some(Command::Validate(validate)) => validate.run(door),
        Some(Command::Curve(curve)) => curve.run(door),
        Some(Command::Chart(chart)) => chart.run(matches.subcommand_matches("chart"), door),
        Some(Command::Trace(trace)) => trace.run(door),
        Some(Command::Worker(worker)) => worker.run(door),
        Some(Command::Policy(policy)) => policy.run(door),
        Some(Command::Formats(formats)) => formats.run(door),
        Some(Command::Models(models)) => models.run(door),
    }
}
