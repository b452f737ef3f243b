//! A run that several programs wrote down, each in its own form: the agent's log beside the trajectory that a harness made of it, or beside
//! what the agent printed. Messages and calls have other ids in each, or none; the session has one.

use crate::list::{Gather, List, packed};
use crate::trace::{Key, PartKind, Trace};
use crate::transcript::{Role, Trust};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::rc::Rc;
use xxhash_rust::xxh3::xxh3_64;

/// Who wrote a session down: the agent that its reader names, and whether it was printed, as what has neither ids nor times is taken to be.
type Form = (String, bool);

/// The sessions whose run stands in several forms, by their places.
#[derive(Default)]
pub(super) struct Forms {
    /// Those of the form that counts.
    pub counted: HashSet<usize>,
    /// Those of the other forms. Where ids tell which of their calls stand in the form that counts: the sizes of the prompts that it has.
    pub held: BTreeMap<usize, Option<Rc<BTreeSet<u64>>>>,
}

/// The runs that stand in several forms. The agent's own log counts where it lacks no more than a tenth of the calls with usage, else the form with more usage: such calls decide, then their prompts, then what else is recorded. All sessions of
/// one form that share the id of the run stay, or go, together, with those that they started.
///
/// Some harnesses name runs by their task, and an id may be that of several agents' runs together. So a form goes where more than half of its
/// prompts, or of the texts of its replies, are of sizes that stand in the other one too.
pub(super) fn of_one_run(traces: &List<Trace>) -> Forms {
    let mut found = of_one_id(traces);
    written_twice(traces, &mut found);
    found
}

fn of_one_id(traces: &List<Trace>) -> Forms {
    let mut found = Forms::default();
    // Of many sessions hardly any share an id: those alone are looked at.
    let hash = |id: &str| xxh3_64(id.as_bytes());
    let mut ids: Vec<u64> = traces.each().filter(|trace| is_drawn(&trace.id)).map(|trace| hash(&trace.id)).collect();
    ids.sort_unstable();
    let shared: FxHashSet<u64> = ids.iter().zip(ids.iter().skip(1)).filter(|(one, next)| one == next).map(|(one, _)| *one).collect();
    drop(ids);
    if shared.is_empty() {
        return found;
    }
    let mut runs: BTreeMap<String, BTreeMap<Form, Vec<usize>>> = BTreeMap::new();
    for (place, trace) in traces.each().enumerate().filter(|(_, trace)| shared.contains(&hash(&trace.id)) && is_drawn(&trace.id)) {
        let forms = runs.entry(trace.id.clone()).or_default();
        forms.entry((trace.agent.clone(), is_printed(&trace))).or_default().push(place);
    }
    runs.retain(|_, forms| forms.len() > 1);
    if runs.is_empty() {
        return found;
    }
    // Those that they started, and those that these started.
    let child = |(place, trace): (usize, Cow<'_, Trace>)| {
        let parent = trace.parent.clone().filter(|parent| *parent != trace.id)?;
        Some((place, trace.id.clone(), parent, (trace.agent.clone(), is_printed(&trace))))
    };
    let mut children: Vec<_> = traces.each().enumerate().filter_map(child).collect();
    let itself = |(run, forms): (&String, &BTreeMap<Form, _>)| {
        forms.keys().map(|form| ((run.clone(), form.clone()), run.clone())).collect::<Vec<_>>()
    };
    let mut run_of: BTreeMap<(String, Form), String> = runs.iter().flat_map(itself).gather();
    let mut left = usize::MAX;
    while children.len() < left {
        left = children.len();
        children.retain(|(place, id, parent, form)| {
            let Some(run) = run_of.get(&(parent.clone(), form.clone())).cloned() else { return true };
            runs.get_mut(&run).and_then(|forms| forms.get_mut(form)).into_iter().for_each(|places| places.push(*place));
            if is_drawn(id) {
                run_of.entry((id.clone(), form.clone())).or_insert(run);
            }
            false
        });
    }
    for forms in runs.values() {
        let all: BTreeMap<&Form, Recorded> = forms.iter().map(|(form, places)| (form, recorded(traces, places))).gather();
        let calls = all.values().map(|recorded| recorded.sum[0]).max().unwrap_or(0);
        // A trajectory or a print is made of what the agent logs, and lacks what it did to its context: it counts where it has clearly more.
        let rank = |form: &Form, recorded: &Recorded| (is_own(form) && recorded.sum[0] * 10 >= calls * 9, recorded.sum);
        let most = all.iter().max_by_key(|(form, recorded)| (rank(form, recorded), Reverse(**form)));
        let Some((&most, there)) = most else { continue };
        for (form, places) in forms.iter().filter(|(form, _)| *form != most) {
            let Some(own) = all.get(form) else { continue };
            let [prompts, replies] = [alike(&own.prompts, &there.prompts), alike(&own.replies, &there.replies)];
            // Either may be of the same sizes by chance, where the other never is.
            let one_run = |share: Option<u64>, other: Option<u64>| share > Some(50) && other != Some(0);
            // What an agent prints may say too little for that; its log has the id from the same agent.
            let says_nothing = own.prompts.is_empty() && own.replies.is_empty();
            if one_run(prompts, replies) || one_run(replies, prompts) || says_nothing && form.0 == most.0 {
                let told = (!own.ids.is_disjoint(&there.ids)).then(|| Rc::new(there.prompts.keys().copied().collect()));
                found.held.extend(places.iter().map(|place| (*place, told.clone())));
                found.counted.extend(forms.get(most).into_iter().flatten());
            }
        }
    }
    found
}

/// Runs that one folder holds twice under names of files, as a harness keeps what the agent wrote beside its own trajectory: the calls begin at one time, and more than nine tenths
/// of the prompts are of the same sizes, since the form goes with the calls that it alone has. The agent's own log counts, then what has more calls with usage and more
/// messages. Runs that an id has told are left as they are.
fn written_twice(traces: &List<Trace>, found: &mut Forms) {
    let told = |(place, trace): (usize, Cow<'_, Trace>)| {
        let folder = Path::new(&trace.source).parent()?.to_string_lossy().into_owned();
        let begun = trace.calls.first().and_then(|call| trace.time_of(call))?;
        let is_known = found.counted.contains(&place) || found.held.contains_key(&place);
        let paid = trace.usages().filter(|usage| usage.trust != Trust::Shared).count();
        let much = (is_own(&(trace.agent.clone(), is_printed(&trace))), paid, trace.messages.len());
        (much.1 > 1 && !is_known).then(|| (xxh3_64(&packed(&(folder, begun))), Reverse(much), place))
    };
    let mut runs: Vec<_> = traces.each().enumerate().filter_map(told).collect();
    runs.sort_unstable();
    for run in runs.chunk_by(|one, next| one.0 == next.0).filter(|run| run.len() > 1) {
        let mut forms = run.iter().filter_map(|(.., place)| Some((*place, traces.at(*place)?.agent.clone())));
        let Some((first, agent)) = forms.next() else { continue };
        let there = recorded(traces, &[first]).prompts;
        // What one reader made of two files are copies, or two runs.
        for (other, _) in forms.filter(|(_, other)| *other != agent) {
            if alike(&recorded(traces, &[other]).prompts, &there) > Some(90) {
                found.counted.insert(first);
                found.held.insert(other, None);
            }
        }
    }
}

/// How many of a hundred of these sizes stand there, too; `None` where one of both has none.
fn alike<S: Ord>(own: &BTreeMap<S, u64>, there: &BTreeMap<S, u64>) -> Option<u64> {
    let known: u64 = own.iter().filter(|(size, _)| there.contains_key(*size)).map(|(_, times)| times).sum();
    (known * 100).checked_div(own.values().sum()).filter(|_| !there.is_empty())
}

/// A text of fewer bytes is like many others.
const FEWEST_BYTES: u32 = 64;

/// What the sessions of one form record together, copies counted once.
#[derive(Default)]
struct Recorded {
    /// Calls with usage, tokens of their prompts, of these written to a cache, sessions of a known project, compactions, calls, messages.
    sum: [u64; 7],
    /// What calls and their replies are known by.
    ids: HashSet<Key>,
    /// How often each size of a prompt stands there.
    prompts: BTreeMap<u64, u64>,
    /// The same of the texts of replies: bytes, UTF-16 units, newlines.
    replies: BTreeMap<[u32; 3], u64>,
}

fn recorded(traces: &List<Trace>, places: &[usize]) -> Recorded {
    let (mut whole, mut paid): (FxHashSet<u64>, FxHashSet<Key>) = Default::default();
    let mut found = Recorded::default();
    let sum = &mut found.sum;
    for trace in places.iter().filter_map(|place| traces.at(*place)) {
        if trace.prints.last().is_some_and(|print| !whole.insert(*print)) {
            continue;
        }
        let beside = trace.side_calls.iter().map(|(usage, key)| (Some(*usage), *key));
        for (usage, key) in trace.calls.iter().map(|call| (call.own_usage(), call.key)).chain(beside) {
            if let Some(usage) = usage.filter(|_| key.is_none_or(|key| paid.insert(key))) {
                sum[0] += 1;
                sum[1] += usage.prompt;
                sum[2] += usage.cache_write;
                *found.prompts.entry(usage.prompt).or_default() += 1;
            }
            sum[5] += u64::from(key.is_none_or(|key| found.ids.insert(key)));
        }
        sum[3] += u64::from(trace.project.is_some());
        sum[4] += trace.compactions.len() as u64;
        sum[6] += trace.messages.len() as u64;
        for row in trace.messages.iter().filter(|row| row.role == Role::Assistant) {
            found.ids.extend(row.key);
            let texts = trace.parts_of(row).filter(|part| part.kind == PartKind::Text).map(|part| part.text.length);
            for length in texts.filter(|length| length.bytes >= FEWEST_BYTES) {
                *found.replies.entry([length.bytes, length.utf16, length.newlines]).or_default() += 1;
            }
        }
    }
    found
}

/// Is it what the agent itself logged, and neither printed nor made by a harness of that (ATIF)?
fn is_own((agent, printed): &Form) -> bool {
    agent != "atif" && !printed
}

fn is_printed(trace: &Trace) -> bool {
    let message = |row: &crate::trace::MessageRow| row.key.is_none() && row.time.get().is_none();
    trace.printed || trace.messages.iter().all(message) && trace.calls.iter().all(|call| call.key.is_none())
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
