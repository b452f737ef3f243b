//! Figures of cost for tables of other questions, and what is said of calls without a price.

use super::asked::Baselines;
use super::calibration::part;
use super::document::{Better, Cell, Column, Unit};
use super::words::{counted, dollars, first_few, grouped, percent};
use crate::cost::{Bill, Bills, CacheKind, Charge, Check, OwnError};
use crate::experiment::metric::LIST_PRICE;
use crate::experiment::{Charges, Replay};
use std::collections::{BTreeMap, BTreeSet};

/// So many models are named; the others are counted.
const NAMED: usize = 5;

/// What tables of policies and sessions show.
pub const COLUMNS: [Column; 2] = [
    Column { meaning: LIST_PRICE, priority: 4, better: Better::Less, ..Column::simulated("cost", "cost", Unit::Money) },
    Column {
        meaning: "share of the prompt tokens that this cache reads",
        priority: 4,
        better: Better::More,
        ..Column::simulated("cache_hit_rate", "cache hits", Unit::Share)
    },
];

/// The cells of these columns; no cost where no call has a price.
pub fn cells(bills: &Bills, cache: CacheKind) -> [Cell; 2] {
    let bill = bills.with(cache);
    [cost(bills, bill.nano_usd()), hits(bill)]
}

/// An amount of a bill; nothing where no call of it has a price.
pub fn cost(bills: &Bills, nano_usd: u64) -> Cell {
    if bills.is_priced() { Cell::money(nano_usd) } else { Cell::Empty }
}

/// Share of the prompt tokens that were read from the cache.
pub fn hits(bill: &Bill) -> Cell {
    Cell::share(bill.cache_read.tokens, bill.prompt_tokens())
}

/// The same of the charges of a setting.
pub fn of_charges(charges: &Charges) -> [Cell; 2] {
    let cost = if charges.is_priced() { Cell::money(charges.nano_usd) } else { Cell::Empty };
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

/// Says how far bills with the chosen cache are off on the recordings themselves, and, for a note, in the sums of the first agents.
pub fn own_error(checks: &BTreeMap<String, Check>, baselines: &Baselines<'_>, cache: CacheKind, for_note: bool) -> Option<String> {
    let error = OwnError::over(checks.values(), cache)?;
    let agents: Vec<String> = checks
        .iter()
        .filter_map(|(agent, check)| Some(format!("{agent} {}", percent(check.off(cache)?, check.recorded.nano_usd()))))
        .collect();
    let by = match cache {
        // Without a counted cache, or billed as another model, calls have no factors.
        CacheKind::Recorded if checks.values().any(|check| check.held_out != check.modelled) => {
            " (each call with the cache factors of its session's other calls)"
        }
        _ => "",
    };
    let off = |error: &OwnError| {
        let of = |nano_usd: u64| dollars(i64::try_from(nano_usd).unwrap_or(i64::MAX));
        format!("{} of {}", of(error.off_nano_usd), of(error.recorded_nano_usd))
    };
    let own = baselines.own_error(Some(checks), cache).filter(|own| *own != error);
    let own = own.map(|own| format!(", those of your own agents' defaults by {}", off(&own)));
    let sums = if for_note { format!(" (sums: {})", first_few(&agents, NAMED)) } else { String::new() };
    Some(format!(
        "The bill's own error, session by session: bills of the unchanged recordings{by} are off by {} at list price{sums}{}{}. Smaller differences say nothing.",
        off(&error),
        part(&error),
        own.unwrap_or_default(),
    ))
}

/// Says what a policy's cost comes to if no program ran on behind the last reply of its log; `None` where nothing would be done there.
pub fn at_end(policy: &str, bill: &Bill) -> Option<String> {
    let whole = |nano_usd: u64| dollars(i64::try_from(nano_usd).unwrap_or(i64::MAX));
    let sentence = || {
        let (most, least) = (whole(bill.nano_usd()), whole(bill.nano_usd() - bill.at_end.nano_usd));
        format!(
            "{policy} compacts in pauses behind the last reply of sessions, and no log shows whether the program still ran: it costs {least} to {most}."
        )
    };
    (bill.at_end.tokens > 0).then(sentence)
}

/// Says how much of the recorded usage is estimated.
pub fn estimated(outputs: impl IntoIterator<Item = Charge>) -> Option<String> {
    let mut sum = Charge::default();
    outputs.into_iter().for_each(|output| sum += output);
    let cost = dollars(i64::try_from(sum.nano_usd).unwrap_or(i64::MAX));
    let sentence = || {
        format!(
            "Of the list price of the recordings {cost} are estimated: {} of replies whose log holds a placeholder.",
            counted(sum.tokens, "token")
        )
    };
    (sum.tokens > 0).then(sentence)
}

/// Names the models without a known price.
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
