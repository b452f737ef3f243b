//! From text to policy: the only door. Inheritance, parameters, formulas, and errors that name file, line and the nearest known word.

use super::check::{unlike_ids, within_bounds};
use super::configuration::ConfigurationFile;
use super::error::PolicyError;
use super::expression::{Expression, ExpressionError, Scope};
use super::family;
use super::inherit::{check_shape, inherit, take};
use super::mirrored::Mirrored;
use super::mistake::no_such;
use super::parameter::{Parameter, as_number};
use super::plan::Plan;
use super::preset::{Once, preset, preset_names};
use super::program::{Decider, Program};
use super::recorded_by::{RecordedBy, Recorder};
use super::size::open_formulas;
use super::suggestion::suggestion;
use crate::catalog::Family;
use crate::decode::{self, place_of};
use crate::list::Gather;
use crate::reading;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use toml::{Table, Value};

/// A policy before its formulas meet a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Under this name it stands in reports.
    pub name: String,
    /// What the policy does, in one line.
    pub about: String,
    /// Which system, version and source it mirrors; empty for a user's own.
    pub mirrors: String,
    /// The version and the day of that; not inherited.
    pub mirrored: Mirrored,
    /// What of the system it cannot say.
    pub not_modelled: Vec<String>,
    /// Whose logs were recorded under the policy; not inherited.
    pub recorded_by: Vec<RecordedBy>,
    /// The parameters, by the names of their own system.
    pub params: BTreeMap<String, Parameter>,
    // Settings of one policy share what they do not change.
    pub(crate) configuration: Arc<[ConfigurationFile]>,
    body: Arc<Table>,
    /// What decides where a rule asks; `None` where it was not started.
    decider: Option<Decider>,
}

/// What a formula may ask about the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Facts {
    /// The total window; `None` where it is unknown and the policy's own default applies.
    pub window: Option<u64>,
    /// The provider's limit of the prompt alone, 0 where it has none apart from the window.
    pub max_input: u64,
    /// The longest reply, 0 where unknown.
    pub max_output: u64,
    /// The model's family; `None` where it is unknown.
    pub family: Option<Family>,
    /// Bytes that the recording agent writes beside each item and counts with it, 0 where there are none.
    pub item_bytes: u64,
    /// What Codex estimates of the encrypted form of 1,000 reported reasoning tokens; 0 where it is not known of the model.
    pub sealed_thousandths: u64,
}

impl Policy {
    /// Loads a preset by its name, or a file by its path.
    pub fn load(name: &str) -> Result<Policy, PolicyError> {
        if let Some(preset) = preset(name) {
            // The shapes of the program's own documents are a matter of its tests.
            static READ: Once<Policy> = Once::new();
            return READ.of(preset, || Policy::read(preset.name, preset.name, preset.text));
        }
        let text = reading::text(Path::new(name)).map_err(|error| match error.kind() {
            ErrorKind::NotFound => PolicyError::Unknown { name: name.to_owned(), hint: suggestion(name, preset_names()) },
            _ => PolicyError::Plan { policy: name.to_owned(), reason: format!("cannot be read: {error}") },
        })?;
        let stem = Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned());
        Policy::parse_named(name, &stem, &text)
    }

    /// Parses a document. `origin` names it in errors.
    pub fn parse(origin: &str, text: &str) -> Result<Policy, PolicyError> {
        Policy::parse_named(origin, origin, text)
    }

    fn parse_named(origin: &str, default_name: &str, text: &str) -> Result<Policy, PolicyError> {
        check_shape(origin, text)?;
        Policy::read(origin, default_name, text)
    }

    /// Reads a document whose shape is right.
    fn read(origin: &str, default_name: &str, text: &str) -> Result<Policy, PolicyError> {
        let mut body = inherit(origin, text, 0)?;
        within_bounds(&body).map_err(|reason| no_such(origin, text, reason))?;
        let mut own = text.parse::<Table>().unwrap_or_default();
        let name = take::<Option<String>>(&mut own, "name").unwrap_or_else(|| default_name.to_owned());
        body.remove("name");
        own_agents(&mut body);
        body.remove("mirrored");
        let (recorded_by, mirrored) = (take(&mut own, "recorded_by"), take(&mut own, "mirrored"));
        let (about, mirrors, not_modelled) = (take(&mut body, "about"), take(&mut body, "mirrors"), take(&mut body, "not_modelled"));
        let parameter = |(param, value): (String, Value)| {
            let wrong = |reason| no_such(origin, text, (param.clone(), format!("`{param}`: {reason}")));
            Ok((param.clone(), Parameter::from_value(value).map_err(wrong)?))
        };
        let mut params: BTreeMap<String, Parameter> = match body.remove("params") {
            Some(Value::Table(table)) => table.into_iter().map(parameter).collect::<Result<_, _>>()?,
            _ => BTreeMap::new(),
        };
        let extends = own.contains_key("extends") && !preset_names().any(|name| name == origin);
        let replaces = |name: &String| extends && own.get("params").is_some_and(|params| params.get(name).is_some());
        for (param, parameter) in &mut params {
            parameter.replaced = parameter.number().is_none() && replaces(param);
            let refused = |reason| no_such(origin, text, (param.clone(), format!("`{param}`: {reason}")));
            parameter.check_written().map_err(refused)?;
        }
        let configuration: Vec<ConfigurationFile> = take(&mut body, "configuration");
        // What is inherited may name a parameter that `without` takes out.
        let files = own.get("configuration").and_then(Value::as_array).into_iter().flatten();
        let mut keys = files.filter_map(|file| file.get("keys")?.as_table()).flat_map(Table::keys);
        if let Some(stray) = keys.find(|name| !params.contains_key(*name)) {
            let hint = suggestion(stray, params.keys().map(String::as_str));
            return Err(no_such(
                origin,
                text,
                (stray.clone(), format!("`keys` names `{stray}`, which is no parameter of the policy{hint}")),
            ));
        }
        unlike_ids(&body).map_err(|reason| no_such(origin, text, reason))?;
        body.get_mut("rule").map_or(Ok(()), open_formulas).map_err(|error| misspelt(origin, text, &error))?;
        let (configuration, body) = (configuration.into(), Arc::new(body));
        let policy = Policy { name, about, mirrors, mirrored, not_modelled, recorded_by, params, configuration, body, decider: None };
        policy.check_formulas(origin, text)?;
        Ok(policy)
    }

    /// Was a log of this writer recorded under this policy? If so, how: the entry that says it.
    pub fn recorded(&self, recorder: Recorder<'_>) -> Option<&RecordedBy> {
        self.recorded_by.iter().find(|entry| entry.covers(recorder))
    }

    /// Sets a parameter, as `--set name=value` does. Numbers may be written `40k`, `1_000` and, for shares, `85%`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), PolicyError> {
        let unknown = || {
            let all: Vec<&str> = self.params.keys().map(String::as_str).collect();
            let near = suggestion(name, all.iter().copied());
            let list = if all.is_empty() { "; it has none".to_owned() } else { format!("; it has {}", all.join(", ")) };
            PolicyError::NoParameter { policy: self.name.clone(), name: name.to_owned(), hint: if near.is_empty() { list } else { near } }
        };
        let Some(parameter) = self.params.get(name) else { return Err(unknown()) };
        let refused = |reason: String| PolicyError::Plan { policy: self.name.clone(), reason: format!("`{name}`: {reason}") };
        if value.trim_start_matches('=').trim().is_empty() {
            return Err(refused("no value is given".to_owned()));
        }
        let value = match parameter.typed(value).map_err(refused)? {
            Some(number) => {
                parameter.check(number).map_err(refused)?;
                numeral(number)
            }
            None => {
                let text = value.trim_start_matches('=');
                // `20kb` is meant as a number, and no formula: digits and letters without anything between.
                if text.starts_with(|letter: char| letter.is_ascii_digit()) && text.chars().all(char::is_alphanumeric) {
                    return Err(refused(format!("`{text}` is no number: it is written 20000, 20_000, 20k or 0.02m, a share 0.85 or 85%")));
                }
                if parameter.is_switch() && text.chars().all(char::is_alphabetic) && !self.params.contains_key(text) {
                    return Err(refused(format!("`{text}` is neither on nor off: a switch takes yes or no, on or off, 1 or 0")));
                }
                let wrong = |error| PolicyError::Formula { policy: self.name.clone(), error };
                let formula = Expression::parse(text).map_err(wrong)?;
                // What hangs on nothing is a number, however it is written.
                if formula.names().is_empty() {
                    parameter.check(formula.value(&Scope::new()).map_err(wrong)?).map_err(refused)?;
                }
                Value::String(format!("={text}"))
            }
        };
        if let Some(parameter) = self.params.get_mut(name) {
            parameter.replaced = value.is_str();
            parameter.value = value;
        }
        Ok(())
    }

    /// Lets its summaries be as large as those that the corpus records, where it records any. Nothing changes where it makes none, where a model of its own says how
    /// large they are, and where the size hangs on a parameter that `is_set`.
    #[must_use]
    pub fn with_recorded_summaries(mut self, is_set: &dyn Fn(&str) -> bool) -> Policy {
        let Some(Value::Table(summary)) = Arc::make_mut(&mut self.body).get_mut("summary") else { return self };
        let assumed = match summary.get("tokens") {
            Some(Value::String(text)) => {
                Expression::parse(text.trim_start_matches('=')).is_ok_and(|formula| !formula.names().iter().any(|name| is_set(name)))
            }
            tokens => tokens.and_then(Value::as_integer) != Some(0),
        };
        if assumed && !summary.contains_key("model") {
            summary.insert("model".to_owned(), Value::String("recorded".to_owned()));
        }
        self
    }

    /// Are its summaries as large as recorded ones?
    pub fn takes_recorded_summaries(&self) -> bool {
        self.written(&["summary", "model"]).and_then(Value::as_str) == Some("recorded")
    }

    /// The plan for one model: every formula worked out.
    pub fn plan(&self, facts: &Facts) -> Result<Plan, PolicyError> {
        let mut body = self.worked_out(&self.scope(facts)?)?;
        family::choose(&mut body, facts.family);
        let wrong = |reason: String| PolicyError::Plan { policy: self.name.clone(), reason };
        let mut plan: Plan = decode::from_value(Value::Table(body)).map_err(|mistake| wrong(mistake.message))?;
        plan.estimator.sealed_thousandths = facts.sealed_thousandths;
        if let Some(program) = &mut plan.program {
            program.params = self.scope(facts)?;
            program.decider.clone_from(&self.decider);
        }
        plan.ready().map_err(wrong)
    }

    /// The program that its rules ask, with the command as it is written; `None` where none does.
    pub fn program(&self) -> Option<Program> {
        self.body.get("program").and_then(|program| decode::from_value(program.clone()).ok())
    }

    /// The policy with this decider, which its rules ask.
    #[must_use]
    pub fn asking(self, decider: Decider) -> Policy {
        Policy { decider: Some(decider), ..self }
    }

    /// The window that the policy takes for an unknown model.
    pub fn default_window(&self) -> Option<u64> {
        let value = self.body.get("window")?.get("default")?;
        let scope = self.params.iter().filter_map(|(name, parameter)| Some((name.clone(), as_number(&parameter.value)?))).gather();
        match value {
            Value::String(text) => Some(Expression::parse(text.strip_prefix('=')?).ok()?.value(&scope).ok()? as u64),
            value => as_number(value).map(|number| number as u64),
        }
    }

    /// Does its estimator count kinds of texts differently, for any model?
    pub fn tells_kinds(&self) -> bool {
        self.body.get("estimator").is_some_and(family::has_weights)
    }

    /// What is written at a place of the document, everything inherited included: keys, ids of rules or places in lists lead there.
    pub(crate) fn written(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.body.get(*first)?, |value, step| match value {
            Value::Array(list) => {
                let named = list.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(*step));
                named.or_else(|| step.parse().ok().and_then(|place: usize| list.get(place)))
            }
            value => value.get(*step),
        })
    }

    /// The document without its parameters and words for people, each formula as the number that it gives.
    pub(crate) fn worked_out(&self, scope: &Scope) -> Result<Table, PolicyError> {
        let mut body = Table::clone(&self.body);
        for value in body.iter_mut().map(|(_, value)| value) {
            work_out(value, scope).map_err(|error| self.formula_error(error))?;
        }
        Ok(body)
    }

    /// Body of the document, formulas as they are written.
    pub(crate) fn body(&self) -> &Table {
        &self.body
    }

    pub(crate) fn scope(&self, facts: &Facts) -> Result<Scope, PolicyError> {
        let mut scope: Scope = FACTS.iter().map(|fact| (*fact).to_owned()).zip(numbers_of(self, facts).map(|fact| fact as f64)).gather();
        // Parameters may be formulas over each other: work out whatever can be, until all are.
        let mut waiting: Vec<(&String, Expression)> = Vec::new();
        for (name, parameter) in &self.params {
            match &parameter.value {
                Value::String(text) => {
                    let text = text.strip_prefix('=').unwrap_or(text);
                    waiting.push((name, Expression::parse(text).map_err(|error| self.formula_error(error))?));
                }
                value => {
                    scope.insert(name.clone(), as_number(value).unwrap_or(0.0));
                }
            }
        }
        while !waiting.is_empty() {
            let names: BTreeSet<&String> = waiting.iter().map(|(name, _)| *name).gather();
            let ready = waiting.iter().position(|(_, formula)| formula.names().iter().all(|name| !names.contains(name)));
            let Some(index) = ready else {
                // Whoever follows what waits for what comes into the circle at last.
                let next = |from: usize| {
                    let (_, formula) = waiting.get(from)?;
                    waiting.iter().position(|(name, _)| formula.names().contains(*name))
                };
                let within = waiting.iter().try_fold(0, |from, _| next(from)).unwrap_or_default();
                let name = waiting.get(within).map(|(name, _)| (*name).clone()).unwrap_or_default();
                return Err(self.formula_error(ExpressionError::Circular { name }));
            };
            let (name, formula) = waiting.remove(index);
            let value = formula.value(&scope).map_err(|error| self.formula_error(error))?;
            let checked = self.params.get(name).map_or(Ok(()), |parameter| parameter.check_worked_out(value));
            checked.map_err(|reason| PolicyError::OutOfRange {
                policy: self.name.clone(),
                name: name.clone(),
                formula: formula.text().to_owned(),
                window: window_of(self, facts),
                reason,
            })?;
            scope.insert(name.clone(), value);
        }
        Ok(scope)
    }

    fn formula_error(&self, error: ExpressionError) -> PolicyError {
        PolicyError::Formula { policy: self.name.clone(), error }
    }

    /// Works every formula out once for an ordinary model, so that a mistyped name is found before any log is read.
    fn check_formulas(&self, origin: &str, text: &str) -> Result<(), PolicyError> {
        let ordinary = Facts { window: Some(200_000), max_output: 32_000, ..Facts::default() };
        match self.plan(&ordinary) {
            // A number that an ordinary model leaves no room for may fit the models of the logs: each is checked when its plan is made.
            Ok(_) | Err(PolicyError::OutOfRange { .. }) => Ok(()),
            Err(PolicyError::Formula { error, .. }) => Err(misspelt(origin, text, &error)),
            // What it speaks of first may be inherited: then it stands nowhere in this document.
            Err(PolicyError::Plan { policy, reason }) => {
                let word = reason.split('`').nth(1).filter(|word| text.contains(&format!("\"{word}\"")));
                let place = word.and_then(|word| place_of(text, word, false));
                Err(match place {
                    Some((line, column)) => PolicyError::Invalid { origin: origin.to_owned(), line, column, reason },
                    None => PolicyError::Plan { policy, reason },
                })
            }
            Err(other) => Err(other),
        }
    }
}

/// A formula that cannot be worked out, at the place where it stands.
fn misspelt(origin: &str, text: &str, error: &ExpressionError) -> PolicyError {
    let culprit = match error {
        ExpressionError::UnknownName { text, .. } | ExpressionError::Syntax { text, .. } | ExpressionError::NotFinite { text } => text,
        ExpressionError::Circular { name } => name,
    };
    let (line, column) = place_of(text, culprit, !matches!(error, ExpressionError::Circular { .. })).unwrap_or((1, 1));
    PolicyError::Invalid { origin: origin.to_owned(), line, column, reason: error.to_string() }
}

/// The window of a policy that names no default, for an unknown model.
pub const FALLBACK_WINDOW: u64 = 200_000;

/// The window that the policy reckons with for a model.
pub(super) fn window_of(policy: &Policy, facts: &Facts) -> u64 {
    facts.window.or_else(|| policy.default_window()).unwrap_or(FALLBACK_WINDOW)
}

/// Facts of the model and of the session's log by name, as formulas ask for them. Systems that treat a maker's models apart ask for `claude` and `gpt`.
pub(super) const FACTS: [&str; 6] = ["window", "max_input", "max_output", "claude", "gpt", "item_bytes"];

/// The facts of a model, in the order of [`FACTS`].
pub(super) fn numbers_of(policy: &Policy, facts: &Facts) -> [u64; FACTS.len()] {
    let is = |families: &[Family]| u64::from(facts.family.is_some_and(|family| families.contains(&family)));
    let (claude, gpt) = (is(&[Family::ClaudeOld, Family::ClaudeNew]), is(&[Family::Gpt]));
    [window_of(policy, facts), facts.max_input, facts.max_output, claude, gpt, facts.item_bytes]
}

/// A number as a document has it: whole ones without a fraction.
pub(super) fn numeral(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 { Value::Integer(number as i64) } else { Value::Float(number) }
}

/// Replaces each string that begins with `=` by the value of its formula.
fn work_out(value: &mut Value, scope: &Scope) -> Result<(), ExpressionError> {
    match value {
        Value::String(text) => {
            if let Some(formula) = text.strip_prefix('=') {
                *value = numeral(Expression::parse(formula)?.value(scope)?);
            }
        }
        Value::Array(values) => values.iter_mut().try_for_each(|value| work_out(value, scope))?,
        Value::Table(table) => table.iter_mut().try_for_each(|(_, value)| work_out(value, scope))?,
        _ => {}
    }
    Ok(())
}

/// A document that names no agents of its system has those whose logs were recorded under it, or under what it extends.
fn own_agents(body: &mut Table) {
    let recorded_by = body.remove("recorded_by");
    let names = recorded_by.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(|entry| entry.get("agent").cloned());
    let names: Vec<Value> = names.collect();
    if !names.is_empty() {
        body.entry("agents").or_insert(Value::Array(names));
    }
}
