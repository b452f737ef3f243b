//! What a pause costs against its length: doing nothing, pings, a compaction.

use super::document::{Axis, Drawing, Drawn, Form, Hue, Limit, NothingToDraw, Place, Plot, Quantity, Scale, Series};
use super::kind::{Kind, Material, Need};
use crate::experiment::idle::{Pause, Remedy};
use crate::list::Gather;
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::span::{lifetime, span};
use crate::report::words::{counted, three_digits};
use std::collections::BTreeSet;

/// The lines: as many pings as come due are enough to keep the entry.
const LINES: [(Remedy, &str); 3] =
    [(Remedy::Nothing, "do nothing"), (Remedy::Pings(u64::MAX), "pings as they come due"), (Remedy::Compact, "compact")];

/// Cost of a pause against its length.
pub const PAUSES: Kind = Kind {
    name: "pauses",
    sentence: "what a pause between two calls costs against its length: doing nothing, pings, a compaction, and where they break even",
    needs: &[Need::Pauses],
    usual: None,
    draw: pauses,
};

fn pauses(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let nothing = || NothingToDraw::Nothing("no log has times and a cache that promises a lifetime".to_owned());
    let idle = material.idle.ok_or_else(nothing)?;
    let point = idle.break_even.first().ok_or_else(nothing)?;
    let typical = &point.typical;
    let reach = point.gap.unwrap_or(0).max(4 * typical.lifetime).saturating_mul(2);
    // Costs change right behind the moment at which a ping is due, and behind the end of the lifetime.
    let due = (1..).map(|ping| typical.interval().max(1).saturating_mul(ping)).take_while(|length| *length < reach);
    let changes = due.chain([typical.lifetime]).map(|length| length + 1).chain([1_000, reach]);
    let lengths: Vec<i64> = changes.gather::<BTreeSet<i64>>().into_iter().collect();
    let cost = |length: i64, remedy: Remedy| Pause { length: Some(length), ..*typical }.cost(remedy);
    let minutes = |millis: i64| millis as f64 / 60_000.0;
    let series = LINES.into_iter().enumerate().map(|(place, (remedy, name))| {
        let points = lengths.iter().map(|length| (minutes(*length), cost(*length, remedy) as f64)).collect();
        Series::of(name, Hue::Other(place), Form::Steps, Provenance::Simulated, points)
    });
    let limit = |name: String, millis: i64| Limit { name, hue: Hue::Limit, place: Place::Across(minutes(millis)) };
    let even = point.pings.zip(point.gap).map(|(pings, gap)| limit(format!("{}: {}", counted(pings, "ping"), span(gap)), gap));
    let kept = lifetime(typical.lifetime);
    let model = &point.model;
    let title = match (point.gap, point.tokens) {
        (Some(gap), Some(tokens)) => {
            format!("{model}: pings pay in pauses up to {}, a compaction from {} tokens up", span(gap), three_digits(tokens))
        }
        _ => format!("{model}: what a pause costs with a {kept} cache"),
    };
    Ok(Drawn {
        title,
        subtitle: format!(
            "Cost above a warm cache, simulated for the median pause of the model: {} tokens in a {kept} cache",
            three_digits(typical.tokens),
        ),
        drawing: Drawing::Plot(Plot {
            x: Axis { scale: Scale::Logarithmic, from: Some(1.0), ..Axis::of("minutes of pause", Quantity::Number) },
            y: Axis::of("cost of the pause", Quantity::Money),
            series: series.collect(),
            limits: std::iter::once(limit(format!("{kept} cache expires"), typical.lifetime)).chain(even).collect(),
            marks: Vec::new(),
        }),
        notes: vec!["The session is resumed at the end of the pause. What a smaller context saves later is not counted.".to_owned()],
        data: data(&lengths, &cost),
    })
}

fn data(lengths: &[i64], cost: &dyn Fn(i64, Remedy) -> u64) -> Table {
    let money = |key| Column::simulated(key, key, Unit::Money);
    let seconds = Column::simulated("pause_seconds", "pause_seconds", Unit::Count);
    let of = |remedy: Remedy| move |length: &i64| Cell::money(cost(*length, remedy));
    let [nothing, pings, compact] = LINES.map(|(remedy, _)| remedy);
    Fields::<i64>::new()
        .with(seconds, |length| Cell::Count((length / 1_000).unsigned_abs()))
        .with(money("nothing_usd"), of(nothing))
        .with(money("pings_usd"), of(pings))
        .with(money("compact_usd"), of(compact))
        .table(1, lengths.iter().copied())
}
