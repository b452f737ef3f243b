//! How values are spread: rows that show it, and the axis that it takes.

use super::document::{Bar, BarRow, Hue, Scale};
use crate::statistics::quantile;

/// So many single values are drawn at most.
const SINGLES: usize = 60;

/// Beyond this ratio of the largest to the smallest value the axis is a logarithmic one.
const WIDE: f64 = 40.0;

/// The scale of an axis from a smallest to a largest value. Below 1 a logarithmic one has no place.
pub fn spread(least: f64, most: f64) -> Scale {
    if least >= 1.0 && most > least * WIDE { Scale::Logarithmic } else { Scale::Even }
}

/// Lowest, first quarter, middle, third quarter, highest of some values; absent of none.
pub fn quarters(values: &[f64]) -> Option<[f64; 5]> {
    at(values, [0, 250, 500, 750, 1000])
}

/// The values at which these parts of them, in thousandths, are reached; absent of none.
pub fn at(values: &[f64], parts: [u64; 5]) -> Option<[f64; 5]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| parts.map(|part| quantile(&sorted, part).unwrap_or_default()))
}

/// A row of all values, with single ones where they are few.
pub fn row(name: &str, hue: Hue, values: &[f64], value: String) -> Option<BarRow> {
    let singles = if values.len() <= SINGLES { values.to_vec() } else { Vec::new() };
    Some(BarRow { name: name.to_owned(), bar: Bar::Range { hue, at: quarters(values)?, singles }, value })
}
