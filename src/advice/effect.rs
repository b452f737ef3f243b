//! Parameters that decide nothing as a policy stands: whatever they are set to, the plan is the same.

use crate::list::Arrange;
use crate::policy::{Facts, Parameter, Plan, Policy, figure};

/// A parameter without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutEffect {
    /// Name of the parameter.
    pub name: String,
    /// Another one that takes its effect away, with the value that does; `None` where no single one does.
    pub because: Option<(String, String)>,
}

impl WithoutEffect {
    /// In words: `prune_protect has no effect while prune = 0`.
    pub fn words(&self) -> String {
        match &self.because {
            Some((other, value)) => format!("{} has no effect while {other} = {value}", self.name),
            None => format!("{} has no effect with these settings and this model", self.name),
        }
    }
}

impl Policy {
    /// The parameters without effect with a model of these limits, by their names. Each is set to several other values, and the plans are compared; what makes no
    /// plan counts as an effect.
    pub fn without_effect(&self, facts: &Facts) -> Vec<WithoutEffect> {
        let Ok(plan) = self.plan(facts) else { return Vec::new() };
        let idle: Vec<&String> = self.params.keys().filter(|name| !self.decides(name, &plan, facts)).collect();
        let because = |name: &str| {
            // Switches first: they turn whole rules off.
            let mut others: Vec<(&String, &Parameter)> =
                self.params.iter().filter(|(other, _)| *other != name && !idle.contains(other)).collect();
            others.arrange_by_key(|(_, parameter)| !parameter.is_switch());
            let frees =
                |other: &str| self.turned(other).any(|policy| policy.plan(facts).is_ok_and(|plan| policy.decides(name, &plan, facts)));
            let (other, parameter) = others.into_iter().find(|(other, _)| frees(other))?;
            let value = parameter.number().map_or_else(|| parameter.value.to_string(), figure);
            Some((other.clone(), value))
        };
        idle.iter().map(|name| WithoutEffect { name: (*name).clone(), because: because(name) }).collect()
    }

    /// Does some other value of the parameter make another plan, or none?
    fn decides(&self, name: &str, plan: &Plan, facts: &Facts) -> bool {
        self.turned(name).any(|policy| !policy.plan(facts).is_ok_and(|other| other == *plan))
    }

    /// The policy with other values of a parameter: the ends of its range, and numbers about the one it has. Values that it refuses are left out.
    fn turned<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Policy> + 'a {
        let parameter = self.params.get(name);
        let now = parameter.and_then(Parameter::number);
        let range = parameter.and_then(|parameter| parameter.range);
        let near = now.map_or([1_000.0, 100_000.0], |now| [now / 2.0, now * 2.0 + 1.0]);
        let values = range.into_iter().flat_map(|range| [range.from, range.to]).chain([0.0, 1.0]).chain(near);
        values.filter(move |value| Some(*value) != now).filter_map(move |value| {
            let mut policy = self.clone();
            policy.set(name, &value.to_string()).ok().map(|()| policy)
        })
    }
}
