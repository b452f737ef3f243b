//! A policy for programs: the whole document, everything inherited included, and what its formulas give for a model.

use super::document::{Facts, Policy, numeral, window_of};
use super::error::PolicyError;
use super::parameter::Parameter;
use serde_json::{Map, Value, json};

impl Policy {
    /// One JSON object: the words for people, the parameters, the document as it is written, and the same with each formula as its number for
    /// this model. A model whose window is not known has the policy's own default.
    pub fn shown(&self, facts: &Facts) -> Result<Value, PolicyError> {
        let scope = self.scope(facts)?;
        let param = |(name, parameter): (&String, &Parameter)| {
            let worked_out = scope.get(name).map(|number| numeral(*number));
            let mut shown = json!({ "value": parameter.value, "unit": parameter.unit, "help": parameter.help, "worked_out": worked_out });
            if let (Some(range), Some(fields)) = (parameter.range, shown.as_object_mut()) {
                fields.insert("range".to_owned(), json!([numeral(range.from), numeral(range.to)]));
            }
            (name.clone(), shown)
        };
        let mirrored = &self.mirrored;
        let checked: Vec<&str> = mirrored.checked.iter().map(|check| check.name()).collect();
        let day = |day: Option<jiff::civil::Date>| day.map(|day| day.to_string());
        Ok(json!({
            "policy": self.name,
            "about": self.about,
            "mirrors": self.mirrors,
            "mirrored": { "version": mirrored.version, "date": day(mirrored.date), "read": day(mirrored.read), "checked": checked },
            "not_modelled": self.not_modelled,
            "model": { "window": window_of(self, facts), "max_input": facts.max_input, "max_output": facts.max_output },
            "params": self.params.iter().map(param).collect::<Map<String, Value>>(),
            "document": self.body(),
            "worked_out": self.worked_out(&scope)?,
        }))
    }
}
