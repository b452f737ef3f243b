//! `ctxsim policy show`: a preset's document, and in comments what it inherits.

use super::facts::ForModel;
use super::written::Written;
use crate::cli::door::{Door, WRITES};
use crate::cli::failure::Failure;
use crate::cli::target::{Ending, Writes, forms};
use crate::policy::{Policy as Document, Preset, preset, preset_names, suggestion};
use crate::render::section_alone;
use crate::report;
use clap::Args;

/// What a policy is written as.
const POLICY: Writes = Writes { files: &[Ending::Toml, Ending::Json], folder: false };

/// What goes into an agent's own files is pieces to paste.
const PIECES: Writes = Writes { files: &[Ending::Txt], folder: false };

const EXAMPLES: &str = "\
Examples:
  ctxsim policy list
  ctxsim policy show opencode -o mine.toml
  ctxsim policy show pi --as-config --set keepRecentTokens=30k
  ctxsim policy show codex --json --model gpt-5
                                   all of it, and what its formulas give
  ctxsim replay logs/ --policy mine.toml --policy opencode";

/// Print a preset's TOML with its parameters and rules, and what of its system it cannot say
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    /// The preset; a bare name is the first of its system in `ctxsim policy list`
    name: String,
    /// Print the agent's own configuration instead: the values of all parameters that it can set, ready to paste
    #[arg(long)]
    as_config: bool,
    /// Print it as JSON instead: everything inherited included, formulas as they are written and as the numbers that they give
    #[arg(long, conflicts_with = "as_config")]
    json: bool,
    /// The form of the output, by its name
    #[arg(long, value_name = "FORM", value_parser = forms(&POLICY), conflicts_with_all = ["as_config", "json"], help_heading = WRITES)]
    format: Option<Ending>,
    #[command(flatten)]
    model: ForModel,
    /// Turn a parameter first; what is printed is then what was turned
    #[arg(long, value_name = "PARAM=VALUE", requires = "as_config")]
    set: Vec<String>,
    #[command(flatten)]
    written: Written,
}

impl Show {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let preset = find(&self.name)?;
        let policy = Document::parse(preset.name, preset.text)?;
        if self.as_config {
            return self.configuration(door, policy);
        }
        let asked = if self.json { Some(Ending::Json) } else { self.format };
        self.written.give(door, &POLICY, asked, |ending| match ending {
            Ending::Json => Ok(format!("{:#}\n", policy.shown(&self.model.facts()?)?)),
            _ if !self.model.is_open() => Err(Failure::Usage(
                "--model and --window say what formulas give, which --json shows: the TOML is the same for all".to_owned(),
            )),
            _ => Ok(format!("{}{}", preset.text, inherited(preset, &policy))),
        })
    }

    fn configuration(&self, door: &Door, mut policy: Document) -> Result<(), Failure> {
        let mut turned = Vec::new();
        for setting in &self.set {
            let written = || Failure::Usage(format!("`--set {setting}` lacks a value: it is written --set PARAM=VALUE"));
            let (param, value) = setting.split_once('=').ok_or_else(written)?;
            policy.set(param, value)?;
            turned.push(param.to_owned());
        }
        if policy.configuration_files().is_empty() {
            return Err(Failure::Usage(format!(
                "there is no configuration to print for `{0}`: its agent, as far as the preset knows, has no settings for what the policy does \
                 (`ctxsim policy show {0}` prints the policy)",
                policy.name
            )));
        }
        // What the agent works out by itself is left to it and named in a comment, unless the user asks for it.
        let keyed = |name: &&String| policy.configuration_files().iter().any(|file| file.keys.contains_key(*name));
        let names = if turned.is_empty() { policy.params.keys().filter(keyed).cloned().collect() } else { turned };
        let snippets = policy.snippets(&names, &[format!("{} as ctxsim {} has it", policy.name, env!("CARGO_PKG_VERSION"))]);
        let out: String = report::configuration(&policy, &snippets).iter().map(section_alone).collect::<Vec<_>>().join("\n");
        self.written.give(door, &PIECES, None, |_| Ok(out))
    }
}

/// The preset of this name.
pub fn find(name: &str) -> Result<&'static Preset, Failure> {
    preset(name).ok_or_else(|| {
        let hint = suggestion(name, preset_names());
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
