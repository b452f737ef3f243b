//! Estimates and predictions beside recorded prompts.

use crate::corpus::Corpus;
use crate::experiment::drift::{Along, Comparison, Figures, Findings, Prediction, Ratios, Worst};
use crate::list::Arrange;
use crate::report::document::{Cell, Column, Fields, Section, Table, Unit};

/// A number column of the tables here.
pub(super) const fn number(key: &'static str, header: &'static str, meaning: &'static str, unit: Unit) -> Column {
    Column::estimated(key, header, unit).says(meaning)
}

/// A number in thousandths, with three decimals.
pub(super) fn ratio(thousandths: u64) -> Cell {
    Cell::Name(format!("{}.{:03}", thousandths / 1000, thousandths % 1000))
}

/// How far estimates are off: columns for rows that have such figures.
fn figures<'a, R: 'a>(of: fn(&R) -> &Figures) -> Fields<'a, R> {
    let at = |at: fn(&Ratios) -> u64| move |row: &R| of(row).ratios.as_ref().map_or(Cell::Empty, |ratios| ratio(at(ratios)));
    let bias = "estimated less recorded tokens, as a share of the latter: below zero, the estimator says too little";
    let mape = "mean of |estimated - recorded| / recorded over the calls";
    Fields::<R>::new()
        .with(number("calls", "calls", "calls with recorded usage that were compared", Unit::Count), move |row| Cell::Count(of(row).calls))
        .with(number("bias", "bias", bias, Unit::Share), move |row| Cell::Share {
            part: of(row).bias_tokens(),
            whole: of(row).recorded_tokens,
        })
        .with(number("mape", "MAPE", mape, Unit::Share), move |row| match of(row).ratios {
            Some(_) => Cell::share(of(row).mape_millionths, 1_000_000),
            None => Cell::Empty,
        })
        .with(number("p05", "p5", "recorded / estimated: 5th percentile over calls", Unit::Count), at(|ratios| ratios.p05))
        .with(number("p50", "p50", "half of them", Unit::Count), at(|ratios| ratios.p50))
        .with(number("p95", "p95", "95th percentile", Unit::Count), at(|ratios| ratios.p95))
        .with(number("p99", "p99", "all but a hundredth", Unit::Count), at(|ratios| ratios.p99))
}

/// The call that an estimator underestimates most: tokens missing, session and call.
fn worst<'a, R: 'a>(corpus: &'a Corpus, of: fn(&R) -> &Figures) -> Fields<'a, R> {
    let tokens = number("worst_missing_tokens", "worst", "tokens that the worst underestimate was short of", Unit::Tokens);
    let session = Column::name("worst_session", "in session").says("session and call of the worst underestimate");
    let cell = |cell: fn(Worst, &Corpus) -> Cell| move |row: &R| of(row).worst.map_or(Cell::Empty, |worst| cell(worst, corpus));
    Fields::<R>::new()
        .with(tokens, cell(|worst, _| Cell::Tokens(worst.recorded - worst.estimated)))
        .with(session, cell(|worst, corpus| Cell::Text(corpus.traces.at(worst.session).map(|trace| trace.id.clone()).unwrap_or_default())))
        .with(number("worst_call", "call", "number of that call, from 1", Unit::Count), cell(|worst, _| Cell::Count(worst.call as u64 + 1)))
}

/// Errors and worst underestimate, behind the columns that name a comparison.
fn compared<'a, 'b: 'a>(corpus: &'a Corpus, names: Fields<'a, &'b Comparison>) -> Fields<'a, &'b Comparison> {
    names.and(figures(|row| &row.figures)).and(worst(corpus, |row| &row.figures))
}

fn estimator<'a>() -> Fields<'a, &'a Comparison> {
    Fields::new().with(Column::name("estimator", "estimator"), |row: &&Comparison| Cell::name(&row.estimator))
}

fn family<'a>() -> Fields<'a, &'a Comparison> {
    let family = |row: &&Comparison| Cell::name(row.family.map_or("all", |family| family.name()));
    Fields::new().with(Column::name("family", "family"), family)
}

fn source<'a>() -> Fields<'a, &'a Comparison> {
    let source = |row: &&Comparison| row.source.clone().map_or_else(|| Cell::name("all"), Cell::Text);
    Fields::new().with(Column::name("agent", "agent"), source)
}

/// All estimators, over all families.
pub(super) fn estimators(corpus: &Corpus, findings: &Findings) -> Option<Section> {
    let overall = findings.comparisons.iter().filter(|row| row.family.is_none() && row.source.is_none());
    compared(corpus, estimator()).table(1, overall).section("Estimators beside recorded prompts")
}

/// The main estimators by family.
pub(super) fn by_family(corpus: &Corpus, findings: &Findings) -> Option<Section> {
    let mut shown: Vec<&Comparison> = findings.comparisons.iter().filter(|row| row.family.is_some() && is_shown(&row.estimator)).collect();
    shown.arrange_by_key(|row| row.family);
    compared(corpus, family().and(estimator())).table(2, shown).section("By family of the model")
}

/// The main estimators by agent.
pub(super) fn by_source(findings: &Findings) -> Option<Section> {
    let mut shown: Vec<&Comparison> = findings.comparisons.iter().filter(|row| row.source.is_some() && is_shown(&row.estimator)).collect();
    shown.arrange_by(|one, other| one.source.cmp(&other.source));
    source().and(estimator()).and(figures(|row| &row.figures)).table(2, shown).section("By agent")
}

/// The main estimators along the session.
pub(super) fn along(findings: &Findings) -> Option<Section> {
    let calls = Column::name("stretch", "calls of the session").says("number of the call within its session");
    let names = Fields::new()
        .with(Column::name("estimator", "estimator"), |row: &&Along| Cell::name(&row.estimator))
        .with(calls, |row| Cell::Name(row.stretch.words()));
    let shown = findings.along.iter().filter(|row| is_shown(&row.estimator));
    names.and(figures(|row| &row.figures)).table(2, shown).section("Along the session")
}

const METHOD: Column = Column {
    meaning: "call before: its recorded prompt, what came since by the session's calibration; first call: its recorded prompt, all since by shipped costs or \
              by those fitted on the other half of the sessions; other half: overhead and costs from the agent's other sessions alone",
    ..Column::name("method", "predicted from")
};

/// How well recorded prompts can be predicted.
pub(super) fn predictions(findings: &Findings) -> Option<Section> {
    Fields::new()
        .with(Column::name("family", "family"), |row: &&Prediction| Cell::name(row.family.name()))
        .with(METHOD, |row| Cell::name(row.method.name()))
        .with(Column::name("agent", "agent"), |row| row.source.clone().map_or_else(|| Cell::name("all"), Cell::Text))
        .with(number("sessions", "sessions", "sessions that were predicted", Unit::Count), |row| Cell::Count(row.figures.sessions))
        .and(figures(|row: &&Prediction| &row.figures))
        .table(3, &findings.predictions)
        .section("How well recorded prompts can be predicted")
}

/// All comparisons, for spreadsheets.
pub(super) fn flat(corpus: &Corpus, findings: &Findings) -> Table {
    compared(corpus, estimator().and(family()).and(source()))
        .with(number("sessions", "sessions", "", Unit::Count), |row| Cell::Count(row.figures.sessions))
        .with(number("estimated_tokens", "estimated", "", Unit::Tokens), |row| Cell::Tokens(row.figures.estimated_tokens))
        .with(number("recorded_tokens", "recorded", "", Unit::Tokens), |row| Cell::Tokens(row.figures.recorded_tokens))
        .table(3, &findings.comparisons)
}

/// Estimators that stand in tables by family. The others differ from these by rounding or unit alone, and stand in CSV and JSON.
pub(super) const SHOWN: [&str; 3] = ["chars/4 floor", "chars*2/5", "o200k_base"];

/// Does an estimator stand in the tables by family? Those of policies do.
pub(super) fn is_shown(estimator: &str) -> bool {
    let rounds = [" floor", " ceil", " round"].iter().any(|ending| estimator.ends_with(ending));
    SHOWN.contains(&estimator) || !(rounds || ["words*4/3", "cl100k_base"].contains(&estimator))
}
