//! What a rule would do to the context as it stands, before it is done: by this the rules of two settings are compared.

use super::act::{permits, removable, removes_items};
use super::finds::Finds;
use super::state::State;
use crate::context::SeenItem;
use crate::policy::{Bounds, Mask, Range, Rule, Select, Selection, Take};

/// What a rule would act upon. Rules that differ in their selections and guards alone, and act upon the same, do the same.
#[derive(Debug)]
pub(super) enum Intent {
    /// There is nothing to do, or a guard forbids it.
    Nothing,
    /// So many items, the oldest of those that were found.
    Oldest(FoundAt, usize),
    /// These items.
    Items(Vec<u32>),
    /// The selection of messages that has this place among the known ones.
    Messages(usize),
    /// It only puts text in.
    Text,
}

/// Where the items stand that a mask could replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundAt {
    /// At this place among those that are followed from call to call.
    Followed(usize),
    /// At this place among those that were looked for now.
    Known(usize),
}

/// What was worked out for the same context already: rules of a flock ask for the same again and again.
#[derive(Default)]
pub(super) struct Known<'r> {
    finds: Vec<Finds<'r>>,
    items: Vec<(&'r Select, Vec<SeenItem>)>,
    ranges: Vec<(&'r Select, Range)>,
    messages: Vec<(&'r Select, Bounds, Chosen)>,
}

/// Messages that a selection takes, with what guards ask about them.
#[derive(Debug)]
pub(super) struct Chosen {
    pub selection: Selection,
    /// How many of those that go are no earlier summaries.
    pub new: u64,
    /// Their estimates.
    pub gross: u64,
}

impl<'r> Known<'r> {
    /// Do two intents that were worked out for the same context come to the same?
    pub fn same(&self, state: &State<'r>, one: &Intent, other: &Intent) -> bool {
        match (one, other) {
            (Intent::Nothing, Intent::Nothing) | (Intent::Text, Intent::Text) => true,
            (Intent::Oldest(found, items), Intent::Oldest(at, others)) if found == at => items == others,
            (Intent::Oldest(..) | Intent::Items(_), Intent::Oldest(..) | Intent::Items(_)) => {
                self.ids(state, one) == self.ids(state, other)
            }
            (Intent::Messages(one), Intent::Messages(other)) => {
                // How many were looked at is a matter of guards, which have been asked.
                let selection = |place: &usize| self.messages.get(*place).map(|(.., chosen)| &chosen.selection);
                one == other
                    || selection(one)
                        .zip(selection(other))
                        .is_some_and(|(one, other)| (&one.gone, &one.lost, &one.shortened) == (&other.gone, &other.lost, &other.shortened))
            }
            _ => false,
        }
    }

    fn ids<'i>(&'i self, state: &'i State<'r>, intent: &'i Intent) -> &'i [u32] {
        match intent {
            Intent::Oldest(found, items) => self.finds_at(state, *found).map_or(&[], |finds| finds.ids(0..*items)),
            Intent::Items(ids) => ids,
            _ => &[],
        }
    }

    fn finds_at<'i>(&'i self, state: &'i State<'r>, found: FoundAt) -> Option<&'i Finds<'r>> {
        match found {
            FoundAt::Followed(place) => state.finds.get(place),
            FoundAt::Known(place) => self.finds.get(place),
        }
    }

    fn items(&mut self, state: &State<'_>, select: &'r Select) -> &[SeenItem] {
        let known = self.items.iter().position(|(known, _)| *known == select);
        let place = known.unwrap_or_else(|| {
            self.items.push((select, select.items(state.context.view(), &state.trace.tools)));
            self.items.len() - 1
        });
        self.items.get(place).map_or(&[], |(_, items)| items)
    }

    /// The place of a selection of messages. Where it cuts as a known one does, it takes what that one takes.
    fn messages(&mut self, state: &State<'_>, select: &'r Select) -> usize {
        let known = self.ranges.iter().position(|(known, _)| known.looks_at_messages_like(select));
        let range = known.unwrap_or_else(|| {
            self.ranges.push((select, select.looked_at(state.context.view())));
            self.ranges.len() - 1
        });
        let Some((_, range)) = self.ranges.get(range) else { return 0 };
        let bounds = select.bounds(range);
        let alike = |(known, cut, _): &(&Select, Bounds, Chosen)| *cut == bounds && known.takes_messages_like(select);
        self.messages.iter().position(alike).unwrap_or_else(|| {
            self.messages.push((select, bounds, state.chosen_between(select, range, bounds)));
            self.messages.len() - 1
        })
    }

    /// What a mask would replace whose selection takes all but what its ends keep: one look at the items serves all of them.
    fn oldest(&mut self, state: &mut State<'r>, index: usize, rule: &'r Rule, mask: &Mask) -> Intent {
        let found = state.find(index, rule, mask).map(FoundAt::Followed).unwrap_or_else(|| {
            let known = self.finds.iter().position(|finds| finds.serves(index, &rule.select));
            FoundAt::Known(known.unwrap_or_else(|| {
                self.finds.push(Finds::new(state, index, rule, mask));
                self.finds.len() - 1
            }))
        });
        match self.finds_at(state, found).map_or(0, |finds| finds.replaced_by(rule)) {
            0 => Intent::Nothing,
            items => Intent::Oldest(found, items),
        }
    }
}

impl<'a> State<'a> {
    /// What a rule, which has this place in the plan, would act upon.
    pub fn intent(&mut self, index: usize, rule: &'a Rule, known: &mut Known<'a>) -> Intent {
        let items = |items: Vec<u32>| if items.is_empty() { Intent::Nothing } else { Intent::Items(items) };
        match (&rule.mask, &rule.truncate, &rule.drop, &rule.summarise) {
            (Some(mask), ..) if rule.select.takes_the_rest() => known.oldest(self, index, rule, mask),
            (Some(mask), ..) => {
                let selected = known.items(self, &rule.select);
                items(self.maskable(index, rule, mask, selected).into_iter().map(|(id, _)| id).collect())
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
                let place = known.messages(self, &rule.select);
                let permitted = known.messages.get(place).is_some_and(|(.., chosen)| permits(rule, chosen));
                if permitted { Intent::Messages(place) } else { Intent::Nothing }
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
    target(one) == target(other) && marker_of(one) == marker_of(other)
}

fn marker_of(select: &Select) -> Option<&String> {
    select.protect.iter().find(|protect| protect.tokens.is_some()).map(|protect| &protect.marker)
}
