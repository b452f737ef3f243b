//! `ctxsim policy show`: a preset's document, and in comments what it inherits.

use crate::cli::failure::Failure;
use crate::cli::output::print;
use clap::Args;
use ctxsim::policy::{Policy as Document, Preset, presets, suggestion};

const EXAMPLES: &str = "\
Examples:
  ctxsim policy list
  ctxsim policy show opencode > mine.toml
  ctxsim replay logs/ --policy mine.toml --policy opencode";

/// Print a preset's TOML with its parameters and rules, and what of its system it cannot say
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    /// The preset; a bare name is the newest version of its system
    name: String,
}

impl Show {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        let preset = find(&self.name)?;
        let policy = Document::parse(preset.name, preset.text)?;
        print(&format!("{}{}", preset.text, inherited(preset, &policy)))
    }
}

/// The preset of this name.
pub fn find(name: &str) -> Result<&'static Preset, Failure> {
    let exact = presets().iter().find(|preset| preset.name == name);
    let newest = || presets().iter().find(|preset| preset.name.split('@').next() == Some(name));
    exact.or_else(newest).ok_or_else(|| {
        let hint = suggestion(name, presets().iter().map(|preset| preset.name));
        Failure::Usage(format!("`{name}` is no preset{hint} (`ctxsim policy list` lists them)"))
    })
}

/// What a document that extends another one does not show: as comments, so that the whole stays a document.
fn inherited(preset: &Preset, policy: &Document) -> String {
    let own: toml::Table = preset.text.parse().unwrap_or_default();
    let Some(base) = own.get("extends").and_then(toml::Value::as_str) else { return String::new() };
    let is_own = |name: &str| own.get("params").and_then(|params| params.get(name)).is_some();
    let mut out = format!("\n# Inherited from {base}:\n");
    for (name, parameter) in policy.params.iter().filter(|(name, _)| !is_own(name)) {
        out += &format!("#   {name} = {}  # {}: {}\n", parameter.value, parameter.unit, parameter.help);
    }
    if !own.contains_key("not_modelled") && !policy.not_modelled.is_empty() {
        out += "# Not modelled:\n";
        policy.not_modelled.iter().for_each(|gap| out += &format!("#   {gap}\n"));
    }
    out
}
