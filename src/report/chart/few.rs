//! Of many policies those that a chart can show so that they are told apart.

use super::document::Hue;
use crate::experiment::Replay;
use crate::list::Arrange;
use crate::report::asked::Baselines;
use std::cmp::Reverse;

/// Lines, or dots with names, in one drawing.
pub const LINES: usize = 12;

/// Rows of bars in one drawing.
pub const ROWS: usize = 24;

/// The policies that a chart has room for.
pub struct Few {
    /// Their places among all, in the order in which they were named.
    pub places: Vec<usize>,
    /// Number of all policies, shown or not.
    count: usize,
}

/// All policies where they are no more than `most`; else the best half and the worst half by `rank`, the lowest rank first, and of equals those
/// that were named first.
pub fn few<K: Ord>(count: usize, most: usize, rank: impl Fn(usize) -> K) -> Few {
    if count <= most {
        return Few { places: (0..count).collect(), count };
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.arrange_by_key(|place| rank(*place));
    let mut places: Vec<usize> = order.iter().copied().take(most / 2).collect();
    order.retain(|place| !places.contains(place));
    order.arrange_by_key(|place| (Reverse(rank(*place)), *place));
    places.extend(order.into_iter().take(most - most / 2));
    places.sort_unstable();
    Few { places, count }
}

/// The user's own agents, and those of the policies that are shown, each with its hue.
pub fn told_apart<'a>(baselines: Baselines<'a>, replays: &'a [Replay], few: &Few) -> Vec<(Hue, &'a Replay)> {
    let own = baselines.own.map(|own| (Hue::Own, &own.replay));
    let shown = few.places.iter().filter_map(|place| replays.get(*place)).enumerate().map(|(number, replay)| (Hue::Other(number), replay));
    own.into_iter().chain(shown).collect()
}

/// Under which policy something is shown: `under pi@1.5`, `without a policy`, `without a policy at 128k`.
pub fn under(replay: &Replay) -> String {
    if replay.is_none() { replay.policy.replacen("none", "without a policy", 1) } else { format!("under {}", replay.policy) }
}

impl Few {
    /// Number of policies that are not shown.
    pub fn rest(&self) -> usize {
        self.count - self.places.len()
    }

    /// Which ones are shown, of how many; `by` says what ranks them, `shown` in which way they are. Absent where all are shown.
    pub fn note(&self, by: &str, shown: &str) -> Option<String> {
        let best = self.places.len() / 2;
        let worst = self.places.len() - best;
        (self.rest() > 0).then(|| {
            format!(
                "And {} more: of {} policies the {best} best and the {worst} worst by {by} {shown}; --policy names others. \
                 The data beside this chart holds all of them.",
                self.rest(),
                self.count
            )
        })
    }
}
