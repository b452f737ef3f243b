//! Values of measures as cells: counts, tokens, shares, money, quotients.

use super::document::Cell;
use super::finding;
use super::words::{counted, dollars};
use crate::experiment::{Difference, KnownFrom, Measure, Row, Unit, Value};
use crate::statistics::Bars;
use crate::trace::Evidence;

/// What is said where a net cost is sought or limited.
pub const CLOSED_LOOP: &str = "Net cost is that of a closed loop: what was cut away, cleared or dropped, and is needed later, is read again; what was \
                               summarised is taken to be known, which favours low thresholds. It may lie below the cost, as what is read again makes the policy act at other calls: that is no \
                               saving to count on. All other figures are those of the open loop.";

/// What a net cost that is sought or limited leaves out: the lines that summaries took from the setting that comes first, or from the own one that it is held
/// against, whichever are more. One line, which no screen has to spare. `None` where no net cost is, or no line was summarised.
pub fn supposed(mut measures: impl Iterator<Item = Measure>, rows: [&Row; 2]) -> Option<String> {
    let lost = rows.map(|row| {
        let lines = row.totals.retention.fates.iter().filter(|((kind, _), _)| *kind == Evidence::Line);
        lines.map(|(_, fates)| fates.summarised).sum::<u64>()
    });
    let most = lost.into_iter().max().filter(|most| *most > 0)?;
    let is_sought = measures.any(|measure| measure.known_from() == KnownFrom::ClosedLoop);
    let lines = counted(most, "summarised reference");
    is_sought.then(|| format!("`net cost` rereads none of {lines}: it favours low thresholds."))
}

/// What one setting comes to beside another: `net cost $1.20 against $2.00: -40.0 % (90 %: -50.0 % to -30.0 %; the bill's own error: 1.2 %)`.
/// `which` says more of the other one, behind its value.
pub fn against(measure: &Measure, [one, other]: [&Row; 2], which: &str, difference: Option<&Difference>, bars: &Bars) -> String {
    let told = difference.map(|difference| finding::difference(difference, bars, &|amount| bound_phrase(amount, measure)));
    let told = told.map(|told| format!(": {told}")).unwrap_or_default();
    // What is compared stands beside the difference: sums over all sessions are of other calls where one of them fails a session.
    let values = difference.filter(|difference| difference.left_out > 0).map(|difference| difference.values);
    let [one, other] = values.map_or_else(
        || [one, other].map(|row| row.known(measure).map_or_else(|| "not known".to_owned(), |value| phrase(value, measure))),
        |values| values.map(|value| bound_phrase(value, measure)),
    );
    format!("{} {one} against {other}{which}{told}", measure.words())
}

/// A value as a cell: a count, tokens or money; a share where both are of one kind; else a quotient with two decimals, or two digits. What happens less
/// than once a call is told per 100 calls, for two decimals of one call would hide it.
pub fn cell(value: Value, measure: &Measure) -> Cell {
    let money = measure.part.unit == Unit::Money;
    match measure.whole {
        None if money => Cell::Money(value.part),
        None if measure.part.unit == Unit::Count => u64::try_from(value.part).map_or(Cell::SignedTokens(value.part), Cell::Count),
        None => u64::try_from(value.part).map_or(Cell::SignedTokens(value.part), Cell::Tokens),
        Some(_) if measure.is_share() => Cell::Share { part: value.part, whole: value.whole },
        Some(_) if money => Cell::Money(value.part.checked_div(i64::try_from(value.whole).unwrap_or(i64::MAX)).unwrap_or(0)),
        Some(_) => {
            let (times, per) = if measure.is_rate() { (100.0, " per 100") } else { (1.0, "") };
            let quotient = value.part as f64 * times / value.whole.max(1) as f64;
            // Two decimals, and of what they would hide two digits.
            let decimals = if quotient == 0.0 { 2 } else { (1.0 - quotient.abs().log10().floor()).max(2.0) as usize };
            Cell::Name(format!("{quotient:.decimals$}{per}"))
        }
    }
}

/// What a setting comes to as a cell; empty where that is not known.
pub fn value_cell(row: &Row, measure: &Measure) -> Cell {
    row.known(measure).map_or(Cell::Empty, |value| cell(value, measure))
}

/// A bound over resampled sessions as a cell: bounds of quotients are told in millionths.
pub fn bound_cell(part: i64, measure: &Measure) -> Cell {
    cell(Value { part, whole: if measure.whole.is_some() { 1_000_000 } else { 1 } }, measure)
}

/// A share, or a bound of one, as a number.
pub fn share_cell(share: f64) -> Cell {
    Cell::Share { part: (share * 1e6).round() as i64, whole: 1_000_000 }
}

/// A value within a sentence.
pub fn phrase(value: Value, measure: &Measure) -> String {
    match cell(value, measure) {
        Cell::Money(nano_usd) => dollars(nano_usd),
        Cell::Share { part, whole } => super::words::percent(part, whole),
        Cell::Count(count) | Cell::Tokens(count) => super::words::grouped(count),
        Cell::SignedTokens(count) => format!("-{}", super::words::grouped(count.unsigned_abs())),
        Cell::Name(words) | Cell::Text(words) => words,
        Cell::Empty => String::new(),
    }
}

/// A bound, or a difference, within a sentence.
fn bound_phrase(part: i64, measure: &Measure) -> String {
    phrase(Value { part, whole: if measure.whole.is_some() { 1_000_000 } else { 1 } }, measure)
}
