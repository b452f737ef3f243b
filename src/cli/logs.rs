//! What is read: arguments that every command over logs shares.

use super::failure::{Failure, tell};
use super::heading::READS;
use super::known::catalog;
use super::progress::Phase;
use super::shell::{option, quoted};
use super::when::{When, now};
use crate::corpus::{
    Converted, Corpus, FileLoss, Home, ProjectPattern, ReadSettings, Selected, Selection, Target, Vocabularies, convert, homes, read,
};
use crate::estimate::{Engine, Vocabulary};
use crate::format::{READERS, Reader, by_name};
use crate::measure::Wanted;
use crate::policy::suggestion;
use crate::reading::{Bounds, is_standard_input, name_of, path_of};
use crate::report::{counted, first_few, grouped};
use crate::trace::Trace;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// So many files are named in an error; the others are counted.
const NAMED: usize = 5;

/// So many folders of an agent.
const FOLDERS: usize = 2;

/// Agents share a line of about so many letters.
const LOOKED_WIDE: usize = 76;

/// Names of several logs that take more letters than this are not repeated in what to type next.
const NAMES: usize = 60;

/// What to read, and how.
#[derive(Args, Clone, Debug, Default)]
pub struct Logs {
    /// Files, folders, globs, `-` for standard input, or a .ctxtrace; .gz and .zst are unpacked. Without any: the agents' own folders
    #[arg(value_name = "LOGS", value_parser = name())]
    pub logs: Vec<String>,
    /// Read every file as this format instead of looking at its content (see `ctxsim formats`)
    #[arg(long, value_name = "READER", help_heading = READS)]
    pub input_format: Option<String>,
    /// Only sessions whose last call is of this date or later: 30d, 12h, 2w, 2026-10, 2026-10-01, 2026-10-01T12:00Z (UTC)
    #[arg(long, value_name = "DATE", value_parser = When::parse, help_heading = READS)]
    pub since: Option<When>,
    /// Only sessions whose last call is of this date or earlier
    #[arg(long, value_name = "DATE", value_parser = When::parse, help_heading = READS)]
    pub until: Option<When>,
    /// Only sessions of this project: its folder's name or path, or as `replay --by project` shows it; `*` stands for anything; may be given several times
    #[arg(long, value_name = "PROJECT", allow_hyphen_values = true, help_heading = READS)]
    pub project: Vec<String>,
    /// Count texts in this vocabulary instead of each model's own; `reference` counts with the slow reference implementation
    #[arg(long, value_name = "NAME", help_heading = READS)]
    pub tokenizer: Option<String>,
    /// Take every session for one of this model
    #[arg(long, value_name = "ID", help_heading = READS)]
    pub model: Option<String>,
    /// End with exit code 1 if a file is skipped or a part of one cannot be used
    #[arg(long, help_heading = READS)]
    pub strict: bool,
    /// Sessions that another one started: counted with all others, or left out
    #[arg(long, value_name = "HOW", default_value = "include", help_heading = READS)]
    pub subagents: SubAgents,
    /// Read lines, documents and records of so many bytes at most, as in 1G [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = READS)]
    pub max_line: Option<u64>,
    /// Read no more than this of what a packed file or a stream comes to [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = READS)]
    pub max_unpacked: Option<u64>,
    /// Read so many lines of a file, and sessions of so many messages, at most [default: 10000000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, u64::MAX), help_heading = READS)]
    pub max_records: Option<u64>,
    /// No progress bar, no word on stderr but errors
    #[arg(long, short, help_heading = READS)]
    pub quiet: bool,
    /// Use so many threads instead of one for each core
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1, 1024), help_heading = READS)]
    pub threads: Option<u16>,
    /// Does a table name the logs? Then those that do not exist are skipped.
    #[arg(skip)]
    pub are_listed: bool,
}

/// What becomes of sessions that another one started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SubAgents {
    /// They count like all others
    #[default]
    Include,
    /// They count like all others; in `ctxsim replay` they have rows of their own as well
    Separate,
    /// They are left out
    Exclude,
}

/// What is done with paths, as they are to be read.
type Work<'a, T> = &'a mut dyn FnMut(&[String], &ReadSettings<'_>) -> Result<T, Failure>;

impl Logs {
    /// Reads the logs that were named, or those in the agents' own folders, for a replay that shows references. At least one session is there.
    pub fn read(&self) -> Result<Corpus, Failure> {
        self.read_for(Wanted::default())
    }

    /// As [`Logs::read`], with nothing measured that is not wanted.
    pub fn read_for(&self, wanted: Wanted) -> Result<Corpus, Failure> {
        self.read_in(Vocabularies::Own, wanted)
    }

    /// The same, every text counted in these vocabularies.
    pub fn read_in(&self, vocabularies: Vocabularies, wanted: Wanted) -> Result<Corpus, Failure> {
        let (paths, mut corpus) = self.with(vocabularies, wanted, &mut |paths, settings| Ok(read(paths, settings)?))?;
        if self.subagents == SubAgents::Exclude {
            corpus.leave_out_sub_agents();
        }
        if corpus.traces.is_empty() { Err(nothing(&paths, &corpus, self.logs.is_empty())) } else { Ok(corpus) }
    }

    /// Writes the sessions of the logs down in another shape.
    pub fn convert(&self, target: Target, out: &mut dyn Write) -> Result<Converted, Failure> {
        let convert = &mut |paths: &[String], settings: &ReadSettings<'_>| Ok(convert(paths, target, settings, out)?);
        let (paths, converted) = self.with(Vocabularies::Public, Wanted::default(), convert)?;
        let nothing = converted.selected.as_ref().filter(|_| converted.sessions == 0).and_then(nothing_selected);
        let is_empty = converted.sessions == 0 && converted.skipped.is_empty();
        let nothing = nothing.or_else(|| is_empty.then(|| no_session(&paths, &converted.losses, &converted.hidden, self.logs.is_empty())));
        nothing.map_or(Ok(converted), Err)
    }

    /// Does something with the files that were named, or those in the agents' own folders, as they are to be read.
    fn with<T>(&self, vocabularies: Vocabularies, wanted: Wanted, work: Work<'_, T>) -> Result<(Vec<String>, T), Failure> {
        if self.subagents == SubAgents::Separate && !self.quiet {
            tell(
                "--subagents separate: sub-agents have rows of their own in `ctxsim replay` by policy alone; here they count like all others",
            );
        }
        if let Some(threads) = self.threads {
            // It fails only where a pool is running already, which then has the size that it has; results do not depend on it.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
        }
        let paths = if self.logs.is_empty() { self.found_at_home()? } else { self.logs.clone() };
        self.check(&paths)?;
        let done = self.as_asked(vocabularies, wanted, |settings| work(&paths, settings))?;
        Ok((paths, done))
    }

    /// Fails where some of the paths that were typed do not exist: a mistyped one beside others would only be missing among the sessions.
    fn check(&self, paths: &[String]) -> Result<(), Failure> {
        let is_there = |path: &&String| {
            let file = path_of(path);
            is_standard_input(&file) || file.exists() || path.contains(['*', '?', '[', '{'])
        };
        let (there, missing): (Vec<&String>, Vec<&String>) = paths.iter().partition(is_there);
        if missing.is_empty() || there.is_empty() || self.are_listed {
            return Ok(());
        }
        let names: Vec<&str> = missing.into_iter().map(String::as_str).collect();
        Err(Failure::Usage(format!("no such file or folder: {}", first_few(&names, NAMED))))
    }

    /// Does something by what was said of how logs are read.
    pub fn as_asked<T>(
        &self,
        vocabularies: Vocabularies,
        wanted: Wanted,
        work: impl FnOnce(&ReadSettings<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (engine, vocabulary) = self.tokenizer()?;
        let format = self.reader()?;
        let progress = Phase::reading(self.quiet);
        let settings = ReadSettings {
            catalog: catalog()?,
            model: self.model.clone(),
            format,
            engine,
            vocabulary,
            vocabularies,
            wanted,
            bounds: self.bounds(),
            selection: self.selection()?,
            without_sub_agents: self.subagents == SubAgents::Exclude,
            progress: &progress,
        };
        work(&settings)
    }

    /// A phase that is shown while it lasts: what is done with the logs once they are read.
    pub fn phase(&self, name: &str) -> Phase {
        Phase::begin(name, self.quiet)
    }

    /// The phase of a search, which shows how many settings there are and how far it has come.
    pub fn search(&self) -> Phase {
        Phase::searching(self.quiet)
    }

    /// With `--strict`: a sentence for whatever could not be used.
    pub fn complaints(&self, corpus: &Corpus) -> Vec<String> {
        if !self.strict {
            return Vec::new();
        }
        let skipped = corpus.facts.skipped.iter().map(|skipped| format!("{}: {}", skipped.path, skipped.reason));
        let losses = corpus.facts.losses.iter().map(|loss| {
            let line = if loss.first_line > 0 { format!(":{}", loss.first_line) } else { String::new() };
            let times = if loss.count > 1 { format!(" ({} times)", loss.count) } else { String::new() };
            format!("{}{line}: {}{times}", loss.path, loss.reason)
        });
        skipped.chain(losses).collect()
    }

    /// The options that change a result, as they would be typed again; logs first and in order.
    pub fn words(&self) -> Vec<String> {
        let mut words = self.logs.clone();
        words.sort();
        words.dedup();
        let sub_agents = self.subagents.to_possible_value().filter(|_| self.subagents != SubAgents::default());
        let options = [
            option("--input-format", &self.input_format),
            option("--tokenizer", &self.tokenizer),
            option("--model", &self.model),
            option("--since", self.since.map(When::word)),
            option("--until", self.until.map(When::word)),
            option("--project", &self.project),
            option("--max-line", self.max_line),
            option("--max-unpacked", self.max_unpacked),
            option("--max-records", self.max_records),
            option("--subagents", sub_agents.map(|value| value.get_name().to_owned())),
        ];
        [words, options.concat()].concat()
    }

    /// A command over these logs as it would be typed: its words, the logs, and what follows them.
    pub fn command(&self, words: &[&str], after: &[String]) -> String {
        let before = std::iter::once("ctxsim").chain(words.iter().copied()).map(str::to_owned);
        quoted(&before.chain(self.words()).chain(after.iter().cloned()).collect::<Vec<_>>())
    }

    /// What to type next over these logs: words, what follows the logs, and what that shows. Many files are named together, as help names them.
    pub fn step(&self, words: &[&str], after: &[String], shows: &str) -> (String, String) {
        let all = self.logs.iter().map(|log| log.len() + 1).sum::<usize>();
        let logs = if self.logs.len() > 1 && all > NAMES { vec!["LOGS".to_owned()] } else { self.logs.clone() };
        let after: Vec<String> = after.iter().map(|word| if word == "--policy" { "-p".to_owned() } else { word.clone() }).collect();
        (Logs { logs, ..self.clone() }.command(words, &after), shows.to_owned())
    }

    /// The same for what explains one session under policies.
    pub fn explaining(&self, session: &Trace, corpus: &Corpus, policies: &[String], shows: &str) -> (String, String) {
        let id = short(&session.id, corpus);
        // Ids that programs let people choose may be those of several sessions.
        if self.logs != [session.source.as_str()] && corpus.traces.each().filter(|trace| trace.id == session.id).count() > 1 {
            let alone = Logs { logs: vec![session.source.clone()], ..self.clone() };
            return alone.explaining(session, corpus, policies, shows);
        }
        if !id.starts_with('-') {
            return self.step(&["explain", id], policies, shows);
        }
        // Behind `--` no word is an option.
        let names = [policies, &["--".to_owned(), id.to_owned()], &self.logs].concat();
        Logs { logs: Vec::new(), ..self.clone() }.step(&["explain"], &names, shows)
    }

    /// May sessions of the logs be left out, as was asked?
    pub fn leaves_out(&self) -> bool {
        self.since.is_some() || self.until.is_some() || !self.project.is_empty() || self.subagents == SubAgents::Exclude
    }

    /// Which sessions are looked at.
    fn selection(&self) -> Result<Selection, Failure> {
        let (since, until) = (self.since.map(When::begins), self.until.map(When::ends));
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            return Err(Failure::Usage("--since lies behind --until: no call can be of both".to_owned()));
        }
        let clock = [self.since, self.until].into_iter().flatten().any(When::is_relative).then(|| now().as_millisecond());
        let pattern = |words: &String| {
            let wrong = |reason| Failure::Usage(format!("`--project {words}` is no pattern: {reason}"));
            // Only a path can be meant from the current folder; a name is that of any project.
            let is_path = words.starts_with('.') || words.contains(std::path::is_separator);
            let whole = Some(words).filter(|_| is_path).and_then(|words| std::fs::canonicalize(words).ok());
            let whole = whole.map(|path| path.to_string_lossy().into_owned());
            ProjectPattern::parse(whole.as_ref().unwrap_or(words)).map_err(wrong)
        };
        let projects = self.project.iter().map(pattern).collect::<Result<_, Failure>>()?;
        Ok(Selection { since, until, clock, projects })
    }

    fn bounds(&self) -> Bounds {
        let own = Bounds::default();
        Bounds {
            line: self.max_line.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(own.line),
            unpacked: self.max_unpacked.unwrap_or(own.unpacked),
            records: self.max_records.unwrap_or(own.records),
        }
    }

    /// The reader that was named; `None` where content tells.
    pub fn reader(&self) -> Result<Option<&'static Reader>, Failure> {
        let Some(name) = &self.input_format else { return Ok(None) };
        let unknown = || {
            let hint = suggestion(name, READERS.iter().map(|reader| reader.name));
            Failure::Usage(format!("`{name}` is no format that ctxsim reads{hint} (`ctxsim formats` lists them)"))
        };
        by_name(name).map(Some).ok_or_else(unknown)
    }

    fn tokenizer(&self) -> Result<(Engine, Option<Vocabulary>), Failure> {
        match self.tokenizer.as_deref() {
            None => Ok((Engine::default(), None)),
            Some("reference") => Ok((Engine::Reference, None)),
            Some(name) => {
                let names = || Vocabulary::ALL.iter().map(|vocabulary| vocabulary.name()).chain(["reference"]);
                let unknown = || {
                    let all: Vec<&str> = names().collect();
                    Failure::Usage(format!("`{name}` is no tokenizer{}; there are {}", suggestion(name, names()), all.join(", ")))
                };
                Vocabulary::by_name(name).map(|vocabulary| (Engine::default(), Some(vocabulary))).ok_or_else(unknown)
            }
        }
    }

    fn found_at_home(&self) -> Result<Vec<String>, Failure> {
        let homes = homes(&|name| std::env::var(name).ok());
        let (found, missing): (Vec<Home>, Vec<Home>) = homes.into_iter().partition(|home| home.path.exists());
        if found.is_empty() {
            let here = |home: &&Home| cfg!(target_os = "macos") || !home.path.to_string_lossy().contains("Library/Application Support");
            let mut looked: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            let user = std::env::var("HOME").unwrap_or_default();
            let short = |home: &Home| match home.path.strip_prefix(&user) {
                Ok(path) if !user.is_empty() => format!("~/{}", path.display()),
                _ => home.path.display().to_string(),
            };
            missing.iter().filter(here).for_each(|home| looked.entry(home.agent).or_default().push(short(home)));
            let mut lines: Vec<String> = Vec::new();
            for (agent, paths) in looked {
                let looked = format!("{agent}: {}", first_few(&paths, FOLDERS));
                match lines.last_mut().filter(|line| line.len() + looked.len() <= LOOKED_WIDE) {
                    Some(line) => *line += &format!("; {looked}"),
                    None => lines.push(format!("  {looked}")),
                }
            }
            let looked_for = if missing.is_empty() { "HOME is not set." } else { "These folders were looked for:" };
            let sentence = format!("no logs found; name a file or folder, as in `ctxsim replay logs/`, or try `ctxsim demo`. {looked_for}");
            return Err(Failure::NothingAmong(std::iter::once(sentence).chain(lines).collect()));
        }
        if !self.quiet {
            // Whether it holds any is known once it is read.
            found.iter().for_each(|home| tell(&format!("looking for {} sessions in {}", home.agent, home.path.display())));
        }
        Ok(found.into_iter().map(|home| home.path.to_string_lossy().into_owned()).collect())
    }
}

/// Why nothing is left of what was read; `None` where nothing was read.
fn nothing_selected(selected: &Selected) -> Option<Failure> {
    let asked = &selected.selection;
    if selected.of == 0 {
        return None;
    }
    if selected.of_projects == 0 {
        let words: Vec<&str> = asked.projects.iter().map(|pattern| pattern.words.as_str()).collect();
        let names: BTreeSet<String> = selected.known.labels().into_values().collect();
        let near = words.first().map(|words| suggestion(words, names.iter().map(String::as_str))).unwrap_or_default();
        let names: Vec<String> = names.into_iter().collect();
        let known = if names.is_empty() {
            "the logs name no project".to_owned()
        } else {
            format!("`--by project` shows {}", first_few(&names, NAMED))
        };
        return Some(Failure::Usage(format!("no session is of the project `{}`{near} ({known})", words.join("`, `"))));
    }
    let day = |millis: i64| jiff::Timestamp::from_millisecond(millis).map(|time| time.strftime("%Y-%m-%d").to_string());
    let known = match selected.last_calls.map(|(first, last)| (day(first), day(last))) {
        Some((Ok(first), Ok(last))) => format!("their last calls are of {first} to {last}"),
        _ => "none of them has a date".to_owned(),
    };
    Some(Failure::NothingReadable(format!(
        "none of {} lies between --since and --until: {known}",
        counted(selected.of_projects, "session")
    )))
}

/// Why there is no session; `at_home` where none was named, and the agents' own folders were read.
fn nothing(paths: &[String], corpus: &Corpus, at_home: bool) -> Failure {
    if let Some(failure) = corpus.facts.selected.as_ref().and_then(nothing_selected) {
        return failure;
    }
    let skipped: Vec<String> = corpus.facts.skipped.iter().map(|skipped| format!("{}: {}", skipped.path, skipped.reason)).collect();
    match skipped.as_slice() {
        [] => no_session(paths, &corpus.facts.losses, &corpus.facts.hidden, at_home),
        [only] => Failure::NothingReadable(format!("nothing readable: {only}")),
        several => {
            let named = several.iter().take(NAMED).map(|file| format!("  {file}"));
            let others = several.len().saturating_sub(NAMED) as u64;
            let rest = (others > 0).then(|| format!("  and {}", counted(others, "more file")));
            Failure::NothingAmong(std::iter::once("nothing readable:".to_owned()).chain(named).chain(rest).collect())
        }
    }
}

/// That no session is there, where no file was skipped.
fn no_session(paths: &[String], losses: &[FileLoss], hidden: &[String], at_home: bool) -> Failure {
    let lost = losses.first().map(|loss| format!(" ({}: {})", loss.path, loss.reason)).unwrap_or_default();
    let folders = paths.iter().any(|path| path_of(path).is_dir());
    let hint = match lost.is_empty() && folders {
        true if at_home => "; name a file or folder, as in `ctxsim replay logs/`, or try `ctxsim demo`".to_owned(),
        true if hidden.is_empty() => "; hidden files and folders are read where they are named".to_owned(),
        true => format!("; hidden folders are read where they are named: {}", first_few(hidden, NAMED)),
        false => String::new(),
    };
    Failure::NothingReadable(format!("no session in {}{lost}{hint}", first_few(paths, NAMED)))
}

/// A number of tokens as it is typed: `200000`, `200_000`, `200k`, `1m`.
pub fn tokens(text: &str) -> Result<u64, String> {
    let number = crate::policy::number(text).filter(|_| !text.ends_with('%'));
    match number {
        // Beyond this a float could not tell neighbours apart.
        Some(number) if number >= 0.0 && number.fract() == 0.0 && number < 9e15 => Ok(number as u64),
        _ => Err("a number of tokens is written as 200000, 200_000, 200k or 1m".to_owned()),
    }
}

/// A whole number as it is typed, from the least to the most that an option takes; without an end above where the most is `u64::MAX`.
pub fn whole<N: TryFrom<u64>>(least: u64, most: u64) -> impl Fn(&str) -> Result<N, String> + Clone {
    let ends =
        if most == u64::MAX { format!("from {} on", grouped(least)) } else { format!("from {} to {}", grouped(least), grouped(most)) };
    move |text: &str| {
        let number = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| format!("it takes a whole number {ends}"))
    }
}

/// A share as it is typed: `2%`, `0.02`.
pub fn share(text: &str) -> Result<f64, String> {
    let share = crate::policy::number(text).filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "a share is written as 2% or 0.02".to_owned())
}

/// Names of files need not be text.
pub fn name() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|name| name_of(&name))
}

/// A number of bytes as it is typed: `65536`, `64M`, `4G`.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((end, 'k' | 'K')) => (text.get(..end), 1 << 10),
        Some((end, 'm' | 'M')) => (text.get(..end), 1 << 20),
        Some((end, 'g' | 'G')) => (text.get(..end), 1 << 30),
        _ => (Some(text), 1_u64),
    };
    let bytes = digits.and_then(|digits| digits.parse::<u64>().ok()?.checked_mul(unit)).filter(|bytes| (1024..1 << 50).contains(bytes));
    bytes.ok_or_else(|| "a size is written as 65536, 64M or 4G, and is 1K at least".to_owned())
}

/// The shortest beginning of an id, of eight letters or more, that no other session's has but those of its own sub-agents.
fn short<'t>(id: &'t str, corpus: &Corpus) -> &'t str {
    let shared = |other: &str| id.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let longest = corpus.traces.each().filter(|trace| !is_below(&trace.id, id)).map(|trace| shared(&trace.id)).max().unwrap_or(0);
    let mut ends = id.char_indices().map(|(place, _)| place).skip(8);
    ends.find(|end| *end > longest).and_then(|end| id.get(..end)).unwrap_or(id)
}

/// Is this the id of a session, or of a sub-agent that is named below it?
pub fn is_below(id: &str, session: &str) -> bool {
    id.strip_prefix(session).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
