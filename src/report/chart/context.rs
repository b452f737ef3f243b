//! One session, call by call: the context as recorded, as simulated and as the policy estimated it, its limits, and what happened.

use super::document::{Axis, Drawing, Drawn, Form, Hue, Limit, Marks, Named, NothingToDraw, Place, Plot, Quantity, Series, Symbol};
use super::few::{LINES, few};
use super::kind::{Kind, Life, Material, Need};
use crate::corpus::Corpus;
use crate::experiment::Replay;
use crate::policy::Trigger;
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::words::{counted, first_few, grouped};
use crate::sim::{CallOutcome, EventKind, Outcome};
use crate::trace::{CallRow, Trace};
use crate::transcript::CompactionKind;
use std::borrow::Cow;

/// Estimates and limits are drawn of so many policies at most: more of them could not be told apart.
const TOLD: usize = 2;

/// A limit so many times above all contexts, in tenths, is named and not drawn: it would press everything to the ground.
const FAR: u64 = 25;

/// The events that are marked, each with its symbol.
const EVENTS: [(EventKind, Symbol); 6] = [
    (EventKind::Truncate, Symbol::Up),
    (EventKind::Prune, Symbol::Down),
    (EventKind::Compact, Symbol::Diamond),
    (EventKind::Reset, Symbol::Diamond),
    (EventKind::Drop, Symbol::Square),
    (EventKind::Inject, Symbol::Disc),
];

/// Context over the calls of one session.
pub const CONTEXT: Kind = Kind {
    name: "context",
    sentence: "one session, call by call: context recorded and simulated, the policy's estimate, limits, and what happened",
    needs: &[Need::Session],
    usual: None,
    draw: context,
};

/// The session in which most happens, of those with recorded usage where there are any: compactions, prunings and refusals, recorded and under these policies;
/// of equals the one with the most calls, then the earlier one.
pub fn busiest(corpus: &Corpus, replays: &[&Replay]) -> usize {
    let happens = |place: &usize| {
        let trace = corpus.traces.at(*place);
        let simulated = replays.iter().filter_map(|replay| replay.outcomes.at(*place)).map(|outcome| {
            let totals = &outcome.totals;
            let kinds = [EventKind::Prune, EventKind::Compact, EventKind::Reset, EventKind::Drop];
            totals.overflows + kinds.into_iter().map(|kind| totals.events_of(kind)).sum::<u64>()
        });
        let trace = trace.as_deref();
        let compactions =
            |trace: &Trace| trace.compactions.iter().filter(|event| event.kind == CompactionKind::Compact && !event.copy).count();
        // Without recorded usage there is nothing to stand beside.
        let has_usage = trace.is_some_and(|trace| trace.calls.iter().any(|call| call.own_usage().is_some()));
        (has_usage, trace.map_or(0, compactions), simulated.sum::<u64>(), trace.map_or(0, |trace| trace.calls.len()))
    };
    (0..corpus.traces.len()).rev().max_by_key(happens).unwrap_or(0)
}

/// A policy, and what became of the session under it.
type Lived<'a> = (&'a Life<'a>, Cow<'a, Outcome>);

/// The chart of one session.
fn context(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { corpus, session: (place, lives), .. } = *material;
    let trace = corpus
        .traces
        .at(place)
        .filter(|trace| !trace.calls.is_empty())
        .ok_or(NothingToDraw::Nothing("the session has no call".to_owned()))?;
    let outcomes: Vec<Lived<'_>> = lives.iter().filter_map(|life| Some((life, life.replay.outcomes.at(place)?))).collect();
    let shown = few(outcomes.len(), LINES, |place| outcomes.get(place).map(|(_, outcome)| outcome.totals.prompt_tokens));
    let mut series = vec![recorded(&trace)];
    let mut marks = itself(&trace);
    for (number, (life, outcome)) in shown.places.iter().filter_map(|place| outcomes.get(*place)).enumerate() {
        let hue = hue(life, number);
        if outcomes.len() <= TOLD {
            series.extend(believed(life, outcome, hue));
        }
        series.push(simulated(life, outcome, hue));
        marks.extend(happened(outcome, hue));
    }
    series.retain(|series| !series.points.is_empty());
    let highest = outcomes.iter().map(|(_, outcome)| outcome.totals.peak_tokens).max().unwrap_or(0).max(trace.largest_prompt());
    let (limits, beyond) = limits(&outcomes, highest);
    let mut notes: Vec<String> = shown.note("the tokens of its prompts", "are drawn").into_iter().chain(beyond).collect();
    if outcomes.len() <= TOLD && !limits.is_empty() {
        notes.push("Rules fire by the policy's estimate of the context, overflows by its actual size.".to_owned());
    }
    Ok(Drawn {
        title: title(&trace, &outcomes),
        subtitle: subtitle(&trace, outcomes.len()),
        drawing: Drawing::Plot(Plot {
            x: Axis { from: Some(1.0), ..Axis::of("call", Quantity::Count) },
            y: Axis::of("context", Quantity::Tokens),
            series,
            limits,
            marks,
        }),
        notes,
        data: data(&trace, &outcomes),
    })
}

/// Each policy's hue: that of the own one says so.
fn hue(life: &Life<'_>, number: usize) -> Hue {
    if life.is_own { Hue::Own } else { Hue::Other(number) }
}

/// Of what the agent itself did, by kind: where, and how large the next recorded prompt is.
fn itself(trace: &Trace) -> Vec<Marks> {
    let of = |kind: CompactionKind, name: &str, symbol: Symbol| {
        let events = trace.compactions.iter().filter(|event| event.kind == kind && !event.copy).map(|event| trace.first_call_behind(event));
        let prompt = |call: usize| Some((call as f64 + 1.0, trace.calls.get(call)?.own_usage()?.prompt as f64));
        let mut points: Vec<(f64, f64)> = events.filter_map(prompt).collect();
        points.dedup();
        Marks { name: name.to_owned(), symbol, hue: Hue::Recorded, points }
    };
    let marks =
        [of(CompactionKind::Compact, "recorded compaction", Symbol::Ring), of(CompactionKind::Prune, "recorded prune", Symbol::Plus)];
    marks.into_iter().filter(|marks| !marks.points.is_empty()).collect()
}

fn title(trace: &Trace, outcomes: &[Lived<'_>]) -> String {
    let told = |(life, outcome): &Lived<'_>| {
        let totals = &outcome.totals;
        let events = |kind: EventKind| totals.events_of(kind);
        let all = [
            (totals.overflows, "overflow"),
            (crate::experiment::metric::compactions(totals), "compaction"),
            (events(EventKind::Prune), "prune"),
            (events(EventKind::Drop), "drop"),
        ];
        let few: Vec<String> = all.iter().filter(|(number, _)| *number > 0).map(|(number, noun)| counted(*number, noun)).collect();
        let happened = if few.is_empty() { "no overflow, no compaction".to_owned() } else { few.join(", ") };
        format!("{}: {happened}", life.replay.policy)
    };
    let recorded = trace.compactions.iter().filter(|event| event.kind == CompactionKind::Compact && !event.copy).count() as u64;
    let recorded = if recorded > 0 { format!("; recorded: {}", counted(recorded, "compaction")) } else { String::new() };
    match outcomes {
        [] => "The context of one session, call by call".to_owned(),
        few if few.len() <= TOLD => format!("The context under {}{recorded}", few.iter().map(told).collect::<Vec<_>>().join("; ")),
        many => format!("The context of one session under {} policies", many.len()),
    }
}

fn subtitle(trace: &Trace, policies: usize) -> String {
    let drawn = match policies {
        0 => "recorded",
        1..=TOLD => "recorded, simulated, and as the policy estimated it",
        _ => "recorded and simulated",
    };
    let agent = [trace.agent.as_str(), trace.version.as_str()].join(" ");
    let model = trace.main_model().unwrap_or("model not named");
    format!("session {}, {}, {model}, {}; {drawn}", trace.id, agent.trim(), counted(trace.calls.len() as u64, "call"))
}

fn numbered<'a>(values: impl Iterator<Item = Option<u64>> + 'a) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> =
        values.enumerate().map(|(call, value)| ((call + 1) as f64, value.map_or(f64::NAN, |tokens| tokens as f64))).collect();
    if points.iter().all(|(_, tokens)| tokens.is_nan()) { Vec::new() } else { points }
}

fn recorded(trace: &Trace) -> Series {
    let prompts = trace.calls.iter().map(|call| call.own_usage().map(|usage| usage.prompt));
    Series::of("recorded", Hue::Recorded, Form::Broad, Provenance::Recorded, numbered(prompts))
}

fn simulated(life: &Life<'_>, outcome: &Outcome, hue: Hue) -> Series {
    let contexts = outcome.calls.iter().map(|call| Some(call.actual));
    Series::of(&life.replay.policy, hue, Form::Line, Provenance::Simulated, numbered(contexts))
}

fn believed(life: &Life<'_>, outcome: &Outcome, hue: Hue) -> Option<Series> {
    let points = numbered(outcome.calls.iter().map(|call| call.belief.get()));
    let name = format!("estimate of {}", life.replay.policy);
    (!points.is_empty()).then(|| Series::of(name, hue, Form::Faint, Provenance::Simulated, points).named(Named::Key))
}

fn happened(outcome: &Outcome, hue: Hue) -> Vec<Marks> {
    let call = |call: u32| f64::from(call) + 1.0;
    let after = |number: u32| outcome.calls.get(number as usize).map(|row| (call(number), row.actual as f64));
    let mut marks: Vec<Marks> = Vec::new();
    for (kind, symbol) in EVENTS {
        let mut points: Vec<(f64, f64)> =
            outcome.events.iter().filter(|event| event.kind == kind).filter_map(|event| after(event.call)).collect();
        points.dedup();
        marks.push(Marks { name: kind.name().to_owned(), symbol, hue, points });
    }
    let refused = |lost: bool| {
        let rows = outcome.calls.iter().enumerate().filter(move |(_, row)| row.refused > 0 && row.unrecovered == lost);
        rows.map(|(number, row)| (call(number as u32), row.attempted as f64)).collect::<Vec<_>>()
    };
    marks.push(Marks { name: "overflow, recovered".to_owned(), symbol: Symbol::Ring, hue: Hue::Alarm, points: refused(false) });
    marks.push(Marks { name: "overflow, session fails".to_owned(), symbol: Symbol::Cross, hue: Hue::Alarm, points: refused(true) });
    marks.retain(|marks| !marks.points.is_empty());
    marks
}

/// Window, reserve and triggers, each once; and a sentence for those that lie far above.
fn limits(outcomes: &[Lived<'_>], highest: u64) -> (Vec<Limit>, Vec<String>) {
    let mut found: Vec<(u64, String, Hue)> = Vec::new();
    let mut add = |tokens: u64, name: String, hue: Hue| {
        if tokens > 0 && !found.iter().any(|(known, other, _)| *known == tokens && *other == name) {
            found.push((tokens, name, hue));
        }
    };
    for (number, (life, outcome)) in outcomes.iter().enumerate() {
        add(outcome.window, "window".to_owned(), Hue::Limit);
        if outcome.prompt_limit < outcome.window {
            add(outcome.prompt_limit, "largest prompt".to_owned(), Hue::Limit);
        }
        if outcomes.len() > TOLD {
            continue;
        }
        let hue = hue(life, number);
        let reserve = life.conditions.reserve.unwrap_or(life.plan.window.reserve);
        if reserve > 0 {
            add(outcome.window.saturating_sub(reserve), "window less reserve".to_owned(), hue);
        }
        for rule in &life.plan.rule {
            for limit in rule.when.iter().flat_map(Trigger::levels) {
                if limit >= 1.0 && limit < outcome.window as f64 {
                    add(limit as u64, rule.id.clone(), hue);
                }
            }
        }
    }
    // Rules that fire at one size share a line.
    let mut merged: Vec<(u64, Vec<String>, Hue)> = Vec::new();
    for (tokens, name, hue) in found {
        match merged.iter_mut().find(|(known, _, other)| *known == tokens && *other == hue && hue != Hue::Limit) {
            Some((_, names, _)) => names.push(name),
            None => merged.push((tokens, vec![name], hue)),
        }
    }
    let few = |names: Vec<String>| if names.len() > 2 { first_few(&names, 1).replace(" and ", " + ") } else { names.join(", ") };
    let found: Vec<(u64, String, Hue)> = merged.into_iter().map(|(tokens, names, hue)| (tokens, few(names), hue)).collect();
    let far = |tokens: u64| tokens.saturating_mul(10) > highest.saturating_mul(FAR);
    let beyond = found.iter().filter(|(tokens, ..)| far(*tokens)).map(|(tokens, name, _)| format!("{name} at {}", grouped(*tokens)));
    let beyond: Vec<String> = beyond.collect();
    let sentence = format!("Above the chart: {} tokens.", beyond.join(", "));
    let shown = found.iter().filter(|(tokens, ..)| !far(*tokens));
    let limits = shown.map(|(tokens, name, hue)| Limit {
        name: format!("{name} {}", short_tokens(*tokens)),
        hue: *hue,
        place: Place::Height(*tokens as f64),
    });
    (limits.collect(), if beyond.is_empty() { Vec::new() } else { vec![sentence] })
}

/// Tokens as they stand beside a line: `160k`, `27.9k`.
pub(super) fn short_tokens(tokens: u64) -> String {
    let tenths = (tokens + 50) / 100;
    match (tokens, tenths % 10) {
        (0..1_000, _) => tokens.to_string(),
        (_, 0) => format!("{}k", grouped(tenths / 10)),
        (_, tenth) => format!("{}.{tenth}k", grouped(tenths / 10)),
    }
}

/// A call: under which policy, its place, and its recorded prompt.
type Row<'a> = (Option<(&'a Life<'a>, &'a Outcome, &'a CallOutcome)>, usize, Option<u64>);

fn data(trace: &Trace, outcomes: &[Lived<'_>]) -> Table {
    let simulated = outcomes.iter().flat_map(|(life, outcome)| {
        outcome.calls.iter().enumerate().map(move |(number, call)| (Some((*life, &**outcome, call)), number, call.recorded.get()))
    });
    let prompt = |call: &CallRow| call.own_usage().map(|usage| usage.prompt);
    let recorded = trace.calls.iter().enumerate().filter(|_| outcomes.is_empty()).map(|(number, call)| (None, number, prompt(call)));
    let column = |key, provenance| Column::number(key, key, Unit::Tokens, provenance);
    let cell = |tokens: Option<u64>| tokens.map_or(Cell::Empty, Cell::Tokens);
    let events = |outcome: &Outcome, number: usize| {
        let here = outcome.events.iter().filter(|event| event.call as usize == number);
        Cell::Name(here.map(|event| event.kind.name()).collect::<Vec<&str>>().join(" "))
    };
    Fields::<Row<'_>>::new()
        .with(Column::name("policy", "policy"), |(lived, ..)| lived.map_or(Cell::Empty, |(life, ..)| Cell::name(&life.replay.policy)))
        .with(Column::recorded("call", "call", Unit::Count), |(_, number, _)| Cell::Count(*number as u64 + 1))
        .with(column("recorded", Provenance::Recorded), move |(.., recorded)| cell(*recorded))
        .with(column("context", Provenance::Simulated), move |(lived, ..)| cell(lived.map(|(.., call)| call.actual)))
        .with(column("attempted", Provenance::Simulated), move |(lived, ..)| cell(lived.map(|(.., call)| call.attempted)))
        .with(column("belief", Provenance::Simulated), move |(lived, ..)| cell(lived.and_then(|(.., call)| call.belief.get())))
        .with(column("prompt_limit", Provenance::Simulated), move |(lived, ..)| cell(lived.map(|(_, outcome, _)| outcome.prompt_limit)))
        .with(Column::name("events", "events"), |(lived, number, _)| lived.map_or(Cell::Empty, |(_, outcome, _)| events(outcome, *number)))
        .table(2, simulated.chain(recorded))
}
