//! Estimates and predictions beside recorded prompts.

use crate::corpus::Corpus;
use crate::experiment::drift::{Along, Comparison, Figures, Findings};
use crate::list::Arrange;
use crate::report::document::{Body, Cell, Column, Provenance, Section, Table, Unit};
use crate::report::record::drift::stretch_name;

/// A number column of the tables here.
pub(super) const fn number(key: &'static str, header: &'static str, meaning: &'static str, unit: Unit) -> Column {
    Column { meaning, ..Column::number(key, header, unit, Provenance::Estimated) }
}

/// A name of the program's own.
pub(super) fn name(text: &str) -> Cell {
    Cell::Name(text.to_owned())
}

/// A section with a table; absent where the table is empty.
pub(super) fn section(title: &str, labels: usize, columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Option<Section> {
    let table = Table { labels, columns, rows: rows.into() };
    (!table.rows.is_empty()).then(|| Section { title: title.to_owned(), body: Body::Table(table) })
}

/// A number in thousandths, with three decimals.
pub(super) fn ratio(thousandths: u64) -> Cell {
    Cell::Name(format!("{}.{:03}", thousandths / 1000, thousandths % 1000))
}

fn figure_columns() -> Vec<Column> {
    vec![
        number("calls", "calls", "calls with recorded usage that were compared", Unit::Count),
        number(
            "bias",
            "bias",
            "estimated less recorded tokens, as a share of the latter: below zero, the estimator says too little",
            Unit::Share,
        ),
        number("mape", "MAPE", "mean of |estimated - recorded| / recorded over the calls", Unit::Share),
        number("p05", "p5", "recorded / estimated: 5th percentile over calls", Unit::Count),
        number("p50", "p50", "half of them", Unit::Count),
        number("p95", "p95", "95th percentile", Unit::Count),
        number("p99", "p99", "all but a hundredth", Unit::Count),
    ]
}

fn figure_cells(figures: &Figures) -> Vec<Cell> {
    let at = |of: fn(&crate::experiment::drift::Ratios) -> u64| figures.ratios.as_ref().map_or(Cell::Empty, |ratios| ratio(of(ratios)));
    vec![
        Cell::Count(figures.calls),
        Cell::Share { part: figures.bias_tokens(), whole: figures.recorded_tokens },
        Cell::share(figures.mape_millionths, 1_000_000),
        at(|ratios| ratios.p05),
        at(|ratios| ratios.p50),
        at(|ratios| ratios.p95),
        at(|ratios| ratios.p99),
    ]
}

fn worst_columns() -> Vec<Column> {
    vec![
        number("worst_missing_tokens", "worst", "tokens that the worst underestimate was short of", Unit::Tokens),
        Column { meaning: "session and call of the worst underestimate", ..Column::name("worst_session", "in session") },
        number("worst_call", "call", "number of that call, from 1", Unit::Count),
    ]
}

fn worst_cells(corpus: &Corpus, figures: &Figures) -> Vec<Cell> {
    let Some(worst) = figures.worst else { return vec![Cell::Empty, Cell::Empty, Cell::Empty] };
    let session = corpus.traces.at(worst.session).map(|trace| trace.id.clone()).unwrap_or_default();
    vec![Cell::Tokens(worst.recorded - worst.estimated), Cell::Text(session), Cell::Count(worst.call as u64 + 1)]
}

/// All estimators, over all families.
pub(super) fn estimators(corpus: &Corpus, findings: &Findings) -> Option<Section> {
    let columns = [vec![Column::name("estimator", "estimator")], figure_columns(), worst_columns()].concat();
    let overall = findings.comparisons.iter().filter(|row| row.family.is_none() && row.source.is_none());
    let row = |row: &Comparison| [vec![name(&row.estimator)], figure_cells(&row.figures), worst_cells(corpus, &row.figures)].concat();
    section("Estimators beside recorded prompts", 1, columns, overall.map(row).collect())
}

/// The main estimators by family.
pub(super) fn by_family(corpus: &Corpus, findings: &Findings) -> Option<Section> {
    let columns =
        [vec![Column::name("family", "family"), Column::name("estimator", "estimator")], figure_columns(), worst_columns()].concat();
    let mut shown: Vec<&Comparison> = findings.comparisons.iter().filter(|row| row.family.is_some() && is_shown(&row.estimator)).collect();
    shown.arrange_by_key(|row| row.family);
    let row = |row: &&Comparison| {
        let family = row.family.map_or("all", |family| family.name());
        [vec![name(family), name(&row.estimator)], figure_cells(&row.figures), worst_cells(corpus, &row.figures)].concat()
    };
    section("By family of the model", 2, columns, shown.iter().map(row).collect())
}

/// The main estimators by agent.
pub(super) fn by_source(_: &Corpus, findings: &Findings) -> Option<Section> {
    let columns = [vec![Column::name("agent", "agent"), Column::name("estimator", "estimator")], figure_columns()].concat();
    let mut shown: Vec<&Comparison> = findings.comparisons.iter().filter(|row| row.source.is_some() && is_shown(&row.estimator)).collect();
    shown.arrange_by(|one, other| one.source.cmp(&other.source));
    let row = |row: &&Comparison| {
        let source = Cell::Text(row.source.clone().unwrap_or_default());
        [vec![source, name(&row.estimator)], figure_cells(&row.figures)].concat()
    };
    section("By agent", 2, columns, shown.iter().map(row).collect())
}

/// The main estimators along the session.
pub(super) fn along(findings: &Findings) -> Option<Section> {
    let calls = Column { meaning: "number of the call within its session", ..Column::name("stretch", "calls of the session") };
    let columns = [vec![Column::name("estimator", "estimator"), calls], figure_columns()].concat();
    let shown = findings.along.iter().filter(|row| is_shown(&row.estimator));
    let row = |row: &Along| [vec![name(&row.estimator), Cell::Name(stretch_name(row.stretch))], figure_cells(&row.figures)].concat();
    section("Along the session", 2, columns, shown.map(row).collect())
}

const METHOD: Column = Column {
    meaning: "call before: its recorded prompt, what came since by the session's calibration; first call: its recorded prompt, all since by shipped costs or \
              by those fitted on the other half of the sessions; other half: overhead and costs from the agent's other sessions alone",
    ..Column::name("method", "predicted from")
};

/// How well recorded prompts can be predicted.
pub(super) fn predictions(findings: &Findings) -> Option<Section> {
    let columns = [
        vec![Column::name("family", "family"), METHOD, Column::name("agent", "agent")],
        vec![number("sessions", "sessions", "sessions that were predicted", Unit::Count)],
        figure_columns(),
    ]
    .concat();
    let rows = findings.predictions.iter().map(|prediction| {
        let source = prediction.source.clone().map_or_else(|| name("all"), Cell::Text);
        let labels = vec![name(prediction.family.name()), name(prediction.method.name()), source];
        [labels, vec![Cell::Count(prediction.figures.sessions)], figure_cells(&prediction.figures)].concat()
    });
    section("How well recorded prompts can be predicted", 3, columns, rows.collect())
}

/// All comparisons, for spreadsheets.
pub(super) fn flat(corpus: &Corpus, findings: &Findings) -> Table {
    let labels = ["estimator", "family", "agent"].map(|key| Column::name(key, key)).to_vec();
    let sums = vec![
        number("sessions", "sessions", "", Unit::Count),
        number("estimated_tokens", "estimated", "", Unit::Tokens),
        number("recorded_tokens", "recorded", "", Unit::Tokens),
    ];
    let row = |row: &Comparison| {
        let figures = &row.figures;
        let family = name(row.family.map_or("all", |family| family.name()));
        let source = row.source.clone().map_or_else(|| name("all"), Cell::Text);
        let sums = vec![Cell::Count(figures.sessions), Cell::Tokens(figures.estimated_tokens), Cell::Tokens(figures.recorded_tokens)];
        [vec![name(&row.estimator), family, source], figure_cells(figures), worst_cells(corpus, figures), sums].concat()
    };
    let columns = [labels, figure_columns(), worst_columns(), sums].concat();
    Table { labels: 3, columns, rows: findings.comparisons.iter().map(row).collect() }
}

/// Estimators that stand in tables by family. The others differ from these by rounding or unit alone, and stand in CSV and JSON.
pub(super) const SHOWN: [&str; 3] = ["chars/4 floor", "chars*2/5", "o200k_base"];

/// Does an estimator stand in the tables by family? Those of policies do.
pub(super) fn is_shown(estimator: &str) -> bool {
    let rounds = [" floor", " ceil", " round"].iter().any(|ending| estimator.ends_with(ending));
    SHOWN.contains(&estimator) || !(rounds || ["words*4/3", "cl100k_base"].contains(&estimator))
}
