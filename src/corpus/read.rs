//! A corpus: files found, read on all cores, each message and call counted once.

use super::counters::Counters;
use super::discover::{Found, discover};
use super::tracefile::{is_trace_file, read_traces};
use super::unseen::{self, UnseenFacts};
use super::{facts, once};
use crate::catalog::Catalog;
use crate::estimate::{CounterError, Engine, Vocabulary};
use crate::format::{self, Claim, ReadError, Reader, Source};
use crate::measure::{self, Content, Measure, SkimScale, TextScale, Wanted};
use crate::reading::Bounds;
use crate::trace::{Outputs, Trace};
use crate::transcript::{Loss, Transcript, Trust};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A file, or a part of one, that gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// The file as it was named.
    pub path: String,
    /// Why, as a short sentence.
    pub reason: String,
}

/// Lines or records that a reader could not use, in a file whose rest is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileLoss {
    /// The file as it was named.
    pub path: String,
    /// What was wrong.
    pub reason: String,
    /// How many times.
    pub count: u64,
    /// The first line or record, from 1; 0 where it has none.
    pub first_line: u64,
}

/// What stood in several files and was counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicates {
    /// Files of which no session was left. They count among the files that were read, and are the source of no session.
    pub files: u64,
    /// Sessions of which nothing was left.
    pub sessions: u64,
    /// Calls.
    pub calls: u64,
}

/// Sums over calls with usage that take mirrors into account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mirrored {
    /// Calls.
    pub calls: u64,
    /// Sum of their prompts.
    pub prompt_tokens: u64,
    /// Sum of their outputs.
    pub output_tokens: u64,
}

/// What a corpus holds, for reports. Every number is recorded but `anchored_share`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusFacts {
    /// Files that gave at least one session.
    pub files: u64,
    /// Files by format, by its name.
    pub formats: BTreeMap<String, u64>,
    /// Sessions, copies not counted.
    pub sessions: u64,
    /// Messages, copies not counted.
    pub messages: u64,
    /// Calls that were made, with or without usage.
    pub calls: u64,
    /// Calls with usage, those of recorded summarisers and side calls included.
    pub calls_with_usage: u64,
    /// The same by trust.
    pub usage_by_trust: BTreeMap<Trust, u64>,
    /// Sum of the prompts of the calls with usage.
    pub recorded_prompt_tokens: u64,
    /// Their outputs.
    pub outputs: Outputs,
    /// The largest recorded prompt.
    pub max_prompt_tokens: u64,
    /// Share of the context tokens of all replayed calls that is anchored on recorded usage, in millionths.
    pub anchored_millionths: u64,
    /// Recorded compactions and prunings, undone for replay.
    pub recorded_compactions: u64,
    /// What was counted once although it stood in several files.
    pub duplicates: Duplicates,
    /// Calls of sub-agents that are mirrored in the logs of those who started them, and stand in no log of their own. No other number
    /// of these facts holds them.
    pub mirrored: Mirrored,
    /// Conversation from before logs that begin in the middle.
    pub unseen: UnseenFacts,
    /// Sessions that another one started and that were left out because somebody asked for it.
    #[serde(skip)]
    pub sub_agents_left_out: u64,
    /// Files that gave nothing, each with its reason.
    pub skipped: Vec<Skipped>,
    /// Damage within files that were used.
    pub losses: Vec<FileLoss>,
}

/// Measured sessions and what is known of where they came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Corpus {
    /// Facts for reports.
    pub facts: CorpusFacts,
    /// The sessions in the order of their identities ([`Trace::by_identity`]): neither the names of folders and files nor the order in which
    /// they were read decide anything. Resamples draw them by their rank here.
    pub traces: Vec<Trace>,
}

/// How a corpus is read.
pub struct ReadSettings<'a> {
    /// The models.
    pub catalog: &'a Catalog,
    /// The model to take for every call.
    pub model: Option<String>,
    /// The reader to use for every file, instead of sniffing.
    pub format: Option<&'static Reader>,
    /// Which engine counts.
    pub engine: Engine,
    /// The vocabulary for every text, instead of each model's own.
    pub vocabulary: Option<Vocabulary>,
    /// What every text is counted in beside it.
    pub vocabularies: Vocabularies,
    /// What is measured of logs beside sizes. A `.ctxtrace` holds what it holds.
    pub wanted: Wanted,
    /// How much of a file is read at most.
    pub bounds: Bounds,
    /// Where progress is told.
    pub progress: &'a (dyn Progress + Sync),
}

impl<'a> ReadSettings<'a> {
    /// Every file by its content, every text in its model's own vocabulary, within the usual bounds; progress is not shown.
    pub fn new(catalog: &'a Catalog) -> ReadSettings<'a> {
        ReadSettings {
            catalog,
            model: None,
            format: None,
            engine: Engine::default(),
            vocabulary: None,
            vocabularies: Vocabularies::default(),
            wanted: Wanted::default(),
            bounds: Bounds::default(),
            progress: &(),
        }
    }
}

/// In which vocabularies texts are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabularies {
    /// In their session's own alone.
    #[default]
    Own,
    /// In `o200k_base` and `cl100k_base` too, which takes about as long again.
    Public,
    /// In none: tokens are guessed from lengths, which is enough to say what was recorded.
    None,
}

/// Where the progress of reading is shown.
pub trait Progress {
    /// So many files will be read.
    fn files(&self, count: usize);
    /// One more was read.
    fn file_done(&self);
}

/// No progress is shown.
impl Progress for () {
    fn files(&self, _: usize) {}
    fn file_done(&self) {}
}

/// Reads a corpus: paths, folders, globs, `-` for standard input, and measured traces (`.ctxtrace`).
pub fn read(paths: &[String], settings: &ReadSettings<'_>) -> Result<Corpus, CounterError> {
    let Found { files, missing } = discover(paths);
    settings.progress.files(files.len());
    let counters = Counters::new(settings)?;
    // Large files first, so that no core is left with one at the end; results go back to their places.
    let mut order: Vec<usize> = (0..files.len()).collect();
    let size = |index: &usize| std::fs::metadata(&files[*index]).map_or(0, |metadata| metadata.len());
    order.sort_by_cached_key(|index| std::cmp::Reverse(size(index)));
    // A file that is named alone is wanted as it is, though it belongs to another one.
    let companions = if files.len() == 1 { Companions::Read } else { Companions::PassOver };
    let mut results: Vec<(usize, FileResult)> = order
        .par_iter()
        .with_max_len(1)
        .map(|index| {
            let result = read_file(&files[*index], settings, &counters, companions);
            settings.progress.file_done();
            (*index, result)
        })
        .collect();
    results.sort_by_key(|(index, _)| *index);
    let mut corpus = Corpus { facts: CorpusFacts { skipped: missing, ..CorpusFacts::default() }, traces: Vec::new() };
    results.into_iter().for_each(|(_, result)| result.join(&mut corpus));
    unseen::settle(&mut corpus, settings.catalog);
    once::count_once(&mut corpus);
    facts::sum_up(&mut corpus);
    Ok(corpus)
}

/// What one file gave.
enum FileResult {
    Sessions { format: &'static str, traces: Vec<Trace>, losses: Vec<FileLoss> },
    Traces(Box<Corpus>),
    Companion,
    Skipped(Skipped),
}

impl FileResult {
    fn join(self, corpus: &mut Corpus) {
        match self {
            FileResult::Sessions { format, traces, losses } => {
                corpus.facts.files += 1;
                *corpus.facts.formats.entry(format.to_owned()).or_default() += 1;
                corpus.facts.losses.extend(losses);
                corpus.traces.extend(traces);
            }
            FileResult::Traces(other) => {
                corpus.facts.files += other.facts.files;
                for (format, files) in other.facts.formats {
                    *corpus.facts.formats.entry(format).or_default() += files;
                }
                corpus.facts.duplicates.files += other.facts.duplicates.files;
                corpus.facts.duplicates.sessions += other.facts.duplicates.sessions;
                corpus.facts.duplicates.calls += other.facts.duplicates.calls;
                corpus.facts.skipped.extend(other.facts.skipped);
                corpus.facts.losses.extend(other.facts.losses);
                corpus.traces.extend(other.traces);
            }
            FileResult::Companion => {}
            FileResult::Skipped(skipped) => corpus.facts.skipped.push(skipped),
        }
    }
}

impl CorpusFacts {
    /// The calls with usage and their tokens together with those that are known from mirrors alone; `None` where nothing is mirrored.
    pub fn with_mirrored(&self) -> Option<Mirrored> {
        (self.mirrored.calls > 0).then(|| Mirrored {
            calls: self.calls_with_usage + self.mirrored.calls,
            prompt_tokens: self.recorded_prompt_tokens + self.mirrored.prompt_tokens,
            output_tokens: self.outputs.all() + self.mirrored.output_tokens,
        })
    }
}

impl Corpus {
    /// Leaves out the sessions that another one started, and says how many.
    pub fn leave_out_sub_agents(&mut self) {
        let all = self.traces.len();
        self.traces.retain(|trace| trace.parent.is_none());
        self.facts.sub_agents_left_out = (all - self.traces.len()) as u64;
        self.traces.iter_mut().for_each(|trace| trace.mirrored.clear());
        facts::sum_up(self);
    }

    /// Keeps of each path the file's name alone: folders may tell whose logs they are, and of what.
    pub fn forget_folders(&mut self) {
        let sources = self.traces.iter_mut().map(|trace| &mut trace.source);
        let skipped = self.facts.skipped.iter_mut().map(|skipped| &mut skipped.path);
        let losses = self.facts.losses.iter_mut().map(|loss| &mut loss.path);
        for path in sources.chain(skipped).chain(losses) {
            if let Some(name) = Path::new(path.as_str()).file_name().map(|name| name.to_string_lossy().into_owned()) {
                *path = name;
            }
        }
        self.facts.skipped.sort();
        self.facts.losses.sort();
    }
}

/// What becomes of a file that is read together with another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Companions {
    PassOver,
    Read,
}

/// A file, opened and recognised.
pub(super) enum Opened {
    /// A log, with the reader for it.
    Log(&'static Reader, Source),
    /// A file of measured traces.
    Measured(Source),
    /// A part of another file.
    Companion,
    /// Nothing that can be read.
    Skipped(Skipped),
}

/// Opens a file and finds its reader.
pub(super) fn opened(path: &Path, settings: &ReadSettings<'_>, companions: Companions) -> Opened {
    let skipped = |reason: &str| Opened::Skipped(Skipped { path: path.to_string_lossy().into_owned(), reason: reason.to_owned() });
    let mut source = match Source::open_within(path, settings.bounds) {
        Ok(source) => source,
        Err(error) => return skipped(&error.to_string()),
    };
    source.alone = companions == Companions::Read;
    if is_trace_file(source.head()) {
        return Opened::Measured(source);
    }
    match (settings.format, format::sniff(&source)) {
        (Some(reader), _) => Opened::Log(reader, source),
        (None, Some((_, Claim::Companion))) if companions == Companions::PassOver => Opened::Companion,
        (None, Some((reader, _))) => Opened::Log(reader, source),
        (None, None) if source.head().is_empty() => skipped("is empty"),
        (None, None) => match format::why_unclaimed(&source) {
            Some(reason) => skipped(&reason),
            None if source.head().contains(&0) => skipped("is a binary file that no reader knows"),
            None => skipped("no reader knows its format"),
        },
    }
}

fn read_file(path: &Path, settings: &ReadSettings<'_>, counters: &Counters<'_>, companions: Companions) -> FileResult {
    let name = path.to_string_lossy().into_owned();
    let skipped = |reason: String| FileResult::Skipped(Skipped { path: name.clone(), reason });
    let (reader, mut source) = match opened(path, settings, companions) {
        Opened::Log(reader, source) => (reader, source),
        Opened::Measured(source) => return measured(source, settings, &skipped),
        Opened::Companion => return FileResult::Companion,
        Opened::Skipped(skipped) => return FileResult::Skipped(skipped),
    };
    let guess = counters.guess(source.head());
    let mut traces = match read_sessions(reader, &mut source, &name, settings, counters, guess) {
        Ok(traces) => traces,
        Err(error) => return skipped(error.to_string()),
    };
    // A session whose model counts in another public vocabulary is measured again in that one.
    for vocabulary in counters.others(&traces, guess) {
        let Some(Ok(mut again)) = source.again() else {
            source.lose(0, &not_counted_again(guess, vocabulary));
            continue;
        };
        let Ok(other) = read_sessions(reader, &mut again, &name, settings, counters, vocabulary) else { break };
        for (trace, other) in traces.iter_mut().zip(other) {
            if counters.wanted(trace) == vocabulary {
                *trace = other;
            }
        }
    }
    let losses: Vec<FileLoss> = source.losses().iter().map(|loss| file_loss(&name, loss)).collect();
    match (traces.is_empty(), losses.first()) {
        (true, None) => skipped("holds no session".to_owned()),
        (true, Some(loss)) => skipped(format!("holds no usable session ({})", loss.reason)),
        (false, _) => FileResult::Sessions { format: reader.name, traces, losses },
    }
}

/// The reason for counting a session in a vocabulary that is not its own.
pub(super) fn not_counted_again(counted: Vocabulary, wanted: Vocabulary) -> String {
    format!("stream too long to be read again: counted in {}, not in {}", counted.name(), wanted.name())
}

/// Traces that were measured before.
fn measured(mut source: Source, settings: &ReadSettings<'_>, skipped: &dyn Fn(String) -> FileResult) -> FileResult {
    if settings.format.is_some() || settings.vocabulary.is_some() || settings.engine != Engine::default() {
        return skipped("is measured already: --format and --tokenizer come too late for it".to_owned());
    }
    match read_traces(source.stream()) {
        Ok(corpus) => FileResult::Traces(Box::new(corpus)),
        Err(error) => skipped(error.to_string()),
    }
}

pub(super) fn file_loss(path: &str, loss: &Loss) -> FileLoss {
    FileLoss { path: path.to_owned(), reason: loss.reason.clone(), count: loss.count, first_line: loss.first_line }
}

fn read_sessions(
    reader: &Reader,
    source: &mut Source,
    name: &str,
    settings: &ReadSettings<'_>,
    counters: &Counters<'_>,
    vocabulary: Vocabulary,
) -> Result<Vec<Trace>, ReadError> {
    let model = settings.model.as_deref().and_then(|model| settings.catalog.find(model));
    let measure = Measure { catalog: settings.catalog, model, vocabulary };
    let mut traces = Vec::new();
    let mut too_long = 0_u64;
    let mut hand_over = |transcript: Transcript| match transcript.messages.len() as u64 <= settings.bounds.records {
        true => traces.push(measure::trace(transcript, name, measure)),
        false => too_long += 1,
    };
    match counters.get(vocabulary) {
        None => (reader.read)(source, &SkimScale, &mut hand_over)?,
        Some(counter) => {
            let scale = TextScale::new(counter.clone(), Content::Drop).with_public(counters.public()).wanting(settings.wanted);
            (reader.read)(source, &scale, &mut |transcript| {
                hand_over(transcript);
                scale.next_session();
            })?;
        }
    }
    (0..too_long).for_each(|_| source.lose(0, &settings.bounds.too_many_messages()));
    Ok(traces)
}
