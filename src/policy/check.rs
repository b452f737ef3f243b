//! What the shape of a policy's words cannot say: rules that contradict themselves or each other.

use super::plan::{Hook, Mode, Plan, Rule, Switch};
use super::trigger::{Count, Level, Trigger};
use std::collections::BTreeMap;

impl Plan {
    /// Why the rules cannot be run as they stand, as one sentence; `Ok` where they can.
    pub fn check(&self) -> Result<(), String> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, rule) in self.rule.iter().enumerate() {
            if places.insert(&rule.id, index).is_some() {
                return Err(format!("two rules have the id `{}`", rule.id));
            }
            rule.check().map_err(|reason| format!("rule `{}`: {reason}", rule.id))?;
        }
        self.rule.iter().try_for_each(|rule| self.follow_else(rule, &places))
    }

    /// A chain of `else` ends, and each of its links exists.
    fn follow_else(&self, rule: &Rule, places: &BTreeMap<&str, usize>) -> Result<(), String> {
        let mut current = rule;
        for _ in 0..self.rule.len() {
            let Some(next) = &current.otherwise else { return Ok(()) };
            let unknown = || {
                let hint = super::suggestion(next, places.keys().copied());
                format!("rule `{}`: `else` names `{next}`, which is no rule{hint}", current.id)
            };
            current = places.get(next.as_str()).and_then(|index| self.rule.get(*index)).ok_or_else(unknown)?;
        }
        match current.otherwise {
            None => Ok(()),
            Some(_) => Err(format!("rule `{}`: its `else` leads back to itself", rule.id)),
        }
    }
}

impl Rule {
    fn check(&self) -> Result<(), String> {
        let actions = [self.mask.is_some(), self.truncate.is_some(), self.drop.is_some(), self.summarise.is_some()];
        let count = actions.into_iter().filter(|has| *has).count();
        if count > 1 {
            return Err("it has more than one action".to_owned());
        }
        if count == 0 && self.inject.is_empty() {
            return Err("it has no action: give it mask, truncate, drop, summarise or inject".to_owned());
        }
        if self.at == Hook::Ingest && (self.truncate.is_none() || self.when.is_some() || !self.inject.is_empty()) {
            return Err("as an item arrives it can only be truncated, without a trigger".to_owned());
        }
        if self.at == Hook::Ingest && self.mode != Mode::Commit {
            return Err("what is cut as it arrives stays cut: `mode` has no meaning".to_owned());
        }
        if self.attempt.is_some() && self.at != Hook::Overflow {
            return Err("`attempt` has a meaning at overflow alone".to_owned());
        }
        let messages = self.drop.is_some() || self.summarise.is_some();
        if (self.min_progress.is_some() || self.min_messages.is_some()) && !messages {
            return Err("`min_progress` and `min_messages` count messages: they need drop or summarise".to_owned());
        }
        if self.no_inflate == Switch::On && self.mask.is_none() && self.summarise.is_none() {
            return Err("`no_inflate` needs mask or summarise".to_owned());
        }
        self.when.as_ref().map_or(Ok(()), Trigger::check)
    }
}

impl Trigger {
    fn check(&self) -> Result<(), String> {
        match self {
            Trigger::Level(Level { gt, ge, .. }) | Trigger::Count(Count { gt, ge, .. }) if gt.is_some() == ge.is_some() => {
                Err("a trigger needs either `gt` or `ge`".to_owned())
            }
            Trigger::Any(triggers) | Trigger::All(triggers) if triggers.is_empty() => Err("`any` and `all` need triggers".to_owned()),
            Trigger::Any(triggers) | Trigger::All(triggers) => triggers.iter().try_for_each(Trigger::check),
            Trigger::Level(_) | Trigger::Count(_) | Trigger::Idle(_) => Ok(()),
        }
    }
}
