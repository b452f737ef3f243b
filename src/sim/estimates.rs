//! What other estimators make of the requests of a session that nothing shortens: one walk for however many of them.

use super::conditions::Conditions;
use super::run::watch;
use crate::context::{Context, State};
use crate::estimate::{Counting, Estimator, Guess};
use crate::policy::Plan;
use crate::trace::Trace;
use crate::transcript::Role;

/// What each of these estimators makes of each request of a session under no policy.
pub fn estimate_requests(trace: &Trace, estimators: &[&Estimator]) -> Vec<Vec<u64>> {
    let mut walk = Walk {
        trace,
        messages: Vec::new(),
        empty: Vec::new(),
        running: estimators.iter().map(|estimator| Running::new(estimator)).collect(),
    };
    let mut call = 0;
    watch(trace, &Plan::default(), &Conditions::endless(), &mut |context| {
        walk.look(context, call);
        call += 1;
    });
    walk.running.into_iter().map(|running| running.requests).collect()
}

struct Walk<'t, 'e> {
    trace: &'t Trace,
    /// The items of each message that has been seen, by its place in the context: the first of them, and the first behind.
    messages: Vec<(u32, u32)>,
    /// The messages without items that are still there: nothing is noted where one of them leaves.
    empty: Vec<u32>,
    running: Vec<Running<'e>>,
}

/// What one estimator says so far.
struct Running<'e> {
    estimator: &'e Estimator,
    /// By message as it stands now; 0 where it has left.
    messages: Vec<u64>,
    /// Estimated tokens of all messages that the estimator counts.
    sum: u64,
    /// By call: the estimate of the whole request, in tokens.
    requests: Vec<u64>,
}

impl Walk<'_, '_> {
    /// The context of a call: what has come, changed or left since the call before is estimated anew.
    fn look(&mut self, context: &Context, call: usize) {
        let known = self.messages.len() as u32;
        let mut touched: Vec<u32> = Vec::new();
        match call.checked_sub(1).map(|before| context.changed_since(before)) {
            None => {}
            Some(Some(items)) => touched.extend(items.iter().filter_map(|item| self.message_of(*item))),
            Some(None) => touched.extend(0..known),
        }
        touched.sort_unstable();
        touched.dedup();
        // Who goes back takes the newest away.
        let has_left = |id: &mut u32| context.entry(*id).is_none_or(|entry| !entry.live);
        touched.extend(std::iter::from_fn(|| self.empty.pop_if(has_left)));
        for id in known..context.newest().map_or(0, |newest| newest + 1) {
            let Some(entry) = context.entry(id) else { break };
            self.messages.push((entry.first, entry.first + entry.count));
            self.empty.extend((entry.count == 0).then_some(id));
            self.running.iter_mut().for_each(|running| running.messages.push(0));
            touched.push(id);
        }
        for id in touched {
            self.estimate(context, id);
        }
        for running in &mut self.running {
            running.requests.push(running.estimator.request(running.sum));
        }
    }

    /// The message of an item that has been seen.
    fn message_of(&self, item: u32) -> Option<u32> {
        let id = self.messages.partition_point(|(_, behind)| *behind <= item);
        (id < self.messages.len()).then_some(id as u32)
    }

    fn estimate(&mut self, context: &Context, id: u32) {
        let Some(entry) = context.entry(id) else { return };
        let items = (entry.first..entry.first + entry.count).filter_map(|item| context.item(item));
        let parts = items.filter(|item| entry.live && item.state != State::Removed);
        let parts: Vec<_> = parts.filter_map(|item| self.trace.parts.get(item.part? as usize)).collect();
        for running in &mut self.running {
            let guess = parts.iter().map(|part| running.estimator.part(part, &part.text, entry.role)).fold(Guess::default(), Guess::plus);
            let now = if entry.live { running.estimator.message(guess, entry.role) } else { 0 };
            if let Some(estimated) = running.messages.get_mut(id as usize) {
                if entry.role != Role::System || running.estimator.system == Counting::Counted {
                    running.sum = running.sum + now - *estimated;
                }
                *estimated = now;
            }
        }
    }
}

impl Running<'_> {
    fn new(estimator: &Estimator) -> Running<'_> {
        Running { estimator, messages: Vec::new(), sum: 0, requests: Vec::new() }
    }
}
