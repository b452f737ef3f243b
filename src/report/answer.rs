//! The first screen of `replay`: what happened, what the user's own agent and each policy would have come to, whether to change anything, and how far
//! to trust that.

use super::asked::{Asked, Baselines, Oracle};
use super::calibration::calibration;
use super::document::{Cell, Column, Fields, Screen, Section, Table};
use super::judged::trade;
use super::recording::{self, COST_BESIDE, RECORDED, Row};
use super::span::day;
use super::words::{capital, counted, counted_as, grouped, percent, short_dollars};
use super::{causes, cautions, cost_figures, figures, finding, refetch, scenario};
use crate::corpus::Corpus;
use crate::cost::CacheKind;
use crate::experiment::metric::metric_of;
use crate::experiment::{Advised, Metric, Own, RecordedSession, Recording, Replay, acts, advised, best_of, leading, part, sample_of};
use crate::list::Arrange;
use crate::policy::{Recorder, begins_later, notes_compactions, untied};
use crate::statistics::{Bars, Estimate, FEWEST, Finding, Part, Sample, WORTH, Within, sorted};
use crate::trace::Evidence;
use std::borrow::Cow;

const SIMULATED: &str = "All but `recorded` is simulated on recorded messages, if runs stay as long";

/// So many warnings are shown, those that hold for all rows among them.
const WARNED: usize = 2;

/// So many rows of policies that the user named stay whatever sentence they push out.
const NAMED: usize = 5;

/// The first screen of `replay`.
pub fn answer(corpus: &Corpus, replays: &[Replay], baselines: Baselines<'_>, asked: &Asked<'_>) -> Screen {
    if let Some(sentence) = no_calls(corpus) {
        let sections = vec![Section::lines(vec![sentence])];
        return Screen { title: heading(corpus), sections, ..Screen::default() };
    }
    let (verdict, best) = verdict(corpus, replays, baselines, asked).unzip();
    let (table, held) = table(replays, baselines, asked, best.flatten());
    let mut sections = vec![table];
    let unlike = unlike(corpus, replays, baselines, asked);
    let again = refetch::in_brief(replays, asked.cache);
    // How much of the recording a row covers never gives way.
    let mut lines: Vec<String> = baselines.covered(corpus).into_iter().chain(unlike.clone()).collect();
    lines.extend(verdict.or_else(|| without_own(corpus, replays, baselines, asked)));
    lines.extend(again.clone());
    let check = || calibration(&corpus.facts, asked.checks, asked.cache, asked.predicted);
    lines.extend((!corpus.traces.is_empty()).then(|| check() + &yours_unchecked(baselines, asked).unwrap_or_default()));
    let longer = scenario::brief(asked.scenarios).map_or_else(String::new, |told| format!(" ({told})"));
    lines.push(format!("{SIMULATED}{longer}; real agents may act differently."));
    // What holds for all rows stands with the answer: the table and the steps leave room for it.
    let cautions = cautions::in_brief(corpus, baselines.with_own(replays));
    let told: Vec<String> = cautions.iter().map(|caution| format!("! {caution}")).collect();
    let spare = told.iter().rev().cloned().chain(unlike).chain(again).collect();
    lines.extend(told);
    sections.push(Section::lines(lines));
    let warned = warned(WARNED.saturating_sub(cautions.len()), baselines.with_own(replays));
    sections.extend((!warned.is_empty()).then(|| Section::lines(warned)));
    Screen { title: heading(corpus), sections, held, spare, ..Screen::default() }
}

/// Which policies do best where no own agent is known to hold them against, and by what.
fn without_own(corpus: &Corpus, replays: &[Replay], baselines: Baselines<'_>, asked: &Asked<'_>) -> Option<String> {
    let others: Vec<&Replay> = replays.iter().filter(|replay| !replay.is_none()).collect();
    let first = leading(&others, asked.cache);
    let named: Vec<&str> = first.iter().filter_map(|place| Some(others.get(*place)?.policy.as_str())).collect();
    let untied = corpus.agents().iter().find_map(|agent| untied(agent).next());
    let known = match (untied, older(corpus)) {
        (Some(preset), _) => format!("No preset is tied to these logs, though `-p {preset}` mirrors an agent of them: no verdict."),
        (None, Some(older)) => format!("{older}: no verdict."),
        (None, None) => "No preset of these agents is known: no verdict.".to_owned(),
    };
    (baselines.own.is_none() && others.len() > 1).then(|| match named.as_slice() {
        all if all.len() == others.len() => {
            format!("{known} All {} policies have the same failures, overflows and cost.", grouped(all.len() as u64))
        }
        all => {
            let priced = others.iter().any(|replay| replay.bill.with(asked.cache).nano_usd() > 0);
            // Who sends least may have forgotten most.
            let kept = |replay: &&&Replay| {
                let lines = replay.totals.retention.of(Evidence::Line);
                (lines.kept * 1_000_000).checked_div(lines.all()).unwrap_or(0)
            };
            let best = first.first().and_then(|place| others.get(*place));
            let lost = best.zip(others.iter().max_by_key(kept)).and_then(|(best, most)| trade(&best.totals, &most.totals));
            let lost = lost.map_or_else(String::new, |lost| format!(", which {lost}"));
            let by = if priced { "cost" } else { "prompt tokens" };
            format!("{known} Fewest failed sessions, then overflows, then {by}: {}{lost}.", all.join(", "))
        }
    })
}

/// That an agent's logs are older than any preset of it, or of a version that none is tied to; `None` where no agent has a preset for its logs.
fn older(corpus: &Corpus) -> Option<String> {
    let first = corpus.traces.each().find_map(|trace| {
        let day = trace.day().unwrap_or_default();
        let (preset, from) = begins_later(Recorder { agent: &trace.agent, version: &trace.version, day: &day, ..Recorder::default() })?;
        Some(format!("The logs of {} are older than any preset of it ({preset} holds from {from})", trace.agent))
    });
    let tied = || corpus.agents().into_iter().find(|agent| notes_compactions(agent));
    first.or_else(|| Some(format!("No preset of {} is tied to the version of these logs", tied()?)))
}

/// That compactions are predicted by the agents' defaults, where the user's own settings give others; `None` where they give as many.
fn yours_unchecked(baselines: Baselines<'_>, asked: &Asked<'_>) -> Option<String> {
    let own = baselines.own.filter(|own| own.agents.values().any(|agent| agent.configured_sessions > 0))?;
    let beside = baselines.recording?.beside_all(&own.replay, asked.cache);
    let (told, all) = (asked.predicted?.recorded, beside.recorded_compactions);
    (told > 0 && beside.compactions != all).then(|| {
        let times = counted(beside.compactions, "time");
        format!(" Compactions are predicted by the agents' defaults; {} compacts {times}, the logs {}.", own.replay.policy, grouped(all))
    })
}

/// What stands in logs without a call, and that nothing can be said of it; `None` where there is one.
pub(super) fn no_calls(corpus: &Corpus) -> Option<String> {
    let (sessions, messages) = (corpus.traces.len() as u64, corpus.facts.messages);
    let held = || format!("{} with {} and no call to a model", counted(sessions, "session"), counted(messages, "message"));
    (corpus.facts.calls == 0 && sessions > 0).then(|| format!("The logs hold {}: there is nothing to compare.", held()))
}

/// Agents, sessions, calls and days in one line.
pub(super) fn heading(corpus: &Corpus) -> String {
    let agents = corpus.agents();
    let agents = match agents.len() {
        0 => String::new(),
        1 => format!("{}, ", agents.first().map_or("", String::as_str)),
        many => format!("{many} agents, "),
    };
    let days = days(corpus).map_or_else(String::new, |days| format!(", {days}"));
    let facts = &corpus.facts;
    format!("{agents}{}, {}{days}", counted(facts.sessions, "session"), counted(facts.calls, "recorded call"))
}

/// The days of the first and the last call: `2026-01-08 to 2026-02-15`; absent where no log has a time.
pub(super) fn days(corpus: &Corpus) -> Option<String> {
    let spans: Vec<(i64, i64)> = corpus.traces.each().filter_map(|trace| Some((trace.first_call()?, trace.last_call()?))).collect();
    let (first, last) = (spans.iter().map(|span| span.0).min()?, spans.iter().map(|span| span.1).max()?);
    let [first, last] = [first, last].map(day);
    Some(if first == last { first } else { format!("{first} to {last}") })
}

/// A row each for the recording, the user's own agents and the policies; that of no policy at the end. And the places of the rows that the verdict and
/// its reader need: these, those that the user named, and that of the policy that the verdict is about.
fn table(replays: &[Replay], baselines: Baselines<'_>, asked: &Asked<'_>, best: Option<&Replay>) -> (Section, Vec<usize>) {
    let is_none = |replay: &&Replay| replay.is_none();
    let recorded = baselines.recording.map(Row::Recorded);
    let named = baselines.with_own(replays).filter(|replay| !is_none(replay)).chain(replays.iter().filter(is_none));
    let rows: Vec<Row<'_>> = recorded.into_iter().chain(named.map(Row::Of)).collect();
    let is = |replay: &Replay, other: Option<&Replay>| other.is_some_and(|other| std::ptr::eq(replay, other));
    let is_named = |replay: &Replay| asked.named && replays.iter().take(NAMED).any(|named| is(replay, Some(named)));
    // Of several windows without a policy the first stands for all.
    let own = baselines.own.map(|own| &own.replay);
    let is_needed = |replay: &Replay| [replays.iter().find(is_none), best, own].into_iter().any(|needed| is(replay, needed));
    let rank = |row: &Row<'_>| match row {
        Row::Recorded(_) => Some(false),
        Row::Of(replay) if is_needed(replay) => Some(false),
        Row::Of(replay) => is_named(replay).then_some(true),
    };
    let held = sorted(rows.iter().enumerate().filter_map(|(place, row)| Some((rank(row)?, place))));
    let held = held.into_iter().map(|(_, place)| place).collect();
    let policy = |row: &Row<'_>| match row {
        Row::Recorded(_) => Cell::name(RECORDED),
        Row::Of(replay) if is_none(replay) => Cell::Name(replay.policy.replacen("none", "no policy", 1)),
        Row::Of(replay) => Cell::name(&replay.policy),
    };
    let figure = |metric: &'static Metric, row: &Row<'_>| match row {
        Row::Recorded(recording) => recording::cell(metric, &recording.sum),
        Row::Of(replay) if metric.key == "failed_sessions" || replay.compares() => figures::cell(metric, &replay.totals),
        Row::Of(_) => Cell::Empty,
    };
    let mut fields = Fields::new().with(Column::name("policy", "policy"), policy);
    // What was asked for by name goes before what is always there.
    let is_closed = replays.iter().any(|replay| replay.closed.is_some());
    let later = if is_closed { 3 } else { 0 };
    for (key, header, priority) in [
        ("failed_sessions", "failed sessions", 0),
        ("overflows", "over\u{ad}flows", later),
        ("compactions", "compac\u{ad}tions", later),
        ("prompt_tokens", "prompt tokens", 0),
    ] {
        let Some(metric) = metric_of(key) else { continue };
        fields = fields.with(Column { header, priority, ..figures::column(metric) }, move |row: &Row<'_>| figure(metric, row));
    }
    let [cost, _] = cost_figures::COLUMNS;
    let cost_of = |row: &Row<'_>| match row {
        Row::Recorded(recording) => recording::cost(&recording.sum),
        Row::Of(replay) if replay.compares() => cost_figures::cost(&replay.bill, replay.bill.with(asked.cache).nano_usd()),
        Row::Of(_) => Cell::Empty,
    };
    fields = fields.with(cost.priority(1), cost_of);
    let costs = compares_costs(replays, baselines, asked.cache);
    let tokens = metric_of("vs_recorded").filter(|_| !costs);
    let beside = |row: &Row<'_>| match row {
        Row::Of(replay) if replay.compares() => signed(match tokens {
            Some(metric) => figures::cell(metric, &replay.totals),
            None => baselines.cost_beside(replay, asked.cache).unwrap_or(Cell::Empty),
        }),
        _ => Cell::Empty,
    };
    let column = tokens.map_or(COST_BESIDE, |metric| Column { header: "vs re\u{ad}corded", ..figures::column(metric) });
    fields = fields.with(column.priority(1), beside);
    if is_closed {
        fields = fields.and(refetch::columns(asked.cache, Row::replay));
    }
    if let Some(kept) = metric_of("references_kept_share") {
        let cell = move |row: &Row<'_>| figure(kept, row);
        fields = fields.with(Column { header: "reused text kept", priority: 2, ..figures::column(kept) }, cell);
    }
    let policies: Vec<Option<&Replay>> = rows.iter().map(|row| if let Row::Of(replay) = row { Some(*replay) } else { None }).collect();
    let mut table: Table = fields.table(1, rows);
    if asked.oracle == Oracle::Beside {
        // The oracle fills the contexts of the policy above it: it keeps other text, and has no other figure.
        let place = table.columns.iter().position(|column| column.key == "references_kept_share");
        let kept = metric_of("references_kept_share");
        let mut beside = Vec::new();
        for (replay, cells) in policies.into_iter().zip(table.rows.each()) {
            beside.push(cells.into_owned());
            let Some(((replay, kept), place)) = replay.filter(|replay| is_named(replay)).zip(kept).zip(place) else { continue };
            let mut cells = vec![Cell::Empty; table.columns.len()];
            let name = Cell::Name(format!("oracle ({})", replay.policy));
            for (at, cell) in [(0, name), (place, figures::oracle_cell(kept, &replay.totals))] {
                cells.get_mut(at).into_iter().for_each(|to| to.clone_from(&cell));
            }
            beside.push(cells);
        }
        table.rows = beside.into();
        let all = table.rows.len();
        return (Section::table(table), (0..all).collect());
    }
    (Section::table(table), held)
}

/// Is there a recorded cost to compare with? Prompt tokens are compared where there is none.
fn compares_costs(replays: &[Replay], baselines: Baselines<'_>, cache: CacheKind) -> bool {
    let compares = |replay: &Replay| !matches!(baselines.cost_beside(replay, cache), Some(Cell::Empty) | None);
    baselines.with_own(replays).any(compares)
}

/// Which figures of the table above are not of the same requests, or sessions; `None` where all are.
fn unlike(corpus: &Corpus, replays: &[Replay], baselines: Baselines<'_>, asked: &Asked<'_>) -> Option<String> {
    let recording = baselines.recording?;
    let counts_none = |session: Cow<'_, RecordedSession>| session.modelled_nano_usd.is_some_and(|modelled| modelled != session.nano_usd());
    let modelled = matches!(asked.cache, CacheKind::Recorded | CacheKind::Modelled) && recording.sessions.each().any(counts_none);
    let how = [
        summarisers(baselines.with_own(replays), asked.cache)
            .map(|_| format!("leaves out summarisers{}", overturned(replays, recording, asked.cache))),
        modelled.then(|| "has a modelled cache on both sides where logs count none or another model is billed".to_owned()),
    ];
    let all = corpus.facts.called_sessions;
    let costs = compares_costs(replays, baselines, asked.cache);
    let compared = |replay: &Replay| match costs {
        true => recording.beside_all(replay, asked.cache).priced,
        false => replay.totals.compared_sessions,
    };
    // That the own agents' row covers fewer stands in a sentence of its own.
    let own = baselines.own.map(|own| (own.covered, compared(&own.replay)));
    let own = own.and_then(|(covered, compared)| (compared < covered).then_some(compared));
    let compared = replays.iter().filter(|replay| replay.compares()).map(compared).chain(own).filter(|compared| *compared > 0);
    let (least, most) = compared.fold((all, 0), |(least, most), compared| (least.min(compared), most.max(compared)));
    let range = if least == most { grouped(least) } else { format!("{} to {}", grouped(least), grouped(most)) };
    let over = (most > 0 && least < all).then(|| format!("is over {range} of {}", counted(all, "session")));
    let how: Vec<String> = how.into_iter().flatten().chain(over).collect();
    let column = if costs { "cost vs recorded" } else { "vs recorded" };
    // A relative clause ends before the next verb.
    let beside = how.into_iter().reduce(|said, next| format!("{said}{} and {next}", if said.contains(", which") { "," } else { "" }));
    let beside = beside.map(|how| format!("`{column}` {how}"));
    let gaps = Some(recording::gaps(corpus, &recording.sum)).filter(|gaps| !gaps.is_empty());
    let gaps = gaps.map(|gaps| format!("of the row `recorded` {}", gaps.join(", ")));
    let parts: Vec<String> = beside.into_iter().chain(gaps).collect();
    (!parts.is_empty()).then(|| format!("{}.", capital(&parts.join("; "))))
}

/// The least and the most that summarisers take of the costs of these rows; `None` where they take nothing.
pub(super) fn summarisers<'a>(rows: impl Iterator<Item = &'a Replay>, cache: CacheKind) -> Option<String> {
    let parts: Vec<u64> = rows.filter(|replay| replay.compares()).map(|replay| replay.bill.with(cache).summariser.nano_usd).collect();
    let least = parts.iter().filter(|nano_usd| **nano_usd > 0).min()?;
    let [least, most] = [least, parts.iter().max()?].map(|nano_usd| short_dollars(crate::units::signed(*nano_usd)));
    Some(if least == most { least } else { format!("{least} to {most}") })
}

/// The policies that save something worth a change, and less than their summarisers take.
fn overturned(replays: &[Replay], recording: &Recording, cache: CacheKind) -> String {
    let is_overturned = |replay: &&Replay| {
        let beside = recording.beside_all(replay, cache);
        let saved = beside.recorded_nano_usd.saturating_sub(beside.nano_usd);
        let is_worth = saved as f64 >= WORTH * beside.recorded_nano_usd as f64;
        replay.compares() && saved > 0 && is_worth && saved <= replay.bill.with(cache).summariser.nano_usd
    };
    let names: Vec<&str> = replays.iter().filter(is_overturned).map(|replay| replay.policy.as_str()).collect();
    match names.as_slice() {
        [] => String::new(),
        [name] => format!(", which take all that {name} saves"),
        _ => format!(", which take all that {} save", names.join(", ")),
    }
}

/// A share with its sign, as a difference is read.
pub(super) fn signed(cell: Cell) -> Cell {
    match cell {
        Cell::Share { part, whole } if whole > 0 => Cell::Name(finding::share(part as f64 / whole as f64)),
        cell => cell,
    }
}

/// So many warnings, those that hold for the most sessions.
fn warned<'a>(most: usize, replays: impl Iterator<Item = &'a Replay>) -> Vec<String> {
    let mut found: Vec<causes::Warned<'_>> = replays.filter(|replay| !replay.is_none()).flat_map(causes::warned).collect();
    found.arrange_by_key(|warned| std::cmp::Reverse(warned.sessions));
    let line = |warned: &causes::Warned<'_>| format!("! {}: {} ({})", warned.policy, warned.sentence, counted(warned.sessions, "session"));
    found.iter().take(most).map(line).collect()
}

/// Lines on what makes the figures less sure, and on what stands out in these policies.
pub(super) fn warnings<'a>(corpus: &Corpus, replays: impl Iterator<Item = &'a Replay> + Clone) -> Vec<String> {
    let told = cautions::in_brief(corpus, replays.clone()).into_iter().map(|caution| format!("! {caution}")).collect::<Vec<_>>();
    let warned = warned(WARNED.saturating_sub(told.len()), replays);
    told.into_iter().chain(warned).collect()
}

/// The clusters of the sessions. Where costs are compared, sessions without a price are in none.
fn drawn(corpus: &Corpus, own: &Own) -> Sample {
    let has_price = |place| own.replay.bills.at(place).is_some_and(|bills| bills.is_priced());
    let counts = |place| !own.replay.bill.is_priced() || has_price(place);
    let parts = corpus.traces.each().enumerate().map(|(place, trace)| if counts(place) { part(&trace) } else { Part::Out });
    sample_of(corpus.traces.each(), parts.collect::<Vec<_>>())
}

/// What is to be said of each policy beside the own agents; that of no policy is left out.
fn found(sample: &Sample, replays: &[&Replay], own: &Own, bars: &Bars, asked: &Asked<'_>) -> Vec<Advised> {
    advised(replays.iter().copied(), own, sample, asked.cache, bars)
}

/// What a difference must exceed, and what it rests on.
fn bars(corpus: &Corpus, baselines: Baselines<'_>, asked: &Asked<'_>) -> Bars {
    let own_error = baselines.own_error(asked.checks, asked.cache).map(|error| error.share());
    Bars { own_error, worth: WORTH, anchored: corpus.facts.anchored() }
}

/// The policy that comes to the least beside the own agents, whatever that rests on.
fn cheapest(found: &[Advised]) -> Option<(&Advised, Estimate)> {
    let known = found.iter().filter_map(|one| Some((one, one.difference?)));
    known.min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
}

/// The policy to change to; `None` where none is better and keeps as much of the reused text.
pub(super) fn recommended<'a>(corpus: &Corpus, replays: &'a [Replay], baselines: Baselines<'_>, asked: &Asked<'_>) -> Option<&'a Replay> {
    let others: Vec<&Replay> = replays.iter().filter(|replay| !replay.is_none()).collect();
    let own = baselines.own?;
    let found = found(&drawn(corpus, own), &others, own, &bars(corpus, baselines, asked), asked);
    best_of(&found).filter(|best| best.keeps_as_much()).and_then(|best| others.get(best.place).copied())
}

/// That nothing is to be changed, and over how many of the policies it is said: those that too few sessions can be compared of are none of them.
fn none_is_worth(found: &[Advised]) -> String {
    let judged = found.iter().filter(|one| one.finding != Finding::CannotJudge).count();
    let that = if judged == found.len() { "" } else { " that can be judged" };
    format!("none of {} policies{that} is clearly better", grouped(judged as u64))
}

/// Why the cheapest policy is none to change to, where its interval does not say it, and that it fails more sessions.
fn why_not(cheapest: &Advised, bars: &Bars) -> [String; 2] {
    let share = |share: Option<f64>| percent((share.unwrap_or_default() * 1e6).round() as i64, 1_000_000);
    let within = match cheapest.finding {
        Finding::NoDifference(Within::OwnError) => format!("; within the bill's own error of {}", share(bars.own_error)),
        Finding::NoDifference(Within::Worth) => format!("; too little for a change: {}", share(Some(bars.worth))),
        Finding::NoDifference(Within::Sampling) | Finding::Better | Finding::Worse | Finding::CannotJudge => String::new(),
    };
    let fails = (cheapest.fails_more > 0).then(|| format!("; fails {}", grouped(cheapest.fails_more)));
    [within, fails.unwrap_or_default()]
}

/// So many of the sessions, whose number stands behind where it is another one.
fn of_all(compared: u64, all: u64) -> String {
    if compared == all { counted(all, "session") } else { format!("{} of {}", grouped(compared), counted(all, "session")) }
}

/// Is there anything to change, and the policy that the answer is about? `None` where no own agent is known to compare with.
pub(super) fn verdict<'a>(
    corpus: &Corpus,
    replays: &'a [Replay],
    baselines: Baselines<'_>,
    asked: &Asked<'_>,
) -> Option<(String, Option<&'a Replay>)> {
    let own = baselines.own?;
    let others: Vec<&Replay> = replays.iter().filter(|replay| !replay.is_none()).collect();
    if others.is_empty() {
        return None;
    }
    let bars = bars(corpus, baselines, asked);
    let sample = drawn(corpus, own);
    let found = found(&sample, &others, own, &bars, asked);
    let unpriced = own.replay.bills.each().filter(|bills| own.replay.bill.is_priced() && bills.calls > 0 && !bills.is_priced());
    let left_out = [
        (
            own.replay.imposed.values().filter(|trace| !trace.calls.is_empty()).count(),
            "session that a person compacted",
            "sessions that a person compacted",
        ),
        (unpriced.count(), "session without a price", "sessions without a price"),
    ];
    let left_out = left_out.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted_as(count as u64, one, many));
    let left_out: Vec<String> = left_out.collect();
    let left_out = match left_out.as_slice() {
        [] => String::new(),
        parts => format!(" The verdict alone leaves out {}.", parts.join(" and ")),
    };
    let over = |compared: u64| of_all(compared, corpus.facts.called_sessions);
    let share = |share: f64| percent((share * 1e6).round() as i64, 1_000_000);
    let own_error = bars.own_error.map(|error| format!("; the bill's own error: {}", share(error))).unwrap_or_default();
    let narrow = |one: &Advised| finding::narrow(&one.deciding, one.clusters);
    let bounds = |one: &Advised, cost: Estimate| finding::bounds(&cost) + &narrow(one);
    let by = |one: &Advised, cost: Estimate| {
        format!("{} (90 %: {}{own_error}{})", finding::share(cost.value), finding::bounds(&cost), narrow(one))
    };
    let named = |one: &Advised| others.get(one.place).map_or("", |replay| replay.policy.as_str());
    if let (Some(words), Some((one, cost))) = (finding::estimated(&bars), cheapest(&found)) {
        let over = over(one.compared);
        return Some((format!("Cannot judge: {words}. {} comes to {} over {over}.{left_out}", named(one), by(one, cost)), None));
    }
    let Some(best) = best_of(&found) else {
        let sentence = match cheapest(&found) {
            Some((one, cost)) => {
                let [within, fails] = why_not(one, &bars);
                let comes = match one.is_same() {
                    true => format!("the same cost as yours over {}{fails}", over(one.compared)),
                    false => {
                        format!("{} over {} (90 %: {}{within}){fails}", finding::share(cost.value), over(one.compared), bounds(one, cost))
                    }
                };
                // A winner among equals is none.
                let equals = |other: &&Advised| other.difference.is_some_and(|other| other.value == cost.value);
                let more = match found.iter().filter(equals).count().saturating_sub(1) {
                    0 => String::new(),
                    more => format!(" and {} as cheap", counted(more as u64, "other")),
                };
                match found.len() {
                    1 => format!("Keep what you have: {} {} {comes}.", named(one), if one.is_same() { "has" } else { "comes to" }),
                    all if found.iter().all(Advised::is_same) => {
                        let acts = others.iter().copied().chain([&own.replay]).any(|replay| acts(&replay.totals));
                        let none = if acts { "" } else { "; none of them acts there" };
                        format!("Keep what you have: all {} policies have {comes}{none}.", grouped(all as u64))
                    }
                    _ => format!("Keep what you have: {}. Cheapest: {}{more}, {comes}.", none_is_worth(&found), named(one)),
                }
            }
            None => {
                let most = found.iter().max_by_key(|one| (one.clusters, one.compared));
                let over = over(most.map_or(0, |one| one.compared));
                match most {
                    Some(one) if one.clusters >= FEWEST => format!("Cannot judge: your own agent costs nothing over {over}."),
                    _ => format!("Cannot judge: too few sessions can be compared with your own agent's: {over} (forks of one count once)."),
                }
            }
        };
        let about = cheapest(&found).and_then(|(one, _)| others.get(one.place).copied());
        return Some((sentence + &left_out, about));
    };
    let (about, name) = (others.get(best.place).copied(), named(best));
    let by = best.difference.map(|cost| by(best, cost)).unwrap_or_default();
    let over = over(best.compared);
    let kept = best.kept.map(|(kept, mine)| (share(kept), share(mine)));
    let sentence = match kept {
        Some((kept, mine)) if !best.keeps_as_much() => format!(
            "Keep what you have: {}{name} is cheaper than your own agent over {over}, {by}, but keeps {kept} of their reused text, not {mine}.",
            if found.len() > 1 { format!("{}. ", none_is_worth(&found)) } else { String::new() }
        ),
        _ => {
            // A hundredth less may pass, and is told all the same.
            let keeps = kept.map_or_else(String::new, |(kept, mine)| match kept == mine {
                true => " and keeps as much of the reused text".to_owned(),
                false => format!(" and keeps {kept} of the reused text, yours {mine}"),
            });
            format!(
                "{name} is cheaper than your own agent, if runs stay as long, over {over}, {by}; it fails none that your agent ends{keeps}."
            )
        }
    };
    let drawn = finding::drawn_alone(&sample).map_or_else(String::new, |told| format!(" {told}"));
    Some((sentence + &left_out + &drawn, about))
}
