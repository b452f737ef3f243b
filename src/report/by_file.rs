//! Files that are read again and again, a row each.

use super::document::{Better, Cell, Column, Fields, Table, Unit};
use super::words::{counted, grouped};
use crate::corpus::Corpus;
use crate::experiment::FileReadings;

/// The table of all files.
pub fn table(corpus: &Corpus, files: &[FileReadings]) -> Table {
    let tokens = |key, header, meaning| Column::estimated(key, header, Unit::Tokens).says(meaning);
    let session = |file: &&FileReadings| corpus.traces.at(file.session).map_or(Cell::Empty, |trace| Cell::text(&trace.id));
    let name = |file: &&FileReadings| match &file.path {
        Some(path) => Cell::text(path),
        None => Cell::Name(format!("file {}", u64::from(file.file) + 1)),
    };
    let again = "readings while an earlier result of the file still stood in the recorded context";
    Fields::<&FileReadings>::new()
        .with(Column::name("session", "session"), session)
        .with(Column::name("file", "file"), name)
        .with(Column::recorded("readings", "readings", Unit::Count).says("calls that only look at it"), |file| Cell::Count(file.readings))
        .with(tokens("tokens", "tokens", "of all results"), |file| Cell::Tokens(file.tokens))
        .with(Column::recorded("again", "read again", Unit::Count).says(again).better(Better::Less), |file| Cell::Count(file.again))
        .with(
            tokens("again_tokens", "tokens twice", "of those earlier results: as many at most are there twice").better(Better::Less),
            |file| Cell::Tokens(file.again_tokens),
        )
        .table(2, files)
}

/// What all of them come to, in a sentence.
pub fn in_short(files: &[FileReadings]) -> String {
    let sum = |of: fn(&FileReadings) -> u64| files.iter().map(of).sum::<u64>();
    format!(
        "{} of {}; {} came while an earlier result of the file still stood in the context, {} tokens of such results.",
        counted(sum(|file| file.readings), "reading"),
        counted(files.len() as u64, "file"),
        grouped(sum(|file| file.again)),
        grouped(sum(|file| file.again_tokens)),
    )
}
