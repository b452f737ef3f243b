//! Estimates beside recorded prompts: pair by pair, by estimator, and what a safety buffer makes up for.

use super::document::{
    Axis, Bar, BarRow, Bars, Drawing, Drawn, Form, Hue, Limit, Marks, Named, NothingToDraw, Place, Plot, Quantity, Scale, Series, Symbol,
};
use super::kind::{Kind, Material, Need};
use super::range::at;
use crate::corpus::Corpus;
use crate::experiment::drift::{Buffer, Pair, PairList, Paired, Pairs, Use};
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::drift::{left_out, uncounted};
use crate::report::words::{counted, grouped};
use crate::statistics::{quantile, sorted};
use crate::trace::Trace;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

/// So many estimators stand in one drawing at most.
const DRAWN: usize = 4;

/// Dots nearer to each other than this part of a decade are drawn as one.
const NEAR: f64 = 60.0;

/// Recorded against estimated prompts.
pub const DRIFT: Kind = Kind {
    name: "drift",
    sentence: "recorded prompts against estimated ones, and the line of equality",
    needs: &[Need::Pairs, Need::Estimators],
    usual: None,
    draw: drift,
};

/// The spread of the errors of each estimator.
pub const ERRORS: Kind = Kind {
    name: "errors",
    sentence: "how far each estimator is from recorded prompts: the middle half and nine tenths of the calls",
    needs: &[Need::Pairs],
    usual: None,
    draw: errors,
};

/// What a safety buffer covers.
pub const BUFFER: Kind = Kind {
    name: "buffer",
    sentence: "the share of the calls whose underestimate a safety buffer of so many tokens makes up for",
    needs: &[Need::Pairs, Need::Estimators, Need::Since],
    usual: None,
    draw: buffer,
};

/// Recorded prompts against estimated ones. Estimators that are named come first; others fill up.
fn drift(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let (corpus, wanted, all) = (material.corpus, material.estimators, material.pairs.ok_or_else(nothing_compared)?);
    let (chosen, beyond) = chosen(all, Use::Request, wanted, 2)?;
    let series = chosen.iter().enumerate().map(|(number, paired)| {
        let dots = Series::of(&paired.estimator, Hue::Other(number), Form::Dots, Provenance::Estimated, apart(&paired.pairs));
        dots.named(Named::Key)
    });
    let series: Vec<Series> = series.collect();
    let calls = chosen.first().map_or(0, |paired| paired.pairs.len() as u64);
    let low = chosen.first().map_or((0, String::new()), |paired| {
        let low = paired.pairs.iter().filter(|pair| pair.missing() > 0).count() as i64;
        (low, paired.estimator.clone())
    });
    let dots = || series.iter().flat_map(|series| &series.points);
    let ends = |of: fn(&(f64, f64)) -> f64| dots().map(of).fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
    let (estimated, recorded) = (ends(|dot| dot.0), ends(|dot| dot.1));
    let is_met = estimated.0.max(recorded.0) <= estimated.1.min(recorded.1);
    let side = if is_met {
        "Above the line an estimate is too low: the prompt was larger than estimated."
    } else if estimated.1 < recorded.0 {
        "All estimates are too low: the line where both are equal lies outside of the picture."
    } else {
        "All estimates are too high: the line where both are equal lies outside of the picture."
    };
    let how = format!("{side} Dots that would lie on each other are drawn once.");
    Ok(Drawn {
        title: format!("{} is too low at {} of {}", low.1, grouped(low.0 as u64), counted(calls, "call")),
        subtitle: "Recorded prompts against estimates of the whole request".to_owned(),
        drawing: Drawing::Plot(Plot {
            x: Axis { scale: Scale::Logarithmic, from: None, ..Axis::of("estimated", Quantity::Tokens) },
            y: Axis { scale: Scale::Logarithmic, from: None, ..Axis::of("recorded", Quantity::Tokens) },
            series,
            limits: is_met
                .then(|| Limit { name: "both are equal".to_owned(), hue: Hue::Recorded, place: Place::Identity })
                .into_iter()
                .collect(),
            marks: Vec::new(),
        }),
        notes: beyond.into_iter().chain([how]).chain(foundations(corpus, all, Use::Request, calls)).collect(),
        data: of_pairs(corpus, &chosen),
    })
}

/// How far each estimator is from recorded prompts.
fn errors(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let all = material.pairs.ok_or_else(nothing_compared)?;
    let used = |wanted: Use| all.estimators.iter().filter(move |paired| paired.used == wanted && !paired.pairs.is_empty());
    let error = |pair: Pair| pair.estimated as f64 / pair.recorded.max(1) as f64 - 1.0;
    let mut rows: Vec<(&str, [f64; 5])> = Vec::new();
    for paired in used(Use::Request) {
        let errors: Vec<f64> = paired.pairs.iter().map(error).collect();
        // Roundings of one rule differ by nothing that can be seen.
        let spread = at(&errors, [50, 250, 500, 750, 950]);
        let alike = |other: &[f64; 5]| spread.is_some_and(|spread| spread.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-2));
        if let Some(spread) = spread.filter(|_| !rows.iter().any(|(_, other)| alike(other))) {
            rows.push((&paired.estimator, spread));
        }
    }
    let nearest = rows.iter().min_by(|one, other| middle(one).total_cmp(&middle(other)));
    let title = nearest.map(|(name, spread)| format!("{name} comes nearest: half of its errors lie between {}", within(spread)));
    let title = title.ok_or_else(nothing_compared)?;
    let left_out = used(Use::Request).count().saturating_sub(rows.len());
    let percent = |[.., middle, _, _]: &[f64; 5]| format!("median {:+.0} %", middle * 100.0).replace('-', "−");
    let bar = |(name, spread): &(&str, [f64; 5])| BarRow {
        name: (*name).to_owned(),
        bar: Bar::Range { hue: Hue::Other(0), at: *spread, singles: Vec::new() },
        value: percent(spread),
    };
    let mut notes =
        vec!["A box holds the middle half of the calls, the whiskers nine tenths. Left of 0 an estimate is too low.".to_owned()];
    if left_out > 0 {
        notes.push(format!("{} with nearly the same errors as one above: no row.", counted(left_out as u64, "estimator")));
    }
    let calls = used(Use::Request).map(|paired| paired.pairs.len() as u64).next().unwrap_or(0);
    notes.extend(foundations(material.corpus, all, Use::Request, calls));
    Ok(Drawn {
        title,
        subtitle: "Estimate of the whole request over the recorded prompt, less one".to_owned(),
        drawing: Drawing::Bars(Bars {
            x: Axis { from: None, ..Axis::of("error", Quantity::Share) },
            rows: rows.iter().map(bar).collect(),
            limits: vec![Limit { name: "as recorded".to_owned(), hue: Hue::Limit, place: Place::Across(0.0) }],
            key: Vec::new(),
        }),
        notes,
        data: of_errors(used(Use::Request), error),
    })
}

/// Which calls are compared and which are not, and which estimators are missing.
fn foundations(corpus: &Corpus, all: &Pairs, used: Use, calls: u64) -> Vec<String> {
    let also = match used {
        Use::Request => "",
        Use::SinceUsage => ", each behind one with recorded usage",
    };
    let compared = format!("Compared: {}{also}.", counted(calls, "call"));
    std::iter::once(compared).chain(left_out(&all.left_out)).chain(uncounted(corpus, &all.uncounted)).collect()
}

fn middle((_, [_, first, median, third, _]): &&(&str, [f64; 5])) -> f64 {
    median.abs() + (third - first) / 2.0
}

fn within([_, first, _, third, _]: &[f64; 5]) -> String {
    format!("{:+.0} and {:+.0} %", first * 100.0, third * 100.0).replace('-', "−")
}

/// The share of the calls whose underestimate a buffer makes up for. Estimators that are named come first.
fn buffer(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { estimators: wanted, used, .. } = *material;
    let all = material.pairs.ok_or_else(nothing_compared)?;
    let (chosen, beyond) = chosen(all, used, wanted, DRAWN)?;
    let mut series = Vec::new();
    let mut marks = Vec::new();
    for (number, paired) in chosen.iter().enumerate() {
        let hue = Hue::Other(number);
        let fitted = fitted(paired).filter_map(|(tokens, buffer)| {
            let (within, of) = buffer.covered;
            (of > 0).then_some((tokens as f64, within as f64 / of.max(1) as f64))
        });
        let mut points: Vec<(f64, f64)> = fitted.collect();
        points.dedup();
        let name = "buffer fitted on one half of the sessions, and the share of the other half that it covers".to_owned();
        marks.push(Marks { name, symbol: Symbol::Diamond, hue, points });
        series.push(Series::of(&paired.estimator, hue, Form::Steps, Provenance::Estimated, coverage(&paired.pairs)));
    }
    let levels = [0.95, 0.99].map(|level| Limit { name: format!("{:.0} %", level * 100.0), hue: Hue::Limit, place: Place::Height(level) });
    let about = match used {
        Use::Request => "estimates of the whole request",
        Use::SinceUsage => "estimates of what came since the last recorded usage",
    };
    let calls = chosen.first().map_or(0, |paired| paired.pairs.len() as u64);
    let first = chosen.first().and_then(|paired| Some((&paired.estimator, needed(&paired.pairs, 950)?)));
    let title = first.map(|(name, tokens)| match tokens {
        ..=0 => format!("{name} is too high for 95 % of these calls: no buffer would have been needed"),
        _ => format!("A buffer of {} tokens would have covered 95 % of these calls for {name}", signed(tokens)),
    });
    Ok(Drawn {
        title: title.unwrap_or_default(),
        subtitle: format!("Share of the calls whose {about} are too low by no more than the buffer"),
        drawing: Drawing::Plot(Plot {
            x: Axis { from: None, ..Axis::of("buffer", Quantity::Tokens) },
            y: Axis { to: Some(1.0), ..Axis::of("calls covered", Quantity::Share) },
            series,
            limits: levels.to_vec(),
            marks,
        }),
        notes: beyond.into_iter().chain(diamonds(&chosen)).chain(foundations(material.corpus, all, used, calls)).collect(),
        data: of_coverage(&chosen),
    })
}

/// The buffers that half of the sessions bear, with their tokens.
fn fitted(paired: &Paired) -> impl Iterator<Item = (i64, &Buffer)> {
    paired.buffers.iter().filter_map(|buffer| Some((buffer.tokens?, buffer)))
}

/// What each diamond is fitted for; levels that come to the same tokens share one. And the levels that there are too few calls for.
fn diamonds(chosen: &[&Paired]) -> Vec<String> {
    let of = |paired: &&Paired| {
        let mut by_tokens: Vec<(i64, Vec<String>)> = Vec::new();
        for (tokens, buffer) in fitted(paired) {
            match by_tokens.last_mut().filter(|(known, _)| *known == tokens) {
                Some((_, levels)) => levels.push(level(buffer)),
                None => by_tokens.push((tokens, vec![level(buffer)])),
            }
        }
        let words = by_tokens.iter().map(|(tokens, levels)| format!("{} at {}", levels.join(" and "), signed((*tokens).max(0))));
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| format!("{}: {}", paired.estimator, words.join(", ")))
    };
    let fitted: Vec<String> = chosen.iter().filter_map(of).collect();
    let drawn = (!fitted.is_empty()).then(|| format!(
            "Lines are all of these calls, seen afterwards. Diamonds are the buffers that one half of the sessions asks for, in tokens: {}.",
            fitted.join("; ")
        ));
    let all = chosen.first().map_or(&[][..], |paired| paired.buffers.as_slice());
    let without = all.iter().find(|buffer| buffer.tokens.is_none());
    let without =
        without.map(|buffer| format!("No diamond for {}: that takes {} in one half.", level(buffer), counted(buffer.needs(), "call")));
    drawn.into_iter().chain(without).collect()
}

/// `95 %`, `99.9 %`.
fn level(buffer: &Buffer) -> String {
    let (whole, tenth) = (buffer.level / 10, buffer.level % 10);
    if tenth == 0 { format!("{whole} %") } else { format!("{whole}.{tenth} %") }
}

fn nothing_compared() -> NothingToDraw {
    NothingToDraw::Nothing("no call has recorded usage that an estimate could be held against".to_owned())
}

/// Estimators, and a sentence on those that find no room.
type Chosen<'a> = (Vec<&'a Paired>, Option<String>);

/// The estimators that are drawn: those wanted, in their order; without any, one by length and one by a public vocabulary.
fn chosen<'a>(all: &'a Pairs, used: Use, wanted: &[&str], most: usize) -> Result<Chosen<'a>, NothingToDraw> {
    let usual = ["chars/4 floor", "o200k_base"];
    let names = if wanted.is_empty() { &usual[..] } else { wanted };
    let of =
        |name: &&str| all.estimators.iter().find(|paired| paired.used == used && paired.estimator == *name && !paired.pairs.is_empty());
    let mut found: Vec<&Paired> = names.iter().filter_map(of).collect();
    let rest = found.len().saturating_sub(most) as u64;
    found.truncate(most);
    let note = (rest > 0).then(|| format!("And {} more: {most} at most are drawn, those that were named first.", grouped(rest)));
    if found.is_empty() { Err(nothing_compared()) } else { Ok((found, note)) }
}

/// The pairs as points, one for each place that can be told from the others.
fn apart(pairs: &PairList) -> Vec<(f64, f64)> {
    let cell = |tokens: u64| ((tokens.max(1) as f64).log10() * NEAR).round() as i64;
    let mut seen = BTreeSet::new();
    let new = pairs.iter().filter(|pair| seen.insert((cell(pair.estimated), cell(pair.recorded))));
    new.map(|pair| (pair.estimated.max(1) as f64, pair.recorded as f64)).collect()
}

/// The share of the calls that each buffer covers, from where the first is covered to where all are.
fn coverage(pairs: &PairList) -> Vec<(f64, f64)> {
    const STEPS: usize = 200;
    let missing = sorted(pairs.iter().map(|pair| pair.missing()));
    let count = missing.len();
    let every = count.div_ceil(STEPS).max(1);
    let at = |(place, tokens): (usize, &i64)| (*tokens as f64, (place + 1) as f64 / count as f64);
    missing.iter().enumerate().filter(|(place, _)| (place + 1).is_multiple_of(every) || place + 1 == count).map(at).collect()
}

/// The smallest buffer that covers so many thousandths of the calls.
fn needed(pairs: &PairList, level: u64) -> Option<i64> {
    quantile(&sorted(pairs.iter().map(|pair| pair.missing())), level)
}

fn signed(tokens: i64) -> String {
    let sign = if tokens < 0 { "−" } else { "" };
    format!("{sign}{}", grouped(tokens.unsigned_abs()))
}

fn tokens(key: &'static str, provenance: Provenance) -> Column {
    Column::number(key, key, Unit::Tokens, provenance)
}

fn of_pairs(corpus: &Corpus, chosen: &[&Paired]) -> Table {
    let pairs = chosen.iter().flat_map(|paired| paired.pairs.iter().map(|pair| (paired.estimator.as_str(), pair)));
    Fields::<(Rc<Cow<'_, Trace>>, (&str, Pair))>::new()
        .with(Column::name("estimator", "estimator"), |(_, (estimator, _))| Cell::name(estimator))
        .with(Column::name("session", "session"), |(trace, _)| Cell::text(&trace.id))
        .with(Column::recorded("call", "call", Unit::Count), |(_, (_, pair))| Cell::Count(pair.call as u64 + 1))
        .with(tokens("estimated", Provenance::Estimated), |(_, (_, pair))| Cell::Tokens(pair.estimated))
        .with(tokens("recorded", Provenance::Recorded), |(_, (_, pair))| Cell::Tokens(pair.recorded))
        .table(3, corpus.traces.beside(pairs, |(_, pair)| pair.session))
}

fn of_errors<'a>(all: impl Iterator<Item = &'a Paired>, error: impl Fn(Pair) -> f64) -> Table {
    let share = |key| Column::estimated(key, key, Unit::Share);
    let count = Column::recorded("calls", "calls", Unit::Count);
    let names = [Column::name("estimator", "estimator"), count];
    let columns = names.into_iter().chain(["p05", "p25", "p50", "p75", "p95"].map(share)).collect();
    let row = |paired: &Paired| {
        let errors: Vec<f64> = paired.pairs.iter().map(&error).collect();
        let cells = at(&errors, [50, 250, 500, 750, 950]).unwrap_or_default();
        let cells = cells.map(|error| Cell::Share { part: (error * 1e6).round() as i64, whole: 1_000_000 });
        let names = [Cell::Name(paired.estimator.clone()), Cell::Count(paired.pairs.len() as u64)];
        names.into_iter().chain(cells).collect()
    };
    Table { labels: 1, columns, rows: all.map(row).collect() }
}

fn of_coverage(chosen: &[&Paired]) -> Table {
    let mut rows = Vec::new();
    for paired in chosen {
        let mut row = |point: String, tokens: i64, covered: Cell| rows.push((paired.estimator.as_str(), point, tokens, covered));
        for (tokens, covered) in coverage(&paired.pairs) {
            row("all calls".to_owned(), tokens as i64, Cell::share((covered * 1e6).round() as u64, 1_000_000));
        }
        for (tokens, buffer) in fitted(paired) {
            row(format!("held out, {} of 1000", buffer.level), tokens, Cell::share(buffer.covered.0, buffer.covered.1));
        }
    }
    Fields::<(&str, String, i64, Cell)>::new()
        .with(Column::name("estimator", "estimator"), |(estimator, ..)| Cell::name(estimator))
        .with(Column::name("point", "point"), |(_, point, ..)| Cell::name(point))
        .with(tokens("buffer_tokens", Provenance::Estimated), |(_, _, tokens, _)| Cell::SignedTokens(*tokens))
        .with(Column::estimated("covered", "covered", Unit::Share), |(.., covered)| covered.clone())
        .table(2, rows)
}
