//! `ctxsim worker`: the pure functions at the two ends of an engine that moves rows between machines. Rows come in on standard input and go out
//! on standard output; nothing is kept, and no path is taken.

mod frames;

use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::policies::Policies;
use super::pricing::Pricing;
use crate::corpus::{Corpus, CorpusFacts, Parts, Skipped, Vocabularies, joined, read_traces, settled, write_traces};
use crate::experiment::{RecordedSummaries, ReplaySettings, price, replay};
use crate::list::Arrange;
use crate::measure::Wanted;
use crate::render::json;
use crate::report::{self, Asked, Baselines};
use clap::{Args, Subcommand};
use frames::{Frames, put};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

const MEASURES: &str = "\
Examples:
  ctxsim worker measure < files.rows > measured.rows

docs/worker.md describes the rows.";

const MERGES: &str = "\
Examples:
  ctxsim worker merge < measured.rows > corpus.rows
  ctxsim worker merge --sessions < corpus.rows > sessions.rows

docs/worker.md describes the rows.";

const SIMULATES: &str = "\
Examples:
  ctxsim worker simulate -p none -p pi < sessions.rows > figures.rows

docs/worker.md describes the rows.";

/// Measure, merge and simulate rows from standard input, for engines that move them between machines
#[derive(Subcommand, Debug)]
pub enum Worker {
    Measure(Measure),
    Merge(Merge),
    Simulate(Box<Simulate>),
}

/// Turn rows of files into rows of measured sessions
#[derive(Args, Debug)]
#[command(after_help = MEASURES, mut_arg("logs", |logs| logs.hide(true)))]
pub struct Measure {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    bounds: Largest,
}

/// Put rows of measured sessions together; the order of rows decides nothing
#[derive(Args, Debug)]
#[command(after_help = MERGES, mut_arg("logs", |logs| logs.hide(true)))]
pub struct Merge {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    bounds: Largest,
    /// The last merge: each message counted once, then one row per session, and behind them what `simulate` has to know of all of them
    #[arg(long)]
    sessions: bool,
}

/// Replay rows of sessions through policies
#[derive(Args, Debug)]
#[command(after_help = SIMULATES, mut_arg("logs", |logs| logs.hide(true)))]
pub struct Simulate {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    bounds: Largest,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    pricing: Pricing,
    /// Put each call into the figures
    #[arg(long)]
    series: bool,
}

/// How much a row may hold.
#[derive(Args, Debug)]
struct Largest {
    /// Pass over rows of more than so many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 2 << 30)]
    max_row: u64,
}

/// What is said of a row of files.
#[derive(Deserialize)]
struct Files {
    /// Whatever the engine knows the row by: it comes back as it is.
    #[serde(default)]
    row: Value,
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    name: String,
    bytes: u64,
}

/// What is said of a row with a trace, or of what holds for all of them.
#[derive(Deserialize)]
struct Traced {
    #[serde(default)]
    row: Value,
    context: Option<Context>,
}

/// What is known of all sessions together alone.
#[derive(Serialize, Deserialize)]
struct Context {
    /// The sizes of summaries, as the agents' own were recorded.
    summaries: RecordedSummaries,
    /// The agents whose logs tell what the prompt cache did.
    cache_tellers: BTreeSet<String>,
}

#[derive(Serialize)]
struct Measured<'a> {
    row: Value,
    sessions: usize,
    messages: usize,
    calls: usize,
    skipped: &'a [Skipped],
    losses: u64,
}

impl Worker {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let (logs, bounds) = match self {
            Worker::Measure(measure) => (&measure.logs, &measure.bounds),
            Worker::Merge(merge) => (&merge.logs, &merge.bounds),
            Worker::Simulate(simulate) => (&simulate.logs, &simulate.bounds),
        };
        if !logs.logs.is_empty() {
            return Err(Failure::Usage("a worker takes no logs: its rows come from standard input (docs/worker.md)".to_owned()));
        }
        let frames = &mut Frames::new(io::stdin().lock(), bounds.max_row);
        match self {
            Worker::Measure(measure) => measure.run(door, frames),
            Worker::Merge(merge) => merge.run(frames),
            Worker::Simulate(simulate) => simulate.run(frames),
        }
    }
}

/// Does something with a row. What goes wrong with it, a crash included, is a row with the reason.
fn each<T>(row: &Value, work: impl FnOnce() -> Result<T, String>) -> Result<Option<T>, Failure> {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("the row makes the program fail: please report it".to_owned()));
    done.map(Some).or_else(|reason| refuse(row, &reason).map(|()| None))
}

fn refuse(row: &Value, reason: &str) -> Result<(), Failure> {
    put(&json!({ "row": row, "error": reason }), &[])
}

fn written(corpus: &Corpus) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    write_traces(corpus, &mut bytes).map_err(|error| error.to_string()).map(|()| bytes)
}

impl Measure {
    fn run(&self, door: &Door, frames: &mut Frames<impl io::Read>) -> Result<(), Failure> {
        self.logs.as_asked(Vocabularies::Public, Wanted::default(), |settings| {
            let parts = Parts::new(settings)?;
            while let Some(row) = frames.next::<Files>()? {
                let (files, bytes) = match row {
                    Ok(row) => row,
                    Err(reason) => {
                        refuse(&Value::Null, &reason)?;
                        continue;
                    }
                };
                let Some((corpus, trace)) = each(&files.row, || {
                    let corpus = measured(door, &parts, &files.files, &bytes)?;
                    written(&corpus).map(|trace| (corpus, trace))
                })?
                else {
                    continue;
                };
                let measured = Measured {
                    row: files.row,
                    sessions: corpus.traces.len(),
                    messages: corpus.traces.each().map(|trace| trace.messages.len()).sum(),
                    calls: corpus.traces.each().map(|trace| trace.calls.len()).sum(),
                    skipped: &corpus.facts.skipped,
                    losses: corpus.facts.losses.iter().map(|loss| loss.count).sum(),
                };
                put(&measured, &trace)?;
            }
            Ok(())
        })
    }
}

/// The sessions of a row's files, which lie in a folder of their own while they are read, as they lay beside each other where they came from.
fn measured(door: &Door, parts: &Parts<'_>, files: &[File], mut bytes: &[u8]) -> Result<Corpus, String> {
    let scratch = door.scratch().map_err(|failure| format!("{failure:?}"))?;
    let mut names = HashMap::new();
    for file in files {
        let length = usize::try_from(file.bytes).map_err(|error| error.to_string())?;
        let (content, rest) = bytes.split_at_checked(length).ok_or("the row has fewer bytes than its files are said to have")?;
        bytes = rest;
        // A name may be a whole path or an address: its parts stand below the folder.
        let below: PathBuf = file.name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        scratch.write(&below, content).map_err(|error| format!("{}: {error}", file.name))?;
        names.insert(scratch.path().join(below).to_string_lossy().into_owned(), file.name.as_str());
    }
    if !bytes.is_empty() {
        return Err("the row has more bytes than its files are said to have".to_owned());
    }
    // Each file by its name: below a folder, hidden ones would be passed over, and agents keep their logs in such.
    let mut corpus = parts.read(&names.keys().cloned().collect::<Vec<String>>());
    let folder = Path::new(scratch.path()).join("").to_string_lossy().into_owned();
    corpus.rename_files(&|words| names.get(words).map_or_else(|| words.replace(&folder, ""), |name| (*name).to_owned()));
    Ok(corpus)
}

/// The next row with traces, and what stands beside it; a row that cannot be used has said so. `None` at the end.
fn next_traces(frames: &mut Frames<impl io::Read>) -> Result<Option<(Traced, Corpus)>, Failure> {
    while let Some(row) = frames.next::<Traced>()? {
        match row {
            Err(reason) => refuse(&Value::Null, &reason)?,
            Ok((traced, bytes)) if bytes.is_empty() && traced.context.is_some() => return Ok(Some((traced, Corpus::default()))),
            Ok((traced, bytes)) => {
                let read = each(&traced.row, || read_traces(bytes.as_slice()).map_err(|error| error.to_string()))?;
                if let Some(corpus) = read {
                    return Ok(Some((traced, corpus)));
                }
            }
        }
    }
    Ok(None)
}

impl Merge {
    fn run(&self, frames: &mut Frames<impl io::Read>) -> Result<(), Failure> {
        let mut corpus = Corpus::default();
        while let Some((_, part)) = next_traces(frames)? {
            corpus = joined(corpus, part);
        }
        if !self.sessions {
            // In whatever order parts came, the same bytes go out.
            corpus.traces.arrange_by(|one, other| one.by_identity(other));
            corpus.facts.skipped.sort();
            corpus.facts.losses.sort();
            return put(&json!({ "sessions": corpus.traces.len() }), &written(&corpus).map_err(Failure::Usage)?);
        }
        self.logs.as_asked(Vocabularies::Public, Wanted::default(), |settings| {
            let corpus = settled(corpus, settings);
            let context = Context { summaries: RecordedSummaries::fit(corpus.traces.each()), cache_tellers: corpus.cache_tellers() };
            let sessions = corpus.traces.len();
            for trace in corpus.traces {
                let header = json!({ "session": trace.id, "source": trace.source, "agent": trace.agent, "calls": trace.calls.len() });
                let alone = Corpus { facts: CorpusFacts::default(), traces: vec![trace].into() };
                put(&header, &written(&alone).map_err(Failure::Usage)?)?;
            }
            put(&json!({ "context": context, "sessions": sessions }), &[])
        })
    }
}

impl Simulate {
    fn run(&self, frames: &mut Frames<impl io::Read>) -> Result<(), Failure> {
        let policies = self.policies.load_once_each(&self.logs, &[])?;
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        let own = self.policies.settings(&self.logs)?;
        let series = if self.series { report::Series::Included } else { report::Series::LeftOut };
        let asked = Asked { series, cache: self.pricing.cache, ..Asked::default() };
        let mut known = None;
        while let Some((traced, mut corpus)) = next_traces(frames)? {
            if traced.context.is_some() {
                known = traced.context;
                continue;
            }
            let figures = each(&traced.row, || {
                let all: &Context = known.as_ref().ok_or("no row with the context of all sessions stands before it")?;
                corpus.sum_up_part(&all.cache_tellers);
                let summaries = Some(all.summaries.clone());
                let settings = ReplaySettings { summaries, ..own.clone() };
                let mut replays = replay(&corpus, &policies, &settings).map_err(|error| error.to_string())?;
                price(&corpus, &mut replays, &tariff);
                let report = report::replay(&corpus, &replays, Baselines { recording: None, own: None }, &asked);
                let document = json(&report).map_err(|error| error.to_string())?;
                serde_json::from_str(&document).map_err(|error| error.to_string())
            })?;
            let Some(document): Option<Value> = figures else { continue };
            for policy in document.get("policies").and_then(Value::as_array).into_iter().flatten() {
                for session in policy.get("sessions").and_then(Value::as_array).into_iter().flatten() {
                    put(&json!({ "row": traced.row, "policy": policy.get("policy"), "figures": session }), &[])?;
                }
            }
        }
        Ok(())
    }
}
