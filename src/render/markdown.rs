//! For pages: GitHub's Markdown. Words of others stay words: nothing in them is markup.

use super::escape::escape;
use super::text::{figure, is_number};
use crate::report::{Body, Cell, Report, Section, Table};

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    if let Some(command) = &report.command {
        // A comment ends at two dashes and a bracket, which no command of ours holds once brackets are written as entities.
        out += &format!("<!-- {} -->\n\n", escape(command).replace('<', "&lt;").replace('>', "&gt;"));
    }
    out += &format!("**{}**\n", plain(&report.title));
    for section in &report.sections {
        out += "\n";
        out += &self::section(section);
    }
    out += "\n";
    for note in &report.notes {
        out += &format!("- {}\n", plain(note));
    }
    out
}

fn section(section: &Section) -> String {
    let heading = if section.title.is_empty() { String::new() } else { format!("### {}\n\n", plain(&section.title)) };
    let body = match &section.body {
        Body::Lines(lines) => lines.iter().map(|line| format!("- {}\n", plain(line))).collect(),
        Body::Code(language, code) => fenced(language, code),
        Body::Table(table) => self::table(table),
    };
    heading + &body
}

/// A block of code: its fence is longer than any in it.
fn fenced(language: &str, code: &str) -> String {
    let longest = code.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let lines: String = code.lines().map(|line| format!("{}\n", escape(line))).collect();
    format!("{fence}{language}\n{lines}{fence}\n")
}

fn table(table: &Table) -> String {
    let headers: Vec<String> = table.columns.iter().map(|column| plain(&column.plain_header())).collect();
    let rules: Vec<&str> = table.columns.iter().map(|column| if is_number(column) { "---:" } else { "---" }).collect();
    let mut out = format!("| {} |\n| {} |\n", headers.join(" | "), rules.join(" | "));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        out += &format!("| {} |\n", cells.join(" | "));
    }
    out
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) | Cell::Name(text) => plain(text),
        number => figure(number),
    }
}

/// Text in which Markdown and HTML find nothing to act upon.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in escape(text).chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' => out.extend(['\\', letter]),
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            other => out.push(other),
        }
    }
    out
}
