//! The sessions one by one: all figures of each at once, the calls of one on demand.

use super::series::SessionSeries;
use super::told::{Shown, Told};
use crate::context::Region;
use crate::experiment::{Content, Metric, Replay};
use crate::report::cost_figures;
use crate::report::document::{Better, Cell, Column, Unit};
use crate::report::figures::{cells, column, told};
use crate::sim::Outcome;
use crate::trace::Trace;
use serde::Serialize;
use std::cmp::Reverse;

/// Sessions, and what stands in them.
pub struct Browser<'a> {
    pub(super) told: Told<'a>,
}

/// All sessions at a glance.
#[derive(Serialize)]
pub struct Overview {
    policies: Vec<String>,
    contents: Vec<&'static str>,
    /// What arrives, by the numbers that sessions use for it.
    regions: Vec<&'static str>,
    columns: Vec<Heading>,
    sessions: Vec<SessionRow>,
    /// By policy, column and session; shares in millionths, money in thousand-millionths of a dollar.
    figures: Vec<Vec<Vec<Option<i64>>>>,
}

#[derive(Serialize)]
struct Heading {
    key: &'static str,
    header: String,
    meaning: &'static str,
    unit: &'static str,
    better: &'static str,
}

#[derive(Serialize)]
struct SessionRow {
    id: String,
    source: String,
    agent: String,
    model: String,
    window: u64,
    limit: u64,
    calls: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
}

impl<'a> Browser<'a> {
    /// A browser over the sessions of a story.
    pub(super) fn new(told: Told<'a>) -> Browser<'a> {
        Browser { told }
    }

    /// All sessions at a glance.
    pub fn overview(&self, shown: Shown<'_>) -> Overview {
        let replays = &self.told.composed.replays;
        let figures = told(replays.iter().map(|replay| &replay.totals));
        let columns: Vec<Column> = figures.iter().map(|figure| column(figure)).chain(cost_figures::COLUMNS).collect();
        Overview {
            policies: replays.iter().map(|replay| shown(&replay.policy)).collect(),
            contents: Content::ALL.iter().map(|content| content.name()).collect(),
            regions: Region::ALL.iter().map(|region| region.name()).collect(),
            columns: columns.iter().map(Heading::new).collect(),
            sessions: self.told.corpus.traces.iter().enumerate().map(|(place, trace)| self.row(place, trace, shown)).collect(),
            figures: replays.iter().map(|replay| self.figures(replay, &figures, columns.len())).collect(),
        }
    }

    fn row(&self, place: usize, trace: &Trace, shown: Shown<'_>) -> SessionRow {
        let outcome = self.told.composed.replays.first().and_then(|replay| replay.outcomes.get(place));
        SessionRow {
            id: shown(&trace.id),
            source: shown(&trace.source),
            agent: shown(&trace.agent),
            model: shown(trace.main_model().unwrap_or_default()),
            window: outcome.map_or(0, |outcome| outcome.window),
            limit: outcome.map_or(0, |outcome| outcome.prompt_limit),
            calls: trace.calls.len(),
            parent: trace.parent.as_deref().map(shown),
        }
    }

    fn figures(&self, replay: &Replay, told: &[&Metric], columns: usize) -> Vec<Vec<Option<i64>>> {
        let mut figures = vec![Vec::with_capacity(replay.outcomes.len()); columns];
        for (place, outcome) in replay.outcomes.iter().enumerate() {
            let costs = replay.bills.get(place).map_or([Cell::Empty, Cell::Empty], |bills| cost_figures::cells(bills, self.told.cache));
            let row = cells(told.iter().copied(), &outcome.totals).chain(costs);
            figures.iter_mut().zip(row).for_each(|(column, cell)| column.push(number(&cell)));
        }
        figures
    }

    /// The sessions that are worth a look, the worst first.
    pub fn by_interest(&self) -> Vec<usize> {
        by_interest(&self.told.composed.replays)
    }

    /// One session, call by call. Absent where there is none at this place, and for sessions without calls.
    pub fn session(&self, place: usize, shown: Shown<'_>) -> Option<SessionSeries> {
        let trace = self.told.corpus.traces.get(place).filter(|trace| !trace.calls.is_empty())?;
        Some(SessionSeries::new(&self.told, place, trace, shown))
    }
}

/// Places of sessions, the worst first: those that fail, overflow, lose the end of replies, or are rewritten most.
fn by_interest(replays: &[Replay]) -> Vec<usize> {
    let sum = |place: usize, figure: &dyn Fn(&Outcome) -> u64| -> u64 {
        replays.iter().filter_map(|replay| replay.outcomes.get(place)).map(figure).sum()
    };
    let mut order: Vec<usize> = (0..replays.first().map_or(0, |replay| replay.outcomes.len())).collect();
    order.sort_by_cached_key(|place| {
        let ended = sum(*place, &|outcome| outcome.totals.failed_sessions);
        let overflows = sum(*place, &|outcome| outcome.totals.overflows);
        let cut = sum(*place, &|outcome| outcome.totals.reply_cut);
        let events = sum(*place, &|outcome| outcome.events.len() as u64);
        Reverse((ended, overflows, cut, events, sum(*place, &|outcome| outcome.totals.calls)))
    });
    order
}

impl Heading {
    fn new(column: &Column) -> Heading {
        let unit = match column.unit {
            Unit::Name | Unit::Prose => "name",
            Unit::Count => "count",
            Unit::Tokens => "tokens",
            Unit::Share => "share",
            Unit::Money => "money",
        };
        let better = match column.better {
            Better::Less => "less",
            Better::More => "more",
            Better::Neither => "",
        };
        Heading { key: column.key, header: column.plain_header(), meaning: column.meaning, unit, better }
    }
}

/// A cell as one number.
fn number(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Count(number) | Cell::Tokens(number) => i64::try_from(*number).ok(),
        Cell::SignedTokens(number) | Cell::Money(number) => Some(*number),
        Cell::Share { part, whole } => {
            let millionths = (i128::from(*part) * 1_000_000).checked_div(i128::from(*whole))?;
            i64::try_from(millionths).ok()
        }
        Cell::Text(_) | Cell::Name(_) | Cell::Empty => None,
    }
}
