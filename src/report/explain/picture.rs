//! A session's context over its calls, drawn in letters, with what the policy did and what the agent itself had done.

use crate::list::Gather;
use crate::report::document::{Body, Section};
use crate::report::sparkline::LEVELS;
use crate::report::words::{grouped, three_digits};
use crate::sim::{EventKind, Outcome};
use crate::trace::{CompactionRow, Trace};
use crate::transcript::CompactionKind;
use std::collections::BTreeMap;

/// Columns at most: with what stands in front of them they fit the narrowest page.
const WIDE: usize = 48;

/// Lines of text that the bars fill.
const HIGH: usize = 3;

/// Letters in front of a line.
const FRONT: usize = 9;

/// The picture: bars of the simulated context, then a line of marks for the policy and one for the recording.
pub(super) fn picture(trace: &Trace, outcome: &Outcome) -> Option<Section> {
    let each = outcome.calls.len().div_ceil(WIDE).max(1);
    let bars: Vec<u64> = outcome.calls.chunks(each).map(|calls| calls.iter().map(|call| call.attempted).max().unwrap_or(0)).collect();
    let top = bars.iter().copied().max().filter(|top| *top > 0)?;
    let eighths = |bar: u64| usize::try_from(u128::from(bar) * (HIGH * LEVELS.len()) as u128 / u128::from(top)).unwrap_or(0).max(1);
    let line = |front: &str, letters: String| format!("{front:>FRONT$} {}", format!("│{letters}").trim_end());
    let mut lines: Vec<String> = (0..HIGH)
        .rev()
        .map(|row| {
            let front = if row + 1 == HIGH {
                three_digits(top)
            } else if row == 0 {
                "0".to_owned()
            } else {
                String::new()
            };
            let letter = |bar: &u64| match eighths(*bar).saturating_sub(row * LEVELS.len()).min(LEVELS.len()) {
                0 => ' ',
                level => LEVELS.get(level - 1).copied().unwrap_or(' '),
            };
            line(&front, bars.iter().map(letter).collect())
        })
        .collect();
    let marks = |mark: &dyn Fn(usize) -> Option<char>| -> String {
        let of = |column: usize| (column * each..(column + 1) * each).filter_map(mark).max_by_key(|letter| rank(*letter)).unwrap_or(' ');
        (0..bars.len()).map(of).collect()
    };
    let (done, happened) = (done(outcome), happened(trace));
    let simulated = marks(&|call| done.get(&call).copied());
    let recorded = marks(&|call| happened.get(&call).copied());
    for (front, letters) in [("simulated", simulated), ("recorded", recorded)] {
        lines.extend((!letters.trim().is_empty()).then(|| line(front, letters)));
    }
    let last = grouped(outcome.calls.len() as u64);
    // Of one call there is one number.
    let from = if outcome.calls.len() > 1 { "1" } else { " " };
    lines.push(format!("{:>FRONT$} {from}{last:>width$}", "call", width = bars.len().max(last.len())));
    let text = lines.join("\n");
    let all = [('C', "C compacted"), ('p', "p pruned or dropped"), ('x', "x refused")];
    let used: Vec<&str> =
        all.iter().filter(|(letter, _)| lines.iter().skip(HIGH).any(|line| line.contains(*letter))).map(|(_, words)| *words).collect();
    let legend = if used.is_empty() { String::new() } else { format!(" ({})", used.join(", ")) };
    Some(Section { title: String::new(), body: Body::Code("text", format!("Context, simulated{legend}\n{text}")) })
}

/// What the policy did at each call, or the provider.
fn done(outcome: &Outcome) -> BTreeMap<usize, char> {
    let mark = |kind: EventKind| match kind {
        EventKind::Compact | EventKind::Reset => Some('C'),
        EventKind::Prune | EventKind::Drop => Some('p'),
        _ => None,
    };
    let events = outcome.events.iter().filter_map(|event| Some((event.call as usize, mark(event.kind)?)));
    let refused = outcome.calls.iter().enumerate().filter(|(_, row)| row.refused > 0).map(|(call, _)| (call, 'x'));
    let mut done: BTreeMap<usize, char> = BTreeMap::new();
    for (call, letter) in events.chain(refused) {
        let known = done.entry(call).or_insert(letter);
        *known = std::cmp::max_by_key(*known, letter, |letter| rank(*letter));
    }
    done
}

/// What the recording agent did before each call: the first of several events.
fn happened(trace: &Trace) -> BTreeMap<usize, char> {
    let events = trace.compactions.iter().filter(|row| !row.copy);
    let mark = |row: &CompactionRow| if row.kind == CompactionKind::Compact { 'C' } else { 'p' };
    events.rev().map(|row| (trace.first_call_behind(row), mark(row))).gather()
}

/// Of several marks in one column the one that tells most is shown.
fn rank(letter: char) -> u8 {
    match letter {
        'x' => 2,
        'C' => 1,
        _ => 0,
    }
}
