//! One parameter of a policy: its value, and its description.

use super::expression::number;
use super::figure::figure;
use super::mistake::unknown_word;
use crate::decode;
use serde::Deserialize;
use toml::Value;

/// A named setting of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// A number, or a formula over other parameters and facts of the model.
    pub value: Value,
    /// Word for the unit (`tokens`, `turns`, `0 or 1`); empty where the document has none.
    pub unit: String,
    /// What the parameter does, in one line.
    pub help: String,
    /// Within which values it is looked for when the policy is tuned; absent where it is left as it is.
    pub range: Option<SearchRange>,
    /// A formula that takes the place of the value that the policy came with: what it comes to is checked. A system's own arithmetic may come to
    /// anything, as it does in the system.
    pub replaced: bool,
}

/// Values that a tuning tries, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchRange {
    /// Least value that a tuning tries.
    pub from: f64,
    /// Largest value that a tuning tries.
    pub to: f64,
}

/// A parameter with what is said of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    value: Value,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    help: String,
    range: Option<Value>,
}

/// How a switch may be typed.
const SWITCHES: [(&str, f64); 6] = [("yes", 1.0), ("no", 0.0), ("on", 1.0), ("off", 0.0), ("true", 1.0), ("false", 0.0)];

/// Beyond this a float could not tell neighbours apart.
const MOST: f64 = 9e15;

/// What a switch counts in: 0 for off, 1 for on.
const SWITCH: &str = "0 or 1";

impl Parameter {
    /// The parameter that a document describes; `Err` says why it is none.
    pub(super) fn from_value(value: Value) -> Result<Parameter, String> {
        let table = match value {
            Value::Table(table) => table,
            value => return Ok(Parameter { value, unit: String::new(), help: String::new(), range: None, replaced: false }),
        };
        let described: Described = decode::from_value(Value::Table(table)).map_err(|mistake| {
            let hint = unknown_word(&mistake.message);
            format!("{}{hint}", mistake.message)
        })?;
        let Described { value, unit, help, range } = described;
        let written = || "its range is written [least, most], two numbers in that order".to_owned();
        let range = range.map(|range| SearchRange::from_value(&range).ok_or_else(written)).transpose()?;
        let value = if unit == SWITCH { switched(value) } else { value };
        Ok(Parameter { value, unit, help, range, replaced: false })
    }

    /// The value, where that is a number and no formula.
    pub fn number(&self) -> Option<f64> {
        as_number(&self.value)
    }

    /// A number as it is typed for this parameter; `None` where the word is none. `50%` is a half where a share is meant, 50 where the
    /// parameter itself counts in percent, and nothing that a number of tokens or messages could be.
    pub(super) fn typed(&self, word: &str) -> Result<Option<f64>, String> {
        let switched = SWITCHES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, on)| *on);
        if switched.is_some() && ![SWITCH, ""].contains(&self.unit.as_str()) {
            return Err(format!("`{word}` is for a switch; it counts {}", self.unit));
        }
        let Some(percent) = word.strip_suffix('%') else { return Ok(switched.or_else(|| number(word))) };
        match self.unit.as_str() {
            unit if unit.starts_with("percent") => Ok(number(percent)),
            "" | "factor" => Ok(number(word)),
            unit if unit.starts_with("share") => Ok(number(word)),
            SWITCH => Err(format!("`{word}` is neither on nor off")),
            unit => Err(format!("`{word}` of what? It counts {unit}: give a number, or a formula such as `0.5 * window`")),
        }
    }

    /// Is this number one that the parameter can have? What it counts tells; a factor, or what has no unit, may be any. Where the unit says
    /// `or -1`, the agent takes that number for no limit at all.
    pub(super) fn check(&self, number: f64) -> Result<(), String> {
        match self.unit.as_str() {
            "" | "factor" => Ok(()),
            unit if number.abs() > MOST => Err(format!("`{number:e}` is more than can be counted; it counts {unit}")),
            unit if number.fract() != 0.0 && number > 0.0 && !self.has_parts() && !self.is_switch() => {
                Err(format!("`{number}` is no whole number; it counts {unit}"))
            }
            SWITCH if number != 0.0 && number != 1.0 => Err(format!("`{number}` is neither 0 (off) nor 1 (on)")),
            unit if number < 0.0 && !(number == -1.0 && unit.ends_with("or -1")) => Err(format!("`{number}` is below 0; it counts {unit}")),
            _ => Ok(()),
        }
    }

    /// The same of what its formula comes to for a model, where that takes the place of another value. Systems round that themselves.
    pub(super) fn check_worked_out(&self, number: f64) -> Result<(), String> {
        if self.replaced { self.check(if self.is_switch() { number } else { number.trunc() }) } else { Ok(()) }
    }

    /// Is what the document says a value that the parameter can have: a number, a formula, or for a switch true or false?
    pub(super) fn check_written(&self) -> Result<(), String> {
        match &self.value {
            Value::Array(_) => Err("a list: it takes a number, or a formula behind `=`".to_owned()),
            Value::Datetime(_) => Err("a date: it takes a number, or a formula behind `=`".to_owned()),
            Value::String(text) if !text.starts_with('=') => Err(format!("`{text}` is a text: it takes a number, or a formula behind `=`")),
            Value::Boolean(on) if !["", SWITCH].contains(&self.unit.as_str()) => {
                Err(format!("`{on}` is for a switch; it counts {}", self.unit))
            }
            _ => self.number().map_or(Ok(()), |number| self.check(number)),
        }
    }

    /// Does it count what has parts: shares, percent, times?
    fn has_parts(&self) -> bool {
        ["share", "percent", "minutes", "seconds"].iter().any(|kind| self.unit.starts_with(kind)) || self.unit.ends_with("share")
    }

    /// Why this number is surely a slip of the pen, though it works: `85` where a share is meant, `0.85` where percent are. What
    /// 1.5 stands for is unknown.
    pub fn doubt(&self, number: f64) -> Option<String> {
        let (wrong, likely) = if self.unit.starts_with("share") && number > 1.0 {
            (format!("{} %", figure(number * 100.0)), Some(number / 100.0).filter(|share| (0.1..=1.0).contains(share)))
        } else if self.unit.starts_with("percent") && number > 0.0 && number < 1.0 {
            ("less than 1 %".to_owned(), Some(number * 100.0))
        } else {
            return None;
        };
        let meant = likely.map_or_else(String::new, |likely| format!("; did you mean {}?", plain(likely)));
        Some(format!("{} (unit: {}) is {wrong}{meant}", plain(number), self.unit))
    }

    /// Is it turned on and off alone?
    pub fn is_switch(&self) -> bool {
        self.unit == SWITCH
    }
}

/// Is it a word that turns a switch: `yes`, `off`?
pub(crate) fn is_switch_word(word: &str) -> bool {
    SWITCHES.iter().any(|(name, _)| word.eq_ignore_ascii_case(name))
}

/// A switch that a document turns with a word.
fn switched(value: Value) -> Value {
    let word = value.as_str().and_then(|word| SWITCHES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)));
    word.map_or(value.clone(), |(_, on)| Value::Boolean(*on == 1.0))
}

/// A number as it would be typed.
fn plain(number: f64) -> String {
    ((number * 1e9).round() / 1e9).to_string()
}

impl SearchRange {
    fn from_value(value: &Value) -> Option<SearchRange> {
        let [from, to] = value.as_array()?.as_slice() else { return None };
        let range = SearchRange { from: as_number(from)?, to: as_number(to)? };
        (range.from < range.to && range.to.is_finite()).then_some(range)
    }

    /// Are both ends whole, so that only whole values are meant?
    pub fn is_whole(&self) -> bool {
        self.from.fract() == 0.0 && self.to.fract() == 0.0
    }
}

/// The number that a value is; a formula is none.
pub(super) fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Boolean(yes) => Some(f64::from(u8::from(*yes))),
        _ => None,
    }
}
