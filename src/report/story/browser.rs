//! The sessions one by one: all figures of each at once, the calls of one on demand.

use super::series::SessionSeries;
use super::told::{Shown, Told};
use crate::context::Region;
use crate::experiment::{Content, Metric, Replay};
use crate::report::cost_figures;
use crate::report::document::{Better, Cell, Column, Unit};
use crate::report::figures::{cells, column, tabled};
use crate::report::record::keys::record;
use crate::sim::{Outcome, Totals};
use crate::trace::Trace;
use serde::Serialize;
use std::cmp::Reverse;

/// So many sessions are listed at the most: no reader walks through more, and no browser likes to hold them.
const LISTED: usize = 5_000;

/// Sessions, and what stands in them.
pub struct Browser<'a> {
    told: Told<'a>,
    /// The places in the corpus of the sessions that are listed, in their order: all, or the worst of many.
    listed: Vec<usize>,
}

/// The listed sessions at a glance.
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

record! {
    struct Heading(column: &Column) {
        key: &'static str = column.key,
        header: String = column.plain_header(),
        meaning: &'static str = column.meaning,
        unit: &'static str = match column.unit {
            Unit::Name | Unit::Prose => "name",
            Unit::Count => "count",
            Unit::Tokens => "tokens",
            Unit::Share => "share",
            Unit::Money => "money",
        },
        better: &'static str = match column.better {
            Better::Less => "less",
            Better::More => "more",
            Better::Neither => "",
        },
    }

    struct SessionRow(trace: &Trace, outcome: Option<&Outcome>, shown: Shown<'_>) {
        id: String = shown(&trace.id),
        source: String = shown(&trace.source),
        agent: String = shown(&trace.agent),
        model: String = shown(trace.main_model().unwrap_or_default()),
        window: u64 = outcome.map_or(0, |outcome| outcome.window),
        limit: u64 = outcome.map_or(0, |outcome| outcome.prompt_limit),
        calls: usize = trace.calls.len(),
        ?parent: Option<String> = trace.parent.as_deref().map(shown),
    }
}

impl<'a> Browser<'a> {
    /// A browser over the sessions of a story.
    pub(super) fn new(told: Told<'a>) -> Browser<'a> {
        let replays = told.replays;
        let mut listed: Vec<usize> = (0..told.corpus.traces.len()).collect();
        if listed.len() > LISTED {
            listed = by_interest(replays, &listed).into_iter().take(LISTED).collect();
            listed.sort_unstable();
        }
        Browser { told, listed }
    }

    /// How many sessions are not listed.
    pub fn unlisted(&self) -> usize {
        self.told.corpus.traces.len() - self.listed.len()
    }

    /// The listed sessions at a glance.
    pub fn overview(&self, shown: Shown<'_>) -> Overview {
        let replays = self.told.replays;
        let figures = tabled(replays.iter().map(|replay| &replay.totals));
        let columns: Vec<Column> = figures.iter().map(|figure| column(figure)).chain(cost_figures::COLUMNS).collect();
        Overview {
            policies: replays.iter().map(|replay| shown(&replay.policy)).collect(),
            contents: Content::ALL.iter().map(|content| content.name()).collect(),
            regions: Region::ALL.iter().map(|region| region.name()).collect(),
            columns: columns.iter().map(Heading::new).collect(),
            sessions: self.listed.iter().filter_map(|place| self.row(*place, shown)).collect(),
            figures: replays.iter().map(|replay| self.figures(replay, &figures, columns.len())).collect(),
        }
    }

    fn row(&self, place: usize, shown: Shown<'_>) -> Option<SessionRow> {
        let trace = self.told.corpus.traces.at(place)?;
        let outcome = self.told.replays.first().and_then(|replay| replay.outcomes.at(place));
        Some(SessionRow::new(&trace, outcome.as_deref(), shown))
    }

    fn figures(&self, replay: &Replay, told: &[&Metric], columns: usize) -> Vec<Vec<Option<i64>>> {
        let mut figures = vec![Vec::with_capacity(self.listed.len()); columns];
        for (place, outcome) in self.listed.iter().filter_map(|place| Some((*place, replay.outcomes.at(*place)?))) {
            let costs = replay.bills.at(place).map_or([Cell::Empty, Cell::Empty], |bills| cost_figures::cells(&bills, self.told.cache));
            let row = cells(told.iter().copied(), &outcome.totals).chain(costs);
            figures.iter_mut().zip(row).for_each(|(column, cell)| column.push(number(&cell)));
        }
        figures
    }

    /// The listed sessions by their numbers, the worst first.
    pub fn by_interest(&self) -> Vec<usize> {
        let places = by_interest(self.told.replays, &self.listed);
        places.into_iter().filter_map(|place| self.listed.binary_search(&place).ok()).collect()
    }

    /// A listed session, call by call. Absent where there is none of this number, and for sessions without calls.
    pub fn session(&self, number: usize, shown: Shown<'_>) -> Option<SessionSeries> {
        let place = *self.listed.get(number)?;
        let trace = self.told.corpus.traces.at(place).filter(|trace| !trace.calls.is_empty())?;
        Some(SessionSeries::new(&self.told, place, &trace, shown))
    }
}

/// These places of sessions, the worst first: those that fail, overflow, lose the end of replies, or are rewritten most.
fn by_interest(replays: &[Replay], places: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = places.to_vec();
    order.sort_by_cached_key(|place| {
        let mut sums = [0; 5];
        for outcome in replays.iter().filter_map(|replay| replay.outcomes.at(*place)) {
            let Totals { failed_sessions, overflows, reply_cut, calls, .. } = outcome.totals;
            let figures = [failed_sessions, overflows, reply_cut, outcome.events.len() as u64, calls];
            sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
        Reverse(sums)
    });
    order
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
