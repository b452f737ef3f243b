//! The share of sessions that have not overflowed yet, over calls.

use super::document::{Axis, Chart, Drawing, Form, Hue, Named, NothingToDraw, Plot, Quantity, Series};
use super::few::{LINES, few};
use crate::corpus::Corpus;
use crate::experiment::Replay;
use crate::report::document::{Cell, Column, Provenance, Table, Unit};
use crate::report::notes;
use crate::report::title::short_title as of_what;
use crate::report::words::{FEWEST, counted, grouped, percent};
use crate::sim::Outcome;
use crate::statistics::{self, Step};

/// A policy and its steps.
type Curve<'a> = (&'a Replay, Vec<Step>);

/// The chart of these policies.
pub fn survival(corpus: &Corpus, replays: &[Replay]) -> Result<Chart, NothingToDraw> {
    let longest = corpus.traces.iter().map(|trace| trace.calls.len()).max().filter(|_| !replays.is_empty()).unwrap_or(0);
    if longest == 0 {
        return Err(NothingToDraw("no session has a call".to_owned()));
    }
    let curves: Vec<Curve<'_>> = replays.iter().map(|replay| (replay, steps(&replay.outcomes))).collect();
    let drawn = few(curves.len(), LINES, |place| curves.get(place).map(|(replay, _)| replay.totals.overflowing_sessions));
    let series = drawn.places.iter().filter_map(|place| curves.get(*place)).enumerate().map(|(number, (replay, steps))| {
        let mut points = vec![(1.0, 1.0)];
        points.extend(steps.iter().filter(|step| step.failed > 0).map(|step| (step.at as f64, step.surviving)));
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
        y: Axis { to: Some(1.0), ..Axis::of("not overflowed, of sessions that go on so long", Quantity::Share) },
        series: series.collect(),
        limits: Vec::new(),
        marks: Vec::new(),
    };
    let how = "An estimate (Kaplan and Meier): a session that ends without overflow says nothing of the calls that it does not have, and \
               counts up to its last one.";
    let notes = drawn
        .note("sessions that overflow", "are drawn")
        .into_iter()
        .chain([how.to_owned()])
        .chain(worst(&curves).and_then(|(replay, steps)| support(replay, steps)));
    Ok(Chart {
        kind: super::kind::Kind::Survival.name(),
        title: title(&curves),
        subtitle: format!("Calls until the first overflow, simulated; {}", of_what(&corpus.facts)),
        drawing: Drawing::Plot(plot),
        notes: notes.chain(notes::below_a_replay(corpus)).collect(),
        data: data(&curves),
    })
}

/// The policy under which most sessions overflow, the first of equals; absent where none does.
fn worst<'a>(curves: &'a [Curve<'a>]) -> Option<&'a Curve<'a>> {
    let overflows = |(replay, _): &&Curve<'_>| replay.totals.overflowing_sessions;
    curves.iter().rev().max_by_key(overflows).filter(|curve| overflows(curve) > 0)
}

fn title(curves: &[Curve<'_>]) -> String {
    let never = curves.iter().filter(|(replay, _)| replay.totals.overflowing_sessions == 0).count() as u64;
    let Some((replay, steps)) = worst(curves) else { return "No session overflows under any of these policies".to_owned() };
    let overflows = replay.totals.overflowing_sessions;
    let of = counted(replay.outcomes.len() as u64, "session");
    let overflow = if overflows == 1 { "overflows" } else { "overflow" };
    let beyond = if never > 0 { format!("; policies without overflow: {never} of {}", curves.len()) } else { String::new() };
    // The share is that of the last step that rests on sessions enough.
    let last = steps.iter().rfind(|step| step.failed > 0 && step.at_risk >= FEWEST).filter(|_| overflows >= FEWEST);
    let share = last.map_or_else(
        || ": too few to estimate a share from".to_owned(),
        |last| {
            let share = percent(((1.0 - last.surviving) * 1e6).round() as i64, 1_000_000);
            format!(", an estimated {share} of those that reach call {}", grouped(last.at))
        },
    );
    format!("{} of {of} {overflow} under {}{share}{beyond}", grouped(overflows), replay.policy)
}

/// How many sessions the steps of a curve rest on; absent where there is none.
fn support(replay: &Replay, steps: &[Step]) -> Option<String> {
    let overflows = || steps.iter().filter(|step| step.failed > 0);
    let (first, last) = (overflows().next()?, overflows().next_back()?);
    let at = |step: &Step| format!("{} at call {}", counted(step.at_risk, "session"), grouped(step.at));
    let rests = if first.at == last.at { at(first) } else { format!("{} and {}", at(first), at(last)) };
    Some(format!("Under {} the first and the last step rest on the sessions that got so far without one: {rests}.", replay.policy))
}

/// The steps of sessions, by their calls until the first overflow.
fn steps(outcomes: &[Outcome]) -> Vec<Step> {
    let ends = outcomes.iter().filter(|outcome| !outcome.calls.is_empty()).map(|outcome| {
        let first = outcome.calls.iter().position(|call| call.refused > 0);
        (first.map_or(outcome.calls.len(), |call| call + 1) as u64, first.is_some())
    });
    statistics::survival(ends.collect())
}

fn data(curves: &[Curve<'_>]) -> Table {
    let count = |key| Column::number(key, key, Unit::Count, Provenance::Simulated);
    let share = Column::number("surviving", "surviving", Unit::Share, Provenance::Simulated);
    let columns = vec![Column::name("policy", "policy"), count("call"), count("at_risk"), count("overflowed"), share];
    let rows = curves.iter().flat_map(|(replay, steps)| {
        steps.iter().map(|step| {
            vec![
                Cell::Name(replay.policy.clone()),
                Cell::Count(step.at),
                Cell::Count(step.at_risk),
                Cell::Count(step.failed),
                Cell::share((step.surviving * 1e6).round() as u64, 1_000_000),
            ]
        })
    });
    Table { labels: 2, columns, rows: rows.collect() }
}
