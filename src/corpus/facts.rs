//! Sums over a corpus, for the head of every report.

use super::gathered::{Corpus, CorpusFacts, Mirrored, UnseenFacts};
use super::impose::impose;
use crate::format::{counts_cache, counts_cache_in_part};
use crate::list::Gather;
use crate::sim::Whole;
use crate::trace::{Outputs, SentPrompts, Trace, WholePrompt};
use crate::transcript::{Trust, Usage};
use std::borrow::Cow;
use std::collections::BTreeSet;

impl Corpus {
    /// The agents, each with a model, whose logs report what the prompt cache did. An agent that speaks to many providers writes a zero for those that count nothing, too.
    pub fn cache_tellers(&self) -> BTreeSet<String> {
        let tells =
            |trace: &Trace| trace.reports_cache || trace.counts_cache() || (counts_cache(&trace.agent) && trace.usages().next().is_some());
        self.traces.each().filter(|trace| tells(trace)).map(|trace| teller(&trace)).gather()
    }

    /// The agents that recorded the sessions.
    pub fn agents(&self) -> BTreeSet<String> {
        let mut agents = BTreeSet::new();
        for trace in self.traces.each().filter(|trace| !trace.agent.is_empty()) {
            if !agents.contains(&trace.agent) {
                agents.insert(trace.agent.clone());
            }
        }
        agents
    }

    /// Fills in what is not written down of sessions that were settled with all others and stand apart from them now.
    pub fn sum_up_part(&mut self, cache_tellers: &BTreeSet<String>) {
        sum_up(self);
        self.traces.change_each(|trace| trace.reports_cache = reports_cache(trace, cache_tellers));
    }

    /// Leaves out these sessions.
    pub fn leave_out(&mut self, is_out: &dyn Fn(&Trace) -> bool) {
        self.traces.keep(|_, trace| !is_out(&trace()));
        sum_up(self);
    }

    /// Leaves out the sessions that another one started, and says how many.
    pub fn leave_out_sub_agents(&mut self) {
        let all = self.traces.len();
        self.traces.keep(|_, trace| trace().parent.is_none());
        self.facts.sub_agents_left_out = (all - self.traces.len()) as u64;
        self.traces.change_each(|trace| trace.mirrored.clear());
        sum_up(self);
    }
}

/// Whose counts of the cache a session shares: its agent, with the model of most of its calls.
fn teller(trace: &Trace) -> String {
    format!("{}\0{}", trace.agent, trace.main_model().unwrap_or_default())
}

/// Does a zero of this session count what the cache did? `tellers` are the agents and models whose logs report it.
fn reports_cache(trace: &Trace, tellers: &BTreeSet<String>) -> bool {
    tellers.contains(&teller(trace)) && (!counts_cache_in_part(&trace.agent) || trace.counts_cache())
}

/// Fills in what follows from the sessions.
pub(super) fn sum_up(corpus: &mut Corpus) {
    let share = |trace: &mut Trace| {
        let whole = Whole::of(trace);
        let imposed = match impose(trace, &|_| true) {
            Cow::Borrowed(_) => None,
            Cow::Owned(imposed) => Some(Whole::of(&imposed).prompts),
        };
        trace.sent = Some(sent(trace, imposed.as_ref().unwrap_or(&whole.prompts)));
        let sizes = imposed.iter().flat_map(|imposed| (0..).zip(trace.calls.iter().zip(imposed)));
        let unreported = sizes.filter(|(_, (call, _))| call.reported().is_none());
        trace.sent_sizes = unreported.map(|(place, (_, prompt))| (place, prompt.tokens)).collect();
        trace.whole = whole.prompts.into();
        (whole.anchored_tokens, whole.prompt_tokens)
    };
    let shares: Vec<(u64, u64)> = corpus.traces.change_each(share);
    let anchored: u128 = shares.iter().map(|(anchored, _)| u128::from(*anchored)).sum();
    let all: u128 = shares.iter().map(|(_, all)| u128::from(*all)).sum();
    let reporting = corpus.cache_tellers();
    let facts = &mut corpus.facts;
    facts.has_context_tokens = all > 0;
    facts.anchored_millionths = (anchored * 1_000_000).checked_div(all).unwrap_or(0) as u64;
    facts.sessions = corpus.traces.len() as u64;
    (facts.messages, facts.calls, facts.recorded_compactions) = (0, 0, 0);
    (facts.calls_with_usage, facts.recorded_prompt_tokens, facts.max_prompt_tokens) = (0, 0, 0);
    facts.outputs = Outputs::default();
    facts.usage_by_trust.clear();
    facts.mirrored = Mirrored::default();
    facts.unseen = UnseenFacts::default();
    facts.called_sessions = 0;
    // What is said of a file that stands in two parts is said once.
    facts.skipped.sort();
    facts.skipped.dedup();
    facts.hidden.sort();
    facts.hidden.dedup();
    facts.losses.sort();
    facts.losses.dedup();
    corpus.traces.change_each(|trace| trace.reports_cache = reports_cache(trace, &reporting));
    for trace in corpus.traces.each() {
        facts.unseen.add(trace.unseen);
        facts.called_sessions += u64::from(!trace.calls.is_empty());
        facts.messages += trace.messages.iter().filter(|message| !message.copy).count() as u64;
        facts.calls += trace.calls.len() as u64 + trace.side_calls.len() as u64;
        facts.calls += trace.compactions.iter().filter(|compaction| compaction.usage.is_some()).count() as u64;
        facts.recorded_compactions += trace.compactions.iter().filter(|compaction| !compaction.copy).count() as u64;
        facts.outputs += trace.outputs();
        for usage in trace.usages() {
            count(facts, &usage);
        }
        for (usage, _) in &trace.mirrored {
            facts.mirrored.calls += 1;
            facts.mirrored.prompt_tokens += usage.prompt;
            facts.mirrored.output_tokens += usage.output;
        }
    }
}

/// What was sent; `imposed` are the prompts of the session under no policy, with its recorded compactions imposed.
fn sent(trace: &Trace, imposed: &[WholePrompt]) -> SentPrompts {
    let mut sent = SentPrompts::default();
    for (call, imposed) in trace.calls.iter().zip(imposed) {
        let reported = call.reported().map(|usage| usage.prompt);
        let prompt = reported.unwrap_or(imposed.tokens);
        sent.prompt_tokens += prompt;
        sent.peak_tokens = sent.peak_tokens.max(prompt);
        if reported.is_none() {
            sent.estimated_tokens += prompt;
            sent.estimated_calls += 1;
        }
    }
    sent
}

fn count(facts: &mut CorpusFacts, usage: &Usage) {
    facts.calls_with_usage += 1;
    *facts.usage_by_trust.entry(usage.trust).or_default() += 1;
    facts.recorded_prompt_tokens += usage.prompt;
    if usage.trust != Trust::Shared {
        facts.max_prompt_tokens = facts.max_prompt_tokens.max(usage.prompt);
    }
}
