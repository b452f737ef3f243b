//! A measure over the values of one parameter, or of two.

use super::document::{
    Axis, Drawing, Drawn, Form, HeatMap, Hue, Limit, Marks, Named, NothingToDraw, Place, Plot, Quantity, Series, Symbol,
};
use super::kind::{Kind, Material, Need};
use super::range::spread;
use crate::experiment::{Charges, Direction, Judgement, Measure, Row, Setting, Standing};
use crate::list::Arrange;
use crate::policy::number;
use crate::report::asked::{SetIn, Swept};
use crate::report::document::{Cell, Column, Fields, Provenance, Table, Unit};
use crate::report::finding::{self, share};
use crate::report::words::{capital, counted, counted_as, grouped, percent, short_dollars, three_digits};
use crate::report::{judged, ties};
use crate::statistics::{Estimate, Finding, LEVEL, Within};
use std::collections::BTreeMap;

/// Lines that can be told apart.
const LINES: usize = 6;

/// What the policies call the parameters, and the rows with their settings.
pub(super) struct Swung<'a> {
    params: Vec<&'a str>,
    pub(super) rows: Vec<(&'a Setting, &'a Row)>,
}

impl<'a> Swung<'a> {
    pub(super) fn of(swept: &'a Swept<'_>) -> Swung<'a> {
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

/// A measure over one parameter.
pub const SWEEP: Kind = Kind {
    name: "sweep",
    sentence: "a measure over the values of one parameter, a line for each value of a second one",
    needs: &[Need::Recall, Need::Settings],
    usual: Some("baseagent"),
    draw: sweep,
};

/// A measure over two parameters.
pub const SWEEP_MAP: Kind = Kind {
    name: "sweep-map",
    sentence: "a measure over the values of two parameters, as a map",
    needs: &[Need::Recall, Need::Settings],
    usual: Some("baseagent"),
    draw: sweep_map,
};

pub(super) fn settings<'a>(material: &Material<'a>) -> Result<&'a Swept<'a>, NothingToDraw> {
    material.swept.ok_or(NothingToDraw::Nothing("nothing is varied".to_owned()))
}

/// A measure over one parameter; a line for each policy and value of the others.
fn sweep(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let swept = settings(material)?;
    let swung = Swung::of(swept);
    let (Some(param), measure) = (swung.params.first().copied(), swept.objective.measure) else {
        return Err(NothingToDraw::Nothing("nothing is varied".to_owned()));
    };
    let lines = lines(swept, &swung, param);
    if lines.is_empty() {
        return Err(NothingToDraw::Nothing(format!("the values of `{param}` are no numbers")));
    }
    let (all, several) = (lines.len(), swept.bases.len() > 1);
    let verdicts = swept.judgements();
    let differs = |row: &Row| {
        bounds(&measure, value(&measure, row), swept.rows.iter().zip(&verdicts).find(|(known, _)| known.setting == row.setting)?.1)
    };
    let fewest = fewest_failed(swept);
    let mut gone: Vec<Series> = Vec::new();
    let series = lines.into_iter().take(LINES).enumerate().flat_map(|(place, ((base, others), points))| {
        let policy = swept.bases.get(base).map_or("", |policy| policy.name.as_str());
        let name = match (several || others.is_empty(), others.is_empty()) {
            (true, false) => format!("{policy}, {others}"),
            (true, true) => policy.to_owned(),
            _ => others,
        };
        let band = |(x, row): &(f64, &Row)| {
            let (low, high) = differs(row)?;
            Some((*x, low, high))
        };
        let at = |(x, row): &(f64, &Row)| (*x, value(&measure, row));
        let whole = Series::of(name, Hue::Other(place), Form::Line, Provenance::Simulated, points.iter().map(at).collect());
        if points.iter().all(|(_, row)| row.failed_sessions() == fewest) {
            return vec![Series { band: points.iter().filter_map(band).collect(), ..whole }];
        }
        // Below runs of settings that fail no more sessions than others lies the whole line in grey.
        let named = if gone.is_empty() { Named::Key } else { Named::Nowhere };
        gone.push(Series { name: GONE.to_owned(), hue: Hue::Gone, named, ..whole.clone() });
        let stands = |(_, row): &(f64, &Row)| row.failed_sessions() == fewest;
        let runs = points.chunk_by(|one, other| stands(one) == stands(other)).filter(|run| run.first().is_some_and(stands));
        let run = |(place, run): (usize, &[(f64, &Row)])| Series {
            band: run.iter().filter_map(band).collect(),
            points: run.iter().map(at).collect(),
            named: if place == 0 { Named::Beside } else { Named::Nowhere },
            ..whole.clone()
        };
        runs.enumerate().map(run).collect()
    });
    let drawn = all.min(LINES);
    let mut series: Vec<Series> = series.collect();
    if drawn > 2 {
        // Bands over bands hide more than they show.
        series.iter_mut().for_each(|series| series.band.clear());
    }
    let points = |found: &[&Row]| {
        let at = |row: &&Row| Some((place(swept, swept.settings.get(row.setting)?, param)?, value(&measure, row)));
        found.iter().filter_map(at).collect::<Vec<(f64, f64)>>()
    };
    let recorded = recorded(material, &measure).map(|recorded| Limit {
        name: "recorded".to_owned(),
        hue: Hue::Recorded,
        place: Place::Height(recorded),
    });
    let marks = marked(swept, points);
    let beside =
        without_ring(swept, &marks).map(|(name, row)| Limit { name, hue: Hue::Recorded, place: Place::Height(value(&measure, row)) });
    let notes = notes(all).into_iter().chain(ties(swept)).chain(without_star(&marks)).collect();
    let lines = || gone.iter().chain(&series).flat_map(|series| &series.points);
    let places = || lines().chain(marks.iter().flat_map(|marks| &marks.points)).map(|point| point.0);
    let scale = spread(places().fold(f64::MAX, f64::min), places().fold(f64::MIN, f64::max));
    let plot = Plot {
        x: Axis { scale, from: None, ..Axis::of(param, Quantity::Number) },
        y: Axis { from: None, ..Axis::of(&measure.words(), quantity(&measure)) },
        series: gone.into_iter().chain(series).collect(),
        limits: recorded.into_iter().chain(beside).collect(),
        marks,
    };
    Ok(Drawn {
        title: best_title(swept, &swung),
        subtitle: format!("{} over {param}, simulated{}", capital(&measure.words()), given_up(swept)),
        drawing: Drawing::Plot(plot),
        notes,
        data: data(swept, &swung),
    })
}

/// The points of a line: what its parameter is set to, and the row.
type Points<'a> = Vec<(f64, &'a Row)>;

/// A line for each policy and value of the parameters but this one, in their order, each with its points from left to right.
fn lines<'a>(swept: &Swept<'_>, swung: &Swung<'a>, param: &str) -> Vec<((usize, String), Points<'a>)> {
    let mut lines: BTreeMap<(usize, String), Points<'a>> = BTreeMap::new();
    for (setting, row) in &swung.rows {
        let others: Vec<String> =
            setting.values.iter().filter(|(name, _)| name != param).map(|(name, value)| format!("{name} {value}")).collect();
        // The policy's own setting may lie beside those that were asked for; with other parameters it belongs to no line.
        if let Some(value) = place(swept, setting, param).filter(|_| !setting.values.is_empty() || swung.params.len() == 1) {
            lines.entry((setting.base, others.join(", "))).or_default().push((value, row));
        }
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.iter_mut().for_each(|(_, points)| points.arrange_by(|one, other| one.0.total_cmp(&other.0)));
    // Values as numbers, not as words: 10k comes behind 8k.
    lines.arrange_by(|((one, a), _), ((other, b), _)| one.cmp(other).then_with(|| last_number(a).total_cmp(&last_number(b))));
    lines
}

/// What is said of the intervals of so many lines, and of those that are not drawn.
fn notes(lines: usize) -> Vec<String> {
    let intervals = match lines {
        0..=2 => "A band is the 90 % interval of the difference from the policy's own setting, session by session, around the line.",
        _ => "The data beside this chart holds the 90 % intervals of the differences from the policy's own setting.",
    };
    let left_out = (lines > LINES).then(|| format!("{LINES} of {lines} lines are drawn; the data holds all of them."));
    [intervals.to_owned()].into_iter().chain(left_out).collect()
}

/// A measure over two parameters of one policy.
fn sweep_map(material: &Material<'_>) -> Result<Drawn, NothingToDraw> {
    let swept = settings(material)?;
    let swung = Swung::of(swept);
    let [across, down] = swung.params.as_slice() else {
        return Err(NothingToDraw::Asked("a map takes two parameters that are varied: give --vary twice".to_owned()));
    };
    let of = |setting: &Setting, param: &str| setting.values.iter().find(|(name, _)| name == param).map(|(_, value)| value.clone());
    let mapped: Vec<(String, String, &Row)> = swung
        .rows
        .iter()
        .filter(|(setting, _)| setting.base == 0)
        .filter_map(|(setting, row)| Some((of(setting, across)?, of(setting, down)?, *row)))
        .collect();
    let columns = ties::each_once(mapped.iter().map(|(across, ..)| across.clone()));
    let mut rows = ties::each_once(mapped.iter().map(|(_, down, _)| down.clone()));
    // As on an axis, large values stand above small ones.
    rows.reverse();
    if mapped.is_empty() {
        return Err(NothingToDraw::Nothing("no policy has both parameters".to_owned()));
    }
    let (measure, fewest) = (swept.objective.measure, fewest_failed(swept));
    let beside =
        recorded(material, &measure).map(|value| format!("; recorded: {}", in_words(value, quantity(&measure)))).unwrap_or_default();
    let mut cells = vec![vec![None; columns.len()]; rows.len()];
    let position = |x: &String, y: &String| rows.iter().position(|known| known == y).zip(columns.iter().position(|known| known == x));
    for (x, y, row) in &mapped {
        let Some((down, across)) = position(x, y) else { continue };
        if let Some(cell) = cells.get_mut(down).and_then(|row| row.get_mut(across)) {
            *cell = Some(if row.failed_sessions() > fewest { f64::NAN } else { value(&measure, row) });
        }
    }
    let cell = |row: &&Row| {
        let setting = swept.settings.get(row.setting).filter(|setting| setting.base == 0)?;
        let at = |param: &str| of(setting, param).or_else(|| Some(swept.bases.first()?.params.get(param)?.number()?.to_string()));
        Some((between(&columns, &at(across)?)?, between(&rows, &at(down)?)?))
    };
    let marks = marked(swept, |found: &[&Row]| found.iter().filter_map(cell).collect());
    let mut notes = Vec::new();
    if swept.bases.len() > 1 {
        notes.push("The map is of the first policy alone; the data beside it holds all of them.".to_owned());
    }
    notes.extend(ties(swept).into_iter().chain(without_star(&marks)));
    notes.extend(without_ring(swept, &marks).map(|(name, _)| format!("{name} has no place among the values that are drawn, and no ring.")));
    Ok(Drawn {
        title: best_title(swept, &swung),
        subtitle: format!("{} over two parameters, simulated{beside}{}", capital(&measure.words()), given_up(swept)),
        drawing: Drawing::HeatMap(HeatMap {
            across: (*across).to_owned(),
            columns,
            down: (*down).to_owned(),
            rows,
            colour: Axis { from: None, ..Axis::of(&measure.words(), quantity(&measure)) },
            cells,
            alarm: None,
            gone: GONE.to_owned(),
            marks,
        }),
        notes,
        data: data(swept, &swung),
    })
}

/// What is said of settings that fail more sessions than others.
pub(super) const GONE: &str = "fails more sessions";

/// The fewest sessions that a setting fails: what others come to, that fail more, is that of shorter sessions.
pub(super) fn fewest_failed(swept: &Swept<'_>) -> u64 {
    swept.rows.iter().map(Row::failed_sessions).min().unwrap_or(0)
}

/// A value of the measure as a sentence says it.
fn in_words(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Money => short_dollars(value.round() as i64),
        Quantity::Tokens | Quantity::Count => three_digits(value.round() as u64),
        Quantity::Share => percent((value * 1e6).round() as i64, 1_000_000),
        Quantity::Number => format!("{value:.3}"),
    }
}

/// Where a value stands along names of cells, the middle of the first at 0.5; one that lies between two of them stands between their middles.
fn between(names: &[String], value: &str) -> Option<f64> {
    if let Some(place) = names.iter().position(|name| name == value) {
        return Some(place as f64 + 0.5);
    }
    let value = number(value)?;
    let pairs = names.windows(2).enumerate().filter_map(|(place, pair)| match pair {
        [one, other] => Some((place, number(one)?, number(other)?)),
        _ => None,
    });
    let part = |one: f64, other: f64| if one == other { 0.0 } else { (value - one) / (other - one) };
    let mut parts = pairs.map(|(place, one, other)| (place, part(one, other)));
    parts.find(|(_, part)| (0.0..=1.0).contains(part)).map(|(place, part)| place as f64 + 0.5 + part)
}

fn ties(swept: &Swept<'_>) -> Option<String> {
    ties::ties(swept, &judged::judged(swept))
}

fn last_number(words: &str) -> f64 {
    words.rsplit(' ').next().and_then(number).unwrap_or(f64::MAX)
}

/// Where a setting stands along a parameter: by its own value, else by what its policy has by itself. A 0 of its own that no search would try says that
/// nothing is set, and stands nowhere.
fn place(swept: &Swept<'_>, setting: &Setting, param: &str) -> Option<f64> {
    let own = || {
        let param = swept.bases.get(setting.base)?.params.get(param)?;
        param.number().filter(|own| *own != 0.0 || param.range.as_ref().is_none_or(|range| range.from <= 0.0))
    };
    let value = setting.values.iter().find(|(name, _)| name == param);
    value.map_or_else(own, |(_, value)| number(value))
}

/// The best settings and the policies' own ones, at their places.
pub(super) fn marked(swept: &Swept<'_>, places: impl Fn(&[&Row]) -> Vec<(f64, f64)>) -> Vec<Marks> {
    let best = bests(swept);
    let own: Vec<&Row> = swept.rows.iter().filter(|row| swept.own.contains(&row.setting)).collect();
    let all_equal = if best.len() > 1 { ", all equal" } else { "" };
    let name = format!("{}{all_equal}", swept.first(&swept.judgements()).name);
    let (_, whose) = SetIn::point(swept.yours.iter().find(|set| !set.words.is_empty()));
    let marks = [
        Marks { name, symbol: Symbol::Ring, hue: Hue::Recorded, points: places(&best) },
        Marks { name: whose.to_owned(), symbol: Symbol::Star, hue: Hue::Own, points: places(&own) },
    ];
    marks.into_iter().filter(|marks| !marks.points.is_empty()).collect()
}

/// That the own settings are not drawn, where none of them has a place.
fn without_star(marks: &[Marks]) -> Option<String> {
    let is_drawn = marks.iter().any(|marks| marks.symbol == Symbol::Star);
    (!is_drawn).then(|| "The policy's own setting has no place among the values that are drawn, and no star.".to_owned())
}

/// The setting that comes out first, and what it is called, where it has no place among what is drawn: that of a policy without the parameter, or with words for
/// its value.
fn without_ring<'a>(swept: &'a Swept<'_>, marks: &[Marks]) -> Option<(String, &'a Row)> {
    let is_drawn = marks.iter().any(|marks| marks.symbol == Symbol::Ring);
    let best = bests(swept).into_iter().next().filter(|_| !is_drawn)?;
    let setting = swept.settings.get(best.setting)?;
    let name = format!("{}: {} {}", swept.first(&swept.judgements()).name, swept.policy(setting), setting.words());
    Some((name.trim_end().to_owned(), best))
}

/// What the recording comes to; absent where the logs do not know it.
fn recorded(material: &Material<'_>, measure: &Measure) -> Option<f64> {
    let recording = material.baselines.recording?;
    let recorded = &recording.sum;
    if measure.whole.is_none() && measure.part.unit == Unit::Money {
        return recording.beside_nano_usd(material.cache).filter(|_| recorded.is_priced()).map(|nano_usd| nano_usd as f64);
    }
    let value = measure.of(&recorded.totals, &Charges::default());
    measure.parts().all(|part| part.in_logs).then(|| value.part as f64 / value.whole.max(1) as f64)
}

/// The best setting, and behind it those that keep the constraints as well and come to exactly the same.
fn bests<'a>(swept: &'a Swept<'_>) -> Vec<&'a Row> {
    let verdicts = swept.judgements();
    let of =
        |standing: Standing| swept.rows.iter().zip(&verdicts).filter(move |(_, verdict)| verdict.standing == standing).map(|(row, _)| row);
    of(Standing::Best).chain(of(Standing::Equal)).collect()
}

/// What the setting that comes out first gives up, where that is less than the own one: for a subtitle.
pub(super) fn given_up(swept: &Swept<'_>) -> String {
    let found = swept.rows.iter().zip(swept.judgements()).find(|(_, verdict)| verdict.standing == Standing::Best);
    let found = found.filter(|(_, verdict)| verdict.own.is_some_and(|own| own.finding == Finding::Better)).map(|(row, _)| row);
    let own = found.and_then(|row| swept.own.get(swept.settings.get(row.setting)?.base));
    let own = own.and_then(|own| swept.rows.iter().find(|row| row.setting == *own));
    let trade = found.zip(own).and_then(|(best, own)| judged::trade(&best.totals, &own.totals));
    trade.map(|trade| format!("; what comes out first {trade}")).unwrap_or_default()
}

/// The best setting by the rule of all verdicts: one that is no better than the policy's own setting, as far as can be known, is not put forward.
pub(super) fn best_title(swept: &Swept<'_>, swung: &Swung<'_>) -> String {
    let bests = bests(swept);
    let found =
        bests.first().and_then(|row| swung.rows.iter().zip(swept.judgements()).find(|((_, known), _)| known.setting == row.setting));
    let Some(((setting, _), verdict)) = found else { return "No setting keeps all constraints".to_owned() };
    let measure = swept.objective.measure.words();
    let (own, _) = SetIn::point(swept.yours.get(setting.base));
    let own = if swept.bases.len() > 1 { format!("{own} of {}", swept.policy(setting)) } else { own.to_owned() };
    let equal = match bests.len().saturating_sub(1) as u64 {
        0 => String::new(),
        others => format!("; {} as good", counted_as(others, "other setting is", "other settings are")),
    };
    let verb = if swept.objective.direction == Direction::Minimise { "Least" } else { "Most" };
    let named = format!("{verb} {measure} with {} {}", swept.policy(setting), setting.words());
    let named = named.trim_end();
    let Some(against) = verdict.own.filter(|_| !swept.own.is_empty()) else {
        return if swept.own.is_empty() {
            format!("{named}{equal}")
        } else {
            format!("Keep {own}: no setting comes to a better {measure}{equal}")
        };
    };
    let by = against.difference.filter(|difference| difference.whole.is_some()).map(|difference| {
        let sessions = counted((difference.compared + difference.left_out) as u64, "session");
        let over =
            if difference.left_out > 0 { format!(" over {} of {sessions}", grouped(difference.compared as u64)) } else { String::new() };
        format!(", {} beside {own}{over} ({LEVEL} %: {})", share(difference.share.value), finding::bounds(&difference.share))
    });
    match against.finding {
        Finding::Better => format!("{named}{}{equal}", by.unwrap_or_default()),
        Finding::CannotJudge => match finding::estimated(&swept.bars) {
            Some(words) => format!("{named}; the difference from {own} cannot be judged: {words}"),
            None => format!("{named}; too few sessions to judge the difference from {own} by"),
        },
        Finding::NoDifference(Within::OwnError) => {
            format!("Keep {own}: no setting has a better {measure} by more than the model's own error")
        }
        Finding::NoDifference(Within::Worth) => format!("Keep {own}: no setting has a {measure} that is worth a change"),
        _ => format!("Keep {own}: no setting has a better {measure} by more than the uncertainty"),
    }
}

pub(super) fn value(measure: &Measure, row: &Row) -> f64 {
    let value = row.value(measure);
    value.part as f64 / value.whole.max(1) as f64
}

/// Where a setting's value lies with nine chances in ten, seen from the policy's own setting: the interval of the difference around the value.
fn bounds(measure: &Measure, value: f64, verdict: &Judgement) -> Option<(f64, f64)> {
    let Some(against) = &verdict.own else { return Some((value, value)) };
    let difference = against.difference.as_ref()?;
    // Amounts of quotients are in millionths.
    let unit = if measure.whole.is_some() { 1e6 } else { 1.0 };
    let at = |share: f64| value + (difference.amount(share) - difference.amount(difference.share.value)) as f64 / unit;
    Some((at(difference.share.low), at(difference.share.high)))
}

pub(super) fn quantity(measure: &Measure) -> Quantity {
    match measure.whole {
        None if measure.part.unit == Unit::Tokens => Quantity::Tokens,
        None if measure.part.unit == Unit::Money => Quantity::Money,
        None => Quantity::Count,
        Some(whole) if whole.unit == measure.part.unit && whole.key != "sessions" && whole.key != "calls" => Quantity::Share,
        Some(_) if measure.part.unit == Unit::Tokens => Quantity::Tokens,
        Some(_) if measure.part.unit == Unit::Money => Quantity::Money,
        Some(_) => Quantity::Number,
    }
}

fn data(swept: &Swept<'_>, swung: &Swung<'_>) -> Table {
    let measure = swept.objective.measure;
    let verdicts = swept.judgements();
    let first = swept.first(&verdicts);
    let is_money = quantity(&measure) == Quantity::Money;
    let cell = |part: i64, whole: u64| match measure.whole {
        _ if is_money => Cell::Money(part / i64::try_from(whole.max(1)).unwrap_or(i64::MAX)),
        None => Cell::SignedTokens(part),
        Some(_) => Cell::Share { part, whole },
    };
    let value = |row: &Row| {
        let value = row.value(&measure);
        cell(value.part, value.whole)
    };
    let unit = if measure.whole.is_some() { 1_000_000 } else { 1 };
    let bound = |verdict: &Judgement, of: fn(&Estimate) -> f64| {
        let difference = verdict.own.as_ref().and_then(|own| own.difference.as_ref());
        difference.map_or(Cell::Empty, |difference| cell(difference.amount(of(&difference.share)), unit))
    };
    let number = |key, header| Column::simulated(key, header, measure.part.unit);
    Fields::<((&Setting, &Row), &Judgement)>::new()
        .with(Column::name("policy", "policy"), |((setting, _), _)| Cell::name(swept.policy(setting)))
        .with(Column::name("setting", "setting"), |((setting, _), _)| Cell::Name(setting.words()))
        .with(Column::name("verdict", "verdict"), |((_, row), verdict)| Cell::Name(judged::words(row, verdict, swept.constraints, first)))
        .with(Column::name("measure", "measure"), |_| Cell::Name(measure.name()))
        .with(number("value", "value"), |((_, row), _)| value(row))
        .with(number("difference_low", "low"), |(_, verdict)| bound(verdict, |share| share.low))
        .with(number("difference_high", "high"), |(_, verdict)| bound(verdict, |share| share.high))
        .table(2, swung.rows.iter().copied().zip(&verdicts))
}
