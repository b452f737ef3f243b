//! Sums that grow session by session. Settings that have come to the same in every session so far share one account, and part at the
//! session in which they come to different things: most settings never do.

use super::sums::{Sums, adds_up};
use crate::experiment::charges::Charges;
use crate::experiment::measure::Measure;
use crate::experiment::metric::{Metric, judged_by, metric_of};
use crate::sim::{BatchOutcome, Totals};
use std::collections::BTreeMap;

/// The accounts of all settings of a block.
pub(super) struct Accounts {
    /// By setting the place of its account.
    of: Vec<usize>,
    accounts: Vec<Account>,
    /// The sums over sessions that were the same for all settings.
    common: (Totals, Charges),
    /// By metric and bundle of sessions: what the first setting came to.
    first: Vec<Vec<i64>>,
}

/// What settings came to that never differed from each other.
#[derive(Clone, Default)]
pub(super) struct Account {
    /// The sums over sessions that were not the same for all settings.
    totals: Totals,
    charges: Charges,
    /// By metric: the bundles in which they came to more or less than the first setting, in order, and by how much.
    beyond: Vec<Vec<(usize, i64)>>,
}

impl Accounts {
    /// So many settings, which nothing has parted yet, over so many bundles of sessions.
    pub fn new(settings: usize, bundles: usize) -> Accounts {
        Accounts {
            of: vec![0; settings],
            accounts: vec![Account::default()],
            common: Default::default(),
            first: vec![vec![0; bundles]; judged_by().len()],
        }
    }

    /// Adds what all settings came to in one session of a bundle.
    pub fn add(&mut self, shared: &BatchOutcome, charges: &[Charges], bundle: usize) {
        let outcomes: Vec<(&Totals, &Charges)> = shared.totals.iter().zip(charges).collect();
        // Runs that parted may have come to the same in the end.
        let mut known: BTreeMap<[u64; 4], Vec<usize>> = BTreeMap::new();
        let first_like = |(place, own): (usize, &(&Totals, &Charges))| {
            let (totals, _) = own;
            // What tells most of them apart.
            let key = [totals.prompt_tokens, totals.summariser_tokens, totals.retention.carried_tokens, totals.estimates.guessed_tokens];
            let alike = known.entry(key).or_default();
            alike.iter().copied().find(|other| outcomes.get(*other) == Some(own)).unwrap_or_else(|| {
                alike.push(place);
                place
            })
        };
        let same_as: Vec<usize> = outcomes.iter().enumerate().map(first_like).collect();
        let outcome_of = |of: &u32| same_as.get(*of as usize).copied().unwrap_or_default();
        let Some(first) = shared.of.first().map(outcome_of) else { return };
        let values = |outcome: usize| -> Vec<i64> {
            outcomes
                .get(outcome)
                .map_or_else(Vec::new, |(totals, charges)| judged_by().iter().map(|metric| metric.value(totals, charges)).collect())
        };
        let of_first = values(first);
        for (cells, value) in self.first.iter_mut().zip(&of_first).filter(|(_, value)| **value != 0) {
            add_to(cells, bundle, *value);
        }
        if shared.of.iter().all(|of| outcome_of(of) == first) {
            if let Some((totals, charges)) = outcomes.get(first) {
                self.common.0 += *totals;
                self.common.1 += *charges;
            }
            return;
        }
        for ((_, outcome), place) in self.part(shared.of.iter().map(outcome_of)) {
            let (Some(account), Some((totals, charges))) = (self.accounts.get_mut(place), outcomes.get(outcome)) else { continue };
            account.totals += *totals;
            account.charges += *charges;
            if outcome != first {
                account.beyond.resize(judged_by().len(), Vec::new());
                let beyond = values(outcome).into_iter().zip(&of_first).map(|(own, first)| own - first);
                for (cells, value) in account.beyond.iter_mut().zip(beyond).filter(|(_, value)| *value != 0) {
                    match cells.binary_search_by_key(&bundle, |(known, _)| *known) {
                        Ok(place) => cells.get_mut(place).into_iter().for_each(|(_, sum)| *sum += value),
                        Err(place) => cells.insert(place, (bundle, value)),
                    }
                }
            }
        }
    }

    /// Settings of one account that came to different things get accounts of their own. Hands back the place of the account of each
    /// that there was before, and each outcome.
    fn part(&mut self, outcomes: impl Iterator<Item = usize>) -> BTreeMap<(usize, usize), usize> {
        let mut places: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut stays = vec![true; self.accounts.len()];
        for (of, outcome) in self.of.iter_mut().zip(outcomes) {
            let before = *of;
            *of = *places.entry((before, outcome)).or_insert_with(|| {
                if stays.get_mut(before).is_some_and(std::mem::take) {
                    return before;
                }
                let own = self.accounts.get(before).cloned().unwrap_or_default();
                self.accounts.push(own);
                self.accounts.len() - 1
            });
        }
        places
    }

    pub fn all(&self) -> &[Account] {
        &self.accounts
    }

    /// By setting the place of its account.
    pub fn of_settings(&self) -> impl Iterator<Item = usize> + '_ {
        self.of.iter().copied()
    }

    /// The sums of an account over all sessions.
    pub fn sums_of(&self, account: &Account) -> (Totals, Charges) {
        let (mut totals, mut charges) = (account.totals.clone(), account.charges);
        totals += &self.common.0;
        charges += &self.common.1;
        (totals, charges)
    }

    /// A metric of one account by bundle; of the first setting where none is named.
    fn cells(&self, account: Option<&Account>, metric: &'static Metric) -> Vec<i64> {
        let mut sums = cells_of(&self.first, metric).to_vec();
        for (bundle, by) in account.map_or(&[][..], |account| account.beyond(metric)) {
            add_to(&mut sums, *bundle, *by);
        }
        sums
    }

    /// A measure of one account by bundle, of which some have no price. Empty where the values of sessions do not add up.
    pub fn sums(&self, account: Option<&Account>, measure: &Measure, unpriced: &[usize]) -> Sums {
        if !adds_up(measure) {
            return Sums::default();
        }
        let part = |metric| self.cells(account, metric);
        let wholes = measure.whole.map_or_else(Vec::new, part);
        let sums = Sums { parts: part(measure.part), wholes, events: measure.counts_events(), ..Sums::default() };
        sums.of_priced(measure, unpriced)
    }

    /// The same with what is compared with no other setting.
    pub fn compared_sums(&self, account: &Account, measure: &Measure, unpriced: &[usize]) -> Sums {
        let of = |key: &str| metric_of(key).map_or_else(Vec::new, |metric| self.cells(Some(account), metric));
        let fails: Vec<bool> = of(measure.failures()).iter().map(|failed| *failed != 0).collect();
        let places = |is: &dyn Fn(usize) -> bool| (0..fails.len()).filter(|place| is(*place)).collect::<Vec<usize>>();
        let (failed, calls) = (|place: usize| fails.get(place).copied().unwrap_or_default(), of("calls"));
        let sums = Sums {
            failed: places(&|place| !measure.counts_failures() && failed(place)),
            empty: places(&|place| !failed(place) && calls.get(place) == Some(&0)),
            ..self.sums(Some(account), measure, &[])
        };
        sums.of_priced(measure, unpriced)
    }
}

impl Account {
    /// Is a measure the same as that of the first setting in each bundle?
    pub fn is_as_usual(&self, measure: &Measure) -> bool {
        measure.parts().all(|metric| self.beyond(metric).iter().all(|(_, beyond)| *beyond == 0))
    }

    fn beyond(&self, metric: &Metric) -> &[(usize, i64)] {
        cells_of(&self.beyond, metric)
    }
}

/// The cells of one metric.
fn cells_of<'c, T>(cells: &'c [Vec<T>], metric: &Metric) -> &'c [T] {
    let place = judged_by().iter().position(|known| known.key == metric.key);
    place.and_then(|place| cells.get(place)).map_or(&[], Vec::as_slice)
}

/// Adds what one session came to.
fn add_to(cells: &mut [i64], bundle: usize, value: i64) {
    if let Some(cell) = cells.get_mut(bundle) {
        *cell += value;
    }
}
