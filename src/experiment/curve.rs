//! The reuse-distance curve: the share of references that a retention of the newest N would keep, from one pass over a corpus.

use super::distance::Distance;
use crate::names::named;
use crate::statistics::{Estimate, RESAMPLES, Resamples, SEED, distinct, sorted};
use crate::trace::Trace;
use std::collections::BTreeMap;

named! {
    /// What a limit on retention counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Axis: name {
        /// The newest tokens of the conversation.
        Tokens = "tokens",
        /// The newest tokens of tool output.
        OutputTokens = "tokens of tool output",
        /// The newest messages of the conversation.
        Messages = "messages",
        /// The newest tool results.
        Results = "results",
    }
}

/// The axes along which reports give distances.
pub const AXES: [Axis; 2] = [Axis::Tokens, Axis::Messages];

impl Axis {
    /// A distance along this axis.
    pub fn of(self, distance: &Distance) -> u64 {
        match self {
            Axis::Tokens => distance.tokens,
            Axis::OutputTokens => distance.output_tokens,
            Axis::Messages => distance.messages,
            Axis::Results => distance.results,
        }
    }
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// So many of the newest tokens or messages stay.
    pub retained: u64,
    /// References whose source is among these.
    pub kept: u64,
    /// The interval of the share of them, in millionths, which falls nowhere as `retained` grows. Absent with fewer than two clusters of sessions.
    pub band: Option<(u64, u64)>,
}

/// The share of references that each retention keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    /// Number of references that the curve is drawn from.
    pub references: u64,
    /// Sessions with such a reference.
    pub sessions: u64,
    /// Points, by ascending retention.
    pub points: Vec<Point>,
    /// Where the curve bends: from here on, keeping more keeps little. Absent where there is nothing to bend.
    pub knee: Option<u64>,
}

impl Curve {
    /// Does it rest on fewer references, or on references of fewer sessions, than this?
    pub fn is_of_few(&self, fewest: u64) -> bool {
        self.references.min(self.sessions) < fewest
    }
}

/// Retentions that are shown, in tokens.
const TOKENS: [u64; 10] = [1_000, 2_000, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000];

/// Retentions that are shown, in messages or results.
const MESSAGES: [u64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/// The curve of these distances along an axis. It ends with the first retention that keeps them all.
pub fn curve(distances: &[&Distance], axis: Axis) -> Curve {
    let grid = if matches!(axis, Axis::Tokens | Axis::OutputTokens) { TOKENS } else { MESSAGES };
    let all = sorted(distances.iter().map(|distance| axis.of(distance)));
    let kept = |limit: u64| all.partition_point(|distance| *distance <= limit) as u64;
    let references = all.len() as u64;
    let shown = grid.iter().position(|limit| kept(*limit) == references).map_or(grid.len(), |last| last + 1);
    let sessions = distances.chunk_by(|one, other| one.session == other.session).count() as u64;
    let bands = Bands::new(distances, axis);
    let millionths = |share: f64| (share * 1e6).round() as u64;
    let band = |limit: &u64| bands.at(*limit).map(|band| (millionths(band.low), millionths(band.high)));
    let mut bands: Vec<Option<(u64, u64)>> = grid.iter().take(shown).map(band).collect();
    rise(&mut bands);
    let points = grid.iter().zip(bands).map(|(limit, band)| Point { retained: *limit, kept: kept(*limit), band });
    Curve { references, sessions, points: points.collect(), knee: knee(&all, axis) }
}

/// Widens bands where one of a larger limit reaches lower, or one of a smaller limit higher: more kept is never less kept. Where one cluster alone loses
/// something, or keeps something, draws leave it out too often, and Wilson's interval beside them says how far the share may lie.
fn rise(bands: &mut [Option<(u64, u64)>]) {
    let mut highest = 0;
    for (_, high) in bands.iter_mut().flatten() {
        highest = highest.max(*high);
        *high = highest;
    }
    let mut lowest = u64::MAX;
    for (low, _) in bands.iter_mut().flatten().rev() {
        lowest = lowest.min(*low);
        *low = lowest;
    }
}

/// How many of these distances a limit keeps, of how many; what crosses a line of tokens stays.
pub fn kept_by(distances: &[&Distance], axis: Axis, limit: u64) -> (u64, u64) {
    let kept = distances.iter().filter(|distance| axis.of(distance) <= limit).count();
    (kept as u64, distances.len() as u64)
}

/// What a rule keeps at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Newest {
    /// The unit of `limit`.
    pub axis: Axis,
    /// So many of the newest tokens, messages or results stay.
    pub limit: u64,
    /// Does what crosses a line of tokens go as a whole? Otherwise it stays.
    pub crossing_goes: bool,
}

impl Newest {
    /// How many of these distances it keeps, of how many.
    pub fn kept(&self, distances: &[&Distance]) -> (u64, u64) {
        let keeps = |distance: &&&Distance| match self.axis {
            Axis::Messages | Axis::Results => self.axis.of(distance) <= self.limit,
            Axis::Tokens | Axis::OutputTokens if self.crossing_goes => self.axis.of(distance) + distance.source_tokens <= self.limit,
            Axis::Tokens | Axis::OutputTokens => self.axis.of(distance) < self.limit,
        };
        (distances.iter().filter(keeps).count() as u64, distances.len() as u64)
    }
}

/// The distance at or below which so many percent of the distances lie; `None` of nothing.
pub fn quantile(distances: &[&Distance], axis: Axis, percent: u64) -> Option<u64> {
    crate::statistics::quantile(&sorted(distances.iter().map(|distance| axis.of(distance))), percent * 10)
}

/// What each limit keeps, by cluster: references of one session are no independent witnesses.
struct Bands<'d> {
    distances: &'d [&'d Distance],
    axis: Axis,
    /// The clusters that the distances are in, in ascending order.
    clusters: Vec<usize>,
    /// How many distances each has.
    wholes: Vec<i64>,
    resamples: Resamples,
}

impl<'d> Bands<'d> {
    fn new(distances: &'d [&'d Distance], axis: Axis) -> Bands<'d> {
        let clusters = distinct(distances.iter().map(|distance| distance.cluster));
        let resamples = Resamples::new(clusters.len(), RESAMPLES, SEED);
        let bands = Bands { distances, axis, clusters, wholes: Vec::new(), resamples };
        Bands { wholes: bands.kept(u64::MAX), ..bands }
    }

    /// How many of the distances a limit keeps, by cluster.
    fn kept(&self, limit: u64) -> Vec<i64> {
        let mut sums = vec![0; self.clusters.len()];
        for distance in self.distances.iter().filter(|distance| self.axis.of(distance) <= limit) {
            let place = self.clusters.partition_point(|cluster| *cluster < distance.cluster);
            sums.iter_mut().skip(place).take(1).for_each(|sum| *sum += 1);
        }
        sums
    }

    /// The share that a limit keeps, with its interval. `None` with fewer than two clusters of sessions.
    fn at(&self, limit: u64) -> Option<Estimate> {
        Some(self.clusters.len()).filter(|clusters| *clusters > 1)?;
        self.resamples.part(&self.kept(limit), &self.wholes)
    }
}

/// Quantiles in percent, each with its interval: from the first distance whose band reaches up to that share to the first whose band lies above it, or the last one
/// (R. S. Woodruff, "Confidence Intervals for Medians and Other Position Measures", 1952). Quantiles of draws are narrower: they hold that of nine tenths in a third to
/// three quarters of samples of 8 to 20 recorded projects. `None` with fewer than two clusters of sessions.
pub fn quantiles<const N: usize>(distances: &[&Distance], axis: Axis, percents: [u64; N]) -> Option<[Estimate; N]> {
    let bands = Bands::new(distances, axis);
    let all = distinct(distances.iter().map(|distance| axis.of(distance)));
    bands.at(0)?;
    Some(percents.map(|percent| {
        let first = |bound: fn(Estimate) -> f64| {
            let is_below = |distance: &u64| bands.at(*distance).is_some_and(|band| bound(band) < percent as f64 / 100.0);
            all.get(all.partition_point(is_below)).or(all.last()).map_or(f64::NAN, |distance| *distance as f64)
        };
        let value = quantile(distances, axis, percent).map_or(f64::NAN, |distance| distance as f64);
        Estimate { value, low: first(|band| band.high).min(value), high: first(|band| band.low).max(value) }
    }))
}

/// The distance at which the curve is farthest above the straight line from its start to its end, over the logarithm of the distance.
///
/// This is the rule of Satopää and others ("Finding a 'Kneedle' in a Haystack", 2011) without smoothing.
fn knee(sorted: &[u64], axis: Axis) -> Option<u64> {
    let last = *sorted.last()?;
    // Limits below a thousand tokens are of no use: there the scale is nearly even.
    let unit = if matches!(axis, Axis::Tokens | Axis::OutputTokens) { 1_000.0 } else { 1.0 };
    let logarithm = |distance: u64| (distance as f64 / unit + 1.0).ln();
    if last == 0 {
        return None;
    }
    let start = sorted.partition_point(|distance| *distance == 0) as f64 / sorted.len() as f64;
    let line = |distance: u64| start + (1.0 - start) * logarithm(distance) / logarithm(last);
    let above = |place: usize, distance: u64| (place + 1) as f64 / sorted.len() as f64 - line(distance);
    let mut best: Option<(f64, u64)> = None;
    for (place, distance) in sorted.iter().enumerate() {
        // Of equal distances the last one says how many they keep.
        let height = above(place, *distance);
        if sorted.get(place + 1) != Some(distance) && best.is_none_or(|(highest, _)| height > highest) {
            best = Some((height, *distance));
        }
    }
    best.map(|(_, distance)| distance)
}

/// Where a preset's rule stands: it keeps the newest so many of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Name of the preset.
    pub preset: &'static str,
    /// The rule's id in the preset.
    pub rule: String,
    /// The end of the conversation that the rule keeps.
    pub newest: Newest,
    /// The agent has left the rule: no log of today is recorded under the preset.
    pub past: bool,
}

/// The fixed ends that the presets protect, for a window of this size. Ends in turns or shares are none.
pub fn protections(window: u64) -> Vec<Protection> {
    use crate::policy::{Crossing, EndOf, EndUnit, Facts, Kind, Policy, Rule, Switch, presets};
    let facts = Facts { window: Some(window), ..Facts::default() };
    let mut found: Vec<Protection> = Vec::new();
    for preset in presets() {
        let Ok(policy) = Policy::load(preset.name) else { continue };
        let past = !policy.recorded_by.is_empty() && policy.recorded_by.iter().all(|entry| entry.before.is_some());
        let Ok(plan) = policy.plan(&facts) else { continue };
        let keeps_all = |rule: &Rule| rule.summarise.as_ref().is_some_and(|summarise| summarise.discard == Switch::On);
        for rule in plan.rule.iter().filter(|rule| !keeps_all(rule)) {
            let results_alone = rule.select.kind == [Kind::ToolResult];
            for end in rule.select.tail.iter().filter(|end| end.n > 0.0) {
                let axis = match (end.unit, end.of, results_alone) {
                    (EndUnit::Tokens, EndOf::All, _) => Axis::Tokens,
                    (EndUnit::Tokens, EndOf::Selected, true) => Axis::OutputTokens,
                    // The results of one reply are one message to those who count them so.
                    (EndUnit::Messages | EndUnit::Batches, ..) => Axis::Messages,
                    (EndUnit::Items, _, true) => Axis::Results,
                    _ => continue,
                };
                // Where items are looked for among all messages, what crosses the line of these is not protected.
                let crossing_goes = end.crossing == Crossing::Select || (end.of == EndOf::All && !rule.select.kind.is_empty());
                let newest = Newest { axis, limit: end.n as u64, crossing_goes };
                if !found.iter().any(|other| (other.preset, other.newest) == (preset.name, newest)) {
                    found.push(Protection { preset: preset.name, rule: rule.id.clone(), newest, past });
                }
            }
        }
    }
    found
}

/// Limits that one preset of each system sets, with the systems that set them: the newest, which stands first.
pub fn newest_limits(window: u64) -> BTreeMap<Newest, Vec<&'static str>> {
    let mut found: BTreeMap<Newest, Vec<&str>> = BTreeMap::new();
    // One that counts tokens is no version of one that counts messages.
    let mut newest: BTreeMap<(&str, bool), &str> = BTreeMap::new();
    for protection in protections(window).into_iter().filter(|protection| !protection.past) {
        let system = protection.preset.split('@').next().unwrap_or_default();
        let kind = (system, matches!(protection.newest.axis, Axis::Tokens | Axis::OutputTokens));
        let systems = found.entry(protection.newest).or_default();
        if *newest.entry(kind).or_insert(protection.preset) == protection.preset && !systems.contains(&system) {
            systems.push(system);
        }
    }
    found.retain(|_, systems| !systems.is_empty());
    found
}

/// Reuse of tool results of one kind of evidence, in the order of sessions.
pub fn to_results(distances: &[Distance], kind: crate::trace::Evidence) -> Vec<&Distance> {
    distances.iter().filter(|distance| distance.kind == kind && distance.result).collect()
}

/// The name of the tool that a distance leads to; absent where it is not known.
pub fn tool_of<'a>(trace: &'a Trace, distance: &Distance) -> Option<&'a str> {
    trace.tools.get(distance.tool? as usize).map(String::as_str)
}
