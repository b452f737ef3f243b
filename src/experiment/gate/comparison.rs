//! A baseline and what the policy comes to now: what moved, in which sessions, and whether that is allowed.

use super::allowance::Allowance;
use super::baseline::{Baseline, SCHEMA};
use crate::experiment::sweep::{METRICS, Measure, Value};
use std::collections::BTreeMap;

/// Why two runs cannot be compared, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub String);

/// A measure in both runs.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The measure.
    pub measure: Measure,
    /// What it was.
    pub baseline: Value,
    /// What it is.
    pub now: Value,
    /// How far it may go, as it was typed; empty where nobody said.
    pub allowed: Vec<String>,
    /// Those of them that it has passed.
    pub passed: Vec<String>,
    /// The sessions in which it moved, the farthest first.
    pub sessions: Vec<MovedSession>,
}

/// A measure in one session of both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedSession {
    /// The session, as the baseline names it.
    pub session: String,
    /// What it was.
    pub baseline: Value,
    /// What it is.
    pub now: Value,
}

/// Two runs beside each other.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The measures that have a limit, in the order in which they were named; then all others that moved.
    pub measures: Vec<Moved>,
    /// Sentences on what differs though it may: the policy, the version of the program.
    pub changes: Vec<String>,
}

impl Comparison {
    /// Has any measure passed a limit?
    pub fn fails(&self) -> bool {
        self.measures.iter().any(|moved| !moved.passed.is_empty())
    }
}

/// Compares a run with its baseline.
pub fn compare(baseline: &Baseline, now: &Baseline, allowances: &[Allowance]) -> Result<Comparison, Mismatch> {
    comparable(baseline, now)?;
    let mut measures: Vec<Moved> = Vec::new();
    for allowance in allowances {
        let measure = allowance.measure;
        let missing = || Mismatch(format!("the baseline knows nothing of {}: --update-baseline writes it anew", measure.name()));
        let was = baseline.value(&measure).ok_or_else(missing)?;
        let is = now.value(&measure).ok_or_else(missing)?;
        let passed = (!allowance.allows(was, is)).then(|| allowance.words.clone());
        match measures.iter_mut().find(|moved| moved.measure.name() == measure.name()) {
            Some(moved) => {
                moved.allowed.push(allowance.words.clone());
                moved.passed.extend(passed);
            }
            None => measures.push(Moved {
                measure,
                baseline: was,
                now: is,
                allowed: vec![allowance.words.clone()],
                passed: passed.into_iter().collect(),
                sessions: sessions(baseline, now, &measure),
            }),
        }
    }
    for part in METRICS {
        let measure = Measure { part, whole: None };
        let named = measures.iter().any(|moved| moved.measure.name() == measure.name());
        if let (Some(was), Some(is)) = (baseline.value(&measure), now.value(&measure))
            && was != is
            && !named
        {
            let (allowed, passed) = (Vec::new(), Vec::new());
            measures.push(Moved { measure, baseline: was, now: is, allowed, passed, sessions: sessions(baseline, now, &measure) });
        }
    }
    let mut changes = Vec::new();
    if baseline.policy != now.policy {
        changes.push(format!("The baseline is one of policy {}, this run one of {}.", baseline.policy, now.policy));
    } else if baseline.policy_digest != now.policy_digest {
        changes.push(format!("Policy {} has changed since the baseline.", now.policy));
    }
    if baseline.version != now.version {
        changes.push(format!("The baseline was written by ctxsim {}, this is {}.", baseline.version, now.version));
    }
    Ok(Comparison { measures, changes })
}

/// Only runs over the same sessions under the same conditions can be compared.
fn comparable(baseline: &Baseline, now: &Baseline) -> Result<(), Mismatch> {
    if baseline.schema != SCHEMA {
        return Err(Mismatch(format!("the baseline has the form {}, and this program reads {SCHEMA}", baseline.schema)));
    }
    if baseline.conditions != now.conditions {
        return Err(Mismatch(format!(
            "the baseline was made under other conditions ({}; now {}): gate with the same options, or --update-baseline",
            baseline.conditions, now.conditions
        )));
    }
    let digests = |run: &Baseline| -> BTreeMap<String, String> {
        run.sessions.iter().map(|session| (session.session.clone(), session.digest.clone())).collect()
    };
    let (was, is) = (digests(baseline), digests(now));
    let new = is.keys().filter(|name| !was.contains_key(*name)).count();
    let gone = was.keys().filter(|name| !is.contains_key(*name)).count();
    let changed = was.iter().filter(|(name, digest)| is.get(*name).is_some_and(|other| other != *digest)).count();
    if new + gone + changed > 0 {
        return Err(Mismatch(format!(
            "the corpus is another than the baseline's: {new} sessions new, {gone} gone, {changed} measured otherwise; figures over other \
             sessions say nothing of the policy (--update-baseline writes the baseline anew)"
        )));
    }
    Ok(())
}

fn sessions(baseline: &Baseline, now: &Baseline, measure: &Measure) -> Vec<MovedSession> {
    let both = baseline.sessions.iter().zip(&now.sessions);
    let mut moved: Vec<MovedSession> = both
        .filter_map(|(was, is)| {
            let (baseline, now) = (baseline.value_in(was, measure)?, now.value_in(is, measure)?);
            (baseline != now).then(|| MovedSession { session: was.session.clone(), baseline, now })
        })
        .collect();
    let weight = |session: &MovedSession| {
        let part = |value: Value| i128::from(value.part) * 1_000_000 / i128::from(value.whole.max(1));
        std::cmp::Reverse((part(session.now) - part(session.baseline)).unsigned_abs())
    };
    moved.sort_by(|one, other| weight(one).cmp(&weight(other)).then(one.session.cmp(&other.session)));
    moved
}
