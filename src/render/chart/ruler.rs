//! An axis laid along pixels: places of values, and the values that are written beside it. Coordinates and their round values are those
//! of `plotters`. Its own backends are not used: they know whole pixels alone, measure text with the fonts of the machine, and draw the
//! ends of thick lines wrongly.

use crate::report::chart::{Axis, Quantity, Scale};
use crate::report::grouped;
use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::{BoldPoints, Ranged};
use plotters::coord::types::RangedCoordf64;

/// Places are worked out in so many steps from end to end.
const STEPS: i32 = 1_000_000;

/// An axis along pixels.
pub struct Ruler {
    coordinates: Coordinates,
    start: f64,
    end: f64,
    unit: f64,
    quantity: Quantity,
}

enum Coordinates {
    Even(RangedCoordf64),
    Logarithmic(LogCoord<f64>),
}

impl Ruler {
    /// Lays an axis that shows these values from one pixel to another.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Ruler {
        let least = if axis.scale == Scale::Logarithmic { 1.0 } else { f64::MIN };
        let all = values.chain(axis.from).chain(axis.to).filter(|value| value.is_finite()).map(|value| value.max(least));
        let (mut low, mut high) = all.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let coordinates = match axis.scale {
            Scale::Logarithmic => {
                let (low, high) = (low.max(1.0), if high <= low.max(1.0) { low.max(1.0) * 10.0 } else { high * 1.05 });
                Coordinates::Logarithmic((low..high).log_scale().into())
            }
            Scale::Even => {
                let margin = if high > low { (high - low) * 0.04 } else { high.abs().max(1.0) * 0.5 };
                let low = if axis.from == Some(low) || low == 0.0 { low } else { low - margin };
                let high = if axis.to == Some(high) { high } else { high + margin };
                Coordinates::Even((low..high).into())
            }
        };
        let unit = unit(axis.quantity, high.abs().max(low.abs()));
        Ruler { coordinates, start, end, unit, quantity: axis.quantity }
    }

    /// The pixel of a value.
    pub fn at(&self, value: f64) -> f64 {
        let step = match &self.coordinates {
            Coordinates::Even(even) => even.map(&value, (0, STEPS)),
            Coordinates::Logarithmic(logarithmic) => logarithmic.map(&value.max(1.0), (0, STEPS)),
        };
        self.start + (self.end - self.start) * f64::from(step) / f64::from(STEPS)
    }

    /// The range that it shows.
    pub fn range(&self) -> (f64, f64) {
        match &self.coordinates {
            Coordinates::Even(even) => (even.range().start, even.range().end),
            Coordinates::Logarithmic(logarithmic) => (logarithmic.range().start, logarithmic.range().end),
        }
    }

    /// Round values with their words, so many at most.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let (low, high) = self.range();
        let whole = matches!(self.quantity, Quantity::Count);
        let values: Vec<f64> = match &self.coordinates {
            Coordinates::Even(even) => even.key_points(BoldPoints(most.max(2))),
            Coordinates::Logarithmic(_) => decades(low, high, most),
        };
        let shown = values.into_iter().filter(|value| *value >= low && *value <= high && (!whole || value.fract().abs() < 1e-9));
        let shown: Vec<f64> = shown.collect();
        // On an even axis all have the same decimals; on a logarithmic one each has those that it needs.
        let most = shown.iter().map(|value| decimals(value / self.unit)).max().unwrap_or(0);
        let decimals = |value: f64| if matches!(self.coordinates, Coordinates::Even(_)) { most } else { decimals(value / self.unit) };
        shown.into_iter().map(|value| (value, words(value / self.unit, decimals(value)))).collect()
    }

    /// What is written beside the axis: its label with the unit.
    pub fn label(&self, axis: &Axis) -> String {
        match suffix(self.quantity, self.unit) {
            "" => axis.label.clone(),
            suffix if axis.label.is_empty() => suffix.to_owned(),
            suffix => format!("{} ({suffix})", axis.label),
        }
    }
}

/// 1, 2, 5 times powers of ten; where those are too many, powers of ten; where those are, each second or third of them.
fn decades(low: f64, high: f64, most: usize) -> Vec<f64> {
    let between = |factors: &[f64], every: usize| -> Vec<f64> {
        let powers = (0..19).step_by(every).map(|power| 10_f64.powi(power));
        powers.flat_map(|power| factors.iter().map(move |factor| factor * power)).filter(|value| *value >= low && *value <= high).collect()
    };
    let choices = [between(&[1.0, 2.0, 5.0], 1), between(&[1.0, 3.0], 1), between(&[1.0], 1), between(&[1.0], 2)];
    choices.into_iter().find(|choice| choice.len() <= most).unwrap_or_else(|| between(&[1.0], 3))
}

/// What one is counted in.
fn unit(quantity: Quantity, largest: f64) -> f64 {
    match quantity {
        Quantity::Tokens if largest >= 2e9 => 1e9,
        Quantity::Tokens if largest >= 2e7 => 1e6,
        Quantity::Tokens if largest >= 2e3 => 1e3,
        Quantity::Share => 0.01,
        Quantity::Money => 1e9,
        _ => 1.0,
    }
}

fn suffix(quantity: Quantity, unit: f64) -> &'static str {
    match quantity {
        Quantity::Tokens if unit >= 1e9 => "G tokens",
        Quantity::Tokens if unit >= 1e6 => "M tokens",
        Quantity::Tokens if unit >= 1e3 => "k tokens",
        Quantity::Tokens => "tokens",
        Quantity::Share => "%",
        Quantity::Money => "US$",
        Quantity::Count | Quantity::Number => "",
    }
}

/// How many decimals a number needs, three at most.
fn decimals(value: f64) -> usize {
    let whole_with = |decimals: &usize| {
        let shifted = value * 10_f64.powi(*decimals as i32);
        (shifted - shifted.round()).abs() < 1e-6
    };
    (0..3).find(whole_with).unwrap_or(3)
}

fn words(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, part) = text.split_once('.').map_or((text.as_str(), None), |(whole, part)| (whole, Some(part)));
    let whole = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), grouped);
    let sign = if value < -1e-12 { "−" } else { "" };
    part.map_or_else(|| format!("{sign}{whole}"), |part| format!("{sign}{whole}.{part}"))
}
