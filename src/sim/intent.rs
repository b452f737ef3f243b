//! What a rule would do to the context as it stands, before it is done: by this the rules of two settings are compared.

use super::act::{removable, removes_items};
use super::state::State;
use crate::context::SeenItem;
use crate::policy::{Rule, Select, Selection, Take};

/// What a rule would act upon. Rules that differ in their selections and guards alone, and act upon the same, do the same.
#[derive(Debug, PartialEq)]
pub(super) enum Intent {
    /// There is nothing to do, or a guard forbids it.
    Nothing,
    /// These items.
    Items(Vec<u32>),
    /// These messages.
    Messages(Selection),
    /// It only puts text in.
    Text,
}

/// Selections of items that were worked out for the same context.
#[derive(Default)]
pub(super) struct Known<'r>(Vec<(&'r Select, Vec<SeenItem>)>);

impl<'r> Known<'r> {
    fn items(&mut self, state: &State<'_>, select: &'r Select) -> &[SeenItem] {
        let known = self.0.iter().position(|(known, _)| *known == select);
        let place = known.unwrap_or_else(|| {
            self.0.push((select, select.items(state.context.view(), &state.trace.tools)));
            self.0.len() - 1
        });
        self.0.get(place).map_or(&[], |(_, items)| items)
    }
}

impl State<'_> {
    /// What a rule would act upon.
    pub fn intent<'r>(&self, rule: &'r Rule, known: &mut Known<'r>) -> Intent {
        let items = |items: Vec<u32>| if items.is_empty() { Intent::Nothing } else { Intent::Items(items) };
        match (&rule.mask, &rule.truncate, &rule.drop, &rule.summarise) {
            (Some(mask), ..) => {
                let selected = known.items(self, &rule.select);
                items(self.maskable(rule, mask, selected).into_iter().map(|(id, _)| id).collect())
            }
            (_, Some(limits), ..) => {
                let selected = known.items(self, &rule.select);
                items(self.cuttable(rule, limits, selected).into_iter().map(|(id, ..)| id).collect())
            }
            (_, _, Some(_), _) if removes_items(rule) => {
                let selected = known.items(self, &rule.select);
                items(if removable(rule, selected) { selected.iter().map(|item| item.id).collect() } else { Vec::new() })
            }
            (_, _, Some(_), _) | (.., Some(_)) => {
                self.selection(rule).map_or(Intent::Nothing, |selection| Intent::Messages(Selection { eligible: 0, ..selection }))
            }
            _ => Intent::Text,
        }
    }
}

/// Do two selections that take the same lead to the same? Masking looks at the size of the request after each item, and a message that
/// stays in part gets a marker.
pub(super) fn lead_alike(one: &Select, other: &Select) -> bool {
    let target = |select: &Select| match select.take {
        Take::UntilRequest(target) => Some(target),
        _ => None,
    };
    let marker = |select: &Select| select.protect.iter().find(|protect| protect.tokens.is_some()).map(|protect| protect.marker.clone());
    target(one) == target(other) && marker(one) == marker(other)
}
