//! What the calls of a run of OpenHands' SDK used: listed by response at its end, or told by sums that grow from call to call.

use super::record::{Cost, TokenUsage};
use super::sdk_record::{State, Stats};
use crate::format::ground::sound;
use crate::transcript::{Call, Usage};
use std::collections::{BTreeMap, HashMap};

/// The usage that is known, and has found no call yet.
#[derive(Default)]
pub struct Spent {
    /// The model where a call names none.
    model: String,
    /// Usage in the order of the lists; taken by its call.
    listed: Vec<Option<Call>>,
    /// Where in the list the usage of a response stands.
    places: HashMap<String, usize>,
    /// The sums so far, by what was paid for.
    sums: BTreeMap<String, Usage>,
    /// Usage of the call that a reply is awaited of, and of the one that a condensation is.
    next_reply: Option<Call>,
    next_condensation: Option<Call>,
    /// Calls of which nothing came.
    aside: Vec<Call>,
}

impl Spent {
    /// Nothing yet, of a run with this model.
    pub fn by(model: &str) -> Spent {
        Spent { model: model.to_owned(), ..Spent::default() }
    }

    /// Takes in a list of calls with their usage.
    pub fn list(&mut self, usages: &[TokenUsage], costs: &[Cost], lose: &mut dyn FnMut(&str)) {
        let costs = (costs.len() == usages.len()).then_some(costs);
        for (index, listed) in usages.iter().enumerate() {
            let mut usage = sound(listed.usage(), lose);
            if let Some(usage) = &mut usage {
                usage.cost_nano_usd = costs.and_then(|costs| costs.get(index)?.0);
            }
            let call = usage.map(|usage| self.call(&listed.response_id, &listed.model, usage));
            if !listed.response_id.is_empty() {
                self.places.entry(listed.response_id.to_string()).or_insert(self.listed.len());
            }
            self.listed.push(call);
        }
    }

    fn call(&self, id: &str, model: &str, usage: Usage) -> Call {
        let model = if model.is_empty() { &self.model } else { model };
        Call { id: id.to_owned(), model: model.to_owned(), usage: Some(usage), unchained: false, ..Call::default() }
    }

    /// Takes in what the program says of its sums: they grow before the event of the reply that they grew by.
    pub fn state(&mut self, state: &State, lose: &mut dyn FnMut(&str)) {
        if &*state.key != "stats" || !self.listed.is_empty() {
            return;
        }
        let Some(stats) = state.value.and_then(|value| serde_json::from_str::<Stats>(value.get()).ok()) else { return };
        for (purpose, metrics) in stats.usage_to_metrics {
            let Some(sum) = &metrics.accumulated_token_usage else { continue };
            let Ok(Some(now)) = sum.usage() else { continue };
            let before = self.sums.insert(purpose.clone(), now).unwrap_or_default();
            let Some(usage) = grown(before, now) else { continue };
            if sum.per_turn_token.known().ok().flatten().is_some_and(|turn| turn > 0 && turn != usage.prompt + usage.output) {
                lose("usage of several calls together");
                continue;
            }
            let call = self.call("", &metrics.model_name, usage);
            let place = if purpose.contains("condenser") { &mut self.next_condensation } else { &mut self.next_reply };
            self.aside.extend(place.replace(call));
        }
    }

    /// The usage of the call that made a reply, and its model.
    pub fn of_reply(&mut self, response: &str) -> (Option<Usage>, String) {
        let next = self.next_reply.take();
        self.given(response, next)
    }

    /// The usage of the call that made a condensation, and its model.
    pub fn of_condensation(&mut self, response: &str) -> (Option<Usage>, String) {
        let next = self.next_condensation.take();
        self.given(response, next)
    }

    fn given(&mut self, response: &str, next: Option<Call>) -> (Option<Usage>, String) {
        let listed = self.places.get(response).and_then(|place| self.listed.get_mut(*place)?.take());
        let call = listed.or(next);
        call.map_or_else(|| (None, self.model.clone()), |call| (call.usage, call.model))
    }

    /// Calls with usage of which nothing came into the conversation: titles, checks, failed tries.
    pub fn rest(self) -> impl Iterator<Item = Call> {
        self.aside.into_iter().chain(self.listed.into_iter().flatten()).chain(self.next_reply).chain(self.next_condensation)
    }
}

/// What was used between two states of a sum; `None` where nothing was, or the sum was begun anew.
fn grown(before: Usage, now: Usage) -> Option<Usage> {
    let prompt = now.prompt.checked_sub(before.prompt).filter(|prompt| *prompt > 0)?;
    let reasoning = now.reasoning.map(|reasoning| reasoning.saturating_sub(before.reasoning.unwrap_or(0)));
    Some(Usage {
        prompt,
        output: now.output.checked_sub(before.output)?,
        cache_read: now.cache_read.saturating_sub(before.cache_read).min(prompt),
        cache_write: now.cache_write.saturating_sub(before.cache_write),
        reasoning,
        ..now
    })
}
