//! What policies stand beside: the recording, and the user's own agents.

use super::asked::Baselines;
use super::document::{Better, Cell, Column, Unit};
use super::words::{counted, counted_as, dollars, first_few, grouped, percent_of, short_dollars, three_digits};
use super::{cost_figures, figures};
use crate::corpus::Corpus;
use crate::cost::{CacheKind, Check, OwnError};
use crate::experiment::{Beside, Metric, RecordedSession, Recording, Replay};
use crate::transcript::Trust;
use crate::units::signed;
use std::collections::BTreeMap;

/// The name of the recording's row.
pub const RECORDED: &str = "recorded";

/// What a row describes: the recording, or a policy.
pub enum Row<'a> {
    Recorded(&'a Recording),
    Of(&'a Replay),
}

impl Row<'_> {
    pub fn replay(&self) -> Option<&Replay> {
        if let Row::Of(replay) = self { Some(replay) } else { None }
    }
}

/// The cell of a figure for what is recorded; empty where no log has such a figure. That logs hold no refused request says nothing: most formats have no word for it.
pub fn cell(figure: &Metric, recorded: &RecordedSession) -> Cell {
    let refused = recorded.totals.refused > 0 && matches!(figure.key, "overflows" | "refused");
    if figure.in_logs || refused { figures::cell(figure, &recorded.totals) } else { Cell::Empty }
}

/// The list price of what is recorded.
pub fn cost(recorded: &RecordedSession) -> Cell {
    if recorded.is_priced() { Cell::money(recorded.nano_usd()) } else { Cell::Empty }
}

/// The share of its prompt tokens that caches read; empty where the logs tell it of less than half of them.
pub fn hit_rate(recorded: &RecordedSession) -> Cell {
    recorded.cache_reads().map_or(Cell::Empty, |(read, prompt)| Cell::share(read, prompt))
}

/// What the recorded cost leaves out, and how much of it and of the prompt tokens is estimated: said beside them where it is more than a hundredth.
pub fn gaps(corpus: &Corpus, recorded: &RecordedSession) -> Vec<String> {
    let replies = recorded.estimated_output.nano_usd;
    let (estimated, all) = (recorded.estimated_bill.nano_usd() + replies, recorded.nano_usd());
    let unpriced = (recorded.is_priced() && recorded.unpriced_calls > 0)
        .then(|| format!("{} of {} have no price", grouped(recorded.unpriced_calls), counted(recorded.totals.calls, "call")));
    let cost = (estimated * 100 > all).then(|| format!("{} of the cost", dollars(signed(estimated))));
    let (tokens, all) = (recorded.estimated_tokens, recorded.totals.prompt_tokens);
    let tokens = (tokens * 100 > all).then(|| format!("{} of the prompt tokens", percent_of(tokens, all)));
    let unrecorded = tokens.is_some() || estimated > replies;
    let parts = corpus.facts.usage_by_trust.contains_key(&Trust::Partial);
    let why = [
        unrecorded.then_some(if parts { "no usage, or of a part of the prompt alone" } else { "no usage" }),
        (cost.is_some() && replies > 0).then_some("replies whose log holds a placeholder"),
    ];
    let why = why.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let estimates: Vec<String> = tokens.into_iter().chain(cost).collect();
    let estimate = (!estimates.is_empty()).then(|| format!("{} are estimated ({why})", estimates.join(" and ")));
    let (shared, calls) = (corpus.facts.shared_calls(), recorded.totals.calls);
    let sums = (shared * 100 > calls).then(|| {
        format!(
            "{} of {} have usage as parts of a sum (the sum is recorded, their sizes are estimated)",
            grouped(shared),
            counted(calls, "call")
        )
    });
    unpriced.into_iter().chain(estimate).chain(sums).collect()
}

/// The recording's cells in the columns of cost.
pub fn costs(recorded: &RecordedSession) -> [Cell; 2] {
    [cost(recorded), hit_rate(recorded)]
}

/// What tables of policies show of a cost beside the recorded one.
pub const COST_BESIDE: Column = Column {
    meaning: "list price less that of the recorded calls, as a share of it, over the sessions that both bring to their end; the summariser's \
              requests are on neither side, the modelled cache on both where logs count none or another model is billed",
    priority: 4,
    better: Better::Less,
    ..Column::simulated("cost_vs_recorded", "cost vs re\u{ad}corded", Unit::Share)
};

/// The cell of that column; empty where nothing can be compared.
pub fn cost_beside(beside: &Beside, replay: &Replay) -> Cell {
    if replay.totals.is_comparable() { cost_share(beside) } else { Cell::Empty }
}

/// The same of one session, which is compared or not, whatever the policy does in others.
pub fn cost_share(beside: &Beside) -> Cell {
    if beside.recorded_nano_usd == 0 {
        return Cell::Empty;
    }
    Cell::Share { part: signed(beside.nano_usd) - signed(beside.recorded_nano_usd), whole: beside.recorded_nano_usd }
}

impl<'a> Baselines<'a> {
    /// The own agents' replay, before those of policies.
    pub fn with_own(&self, replays: &'a [Replay]) -> impl Iterator<Item = &'a Replay> + Clone {
        self.own.map(|own| &own.replay).into_iter().chain(replays)
    }

    /// The cost of a policy beside the recorded one; nothing where the recording is not at hand.
    pub fn cost_beside(&self, replay: &Replay, cache: CacheKind) -> Option<Cell> {
        self.recording.map(|recording| cost_beside(&recording.beside_all(replay, cache), replay))
    }

    /// What a difference between bills must exceed. `None` where nothing is modelled, and without a recorded price.
    pub fn own_error(&self, checks: Option<&BTreeMap<String, Check>>, cache: CacheKind) -> Option<OwnError> {
        let unchanged = OwnError::over(checks?.values(), cache)?;
        Some(self.recording.map_or(unchanged, |recording| recording.own_error(unchanged, self.own, cache)))
    }

    /// Which part of the sessions with a call the row of the own agents covers, and what the recording comes to there: what its figures compare with. `None`
    /// where that is all.
    pub fn covered(&self, corpus: &Corpus) -> Option<String> {
        let own = self.own.filter(|own| !own.left_out.is_empty())?;
        let all = counted(corpus.facts.called_sessions, "session");
        let there = self.recording.map(|recording| {
            let recorded = recording.over(own.agents.values().flat_map(|agent| agent.sessions.iter().copied()));
            let tokens = format!("{} tokens", three_digits(recorded.totals.prompt_tokens));
            let cost = recorded.is_priced().then(|| format!(", {}", short_dollars(signed(recorded.nano_usd()))));
            format!("; recorded: {tokens}{}", cost.unwrap_or_default())
        });
        Some(format!("`{}` covers {} of {all}{}.", own.replay.policy, grouped(own.covered), there.unwrap_or_default()))
    }

    /// What is to be said of these rows: calls whose size is estimated, sessions that are left out.
    pub fn notes(&self, corpus: &Corpus) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(recorded) = self.recording.map(|recording| &recording.sum) {
            let calls = recorded.estimated_calls;
            notes.extend((calls > 0).then(|| {
                format!(
                    "Recorded: {} of {} without recorded usage; their prompts ({} tokens) are estimated, with the recorded compactions imposed.",
                    grouped(calls),
                    counted(recorded.totals.calls, "call"),
                    grouped(recorded.estimated_tokens),
                )
            }));
        }
        let without = corpus.facts.sessions.saturating_sub(corpus.facts.called_sessions);
        notes.extend((without > 0).then(|| {
            let hold = counted_as(without, "session holds", "sessions hold");
            format!("{hold} no call of a conversation: nothing of them is replayed, compared or counted among those that are.")
        }));
        if let Some(own) = self.own {
            let agents: Vec<String> = own.left_out.iter().map(|(agent, sessions)| format!("{agent} {}", grouped(*sessions))).collect();
            notes.extend((!agents.is_empty()).then(|| {
                let covered = self.covered(corpus).unwrap_or_default();
                format!("{covered} No preset is tied to the logs of the others: {}.", first_few(&agents, NAMED))
            }));
            let imposed: u64 = own.agents.values().map(|agent| agent.imposed).sum();
            notes.extend((imposed > 0).then(|| {
                let what = if imposed == 1 { "compaction is" } else { "compactions are" };
                format!("{}: {} manual {what} imposed as recorded, and counted for no policy.", own.replay.policy, grouped(imposed))
            }));
            let unnamed: u64 = own.agents.values().map(|agent| agent.unnamed).sum();
            notes.extend((unnamed > 0).then(|| {
                format!(
                    "{}: {} whose trigger the logs do not name {} not imposed; `backtest` says how each is judged.",
                    own.replay.policy,
                    counted(unnamed, "compaction"),
                    if unnamed == 1 { "is" } else { "are" },
                )
            }));
            notes.extend(own.refused.iter().cloned());
        }
        notes
    }

    /// A row for the recording, where it is at hand.
    pub fn recorded_row(&self, figures: &[&Metric]) -> Option<Vec<Cell>> {
        let recorded = &self.recording?.sum;
        let name = std::iter::once(Cell::Name(RECORDED.to_owned()));
        let cells = figures.iter().map(|figure| cell(figure, recorded));
        Some(name.chain(cells).chain(costs(recorded)).chain([Cell::Empty]).collect())
    }

    /// The columns of cost: with that beside the recording where it is at hand.
    pub fn cost_columns(&self) -> impl Iterator<Item = Column> {
        cost_figures::COLUMNS.into_iter().chain(self.recording.map(|_| COST_BESIDE))
    }
}

/// So many agents are named.
const NAMED: usize = 5;
