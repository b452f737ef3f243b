//! What is hidden, and what content costs.

use super::accuracy::{is_shown, number, ratio};
use crate::estimate::ContentKind;
use crate::experiment::drift::{Basis, EVIDENCE, FamilyCosts, Findings, Interval, Parts, Separated, Spread};
use crate::list::Arrange;
use crate::report::document::{Cell, Column, Fields, Section, Table, Unit};
use crate::report::words::{FEWEST, grouped};
use std::cmp::Reverse;

/// The bias of each estimator in three parts, with intervals.
pub(super) fn parts(findings: &Findings) -> Option<Section> {
    let share = |key, header, meaning| number(key, header, meaning, Unit::Share);
    let bounds = |key| Column::name(key, "90 %");
    let part = |of: fn(&Parts) -> i64| move |(parts, _): &&Separated| Cell::Share { part: of(parts), whole: 1_000_000 };
    let interval = |place: usize| {
        move |(_, intervals): &&Separated| intervals.as_ref().and_then(|intervals| intervals.get(place)).map_or(Cell::Empty, percents)
    };
    let bias = "estimated less recorded, as a share of recorded: the three parts that follow add up to it";
    let hidden = "the part of system prompt and tools that no log shows, as far as the estimator does not count it";
    let texts = "the part of texts that are misjudged, and of what was hidden later than at the first call";
    let of_bias = "bounds of the figure before, in percent, over sessions drawn anew";
    let mut shown: Vec<&Separated> = findings.parts.iter().filter(|(parts, _)| is_shown(&parts.estimator)).collect();
    shown.arrange_by_key(|(parts, _)| parts.family);
    Fields::new()
        .with(Column::name("family", "family"), |(parts, _): &&Separated| Cell::name(parts.family.name()))
        .with(Column::name("estimator", "estimator"), |(parts, _)| Cell::name(&parts.estimator))
        .with(number("calls", "calls", "calls that were compared", Unit::Count), |(parts, _)| Cell::Count(parts.calls))
        .with(share("bias", "bias", bias), part(|parts| parts.bias))
        .with(bounds("bias_interval").says(of_bias), interval(0))
        .with(share("hidden", "hidden", hidden), part(|parts| parts.hidden))
        .with(bounds("hidden_interval"), interval(1))
        .with(share("messages", "messages", "the part of the wrapping of messages"), part(|parts| parts.messages))
        .with(share("texts", "texts", texts), part(|parts| parts.texts))
        .with(bounds("texts_interval"), interval(3))
        .table(2, shown)
        .without_blank()
        .section("What is hidden, and what is misjudged")
}

/// The same without intervals, for a screen: the estimators that are named, the largest bias first.
pub(super) fn in_parts(findings: &Findings, named: &dyn Fn(&str) -> bool) -> Option<Section> {
    let share = |key, header, of: fn(&Parts) -> i64| {
        let cell = move |parts: &&Parts| Cell::Share { part: of(parts), whole: 1_000_000 };
        (number(key, header, "", Unit::Share), cell)
    };
    let mut shown: Vec<&Parts> = findings.parts.iter().map(|(parts, _)| parts).filter(|parts| named(&parts.estimator)).collect();
    // The sort is stable: equals stay in the order of families.
    // A few calls say little, however far they are off.
    shown.arrange_by_key(|parts| (parts.calls < FEWEST, Reverse(parts.bias.abs())));
    let mut fields = Fields::<&Parts>::new()
        .with(Column::name("family", "family"), |parts| Cell::name(parts.family.name()))
        .with(Column::name("estimator", "estimator"), |parts| Cell::name(&parts.estimator))
        .with(number("calls", "calls", "", Unit::Count), |parts| Cell::Count(parts.calls));
    for (column, cell) in [
        share("bias", "bias", |parts| parts.bias),
        share("hidden", "hidden over\u{ad}head", |parts| parts.hidden),
        share("messages", "wrap\u{ad}ping", |parts| parts.messages),
        share("texts", "mis\u{ad}judged text", |parts| parts.texts),
    ] {
        fields = fields.with(column, cell);
    }
    fields.table(2, shown).section("Estimated less recorded, as a share of recorded, and where that comes from; the largest first")
}

/// Bounds in millionths, as percent.
fn percents(interval: &Interval<i64>) -> Cell {
    let percent = |millionths: i64| {
        let tenths = (millionths + if millionths < 0 { -500 } else { 500 }) / 1000;
        let sign = if tenths < 0 { "-" } else { "" };
        format!("{sign}{}.{}", tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10)
    };
    Cell::Name(format!("[{}, {}]", percent(interval.low), percent(interval.high)))
}

/// Hidden overhead by agent, version and family.
pub(super) fn hidden(findings: &Findings) -> Option<Section> {
    let tokens = |key, header, meaning| number(key, header, meaning, Unit::Tokens);
    let least = "tokens of the first compared call that the log does not show: 5th percentile over sessions";
    let interval = Column::name("interval", "90 %").says("bounds of the median over sessions drawn anew");
    let bounds = |interval: Interval<i64>| {
        Cell::Name(format!("[{}, {}]", grouped(interval.low.unsigned_abs()), grouped(interval.high.unsigned_abs())))
    };
    Fields::new()
        .with(Column::name("agent", "agent"), |spread: &&Spread| Cell::text(&spread.source))
        .with(Column::name("version", "version"), |spread| spread.version.clone().map_or_else(|| Cell::name("all"), Cell::Text))
        .with(Column::name("family", "family"), |spread| Cell::name(spread.family.name()))
        .with(number("sessions", "sessions", "sessions with a compared call", Unit::Count), |spread| Cell::Count(spread.sessions))
        .with(tokens("p05", "p5", least), |spread| Cell::Tokens(spread.p05))
        .with(tokens("median", "median", "half of them"), |spread| Cell::Tokens(spread.median))
        .with(interval, move |spread| spread.interval.map_or(Cell::Empty, bounds))
        .with(tokens("p95", "p95", "95th percentile"), |spread| Cell::Tokens(spread.p95))
        .table(3, &findings.hidden)
        .without_blank()
        .section("Hidden overhead of a call")
}

/// What content costs, by family and kind.
pub(super) fn costs(findings: &Findings) -> Option<Section> {
    let cost = |key, header, meaning| number(key, header, meaning, Unit::Count);
    let bounds = |key| Column::name(key, "90 %").says("bounds of the figure before");
    let columns = vec![
        Column::name("family", "family"),
        Column::name("content", "content"),
        cost("per_token", "a token", "recorded tokens for a token of the vocabulary that texts were counted in; for a message, tokens"),
        bounds("per_token_interval"),
        cost("per_char", "a character", "recorded tokens for a code point"),
        bounds("per_char_interval"),
        Column {
            meaning: "what chars/4 makes of such a text, against what it costs",
            ..number("chars_by_four", "chars/4", "", Unit::Share)
        },
        number("evidence", "evidence", "tokens of such texts that the fit rests on; too few say nothing", Unit::Tokens),
    ];
    let mut rows = Vec::new();
    for tokens in findings.costs.iter().filter(|costs| costs.basis == Basis::Tokens) {
        let chars = findings.costs.iter().find(|costs| costs.basis == Basis::Chars && costs.family == tokens.family);
        for kind in ContentKind::ALL {
            let evidence = tokens.evidence.get(kind.place()).copied().unwrap_or_default();
            if evidence == 0 {
                continue;
            }
            let enough = evidence >= EVIDENCE;
            let of = |costs: &FamilyCosts| if enough { ratio(costs.costs.of(kind)) } else { Cell::name("too little") };
            let interval = |costs: &FamilyCosts| if enough { bounds_of(costs, kind.place()) } else { Cell::Empty };
            let written = chars.filter(|_| kind != ContentKind::Image);
            let by_four = written.filter(|_| enough).map(|chars| chars.costs.of(kind)).filter(|cost| *cost > 0);
            rows.push(vec![
                Cell::name(tokens.family.name()),
                Cell::name(kind.name()),
                of(tokens),
                interval(tokens),
                written.map_or(Cell::Empty, of),
                written.map_or(Cell::Empty, interval),
                by_four.map_or(Cell::Empty, |cost| Cell::Share { part: 250 - i64::try_from(cost).unwrap_or(i64::MAX), whole: cost }),
                Cell::Tokens(evidence),
            ]);
        }
        let message = [ratio(tokens.costs.message), bounds_of(tokens, ContentKind::ALL.len()), Cell::Empty, Cell::Empty, Cell::Empty];
        rows.push([vec![Cell::name(tokens.family.name()), Cell::name("a message")], message.to_vec(), vec![Cell::Empty]].concat());
    }
    Table { labels: 2, columns, rows: rows.into() }.without_blank().section("What content costs")
}

fn bounds_of(costs: &FamilyCosts, place: usize) -> Cell {
    let interval = costs.intervals.as_ref().and_then(|intervals| intervals.get(place));
    let thousandths = |number: i64| format!("{}.{:03}", number.unsigned_abs() / 1000, number.unsigned_abs() % 1000);
    interval.map_or(Cell::Empty, |interval| Cell::Name(format!("[{}, {}]", thousandths(interval.low), thousandths(interval.high))))
}
