//! A report: typed cells, sentences, notes. It knows no width, no colour, no separator. Columns hold their cells: what stands under a head cannot stand under
//! another one.

use super::record::any::Record;
use super::record::corpus::CorpusRecord;
pub use crate::experiment::{Better, Provenance, Unit};
use crate::list::{List, Pack};
use serde::{Deserialize, Serialize};

/// What a question found out, ready for any rendering.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// One line: what was looked at.
    pub title: String,
    /// The command that makes this report again. Absent on a screen, where the user has just typed it.
    pub command: Option<String>,
    /// Tables, in the order in which they are read.
    pub sections: Vec<Section>,
    /// The first screen, where it is more than the beginning of the sections.
    pub screen: Option<Screen>,
    /// Files and records that were not used, in one sentence: the first screen says it too. Absent where all were.
    pub unused: Option<String>,
    /// Sentences below everything: what the numbers rest on and what was left out.
    pub notes: Vec<String>,
    /// The flat table for spreadsheets.
    pub rows: Table,
    /// The facts of the corpus, for programs. Absent where a document says nothing of the logs.
    pub corpus: Option<CorpusRecord>,
    /// The answer to the question, for programs.
    pub record: Record,
}

/// The answer within thirty lines of eighty columns. All else is behind `--details`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    /// One line on what was read, where that of the report is too long; empty for that of the report.
    pub title: String,
    /// Tables and sentences, in the order in which they are read; empty for those of the report.
    pub sections: Vec<Section>,
    /// What to type next, each with what it shows.
    pub next: Vec<(String, String)>,
    /// So many rows of each table are shown at the most, where several share the screen; 0 for the usual number.
    pub rows: usize,
    /// Rows of the first table that are shown wherever it is cut, by their places, the last of them given up first.
    pub held: Vec<usize>,
    /// Sentences of its sections that give way where the answer has no room, the first of them first. They stand below the notes of the whole report.
    pub spare: Vec<String>,
}

/// How much of a report is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// The first screen, rows cut to fit.
    #[default]
    Screen,
    /// The same with all rows of its tables.
    AllRows,
    /// Everything: all tables, all columns, exact figures, glossary and notes.
    Details,
}

impl Report {
    /// This report opened by how well the recording itself is reproduced. A first screen of its own, which opens with the answer, ends with that.
    pub fn opened_by(mut self, calibration: String) -> Report {
        if let Some(Screen { sections, spare, .. }) = self.screen.as_mut().filter(|screen| !screen.sections.is_empty()) {
            let last = sections.last_mut().map(|section| &mut section.body);
            match last {
                // What gives way stands below it.
                Some(Body::Lines(lines)) if lines.iter().all(|line| spare.contains(line)) => lines.insert(0, calibration.clone()),
                _ => sections.push(Section::lines(vec![calibration.clone()])),
            }
        }
        self.sections.insert(0, Section::lines(vec![calibration]));
        self
    }

    /// The same with what its first screen says to type next, each with what it shows.
    pub fn then(mut self, next: Vec<(String, String)>) -> Report {
        self.screen.get_or_insert_default().next = next;
        self
    }

    /// The same with a sentence on all its figures: on the first screen right below its first table, or else at the end of what opens it; and among the notes.
    pub fn said(mut self, sentence: Option<String>) -> Report {
        let Some(sentence) = sentence else { return self };
        let screen = self.screen.as_mut().map(|screen| &mut screen.sections).filter(|sections| !sections.is_empty());
        let sections = screen.unwrap_or(&mut self.sections);
        let found = sections.iter_mut().enumerate().find_map(|(place, section)| match &mut section.body {
            Body::Lines(lines) => Some((place, lines)),
            _ => None,
        });
        match found {
            Some((0, lines)) => lines.push(sentence.clone()),
            Some((_, lines)) => lines.insert(0, sentence.clone()),
            None => sections.push(Section::lines(vec![sentence.clone()])),
        }
        self.notes.insert(0, sentence);
        self
    }

    /// The sections of the first screen: its own, or else those of the report.
    pub fn on_screen(&self) -> &[Section] {
        self.own_screen().map_or(&self.sections, |screen| &screen.sections)
    }

    /// The first screen, where it has sections of its own.
    pub fn own_screen(&self) -> Option<&Screen> {
        self.screen.as_ref().filter(|screen| !screen.sections.is_empty())
    }
}

impl Section {
    /// Sentences without a heading.
    pub fn lines(lines: Vec<String>) -> Section {
        Section { title: String::new(), body: Body::Lines(lines) }
    }

    /// A table without a heading.
    pub fn table(table: Table) -> Section {
        Section { title: String::new(), body: Body::Table(table) }
    }

    /// What things are called and what they are, a line each, without headings.
    pub fn facts(facts: Vec<(&'static str, String)>) -> Section {
        let columns = vec![Column::name("fact", ""), Column::prose("what", "")];
        let rows = facts.into_iter().map(|(name, words)| vec![Cell::Name(name.to_owned()), Cell::Name(words)]).collect();
        Section { title: String::new(), body: Body::Table(Table { labels: 1, columns, rows }) }
    }
}

/// A part of a report with a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The heading; empty for none.
    pub title: String,
    /// The table, sentences or code below the heading.
    pub body: Body,
}

/// What a section holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Typed cells in rows and columns.
    Table(Table),
    /// Sentences, one a line.
    Lines(Vec<String>),
    /// A text to paste, as it stands, and the name of its language.
    Code(&'static str, String),
}

/// A table of typed cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// How many of the first columns name a row: they are repeated wherever a page is too narrow for all columns.
    pub labels: usize,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// The rows; each has a cell for each column.
    pub rows: List<Vec<Cell>>,
}

/// One column: what its cells mean and how they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name for programs.
    pub key: &'static str,
    /// Its heading for people. A soft hyphen (U+00AD) marks where a word may be broken.
    pub header: &'static str,
    /// What it says, for the legend; empty where the heading says it all.
    pub meaning: &'static str,
    /// The unit of the cells.
    pub unit: Unit,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// On a narrow page columns of a lower number come first.
    pub priority: u8,
    /// Which end of it is the good one.
    pub better: Better,
    /// Each of its cells is one picture, drawn in letters: it is never broken into lines.
    pub pictures: bool,
    /// The user named it: it is shown on any page.
    pub asked: bool,
    /// Its heading does not say what its words mean: the first screen does, where it shows the column.
    pub explained: bool,
}

/// A value and its unit, before it is written as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cell {
    /// A number of calls, events, sessions.
    Count(u64),
    /// A number of tokens.
    Tokens(u64),
    /// A difference in tokens.
    SignedTokens(i64),
    /// A share; of nothing, where `whole` is 0.
    Share {
        /// The upper number.
        part: i64,
        /// The lower number.
        whole: u64,
    },
    /// Money in thousand-millionths of a dollar.
    Money(i64),
    /// Words from a transcript: they may hold anything.
    Text(String),
    /// Words of the program or of the user.
    Name(String),
    /// An empty cell: no figure is known or none applies.
    Empty,
}

impl Pack for Vec<Cell> {}

impl Table {
    /// The table under a heading.
    pub fn titled(self, title: impl Into<String>) -> Section {
        Section { title: title.into(), body: Body::Table(self) }
    }

    /// The same; `None` where it has no row.
    pub fn section(self, title: impl Into<String>) -> Option<Section> {
        (!self.rows.is_empty()).then(|| self.titled(title))
    }

    /// The same with so many rows alone: those at the places that are held, and the first of the others.
    pub fn first(&self, rows: usize, held: &[usize]) -> Table {
        if held.is_empty() {
            return Table { rows: self.rows.head(rows), ..self.clone() };
        }
        let mut others = rows.saturating_sub(held.len());
        let mut is_shown = |place: &usize| {
            let is_one = !held.contains(place) && others > 0;
            others -= usize::from(is_one);
            is_one || held.contains(place)
        };
        let rows = self.rows.each().enumerate().filter(|(place, _)| is_shown(place)).map(|(_, row)| row.into_owned());
        Table { rows: rows.collect(), ..self.clone() }
    }

    /// The same with all its columns on any page: where that is too narrow, one group below the other.
    pub fn asked(mut self) -> Table {
        self.columns.iter_mut().for_each(|column| column.asked = true);
        self
    }

    /// The same without the columns behind its labels that hold nothing in any row.
    pub fn without_blank(self) -> Table {
        let is_filled = |place: usize| self.rows.each().any(|row| row.get(place).is_some_and(|cell| *cell != Cell::Empty));
        let filled = self.columns.iter().enumerate().skip(self.labels).filter(|(place, _)| is_filled(*place));
        let names: Vec<&str> = filled.map(|(_, column)| column.key).collect();
        self.clone().with_columns(&names)
    }

    /// The same with these columns alone behind its labels, in this order; with all of them where one of the names is `all`.
    pub fn with_columns(self, names: &[impl AsRef<str>]) -> Table {
        if names.iter().any(|name| name.as_ref() == "all") {
            return self;
        }
        let of_names = names.iter().filter_map(|name| self.columns.iter().position(|column| column.key == name.as_ref()));
        self.at((0..self.labels).chain(of_names).collect())
    }

    /// The same with the columns at these places alone, in this order.
    pub fn at(&self, places: Vec<usize>) -> Table {
        let columns = places.iter().filter_map(|place| self.columns.get(*place).cloned()).collect();
        let rows = self.rows.each().map(|row| places.iter().filter_map(|place| row.get(*place).cloned()).collect());
        Table { labels: self.labels, columns, rows: rows.collect() }
    }
}

impl Cell {
    /// Words of the program or of the user.
    pub fn name(name: &str) -> Cell {
        Cell::Name(name.to_owned())
    }

    /// Words from a transcript.
    pub fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    /// An amount of money.
    pub fn money(nano_usd: u64) -> Cell {
        Cell::Money(i64::try_from(nano_usd).unwrap_or(i64::MAX))
    }

    /// A share in millionths; empty where there is none.
    pub fn millionths(share: Option<u64>) -> Cell {
        share.map_or(Cell::Empty, |share| Cell::share(share, 1_000_000))
    }

    /// A share of two counts.
    pub fn share(part: u64, whole: u64) -> Cell {
        Cell::Share { part: i64::try_from(part).unwrap_or(i64::MAX), whole }
    }
}

impl Column {
    /// A column of names.
    pub const fn name(key: &'static str, header: &'static str) -> Column {
        let (unit, provenance) = (Unit::Name, Provenance::Recorded);
        Column {
            key,
            header,
            meaning: "",
            unit,
            provenance,
            priority: 0,
            better: Better::Neither,
            pictures: false,
            asked: false,
            explained: false,
        }
    }

    /// A column of sentences.
    pub const fn prose(key: &'static str, header: &'static str) -> Column {
        Column { unit: Unit::Prose, ..Column::name(key, header) }
    }

    /// A column of numbers.
    pub const fn number(key: &'static str, header: &'static str, unit: Unit, provenance: Provenance) -> Column {
        Column { unit, provenance, ..Column::name(key, header) }
    }

    /// A column of numbers that logs hold.
    pub const fn recorded(key: &'static str, header: &'static str, unit: Unit) -> Column {
        Column::number(key, header, unit, Provenance::Recorded)
    }

    /// A column of numbers that a replay makes.
    pub const fn simulated(key: &'static str, header: &'static str, unit: Unit) -> Column {
        Column::number(key, header, unit, Provenance::Simulated)
    }

    /// A column of numbers that are estimated.
    pub const fn estimated(key: &'static str, header: &'static str, unit: Unit) -> Column {
        Column::number(key, header, unit, Provenance::Estimated)
    }

    /// The same with a sentence for the legend.
    pub const fn says(self, meaning: &'static str) -> Column {
        Column { meaning, ..self }
    }

    /// The same with its place among the columns that a narrow page has room for.
    pub const fn priority(self, priority: u8) -> Column {
        Column { priority, ..self }
    }

    /// The same with its good end.
    pub const fn better(self, better: Better) -> Column {
        Column { better, ..self }
    }

    /// The heading without marks for breaking it.
    pub fn plain_header(&self) -> String {
        self.header.replace('\u{ad}', "")
    }
}

/// How a cell follows from a row.
type Read<'a, R> = Box<dyn Fn(&R) -> Cell + 'a>;

/// The columns of a table, each with how its cell follows from a row.
pub struct Fields<'a, R>(Vec<(Column, Read<'a, R>)>);

impl<'a, R> Fields<'a, R> {
    /// A table without columns.
    pub fn new() -> Fields<'a, R> {
        Fields(Vec::new())
    }

    /// Adds a column behind the others.
    pub fn with(mut self, column: Column, cell: impl Fn(&R) -> Cell + 'a) -> Fields<'a, R> {
        self.0.push((column, Box::new(cell)));
        self
    }

    /// These, and others behind them.
    pub fn and(mut self, others: Fields<'a, R>) -> Fields<'a, R> {
        self.0.extend(others.0);
        self
    }

    /// Those of these names alone, in their order.
    pub fn chosen(mut self, names: &[&str]) -> Fields<'a, R> {
        self.0.retain(|(column, _)| names.contains(&column.key));
        self
    }

    /// The table of some rows.
    pub fn table(self, labels: usize, rows: impl IntoIterator<Item = R>) -> Table {
        let cells = |row: R| self.cells(&row);
        Table { labels, rows: rows.into_iter().map(cells).collect(), columns: self.0.iter().map(|(column, _)| *column).collect() }
    }

    fn cells(&self, row: &R) -> Vec<Cell> {
        self.0.iter().map(|(_, cell)| cell(row)).collect()
    }
}
