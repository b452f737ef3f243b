//! The share of sessions that have not overflowed yet, over calls.

use super::document::{Axis, Drawing, Drawn, Form, Hue, NothingToDraw, Plot, Quantity, Series};
use super::few::{LINES, few, told_apart, under};
use super::kind::{Kind, Material, Need};
use crate::experiment::Replay;
use crate::list::List;
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::recording::RECORDED;
use crate::report::words::{FEWEST, counted, grouped, percent};
use crate::sim::Outcome;
use crate::statistics::{self, Step};
use crate::trace::Trace;

/// A policy and its steps.
type Curve<'a> = (&'a Replay, Vec<Step>);

/// Sessions that have not hit the window yet, over calls.
pub const SURVIVAL: Kind = Kind {
    name: "survival",
    sentence: "sessions that have not hit the window yet, over calls, by policy",
    needs: &[Need::Replays, Need::Baselines],
    usual: None,
    draw: survival,
};

fn survival(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let Material { corpus, replays, baselines, .. } = *material;
    let longest = corpus.traces.each().map(|trace| trace.calls.len()).max().filter(|_| !replays.is_empty()).unwrap_or(0);
    if longest == 0 {
        return Err(NothingToDraw::Nothing("no session has a call".to_owned()));
    }
    let curves: Vec<Curve<'_>> = baselines.with_own(replays).map(|replay| (replay, steps(&replay.outcomes))).collect();
    let drawn = few(replays.len(), LINES, |place| replays.get(place).map(|replay| replay.totals.overflowing_sessions));
    let line = |name: &str, hue: Hue, provenance: Provenance, steps: &[Step]| {
        let mut points = vec![(1.0, 1.0)];
        points.extend(steps.iter().filter(|step| step.failed > 0).map(|step| (step.at as f64, step.surviving)));
        points.push((longest as f64, steps.last().map_or(1.0, |step| step.surviving)));
        Series::of(name, hue, Form::Steps, provenance, points)
    };
    let recorded = refused(&corpus.traces);
    let series = told_apart(baselines, replays, &drawn)
        .into_iter()
        .map(|(hue, replay)| line(&replay.policy, hue, Provenance::Simulated, &steps(&replay.outcomes)))
        .chain([line(RECORDED, Hue::Recorded, Provenance::Recorded, &recorded)]);
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
    Ok(Drawn {
        title: title(&curves),
        subtitle: "Calls until the first overflow, simulated; recorded: until a refusal that ends the log".to_owned(),
        drawing: Drawing::Plot(plot),
        notes: notes.collect(),
        data: data(&curves, &recorded),
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
    let under = under(replay);
    let (hit, all) =
        (replay.totals.overflowing_sessions, replay.outcomes.each().filter(|outcome| !outcome.calls.is_empty()).count() as u64);
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
fn steps(outcomes: &List<Outcome>) -> Vec<Step> {
    let ends = outcomes.each().filter(|outcome| !outcome.calls.is_empty()).map(|outcome| {
        let first = outcome.calls.iter().position(|call| call.refused > 0);
        (first.map_or(outcome.calls.len(), |call| call + 1) as u64, first.is_some())
    });
    statistics::survival(ends.collect())
}

/// The same as recorded: a session fails where its log ends in the provider's refusal.
fn refused(traces: &List<Trace>) -> Vec<Step> {
    let ends = traces.each().filter(|trace| !trace.calls.is_empty()).map(|trace| (trace.calls.len() as u64, trace.refused));
    statistics::survival(ends.collect())
}

fn data(curves: &[Curve<'_>], recorded: &[Step]) -> Table {
    let number = |key, unit| Column::simulated(key, key, unit);
    let curves = curves.iter().map(|(replay, steps)| (replay.policy.as_str(), steps.as_slice())).chain([(RECORDED, recorded)]);
    Fields::<(&str, &Step)>::new()
        .with(Column::name("policy", "policy"), |(name, _)| Cell::name(name))
        .with(number("call", Unit::Count), |(_, step)| Cell::Count(step.at))
        .with(number("at_risk", Unit::Count), |(_, step)| Cell::Count(step.at_risk))
        .with(number("overflowed", Unit::Count), |(_, step)| Cell::Count(step.failed))
        .with(number("surviving", Unit::Share), |(_, step)| Cell::share((step.surviving * 1e6).round() as u64, 1_000_000))
        .table(2, curves.flat_map(|(name, steps)| steps.iter().map(move |step| (name, step))))
}
