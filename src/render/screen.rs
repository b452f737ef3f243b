//! For terminals: the answer first. A table of the columns that stand side by side, the most telling rows, the sentences that decide, and where
//! the rest is.

use super::escape::escape;
use super::layout::NARROWEST;
use super::text::{Figures, Page, is_number, legend, paragraph, section};
use crate::report::{Body, Depth, Record, Report, Section, Unit, counted, grouped};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr;

/// Lines of a screen of the usual width, that of the prompt that follows left out.
const LINES: usize = 29;

/// That width. A narrower screen has more lines, for its sentences take them: the table stays.
const USUAL_WIDTH: usize = 80;

/// So many rows of one table are shown where there are more.
const ROWS: usize = 20;

/// In front of what to type next.
const MARK: &str = "Next:  ";

/// So many more sentences are spared for it.
const SPARED_FOR_NEXT: usize = 2;

/// Between a command and what it shows.
const GAP: usize = 3;

/// What a screen lacks, the weightiest first: of two screens that one is better whose first unequal number is smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Lack {
    /// The first table, or the sentences right behind it.
    answers: usize,
    /// Sentences before the first table.
    openings: usize,
    /// Other tables.
    tables: usize,
    /// Rows of the table of an answer, each of them two. Where nothing says that sections are left out, that is three: the sentence is worth one row, and
    /// not two.
    half_rows: usize,
    /// Sections of any kind.
    sections: usize,
}

/// What stands below the sections of a screen, and what is left out of them.
#[derive(Clone, Copy)]
struct End<'a> {
    /// Commands to type next, each with what it shows.
    steps: &'a [(String, String)],
    /// Does it say what is behind the screen?
    says_rest: bool,
    /// Does the answer stay where it has no room?
    forced: bool,
    /// Sentences that are left out.
    spared: &'a [String],
    /// So many of the rows that are held stay, the first ones.
    held: usize,
}

/// A screen that was tried.
#[derive(Default)]
struct Tried {
    text: String,
    lack: Lack,
    /// So many commands it says to type next.
    steps: usize,
}

/// How a section is cut to its screen.
struct Cut<'a> {
    /// Lines that the section may take.
    room: usize,
    /// Rows of a table at the most; the usual number where that is 0.
    most: usize,
    /// Rows that stay, by their places in the table.
    held: &'a [usize],
    /// Does it stay where it has no room, in its fewest rows?
    forced: bool,
}

/// The first screen of a report. What to type next, and that there is more, give way to what answers; where that is not enough, sentences that can be spared,
/// as few as there must be, or a few more that make room for a command to type next.
pub fn screen(report: &Report, page: Page, depth: Depth) -> String {
    let (steps, spare) = report.screen.as_ref().map_or((&[][..], &[][..]), |screen| (&screen.next, &screen.spare));
    // All rows are asked for whatever they push out, and are long to render.
    let held = report.screen.as_ref().map_or(0, |screen| screen.held.len());
    let end = End { steps, says_rest: true, forced: depth == Depth::AllRows, spared: &[], held };
    if end.forced {
        return with_end(report, page, depth, &end).0;
    }
    let without = |count: usize| End { spared: spare.get(..count).unwrap_or(spare), ..end };
    let fits = |lack: &Lack| (lack.answers, lack.openings) == (0, 0);
    let mut tried = (0..=spare.len()).map(|count| (count, best(report, page, depth, without(count))));
    let Some((spared, fewest)) = tried.find(|(_, one)| fits(&one.lack)) else {
        // Then the last of the rows that are held do.
        let mut fewer = (0..=held).rev().map(|held| best(report, page, depth, End { spared: spare, held, ..end }));
        let fewest = fewer.find(|one| one.lack.answers == 0).map(|one| one.text);
        // A screen that is too long is better than one without its answer.
        return fewest.unwrap_or_else(|| with_end(report, page, depth, &End { steps: &[], forced: true, spared: spare, ..end }).0);
    };
    // Where sentences give way anyway, a few more do for a command to type next.
    let more = if spared == 0 || fewest.steps > 0 || steps.is_empty() { 0 } else { SPARED_FOR_NEXT };
    let next = (spared + 1..=spare.len()).take(more).map(|count| End { steps: steps.get(..1).unwrap_or(steps), ..without(count) });
    let next = next.map(|end| with_end(report, page, depth, &end)).find(|(_, lack)| fits(lack));
    next.map_or(fewest.text, |(text, _)| text)
}

/// The screen without these sentences that lacks the least.
fn best(report: &Report, page: Page, depth: Depth, end: End<'_>) -> Tried {
    let fewer = (0..=end.steps.len()).rev().filter_map(|count| end.steps.get(..count));
    let ends = fewer.flat_map(|steps| [(steps, true), (steps, false)]);
    // That sentences are left out is said.
    let ends = ends.filter(|(few, says_rest)| *says_rest || !few.is_empty() && end.spared.is_empty());
    let mut best: Option<Tried> = None;
    for (steps, says_rest) in ends {
        let (text, lack) = with_end(report, page, depth, &End { steps, says_rest, ..end });
        let one = Tried { text, lack, steps: steps.len() };
        if lack == Lack::default() {
            return one;
        }
        if best.as_ref().is_none_or(|best| lack < best.lack) {
            best = Some(one);
        }
    }
    best.unwrap_or_default()
}

/// The screen with this end, and what it lacks.
fn with_end(report: &Report, page: Page, depth: Depth, end: &End<'_>) -> (String, Lack) {
    let End { steps, says_rest, forced, spared, held } = *end;
    let page = Page { figures: Figures::ThreeDigits, ..page };
    let mut out = String::new();
    let own = report.own_screen();
    let title = own.map(|screen| screen.title.as_str()).filter(|title| !title.is_empty()).unwrap_or(&report.title);
    paragraph(&mut out, title, "", page);
    let next = next(steps, page);
    let names_details = steps.iter().any(|(command, _)| command.contains(" --details "));
    let says_rest = says_rest && (!names_details || !spared.is_empty());
    // One line says what is left out, behind a blank one, unless a command does; two lines say where figures come from.
    let mut unused = String::new();
    report.unused.iter().for_each(|sentence| paragraph(&mut unused, sentence, "! ", page));
    let below =
        lines(&unused) + if says_rest { 2 } else { 0 } + if next.is_empty() { 2 * usize::from(own.is_none()) } else { lines(&next) + 1 };
    let (mut lack, mut shown) = (Lack::default(), Vec::new());
    let is_table = |one: &Section| matches!(one.body, Body::Table(_));
    let sections: Vec<Cow<'_, Section>> = report.on_screen().iter().filter_map(|one| without(one, spared)).collect();
    let sections: Vec<&Section> = sections.iter().map(Cow::as_ref).collect();
    let first = sections.iter().position(|one| is_table(one)).filter(|_| own.is_some());
    let mut sentences_left = spared.len();
    for (place, one) in sections.iter().copied().enumerate() {
        // A table leaves room for the sentences right behind it.
        let sentences = sections.iter().skip(place + 1).take(1).filter(|_| own.is_some() && is_table(one));
        let sentences = sentences.filter(|later| matches!(later.body, Body::Lines(_))).map(|later| lines(&rendered(later, 0, page)) + 1);
        let is_answer = first.is_some_and(|first| place == first || place == first + 1 && !is_table(one));
        let opens = first.is_some_and(|first| place < first);
        let held = own.filter(|_| first == Some(place)).map_or(&[][..], |screen| screen.held.get(..held).unwrap_or(&screen.held));
        let room = (LINES * USUAL_WIDTH / page.width.clamp(NARROWEST, USUAL_WIDTH))
            .saturating_sub(lines(&out) + below + sentences.sum::<usize>() + 1);
        let cut = Cut { room, most: own.map_or(0, |screen| screen.rows), held, forced: forced && is_answer };
        match section_within(one, page, depth, &cut) {
            Some((told, more)) => {
                out += &format!("\n{told}");
                shown.push(one);
                // Of a list one row is held beside the first ones: its others answer nothing.
                lack.half_rows += if held.len() > 1 { more * 2 } else { 0 };
            }
            None => {
                lack.sections += 1;
                lack.answers += usize::from(is_answer);
                lack.openings += usize::from(opens);
                lack.tables += usize::from(!is_answer && is_table(one));
                sentences_left += if let (true, Body::Lines(lines)) = (own.is_some(), &one.body) { lines.len() } else { 0 };
            }
        }
    }
    // That something has no room is at least said.
    lack.half_rows += usize::from(lack.sections > 0 && !says_rest && !names_details) * 3;
    let behind = if own.is_some() { report.sections.len() } else { lack.sections };
    if let Some(sentence) = rest(sentences_left, behind, report.notes.len()).filter(|_| says_rest) {
        out.push('\n');
        paragraph(&mut out, &sentence, "", page);
    }
    // What the program itself knows is no figure of logs.
    if own.is_none() && !matches!(report.record, Record::List(_)) {
        provenances(&shown).iter().for_each(|sentence| paragraph(&mut out, sentence, "", page));
    }
    out += &unused;
    if !next.is_empty() {
        out += &format!("\n{next}");
    }
    (out, lack)
}

/// A section within so many lines, and how many of its rows are left out; `None` where it does not fit. Of a long table the first rows are shown, and
/// those that are held.
fn section_within(one: &Section, page: Page, depth: Depth, cut: &Cut<'_>) -> Option<(String, usize)> {
    let Cut { room, most, held, forced } = *cut;
    let whole = || (rendered(one, 0, page), 0);
    let Body::Table(table) = &one.body else {
        return Some(whole()).filter(|(whole, _)| forced || lines(whole) <= room || matches!(one.body, Body::Code(..)));
    };
    // What the user named is shown, however long that is.
    if depth == Depth::AllRows || table.columns.iter().any(|column| column.asked) {
        return Some(whole());
    }
    let told = |rows: usize| {
        let more = table.rows.len() - rows;
        let first = Section { title: one.title.clone(), body: Body::Table(table.first(rows, held)) };
        let told = rendered(&first, more, page);
        (lines(&told).saturating_sub(room), (told, more))
    };
    // Fewer rows than these tell nothing, but a row of sentences does.
    let fewest = if table.columns.iter().any(|column| column.unit == Unit::Prose) { 1 } else { 3 }.max(held.len());
    let mut rows = table.rows.len().min(if most == 0 { ROWS } else { most });
    let mut too_many = rows + 1;
    loop {
        let (over, (told_here, more)) = told(rows);
        if over == 0 {
            // Rows of several lines free more than a line each: some of them fit after all.
            let longer = (rows + 1..too_many).map(told).take_while(|(over, _)| *over == 0).last();
            return Some(longer.map_or((told_here, more), |(_, told)| told));
        }
        too_many = rows;
        let fewer = rows.saturating_sub(over);
        rows = match rows {
            _ if rows <= fewest => return forced.then_some((told_here, more)),
            _ if fewer < fewest => (rows / 2).max(fewest),
            _ => fewer,
        };
    }
}

/// The section without these sentences; `None` where nothing is left of it.
fn without<'s>(one: &'s Section, spared: &[String]) -> Option<Cow<'s, Section>> {
    let Body::Lines(lines) = &one.body else { return Some(Cow::Borrowed(one)) };
    let left: Vec<String> = lines.iter().filter(|line| !spared.contains(line)).cloned().collect();
    match left.len() {
        same if same == lines.len() => Some(Cow::Borrowed(one)),
        0 => None,
        _ => Some(Cow::Owned(Section { title: one.title.clone(), body: Body::Lines(left) })),
    }
}

/// The section; of its table so many rows are left out.
fn rendered(one: &Section, more: usize, page: Page) -> String {
    let mut out = String::new();
    let shown = section(&mut out, one, page, &mut BTreeSet::new());
    if more > 0 {
        out += &format!("… {} more: --all\n", grouped(more as u64));
    }
    if let Body::Table(table) = &one.body {
        legend(&mut out, table, page, &shown, &mut BTreeSet::new());
    }
    out
}

fn lines(text: &str) -> usize {
    text.matches('\n').count()
}

/// Where the figures of the tables that are shown come from, in one sentence; `None` where there are none.
fn provenances(shown: &[&Section]) -> Option<String> {
    let mut of: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in shown {
        let Body::Table(table) = &one.body else { continue };
        for column in table.columns.iter().skip(table.labels).filter(|column| is_number(column)) {
            let (names, name) = (of.entry(column.provenance.name()).or_default(), column.plain_header());
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    // The kind of most columns is that of all others.
    let most = of.iter().max_by_key(|(_, names)| names.len()).map(|(kind, _)| *kind)?;
    let rest = of.iter().filter(|(kind, _)| **kind != most).map(|(kind, names)| format!("{kind}: {}", names.join(", ")));
    let rest: Vec<String> = rest.collect();
    let others = if rest.is_empty() { format!("Figures are {most}") } else { format!("; other figures are {most}") };
    Some(format!("{}{others}.", rest.join("; ")))
}

/// What is not shown here.
fn rest(sentences: usize, sections: usize, notes: usize) -> Option<String> {
    let sentences = (sentences > 0).then(|| counted(sentences as u64, "more sentence"));
    let tables = (sections > 0).then(|| counted(sections as u64, "more table"));
    let notes = (notes > 0).then(|| counted(notes as u64, "note"));
    let parts: Vec<String> = sentences.into_iter().chain(tables).chain(notes).collect();
    (!parts.is_empty()).then(|| format!("{}: --details", parts.join(", ")))
}

/// What to type next, in two columns where the page is wide enough; a longer command goes on in the next line, as a shell reads it.
fn next(steps: &[(String, String)], page: Page) -> String {
    let commands: Vec<String> = steps.iter().map(|(command, _)| escape(command).into_owned()).collect();
    let room = page.width.max(NARROWEST).saturating_sub(MARK.len());
    let fitting = commands.iter().map(|command| command.width()).filter(|width| *width <= room).max().unwrap_or(0);
    let mut out = String::new();
    for (place, ((_, shows), command)) in steps.iter().zip(&commands).enumerate() {
        out += if place == 0 { MARK } else { "       " };
        let blank = fitting.saturating_sub(command.width()) + GAP;
        if command.width() + blank + shows.width() <= room {
            out += &format!("{command}{}{shows}", " ".repeat(blank));
        } else {
            out += &folded(command, room - GAP).join(" \\\n         ");
        }
        out.push('\n');
    }
    out
}

/// A command in lines of this width, broken between its words alone: what stands in quotes is one word, and a word that is wider has a line of its own.
fn folded(command: &str, width: usize) -> Vec<String> {
    let (mut quote, mut escaped) = (None, false);
    let words = command.split(|letter: char| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        escaped = letter == '\\' && quote != Some('\'');
        match quote {
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '\'' | '"') => quote = Some(letter),
            _ => {}
        }
        quote.is_none() && letter == ' '
    });
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_broken_between_its_words_alone() {
        let broken = |command: &str| folded(command, 12).join("|");
        assert_eq!(broken("ctxsim replay a b"), "ctxsim|replay a b");
        assert_eq!(broken("explain 'log#2025-06-02 14:2' --at 3"), "explain|'log#2025-06-02 14:2'|--at 3");
        assert_eq!(broken(r"x 'it'\''s one word' two\ one y"), r"x|'it'\''s one word'|two\ one y");
        assert_eq!(broken("/a/path/that/is/long b"), "/a/path/that/is/long|b");
    }
}
