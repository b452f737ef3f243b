//! What replays cost, session by session. It follows from the outcomes, so that other prices need no other replay.

use super::replay::Replay;
use crate::corpus::Corpus;
use crate::cost::{Bills, Calibration, Check, Split, Tariff, bills, check, splits};
use crate::list::{List, sum_on_all_cores};
use crate::sim::Whole;
use crate::trace::{Trace, WholePrompt};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Makes the bills of replays, in place of those that they had.
pub fn price(corpus: &Corpus, replays: &mut [Replay], tariff: &Tariff<'_>) {
    let priced: Vec<&Replay> = replays.iter().flat_map(|replay| std::iter::once(replay).chain(replay.closed.as_deref())).collect();
    let of_session = |place: usize, give: &mut dyn FnMut(Bills)| {
        let trace = corpus.traces.at(place).unwrap_or_default();
        let calibration = calibrate(&trace, tariff);
        let of = |replay: &&Replay| {
            let outcome = replay.outcomes.at(place)?;
            Some(bills(replay.imposed.get(&place).unwrap_or(&trace), &outcome, tariff, &calibration))
        };
        priced.iter().for_each(|replay| give(of(replay).unwrap_or_default()));
    };
    let mut all = List::made_together(&corpus.traces, priced.len(), false, of_session).into_iter();
    for replay in replays {
        replay.take_bills(all.next());
        if let Some(closed) = replay.closed.as_deref_mut() {
            closed.take_bills(all.next());
        }
    }
}

impl Replay {
    fn take_bills(&mut self, bills: Option<List<Bills>>) {
        self.bills = bills.unwrap_or_default();
        (self.bill, self.beside) = Default::default();
        self.bills.each().for_each(|bills| self.bill += &bills);
    }
}

/// What a session's recording says of its cache.
pub fn calibrate(trace: &Trace, tariff: &Tariff<'_>) -> Calibration {
    Calibration::of(trace, &whole(trace), tariff)
}

/// The prompts of a session without any compaction: as its corpus knows them, or else replayed.
fn whole(trace: &Trace) -> Cow<'_, [WholePrompt]> {
    if trace.whole.len() == trace.calls.len() {
        return Cow::Borrowed(&trace.whole);
    }
    Whole::of(trace).prompts.into()
}

/// What the modelled cache makes of the first calls of all sessions together, of the second ones, and so on, under each of these policies.
pub fn reads<'a>(corpus: &Corpus, replays: impl Iterator<Item = &'a Replay>, tariff: &Tariff<'_>) -> Vec<(&'a Replay, Vec<Split>)> {
    let replays: Vec<&Replay> = replays.collect();
    let of_session = |place: usize| -> Option<Vec<Vec<Split>>> {
        let trace = corpus.traces.at(place)?;
        let of = |replay: &&Replay| Some(splits(replay.imposed.get(&place).unwrap_or(&trace), &*replay.outcomes.at(place)?, tariff));
        Some(replays.iter().map(|replay| of(replay).unwrap_or_default()).collect())
    };
    let add = |sums: &mut Vec<Vec<Split>>, more: Vec<Vec<Split>>| {
        sums.resize(replays.len(), Vec::new());
        for (sum, more) in sums.iter_mut().zip(more) {
            sum.resize(sum.len().max(more.len()), Split::default());
            sum.iter_mut().zip(more).for_each(|(sum, split)| *sum += split);
        }
    };
    let mut sums = sum_on_all_cores(corpus.traces.len(), &of_session, &add);
    sums.resize(replays.len(), Vec::new());
    replays.into_iter().zip(sums).collect()
}

/// The model of the cache held against what was recorded, by agent in the order of their names.
pub fn check_model(corpus: &Corpus, tariff: &Tariff<'_>) -> BTreeMap<String, Check> {
    let of_session = |place| corpus.traces.at(place).map(|trace| (trace.agent.clone(), check_of(&trace, tariff)));
    let add = |sum: &mut BTreeMap<String, Check>, (agent, check): (String, Check)| *sum.entry(agent).or_default() += &check;
    sum_on_all_cores(corpus.traces.len(), &of_session, &add)
}

/// The model of the cache held against one session.
pub(super) fn check_of(trace: &Trace, tariff: &Tariff<'_>) -> Check {
    check(trace, &whole(trace), tariff)
}
