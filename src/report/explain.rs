//! `explain`: one session's life under one policy, as an agent's own log would tell it.

mod account;
mod call;
mod folding;
mod picture;

pub use account::own_words;
pub use call::no_call;

use super::asked::{Subject, Telling};
use super::document::{Cell, Column, Report, Screen, Section, Table, Unit};
use super::record::replay::ExplainRecord;
use super::words::{counted, grouped, percent};
use super::{causes, notes, references, refetch};
use crate::list::Gather;
use crate::policy::{Facts, Hook, Policy};
use crate::sim::{CallOutcome, Event, EventKind, Outcome, Refetch};
use crate::trace::Trace;
use account::account;
use call::call;
use folding::{Fold, folds};
use std::collections::{BTreeMap, BTreeSet};

/// The report on one session.
pub fn explain(subject: &Subject<'_>) -> Report {
    let nothing = (Trace::default(), Outcome::default());
    let trace = subject.corpus.traces.first().unwrap_or(&nothing.0);
    // Where the loop was closed, the life that is told is the closed one.
    let replay = subject.replay.closed.as_deref().unwrap_or(subject.replay);
    let outcome = replay.outcomes.first().unwrap_or(&nothing.1);
    let replays = std::slice::from_ref(replay);
    let rules = Rules::new(subject.policy, outcome);
    let told = timeline(&rules, outcome, &folds(&outcome.events));
    let facts = facts(trace, outcome).into_iter();
    let threshold = replay.thresholds.first().copied().flatten();
    let screen = match subject.telling {
        Telling::Life => subject.replay.closed.is_none().then(|| account(trace, outcome, &told, threshold)),
        Telling::Calls => Some(Screen { sections: vec![told.clone().titled("")], ..Screen::default() }),
        Telling::Lost => {
            let lost = references::worst_of(outcome);
            let lost = lost.unwrap_or_else(|| Section::lines(vec!["No reused text was gone.".to_owned()]));
            let what = "Simulated: text that a reply repeats, and that the policy had taken out of the context.".to_owned();
            Some(Screen { sections: vec![Section::lines(vec![what]), lost], ..Screen::default() })
        }
        Telling::At(number) => Some(call(trace, outcome, &timeline(&rules, outcome, &BTreeMap::new()), number)),
    };
    let closed = subject.replay.closed.as_deref().map(|closed| refetch::in_short(subject.replay, closed));
    let mut sections = vec![Section::lines(facts.chain(closed).collect()), told.titled("Calls and events")];
    sections.extend(causes::causes(replays.iter()));
    sections.extend(causes::warnings(replays.iter()));
    sections.extend(references::worst_of(outcome));
    let mut notes = notes::of_one_session(subject.corpus, replay);
    if subject.replay.closed.is_some() {
        notes.insert(0, refetch::NOTE.to_owned());
    }
    let title = format!("Session {} under {}", trace.id, subject.replay.policy);
    let (facts, rows) = (&subject.corpus.facts, timeline(&rules, outcome, &BTreeMap::new()));
    let record = ExplainRecord::new(trace, replay, outcome);
    Report { title, screen, corpus: None, ..Report::over(facts, sections, notes, rows, record) }
}

fn facts(trace: &Trace, outcome: &Outcome) -> Vec<String> {
    let totals = &outcome.totals;
    let agent = [trace.agent.as_str(), trace.version.as_str()].join(" ");
    let mut facts = vec![format!("recorded by {} in {}", agent.trim(), trace.source)];
    if let Some(parent) = &trace.parent {
        facts.push(format!("started by session {parent}"));
    }
    let model = trace.main_model().unwrap_or("not named");
    let limit = match outcome.prompt_limit < outcome.window {
        true => format!(", prompts of at most {}", grouped(outcome.prompt_limit)),
        false => String::new(),
    };
    facts.push(format!("model {model}, window {} tokens{limit}", grouped(outcome.window)));
    let saved = percent(totals.tokens_saved(), totals.recorded_tokens);
    let prompts = format!("{} prompt tokens, {saved} saved, peak {}", grouped(totals.prompt_tokens), grouped(totals.peak_tokens));
    facts.push(format!("{}, {prompts}", counted(totals.calls, "call")));
    facts.push(format!("{}, {} of them recovered", counted(totals.overflows, "overflow"), grouped(totals.recovered)));
    facts.extend(outcome.ended_at().map(|call| {
        let behind = counted(totals.after_end.calls, "call");
        format!(
            "the policy fails the session at call {}; the log holds {behind} behind it, which count for nothing",
            grouped(call as u64 + 1)
        )
    }));
    facts
}

/// Calls and events in order; of events that are folded only the first has a row, which stands for all.
fn timeline(rules: &Rules, outcome: &Outcome, folds: &BTreeMap<usize, Fold>) -> Table {
    let columns = vec![
        Column::recorded("call", "call", Unit::Count),
        Column::name("event", "event"),
        Column::simulated("context_tokens", "context", Unit::Tokens).says("tokens in the context, after the event"),
        Column::recorded("reply_tokens", "reply", Unit::Tokens)
            .says("the call's reply: as recorded, or estimated where the log holds a placeholder"),
        Column::prose("what", "what happened"),
    ];
    let mut rows = Vec::with_capacity(outcome.calls.len() + outcome.events.len());
    let numbered: Vec<(usize, &Event)> = outcome.events.iter().enumerate().collect();
    let readings = numbered.iter().filter(|(_, event)| event.kind == EventKind::Refetch).map(|(place, _)| *place);
    let readings: BTreeMap<usize, &Refetch> = readings.zip(&outcome.refetches).gather();
    let row = |(place, event): &(usize, &Event)| match folds.get(place) {
        None => Some(readings.get(place).map_or_else(|| event_row(event, rules), |refetch| refetch_row(event, refetch))),
        Some(Fold::First { last, calls }) => Some(folded_row(event, *last, *calls)),
        Some(Fold::Told) => None,
    };
    let mut events = numbered.as_slice();
    for (index, call) in outcome.calls.iter().enumerate() {
        let ends = events.iter().position(|(_, event)| event.call as usize > index).unwrap_or(events.len());
        let (mine, later) = events.split_at(ends);
        events = later;
        let replies = mine.iter().position(|(_, event)| rules.after_the_reply.contains(event.rule.as_str())).unwrap_or(mine.len());
        let (before, after) = mine.split_at(replies);
        rows.extend(before.iter().filter_map(row));
        rows.push(call_row(index, call));
        rows.extend(after.iter().filter_map(row));
    }
    rows.extend(events.iter().filter_map(row));
    Table { labels: 2, columns, rows: rows.into() }
}

/// Rules by where they stand in the loop.
struct Rules {
    /// They run when the reply is already there.
    after_the_reply: BTreeSet<String>,
    /// They cut what arrives: their events tell the sizes of an item, not those of the context.
    on_arrival: BTreeSet<String>,
}

impl Rules {
    /// Where rules stand does not depend on the model, so any facts do.
    fn new(policy: &Policy, outcome: &Outcome) -> Rules {
        let max_input = if outcome.prompt_limit < outcome.window { outcome.prompt_limit } else { 0 };
        let facts = Facts { window: Some(outcome.window), max_input, ..Facts::default() };
        let rules = policy.plan(&facts).map(|plan| plan.rule).unwrap_or_default();
        let at = |hooks: &[Hook]| rules.iter().filter(|rule| hooks.contains(&rule.at)).map(|rule| rule.id.clone()).gather();
        Rules { after_the_reply: at(&[Hook::PostCall, Hook::TurnEnd]), on_arrival: at(&[Hook::Ingest]) }
    }
}

fn call_row(index: usize, call: &CallOutcome) -> Vec<Cell> {
    let mut words = Vec::new();
    if let Some(recorded) = call.recorded.get().filter(|recorded| *recorded != call.actual) {
        words.push(format!("recorded {}", grouped(recorded)));
    }
    if let Some(belief) = call.belief.get() {
        let when = if call.rewritten { "before it was rewritten" } else { "at the last look" };
        words.push(format!("estimated {} {when}", grouped(belief)));
    }
    let marks = [
        (call.unrecovered, "refused, session fails"),
        (call.refused > 0 && !call.unrecovered, "refused at first"),
        (call.reply_cut && !call.unrecovered, "reply cut"),
        (call.over_budget, "over budget"),
    ];
    words.extend(marks.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned()));
    vec![
        Cell::Count(index as u64 + 1),
        Cell::Name("call".to_owned()),
        Cell::Tokens(call.actual),
        Cell::Tokens(call.output),
        Cell::Name(words.join(", ")),
    ]
}

fn event_row(event: &Event, rules: &Rules) -> Vec<Cell> {
    let cut = event.kind == EventKind::Truncate && rules.on_arrival.contains(event.rule.as_str());
    // Neither the summariser's request nor a single item is the context of the session.
    let context = if cut || event.kind == EventKind::SummariserOverflow { Cell::Empty } else { Cell::Tokens(event.after) };
    let story = if cut { format!("{}: the item {}", event.rule, change(event)) } else { story(event) };
    named_row(event, context, story)
}

/// One more request, and what it brought back.
fn refetch_row(event: &Event, refetch: &Refetch) -> Vec<Cell> {
    let tool = refetch.tool.as_ref().map(|tool| format!(" of {tool}")).unwrap_or_default();
    let what = format!("reads message {} again ({}{tool})", grouped(u64::from(refetch.source) + 1), refetch.category.name());
    let times =
        if refetch.before > 0 { format!(", read again {} before", counted(u64::from(refetch.before), "time")) } else { String::new() };
    let request = &refetch.request;
    let story = format!("{what}{times}: one more request of {} tokens brings {}", grouped(request.actual), grouped(refetch.result_tokens));
    let name = Cell::Name(event.kind.name().to_owned());
    vec![Cell::Count(u64::from(event.call) + 1), name, Cell::Tokens(event.after), Cell::Tokens(request.output), Cell::Text(story)]
}

/// Several events of a rule that fired without effect, call after call.
fn folded_row(event: &Event, last: u32, calls: u64) -> Vec<Cell> {
    let (first, last) = (u64::from(event.call) + 1, u64::from(last) + 1);
    let calls = counted(calls, "call");
    let story = format!("calls {} to {}: fired without gain at each of {calls}; at first {}", grouped(first), grouped(last), fired(event));
    named_row(event, Cell::Tokens(event.after), story)
}

fn named_row(event: &Event, context: Cell, story: String) -> Vec<Cell> {
    vec![Cell::Count(u64::from(event.call) + 1), Cell::Name(name(event.kind)), context, Cell::Empty, Cell::Text(story)]
}

/// What an event is called; documents keep the name that programs know.
pub(super) fn name(kind: EventKind) -> String {
    match kind {
        EventKind::Unrecoverable => "failed".to_owned(),
        _ => kind.name().replace('_', " "),
    }
}

/// What an event was, in words.
pub(super) fn story(event: &Event) -> String {
    match event.kind {
        EventKind::Overflow => {
            let limit = event.limit.map(|limit| format!(" of {} allowed", grouped(limit))).unwrap_or_default();
            let cause = event.cause.map(|cause| format!("; cause: {}", cause.name())).unwrap_or_default();
            let belief = event.belief.map(|belief| format!("; the policy's estimate: {}", grouped(belief))).unwrap_or_default();
            let tool = event.tool.as_ref().map(|tool| format!("; largest arrival: a result of {tool}")).unwrap_or_default();
            format!("{}{limit}{cause}{belief}{tool}", grouped(event.before))
        }
        EventKind::Retry => format!("the fallback ran: {}", change(event)),
        EventKind::GiveUp => "the agent gives up instead of calling".to_owned(),
        EventKind::Unrecoverable => "no try went through: the session ends here".to_owned(),
        EventKind::NoGain => format!("{} and changed nothing", fired(event)),
        EventKind::Discard => format!("{}; a summary is paid for and thrown away", fired(event)),
        EventKind::SummariserOverflow => {
            format!("the summariser's own request has {} tokens, more than the {} that fit", grouped(event.before), grouped(event.after))
        }
        EventKind::Refetch => format!("reads again what it had lost: {}", change(event)),
        EventKind::Truncate | EventKind::Prune | EventKind::Compact | EventKind::Drop | EventKind::Reset | EventKind::Inject => {
            format!("{}; touched {}; {}", fired(event), counted(u64::from(event.touched), "item"), change(event))
        }
    }
}

fn fired(event: &Event) -> String {
    let rule = if event.rule.is_empty() { "a rule".to_owned() } else { event.rule.clone() };
    if let Some(tally) = event.count {
        return format!("{rule}: {} {}, limit {}", grouped(tally.number), tally.of.name(), grouped(tally.limit));
    }
    match (event.belief, event.limit) {
        (Some(belief), Some(limit)) => format!("{rule}: estimated {}, limit {}", grouped(belief), grouped(limit)),
        (Some(belief), None) => format!("{rule}: estimated {}", grouped(belief)),
        _ => rule,
    }
}

fn change(event: &Event) -> String {
    let (before, after) = (event.before, event.after);
    match before.checked_sub(after) {
        Some(0) => format!("{} unchanged", grouped(before)),
        Some(recovered) => format!("{} -> {}, recovered {}", grouped(before), grouped(after), grouped(recovered)),
        None => format!("{} -> {}, added {}", grouped(before), grouped(after), grouped(after - before)),
    }
}
