//! What was read again after recorded compactions, beside what references call needed: how far the method can be trusted.

use super::document::{Body, Cell, Column, Fields, Section, Table, Unit};
use super::words::{counted, grouped};
use crate::experiment::{Basis, Group, ReadAgain};

/// A table of the groups, below a sentence; nothing where nothing was read.
pub fn sections(found: &ReadAgain) -> Vec<Section> {
    if found.groups.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "{} that only look at something, {} of them for the same as an earlier one; {} looked at",
        counted(found.readings, "call"),
        grouped(found.repeated),
        counted(found.compactions, "recorded compaction"),
    )];
    if found.prunings > 0 {
        lines.push(format!("{} not looked at", counted(found.prunings, "recorded pruning")));
    }
    let title = "Read again after a recorded compaction".to_owned();
    vec![Section { title, body: Body::Lines(lines) }, Section::table(table(found))]
}

/// What the table rests on.
pub const NOTE: &str = "Read again: the result of a reading call before a recorded compaction, and whether the same call was made again after it. `Taken up by lines` \
     counts replies before any such reading; `at any time` counts replies after it as well, which is circular for what was removed. Undisturbed sessions are \
     looked at from their middle on. Intervals (90 %, Wilson) take results for independent, so they are too narrow.";

fn table(found: &ReadAgain) -> Table {
    let count = |key, header, meaning| Column::recorded(key, header, Unit::Count).says(meaning);
    let part = |key, header, meaning| Column::recorded(key, header, Unit::Share).says(meaning);
    Fields::<&Group>::new()
        .with(Column::name("standing", "result"), |group| Cell::name(group.standing.name()))
        .with(Column::name("taken_up", "later taken up"), |group| {
            let basis = match group.basis {
                Basis::Lines => "by lines",
                Basis::Names => "by names",
                Basis::LinesAnyTime => "by lines, at any time",
            };
            Cell::Name(if group.taken_up { basis.to_owned() } else { format!("not {basis}") })
        })
        .with(count("results", "results", ""), |group| Cell::Count(group.results))
        .with(count("sessions", "sessions", ""), |group| Cell::Count(group.sessions))
        .with(count("again", "again", "asked for again with the same tool and arguments"), |group| Cell::Count(group.again))
        .with(part("again_share", "share", "the same as a share"), |group| Cell::share(group.again, group.results))
        .with(part("low", "from", ""), |group| Cell::millionths(group.interval().map(|(low, _)| low)))
        .with(part("high", "to", ""), |group| Cell::millionths(group.interval().map(|(_, high)| high)))
        .with(part("file_share", "file again", "share whose file was read again, with whatever arguments"), |group| {
            Cell::share(group.file_again, group.results)
        })
        .table(2, &found.groups)
}
