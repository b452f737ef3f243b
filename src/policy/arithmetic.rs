//! Where numbers of policies come from: formulas with the values of the names in them.

use super::document::Policy;
use super::expression::{Expression, Scope};
use super::figure::figure;
use std::collections::BTreeSet;
use toml::Value;

/// How a number of a policy comes about: "`window - reserve` = 15,616, with reserve = 16,384, window = 32,000". The path leads through the
/// document by keys, ids of rules and places in lists. Empty where the document has nothing there.
pub fn arithmetic(policy: &Policy, scope: &Scope, path: &[&str]) -> String {
    policy.written(path).map_or_else(String::new, |value| worked_out(policy, scope, value))
}

fn worked_out(policy: &Policy, scope: &Scope, value: &Value) -> String {
    let Some(formula) = formula_of(value) else {
        return value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64)).map_or_else(String::new, figure);
    };
    let Ok(expression) = Expression::parse(formula) else { return String::new() };
    let mut waiting: Vec<String> = expression.names().into_iter().collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut facts = Vec::new();
    while let Some(name) = waiting.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let number = scope.get(&name).map_or_else(String::new, |number| figure(*number));
        let parameter = policy.params.get(&name).and_then(|parameter| formula_of(&parameter.value));
        match parameter.and_then(|text| Expression::parse(text).ok()) {
            Some(inner) => {
                waiting.extend(inner.names());
                facts.push(format!("{name} = `{inner}` = {number}"));
            }
            None => facts.push(format!("{name} = {number}")),
        }
    }
    let result = expression.value(scope).map_or_else(|_| "no number".to_owned(), figure);
    let bare = formula.chars().all(|character| character.is_alphanumeric() || character == '_');
    match facts.split_first() {
        None => result,
        // A parameter by its name alone speaks for itself.
        Some((fact, [])) if bare => fact.clone(),
        Some((fact, rest)) if bare => format!("{fact}, with {}", rest.join(", ")),
        Some(_) => format!("`{formula}` = {result}, with {}", facts.join(", ")),
    }
}

/// The text of a formula; `None` for a plain value.
pub fn formula_of(value: &Value) -> Option<&str> {
    value.as_str().and_then(|text| text.strip_prefix('='))
}
