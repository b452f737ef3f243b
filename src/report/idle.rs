//! `idle`: pauses between calls, what going cold cost, and what pings or a compaction would have cost instead.

use super::asked::Parts;
use super::cache::{by_gap, money};
use super::document::{Better, Body, Cell, Column, Fields, Provenance, Report, Screen, Section, Table, Unit};
use super::record::idle::IdleRecord;
use super::span::{lifetime, span};
use super::title::title;
use super::words::{counted, grouped, three_digits};
use super::{cost_figures, finding, notes};
use crate::corpus::Corpus;
use crate::experiment::idle::{Advice, Best, BreakEven, Class, Idle, OfSession, Remedy, Rest};
use crate::list::Arrange;
use crate::statistics::{FEWEST, LEVEL};
use crate::trace::Trace;
use std::cmp::Reverse;

const REMEDIES: &str = "A ping reads the whole prompt when nine tenths of the lifetime are over, and again after as long; a compaction takes place once at that time. Costs are \
                        those above a next call that finds its prompt in the cache: going cold is what that call paid by the logs for what it lost, instead of a read; a compaction is the summariser's read and reply, and a write \
                        of what it leaves. What a smaller context saves at later calls, and what it forgets, is in no figure.";

const BOUNDS: &str = "No log shows whether the program still ran in a pause. Where it was closed, pings and compactions cost nothing and help nothing: with sessions that were never \
                      resumed costs are the most that remedies come to, without them the least. A sub-agent that has ended waits for nothing and is in no figure.";

const PROMISED: &str = "Only caches that promise a lifetime are in these figures: implicit caches have no sharp one (`ctxsim cache --details` has their breaks by the length of the pause).";

const CHOSEN: &str = "Remedies are chosen on these same pauses: over other ones they save less.";

/// The report on pauses.
pub fn idle(corpus: &Corpus, found: &Idle, parts: Parts) -> Report {
    let (sections, screen) = if parts.sections { content(corpus, found) } else { (Vec::new(), None) };
    let mut notes = vec![REMEDIES.to_owned(), BOUNDS.to_owned(), PROMISED.to_owned()];
    notes.extend(compactions(found));
    notes.extend(cost_figures::estimated([found.reads.estimated_output]));
    notes.extend(notes::of_corpus(corpus));
    let rows = if parts.rows { flat(corpus, found) } else { Table::default() };
    Report { screen, ..Report::over(&corpus.facts, sections, notes, rows, IdleRecord::new(corpus, found)) }
}

/// All tables, and the first screen.
fn content(corpus: &Corpus, found: &Idle) -> (Vec<Section>, Option<Screen>) {
    let headline = headline(corpus, found);
    // What pauses cost and what helps stay; below that the break-even points and what is not known give way.
    let points = break_even(found).into_iter().flat_map(|section| if let Body::Lines(lines) = section.body { lines } else { Vec::new() });
    let spare = points.chain(headline.iter().skip(1).rev().cloned()).collect();
    let sections = std::iter::once(Section::lines(headline)).chain(recommended(corpus, found)).chain(break_even(found));
    let classes = by_class(found).section("Simulated cost of pauses by cache and context");
    let mut sections: Vec<Section> = sections.chain(classes).collect();
    let screen = Screen { title: title(&corpus.facts), sections: sections.clone(), spare, ..Screen::default() };
    sections.extend(by_model(found).section("Where remedies begin to pay"));
    sections.extend(by_gap(&found.reads).section("Reads by the time since the call before"));
    sections.extend(by_session(corpus, found).section("Sessions, the dearest first"));
    (sections, Some(screen))
}

/// What pauses cost by the logs, in sentences.
fn headline(corpus: &Corpus, found: &Idle) -> Vec<String> {
    let untimed = |trace: &Trace| trace.calls.iter().filter(|call| trace.time_of(call).is_none()).count() as u64;
    let (untimed, calls) = corpus.traces.each().fold((0, 0), |(none, all), trace| (none + untimed(&trace), all + trace.calls.len() as u64));
    let unknown = (untimed > 0).then(|| {
        let of = counted(calls, "call");
        format!("{} of {of} have no time: their pauses are not known.", grouped(untimed))
    });
    if found.count == 0 {
        let has_usage = corpus.traces.each().any(|trace| trace.calls.iter().any(|call| call.reported().is_some()));
        let lacks = if has_usage {
            "times and a cache that promises a lifetime"
        } else {
            "recorded usage: what caches held in its pauses is not known"
        };
        return std::iter::once(format!("No log has {lacks}.")).chain(unknown).collect();
    }
    let never = found.never_resumed();
    let broken = found.recorded_cold();
    let recorded = found.reads.recorded_nano_usd.filter(|_| broken.is_priced());
    let cost = recorded.map(|recorded| format!("{} of {}", money(broken.nano_usd), money(recorded)));
    let cost = cost.unwrap_or_else(|| "no price is known".to_owned());
    // The pauses of the tables: in shorter ones no remedy would have been due.
    let (resumed, outlasted) = (found.resumed(), found.pauses.iter().filter(|pause| pause.outlasts()).count() as u64);
    let were = if never == 1 { "was" } else { "were" };
    let known = (untimed < calls).then(|| {
        format!(
            "{} outlasted nine tenths of the lifetime that a cache promises, {} all of it; {} broke the cache by the logs: {cost}.",
            counted(resumed, "pause"),
            grouped(outlasted),
            grouped(broken.breaks),
        )
    });
    let unpriced = found.reads.unpriced_calls;
    let unpriced = (unpriced > 0 && broken.is_priced()).then(|| {
        format!(
            "No price is known for {} of {}: pauses before them are in no sum of money (--prices takes a table).",
            grouped(unpriced),
            counted(calls, "call")
        )
    });
    known.into_iter().chain(unpriced).chain(unknown).chain([format!("{} {were} never resumed.", counted(never, "session"))]).collect()
}

/// A remedy in words.
fn remedy_name(remedy: Remedy) -> String {
    match remedy {
        Remedy::Nothing => "nothing".to_owned(),
        Remedy::Pings(pings) => counted(pings, "ping"),
        Remedy::Compact => "compact".to_owned(),
    }
}

/// What would have been cheapest, with sessions that were never resumed and without them.
fn recommended(corpus: &Corpus, found: &Idle) -> Option<Section> {
    let words = |one: &Advice<'_>, briefly: bool| {
        let Advice { class, best: Best { remedy, nano_usd, nothing_nano_usd: nothing }, nothing_nano_usd: all, beside } = one;
        let from = if class.floor > 0 { format!(" from {} tokens up", three_digits(class.floor)) } else { String::new() };
        let (named, cost, all) = (format!("{}{from}", remedy_name(*remedy)), money(*nano_usd), money(*all));
        let cost = format!("{cost} instead of {}", money(*nothing));
        match beside {
            None => format!("do nothing: {all}"),
            Some(beside) => {
                let beside_nothing = format!("{} ({LEVEL} %: {})", finding::share(beside.value), finding::bounds(beside));
                match beside.high < 0.0 {
                    true if briefly => format!("{named}, {beside_nothing}"),
                    true => format!("{named}: {cost}, {beside_nothing}"),
                    false => format!("do nothing: {all}; {named}: {cost}, {beside_nothing}, no difference larger than the uncertainty"),
                }
            }
        }
    };
    let lines = found.lifetimes().into_iter().flat_map(|kept| {
        let (with, without) = (found.recommended(corpus, kept, true), found.recommended(corpus, kept, false));
        let of = |one: &Option<Advice<'_>>| one.as_ref().map(Advice::remedy);
        let Some(one) = &with else {
            return vec![format!(
                "{} cache: fewer than {FEWEST} independent sessions with a pause: too few to recommend a remedy.",
                lifetime(kept)
            )];
        };
        let first = format!("{} cache: {}.", lifetime(kept), words(one, false));
        let second = match &without {
            Some(one) if of(&with) != of(&without) => {
                format!("Without sessions never resumed: {}.", words(one, true))
            }
            _ => "Without sessions never resumed: the same.".to_owned(),
        };
        vec![first, second]
    });
    let mut lines: Vec<String> = lines.collect();
    let remedies = [true, false].into_iter().flat_map(|with_never| {
        let advices = found.lifetimes().into_iter().filter_map(move |kept| found.recommended(corpus, kept, with_never));
        advices.map(|advice| advice.remedy().0).collect::<Vec<_>>()
    });
    let remedies: Vec<Remedy> = remedies.collect();
    lines.extend(remedies.iter().any(|remedy| *remedy != Remedy::Nothing).then(|| CHOSEN.to_owned()));
    // What the recommendation rests on belongs beside it.
    lines.extend(remedies.contains(&Remedy::Compact).then(|| reckoned(found)).flatten());
    (!lines.is_empty()).then(|| Section::lines(lines))
}

/// The break-even points of the model with most pauses, by lifetime.
fn break_even(found: &Idle) -> Option<Section> {
    let model = &found.break_even.first()?.model;
    let of_model = found.break_even.iter().filter(|one| one.model == *model);
    let words = |one: &BreakEven| {
        let pings = one.pings.zip(one.gap).map(|(pings, gap)| format!("up to {}, which bridge {}", counted(pings, "ping"), span(gap)));
        let tokens = one.tokens.map(|tokens| format!("compacting beats going cold from {} up", three_digits(tokens)));
        let mut parts: Vec<String> = pings.into_iter().chain(tokens).collect();
        if parts.is_empty() {
            parts.push("nothing pays".to_owned());
        }
        format!("{} cache: {}.", lifetime(one.lifetime), parts.join("; "))
    };
    let mut lines: Vec<String> = of_model.map(words).collect();
    lines.insert(0, format!("Where remedies begin to pay, at the prices of {model}:"));
    Some(Section::lines(lines))
}

/// What compactions are reckoned to leave, of all models together.
fn reckoned(found: &Idle) -> Option<String> {
    let rests = || found.break_even.iter().map(|one| one.rest);
    let range = |of: fn(&Rest) -> u64| {
        let (least, most) = (rests().map(|rest| of(&rest)).min()?, rests().map(|rest| of(&rest)).max()?);
        Some(if least == most { three_digits(most) } else { format!("{} to {}", three_digits(least), three_digits(most)) })
    };
    let from = if rests().any(|rest| rest.events == 0) { "assumed" } else { "by recorded compactions" };
    let (prompt, summary) = range(|rest| rest.prompt).zip(range(|rest| rest.summary))?;
    Some(format!(
        "A compaction is to leave a prompt of {prompt} tokens with a summary of {summary} ({from}); what it forgets has no price here."
    ))
}

fn compactions(found: &Idle) -> Vec<String> {
    let rests = found.break_even.iter().map(|one| one.rest);
    let mut notes: Vec<String> = rests
        .map(|rest| {
            let from =
                if rest.events > 0 { format!("medians of {}", counted(rest.events, "recorded compaction")) } else { "assumed".to_owned() };
            format!(
                "A compaction leaves a prompt of {} tokens and writes a summary of {} ({from}).",
                grouped(rest.prompt),
                grouped(rest.summary)
            )
        })
        .collect();
    notes.sort();
    notes.dedup();
    notes
}

const fn cost(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column::simulated(key, header, Unit::Money).says(meaning).better(Better::Less)
}

const fn count(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column::recorded(key, header, Unit::Count).says(meaning)
}

/// What the remedies come to for classes of pauses; `name` is the first column.
fn remedies<'a, R: 'a>(fields: Fields<'a, R>, class: impl Fn(&R) -> &Class + Copy + 'a) -> Fields<'a, R> {
    let best = |best: Option<Best>| best.map_or(Cell::Empty, |best| Cell::Name(remedy_name(best.remedy)));
    fields
        .with(count("pauses", "pauses", "that outlasted nine tenths of the lifetime and ended with another call"), move |row| {
            Cell::Count(class(row).resumed)
        })
        .with(
            count(
                "cold",
                "went cold",
                "the part of them that outlasted all of it and whose next call paid for the entry again, by the logs",
            ),
            move |row| Cell::Count(class(row).cold),
        )
        .with(count("never", "never resumed", "sessions that were never resumed"), move |row| Cell::Count(class(row).never))
        .with(cost("nothing_usd", "doing nothing", "what going cold costs"), move |row| Cell::money(class(row).cost(Remedy::Nothing, true)))
        .with(cost("pings_usd", "pings", "cost of the cheapest number of pings, in sessions that were never resumed too"), move |row| {
            class(row).best(true, |remedy| matches!(remedy, Remedy::Pings(_))).map_or(Cell::Empty, |best| Cell::money(best.nano_usd))
        })
        .with(
            cost("compact_usd", "compact", "cost of a compaction before the entry expires, in sessions that were never resumed too"),
            move |row| Cell::money(class(row).cost(Remedy::Compact, true)),
        )
        .with(Column::name("best", "best"), move |row| best(class(row).best(true, |_| true)))
        .with(
            Column::name("best_resumed", "best if resumed").says("the cheapest where sessions that were never resumed are left out"),
            move |row| best(class(row).best(false, |_| true)),
        )
}

/// Sums by lifetime and smallest context: one that takes in the same pauses as a smaller one says nothing new.
fn by_class(found: &Idle) -> Table {
    let from = |class: &Class| if class.floor == 0 { "any".to_owned() } else { format!("from {}", three_digits(class.floor)) };
    let fields = Fields::<&Class>::new()
        .with(Column::name("cache", "cache"), |class| Cell::Name(lifetime(class.lifetime)))
        .with(Column::name("context", "context"), move |class| Cell::Name(from(class)));
    let counts = |class: &Class| (class.lifetime, class.resumed, class.never);
    let mut classes: Vec<&Class> = found.classes.iter().collect();
    classes.dedup_by_key(|class| counts(class));
    remedies(fields, |class| class).table(2, classes)
}

fn by_session(corpus: &Corpus, found: &Idle) -> Table {
    type Row = (usize, Class);
    let name = |place: usize| corpus.traces.at(place).map_or(Cell::Empty, |trace| Cell::text(&trace.id));
    let mut dearest: Vec<(Reverse<u64>, OfSession<'_>)> =
        found.sessions().map(|of| (Reverse(found.class(of).cost(Remedy::Nothing, true)), of)).collect();
    dearest.arrange_by_key(|(cost, _)| *cost);
    let rows = dearest.into_iter().map(|(_, of)| (of.place(), found.class(of)));
    let fields = Fields::<Row>::new()
        .with(Column::name("session", "session"), move |(place, _)| name(*place))
        .with(Column::name("cache", "cache"), |(_, class)| Cell::Name(lifetime(class.lifetime)));
    remedies(fields, |(_, class)| class).table(2, rows)
}

fn by_model(found: &Idle) -> Table {
    let tokens = |key, header, meaning| Column::simulated(key, header, Unit::Tokens).says(meaning);
    Fields::<&BreakEven>::new()
        .with(Column::name("model", "model"), |one| Cell::text(&one.model))
        .with(Column::name("cache", "cache"), |one| Cell::Name(lifetime(one.lifetime)))
        .with(count("pauses", "pauses", "ends of sessions that were never resumed among them"), |one| Cell::Count(one.pauses))
        .with(Column { provenance: Provenance::Simulated, ..count("pings", "pings", "so many cost no more than going cold") }, |one| {
            one.pings.map_or(Cell::Empty, Cell::Count)
        })
        .with(Column::name("gap", "gap").says("the pause that they bridge"), |one| one.gap.map_or(Cell::Empty, |gap| Cell::Name(span(gap))))
        .with(tokens("compact_from", "compact from", "from so many tokens on a compaction costs less than going cold"), |one| {
            one.tokens.map_or(Cell::Empty, Cell::Tokens)
        })
        .table(2, &found.break_even)
}

/// Each remedy of each class, and of each session: its cost over pauses that ended with another call, and over sessions that were never resumed.
fn flat(corpus: &Corpus, found: &Idle) -> Table {
    type Row = (Option<(String, String)>, Class, Remedy);
    let sums = found.classes.iter().map(|class| (None, class.clone()));
    let of = |place: usize| corpus.traces.at(place).map(|trace| (trace.id.clone(), trace.source.clone()));
    let sessions = found.sessions().map(|session| (of(session.place()), found.class(session)));
    let each = |(names, class): (Option<(String, String)>, Class)| {
        found.remedies.iter().map(move |remedy| (names.clone(), class.clone(), *remedy))
    };
    let rows = sums.chain(sessions).flat_map(each);
    let spent = |(_, class, remedy): &Row| class.spent.get(remedy).copied().unwrap_or_default();
    Fields::<Row>::new()
        .with(Column::name("session", "session"), |(names, ..)| names.as_ref().map_or(Cell::Empty, |(id, _)| Cell::text(id)))
        .with(Column::name("source", "source"), |(names, ..)| names.as_ref().map_or(Cell::Empty, |(_, source)| Cell::text(source)))
        .with(count("lifetime_seconds", "lifetime", ""), |(_, class, _)| Cell::Count((class.lifetime / 1_000).unsigned_abs()))
        .with(count("from_tokens", "from", ""), |(_, class, _)| Cell::Count(class.floor))
        .with(Column::name("remedy", "remedy"), |(.., remedy)| Cell::Name(remedy_name(*remedy)))
        .with(count("pauses", "pauses", ""), |(_, class, _)| Cell::Count(class.resumed))
        .with(count("cold", "cold", ""), |(_, class, _)| Cell::Count(class.cold))
        .with(count("never_resumed", "never resumed", ""), |(_, class, _)| Cell::Count(class.never))
        .with(cost("resumed_usd", "resumed", ""), move |row| Cell::money(spent(row).resumed))
        .with(cost("never_usd", "never", ""), move |row| Cell::money(spent(row).never))
        .table(5, rows)
}
