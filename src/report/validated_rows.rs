//! What `validate` found as rows: a measure in an arm each.

use super::document::{Cell, Column, Fields, Provenance, Table, Unit};
use super::finding::agreement;
use crate::experiment::validate::{Arm, Compared, Found, Validation};
use crate::statistics::Estimate;

/// One row per measure and arm, with all that is known.
pub fn rows(validation: &Validation) -> Table {
    type Row<'a> = (&'a Arm, &'a Found);
    let number = |key, header, provenance| Column { provenance, ..Column::name(key, header) };
    let (recorded, simulated) = (Provenance::Recorded, Provenance::Simulated);
    let exact = |found: &Found, amount: Option<f64>| amount.map_or(Cell::Empty, |amount| Cell::Name(plain(found.measure, amount)));
    let change =
        |amount: Option<f64>| amount.map_or(Cell::Empty, |share| Cell::Share { part: (share * 1e6).round() as i64, whole: 1_000_000 });
    let either = move |found: &Found, amount: Option<f64>| if found.measure.is_rate { exact(found, amount) } else { change(amount) };
    let of = |found: &Found, now: Option<f64>| now.filter(|_| !found.measure.is_rate).and_then(|now| found.change(now));
    let bound = |found: &Found, low: bool| {
        let estimate = found.intervals.map(|known| if found.measure.is_rate { known.after } else { known.measured_change })?;
        Some(if low { estimate.low } else { estimate.high })
    };
    let times = |found: &Found, of: fn(Estimate) -> f64| {
        found.intervals.and_then(|known| known.ratio).map_or(Cell::Empty, |ratio| Cell::Name(format!("{:.6}", of(ratio))))
    };
    Fields::<Row<'_>>::new()
        .with(Column::name("arm", "arm"), |(arm, _)| Cell::text(&arm.name))
        .with(Column::name("measure", "measure"), |(_, found)| Cell::name(found.measure.name))
        .with(Column::number("runs_before", "runs before", Unit::Count, recorded), |(arm, _)| Cell::Count(arm.runs.0 as u64))
        .with(Column::number("runs_after", "runs after", Unit::Count, recorded), |(arm, _)| Cell::Count(arm.runs.1 as u64))
        .with(number("before", "before", recorded), move |(_, found)| exact(found, found.before))
        .with(number("predicted", "predicted", simulated), move |(_, found)| exact(found, found.predicted))
        .with(number("measured", "measured", recorded), move |(_, found)| exact(found, found.after))
        .with(number("predicted_change", "predicted change", simulated), move |(_, found)| change(of(found, found.predicted)))
        .with(number("measured_change", "measured change", recorded), move |(_, found)| change(of(found, found.after)))
        .with(
            number("measured_p05", "from", recorded).says("of the measured change; of the measured value for rates"),
            move |(_, found)| either(found, bound(found, true)),
        )
        .with(number("measured_p95", "to", recorded), move |(_, found)| either(found, bound(found, false)))
        .with(number("ratio", "measured over predicted", simulated), move |(_, found)| times(found, |ratio| ratio.value))
        .with(number("ratio_p05", "from", simulated), move |(_, found)| times(found, |ratio| ratio.low))
        .with(number("ratio_p95", "to", simulated), move |(_, found)| times(found, |ratio| ratio.high))
        .with(
            number("predicted_summarisers", "summarisers, predicted", simulated).says("beside the cost, in no other figure"),
            move |(_, found)| exact(found, found.predicted_summarisers),
        )
        .with(
            number("measured_summarisers", "measured", recorded).says("empty where logs do not hold their requests"),
            move |(_, found)| exact(found, found.summarisers),
        )
        .with(number("error", "error", simulated).says("predicted over measured, less one"), move |(_, found)| {
            change(found.predicted.zip(found.after).filter(|(_, after)| *after > 0.0).map(|(predicted, after)| predicted / after - 1.0))
        })
        .with(number("unchanged_error", "error of no change", recorded).says("before over measured, less one"), move |(_, found)| {
            change(found.before.zip(found.after).filter(|(_, after)| *after > 0.0).map(|(before, after)| before / after - 1.0))
        })
        .with(number("mean_error", "mean error by task", simulated), move |(_, found)| {
            change(found.mean_error.map(|error| error.predicted))
        })
        .with(number("unchanged_mean_error", "of no change", recorded), move |(_, found)| {
            change(found.mean_error.map(|error| error.unchanged))
        })
        .with(number("noise", "noise", recorded), move |(_, found)| either(found, found.noise))
        .with(Column::number("more_runs_10", "more runs for 10 %", Unit::Count, recorded), |(_, found)| {
            found.more_runs.map_or(Cell::Empty, |[fine, _]| Cell::Count(fine))
        })
        .with(Column::number("more_runs_20", "for 20 %", Unit::Count, recorded), |(_, found)| {
            found.more_runs.map_or(Cell::Empty, |[_, coarse]| Cell::Count(coarse))
        })
        .with(Column::name("verdict", "verdict"), |(_, found)| Cell::name(found.agreement.map_or("", agreement)))
        .table(2, validation.arms.iter().flat_map(|arm| arm.measures.iter().map(move |found| (arm, found))))
}

/// A value as programs read it.
fn plain(measure: &Compared, value: f64) -> String {
    match measure.unit() {
        Unit::Money => format!("{:.9}", value / 1e9),
        Unit::Tokens => format!("{value:.1}"),
        _ => format!("{value:.6}"),
    }
}
