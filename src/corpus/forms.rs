//! A run that several programs wrote down, each in its own form: the agent's log beside the trajectory that a harness made of it, or beside
//! what the agent printed. Messages and calls have other ids in each, or none; the session has one.

use crate::list::List;
use crate::trace::{Key, Trace};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// Who wrote a session down: the agent that its reader names, and whether neither messages nor calls have an id or a time, as in what agents print.
type Form = (String, bool);

/// The sessions whose run stands in another form with more usage: calls with usage decide, then their prompts, then what else is recorded. All sessions of one
/// form that share the id of the run stay, or go, together.
pub(super) fn held_in_another(traces: &List<Trace>) -> HashSet<usize> {
    let mut runs: BTreeMap<String, BTreeMap<Form, Vec<usize>>> = BTreeMap::new();
    for (place, trace) in traces.each().enumerate().filter(|(_, trace)| is_drawn(&trace.id)) {
        let forms = runs.entry(trace.id.clone()).or_default();
        forms.entry((trace.agent.clone(), is_nameless(&trace))).or_default().push(place);
    }
    let mut held = HashSet::new();
    for forms in runs.values().filter(|forms| forms.len() > 1) {
        let most = forms.iter().max_by_key(|(form, places)| (recorded(traces, places), Reverse(*form)));
        let others = forms.iter().filter(|(form, _)| most.is_some_and(|(most, _)| most != *form));
        held.extend(others.flat_map(|(_, places)| places));
    }
    held
}

/// What the sessions of one form record together, copies counted once: calls with usage, tokens of their prompts, compactions, calls, messages.
fn recorded(traces: &List<Trace>, places: &[usize]) -> [u64; 5] {
    let (mut whole, mut paid, mut made): (FxHashSet<u64>, FxHashSet<Key>, FxHashSet<Key>) = Default::default();
    let mut sum = [0; 5];
    for trace in places.iter().filter_map(|place| traces.at(*place)) {
        if trace.prints.last().is_some_and(|print| !whole.insert(*print)) {
            continue;
        }
        let beside = trace.side_calls.iter().map(|(usage, key)| (Some(*usage), *key));
        for (usage, key) in trace.calls.iter().map(|call| (call.usage.get(), call.key)).chain(beside) {
            if let Some(usage) = usage.filter(|_| key.is_none_or(|key| paid.insert(key))) {
                sum[0] += 1;
                sum[1] += usage.prompt;
            }
            sum[3] += u64::from(key.is_none_or(|key| made.insert(key)));
        }
        sum[2] += trace.compactions.len() as u64;
        sum[4] += trace.messages.len() as u64;
    }
    sum
}

fn is_nameless(trace: &Trace) -> bool {
    let message = |row: &crate::trace::MessageRow| row.key.is_none() && row.time.get().is_none();
    trace.messages.iter().all(message) && trace.calls.iter().all(|call| call.key.is_none())
}

/// Is an id drawn, so that no other run has it? A UUID is, or twenty letters and digits in a row with both among them. What people
/// give as names, counts and times are not.
fn is_drawn(id: &str) -> bool {
    let is_uuid = |window: &[u8]| {
        (0..).zip(window).all(|(at, byte)| if matches!(at, 8 | 13 | 18 | 23) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
    };
    let is_mixed =
        |run: &str| run.len() >= 20 && run.bytes().any(|byte| byte.is_ascii_digit()) && run.bytes().any(|byte| byte.is_ascii_alphabetic());
    id.as_bytes().windows(36).any(is_uuid) || id.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_mixed)
}

#[cfg(test)]
mod tests {
    use super::is_drawn;

    #[test]
    fn names_counts_and_times_are_not_drawn() {
        let drawn = [
            "9ff9e1ad-f3bc-46c1-8b2f-f240cb66f557",
            "T-019a17ae-caf0-76a3-8372-3b0a8116c06e",
            "ses_55f1a2b8cffeq0XkR7bT2mWzLp",
            "01JQ6Z3V9M4W8K2X7Y5T1N0P6R",
        ];
        assert!(drawn.into_iter().all(is_drawn));
        let given = [
            "session",
            "openclaw-session",
            "1712345678901",
            "2025-05-23 16:51:58",
            "django__django-12345",
            "a-very-long-name-of-a-run-that-is-2",
        ];
        assert!(!given.into_iter().any(is_drawn));
    }
}
