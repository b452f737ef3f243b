//! What a preset says of its agent's configuration: files, their syntax, a key for each parameter.

use serde::Deserialize;
use std::collections::BTreeMap;

/// One place where an agent takes its settings from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigurationFile {
    /// The file, as the agent's documentation names it.
    pub file: String,
    /// Syntax of the file.
    pub syntax: Syntax,
    /// The variable or the constructor that the settings belong to, where the syntax has one.
    #[serde(default)]
    pub frame: String,
    /// What is to be known before anything is put there; empty for nothing.
    #[serde(default)]
    pub note: String,
    /// By parameter of the policy: the agent's own key.
    pub keys: BTreeMap<String, Key>,
}

/// Syntax of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Syntax {
    /// JSON without comments.
    Json,
    /// JSON that may hold comments.
    Jsonc,
    /// TOML, with comments behind `#`.
    Toml,
    /// Variables of a shell.
    Environment,
    /// Entries of a dictionary in Python.
    PythonDictionary,
    /// Arguments of a constructor in Python.
    PythonCall,
    /// Properties of the object that a JavaScript file exports.
    Javascript,
    /// Constants of the agent's source: no configuration, but a place to patch.
    Source,
}

/// An agent's key for a parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Key {
    /// Keys from the outermost on, with dots between them; the value is the number.
    Path(String),
    /// A key with more to be said of the value.
    Written {
        /// Keys from the outermost on, with dots between them.
        key: String,
        /// The value as it is written there, `{}` where the number stands; the number alone where nothing is said.
        #[serde(default = "plain")]
        write: String,
        /// Keys that go before it where they are set, the first one most: a variable of the environment, or what holds for one model, whose
        /// name stands at `{model}`. They are read, not written.
        #[serde(default)]
        before: Vec<String>,
        /// The number that stands for no such setting: the key is left out then. Absent where every number is one.
        none: Option<f64>,
        /// The word by which the agent says so.
        none_word: Option<String>,
    },
}

fn plain() -> String {
    "{}".to_owned()
}

impl Key {
    /// Does this number stand for no such setting?
    pub fn is_left_out_at(&self, number: Option<f64>) -> bool {
        matches!(self, Key::Written { none: Some(none), .. } if number == Some(*none))
    }

    /// The number that a word stands for which says that nothing is set.
    pub fn number_of(&self, word: &str) -> Option<f64> {
        match self {
            Key::Written { none, none_word: Some(known), .. } if known == word => *none,
            _ => None,
        }
    }

    /// All keys that are read, the one that goes before the others first.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let before = if let Key::Written { before, .. } = self { before.as_slice() } else { &[] };
        before.iter().map(String::as_str).chain([self.path()])
    }

    /// The keys with dots between them.
    pub fn path(&self) -> &str {
        match self {
            Key::Path(path) => path,
            Key::Written { key, .. } => key,
        }
    }
}

impl Syntax {
    /// What a comment begins with; `None` where there are none.
    pub fn comment(self) -> Option<&'static str> {
        match self {
            Syntax::Json | Syntax::Source => None,
            Syntax::Jsonc | Syntax::Javascript => Some("//"),
            Syntax::Toml | Syntax::Environment | Syntax::PythonDictionary | Syntax::PythonCall => Some("#"),
        }
    }

    /// Name of the syntax behind the fence of a block of code.
    pub fn name(self) -> &'static str {
        match self {
            Syntax::Json => "json",
            Syntax::Jsonc => "jsonc",
            Syntax::Toml => "toml",
            Syntax::Environment => "sh",
            Syntax::PythonDictionary | Syntax::PythonCall => "python",
            Syntax::Javascript => "js",
            Syntax::Source => "text",
        }
    }
}
