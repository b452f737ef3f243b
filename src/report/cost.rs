//! `cost`: what recorded sessions cost under each policy, the model of the cache held against the recording, and whether prunes pay.

use super::asked::{Breakdown, Priced};
use super::cost_figures::hits;
use super::document::{Better, Body, Cell, Column, Provenance, Report, Section, Table, Unit};
use super::record::any::Record;
use super::record::cost::CostRecord;
use super::recording::{self, COST_BESIDE, RECORDED};
use super::title::title;
use super::words::{counted, dollars, grouped, percent};
use super::{cost_figures, notes, refetch};
use crate::cost::{Bill, CacheKind, Check, Prunes};
use crate::experiment::{BreakEven, Replay};
use crate::sim::Outcome;
use crate::statistics::median;
use std::collections::BTreeMap;

const ABOUT_CACHES: &str = "Perfect: whatever a prompt has in common with the session's request before is read from the cache, the rest \
                            costs the input price. Modelled: the provider's minimum, steps, lifetime and prices of writes hold as well. \
                            Recorded: what the modelled cache reads at a call, times what the recorded call read over what the model \
                            reads of its prompt; modelled where a log tells nothing of its cache.";

const REFUSED: &str = "Tries that a provider refuses are not billed; calls that nothing could mend are, as if they had gone through.";

/// The report on cost.
pub fn cost(priced: &Priced<'_>) -> Report {
    let mut notes = vec![ABOUT_CACHES.to_owned(), REFUSED.to_owned()];
    if priced.replays.iter().any(|replay| replay.closed.is_some()) {
        notes.push(refetch::NOTE.to_owned());
    }
    notes.extend(cost_figures::unpriced(std::iter::once(priced.unchanged).chain(priced.replays)));
    notes.extend(priced.baselines.notes(priced.corpus));
    notes.extend(cost_figures::own_error(priced.checks, priced.cache));
    notes.extend(cost_figures::estimated(priced.checks));
    notes.extend(beside(priced.checks));
    notes.extend(notes::notes(priced.corpus, priced.replays));
    let table = by_policy(priced);
    let mut sections = vec![Section { title: String::new(), body: Body::Table(table.clone()) }];
    if priced.breakdown == Breakdown::Shown {
        sections.push(Section { title: "Bills by tier".to_owned(), body: Body::Table(by_tier(priced)) });
    }
    sections.extend(refetch::sections(priced.replays, priced.cache));
    sections.push(Section {
        title: "The unchanged recording, recorded beside modelled".to_owned(),
        body: Body::Table(by_agent(priced.checks)),
    });
    sections.extend(priced.break_even.into_iter().flat_map(|found| break_even(found, priced.cache)));
    let record = Record::Cost(Box::new(CostRecord::new(priced)));
    Report { title: title(&priced.corpus.facts), command: priced.command.clone(), sections, notes, rows: table, corpus: None, record }
}

const fn money(key: &'static str, header: &'static str, meaning: &'static str, provenance: Provenance) -> Column {
    Column { meaning, better: Better::Less, ..Column::number(key, header, Unit::Money, provenance) }
}

fn share(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column { meaning, ..Column::number(key, header, Unit::Share, Provenance::Simulated) }
}

fn count(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column { meaning, priority: 2, ..Column::number(key, header, Unit::Count, Provenance::Simulated) }
}

fn by_policy(priced: &Priced<'_>) -> Table {
    use Provenance::Simulated;
    let columns = vec![
        Column::name("policy", "policy"),
        Column { priority: 3, ..count("calls", "calls", "requests, the summariser's included") },
        money("cost_usd", "cost", "list price with the chosen cache; of the recording, that of its usage", Simulated),
        money("uncached_usd", "no cache", "cost where every prompt token costs the input price", Simulated),
        money("modelled_usd", "modelled cache", "cost by the rules of the provider's cache", Simulated),
        money("calibrated_usd", "recorded cache", "the same, as far as the recorded calls got with it", Simulated),
        money("perfect_usd", "perfect cache", "cost where a cache forgets nothing", Simulated),
        share("against_none", "against none", "cost with the chosen cache less that under no policy, as a share of it"),
        COST_BESIDE,
        Column { better: Better::More, ..share("hits", "hits", "share of the prompt tokens that the chosen cache reads") },
        Column { better: Better::More, ..share("modelled_hits", "modelled hits", "the same for the modelled cache") },
        Column { better: Better::More, ..share("calibrated_hits", "recorded hits", "the same for the recorded cache") },
        Column { better: Better::More, ..share("perfect_hits", "perfect hits", "the same for the perfect cache") },
        Column {
            meaning: "prompt tokens less than recorded, over the sessions that the recording and the policy bring to their end",
            priority: 2,
            better: Better::More,
            ..Column::number("tokens_saved", "tokens saved", Unit::Tokens, Simulated)
        },
        Column {
            priority: 2,
            ..money("summariser_usd", "summa\u{ad}riser", "cost of the summariser's own calls, with the chosen cache", Simulated)
        },
        count("summariser_calls", "summa\u{ad}riser calls", "how many they are"),
        Column {
            better: Better::Less,
            ..count("refused", "refused tries", "calls wasted on prompts that the provider would have refused")
        },
    ];
    let none = priced.unchanged.bill.with(priced.cache).nano_usd();
    let row = |replay: &Replay| {
        let (bill, totals) = (&replay.bill, &replay.totals);
        let chosen = bill.with(priced.cache);
        let cost = |bill: &Bill| cost_figures::cost(&replay.bill, bill.nano_usd());
        let change =
            |from: u64| if from == 0 { Cell::Empty } else { Cell::Share { part: signed(chosen.nano_usd()) - signed(from), whole: from } };
        vec![
            Cell::Name(replay.policy.clone()),
            Cell::Count(bill.calls),
            cost(chosen),
            cost(&bill.uncached),
            cost(&bill.modelled),
            cost(&bill.calibrated),
            cost(&bill.perfect),
            change(none),
            priced.baselines.cost_beside(replay, priced.cache).unwrap_or(Cell::Empty),
            hits(chosen),
            hits(&bill.modelled),
            hits(&bill.calibrated),
            hits(&bill.perfect),
            if totals.is_comparable() { Cell::SignedTokens(totals.tokens_saved()) } else { Cell::Empty },
            cost_figures::cost(bill, chosen.summariser.nano_usd),
            Cell::Count(totals.summariser_calls),
            Cell::Count(totals.refused),
        ]
    };
    let recorded = priced.baselines.recording.map(|recording| {
        let [cost, hits] = recording::costs(&recording.sum);
        let known = [
            ("policy", Cell::Name(RECORDED.to_owned())),
            ("calls", Cell::Count(recording.sum.totals.calls)),
            ("cost_usd", cost),
            ("hits", hits),
        ];
        let cell = |column: &Column| known.iter().find(|(key, _)| *key == column.key).map_or(Cell::Empty, |(_, cell)| cell.clone());
        columns.iter().map(cell).collect()
    });
    let rows = recorded.into_iter().chain(priced.baselines.with_own(priced.replays).map(row)).collect();
    Table { labels: 1, columns, rows }
}

fn by_tier(priced: &Priced<'_>) -> Table {
    let columns = vec![
        Column::name("policy", "policy"),
        Column::name("tier", "tier"),
        Column::number("tokens", "tokens", Unit::Tokens, Provenance::Simulated),
        money("cost_usd", "cost", "", Provenance::Simulated),
        Column::number("share", "of the bill", Unit::Share, Provenance::Simulated),
    ];
    let rows = priced.replays.iter().flat_map(|replay| {
        let bill = replay.bill.with(priced.cache);
        let whole = bill.nano_usd();
        let used = bill.tiers().into_iter().filter(|(_, charge)| charge.tokens > 0);
        let all = bill.tiers().iter().map(|(_, charge)| charge.tokens).sum();
        let sums = used.map(|(name, charge)| (name, charge.tokens, charge.nano_usd)).chain([("all", all, whole)]);
        let refused: u64 = replay.outcomes.iter().flat_map(Outcome::requests).map(|call| call.refused_tokens).sum();
        let refused = (refused > 0).then_some(("refused, not billed", refused, 0));
        sums.chain(refused)
            .map(|(name, tokens, nano)| {
                let name = [Cell::Name(replay.policy.clone()), Cell::Name(name.to_owned())];
                let figures = [Cell::Tokens(tokens), cost_figures::cost(&replay.bill, nano), Cell::share(nano, whole)];
                name.into_iter().chain(figures).collect()
            })
            .collect::<Vec<_>>()
    });
    Table { labels: 2, columns, rows: rows.collect() }
}

fn by_agent(checks: &BTreeMap<String, Check>) -> Table {
    use Provenance::{Recorded, Simulated};
    let tokens = |key, header, provenance| Column::number(key, header, Unit::Tokens, provenance);
    let error = |key, header| Column { meaning: "modelled less recorded, as a share of the recorded", ..share(key, header, "") };
    let columns = vec![
        Column::name("agent", "agent"),
        Column::number("calls", "calls", Unit::Count, Recorded),
        tokens("recorded_read_tokens", "cache reads, recorded", Recorded),
        tokens("modelled_read_tokens", "modelled", Simulated),
        error("read_error", "error of reads"),
        tokens("recorded_write_tokens", "cache writes, recorded", Recorded),
        tokens("modelled_write_tokens", "modelled writes", Simulated),
        error("write_error", "error of writes"),
        money("logged_usd", "cost in the log", "what logs say that their calls cost", Recorded),
        money("logged_list_usd", "their list price", "the recorded usage of these calls at list prices", Recorded),
        money(
            "recorded_usd",
            "all at list price",
            "the recorded usage of all calls at list prices, replies by estimate where the log holds a placeholder",
            Recorded,
        ),
        money("modelled_usd", "all, modelled", "all calls with the modelled cache at list prices", Simulated),
        error("cost_error", "error of cost"),
        money("held_out_usd", "all, recorded cache", "all calls with factors of every second call, itself not among them", Simulated),
        error("held_out_error", "its error"),
    ];
    let row = |(agent, check): (&String, &Check)| {
        let written = |bill: &Bill| bill.cache_write.tokens + bill.cache_write_1h.tokens;
        let (recorded, modelled) = (&check.recorded, &check.modelled);
        let priced = check.calls > check.unpriced_calls;
        let cost = |nano: u64| if priced { Cell::money(nano) } else { Cell::Empty };
        let logged = |nano: u64| if check.logged_calls > 0 { cost(nano) } else { Cell::Empty };
        let in_log = if check.logged_calls > 0 { Cell::money(check.logged_nano_usd) } else { Cell::Empty };
        vec![
            Cell::Text(agent.clone()),
            Cell::Count(check.calls),
            Cell::Tokens(recorded.cache_read.tokens),
            Cell::Tokens(modelled.cache_read.tokens),
            apart(modelled.cache_read.tokens, recorded.cache_read.tokens),
            Cell::Tokens(written(recorded)),
            Cell::Tokens(written(modelled)),
            apart(written(modelled), written(recorded)),
            in_log,
            logged(check.logged_list_nano_usd),
            cost(recorded.nano_usd()),
            cost(modelled.nano_usd()),
            if priced { apart(modelled.nano_usd(), recorded.nano_usd()) } else { Cell::Empty },
            cost(check.held_out.nano_usd()),
            if priced { apart(check.held_out.nano_usd(), recorded.nano_usd()) } else { Cell::Empty },
        ]
    };
    Table { labels: 1, columns, rows: checks.iter().filter(|(_, check)| check.calls > 0).map(row).collect() }
}

fn apart(modelled: u64, recorded: u64) -> Cell {
    if recorded == 0 { Cell::Empty } else { Cell::Share { part: signed(modelled) - signed(recorded), whole: recorded } }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// What logs show beside the conversations.
fn beside(checks: &BTreeMap<String, Check>) -> Option<String> {
    let calls: u64 = checks.values().map(|check| check.side_calls).sum();
    let cost: u64 = checks.values().map(|check| check.side_logged_nano_usd).sum();
    let logged = if cost > 0 { format!(" (the logs say that they cost {})", dollars(signed(cost))) } else { String::new() };
    let are = if calls == 1 { "is" } else { "are" };
    (calls > 0).then(|| format!("{} beside the conversations {are} in no cost above{logged}.", counted(calls, "recorded call")))
}

fn break_even(found: &BreakEven, cache: CacheKind) -> [Section; 2] {
    let columns = vec![
        Column::number("minimum", "minimum", Unit::Tokens, Provenance::Simulated),
        Column {
            meaning: "how often old items were replaced by placeholders; where that holds for one request alone, it counts at each",
            ..Column::number("prunes", "prunes", Unit::Count, Provenance::Simulated)
        },
        Column::number("tokens_saved", "tokens saved", Unit::Tokens, Provenance::Simulated),
        Column::number("hits", "hits", Unit::Share, Provenance::Simulated),
        money("cost_usd", "cost", "", Provenance::Simulated),
    ];
    let prune = crate::sim::EventKind::Prune;
    let rows = found.tried.iter().map(|(minimum, replay)| {
        let bill = replay.bill.with(cache);
        vec![
            Cell::Tokens(*minimum),
            Cell::Count(replay.totals.events_of(prune)),
            Cell::SignedTokens(replay.totals.tokens_saved()),
            hits(bill),
            cost_figures::cost(&replay.bill, bill.nano_usd()),
        ]
    });
    let table = Table { labels: 1, columns, rows: rows.collect() };
    let title = format!("Where {} of {} should stand", found.param, found.policy);
    let measured = Section { title, body: Body::Table(table) };
    [measured, Section { title: String::new(), body: Body::Lines(sentences(found, cache)) }]
}

fn sentences(found: &BreakEven, cache: CacheKind) -> Vec<String> {
    let Prunes { all, .. } = &found.prunes;
    let value = found.value.map_or_else(String::new, |value| format!(" (its value: {})", grouped(value)));
    if all.is_empty() {
        return vec![format!("The policy as it stands{value} prunes nothing here: there is nothing to predict from.")];
    }
    let count = all.len() as u64;
    let mean = |sum: u64| grouped((sum + count / 2) / count);
    let paid = all.iter().filter(|prune| prune.pays()).count() as i64;
    let wait = median(all.iter().filter_map(crate::cost::Prune::calls_to_pay).collect());
    let wait = wait.map_or_else(|| "never".to_owned(), |calls| format!("after {} (median)", counted(calls, "call")));
    let first = format!(
        "Under the policy as it stands{value}: {} that took out more than the call before had lacked, each of {} tokens and with {} tokens behind them to be written anew (means). \
         Breaking the cache cost {}, a call without the pruned tokens saves {}; a prune has paid {wait}, and {} of them pay before the \
         session ends.",
        counted(count, "prune"),
        mean(all.iter().map(|prune| prune.removed).sum()),
        mean(all.iter().map(|prune| prune.rewritten).sum()),
        dollars(signed(all.iter().map(|prune| prune.cost_nano_usd).sum())),
        dollars(signed(all.iter().map(|prune| prune.saving_nano_usd).sum())),
        percent(paid, count),
    );
    let predicted = found.prunes.best_size().map_or_else(|| "none, for reads cost nothing".to_owned(), grouped);
    let measured = found.measured_best(cache).map_or_else(|| "none, for no price is known".to_owned(), grouped);
    vec![first, format!("Predicted best minimum: {predicted} tokens. Measured best of those tried: {measured} tokens.")]
}
