//! Newer versions write a chat as a log of changes (`chatSessions/*.jsonl`): the whole of it in the first line, and in each further one what
//! was set, added to a list or deleted since.

use crate::format::ground::{Outline, ReadError, Source};
use serde::Deserialize;
use serde_json::Value;

/// Does the file begin with the whole of a chat?
pub(super) fn claims(outline: &Outline) -> bool {
    outline.shows("kind v.requests")
}

#[derive(Deserialize)]
struct Change {
    /// 0 is the whole chat, 1 sets, 2 adds to a list, 3 deletes.
    kind: u64,
    /// The path from the whole chat down to what changes.
    #[serde(default)]
    k: Vec<Step>,
    /// What is set, or the list of what is added.
    #[serde(default)]
    v: Value,
    /// Of the list, so many elements are kept before others are added; all where it is absent.
    i: Option<usize>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Step {
    Place(usize),
    Name(String),
}

/// The chat as it is after all changes.
pub(super) fn read(source: &mut Source) -> Result<Value, ReadError> {
    let mut chat = Value::Null;
    source.each_line(|source, line| {
        source.values(line, |change: Change, lose| {
            if !apply(&mut chat, change) {
                lose("change to what is not there");
            }
        });
    })?;
    Ok(chat)
}

/// Makes the change. False where its place does not exist.
fn apply(chat: &mut Value, change: Change) -> bool {
    match (change.kind, change.k.split_last()) {
        (0, _) => *chat = change.v,
        (1 | 3, Some((last, path))) => match (find(chat, path), last) {
            (Some(Value::Object(fields)), Step::Name(name)) if change.kind == 3 => drop(fields.remove(name)),
            (Some(Value::Object(fields)), Step::Name(name)) => drop(fields.insert(name.clone(), change.v)),
            (Some(Value::Array(list)), Step::Place(place)) if *place == list.len() => list.push(change.v),
            (Some(Value::Array(list)), Step::Place(place)) => match list.get_mut(*place) {
                Some(element) => *element = change.v,
                None => return false,
            },
            _ => return false,
        },
        (2, Some((last, path))) => {
            let Some(list) = find(chat, path).and_then(|place| list_at(place, last)) else { return false };
            list.truncate(change.i.unwrap_or(list.len()));
            if let Value::Array(added) = change.v {
                list.extend(added);
            }
        }
        _ => return false,
    }
    true
}

fn find<'v>(chat: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(chat, |value, step| match step {
        Step::Name(name) => value.get_mut(name.as_str()),
        Step::Place(place) => value.get_mut(*place),
    })
}

/// The list in this field or place; a field that is absent or null becomes one.
fn list_at<'v>(value: &'v mut Value, step: &Step) -> Option<&'v mut Vec<Value>> {
    let list = match (value, step) {
        (Value::Object(fields), Step::Name(name)) => fields.entry(name.as_str()).or_insert(Value::Null),
        (Value::Array(list), Step::Place(place)) => list.get_mut(*place)?,
        _ => return None,
    };
    if list.is_null() {
        *list = Value::Array(Vec::new());
    }
    list.as_array_mut()
}
