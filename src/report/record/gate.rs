//! A gate for programs: schema `ctxsim.gate/2`, as `docs/json.md` describes it.

use super::keys::record;
use super::number::{ShareRecord, number};
use crate::experiment::Measure;
use crate::experiment::gate::{Moved, MovedSession};
use crate::report::asked::Gated;

record! {
    /// The record of `ctxsim gate`.
    pub struct GateRecord(gated: &Gated<'_>) {
        policy: String = gated.policy.to_owned(),
        passed: bool = !gated.comparison.fails(),
        changes: Vec<String> = gated.comparison.changes.clone(),
        measures: Vec<MovedRecord> = gated.comparison.measures.iter().map(MovedRecord::new).collect(),
    }

    struct MovedRecord(moved: &Moved) {
        measure: String = moved.measure.name(),
        baseline: Option<f64> = number(moved.baseline, &moved.measure).filter(|_| !moved.is_unjudged),
        now: Option<f64> = number(moved.now, &moved.measure).filter(|_| !moved.is_unjudged),
        unpriced_sessions: usize = moved.unpriced,
        allowed: Vec<String> = moved.allowed.clone(),
        exceeded: Vec<String> = moved.exceeded.clone(),
        cannot_tell: Vec<String> = moved.untold.clone(),
        compared_sessions: usize = moved.compared,
        ?change: Option<ShareRecord> = ShareRecord::of(moved.difference),
        sessions: Vec<SessionRecord> = moved.sessions.iter().map(|one| SessionRecord::new(one, &moved.measure)).collect(),
    }

    struct SessionRecord(moved: &MovedSession, measure: &Measure) {
        session: String = moved.session.clone(),
        baseline: Option<f64> = number(moved.baseline, measure),
        now: Option<f64> = number(moved.now, measure),
    }
}
