//! The bound: the most needs that any choice of content meets in contexts of these sizes.
//!
//! Put any price on the room of each call. A policy that meets a need has carried one of its sources through every call since that source's use before, or since it
//! arrived, and paid for the room; these stretches do not overlap. All room together is worth so much, so no policy can meet more needs than the cheapest ones that so much pays
//! for. This holds at any prices. With equal ones it is PFOO-L (Berger, Beckmann, Harchol-Balter, "Practical Bounds on Optimal Caching with Variable
//! Object Sizes", 2018); better ones are high where room is short, as right after a compaction. They are looked for by raising the price of calls
//! at which the cheapest needs together want more room than there is, and lowering the others: the dual of the linear programme whose
//! optimum is the best bound of this kind. Every step is a proof of its own, and the lowest bound counts.

use super::lookahead::Lookahead;
use crate::sim::needs::{Need, Way};

/// Prices are looked for in so many steps at most.
const STEPS: u64 = 200;

/// Where the search stops without having found a lower bound.
const PATIENCE: u64 = 40;

/// The price that all calls start from: large, so that whole numbers are fine enough.
const FIRST_PRICE: u64 = 1 << 24;

/// Prices stay within these.
const PRICES: std::ops::RangeInclusive<u64> = 1..=1 << 40;

/// A need at today's prices.
struct Offer {
    cost: u128,
    need: usize,
    way: usize,
}

impl Lookahead {
    /// The most needs that any policy can meet. `reached` of them can be met for certain: with that many the search is over.
    pub fn bound(&self, reached: u64) -> u64 {
        let all = self.needs.len() as u64;
        if reached >= all {
            return all;
        }
        let mut best = self.bound_at_equal_prices();
        // Room that would do for everything, or for every need from its cheapest source, is worth nothing.
        let (_, from_cheapest) = self.priced(&vec![FIRST_PRICE; self.rooms.len()], u128::MAX);
        for wanted in [from_cheapest, self.everything()] {
            let prices: Vec<u64> =
                wanted.iter().zip(&self.rooms).map(|(wanted, room)| if wanted > room { FIRST_PRICE } else { 0 }).collect();
            best = self.search(prices, best, reached);
        }
        best
    }

    /// The lowest bound on the way from these prices to better ones, or the best one so far where none is lower.
    fn search(&self, mut prices: Vec<u64>, mut best: u64, reached: u64) -> u64 {
        let mut since = 0;
        let steps = if prices.iter().any(|price| *price > 0) { STEPS } else { 0 };
        for step in 0..steps {
            let (count, wanted) = self.priced(&prices, self.purse(&prices));
            since = if count < best { 0 } else { since + 1 };
            best = best.min(count);
            if best <= reached || since > PATIENCE {
                break;
            }
            for ((price, wanted), room) in prices.iter_mut().zip(wanted).zip(&self.rooms) {
                *price = moved(*price, wanted, *room, step);
            }
        }
        best
    }

    /// The same with equal prices alone: PFOO-L.
    pub fn bound_at_equal_prices(&self) -> u64 {
        let prices = vec![FIRST_PRICE; self.rooms.len()];
        self.priced(&prices, self.purse(&prices)).0
    }

    /// What all room is worth.
    fn purse(&self, prices: &[u64]) -> u128 {
        prices.iter().zip(&self.rooms).map(|(price, room)| u128::from(*price) * u128::from(*room)).sum()
    }

    /// How many needs a purse pays for at these prices, and the room that the cheapest of them want of each call.
    fn priced(&self, prices: &[u64], mut purse: u128) -> (u64, Vec<u64>) {
        let mut until = Vec::with_capacity(prices.len() + 1);
        let mut sum: u128 = 0;
        until.push(sum);
        until.extend(prices.iter().map(|price| {
            sum += u128::from(*price);
            sum
        }));
        let mut offers: Vec<Offer> = self.needs.iter().enumerate().filter_map(|(place, need)| self.offer(place, need, &until)).collect();
        offers.sort_unstable_by_key(|offer| (offer.cost, offer.need));
        // Sums of what is wanted rise and fall where stretches begin and end.
        let mut changes = vec![0_i128; self.rooms.len() + 1];
        let mut count = 0;
        for offer in offers {
            let Some(rest) = purse.checked_sub(offer.cost) else { break };
            purse = rest;
            count += 1;
            let Some((need, way)) = self.needs.get(offer.need).and_then(|need| Some((need, need.ways.get(offer.way)?))) else { continue };
            let size = i128::from(self.size(way) / u64::from(way.shared.max(1)));
            if let Some(change) = changes.get_mut(way.from as usize).filter(|_| way.from <= need.call) {
                *change += size;
                if let Some(change) = changes.get_mut(need.call as usize + 1) {
                    *change -= size;
                }
            }
        }
        (count, running(changes).collect())
    }

    /// The cheapest way to meet a need.
    fn offer(&self, place: usize, need: &Need, until: &[u128]) -> Option<Offer> {
        let price = |way: &Way| {
            let (from, to) = (until.get(way.from as usize), until.get(need.call as usize + 1));
            // A way that takes no room lies behind the calls, or in front of its own.
            let calls = from.zip(to).map_or(0, |(from, to)| to.saturating_sub(*from));
            calls * u128::from(self.size(way)) / u128::from(way.shared.max(1))
        };
        if need.met_otherwise() {
            // What a summary is taken to hold has no known cost.
            return Some(Offer { cost: 0, need: place, way: usize::MAX });
        }
        let costs = need.ways.iter().enumerate().map(|(way, it)| (price(it), way));
        costs.min().map(|(cost, way)| Offer { cost, need: place, way })
    }

    /// The least of a source that a policy carries which meets a need from it.
    fn size(&self, way: &Way) -> u64 {
        let Some(source) = self.sources.get(way.source as usize) else { return 0 };
        way.held.unwrap_or(if way.entered { source.size } else { source.whole })
    }

    /// The room that all sources together want of each call, carried through all of their uses.
    fn everything(&self) -> Vec<u64> {
        let mut changes = vec![0_i128; self.rooms.len() + 1];
        for source in &self.sources {
            let last = source.uses.last().map_or(0, |call| *call as usize + 1);
            for (place, size) in [(source.paid_from as usize, i128::from(source.whole)), (last, -i128::from(source.whole))] {
                if let Some(change) = changes.get_mut(place).filter(|_| (source.paid_from as usize) < last) {
                    *change += size;
                }
            }
        }
        running(changes).collect()
    }
}

/// Sums up to each place; what would lie below 0 is 0.
fn running(changes: Vec<i128>) -> impl Iterator<Item = u64> {
    let mut sum: i128 = 0;
    changes.into_iter().map(move |change| {
        sum += change;
        u64::try_from(sum).unwrap_or(0)
    })
}

/// A price after a step: by a quarter up or down at most, and by less as the search goes on.
fn moved(price: u64, wanted: u64, room: u64, step: u64) -> u64 {
    if price == 0 {
        return 0;
    }
    // What is wanted beside the room, in thousandths: 0 for nothing, 2,000 for twice the room or more.
    let asked = (u128::from(wanted) * 1_000 / u128::from(room.max(1))).min(2_000) as i128 - 1_000;
    let change = i128::from(price) * asked / 4_000 * 16 / (16 + i128::from(step));
    let price = u64::try_from(i128::from(price) + change).unwrap_or(*PRICES.start());
    price.clamp(*PRICES.start(), *PRICES.end())
}
