//! The verdict in one sentence with its uncertainty, and in another one what it costs.

use super::told::Told;
use crate::experiment::{Choice, Replay};
use crate::report::asked::Asked;
use crate::report::document::Cell;
use crate::report::words::{counted, dollars, grouped, percent, percent_of};
use crate::report::{answer, cost_figures, finding};
use crate::statistics::{Bars, FEWEST, LEVEL};
use crate::trace::Evidence;

/// What came out: by the one rule of verdicts where the user's own agents are known, then what they or the policy to change to come to.
pub fn verdict(told: &Told<'_>) -> Vec<String> {
    let (replays, unchanged, choice, cache) = (told.replays, told.unchanged, told.choice, told.cache);
    let asked = Asked { cache, checks: Some(told.checks), ..Asked::default() };
    if let Some((sentence, _)) = answer::verdict(told.corpus, replays, told.baselines, &asked) {
        let come = told.best().map(|best| format!("{}. {}", overflows(&[], best, unchanged), price(told, best)));
        return std::iter::once(sentence).chain(come).collect();
    }
    let Some(best) = replays.get(choice.place) else { return Vec::new() };
    if best.policy == unchanged.policy && best.totals.prompt_tokens == unchanged.totals.prompt_tokens {
        let compared = if replays.len() > 1 { ", and none of the policies compared does better" } else { "" };
        return vec![format!("{}{compared}.", overflows(replays, best, unchanged))];
    }
    let estimated = finding::estimated(&Bars { anchored: told.corpus.facts.anchored(), ..Bars::default() });
    let mut sentence = format!("{}, and {}", overflows(replays, best, unchanged), saving(best, choice, estimated.as_deref()));
    if let Some((first, resamples)) = choice.first.filter(|_| replays.len() > 1 && estimated.is_none()) {
        sentence += &format!("; it comes out first in {} of {} resamples", grouped(first as u64), grouped(resamples as u64));
    }
    vec![sentence + ".", price(told, best)]
}

fn overflows(replays: &[Replay], best: &Replay, unchanged: &Replay) -> String {
    let (count, (without, of)) = (best.totals.overflows, unchanged_beside(best, unchanged));
    let (name, calls) = (&best.policy, counted(best.totals.calls, "call"));
    // A session that fails ends there: both may have made other numbers of calls.
    let of_all = if of == best.totals.calls { String::new() } else { format!(" of {}", grouped(of)) };
    match (count, without) {
        (0, 0) if best.policy == unchanged.policy => format!("None of {calls} would overflow without any policy"),
        (0, 0) => format!("None of {calls} would overflow under {name}, nor without any policy"),
        (0, _) => format!("None of {calls} would overflow under {name}, where {}{of_all} would without any policy", grouped(without)),
        _ => {
            let fewest = if replays.len() > 1 { format!(", the best of {} policies", replays.len()) } else { String::new() };
            format!("{} of {calls} would overflow under {name}{fewest} (without any policy: {}{of_all})", grouped(count), grouped(without))
        }
    }
}

/// Overflows and calls without any policy, of the sessions that a replay covers: own agents leave out those without a preset.
fn unchanged_beside(best: &Replay, unchanged: &Replay) -> (u64, u64) {
    if best.totals.sessions == unchanged.totals.sessions {
        return (unchanged.totals.overflows, unchanged.totals.calls);
    }
    let covered = best.outcomes.each().zip(unchanged.outcomes.each()).filter(|(best, _)| !best.calls.is_empty());
    covered.fold((0, 0), |(overflows, calls), (_, beside)| (overflows + beside.totals.overflows, calls + beside.totals.calls))
}

fn saving(best: &Replay, choice: &Choice, estimated: Option<&str>) -> String {
    let totals = &best.totals;
    if !totals.is_comparable() {
        return "it brings too few sessions to their end to be compared with the recording".to_owned();
    }
    let saved = totals.tokens_saved();
    let share = percent(saved.saturating_abs(), totals.recorded_tokens);
    let summariser = totals.summariser_tokens;
    let own = if summariser > 0 { format!(" (the {} tokens of its summariser are apart)", grouped(summariser)) } else { String::new() };
    let over = match totals.compared_sessions {
        compared if compared < totals.called_sessions => {
            format!(" over {} of {}", grouped(compared), counted(totals.called_sessions, "session"))
        }
        _ => String::new(),
    };
    let what = match saved {
        0 => format!("it sends as many prompt tokens as were recorded{over}{own}"),
        saved if saved > 0 => format!("it sends {share} fewer prompt tokens than were recorded{over}{own}"),
        _ => format!("it sends {share} more prompt tokens than were recorded{over}{own}"),
    };
    if let Some(words) = estimated {
        return format!("{what} (which cannot be judged: {words})");
    }
    match choice.saved {
        None => format!("{what} (it takes {FEWEST} sessions at the least to judge others by)"),
        Some((low, high)) if low == high => what,
        Some((low, high)) => {
            let none = if low <= 0 && high >= 0 { ", no difference larger than the uncertainty" } else { "" };
            format!("{what} ({LEVEL} %: {} to {}{none})", percent(low, 1_000_000), percent(high, 1_000_000))
        }
    }
}

fn price(told: &Told<'_>, best: &Replay) -> String {
    let (unchanged, cache) = (told.unchanged, told.cache);
    let lines = best.totals.retention.of(Evidence::Line);
    let mut parts = Vec::new();
    if lines.all() > 0 {
        let kept = percent_of(lines.kept, lines.all());
        parts.push(format!("{kept} of the reused text was still there"));
    }
    let cost = |replay: &Replay| match cost_figures::cost(&replay.bill, replay.bill.with(cache).nano_usd()) {
        Cell::Money(nano_usd) => Some(dollars(nano_usd)),
        _ => None,
    };
    if let (Some(with), Some(without)) = (cost(best), cost(unchanged)) {
        let (covered, all) = (best.totals.called_sessions, unchanged.totals.called_sessions);
        // A policy that fails sessions has fewer calls, and calls without a price are in no sum.
        let unlike = [best, unchanged].iter().any(|replay| replay.totals.failed_sessions > 0) || best.bill.unpriced_calls > 0;
        // What the logs cost is a comparison where no call behind an end is missing.
        let recorded = told.baselines.recording.filter(|_| told.baselines.own.is_none() && best.totals.failed_sessions == 0);
        let recorded = recorded.and_then(|recording| recording.beside_nano_usd(cache)).filter(|nano_usd| *nano_usd > 0);
        let recorded = recorded.map_or_else(String::new, |nano_usd| format!(", of the recording {}", dollars(nano_usd.cast_signed())));
        parts.push(match covered == all {
            true if unlike => format!("the list price of its calls is {with}{recorded}"),
            true => format!("the list price of its calls is {with}, without any policy {without}{recorded}"),
            // Own agents leave out sessions without a preset: what all of them cost is no comparison.
            false => format!("the list price of its calls is {with} over {} of {}", grouped(covered), counted(all, "session")),
        });
    }
    match parts.is_empty() {
        true => format!("Nothing is known of what {} costs or forgets.", best.policy),
        false => format!("What that costs under {}: {}.", best.policy, parts.join("; ")),
    }
}
