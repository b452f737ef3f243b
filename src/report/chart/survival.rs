//! The share of sessions that have not overflowed yet, over calls.

use super::document::{Axis, Chart, Drawing, Form, Named, NothingToDraw, Plot, Quantity, Series};
use super::few::{LINES, few, told_apart};
use super::kind::{Kind, Material, Need};
use crate::experiment::Replay;
use crate::report::document::{Cell, Column, Provenance, Table, Unit};
use crate::report::title::short_title as of_what;
use crate::report::words::{FEWEST, counted, grouped, percent};
use crate::sim::Outcome;
use crate::statistics::{self, Step};

/// A policy and its steps.
type Curve<'a> = (&'a Replay, Vec<Step>);

/// Sessions that have not hit the window yet, over calls.
pub const SURVIVAL: Kind = Kind {
    name: "survival",
    sentence: "the share of sessions that have not hit the window yet, over calls, under each policy",
    needs: &[Need::Replays, Need::Baselines],
    usual: None,
    draw: survival,
};

fn survival(material: &Material<'_>) -> Result<Chart, NothingToDraw> {
    let Material { corpus, replays, baselines, .. } = *material;
    let longest = corpus.traces.iter().map(|trace| trace.calls.len()).max().filter(|_| !replays.is_empty()).unwrap_or(0);
    if longest == 0 {
        return Err(NothingToDraw("no session has a call".to_owned()));
    }
    let curves: Vec<Curve<'_>> = baselines.with_own(replays).map(|replay| (replay, steps(&replay.outcomes))).collect();
    let drawn = few(replays.len(), LINES, |place| replays.get(place).map(|replay| replay.totals.overflowing_sessions));
    let series = told_apart(baselines, replays, &drawn).into_iter().map(|(hue, replay)| {
        let steps = steps(&replay.outcomes);
        let mut points = vec![(1.0, 1.0)];
        points.extend(steps.iter().filter(|step| step.failed > 0).map(|step| (step.at as f64, step.surviving)));
        points.push((longest as f64, steps.last().map_or(1.0, |step| step.surviving)));
        Series {
            name: replay.policy.clone(),
            hue,
            form: Form::Steps,
            provenance: Provenance::Simulated,
            points,
            band: Vec::new(),
            named: Named::Beside,
        }
    });
    let plot = Plot {
        x: Axis { from: Some(1.0), ..Axis::of("call", Quantity::Count) },
        y: Axis { to: Some(1.0), ..Axis::of("have not hit the window, of the sessions that go on so long", Quantity::Share) },
        series: series.collect(),
        limits: Vec::new(),
        marks: Vec::new(),
    };
    let how = "An estimate (Kaplan and Meier): a session that ends without overflow counts up to its last call.";
    let notes = drawn
        .note("sessions that overflow", "are drawn")
        .into_iter()
        .chain([how.to_owned()])
        .chain(worst(&curves).and_then(|(replay, steps)| support(replay, steps)));
    Ok(Chart {
        kind: SURVIVAL.name,
        title: title(&curves),
        subtitle: format!("Calls until the first overflow, simulated; {}", of_what(&corpus.facts)),
        drawing: Drawing::Plot(plot),
        notes: notes.collect(),
        rests_on: Vec::new(),
        data: data(&curves),
    })
}

/// The policy under which most sessions overflow, the first of equals; absent where none does.
fn worst<'a>(curves: &'a [Curve<'a>]) -> Option<&'a Curve<'a>> {
    let overflows = |(replay, _): &&Curve<'_>| replay.totals.overflowing_sessions;
    curves.iter().rev().max_by_key(overflows).filter(|curve| overflows(curve) > 0)
}

/// When half of the sessions have hit the window, or how many do, under the policy under which most do.
fn title(curves: &[Curve<'_>]) -> String {
    let Some((replay, steps)) = worst(curves) else { return "No session hits the window under any of these policies".to_owned() };
    let under = if replay.policy == "none" { "without a policy".to_owned() } else { format!("under {}", replay.policy) };
    let (hit, all) =
        (replay.totals.overflowing_sessions, replay.outcomes.iter().filter(|outcome| !outcome.calls.is_empty()).count() as u64);
    // A share rests on steps with sessions enough.
    let told = || steps.iter().filter(|step| step.failed > 0 && step.at_risk >= FEWEST).filter(|_| hit >= FEWEST);
    if let Some(half) = told().find(|step| step.surviving <= 0.5) {
        return format!("Half of the sessions hit the window before call {} {under}", grouped(half.at + 1));
    }
    let share = told().next_back().map_or_else(String::new, |last| {
        let share = percent(((1.0 - last.surviving) * 1e6).round() as i64, 1_000_000);
        format!(", an estimated {share} before call {}", grouped(last.at + 1))
    });
    let verb = if hit == 1 { "hits" } else { "hit" };
    format!("{} of {} {verb} the window {under}{share}", grouped(hit), counted(all, "session"))
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
