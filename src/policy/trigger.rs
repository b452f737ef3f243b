//! When a rule fires: the policy's estimate against its limits.

use super::sight::Sight;
use super::size::Size;
use super::switch::Switch;
use crate::context::{Region, Seen, SeenItem, State, View};
use crate::transcript::Role;
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
    /// One of them holds.
    Any(Vec<Trigger>),
    /// All of them hold.
    All(Vec<Trigger>),
}

impl Trigger {
    /// The sizes that it holds contexts against.
    pub fn levels(&self) -> Vec<f64> {
        match self {
            Trigger::Level(level) => level.gt.or(level.ge).into_iter().collect(),
            Trigger::Count(_) | Trigger::Idle(_) => Vec::new(),
            Trigger::Any(triggers) | Trigger::All(triggers) => triggers.iter().flat_map(Trigger::levels).collect(),
        }
    }
}

/// Size against limit. Exactly one of `gt` and `ge` is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Which size, or a formula over sizes.
    pub of: Size,
    /// Holds above this.
    #[serde(default)]
    pub gt: Option<f64>,
    /// Holds at or above this.
    #[serde(default)]
    pub ge: Option<f64>,
}

/// Number against limit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// What is counted.
    pub of: Counted,
    /// Holds above this.
    #[serde(default)]
    pub gt: Option<f64>,
    /// Holds at or above this.
    #[serde(default)]
    pub ge: Option<f64>,
    /// Counted since the rule last fired, instead of what stands in the context.
    #[serde(default)]
    pub since_fired: Switch,
}

/// Things that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Messages in the context, system messages not counted.
    Messages,
    /// User messages in the context that open a turn.
    Turns,
    /// Tool results in the context that are not masked.
    ToolResults,
    /// Of these, those that something later shows again.
    Superseded,
    /// Calls.
    Calls,
    /// Pictures in the messages of tools.
    Images,
}

impl Counted {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Counted::Messages => "messages",
            Counted::Turns => "turns",
            Counted::ToolResults => "tool results",
            Counted::Superseded => "results shown again",
            Counted::Calls => "calls",
            Counted::Images => "pictures in results",
        }
    }
}

/// What a trigger says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Does it fire?
    pub fires: bool,
    /// Estimate and limit of the size that came nearest to its limit; `None` where no size was looked at.
    pub level: Option<Belief>,
    /// The count that reached its limit; `None` where none did.
    pub count: Option<Tally>,
}

/// A count beside the limit that it reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// What was counted.
    pub of: Counted,
    /// How many there are.
    pub number: u64,
    /// The limit, rounded down.
    pub limit: u64,
}

/// An estimate beside the limit that it was held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief {
    /// What the policy thought the context's size to be, rounded down.
    pub tokens: u64,
    /// The same to the fraction that a formula gives.
    pub size: f64,
    /// The limit.
    pub limit: f64,
    /// Is the limit reached?
    pub reached: bool,
    /// Does this estimate include what came after the last reply?
    pub sees_pending: bool,
}

impl Trigger {
    /// Does it fire?
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

    /// Does it look at any size at all?
    pub fn looks_at_size(&self) -> bool {
        match self {
            Trigger::Level(_) => true,
            Trigger::Count(_) | Trigger::Idle(_) => false,
            Trigger::Any(triggers) | Trigger::All(triggers) => triggers.iter().any(Trigger::looks_at_size),
        }
    }
}

impl Level {
    fn evaluate(&self, sight: &Sight<'_>) -> Verdict {
        let Some(size) = self.of.of(sight) else { return Verdict::default() };
        let reached = self.gt.is_some_and(|limit| size > limit) || self.ge.is_some_and(|limit| size >= limit);
        let limit = self.gt.or(self.ge).unwrap_or(f64::MAX);
        let level = Belief { tokens: size.max(0.0) as u64, size, limit, reached, sees_pending: self.of.sees_pending() };
        Verdict { fires: reached, level: Some(level), count: None }
    }
}

/// How many items of the context are wanted.
fn items(view: View<'_>, wanted: impl Fn(&Seen, &SeenItem) -> bool) -> u64 {
    view.messages().map(|message| view.items(message).filter(|item| wanted(&message, item)).count() as u64).sum()
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
            (Counted::ToolResults, _) => items(view, |_, item| item.region == Region::ToolResult && item.state != State::Masked),
            (Counted::Images, _) => items(view, |message, item| message.role == Role::Tool && item.region == Region::Image),
        };
        let above = self.gt.filter(|limit| number as f64 > *limit);
        let reached = self.ge.filter(|limit| number as f64 >= *limit);
        above.or(reached).map(|limit| Tally { of: self.of, number, limit: limit.max(0.0) as u64 })
    }
}
