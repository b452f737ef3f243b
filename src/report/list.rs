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

/// A list that is longer than a screen by its names alone, several a line, so that all of them are there.
pub fn by_name(list: Report) -> Report {
    let names: Vec<String> =
        list.rows.rows.each().filter_map(|row| if let Some(Cell::Name(name)) = row.first() { Some(name.clone()) } else { None }).collect();
    let sections = vec![Section::lines(vec![names.join(", ")]), Section::lines(vec!["What each of them is: --all".to_owned()])];
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
