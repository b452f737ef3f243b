//! `cost`: what recorded sessions cost under each policy, the model of the cache held against the recording, and whether prunes pay.

use super::asked::Priced;
use super::calibration::calibration;
use super::cost_figures::hits;
use super::document::{Better, Cell, Column, Fields, Provenance, Report, Screen, Section, Table, Unit};
use super::record::cost::CostRecord;
use super::recording::{self, COST_BESIDE, RECORDED, Row};
use super::words::{counted, dollars, grouped, percent};
use super::{answer, cautions, cost_figures, finding, notes, refetch, uncached};
use crate::cost::{Bill, Bills, CacheKind, Check, Prunes};
use crate::experiment::{BreakEven, Replay};
use crate::sim::EventKind;
use crate::statistics::median;
use crate::units::signed;
use std::collections::BTreeMap;

const ABOUT_CACHES: &str = "Perfect: whatever a prompt has in common with the session's request before is read from the cache, the rest \
                            costs the input price. Modelled: the provider's minimum, steps, lifetime and prices of writes hold as well. \
                            Recorded: what the modelled cache reads at a call, times what the recorded call read over what the model \
                            reads of its prompt; modelled where a log tells nothing of its cache.";

const REFUSED: &str = "Tries that a provider refuses are not billed. A failed session is billed up to the call at which it fails.";

/// The report on cost.
pub fn cost(priced: &Priced<'_>) -> Report {
    let mut notes = vec![ABOUT_CACHES.to_owned(), REFUSED.to_owned()];
    if priced.replays.iter().any(|replay| replay.closed.is_some()) {
        notes.push(refetch::NOTE.to_owned());
    }
    notes.extend(cost_figures::unpriced(std::iter::once(priced.unchanged).chain(priced.replays)));
    notes.extend(priced.baselines.notes(priced.corpus));
    notes.extend(cost_figures::own_error(priced.checks, &priced.baselines, priced.cache, true));
    notes.extend(cost_figures::estimated(priced.checks.values().map(|check| check.estimated_output)));
    let logged = logged(priced.checks);
    notes.extend(beside(priced.checks).into_iter().chain(logged.clone()));
    notes.extend(priced.replays.iter().filter_map(|replay| cost_figures::at_end(&replay.policy, replay.bill.with(priced.cache))));
    notes.extend(notes::notes(priced.corpus, priced.replays));
    let table = by_policy(priced);
    let check = calibration(&priced.corpus.facts, Some(priced.checks), priced.cache, priced.predicted);
    let shown = with_signs(table.clone());
    let mut sections = vec![Section::lines(vec![check]), shown.clone().titled("")];
    if priced.breakdown {
        sections.push(by_tier(priced).titled("Bills by tier"));
    }
    sections.extend(refetch::sections(priced.replays, priced.cache));
    sections.push(by_agent(priced.checks).titled("The unchanged recording, recorded beside modelled"));
    sections.extend(priced.break_even.into_iter().flat_map(|found| break_even(found, priced.cache)));
    let gaps = priced.baselines.recording.map(|recording| recording::gaps(priced.corpus, &recording.sum)).filter(|gaps| !gaps.is_empty());
    let gaps = gaps.map(|gaps| format!("Of the row `recorded` {}.", gaps.join("; ")));
    let own_error = cost_figures::own_error(priced.checks, &priced.baselines, priced.cache, false);
    let caution = cautions::without_overhead(priced.corpus).map(|caution| format!("! {caution}"));
    let uncached = uncached::in_brief(priced.corpus).map(|sessions| format!("! {sessions}."));
    let is_priced = priced.replays.iter().chain([priced.unchanged]).any(|replay| replay.bill.is_priced());
    let unpriced = cost_figures::unpriced(std::iter::once(priced.unchanged).chain(priced.replays)).filter(|_| !is_priced);
    let first = unpriced.unwrap_or_else(|| summarisers(priced));
    // What costs suppose, and the caution, stay.
    // A title now and then is no news.
    let tokens = |of: fn(&Check) -> u64| priced.checks.values().map(of).sum::<u64>();
    let is_told = tokens(|check| check.side_prompt_tokens) * 100 > tokens(|check| check.recorded.prompt_tokens());
    let beside = beside(priced.checks).filter(|_| is_told);
    let spare: Vec<String> = beside.iter().chain(&gaps).chain(&own_error).chain(&logged).cloned().collect();
    let title = if is_priced { "List prices, recorded and simulated" } else { "Recorded and simulated, without prices" };
    // What was asked for stands in place of the table of policies, and of what is said of its rows.
    let bills = priced.breakdown.then(|| by_tier(priced).titled("Bills by tier, simulated"));
    let asked = priced.break_even.into_iter().flat_map(|found| break_even(found, priced.cache)).chain(bills);
    let mut brief: Vec<Section> = asked.collect();
    let of_rows = brief
        .is_empty()
        .then(|| priced.baselines.covered(priced.corpus).into_iter().chain([first]).chain(beside).chain(gaps).chain(logged));
    let trust: Vec<String> = of_rows.into_iter().flatten().chain(own_error).chain(uncached).chain(caution).collect();
    if brief.is_empty() {
        brief.push(shown.titled(title));
    }
    brief.extend((!trust.is_empty()).then(|| Section::lines(trust)));
    let record = CostRecord::new(priced);
    let (sections, screen) = match answer::no_calls(priced.corpus) {
        None => (sections, Screen { sections: brief, spare, ..Screen::default() }),
        Some(sentence) => {
            (vec![Section::lines(vec![sentence.clone()])], Screen { sections: vec![Section::lines(vec![sentence])], ..Screen::default() })
        }
    };
    Report { corpus: None, screen: Some(screen), ..Report::over(&priced.corpus.facts, sections, notes, table, record) }
}

/// What logs say that their calls cost beside the list price of the recorded usage; `None` where they lie within 5 %.
fn logged(checks: &BTreeMap<String, Check>) -> Option<String> {
    let told = checks.values().filter(|check| check.logged_calls > 0 && check.logged_unpriced_calls == 0);
    let [calls, logged, list] = told.fold([0; 3], |[calls, logged, list], check| {
        [calls + check.logged_calls, logged + check.logged_nano_usd, list + check.logged_list_nano_usd]
    });
    (logged > 0 && logged.abs_diff(list) * 20 > logged).then(|| {
        let (logged, list, more) = (dollars(signed(logged)), dollars(signed(list)), finding::share(list as f64 / logged as f64 - 1.0));
        format!("Logs name {logged} for {} whose list price is {list} ({more}): their prices or counts differ.", counted(calls, "call"))
    })
}

/// What costs suppose, and which part of them is the summarisers'.
fn summarisers(priced: &Priced<'_>) -> String {
    match answer::summarisers(priced.baselines.with_own(priced.replays), priced.cache) {
        None => "Costs hold if runs stay as long.".to_owned(),
        Some(range) => {
            let column = COST_BESIDE.header.replace('\u{ad}', "");
            format!("Costs hold if runs stay as long; `{column}` leaves out summarisers, which take {range} of them.")
        }
    }
}

const fn money(key: &'static str, header: &'static str, meaning: &'static str, provenance: Provenance) -> Column {
    Column::number(key, header, Unit::Money, provenance).says(meaning).better(Better::Less).priority(2)
}

const fn share(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column::simulated(key, header, Unit::Share).says(meaning).priority(3)
}

const fn count(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column::simulated(key, header, Unit::Count).says(meaning).priority(2)
}

/// The same with a sign before each difference, for people.
fn with_signs(mut table: Table) -> Table {
    let place = table.columns.iter().position(|column| column.key == COST_BESIDE.key);
    for cell in table.rows.iter_mut().filter_map(|row| row.get_mut(place?)) {
        *cell = answer::signed(std::mem::replace(cell, Cell::Empty));
    }
    table
}

fn by_policy(priced: &Priced<'_>) -> Table {
    use Provenance::Simulated;
    let cache = priced.cache;
    // What the recording has no figure for is empty.
    let of = |cell: fn(&Replay, &Bill) -> Cell, bill: fn(&Bills, CacheKind) -> &Bill| {
        move |row: &Row<'_>| match row {
            Row::Of(replay) if replay.compares() => cell(replay, bill(&replay.bill, cache)),
            Row::Of(_) | Row::Recorded(_) => Cell::Empty,
        }
    };
    let cost = |bill: fn(&Bills, CacheKind) -> &Bill| of(|replay, bill| cost_figures::cost(&replay.bill, bill.nano_usd()), bill);
    let read = |bill: fn(&Bills, CacheKind) -> &Bill| of(|_, bill| hits(bill), bill);
    let told = |cell: fn(&Replay, &Bill) -> Cell| of(cell, Bills::with);
    let failed = count("failed_sessions", "failed sessions", "sessions that end at a refused call").better(Better::Less).priority(0);
    let calls = count("calls", "calls", "requests, the summariser's included").priority(3);
    let saved = Column::number("tokens_saved", "tokens saved", Unit::Tokens, Simulated)
        .says("prompt tokens less than recorded, over the sessions that the recording and the policy bring to their end")
        .better(Better::More)
        .priority(2);
    let summariser =
        money("summariser_usd", "summa\u{ad}riser", "cost of the summariser's own calls, with the chosen cache", Simulated).priority(2);
    let refused = count("refused", "refused tries", "calls wasted on prompts that the provider would have refused").better(Better::Less);
    let rows = priced.baselines.recording.map(Row::Recorded).into_iter();
    let is_closed = priced.replays.iter().any(|replay| replay.closed.is_some());
    let again = if is_closed { refetch::columns(cache, Row::replay) } else { Fields::new() };
    Fields::<Row<'_>>::new()
        .with(Column::name("policy", "policy"), |row| match row {
            Row::Recorded(_) => Cell::name(RECORDED),
            Row::Of(replay) => Cell::name(&replay.policy),
        })
        .with(failed, |row| match row {
            Row::Recorded(recording) => Cell::Count(recording.sum.totals.failed_sessions),
            Row::Of(replay) => Cell::Count(replay.totals.failed_sessions),
        })
        .with(calls, |row| match row {
            Row::Recorded(recording) => Cell::Count(recording.sum.totals.calls),
            Row::Of(replay) => Cell::Count(replay.bill.calls),
        })
        .with(
            money("cost", "cost", "list price with the chosen cache; of the recording, that of its usage", Simulated).priority(1),
            move |row| match row {
                Row::Recorded(recording) => recording::cost(&recording.sum),
                Row::Of(_) => cost(Bills::with)(row),
            },
        )
        .and(again)
        .with(
            money("uncached_usd", "no cache", "cost where every prompt token costs the input price", Simulated),
            cost(|bills, _| &bills.uncached),
        )
        .with(
            money("modelled_usd", "modelled cache", "cost by the rules of the provider's cache", Simulated),
            cost(|bills, _| &bills.modelled),
        )
        .with(
            money("calibrated_usd", "recorded cache", "the same, as far as the recorded calls got with it", Simulated),
            cost(|bills, _| &bills.calibrated),
        )
        .with(money("perfect_usd", "perfect cache", "cost where a cache forgets nothing", Simulated), cost(|bills, _| &bills.perfect))
        .with(COST_BESIDE.priority(1), |row| match row {
            Row::Of(replay) if replay.compares() => priced.baselines.cost_beside(replay, cache).unwrap_or(Cell::Empty),
            Row::Of(_) | Row::Recorded(_) => Cell::Empty,
        })
        .with(
            share("hits", "hits", "share of the prompt tokens that the chosen cache reads").better(Better::More).priority(1),
            move |row| match row {
                Row::Recorded(recording) => recording::hit_rate(&recording.sum),
                Row::Of(_) => read(Bills::with)(row),
            },
        )
        .with(
            share("modelled_hits", "modelled hits", "the same for the modelled cache").better(Better::More),
            read(|bills, _| &bills.modelled),
        )
        .with(
            share("calibrated_hits", "recorded hits", "the same for the recorded cache").better(Better::More),
            read(|bills, _| &bills.calibrated),
        )
        .with(share("perfect_hits", "perfect hits", "the same for the perfect cache").better(Better::More), read(|bills, _| &bills.perfect))
        .with(
            saved,
            told(|Replay { totals, .. }, _| if totals.is_comparable() { Cell::SignedTokens(totals.tokens_saved()) } else { Cell::Empty }),
        )
        .with(summariser, told(|replay, chosen| cost_figures::cost(&replay.bill, chosen.summariser.nano_usd)))
        .with(
            count("summariser_calls", "summa\u{ad}riser calls", "how many they are"),
            told(|replay, _| Cell::Count(replay.totals.summariser_calls)),
        )
        .with(refused, told(|replay, _| Cell::Count(replay.totals.refused)))
        .table(1, rows.chain(priced.baselines.with_own(priced.replays).map(Row::Of)))
}

fn by_tier(priced: &Priced<'_>) -> Table {
    let rows = priced.replays.iter().flat_map(|replay| {
        let bill = replay.bill.with(priced.cache);
        let whole = bill.nano_usd();
        let used = bill.tiers().into_iter().filter(|(_, charge)| charge.tokens > 0);
        let all = bill.tiers().iter().map(|(_, charge)| charge.tokens).sum();
        let sums = used.map(|(name, charge)| (name, charge.tokens, charge.nano_usd)).chain([("all", all, whole)]);
        let refused: u64 = replay.outcomes.each().map(|outcome| outcome.requests().map(|call| call.refused_tokens).sum::<u64>()).sum();
        let refused = (refused > 0).then_some(("refused, not billed", refused, 0));
        sums.chain(refused).map(move |(name, tokens, nano)| (replay, name, tokens, nano)).collect::<Vec<_>>()
    });
    Fields::<(&Replay, &str, u64, u64)>::new()
        .with(Column::name("policy", "policy"), |(replay, ..)| Cell::name(&replay.policy))
        .with(Column::name("tier", "tier"), |(_, name, ..)| Cell::name(name))
        .with(Column::simulated("tokens", "tokens", Unit::Tokens), |(_, _, tokens, _)| Cell::Tokens(*tokens))
        .with(money("cost", "cost", "", Provenance::Simulated), |(replay, .., nano)| cost_figures::cost(&replay.bill, *nano))
        .with(share("share", "of the bill", ""), |(replay, .., nano)| Cell::share(*nano, replay.bill.with(priced.cache).nano_usd()))
        .table(2, rows)
}

fn by_agent(checks: &BTreeMap<String, Check>) -> Table {
    use Provenance::{Recorded, Simulated};
    let tokens = |key, header, provenance| Column::number(key, header, Unit::Tokens, provenance);
    let error = |key, header| share(key, header, "modelled less recorded, as a share of the recorded");
    let written = |bill: &Bill| bill.cache_write.tokens + bill.cache_write_1h.tokens;
    let priced = |check: &Check, cell: Cell| if check.is_priced() { cell } else { Cell::Empty };
    let logged = |calls: u64, nano_usd: u64| if calls > 0 { Cell::money(nano_usd) } else { Cell::Empty };
    let list = "the recorded usage of all calls at list prices, replies by estimate where the log holds a placeholder";
    let held_out = "all calls with factors of every second call, itself not among them";
    Fields::<(&String, &Check)>::new()
        .with(Column::name("agent", "agent"), |(agent, _)| Cell::text(agent))
        .with(Column::number("calls", "calls", Unit::Count, Recorded), |(_, check)| Cell::Count(check.calls))
        .with(tokens("recorded_read_tokens", "cache reads, recorded", Recorded), |(_, check)| {
            Cell::Tokens(check.recorded.cache_read.tokens)
        })
        .with(tokens("modelled_read_tokens", "modelled", Simulated), |(_, check)| Cell::Tokens(check.modelled.cache_read.tokens))
        .with(error("read_error", "error of reads"), |(_, check)| apart(check.modelled.cache_read.tokens, check.recorded.cache_read.tokens))
        .with(tokens("recorded_write_tokens", "cache writes, recorded", Recorded), move |(_, check)| Cell::Tokens(written(&check.recorded)))
        .with(tokens("modelled_write_tokens", "modelled writes", Simulated), move |(_, check)| Cell::Tokens(written(&check.modelled)))
        .with(error("write_error", "error of writes"), move |(_, check)| apart(written(&check.modelled), written(&check.recorded)))
        .with(money("logged_usd", "cost in the log", "what logs say that their calls cost", Recorded), move |(_, check)| {
            logged(check.logged_calls, check.logged_nano_usd)
        })
        .with(
            money("logged_list_usd", "their list price", "the recorded usage of these calls at list prices", Recorded),
            move |(_, check)| logged(check.logged_calls - check.logged_unpriced_calls, check.logged_list_nano_usd),
        )
        .with(money("recorded_usd", "all at list price", list, Recorded), move |(_, check)| {
            priced(check, Cell::money(check.recorded.nano_usd()))
        })
        .with(money("modelled_usd", "all, modelled", "all calls with the modelled cache at list prices", Simulated), move |(_, check)| {
            priced(check, Cell::money(check.modelled.nano_usd()))
        })
        .with(error("cost_error", "error of cost"), move |(_, check)| {
            priced(check, apart(check.modelled.nano_usd(), check.recorded.nano_usd()))
        })
        .with(money("held_out_usd", "all, recorded cache", held_out, Simulated), move |(_, check)| {
            priced(check, Cell::money(check.held_out.nano_usd()))
        })
        .with(error("held_out_error", "its error"), move |(_, check)| {
            priced(check, apart(check.held_out.nano_usd(), check.recorded.nano_usd()))
        })
        .table(1, checks.iter().filter(|(_, check)| check.calls > 0))
}

fn apart(modelled: u64, recorded: u64) -> Cell {
    if recorded == 0 { Cell::Empty } else { Cell::Share { part: signed(modelled) - signed(recorded), whole: recorded } }
}

/// What logs show beside the conversations.
fn beside(checks: &BTreeMap<String, Check>) -> Option<String> {
    let calls: u64 = checks.values().map(|check| check.side_calls).sum();
    let prompts: u64 = checks.values().map(|check| check.side_prompt_tokens).sum();
    let cost: u64 = checks.values().map(|check| check.side_logged_nano_usd).sum();
    let logged = if cost > 0 { format!("; the logs say that they cost {}", dollars(signed(cost))) } else { String::new() };
    let are = if calls == 1 { "is" } else { "are" };
    let what = format!("{} beside the conversations ({} prompt tokens{logged})", counted(calls, "call"), grouped(prompts));
    (calls > 0).then(|| format!("{what} {are} in no cost."))
}

fn break_even(found: &BreakEven, cache: CacheKind) -> [Section; 2] {
    let prunes = Column::simulated("prunes", "prunes", Unit::Count)
        .says("how often old items were replaced by placeholders; where that holds for one request alone, it counts at each");
    let measured = Fields::<&(u64, Replay)>::new()
        .with(Column::simulated("minimum", "minimum", Unit::Tokens), |(minimum, _)| Cell::Tokens(*minimum))
        .with(prunes, |(_, replay)| Cell::Count(replay.totals.events_of(EventKind::Prune)))
        .with(Column::simulated("tokens_saved", "tokens saved", Unit::Tokens), |(_, Replay { totals, .. })| {
            if totals.is_comparable() { Cell::SignedTokens(totals.tokens_saved()) } else { Cell::Empty }
        })
        .with(Column::simulated("hits", "hits", Unit::Share), |(_, replay)| hits(replay.bill.with(cache)))
        .with(money("cost", "cost", "", Provenance::Simulated), |(_, replay)| {
            cost_figures::cost(&replay.bill, replay.bill.with(cache).nano_usd())
        })
        .table(1, &found.tried)
        .titled(format!("Where {} of {} should stand", found.param, found.policy));
    [measured, Section::lines(sentences(found, cache))]
}

fn sentences(found: &BreakEven, cache: CacheKind) -> Vec<String> {
    let Prunes { all, unpriced, .. } = &found.prunes;
    let value = found.value.map_or_else(String::new, |value| format!(" (its value: {})", grouped(value)));
    if all.is_empty() && *unpriced > 0 {
        return vec![format!(
            "No price is known for {} of the policy as it stands{value}: there is nothing to predict from.",
            counted(*unpriced, "prune")
        )];
    }
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
