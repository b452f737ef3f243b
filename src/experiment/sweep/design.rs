//! Which settings are looked at: all of a grid, or a sample of it.

use super::dimension::Dimension;
use crate::experiment::error::SweepError;
use crate::list::place_or_push;
use crate::policy::{Policy, PolicyError, is_called, number};
use crate::statistics::Chance;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A grid of more settings than this is surely a mistake.
const LARGEST_GRID: usize = 1_000_000;

/// How settings are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Every combination of all values.
    Grid,
    /// So many at random, with a seed.
    Random(usize, u64),
    /// So many such that each parameter takes its values evenly (a Latin hypercube), with a seed.
    Latin(usize, u64),
}

/// One setting: a base policy, by its place, and what is set in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    /// The place of the base policy.
    pub base: usize,
    /// Parameters and values, in the order of the dimensions.
    pub values: Vec<(String, String)>,
}

impl Setting {
    /// The policy with its parameters set, through the one door.
    pub fn policy(&self, bases: &[Policy]) -> Result<Policy, PolicyError> {
        let mut policy = bases.get(self.base).cloned().ok_or_else(|| PolicyError::Ring(String::new()))?;
        self.values.iter().try_for_each(|(param, value)| policy.set(param, value))?;
        Ok(policy)
    }

    /// How far it is from what its policy has by itself: for each parameter the difference as a share of the larger of both values, added up.
    /// 0 where nothing is changed; a value that cannot be compared with the policy's own, such as a formula, counts as 1.
    pub fn distance(&self, bases: &[Policy]) -> f64 {
        let own = |param: &str| bases.get(self.base).and_then(|policy| policy.params.get(param));
        let far = |(param, value): &(String, String)| {
            let Some(parameter) = own(param) else { return 1.0 };
            match (parameter.number(), number(value)) {
                (Some(own), Some(value)) if own == value => 0.0,
                (Some(own), Some(value)) => (own - value).abs() / own.abs().max(value.abs()),
                _ if parameter.value.as_str() == Some(value) => 0.0,
                _ => 1.0,
            }
        };
        self.values.iter().map(far).sum()
    }

    /// What is set, for people: `prune_protect=10000 prune_minimum=5000`; empty where nothing is varied.
    pub fn words(&self) -> String {
        self.values.iter().map(|(param, value)| format!("{param}={value}")).collect::<Vec<_>>().join(" ")
    }
}

/// The settings of a design over several base policies. A policy that has none of the parameters stands there once, as it is.
pub fn settings(bases: &[Policy], dimensions: &[Dimension], design: Design) -> Result<Vec<Setting>, SweepError> {
    for dimension in dimensions {
        if !bases.iter().any(|policy| dimension.is_of(policy)) {
            return Err(nobody(bases, dimension));
        }
    }
    let mut all = Vec::new();
    for (base, policy) in bases.iter().enumerate() {
        let own: Vec<&Dimension> = dimensions.iter().filter(|dimension| dimension.is_of(policy)).collect();
        let points = if own.is_empty() { vec![Vec::new()] } else { points(&own, design)? };
        let named = |values: Vec<String>| own.iter().map(|dimension| dimension.param.clone()).zip(values).collect();
        let settings = points.into_iter().map(|values| Setting { base, values: named(values) });
        all.extend(settings);
    }
    // A setting that a sample draws twice says nothing new.
    let mut seen = BTreeSet::new();
    all.retain(|setting| seen.insert(setting.clone()));
    Ok(all)
}

/// Puts the own setting of each policy behind the others, where none of them is it: by policy its place.
pub fn with_own(settings: &mut Vec<Setting>, bases: &[Policy]) -> Vec<usize> {
    let of_base = |base: usize| {
        let is_own = |setting: &Setting| setting.base == base && setting.distance(bases) == 0.0;
        place_or_push(settings, is_own, || Setting { base, values: Vec::new() })
    };
    (0..bases.len()).map(of_base).collect()
}

fn nobody(bases: &[Policy], dimension: &Dimension) -> SweepError {
    let named = |policy: &&Policy| dimension.policy.as_ref().is_none_or(|wanted| is_called(&policy.name, wanted));
    match bases.iter().find(named).cloned().map(|mut policy| policy.set(&dimension.param, "0")) {
        Some(Err(error)) => SweepError::Policy(error),
        _ => SweepError::Asked(format!(
            "`--vary {}:{}` names a policy that is not swept",
            dimension.policy.as_deref().unwrap_or_default(),
            dimension.param
        )),
    }
}

fn points(dimensions: &[&Dimension], design: Design) -> Result<Vec<Vec<String>>, SweepError> {
    match design {
        Design::Random(count, _) | Design::Latin(count, _) if count > LARGEST_GRID => {
            Err(SweepError::Asked(format!("--sample {count}: no more than {LARGEST_GRID} settings are drawn")))
        }
        Design::Grid => grid(dimensions),
        Design::Random(count, seed) => {
            let mut chance = Chance::new(seed);
            let draw = |_| dimensions.iter().map(|dimension| dimension.draw(&mut chance)).collect();
            Ok((0..count).map(draw).collect())
        }
        Design::Latin(count, seed) => {
            let mut chance = Chance::new(seed);
            let mut points = vec![Vec::new(); count];
            for dimension in dimensions {
                for (point, stratum) in points.iter_mut().zip(chance.order(count)) {
                    point.push(dimension.at((stratum as f64 + chance.share()) / count as f64));
                }
            }
            Ok(points)
        }
    }
}

fn grid(dimensions: &[&Dimension]) -> Result<Vec<Vec<String>>, SweepError> {
    let lists = dimensions.iter().map(|dimension| dimension.listed()).collect::<Result<Vec<_>, _>>()?;
    let size = lists.iter().try_fold(1_usize, |size, list| size.checked_mul(list.len())).unwrap_or(usize::MAX);
    if size > LARGEST_GRID {
        return Err(SweepError::Asked(format!("the grid has more than {LARGEST_GRID} settings: --sample N draws some of them")));
    }
    Ok(combined(&lists))
}

/// All combinations, those of the first values first.
pub fn combined<T: Clone>(lists: &[impl AsRef<[T]>]) -> Vec<Vec<T>> {
    let mut points: Vec<Vec<T>> = vec![Vec::new()];
    for list in lists {
        points = points.iter().flat_map(|point| list.as_ref().iter().map(|value| point.iter().chain([value]).cloned().collect())).collect();
    }
    points
}
