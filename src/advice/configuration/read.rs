//! An agent's own settings, read back into the parameters of its policy: known keys alone, and numbers and switches alone.

use crate::catalog::is_spelled;
use crate::policy::{ConfigurationFile, Parameter, Policy, Syntax, is_switch_word};
use serde_json::Value;
use std::path::Path;

/// What a file of settings said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configured {
    /// Parameters that it sets, each with its value.
    pub set: Vec<(String, String)>,
    /// Values that it has under known keys and that cannot be taken, as sentences: the defaults stand.
    pub refused: Vec<String>,
}

impl Policy {
    /// Takes over what a file of the agent's own settings says for a model; of several models what holds for all alone. `None` where the policy knows no keys of such a file; an error, as a sentence,
    /// where the file cannot be parsed.
    pub fn configure(&mut self, file: &Path, text: &str, model: Option<&str>) -> Result<Option<Configured>, String> {
        let is_toml = file.extension().is_some_and(|extension| extension == "toml");
        let fits = |known: &&ConfigurationFile| match known.syntax {
            Syntax::Json | Syntax::Jsonc => !is_toml,
            Syntax::Toml => is_toml,
            Syntax::Environment | Syntax::PythonDictionary | Syntax::PythonCall | Syntax::Javascript | Syntax::Source => false,
        };
        let Some(keys) = self.configuration.iter().find(fits).map(|known| known.keys.clone()) else { return Ok(None) };
        let settings = parsed(text, is_toml).map_err(|reason| format!("{}: not read as settings: {reason}", file.display()))?;
        let mut configured = Configured::default();
        for (param, key) in &keys {
            let mut paths = key.paths();
            let Some((path, value)) = paths.find_map(|path| Some((path, at(&settings, path, model)?))) else { continue };
            let refused = |reason: &str| format!("{}: `{path}`: {reason}; the default is taken", file.display());
            let is_switch = self.params.get(param).is_some_and(Parameter::is_switch);
            let none = value.as_str().and_then(|word| key.number_of(word)).map(|none| none.to_string());
            match none.or_else(|| scalar(value).filter(|_| is_switch || !value.is_boolean())) {
                None if path.contains(MODEL) && model.is_none() => configured.refused.push(refused("it is set for single models")),
                None => configured.refused.push(refused(if is_switch { "it is neither true nor false" } else { "it is no number" })),
                Some(plain) => match self.set(param, &plain) {
                    Ok(()) => configured.set.push((param.clone(), plain)),
                    Err(error) => configured.refused.push(refused(&error.to_string())),
                },
            }
        }
        Ok(Some(configured))
    }
}

fn parsed(text: &str, is_toml: bool) -> Result<Value, String> {
    let first_line = |error: String| error.lines().next().unwrap_or_default().to_owned();
    if is_toml {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        return serde_json::to_value(table).map_err(|error| first_line(error.to_string()));
    }
    serde_json::from_str(&without_comments(text)).map_err(|error| first_line(error.to_string()))
}

/// Stands in a key for the name of the model.
const MODEL: &str = "{model}";

/// The value under keys with dots between them; `None` where the settings do not have it. What is set for single models is, where none is asked for, no value
/// that could be taken.
fn at<'v>(settings: &'v Value, path: &str, model: Option<&str>) -> Option<&'v Value> {
    let Some((outer, inner)) = path.split_once(MODEL) else { return under(settings, path) };
    let models = under(settings, outer.trim_end_matches('.'))?.as_object()?;
    let inner = inner.trim_start_matches('.');
    let is_meant = |known: &str| model.is_none_or(|model| is_spelled(model, known.split_once('[').map_or(known, |(known, _)| known)));
    let value = models.iter().filter(|(known, _)| is_meant(known)).find_map(|(_, entry)| under(entry, inner))?;
    Some(if model.is_some() { value } else { &Value::Null })
}

fn under<'v>(settings: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(settings, |value, name| value.get(name))
}

/// A number or a switch as it would be typed; numbers may stand in quotes, as variables of an environment do.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Bool(on) => Some(u8::from(*on).to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => {
            let word = text.trim();
            let is_number = word.parse::<f64>().is_ok_and(f64::is_finite);
            (is_number || is_switch_word(word)).then(|| word.to_owned())
        }
        _ => None,
    }
}

/// JSON without the comments and the commas before a closing bracket that some agents allow.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut in_string = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => in_string = !in_string,
            '\\' if in_string => {
                plain.push(letter);
                plain.extend(letters.next());
                continue;
            }
            '/' if !in_string && letters.peek() == Some(&'/') => {
                letters.by_ref().take_while(|letter| *letter != '\n').for_each(drop);
                plain.push('\n');
                continue;
            }
            '/' if !in_string && letters.peek() == Some(&'*') => {
                letters.next();
                let mut last = ' ';
                letters.by_ref().take_while(|letter| !(std::mem::replace(&mut last, *letter) == '*' && *letter == '/')).for_each(drop);
                continue;
            }
            '}' | ']' if !in_string => plain.truncate(plain.trim_end().strip_suffix(',').map_or(plain.len(), str::len)),
            _ => {}
        }
        plain.push(letter);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_go_and_strings_stay() {
        let text = "{ // one\n \"a\": \"// no, /* no */\", /* two */ \"b\": [1, 2,\n], \"c\": \"\\\"//\",\n}";
        let value: Value = serde_json::from_str(&without_comments(text)).unwrap();
        assert_eq!(value, serde_json::json!({ "a": "// no, /* no */", "b": [1, 2], "c": "\"//" }));
    }

    #[test]
    fn known_keys_are_taken_over_and_nonsense_is_told() {
        let mut policy = Policy::load("opencode@1.15").unwrap();
        let text = "{ \"compaction\": { \"auto\": false, \"reserved\": 12000, \"tail_turns\": \"all\" }, \"theme\": \"dark\" }";
        let configured = policy.configure(Path::new("opencode.json"), text, None).unwrap().unwrap();
        assert_eq!(configured.set, [("auto".to_owned(), "0".to_owned()), ("reserved".to_owned(), "12000".to_owned())]);
        assert_eq!(configured.refused.len(), 1);
        assert!(configured.refused[0].contains("compaction.tail_turns"), "{:?}", configured.refused);
        assert!(policy.configure(Path::new("opencode.json"), "{ nonsense", None).is_err());
        assert_eq!(Policy::load("none").unwrap().configure(Path::new("a.json"), "{}", None), Ok(None));
    }

    #[test]
    fn numbers_of_an_environment_stand_in_quotes() {
        let mut policy = Policy::load("claude-code@early").unwrap();
        let text = "{ \"env\": { \"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE\": \"70\", \"BASH_MAX_OUTPUT_LENGTH\": true } }";
        let configured = policy.configure(Path::new("settings.json"), text, None).unwrap().unwrap();
        assert_eq!(configured.refused.len(), 1, "a switch is no number: {:?}", configured.refused);
        assert_eq!(configured.set, [("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE".to_owned(), "70".to_owned())]);
    }

    /// As Claude Code's documentation has it: the environment before the model, the model before the rest, and `auto` for none of them.
    #[test]
    fn a_key_goes_before_another() {
        let read = |text: &str, model| {
            let mut policy = Policy::load("claude-code@at-limit").unwrap();
            let configured = policy.configure(Path::new("settings.json"), text, model).unwrap().unwrap();
            (policy.params["autoCompactWindow"].number(), configured.refused.len())
        };
        let general = r#""autoCompactWindow": 500000"#;
        let by_model = r#""modelSettings": { "claude-opus-5[1m]": { "autoCompactWindow": 300000 }, "claude-fable-5": { "autoCompactWindow": "auto" } }"#;
        let all = format!("{{ {general}, {by_model}, \"env\": {{ \"CLAUDE_CODE_AUTO_COMPACT_WINDOW\": \"200000\" }} }}");
        let some = format!("{{ {general}, {by_model} }}");
        assert_eq!(read(&all, Some("claude-opus-5")), (Some(200_000.0), 0));
        assert_eq!(read(&some, Some("claude-opus-5-20260724")), (Some(300_000.0), 0));
        assert_eq!(read(&some, Some("claude-opus-5-5")), (Some(500_000.0), 0));
        assert_eq!(read(&some, Some("claude-fable-5")), (Some(0.0), 0));
        assert_eq!(read(&some, None), (Some(0.0), 1), "of several models what holds for one of them is named");
    }
}
