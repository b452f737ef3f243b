//! What is sought against the reused text that is kept, a dot for each setting of a sweep, with the front that no other setting beats in both.

use super::document::{Axis, Drawing, Drawn, Form, Hue, Named, NothingToDraw, Plot, Quantity, Series};
use super::kind::{Kind, Material, Need};
use super::sweep::{GONE, Swung, best_title, fewest_failed, given_up, marked, quantity, settings, value};
use crate::experiment::{Direction, Row, Setting};
use crate::list::Arrange;
use crate::report::document::{Cell, Column, Fields, Provenance, Unit};
use crate::report::words::capital;
use crate::statistics::front;
use crate::trace::Evidence;

/// A measure against the reused text that is kept.
pub const TRADE: Kind = Kind {
    name: "sweep-trade",
    sentence: "a measure against the reused text kept, a dot for each setting, with the front that no other setting beats",
    needs: &[Need::Recall, Need::Settings],
    usual: Some("baseagent"),
    draw: trade,
};

/// References to lines that a setting keeps, and all of them.
fn kept(row: &Row) -> (u64, u64) {
    let lines = row.totals.retention.of(Evidence::Line);
    (lines.kept, lines.all())
}

fn trade(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let swept = settings(material)?;
    let (swung, measure) = (Swung::of(swept), swept.objective.measure);
    if swept.rows.iter().all(|row| kept(row).1 == 0) {
        return Err(NothingToDraw::Nothing("no reply repeats anything that stood before it".to_owned()));
    }
    let share = |row: &Row| kept(row).0 as f64 / kept(row).1.max(1) as f64;
    let place = |row: &Row| (value(&measure, row), share(row));
    let fewest = fewest_failed(swept);
    let rows: Vec<&Row> = swept.rows.iter().collect();
    let failed: Vec<u64> = rows.iter().map(|row| row.failed_sessions()).collect();
    let on_front = front(&failed, |one, other| {
        let (Some(one), Some(other)) = (rows.get(one), rows.get(other)) else { return Vec::new() };
        let sought = value(&measure, one).total_cmp(&value(&measure, other));
        let sought = if swept.objective.direction == Direction::Minimise { sought } else { sought.reverse() };
        vec![sought, share(other).total_cmp(&share(one))]
    });
    let mut edge: Vec<(f64, f64)> = rows.iter().zip(&on_front).filter(|(_, on)| **on).map(|(row, _)| place(row)).collect();
    edge.arrange_by(|one, other| one.0.total_cmp(&other.0));
    let series = |name: &str, hue: Hue, form: Form, points: Vec<(f64, f64)>| {
        let named = if points.is_empty() { Named::Nowhere } else { Named::Key };
        Series::of(name, hue, form, Provenance::Simulated, points).named(named)
    };
    let line = series("the front: no setting is better in both", Hue::Limit, Form::Line, edge);
    let dots = |name: &str, hue: Hue, points: Vec<(f64, f64)>| series(name, hue, Form::Dots, points);
    let of = |wanted: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).map(|row| place(row)).collect::<Vec<(f64, f64)>>();
    let gone = dots(GONE, Hue::Gone, of(&|row| row.failed_sessions() > fewest));
    let by_policy = swept.bases.iter().enumerate().map(|(base, policy)| {
        let mine = |row: &Row| swept.settings.get(row.setting).is_some_and(|setting| setting.base == base);
        dots(&policy.name, Hue::Other(base), of(&|row| row.failed_sessions() == fewest && mine(row)))
    });
    let by_policy: Vec<Series> = by_policy.collect();
    let amount = |row: &Row| match quantity(&measure) {
        Quantity::Money => Cell::Money(value(&measure, row).round() as i64),
        _ => Cell::Name(value(&measure, row).to_string()),
    };
    let simulated = |key, unit| Column::simulated(key, key, unit);
    let data = Fields::<(&Setting, &Row)>::new()
        .with(Column::name("policy", "policy"), |(setting, _)| Cell::name(swept.policy(setting)))
        .with(Column::name("setting", "setting"), |(setting, _)| Cell::Name(setting.words()))
        .with(Column::name("measure", "measure"), |_| Cell::Name(measure.name()))
        .with(simulated("value", measure.part.unit), |(_, row)| amount(row))
        .with(simulated("kept_share", Unit::Share), |(_, row)| Cell::share(kept(row).0, kept(row).1))
        .with(simulated("failed_sessions", Unit::Count), |(_, row)| Cell::Count(row.failed_sessions()))
        .table(2, swung.rows.iter().copied());
    Ok(Drawn {
        title: best_title(swept, &swung),
        subtitle: format!(
            "{} against the reused text that each setting keeps, simulated; both axes show the range of the data{}",
            capital(&measure.words()),
            given_up(swept)
        ),
        drawing: Drawing::Plot(Plot {
            x: Axis { from: None, ..Axis::of(&measure.words(), quantity(&measure)) },
            y: Axis { from: None, ..Axis::of("reused text kept", Quantity::Share) },
            series: [gone, line].into_iter().chain(by_policy).collect(),
            limits: Vec::new(),
            marks: marked(swept, |found: &[&Row]| found.iter().map(|row| place(row)).collect()),
        }),
        notes: Vec::new(),
        data,
    })
}
