//! A corpus: files found, read on all cores, each message and call counted once.

use super::counters::Counters;
use super::discover::{Found, discover};
use super::gathered::{Corpus, CorpusFacts, FileLoss, Skipped};
use super::settings::ReadSettings;
use super::tracefile::{is_trace_file, read_traces};
use super::{facts, once, unseen};
use crate::estimate::{CounterError, Engine, Vocabulary};
use crate::format::ground::ATTACHED;
use crate::format::{self, Claim, ReadError, Reader, Source};
use crate::list::{List, MANY, each_of};
use crate::measure::{self, Content, Measure, Runs, SkimScale, TextScale};
use crate::trace::Trace;
use crate::transcript::{Loss, Transcript};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sessions whose rows take more bytes than this beside those of the longest are packed, however few they are: with what hangs on the rows, a session
/// takes twice as much. The longest is unpacked whenever it is looked at, so that nothing would be won by packing it alone.
const MANY_BYTES: usize = 64 << 20;

/// Reads a corpus: paths, folders, globs, `-` for standard input, and measured traces (`.ctxtrace`).
pub fn read(paths: &[String], settings: &ReadSettings<'_>) -> Result<Corpus, CounterError> {
    let found = discover(paths);
    settings.progress.files(found.files.len());
    // A file that is named alone is wanted as it is, though it belongs to another one.
    let companions = if found.files.len() == 1 { Companions::Read } else { Companions::PassOver };
    let counters = Counters::new(settings)?;
    let corpus = gather(found, settings, &counters, companions);
    // What is not read again need not be remembered while it is simulated.
    rayon::broadcast(|_| measure::forget_texts());
    // A file by itself is read where it is asked for.
    measure::forget_texts();
    Ok(settled(corpus, settings))
}

/// Reads parts of one corpus, one after the other, with counters that are loaded once.
pub struct Parts<'a> {
    settings: &'a ReadSettings<'a>,
    counters: Counters<'a>,
}

impl<'a> Parts<'a> {
    /// Parts that are read with these settings.
    pub fn new(settings: &'a ReadSettings<'a>) -> Result<Parts<'a>, CounterError> {
        Ok(Parts { settings, counters: Counters::new(settings)? })
    }

    /// The sessions of some of the corpus's files, not yet held against those of others: [`settled`] does that with all parts together.
    pub fn read(&self, paths: &[String]) -> Corpus {
        gather(discover(paths), self.settings, &self.counters, Companions::PassOver)
    }
}

/// Puts two parts of a corpus together. In which order parts are joined decides nothing.
pub fn joined(mut corpus: Corpus, part: Corpus) -> Corpus {
    FileResult::Traces(Box::new(part)).join(&mut corpus);
    corpus
}

/// What follows from all parts of a corpus together: what is unseen, what stands in several files, which sessions are asked for, and sums.
pub fn settled(mut corpus: Corpus, settings: &ReadSettings<'_>) -> Corpus {
    corpus.traces.settle();
    unseen::settle(&mut corpus, settings.catalog);
    once::count_once(&mut corpus);
    corpus.facts.selected = settings.selection.take(&mut corpus.traces);
    facts::sum_up(&mut corpus);
    corpus
}

fn gather(found: Found, settings: &ReadSettings<'_>, counters: &Counters<'_>, companions: Companions) -> Corpus {
    let Found { files, missing, hidden } = found;
    // Large files first, so that no core is left with one at the end; results go back to their places.
    let mut order: Vec<usize> = (0..files.len()).collect();
    let size = |index: &usize| files.get(*index).and_then(|file| std::fs::metadata(file).ok()).map_or(0, |metadata| metadata.len());
    order.sort_by_cached_key(|index| std::cmp::Reverse(size(index)));
    let [sessions, bytes, longest] = [const { AtomicUsize::new(0) }; 3];
    let added = |count: &AtomicUsize, more: usize| count.fetch_add(more, Ordering::Relaxed) + more;
    // Each file has its place in the list: lists of one file each, put together in the end, would take more than the files.
    let mut results: Vec<(usize, FileResult)> = each_of(&order, |index| {
        let read = |file: &PathBuf| read_file(file, settings, counters, companions);
        let mut result = files.get(*index).map_or(FileResult::Companion, read);
        if let FileResult::Sessions { traces, .. } = &mut result {
            let rows = || traces.iter().map(Trace::row_bytes);
            let too_many = added(&sessions, traces.len()) > MANY;
            let longest = rows().max().map_or(0, |rows| longest.fetch_max(rows, Ordering::Relaxed).max(rows));
            let too_long = added(&bytes, rows().sum()).saturating_sub(longest) > MANY_BYTES;
            if files.len() > MANY || too_many || too_long {
                traces.pack();
            }
        }
        settings.progress.file_done();
        (*index, result)
    });
    results.sort_by_key(|(index, _)| *index);
    let mut corpus = Corpus { facts: CorpusFacts { skipped: missing, hidden, ..CorpusFacts::default() }, traces: List::default() };
    results.into_iter().for_each(|(_, result)| result.join(&mut corpus));
    corpus
}

/// What reading one file gave.
enum FileResult {
    Sessions { format: &'static str, traces: List<Trace>, losses: Vec<FileLoss> },
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
                corpus.traces.append(traces);
            }
            FileResult::Traces(other) => {
                corpus.facts.files += other.facts.files;
                for (format, files) in other.facts.formats {
                    *corpus.facts.formats.entry(format).or_default() += files;
                }
                corpus.facts.duplicates.files += other.facts.duplicates.files;
                corpus.facts.duplicates.sessions += other.facts.duplicates.sessions;
                corpus.facts.duplicates.other_forms += other.facts.duplicates.other_forms;
                corpus.facts.duplicates.calls += other.facts.duplicates.calls;
                corpus.facts.skipped.extend(other.facts.skipped);
                corpus.facts.hidden.extend(other.facts.hidden);
                corpus.facts.losses.extend(other.facts.losses);
                corpus.traces.append(other.traces);
            }
            FileResult::Companion => {}
            FileResult::Skipped(skipped) => corpus.facts.skipped.push(skipped),
        }
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
    /// A `.ctxtrace` file of measured traces.
    Measured(Source),
    /// A file that is read together with another one.
    Companion,
    /// A file that cannot be read, with the reason.
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
            None if matches!(source.head(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{' | b'[', 0, ..] | [0, b'{' | b'[', ..]) => {
                skipped("is written in UTF-16, and logs are read in UTF-8")
            }
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
    // Where a part of a request is lost, the request is not: that file lacks its session for another reason, where it has one.
    let of_request = source.losses().iter().position(|loss| ![ATTACHED, "unknown content part"].contains(&loss.reason.as_str()));
    match (traces.is_empty(), losses.get(of_request.unwrap_or(0))) {
        (true, None) => skipped("holds no session".to_owned()),
        (true, Some(loss)) => skipped(format!("holds no usable session ({})", loss.reason)),
        (false, _) => FileResult::Sessions { format: reader.name, traces: traces.into(), losses },
    }
}

/// The reason for counting a session in a vocabulary that is not its own.
pub(super) fn not_counted_again(counted: Vocabulary, wanted: Vocabulary) -> String {
    format!("stream too long to be read again: counted in {}, not in {}", counted.name(), wanted.name())
}

/// Reads a file of traces that were measured before.
fn measured(mut source: Source, settings: &ReadSettings<'_>, skipped: &dyn Fn(String) -> FileResult) -> FileResult {
    if settings.format.is_some() || settings.vocabulary.is_some() || settings.engine != Engine::default() {
        return skipped("is measured already: --input-format and --tokenizer come too late for it".to_owned());
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
    let (mut traces, mut runs) = (Vec::new(), Runs::default());
    let (mut too_long, mut timeless) = (0_u64, 0_u64);
    let mut hand_over = |transcript: Transcript| {
        if transcript.messages.len() as u64 > settings.bounds.records {
            too_long += 1;
            return;
        }
        timeless += measure::impossible_times(&transcript);
        let mut trace = measure::trace(transcript, name, measure);
        runs.number(&mut trace);
        traces.push(trace);
    };
    match counters.get(vocabulary) {
        None => reader.sessions(source, &SkimScale, &mut hand_over)?,
        Some(counter) => {
            let scale = TextScale::new(counter.clone(), Content::Drop).with_public(counters.public()).wanting(settings.wanted);
            reader.sessions(source, &scale, &mut |transcript| {
                hand_over(transcript);
                scale.next_session();
            })?;
        }
    }
    (0..too_long).for_each(|_| source.lose(0, &settings.bounds.too_many_messages()));
    (0..timeless).for_each(|_| source.lose(0, "time before 1970 or after 2199"));
    Ok(traces)
}
