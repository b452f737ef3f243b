//! What of a text can be recognised in a later one: its lines and its identifiers, hashed. `docs/references.md` gives the rules.

use super::json_strings::{JsonString, escapes, json_strings};
use super::kind::in_brackets;
use super::readings::only_looks;
use super::wanted::Recall;
use crate::transcript::{Evidence, Unit};
use memchr::memchr;
use serde::de::IgnoredAny;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// By which rules pieces are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Definition {
    /// The rules of the first measurements, kept to compare with: lines of 24 characters, any run of ten.
    First,
    /// The rules in use: marks of differences stripped, rules and borders passed over, very long lines in pieces, names that look like names.
    #[default]
    Refined,
}

/// A line must have so many characters, or bytes of UTF-8 under the refined rules: eight characters of Chinese say as much.
const SHORTEST_LINE: usize = 24;

/// An identifier must have so many bytes.
const SHORTEST_IDENTIFIER: usize = 10;

/// A line must have so many letters and digits: one of dashes says nothing.
const FEWEST_LETTERS: usize = 8;

/// A line of more bytes is taken in pieces: sentences, statements.
const LONG_LINE: usize = 400;

/// Of one text so many pieces are kept at most.
const MOST_UNITS: usize = 32_768;

/// After so many pieces of one session, half of what follows is kept, then a quarter, and so on.
pub const UNITS_PER_LEVEL: usize = 1 << 19;

/// Keys of arguments that name what a tool works on.
const SUBJECTS: [&str; 14] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "fileName",
    "absolute_path",
    "AbsolutePath",
    "target_file",
    "notebook_path",
    "relative_path",
    "relative_workspace_path",
    "url",
];

/// Keys of arguments under which a shell, or an editor with commands, is told what to do.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];

/// What is recognised in a text.
#[derive(Clone, Copy)]
pub struct Recognise {
    /// Whether pieces are taken at all.
    pub recall: Recall,
    /// The rules by which pieces are taken.
    pub definition: Definition,
    /// How many pieces the session has given so far.
    pub spent: usize,
    /// Whether the text is known to be JSON; else it is looked at.
    pub is_json: bool,
}

/// Takes the pieces of a text, and what repetitions are known by.
pub fn evidence(text: &str, recognise: Recognise) -> Evidence {
    let Recognise { recall, definition, spent, is_json } = recognise;
    let mut finder = Finder { definition, mask: (1_u64 << (spent / UNITS_PER_LEVEL).min(40)) - 1, ..Finder::default() };
    let mut subject = 0;
    let mut path = None;
    let mut values = 0;
    let mut looks = 0;
    // Arguments and many results are JSON on one line, whose strings hold lines of their own.
    if in_brackets(text) && memchr(b'\n', text.as_bytes()).is_none() && (is_json || serde_json::from_str::<IgnoredAny>(text).is_ok()) {
        values = json_strings(text, &mut |JsonString { key, value, raw, at }| {
            if recall != Recall::Nothing {
                finder.base = at;
                // Where halves of characters keep it from being unescaped, it stands as it is written.
                finder.escapes.clear();
                if value.len() != raw.len() {
                    escapes(raw, &mut finder.escapes);
                }
                // What a tool works on is a name, however long it is.
                if SUBJECTS.contains(&key) && finder.definition == Definition::Refined && !value.contains('\n') {
                    finder.identifiers(value);
                } else {
                    finder.text(value);
                }
            }
            if subject == 0 && SUBJECTS.contains(&key) && !value.is_empty() {
                subject = xxh3_64(value.as_bytes());
                path = (recall == Recall::WithPaths).then(|| value.into());
            }
            if looks == 0 && COMMANDS.contains(&key) {
                looks = match value.trim() {
                    "view" => xxh3_64(text.as_bytes()),
                    command if only_looks(command) => xxh3_64(command.as_bytes()),
                    _ => 0,
                };
            }
        });
    } else if recall != Recall::Nothing {
        finder.text(text);
    }
    finder.settle();
    let identity = identity(text);
    Evidence { units: finder.units.into_boxed_slice(), left_out: finder.left_out, identity, subject, values, looks, path }
}

/// The hash of a whole text, but for blanks around it; 0 for an empty one.
pub fn identity(text: &str) -> u64 {
    if text.is_empty() { 0 } else { xxh3_64(text.trim().as_bytes()) }
}

#[derive(Default)]
struct Finder {
    definition: Definition,
    units: Vec<Unit>,
    /// Where the text at hand starts within the whole.
    base: usize,
    /// By how much longer it is there than as it is read: behind each escape its place, and the sum so far.
    escapes: Vec<(u32, u32)>,
    /// Only hashes without these bits are kept. The same pieces are kept everywhere, so that what is kept still meets its like.
    mask: u64,
    left_out: u32,
}

impl Finder {
    fn keep(&mut self, unit: fn(u64, Range<usize>) -> Unit, piece: &[u8], stands: Range<usize>) {
        let hash = xxh3_64(piece);
        // The lowest bit is the kind, so the sample is drawn from those above it.
        if (hash >> 1) & self.mask != 0 {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.units.push(unit(hash, self.written(stands.start)..self.written(stands.end)));
        if self.units.len() >= 2 * MOST_UNITS {
            self.settle();
        }
    }

    /// Where a place of the text at hand is in the whole, as it is written.
    fn written(&self, place: usize) -> usize {
        if self.escapes.is_empty() {
            return self.base + place;
        }
        let escapes = self.escapes.partition_point(|(behind, _)| *behind as usize <= place);
        let longer = escapes.checked_sub(1).and_then(|last| self.escapes.get(last)).map_or(0, |(_, longer)| *longer);
        self.base + place + longer as usize
    }

    /// Each piece once; where there are too many, half of them go.
    fn settle(&mut self) {
        self.units.sort_unstable_by_key(|unit| unit.hash);
        self.units.dedup_by(|again, unit| {
            let same = again.hash == unit.hash;
            if same {
                unit.at = unit.at.and(again.at);
            }
            same
        });
        while self.units.len() > MOST_UNITS {
            self.mask = self.mask << 1 | 1;
            let (before, mask) = (self.units.len(), self.mask);
            self.units.retain(|unit| (unit.hash >> 1) & mask == 0);
            self.left_out = self.left_out.saturating_add((before - self.units.len()) as u32);
        }
    }

    fn text(&mut self, text: &str) {
        let mut at = 0;
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let length = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            let line = rest.get(..length).unwrap_or_default();
            self.line(line, at);
            at += length + 1;
        }
        self.identifiers(text);
    }

    fn line(&mut self, line: &str, at: usize) {
        if line.len() < SHORTEST_LINE {
            return;
        }
        // What is stripped at its start counts in where it stands.
        let end = at + trim_end(line).len();
        let line = trim_end(without_number(line));
        match self.definition {
            Definition::First => {
                if line.chars().nth(SHORTEST_LINE - 1).is_some() {
                    self.keep(Unit::line, line.as_bytes(), end - line.len()..end);
                }
            }
            Definition::Refined => {
                let line = without_mark(line);
                let at = end - line.len();
                let long = line.len() > LONG_LINE;
                if !long && (line.is_ascii() || !line.contains(ends_phrase)) {
                    return self.piece(line, at);
                }
                let mut start = 0;
                // The first bytes of the marks: of those that end a phrase, and others too.
                let marks = line.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'.' | b';' | b'{' | b'}' | 0xe3 | 0xef));
                let marks = marks.filter_map(|(place, _)| Some((place, line.get(place..)?.chars().next()?)));
                for (place, mark) in marks.filter(|(_, mark)| long || !mark.is_ascii()) {
                    let after = place + mark.len_utf8();
                    let sentence = mark == '.' && line.as_bytes().get(after) == Some(&b' ');
                    if ends_phrase(mark) || sentence || matches!(mark, ';' | '{' | '}') {
                        self.piece(line.get(start..place).unwrap_or_default(), at + start);
                        start = after;
                    }
                }
                self.piece(line.get(start..).unwrap_or_default(), at + start);
            }
        }
    }

    fn piece(&mut self, piece: &str, at: usize) {
        let piece = trim_end(piece);
        let end = at + piece.len();
        let piece = trim_start(piece);
        let telling = |byte: &&u8| is(**byte, TELLING);
        if piece.len() >= SHORTEST_LINE && !is_one_name(piece) && piece.as_bytes().iter().filter(telling).nth(FEWEST_LETTERS - 1).is_some()
        {
            self.keep(Unit::line, piece.as_bytes(), end - piece.len()..end);
        }
    }

    fn identifiers(&mut self, text: &str) {
        let bytes = text.as_bytes();
        // No long run begins before `start`, and from there to `known` all bytes are of one.
        let (mut start, mut known) = (0, 0);
        while let Some(next) = bytes.get(known..start + SHORTEST_IDENTIFIER) {
            // From back to front: what stands before the last gap needs no look.
            if let Some(gap) = next.iter().rposition(|byte| !in_identifier(*byte)) {
                (start, known) = (known + gap + 1, start + SHORTEST_IDENTIFIER);
                continue;
            }
            let rest = bytes.get(start + SHORTEST_IDENTIFIER..).unwrap_or_default();
            let more = rest.iter().position(|byte| !in_identifier(*byte)).unwrap_or(rest.len());
            let end = start + SHORTEST_IDENTIFIER + more;
            self.identifier(bytes.get(start..end).unwrap_or_default(), start);
            (start, known) = (end + 1, end + 1);
        }
    }

    fn identifier(&mut self, run: &[u8], at: usize) {
        let name = match self.definition {
            Definition::First => 0..run.len(),
            Definition::Refined => trimmed(run),
        };
        let stands = at + name.start..at + name.end;
        let name = run.get(name).unwrap_or_default();
        if name.len() >= SHORTEST_IDENTIFIER && (self.definition == Definition::First || looks_like_a_name(name)) {
            self.keep(Unit::identifier, name, stands);
        }
    }
}

/// Is a line nothing but a path, an address or an identifier, between quotes or not? It says no more than that name, which may be known from elsewhere.
fn is_one_name(line: &str) -> bool {
    let name = line.trim_matches(['"', '\'', '`', ',']);
    let is_plain = |byte: u8| in_identifier(byte) || matches!(byte, b'\\' | b':' | b'~' | b'@');
    name.bytes().all(is_plain) || name.contains("://") && name.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The line without the number that listings and searches put before it.
fn without_number(line: &str) -> &str {
    let rest = trim_start(line);
    let after = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    if after.len() == rest.len() {
        return rest;
    }
    let stripped = after.strip_prefix('→').or_else(|| after.strip_prefix(['\t', '|', ':']));
    stripped.map_or(rest, trim_start)
}

/// The line without the mark that a difference or a quotation puts before it.
fn without_mark(line: &str) -> &str {
    let stripped = line.strip_prefix(['+', '-', '>']).filter(|rest| !rest.starts_with(['+', '-', '>']));
    trim_start(stripped.unwrap_or(line))
}

/// The text without white space at its start. Most have none, which their first byte tells.
fn trim_start(text: &str) -> &str {
    if text.bytes().next().is_some_and(|first| first.is_ascii_graphic()) { text } else { text.trim_start() }
}

/// The text without white space at its end.
fn trim_end(text: &str) -> &str {
    if text.bytes().next_back().is_some_and(|last| last.is_ascii_graphic()) { text } else { text.trim_end() }
}

/// Marks that end a phrase in scripts that are written without spaces.
fn ends_phrase(mark: char) -> bool {
    matches!(mark, '。' | '！' | '？' | '；' | '，' | '：')
}

/// A byte that names are made of.
const IN_IDENTIFIER: u8 = 1;

/// A letter or a digit, in scripts other than the Latin one too.
const TELLING: u8 = 2;

/// A byte that no long word has, and many names.
const JOINT: u8 = 4;

#[expect(clippy::indexing_slicing, reason = "a constant: the compiler looks")]
const KINDS: [u8; 256] = {
    let mut kinds = [TELLING; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let telling = byte.is_ascii_alphanumeric();
        let joint = matches!(byte, b'_' | b'.' | b'/') || byte.is_ascii_digit();
        let inside = telling || joint || byte == b'-';
        kinds[byte as usize] = inside as u8 * IN_IDENTIFIER + telling as u8 * TELLING + joint as u8 * JOINT;
        byte += 1;
    }
    kinds
};

#[expect(clippy::indexing_slicing, reason = "every byte has a place")]
fn is(byte: u8, kind: u8) -> bool {
    KINDS[usize::from(byte)] & kind != 0
}

fn in_identifier(byte: u8) -> bool {
    is(byte, IN_IDENTIFIER)
}

/// The run without the marks at its edges.
fn trimmed(run: &[u8]) -> Range<usize> {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = run.iter().position(inner).unwrap_or(run.len());
    let end = run.iter().rposition(inner).map_or(start, |last| last + 1);
    start..end
}

/// A long word is no name; one with a slash, a stop, an underscore, a digit or a capital within is.
fn looks_like_a_name(run: &[u8]) -> bool {
    let joint = |byte: &u8| is(*byte, JOINT);
    let hump = |pair: &[u8]| matches!(pair, [before, after] if before.is_ascii_lowercase() && after.is_ascii_uppercase());
    run.iter().any(u8::is_ascii_alphabetic) && (run.iter().any(joint) || run.windows(2).any(hump))
}
