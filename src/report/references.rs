//! What was forgotten: what replies took up again, by the kind of text that they refer to, and what had become of it.

use super::by_rule;
use super::document::{Better, Body, Cell, Column, Provenance, Section, Table, Unit};
use super::words::{counted, counted_as, grouped};
use crate::corpus::Corpus;
use crate::experiment::{LeastBudget, PERCENT, Replay};
use crate::sim::{Broken, Category, Fates, Outcome, Totals};
use crate::trace::{Evidence, Trace};
use std::cmp::Reverse;

/// So many broken references of a corpus are named: the heaviest.
const NAMED: usize = 10;

const fn fates(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column { meaning, better: Better::Less, ..Column::number(key, header, Unit::Count, Provenance::Simulated) }
}

const FIGURES: [Column; 7] = [
    Column {
        meaning: "times that a reply takes up text of one source",
        ..Column::number("references", "references", Unit::Count, Provenance::Estimated)
    },
    fates("kept", "kept", "the text is still there"),
    fates("summarised", "summa\u{ad}rised", "a summary took its place, and may or may not hold it"),
    fates("truncated", "truncated", "it was cut away"),
    fates("cleared", "cleared", "a placeholder stands for it"),
    fates("dropped", "dropped", "its message was removed"),
    Column {
        meaning: "kept as a share of all",
        better: Better::More,
        ..Column::number("kept_share", "kept, share", Unit::Share, Provenance::Simulated)
    },
];

/// A table a policy, and the worst cases.
pub fn sections(corpus: &Corpus, replays: &[Replay], least: Option<&LeastBudget>) -> Vec<Section> {
    let table = |replay: &Replay| {
        let names = [Column::name("evidence", "evidence"), Column::name("source", "source")];
        Table { labels: 2, columns: names.into_iter().chain(FIGURES).collect(), rows: rows(&replay.totals).collect() }
    };
    let section = |replay: &Replay| Section { title: format!("References under {}", replay.policy), body: Body::Table(table(replay)) };
    let could = [achievable(replays)].into_iter().chain(least.map(least_section));
    replays.iter().map(section).chain(by_rule::section(replays)).chain(could).chain(worst(corpus, replays)).collect()
}

/// All tables in one, with the policy in front.
pub fn flat(replays: &[Replay]) -> Table {
    let names = [Column::name("policy", "policy"), Column::name("evidence", "evidence"), Column::name("source", "source")];
    let with_policy = |replay: &Replay, row: Vec<Cell>| std::iter::once(Cell::Name(replay.policy.clone())).chain(row).collect();
    let rows = replays.iter().flat_map(|replay| rows(&replay.totals).map(move |row| with_policy(replay, row)));
    Table { labels: 3, columns: names.into_iter().chain(FIGURES).collect(), rows: rows.collect() }
}

/// What each policy kept of what any policy could have kept while it carried as much.
pub(super) fn achievable(replays: &[Replay]) -> Section {
    let count = |key, header, meaning| Column { meaning, ..Column::number(key, header, Unit::Count, Provenance::Simulated) };
    let tokens = |key, header, meaning| Column { meaning, ..Column::number(key, header, Unit::Tokens, Provenance::Simulated) };
    let columns = vec![
        Column::name("policy", "policy"),
        count("kept", "kept", "references to lines that it kept"),
        count("oracle", "oracle", "the same of the oracle, which knows what comes, in contexts of the same sizes"),
        count("achievable", "achievable", "nobody could keep more of them in contexts of the same sizes"),
        Column {
            meaning: "kept as a share of that",
            better: Better::More,
            ..Column::number("achieved_share", "of achievable", Unit::Share, Provenance::Simulated)
        },
        tokens("content_tokens", "content", "recorded content in the mean context"),
        tokens("needed_tokens", "needed", "with less content than this in the mean context no policy keeps 99 % of them"),
    ];
    let row = |replay: &Replay| {
        let (retention, calls) = (&replay.totals.retention, replay.totals.calls);
        let kept = retention.of(Evidence::Line).kept;
        let mean = |tokens: u64| Cell::Tokens((tokens + calls / 2).checked_div(calls).unwrap_or(0));
        vec![
            Cell::Name(replay.policy.clone()),
            Cell::Count(kept),
            Cell::Count(retention.oracle),
            Cell::Count(retention.achievable),
            Cell::share(kept, retention.achievable),
            mean(retention.carried_tokens),
            mean(retention.needed_tokens),
        ]
    };
    let table = Table { labels: 1, columns, rows: replays.iter().map(row).collect() };
    Section { title: "What could have been kept".to_owned(), body: Body::Table(table) }
}

fn least_section(least: &LeastBudget) -> Section {
    let all = format!("{PERCENT} % of the {} to lines", counted(least.references, "reference"));
    let impossible = least.impossible.map_or(String::new(), |budget| {
        format!("No policy keeps {all} in contexts that hold {} tokens of the conversation or less. ", grouped(budget))
    });
    let attained = format!("One that knows the future keeps {all} in {} tokens.", grouped(least.attained));
    let aside = " What has just arrived stands in them even where it alone is more.".to_owned();
    Section { title: "The smallest contexts".to_owned(), body: Body::Lines(vec![impossible + &attained + &aside]) }
}

/// What an oracle's row is.
pub const ORACLE: &str = "An oracle knows what comes. Its contexts are as large as those of the policy above it, call by call; what stands in them is chosen so \
                          that later replies find the lines that they take up. Figures that follow from anything but size and references are left empty.";

/// What the figures rest on.
pub fn notes(corpus: &Corpus) -> Vec<String> {
    let rests = "A reference is a reply that repeats lines or names of an earlier text; that it needed the text to do so is an inference. \
                 Lines are the surer evidence: names may be known from elsewhere.";
    std::iter::once(rests.to_owned()).chain(left_out(corpus)).collect()
}

/// What of very long texts and sessions was not searched.
pub fn left_out(corpus: &Corpus) -> Option<String> {
    let unsearched: u64 = corpus.traces.iter().map(|trace| trace.unsearched).sum();
    (unsearched > 0).then(|| {
        let (one, many) =
            ("recognisable piece of very long texts or sessions was", "recognisable pieces of very long texts or sessions were");
        format!("{} left out of the search for references.", counted_as(unsearched, one, many))
    })
}

/// The heaviest broken references of one session.
pub fn worst_of(outcome: &Outcome) -> Option<Section> {
    let paths = Paths::of(outcome.broken.iter());
    let rows: Vec<Vec<Cell>> = outcome.broken.iter().map(|broken| cells(broken, paths).collect()).collect();
    let table = Table { labels: 1, columns: case_columns(paths).collect(), rows };
    (!table.rows.is_empty()).then(|| Section { title: "Broken references, the heaviest".to_owned(), body: Body::Table(table) })
}

fn worst(corpus: &Corpus, replays: &[Replay]) -> Option<Section> {
    let of_replay = |replay: &Replay| -> Vec<(String, String, Broken)> {
        let pairs = corpus.traces.iter().zip(&replay.outcomes);
        let named = |(trace, outcome): (&Trace, &Outcome)| -> Vec<(String, String, Broken)> {
            outcome.broken.iter().map(|broken| (replay.policy.clone(), trace.id.clone(), broken.clone())).collect()
        };
        pairs.flat_map(named).collect()
    };
    let mut all: Vec<(String, String, Broken)> = replays.iter().flat_map(of_replay).collect();
    // The sort is stable: equals stay in the order of policies and corpus.
    all.sort_by_key(|(.., broken)| (broken.kind, Reverse(broken.weight)));
    all.truncate(NAMED);
    let paths = Paths::of(all.iter().map(|(.., broken)| broken));
    let row = |(policy, session, broken): &(String, String, Broken)| {
        [Cell::Name(policy.clone()), Cell::Text(session.clone())].into_iter().chain(cells(broken, paths)).collect()
    };
    let names = [Column::name("policy", "policy"), Column::name("session", "session")];
    let columns = names.into_iter().chain(case_columns(paths)).collect();
    let table = Table { labels: 2, columns, rows: all.iter().map(row).collect() };
    (!table.rows.is_empty()).then(|| Section { title: "Broken references, the heaviest".to_owned(), body: Body::Table(table) })
}

/// Are paths known, so that a column shows them?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paths {
    Known,
    Unknown,
}

impl Paths {
    fn of<'a>(mut all: impl Iterator<Item = &'a Broken>) -> Paths {
        if all.any(|broken| broken.path.is_some()) { Paths::Known } else { Paths::Unknown }
    }
}

fn case_columns(paths: Paths) -> impl Iterator<Item = Column> {
    let count = |key, header, meaning| Column { meaning, ..Column::number(key, header, Unit::Count, Provenance::Simulated) };
    [
        count("call", "call", "the call whose reply takes the text up"),
        count("source_message", "source", "number of the message that holds the text"),
        Column::name("category", "what it was"),
        Column::name("tool", "tool"),
        Column::name("fate", "fate"),
        Column::name("rule", "rule"),
        count("weight", "pieces", "how many lines or names are taken up"),
        Column {
            meaning: "what arrived between the two",
            ..Column::number("distance_tokens", "tokens ago", Unit::Tokens, Provenance::Estimated)
        },
        count("distance_calls", "calls ago", "calls between the two"),
    ]
    .into_iter()
    .chain((paths == Paths::Known).then(|| Column::name("path", "path")))
}

fn cells(broken: &Broken, paths: Paths) -> impl Iterator<Item = Cell> {
    let text = |text: &Option<String>| text.clone().map_or(Cell::Empty, Cell::Text);
    let evidence = if broken.kind == Evidence::Line { "lines" } else { "names" };
    [
        Cell::Count(u64::from(broken.call) + 1),
        Cell::Count(u64::from(broken.source) + 1),
        Cell::Name(format!("{evidence} of {}", broken.category.name())),
        text(&broken.tool),
        Cell::Name(broken.fate.name().to_owned()),
        text(&broken.rule),
        Cell::Count(u64::from(broken.weight)),
        Cell::Tokens(broken.distance_tokens),
        Cell::Count(u64::from(broken.distance_calls)),
    ]
    .into_iter()
    .chain((paths == Paths::Known).then(|| text(&broken.path)))
}

fn rows(totals: &Totals) -> impl Iterator<Item = Vec<Cell>> {
    let kinds = [(Evidence::Line, "lines"), (Evidence::Identifier, "names")];
    kinds.into_iter().flat_map(move |(kind, name)| {
        let of = move |category: Category| totals.retention.fates.get(&(kind, category)).map(|fates| (category.name(), *fates));
        let all = std::iter::once(("all", totals.retention.of(kind)));
        all.chain(Category::ALL.into_iter().filter_map(of)).map(move |(source, fates)| row(name, source, fates))
    })
}

fn row(evidence: &str, source: &str, fates: Fates) -> Vec<Cell> {
    vec![
        Cell::Name(evidence.to_owned()),
        Cell::Name(source.to_owned()),
        Cell::Count(fates.all()),
        Cell::Count(fates.kept),
        Cell::Count(fates.summarised),
        Cell::Count(fates.truncated),
        Cell::Count(fates.cleared),
        Cell::Count(fates.dropped),
        Cell::share(fates.kept, fates.all()),
    ]
}
