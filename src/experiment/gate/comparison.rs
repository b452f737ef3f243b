//! A baseline and what the policy comes to now: what moved, in which sessions, and whether that is allowed.

use super::allowance::Allowance;
use super::baseline::{Baseline, BaselineSession, READ, SCHEMA};
use crate::experiment::measure::{Measure, Value};
use crate::experiment::metric::{Metric, OverSessions, judged_by};
use crate::experiment::sweep::{Difference, Sampling, Sums};
use crate::list::Arrange;
use crate::statistics::{RESAMPLES, SEED, Sample};
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
    /// How far it may go, as it was typed; empty if none is set.
    pub allowed: Vec<String>,
    /// Those of them that it exceeds.
    pub exceeded: Vec<String>,
    /// Those of them that it goes beyond by no more than the uncertainty over sessions.
    pub untold: Vec<String>,
    /// The difference with its interval. Absent where it has no limit, where there are too few sessions, and where values of sessions do not add up.
    pub difference: Option<Difference>,
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
    /// Does any measure exceed a limit?
    pub fn fails(&self) -> bool {
        self.measures.iter().any(|moved| !moved.exceeded.is_empty())
    }
}

/// Compares a run with its baseline.
pub fn compare(baseline: &Baseline, now: &Baseline, allowances: &[Allowance]) -> Result<Comparison, Mismatch> {
    comparable(baseline, now)?;
    let pairs = pairs(baseline, now);
    let sampling = Sampling::of(Sample::new(pairs.iter().map(|(_, is)| is.origin)), RESAMPLES, SEED);
    let mut measures: Vec<Moved> = Vec::new();
    for allowance in allowances {
        let measure = allowance.measure;
        let missing = || Mismatch(format!("the baseline knows nothing of {}: --update-baseline writes it anew", measure.name()));
        let was = baseline.value(&measure).ok_or_else(missing)?;
        let is = now.value(&measure).ok_or_else(missing)?;
        let difference = difference(&pairs, &sampling, baseline, now, &measure);
        let beyond = !allowance.allows(was, is);
        let shown = allowance.is_strict() || difference.as_ref().is_none_or(|difference| allowance.is_shown(was, difference));
        let exceeded = (beyond && shown).then(|| allowance.words.clone());
        let untold = (beyond && !shown).then(|| allowance.words.clone());
        match measures.iter_mut().find(|moved| moved.measure.name() == measure.name()) {
            Some(moved) => {
                moved.allowed.push(allowance.words.clone());
                moved.exceeded.extend(exceeded);
                moved.untold.extend(untold);
            }
            None => measures.push(Moved {
                measure,
                baseline: was,
                now: is,
                allowed: vec![allowance.words.clone()],
                exceeded: exceeded.into_iter().collect(),
                untold: untold.into_iter().collect(),
                difference,
                sessions: sessions(baseline, now, &measure),
            }),
        }
    }
    for part in judged_by().iter().copied() {
        let measure = Measure { part, whole: None };
        let named = measures.iter().any(|moved| moved.measure.name() == measure.name());
        if let (Some(was), Some(is)) = (baseline.value(&measure), now.value(&measure))
            && was != is
            && !named
        {
            let (allowed, exceeded, untold, sessions) = (Vec::new(), Vec::new(), Vec::new(), sessions(baseline, now, &measure));
            measures.push(Moved { measure, baseline: was, now: is, allowed, exceeded, untold, difference: None, sessions });
        }
    }
    let changes = changes(baseline, now);
    Ok(Comparison { measures, changes })
}

/// Only runs over the same sessions under the same conditions can be compared.
fn comparable(baseline: &Baseline, now: &Baseline) -> Result<(), Mismatch> {
    if !READ.contains(&baseline.schema.as_str()) {
        return Err(Mismatch(format!("the baseline has the form {}, and this program reads {SCHEMA}", baseline.schema)));
    }
    if !baseline.is_sound() {
        return Err(Mismatch("the baseline's totals are not those of its sessions: --update-baseline writes it anew".to_owned()));
    }
    if baseline.conditions != now.conditions {
        return Err(Mismatch(format!(
            "the baseline was made under other conditions ({}; now {}): gate with the same options, or --update-baseline",
            baseline.conditions, now.conditions
        )));
    }
    // A session is known by what was measured: its file may have another name by now.
    let same = pairs(baseline, now);
    let (was, is) = (by_digest(baseline), by_digest(now));
    let measured_otherwise = |session: &&BaselineSession| {
        let of_name = baseline.sessions.iter().find(|other| other.session == session.session);
        !was.contains_key(session.digest.as_str()) && of_name.is_some_and(|other| !is.contains_key(other.digest.as_str()))
    };
    let changed = now.sessions.iter().filter(measured_otherwise).count();
    let (new, gone) = (now.sessions.len() - same.len() - changed, baseline.sessions.len() - same.len() - changed);
    if new + gone + changed > 0 {
        return Err(Mismatch(format!(
            "the corpus is another than the baseline's: its sessions: {new} new, {gone} gone, {changed} measured otherwise; figures over other \
             sessions say nothing of the policy (--update-baseline writes the baseline anew)"
        )));
    }
    Ok(())
}

/// What differs though it may, in sentences.
fn changes(baseline: &Baseline, now: &Baseline) -> Vec<String> {
    let mut changes = Vec::new();
    let same = baseline.policy_digest == now.policy_digest;
    match (baseline.policy == now.policy, same) {
        (true, true) => {}
        (true, false) => changes.push(format!("Policy {} has changed since the baseline.", now.policy)),
        (false, true) => changes.push(format!(
            "The policy is called {} now and was called {} in the baseline; all that it says is the same.",
            now.policy, baseline.policy
        )),
        (false, false) => changes.push(format!(
            "The baseline is one of policy {}, this run one of {}: another policy, not another name for it.",
            baseline.policy, now.policy
        )),
    }
    let renamed = pairs(baseline, now).into_iter().filter(|(was, is)| was.session != is.session).count();
    if renamed > 0 {
        changes.push(format!(
            "Of the sessions, {renamed} had another name in the baseline and {} the same content: they are shown under the name of today.",
            if renamed == 1 { "has" } else { "have" }
        ));
    }
    if baseline.version != now.version {
        changes.push(format!("The baseline was written by ctxsim {}, this is {}.", baseline.version, now.version));
    }
    changes
}

/// The sessions of a run by their hashes; those of one hash in the order of their names.
fn by_digest(run: &Baseline) -> BTreeMap<&str, Vec<&BaselineSession>> {
    let mut sessions: BTreeMap<&str, Vec<&BaselineSession>> = BTreeMap::new();
    for session in &run.sessions {
        sessions.entry(&session.digest).or_default().push(session);
    }
    sessions
}

/// Each session of the baseline beside the same one of today.
fn pairs<'a>(baseline: &'a Baseline, now: &'a Baseline) -> Vec<(&'a BaselineSession, &'a BaselineSession)> {
    let is = by_digest(now);
    let beside = |(digest, was): (&str, Vec<&'a BaselineSession>)| was.into_iter().zip(is.get(digest).cloned().unwrap_or_default());
    by_digest(baseline).into_iter().flat_map(beside).collect()
}

/// How a measure differs from the baseline, with its interval over sessions.
fn difference(
    pairs: &[(&BaselineSession, &BaselineSession)],
    sampling: &Sampling,
    baseline: &Baseline,
    now: &Baseline,
    measure: &Measure,
) -> Option<Difference> {
    if measure.parts().any(|metric| metric.over_sessions != OverSessions::Sum) {
        return None;
    }
    let (was, is): (Vec<&BaselineSession>, Vec<&BaselineSession>) = pairs.iter().copied().unzip();
    let sums = |run: &Baseline, sessions: &[&BaselineSession]| {
        let part = |metric: &'static Metric| {
            let measure = Measure { part: metric, whole: None };
            sampling.sample.sums(sessions.iter().map(|session| run.value_in(session, &measure).map_or(0, |value| value.part)))
        };
        Sums { parts: part(measure.part), wholes: measure.whole.map_or_else(Vec::new, part) }
    };
    sampling.difference(&sums(now, &is), &sums(baseline, &was))
}

fn sessions(baseline: &Baseline, now: &Baseline, measure: &Measure) -> Vec<MovedSession> {
    let both = pairs(baseline, now).into_iter();
    let mut moved: Vec<MovedSession> = both
        .filter_map(|(was, is)| {
            let (before, today) = (baseline.value_in(was, measure)?, now.value_in(is, measure)?);
            (before != today).then(|| MovedSession { session: is.session.clone(), baseline: before, now: today })
        })
        .collect();
    let weight = |session: &MovedSession| {
        let part = |value: Value| i128::from(value.part) * 1_000_000 / i128::from(value.whole.max(1));
        std::cmp::Reverse((part(session.now) - part(session.baseline)).unsigned_abs())
    };
    moved.arrange_by(|one, other| weight(one).cmp(&weight(other)).then(one.session.cmp(&other.session)));
    moved
}
