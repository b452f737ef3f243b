//! Predicted against measured: the prompt per call in each arm of an experiment.

use super::document::{Axis, Drawing, Drawn, Form, Hue, Limit, Named, NothingToDraw, Place, Plot, Quantity, Series};
use super::kind::{Kind, Material, Need};
use crate::experiment::validate::{Arm, Found, Validation};
use crate::list::Arrange;
use crate::report::document::Provenance;
use crate::report::title::title as of_what;
use crate::report::validate::FIRST;
use crate::report::validated_rows::rows;
use crate::report::words::counted;
use crate::statistics::{Agreement, LEVEL};

/// What a policy was predicted to change, against what it changed.
pub const PREDICTED: Kind = Kind {
    name: "predicted",
    sentence: "the prompt per call as a policy was predicted to change it, against runs that were made under it",
    needs: &[Need::Arms],
    usual: None,
    draw: predicted,
};

/// A measure in an arm: what was predicted and what was measured, as changes.
struct Point<'a> {
    arm: &'a str,
    found: &'a Found,
    at: (f64, f64),
}

fn predicted(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let none = || NothingToDraw::Nothing("no policy is named, or no run after it tells its prompts".to_owned());
    let validation = material.validation.ok_or_else(none)?;
    let mut points = points(validation, FIRST);
    if points.is_empty() {
        return Err(none());
    }
    let interval = |point: &Point<'_>| point.found.intervals.map(|known| known.measured_change);
    let hue = |point: &Point<'_>| if point.found.agreement == Some(Agreement::Off) { Hue::Alarm } else { Hue::Other(0) };
    let reach = |point: &Point<'_>| {
        let known = interval(point)?;
        let points = vec![(point.at.0, known.low), (point.at.0, known.high)];
        Some(Series::of("", hue(point), Form::Line, Provenance::Recorded, points).named(Named::Nowhere))
    };
    // A name stands where there is room: arms whose prediction missed come first.
    points.arrange_by_key(|point| point.found.agreement != Some(Agreement::Off));
    let dot = |point: &Point<'_>| Series::of(point.arm, hue(point), Form::Dots, Provenance::Recorded, vec![point.at]);
    let limit = |name: &str, hue: Hue, place: Place| Limit { name: name.to_owned(), hue, place };
    let confirmed = |points: &[Point<'_>]| {
        let confirmed = points.iter().filter(|point| point.found.agreement == Some(Agreement::Confirmed)).count();
        format!("{confirmed} of {} confirmed", counted(points.len() as u64, "prediction"))
    };
    let runs = self::points(validation, "prompt_tokens");
    let mut notes = vec![
        "On the line, what was measured is what was predicted. Red: the interval of measured over predicted leaves 1 out. Without an interval an arm has fewer than five runs on a side."
            .to_owned(),
    ];
    notes.extend((!runs.is_empty()).then(|| {
        format!("Prompt tokens per run, which rest on runs staying as long: {}. How long runs get, no replay knows.", confirmed(&runs))
    }));
    Ok(Drawn {
        title: format!("Prompt per call: {}", confirmed(&points)),
        subtitle: format!(
            "Change from the runs without the policy: simulated across, recorded upwards with {LEVEL} % intervals; {}",
            of_what(&material.corpus.facts)
        ),
        drawing: Drawing::Plot(Plot {
            x: Axis { from: None, ..Axis::of("predicted change", Quantity::Share) },
            y: Axis { from: None, ..Axis::of("measured change", Quantity::Share) },
            series: points.iter().filter_map(reach).chain(points.iter().map(dot)).collect(),
            limits: vec![limit("both are equal", Hue::Recorded, Place::Identity), limit("nothing changes", Hue::Limit, Place::Height(0.0))],
            marks: Vec::new(),
        }),
        notes,
        data: rows(validation),
    })
}

/// The arms in which a measure was both predicted and measured.
fn points<'a>(validation: &'a Validation, key: &str) -> Vec<Point<'a>> {
    let of = |arm: &'a Arm| {
        let found = arm.measures.iter().find(|found| found.measure.key == key)?;
        Some(Point { arm: &arm.name, found, at: (found.change(found.predicted?)?, found.change(found.after?)?) })
    };
    validation.arms.iter().filter_map(of).collect()
}
