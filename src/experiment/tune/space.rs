//! A parameter that is tuned: the values that it may take, and which of them are looked at.

use crate::experiment::sweep::{SweepError, mistyped_range};
use crate::policy::{Policy, SearchRange, number, suggestion};

/// From here on a range is gone through by factors and not by steps.
const WIDE: f64 = 8.0;

/// A parameter and its range.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name of the parameter.
    pub param: String,
    range: SearchRange,
    /// Its default; absent where that is a formula, which no other value can be held against.
    default: Option<f64>,
}

/// One value of a parameter; `None` leaves the default.
pub type Coordinate = Option<String>;

impl Axis {
    /// All parameters of a policy that declare a range.
    pub fn declared(policy: &Policy) -> Vec<Axis> {
        let declared = policy
            .params
            .iter()
            .filter_map(|(name, parameter)| Some(Axis { param: name.clone(), range: parameter.range?, default: parameter.number() }));
        declared.collect()
    }

    /// One parameter, as it is asked for: `NAME` with the range that the policy declares, or `NAME=FROM..TO`.
    pub fn parse(text: &str, policy: &Policy) -> Result<Axis, SweepError> {
        let wrong = |reason: String| SweepError::Asked(format!("`--params {text}`: {reason}"));
        let (name, range) = text.split_once('=').map_or((text, None), |(name, range)| (name, Some(range)));
        let name = name.trim();
        let names = || policy.params.keys().map(String::as_str);
        let parameter = policy.params.get(name).ok_or_else(|| {
            let known: Vec<&str> = names().collect();
            let near = suggestion(name, names());
            let hint = if near.is_empty() { format!("; it has {}", known.join(", ")) } else { near };
            wrong(format!("policy `{}` has no parameter `{name}`{hint}", policy.name))
        })?;
        let range = match range {
            None => parameter.range.ok_or_else(|| wrong(format!("`{name}` declares no range: give it one, as in `{name}=1000..50000`")))?,
            Some(text) => {
                let ends = text.split_once("..").and_then(|(from, to)| Some((number(from.trim())?, number(to.trim())?)));
                // An end that is no number is no mistake of the range.
                if let Some(end) =
                    text.split_once("..").and_then(|(from, to)| [from, to].into_iter().find(|end| number(end.trim()).is_none()))
                {
                    return Err(wrong(format!("`{end}` is no number: it is written 20000, 20_000, 20k or 0.02m, a share 0.85 or 85%")));
                }
                let right = mistyped_range(text).map_or("FROM..TO".to_owned(), |(from, to)| format!("{from}..{to}"));
                let (from, to) = ends.ok_or_else(|| wrong(format!("a range is written {right}")))?;
                if from >= to {
                    return Err(wrong("the range ends before it begins".to_owned()));
                }
                SearchRange { from, to }
            }
        };
        Ok(Axis { param: name.to_owned(), range, default: parameter.number() })
    }

    /// The least and the most value.
    pub fn range(&self) -> SearchRange {
        self.range
    }

    /// The default and about so many values, spread over the range.
    pub(super) fn coarse(&self, count: usize) -> Vec<Coordinate> {
        let (from, to) = (self.range.from, self.range.to);
        // A switch, or a handful of whole numbers, is gone through one by one.
        let all = if self.range.is_whole() && to - from < count as f64 { (to - from) as usize + 1 } else { count.max(2) };
        let share = |place: usize| place as f64 / (all - 1) as f64;
        let value = |place: usize| {
            if self.is_wide() { from * (to / from).powf(share(place)) } else { from + (to - from) * share(place) }
        };
        let mut coordinates = vec![None];
        for place in 0..all {
            let coordinate = self.coordinate(value(place));
            if !coordinates.contains(&coordinate) {
                coordinates.push(coordinate);
            }
        }
        coordinates
    }

    /// What lies halfway between two values.
    pub(super) fn between(&self, one: f64, other: f64) -> Coordinate {
        self.coordinate(if self.is_wide() && one > 0.0 && other > 0.0 { (one * other).sqrt() } else { (one + other) / 2.0 })
    }

    /// The number that a coordinate stands for; `None` for a default that is a formula.
    pub(super) fn number(&self, coordinate: &Coordinate) -> Option<f64> {
        coordinate.as_ref().map_or(self.default, |text| text.parse().ok())
    }

    fn is_wide(&self) -> bool {
        self.range.from > 0.0 && self.range.to / self.range.from >= WIDE
    }

    /// A value as it would be typed, 24,000 tokens rather than 23,714: two digits count, and hundredths of shares.
    fn coordinate(&self, value: f64) -> Coordinate {
        let (from, to) = (self.range.from, self.range.to);
        let rounded = if self.range.is_whole() {
            let unit = 10_f64.powf((value.abs().max(1.0).log10().floor() - 1.0).max(0.0));
            (value / unit).round() * unit
        } else {
            (value * 100.0).round() / 100.0
        };
        let rounded = rounded.clamp(from, to);
        (self.default != Some(rounded)).then(|| rounded.to_string())
    }
}
