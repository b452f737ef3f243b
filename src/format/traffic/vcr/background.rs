//! OpenAI's background mode: a request is answered at once without a reply, and the reply is fetched by its id until it is there.

use crate::format::ground::{Words, wire};
use crate::transcript::Usage;
use std::collections::HashMap;

/// A request and its response, however they were recorded.
pub struct Traffic {
    pub address: String,
    /// Is it a request that a model can answer?
    pub asks: bool,
    /// Its body; empty where it was not kept.
    pub request: String,
    pub response: Option<String>,
    /// When it was made, in milliseconds since 1970.
    pub time: Option<i64>,
    /// What the provider calls it; empty where that is not known.
    pub id: String,
    /// What its headers count, for replies that count nothing.
    pub usage: Option<Usage>,
}

wire! {
    /// What a response says of how far it has come.
    struct State<'a> { id: Words<'a>, status: Words<'a> }
}

impl State<'_> {
    fn of(traffic: &Traffic) -> Option<State<'_>> {
        serde_json::from_str(traffic.response.as_deref()?).ok()
    }

    fn is_pending(&self) -> bool {
        matches!(&*self.status, "queued" | "in_progress")
    }
}

/// The replies that were fetched, by the ids of their responses; none yet for those that are still awaited.
#[derive(Default)]
pub struct Replies<'t>(HashMap<String, Option<&'t str>>);

/// Finds what was fetched of what was asked before. Of several fetches of a response the last one counts.
pub fn replies<'t>(traffic: impl Iterator<Item = &'t Traffic>) -> Replies<'t> {
    let mut replies = Replies::default();
    for traffic in traffic {
        let Some(state) = State::of(traffic).filter(|state| !state.id.is_empty()) else { continue };
        match (is_poll(traffic), state.is_pending()) {
            (false, true) => drop(replies.0.insert(state.id.to_string(), None)),
            (true, false) => {
                replies.0.get_mut(&*state.id).into_iter().for_each(|reply| *reply = traffic.response.as_deref());
            }
            _ => {}
        }
    }
    replies
}

impl<'t> Replies<'t> {
    /// The reply to a request that was answered without one.
    pub fn to(&self, traffic: &Traffic) -> Option<&'t str> {
        let state = State::of(traffic).filter(State::is_pending)?;
        self.0.get(&*state.id).copied().flatten()
    }

    /// Does it only fetch what was asked for before?
    pub fn are_fetched_by(&self, traffic: &Traffic) -> bool {
        is_poll(traffic) && State::of(traffic).is_some_and(|state| self.0.contains_key(&*state.id))
    }
}

/// Does it ask how far a response has come? Its address ends in the response's id, and it sends nothing.
fn is_poll(traffic: &Traffic) -> bool {
    let path = traffic.address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let fetched = path.rsplit_once('/').is_some_and(|(before, id)| before.ends_with("/responses") && !id.is_empty() && id != "compact");
    let nothing = matches!(traffic.request.trim(), "" | "null" | "{}");
    fetched && nothing && State::of(traffic).is_some_and(|state| path.ends_with(&*state.id))
}
