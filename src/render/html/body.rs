//! What stands in a page: the verdict, then chapter after chapter, then what it rests on.

use super::calls::Packed;
use crate::list::Gather;
use crate::render::chart::{Look, Size, Theme, svg};
use crate::render::escape::markup;
use crate::render::text::{best, figure, is_number};
use crate::report::chart::Chart;
use crate::report::{Body, Cell, Chapter, Column, Section, Story, Table, Unit, counted, grouped};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The chapter that opens sessions.
const SESSIONS: &str = "sessions";

/// The chapter that the notes and the command belong to.
const METHOD: &str = "method";

/// The body of a page.
pub fn body(story: &Story<'_>, packed: Option<&Packed>) -> String {
    let mut out = String::from("<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<header>\n<div class=\"top\"><div>\n");
    let heading = if story.verdict.is_empty() { story.title.as_str() } else { "Context policies on recorded sessions" };
    out += &format!("<h1>{}</h1>\n", markup(heading));
    if !story.verdict.is_empty() {
        out += &format!("<p class=\"looked-at\">{}</p>\n", markup(&story.title));
    }
    out += "</div></div>\n";
    contents(&mut out, story);
    out += "</header>\n<main id=\"main\" tabindex=\"-1\">\n";
    if !story.verdict.is_empty() {
        out += "<div class=\"verdict\">\n";
        paragraphs(&mut out, &story.verdict);
        out += "</div>\n";
    }
    for chapter in &story.chapters {
        self::chapter(&mut out, chapter, packed);
        if chapter.id == METHOD {
            foundations(&mut out, story);
        }
        out += "</section>\n";
    }
    if !story.chapters.iter().any(|chapter| chapter.id == METHOD) {
        out += "<section>\n";
        foundations(&mut out, story);
        out += "</section>\n";
    }
    let plots = if packed.is_some() { " Plots by uPlot (MIT licence, in the source of this page)." } else { "" };
    out += &format!("</main>\n<footer><p>Made by ctxsim {}.{plots}</p></footer>\n", env!("CARGO_PKG_VERSION"));
    out
}

fn contents(out: &mut String, story: &Story<'_>) {
    let chapters: Vec<&Chapter> = story.chapters.iter().filter(|chapter| !chapter.title.is_empty()).collect();
    if chapters.len() < 2 {
        return;
    }
    *out += "<nav aria-label=\"Chapters\"><ul>\n";
    for chapter in chapters {
        let _ = writeln!(out, "<li><a href=\"#{}\">{}</a></li>", chapter.id, markup(chapter.title));
    }
    *out += "</ul></nav>\n";
}

/// A chapter, left open at its end.
fn chapter(out: &mut String, chapter: &Chapter, packed: Option<&Packed>) {
    let _ = writeln!(out, "<section id=\"{}\">", chapter.id);
    if !chapter.title.is_empty() {
        let _ = writeln!(out, "<h2>{}</h2>", markup(chapter.title));
    }
    // Where sessions can be opened, the table that stands here is replaced by one that opens them.
    let kept = if chapter.id == SESSIONS && packed.is_some() { "<div class=\"static\">\n" } else { "<div>\n" };
    if let Some(packed) = packed.filter(|packed| chapter.id == SESSIONS && packed.unlisted > 0) {
        let unlisted = counted(packed.unlisted as u64, "session");
        let _ = writeln!(out, "<p>The worst sessions are listed here: {unlisted} with less to see are in sessions.csv alone.</p>");
    }
    if let Some(packed) = packed.filter(|packed| chapter.id == SESSIONS && packed.left_out > 0) {
        let without = counted(packed.left_out as u64, "session");
        let _ = writeln!(
            out,
            "<p>The page would grow too large with the calls of all {} sessions: {without} cannot be opened here, those with the least to \
             see. Their figures are in the table all the same, and a report on their files alone opens them.</p>",
            grouped(packed.sessions as u64)
        );
    }
    if !chapter.charts.is_empty() {
        *out += "<div class=\"charts\">\n";
        chapter.charts.iter().for_each(|chart| figure_of(out, chart));
        *out += "</div>\n";
    }
    *out += kept;
    paragraphs(out, &chapter.lead);
    for section in &chapter.sections {
        self::section(out, section);
    }
    *out += "</div>\n";
}

/// What the numbers rest on, and how they are made again.
fn foundations(out: &mut String, story: &Story<'_>) {
    if !story.notes.is_empty() {
        *out += "<h3>What the numbers rest on</h3>\n<ul class=\"notes\">\n";
        story.notes.iter().for_each(|note| {
            let _ = writeln!(out, "<li>{}</li>", markup(note));
        });
        *out += "</ul>\n";
    }
    if let Some(command) = &story.command {
        let _ = writeln!(out, "<h3>The command that makes this again</h3>\n<pre><code>{}</code></pre>", markup(command));
    }
}

fn paragraphs(out: &mut String, sentences: &[String]) {
    sentences.iter().for_each(|sentence| {
        let _ = writeln!(out, "<p>{}</p>", markup(sentence));
    });
}

/// A chart in both themes, of which the page shows the one that fits. How it is read stands below as text; what it rests on the page says once.
fn figure_of(out: &mut String, chart: &Chart) {
    let drawn = Chart { notes: Vec::new(), rests_on: Vec::new(), ..chart.clone() };
    *out += "<figure tabindex=\"0\">\n";
    for (class, theme) in [("light", Theme::Light), ("dark", Theme::Dark)] {
        let size = Size::SMALL;
        let packed = STANDARD.encode(svg(&drawn, Look { size, theme }));
        let _ = writeln!(
            out,
            "<img class=\"{class}\" width=\"{}\" height=\"{}\" alt=\"{}\" src=\"data:image/svg+xml;base64,{packed}\">",
            size.width,
            size.height,
            markup(&format!("{}. {}", chart.title, chart.subtitle))
        );
    }
    if !chart.notes.is_empty() {
        let _ = writeln!(out, "<figcaption>{}</figcaption>", markup(&chart.notes.join(" ")));
    }
    *out += "</figure>\n";
}

fn section(out: &mut String, section: &Section) {
    if !section.title.is_empty() {
        let _ = writeln!(out, "<h3>{}</h3>", markup(&section.title));
    }
    match &section.body {
        Body::Lines(lines) => paragraphs(out, lines),
        Body::Code(_, code) => {
            let lines: Vec<String> = code.lines().map(markup).collect();
            let _ = writeln!(out, "<pre><code>{}</code></pre>", lines.join("\n"));
        }
        Body::Table(table) => {
            for part in folded(table) {
                self::table(out, &part, &section.title);
            }
            legend(out, table);
        }
    }
}

/// So many columns beside the names of rows stand side by side in a window of usual width.
const COLUMNS: usize = 16;

/// A table in parts that a window shows without scrolling, each with the names of the rows: what matters most comes first.
fn folded(table: &Table) -> Vec<Table> {
    let (labels, figures) = table.columns.split_at(table.labels.min(table.columns.len()));
    if figures.len() <= COLUMNS {
        return vec![table.clone()];
    }
    let priorities: BTreeSet<u8> = figures.iter().map(|column| column.priority).gather();
    let of = |priority: u8| {
        (labels.len()..table.columns.len()).filter(move |place| table.columns.get(*place).is_some_and(|column| column.priority == priority))
    };
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for priority in priorities {
        match parts.last_mut().filter(|part| part.len() + of(priority).count() <= COLUMNS) {
            Some(part) => part.extend(of(priority)),
            None => parts.push(of(priority).collect()),
        }
    }
    let part = |mut places: Vec<usize>| {
        places.extend(0..labels.len());
        places.sort_unstable();
        table.at(places)
    };
    parts.into_iter().map(part).collect()
}

fn table(out: &mut String, table: &Table, title: &str) {
    let name = if title.is_empty() { "Table" } else { title };
    // What can be scrolled can be reached by keyboard.
    let _ =
        writeln!(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table class=\"sortable\">", markup(name));
    *out += "<thead><tr>";
    for column in &table.columns {
        let class = if is_number(column) { " class=\"number\"" } else { "" };
        let _ =
            write!(out, "<th scope=\"col\"{class}>{}</th>", column.header.split('\u{ad}').map(markup).collect::<Vec<_>>().join("&shy;"));
    }
    *out += "</tr></thead>\n<tbody>\n";
    let best = best(table);
    for (row, cells) in table.rows.iter().enumerate() {
        *out += "<tr>";
        for (place, (cell, column)) in cells.iter().zip(&table.columns).enumerate() {
            let shown = markup(&figure(cell));
            let _ = match place {
                0 if table.labels > 0 => write!(out, "<th scope=\"row\">{shown}</th>"),
                _ => {
                    let best = if best.contains(&(row, place)) { " best" } else { "" };
                    write!(out, "<td class=\"{}{best}\"{}>{shown}</td>", class(column), value(cell))
                }
            };
        }
        *out += "</tr>\n";
    }
    *out += "</tbody>\n</table>\n</div>\n";
}

fn class(column: &Column) -> &'static str {
    match column.unit {
        Unit::Name if column.pictures => "name whole",
        Unit::Name => "name",
        Unit::Prose => "prose",
        Unit::Count | Unit::Tokens | Unit::Share | Unit::Money => "number",
    }
}

/// The attribute by which a cell sorts; none where its words do.
fn value(cell: &Cell) -> String {
    match cell {
        Cell::Count(number) | Cell::Tokens(number) => format!(" data-value=\"{number}\""),
        Cell::SignedTokens(number) | Cell::Money(number) => format!(" data-value=\"{number}\""),
        Cell::Share { part, whole } if *whole > 0 => format!(" data-value=\"{:.9}\"", *part as f64 / *whole as f64),
        Cell::Share { .. } | Cell::Empty => " data-value=\"\"".to_owned(),
        Cell::Text(_) | Cell::Name(_) => String::new(),
    }
}

/// What the headings mean, and where their numbers come from.
fn legend(out: &mut String, table: &Table) {
    let explained: Vec<&Column> = table.columns.iter().filter(|column| !column.meaning.is_empty()).collect();
    if explained.is_empty() {
        return;
    }
    *out += "<details class=\"legend\"><summary>What the columns say</summary><dl>\n";
    for column in explained {
        let (header, source) = (column.plain_header(), column.provenance.name());
        let _ = writeln!(out, "<dt>{}</dt><dd>{} ({source})</dd>", markup(&header), markup(column.meaning));
    }
    *out += "</dl></details>\n";
}
