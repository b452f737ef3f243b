//! For which model a policy is looked at.

use crate::cli::failure::Failure;
use crate::cli::known::catalog;
use crate::cli::policies::{unknown_model, window};
use crate::policy::Facts;
use clap::Args;

/// The model, or a window alone.
#[derive(Args, Debug)]
pub struct ForModel {
    /// Work the formulas out for this model of the catalogue
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// Work them out for this window: 200000, 200k, 1m
    #[arg(long, value_name = "TOKENS", value_parser = window)]
    window: Option<u64>,
}

impl ForModel {
    /// Its limits; without model and window, those of no model in particular.
    pub fn facts(&self) -> Result<Facts, Failure> {
        let Some(id) = &self.model else { return Ok(Facts { window: self.window, ..Facts::default() }) };
        let catalog = catalog()?;
        let model = catalog.find(id).ok_or_else(|| unknown_model(catalog, id))?;
        let window = self.window.unwrap_or(model.context.0);
        let limit = |tokens: Option<crate::units::Tokens>| tokens.map_or(0, |tokens| tokens.0);
        Ok(Facts {
            window: Some(window),
            max_input: limit(model.max_input).min(window),
            max_output: limit(model.max_output),
            family: Some(model.family),
            item_bytes: 0,
            sealed_thousandths: model.sealed_thousandths.unwrap_or(0),
        })
    }

    /// Was neither a model nor a window given?
    pub fn is_open(&self) -> bool {
        self.model.is_none() && self.window.is_none()
    }
}
