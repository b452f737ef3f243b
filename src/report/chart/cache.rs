//! The share of the prompts that the prompt cache reads, over calls.

use super::document::{Axis, Drawing, Drawn, Form, Hue, NothingToDraw, Plot, Quantity, Series};
use super::few::{LINES, few};
use super::kind::{Kind, Material, Need};
use crate::cost::Split;
use crate::experiment::Replay;
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::words::{counted_as, grouped, percent_of};
use crate::trace::Trace;
use crate::transcript::Trust;

/// Calls share so many points at most.
const POINTS: usize = 60;

/// Tokens read from the cache, and tokens of the prompts, by call.
type Reads = Vec<(u64, u64)>;

/// Cache hit rate over calls.
pub const CACHE: Kind = Kind {
    name: "cache",
    sentence: "cache reads as a share of prompts, recorded and under each policy",
    needs: &[Need::Replays, Need::Baselines, Need::Reads],
    usual: None,
    draw: cache,
};

/// The chart of policies; for each, what the modelled cache made of each call of each session.
fn cache(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { corpus, reads: replays, baselines, .. } = *material;
    let is_own = |name: &str| baselines.own.is_some_and(|own| own.replay.policy == name);
    let recorded = by_call(corpus.traces.each().map(|trace| recorded(&trace)));
    let simulated = |(replay, calls): &(&Replay, Vec<Split>)| {
        let sizes = calls.iter().map(|split| (split.read, split.prompt()));
        (replay.policy.clone(), Provenance::Simulated, sizes.collect())
    };
    let mut all: Vec<(String, Provenance, Reads)> = replays.iter().map(simulated).collect();
    let shown = few(all.len(), LINES, |place| all.get(place).map(|(.., reads)| missed(reads)));
    let compared: Vec<_> = all.iter().zip(replays).filter(|(_, (replay, _))| !material.is_of_some(replay)).map(|(one, _)| one).collect();
    let title = title(&compared);
    let mut drawn: Vec<(String, Provenance, Reads)> = shown.places.iter().filter_map(|place| all.get(*place).cloned()).collect();
    let longest = all.iter().map(|(.., reads)| reads.len()).max().unwrap_or(0);
    if longest == 0 {
        return Err(NothingToDraw::Nothing("no session has a call".to_owned()));
    }
    // Where no provider reported its cache, a line at zero would say that it was never hit.
    if recorded.iter().any(|(read, _)| *read > 0) {
        let recorded = ("recorded".to_owned(), Provenance::Recorded, recorded);
        all.insert(0, recorded.clone());
        drawn.insert(0, recorded);
    }
    let each = longest.div_ceil(POINTS);
    let mut others = 0;
    let series = drawn.iter().map(|(name, provenance, reads)| {
        let hue = match provenance {
            Provenance::Recorded => Hue::Recorded,
            _ if is_own(name) => Hue::Own,
            _ => Hue::Other(others),
        };
        others += usize::from(matches!(hue, Hue::Other(_)));
        let point = |(place, calls): (usize, &[(u64, u64)])| {
            let middle = (place * each) as f64 + (calls.len() + 1) as f64 / 2.0;
            let (read, prompt) = sum(calls);
            (middle, if prompt > 0 { read as f64 / prompt as f64 } else { f64::NAN })
        };
        Series::of(name, hue, Form::Line, *provenance, reads.chunks(each).enumerate().map(point).collect())
    });
    let series: Vec<Series> = series.collect();
    let shares: Vec<String> = drawn.iter().map(|(name, _, reads)| format!("{name} {}", share(reads))).collect();
    let mut notes: Vec<String> = shown.note("the share that the cache reads", "are drawn").into_iter().collect();
    notes.push(format!("Over all calls: {}.", shares.join(", ")));
    if each > 1 {
        notes.push(format!("A point stands for {each} calls in a row."));
    }
    notes.extend(right_end(corpus.traces.each().map(|trace| trace.calls.len())));
    notes.push("Recorded are the calls whose provider reports its cache.".to_owned());
    Ok(Drawn {
        title,
        subtitle: "Share of the prompt tokens at that call, recorded and modelled; the axis shows the range of the data".to_owned(),
        drawing: Drawing::Plot(Plot {
            x: Axis { from: Some(1.0), ..Axis::of("call", Quantity::Count) },
            y: Axis { from: None, ..Axis::of("read from the cache", Quantity::Share) },
            series,
            limits: Vec::new(),
            marks: Vec::new(),
        }),
        notes,
        data: data(&all),
    })
}

/// How many sessions the right half of the axis rests on: those that make so many calls, and the longest alone to the end.
fn right_end(lengths: impl Iterator<Item = usize>) -> Option<String> {
    let mut lengths: Vec<usize> = lengths.filter(|calls| *calls > 0).collect();
    lengths.sort_unstable();
    let middle = lengths.last()?.div_ceil(2);
    let behind = lengths.iter().filter(|calls| **calls > middle).count() as u64;
    let (sessions, all) = (counted_as(behind, "session makes", "sessions make"), lengths.len() as u64);
    (behind < all)
        .then(|| format!("Of {}, {sessions} more than {} calls: the right half rests on these.", grouped(all), grouped(middle as u64)))
}

/// The finding: under which policy the cache reads least, and under which most, over all calls.
fn title(simulated: &[&(String, Provenance, Reads)]) -> String {
    let known = || simulated.iter().filter(|(.., reads)| sum(reads).1 > 0);
    let most = known().min_by_key(|(.., reads)| missed(reads));
    let least = known().rev().max_by_key(|(.., reads)| missed(reads));
    match (most, least) {
        (Some((most, _, high)), Some((least, _, low))) if share(high) != share(low) => {
            format!("The modelled cache reads {} of the prompts under {most}, and {} under {least}", share(high), share(low))
        }
        (Some((most, _, high)), _) if simulated.len() == 1 => {
            format!("The modelled cache reads {} of the prompts under {most}", share(high))
        }
        (Some((.., high)), _) => format!("The modelled cache reads {} of the prompts under each of these policies", share(high)),
        _ => "No prompt has a size that a cache could read".to_owned(),
    }
}

/// The share of the prompts that the cache reads.
fn share(reads: &Reads) -> String {
    let (read, prompt) = sum(reads);
    percent_of(read, prompt)
}

/// The part of the prompts that the cache does not read, in millionths.
fn missed(reads: &Reads) -> u128 {
    let (read, prompt) = sum(reads);
    u128::from(prompt.saturating_sub(read)) * 1_000_000 / u128::from(prompt.max(1))
}

/// What providers recorded; calls of sessions whose provider never reported a cache are left out.
fn recorded(trace: &Trace) -> Reads {
    let usages = || trace.calls.iter().map(|call| call.usage.get().filter(|usage| usage.trust == Trust::Provider));
    let told = usages().flatten().any(|usage| usage.cache_read > 0);
    usages().map(|usage| usage.filter(|_| told).map_or((0, 0), |usage| (usage.cache_read, usage.prompt))).collect()
}

fn by_call(sessions: impl Iterator<Item = Reads>) -> Reads {
    let mut sums: Reads = Vec::new();
    for reads in sessions {
        sums.resize(sums.len().max(reads.len()), (0, 0));
        for (sum, (read, prompt)) in sums.iter_mut().zip(reads) {
            *sum = (sum.0 + read, sum.1 + prompt);
        }
    }
    sums
}

fn sum(calls: &[(u64, u64)]) -> (u64, u64) {
    calls.iter().fold((0, 0), |(read, all), (more, prompt)| (read + more, all + prompt))
}

fn data(all: &[(String, Provenance, Reads)]) -> Table {
    let tokens = |key| Column::simulated(key, key, Unit::Tokens);
    let calls = all.iter().flat_map(|(name, _, reads)| reads.iter().enumerate().map(move |(number, call)| (name, number, call)));
    Fields::<(&String, usize, &(u64, u64))>::new()
        .with(Column::name("policy", "policy"), |(name, ..)| Cell::name(name))
        .with(Column::recorded("call", "call", Unit::Count), |(_, number, _)| Cell::Count(*number as u64 + 1))
        .with(tokens("read_tokens"), |(.., (read, _))| Cell::Tokens(*read))
        .with(tokens("prompt_tokens"), |(.., (_, prompt))| Cell::Tokens(*prompt))
        .table(2, calls)
}
