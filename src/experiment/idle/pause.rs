//! What stands behind a recorded call: how long nothing was asked, and what the cache held meanwhile.

use crate::catalog::{Hits, Rates};
use crate::corpus::Corpus;
use crate::cost::{Models, Tariff};
use crate::experiment::cache::{Before, Step, Steps, lacks, paid_again};
use crate::list::Gather;
use crate::policy::Policy;
use crate::statistics::median;
use crate::trace::Trace;
use crate::transcript::{CompactionKind, Usage};
use std::collections::{BTreeMap, BTreeSet};

/// The time behind a call, up to the next one of its conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pause {
    /// The place of the session in the corpus.
    pub session: usize,
    /// The place of the call among the session's calls.
    pub place: usize,
    /// Milliseconds; `None` where no call followed: the session was never resumed.
    pub length: Option<i64>,
    /// For how long the cache keeps what the call left, in milliseconds.
    pub lifetime: i64,
    /// Tokens of the context that the cache holds meanwhile.
    pub tokens: u64,
    /// Those that the call that ended the pause paid for again, as recorded: 0 where it found them, whatever the cache promises.
    pub lost: u64,
    /// What it paid for these above the price of a read, as recorded, in thousand-millionths of a dollar.
    pub cold: u64,
    /// The prices of a prompt of this size.
    pub rates: Rates,
    /// Those of the call that ends the pause, on its day and for its prompt; the same where none did.
    pub resumed: Rates,
    /// Those of that call, were its prompt what a compaction leaves.
    pub compacted: Rates,
    /// Is the longer lifetime the one that writes are paid for?
    pub long: bool,
    /// What a compaction of that context would leave.
    pub rest: Rest,
}

/// What a compaction leaves of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Tokens of the next prompt.
    pub prompt: u64,
    /// Tokens that the summariser writes.
    pub summary: u64,
    /// So many recorded compactions it rests on; 0: assumed.
    pub events: u64,
}

/// Hands over the pauses behind calls whose cache promises a lifetime (implicit caches promise none) and has a price, each with its call, in the order of
/// sessions and calls. A sub-agent that has ended waits for nothing: its last call has no pause.
pub fn pauses(corpus: &Corpus, tariff: &Tariff<'_>, steps: &Steps<'_>, mut take: impl FnMut(&Pause, &Step<'_>)) {
    let rests = Rests::of(corpus);
    // Of several logs that go on from a call, that with the next call ends the pause.
    let mut elsewhere: BTreeMap<(usize, usize), Next> = BTreeMap::new();
    steps.taken_up_again(|step, before| {
        let next = Next::of(step, before);
        let kept = elsewhere.entry((before.session, before.place)).or_insert(next);
        *kept = kept.or_earlier(next);
    });
    steps.each(|session, trace, steps| {
        let models = tariff.models(trace);
        let start = steps.first().map_or(0, |first| first.usage.prompt);
        for (at, step) in steps.iter().enumerate() {
            let elsewhere = elsewhere.get(&(session, step.place)).copied();
            let here = steps.get(at + 1).and_then(|next| Some(Next::of(next, &next.before?)));
            let followed = elsewhere.into_iter().chain(here).reduce(Next::or_earlier);
            let pause = pause(step, trace, &models, followed, || rests.rest(trace, start));
            if let Some(pause) = pause.filter(|pause| pause.tokens > 0) {
                take(&pause, step);
            }
        }
    });
}

/// The call that ends a pause.
#[derive(Clone, Copy)]
struct Next {
    /// Milliseconds up to it; `None` where a time is missing.
    gap: Option<i64>,
    time: Option<i64>,
    usage: Usage,
}

impl Next {
    fn of(step: &Step<'_>, before: &Before<'_>) -> Next {
        Next { gap: before.gap, time: step.time, usage: step.usage }
    }

    /// The first of two, that without a time before all.
    fn or_earlier(self, other: Next) -> Next {
        let place = |next: &Next| (next.gap, next.time, next.usage.prompt, next.usage.cache_read);
        if place(&other) < place(&self) { other } else { self }
    }
}

/// The pause behind a call, up to the one that followed.
fn pause(step: &Step<'_>, trace: &Trace, models: &Models<'_>, followed: Option<Next>, rest: impl Fn() -> Rest) -> Option<Pause> {
    let rule = step.known.cache.filter(|rule| rule.hits == Hits::Blocks)?;
    let tokens = step.leaves();
    let length = match followed {
        Some(next) => Some(next.gap?),
        None if trace.parent.is_some() => return None,
        None => None,
    };
    let lifetime = step.lifetime_millis()?;
    let (price, rest) = (step.known.price?, rest());
    // The cache is that of the call's own model, whatever model ends the pause.
    let later = followed.and_then(|next| models.of(trace.calls.get(step.place)?, next.time).price).unwrap_or(price);
    let resumed = *later.rates(followed.map_or(tokens, |next| next.usage.prompt));
    let lost = followed.map_or(0, |next| lacks(tokens, next.usage.prompt, next.usage.cache_read));
    Some(Pause {
        session: step.session,
        place: step.place,
        length,
        lifetime,
        tokens,
        lost,
        cold: followed.map_or(0, |next| paid_again(lost, &next.usage, &resumed)),
        rates: *price.rates(tokens),
        resumed,
        compacted: *later.rates(rest.prompt.min(tokens)),
        long: lifetime != rule.lifetime_millis(),
        rest,
    })
}

/// What compactions leave, by agent: medians of recorded ones.
struct Rests {
    by_agent: BTreeMap<String, Rest>,
    all: Option<Rest>,
    assumed: Rest,
}

impl Rests {
    fn of(corpus: &Corpus) -> Rests {
        let mut samples: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
        for trace in corpus.traces.each() {
            samples.entry(trace.agent.clone()).or_default().extend(left_by_compactions(&trace));
        }
        let all: Vec<(u64, u64)> = samples.values().flatten().copied().collect();
        let number =
            |policy: &Policy, name: &str| policy.params.get(name).and_then(|param| param.number()).map_or(0, |number| number as u64);
        // Where no log records a compaction, the preset of the agent that compacts in pauses says what one comes to at most: a pause is no cheaper than that.
        let assumed = Policy::load("claude-code@idle").map_or(Rest::default(), |policy| {
            let summary = number(&policy, "summary_tokens");
            let files = number(&policy, "restored_files") * number(&policy, "restored_file_tokens");
            Rest { prompt: summary + number(&policy, "restored_tokens") + files, summary, events: 0 }
        });
        let by_agent = samples.into_iter().filter_map(|(agent, samples)| Some((agent, typical(&samples)?))).gather();
        Rests { by_agent, all: typical(&all), assumed }
    }

    /// What a compaction would leave of a session whose first prompt had so many tokens.
    fn rest(&self, trace: &Trace, start: u64) -> Rest {
        let recorded = self.by_agent.get(&trace.agent).or(self.all.as_ref()).copied();
        recorded.unwrap_or(Rest { prompt: start + self.assumed.prompt, ..self.assumed })
    }
}

fn typical(samples: &[(u64, u64)]) -> Option<Rest> {
    let prompt = median(samples.iter().map(|(prompt, _)| *prompt).collect())?;
    let summary = median(samples.iter().map(|(_, summary)| *summary).collect())?;
    Some(Rest { prompt, summary, events: samples.len() as u64 })
}

/// The first recorded prompt behind each compaction of a session, and the tokens of its summary.
fn left_by_compactions(trace: &Trace) -> Vec<(u64, u64)> {
    let compactions = trace.compactions.iter().filter(|event| event.kind == CompactionKind::Compact && !event.copy);
    let mut seen = BTreeSet::new();
    let sample = |event: &crate::trace::CompactionRow| {
        let next = trace.first_call_behind(event);
        let prompt = crate::corpus::prompt_of(trace.calls.get(next)?)?;
        let written = event.usage.map(|usage| usage.output).filter(|output| *output > 0);
        Some((next, (prompt, written.or(event.summary_tokens)?)))
    };
    compactions.filter_map(sample).filter(|(next, _)| seen.insert(*next)).map(|(_, sample)| sample).collect()
}
