//! An axis: places of values, and the values that are written beside it. Places on an even and on a logarithmic axis, and round values on an even
//! one, are those of `plotters`; of round values on a logarithmic axis it knows powers of ten alone, and of numbers it writes all digits.

use crate::report::chart::{Axis, Quantity, Scale};
use crate::report::grouped;
use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::{BoldPoints, KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;
use std::rc::Rc;

/// An axis: which place a value has, and which values are written beside it.
#[derive(Clone)]
pub struct Ruler {
    coordinates: Coordinates,
    /// What is written beside it: its label with the unit.
    pub words: String,
    unit: f64,
    quantity: Quantity,
    ticks: usize,
}

#[derive(Clone)]
enum Coordinates {
    Even(RangedCoordf64),
    Logarithmic(Rc<LogCoord<f64>>),
    /// Name n stands at n and a half.
    Names(RangedCoordf64, Rc<[String]>),
}

impl Ruler {
    /// An axis that shows these values.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Ruler {
        let least = if axis.scale == Scale::Logarithmic { 1.0 } else { f64::MIN };
        let all = values.chain(axis.from).chain(axis.to).filter(|value| value.is_finite()).map(|value| value.max(least));
        let (mut low, mut high) = all.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let coordinates = match axis.scale {
            Scale::Logarithmic => {
                let (low, high) = (low.max(1.0), if high <= low.max(1.0) { low.max(1.0) * 10.0 } else { high * 1.05 });
                Coordinates::Logarithmic(Rc::new((low..high).log_scale().into()))
            }
            Scale::Even => {
                let margin = if high > low { (high - low) * 0.04 } else { high.abs().max(1.0) * 0.5 };
                let low = if axis.from == Some(low) || low == 0.0 { low } else { low - margin };
                let high = if axis.to == Some(high) { high } else { high + margin };
                Coordinates::Even((low..high).into())
            }
        };
        let unit = unit(axis.quantity, high.abs().max(low.abs()));
        let words = match suffix(axis.quantity, unit) {
            "" => axis.label.clone(),
            suffix if axis.label.is_empty() => suffix.to_owned(),
            suffix => format!("{} ({suffix})", axis.label),
        };
        Ruler { coordinates, words, unit, quantity: axis.quantity, ticks: 2 }
    }

    /// An axis of names: from left to right, or from the top down.
    pub fn of_names<'a>(words: &str, names: impl Iterator<Item = &'a String>, is_upright: bool) -> Ruler {
        let names: Vec<String> = names.cloned().collect();
        let end = names.len().max(1) as f64;
        let places = if is_upright { end..0.0 } else { 0.0..end };
        let coordinates = Coordinates::Names(places.into(), names.into());
        Ruler { coordinates, words: words.to_owned(), unit: 1.0, quantity: Quantity::Number, ticks: 2 }
    }

    /// The same with so many ticks at most.
    pub fn with_ticks(self, ticks: usize) -> Ruler {
        Ruler { ticks, ..self }
    }

    /// Do names stand along it?
    pub fn has_names(&self) -> bool {
        matches!(self.coordinates, Coordinates::Names(..))
    }

    /// The words of so many ticks at most.
    pub fn labels(&self, most: usize) -> Vec<String> {
        let ruler = self.clone().with_ticks(most);
        ruler.key_points(BoldPoints(most)).iter().map(|value| ruler.format_ext(value)).collect()
    }

    /// So many ticks stand side by side in a room, the words of each so wide and with a gap between them.
    pub fn most(&self, room: f64, gap: f64, width: impl Fn(&str) -> f64) -> usize {
        let fits = |most: &usize| {
            let ticks = self.labels(*most);
            let widest = ticks.iter().map(|words| width(words)).fold(0.0, f64::max);
            (widest + gap) * ticks.len() as f64 <= room
        };
        let most = if self.has_names() { 60 } else { 12 };
        (2..=most).rev().find(fits).unwrap_or(2)
    }

    /// The pixel of a value, between two of them.
    pub fn at(&self, value: f64, (start, end): (f64, f64)) -> f64 {
        const STEPS: i32 = 1_000_000;
        start + (end - start) * f64::from(self.map(&value, (0, STEPS))) / f64::from(STEPS)
    }
}

impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        match &self.coordinates {
            Coordinates::Even(even) | Coordinates::Names(even, _) => even.map(value, limit),
            Coordinates::Logarithmic(logarithmic) => logarithmic.map(&value.max(1.0), limit),
        }
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let most = hint.bold_points().max(2);
        let Range { start: low, end: high } = self.range();
        let values: Vec<f64> = match &self.coordinates {
            // Between the ticks there are no finer ones.
            _ if hint.weight().allow_light_points() => Vec::new(),
            Coordinates::Even(even) => even.key_points(BoldPoints(most)),
            Coordinates::Logarithmic(_) => Some(decades(low, high, most)).filter(|round| round.len() > 1).unwrap_or_else(|| {
                // Between two of those there is room for an axis without any.
                RangedCoordf64::from(low..high).key_points(BoldPoints(most))
            }),
            Coordinates::Names(_, names) => {
                let every = names.len().div_ceil(hint.bold_points().max(1)).max(1);
                (0..names.len()).step_by(every).map(|place| place as f64 + 0.5).collect()
            }
        };
        let fits = |value: &f64| self.quantity != Quantity::Count || value.fract().abs() < 1e-9;
        values.into_iter().filter(|value| (low.min(high)..=high.max(low)).contains(value) && fits(value)).collect()
    }

    fn range(&self) -> Range<f64> {
        match &self.coordinates {
            Coordinates::Even(even) | Coordinates::Names(even, _) => even.range(),
            Coordinates::Logarithmic(logarithmic) => logarithmic.range(),
        }
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format_ext(&self, value: &f64) -> String {
        match &self.coordinates {
            // All have the same decimals.
            Coordinates::Even(even) => {
                let needed = even.key_points(BoldPoints(self.ticks.max(2))).into_iter().map(|tick| decimals(tick / self.unit)).max();
                words(value / self.unit, needed.unwrap_or(0))
            }
            // Each has those that it needs.
            Coordinates::Logarithmic(_) => words(value / self.unit, decimals(value / self.unit)),
            Coordinates::Names(_, names) => names.get(*value as usize).cloned().unwrap_or_default(),
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

/// How many decimals a number needs, six at most: money is counted in millionths of a dollar.
fn decimals(value: f64) -> usize {
    let whole_with = |decimals: &usize| {
        let shifted = value * 10_f64.powi(*decimals as i32);
        (shifted - shifted.round()).abs() < 1e-6
    };
    (0..6).find(whole_with).unwrap_or(6)
}

fn words(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, part) = text.split_once('.').map_or((text.as_str(), None), |(whole, part)| (whole, Some(part)));
    let whole = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), grouped);
    let sign = if value < -1e-12 { "−" } else { "" };
    part.map_or_else(|| format!("{sign}{whole}"), |part| format!("{sign}{whole}.{part}"))
}
