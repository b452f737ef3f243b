//! How far a measure may move: `tokens +2%`, `overflows +0`, `cache_hit_rate -1pp`.
//!
//! Percent is always percent of the baseline: 5 % of a hit rate of 80 % are 4 points. Points are points of a share.

use crate::experiment::error::SweepError;
use crate::experiment::measure::{Measure, Value};
use crate::experiment::metric::{Better, Unit};
use crate::experiment::sweep::Difference;
use crate::policy::number;
use std::cmp::Ordering;

/// Parts of one in which shares of a baseline are counted.
const PARTS: i128 = 1_000_000;

/// Which way a measure is not to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A limit with `+`: the figure may rise by so much.
    Up,
    /// A limit with `-`: the figure may fall by so much.
    Down,
}

/// By how much it may go that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// By so many millionths of the baseline.
    Share(i64),
    /// By so many millionths of one; of a dollar, for money.
    Amount(i64),
}

/// Parts of a dollar in which money is counted.
const NANO: i128 = 1_000_000_000;

/// How far a measure may move.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// The measure that is limited.
    pub measure: Measure,
    way: Way,
    room: Room,
    /// As it was typed.
    pub words: String,
}

impl Allowance {
    /// The limits of `gate` where no `--allow` is given.
    pub fn usual() -> Result<Vec<Allowance>, SweepError> {
        ["tokens +2%", "overflows +0", "failed_sessions +0", "lost_lines +2%"].into_iter().map(Allowance::parse).collect()
    }

    /// The usual limits and what is asked for; a limit that is asked for stands in place of the usual one of its measure. A quotient is a
    /// measure of its own; points limit the measure that they are points of.
    pub fn usual_and(asked: Vec<Allowance>) -> Result<Vec<Allowance>, SweepError> {
        let mut all = Allowance::usual()?;
        let is_of_part =
            |asked: &Allowance| asked.measure.whole.is_none() || (asked.measure.is_share() && matches!(asked.room, Room::Amount(_)));
        all.retain(|usual| asked.iter().all(|asked| !is_of_part(asked) || asked.measure.part.key != usual.measure.part.key));
        all.extend(asked);
        Ok(all)
    }

    /// Parses an allowance in words: a measure, a sign, and a number, percent of the baseline (`%`) or points of a share (`pp`, `points`).
    pub fn parse(text: &str) -> Result<Allowance, SweepError> {
        let wrong = |reason: &str| SweepError::Asked(format!("`--allow {text}`: {reason}"));
        let form = "it is written as in 'tokens +2%', 'overflows +0' or 'cache_hit_rate -1pp'";
        let at = text.rfind(['+', '-']).ok_or_else(|| wrong(form))?;
        let (name, limit) = text.split_at(at);
        let way = if limit.starts_with('+') { Way::Up } else { Way::Down };
        let plain: String = limit.chars().skip(1).filter(|letter| !letter.is_whitespace()).collect();
        let dollars = plain.strip_prefix('$');
        let plain = dollars.unwrap_or(&plain);
        let points = ["pp", "points", "point"].iter().find_map(|unit| plain.strip_suffix(unit));
        let typed = points.map_or_else(|| plain.to_owned(), |points| format!("{points}%"));
        // `number` takes percent for a share of one.
        let size = number(&typed).filter(|size| *size >= 0.0 && *size * (PARTS as f64) < 9e18).ok_or_else(|| wrong(form))?;
        let millionths = (size * PARTS as f64).round() as i64;
        let measure = Measure::parse(name)?;
        // What is paid for is better when it is less, though no table says so of a bare sum.
        let paid = measure.whole.is_none() && (measure.part.unit == Unit::Money || measure.part.key == "tokens");
        let better = if paid { Better::Less } else { measure.part.better };
        let gets_better = matches!((better, way), (Better::Less, Way::Down) | (Better::More, Way::Up));
        if gets_better {
            let sign = if way == Way::Up { '-' } else { '+' };
            let dollar = if dollars.is_some() { "$" } else { "" };
            let reason = format!(
                "it limits how far a figure may get better, and lets it get worse without limit: `{name}{sign}{dollar}{plain}` is the limit"
            );
            return Err(wrong(&reason));
        }
        if dollars.is_some() && (measure.part.unit != Unit::Money || measure.is_share() || points.is_some() || plain.ends_with('%')) {
            return Err(wrong("dollars are for amounts of money, as in 'cost +$1'"));
        }
        let (measure, room) = if points.is_some() {
            let share = measure.as_share().filter(Measure::is_share);
            let share = share.ok_or_else(|| wrong("points are for shares, as in 'cache_hit_rate -1pp' or 'lost_lines +2pp'"))?;
            (share, Room::Amount(millionths))
        } else if plain.ends_with('%') {
            (measure, Room::Share(millionths))
        } else if measure.is_share() {
            return Err(wrong("a share moves by points (`1pp`) or by percent of the baseline (`1%`)"));
        } else {
            (measure, Room::Amount(millionths))
        };
        Ok(Allowance { measure, way, room, words: text.split_whitespace().collect::<Vec<_>>().join(" ") })
    }

    /// Is it held against what is counted? An amount (a number, dollars, points) is one of these very sessions, which both runs replay, so that no chance is in it;
    /// percent of the baseline speaks of sessions like these. Nothing is nothing in either.
    pub fn is_of_counts(&self) -> bool {
        matches!(self.room, Room::Share(0) | Room::Amount(_))
    }

    /// Is it shown that a value goes beyond the limit: does it with the end of its interval that is nearest to the baseline?
    pub fn is_shown(&self, baseline: Value, difference: &Difference) -> bool {
        let nearest = difference.amount(if self.way == Way::Up { difference.share.low } else { difference.share.high });
        let moved = match self.measure.whole {
            None => Some(Value { part: baseline.part.saturating_add(nearest), whole: 1 }),
            Some(_) => scaled(baseline)
                .and_then(|was| i64::try_from(was + i128::from(nearest)).ok())
                .map(|part| Value { part, whole: PARTS as u64 }),
        };
        moved.is_none_or(|moved| !self.allows(baseline, moved))
    }

    /// Is a value allowed beside that of the baseline? Worked out in whole numbers.
    pub fn allows(&self, baseline: Value, now: Value) -> bool {
        let (Some(baseline), Some(now)) = (scaled(baseline), scaled(now)) else { return false };
        // Both are in millionths of what the measure counts, and money in thousand-millionths of a dollar.
        let one = if self.measure.part.unit == Unit::Money { PARTS * NANO } else { PARTS };
        let room = match self.room {
            Room::Share(share) => baseline.checked_abs().and_then(|size| size.checked_mul(i128::from(share))).map(|room| room / PARTS),
            Room::Amount(amount) => i128::from(amount).checked_mul(one).map(|room| room / PARTS),
        };
        let limit = |room: i128| match self.way {
            Way::Up => baseline.checked_add(room).map(|limit| now.cmp(&limit) != Ordering::Greater),
            Way::Down => baseline.checked_sub(room).map(|limit| now.cmp(&limit) != Ordering::Less),
        };
        room.and_then(limit).unwrap_or(false)
    }
}

/// A value in millionths; a quotient with nothing below the line is 0.
fn scaled(value: Value) -> Option<i128> {
    i128::from(value.part).checked_mul(PARTS).map(|part| part.checked_div(i128::from(value.whole)).unwrap_or(0))
}
