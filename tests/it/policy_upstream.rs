//! Presets beside the code of their systems, where an audit has found them apart: figures worked by hand from that code.

use crate::policies::{Session, preset, run};
use ctxsim::sim::{EventKind, Outcome};
use ctxsim::trace::Trace;

fn replay(name: &str, settings: &[(&str, &str)], trace: &Trace) -> Outcome {
    run(&preset(name, settings), trace, 200_000)
}

fn touched(outcome: &Outcome, kind: EventKind) -> Vec<(u32, u32)> {
    outcome.events.iter().filter(|event| event.kind == kind).map(|event| (event.call, event.touched)).collect()
}

#[test]
fn opencode_2_without_automatic_compaction_does_nothing_at_a_refusal() {
    // 25 + 150,000 + 55,000 tokens do not fit.
    let trace = Session::default().user(100).reply(600_000, None).user(220_000).reply(4, None).trace();
    let outcome = replay("opencode@2", &[("auto", "0")], &trace);
    assert_eq!((touched(&outcome, EventKind::Compact), outcome.totals.failed_sessions), (vec![], 1));
    assert_eq!(touched(&replay("opencode@2", &[], &trace), EventKind::Compact), [(1, 2)]);
}
