//! The guards of a rule: does what it would do come to enough?

use crate::context::{Context, SeenItem, View};
use crate::policy::{Basis, Bounds, Carried, Comparison, Kind, MinSaving, Range, Rule, Select, Selection, Stretch};

/// Messages that a selection takes, with what guards ask about them.
#[derive(Debug)]
pub(super) struct Chosen {
    pub selection: Selection,
    /// How many of those that go are no earlier summaries.
    pub new: u64,
    /// Estimated tokens of the messages that go.
    pub gross: u64,
}

impl Chosen {
    /// The messages that a selection takes between its bounds. A message of so many estimated tokens is about to enter.
    pub fn between(select: &Select, range: &Range, bounds: Bounds, context: &Context, incoming: u64) -> Chosen {
        let view = context.view();
        let selection = select.between(range, bounds, view, view.request() + incoming);
        let new = selection.gone.iter().filter(|id| context.look_at(**id, |entry| !entry.is_summary) == Some(true)).count() as u64;
        let gross = selection.gone.iter().map(|id| context.estimate_of(*id)).sum();
        Chosen { selection, new, gross }
    }

    /// Do the guards of a rule let it act upon these messages?
    pub fn permitted(&self, rule: &Rule) -> bool {
        let selection = &self.selection;
        // Where the next compaction loses what this one keeps, one that finds nothing to sum up still parts that from what comes.
        let something = match rule.select.carried {
            Carried::Lost if rule.summarise.is_some() => selection.looked_at as u64 + self.new > selection.gone.len() as u64,
            _ => !selection.gone.is_empty() || !selection.shortened.is_empty(),
        };
        something && worth_it(rule, selection.gone.len(), selection.looked_at, self.new, self.gross)
    }
}

/// Do the guards of a rule let it act upon messages that stand side by side?
pub(super) fn permitted(rule: &Rule, taken: Stretch) -> bool {
    let gone = taken.end - taken.start;
    gone > 0 && worth_it(rule, gone, taken.looked_at, taken.new, taken.tokens)
}

/// Do so many messages that go make up enough, of all that were looked at, of new ones, and in tokens?
fn worth_it(rule: &Rule, gone: usize, looked_at: usize, new: u64, gross: u64) -> bool {
    let progress = gone as f64 >= rule.min_progress.unwrap_or(0.0) * looked_at as f64;
    progress && new >= rule.min_messages.unwrap_or(0) && enough(rule.min_saving.as_ref(), gross, 0)
}

/// The messages that a rule would remove or summarise; `None` where there are none, or a guard forbids it.
pub(super) fn selection(rule: &Rule, context: &Context, incoming: u64) -> Option<Selection> {
    let range = rule.select.looked_at(context.view());
    let chosen = Chosen::between(&rule.select, &range, rule.select.bounds(&range), context, incoming);
    chosen.permitted(rule).then_some(chosen.selection)
}

/// Does a removal take reasoning or pictures out of messages, instead of whole messages?
pub(super) fn removes_items(rule: &Rule) -> bool {
    let parts_alone = |kind: &Kind| matches!(kind, Kind::Thinking | Kind::Image);
    !rule.select.kind.is_empty() && rule.select.kind.iter().all(parts_alone)
}

/// Are there items to remove, and do they save enough?
pub(super) fn removable(rule: &Rule, items: &[SeenItem]) -> bool {
    !items.is_empty() && enough(rule.min_saving.as_ref(), items.iter().map(|item| item.alone).sum(), 0)
}

/// Does a rule that masks or cuts results leave all of them, however they stand, even if they were larger by so many tokens together? Then there
/// is no need to look at each.
pub(super) fn leaves_all(rule: &Rule, view: View<'_>, more: u64) -> bool {
    rule.select.most(view).is_some_and(|most| {
        let most = most.saturating_add(more);
        rule.select.keeps_all(most) || !enough(rule.min_saving.as_ref(), most, 0)
    })
}

/// Does it save enough?
pub(super) fn enough(guard: Option<&MinSaving>, gross: u64, comes: u64) -> bool {
    let Some(guard) = guard else { return true };
    let saving = match guard.basis {
        Basis::Gross => gross,
        Basis::Net => gross.saturating_sub(comes),
    };
    match guard.cmp {
        Comparison::Gt => saving > guard.tokens,
        Comparison::Ge => saving >= guard.tokens,
    }
}
