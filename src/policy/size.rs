//! Sizes that a policy can look at, and formulas over them. None of them is the truth, but for the one total that a provider's counting
//! endpoint tells.

use super::expression::{Expression, ExpressionError, Resolved};
use super::sight::Sight;
use crate::list::Gather;
use crate::names::named;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use toml::{Table, Value};

/// The size that a level looks at.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// One of the sizes by its name.
    Named(Measure),
    /// A formula over sizes, parameters and facts.
    Formula(Arc<Formula>),
}

named! {
    /// Sizes of the context that a policy can know, by name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Measure: words {
        /// The prompt that the provider reported for the last call.
        UsageIn = "the last reported prompt",
        /// The last reported prompt and its output.
        UsageTotal = "the last reported prompt and reply",
        /// That and estimates of all that came after the reply; where no usage is known, the estimate of the whole request.
        UsagePlusPending = "the last reported usage with an estimate of what came since",
        /// The estimate of the whole request, a user message that is about to enter included.
        EstRequest = "the estimate of the request",
        /// The estimate of all messages that stand in the history, the system's not counted.
        EstHistory = "the estimate of the history",
        /// The estimate of the system's messages.
        EstSystem = "the estimate of the system's messages",
        /// The exact total of the next prompt, as a counting endpoint of the provider tells it, and never the size of a part of it. For
        /// systems that have such an endpoint, or are the provider's own.
        NextPrompt = "the provider's count of the next prompt",
    }
}

/// How a size is looked at.
type Look = fn(&Sight<'_>) -> u64;

/// What a formula may ask about the state, beside parameters and facts of the model: usage that is not known is 0.
const ASKED: [(&str, Look); 10] = [
    ("usage_in", |sight| sight.usage.map_or(0, |(prompt, _)| prompt)),
    ("turn_usage_in", |sight| sight.usage.filter(|_| !sight.turn_opened).map_or(0, |(prompt, _)| prompt)),
    ("usage_total", |sight| sight.usage.map_or(0, |(prompt, output)| prompt + output)),
    ("usage_plus_pending", |sight| Measure::UsagePlusPending.of(sight).unwrap_or(0)),
    ("pending", |sight| sight.pending + sight.incoming),
    ("est_request", |sight| sight.request() + sight.incoming),
    ("est_history", |sight| sight.history()),
    ("est_system", |sight| sight.view.system()),
    ("refused", |sight| sight.refused),
    ("left", |sight| sight.left),
];

/// Of these, what says nothing of the messages that came after the last reply.
const OLD: [&str; 5] = ["usage_in", "turn_usage_in", "usage_total", "refused", "left"];

/// A formula whose parameters are worked out, and whose sizes are looked at when it is asked for its value.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The formula as it is written.
    text: String,
    /// Values of the parameters and facts of the model that the formula names.
    names: BTreeMap<String, f64>,
    /// Places: first what it may ask about the state, then the values of `names`.
    resolved: Resolved,
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        (&self.text, &self.names) == (&other.text, &other.names)
    }
}

impl Formula {
    fn new(text: String, names: BTreeMap<String, f64>) -> Result<Formula, ExpressionError> {
        let place = |name: &str| {
            let asked = ASKED.iter().position(|(asked, _)| *asked == name);
            asked.or_else(|| names.keys().position(|known| known == name).map(|place| ASKED.len() + place))
        };
        let expression = Expression::parse(&text)?;
        let unknown = || expression.names().into_iter().find(|name| place(name).is_none()).unwrap_or_default();
        let resolved = expression.resolve(&place);
        let resolved = resolved.ok_or_else(|| ExpressionError::UnknownName { text: text.clone(), name: unknown(), hint: String::new() })?;
        Ok(Formula { resolved, text, names })
    }

    fn asks(&self, name: &str) -> bool {
        ASKED.iter().position(|(asked, _)| *asked == name).is_some_and(|place| self.resolved.asks(place))
    }

    fn value(&self, sight: &Sight<'_>) -> Option<f64> {
        let asked = ASKED.iter().enumerate().map(|(place, (_, of))| if self.resolved.asks(place) { of(sight) as f64 } else { 0.0 });
        let values: Vec<f64> = asked.chain(self.names.values().copied()).collect();
        self.resolved.at(&values).filter(|value| value.is_finite())
    }
}

impl Size {
    /// Its value in tokens; `None` where the policy does not know it yet, or where a formula has none.
    pub(super) fn of(&self, sight: &Sight<'_>) -> Option<f64> {
        match self {
            Size::Named(measure) => measure.of(sight).map(|tokens| tokens as f64),
            Size::Formula(formula) => formula.value(sight),
        }
    }

    /// The size that it is, or for a formula the one that comes nearest: what it counts, however it weighs that.
    pub fn measure(&self) -> Measure {
        let formula = match self {
            Size::Named(measure) => return *measure,
            Size::Formula(formula) => formula,
        };
        let asks = |names: &[&str]| names.iter().any(|name| formula.asks(name));
        match (asks(&["usage_in", "usage_total", "usage_plus_pending"]), self.sees_pending()) {
            (true, true) => Measure::UsagePlusPending,
            (true, false) if formula.asks("usage_total") => Measure::UsageTotal,
            (true, false) => Measure::UsageIn,
            (false, _) if asks(&["est_history"]) => Measure::EstHistory,
            (false, _) => Measure::EstRequest,
        }
    }

    /// Does it know of what came after the last reply?
    pub fn sees_pending(&self) -> bool {
        match self {
            Size::Named(measure) => !matches!(measure, Measure::UsageIn | Measure::UsageTotal),
            Size::Formula(formula) => ASKED.iter().any(|(name, _)| !OLD.contains(name) && formula.asks(name)),
        }
    }

    /// The size in words, a formula with the values of its names.
    pub fn words(&self) -> String {
        match self {
            Size::Named(measure) => measure.words().to_owned(),
            Size::Formula(formula) => {
                let names: Vec<String> = formula.names.iter().map(|(name, value)| format!("{name} {}", super::figure(*value))).collect();
                let with = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
                format!("`{}`{with}", formula.text)
            }
        }
    }

    /// Is it moved by a refused request?
    pub(super) fn follows_refusals(&self) -> bool {
        matches!(self, Size::Formula(formula) if formula.asks("refused"))
    }

    /// Why it cannot be looked at, as one sentence.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Size::Formula(formula) if !ASKED.iter().any(|(name, _)| formula.asks(name)) => {
                let known: Vec<&str> = ASKED.iter().map(|(name, _)| *name).collect();
                Err(format!("`{}` looks at no size: it needs one of {}", formula.text, known.join(", ")))
            }
            _ => Ok(()),
        }
    }
}

impl Measure {
    /// The size in tokens; `None` where the policy does not know it yet.
    pub fn of(self, sight: &Sight<'_>) -> Option<u64> {
        match self {
            Measure::UsageIn => sight.usage.map(|(prompt, _)| prompt),
            Measure::UsageTotal => sight.usage.map(|(prompt, output)| prompt + output),
            Measure::UsagePlusPending => {
                let known = sight.usage.map(|(prompt, output)| prompt + output + sight.pending);
                Some(known.unwrap_or_else(|| sight.request()))
            }
            Measure::EstRequest => Some(sight.request() + sight.incoming),
            Measure::EstHistory => Some(sight.history()),
            Measure::EstSystem => Some(sight.view.system()),
            Measure::NextPrompt => Some(sight.next_prompt),
        }
    }
}

/// Takes the formulas of levels apart, before any formula is worked out: `of = "=usage_total + 1.3 * reserve"` becomes the text and a
/// formula for each name in it that is no size. What it says is worked out with all other formulas; the text stays.
pub(super) fn open_formulas(value: &mut Value) -> Result<(), ExpressionError> {
    match value {
        Value::Array(values) => values.iter_mut().try_for_each(open_formulas),
        Value::Table(table) => {
            if let Some(level) = table.get_mut("level").and_then(Value::as_table_mut) {
                ["of", "at_most"].into_iter().try_for_each(|key| open_size(level, key))?;
            }
            table.iter_mut().try_for_each(|(_, value)| open_formulas(value))
        }
        _ => Ok(()),
    }
}

fn open_size(level: &mut Table, key: &str) -> Result<(), ExpressionError> {
    let Some(text) = level.get(key).and_then(Value::as_str).and_then(|text| text.strip_prefix('=')) else { return Ok(()) };
    let names = Expression::parse(text)?.names().into_iter().filter(|name| ASKED.iter().all(|(asked, _)| asked != name));
    let names: Table = names.map(|name| (name.clone(), Value::String(format!("={name}")))).gather();
    let opened = Table::from_iter([("formula".to_owned(), Value::String(text.to_owned())), ("names".to_owned(), Value::Table(names))]);
    level.insert(key.to_owned(), Value::Table(opened));
    Ok(())
}

/// A formula as [`open_formulas`] has left it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opened {
    formula: String,
    names: BTreeMap<String, f64>,
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        deserializer.deserialize_any(Sizes)
    }
}

struct Sizes;

impl<'de> Visitor<'de> for Sizes {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a size, or a formula over sizes")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Size, E> {
        Measure::deserialize(name.into_deserializer()).map(Size::Named)
    }

    // A formula of whose shape alone is asked stands as a number.
    fn visit_i64<E: Error>(self, number: i64) -> Result<Size, E> {
        constant(&number.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Size, E> {
        constant(&number.to_string()).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Size, A::Error> {
        let Opened { formula, names } = Opened::deserialize(MapAccessDeserializer::new(map))?;
        Formula::new(formula, names).map(|formula| Size::Formula(Arc::new(formula))).map_err(A::Error::custom)
    }
}

fn constant(number: &str) -> Result<Size, ExpressionError> {
    Formula::new(number.to_owned(), BTreeMap::new()).map(|formula| Size::Formula(Arc::new(formula)))
}
