//! What a program has decided is done: by the functions that carry out the rules of all policies.

use super::act::{remove_these, remove_these_items, truncate_these};
use super::edit::{Done, inject};
use super::event::{EventKind, reported_as};
use super::state::State;
use super::summarise::summarise_these;
use crate::context::{Context, Item, SeenItem, State as ItemState};
use crate::policy::{Edit, Mask, Rule, Selection, Summarise, Truncate};
use crate::transcript::Role;
use std::collections::BTreeSet;

/// Can these edits be made of this context? If not, why.
pub(super) fn possible(context: &Context, edits: &[Edit]) -> Result<(), String> {
    let mut gone: BTreeSet<u32> = BTreeSet::new();
    for edit in edits {
        for id in &edit.messages {
            let entry = context.entry(*id).filter(|entry| entry.live && !gone.contains(id));
            let Some(entry) = entry else { return Err(format!("it edits message {id}, which is not in the context")) };
            if entry.role == Role::System && !entry.is_summary {
                return Err(format!("it edits message {id}, which is the system's"));
            }
            gone.insert(*id);
        }
        let mut named = BTreeSet::new();
        for id in &edit.items {
            let leaves = |id: &u32| {
                gone.iter().filter_map(|id| context.entry(*id)).any(|entry| (entry.first..entry.first + entry.count).contains(id))
            };
            let item = context.item(*id).filter(|item| item.state != ItemState::Removed && context.role_of(*id).is_some() && !leaves(id));
            let Some(item) = item.filter(|_| named.insert(*id)) else {
                return Err(format!("it edits item {id}, which is not in the context"));
            };
            if context.role_of(*id) == Some(Role::System) {
                return Err(format!("it edits item {id}, which is the system's"));
            }
            if item.part.is_none() && edit.drop.is_none() {
                return Err(format!("it cuts item {id}, which is a text of the policy's own"));
            }
        }
    }
    Ok(())
}

/// The limits that items of an arriving message are cut to, by their places.
pub(super) fn truncations(items: &[Item], edits: &[Edit]) -> Result<Vec<(u32, Truncate)>, String> {
    let mut limits = Vec::new();
    for edit in edits {
        let Some(truncate) = &edit.truncate else { return Err("as an item arrives it can only be truncated".to_owned()) };
        for place in &edit.items {
            if items.get(*place as usize).is_none_or(|item| item.part.is_none()) {
                return Err(format!("it cuts item {place} of a message that arrives with {}", items.len()));
            }
            limits.push((*place, truncate.clone()));
        }
    }
    Ok(limits)
}

/// Carries out edits that make one event.
pub(super) fn carry_out(state: &mut State<'_>, index: usize, rule: &Rule, edits: &[Edit]) -> Done {
    state.window.context.edit_for(Some(index as u32));
    state.gap = None;
    let mut done = Done::Nothing;
    for edit in edits.iter().filter(|edit| edit.inject.is_none()) {
        done = done.and(one(state, index, rule, edit));
    }
    state.window.context.edit_for(None);
    let injects = || edits.iter().filter_map(|edit| Some((edit.inject.as_ref()?, edit.text.as_deref())));
    if edits.first().is_some_and(|edit| edit.inject.is_some()) {
        state.window.before_edit(rule);
        done = Done::Changed(EventKind::Inject, injects().count() as u32);
    }
    if let Done::Changed(..) = done {
        for (edit, text) in injects() {
            let weighed = text.and_then(|text| state.talk.as_ref()?.weigh(text));
            inject(state, edit, weighed);
        }
    }
    done
}

fn one(state: &mut State<'_>, index: usize, rule: &Rule, edit: &Edit) -> Done {
    let in_order = |context: &Context| {
        let mut messages = edit.messages.clone();
        messages.sort_by_key(|id| context.place_of(*id));
        Selection { gone: messages, looked_at: context.len(), ..Selection::default() }
    };
    if let Some(how) = &edit.mask {
        return mask(state, rule, how, &edit.items);
    }
    if let Some(limits) = &edit.truncate {
        let view = state.window.context.view();
        let items: Vec<SeenItem> = edit.items.iter().filter_map(|id| view.item(*id)).collect();
        return truncate_these(state, rule, limits, &items);
    }
    if edit.drop.is_some() && !edit.items.is_empty() {
        return remove_these_items(&mut state.window, rule, &edit.items);
    }
    if let Some(drop) = &edit.drop {
        let selection = in_order(&state.window.context);
        return remove_these(state, rule, drop, &selection);
    }
    if let Some(how) = &edit.summarise {
        let selection = in_order(&state.window.context);
        let text = edit.text.as_deref().and_then(|text| state.talk.as_ref()?.weigh(text));
        let tokens = text.as_ref().map(|text| u64::from(text.tokens)).or(how.tokens);
        return summarise_these(state, index, rule, &Summarise { tokens, ..how.clone() }, selection, text);
    }
    Done::Nothing
}

fn mask(state: &mut State<'_>, rule: &Rule, mask: &Mask, items: &[u32]) -> Done {
    let State { inputs, window, .. } = state;
    let replacements = items.iter().filter_map(|id| Some((*id, inputs.masked_by(&window.context, rule, mask, *id)?)));
    let replacements: Vec<_> = replacements.collect();
    if replacements.is_empty() {
        return Done::Nothing;
    }
    window.before_edit(rule);
    let touched = replacements.len() as u32;
    for (item, by) in replacements {
        window.context.replace(item, by);
        window.cuts.remove(&item);
    }
    Done::Changed(reported_as(rule, EventKind::Prune), touched)
}
