//! Sessions whose bills have no cache where others have one, in words.

use super::words::{counted_as, first_few};
use crate::catalog::{CacheRules, Catalog};
use crate::corpus::Corpus;
use crate::cost::asks_for_no_cache;
use crate::list::Gather;
use crate::trace::{CallRow, Trace};
use crate::transcript::Trust;

/// So many sessions are named; the others are counted.
const NAMED: usize = 3;

/// Notes on both kinds: the log does not count the cache, or counts that the client used none.
pub fn notes(corpus: &Corpus) -> Vec<String> {
    let asked = unasked(corpus).map(|(count, named)| {
        let what = "and none under any policy: the provider reads and writes what a request marks, and counts 0 of both at each call";
        let have = counted_as(count, "session uses no prompt cache", "sessions use no prompt cache");
        format!("{have} ({named}), {what}.")
    });
    without_cache(corpus).into_iter().chain(asked).collect()
}

/// The same for the first screen, in few words.
pub fn in_brief(corpus: &Corpus) -> Option<String> {
    let (count, _) = unasked(corpus)?;
    Some(format!(
        "{} no prompt cache, and {} modelled without one",
        counted_as(count, "session uses", "sessions use"),
        if count == 1 { "is" } else { "are" }
    ))
}

/// The sessions whose client asks for no cache where it must be asked for: how many, and the names of the first.
fn unasked(corpus: &Corpus) -> Option<(u64, String)> {
    let (catalog, caches) = (Catalog::builtin().ok()?, CacheRules::builtin().ok()?);
    let rule = |name: &String| caches.of(name, catalog.find(name));
    let is_unasked = |trace: &Trace| trace.models.iter().filter_map(rule).any(|rule| asks_for_no_cache(trace, rule));
    let mut ids: Vec<String> = corpus.traces.each().filter(|trace| is_unasked(trace)).map(|trace| trace.id.clone()).gather();
    ids.sort_unstable();
    (!ids.is_empty()).then(|| (ids.len() as u64, first_few(&ids, NAMED)))
}

/// Sessions whose recorded bills have no cache where usage is recorded, and whose simulated ones have.
fn without_cache(corpus: &Corpus) -> Option<String> {
    let is_reported = |call: &CallRow| call.usage.get().is_some_and(|usage| usage.trust == Trust::Provider);
    let is_blind = |trace: &Trace| !trace.tells_of_cache() && trace.calls.iter().any(is_reported);
    let (mut blind, mut estimated) = (0, false);
    for trace in corpus.traces.each().filter(|trace| is_blind(trace)) {
        blind += 1;
        estimated |= trace.calls.iter().any(|call| call.usage.get().is_none());
    }
    let but = if estimated { ", but for calls without usage, whose cost is estimated with it" } else { "" };
    let what =
        "with usage and without any count of the provider's cache: their simulated bills have a modelled one, the recorded ones none";
    let sides = "what is compared with the recording has it on both sides.";
    (blind > 0).then(|| format!("{} {what}{but}; {sides}", counted_as(blind, "session is recorded", "sessions are recorded")))
}
