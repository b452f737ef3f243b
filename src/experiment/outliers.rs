//! Recorded usage that stands out: a prompt far above those of its neighbours, and a report that repeats the one before.

use crate::trace::Trace;

/// Why a report stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlier {
    /// The prompt is at least half as large again as those of the calls before and after it, with no recorded compaction between them.
    Spike,
    /// Prompt, reply and cache are those of the call before: one call, reported twice.
    Repeated,
}

/// A report of usage that stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageOutlier {
    /// The call, from 0.
    pub call: usize,
    /// The call's recorded prompt, in tokens.
    pub prompt: u64,
    /// That of the call before, and of the call after (0 where there is none).
    pub beside: (u64, u64),
    /// The kind of outlier.
    pub kind: Outlier,
}

/// The reports of a session that stand out, in the order of its calls. Agents that compact by what is reported compact too early there.
pub fn usage_outliers(trace: &Trace) -> Vec<UsageOutlier> {
    let reported: Vec<_> = trace.calls.iter().enumerate().filter(|(_, row)| row.own_usage().is_some()).collect();
    let usage = |place: usize| reported.get(place).and_then(|(call, row)| Some((*call, row.message, row.own_usage()?)));
    let compactions = |to: u32| trace.compactions.partition_point(|event| event.before <= to);
    let compacted = |from: u32, to: u32| compactions(from) < compactions(to);
    let mut found = Vec::new();
    for place in 1..reported.len() {
        let Some(((_, before_message, before), (call, message, here))) = usage(place - 1).zip(usage(place)) else { continue };
        let after = usage(place + 1);
        let beside = (before.prompt, after.map_or(0, |(.., after)| after.prompt));
        let outlier = |kind| UsageOutlier { call, prompt: here.prompt, beside, kind };
        let falls = |(_, after_message, after): (usize, u32, crate::transcript::Usage)| {
            !compacted(before_message, after_message) && here.prompt * 2 >= before.prompt.max(after.prompt) * 3
        };
        let same = here.prompt == before.prompt && here.output == before.output && here.cache_read == before.cache_read;
        if same && here.prompt > 0 && here.output > 0 && message != before_message {
            found.push(outlier(Outlier::Repeated));
        } else if before.prompt > 0 && after.is_some_and(falls) {
            found.push(outlier(Outlier::Spike));
        }
    }
    found
}
