//! A gate for programs: schema `ctxsim.gate/2`, as `docs/json.md` describes it.

use super::number::{ShareRecord, number};
use crate::experiment::Measure;
use crate::experiment::gate::{Moved, MovedSession};
use crate::report::asked::Gated;
use serde::Serialize;

/// The record of `ctxsim gate`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateRecord {
    policy: String,
    passed: bool,
    changes: Vec<String>,
    measures: Vec<MovedRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct MovedRecord {
    measure: String,
    baseline: f64,
    now: f64,
    allowed: Vec<String>,
    exceeded: Vec<String>,
    cannot_tell: Vec<String>,
    compared_sessions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ShareRecord>,
    sessions: Vec<SessionRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SessionRecord {
    session: String,
    baseline: f64,
    now: f64,
}

impl GateRecord {
    pub fn new(gated: &Gated<'_>) -> GateRecord {
        let session = |session: &MovedSession, measure: &Measure| SessionRecord {
            session: session.session.clone(),
            baseline: number(session.baseline, measure),
            now: number(session.now, measure),
        };
        let measure = |moved: &Moved| MovedRecord {
            measure: moved.measure.name(),
            baseline: number(moved.baseline, &moved.measure),
            now: number(moved.now, &moved.measure),
            allowed: moved.allowed.clone(),
            exceeded: moved.exceeded.clone(),
            cannot_tell: moved.untold.clone(),
            compared_sessions: moved.compared,
            change: ShareRecord::new(moved.difference),
            sessions: moved.sessions.iter().map(|one| session(one, &moved.measure)).collect(),
        };
        GateRecord {
            policy: gated.policy.to_owned(),
            passed: !gated.comparison.fails(),
            changes: gated.comparison.changes.clone(),
            measures: gated.comparison.measures.iter().map(measure).collect(),
        }
    }
}
