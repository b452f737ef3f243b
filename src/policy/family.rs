//! Estimators that differ by the model's family.

use super::inherit::overlay;
use crate::catalog::Family;
use toml::{Table, Value};

/// Does an estimator count kinds of texts differently, for any model?
pub(super) fn has_weights(value: &Value) -> bool {
    value.as_table().is_some_and(|table| table.iter().any(|(key, value)| key == "weights" || has_weights(value)))
}

/// Does a policy tell families apart?
pub(super) fn are_told_apart(body: &Table) -> bool {
    body.get("estimator").is_some_and(|estimator| estimator.get("families").is_some())
}

/// Lays what `[estimator.families]` says of this family over the estimator, and takes the other families out.
pub(super) fn choose(body: &mut Table, family: Option<Family>) {
    let Some(estimator) = body.get_mut("estimator").and_then(Value::as_table_mut) else { return };
    let Some(Value::Table(mut families)) = estimator.remove("families") else { return };
    if let Some(Value::Table(own)) = family.and_then(|family| families.remove(family.name())) {
        overlay(estimator, own);
    }
}
