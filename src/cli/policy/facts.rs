//! For which model a policy is looked at.

use crate::cli::failure::Failure;
use crate::cli::logs::tokens;
use clap::Args;
use ctxsim::catalog::Catalog;
use ctxsim::policy::{Facts, suggestion};

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

fn window(text: &str) -> Result<u64, String> {
    tokens(text).and_then(|tokens| if tokens == 0 { Err("a window holds at least one token".to_owned()) } else { Ok(tokens) })
}

impl ForModel {
    /// Its limits; without model and window, those of no model in particular.
    pub fn facts(&self) -> Result<Facts, Failure> {
        let Some(id) = &self.model else { return Ok(Facts { window: self.window, ..Facts::default() }) };
        let catalog = Catalog::builtin()?;
        let Some(model) = catalog.find(id) else {
            let hint = suggestion(id, catalog.models().map(|model| model.id.as_str()));
            return Err(Failure::Usage(format!("the catalogue has no model `{id}`{hint} (--window says how large its window is)")));
        };
        let window = self.window.unwrap_or(model.context.0);
        let limit = |tokens: Option<ctxsim::units::Tokens>| tokens.map_or(0, |tokens| tokens.0);
        Ok(Facts {
            window: Some(window),
            max_input: limit(model.max_input).min(window),
            max_output: limit(model.max_output),
            family: Some(model.family),
        })
    }

    /// Was neither a model nor a window given?
    pub fn is_open(&self) -> bool {
        self.model.is_none() && self.window.is_none()
    }
}
