//! How a table comes onto a page: which columns stand side by side, how wide they are, where words break.

use super::escape::{OLD_COMMAND, escape};
use crate::list::Arrange;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A page is never laid out for fewer columns than this.
pub const NARROWEST: usize = 40;

/// Between two columns, where there is room.
const GAP: usize = 2;

/// Sentences are not made narrower than this.
const NARROWEST_PROSE: usize = 16;

/// A column before it is laid out.
pub(super) struct Measured {
    /// Its widest cell, or its widest unbreakable piece of heading.
    pub width: usize,
    /// It names rows: repeated in each block.
    pub label: bool,
    /// Takes what is left of the page.
    pub prose: bool,
    /// Lower numbers come first.
    pub priority: u8,
    /// It has nothing to show.
    pub left_out: bool,
}

/// Columns that stand side by side.
pub(super) struct Block {
    /// Places of the columns in the table, each with its width.
    pub columns: Vec<(usize, usize)>,
    /// Character cells between two columns.
    pub gap: usize,
}

/// Lays columns out: all side by side where the page is wide enough, folded into blocks that repeat the labels where not.
pub(super) fn blocks(columns: &[Measured], page: usize) -> Vec<Block> {
    let page = page.max(NARROWEST);
    let shown = || (0..columns.len()).filter(|place| columns.get(*place).is_some_and(|column| !column.left_out));
    for gap in [GAP, 1] {
        let block = side_by_side(columns, shown().collect(), gap, page);
        if width(&block) <= page {
            return vec![block];
        }
    }
    let places = |label: bool| shown().filter(move |place| columns.get(*place).is_some_and(|column| column.label == label));
    let labels: Vec<usize> = places(true).collect();
    let mut waiting: Vec<usize> = places(false).collect();
    waiting.arrange_by_key(|place| columns.get(*place).map(|column| column.priority));
    let mut blocks: Vec<Block> = Vec::new();
    let mut here: Vec<usize> = labels.clone();
    for place in waiting {
        let wider: Vec<usize> = here.iter().copied().chain([place]).collect();
        if here.len() > labels.len() && width(&side_by_side(columns, wider.clone(), GAP, page)) > page {
            blocks.push(side_by_side(columns, std::mem::replace(&mut here, labels.clone()), GAP, page));
            here.push(place);
        } else {
            here = wider;
        }
    }
    blocks.push(side_by_side(columns, here, GAP, page));
    blocks
}

fn side_by_side(columns: &[Measured], places: Vec<usize>, gap: usize, page: usize) -> Block {
    let fixed = |place: &usize| columns.get(*place).filter(|column| !column.prose).map_or(0, |column| column.width);
    let taken: usize = places.iter().map(fixed).sum::<usize>() + gap * places.len().saturating_sub(1);
    let left = page.saturating_sub(taken).max(NARROWEST_PROSE);
    let width = |place: usize| columns.get(place).map_or(0, |column| if column.prose { column.width.min(left) } else { column.width });
    Block { columns: places.into_iter().map(|place| (place, width(place))).collect(), gap }
}

/// Width of a block in character cells.
pub(super) fn width(block: &Block) -> usize {
    block.columns.iter().map(|(_, width)| width).sum::<usize>() + block.gap * block.columns.len().saturating_sub(1)
}

/// Breaks a text into lines of this width: between words, though not between a number and its unit, at soft hyphens, and within a word only
/// where it is longer than a line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in unbroken(text) {
        let mut glue = " ";
        for (place, piece) in word.split('\u{ad}').enumerate() {
            if place > 0 {
                glue = "";
            }
            // Room is kept for the hyphen that a break after this piece would need.
            let hyphen = usize::from(word.contains('\u{ad}') && !word.ends_with(piece));
            add(&mut lines, glue, piece, hyphen, width);
        }
    }
    lines
}

/// The words of a text, a number as one with the short word behind it: "3.7 %", "12 kB", "4 of".
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(number) if is_number(number) && is_unit(word) => *number += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Digits with their sign, and with what they are counted in: "(-3.7", "$1,204", "62.5M". Nothing that ends a phrase.
fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let rest = digits.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ','));
    digits.starts_with(|letter: char| letter.is_ascii_digit()) && !digits.ends_with(['.', ',']) && matches!(rest, "" | "k" | "M" | "B")
}

fn is_unit(word: &str) -> bool {
    let unit = word.trim_end_matches(['.', ',', ';', ':', ')', '?']);
    unit == "%" || (1..=3).contains(&unit.chars().count()) && unit.chars().all(char::is_alphabetic)
}

fn add(lines: &mut Vec<String>, glue: &str, piece: &str, hyphen: usize, width: usize) {
    let Some(line) = lines.last_mut() else { return };
    if line.is_empty() || line.width() + glue.len() + piece.width() + hyphen <= width {
        if !line.is_empty() {
            line.push_str(glue);
        }
        line.push_str(piece);
    } else {
        if glue.is_empty() {
            line.push('-');
        }
        lines.push(piece.to_owned());
    }
    if lines.last().is_some_and(|line| line.width() > width) {
        let long = lines.pop().unwrap_or_default();
        lines.extend(cut_up(&long, width));
    }
}

/// A word in lines of this width. What stood within it begins a line then, and might be a command there.
fn cut_up(word: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut rest) = (String::new(), word);
    loop {
        let kept = fitting(rest, width.saturating_sub(line.width()));
        if kept == rest.len() || kept == 0 && line.is_empty() {
            lines.push(line + rest);
            return lines;
        }
        let (fits, behind) = rest.split_at(kept);
        lines.push(line + fits);
        let begun = behind.char_indices().nth(OLD_COMMAND.len()).map_or(behind.len(), |(place, _)| place);
        let (begun, behind) = behind.split_at(begun);
        (line, rest) = (escape(begun).into_owned(), behind);
    }
}

/// Shortens a text to this width: an ellipsis stands for its middle, for ids and paths differ at either end.
pub(super) fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let head = text.get(..fitting(text, room - room / 3)).unwrap_or_default();
    let backwards: String = text.chars().rev().collect();
    let tail = backwards.get(..fitting(&backwards, room / 3)).unwrap_or_default();
    format!("{head}…{}", tail.chars().rev().collect::<String>())
}

/// The bytes of a text that fit into this width.
fn fitting(text: &str, width: usize) -> usize {
    let mut taken = 0;
    for (place, letter) in text.char_indices() {
        taken += letter.width().unwrap_or(0);
        if taken > width {
            return place;
        }
    }
    text.len()
}

/// The least width of a heading: its longest piece, with the hyphen that may follow it.
pub(super) fn least_width(header: &str) -> usize {
    let piece = |word: &str| {
        let pieces: Vec<&str> = word.split('\u{ad}').collect();
        let last = pieces.len().saturating_sub(1);
        pieces.iter().enumerate().map(|(place, piece)| piece.width() + usize::from(place < last)).max().unwrap_or(0)
    };
    header.split_whitespace().map(piece).max().unwrap_or(0)
}
