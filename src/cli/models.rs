//! `ctxsim models`: the catalogue.

use super::door::Door;
use super::failure::Failure;
use super::known::catalog;
use super::output::Output;
use super::shell::quoted;
use crate::catalog::Model;
use crate::policy::suggestion;
use crate::report::{Cell, Column, Table, Unit, list};
use crate::units::Tokens;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  ctxsim models claude
  ctxsim models openrouter/anthropic/claude-sonnet-4
                                   any spelling that a log may have";

/// List the models that are known, with their windows and limits in tokens
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Models {
    /// A part of a model's name or of its provider's, or a name as a log spells it
    pattern: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl Models {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let catalog = catalog()?;
        let Some(pattern) = &self.pattern else { return self.give(door, &newest_first(catalog.models())) };
        let lower = pattern.to_lowercase();
        let fits = |model: &&Model| model.id.to_lowercase().contains(&lower) || model.provider.to_lowercase().contains(&lower);
        let mut found: Vec<&Model> = newest_first(catalog.models().filter(fits));
        if found.is_empty() {
            found.extend(catalog.find(pattern));
        }
        if found.is_empty() {
            let hint = suggestion(pattern, catalog.models().map(|model| model.id.as_str()));
            return Err(Failure::Usage(format!("the catalogue has no model `{pattern}`{hint} (`ctxsim models` lists them)")));
        }
        self.give(door, &found)
    }

    fn give(&self, door: &Door, models: &[&Model]) -> Result<(), Failure> {
        let words: Vec<String> = ["ctxsim", "models"].map(str::to_owned).into_iter().chain(self.pattern.clone()).collect();
        self.output.list(door, &quoted(&words), list("models", "Models of the catalogue".to_owned(), table(models)))
    }
}

/// Each provider's models from the newest on: the catalogue has them in the order in which they came.
fn newest_first<'a>(models: impl Iterator<Item = &'a Model>) -> Vec<&'a Model> {
    let models: Vec<&Model> = models.collect();
    models.chunk_by(|one, next| one.provider == next.provider).flat_map(|models| models.iter().rev().copied()).collect()
}

fn table(models: &[&Model]) -> Table {
    let tokens = |key, header| Column::recorded(key, header, Unit::Tokens);
    let columns = vec![
        Column::name("model", "model"),
        tokens("window", "window"),
        tokens("max_input", "max input"),
        tokens("max_output", "max output"),
        Column::name("provider", "provider"),
    ];
    let limit = |tokens: Option<Tokens>| tokens.map_or(Cell::Empty, |tokens| Cell::Tokens(tokens.0));
    let row = |model: &&Model| {
        let (window, input, output) = (Cell::Tokens(model.context.0), limit(model.max_input), limit(model.max_output));
        vec![Cell::Name(model.id.clone()), window, input, output, Cell::Name(model.provider.clone())]
    };
    Table { labels: 1, columns, rows: models.iter().map(row).collect() }
}
