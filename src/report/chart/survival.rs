//! The share of sessions that have not overflowed yet, over calls: the estimate of Kaplan and Meier ("Nonparametric Estimation from
//! Incomplete Observations", 1958). A session that ends without overflow says nothing of the calls that it does not have.

use super::{Axis, Chart, Drawing, Form, Hue, Named, NothingToDraw, Plot, Quantity, Series};
use crate::experiment::{Corpus, Replay};
use crate::report::notes;
use crate::report::replay::title as of_what;
use crate::report::words::{counted, grouped};
use crate::report::{Cell, Column, Provenance, Table, Unit};
use crate::sim::Outcome;

/// A step of a curve.
struct Step {
    /// The call, from 1.
    call: u64,
    /// Sessions that had reached it without overflow.
    at_risk: u64,
    /// Those of them that overflow at it.
    overflowed: u64,
    /// Share of the sessions that have not overflowed after it.
    surviving: f64,
}

/// The chart of these policies.
pub fn survival(corpus: &Corpus, replays: &[Replay]) -> Result<Chart, NothingToDraw> {
    let longest = replays.iter().flat_map(|replay| &replay.outcomes).map(|outcome| outcome.calls.len()).max().unwrap_or(0);
    if longest == 0 {
        return Err(NothingToDraw("no session has a call".to_owned()));
    }
    let curves: Vec<(&Replay, Vec<Step>)> = replays.iter().map(|replay| (replay, steps(&replay.outcomes))).collect();
    let series = curves.iter().enumerate().map(|(number, (replay, steps))| {
        let mut points = vec![(1.0, 1.0)];
        points.extend(steps.iter().filter(|step| step.overflowed > 0).map(|step| (step.call as f64, step.surviving)));
        points.push((longest as f64, steps.last().map_or(1.0, |step| step.surviving)));
        Series {
            name: replay.policy.clone(),
            hue: Hue::Other(number),
            form: Form::Steps,
            provenance: Provenance::Simulated,
            points,
            band: Vec::new(),
            named: Named::Beside,
        }
    });
    let plot = Plot {
        x: Axis { from: Some(1.0), ..Axis::of("call", Quantity::Count) },
        y: Axis { to: Some(1.0), ..Axis::of("sessions that have not overflowed", Quantity::Share) },
        series: series.collect(),
        limits: Vec::new(),
        marks: Vec::new(),
    };
    let how = "Sessions that end without overflow count up to their last call (Kaplan and Meier).";
    Ok(Chart {
        kind: super::Kind::Survival.name(),
        title: title(replays),
        subtitle: format!("Calls until the first overflow, simulated; {}", of_what(&corpus.facts)),
        drawing: Drawing::Plot(plot),
        notes: std::iter::once(how.to_owned()).chain(notes::below_a_replay(corpus)).collect(),
        data: data(&curves),
    })
}

fn title(replays: &[Replay]) -> String {
    let overflows = |replay: &&Replay| replay.totals.overflowing_sessions;
    let worst = replays.iter().rev().max_by_key(overflows);
    let never = replays.iter().filter(|replay| overflows(replay) == 0).count() as u64;
    match worst {
        Some(worst) if overflows(&worst) > 0 => {
            let of = counted(worst.outcomes.len() as u64, "session");
            let overflow = if overflows(&worst) == 1 { "overflows" } else { "overflow" };
            let beyond = if never > 0 { format!("; policies without overflow: {never} of {}", replays.len()) } else { String::new() };
            format!("{} of {of} {overflow} under {}{beyond}", grouped(overflows(&worst)), worst.policy)
        }
        _ => "No session overflows under any of these policies".to_owned(),
    }
}

fn steps(outcomes: &[Outcome]) -> Vec<Step> {
    // For each session its last call, and whether it overflows there for the first time.
    let mut ends: Vec<(u64, bool)> = outcomes
        .iter()
        .filter(|outcome| !outcome.calls.is_empty())
        .map(|outcome| match outcome.calls.iter().position(|call| call.refused > 0) {
            Some(call) => (call as u64 + 1, true),
            None => (outcome.calls.len() as u64, false),
        })
        .collect();
    ends.sort_unstable();
    let mut surviving = 1.0;
    let mut at_risk = ends.len() as u64;
    let mut steps = Vec::new();
    for group in ends.chunk_by(|one, other| one.0 == other.0) {
        let overflowed = group.iter().filter(|(_, overflows)| *overflows).count() as u64;
        surviving *= 1.0 - overflowed as f64 / at_risk as f64;
        steps.extend(group.first().map(|(call, _)| Step { call: *call, at_risk, overflowed, surviving }));
        at_risk -= group.len() as u64;
    }
    steps
}

fn data(curves: &[(&Replay, Vec<Step>)]) -> Table {
    let count = |key| Column::number(key, key, Unit::Count, Provenance::Simulated);
    let share = Column::number("surviving", "surviving", Unit::Share, Provenance::Simulated);
    let columns = vec![Column::name("policy", "policy"), count("call"), count("at_risk"), count("overflowed"), share];
    let rows = curves.iter().flat_map(|(replay, steps)| {
        steps.iter().map(|step| {
            vec![
                Cell::Name(replay.policy.clone()),
                Cell::Count(step.call),
                Cell::Count(step.at_risk),
                Cell::Count(step.overflowed),
                Cell::share((step.surviving * 1e6).round() as u64, 1_000_000),
            ]
        })
    });
    Table { labels: 2, columns, rows: rows.collect() }
}
