//! A table of runs: which file is of which task, and of which arm of the experiment.

use crate::list::Arrange;
use crate::policy::suggestion;
use std::collections::BTreeMap;

/// A table with a head, its columns parted by tabs, a run a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    columns: Vec<String>,
    /// The rows, in their order.
    pub rows: Vec<IndexRow>,
}

/// A run, and what the table says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexRow {
    /// Its file, as the table names it: beside the table.
    pub file: String,
    cells: BTreeMap<String, String>,
}

impl Index {
    /// Parses a table. The error is a sentence: a head without `file`, a row of another length, a file that stands in two rows.
    pub fn parse(text: &str) -> Result<Index, String> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let columns: Vec<String> = lines.next().map(|(_, head)| cells(head)).unwrap_or_default();
        if !columns.iter().any(|column| column == "file") {
            return Err("the first line names the columns, parted by tabs, and one of them is `file`".to_owned());
        }
        let mut rows: Vec<IndexRow> = Vec::new();
        for (number, line) in lines {
            let cells = cells(line);
            if cells.len() != columns.len() {
                return Err(format!("line {} has {} cells, and the head {}", number + 1, cells.len(), columns.len()));
            }
            let cells: BTreeMap<String, String> = columns.iter().cloned().zip(cells).collect();
            let file = cells.get("file").cloned().unwrap_or_default();
            if rows.iter().any(|row| row.file == file) {
                return Err(format!("line {} names {file} once more", number + 1));
            }
            rows.push(IndexRow { file, cells });
        }
        Ok(Index { columns, rows })
    }

    /// Is there such a column? The error is a sentence with the nearest name.
    pub fn check(&self, column: &str) -> Result<(), String> {
        if self.columns.iter().any(|known| known == column) {
            return Ok(());
        }
        let near = suggestion(column, self.columns.iter().map(String::as_str));
        Err(format!("no column is called `{column}`{near}; there are {}", self.columns.join(", ")))
    }

    /// The values of a column, each once: numbers by size, before words.
    pub fn values(&self, column: &str) -> Vec<String> {
        let number = |text: &str| text.parse::<f64>().map_or((true, 0.0), |number| (false, number));
        let mut values: Vec<String> = self.rows.iter().map(|row| row.cell(column).to_owned()).collect();
        values.arrange_by(|one, other| {
            let ((word, first), (other_word, second)) = (number(one), number(other));
            word.cmp(&other_word).then(first.total_cmp(&second)).then_with(|| one.cmp(other))
        });
        values.dedup();
        values
    }
}

impl IndexRow {
    /// A cell; empty where there is no such column.
    pub fn cell(&self, column: &str) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }
}

fn cells(line: &str) -> Vec<String> {
    line.split('\t').map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_by_its_head_and_numbers_are_ordered_by_size() {
        let index = Index::parse("file\tlimit\na\t20000\nb\t8000\n\nc\twide\nd\t8000\n").unwrap();
        assert_eq!((index.values("limit"), index.rows.len()), (["8000", "20000", "wide"].map(str::to_owned).to_vec(), 4));
        assert!(index.check("limt").unwrap_err().contains("`limit`"));
        for (text, said) in [("name\na", "`file`"), ("file\tx\na", "line 2"), ("file\na\na", "once more")] {
            assert!(Index::parse(text).unwrap_err().contains(said), "{text}");
        }
    }
}
