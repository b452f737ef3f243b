//! The bound: the most needs that any choice of content meets in contexts of these sizes.
//!
//! Put any price on the room of each call. A policy that meets a need has carried one of its sources through every call since that source's use before, or since it
//! arrived, and paid for the room; these stretches do not overlap. All room together is worth so much, so no policy can meet more needs than the cheapest ones that so much pays
//! for. This holds at any prices. With equal ones it is PFOO-L (Berger, Beckmann, Harchol-Balter, "Practical Bounds on Optimal Caching with Variable
//! Object Sizes", 2018); better ones are high where room is short, as right after a compaction. They are looked for by raising the price of calls
//! at which the cheapest needs together want more room than there is, and lowering the others: the dual of the linear programme whose
//! optimum is the best bound of this kind. Every step is a proof of its own, and the lowest bound counts.

use super::lookahead::Lookahead;
use crate::sim::needs::Way;

/// Prices are looked for in so many steps at most: in the more of these the fewer ways there are to meet needs, each of which a step looks at.
const STEPS: std::ops::RangeInclusive<usize> = 40..=200;

/// All steps together look at so many ways, where they may be that many.
const LOOKS: usize = 4_000_000;

/// Where the search stops without having found a bound that is lower by a thousandth.
const PATIENCE: u64 = 40;

/// The price that all calls start from: large, so that whole numbers are fine enough.
const FIRST_PRICE: u64 = 1 << 24;

/// Prices stay within these.
const PRICES: std::ops::RangeInclusive<u64> = 1..=1 << 40;

/// A way to meet a need: so much is carried from a call to the one that refers to it.
struct Stretch {
    from: u32,
    /// The call behind the last one.
    to: u32,
    /// So many needs share what it costs.
    shared: u32,
    size: u64,
}

/// What every step looks at, side by side in the order of needs, and the lists that every step fills anew.
struct Search<'a> {
    rooms: &'a [u64],
    stretches: Vec<Stretch>,
    /// By need: where its stretches end.
    ends: Vec<u32>,
    /// What the calls in front of each one cost together. Sums that do not fit, of tens of millions of calls, make stretches too cheap: a bound all the same.
    until: Vec<u64>,
    /// The cheapest stretch of each need, behind what it costs: those far below what the dearest paid one cost at the step before, those near it, and the rest.
    offers: [Vec<(u128, u32)>; 3],
    /// The most that a paid need cost at the step before.
    dearest: u128,
    /// The room that the cheapest needs want of each call.
    wanted: Vec<u64>,
}

impl Lookahead {
    /// The most needs that any policy can meet. `reached` of them can be met for certain: with that many the search is over.
    pub fn bound(&self, reached: u64) -> u64 {
        let all = self.needs.len() as u64;
        if reached >= all {
            return all;
        }
        let mut search = Search::new(self);
        let mut best = search.at_equal_prices();
        // Room that would do for everything, or for every need from its cheapest source, is worth nothing.
        search.pay(&vec![FIRST_PRICE; self.rooms.len()], u128::MAX);
        let first_prices = |wanted: &[u64]| -> Vec<u64> {
            wanted.iter().zip(&self.rooms).map(|(wanted, room)| if wanted > room { FIRST_PRICE } else { 0 }).collect()
        };
        let (from_cheapest, everything) = (first_prices(&search.wanted), first_prices(&self.everything()));
        if from_cheapest != everything {
            best = search.lowest(from_cheapest, best, reached);
        }
        search.lowest(everything, best, reached)
    }

    /// The same with equal prices alone: PFOO-L.
    pub fn bound_at_equal_prices(&self) -> u64 {
        Search::new(self).at_equal_prices()
    }

    /// The least of a source that a policy carries which meets a need from it.
    fn size(&self, way: &Way) -> u64 {
        let Some(source) = self.sources.get(way.source as usize) else { return 0 };
        way.held.unwrap_or(if way.entered { source.size } else { source.whole })
    }

    /// The room that all sources together want of each call, carried through all of their uses.
    fn everything(&self) -> Vec<u64> {
        let mut changes = vec![0; self.rooms.len() + 1];
        for source in &self.sources {
            let last = source.uses.last().map_or(0, |call| call + 1);
            carry(&mut changes, source.paid_from, last, source.whole);
        }
        run_up(&mut changes);
        changes
    }
}

impl<'a> Search<'a> {
    fn new(ahead: &'a Lookahead) -> Search<'a> {
        let (mut stretches, mut ends) = (Vec::new(), Vec::with_capacity(ahead.needs.len()));
        for need in &ahead.needs {
            if need.met_otherwise() || need.together {
                // What a summary is taken to hold, or several parts hold together, has no known cost.
                stretches.push(Stretch { from: 0, to: 0, shared: 1, size: 0 });
            } else {
                let stretch = |way: &Way| Stretch { from: way.from, to: need.call + 1, shared: way.shared.max(1), size: ahead.size(way) };
                stretches.extend(need.ways.iter().map(stretch));
            }
            ends.push(stretches.len() as u32);
        }
        let (until, offers, wanted) = (Vec::new(), Default::default(), Vec::new());
        Search { rooms: &ahead.rooms, stretches, ends, until, offers, dearest: 0, wanted }
    }

    /// The lowest bound on the way from these prices to better ones, or the best one so far where none is lower.
    fn lowest(&mut self, mut prices: Vec<u64>, mut best: u64, reached: u64) -> u64 {
        let lower = |bound: u64| bound - bound.div_ceil(1_000);
        let (mut goal, mut since) = (lower(best), 0);
        let most = (LOOKS / self.stretches.len().max(1)).clamp(*STEPS.start(), *STEPS.end());
        let steps = if prices.iter().any(|price| *price > 0) { most } else { 0 };
        for step in 0..steps as u64 {
            let count = self.pay(&prices, self.purse(&prices));
            (best, since) = (best.min(count), since + 1);
            if best <= goal {
                (goal, since) = (lower(best), 0);
            }
            if best <= reached || since > PATIENCE {
                break;
            }
            for ((price, wanted), room) in prices.iter_mut().zip(&self.wanted).zip(self.rooms) {
                *price = moved(*price, *wanted, *room, step);
            }
        }
        best
    }

    fn at_equal_prices(&mut self) -> u64 {
        let prices = vec![FIRST_PRICE; self.rooms.len()];
        self.pay(&prices, self.purse(&prices))
    }

    /// What the room of all calls costs at these prices.
    fn purse(&self, prices: &[u64]) -> u128 {
        prices.iter().zip(self.rooms).map(|(price, room)| u128::from(*price) * u128::from(*room)).sum()
    }

    /// How many needs a purse pays for at these prices; the room that the cheapest of them want of each call is noted.
    fn pay(&mut self, prices: &[u64], mut purse: u128) -> u64 {
        let mut sum: u64 = 0;
        self.until.clear();
        self.until.push(sum);
        self.until.extend(prices.iter().map(|price| {
            sum = sum.saturating_add(*price);
            sum
        }));
        self.offer();
        self.wanted.clear();
        self.wanted.resize(self.rooms.len() + 1, 0);
        let mut count = 0;
        for offers in &mut self.offers {
            let all = offers.len();
            let (paid, rest) = cheapest_within(offers, purse);
            purse = rest;
            count += paid.len();
            for (cost, place) in paid {
                self.dearest = self.dearest.max(*cost);
                let Some(stretch) = self.stretches.get(*place as usize) else { continue };
                carry(&mut self.wanted, stretch.from, stretch.to, stretch.size / u64::from(stretch.shared));
            }
            if paid.len() < all {
                break;
            }
        }
        run_up(&mut self.wanted);
        count as u64
    }

    /// The cheapest way to meet each need. Prices move by little from step to step, so that it is known where to look for the dearest that is paid.
    fn offer(&mut self) {
        let (low, high) = (self.dearest / 2, self.dearest.saturating_mul(2));
        self.dearest = 0;
        self.offers.iter_mut().for_each(Vec::clear);
        let [below, about, above] = &mut self.offers;
        let mut first = 0;
        for end in &self.ends {
            let stretches = self.stretches.get(first as usize..*end as usize).unwrap_or(&[]).iter().zip(first..);
            first = *end;
            let Some(offer) = stretches.map(|(stretch, place)| (stretch.cost(&self.until), place)).min() else { continue };
            let band = if offer.0 <= low {
                &mut *below
            } else if offer.0 <= high {
                &mut *about
            } else {
                &mut *above
            };
            band.push(offer);
        }
    }
}

impl Stretch {
    /// What it costs, where the calls in front of each one cost so much.
    fn cost(&self, until: &[u64]) -> u128 {
        // One that takes no room lies behind the calls, or in front of its own.
        let ends = until.get(self.from as usize).zip(until.get(self.to as usize));
        let cost = u128::from(ends.map_or(0, |(from, to)| to.saturating_sub(*from))) * u128::from(self.size);
        // Whole numbers of 64 bits are divided much faster.
        match u64::try_from(cost) {
            _ if self.shared == 1 => cost,
            Ok(cost) => u128::from(cost / u64::from(self.shared)),
            Err(_) => cost / u128::from(self.shared),
        }
    }
}

/// The offers that a purse pays for, the cheapest first, as far as it goes, and what is left of it: they need not be sorted for that.
fn cheapest_within(offers: &mut [(u128, u32)], mut purse: u128) -> (&[(u128, u32)], u128) {
    let cost = |offers: &[(u128, u32)]| offers.iter().map(|(cost, _)| *cost).sum::<u128>();
    if let Some(rest) = purse.checked_sub(cost(offers)) {
        return (offers, rest);
    }
    let (mut from, mut to) = (0, offers.len());
    while let Some(open) = offers.get_mut(from..to).filter(|open| !open.is_empty()) {
        let middle = open.len() / 2;
        open.select_nth_unstable(middle);
        match purse.checked_sub(cost(open.get(..=middle).unwrap_or(open))) {
            Some(rest) => (purse, from) = (rest, from + middle + 1),
            None => to = from + middle,
        }
    }
    (offers.get(..from).unwrap_or(&[]), purse)
}

/// So much is carried through these calls: what is wanted rises with the first of them, and falls behind the last.
fn carry(changes: &mut [u64], from: u32, to: u32, size: u64) {
    if let Some(change) = changes.get_mut(from as usize).filter(|_| from < to) {
        *change = change.wrapping_add(size);
        if let Some(change) = changes.get_mut(to as usize) {
            *change = change.wrapping_sub(size);
        }
    }
}

/// Makes sums up to each place of how much they rise and fall there.
fn run_up(changes: &mut [u64]) {
    let mut sum: u64 = 0;
    for change in changes {
        sum = sum.wrapping_add(*change);
        *change = sum;
    }
}

/// A price after a step: by a quarter up or down at most, and by less as the search goes on.
fn moved(price: u64, wanted: u64, room: u64, step: u64) -> u64 {
    if price == 0 {
        return 0;
    }
    // What is wanted beside the room, in thousandths: 0 for nothing, 2,000 for twice the room or more.
    let asked = (wanted.saturating_mul(1_000) / room.max(1)).min(2_000) as i64 - 1_000;
    // Prices keep far away from the ends of whole numbers.
    let change = price as i64 * asked / 4_000 * 16 / (16 + step as i64);
    price.saturating_add_signed(change).clamp(*PRICES.start(), *PRICES.end())
}
