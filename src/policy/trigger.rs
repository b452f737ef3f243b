//! When a rule fires: the policy's belief against its limits.

use super::switch::Switch;
use crate::context::{State, View};
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

/// Size against limit. Exactly one of `gt` and `ge` is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Which size.
    pub of: Measure,
    /// Holds above this.
    #[serde(default)]
    pub gt: Option<f64>,
    /// Holds at or above this.
    #[serde(default)]
    pub ge: Option<f64>,
}

/// Sizes that a policy can look at. None of them is the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The prompt that the provider reported for the last call.
    UsageIn,
    /// That and its output.
    UsageTotal,
    /// That and estimates of all that came after the reply; where no usage is known, the estimate of the whole request.
    UsagePlusPending,
    /// The estimate of the whole request, a user message that is about to enter included.
    EstRequest,
    /// The estimate of all messages that stand in the history, the system's not counted.
    EstHistory,
    /// The estimate of the system's messages.
    EstSystem,
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
        }
    }
}

/// Everything that a trigger can see.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The context, estimates only.
    pub view: View<'a>,
    /// Prompt and output that the provider reported for the last call; `None` where the policy knows of none.
    pub usage: Option<(u64, u64)>,
    /// Estimates of the messages that came after the last reply.
    pub pending: u64,
    /// Estimate of a user message that is about to enter.
    pub incoming: u64,
    /// Calls made so far.
    pub calls: u64,
    /// Calls made since the rule last fired.
    pub calls_since_fired: u64,
    /// Seconds since the last call; `None` where the log has no times.
    pub idle_seconds: Option<f64>,
}

/// What a trigger says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Does it fire?
    pub fires: bool,
    /// Belief and limit of the size that came nearest to its limit; `None` where no size was looked at.
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

/// A belief beside the limit that it was held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief {
    /// What the policy thought the context's size to be.
    pub tokens: u64,
    /// The limit.
    pub limit: f64,
    /// Is the limit reached?
    pub reached: bool,
    /// Does this belief know of what came after the last reply?
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
        let Some(tokens) = self.of.of(sight) else { return Verdict::default() };
        let above = self.gt.is_some_and(|limit| tokens as f64 > limit);
        let reached = self.ge.is_some_and(|limit| tokens as f64 >= limit);
        let limit = self.gt.or(self.ge).unwrap_or(f64::MAX);
        let sees_pending = !matches!(self.of, Measure::UsageIn | Measure::UsageTotal);
        let reached = above || reached;
        Verdict { fires: reached, level: Some(Belief { tokens, limit, reached, sees_pending }), count: None }
    }
}

impl Measure {
    /// Its value; `None` where the policy does not know it yet.
    pub fn of(self, sight: &Sight<'_>) -> Option<u64> {
        match self {
            Measure::UsageIn => sight.usage.map(|(prompt, _)| prompt),
            Measure::UsageTotal => sight.usage.map(|(prompt, output)| prompt + output),
            Measure::UsagePlusPending => {
                let known = sight.usage.map(|(prompt, output)| prompt + output + sight.pending);
                Some(known.unwrap_or_else(|| sight.view.request()))
            }
            Measure::EstRequest => Some(sight.view.request() + sight.incoming),
            Measure::EstHistory => Some(sight.view.history()),
            Measure::EstSystem => Some(sight.view.system()),
        }
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
            (Counted::ToolResults, _) => {
                let results = view.messages().flat_map(|message| view.items(message));
                let whole =
                    |item: &crate::context::SeenItem| item.region == crate::context::Region::ToolResult && item.state != State::Masked;
                results.filter(whole).count() as u64
            }
        };
        let above = self.gt.filter(|limit| number as f64 > *limit);
        let reached = self.ge.filter(|limit| number as f64 >= *limit);
        above.or(reached).map(|limit| Tally { of: self.of, number, limit: limit.max(0.0) as u64 })
    }
}
