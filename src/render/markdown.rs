//! For pages: GitHub's Markdown. Words of others stay words: nothing in them is markup.

use super::chart::{Look, Size, Theme, svg};
use super::escape::{escape, markup};
use super::text::{figure, is_number};
use crate::report::chart::Chart;
use crate::report::{Body, Cell, Report, Section, Story, Table};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = report.command.as_deref().map(comment).unwrap_or_default();
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

/// Where the pictures of a summary are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// In files beside it, by relative paths: GitHub picks one by theme.
    Linked,
    /// In the summary itself, as data: one file to paste or to send.
    Inlined,
}

/// A story in short, for pull requests: the table of policies with the verdict, and the charts of these chapters.
pub fn summary(story: &Story<'_>, chapters: &[&str], pictures: Pictures) -> String {
    let mut out = story.command.as_deref().map(comment).unwrap_or_default();
    out += &format!("**{}**\n", plain(&story.title));
    for section in &story.brief {
        out += &format!("\n{}", self::section(section));
    }
    for chapter in story.chapters.iter().filter(|chapter| chapters.contains(&chapter.id) && !chapter.charts.is_empty()) {
        out += &format!("\n## {}\n\n", plain(chapter.title));
        chapter.lead.iter().for_each(|sentence| out += &format!("{}\n\n", plain(sentence)));
        chapter.charts.iter().for_each(|chart| out += &picture(chart, pictures));
    }
    out += "\n<details><summary>What the numbers rest on</summary>\n\n";
    story.notes.iter().for_each(|note| out += &format!("- {}\n", plain(note)));
    out += "\n</details>\n";
    out
}

fn picture(chart: &Chart, pictures: Pictures) -> String {
    let (kind, words) = (chart.kind, markup(&chart.title));
    match pictures {
        Pictures::Linked => format!(
            "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"charts/{kind}-dark.svg\"><img alt=\"{words}\" \
             src=\"charts/{kind}.svg\"></picture>\n\n"
        ),
        Pictures::Inlined => {
            let data = STANDARD.encode(svg(chart, Look { size: Size::MEDIUM, theme: Theme::Light }));
            format!("<img alt=\"{words}\" src=\"data:image/svg+xml;base64,{data}\">\n\n")
        }
    }
}

/// The command as a comment, which ends at two dashes and a bracket: no command of ours holds them once brackets are entities.
fn comment(command: &str) -> String {
    format!("<!-- {} -->\n\n", escape(command).replace('<', "&lt;").replace('>', "&gt;"))
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
    for row in table.rows.each() {
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

/// Text in which Markdown and HTML find nothing to act upon: no `@name` notifies its owner, and no address becomes a link.
fn plain(text: &str) -> String {
    let text = escape(text);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        match letter {
            '@' if calls(before, rest) => out += "@&#8203;",
            ':' if rest.starts_with("://") => out += "&#58;",
            '.' if out.len() >= 3 && out.get(out.len() - 3..).is_some_and(|www| www.eq_ignore_ascii_case("www")) => out += "&#46;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' => out.extend(['\\', letter]),
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            other => out.push(other),
        }
        before = letter;
    }
    out
}

/// Does this sign, with what follows, mention an account, or is it the sign in a mail address? That of a preset's version is neither.
fn calls(before: char, rest: &str) -> bool {
    let name: &str = rest.get(1..).unwrap_or_default();
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_').unwrap_or(name.len());
    let (name, after) = name.split_at(end);
    let is_mail = after.strip_prefix('.').is_some_and(|more| more.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    !name.is_empty() && (is_mail || !before.is_alphanumeric())
}
