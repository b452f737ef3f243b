//! Breaks of the recorded prompt cache over time, by cause.

use super::document::{Axis, Bar, BarRow, Bars, Drawing, Drawn, Hue, NothingToDraw, Piece, Quantity};
use super::few::ROWS;
use super::kind::{Kind, Material, Need};
use crate::experiment::cache::{CacheBreak, Cause, Reads};
use crate::list::{Arrange, Gather};
use crate::report::cache::{cause_name, day, money};
use crate::report::document::{Cell, Column, Fields, Table, Unit};
use crate::report::words::counted;
use jiff::Span;
use jiff::civil::Date;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// So many causes have a colour of their own; the others share one.
const CAUSES: usize = 5;

/// Breaks of the cache over time.
pub const BREAKS: Kind = Kind {
    name: "breaks",
    sentence: "what breaks of the recorded prompt cache cost over time, by cause",
    needs: &[Need::Pauses],
    usual: None,
    draw: breaks,
};

/// Breaks of one cause in one period.
type Sums<'a> = BTreeMap<(&'a str, Cause), Reads>;

/// The name of the period that a day lies in.
type Period = fn(&str) -> String;

/// The shortest comes first. Of more periods than have a row the next longer ones are taken.
const PERIODS: [Period; 3] = [str::to_owned, week, |day| within(day, "2026-01")];

/// A week by its Monday.
fn week(day: &str) -> String {
    let monday = |date: Date| date.checked_sub(Span::new().days(date.weekday().to_monday_zero_offset())).ok();
    day.parse().ok().and_then(monday).map_or_else(|| day.to_owned(), |monday| format!("week of {monday}"))
}

/// So much of a day as this one has: its month or its year.
fn within(day: &str, like: &str) -> String {
    day.get(..like.len()).unwrap_or(day).to_owned()
}

fn breaks(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let found = material.idle.map(|idle| &idle.reads);
    let of_each = found.into_iter().flat_map(|reads| &reads.breaks).map(|one| (day(one), one));
    let (all, left_out): (Vec<(String, &CacheBreak)>, Vec<_>) = of_each.partition(|(day, one)| !day.is_empty() && one.nano_usd.is_some());
    let names = |period: Period| all.iter().map(|(day, _)| period(day)).collect::<Vec<String>>();
    let few = |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() <= ROWS;
    let names = PERIODS.into_iter().map(names).find(few).unwrap_or_else(|| names(|day| within(day, "2026")));
    let mut sums: Sums<'_> = BTreeMap::new();
    let mut causes: BTreeMap<Cause, u64> = BTreeMap::new();
    for ((_, one), period) in all.iter().zip(&names) {
        *sums.entry((period, one.cause)).or_default() += one.reads();
        *causes.entry(one.cause).or_default() += one.nano_usd.unwrap_or(0);
    }
    let mut dearest: Vec<(Cause, u64)> = causes.into_iter().filter(|(_, nano_usd)| *nano_usd > 0).collect();
    dearest.arrange_by_key(|(_, nano_usd)| Reverse(*nano_usd));
    let Some((first, most)) = dearest.first().copied() else {
        return Err(NothingToDraw::Nothing("no break of the cache has a time and a price".to_owned()));
    };
    let whole: u64 = dearest.iter().map(|(_, nano_usd)| nano_usd).sum();
    let hue = |cause: Cause| Hue::Other(dearest.iter().position(|(known, _)| *known == cause).unwrap_or(CAUSES).min(CAUSES));
    let mut key: Vec<(Hue, String)> = dearest.iter().take(CAUSES).map(|(cause, _)| (hue(*cause), cause_name(*cause).to_owned())).collect();
    if dearest.len() > CAUSES {
        key.push((Hue::Other(CAUSES), "other causes".to_owned()));
    }
    let row = |period: &str| {
        let here = || sums.iter().filter(|((known, _), _)| *known == period);
        let mut pieces: Vec<Piece> = here()
            .map(|((_, cause), reads)| Piece { name: String::new(), hue: hue(*cause), length: reads.nano_usd as f64 })
            .filter(|piece| piece.length > 0.0)
            .collect();
        pieces.arrange_by_key(|piece| piece.hue);
        let (count, cost) = here().fold((0, 0), |(count, cost), (_, reads)| (count + reads.breaks, cost + reads.nano_usd));
        BarRow { name: period.to_owned(), bar: Bar::Stack(pieces), value: format!("{}, {}", counted(count, "break"), money(cost)) }
    };
    let periods: BTreeSet<&str> = sums.keys().map(|(period, _)| *period).gather();
    Ok(Drawn {
        title: format!("{} of the {} that cache breaks cost: {}", money(most), money(whole), cause_name(first)),
        subtitle: "List price of tokens that were paid for again, recorded".to_owned(),
        drawing: Drawing::Bars(Bars {
            x: Axis::of("cost of breaks", Quantity::Money),
            rows: periods.into_iter().map(row).collect(),
            limits: Vec::new(),
            key,
        }),
        notes: vec![format!(
            "`ctxsim cache` lists each break with its cause. Left out: {} without a time or a price.",
            counted(left_out.len() as u64, "break")
        )],
        data: data(&sums),
    })
}

fn data(sums: &Sums<'_>) -> Table {
    let number = |key, unit| Column::recorded(key, key, unit);
    Fields::<(&(&str, Cause), &Reads)>::new()
        .with(Column::name("period", "period"), |((period, _), _)| Cell::name(period))
        .with(Column::name("cause", "cause"), |((_, cause), _)| Cell::name(cause.key()))
        .with(number("breaks", Unit::Count), |(_, reads)| Cell::Count(reads.breaks))
        .with(number("tokens", Unit::Tokens), |(_, reads)| Cell::Tokens(reads.tokens))
        .with(number("cost", Unit::Money), |(_, reads)| Cell::money(reads.nano_usd))
        .table(2, sums)
}
