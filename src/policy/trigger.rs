//! When a rule fires: the policy's estimate against its limits.

use super::sight::Sight;
use super::size::{Measure, Size};
use super::switch::Switch;
use crate::names::named;
use serde::{Deserialize, Serialize};

/// A condition on the state of the context.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A size has reached a limit.
    Level(Level),
    /// A number of things has been reached.
    Count(Count),
    /// Seconds since the last call.
    Idle(f64),
    /// At least one of the triggers holds.
    Any(Vec<Trigger>),
    /// All of the triggers hold.
    All(Vec<Trigger>),
}

impl Trigger {
    /// Does it hold at no size but its own, whatever else it asks for?
    pub fn needs_a_size(&self) -> bool {
        match self {
            Trigger::Level(_) => true,
            Trigger::Count(_) | Trigger::Idle(_) => false,
            Trigger::Any(triggers) => triggers.iter().all(Trigger::needs_a_size),
            Trigger::All(triggers) => triggers.iter().any(Trigger::needs_a_size),
        }
    }

    /// The levels within it, in their order.
    fn all_levels(&self) -> Vec<&Level> {
        match self {
            Trigger::Level(level) => vec![level],
            Trigger::Count(_) | Trigger::Idle(_) => Vec::new(),
            Trigger::Any(triggers) | Trigger::All(triggers) => triggers.iter().flat_map(Trigger::all_levels).collect(),
        }
    }

    /// The sizes that it holds contexts against.
    pub fn levels(&self) -> Vec<f64> {
        self.all_levels().iter().filter_map(|level| level.gt.or(level.ge)).collect()
    }

    /// The only level that it holds contexts against; `None` where there is none, or more than one.
    pub fn only_level(&self) -> Option<&Level> {
        if let Trigger::Level(level) = self {
            return Some(level);
        }
        <[&Level; 1]>::try_from(self.all_levels()).ok().map(|[level]| level)
    }

    /// Does it look at nothing but sizes that have a name?
    pub fn names_its_sizes(&self) -> bool {
        self.all_levels().iter().all(|level| matches!(level.of, Size::Named(_)) && level.at_most.is_none())
    }

    /// Does it look at the one size that is the truth?
    pub(super) fn looks_at_truth(&self) -> bool {
        self.all_levels().iter().any(|level| level.of.measure() == Measure::NextPrompt)
    }

    /// Does it look at any size at all?
    pub fn looks_at_size(&self) -> bool {
        !self.all_levels().is_empty()
    }

    /// Are two triggers the same but for the limits of sizes, and, where wanted, those of counts and pauses?
    pub fn is_like(&self, other: &Trigger, counts_too: bool) -> bool {
        let all = |one: &[Trigger], other: &[Trigger]| {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_like(other, counts_too))
        };
        match (self, other) {
            (Trigger::Level(one), Trigger::Level(other)) => {
                let stays = |level: &Level| level.limit().is_some();
                one == other || one.of == other.of && one.gt.is_some() == other.gt.is_some() && stays(one) && stays(other)
            }
            (Trigger::Count(one), Trigger::Count(other)) => {
                let shape = |count: &Count| (count.of, count.since_fired, count.gt.is_some(), count.ge.is_some());
                one == other || counts_too && shape(one) == shape(other)
            }
            (Trigger::Idle(one), Trigger::Idle(other)) => counts_too || one == other,
            (Trigger::Any(one), Trigger::Any(other)) | (Trigger::All(one), Trigger::All(other)) => all(one, other),
            _ => false,
        }
    }

    /// Would it fire if all its sizes were above their limits, or below?
    pub fn fires_at(&self, sight: &Sight<'_>, above: bool) -> bool {
        match self {
            Trigger::Level(_) => above,
            Trigger::Count(_) | Trigger::Idle(_) => self.evaluate(sight).fires,
            Trigger::Any(triggers) => triggers.iter().any(|trigger| trigger.fires_at(sight, above)),
            Trigger::All(triggers) => triggers.iter().all(|trigger| trigger.fires_at(sight, above)),
        }
    }
}

/// Size against limit. Exactly one of `gt` and `ge` is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Name of the size, or a formula over sizes.
    pub of: Size,
    /// Size above which the level fires.
    pub gt: Option<f64>,
    /// Size at or above which the level fires.
    pub ge: Option<f64>,
    /// The limit is no more than this size, as it stands now (Kimi Code: a refusal lowers it). `None`: it stays as it is.
    #[serde(default)]
    pub at_most: Option<Size>,
}

/// A number of things against a limit. Exactly one of `gt` and `ge` is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Kind of the things that are counted.
    pub of: Counted,
    /// Number above which the count fires.
    pub gt: Option<f64>,
    /// Number at or above which the count fires.
    pub ge: Option<f64>,
    /// Counted since the rule last fired, instead of what stands in the context.
    #[serde(default)]
    pub since_fired: Switch,
}

named! {
    /// Things that can be counted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Counted: name {
        /// Messages in the context, system messages not counted.
        Messages = "messages",
        /// User messages in the context that open a turn.
        Turns = "turns",
        /// Tool results in the context that are not masked.
        ToolResults = "tool results",
        /// Unmasked tool results that something later shows again.
        Superseded = "results shown again",
        /// Calls of the session, or those since the rule last fired.
        Calls = "calls",
        /// Pictures in the messages of tools.
        Images = "pictures in results",
    }
}

/// A trigger's finding on the context as the policy sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Does the condition hold?
    pub fires: bool,
    /// Estimate and limit of the size that came nearest to its limit; `None` where no size was looked at.
    pub level: Option<Belief>,
    /// The count that reached its limit; `None` where none did.
    pub count: Option<Tally>,
}

/// A count beside the limit that it reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Kind of the things that were counted.
    pub of: Counted,
    /// Number of the things that were counted.
    pub number: u64,
    /// The limit, rounded down.
    pub limit: u64,
}

/// An estimate beside the limit that it was held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief {
    /// What the policy thought the context's size to be, rounded down.
    pub tokens: u64,
    /// The context's size to the fraction that a formula gives.
    pub size: f64,
    /// Limit of the size; the largest float where the level has none.
    pub limit: f64,
    /// Has the size reached the limit?
    pub reached: bool,
    /// Does this estimate include what came after the last reply?
    pub sees_pending: bool,
}

impl Trigger {
    /// Holds the condition against what the policy sees now.
    pub fn evaluate(&self, sight: &Sight<'_>) -> Verdict {
        match self {
            Trigger::Level(level) => level.evaluate(sight),
            Trigger::Count(count) => {
                let tally = count.tally(sight);
                Verdict { fires: tally.is_some(), level: None, count: tally }
            }
            Trigger::Idle(seconds) => Verdict { fires: sight.idle_seconds.is_some_and(|idle| idle >= *seconds), ..Verdict::default() },
            Trigger::Any(triggers) => Self::combine(triggers, sight, |verdicts| verdicts.iter().any(|verdict| verdict.fires)),
            Trigger::All(triggers) => Self::combine(triggers, sight, |verdicts| verdicts.iter().all(|verdict| verdict.fires)),
        }
    }

    fn combine(triggers: &[Trigger], sight: &Sight<'_>, rule: impl Fn(&[Verdict]) -> bool) -> Verdict {
        let verdicts: Vec<Verdict> = triggers.iter().map(|trigger| trigger.evaluate(sight)).collect();
        let nearness = |belief: &Belief| belief.tokens as f64 / belief.limit.max(1.0);
        // A limit of nothing (`usage_total` above 0: is there any?) is no limit to come near to.
        let levels = verdicts.iter().filter_map(|verdict| verdict.level).filter(|level| level.limit > 0.0);
        let level = levels.max_by(|a, b| nearness(a).total_cmp(&nearness(b)));
        Verdict { fires: rule(&verdicts), level, count: verdicts.iter().find_map(|verdict| verdict.count) }
    }
}

impl Level {
    /// The limit, where it stays what it is; `None` where there is none, or where there are two.
    pub fn limit(&self) -> Option<f64> {
        self.gt.xor(self.ge).filter(|_| self.at_most.is_none())
    }

    /// The limit as long as no request is refused; `None` where a formula may lower it at any time.
    pub fn before_refusals(&self) -> Option<f64> {
        self.gt.or(self.ge).filter(|_| self.at_most.as_ref().is_none_or(Size::follows_refusals))
    }

    fn evaluate(&self, sight: &Sight<'_>) -> Verdict {
        let Some(size) = self.of.of(sight) else { return Verdict::default() };
        let most = self.at_most.as_ref().and_then(|most| most.of(sight)).unwrap_or(f64::MAX);
        let [gt, ge] = [self.gt, self.ge].map(|limit| limit.map(|limit| limit.min(most)));
        let reached = gt.is_some_and(|limit| size > limit) || ge.is_some_and(|limit| size >= limit);
        let limit = gt.or(ge).unwrap_or(f64::MAX);
        let level = Belief { tokens: size.max(0.0) as u64, size, limit, reached, sees_pending: self.of.sees_pending() };
        Verdict { fires: reached, level: Some(level), count: None }
    }
}

impl Count {
    /// The number and the limit that it reaches; `None` where it does not.
    fn tally(&self, sight: &Sight<'_>) -> Option<Tally> {
        let view = sight.view;
        let number = match (self.of, self.since_fired) {
            (Counted::Calls, Switch::On) => sight.calls_since_fired,
            (Counted::Calls, Switch::Off) => sight.calls,
            (Counted::Messages, _) => view.message_count(),
            (Counted::Turns, _) => view.turn_count(),
            (Counted::Superseded, _) => view.superseded_count(),
            (Counted::ToolResults, _) => view.unmasked_results(),
            (Counted::Images, _) => view.tool_pictures(),
        };
        let above = self.gt.filter(|limit| number as f64 > *limit);
        let reached = self.ge.filter(|limit| number as f64 >= *limit);
        above.or(reached).map(|limit| Tally { of: self.of, number, limit: limit.max(0.0) as u64 })
    }
}
