//! `ctxsim models`: the catalogue.

use super::failure::Failure;
use super::output::print;
use clap::Args;
use ctxsim::catalog::{Catalog, Model};
use ctxsim::policy::suggestion;
use ctxsim::report::grouped;
use ctxsim::units::Tokens;

const EXAMPLES: &str = "\
Examples:
  ctxsim models claude
  ctxsim models openrouter/anthropic/claude-sonnet-4   any spelling that a log may have";

/// List the models that are known, with their windows and limits in tokens
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Models {
    /// A part of a model's name or of its provider's, or a name as a log spells it
    pattern: Option<String>,
}

impl Models {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        let catalog = Catalog::builtin()?;
        let Some(pattern) = &self.pattern else { return print(&table(&catalog.models().collect::<Vec<_>>())) };
        let lower = pattern.to_lowercase();
        let fits = |model: &&Model| model.id.to_lowercase().contains(&lower) || model.provider.to_lowercase().contains(&lower);
        let mut found: Vec<&Model> = catalog.models().filter(fits).collect();
        if found.is_empty() {
            found.extend(catalog.find(pattern));
        }
        if found.is_empty() {
            let hint = suggestion(pattern, catalog.models().map(|model| model.id.as_str()));
            return Err(Failure::Usage(format!("the catalogue has no model `{pattern}`{hint}")));
        }
        print(&table(&found))
    }
}

fn table(models: &[&Model]) -> String {
    let width = models.iter().map(|model| model.id.len()).max().unwrap_or(0).max("model".len());
    let mut out = format!("{:width$}  {:>10}  {:>10}  {:>10}  provider\n", "model", "window", "max input", "max output");
    let limit = |tokens: Option<Tokens>| tokens.map_or_else(|| "-".to_owned(), |tokens| grouped(tokens.0));
    for model in models {
        let (window, input, output) = (grouped(model.context.0), limit(model.max_input), limit(model.max_output));
        out += &format!("{:width$}  {window:>10}  {input:>10}  {output:>10}  {}\n", model.id, model.provider);
    }
    out
}
