//! What remedies come to over the pauses of a corpus.

use super::break_even::{BreakEven, BreakEvens};
use super::pause::{Pause, pauses};
use super::remedy::Remedy;
use crate::corpus::Corpus;
use crate::cost::Tariff;
use crate::experiment::cache::{CacheBreak, CacheReads, Cause, Reads, Steps, reads_of};
use crate::experiment::origin::sample;
use crate::list::Gather;
use crate::statistics::{Estimate, FEWEST, Resamples};
use std::collections::{BTreeMap, BTreeSet};

/// Remedies are tried on contexts from so many tokens on; smaller ones are left alone.
pub const FLOORS: [u64; 4] = [0, 50_000, 100_000, 200_000];

/// What a remedy costs, in thousand-millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Over pauses that ended with another call.
    pub resumed: u64,
    /// Over sessions that were never resumed, if the program ran on there; nothing if it was closed.
    pub never: u64,
}

/// Sums over the pauses in caches of one lifetime, from one size of context on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The lifetime of an entry, in milliseconds.
    pub lifetime: i64,
    /// Contexts of so many tokens, and larger ones.
    pub floor: u64,
    /// Pauses that are long enough to matter and ended with another call.
    pub resumed: u64,
    /// The part of them that outlasted the entry and whose next call paid for it again.
    pub cold: u64,
    /// Sessions that were never resumed.
    pub never: u64,
    /// The sessions with a pause that ended with another call, by their places, ascending.
    sessions: Vec<usize>,
    /// So many clusters they are of.
    pub clusters: usize,
    /// What each remedy costs.
    pub spent: BTreeMap<Remedy, Spent>,
}

/// The cheapest remedy and what it costs, in thousand-millionths of a dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    /// The cheapest remedy.
    pub remedy: Remedy,
    /// What that remedy costs.
    pub nano_usd: u64,
    /// What doing nothing costs.
    pub nothing_nano_usd: u64,
}

/// The cheapest remedy over the pauses of a class.
#[derive(Clone, Copy, Debug)]
pub struct Advice<'a> {
    /// The class in which it saves most.
    pub class: &'a Class,
    /// The cheapest remedy of that class.
    pub best: Best,
    /// What doing nothing costs over contexts of all sizes, in thousand-millionths of a dollar.
    pub nothing_nano_usd: u64,
    /// What it costs beside doing nothing, as a share. `None` where it is that, or nothing is to be saved.
    pub beside: Option<Estimate>,
}

impl Advice<'_> {
    /// What is recommended, and from which size of context on: doing nothing, where a remedy saves no more than the uncertainty.
    pub fn remedy(&self) -> (Remedy, u64) {
        let saves = self.beside.is_some_and(|beside| beside.high < 0.0);
        if saves { (self.best.remedy, self.class.floor) } else { (Remedy::Nothing, 0) }
    }
}

/// The pauses of a session in caches of one lifetime.
#[derive(Clone, Copy, Debug)]
pub struct OfSession<'a> {
    /// All pauses of the session.
    pauses: &'a [Pause],
    /// The lifetime of an entry, in milliseconds.
    lifetime: i64,
}

impl OfSession<'_> {
    /// The place of the session in the corpus.
    pub fn place(&self) -> usize {
        self.pauses.first().map_or(0, |pause| pause.session)
    }
}

/// What was found out about the pauses of a corpus.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idle {
    /// How many pauses there are behind calls.
    pub count: u64,
    /// Those that are long enough to matter, in the order of sessions and calls.
    pub pauses: Vec<Pause>,
    /// Sums by lifetime and smallest context.
    pub classes: Vec<Class>,
    /// The remedies that are compared, doing nothing among them.
    pub remedies: Vec<Remedy>,
    /// Where remedies begin to pay.
    pub break_even: Vec<BreakEven>,
    /// What the recorded cache read, beside what was expected.
    pub reads: CacheReads,
}

impl Class {
    fn new(lifetime: i64, floor: u64, remedies: &[Remedy]) -> Class {
        let spent = remedies.iter().map(|remedy| (*remedy, Spent::default())).gather();
        Class { lifetime, floor, resumed: 0, cold: 0, never: 0, sessions: Vec::new(), clusters: 0, spent }
    }

    fn add(&mut self, pause: &Pause) {
        let never = pause.length.is_none();
        self.resumed += u64::from(!never);
        self.never += u64::from(never);
        self.cold += u64::from(pause.goes_cold());
        if !never && self.sessions.last() != Some(&pause.session) {
            self.sessions.push(pause.session);
        }
        for (remedy, spent) in &mut self.spent {
            *(if never { &mut spent.never } else { &mut spent.resumed }) += pause.cost(*remedy);
        }
    }

    /// What a remedy costs; with sessions that were never resumed, it is the most that it can have cost.
    pub fn cost(&self, remedy: Remedy, with_never: bool) -> u64 {
        let spent = self.spent.get(&remedy).copied().unwrap_or_default();
        spent.resumed + if with_never { spent.never } else { 0 }
    }

    /// The cheapest of some remedies; the earlier one at a tie.
    pub fn best(&self, with_never: bool, among: impl Fn(Remedy) -> bool) -> Option<Best> {
        let remedy = self.spent.keys().copied().filter(|remedy| among(*remedy)).min_by_key(|remedy| self.cost(*remedy, with_never))?;
        Some(Best { remedy, nano_usd: self.cost(remedy, with_never), nothing_nano_usd: self.cost(Remedy::Nothing, with_never) })
    }
}

impl Idle {
    /// What going cold cost by the logs: the breaks of caches that promise a lifetime whose cause is a pause.
    pub fn recorded_cold(&self) -> Reads {
        let promised = |one: &&CacheBreak| one.cause == Cause::Idle && one.kept.is_some_and(|kept| !kept.implicit);
        let mut sum = Reads::default();
        self.reads.breaks.iter().filter(promised).for_each(|one| sum += one.reads());
        sum
    }

    /// The pauses of each session, by lifetime.
    pub fn sessions(&self) -> impl Iterator<Item = OfSession<'_>> {
        self.pauses.chunk_by(|one, next| one.session == next.session).flat_map(|pauses| {
            let lifetimes: BTreeSet<i64> = pauses.iter().map(|pause| pause.lifetime).gather();
            lifetimes.into_iter().map(move |lifetime| OfSession { pauses, lifetime })
        })
    }

    /// Their sums, all sizes of contexts.
    pub fn class(&self, of: OfSession<'_>) -> Class {
        let mut class = Class::new(of.lifetime, 0, &self.remedies);
        of.pauses.iter().filter(|pause| pause.lifetime == of.lifetime).for_each(|pause| class.add(pause));
        class
    }

    /// How many of the pauses that matter ended with another call.
    pub fn resumed(&self) -> u64 {
        self.pauses.len() as u64 - self.never_resumed()
    }

    /// How many sessions were never resumed.
    pub fn never_resumed(&self) -> u64 {
        self.pauses.iter().filter(|pause| pause.length.is_none()).count() as u64
    }

    /// The smallest context from which the cheapest remedy of a lifetime saves most, and that remedy. `None` where the sessions with a pause are of too few clusters.
    pub fn recommended(&self, corpus: &Corpus, lifetime: i64, with_never: bool) -> Option<Advice<'_>> {
        let classes = self.classes.iter().filter(|class| class.lifetime == lifetime && class.clusters >= FEWEST);
        let bests = classes.filter_map(|class| Some((class, class.best(with_never, |_| true)?)));
        let (class, best) =
            bests.max_by_key(|(class, best)| (best.nothing_nano_usd - best.nano_usd.min(best.nothing_nano_usd), class.floor))?;
        let beside = self.beside_nothing(corpus, class, best.remedy, with_never).filter(|_| best.remedy != Remedy::Nothing);
        let all = self.classes.iter().find(|class| class.lifetime == lifetime && class.floor == 0).unwrap_or(class);
        Some(Advice { class, best, nothing_nano_usd: all.cost(Remedy::Nothing, with_never), beside })
    }

    /// What a remedy costs more than doing nothing over the pauses of a class, as a share of that; negative where it saves. `None` where nothing is
    /// to be saved.
    fn beside_nothing(&self, corpus: &Corpus, class: &Class, remedy: Remedy, with_never: bool) -> Option<Estimate> {
        let is_of_class = |pause: &&Pause| pause.lifetime == class.lifetime && pause.tokens >= class.floor;
        let mut sessions: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
        for pause in self.pauses.iter().filter(is_of_class).filter(|pause| with_never || pause.length.is_some()) {
            let (cost, nothing) = (pause.cost(remedy).cast_signed(), pause.cost(Remedy::Nothing).cast_signed());
            let (more, whole) = sessions.entry(pause.session).or_default();
            (*more, *whole) = (*more + cost - nothing, *whole + nothing);
        }
        let sample = sample(sessions.keys().filter_map(|place| corpus.traces.at(*place)));
        let sums = |of: fn(&(i64, i64)) -> i64| sample.sums(sessions.values().map(of));
        Resamples::of(&sample).change(&sums(|(more, _)| *more), &sums(|(_, whole)| *whole))
    }

    /// The lifetimes of the pauses that matter, in ascending order.
    pub fn lifetimes(&self) -> Vec<i64> {
        let mut lifetimes: Vec<i64> = self.classes.iter().map(|class| class.lifetime).collect();
        lifetimes.dedup();
        lifetimes
    }
}

/// Looks at the pauses of a corpus.
pub fn idle(corpus: &Corpus, tariff: &Tariff<'_>) -> Idle {
    let steps = Steps::new(corpus, tariff);
    let mut found = Idle { reads: reads_of(&steps, corpus, tariff), ..Idle::default() };
    let mut break_evens = BreakEvens::default();
    pauses(corpus, tariff, &steps, |pause, step| {
        found.count += 1;
        found.pauses.extend(pause.matters().then_some(*pause));
        break_evens.add(pause, step);
    });
    found.break_even = break_evens.all();
    // More pings than this cost more than going cold at any price of the corpus.
    let most = found.break_even.iter().filter_map(|one| one.pings).max().unwrap_or(0).min(MOST_PINGS);
    let pings = (1..=most).map(Remedy::Pings);
    found.remedies = std::iter::once(Remedy::Nothing).chain(pings).chain(std::iter::once(Remedy::Compact)).collect();
    let mut classes: BTreeMap<(i64, u64), Class> = BTreeMap::new();
    for pause in &found.pauses {
        for floor in FLOORS.into_iter().filter(|floor| pause.tokens >= *floor) {
            let class = classes.entry((pause.lifetime, floor)).or_insert_with(|| Class::new(pause.lifetime, floor, &found.remedies));
            class.add(pause);
        }
    }
    found.classes = classes.into_values().collect();
    for class in &mut found.classes {
        class.clusters = sample(class.sessions.iter().filter_map(|place| corpus.traces.at(*place))).clusters();
    }
    found
}

/// Free reads would pay for any number of pings.
const MOST_PINGS: u64 = 99;
