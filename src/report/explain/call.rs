//! One call of a session: what it carried, what had come since the call before, what the policy saw and did there.

use crate::experiment::{Arrival, arrivals};
use crate::report::document::{Cell, Column, Fields, Screen, Section, Table, Unit};
use crate::report::words::{counted, grouped};
use crate::sim::Outcome;
use crate::trace::Trace;

/// Why a replay has no call of this number, counted from 1; `None` where it has one.
pub fn no_call(outcome: &Outcome, number: u64) -> Option<String> {
    let calls = outcome.calls.len() as u64;
    let why = match outcome.ended_at() {
        _ if (1..=calls).contains(&number) => return None,
        Some(last) => format!("the policy fails the session at call {}", grouped(last as u64 + 1)),
        None => format!("the session has {}", counted(calls, "call")),
    };
    Some(format!("there is no call {}: {why}", grouped(number)))
}

/// The screen of a call, counted from 1; `told` has all calls and events in order. Empty where the replay has no such call.
pub(super) fn call(trace: &Trace, outcome: &Outcome, told: &Table, number: u64) -> Screen {
    let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(row) = outcome.calls.get(index).filter(|_| number > 0) else { return Screen::default() };
    let recorded =
        row.recorded.get().map_or_else(|| "the log has no usage here".to_owned(), |tokens| format!("{} tokens", grouped(tokens)));
    let mut facts = vec![
        ("call", format!("{} of {}", grouped(number), grouped(trace.calls.len() as u64))),
        ("recorded", recorded),
        ("simulated", format!("{} tokens, {} of them resting on recorded usage", grouped(row.actual), grouped(row.anchored))),
    ];
    facts.extend(row.belief.get().map(|belief| ("estimate", format!("{} tokens, at the policy's last look", grouped(belief)))));
    facts.push(("reply", format!("{} tokens", grouped(row.output))));
    let arrivals = Fields::<Arrival>::new()
        .with(Column::name("what", "what"), |arrival| Cell::text(&arrival.words()))
        .with(Column::recorded("parts", "parts", Unit::Count), |arrival| Cell::Count(arrival.parts))
        .with(Column::estimated("tokens", "tokens", Unit::Tokens), |arrival| Cell::Tokens(arrival.tokens))
        .table(1, arrivals(trace, index));
    let since = if index == 0 { "What the session began with" } else { "What had come since the call before, the largest first" };
    let mut sections = vec![Section::facts(facts)];
    sections.extend(arrivals.section(since));
    let here = |row: &&Vec<Cell>| row.first() == Some(&Cell::Count(number));
    let events = Table { rows: told.rows.iter().filter(here).cloned().collect(), ..told.clone() };
    sections.push(events.titled("What happened"));
    Screen { sections, ..Screen::default() }
}
