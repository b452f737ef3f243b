//! A measure over the values of one parameter, or of two.

use super::document::{Axis, Chart, Drawing, Form, HeatMap, Hue, Named, NothingToDraw, Plot, Quantity, Series};
use crate::experiment::{Direction, Measure, Row, Setting, Standing};
use crate::policy::number;
use crate::report::asked::Swept;
use crate::report::document::{Cell, Column, Provenance, Table, Unit};
use crate::report::judged;
use crate::report::title::short_title as of_what;
use crate::report::words::grouped;
use crate::report::{notes, ties};
use std::collections::BTreeMap;

/// Lines that can be told apart.
const LINES: usize = 6;

/// What the policies call the parameters, and the rows with their settings.
struct Swung<'a> {
    params: Vec<&'a str>,
    rows: Vec<(&'a Setting, &'a Row)>,
}

impl<'a> Swung<'a> {
    fn of(swept: &'a Swept<'_>) -> Swung<'a> {
        let rows: Vec<(&Setting, &Row)> = swept.rows.iter().filter_map(|row| Some((swept.settings.get(row.setting)?, row))).collect();
        let mut params: Vec<&str> = Vec::new();
        for (param, _) in rows.iter().flat_map(|(setting, _)| &setting.values) {
            if !params.contains(&param.as_str()) {
                params.push(param);
            }
        }
        Swung { params, rows }
    }
}

/// A measure over one parameter; a line for each policy and value of the others.
pub fn sweep(swept: &Swept<'_>) -> Result<Chart, NothingToDraw> {
    let swung = Swung::of(swept);
    let (Some(param), measure) = (swung.params.first().copied(), swept.objective.measure) else {
        return Err(NothingToDraw("nothing is varied".to_owned()));
    };
    let mut lines: BTreeMap<(usize, String), Vec<(f64, &Row)>> = BTreeMap::new();
    for (setting, row) in &swung.rows {
        let others: Vec<String> =
            setting.values.iter().filter(|(name, _)| name != param).map(|(name, value)| format!("{name} {value}")).collect();
        let value = setting.values.iter().find(|(name, _)| name == param).and_then(|(_, value)| number(value));
        if let Some(value) = value {
            lines.entry((setting.base, others.join(", "))).or_default().push((value, row));
        }
    }
    if lines.is_empty() {
        return Err(NothingToDraw(format!("the values of `{param}` are no numbers")));
    }
    let several = swept.bases.len() > 1;
    let all = lines.len();
    let mut lines: Vec<_> = lines.into_iter().collect();
    // Values as numbers, not as words: 10k comes behind 8k.
    lines.sort_by(|((one, a), _), ((other, b), _)| one.cmp(other).then_with(|| last_number(a).total_cmp(&last_number(b))));
    let series = lines.into_iter().take(LINES).enumerate().map(|(place, ((base, others), mut points))| {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let policy = swept.bases.get(base).map_or("", |policy| policy.name.as_str());
        let name = match (several || others.is_empty(), others.is_empty()) {
            (true, false) => format!("{policy}, {others}"),
            (true, true) => policy.to_owned(),
            _ => others,
        };
        let band = |(x, row): &(f64, &Row)| {
            let (low, high) = row.spread.get(&measure.name())?;
            Some((*x, of_bound(*low, &measure), of_bound(*high, &measure)))
        };
        Series {
            name,
            hue: Hue::Other(place),
            form: Form::Line,
            provenance: Provenance::Simulated,
            band: points.iter().filter_map(band).collect(),
            points: points.iter().map(|(x, row)| (*x, value(&measure, row))).collect(),
            named: Named::Beside,
        }
    });
    let mut series: Vec<Series> = series.collect();
    if series.len() > 2 {
        // Bands over bands hide more than they show.
        series.iter_mut().for_each(|series| series.band.clear());
    }
    let mut notes = vec![match series.len() {
        0..=2 => "Bands are 90 % intervals over sessions; neighbouring settings share their sessions, so differences are surer.".to_owned(),
        _ => "The data beside this chart holds the bounds of the 90 % intervals over sessions.".to_owned(),
    }];
    if all > LINES {
        notes.push(format!("{LINES} of {all} lines are drawn; the data holds all of them."));
    }
    notes.extend(ties(swept));
    notes.extend(notes::below_a_replay(swept.corpus));
    let plot = Plot {
        x: Axis { from: None, ..Axis::of(param, Quantity::Number) },
        y: Axis { from: None, ..Axis::of(&measure.name(), quantity(&measure)) },
        series,
        limits: Vec::new(),
        marks: Vec::new(),
    };
    Ok(Chart {
        kind: super::kind::Kind::Sweep.name(),
        title: best_title(swept, &swung),
        subtitle: format!("{} over {param}, simulated; {}", measure.name(), of_what(&swept.corpus.facts)),
        drawing: Drawing::Plot(plot),
        notes,
        data: data(swept, &swung),
    })
}

/// A measure over two parameters of one policy.
pub fn sweep_map(swept: &Swept<'_>) -> Result<Chart, NothingToDraw> {
    let swung = Swung::of(swept);
    let [across, down] = swung.params.as_slice() else {
        return Err(NothingToDraw("a map takes two parameters that are varied: give --vary twice".to_owned()));
    };
    let of = |setting: &Setting, param: &str| setting.values.iter().find(|(name, _)| name == param).map(|(_, value)| value.clone());
    let mapped: Vec<(String, String, &Row)> = swung
        .rows
        .iter()
        .filter(|(setting, _)| setting.base == 0)
        .filter_map(|(setting, row)| Some((of(setting, across)?, of(setting, down)?, *row)))
        .collect();
    let columns = sorted(mapped.iter().map(|(across, ..)| across));
    let mut rows = sorted(mapped.iter().map(|(_, down, _)| down));
    // As on an axis, large values stand above small ones.
    rows.reverse();
    if mapped.is_empty() {
        return Err(NothingToDraw("no policy has both parameters".to_owned()));
    }
    let measure = swept.objective.measure;
    let mut cells = vec![vec![None; columns.len()]; rows.len()];
    let mut best = Vec::new();
    let bests = bests(swept);
    for (x, y, row) in &mapped {
        let place = rows.iter().position(|known| known == y).zip(columns.iter().position(|known| known == x));
        let Some((down, across)) = place else { continue };
        if let Some(cell) = cells.get_mut(down).and_then(|row| row.get_mut(across)) {
            *cell = Some(value(&measure, row));
        }
        if bests.iter().any(|known| known.setting == row.setting) {
            best.push((down, across));
        }
    }
    let mut notes = Vec::new();
    if swept.bases.len() > 1 {
        notes.push("The map is of the first policy alone; the data beside it holds all of them.".to_owned());
    }
    notes.extend(ties(swept));
    notes.extend(notes::below_a_replay(swept.corpus));
    Ok(Chart {
        kind: super::kind::Kind::SweepMap.name(),
        title: best_title(swept, &swung),
        subtitle: format!("{} over two parameters, simulated; {}", measure.name(), of_what(&swept.corpus.facts)),
        drawing: Drawing::HeatMap(HeatMap {
            across: (*across).to_owned(),
            columns,
            down: (*down).to_owned(),
            rows,
            colour: Axis { from: None, ..Axis::of(&measure.name(), quantity(&measure)) },
            cells,
            alarm: None,
            best,
        }),
        notes,
        data: data(swept, &swung),
    })
}

fn ties(swept: &Swept<'_>) -> Option<String> {
    ties::ties(swept, &judged::judged(swept))
}

/// Each value once, as numbers where they are.
fn sorted<'a>(values: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut all: Vec<String> = values.cloned().collect();
    all.sort_by(|one, other| {
        let as_number = |text: &str| number(text).unwrap_or(f64::MAX);
        as_number(one).total_cmp(&as_number(other)).then_with(|| one.cmp(other))
    });
    all.dedup();
    all
}

fn last_number(words: &str) -> f64 {
    words.rsplit(' ').next().and_then(number).unwrap_or(f64::MAX)
}

/// The best setting, and behind it those that keep the constraints as well and come to exactly the same.
fn bests<'a>(swept: &'a Swept<'_>) -> Vec<&'a Row> {
    let verdicts = swept.judgements();
    let of =
        |standing: Standing| swept.rows.iter().zip(&verdicts).filter(move |(_, verdict)| verdict.standing == standing).map(|(row, _)| row);
    of(Standing::Best).chain(of(Standing::Equal)).collect()
}

fn best_title(swept: &Swept<'_>, swung: &Swung<'_>) -> String {
    let bests = bests(swept);
    let verb = if swept.objective.direction == Direction::Minimise { "Least" } else { "Most" };
    let setting = bests.first().and_then(|row| swung.rows.iter().find(|(_, known)| known.setting == row.setting));
    let equal = match bests.len().saturating_sub(1) as u64 {
        0 => String::new(),
        1 => "; 1 other setting is equal".to_owned(),
        others => format!("; {} other settings are equal", grouped(others)),
    };
    match setting {
        Some((setting, _)) => {
            let policy = swept.policy(setting);
            let named = format!("{verb} {} with {policy} {}", swept.objective.measure.name(), setting.words());
            format!("{}{equal}", named.trim_end())
        }
        None => "No setting keeps all constraints".to_owned(),
    }
}

fn value(measure: &Measure, row: &Row) -> f64 {
    let value = row.value(measure);
    value.part as f64 / value.whole.max(1) as f64
}

/// Bounds of quotients are told in millionths.
fn of_bound(bound: i64, measure: &Measure) -> f64 {
    if measure.whole.is_some() { bound as f64 / 1e6 } else { bound as f64 }
}

fn quantity(measure: &Measure) -> Quantity {
    match measure.whole {
        None if measure.part.unit == Unit::Tokens => Quantity::Tokens,
        None => Quantity::Count,
        Some(whole) if whole.unit == measure.part.unit && whole.name != "sessions" && whole.name != "calls" => Quantity::Share,
        Some(_) if measure.part.unit == Unit::Tokens => Quantity::Tokens,
        Some(_) => Quantity::Number,
    }
}

fn data(swept: &Swept<'_>, swung: &Swung<'_>) -> Table {
    let measure = swept.objective.measure;
    let columns = vec![
        Column::name("policy", "policy"),
        Column::name("setting", "setting"),
        Column::name("verdict", "verdict"),
        Column::name("measure", "measure"),
        Column::number("value", "value", Unit::Count, Provenance::Simulated),
        Column::number("low", "low", Unit::Count, Provenance::Simulated),
        Column::number("high", "high", Unit::Count, Provenance::Simulated),
    ];
    let verdicts = swept.judgements();
    let cell = |part: i64, whole: u64| if measure.whole.is_none() { Cell::SignedTokens(part) } else { Cell::Share { part, whole } };
    let row = |((setting, row), verdict): (&(&Setting, &Row), &crate::experiment::Judgement)| {
        let spread = row.spread.get(&measure.name());
        let bound = |bound: Option<i64>| bound.map_or(Cell::Empty, |bound| cell(bound, 1_000_000));
        let value = row.value(&measure);
        vec![
            Cell::Name(swept.policy(setting).to_owned()),
            Cell::Name(setting.words()),
            Cell::Name(judged::words(verdict, swept.constraints)),
            Cell::Name(measure.name()),
            cell(value.part, value.whole),
            bound(spread.map(|(low, _)| *low)),
            bound(spread.map(|(_, high)| *high)),
        ]
    };
    Table { labels: 2, columns, rows: swung.rows.iter().zip(&verdicts).map(row).collect() }
}
