//! For terminals: aligned columns that fit the page, the legend once, the notes below.

use super::escape::escape;
use super::layout::{Block, Measured, blocks, least_width, shorten, width, wrap};
use crate::list::Gather;
use crate::report::{Better, Body, Cell, Column, Report, Section, Table, Unit, dollars, grouped, percent, short_dollars, three_digits};
use std::borrow::Cow;
use std::collections::BTreeSet;
use unicode_width::UnicodeWidthStr;

/// The page that a report is laid out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Character cells in a line of the page.
    pub width: usize,
    /// May the best cell of a column be set off?
    pub emphasis: Emphasis,
    /// Is all of a table told, to the last digit?
    pub figures: Figures,
}

/// How much of a table is shown, and how exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Figures {
    /// All columns, folded where the page is narrow, and exact figures.
    #[default]
    Exact,
    /// The columns that stand side by side, and three digits.
    ThreeDigits,
}

/// How things are set off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emphasis {
    /// Like the text around.
    #[default]
    Plain,
    /// In bold letters, by terminal escapes.
    Bold,
}

/// So much is left of a word on a screen that is wider than its line.
const WORD: usize = 40;

impl Page {
    /// A text as this page has it. On a screen a name that would take several lines is shortened: the answer has to stay on it.
    fn words<'a>(&self, text: &'a str, width: usize) -> Cow<'a, str> {
        let is_wide = |word: &str| word.len() > width && word.width() > width;
        if self.figures == Figures::Exact || !text.split(' ').any(is_wide) {
            return Cow::Borrowed(text);
        }
        let word = |word| if is_wide(word) { Cow::Owned(shorten(word, WORD.min(width))) } else { Cow::Borrowed(word) };
        Cow::Owned(text.split(' ').map(word).collect::<Vec<_>>().join(" "))
    }
}

/// The report as text.
pub fn text(report: &Report, page: Page) -> String {
    let mut out = String::new();
    if let Some(command) = &report.command {
        out += &format!("$ {}\n\n", escape(command));
    }
    paragraph(&mut out, &report.title, "", page);
    let mut explained = BTreeSet::new();
    for section in &report.sections {
        out.push('\n');
        self::section(&mut out, section, page, &mut explained);
    }
    if !report.notes.is_empty() {
        out.push('\n');
    }
    let stands = |line: &String| report.sections.iter().any(|one| matches!(&one.body, Body::Lines(lines) if lines.contains(line)));
    let spare =
        report.screen.iter().flat_map(|screen| &screen.spare).filter(|line| !stands(line)).map(|line| line.trim_start_matches("! "));
    for note in report.notes.iter().map(String::as_str).chain(spare) {
        paragraph(&mut out, note, "- ", page);
    }
    out
}

/// A sentence in lines of the page.
pub fn prose(sentence: &str, page: Page) -> String {
    item("", sentence, page)
}

/// The same behind a mark, its later lines set in under the first.
pub fn item(mark: &str, sentence: &str, page: Page) -> String {
    let mut out = String::new();
    paragraph(&mut out, sentence, mark, page);
    out
}

/// A section by itself, not wrapped.
pub fn section_alone(section: &Section) -> String {
    let mut out = String::new();
    self::section(&mut out, section, Page { width: usize::MAX, emphasis: Emphasis::Plain, figures: Figures::Exact }, &mut BTreeSet::new());
    out
}

/// Writes a section, and gives the places of the columns that its table shows.
pub(super) fn section(out: &mut String, section: &Section, page: Page, explained: &mut BTreeSet<&'static str>) -> BTreeSet<usize> {
    if !section.title.is_empty() {
        paragraph(out, &section.title, "", page);
        out.push('\n');
    }
    match &section.body {
        Body::Lines(lines) => lines.iter().for_each(|line| paragraph(out, line, "", page)),
        // Nothing is wrapped: it is to be pasted.
        Body::Code(_, code) => code.lines().for_each(|line| *out += &format!("{}\n", escape(line))),
        Body::Table(table) => {
            let shown = self::table(out, table, page);
            if page.figures == Figures::Exact {
                legend(out, table, page, &shown, explained);
            }
            return shown;
        }
    }
    BTreeSet::new()
}

/// A paragraph, its later lines set in under the first.
pub(super) fn paragraph(out: &mut String, text: &str, mark: &str, page: Page) {
    let width = page.width.saturating_sub(mark.len());
    for (place, line) in wrap(&page.words(&escape(text), width), width).iter().enumerate() {
        let indent = if place == 0 { mark.to_owned() } else { " ".repeat(mark.len()) };
        out.push_str(format!("{indent}{line}").trim_end());
        out.push('\n');
    }
}

/// What the headings of the columns that are shown mean, each explained once in a report. A first screen has room for few of them.
pub(super) fn legend(out: &mut String, table: &Table, page: Page, shown: &BTreeSet<usize>, explained: &mut BTreeSet<&'static str>) {
    let is_told = |column: &Column| !column.meaning.is_empty() && (page.figures == Figures::Exact || column.explained);
    let told =
        table.columns.iter().enumerate().filter(|(place, column)| shown.contains(place) && is_told(column)).map(|(_, column)| column);
    let fresh = told.filter(|column| explained.insert(column.key));
    let words: Vec<String> = fresh.map(|column| format!("{}: {}", column.plain_header(), column.meaning)).collect();
    if !words.is_empty() {
        out.push('\n');
        paragraph(out, &format!("{}.", words.join("; ")), "", page);
    }
}

/// A table by itself, without legend.
pub fn table_alone(table: &Table, page: Page) -> String {
    let mut out = String::new();
    self::table(&mut out, table, page);
    out
}

/// Writes a table, and gives the places of the columns that the page shows.
fn table(out: &mut String, table: &Table, page: Page) -> BTreeSet<usize> {
    let told = |cell: &Cell| match page.figures {
        Figures::Exact => figure(cell),
        Figures::ThreeDigits => short(cell),
    };
    let cells: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().map(told).collect()).collect();
    let is_whole = page.figures == Figures::Exact || table.columns.iter().any(|column| column.asked);
    let names = table.columns.iter().take(table.labels).filter(|column| column.unit == Unit::Name).count().max(1);
    // Names are shortened so far that at least half of the page is left for numbers.
    let longest_name = (page.width / 2 / names).max(8);
    let measured: Vec<Measured> = table
        .columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            let widest = cells.iter().filter_map(|row| row.get(place)).map(|cell| cell.width()).max().unwrap_or(0);
            let words = table.rows.iter().zip(&cells).map(|(row, cells)| longest_word(row.get(place), cells.get(place)));
            // Beside a label of half the page stands a gap.
            let longest_name = if place < table.labels { longest_name } else { longest_name.saturating_sub(2) };
            let longest_name = longest_name.max(words.max().unwrap_or(0).min(page.width / 2));
            let widest = if column.unit == Unit::Name { widest.min(longest_name) } else { widest };
            Measured {
                width: widest.max(least_width(column.header)),
                label: place < table.labels,
                prose: column.unit == Unit::Prose,
                priority: column.priority,
                left_out: !is_whole
                    && place >= table.labels
                    && !cells.is_empty()
                    && cells.iter().all(|row| row.get(place).is_none_or(String::is_empty)),
            }
        })
        .collect();
    let best = if page.emphasis == Emphasis::Bold { best(table) } else { BTreeSet::new() };
    let all = blocks(&measured, page.width);
    let shown = if is_whole { all.len() } else { 1 };
    for (place, block) in all.iter().take(shown).enumerate() {
        if place > 0 {
            out.push('\n');
        }
        // Facts need no headings.
        if table.columns.iter().any(|column| !column.header.is_empty()) {
            headings(out, table, block);
        }
        for (row, cells) in cells.iter().enumerate() {
            let is_whole =
                |column: usize| table.rows.get(row).and_then(|row| row.get(column)).is_some_and(|cell| matches!(cell, Cell::Name(_)));
            self::row(out, page, table, block, cells, is_whole, |column| best.contains(&(row, column)));
        }
    }
    all.iter().take(shown).flat_map(|block| &block.columns).map(|(place, _)| *place).gather()
}

fn headings(out: &mut String, table: &Table, block: &Block) {
    let header = |place: usize| table.columns.get(place).map_or("", |column| column.header);
    let mut wrapped: Vec<Vec<String>> = block.columns.iter().map(|(place, width)| wrap(header(*place), *width)).collect();
    let lines = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    // Headings stand on the rule, so that short ones have their blank lines above.
    wrapped.iter_mut().for_each(|header| drop(header.splice(0..0, vec![String::new(); lines - header.len()])));
    side_by_side(out, table, block, &wrapped, |_| false);
    out.push_str(&"─".repeat(width(block)));
    out.push('\n');
}

/// The longest word of a name of the program's own, which is never shortened; 0 for all other cells.
fn longest_word(cell: Option<&Cell>, text: Option<&String>) -> usize {
    match (cell, text) {
        (Some(Cell::Name(_)), Some(text)) => text.split_whitespace().map(UnicodeWidthStr::width).max().unwrap_or(0),
        _ => 0,
    }
}

/// A row. What comes from a transcript is shortened where there is no room for it; sentences and names of the program's own, such as
/// settings that are to be typed again, are wrapped.
fn row(
    out: &mut String,
    page: Page,
    table: &Table,
    block: &Block,
    cells: &[String],
    is_whole: impl Fn(usize) -> bool,
    is_best: impl Fn(usize) -> bool,
) {
    let wrapped = block.columns.iter().map(|(place, width)| {
        let text = cells.get(*place).map_or("", String::as_str);
        let column = table.columns.get(*place);
        let wraps = column.is_some_and(|column| column.unit == Unit::Prose) || is_whole(*place);
        if wraps { wrap(&page.words(text, *width), *width) } else { vec![shorten(text, *width)] }
    });
    side_by_side(out, table, block, &wrapped.collect::<Vec<_>>(), is_best);
}

/// Writes the columns of a block, each broken into lines, line by line.
fn side_by_side(out: &mut String, table: &Table, block: &Block, wrapped: &[Vec<String>], is_best: impl Fn(usize) -> bool) {
    for line in 0..wrapped.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = block.columns.iter().zip(wrapped).map(|((place, width), texts)| {
            let text = texts.get(line).map_or("", String::as_str);
            let cell = aligned(table.columns.get(*place), text, *width);
            if is_best(*place) && !text.is_empty() { format!("\u{1b}[1m{cell}\u{1b}[0m") } else { cell }
        });
        out.push_str(cells.collect::<Vec<_>>().join(&" ".repeat(block.gap)).trim_end());
        out.push('\n');
    }
}

fn aligned(column: Option<&Column>, text: &str, width: usize) -> String {
    let blank = " ".repeat(width.saturating_sub(text.width()));
    if column.is_some_and(is_number) { format!("{blank}{text}") } else { format!("{text}{blank}") }
}

/// Does a column hold numbers?
pub(super) fn is_number(column: &Column) -> bool {
    matches!(column.unit, Unit::Count | Unit::Tokens | Unit::Share | Unit::Money)
}

/// A cell as people read it.
pub(super) fn figure(cell: &Cell) -> String {
    match cell {
        Cell::Count(number) | Cell::Tokens(number) => grouped(*number),
        Cell::SignedTokens(number) if *number < 0 => format!("-{}", grouped(number.unsigned_abs())),
        Cell::SignedTokens(number) => grouped(number.unsigned_abs()),
        Cell::Share { part, whole } => percent(*part, *whole),
        Cell::Money(nano_usd) => dollars(*nano_usd),
        Cell::Text(text) | Cell::Name(text) => escape(text).into_owned(),
        Cell::Empty => String::new(),
    }
}

/// A cell in three digits.
fn short(cell: &Cell) -> String {
    match cell {
        Cell::Tokens(number) => three_digits(*number),
        Cell::SignedTokens(number) if *number < 0 => format!("-{}", three_digits(number.unsigned_abs())),
        Cell::SignedTokens(number) => three_digits(number.unsigned_abs()),
        Cell::Money(nano_usd) => short_dollars(*nano_usd),
        cell => figure(cell),
    }
}

/// The best cells of columns that have a good end, where the rows differ.
pub(super) fn best(table: &Table) -> BTreeSet<(usize, usize)> {
    let mut best = BTreeSet::new();
    for (place, column) in table.columns.iter().enumerate() {
        // What an agent without any policy would have done is no choice.
        let is_none = |row: &[Cell]| matches!(row.first(), Some(Cell::Name(name)) if ["none", "no policy"].contains(&name.split(" at ").next().unwrap_or_default()));
        let rank = |row: &Vec<Cell>| row.get(place).filter(|_| !is_none(row)).and_then(rank);
        let ranks: Vec<Option<i128>> = table.rows.iter().map(rank).collect();
        let (least, most) = (ranks.iter().flatten().min(), ranks.iter().flatten().max());
        let wanted = match column.better {
            Better::Less => least,
            Better::More => most,
            Better::Neither => None,
        };
        if least != most
            && let Some(wanted) = wanted
        {
            best.extend(ranks.iter().enumerate().filter(|(_, rank)| rank.as_ref() == Some(wanted)).map(|(row, _)| (row, place)));
        }
    }
    best
}

/// A number by which cells of a column compare.
fn rank(cell: &Cell) -> Option<i128> {
    match cell {
        Cell::Count(number) | Cell::Tokens(number) => Some(i128::from(*number)),
        Cell::SignedTokens(number) | Cell::Money(number) => Some(i128::from(*number)),
        // Shares compare to the decimal that is shown and beyond.
        Cell::Share { part, whole } => (i128::from(*part) * 1_000_000_000).checked_div(i128::from(*whole)),
        Cell::Text(_) | Cell::Name(_) | Cell::Empty => None,
    }
}
