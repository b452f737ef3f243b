//! Figures of cost for tables of other questions, and what is said of calls without a price.

use super::document::{Better, Cell, Column, Provenance, Unit};
use super::words::{counted, first_few, grouped};
use crate::cost::{Bills, CacheKind};
use crate::experiment::{Charges, Replay};
use std::collections::BTreeSet;

/// So many models are named; the others are counted.
const NAMED: usize = 5;

/// What tables of policies and sessions show.
pub const COLUMNS: [Column; 2] = [
    Column {
        meaning: "list price of all calls, the summariser's included, with the cache that was asked for",
        priority: 4,
        better: Better::Less,
        ..Column::number("cost_usd", "cost", Unit::Money, Provenance::Simulated)
    },
    Column {
        meaning: "share of the prompt tokens that this cache reads",
        priority: 4,
        better: Better::More,
        ..Column::number("cache_hits", "cache hits", Unit::Share, Provenance::Simulated)
    },
];

/// Their cells.
pub fn cells(bills: &Bills, cache: CacheKind) -> [Cell; 2] {
    let bill = bills.with(cache);
    [cost(bills, bill.nano_usd()), super::cost::hits(bill)]
}

/// An amount of a bill; nothing where no call of it has a price.
pub fn cost(bills: &Bills, nano_usd: u64) -> Cell {
    if bills.is_priced() { Cell::money(nano_usd) } else { Cell::Empty }
}

/// The same of the charges of a setting.
pub fn of_charges(charges: &Charges) -> [Cell; 2] {
    let cost = if charges.calls > charges.unpriced_calls { Cell::money(charges.nano_usd) } else { Cell::Empty };
    [cost, Cell::share(charges.cache_read, charges.prompt_tokens)]
}

/// Says what no sum of money of a setting holds.
pub fn left_out(charges: &Charges) -> Option<String> {
    let sentence = || {
        format!(
            "No price is known for {} of {}, {} among them without a single price: they are in no sum of money (--prices takes a table).",
            grouped(charges.unpriced_calls),
            counted(charges.calls, "call"),
            counted(charges.unpriced_sessions, "session"),
        )
    };
    (charges.unpriced_calls > 0).then(sentence)
}

/// Says whose price nobody knows.
pub fn unpriced<'a>(replays: impl Iterator<Item = &'a Replay>) -> Option<String> {
    let mut models: BTreeSet<&str> = BTreeSet::new();
    let mut calls = 0;
    for replay in replays {
        models.extend(replay.bill.unpriced_models.iter().map(String::as_str));
        calls = calls.max(replay.bill.unpriced_calls);
    }
    let names: Vec<&str> = models.into_iter().map(|name| if name.is_empty() { "unnamed" } else { name }).collect();
    let sentence = || {
        format!(
            "No price is known for {} (up to {} under a policy): they are in no sum of money (--prices takes a table).",
            first_few(&names, NAMED),
            counted(calls, "call")
        )
    };
    (!names.is_empty()).then(sentence)
}
