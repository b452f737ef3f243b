//! Runs: sessions with those that they started, as recorded and as a policy would have had them.

use crate::corpus::Corpus;
use crate::cost::{CacheKind, Tariff, summariser_nano_usd};
use crate::experiment::charges::Charges;
use crate::experiment::drift::is_shrunk_unnoted;
use crate::experiment::origin::roots;
use crate::experiment::price::price;
use crate::experiment::recording::{RecordedSession, recording};
use crate::experiment::replay::{ReplaySettings, replay};
use crate::experiment::sessions::SessionFigures;
use crate::list::Gather;
use crate::policy::{Policy, PolicyError, notes_compactions};
use crate::sim::EventKind;
use crate::trace::Trace;
use crate::transcript::Length;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// What tells which runs are of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairBy {
    /// The id of the session.
    Id,
    /// The name of its file, without ending.
    File,
    /// The folder that holds its file.
    Folder,
}

/// Where a session belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The run: sessions of one name are one run.
    pub run: String,
    /// What the run was asked to do; `None` where nothing tells.
    pub task: Option<String>,
    /// The compactions of the run, where something beside the log counts them.
    pub compactions: Option<u64>,
}

/// A session with those that it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What it was asked to do.
    pub task: Option<String>,
    /// What its sessions come to together.
    pub figures: SessionFigures,
    /// The part of its list price that is estimated: replies whose output the log does not count, and calls without usage. In thousand-millionths of a dollar; 0 of
    /// what a policy would have done.
    pub estimated_nano_usd: u64,
    /// The list price of its summarisers' requests, which are in no other figure: as a policy would have made them, or as far as the log holds them.
    pub summariser_nano_usd: u64,
    /// Have all calls a price?
    pub is_priced: bool,
    /// Do its logs count what caches read?
    pub tells_of_cache: bool,
    /// Is it what a policy would have done?
    pub is_simulated: bool,
    /// Was text removed where its log notes no compaction: does something beside the log count some, or did a recorded prompt fall without a reason? Of agents
    /// whose logs note compactions a fall says nothing.
    pub is_unnoted: bool,
    /// Does nothing count how often that was?
    pub is_uncounted: bool,
    /// Does it end at a refused call?
    pub is_failed: bool,
}

/// What tells a session from all others, whatever corpus it is read with: its id, and a hash of what it says and was sent.
pub fn identity(trace: &Trace) -> (String, u64) {
    let lengths: Vec<Length> = trace.parts.iter().map(|part| part.text.length).collect();
    let times: Vec<Option<i64>> = trace.messages.iter().map(|message| message.time.get()).collect();
    let said = postcard::to_stdvec(&(&trace.agent, &trace.models, lengths, times, trace.usages().collect::<Vec<_>>()));
    (trace.id.clone(), said.map_or(0, |bytes| xxh3_64(&bytes)))
}

/// Where the sessions of logs belong: a run is a session with those that it started.
pub fn labels(corpus: &Corpus, pair_by: Option<PairBy>) -> Vec<Label> {
    let files: Vec<(String, String)> = corpus.traces.each().map(|trace| (trace.id.clone(), trace.source.clone())).collect();
    let by_id: BTreeMap<&str, &str> = files.iter().map(|(id, source)| (id.as_str(), source.as_str())).gather();
    let label = |id: &str, source: &String| {
        let path = Path::new(by_id.get(id).copied().unwrap_or(source));
        let named = |path: Option<&std::ffi::OsStr>| path.map(|name| name.to_string_lossy().into_owned());
        match pair_by? {
            PairBy::Id => Some(id.to_owned()),
            // `a.jsonl.zst` and `a.jsonl` are one name.
            PairBy::File => named(path.file_name()).map(|name| name.split('.').next().unwrap_or_default().to_owned()),
            PairBy::Folder => named(path.parent().and_then(Path::file_name)),
        }
    };
    let runs = roots(&corpus.traces).into_iter().map(|(root, _)| root).zip(&files);
    runs.map(|(run, (_, source))| Label { task: label(&run, source), run, compactions: None }).collect()
}

/// The runs as recorded, in the order of their first sessions. `labels` has one for each session.
pub fn recorded(corpus: &Corpus, tariff: &Tariff<'_>, labels: &[Label]) -> Vec<Run> {
    let recording = recording(corpus, tariff);
    let of = |(session, trace): (Cow<'_, RecordedSession>, Cow<'_, Trace>)| Run {
        is_priced: session.unpriced_calls == 0,
        tells_of_cache: trace.tells_of_cache(),
        is_unnoted: !notes_compactions(&trace.agent) && is_shrunk_unnoted(&trace, tariff.catalog),
        estimated_nano_usd: session.estimated_output.nano_usd + session.estimated_bill.nano_usd(),
        summariser_nano_usd: summariser_nano_usd(&trace, tariff),
        figures: figures_of(&session),
        ..Run::default()
    };
    let mut runs = together(recording.sessions.each().zip(corpus.traces.each()).map(of), labels);
    for (run, counted) in &mut runs {
        let logged = run.figures.totals.events_of(EventKind::Compact);
        match counted.filter(|_| logged == 0) {
            Some(counted) => {
                run.figures.totals.events.insert(EventKind::Compact, counted);
                run.is_unnoted = counted > 0;
            }
            None => {
                run.is_unnoted &= logged == 0;
                run.is_uncounted = run.is_unnoted;
            }
        }
    }
    runs.into_iter().map(|(run, _)| run).collect()
}

fn figures_of(session: &RecordedSession) -> SessionFigures {
    let bills = [&session.bill, &session.estimated_bill];
    let charges = Charges::of(&bills, session.nano_usd(), session.totals.calls, session.unpriced_calls);
    SessionFigures { totals: session.totals.clone(), charges }
}

/// The same runs as a policy would have had them. The summariser's requests stand apart: logs hold few of them. Where a log does not count what caches read,
/// neither side's bill has a cache.
pub fn predicted(
    corpus: &Corpus,
    policy: &Policy,
    settings: &ReplaySettings<'_>,
    (tariff, cache): (&Tariff<'_>, CacheKind),
    labels: &[Label],
) -> Result<Vec<Run>, PolicyError> {
    let mut replays = replay(corpus, std::slice::from_ref(policy), settings)?;
    price(corpus, &mut replays, tariff);
    let Some(replay) = replays.pop() else { return Ok(Vec::new()) };
    let sessions = corpus.traces.each().zip(replay.outcomes.each()).zip(replay.bills.each()).map(|((trace, outcome), bills)| {
        let bill = bills.with(if trace.tells_of_cache() { cache } else { CacheKind::None });
        let charges = Charges::of(&[bill], bill.nano_usd() - bill.summariser.nano_usd, bills.calls, bills.unpriced_calls);
        Run {
            figures: SessionFigures { totals: outcome.totals.sums(), charges },
            summariser_nano_usd: bill.summariser.nano_usd,
            is_priced: bills.unpriced_calls == 0,
            tells_of_cache: trace.tells_of_cache(),
            is_simulated: true,
            is_failed: outcome.totals.failed_sessions > 0,
            ..Run::default()
        }
    });
    Ok(together(sessions, labels).into_iter().map(|(run, _)| run).collect())
}

/// Sessions of one run together, with the number of compactions that something beside the log counts.
fn together(sessions: impl Iterator<Item = Run>, labels: &[Label]) -> Vec<(Run, Option<u64>)> {
    let mut runs: Vec<(Run, Option<u64>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (session, label) in sessions.zip(labels) {
        let place = *places.entry(&label.run).or_insert(runs.len());
        match runs.get_mut(place) {
            None => runs.push((Run { task: label.task.clone(), ..session }, label.compactions)),
            Some((run, _)) => {
                run.figures.totals += &session.figures.totals;
                run.figures.charges += &session.figures.charges;
                run.estimated_nano_usd += session.estimated_nano_usd;
                run.summariser_nano_usd += session.summariser_nano_usd;
                run.is_priced &= session.is_priced;
                run.tells_of_cache |= session.tells_of_cache;
                run.is_failed |= session.is_failed;
                run.is_unnoted |= session.is_unnoted;
            }
        }
    }
    runs
}
