//! Sums that a log has of many calls together, and not of each.
//!
//! A sum of tokens is shared out among the calls that it covers, by what the log shows of their prompts: the sum stays exact, the shares are estimates, and say so
//! ([`Trust::Shared`]).

use super::ground::Source;
use super::recorder::Recorder;
use crate::statistics::largest_remainder;
use crate::transcript::{CompactionKind, Message, Part, Role, Trust, Usage};
use std::ops::Range;

/// The reason for the loss of a sum of tokens that cannot be shared out: it may be of other requests, too.
pub const SUM_ALONE: &str = "usage of the whole session alone";

const PAID: &str = "cost of the whole session alone ($";

/// What a loss says that whole sessions cost, in dollars: 0 where it is a sum of tokens, and `None` where it is no sum of a session.
pub fn sum_in_dollars(reason: &str) -> Option<f64> {
    if reason == SUM_ALONE {
        return Some(0.0);
    }
    reason.strip_prefix(PAID)?.split_once(' ')?.0.parse().ok()
}

/// What a file says that whole sessions cost, where it says so of no call.
#[derive(Default)]
pub struct PaidInAll {
    /// The records of the sessions.
    records: Vec<u64>,
    nano_usd: i64,
}

impl PaidInAll {
    /// A session of this record that cost so much.
    pub fn add(&mut self, record: u64, nano_usd: i64) {
        self.records.push(record);
        self.nano_usd = self.nano_usd.saturating_add(nano_usd);
    }

    /// Counts the sessions, with the sum.
    pub fn count(self, source: &mut Source) {
        let reason = format!("{PAID}{:.2} in one file)", self.nano_usd as f64 / 1e9);
        self.records.into_iter().for_each(|record| source.lose(record, &reason));
    }
}

/// A token is about so many bytes.
const BYTES: u64 = 4;

/// Calls of a session that a sum may cover.
pub struct Among<'m, 's> {
    /// The session.
    pub made: &'m mut Recorder<'s>,
    /// The messages that the calls made.
    pub replies: Range<usize>,
}

/// A call of which the log has no usage, as far as a sum is shared out by it.
struct Covered {
    /// The place among the sessions, and the message.
    session: usize,
    message: usize,
    /// About so many tokens of its prompt the log shows, and so many of the prompt before it.
    shown: u64,
    before: u64,
    /// The log's count of its reply, else about as many tokens as it shows.
    output: u64,
}

impl Recorder<'_> {
    /// Shares a sum of all calls of the session out among those without usage: [`share_out`]. A compaction may have had a request of its own: then the sum is not theirs alone.
    pub fn share_out(&mut self, sum: Usage) -> bool {
        let replies = 0..self.next();
        let is_theirs = self.transcript.compactions.iter().all(|event| event.kind != CompactionKind::Compact);
        is_theirs && share_out(&mut [Among { made: self, replies }], "", None, sum)
    }
}

/// Shares a sum out among the calls that have no usage, of all models where `model` is empty. A single call has it as its own. Says whether that can be done: there are calls, and as many
/// as there were `requests`, where the log counts them.
///
/// Prompts get what the log shows of them and equal parts of the rest, which it does not show: system prompt, tools. Where it shows more than was sent, all shrink alike.
/// From the cache, a call can have read what was sent before.
pub fn share_out(among: &mut [Among<'_, '_>], model: &str, requests: Option<u64>, sum: Usage) -> bool {
    let covered: Vec<Covered> = among.iter().enumerate().flat_map(|(session, among)| among.covered(session, model)).collect();
    if covered.is_empty() || requests.is_some_and(|requests| requests != covered.len() as u64) {
        return false;
    }
    let trust = if sum.trust == Trust::Provider && covered.len() > 1 { Trust::Shared } else { sum.trust };
    let weights = |of: &dyn Fn(&Covered) -> u64| covered.iter().map(of).collect::<Vec<u64>>();
    let shown = weights(&|call| call.shown);
    let unseen = sum.prompt.saturating_sub(shown.iter().sum());
    let rest = largest_remainder(unseen, &vec![1; covered.len()]);
    let prompts = largest_remainder(sum.prompt - unseen, &shown);
    let prompts: Vec<u64> = prompts.iter().zip(&rest).map(|(shown, rest)| shown + rest).collect();
    let last = covered.iter().zip(&rest).map(|(call, rest)| if call.before > 0 { call.before + rest } else { 0 });
    let known: Vec<u64> = prompts.iter().zip(last).map(|(prompt, last)| last.min(*prompt)).collect();
    let fits = known.iter().sum::<u64>() >= sum.cache_read;
    let reads = largest_remainder(sum.cache_read, if fits { &known } else { &prompts });
    let unread: Vec<u64> = prompts.iter().zip(&reads).map(|(prompt, read)| prompt.saturating_sub(*read)).collect();
    let writes = largest_remainder(sum.cache_write, &unread);
    let longer = largest_remainder(sum.cache_write_1h, &writes);
    let outputs = largest_remainder(sum.output, &weights(&|call| call.output));
    let reasoning = sum.reasoning.map(|tokens| largest_remainder(tokens, &outputs));
    let costs = sum.cost_nano_usd.and_then(|cost| Some(largest_remainder(u64::try_from(cost).ok()?, &prompts)));
    for (place, call) in covered.iter().enumerate() {
        let at = |shares: &[u64]| shares.get(place).copied().unwrap_or_default();
        let usage = Usage {
            prompt: at(&prompts),
            cache_read: at(&reads),
            cache_write: at(&writes),
            cache_write_1h: at(&longer),
            output: at(&outputs),
            reasoning: reasoning.as_deref().map(at),
            cost_nano_usd: costs.as_deref().and_then(|shares| i64::try_from(at(shares)).ok()),
            trust,
            ..sum
        };
        let reply = among.get_mut(call.session).and_then(|among| among.made.transcript.messages.get_mut(call.message));
        reply.and_then(|reply| reply.call.as_mut()).into_iter().for_each(|call| call.usage = Some(usage));
    }
    true
}

impl Among<'_, '_> {
    /// The calls that a sum covers, in their order.
    fn covered(&self, session: usize, model: &str) -> Vec<Covered> {
        let transcript = &self.made.transcript;
        let overhead = transcript.overhead.unwrap_or(0);
        let mut compactions = transcript.compactions.iter().filter(|event| event.kind == CompactionKind::Compact).peekable();
        // The messages in the context: place, speaker, and about how many tokens they show.
        let (mut live, mut tokens): (Vec<(usize, Role, u64)>, u64) = (Vec::new(), overhead);
        let (mut covered, mut before) = (Vec::new(), 0);
        for (place, message) in transcript.messages.each().enumerate().take(self.replies.end) {
            while let Some(event) = compactions.next_if(|event| event.before <= place) {
                let kept = event.kept_from.unwrap_or(event.before);
                live.retain(|(place, role, _)| *place >= kept || *role == Role::System);
                tokens = overhead + live.iter().map(|(.., tokens)| tokens).sum::<u64>();
            }
            if let Some(back_to) = message.rewind {
                while let Some((.., gone)) = live.pop_if(|(place, ..)| *place >= back_to) {
                    tokens -= gone;
                }
            }
            let own = shown(&message);
            if let Some(call) = message.call.as_deref() {
                if place >= self.replies.start && call.usage.is_none() && (model.is_empty() || call.model == model) {
                    let output = call.output.unwrap_or(own);
                    covered.push(Covered { session, message: place, shown: tokens, before, output });
                }
                before = tokens;
            }
            live.push((place, message.role, own));
            tokens += own;
        }
        covered
    }
}

/// About how many tokens a message shows.
fn shown(message: &Message) -> u64 {
    let bytes = |part: &Part| part.text().map_or(0, |text| u64::from(text.length.bytes));
    message.parts.iter().map(bytes).sum::<u64>() / BYTES
}
