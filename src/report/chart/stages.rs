//! What each stage of each policy freed.

use super::document::{Axis, Bar, BarRow, Bars, Drawing, Drawn, Hue, NothingToDraw, Piece, Quantity};
use super::few::{ROWS, few, told_apart};
use super::kind::{Kind, Material, Need};
use crate::corpus::Corpus;
use crate::experiment::Replay;
use crate::report::document::{Cell, Column, Fields, Table, Unit};
use crate::report::recording::RECORDED;
use crate::report::words::percent;
use crate::sim::{Event, EventKind, Lasts};
use crate::trace::{CallRow, Trace};
use crate::transcript::CompactionKind;
use std::collections::BTreeMap;

/// What frees tokens, in the order of the key.
const KINDS: [EventKind; 5] = [EventKind::Prune, EventKind::Compact, EventKind::Drop, EventKind::Reset, EventKind::Truncate];

/// One stage of one policy: what it does, its rule, and how long that lasts.
type Stage = (usize, String, Lasts);

/// How often a stage acted, and what it freed.
#[derive(Clone, Copy, Default)]
struct Freed {
    events: u64,
    tokens: u64,
}

/// What each stage of a policy freed.
pub const STAGES: Kind = Kind {
    name: "stages",
    sentence: "tokens that each stage of each policy freed",
    needs: &[Need::Replays, Need::Baselines],
    usual: None,
    draw: stages,
};

fn stages(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { corpus, replays, baselines, .. } = *material;
    let freed: Vec<(&Replay, BTreeMap<Stage, Freed>)> =
        baselines.with_own(replays).map(|replay| (replay, of_replay(corpus, replay))).collect();
    let recorded = of_recording(corpus);
    let seen = |kind: usize| {
        freed.iter().map(|(_, stages)| stages).chain([&recorded]).any(|stages| stages.keys().any(|(known, ..)| *known == kind))
    };
    let key: Vec<(Hue, String)> = KINDS
        .iter()
        .enumerate()
        .filter(|(place, _)| seen(*place))
        .map(|(place, kind)| (Hue::Other(place), kind.name().to_owned()))
        .collect();
    if key.is_empty() {
        return Err(NothingToDraw::Nothing("no stage of these policies freed anything".to_owned()));
    }
    let piece =
        |((kind, rule, _), freed): (&Stage, &Freed)| Piece { name: rule.clone(), hue: Hue::Other(*kind), length: freed.tokens as f64 };
    let row = |(replay, stages): &(&Replay, BTreeMap<Stage, Freed>)| {
        let saved = replay.totals.tokens_saved();
        let share = percent(saved.saturating_abs(), replay.totals.recorded_tokens);
        let value = match saved {
            _ if !replay.totals.is_comparable() => String::new(),
            0.. => format!("{share} fewer tokens"),
            _ => format!("{share} more tokens"),
        };
        BarRow { name: replay.policy.clone(), bar: Bar::Stack(stages.iter().map(piece).collect()), value }
    };
    let drawn = few(replays.len(), ROWS, |place| replays.get(place).map(|replay| std::cmp::Reverse(replay.totals.tokens_saved())));
    let sum = |stages: &BTreeMap<Stage, Freed>| stages.values().map(|freed| freed.tokens).sum::<u64>();
    let most = freed.iter().max_by_key(|(_, stages)| sum(stages));
    let title = most.map_or(String::new(), |(replay, stages)| {
        let of = if sum(&recorded) > sum(stages) { "Of the policies " } else { "" };
        format!("{of}{} takes the most out of its contexts", replay.policy)
    });
    let how = "A token counts once, however many calls go without it; at the end of a row stands how many prompt tokens fewer or more than recorded the policy sends.";
    let passing = freed.iter().any(|(_, stages)| stages.keys().any(|(.., lasts)| *lasts != Lasts::Session));
    let again = passing.then(|| {
        "What comes back after each request or turn and is taken out of the next again counts once a session, where it is largest; once more \
         behind each lasting prune, compaction, drop or reset."
            .to_owned()
    });
    Ok(Drawn {
        title,
        subtitle: "Tokens freed by stage, recorded and simulated".to_owned(),
        drawing: Drawing::Bars(Bars {
            x: Axis::of("freed", Quantity::Tokens),
            rows: (!recorded.is_empty())
                .then(|| BarRow { name: RECORDED.to_owned(), bar: Bar::Stack(recorded.iter().map(piece).collect()), value: String::new() })
                .into_iter()
                .chain(
                    told_apart(baselines, replays, &drawn)
                        .into_iter()
                        .filter_map(|(_, shown)| freed.iter().find(|(replay, _)| std::ptr::eq(*replay, shown)))
                        .map(row),
                )
                .collect(),
            limits: Vec::new(),
            key,
        }),
        notes: drawn
            .note("the tokens that they save", "have a row")
            .into_iter()
            .chain(again)
            .chain([how.to_owned()])
            .chain((!recorded.is_empty()).then(|| "Recorded: the prompt before an event less the one behind it.".to_owned()))
            .collect(),
        data: data(&freed, &recorded),
    })
}

fn of_replay(corpus: &Corpus, replay: &Replay) -> BTreeMap<Stage, Freed> {
    let mut stages = BTreeMap::new();
    corpus.traces.each().zip(replay.outcomes.each()).for_each(|(trace, outcome)| of_session(&trace, &outcome.events, &mut stages));
    stages
}

/// What a stage takes out for a request or a turn alone.
#[derive(Clone, Copy, Default)]
struct Passing {
    /// The number of the request, or of the turn.
    within: u32,
    /// What it has taken out of that so far.
    tokens: u64,
    /// The most that it has taken out of any since something lasting was done.
    most: u64,
}

fn of_session(trace: &Trace, events: &[Event], stages: &mut BTreeMap<Stage, Freed>) {
    let mut passing: BTreeMap<Stage, Passing> = BTreeMap::new();
    for event in events {
        let Some(kind) = KINDS.iter().position(|kind| *kind == event.kind) else { continue };
        let tokens = event.before.saturating_sub(event.after);
        let stage = (kind, event.rule.clone(), event.lasts);
        let freed = stages.entry(stage.clone()).or_default();
        freed.events += 1;
        let within = match event.lasts {
            Lasts::Session => {
                freed.tokens += tokens;
                if event.kind != EventKind::Truncate {
                    settle(&mut passing, stages);
                }
                continue;
            }
            Lasts::Turn => turn_of(trace, event.call),
            Lasts::Request => event.call,
        };
        let known = passing.entry(stage).or_default();
        known.tokens = if known.within == within { known.tokens + tokens } else { tokens };
        known.within = within;
        known.most = known.most.max(known.tokens);
    }
    settle(&mut passing, stages);
}

/// What was taken out for a time counts, once.
fn settle(passing: &mut BTreeMap<Stage, Passing>, stages: &mut BTreeMap<Stage, Freed>) {
    for (stage, passing) in std::mem::take(passing) {
        stages.entry(stage).or_default().tokens += passing.most;
    }
}

fn turn_of(trace: &Trace, call: u32) -> u32 {
    let message = trace.calls.get(call as usize).and_then(|call| trace.messages.get(call.message as usize));
    message.map_or(0, |message| message.turn)
}

/// What recorded events freed: the prompt before one less the one behind it, for several between the same two calls once.
fn of_recording(corpus: &Corpus) -> BTreeMap<Stage, Freed> {
    let mut stages: BTreeMap<Stage, Freed> = BTreeMap::new();
    for trace in corpus.traces.each() {
        // Once for all events: a session may hold as many as calls, and few calls a size.
        let prompt = |(place, call): (usize, &CallRow)| Some((place, call.own_usage()?.prompt));
        let prompts: Vec<(usize, u64)> = trace.calls.iter().enumerate().filter_map(prompt).collect();
        let mut counted = None;
        for event in trace.compactions.iter().filter(|event| !event.copy) {
            let kind = if event.kind == CompactionKind::Compact { EventKind::Compact } else { EventKind::Prune };
            let Some(place) = KINDS.iter().position(|known| *known == kind) else { continue };
            let call = trace.first_call_behind(event);
            let behind = prompts.partition_point(|(place, _)| *place < call);
            let before = behind.checked_sub(1).and_then(|last| prompts.get(last));
            let after = prompts.get(behind);
            let freed = stages.entry((place, String::new(), Lasts::Session)).or_default();
            freed.events += 1;
            if counted.replace(call) != Some(call) {
                freed.tokens += before.zip(after).map_or(0, |((_, before), (_, after))| before.saturating_sub(*after));
            }
        }
    }
    stages
}

fn data(freed: &[(&Replay, BTreeMap<Stage, Freed>)], recorded: &BTreeMap<Stage, Freed>) -> Table {
    let replays = freed.iter().map(|(replay, stages)| (replay.policy.as_str(), stages, Some(replay.totals.tokens_saved())));
    let all = replays.chain([(RECORDED, recorded, None)]);
    let rows = all.flat_map(|(name, stages, saved)| stages.iter().map(move |(stage, freed)| (name, stage, freed, saved)));
    let event = |kind: usize| Cell::name(KINDS.get(kind).map_or("", |kind| kind.name()));
    Fields::<(&str, &Stage, &Freed, Option<i64>)>::new()
        .with(Column::name("policy", "policy"), |(name, ..)| Cell::name(name))
        .with(Column::name("rule", "rule"), |(_, (_, rule, _), ..)| Cell::name(rule))
        .with(Column::name("event", "event"), |(_, (kind, ..), ..)| event(*kind))
        .with(Column::name("lasts", "lasts"), |(_, (.., lasts), ..)| Cell::name(lasts.name()))
        .with(Column::simulated("events", "events", Unit::Count), |(_, _, freed, _)| Cell::Count(freed.events))
        .with(Column::simulated("freed_tokens", "freed", Unit::Tokens), |(_, _, freed, _)| Cell::Tokens(freed.tokens))
        .with(Column::simulated("tokens_saved", "tokens saved by the policy", Unit::Tokens), |(.., saved)| {
            saved.map_or(Cell::Empty, Cell::SignedTokens)
        })
        .table(4, rows)
}
