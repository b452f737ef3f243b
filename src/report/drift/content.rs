//! What is hidden, and what content costs.

use super::accuracy::{is_shown, name, number, ratio, section};
use crate::estimate::ContentKind;
use crate::experiment::drift::{Basis, EVIDENCE, FamilyCosts, Findings, Interval, Parts};
use crate::list::Arrange;
use crate::report::document::{Cell, Column, Section, Unit};
use crate::report::field::Fields;
use crate::report::words::{FEWEST, grouped};
use std::cmp::Reverse;

/// Biases taken apart.
pub(super) fn parts(findings: &Findings) -> Option<Section> {
    let share = |key, header, meaning| number(key, header, meaning, Unit::Share);
    let bounds = |key, meaning| Column { meaning, ..Column::name(key, "90 %") };
    let columns = vec![
        Column::name("family", "family"),
        Column::name("estimator", "estimator"),
        number("calls", "calls", "calls that were compared", Unit::Count),
        share("bias", "bias", "estimated less recorded, as a share of recorded: the three parts that follow add up to it"),
        bounds("bias_interval", "bounds of the figure before, in percent, over sessions drawn anew"),
        share("hidden", "hidden", "the part of system prompt and tools that no log shows, as far as the estimator does not count it"),
        bounds("hidden_interval", ""),
        share("messages", "messages", "the part of the wrapping of messages"),
        share("texts", "texts", "the part of texts that are misjudged, and of what was hidden later than at the first call"),
        bounds("texts_interval", ""),
    ];
    let mut shown: Vec<_> = findings.parts.iter().filter(|(parts, _)| is_shown(&parts.estimator)).collect();
    shown.arrange_by_key(|(parts, _)| parts.family);
    let rows = shown.into_iter().map(|(parts, intervals)| {
        let share = |millionths| Cell::Share { part: millionths, whole: 1_000_000 };
        let interval = |place: usize| intervals.as_ref().and_then(|intervals| intervals.get(place)).map_or(Cell::Empty, percents);
        vec![
            name(parts.family.name()),
            name(&parts.estimator),
            Cell::Count(parts.calls),
            share(parts.bias),
            interval(0),
            share(parts.hidden),
            interval(1),
            share(parts.messages),
            share(parts.texts),
            interval(3),
        ]
    });
    section("What is hidden, and what is misjudged", 2, columns, rows.collect())
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
        .with(Column::name("family", "family"), |parts| name(parts.family.name()))
        .with(Column::name("estimator", "estimator"), |parts| name(&parts.estimator))
        .with(number("calls", "calls", "", Unit::Count), |parts| Cell::Count(parts.calls));
    for (column, cell) in [
        share("bias", "bias", |parts| parts.bias),
        share("hidden", "hidden over\u{ad}head", |parts| parts.hidden),
        share("messages", "wrap\u{ad}ping", |parts| parts.messages),
        share("texts", "mis\u{ad}judged text", |parts| parts.texts),
    ] {
        fields = fields.with(column, cell);
    }
    fields.table(2, shown).told("Estimated less recorded, as a share of recorded, and where that comes from; the largest first")
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

/// Hidden overheads.
pub(super) fn hidden(findings: &Findings) -> Option<Section> {
    let tokens = |key, header, meaning| number(key, header, meaning, Unit::Tokens);
    let columns = vec![
        Column::name("agent", "agent"),
        Column::name("version", "version"),
        Column::name("family", "family"),
        number("sessions", "sessions", "sessions with a compared call", Unit::Count),
        tokens("p05", "p5", "tokens of the first compared call that the log does not show: 5th percentile over sessions"),
        tokens("median", "median", "half of them"),
        Column { meaning: "bounds of the median over sessions drawn anew", ..Column::name("interval", "90 %") },
        tokens("p95", "p95", "95th percentile"),
    ];
    let rows = findings.hidden.iter().map(|spread| {
        let bounds = |interval: Interval<i64>| {
            Cell::Name(format!("[{}, {}]", grouped(interval.low.unsigned_abs()), grouped(interval.high.unsigned_abs())))
        };
        vec![
            Cell::Text(spread.source.clone()),
            spread.version.clone().map_or_else(|| name("all"), Cell::Text),
            name(spread.family.name()),
            Cell::Count(spread.sessions),
            Cell::Tokens(spread.p05),
            Cell::Tokens(spread.median),
            spread.interval.map_or(Cell::Empty, bounds),
            Cell::Tokens(spread.p95),
        ]
    });
    section("Hidden overhead of a call", 3, columns, rows.collect())
}

/// What content costs, by family and kind.
pub(super) fn costs(findings: &Findings) -> Option<Section> {
    let cost = |key, header, meaning| number(key, header, meaning, Unit::Count);
    let bounds = |key| Column { meaning: "bounds of the figure before", ..Column::name(key, "90 %") };
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
            let of = |costs: &FamilyCosts| if enough { ratio(costs.costs.of(kind)) } else { name("too little") };
            let interval = |costs: &FamilyCosts| if enough { bounds_of(costs, kind.place()) } else { Cell::Empty };
            let written = chars.filter(|_| kind != ContentKind::Image);
            let by_four = written.filter(|_| enough).map(|chars| chars.costs.of(kind)).filter(|cost| *cost > 0);
            rows.push(vec![
                name(tokens.family.name()),
                name(kind.name()),
                of(tokens),
                interval(tokens),
                written.map_or(Cell::Empty, of),
                written.map_or(Cell::Empty, interval),
                by_four.map_or(Cell::Empty, |cost| Cell::Share { part: 250 - i64::try_from(cost).unwrap_or(i64::MAX), whole: cost }),
                Cell::Tokens(evidence),
            ]);
        }
        let message = [ratio(tokens.costs.message), bounds_of(tokens, ContentKind::ALL.len()), Cell::Empty, Cell::Empty, Cell::Empty];
        rows.push([vec![name(tokens.family.name()), name("a message")], message.to_vec(), vec![Cell::Empty]].concat());
    }
    section("What content costs", 2, columns, rows)
}

fn bounds_of(costs: &FamilyCosts, place: usize) -> Cell {
    let interval = costs.intervals.as_ref().and_then(|intervals| intervals.get(place));
    let thousandths = |number: i64| format!("{}.{:03}", number.unsigned_abs() / 1000, number.unsigned_abs() % 1000);
    interval.map_or(Cell::Empty, |interval| Cell::Name(format!("[{}, {}]", thousandths(interval.low), thousandths(interval.high))))
}
