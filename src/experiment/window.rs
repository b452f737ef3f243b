//! The window that a session is replayed in, by one rule for every command: `--window`, `--model`, what the session's own log names, what its own compactions imply, the
//! catalogue: for the host that served the session, else for the model. Calls that went on above the limit of the catalogue's window show a larger one.

use super::settings::ReplaySettings;
use crate::catalog::{Catalog, Family, Model};
use crate::corpus::prompt_of;
use crate::policy::{FALLBACK_WINDOW, Facts, ImpliedWindow, Recorder, Switch, implied_window, window_in_force};
use crate::sim::{Conditions, RecordedSummary};
use crate::trace::{CallRow, CompactionRow, Trace};
use crate::transcript::CompactionKind;
use crate::units::Tokens;
use serde::Serialize;

/// Where a session's window came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowFrom {
    /// The user gave it with `--window`.
    Flag,
    /// The log names it.
    Log,
    /// The session's own automatic compactions imply it, where the provider's server sets windows.
    Compactions,
    /// Calls above the agent's own limit that no compaction followed: a larger window was in force, or the agent compacted at no size.
    Uncompacted,
    /// The catalogue, for the host that the log names.
    Host,
    /// The catalogue, for the model of the log or that of `--model`.
    Catalogue,
    /// The known window was smaller than a recorded prompt, of its model or of another one of the session: a larger one is taken.
    Outgrown,
    /// The model is unknown: the policy's own default.
    Policy,
}

/// The window that a session is replayed in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Window {
    /// What policies are planned for: window, limits of prompt and reply, family.
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
    /// The model, its window and the catalogue's, where log or host set another one.
    pub fn instead_of_catalogue(&self) -> Option<(String, u64, u64)> {
        let window = self.facts.window.unwrap_or(self.window);
        (matches!(self.from, WindowFrom::Log | WindowFrom::Compactions | WindowFrom::Host) && window != self.catalogue)
            .then(|| (self.model.clone(), window, self.catalogue))
    }

    /// What holds for a session in it.
    pub fn conditions(&self, reserve: Option<u64>, recorded_summary: Option<RecordedSummary>) -> Conditions {
        let Window { window, prompt_limit, .. } = *self;
        Conditions { window, prompt_limit, reserve, recorded_summary, ..Conditions::default() }
    }

    /// The model, the limit of its prompts and its window, where the limit is the smaller one.
    pub fn smaller_prompts(&self) -> Option<(String, u64, u64)> {
        (self.prompt_limit < self.window).then(|| (self.model.clone(), self.prompt_limit, self.window))
    }
}

/// Whose calls speak for a session's window: what another model than the main one took says nothing of it.
pub(super) struct MainModel(Vec<bool>);

impl MainModel {
    /// Names of one entry of the catalogue are one model.
    pub fn of(trace: &Trace, catalog: &Catalog) -> MainModel {
        MainModel::alike(trace, catalog, |one, main| one == main)
    }

    /// With it those whose windows are the same by the catalogue: what is held against a window is held against theirs.
    pub fn with_its_window(trace: &Trace, catalog: &Catalog) -> MainModel {
        MainModel::alike(trace, catalog, |one, main| (one.context, one.max_input) == (main.context, main.max_input))
    }

    fn alike(trace: &Trace, catalog: &Catalog, is_alike: impl Fn(&Model, &Model) -> bool) -> MainModel {
        let main = trace.main_model().unwrap_or("");
        let known = catalog.find(main);
        let is_main = |named: &String| named == main || catalog.find(named).zip(known).is_some_and(|(one, main)| is_alike(one, main));
        MainModel(trace.models.iter().map(is_main).collect())
    }

    /// Is the call one of the main model, or of none that the log names?
    pub fn made(&self, call: &CallRow) -> bool {
        call.model.get().and_then(|model| self.0.get(model as usize)).is_none_or(|same| *same)
    }
}

/// The window of a session; `default` is what the policy takes for an unknown model. A prompt that the provider refused as too large bounds what it takes, but where the user says
/// which window or model to take. What the agent takes the window for stays.
pub(super) fn window_of(trace: &Trace, default: Option<u64>, settings: &ReplaySettings<'_>) -> Window {
    let window = window_named(trace, default, settings);
    if trace.refusals.is_empty() || settings.window.is_some() || settings.model.is_some() {
        return window;
    }
    let refused = refused(trace, &MainModel::of(trace, settings.catalog)).unwrap_or(u64::MAX);
    Window { prompt_limit: window.prompt_limit.min(refused.saturating_sub(1)), ..window }
}

/// The size of the smallest prompt that the provider refused as too large, as far as the log shows it: the last prompt before it, and what had come since. `None` where a prompt as
/// large was taken, which it must be for the size to say something, and of refusals without a recorded prompt before them.
fn refused(trace: &Trace, main: &MainModel) -> Option<u64> {
    let size = |place: &u32| {
        let next = trace.calls.partition_point(|call| call.message < *place);
        let call = trace.calls.get(next.checked_sub(1)?)?;
        let is_whole = trace.compactions_before(call.message as usize + 1..*place as usize + 1).is_empty();
        let since = trace.messages.get(call.message as usize..*place as usize)?;
        let arrived: u64 = since.iter().flat_map(|row| trace.parts_of(row)).map(|part| part.truth).sum();
        // Where another model goes on, it may be the one that was asked.
        let asked = main.made(call) && trace.calls.get(next).is_none_or(|next| main.made(next));
        let prompt = prompt_of(call).filter(|_| is_whole && asked)?;
        Some(prompt + arrived)
    };
    let smallest = trace.refusals.iter().filter_map(size).min()?;
    let taken = trace.calls.iter().filter_map(prompt_of).max().unwrap_or(0);
    Some(smallest).filter(|smallest| *smallest > taken)
}

fn window_named(trace: &Trace, default: Option<u64>, settings: &ReplaySettings<'_>) -> Window {
    let name = settings.model.as_deref().or_else(|| trace.main_model()).unwrap_or("");
    let model = settings.catalog.find(name);
    let max_output = model.and_then(|model| model.max_output).map_or(0, |tokens| tokens.0);
    let max_input = model.and_then(|model| model.max_input).map_or(0, |tokens| tokens.0);
    // As in every comparison with recorded usage, an unknown model is of the family `other`.
    let family = Some(model.map_or(Family::Other, |model| model.family));
    let item_bytes = u64::from(trace.item_bytes);
    let sealed_thousandths = model.and_then(|model| model.sealed_thousandths).unwrap_or(0);
    let catalogue = model.map_or(0, |model| model.context.0);
    let day = trace.day();
    let on_host =
        trace.host.as_deref().zip(model).and_then(|(host, model)| settings.catalog.host_limits(host, model, &trace.agent, day.as_deref()));
    let longer = on_host.and_then(|limits| limits.long_context).or(model.and_then(|model| model.long_context)).map_or(0, |tokens| tokens.0);
    let known = |window: u64, max_input: u64, from: WindowFrom| Window {
        facts: Facts { window: Some(window), max_input, max_output, family, item_bytes, sealed_thousandths },
        window,
        prompt_limit: if max_input > 0 { max_input.min(window) } else { window },
        from,
        model: name.to_owned(),
        catalogue,
    };
    let main = MainModel::of(trace, settings.catalog);
    // A prompt and its reply that were recorded did fit.
    let [(largest, filled), (largest_of_others, filled_by_others)] = [true, false].map(|own| {
        let usages = trace.calls.iter().filter(|call| main.made(call) == own).filter_map(|call| call.own_usage());
        usages.fold((0, 0), |(largest, filled), usage| (usage.prompt.max(largest), (usage.prompt + usage.output).max(filled)))
    });
    let holding_others = |known: Window| {
        let holds = filled_by_others <= known.window && largest_of_others <= known.prompt_limit;
        Window {
            window: known.window.max(filled_by_others),
            prompt_limit: known.prompt_limit.max(largest_of_others),
            // A default of the policy stays one.
            from: if holds || known.from == WindowFrom::Policy { known.from } else { WindowFrom::Outgrown },
            ..known
        }
    };
    let of_flag = model.filter(|_| settings.model.is_some());
    if let Some(window) = settings.window {
        // The model's own limit on prompts stays, unless recorded ones show that there is none.
        let stays = max_input < window && (of_flag.is_some() || largest.max(largest_of_others) <= max_input);
        return known(window, if stays { max_input } else { 0 }, WindowFrom::Flag);
    }
    // What the log or the host says holds for the model that was recorded.
    let named = (of_flag.is_none()).then(|| {
        let of_log = || Some((logged(trace, day.as_deref())?, max_input, max_output, WindowFrom::Log));
        let of_host = || {
            let limits = on_host?;
            // A prompt beyond the maker's own window was sent into the maker's bigger one.
            if limits.context.0 == catalogue && largest > catalogue {
                return None;
            }
            if limits.long_context.is_some_and(|long| largest > limits.context.0 && largest <= long.0) {
                return Some((longer, 0, max_output, WindowFrom::Host));
            }
            let tokens = |limit: Option<Tokens>| limit.map_or(0, |tokens| tokens.0);
            Some((limits.context.0, tokens(limits.max_input), tokens(limits.max_output), WindowFrom::Host))
        };
        let rule = implied_window(recorder(trace, day.as_deref()));
        let of_compactions = || {
            // The catalogue's own window needs no compaction to show it, unless the provider took more.
            let rule = rule.filter(|rule| rule.by_calls_alone == Switch::Off)?;
            let window = implied(trace, &main, rule, filled).filter(|window| *window != catalogue || filled > *window)?;
            Some((window, 0, max_output, WindowFrom::Compactions))
        };
        let of_calls = || {
            let usual = of_host().map(|(window, ..)| window).or_else(|| Some(model?.context.0)).or(default).unwrap_or(FALLBACK_WINDOW);
            let window = beyond(trace, &main, rule?, usual, filled)?;
            Some((if longer >= window { longer } else { window }, 0, max_output, WindowFrom::Uncompacted))
        };
        of_log().or_else(of_compactions).or_else(of_calls).or_else(of_host)
    });
    if let Some((window, max_input, max_output, from)) = named.flatten() {
        // A window within the provider's limit of a prompt is all that a prompt may come to. One beyond it, and not the catalogue's, was set by hand: the
        // agent went by it, and the provider by its limit.
        let prompt_limit = if max_input > 0 { max_input.min(window) } else { window };
        let by_hand = from == WindowFrom::Log && max_input < window && window != catalogue;
        let max_input = if max_input == 0 || by_hand { 0 } else { prompt_limit };
        let facts = Facts { window: Some(window), max_input, max_output, family, item_bytes, sealed_thousandths };
        // An agent may reckon with less than the provider takes. What it took beyond that shows the provider's own window.
        let reckons_with_less = from == WindowFrom::Compactions && filled > window;
        let own = [catalogue, longer].into_iter().find(|own| reckons_with_less && *own >= filled);
        // What was recorded did fit, whatever the log or the catalogue names. A prompt beyond the limit shows no other one.
        let filled = window.max(own.unwrap_or(filled));
        let from = if largest > window && own.is_none() { WindowFrom::Outgrown } else { from };
        let prompt_limit = if largest > prompt_limit || own.is_some() { filled } else { prompt_limit };
        return holding_others(Window { facts, window: filled, prompt_limit, ..known(window, max_input, from) });
    }
    if let Some(model) = model {
        let of_catalogue = known(model.context.0, max_input, WindowFrom::Catalogue);
        // A model that the user names is held to its window, whatever the recorded one took.
        if of_flag.is_some() {
            return of_catalogue;
        }
        if largest <= model.prompt_limit().0 {
            return holding_others(of_catalogue);
        }
        return holding_others(known(if longer >= filled { longer } else { filled }, 0, WindowFrom::Outgrown));
    }
    let window = default.unwrap_or(FALLBACK_WINDOW).max(filled);
    let from = if trace.calls.is_empty() { WindowFrom::Catalogue } else { WindowFrom::Policy };
    holding_others(known(window, 0, from))
}

/// At so many calls in a row Claude Code tries to compact if the summary fails, and makes each call all the same. No log notes that.
const FAILURES: usize = 3;

fn is_automatic(row: &&CompactionRow) -> bool {
    row.automatic == Some(true) && row.kind == CompactionKind::Compact && !row.copy
}

/// The window that the session's own automatic compactions imply, by the presets of its agent: what the last call but one before each of them
/// came to was below the limit, or it would have compacted there (where it did, that call says nothing), and what the log names at each of them was not. Where no window fits
/// all of them, the one that fits most: a session may begin with a copy of another, or be taken up with another setting.
fn implied(trace: &Trace, main: &MainModel, rule: &ImpliedWindow, filled: u64) -> Option<u64> {
    // Once for all of them: a session may compact at every call.
    let used: Vec<&CallRow> = trace.calls.iter().filter(|call| call.own_usage().is_some()).collect();
    let below = |row: &CompactionRow| {
        let before = used.partition_point(|call| call.message < row.before);
        let call = used.get(before.checked_sub(2)?).filter(|call| main.made(call))?;
        let next = used.get(before.checked_sub(1)?)?;
        let compacted = trace.compactions_before(call.message as usize + 1..next.message as usize + 1);
        let usage = call.own_usage().filter(|_| compacted.iter().all(|event| event.kind != CompactionKind::Compact))?;
        Some(usage.prompt + usage.output)
    };
    let events: Vec<(Option<u64>, Option<u64>)> =
        trace.compactions.iter().filter(is_automatic).map(|row| (below(row), row.tokens_before)).collect();
    rule.of_most(&events).or_else(|| {
        let largest = events.iter().filter_map(|(below, _)| *below).max()?;
        let compacted = events.iter().filter_map(|(_, size)| *size).min();
        rule.window(largest, compacted, filled)
    })
}

/// The window of a session without an automatic compaction whose calls stood above the limit of its usual one, or `None` where they did not, or the
/// provider refused a prompt that a larger one would hold: the agent compacted at no size then. A call stood there if the next prompt did too. The last one of a log tells nothing: what
/// would have come next is not known.
fn beyond(trace: &Trace, main: &MainModel, rule: &ImpliedWindow, usual: u64, filled: u64) -> Option<u64> {
    let is_smaller = |size: u64| size.saturating_add(rule.below) >= usual;
    if filled > usual || !is_smaller(filled) || trace.compactions.iter().any(|row| is_automatic(&row)) {
        return None;
    }
    let own = trace.calls.iter().filter(|call| main.made(call)).filter_map(|call| call.own_usage());
    let next = own.clone().skip(1);
    let mut stood: Vec<u64> = own.zip(next).map(|(usage, next)| next.prompt.min(usage.prompt + usage.output)).collect();
    stood.retain(|size| is_smaller(*size));
    stood.sort_unstable_by(|one, other| other.cmp(one));
    let window = rule.window(*stood.get(FAILURES)?, None, filled).filter(|window| *window > usual)?;
    refused(trace, main).is_none_or(|size| size >= window).then_some(window)
}

fn recorder<'t>(trace: &'t Trace, day: Option<&'t str>) -> Recorder<'t> {
    let model = trace.main_model().unwrap_or_default();
    Recorder { agent: &trace.agent, version: &trace.version, day: day.unwrap_or_default(), model, window: None }
}

/// The window that the session's log names, as its agent reckons with it.
pub(super) fn logged(trace: &Trace, day: Option<&str>) -> Option<u64> {
    trace.window.filter(|window| *window > 0).map(|window| window_in_force(recorder(trace, day), window))
}
