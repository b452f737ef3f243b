//! What the program knows, as a report: models, formats, presets, measures.

use super::document::{Cell, Report, Screen, Section, Table};
use super::record::any::{ListRecord, Record};
use crate::list::Gather;
use serde_json::{Value, json};

/// A table as a report that answers this question.
pub fn list(question: &'static str, title: String, table: Table) -> Report {
    let row = |row: &Vec<Cell>| table.columns.iter().zip(row).map(|(column, cell)| (column.key.to_owned(), value(cell))).gather();
    let record = ListRecord { question, rows: table.rows.iter().map(row).collect() };
    Report {
        title,
        command: None,
        sections: vec![Section::table(table.clone())],
        screen: None,
        unused: None,
        notes: Vec::new(),
        record: Record::List(Box::new(record)),
        rows: table,
        corpus: None,
    }
}

/// A list that is longer than a screen by its names alone, several a line, so that all of them are there: versions behind the first of their system.
pub fn by_name(list: Report) -> Report {
    let mut names = String::new();
    let mut last = String::new();
    for row in list.rows.rows.each() {
        let Some(Cell::Name(name)) = row.first() else { continue };
        let system = name.split('@').next().unwrap_or_default();
        match name.strip_prefix(last.as_str()).filter(|version| !names.is_empty() && version.starts_with('@')) {
            Some(version) => names += &format!(" {version}"),
            None if names.is_empty() => names += name,
            None => names += &format!(", {name}"),
        }
        system.clone_into(&mut last);
    }
    let versions = names.contains(" @").then(|| "`pi@1.5 @0.73` are `pi@1.5` and `pi@0.73`.".to_owned());
    let lines = versions.into_iter().chain(["What each of them is: --all".to_owned()]);
    let sections = vec![Section::lines(vec![names]), Section::lines(lines.collect())];
    Report { screen: Some(Screen { sections, ..Screen::default() }), ..list }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Count(number) | Cell::Tokens(number) => json!(number),
        Cell::SignedTokens(number) | Cell::Money(number) => json!(number),
        Cell::Share { part, whole } => json!({ "part": part, "whole": whole }),
        Cell::Text(text) | Cell::Name(text) => json!(text),
        Cell::Empty => Value::Null,
    }
}
