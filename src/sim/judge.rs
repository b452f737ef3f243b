//! What was forgotten: for each reference of a call, whether its evidence still stands in the context.

use super::conditions::Refetching;
use super::inputs::Inputs;
use super::ledger::{Detail, Ledger};
use super::retention::{Broken, Category, Fate, OF_LOG, fate, lost};
use super::window::Window;
use crate::context::Context;
use crate::trace::{Evidence, Place, Reference, Trace};
use std::cmp::Reverse;

/// So many broken references of a session are named, where not all of them are asked for: the heaviest.
const NAMED: usize = 10;

/// Looks at the references of the reply that is about to be made.
pub(super) fn judge(inputs: &Inputs<'_>, window: &Window<'_>, ledger: &mut Ledger, message: u32) {
    let (trace, context) = (inputs.trace, &window.context);
    let retention = &mut ledger.outcome.totals.retention;
    retention.dead_tokens += context.dead_weight();
    retention.carried_tokens += context.recorded();
    let ahead = trace.references.get(ledger.next_reference..).unwrap_or_default();
    ledger.next_reference += ahead.iter().take_while(|one| one.message < message).count();
    let references = made_by(trace, ledger.next_reference, message);
    if references.is_empty() {
        return;
    }
    let categories = inputs.intake.categories(trace);
    let mut lines_broken = false;
    for reference in references {
        let Some(source) = reference.sources.first() else { continue };
        let fate = fate(context, trace, reference);
        let Some(category) = categories.get(source.part as usize).copied() else { continue };
        ledger.outcome.totals.retention.fates.entry((reference.kind, category)).or_default().count(fate);
        if fate != Fate::Kept {
            lines_broken |= reference.kind == Evidence::Line;
            let rule = context.taken_by(source.part).unwrap_or(OF_LOG);
            ledger.broken_by.entry((reference.kind, rule)).or_default().count(fate);
            count_unmended(inputs, ledger, reference, fate);
            if ledger.detail == Detail::Everything {
                name_broken(inputs, context, ledger, reference, source.part, category, fate);
            }
        }
    }
    ledger.outcome.totals.retention.broken_calls += u64::from(lines_broken);
}

/// The references of a message.
pub(super) fn references_of(trace: &Trace, message: u32) -> &[Reference] {
    made_by(trace, trace.references.partition_point(|one| one.message < message), message)
}

/// Those of them from a place on.
fn made_by(trace: &Trace, from: usize, message: u32) -> &[Reference] {
    let behind = trace.references.get(from..).unwrap_or_default();
    let count = behind.iter().take_while(|one| one.message == message).count();
    behind.get(..count).unwrap_or_default()
}

/// The latest source that a tool can bring back: a result, or what a call has written.
pub(super) fn readable<'r>(trace: &Trace, reference: &'r Reference) -> Option<&'r Place> {
    let brings_back =
        |place: &&Place| matches!(Category::of(trace, place.part), Category::ToolResults | Category::Errors | Category::Edits);
    reference.sources.iter().find(brings_back)
}

/// Why a reference is still broken although the agent reads again what it misses.
fn count_unmended(inputs: &Inputs<'_>, ledger: &mut Ledger, reference: &Reference, fate: Fate) {
    let refetch = inputs.conditions.refetch;
    if reference.kind != Evidence::Line || refetch == Refetching::Never {
        return;
    }
    let sum = &mut ledger.outcome.totals.refetches;
    *match readable(inputs.trace, reference) {
        _ if fate == Fate::Summarised && refetch == Refetching::Lost => &mut sum.at_risk,
        None => &mut sum.beyond_reach,
        Some(place) if ledger.read_here.contains(&place.part) => &mut sum.in_vain,
        Some(_) => &mut sum.passed_over,
    } += 1;
}

fn name_broken(
    inputs: &Inputs<'_>,
    context: &Context,
    ledger: &mut Ledger,
    reference: &Reference,
    part: u32,
    category: Category,
    fate: Fate,
) {
    let (trace, plan) = (inputs.trace, inputs.plan);
    let rank = |broken: &Broken| (broken.kind, Reverse(broken.weight), broken.call, broken.source);
    let broken = Broken {
        call: ledger.index as u32,
        source: trace.place_in_log(trace.message_of(part).unwrap_or(0)),
        category,
        tool: inputs.part(part).and_then(|row| row.tool.get()).and_then(|tool| trace.tools.get(tool as usize)).cloned(),
        kind: reference.kind,
        weight: lost(context, trace, reference),
        fate,
        rule: context.taken_by(part).and_then(|rule| plan.rule.get(rule as usize)).map(|rule| rule.id.clone()),
        path: trace.path_of(part).map(str::to_owned),
        distance_tokens: 0,
        distance_calls: 0,
    };
    let worst = &mut ledger.outcome.broken;
    let place = worst.partition_point(|other| rank(other) <= rank(&broken));
    let most = if inputs.conditions.names_all_lost { usize::MAX } else { NAMED };
    if place >= most {
        return;
    }
    let source = trace.message_of(part).unwrap_or(0);
    let since = trace.messages.get(source as usize + 1..reference.message as usize).unwrap_or_default();
    let parts = since.iter().flat_map(|row| trace.parts_of(row));
    let calls = trace.calls.iter().take(ledger.index).rev().take_while(|call| call.message >= source).count();
    worst.insert(place, Broken { distance_tokens: parts.map(|part| part.truth).sum(), distance_calls: calls as u32, ..broken });
    worst.truncate(most);
}
