//! Cuts of real texts, to the byte: what the agent itself would have stored. A replay does the same to measured texts (`policy::cut`).

use ctxsim::estimate::{Estimator, Unit, cleaned};
use ctxsim::policy::{
    Boundary, Extents, LongLines, NoInflate, PartialLine, Rule, Select, Shortened, Summarise, Switch, Texts, Truncate, marker,
};
use ctxsim::transcript::Length;

/// Applies the limits to a text; `None` where it passes whole. Half a character that a cut leaves shows as U+FFFD.
pub fn apply(limits: &Truncate, text: &str) -> Option<String> {
    apply_to_bytes(limits, text).map(|bytes| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// As [`apply`], for systems that store bytes: what a cut leaves of a character stays as it is.
pub fn apply_to_bytes(limits: &Truncate, text: &str) -> Option<Vec<u8>> {
    if text.trim().is_empty() && !limits.empty.is_empty() {
        return Some(limits.empty.clone().into_bytes());
    }
    let clean = if limits.clean == Switch::On { cleaned(text) } else { None };
    let shortened = limits.max_line_chars.and_then(|most| short_lines(clean.as_deref().unwrap_or(text), most));
    let source = shortened.as_deref().or(clean.as_deref()).unwrap_or(text);
    let whole = Length::of(source);
    let lined = if limits.ignore_final_newline == Switch::On { source.strip_suffix('\n').unwrap_or(source) } else { source };
    let too_large = limits.max.is_some_and(|max| size(limits.unit, source, &whole) > max);
    // Where the newline at the end begins no line, a text of nothing has none.
    let line_count =
        if source.is_empty() && limits.ignore_final_newline == Switch::On { 0 } else { lined.matches('\n').count() as u64 + 1 };
    let too_many_lines = limits.max_lines.is_some_and(|max| line_count > max);
    if !too_large && !too_many_lines {
        return (clean.is_some() || shortened.is_some()).then(|| source.as_bytes().to_vec());
    }
    if let Some(text) = limits.long_lines.as_ref().filter(|_| too_large).and_then(|lines| with_cut_lines(limits, lines, source)) {
        return Some(text);
    }
    let amount = limits.keep.or(limits.max);
    let head_part = |whole: u64| limits.at_start(whole);
    if let Some((mark, amount)) = limits.marked_line().zip(amount) {
        return Some(joined(limits, source, whole, &marked_lines(limits, lined, amount, mark)));
    }
    let lines = limits.max_lines.or(limits.keep_lines).unwrap_or(u64::MAX);
    let (head_lines, tail_lines) = (head_part(lines), lines - head_part(lines));
    if limits.whole_lines == Switch::On {
        let amount = amount.unwrap_or(u64::MAX);
        let front = first_lines(limits, lined, head_part(amount), head_lines);
        let back = last_lines(limits, lined, amount - head_part(amount), tail_lines);
        return Some(joined(limits, source, whole, &Ends::of(front, back)));
    }
    let (front, back) = (first_lines(limits, source, u64::MAX, head_lines), last_lines(limits, source, u64::MAX, tail_lines));
    let Some(amount) = amount else { return Some(joined(limits, source, whole, &Ends::of(front, back))) };
    let mut head = first(limits, source, head_part(amount));
    let mut tail = last(limits, source, amount - head_part(amount));
    head.truncate(front.text.len());
    tail.drain(..tail.len().saturating_sub(back.text.len()));
    let lines = |bytes: &[u8]| if bytes.is_empty() { 0 } else { bytes.iter().filter(|byte| **byte == b'\n').count() as u32 + 1 };
    let kept_lines = lines(&head) + lines(&tail);
    Some(joined(limits, source, whole, &Ends { head, tail, lines: kept_lines }))
}

/// What is left of a text at both its ends, and how many lines that is.
struct Ends {
    head: Vec<u8>,
    tail: Vec<u8>,
    lines: u32,
}

impl Ends {
    fn of(head: Lines<'_>, tail: Lines<'_>) -> Ends {
        Ends { head: head.text.as_bytes().to_vec(), tail: tail.text.as_bytes().to_vec(), lines: head.count + tail.count }
    }
}

/// Lines at one end of a text. One empty line is a text of nothing, and a line all the same.
#[derive(Clone, Copy)]
struct Lines<'t> {
    text: &'t str,
    count: u32,
}

/// What is left of a text that arrives; `None` where it passes whole. As [`Rule::arrives`], with the words.
pub fn apply_rule(rule: &Rule, text: &str) -> Option<String> {
    let limits = rule.truncate.as_ref()?;
    let smaller = |cut: &String| units(limits.unit, cut) < units(limits.unit, text);
    apply(limits, text).filter(|cut| rule.no_inflate == NoInflate::Off || text.trim().is_empty() || smaller(cut))
}

/// What is left of the text of a message that stays in part: both its ends, and the marker between them.
pub fn excerpt(select: &Select, shortened: &Shortened, estimator: &Estimator, text: &str) -> Option<String> {
    let Shortened { keeps, head, .. } = *shortened;
    let limits = select.excerpt_limits(keeps, head, (estimator.denominator, estimator.numerator));
    if estimator.non_ascii.is_none() {
        return apply(&limits, text);
    }
    // Where characters count otherwise than others, the cut lies where the estimate of what stays ends.
    let from_start = (keeps as f64 * head).round() as u64;
    let taken = |tokens: u64, letters: &mut dyn Iterator<Item = char>| -> usize {
        let mut left = tokens * estimator.denominator / estimator.numerator.max(1);
        let fits = |letter: &char| {
            let units = units_of(estimator, *letter);
            let fits = units <= left;
            left = left.saturating_sub(units);
            fits
        };
        letters.take_while(fits).map(char::len_utf8).sum()
    };
    let front = taken(from_start, &mut text.chars());
    let back = text.len() - taken(keeps - from_start, &mut text.chars().rev());
    (front < back).then(|| [text.get(..front).unwrap_or_default(), &limits.marker, text.get(back..).unwrap_or_default()].concat())
}

/// What one character of a text counts.
fn units_of(estimator: &Estimator, letter: char) -> u64 {
    let units = match estimator.unit {
        Unit::Bytes | Unit::Json => letter.len_utf8(),
        Unit::Utf16 | Unit::JsonUtf16 => letter.len_utf16(),
        Unit::Chars | Unit::JsonChars | Unit::Tokens => 1,
    };
    let weight = estimator.non_ascii.as_ref().filter(|_| !letter.is_ascii()).map_or(1, |beyond| beyond.units);
    units as u64 * weight
}

/// The limit of a tool's result in the summariser's request; `None` where there is none.
pub fn tool_cap(summarise: &Summarise) -> Option<Truncate> {
    let Summarise { tool_cap_utf16: most, tool_boundary: boundary, .. } = *summarise;
    let limits = Truncate { unit: Unit::Utf16, boundary, marker: summarise.tool_marker.clone(), ..Truncate::default() };
    (most > 0).then(|| Truncate { max: Some(u64::from(most)), ..limits })
}

fn joined(limits: &Truncate, source: &str, whole: Length, ends: &Ends) -> Vec<u8> {
    let sizes =
        |bytes: &[u8]| Length { bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX), ..Length::of(&String::from_utf8_lossy(bytes)) };
    let (front, back) = (sizes(&ends.head), sizes(&ends.tail));
    let kept = Length {
        bytes: front.bytes.saturating_add(back.bytes),
        utf16: front.utf16.saturating_add(back.utf16),
        chars: front.chars.saturating_add(back.chars),
        newlines: front.newlines.saturating_add(back.newlines),
    };
    let extents = Extents { whole, ends_in_newline: source.ends_with('\n'), kept, kept_lines: ends.lines };
    let header = marker(&limits.header, limits, &extents);
    let marker = marker(&limits.marker, limits, &extents);
    [header.as_bytes(), &ends.head, marker.as_bytes(), &ends.tail].concat()
}

fn size(unit: Unit, text: &str, length: &Length) -> u64 {
    match unit {
        Unit::Bytes => u64::from(length.bytes),
        Unit::Utf16 => u64::from(length.utf16),
        Unit::Chars => u64::from(length.chars),
        Unit::Json | Unit::JsonUtf16 | Unit::JsonChars => serde_json::to_string(text).map_or(0, |json| json.len() as u64 - 2),
        // A text without a vocabulary: four characters are a token.
        Unit::Tokens => u64::from(length.chars.div_ceil(4)),
    }
}

/// So many units as places of a text. Where there is no vocabulary, four characters are a token.
fn places(unit: Unit, amount: u64) -> usize {
    usize::try_from(if unit == Unit::Tokens { amount.saturating_mul(4) } else { amount }).unwrap_or(usize::MAX)
}

/// A character of ASCII is one unit of each kind, and bytes are taken much faster.
fn simplest(unit: Unit, text: &str) -> Unit {
    if text.is_ascii() { Unit::Bytes } else { unit }
}

/// How many bytes the first `amount` units take, and where a character ends there.
fn first(limits: &Truncate, text: &str, amount: u64) -> Vec<u8> {
    let amount = places(limits.unit, amount);
    match simplest(limits.unit, text) {
        Unit::Bytes | Unit::Json | Unit::JsonUtf16 | Unit::JsonChars => {
            let end = amount.min(text.len());
            let end = if limits.boundary == Boundary::Whole { text.floor_char_boundary(end) } else { end };
            text.as_bytes().get(..end).unwrap_or_default().to_vec()
        }
        Unit::Utf16 => of_units(limits, &text.encode_utf16().take(amount).collect::<Vec<u16>>()),
        Unit::Chars | Unit::Tokens => text.chars().take(amount).collect::<String>().into_bytes(),
    }
}

fn last(limits: &Truncate, text: &str, amount: u64) -> Vec<u8> {
    let from_end = |count: usize| count.saturating_sub(places(limits.unit, amount));
    match simplest(limits.unit, text) {
        Unit::Bytes | Unit::Json | Unit::JsonUtf16 | Unit::JsonChars => {
            let start = from_end(text.len());
            let start = if limits.boundary == Boundary::Whole { text.ceil_char_boundary(start) } else { start };
            text.as_bytes().get(start..).unwrap_or_default().to_vec()
        }
        Unit::Utf16 => {
            let units: Vec<u16> = text.encode_utf16().collect();
            of_units(limits, units.get(from_end(units.len())..).unwrap_or_default())
        }
        Unit::Chars | Unit::Tokens => text.chars().skip(from_end(text.chars().count())).collect::<String>().into_bytes(),
    }
}

/// Half a surrogate pair becomes U+FFFD, as it does wherever such a text is written, or goes.
fn of_units(limits: &Truncate, units: &[u16]) -> Vec<u8> {
    let characters = char::decode_utf16(units.iter().copied());
    match limits.boundary {
        Boundary::Whole => characters.filter_map(Result::ok).collect::<String>().into_bytes(),
        Boundary::Split => characters.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into_bytes(),
    }
}

/// The first lines, as many as fit into so many lines and units, newlines between them counted.
fn first_lines<'t>(limits: &Truncate, text: &'t str, amount: u64, lines: u64) -> Lines<'t> {
    let (mut taken, mut end, mut count) = (0, 0, 0);
    for (index, line) in text.split('\n').enumerate() {
        taken += units(limits.unit, line) + u64::from(index > 0);
        if index as u64 >= lines || taken > amount {
            break;
        }
        end += line.len() + usize::from(index > 0);
        count += 1;
    }
    Lines { text: text.get(..end).unwrap_or_default(), count }
}

/// The last lines. Where not one of them fits whole, a part of the last one stays if the limits say so.
fn last_lines<'t>(limits: &Truncate, text: &'t str, amount: u64, lines: u64) -> Lines<'t> {
    let (mut taken, mut start) = (0, text.len());
    let mut count = 0;
    for (index, line) in text.rsplit('\n').enumerate() {
        taken += units(limits.unit, line) + u64::from(index > 0);
        if index as u64 >= lines || taken > amount {
            break;
        }
        start -= line.len() + usize::from(index > 0);
        count += 1;
    }
    if count == 0 && limits.partial_line == PartialLine::Last && lines > 0 {
        let room = usize::try_from(amount).unwrap_or(usize::MAX);
        start = text.ceil_char_boundary(text.len().saturating_sub(room));
        count = u32::from(start < text.len());
    }
    Lines { text: text.get(start..).unwrap_or_default(), count }
}

/// Lines from both ends. A line that does not fit stays in part, with its mark, and what the start leaves goes to the end.
fn marked_lines(limits: &Truncate, text: &str, amount: u64, mark: &str) -> Ends {
    let lines: Vec<&str> = text.split('\n').collect();
    let (most, from_start) = limits.lines_at_start(lines.len() as u64);
    let count = |lines: u64| usize::try_from(lines).unwrap_or(usize::MAX);
    let beside_mark = |room: u64| room.checked_sub(units(limits.unit, mark));
    let front = lines.iter().take(count(from_start));
    let (head, taken) = fitting(limits.unit, front, limits.at_start(amount), |line, room| {
        Some([&*first(limits, line, beside_mark(room)?), mark.as_bytes()].concat())
    });
    let room = if limits.head < 1.0 { amount.saturating_sub(taken) } else { 0 };
    let back = lines.iter().skip(head.len()).rev().take(count(most - from_start));
    let (mut tail, _) =
        fitting(limits.unit, back, room, |line, room| Some([mark.as_bytes(), &*last(limits, line, beside_mark(room)?)].concat()));
    tail.reverse();
    Ends { lines: u32::try_from(head.len() + tail.len()).unwrap_or(u32::MAX), head: head.join(&b'\n'), tail: tail.join(&b'\n') }
}

/// The lines that fit into so many units, each with its newline, and the units that they take. `cut` makes what stays of the first one that does not
/// fit, which takes all the room that is left.
fn fitting<'t>(
    unit: Unit,
    lines: impl Iterator<Item = &'t &'t str>,
    room: u64,
    cut: impl Fn(&str, u64) -> Option<Vec<u8>>,
) -> (Vec<Vec<u8>>, u64) {
    let (mut kept, mut taken) = (Vec::new(), 0);
    for line in lines {
        let takes = units(unit, line) + 1;
        if taken + takes > room {
            kept.extend(cut(line, room - taken).filter(|_| room > taken));
            return (kept, room);
        }
        kept.push(line.as_bytes().to_vec());
        taken += takes;
    }
    (kept, taken)
}

/// Length of a text in a unit.
fn units(unit: Unit, text: &str) -> u64 {
    size(unit, text, &Length::of(text))
}

/// The text with its long lines cut, and the footer behind it; `None` where it is still too large.
fn with_cut_lines(limits: &Truncate, lines: &LongLines, text: &str) -> Option<Vec<u8>> {
    let mut kept: Vec<u8> = Vec::with_capacity(text.len());
    let mut taken = 0;
    let mut rest = text;
    while !rest.is_empty() {
        // A line ends with a newline, a return, or both.
        let end = rest
            .find(['\r', '\n'])
            .map_or(rest.len(), |at| at + if rest.get(at..).is_some_and(|end| end.starts_with("\r\n")) { 2 } else { 1 });
        let (line, later) = rest.split_at(end);
        rest = later;
        let whole = units(limits.unit, line);
        if whole > lines.max {
            let end = line.len() - line.trim_end_matches(['\r', '\n']).len();
            let suffix = [&lines.marker, line.get(line.len() - end..).unwrap_or_default()].concat();
            kept.extend(first(limits, line, lines.max.saturating_sub(units(limits.unit, &suffix))));
            kept.extend(suffix.as_bytes());
        } else {
            kept.extend(line.as_bytes());
        }
        taken += whole.min(lines.max);
    }
    if limits.max.is_some_and(|max| taken > max) {
        return None;
    }
    let sizes = Length::of(&String::from_utf8_lossy(&kept));
    let extents = Extents { whole: Length::of(text), ends_in_newline: text.ends_with('\n'), kept: sizes, kept_lines: sizes.newlines + 1 };
    if !lines.footer.is_empty() {
        let newline: &[u8] = if kept.last() == Some(&b'\n') { b"" } else { b"\n" };
        kept.extend([newline, marker(&lines.footer, limits, &extents).as_bytes()].concat());
    }
    Some(kept)
}

/// The text with the ends of its long lines cut off; `None` where it has none.
fn short_lines(text: &str, most: u64) -> Option<String> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let short = |line: &str| line.char_indices().nth(most).map_or(line.len(), |(end, _)| end);
    if text.split('\n').all(|line| short(line) == line.len()) {
        return None;
    }
    let lines: Vec<&str> = text.split('\n').map(|line| line.get(..short(line)).unwrap_or(line)).collect();
    Some(lines.join("\n"))
}

/// Applies the limits to the texts of one result, in which `None` stands for what is no text; `None` where all of them pass whole.
/// What is no text stays where it is.
pub fn apply_to_texts(limits: &Truncate, items: &[Option<&str>]) -> Option<Vec<Option<String>>> {
    match &limits.texts {
        Some(texts) => one_by_one(limits, texts, items),
        None => as_one(limits, items),
    }
}

/// The texts as one: what is left of it stands in front of all that is no text.
fn as_one(limits: &Truncate, items: &[Option<&str>]) -> Option<Vec<Option<String>>> {
    // A text of nothing has a line of its own, but none before the first word.
    let texts: Vec<&str> = items.iter().flatten().copied().skip_while(|text| text.is_empty()).collect();
    let cut = apply(limits, &texts.join("\n"))?;
    let others = items.iter().filter(|item| item.is_none()).map(|_| None);
    Some(std::iter::once(Some(cut)).chain(others).collect())
}

/// Each text takes what it needs. The first that does not fit is cut to what is left, and those behind it are left out.
fn one_by_one(limits: &Truncate, texts: &Texts, items: &[Option<&str>]) -> Option<Vec<Option<String>>> {
    let grain = texts.grain.max(1);
    let mut room = limits.keep.or(limits.max)?;
    let (mut omitted, mut cut) = (0_u64, false);
    let mut left = Vec::with_capacity(items.len() + 1);
    for item in items {
        let Some(text) = item else {
            left.push(None);
            continue;
        };
        let cost = units(limits.unit, text).div_ceil(grain).saturating_mul(grain);
        if room == 0 {
            omitted += 1;
        } else if cost <= room {
            room -= cost;
            left.push(Some((*text).to_owned()));
        } else {
            let limits = Truncate { max: Some(room), keep: Some(room), ..limits.clone() };
            left.push(Some(apply(&limits, text).unwrap_or_else(|| (*text).to_owned())));
            (room, cut) = (0, true);
        }
    }
    if omitted > 0 {
        left.push(Some(texts.omitted.replace("{omitted}", &omitted.to_string())));
    }
    (omitted > 0 || cut).then_some(left)
}
