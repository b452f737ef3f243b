//! Taking the words out of a session: sizes stay, and which texts have pieces in common stays, so that a replay gives the same numbers.

use crate::list::Gather;
use crate::transcript::{Evidence, Part, Text, Transcript, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// The session without a word of its texts. Ids, names of tools, models, times and usage stay. Hashes of texts and of their pieces, by
/// which a candidate text could be checked, become numbers within the session; what occurs once in it is left out.
pub fn redacted(mut transcript: Transcript) -> Transcript {
    let mut met: BTreeMap<u64, u32> = BTreeMap::new();
    let mut wholes: BTreeSet<u64> = BTreeSet::new();
    each_text(&mut transcript, &mut |text| {
        if let Some(evidence) = text.evidence.as_deref() {
            evidence.units.iter().for_each(|unit| *met.entry(unit.hash).or_default() += 1);
            wholes.extend([evidence.identity, evidence.subject, evidence.looks]);
        }
    });
    // In the order of the hashes, so that whatever is sorted by them stays so; the lowest bit tells lines from names.
    let common = met.into_iter().filter(|(_, texts)| *texts > 1).map(|(hash, _)| hash);
    let units: BTreeMap<u64, u64> = common.zip(1_u64..).map(|(hash, rank)| (hash, rank << 1 | hash & 1)).gather();
    wholes.remove(&0);
    let wholes: BTreeMap<u64, u64> = wholes.into_iter().zip(1..).collect();
    let whole = |hash: u64| wholes.get(&hash).copied().unwrap_or(0);
    each_text(&mut transcript, &mut |text| {
        text.content = None;
        if let Some(evidence) = text.evidence.as_deref_mut() {
            let kept = evidence.units.iter().filter_map(|unit| Some(Unit { hash: *units.get(&unit.hash)?, at: unit.at }));
            *evidence = Evidence {
                units: kept.collect(),
                identity: whole(evidence.identity),
                subject: whole(evidence.subject),
                looks: whole(evidence.looks),
                path: None,
                ..*evidence
            };
        }
    });
    transcript
}

fn each_text(transcript: &mut Transcript, handle: &mut dyn FnMut(&mut Text)) {
    let parts = transcript.messages.iter_mut().flat_map(|message| &mut message.parts);
    parts.filter_map(Part::text_mut).for_each(&mut *handle);
    transcript.compactions.iter_mut().filter_map(|compaction| compaction.summary.as_mut()).for_each(handle);
}
