//! What settings come to by cluster of sessions, and how sure that makes their values, and the differences between them.

use super::goal::{Comparator, Constraint, Direction, priced, sample_for};
use super::row::{PARTS, Row};
use super::sums::{Sums, beside};
use crate::cost::Tariff;
use crate::experiment::measure::Measure;
use crate::list::List;
use crate::statistics::{
    Bars, Deciding, Drawn, Estimate, FEWEST, Finding, Keeping, Resamples, Sample, bounds, change, effective, expected, expected_difference,
    finding, keeping, quotient, ratio, share,
};
use crate::trace::Trace;
use std::collections::BTreeSet;

/// The sessions as they are drawn.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// The clusters of the sessions, or of bundles of them where there are many.
    pub sample: Sample,
    /// By session the number of its bundle.
    bundles: Vec<usize>,
    /// By bundle how many sessions it holds.
    held: Vec<usize>,
    resamples: Resamples,
    /// Sessions of the clusters.
    sizes: Drawn,
    /// The bundles that have no price in any session, ascending.
    pub(super) unpriced: Vec<usize>,
    /// Is money sought?
    is_money: bool,
    /// What is drawn where money is counted: all but those; `None` where there are none of them, or no others.
    priced: Option<Box<Sampling>>,
}

/// More sessions than this are bundled into about as many: a sweep keeps a number of each for every setting.
const MOST: usize = 2_048;

/// What a measure comes to by session, by cluster, and in each draw.
#[derive(Clone, Debug, Default)]
pub struct DrawnSums {
    sums: Sums,
    parts: Drawn,
    /// Nothing where the measure stands by itself.
    wholes: Drawn,
}

impl DrawnSums {
    fn is_quotient(&self) -> bool {
        !self.wholes.values.is_empty()
    }

    /// A figure of the sums: over all clusters, by draw, and without each cluster.
    fn figures<'d>(&'d self, other: &'d DrawnSums, figure: impl Fn(f64, f64) -> f64) -> (f64, Vec<f64>, Vec<f64>) {
        fn all(sums: &DrawnSums, of: impl Fn(&Drawn) -> Vec<f64>) -> Vec<f64> {
            let parts = of(&sums.parts);
            if !sums.is_quotient() {
                return parts;
            }
            parts.into_iter().zip(of(&sums.wholes)).map(|(part, whole)| share(part, whole)).collect()
        }
        let compare = |of: &dyn Fn(&Drawn) -> Vec<f64>| -> Vec<f64> {
            all(self, of).into_iter().zip(all(other, of)).map(|(one, other)| figure(one, other)).collect()
        };
        let whole = compare(&|drawn| vec![drawn.whole()]).first().copied().filter(|figure| figure.is_finite()).unwrap_or_default();
        (whole, compare(&|drawn| drawn.sums.clone()), compare(&|drawn| drawn.without().collect()))
    }
}

/// A difference from another setting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// As a share of the other's value; where that is zero, the amount itself.
    pub share: Estimate,
    /// What it is a share of: in what the measure counts, and in millionths for quotients. `None` where the difference is no share.
    pub whole: Option<f64>,
    /// What both come to over the sessions that are compared, this one first: in what the measure counts, and in millionths for quotients.
    pub values: [i64; 2],
    /// Sessions that are compared: both bring them to their end.
    pub compared: usize,
    /// Sessions that one of them fails.
    pub left_out: usize,
    /// Clusters of compared sessions, which the interval rests on.
    pub clusters: usize,
    /// How many of one size would say as much.
    pub effective: f64,
    /// The clusters in which the two differ. Chance between events makes no interval too narrow.
    pub deciding: Deciding,
}

impl Difference {
    /// The same between events: chance alone brings others, of which the draws know nothing. Both are over what is compared, bundles that hold so many sessions. Of
    /// what no session has more than once, no more come or go than there are sessions.
    fn counted(self, [one, other]: &[Sums; 2], held: &[usize]) -> Difference {
        let more =
            |one: &Sums, other: &Sums| -> f64 { one.parts.iter().zip(&other.parts).map(|(one, other)| (one - other).max(0) as f64).sum() };
        let (came, went) = (more(one, other), more(other, one));
        let all = |values: &[i64]| values.iter().map(|value| *value as f64).sum::<f64>();
        let unit = match (self.whole, one.wholes.is_empty()) {
            (Some(_), _) => 1.0 / all(&other.parts),
            (None, true) => 1.0,
            (None, false) => quotient(PARTS as f64, all(&one.wholes)),
        };
        let at_most_one = |sums: &Sums| sums.parts.iter().zip(held).all(|(events, sessions)| *events <= *sessions as i64);
        let is_capped = one.wholes.is_empty() && at_most_one(one) && at_most_one(other);
        let most = if is_capped { self.compared as f64 * unit } else { f64::INFINITY };
        let [low, high] = expected_difference(came, went).map(|events| self.share.value + (events - came + went) * unit);
        let least = if self.whole.is_some() { -1.0 } else { -most };
        let share = Estimate { low: self.share.low.min(low).max(least), high: self.share.high.max(high).min(most), ..self.share };
        Difference { share, deciding: Deciding { is_narrow: false, ..self.deciding }, ..self }
    }

    /// A share as an amount: in what the measure counts, and in millionths for quotients.
    pub fn amount(&self, share: f64) -> i64 {
        (share * self.whole.unwrap_or(1.0)).round() as i64
    }

    /// What is to be said of it, where so much is sought that way. What has no share is worth a change however small it is.
    pub fn finding(&self, direction: Direction, bars: &Bars) -> Finding {
        let Estimate { value, low, high } = self.share;
        let share = if direction == Direction::Minimise { self.share } else { Estimate { value: -value, low: -high, high: -low } };
        finding(Some(&share), &self.bars(bars))
    }

    /// The bars for a difference in its unit.
    pub fn bars(&self, bars: &Bars) -> Bars {
        if self.whole.is_some() {
            Bars { own_error: self.own_error(bars), ..*bars }
        } else {
            Bars { anchored: bars.anchored, ..Bars::default() }
        }
    }

    /// What the model is off is a share of each bill: the dearer one counts, whichever of the two the difference is a share of.
    pub fn own_error(&self, bars: &Bars) -> Option<f64> {
        bars.own_error.map(|error| error * (1.0 + self.share.value.max(0.0)))
    }
}

/// What the requests of summarisers, which are in no sum of prompt tokens, make of a difference in these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summarised {
    /// So many tokens more are theirs.
    pub more: i64,
    /// The difference with them, drawn by itself.
    pub with: Difference,
}

impl Difference {
    /// A difference in prompt tokens beside one that holds what summarisers take too; `None` where that is no more than a tenth of the difference, or a thousandth
    /// of all.
    pub fn summarised(&self, with: Difference) -> Option<Summarised> {
        let [by, by_with] = [self, &with].map(|difference| difference.values[0] - difference.values[1]);
        let more = by_with - by;
        let is_told = more.abs() * 10 > by.abs() && with.whole.is_some_and(|whole| (more.abs() * 1_000) as f64 > whole);
        is_told.then_some(Summarised { more, with })
    }
}

impl Sampling {
    /// The sessions of a corpus, bundled where there are many, drawn so often. Where money is sought, sessions without a price make no projects.
    pub fn new(traces: &List<Trace>, tariff: Option<&Tariff<'_>>, is_money: bool, resamples: usize, seed: u64) -> Sampling {
        let has_price = tariff.map_or_else(|| vec![false; traces.len()], |tariff| priced(traces, tariff));
        let sampling = Sampling::of(sample_for(traces, &has_price, is_money), resamples, seed);
        let (sample, bundles) = sampling.sample.bundled(MOST);
        let (mut held, mut unpriced) = (vec![0; sample.len()], vec![true; sample.len()]);
        for (bundle, has_price) in bundles.iter().zip(has_price) {
            held.get_mut(*bundle).into_iter().for_each(|held| *held += 1);
            unpriced.get_mut(*bundle).into_iter().for_each(|unpriced| *unpriced &= !has_price);
        }
        let unpriced: Vec<usize> =
            (0..sample.len()).filter(|bundle| sample.draws(*bundle) && unpriced.get(*bundle) == Some(&true)).collect();
        let rest = Some(sample.without(&unpriced)).filter(|rest| !unpriced.is_empty() && rest.clusters() > 0);
        let priced = rest.map(|rest| Box::new(Sampling { held: held.clone(), ..Sampling::of(rest, resamples, seed) }));
        Sampling { sample, bundles, held, unpriced, is_money, priced, ..sampling }
    }

    /// The clusters that what is sought is drawn by.
    pub fn sought(&self) -> &Sample {
        self.priced.as_ref().filter(|_| self.is_money).map_or(&self.sample, |priced| &priced.sample)
    }

    /// What these sums are drawn by: sums of money leave out what has no price.
    fn of_sums(&self, sums: &Sums) -> &Sampling {
        let is_left_out = |place: &usize| sums.empty.binary_search(place).is_ok();
        self.priced.as_deref().filter(|_| self.unpriced.first().is_some_and(is_left_out)).unwrap_or(self)
    }

    /// Sessions each by itself, drawn so often.
    pub fn of(sample: Sample, resamples: usize, seed: u64) -> Sampling {
        let resamples = Resamples::new(sample.clusters(), resamples, seed);
        let sizes = resamples.drawn(sample.sizes());
        let (bundles, held) = ((0..sample.len()).collect(), vec![1; sample.len()]);
        Sampling { bundles, held, sizes, resamples, sample, unpriced: Vec::new(), is_money: false, priced: None }
    }

    /// The number of the bundle that holds a session.
    pub fn bundle(&self, session: usize) -> usize {
        self.bundles.get(session).copied().unwrap_or_default()
    }

    fn sessions(&self, bundles: impl IntoIterator<Item = usize>) -> usize {
        bundles.into_iter().filter_map(|bundle| self.held.get(bundle)).sum()
    }

    /// What each draw makes of a measure.
    pub fn drawn(&self, sums: &Sums) -> DrawnSums {
        let by = self.of_sums(sums);
        let drawn = |values: &[i64]| by.resamples.drawn(by.by_cluster(values));
        DrawnSums { parts: drawn(&sums.parts), wholes: drawn(&sums.wholes), sums: sums.clone() }
    }

    /// Values of sessions by cluster; none of none.
    fn by_cluster(&self, values: &[i64]) -> Vec<i64> {
        if values.is_empty() { Vec::new() } else { self.sample.sums(values.iter().copied()) }
    }

    /// The same beside a setting of which it is known: the work is in proportion to the clusters in which they differ.
    fn drawn_beside(&self, sums: &Sums, known: &DrawnSums) -> DrawnSums {
        let moved = |from: &Drawn, to: &[i64]| {
            let to = self.by_cluster(to);
            if from.values.len() == to.len() { self.resamples.moved(from, to) } else { self.resamples.drawn(to) }
        };
        DrawnSums { parts: moved(&known.parts, &sums.parts), wholes: moved(&known.wholes, &sums.wholes), sums: sums.clone() }
    }

    /// The interval of a measure over these sessions: in what it counts, and in millionths for quotients. Absent for fewer than two clusters, and
    /// where the values of sessions do not add up.
    pub fn spread(&self, sums: &Sums) -> Option<Estimate> {
        self.of_sums(sums).spread_of(&self.drawn(sums))
    }

    /// The same beside a setting of which it is known what each draw makes of it.
    pub fn spread_beside(&self, sums: &Sums, known: &DrawnSums) -> Option<Estimate> {
        let by = self.of_sums(sums);
        by.spread_of(&by.drawn_beside(sums, known))
    }

    fn spread_of(&self, drawn: &DrawnSums) -> Option<Estimate> {
        if drawn.parts.values.is_empty() {
            return None;
        }
        // A sum is the mean of a session times their number.
        let (wholes, scale) = if drawn.is_quotient() { (&drawn.wholes, PARTS as f64) } else { (&self.sizes, self.sizes.whole()) };
        let ratio = ratio(&drawn.parts, wholes)?;
        let found = Estimate { value: ratio.value * scale, low: ratio.low * scale, high: ratio.high * scale };
        if !drawn.sums.events {
            return Some(found);
        }
        // Draws of few events are more alike than chance makes them, and draws of none hold none.
        let [least, most] = expected(drawn.parts.whole()).map(|events| quotient(events, wholes.whole()) * scale);
        let at_most_one = drawn.parts.values.iter().zip(&self.sizes.values).all(|(events, sessions)| events <= sessions);
        let all = quotient(self.sizes.whole(), wholes.whole()) * scale;
        let most = if at_most_one { most.min(all) } else { most };
        Some(Estimate { low: found.low.min(least), high: found.high.max(most), ..found })
    }

    /// How a measure differs from that of another setting, over the sessions that both bring to their end. Absent for too few clusters of them, and where
    /// the values of sessions do not add up.
    pub fn difference(&self, one: &Sums, other: &Sums) -> Option<Difference> {
        self.difference_from(one, &self.drawn(other))
    }

    /// So many clusters hold a session that is compared where these are.
    pub fn compared(&self, one: &Sums, other: &Sums) -> usize {
        self.sample.holding(one.compared(other))
    }

    /// The same from a setting of which it is known what each draw makes of it.
    pub fn difference_from(&self, one: &Sums, other: &DrawnSums) -> Option<Difference> {
        let found = self.differing(one, other)?;
        Some(if one.events { found.counted(&beside(one, &other.sums), &self.held) } else { found })
    }

    /// The same as the draws alone have it.
    fn differing(&self, one: &Sums, other: &DrawnSums) -> Option<Difference> {
        let compared = one.compared(&other.sums);
        let clusters = self.compared(one, &other.sums);
        if clusters < FEWEST || one.parts.len() != other.sums.parts.len() {
            return None;
        }
        let left_out = self.sessions(one.failed.iter().chain(&other.sums.failed).copied().collect::<BTreeSet<_>>());
        let by = self.of_sums(one);
        let [one, other] = [one, &other.sums].map(|sums| by.drawn_beside(&sums.over(&compared), other));
        let other = &other;
        let is_quotient = other.is_quotient();
        let base = if is_quotient { quotient(other.parts.whole(), other.wholes.whole()) } else { other.parts.whole() };
        let scale = if is_quotient { PARTS as f64 } else { 1.0 };
        let estimate = |(value, drawn, without): (f64, Vec<f64>, Vec<f64>)| (!drawn.is_empty()).then(|| bounds(value, drawn, &without));
        let effective = effective(if is_quotient { &other.wholes.values } else { &other.parts.values });
        let (share, whole) = if base != 0.0 {
            let (value, drawn, without) = one.figures(other, |one, other| share(one - other, other.abs()));
            let share = (!drawn.is_empty()).then(|| change(value, drawn, &without, effective))?;
            (share, Some(base.abs() * scale))
        } else if is_quotient {
            (estimate(one.figures(other, |one, other| (one - other) * scale))?, None)
        } else {
            let parts = one.sums.parts.iter().zip(&other.sums.parts).map(|(one, other)| one - other).collect();
            (by.spread(&Sums { parts, ..Sums::default() })?, None)
        };
        let values = [&one, other].map(|drawn| (drawn.sums.value() * scale).round() as i64);
        let compared = self.sessions((0..).zip(compared).filter(|(_, compared)| *compared).map(|(bundle, _)| bundle));
        let differs = |one: &Drawn, other: &Drawn, place: usize| one.values.get(place) != other.values.get(place);
        let differing = |place: &usize| differs(&one.parts, &other.parts, *place) || differs(&one.wholes, &other.wholes, *place);
        let differing = (0..by.sample.clusters()).filter(differing).count();
        let by_so_much: Vec<i64> =
            one.parts.values.iter().zip(&other.parts.values).map(|(one, other)| one.saturating_sub(*other)).collect();
        let deciding = Deciding::of(&by_so_much, differing);
        Some(Difference { share, whole, values, compared, left_out, clusters, effective, deciding })
    }

    /// Does a row fail fewer sessions than another one, by more than the uncertainty? `place` is that of failed sessions among their sums.
    pub fn fails_fewer(&self, one: &Row, other: &Row, place: usize) -> bool {
        let failed = one.sums_of(place).zip(other.sums_of(place));
        failed.and_then(|(one, other)| self.difference(one, other)).is_some_and(|fewer| fewer.share.high < 0.0)
    }

    /// Is a constraint kept by a row, whose sums these are? What no interval is known of, and what may not be at all and is, is judged by the value alone.
    pub fn keeping(&self, constraint: &Constraint, row: &Row, sums: Option<&Sums>) -> Keeping {
        let holds = constraint.holds(row.value(&constraint.measure));
        let exact = if holds { Keeping::Kept } else { Keeping::Broken };
        let none = match constraint.comparator {
            Comparator::AtMost | Comparator::Equal => constraint.limit.part == 0,
            // Less than one event is none.
            Comparator::Below => {
                let counts = constraint.measure.counts_events() && constraint.measure.whole.is_none();
                counts && constraint.limit.part == constraint.limit.whole as i64
            }
            _ => false,
        };
        let spread = sums.filter(|sums| !none && self.compared(sums, sums) >= FEWEST).and_then(|sums| self.spread(sums));
        let (Some(spread), false) = (spread, constraint.comparator == Comparator::Equal) else { return exact };
        let scale = if constraint.measure.whole.is_some() { PARTS as f64 } else { 1.0 };
        let limit = constraint.limit.part as f64 / constraint.limit.whole.max(1) as f64 * scale;
        let at_most = constraint.direction() == Direction::Minimise;
        let kept = if at_most { spread.high <= limit } else { spread.low >= limit };
        let broken = if at_most { spread.low > limit } else { spread.high < limit };
        match (kept && holds, broken && !holds) {
            (true, _) => Keeping::Kept,
            (_, true) => Keeping::Broken,
            _ => Keeping::CannotTell,
        }
    }

    /// Does a setting come to no more of something than another one? A difference of one, or of what is not worth a change, decides nothing.
    pub fn no_more(&self, one: &Sums, other: &Sums, worth: f64) -> Keeping {
        let [compared_one, compared_other] = beside(one, other);
        let moved = || compared_one.parts.iter().zip(&compared_other.parts).map(|(one, other)| one - other);
        if one.wholes.is_empty() && moved().map(i64::abs).sum::<i64>() <= 1 {
            return Keeping::Kept;
        }
        let exact = if moved().sum::<i64>() <= 1 { Keeping::Kept } else { Keeping::Broken };
        self.differing(one, &self.drawn(other))
            .map_or(exact, |difference| keeping(&difference.share, difference.whole.map_or(1.0, |whole| worth.max(1.0 / whole))))
    }
}

impl Row {
    /// The sums of the measure at this place of those that were asked for.
    pub fn sums_of(&self, place: usize) -> Option<&Sums> {
        self.sums.get(place).filter(|sums| !sums.parts.is_empty())
    }

    /// How the objective, the first of what was asked for, differs from that of another row.
    pub fn difference(&self, other: &Row, sampling: &Sampling) -> Option<Difference> {
        self.difference_from(&sampling.drawn(other.sums_of(0)?), sampling)
    }

    /// What summarisers make of that difference in prompt tokens; `None` for other measures. Tokens with theirs are the last of what was asked for.
    pub fn summarised(&self, other: &Row, difference: &Difference, measure: &Measure, sampling: &Sampling) -> Option<Summarised> {
        let with = self.sums.last().zip(other.sums.last()).filter(|_| measure.leaves_out_summarisers());
        difference.summarised(with.and_then(|(one, other)| sampling.difference(one, other))?)
    }

    /// The same from a row of which it is known what each draw makes of the objective.
    pub fn difference_from(&self, other: &DrawnSums, sampling: &Sampling) -> Option<Difference> {
        sampling.difference_from(self.sums_of(0)?, other)
    }
}

/// What is to be said of a difference in what is sought; `None` where there is too little to judge by.
pub fn found(difference: Option<&Difference>, direction: Direction, bars: &Bars) -> Finding {
    difference.map_or(Finding::CannotJudge, |difference| difference.finding(direction, bars))
}
