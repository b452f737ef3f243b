//! `cache`: what calls read from the prompt cache, every break of it with cause and price.

use super::asked::{BreaksBy, Parts};
use super::document::{Cell, Column, Fields, Report, Screen, Section, Table, Unit};
use super::record::cache::CacheRecord;
use super::span::{lifetime, moment, span};
use super::title::title;
use super::words::{counted, grouped, percent_of, short_dollars, three_digits};
use super::{cost_figures, notes};
use crate::corpus::Corpus;
use crate::experiment::cache::{CacheBreak, CacheReads, Cause, GAPS, Reads};
use crate::list::Arrange;
use crate::trace::Trace;
use crate::units::signed;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Rows of each table on the first screen, where causes and breaks share it.
const ROWS: usize = 6;

const EXPECTED: &str = "A call is expected to read what the call before it read and wrote; where the provider reports no writes (OpenAI, Gemini, DeepSeek), the prompt \
                        of the call before in whole steps of its cache. A break lacks more than 1,024 tokens and 2 % of that.";

const PRICE: &str = "A break costs what its call paid for the missing tokens above the price of a read: the price of a write for what the call wrote, that of input for \
                     the rest. Tokens are those that its prompt still holds. List prices of recorded usage.";

const ORDER: &str = "The cause is the first that the log shows, in this order: time beyond the lifetime of the entry; another model; a compaction, pruning, rewind or \
                     cleared conversation; a smaller prompt without a note; a session taken up in another log, or a reply without usage in between; tool definitions or \
                     system prompt changed; more blocks than the cache looks back; reasoning that the provider drops at a user message; an implicit cache; a read no \
                     larger than the session's first prompt; a read as large as an older call left; none of these.";

const UNDECIDABLE: &str = "A read that falls back to the session's start comes from a change at the head of the prompt or from a loss at the provider: no log shows which.";

const IMPLICIT: &str = "Implicit caches promise no hit and have no sharp lifetime. Where more than half of their breaks, and 10 at the least, read one and the same size \
                        of at most half of what was expected, chance alone hardly explains it.";

/// The report on the recorded cache.
pub fn cache(corpus: &Corpus, found: &CacheReads, by: BreaksBy, parts: Parts) -> Report {
    let (sections, screen) = if parts.sections { content(corpus, found, by) } else { (Vec::new(), None) };
    let mut notes = vec![EXPECTED.to_owned(), PRICE.to_owned(), ORDER.to_owned(), UNDECIDABLE.to_owned(), IMPLICIT.to_owned()];
    notes.extend(cost_figures::estimated([found.estimated_output]));
    notes.extend(notes::of_corpus(corpus));
    let rows = if parts.rows { flat(corpus, found) } else { Table::default() };
    Report { screen, ..Report::over(&corpus.facts, sections, notes, rows, CacheRecord::new(corpus, found)) }
}

/// All tables, and the first screen.
fn content(corpus: &Corpus, found: &CacheReads, asked: BreaksBy) -> (Vec<Section>, Option<Screen>) {
    let of = |by: BreaksBy| table(by, rows(corpus, found, by), found);
    let by = |by: BreaksBy| of(by).section(format!("Breaks by {}", by.name()));
    let tells = corpus.traces.each().any(|trace| trace.tells_of_cache());
    let (headline, sum) = (Section::lines(headline(found, tells)), of(asked));
    let breaks = listed(corpus, found).section("Breaks");
    let mut sections: Vec<Section> = std::iter::once(headline.clone()).chain(by(asked)).collect();
    let mut screen = Screen { title: title(&corpus.facts), sections: sections.clone(), ..Screen::default() };
    if let (BreaksBy::Cause, Some(breaks)) = (asked, &breaks) {
        (screen.rows, screen.sections) = (ROWS, vec![headline, sum.titled("")]);
        screen.sections.push(Section { title: String::new(), ..breaks.clone() });
    }
    sections.extend(BreaksBy::ALL.into_iter().filter(|other| *other != asked).filter_map(by));
    sections.extend(by_gap(found).section("Reads by the time since the call before"));
    sections.extend(breaks);
    (sections, Some(screen))
}

/// Thousand-millionths of a dollar in three digits.
pub fn money(nano_usd: u64) -> String {
    short_dollars(signed(nano_usd))
}

/// The answer; `tells`: a log counts what its cache read.
fn headline(found: &CacheReads, tells: bool) -> Vec<String> {
    let Reads { expected, near, breaks, nano_usd, unpriced, .. } = found.sum;
    if expected == 0 {
        let none = "No log shows what a prompt cache did: no read was expected.";
        let short = "No read of the prompt cache was expected: its rule is not known for these models, or no call follows another one.";
        return vec![if tells { short } else { none }.to_owned()];
    }
    let mut lines = vec![
        format!(
            "{} of {} reads within 1,024 tokens of what the call before left ({}).",
            grouped(near),
            grouped(expected),
            percent_of(near, expected)
        ),
        match found.recorded_nano_usd.filter(|_| found.sum.is_priced()) {
            None => format!("{}, of unknown cost: no price is known (--prices takes a table).", counted(breaks, "break")),
            Some(recorded) => format!(
                "{} cost {} of {} for calls with recorded usage ({}).",
                counted(breaks, "break"),
                money(nano_usd),
                money(recorded),
                percent_of(nano_usd, recorded)
            ),
        },
    ];
    if unpriced > 0 && unpriced < breaks {
        lines.push(format!("No price is known for {} of them (--prices takes a table).", grouped(unpriced)));
    }
    let of = |wanted: &dyn Fn(Cause) -> bool| {
        let breaks = found.breaks.iter().filter(|one| wanted(one.cause));
        let (count, cost) =
            breaks.fold((0, None), |(count, cost), one| (count + 1, one.nano_usd.map_or(cost, |more| Some(cost.unwrap_or(0) + more))));
        (count, cost.map_or_else(|| "no price".to_owned(), money))
    };
    let (back, cost) = of(&|cause| matches!(cause, Cause::StartAtTurn | Cause::StartWithinTurn));
    if back > 0 {
        lines.push(format!("Agent or provider? No log shows it for {} ({cost}).", counted(back, "break")));
    }
    let (implicit, cost) = of(&|cause| cause == Cause::Implicit);
    match same_read(found, implicit) {
        Some((read, breaks)) => lines.push(format!(
            "Implicit caches: {} of {} ({cost} for all) read the same {} tokens, as if only the start of the prompt were known. That is hardly chance: requests \
             of one session may reach different accounts or machines, as through a relay or without a `prompt_cache_key`. No log shows which.",
            grouped(breaks),
            counted(implicit, "break"),
            grouped(read)
        )),
        None if implicit > 0 => {
            lines.push(format!("Implicit caches promise no hit: {} ({cost}), most likely no fault of the agent.", counted(implicit, "break")));
        }
        None => {}
    }
    lines
}

/// So many breaks of one size are needed for more than chance.
const SAME: u64 = 10;

/// The one size that more than half of the breaks of implicit caches read, and how many do; `None` where none is or they are too few. A size counts where
/// it is at most half of what was expected, and something was read: misses of the whole prompt are of no shared start.
fn same_read(found: &CacheReads, implicit: u64) -> Option<(u64, u64)> {
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    let of_start = |one: &&CacheBreak| one.cause == Cause::Implicit && one.read > 0 && one.read * 2 <= one.expected;
    found.breaks.iter().filter(of_start).for_each(|one| *sizes.entry(one.read).or_default() += 1);
    sizes.into_iter().max_by_key(|(_, breaks)| *breaks).filter(|(_, breaks)| *breaks >= SAME && breaks * 2 > implicit)
}

/// The words for a cause.
pub fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Idle => "idle beyond the lifetime",
        Cause::Model => "another model",
        Cause::Compacted => "compaction, prune, clear, rewind",
        Cause::Shrank => "prompt shrank without a note",
        Cause::Resumed => "resumed or cut log",
        Cause::Head => "tools or system changed",
        Cause::Blocks => "too many blocks since the last call",
        Cause::Thinking => "thinking dropped",
        Cause::Implicit => "implicit cache, no promise",
        Cause::StartAtTurn => "back to the start, at a user turn",
        Cause::StartWithinTurn => "back to the start, within a turn",
        Cause::Older => "an older entry read",
        Cause::Unexplained => "unexplained",
    }
}

/// The day of a break; empty where the log has no times.
pub fn day(one: &CacheBreak) -> String {
    one.time.map(super::span::day).unwrap_or_default()
}

/// Sums by what they have in common: the dearest first, days in their order.
fn rows(corpus: &Corpus, found: &CacheReads, by: BreaksBy) -> Vec<(Cell, Reads)> {
    let mut sums: BTreeMap<String, Reads> = BTreeMap::new();
    let per_session = |key: fn(&Trace) -> &str| {
        let sessions = corpus.traces.each().zip(&found.sessions).filter(|(_, reads)| reads.expected > 0);
        sessions.map(move |(trace, reads)| (key(&trace).to_owned(), *reads))
    };
    let add = |sums: &mut BTreeMap<String, Reads>, (key, reads): (String, Reads)| *sums.entry(key).or_default() += reads;
    // Sessions are taken whole, days as far as they were asked for.
    let asked = corpus.facts.selected.as_ref().map(|selected| &selected.selection);
    let in_range = |one: &&CacheBreak| asked.zip(one.time).is_none_or(|(asked, time)| asked.holds(time));
    match by {
        BreaksBy::Session => per_session(|trace| &trace.id).for_each(|one| add(&mut sums, one)),
        BreaksBy::Agent => per_session(|trace| &trace.agent).for_each(|one| add(&mut sums, one)),
        BreaksBy::Cause => found.breaks.iter().for_each(|one| add(&mut sums, (cause_name(one.cause).to_owned(), one.reads()))),
        BreaksBy::Day => found.breaks.iter().filter(in_range).for_each(|one| add(&mut sums, (day(one), one.reads()))),
    }
    let mut rows: Vec<(String, Reads)> = sums.into_iter().collect();
    if by != BreaksBy::Day {
        rows.arrange_by_key(|(_, reads)| Reverse((reads.nano_usd, reads.breaks)));
    }
    let cell = |name: String| if by == BreaksBy::Cause || by == BreaksBy::Day { Cell::Name(name) } else { Cell::Text(name) };
    rows.into_iter().map(|(name, reads)| (cell(name), reads)).collect()
}

const COST: Column = Column::recorded("cost", "cost", Unit::Money)
    .says("what the call paid for tokens that it was expected to read, above the price of a read");

const PAID_AGAIN: Column = Column::recorded("tokens", "tokens", Unit::Tokens)
    .says("paid for again: tokens that the call was expected to read, did not read, and whose place in the prompt it still fills");

fn table(by: BreaksBy, rows: Vec<(Cell, Reads)>, found: &CacheReads) -> Table {
    type Row = (Cell, Reads);
    let share = |key, header, meaning| Column::recorded(key, header, Unit::Share).says(meaning);
    let whole = found.sum.nano_usd;
    let mut fields = Fields::<Row>::new().with(Column::name(by.name(), by.name()), |(name, _)| name.clone());
    if matches!(by, BreaksBy::Session | BreaksBy::Agent) {
        fields = fields
            .with(Column::recorded("reads", "reads", Unit::Count).says("calls that were expected to read something"), |(_, reads)| {
                Cell::Count(reads.expected)
            })
            .with(share("near", "as expected", "share of the reads within 1,024 tokens of what is expected"), |(_, reads)| {
                Cell::share(reads.near, reads.expected)
            });
    }
    fields
        .with(Column::recorded("breaks", "breaks", Unit::Count), |(_, reads)| Cell::Count(reads.breaks))
        .with(PAID_AGAIN, |(_, reads)| Cell::Tokens(reads.tokens))
        .with(COST, |(_, reads)| cost(reads))
        .with(share("share", "of all", "share of the cost of all breaks"), move |(_, reads)| {
            if reads.is_priced() { Cell::share(reads.nano_usd, whole) } else { Cell::Empty }
        })
        .table(1, rows)
}

fn cost(reads: &Reads) -> Cell {
    if reads.is_priced() { Cell::money(reads.nano_usd) } else { Cell::Empty }
}

/// Reads by cache and by the time since the call before.
pub fn by_gap(found: &CacheReads) -> Table {
    let words = |class: usize| {
        let edge = |place: usize| GAPS.get(place).map(|seconds| lifetime(seconds * 1_000));
        match (class.checked_sub(1).and_then(edge), edge(class)) {
            (None, Some(to)) => format!("up to {to}"),
            (Some(from), Some(to)) => format!("{from} to {to}"),
            (from, None) => format!("above {}", from.unwrap_or_default()),
        }
    };
    Fields::<((&bool, &i64, usize), &Reads)>::new()
        .with(Column::name("cache", "cache"), |((implicit, kept, _), _)| {
            Cell::Name(format!("{}{}", lifetime(**kept), if **implicit { ", implicit" } else { "" }))
        })
        .with(Column::name("gap", "gap"), move |((_, _, class), _)| Cell::Name(words(*class)))
        .with(Column::recorded("reads", "reads", Unit::Count), |(_, reads)| Cell::Count(reads.expected))
        .with(Column::recorded("breaks", "breaks", Unit::Count), |(_, reads)| Cell::Count(reads.breaks))
        .with(Column::recorded("share", "broken", Unit::Share), |(_, reads)| Cell::share(reads.breaks, reads.expected))
        .with(COST, |(_, reads)| cost(reads))
        .table(2, found.gaps.iter().map(|((kept, class), reads)| ((&kept.implicit, &kept.lifetime, *class), reads)))
}

/// A break in a sentence: `call 541: read 33.0k of 477k expected: 69 minutes idle, 1 h cache, $4.21`.
fn sentence(one: &CacheBreak) -> String {
    let why = match (one.cause, one.gap, one.kept) {
        (Cause::Idle, Some(gap), Some(kept)) => format!("{} idle, {} cache", span(gap), lifetime(kept.lifetime)),
        (cause, ..) => cause_name(cause).to_owned(),
    };
    let cost = one.nano_usd.map_or_else(|| "no price".to_owned(), money);
    format!("call {}: read {} of {} expected: {why}, {cost}", one.place + 1, three_digits(one.read), three_digits(one.expected))
}

/// The sessions that pay most first, and under each its breaks, the dearest first.
fn listed(corpus: &Corpus, found: &CacheReads) -> Table {
    let of_sessions = found.breaks.chunk_by(|one, next| one.session == next.session);
    let mut sessions: Vec<(&Reads, &[CacheBreak])> =
        of_sessions.filter_map(|breaks| Some((found.sessions.get(breaks.first()?.session)?, breaks))).collect();
    sessions.arrange_by_key(|(reads, _)| Reverse(reads.nano_usd));
    let rows = sessions.into_iter().flat_map(|(reads, breaks)| {
        let mut breaks: Vec<&CacheBreak> = breaks.iter().collect();
        breaks.arrange_by_key(|one| (Reverse(one.nano_usd), one.place));
        let trace = breaks.first().and_then(|one| corpus.traces.at(one.session));
        let id = trace.as_deref().map_or("", |trace| &trace.id);
        let cost = if reads.is_priced() { money(reads.nano_usd) } else { "no price".to_owned() };
        let session = format!("session {id}: {}, {cost}", counted(reads.breaks, "break"));
        std::iter::once(Cell::Text(session)).chain(breaks.into_iter().map(|one| Cell::Name(sentence(one))))
    });
    Fields::<Cell>::new().with(Column::prose("break", "the dearest sessions first"), Cell::clone).table(0, rows)
}

/// Every break with all that is known of it.
fn flat(corpus: &Corpus, found: &CacheReads) -> Table {
    type Row<'a> = (Rc<Cow<'a, Trace>>, &'a CacheBreak);
    let seconds = |millis: Option<i64>| millis.map_or(Cell::Empty, |millis| Cell::Count((millis.max(0) / 1_000).unsigned_abs()));
    let model = |(trace, one): &Row<'_>| {
        let name = trace.calls.get(one.place).and_then(|call| trace.model_of(call));
        name.or_else(|| trace.main_model()).map_or(Cell::Empty, Cell::text)
    };
    Fields::<Row<'_>>::new()
        .with(Column::name("session", "session"), |(trace, _)| Cell::text(&trace.id))
        .with(Column::name("source", "source"), |(trace, _)| Cell::text(&trace.source))
        .with(Column::name("agent", "agent"), |(trace, _)| Cell::text(&trace.agent))
        .with(Column::name("model", "model"), model)
        .with(Column::recorded("call", "call", Unit::Count), |(_, one)| Cell::Count(one.place as u64 + 1))
        .with(Column::name("time", "time"), |(_, one)| one.time.map_or(Cell::Empty, |time| Cell::Name(moment(time))))
        .with(Column::name("cause", "cause"), |(_, one)| Cell::name(one.cause.key()))
        .with(Column::recorded("gap_seconds", "gap", Unit::Count), move |(_, one)| seconds(one.gap))
        .with(Column::recorded("lifetime_seconds", "lifetime", Unit::Count), move |(_, one)| seconds(one.kept.map(|kept| kept.lifetime)))
        .with(Column::recorded("expected", "expected", Unit::Tokens), |(_, one)| Cell::Tokens(one.expected))
        .with(Column::recorded("read", "read", Unit::Tokens), |(_, one)| Cell::Tokens(one.read))
        .with(PAID_AGAIN, |(_, one)| Cell::Tokens(one.tokens))
        .with(COST, |(_, one)| one.nano_usd.map_or(Cell::Empty, Cell::money))
        .table(5, corpus.traces.beside(&found.breaks, |one| one.session))
}
