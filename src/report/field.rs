//! Columns that hold their cells: what stands under a head cannot stand under another one.

use super::document::{Better, Body, Cell, Column, Section, Table};

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

impl Column {
    /// The same with a sentence for the legend.
    pub const fn says(self, meaning: &'static str) -> Column {
        Column { meaning, ..self }
    }

    /// The same with its good end.
    pub const fn better(self, better: Better) -> Column {
        Column { better, ..self }
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
}

impl Table {
    /// The table under a heading.
    pub fn titled(self, title: impl Into<String>) -> Section {
        Section { title: title.into(), body: Body::Table(self) }
    }

    /// The same; `None` where it has no row.
    pub fn section(self, title: impl Into<String>) -> Option<Section> {
        (!self.rows.is_empty()).then(|| self.titled(title))
    }
}
