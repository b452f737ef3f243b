//! The safety buffer: how many tokens must be kept free so that an estimate that is too low does no harm.
//!
//! A conformal quantile: with n calls, the smallest number that at least (n + 1) p of them do not exceed covers a further call with
//! probability p. Calls of one session are no strangers to each other, so the level is raised until, within the same half, every session
//! is covered by what the others say. Then the other half of the sessions judges.

use super::figures::Pair;
use super::halves::Half;
use crate::statistics::{first, sorted};

/// A probability, in thousandths.
pub type Level = u64;

/// The levels that are asked for.
pub const LEVELS: [Level; 3] = [950, 990, 999];

/// Steps by which the level is raised.
const RAISES: u64 = 32;

/// A buffer, and how it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The share of the calls that it is to cover, in thousandths.
    pub level: Level,
    /// Tokens, from the first half of the sessions; absent where that has too few calls. Below zero, estimates are always too high.
    pub tokens: Option<i64>,
    /// Calls of the second half that it covers, of so many.
    pub covered: (u64, u64),
    /// Tokens, from the second half.
    pub swapped: Option<i64>,
    /// Calls of the first half that this covers, of so many.
    pub swapped_covered: (u64, u64),
}

impl Buffer {
    /// Calls that one half must have before there is a buffer at all.
    pub fn needs(&self) -> u64 {
        self.level.div_ceil(1000 - self.level)
    }
}

/// Buffers for all levels. Absent without pairs.
pub(super) fn buffers(pairs: impl Iterator<Item = Pair>, halves: &[Half]) -> Vec<Buffer> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut before = None;
    for pair in pairs {
        let half: &mut Vec<Vec<i64>> = match halves.get(pair.session) {
            Some(Half::First) => &mut first,
            Some(Half::Second) => &mut second,
            None => continue,
        };
        match half.last_mut().filter(|_| before == Some(pair.session)) {
            Some(missing) => missing.push(pair.missing()),
            None => half.push(vec![pair.missing()]),
        }
        before = Some(pair.session);
    }
    if before.is_none() {
        return Vec::new();
    }
    first.iter_mut().chain(&mut second).for_each(|missing| missing.sort_unstable());
    let buffer = |level| {
        let (tokens, swapped) = (quantile(&first, level), quantile(&second, level));
        Buffer { level, tokens, covered: covered(&second, tokens), swapped, swapped_covered: covered(&first, swapped) }
    };
    LEVELS.map(buffer).to_vec()
}

fn covered(sessions: &[Vec<i64>], buffer: Option<i64>) -> (u64, u64) {
    let all: usize = sessions.iter().map(Vec::len).sum();
    let within = buffer.map_or(0, |buffer| sessions.iter().map(|missing| missing.partition_point(|missing| *missing <= buffer)).sum());
    (within as u64, all as u64)
}

/// The smallest level, from the one that is asked for up, at which each session is covered as asked by the quantile of the others; then
/// the quantile of all at that level.
fn quantile(sessions: &[Vec<i64>], level: Level) -> Option<i64> {
    let all = sorted(sessions.iter().flatten().copied());
    let rank = (all.len() as u64 + 1) * level;
    if rank.div_ceil(1000) > all.len() as u64 {
        return None;
    }
    let raised = |raise: u64| (level * RAISES + (1000 - level) * raise, 1000 * RAISES);
    let enough = |raise: u64| {
        let within: u64 = sessions.iter().map(|session| without(&all, session, raised(raise))).sum();
        within * 1000 >= level * all.len() as u64
    };
    // More is covered at a higher level, so halving finds the lowest one that suffices.
    ranked(&all, raised(first(RAISES, enough)))
}

/// The conformal quantile of sorted numbers; the largest where the rank lies beyond them.
fn ranked(sorted: &[i64], (part, whole): (u64, u64)) -> Option<i64> {
    let rank = ((sorted.len() as u64 + 1) * part).div_ceil(whole).clamp(1, sorted.len() as u64);
    sorted.get(rank as usize - 1).copied()
}

/// How many of a session's numbers the quantile of all the others covers. Both are sorted.
fn without(all: &[i64], session: &[i64], (part, whole): (u64, u64)) -> u64 {
    let others = all.len() - session.len();
    if others == 0 {
        return 0;
    }
    let rank = ((others as u64 + 1) * part).div_ceil(whole).clamp(1, others as u64) as usize;
    // The place among the others is that among all, past each number of the session that stands before it.
    let number = |place: usize| all.get(place).copied().unwrap_or_default();
    let place = session.iter().fold(rank - 1, |place, own| place + usize::from(*own <= number(place)));
    let bound = number(place);
    session.partition_point(|own| *own <= bound) as u64
}
