//! What a program may answer: edits in the words of a policy's actions, and what it looked at.

use crate::decode;
use crate::policy::action::{Drop, Inject, Mask, Summarise, Truncate};
use crate::policy::trigger::Trigger;

use serde::Deserialize;
use serde_json::Value;

/// No number in an answer is larger.
const LARGEST_NUMBER: f64 = 1e9;

/// What is done at a check point.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// Number of the question that is answered.
    pub n: u64,
    /// What it looked at, in the words of a rule's `when`: events name estimate and limit by it.
    pub when: Option<Trigger>,
    /// Did it want to act? Where absent, it did where it edits something, or where `when` fires.
    pub fired: Option<bool>,
    /// Edits in the order in which they are carried out.
    pub edits: Vec<Edit>,
}

/// One edit: one of five actions, and upon what.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Edit {
    /// Items, by their ids.
    pub items: Vec<u32>,
    /// Messages, by their ids.
    pub messages: Vec<u32>,
    /// The text of a summary, or of what is put in; its size takes the place of `tokens`.
    pub text: Option<String>,
    /// Items are replaced by a short text.
    pub mask: Option<Mask>,
    /// Items are cut to a limit.
    pub truncate: Option<Truncate>,
    /// Messages, or single items, are removed.
    pub drop: Option<Drop>,
    /// Messages are replaced by a summary.
    pub summarise: Option<Summarise>,
    /// A text is put into the context.
    pub inject: Option<Inject>,
}

impl Answer {
    /// Reads a line. `Err` says why it is no answer, without a word of it.
    pub fn parse(line: &[u8]) -> Result<Answer, String> {
        let value: Value = serde_json::from_slice(line).map_err(|error| format!("it is no JSON (column {})", error.column()))?;
        if !is_small(&value) {
            return Err(format!("it holds a number beyond {LARGEST_NUMBER:e}"));
        }
        let answer: Answer =
            decode::from_value(value).map_err(|_| "it has a word or a value that the protocol does not know".to_owned())?;
        answer.when.as_ref().map_or(Ok(()), Trigger::check_answered)?;
        match answer.edits.iter().find_map(Edit::why_not) {
            Some(why) => Err(why.to_owned()),
            None => Ok(answer),
        }
    }
}

impl Edit {
    /// Why it is no edit; `None` where it is one.
    fn why_not(&self) -> Option<&'static str> {
        let actions = [self.mask.is_some(), self.truncate.is_some(), self.drop.is_some(), self.summarise.is_some(), self.inject.is_some()];
        let upon = (!self.items.is_empty(), !self.messages.is_empty());
        if actions.into_iter().filter(|has| *has).count() != 1 {
            return Some("an edit has one of mask, truncate, drop, summarise, inject");
        }
        if self.text.is_some() && self.summarise.is_none() && self.inject.is_none() {
            return Some("`text` belongs to summarise and inject");
        }
        match upon {
            (true, false) if self.mask.is_some() || self.truncate.is_some() || self.drop.is_some() => None,
            (false, true) if self.drop.is_some() || self.summarise.is_some() => None,
            (false, false) if self.inject.is_some() => None,
            _ => Some("mask and truncate name items, summarise names messages, drop one of both, inject neither"),
        }
    }
}

/// Is no number in it too large to be reckoned with?
fn is_small(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() <= LARGEST_NUMBER),
        Value::Array(values) => values.iter().all(is_small),
        Value::Object(values) => values.values().all(is_small),
        _ => true,
    }
}
