//! Values under keys within keys, as JSON and TOML have them.

/// A key with its value as it is written.
pub struct Setting<'a> {
    /// Keys from the outermost on, with dots between them.
    pub path: &'a str,
    /// The value as a JSON or TOML literal; what is none is a text.
    pub value: String,
}

/// A value below these keys, the outermost first.
pub fn json(settings: &[Setting<'_>]) -> serde_json::Value {
    let mut root = serde_json::Map::new();
    for setting in settings {
        let value = serde_json::from_str(&setting.value).unwrap_or_else(|_| serde_json::Value::String(setting.value.clone()));
        put_json(&mut root, &setting.path.split('.').collect::<Vec<_>>(), value);
    }
    serde_json::Value::Object(root)
}

fn put_json(table: &mut serde_json::Map<String, serde_json::Value>, keys: &[&str], value: serde_json::Value) {
    match keys {
        [] => {}
        [key] => {
            table.insert((*key).to_owned(), value);
        }
        [key, rest @ ..] => {
            let inner = table.entry((*key).to_owned()).or_insert_with(|| serde_json::Value::Object(serde_json::Map::new()));
            if let serde_json::Value::Object(inner) = inner {
                put_json(inner, rest, value);
            }
        }
    }
}

/// The same values as a TOML table.
pub fn toml(settings: &[Setting<'_>]) -> toml::Table {
    let mut root = toml::Table::new();
    for setting in settings {
        let parsed = format!("value = {}", setting.value).parse::<toml::Table>().ok().and_then(|mut table| table.remove("value"));
        let value = parsed.unwrap_or_else(|| toml::Value::String(setting.value.clone()));
        put_toml(&mut root, &setting.path.split('.').collect::<Vec<_>>(), value);
    }
    root
}

fn put_toml(table: &mut toml::Table, keys: &[&str], value: toml::Value) {
    match keys {
        [] => {}
        [key] => {
            table.insert((*key).to_owned(), value);
        }
        [key, rest @ ..] => {
            let inner = table.entry((*key).to_owned()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if let toml::Value::Table(inner) = inner {
                put_toml(inner, rest, value);
            }
        }
    }
}
