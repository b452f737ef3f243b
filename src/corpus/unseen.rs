//! The hidden overhead of sessions whose logs begin in the middle, taken from other sessions of the same agent, else from the catalogue. What lies above it in their first prompt is
//! conversation that was not recorded.

use super::gathered::Corpus;
use super::overhead::{ExpectedOverheads, KnownOverheads};
use crate::catalog::{Catalog, Family};
use crate::list::Gather;
use crate::measure::{overhead, unseen_above};
use crate::trace::{BaseFrom, Trace};
use std::collections::BTreeMap;

/// Sessions that are alike: of an agent, started by another one or not, and of a family of models where that is told apart.
type Like = (String, bool, Option<Family>);

/// Sizes what is unseen of each session whose own compactions do not tell it, by the sessions that were read whole. Order does not matter; a session that was
/// settled before it was written to a `.ctxtrace` stays as it is.
pub(super) fn settle(corpus: &mut Corpus, catalog: &Catalog) {
    let waiting = |trace: &Trace| trace.unseen.is_some_and(|unseen| unseen.base == BaseFrom::Unknown);
    if !corpus.traces.each().any(|trace| waiting(&trace)) {
        return;
    }
    let family = |trace: &Trace| trace.main_model().and_then(|model| catalog.find(model)).map_or(Family::Other, |model| model.family);
    let mut by_family: BTreeMap<Like, KnownOverheads> = BTreeMap::new();
    // Only sessions that were read whole: what one compaction left may hold more than the overhead. Copies would count one session several times.
    for trace in corpus.traces.each().filter(|trace| trace.unseen.is_none() && !trace.copied) {
        let Some(overhead) = overhead(&trace) else { continue };
        for family in [Some(family(&trace)), None] {
            by_family.entry((trace.agent.clone(), trace.parent.is_some(), family)).or_default().add(&trace.version, overhead);
        }
    }
    let by_family: BTreeMap<Like, ExpectedOverheads> = by_family.into_iter().map(|(like, known)| (like, known.medians())).gather();
    corpus.traces.change_each(|trace| {
        if !waiting(trace) {
            return;
        }
        let like = |family: Option<Family>| by_family.get(&(trace.agent.clone(), trace.parent.is_some(), family));
        let own = like(Some(family(trace))).and_then(|known| known.of(&trace.version));
        let told = own.or_else(|| like(None)?.of(&trace.version)).map(|base| (base, BaseFrom::Corpus));
        // Sub-agents carry other prompts than those who start them.
        let usual = || catalog.overhead(&trace.agent).filter(|_| trace.parent.is_none()).map(|base| (base, BaseFrom::Catalogue));
        if let Some((base, from)) = told.or_else(usual) {
            unseen_above(trace, base, from);
        }
    });
}
