//! What sessions and policies are measured by: one table, one row per measure. Columns of tables and spreadsheets, fields of documents, what sweeps
//! seek, what gates limit and the glossary of a page are made from it.

use super::row::Better::{Less, More, Neither};
use super::row::Known::{Called, Compared, Hindsight};
use super::row::KnownFrom::{Bill, ClosedLoop};
use super::row::Of::Difference;
use super::row::Provenance::{Estimated, Recorded};
use super::row::Stands::{Always, Spreadsheets, WhereItTells};
use super::row::{KnownFrom, Metric, Part, Unit, charge, count, metric, share, tokens};
use crate::list::Arrange;
use crate::sim::{EventKind, Fates, Totals};
use crate::trace::Evidence;
use crate::units::signed;
use std::sync::LazyLock;

/// The meaning of columns of list prices.
pub const LIST_PRICE: &str = "list price of all calls, the summariser's included, with the cache that was asked for";

/// All measures. What people read in tables stands in the order of their columns, what documents hold in the order of their fields.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    count("calls", "calls", "requests that the provider answers", |totals| totals.calls)
        .table(1, Neither).field(Part::Calls).from(Recorded).judged().by_size().in_logs(),
    count("overflows", "over\u{ad}flows", "calls whose prompt the provider would have refused", |totals| totals.overflows)
        .table(1, Less).field(Part::Calls).judged().of_failures().share_of("calls").by_size(),
    count("recovered", "recovered", "overflows after which the policy's fallback brought the call through", |totals| totals.recovered)
        .spreadsheets().field(Part::Calls),
    count("refused", "refused tries", "tries that the provider would have refused", |totals| totals.refused)
        .spreadsheets().field(Part::Calls).judged().of_failures(),
    count("reply_cut", "reply cut", "calls whose prompt and reply together exceed the window", |totals| totals.reply_cut)
        .table(1, Less).field(Part::Calls).judged().share_of("calls").by_size(),
    count("over_budget", "over budget", "calls above the window less the policy's output reserve", |totals| totals.over_budget)
        .table(1, Less).field(Part::Calls).judged().share_of("calls").by_size(),
    count("missed", "missed", "overflows at which the policy's estimate was within its limit", |totals| totals.missed)
        .table(1, Less).field(Part::Calls).judged(),
    count("early", "early", "shrinkings below the policy's own limit by more than its safety buffer", |totals| totals.early)
        .table(2, Less).field(Part::Calls).judged(),
    count("truncations", "trunca\u{ad}tions", "outputs cut short as they arrive, and times that a rule cut older ones",
        |totals| totals.events_of(EventKind::Truncate))
        .table(2, Neither).where_it_tells().judged(),
    count("prunes", "prunes", "how often old items were replaced by placeholders", |totals| totals.events_of(EventKind::Prune))
        .table(2, Neither).field(Part::Calls).judged().in_logs(),
    count("compactions", "compac\u{ad}tions", "messages replaced by a summary, resets included", compactions)
        .table(2, Neither).field(Part::Calls).judged().in_logs(),
    count("compactions_without_gain", "compac\u{ad}tions without gain",
        "compactions that free less than 5 % of the context, and rules for compacting that fire without effect",
        |totals| totals.compactions_without_gain)
        .table(2, Less).where_it_tells().field(Part::Calls).judged().share_of("compactions"),
    count("drops", "drops", "messages removed", |totals| totals.events_of(EventKind::Drop))
        .table(2, Neither).judged(),
    count("sessions", "sessions", "sessions that are replayed", |totals| totals.sessions)
        .judged().of_failures(),
    count("overflowing_sessions", "overflowing sessions", "sessions with an overflow", |totals| totals.overflowing_sessions)
        .field(Part::Sessions),
    count("failed_sessions", "failed sessions", "sessions that end at a refused call; what follows counts in no figure",
        |totals| totals.failed_sessions)
        .table(1, Less).field(Part::Sessions).judged().of_failures().in_logs(),
    tokens("peak_tokens", "peak context", "the largest context that a call was tried with", |totals| totals.peak_tokens)
        .table(3, Less).field(Part::Tokens).judged().largest().by_size().in_logs(),
    tokens("mean_tokens", "mean context", "prompt tokens over calls", mean_tokens)
        .table(3, Less).field(Part::Tokens).known(Called).by_size().in_logs(),
    tokens("prompt_tokens", "prompt tokens", "the contexts of all calls, summed", |totals| totals.prompt_tokens)
        .table(3, Less).field(Part::Tokens).judged().by_size().in_logs(),
    tokens("tokens", "tokens", "prompt tokens, and those of the summariser's own calls", |totals| totals.prompt_tokens + totals.summariser_tokens)
        .judged(),
    tokens("baseline_tokens", "baseline tokens", "prompt tokens of the same calls with nothing removed, those among them that a provider would refuse", |totals| totals.baseline_tokens)
        .spreadsheets().field(Part::Tokens).from(Estimated).judged(),
    count("compared_sessions", "compared sessions",
        "sessions that the recording and the policy bring to their end: what is saved is over these", |totals| totals.compared_sessions)
        .spreadsheets().field(Part::Tokens),
    tokens("compared_tokens", "compared tokens", "their prompt tokens under the policy", |totals| totals.compared_tokens)
        .field(Part::Tokens),
    tokens("recorded_tokens", "recorded tokens", "their prompt tokens as recorded", |totals| totals.recorded_tokens)
        .field(Part::Tokens).from(Recorded).judged(),
    metric("tokens_saved", "tokens saved",
        "prompt tokens less than recorded, over the sessions that the recording and the policy bring to their end",
        Unit::Tokens, Difference(Totals::tokens_saved))
        .table(3, More).field(Part::Tokens).known(Compared).judged().share_of("recorded_tokens").by_size(),
    share("tokens_saved_share", "saved", "the same as a share of the recorded tokens", |totals| (totals.tokens_saved(), totals.recorded_tokens))
        .table(1, More).field(Part::Tokens).known(Compared).by_size(),
    share("vs_recorded", "vs recorded", "prompt tokens more than recorded, as a share of the recorded ones",
        |totals| (0_i64.saturating_sub(totals.tokens_saved()), totals.recorded_tokens))
        .spreadsheets().field(Part::Tokens).known(Compared),
    metric("saved_vs_none", "saved against none", "prompt tokens less than the same calls with nothing removed, refused ones among them", Unit::Tokens, Difference(Totals::saved_vs_none))
        .field(Part::Tokens),
    share("saved_vs_none_share", "saved against none", "the same as a share", |totals| (totals.saved_vs_none(), totals.baseline_tokens))
        .field(Part::Tokens),
    tokens("output_tokens", "output tokens", "the replies, summed", |totals| totals.output_tokens)
        .spreadsheets().field(Part::Tokens).from(Estimated).in_logs(),
    tokens("summariser_tokens", "summa\u{ad}riser tokens", "prompts and replies of the summariser's own calls", |totals| totals.summariser_tokens)
        .table(3, Less).field(Part::Tokens).judged().in_logs(),
    count("summariser_calls", "summariser calls", "the summariser's own calls", |totals| totals.summariser_calls)
        .spreadsheets().field(Part::Tokens).in_logs(),
    tokens("injected_tokens", "injected tokens", "tokens that the policy put in", |totals| totals.injected_tokens)
        .spreadsheets().field(Part::Tokens),
    share("references_kept_share", "reused text kept", "lines that a reply repeats and that were still in the context",
        |totals| of_counts(lines(totals).kept, lines(totals).all()))
        .table(3, More),
    share("references_achieved_share", "of best possible",
        "reused text kept, as a share of the most that contexts of the same sizes can keep",
        |totals| of_counts(lines(totals).kept, totals.retention.achievable))
        .table(3, More).where_it_tells(),
    share("broken_calls_share", "calls with lost lines", "calls whose reply repeats lines that were no longer in the context",
        |totals| of_counts(totals.retention.broken_calls, totals.calls))
        .table(3, Less),
    share("anchored_share", "an\u{ad}chored", "share of the prompt tokens that rests on recorded usage",
        |totals| of_counts(totals.anchored_tokens, totals.prompt_tokens))
        .table(3, Neither).field(Part::Tokens).in_logs(),
    count("line_references", "line references", "times that a reply repeats lines of one source", |totals| lines(totals).all())
        .spreadsheets().judged(),
    count("kept_lines", "line references kept", "of them, those whose lines were still in the context", |totals| lines(totals).kept)
        .spreadsheets().field(Part::Retention).judged().share_of("line_references"),
    count("lost_lines", "line references lost", "of them, those whose lines were no longer in the context", |totals| lines(totals).broken())
        .spreadsheets().field(Part::Retention).judged().share_of("line_references"),
    count("identifier_references", "identifier references", "times that a reply repeats names of one source", |totals| names(totals).all())
        .spreadsheets(),
    count("identifier_references_broken", "identifier references lost", "of them, those whose names were no longer in the context",
        |totals| names(totals).broken())
        .spreadsheets(),
    count("broken_calls", "calls with lost lines", "calls whose reply repeats lines that were no longer in the context", |totals| totals.retention.broken_calls)
        .spreadsheets().field(Part::Retention),
    count("line_references_oracle", "oracle", "line references that the oracle keeps in contexts of the same sizes",
        |totals| totals.retention.oracle)
        .spreadsheets().field(Part::Retention).known(Hindsight),
    count("oracle_broken_calls", "oracle, calls broken", "calls with one that it does not keep", |totals| totals.retention.oracle_broken_calls)
        .field(Part::Retention).known(Hindsight),
    count("line_references_achievable", "best possible", "the most line references that contexts of the same sizes can keep",
        |totals| totals.retention.achievable)
        .spreadsheets().field(Part::Retention).known(Hindsight),
    tokens("carried_tokens", "carried tokens", "recorded content in the contexts, summed over calls", |totals| totals.retention.carried_tokens)
        .field(Part::Retention),
    tokens("needed_tokens", "needed tokens", "what of it must be carried at least to keep 99 % of the reused lines",
        |totals| totals.retention.needed_tokens)
        .field(Part::Retention),
    tokens("dead_tokens", "dead weight", "results that something later in the context shows again, summed over calls",
        |totals| totals.retention.dead_tokens)
        .spreadsheets().field(Part::Retention),
    charge("cost", "cost", Unit::Money, Bill, |charges| charges.nano_usd).judged().says(LIST_PRICE),
    charge("net_cost", "net cost", Unit::Money, ClosedLoop, |charges| charges.net_nano_usd).judged()
        .says("the same where the agent reads again what it needs and the policy has removed"),
    charge("net_failed_sessions", "net failed sessions", Unit::Count, ClosedLoop, |charges| charges.net_failed_sessions)
        .judged().of_failures().says("failed sessions where the agent reads again what it needs"),
    charge("cache_read_tokens", "cache reads", Unit::Tokens, Bill, |charges| charges.cache_read)
        .judged().share_of("billed_prompt_tokens").says("prompt tokens that the cache reads, the summariser's left out"),
    charge("billed_prompt_tokens", "billed prompt tokens", Unit::Tokens, Bill, |charges| charges.prompt_tokens)
        .judged().says("prompt tokens of the answered calls, the summariser's left out"),
];

/// The order in which measures are named, and kept in baselines. Those that do not stand here come behind.
const NAMES: [&str; 28] = [
    "tokens",
    "prompt_tokens",
    "summariser_tokens",
    "tokens_saved",
    "overflows",
    "reply_cut",
    "over_budget",
    "missed",
    "early",
    "refused",
    "prunes",
    "compactions",
    "drops",
    "truncations",
    "failed_sessions",
    "lost_lines",
    "kept_lines",
    "line_references",
    "calls",
    "sessions",
    "recorded_tokens",
    "baseline_tokens",
    "cost",
    "net_cost",
    "net_failed_sessions",
    "cache_read_tokens",
    "billed_prompt_tokens",
    "peak_tokens",
];

/// The order of the columns that spreadsheets have beside those of tables. Those that do not stand here come behind.
const FURTHER: [&str; 17] = [
    "vs_recorded",
    "compared_sessions",
    "recovered",
    "refused",
    "baseline_tokens",
    "output_tokens",
    "summariser_calls",
    "line_references",
    "kept_lines",
    "lost_lines",
    "identifier_references",
    "identifier_references_broken",
    "broken_calls",
    "line_references_achievable",
    "line_references_oracle",
    "dead_tokens",
    "injected_tokens",
];

/// The metrics that settings are judged by, in the order of names.
pub fn judged_by() -> &'static [&'static Metric] {
    static JUDGED_BY: LazyLock<Vec<&Metric>> = LazyLock::new(|| {
        let mut named: Vec<&Metric> = METRICS.iter().filter(|metric| metric.judged).collect();
        named.arrange_by_key(|metric| place(&NAMES, metric.key));
        named
    });
    &JUDGED_BY
}

/// What is bad wherever it is more than none, and known without a bill: what a run may fail on.
pub fn findings() -> impl Iterator<Item = &'static Metric> {
    let is_bad = |metric: &&Metric| metric.unit == Unit::Count && metric.better == Less && metric.known_from == KnownFrom::Replay;
    judged_by().iter().copied().filter(is_bad)
}

/// The measure of this key; `None` where there is none.
pub fn metric_of(key: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.key == key)
}

/// What stands in tables for people, in their order.
pub fn in_tables() -> impl Iterator<Item = &'static Metric> + Clone {
    METRICS.iter().filter(|metric| matches!(metric.stands, Always | WhereItTells))
}

/// What stands in spreadsheets: the same, and what else is told.
pub fn in_spreadsheets() -> impl Iterator<Item = &'static Metric> + Clone {
    let mut further: Vec<&Metric> = METRICS.iter().filter(|metric| metric.stands == Spreadsheets).collect();
    further.arrange_by_key(|metric| place(&FURTHER, metric.key));
    in_tables().chain(further)
}

fn place(order: &[&str], name: &str) -> usize {
    order.iter().position(|known| *known == name).unwrap_or(order.len())
}

/// Compactions of a policy or a recording, resets included.
pub fn compactions(totals: &Totals) -> u64 {
    totals.events_of(EventKind::Compact) + totals.events_of(EventKind::Reset)
}

/// Mean context of a call, rounded to the nearest token; 0 where there was no call.
fn mean_tokens(totals: &Totals) -> u64 {
    (totals.prompt_tokens + totals.calls / 2).checked_div(totals.calls).unwrap_or(0)
}

fn lines(totals: &Totals) -> Fates {
    totals.retention.of(Evidence::Line)
}

fn names(totals: &Totals) -> Fates {
    totals.retention.of(Evidence::Identifier)
}

fn of_counts(part: u64, whole: u64) -> (i64, u64) {
    (signed(part), whole)
}
