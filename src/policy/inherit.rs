//! The text of a policy with everything that it inherits.

use super::check::unlike_ids;
use super::configuration::ConfigurationFile;
use super::error::PolicyError;
use super::expression::Expression;
use super::mirrored::Mirrored;
use super::mistake::{invalid, no_such};
use super::plan::{Belief, Reactive, Rule, Summary, Window};
use super::preset::{Once, preset, preset_names};
use super::program::Program;
use super::recorded_by::RecordedBy;
use super::suggestion::suggestion;
use crate::decode::{self, Mistake};
use crate::estimate::Estimator;
use crate::reading;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};

/// The document as it is written, read once only for its errors: they point at line and column.
/// Everything is optional, because a user's file may be a single changed key.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Written {
    name: Option<String>,
    about: Option<String>,
    mirrors: Option<String>,
    mirrored: Mirrored,
    not_modelled: Vec<String>,
    recorded_by: Vec<RecordedBy>,
    agents: Vec<String>,
    extends: Option<String>,
    without: Vec<String>,
    params: BTreeMap<String, Value>,
    window: Window,
    estimator: Estimator,
    belief: Belief,
    summary: Summary,
    reactive: Reactive,
    program: Option<Program>,
    rule: Vec<Rule>,
    configuration: Vec<ConfigurationFile>,
}

/// A chain of `extends` longer than this is a ring.
const LONGEST_CHAIN: usize = 8;

/// The document with everything that it inherits.
pub(super) fn inherit(origin: &str, text: &str, depth: usize) -> Result<Table, PolicyError> {
    static READ: Once<Table> = Once::new();
    if depth > LONGEST_CHAIN {
        return Err(PolicyError::Ring(origin.to_owned()));
    }
    let mut own: Table = text.parse().map_err(|error| invalid(origin, &Mistake::syntax(&error, text)))?;
    let without: Vec<String> = take(&mut own, "without");
    let Some(Value::String(base)) = own.remove("extends") else { return Ok(own) };
    let placed = |error: PolicyError| no_such(origin, text, (base.clone(), error.to_string()));
    let mut table = match preset(&base) {
        Some(preset) => READ.of(preset, || inherit(preset.name, preset.text, depth + 1))?,
        None => {
            let unknown = || placed(PolicyError::Unknown { name: base.clone(), hint: suggestion(&base, preset_names()) });
            let path = Path::new(origin).parent().unwrap_or(Path::new("")).join(&base);
            let text = reading::regular_text(&path).map_err(|_| unknown())?;
            check_shape(&path.to_string_lossy(), &text)?;
            // A ring is found far down, and stands where the user's own document enters it.
            let inherited = inherit(&path.to_string_lossy(), &text, depth + 1);
            inherited.map_err(|error| if matches!(error, PolicyError::Ring(_)) && depth == 0 { placed(error) } else { error })?
        }
    };
    unlike_ids(&own).map_err(|reason| no_such(origin, text, reason))?;
    // Who names a document starts the program that stands in it, and no other.
    table.remove("program");
    leave_out(&mut table, &without).map_err(|reason| no_such(origin, text, reason))?;
    check_params(&own, &table, &base).map_err(|reason| no_such(origin, text, reason))?;
    overlay(&mut table, own);
    Ok(table)
}

/// A parameter that is new and that no formula uses is surely a slip of the pen for an inherited one, and would change nothing.
fn check_params(own: &Table, inherited: &Table, base: &str) -> Result<(), (String, String)> {
    let params = |table: &Table| -> Vec<String> {
        table.get("params").and_then(Value::as_table).into_iter().flat_map(Table::keys).cloned().collect()
    };
    let known = params(inherited);
    let is_stray = |name: &String| !known.contains(name) && !own.values().any(|value| uses(value, name));
    let Some(stray) = params(own).into_iter().find(is_stray) else { return Ok(()) };
    let hint = suggestion(&stray, known.iter().map(String::as_str));
    let reason = format!("`{base}` has no parameter `{stray}`{hint}; a new one must be used by a formula of this document");
    Err((stray, reason))
}

/// Does a formula in it use this name?
fn uses(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => {
            text.strip_prefix('=').and_then(|text| Expression::parse(text).ok()).is_some_and(|it| it.names().contains(name))
        }
        Value::Array(values) => values.iter().any(|value| uses(value, name)),
        Value::Table(table) => table.values().any(|value| uses(value, name)),
        _ => false,
    }
}

/// Takes rules, by their ids, and parameters, by their names, out of an inherited document.
fn leave_out(table: &mut Table, without: &[String]) -> Result<(), (String, String)> {
    for gone in without {
        let mut found = table.get_mut("params").and_then(Value::as_table_mut).is_some_and(|params| params.remove(gone).is_some());
        let mut names: Vec<String> = Vec::new();
        if let Some(Value::Array(rules)) = table.get_mut("rule") {
            let id_of = |rule: &Value| rule.get("id").and_then(Value::as_str).map(str::to_owned);
            names.extend(rules.iter().filter_map(id_of));
            let before = rules.len();
            rules.retain(|rule| id_of(rule).as_ref() != Some(gone));
            found |= rules.len() < before;
        }
        if !found {
            let params = table.get("params").and_then(Value::as_table).into_iter().flat_map(|params| params.keys().cloned());
            names.extend(params);
            let hint = suggestion(gone, names.iter().map(String::as_str));
            return Err((
                gone.clone(),
                format!("`without` names `{gone}`, which is neither a rule nor a parameter of what it extends{hint}"),
            ));
        }
    }
    Ok(())
}

/// Lays one document over another: tables merge, rules are replaced by id or added at the end, everything else is replaced.
pub(super) fn overlay(base: &mut Table, own: Table) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            (Some(Value::Array(rules)), Value::Array(mine)) if key == "rule" => {
                for rule in mine {
                    let id = rule.get("id").cloned();
                    match rules.iter_mut().find(|old| old.get("id") == id.as_ref()) {
                        Some(old) => *old = rule,
                        None => rules.push(rule),
                    }
                }
            }
            (Some(Value::Table(old)), Value::Table(mine)) if key == "params" => {
                for (name, value) in mine {
                    // What names no unit changes an inherited parameter, and leaves of it what it does not name.
                    match (old.get_mut(&name).and_then(Value::as_table_mut), value) {
                        (Some(described), Value::Table(mine)) if !mine.contains_key("unit") => described.extend(mine),
                        (Some(described), value) if !value.is_table() => drop(described.insert("value".to_owned(), value)),
                        (_, value) => drop(old.insert(name, value)),
                    }
                }
            }
            (Some(Value::Table(old)), Value::Table(mine)) => overlay(old, mine),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Reads the text for unknown words and wrong types alone.
pub(super) fn check_shape(origin: &str, text: &str) -> Result<(), PolicyError> {
    decode::from_toml::<Written>(&plain_numbers(text)).map(drop).map_err(|error| invalid(origin, &error))
}

/// What stands under a key, taken out. Its shape is checked before.
pub(super) fn take<T: DeserializeOwned + Default>(table: &mut Table, key: &str) -> T {
    table.remove(key).and_then(|value| decode::from_value(value).ok()).unwrap_or_default()
}

/// Formulas stand where numbers are expected: each becomes the number 1 at the same place, so that positions stay true.
fn plain_numbers(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\"=") {
        let (before, formula) = rest.split_at(start);
        let Some(length) = formula.get(1..).and_then(|inner| inner.find(['"', '\n'])).map(|end| end + 2) else { break };
        plain.push_str(before);
        plain.push('1');
        plain.extend(std::iter::repeat_n(' ', length - 1));
        rest = formula.get(length..).unwrap_or("");
    }
    plain.push_str(rest);
    plain
}
