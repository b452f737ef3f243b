//! Estimators that differ by the model's family.

use super::document::overlay;
use crate::catalog::Family;
use toml::{Table, Value};

/// Lays what `[estimator.families]` says of this family over the estimator, and takes the other families out.
pub(super) fn choose(body: &mut Table, family: Option<Family>) {
    let Some(estimator) = body.get_mut("estimator").and_then(Value::as_table_mut) else { return };
    let Some(Value::Table(mut families)) = estimator.remove("families") else { return };
    if let Some(Value::Table(own)) = family.and_then(|family| families.remove(family.name())) {
        overlay(estimator, own);
    }
}
