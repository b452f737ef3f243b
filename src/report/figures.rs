//! The figures that policies and sessions are judged by: one list for every table.

use super::document::{Better, Cell, Column, Provenance, Unit};
use crate::sim::{EventKind, Totals};
use crate::trace::Evidence;

/// A column, and how its cell follows from sums over calls.
pub struct Figure {
    /// The column.
    pub column: Column,
    /// Its cell.
    pub cell: fn(&Totals) -> Cell,
    /// Which tables for people it stands in.
    pub stands: Stands,
}

/// In which tables for people a figure stands. Spreadsheets get all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// In all.
    Always,
    /// In those where it is more than nothing in some row.
    WhereItTells,
}

/// Those of [`FIGURES`] that a table for people over these sums has.
pub fn told<'t>(rows: impl Iterator<Item = &'t Totals> + Clone) -> Vec<&'static Figure> {
    let tells = |figure: &Figure| rows.clone().any(|totals| !is_nothing(&(figure.cell)(totals)));
    FIGURES.iter().filter(|figure| figure.stands == Stands::Always || tells(figure)).collect()
}

/// Is it none of anything, or a share of nothing?
fn is_nothing(cell: &Cell) -> bool {
    matches!(cell, Cell::Empty | Cell::Count(0) | Cell::Tokens(0) | Cell::SignedTokens(0) | Cell::Money(0) | Cell::Share { whole: 0, .. })
}

const fn figure(key: &'static str, header: &'static str, meaning: &'static str, unit: Unit, cell: fn(&Totals) -> Cell) -> Figure {
    let column = Column { meaning, ..Column::number(key, header, unit, Provenance::Simulated) };
    Figure { column, cell, stands: Stands::Always }
}

impl Figure {
    const fn first(mut self, priority: u8) -> Figure {
        self.column.priority = priority;
        self
    }

    const fn better(mut self, better: Better) -> Figure {
        self.column.better = better;
        self
    }

    const fn where_it_tells(mut self) -> Figure {
        self.stands = Stands::WhereItTells;
        self
    }

    const fn from(mut self, provenance: Provenance) -> Figure {
        self.column.provenance = provenance;
        self
    }
}

/// What stands in the tables, in their order.
pub const FIGURES: &[Figure] = &[
    figure("calls", "calls", "requests that the provider answers", Unit::Count, |totals| Cell::Count(totals.calls))
        .first(1)
        .from(Provenance::Recorded),
    figure("overflows", "over\u{ad}flows", "calls whose prompt the provider would have refused", Unit::Count, |totals| {
        Cell::Count(totals.overflows)
    })
    .first(1)
    .better(Better::Less),
    figure("reply_cut", "reply cut", "calls whose prompt and reply together exceed the window", Unit::Count, |totals| {
        Cell::Count(totals.reply_cut)
    })
    .first(1)
    .better(Better::Less),
    figure("over_budget", "over budget", "calls above the window less the policy's output reserve", Unit::Count, |totals| {
        Cell::Count(totals.over_budget)
    })
    .first(1)
    .better(Better::Less),
    figure("missed", "missed", "overflows while the policy believed it fits", Unit::Count, |totals| Cell::Count(totals.missed))
        .first(1)
        .better(Better::Less),
    figure("early", "early", "shrinkings below the policy's own limit by more than its safety buffer", Unit::Count, |totals| {
        Cell::Count(totals.early)
    })
    .first(2)
    .better(Better::Less),
    figure(
        "truncations",
        "trunca\u{ad}tions",
        "outputs cut short as they arrive, and times that a rule cut older ones",
        Unit::Count,
        |totals| Cell::Count(totals.events_of(EventKind::Truncate)),
    )
    .first(2)
    .where_it_tells(),
    figure("prunes", "prunes", "how often old items were replaced by placeholders", Unit::Count, |totals| {
        Cell::Count(totals.events_of(EventKind::Prune))
    })
    .first(2),
    figure("compactions", "compac\u{ad}tions", "messages replaced by a summary, resets included", Unit::Count, |totals| {
        Cell::Count(compactions(totals))
    })
    .first(2),
    figure("drops", "drops", "messages removed", Unit::Count, |totals| Cell::Count(totals.events_of(EventKind::Drop))).first(2),
    figure(
        "failed_sessions",
        "failed sessions",
        "sessions that end in a refusal that nothing mends; what follows counts in no figure",
        Unit::Count,
        |totals| Cell::Count(totals.failed_sessions),
    )
    .first(1)
    .better(Better::Less),
    figure("peak_tokens", "peak context", "the largest context that a call was tried with", Unit::Tokens, |totals| {
        Cell::Tokens(totals.peak_tokens)
    })
    .first(3)
    .better(Better::Less),
    figure("mean_tokens", "mean context", "prompt tokens over calls", Unit::Tokens, |totals| Cell::Tokens(mean_tokens(totals)))
        .first(3)
        .better(Better::Less),
    figure("prompt_tokens", "prompt tokens", "the contexts of all calls, summed", Unit::Tokens, |totals| {
        Cell::Tokens(totals.prompt_tokens)
    })
    .first(3)
    .better(Better::Less),
    figure(
        "tokens_saved",
        "tokens saved",
        "prompt tokens less than recorded, over the sessions that the recording and the policy bring to their end",
        Unit::Tokens,
        |totals| compared(totals, Cell::SignedTokens(totals.tokens_saved())),
    )
    .first(3)
    .better(Better::More),
    figure("tokens_saved_share", "saved", "the same as a share of the recorded tokens", Unit::Share, |totals| {
        compared(totals, Cell::Share { part: totals.tokens_saved(), whole: totals.recorded_tokens })
    })
    .first(1)
    .better(Better::More),
    figure("summariser_tokens", "summa\u{ad}riser tokens", "prompts and replies of the summariser's own calls", Unit::Tokens, |totals| {
        Cell::Tokens(totals.summariser_tokens)
    })
    .first(3)
    .better(Better::Less),
    figure(
        "references_kept_share",
        "refer\u{ad}ences kept",
        "lines that a reply takes up again and that were still there",
        Unit::Share,
        |totals| {
            let lines = totals.retention.of(Evidence::Line);
            Cell::share(lines.kept, lines.all())
        },
    )
    .first(3)
    .better(Better::More),
    figure(
        "references_achieved_share",
        "of achiev\u{ad}able",
        "references kept, as a share of what nobody could exceed in contexts of the same sizes",
        Unit::Share,
        |totals| Cell::share(totals.retention.of(Evidence::Line).kept, totals.retention.achievable),
    )
    .first(3)
    .where_it_tells()
    .better(Better::More),
    figure("broken_calls_share", "calls broken", "calls whose reply takes up lines that were not there any more", Unit::Share, |totals| {
        Cell::share(totals.retention.broken_calls, totals.calls)
    })
    .first(3)
    .better(Better::Less),
    figure("anchored_share", "an\u{ad}chored", "share of the prompt tokens that rests on recorded usage", Unit::Share, |totals| {
        Cell::share(totals.anchored_tokens, totals.prompt_tokens)
    })
    .first(3),
];

/// What spreadsheets get beside [`FIGURES`].
pub const FURTHER: &[Figure] = &[
    figure("vs_recorded", "vs recorded", "prompt tokens more than recorded, as a share of the recorded ones", Unit::Share, |totals| {
        compared(totals, Cell::Share { part: 0_i64.saturating_sub(totals.tokens_saved()), whole: totals.recorded_tokens })
    }),
    figure(
        "compared_sessions",
        "compared sessions",
        "sessions that the recording and the policy bring to their end: what is saved is over these",
        Unit::Count,
        |totals| Cell::Count(totals.compared_sessions),
    ),
    figure("recovered", "recovered", "overflows that the policy's fallback mended", Unit::Count, |totals| Cell::Count(totals.recovered)),
    figure("refused", "refused tries", "tries that the provider would have refused", Unit::Count, |totals| Cell::Count(totals.refused)),
    figure("baseline_tokens", "baseline tokens", "prompt tokens under no policy", Unit::Tokens, |totals| {
        Cell::Tokens(totals.baseline_tokens)
    })
    .from(Provenance::Estimated),
    figure("output_tokens", "output tokens", "the replies, summed", Unit::Tokens, |totals| Cell::Tokens(totals.output_tokens))
        .from(Provenance::Estimated),
    figure("summariser_calls", "summariser calls", "the summariser's own calls", Unit::Count, |totals| {
        Cell::Count(totals.summariser_calls)
    }),
    figure("line_references", "line references", "times that a reply takes up lines of one source", Unit::Count, |totals| {
        Cell::Count(totals.retention.of(Evidence::Line).all())
    }),
    figure("line_references_broken", "line references broken", "of them, those whose lines were not there", Unit::Count, |totals| {
        Cell::Count(totals.retention.of(Evidence::Line).broken())
    }),
    figure("identifier_references", "identifier references", "times that a reply takes up names of one source", Unit::Count, |totals| {
        Cell::Count(totals.retention.of(Evidence::Identifier).all())
    }),
    figure(
        "identifier_references_broken",
        "identifier references broken",
        "of them, those whose names were not there",
        Unit::Count,
        |totals| Cell::Count(totals.retention.of(Evidence::Identifier).broken()),
    ),
    figure("broken_calls", "calls broken", "calls whose reply takes up lines that were not there any more", Unit::Count, |totals| {
        Cell::Count(totals.retention.broken_calls)
    }),
    figure(
        "line_references_achievable",
        "achievable",
        "line references that nobody could exceed in contexts of the same sizes",
        Unit::Count,
        |totals| in_hindsight(totals, totals.retention.achievable),
    ),
    figure(
        "line_references_oracle",
        "oracle",
        "line references that the oracle keeps in contexts of the same sizes",
        Unit::Count,
        |totals| in_hindsight(totals, totals.retention.oracle),
    ),
    figure(
        "dead_tokens",
        "dead weight",
        "results that something later in the context shows again, summed over calls",
        Unit::Tokens,
        |totals| Cell::Tokens(totals.retention.dead_tokens),
    ),
    figure("injected_tokens", "injected tokens", "tokens that the policy put in", Unit::Tokens, |totals| {
        Cell::Tokens(totals.injected_tokens)
    }),
];

/// Figures that follow from the sizes of contexts alone: those of an oracle are those of the policy that it stands beside.
const BY_SIZE: [&str; 9] =
    ["calls", "overflows", "reply_cut", "over_budget", "peak_tokens", "mean_tokens", "prompt_tokens", "tokens_saved", "tokens_saved_share"];

/// The cell of the oracle that stands beside a policy.
pub fn oracle_cell(figure: &Figure, totals: &Totals) -> Cell {
    let retention = &totals.retention;
    match figure.column.key {
        "references_kept_share" => Cell::share(retention.oracle, retention.of(Evidence::Line).all()),
        "references_achieved_share" => Cell::share(retention.oracle, retention.achievable),
        "broken_calls_share" => Cell::share(retention.oracle_broken_calls, totals.calls),
        key if BY_SIZE.contains(&key) => (figure.cell)(totals),
        _ => Cell::Empty,
    }
}

/// Compactions, resets included.
pub fn compactions(totals: &Totals) -> u64 {
    totals.events_of(EventKind::Compact) + totals.events_of(EventKind::Reset)
}

/// Mean context of a call, rounded to the nearest token; 0 where there was no call.
pub fn mean_tokens(totals: &Totals) -> u64 {
    (totals.prompt_tokens + totals.calls / 2).checked_div(totals.calls).unwrap_or(0)
}

/// What stands beside the recording; empty where the policy brings fewer than half of the sessions to their end.
fn compared(totals: &Totals, cell: Cell) -> Cell {
    if totals.is_comparable() { cell } else { Cell::Empty }
}

/// What could have been kept; empty where nobody asked.
fn in_hindsight(totals: &Totals, number: u64) -> Cell {
    if totals.retention.knows_hindsight() { Cell::Count(number) } else { Cell::Empty }
}
