//! The window that a session is replayed in, by one rule for every command: `--window`, `--model`, what the session's own log names, the catalogue.

use super::replay::ReplaySettings;
use crate::catalog::Family;
use crate::policy::{FALLBACK_WINDOW, Facts, Recorder, window_in_force};
use crate::trace::Trace;
use serde::Serialize;

/// Where a session's window came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowFrom {
    /// `--window`.
    Flag,
    /// The log names it.
    Log,
    /// The catalogue, for the model of the log or that of `--model`.
    Catalogue,
    /// The known window was smaller than a recorded prompt: a larger one was in force.
    Outgrown,
    /// Nobody knows the model: the policy's own default.
    Policy,
}

/// The window that a session is replayed in.
pub(super) struct Window {
    /// What policies reckon with.
    pub facts: Facts,
    /// What prompt and reply may come to together.
    pub window: u64,
    /// What a prompt may come to.
    pub prompt_limit: u64,
    pub from: WindowFrom,
    pub model: String,
    /// The window of the model in the catalogue; 0 where it knows none.
    catalogue: u64,
}

impl Window {
    /// The model, its window and the catalogue's, where the log set another one.
    pub fn instead_of_catalogue(&self) -> Option<(String, u64, u64)> {
        let window = self.facts.window.unwrap_or(self.window);
        (self.from == WindowFrom::Log && window != self.catalogue).then(|| (self.model.clone(), window, self.catalogue))
    }
}

/// The window of a session; `default` is what the policy takes for a model that nobody knows.
pub(super) fn window_of(trace: &Trace, default: Option<u64>, settings: &ReplaySettings<'_>) -> Window {
    let name = settings.model.as_deref().or_else(|| trace.main_model()).unwrap_or("");
    let model = settings.catalog.find(name);
    let max_output = model.and_then(|model| model.max_output).map_or(0, |tokens| tokens.0);
    let max_input = model.and_then(|model| model.max_input).map_or(0, |tokens| tokens.0);
    // As in every comparison with recorded usage, a model that nobody knows is of the family `other`.
    let family = Some(model.map_or(Family::Other, |model| model.family));
    let catalogue = model.map_or(0, |model| model.context.0);
    let known = |window: u64, max_input: u64, from: WindowFrom| Window {
        facts: Facts { window: Some(window), max_input, max_output, family },
        window,
        prompt_limit: if max_input > 0 { max_input.min(window) } else { window },
        from,
        model: name.to_owned(),
        catalogue,
    };
    if let Some(window) = settings.window {
        return known(window, 0, WindowFrom::Flag);
    }
    let largest = trace.largest_prompt();
    // A prompt and its reply that were recorded did fit.
    let filled = trace.largest_exchange();
    let of_flag = model.filter(|_| settings.model.is_some());
    if let Some(window) = logged(trace).filter(|_| of_flag.is_none()) {
        // A window within the provider's limit of a prompt is all that a prompt may come to. One beyond it, and not the catalogue's, was set by hand: the
        // agent went by it, and the provider by its limit.
        let prompt_limit = if max_input > 0 { max_input.min(window) } else { window };
        let by_hand = max_input < window && window != catalogue;
        let limit = if max_input == 0 || by_hand { 0 } else { prompt_limit };
        let named = known(window, limit, WindowFrom::Log);
        // What was recorded did fit, whatever the log names.
        return Window { window: window.max(filled), prompt_limit: prompt_limit.max(largest), ..named };
    }
    if let Some(model) = model {
        if largest <= model.prompt_limit().0 {
            return known(model.context.0, max_input, WindowFrom::Catalogue);
        }
        let larger = model.long_context.map(|tokens| tokens.0).filter(|window| *window >= filled);
        return known(larger.unwrap_or(filled), 0, WindowFrom::Outgrown);
    }
    let window = default.unwrap_or(FALLBACK_WINDOW).max(filled);
    let from = if trace.calls.is_empty() { WindowFrom::Catalogue } else { WindowFrom::Policy };
    known(window, 0, from)
}

/// The window that the session's log names, as its agent reckons with it.
fn logged(trace: &Trace) -> Option<u64> {
    let day = trace.day().unwrap_or_default();
    let recorder = Recorder { agent: &trace.agent, version: &trace.version, day: &day };
    trace.window.filter(|window| *window > 0).map(|window| window_in_force(recorder, window))
}
