//! A rule acts: what it selects is masked, cut, removed or summarised, as far as its guards let it.

use super::edit::{Done, inject, insert, shorten, text_of};
use super::event::{EventKind, reported_as};
use super::guard::{removable, removes_items};
use super::inputs::Inputs;
use super::state::State;
use super::summarise::summarise;
use super::window::Window;
use crate::context::{Context, Region, Replacement, SeenItem};
use crate::policy::{Action, Drop, Mask, Returning, Rule, Selection, Switch, Take, Truncate, own_text};

/// Does what a rule says, to the history as the rule finds it.
pub(super) fn act(state: &mut State<'_>, index: usize, rule: &Rule) -> Done {
    state.window.context.edit_for(Some(index as u32));
    state.gap = None;
    let returning: Vec<u64> = rule.inject.iter().map(|text| text.results.as_ref().map_or(0, |results| tokens_of(state, results))).collect();
    let done = match rule.action() {
        Some(Action::Mask(_)) => mask(state, index),
        Some(Action::Truncate(_)) => truncate(state, index),
        Some(Action::Drop(_)) if removes_items(rule) => remove_items(state, rule),
        Some(Action::Drop(drop)) => remove(state, index, rule, drop),
        Some(Action::Summarise(how)) => summarise(state, index, rule, how),
        None if rule.refuse == Switch::On => {
            state.belief.gives_up = true;
            Done::Changed(EventKind::GiveUp, 0)
        }
        None if rule.inject.is_empty() => Done::Nothing,
        None => {
            state.window.before_edit(rule);
            Done::Changed(EventKind::Inject, rule.inject.len() as u32)
        }
    };
    let window = &mut state.window;
    window.context.edit_for(None);
    if let (Done::Changed(..), Some(stored)) = (&done, window.replaced.take())
        && window.context.len() >= stored.context.len()
    {
        window.under_request = Some(stored);
    }
    if let Done::Changed(..) = done {
        rule.inject.iter().zip(returning).for_each(|(text, more)| inject(state, text, Some(text_of(text.tokens + more))));
    }
    done
}

/// What results and written texts that come back are in tokens.
fn tokens_of(state: &State<'_>, results: &Returning) -> u64 {
    let context = &state.window.context;
    let view = context.view();
    let of = |item: &SeenItem, tools: &[String]| {
        let name = item.tool.and_then(|tool| state.inputs.trace.tools.get(tool as usize));
        name.is_some_and(|name| tools.iter().any(|tool| tool.eq_ignore_ascii_case(name)))
    };
    let read = view
        .messages()
        .rev()
        .flat_map(|message| view.items_in(message, |region| matches!(region, Region::ToolResult | Region::ToolCall)).rev());
    let wanted = |item: &SeenItem| match item.region {
        Region::ToolCall => of(item, &results.written),
        _ => !item.error && of(item, &results.tools),
    };
    let size = |tokens: u64| if tokens > results.each { results.larger.unwrap_or(results.each) } else { tokens };
    let found = read.filter(wanted).filter_map(|item| context.item(item.id)).filter(|item| !item.superseded);
    found.take(results.last as usize).map(|item| size(item.actual)).sum()
}

fn mask(state: &mut State<'_>, index: usize) -> Done {
    let State { inputs, window, belief, .. } = state;
    let plan = inputs.plan;
    let Some((rule, mask)) = plan.rule.get(index).and_then(|rule| Some((rule, rule.mask.as_ref()?))) else { return Done::Nothing };
    if window.leaves_all(rule) {
        return Done::Nothing;
    }
    let masked = |items| if items > 0 { Done::Changed(reported_as(rule, EventKind::Prune), items) } else { Done::Nothing };
    if let Some(items) = window.mask_in_kept_view(inputs, index, rule, mask) {
        return masked(items as u32);
    }
    let replacements = replacements(inputs, window, index, rule, mask);
    let enough_by_now = |context: &Context| match rule.select.take {
        Take::UntilRequest(target) => (context.view().request() + belief.incoming) as f64 <= target,
        _ => false,
    };
    if replacements.is_empty() || enough_by_now(&window.context) {
        return Done::Nothing;
    }
    window.before_edit(rule);
    let mut touched = 0;
    for (item, by) in replacements {
        if enough_by_now(&window.context) {
            break;
        }
        window.context.replace(item, by);
        window.cuts.remove(&item);
        touched += 1;
    }
    masked(touched)
}

/// What a rule's mask would replace, in that order. Where what it looks for is followed from call to call, there is no need to look
/// for it.
fn replacements<'a>(inputs: &Inputs<'a>, window: &mut Window<'a>, index: usize, rule: &'a Rule, mask: &Mask) -> Vec<(u32, Replacement)> {
    let place = window.find(inputs, index, rule, mask);
    let context = &window.context;
    match place.and_then(|place| window.candidates(place)) {
        Some(candidates) => {
            let ids = candidates.ids(0..candidates.replaced_by(rule)).iter();
            ids.filter_map(|id| inputs.masked(context, index, rule, mask, *id).map(|by| (*id, by))).collect()
        }
        None => inputs.maskable(context, index, rule, mask, &rule.select.items(context.view(), &inputs.trace.tools)),
    }
}

fn truncate(state: &mut State<'_>, index: usize) -> Done {
    let State { inputs, window, .. } = state;
    let plan = inputs.plan;
    let Some((rule, limits)) = plan.rule.get(index).and_then(|rule| Some((rule, rule.truncate.as_ref()?))) else { return Done::Nothing };
    if window.leaves_all(rule) {
        return Done::Nothing;
    }
    let all = |window: &Window<'_>| rule.select.items(window.context.view(), &inputs.trace.tools);
    let items = window.uncut(inputs, rule).unwrap_or_else(|| all(window));
    let done = truncate_these(state, rule, limits, &items);
    if let Done::Changed(..) = done {
        state.window.note_cuts(rule);
    }
    done
}

/// Cuts those of these items that are longer than the limits.
pub(super) fn truncate_these(state: &mut State<'_>, rule: &Rule, limits: &Truncate, items: &[SeenItem]) -> Done {
    let State { inputs, window, .. } = state;
    let changes = window.cuttable(inputs, rule, limits, items);
    if changes.is_empty() {
        return Done::Nothing;
    }
    window.before_edit(rule);
    let touched = changes.len() as u32;
    for (item, by, text) in changes {
        window.context.replace(item, by);
        window.cuts.insert(item, text);
    }
    Done::Changed(reported_as(rule, EventKind::Truncate), touched)
}

fn remove(state: &mut State<'_>, index: usize, rule: &Rule, drop: &Drop) -> Done {
    let State { window, belief, .. } = state;
    if let Some((gone, gap)) = window.drop_in_kept_view(index, rule, belief.incoming) {
        if gone == 0 {
            return Done::Nothing;
        }
        state.gap = gap;
        let done = dropped(state, rule, drop, gone);
        state.window.note_marker();
        return done;
    }
    match state.window.selection(rule, state.belief.incoming) {
        Some(selection) => remove_these(state, rule, drop, &selection),
        None => Done::Nothing,
    }
}

/// Removes the messages of a selection. A line stands for them, if the rule has one.
pub(super) fn remove_these(state: &mut State<'_>, rule: &Rule, drop: &Drop, selection: &Selection) -> Done {
    let State { inputs, window, .. } = state;
    window.before_edit(rule);
    shorten(inputs, &mut window.context, rule, selection);
    let leaving = selection.leaving();
    state.gap = window.context.remove(&leaving);
    dropped(state, rule, drop, leaving.len())
}

/// So many messages have gone: a line stands for them, if the rule has one.
fn dropped(state: &mut State<'_>, rule: &Rule, drop: &Drop, gone: usize) -> Done {
    insert(state, &own_text(&drop.marker_for(gone)), drop.role, drop.place);
    state.rewritten();
    Done::Changed(reported_as(rule, EventKind::Drop), gone as u32)
}

fn remove_items(state: &mut State<'_>, rule: &Rule) -> Done {
    let State { inputs, window, .. } = state;
    let view = window.context.view();
    if !view.holds(Region::Thinking) && !view.holds(Region::Image) {
        return Done::Nothing;
    }
    let items = rule.select.items(view, &inputs.trace.tools);
    if !removable(rule, &items) {
        return Done::Nothing;
    }
    let ids: Vec<u32> = items.iter().map(|item| item.id).collect();
    remove_these_items(window, rule, &ids)
}

pub(super) fn remove_these_items(window: &mut Window<'_>, rule: &Rule, items: &[u32]) -> Done {
    window.before_edit(rule);
    items.iter().for_each(|item| window.context.remove_item(*item));
    Done::Changed(reported_as(rule, EventKind::Drop), items.len() as u32)
}
