//! Text to paste into an agent's configuration.

use super::nested::{self, Setting};
use crate::policy::{ConfigurationFile, Key, Parameter, Policy, Syntax};

/// What is to be put into one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The file, as the agent's documentation names it.
    pub file: String,
    /// Syntax of the file.
    pub syntax: Syntax,
    /// What is to be known before; empty for nothing.
    pub note: String,
    /// Parameters of the policy that it sets, in the order of their names.
    pub params: Vec<String>,
    /// The text, with comments where the syntax has them.
    pub text: String,
}

/// What an agent's configuration says for some parameters, and which of them it cannot say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippets {
    /// A snippet for each file that has something to say.
    pub files: Vec<Snippet>,
    /// Parameters that no file sets, each with the reason.
    pub unset: Vec<(String, Unset)>,
}

/// Why no file sets a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// The policy's document names no key for it.
    NoKey,
    /// Its value stands for no such setting: the key is to be left out.
    LeftOut,
    /// Its value is a formula over facts of the model, which the agent works out by itself.
    Formula,
}

impl Policy {
    /// Where the agent takes its settings from, as the policy's document says; none for a policy without an agent.
    pub fn configuration_files(&self) -> &[ConfigurationFile] {
        &self.configuration
    }

    /// These parameters, with the values that they have in this policy, in the agent's own configuration. Lines of the comment go into
    /// each file that may hold comments.
    pub fn snippets(&self, params: &[String], comment: &[String]) -> Snippets {
        let mut snippets = Snippets::default();
        let of = params.iter().filter_map(|name| Some((name, self.params.get(name)?)));
        let numbers: Vec<(&String, &Parameter)> = of.filter(|(_, parameter)| parameter.number().is_some()).collect();
        for file in self.configuration.iter() {
            let keyed: Vec<(&String, Setting<'_>)> = numbers
                .iter()
                .filter_map(|(name, parameter)| {
                    let key = file.keys.get(*name).filter(|key| !key.is_left_out_at(parameter.number()))?;
                    Some((*name, Setting { path: key.path(), value: written(key, parameter, file.syntax) }))
                })
                .collect();
            if !keyed.is_empty() {
                let (names, settings): (Vec<&String>, Vec<Setting<'_>>) = keyed.into_iter().unzip();
                snippets.files.push(Snippet {
                    file: file.file.clone(),
                    syntax: file.syntax,
                    note: file.note.clone(),
                    params: names.into_iter().cloned().collect(),
                    text: text(file, &settings, comment),
                });
            }
        }
        for name in params.iter().filter(|name| self.params.contains_key(*name)) {
            let keyed = self.configuration.iter().any(|file| file.keys.contains_key(name));
            let written = snippets.files.iter().any(|snippet| snippet.params.contains(name));
            let why = match (numbers.iter().any(|(known, _)| *known == name), keyed, written) {
                (false, ..) => Unset::Formula,
                (true, false, _) => Unset::NoKey,
                (true, true, false) => Unset::LeftOut,
                (true, true, true) => continue,
            };
            snippets.unset.push((name.clone(), why));
        }
        snippets
    }
}

fn written(key: &Key, parameter: &Parameter, syntax: Syntax) -> String {
    let number = parameter.number().unwrap_or(0.0);
    let plain = match (parameter.is_switch(), syntax) {
        (true, Syntax::PythonDictionary | Syntax::PythonCall) => if number == 0.0 { "False" } else { "True" }.to_owned(),
        (true, Syntax::Json | Syntax::Jsonc | Syntax::Toml | Syntax::Javascript) => (number != 0.0).to_string(),
        // Whole numbers have no decimals, and no number has more than it needs.
        _ => number.to_string(),
    };
    match key {
        Key::Path(_) => plain,
        Key::Written { write, .. } => write.replace("{}", &plain),
    }
}

fn text(file: &ConfigurationFile, settings: &[Setting<'_>], comment: &[String]) -> String {
    let mut out = String::new();
    if let Some(mark) = file.syntax.comment() {
        // A comment is one line, whatever it says.
        comment.iter().for_each(|line| out += &format!("{mark} {}\n", line.replace(char::is_control, " ")));
    }
    let lines = |line: &dyn Fn(&Setting<'_>) -> String| settings.iter().map(line).collect::<String>();
    out += &match file.syntax {
        Syntax::Json | Syntax::Jsonc => format!("{:#}\n", nested::json(settings)),
        Syntax::Toml => nested::toml(settings).to_string(),
        Syntax::Environment => lines(&|setting| format!("export {}={}\n", setting.path, setting.value)),
        Syntax::PythonDictionary => {
            format!("{}.update({{\n{}}})\n", file.frame, lines(&|setting| format!("    \"{}\": {},\n", setting.path, setting.value)))
        }
        Syntax::PythonCall => {
            format!("{}(\n{})\n", file.frame, lines(&|setting| format!("    {}={},\n", setting.path, setting.value)))
        }
        Syntax::Javascript => format!("export default {{\n{}}};\n", lines(&|setting| format!("  {}: {},\n", setting.path, setting.value))),
        Syntax::Source => lines(&|setting| format!("{} = {}\n", setting.path, setting.value)),
    };
    out
}
