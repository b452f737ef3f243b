//! What a rule would do to the context as it stands, before it is done: by this the rules of two settings are compared.

use super::act::{enough, permits, removable, removes_items};
use super::state::State;
use crate::context::SeenItem;
use crate::policy::{Bounds, Candidates, Mask, Range, Rule, Select, Selection, Take};

/// What a rule would act upon. Rules that differ in their selections and guards alone, and act upon the same, do the same.
#[derive(Debug)]
pub(super) enum Intent {
    /// There is nothing to do, or a guard forbids it.
    Nothing,
    /// So many items, the oldest of those that were found by a scan, which has this place among the known ones.
    Oldest(usize, u32),
    /// These items.
    Items(Vec<u32>),
    /// The selection of messages that has this place among the known ones.
    Messages(usize),
    /// It only puts text in.
    Text,
}

/// What was worked out for the same context already: rules of a flock ask for the same again and again.
#[derive(Default)]
pub(super) struct Known<'r> {
    scans: Vec<Scanned<'r>>,
    items: Vec<(&'r Select, Vec<SeenItem>)>,
    ranges: Vec<(&'r Select, Range)>,
    messages: Vec<(&'r Select, Bounds, Chosen)>,
}

/// The items that a mask could replace, the newest first.
struct Scanned<'r> {
    select: &'r Select,
    candidates: Candidates,
    ids: Vec<u32>,
    /// What the newest so many candidates come to, from none of them to all.
    worth: Vec<Worth>,
}

#[derive(Clone, Copy, Default)]
struct Worth {
    items: u32,
    gross: u64,
    comes: u64,
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
    pub fn same(&self, one: &Intent, other: &Intent) -> bool {
        match (one, other) {
            (Intent::Nothing, Intent::Nothing) | (Intent::Text, Intent::Text) => true,
            (Intent::Oldest(scan, items), Intent::Oldest(of, others)) if scan == of => items == others,
            (Intent::Oldest(..) | Intent::Items(_), Intent::Oldest(..) | Intent::Items(_)) => self.ids(one) == self.ids(other),
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

    fn ids(&self, intent: &Intent) -> Vec<u32> {
        match intent {
            Intent::Oldest(scan, items) => {
                let ids = self.scans.get(*scan).map_or(&[][..], |scan| &scan.ids);
                ids.iter().rev().take(*items as usize).copied().collect()
            }
            Intent::Items(ids) => ids.clone(),
            _ => Vec::new(),
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

    /// What a mask would replace whose selection takes all but what its ends keep: one scan serves all of them.
    fn oldest(&mut self, state: &State<'_>, index: usize, rule: &'r Rule, mask: &Mask) -> Intent {
        let place = self.scans.iter().position(|scan| scan.select.looks_alike(&rule.select)).unwrap_or_else(|| {
            self.scans.push(Scanned::new(state, index, rule, mask));
            self.scans.len() - 1
        });
        let Some(scan) = self.scans.get(place) else { return Intent::Nothing };
        let kept = scan.worth.get(scan.candidates.kept(&rule.select)).copied().unwrap_or_default();
        let all = scan.worth.last().copied().unwrap_or_default();
        let items = all.items - kept.items;
        let worth_it = enough(rule.min_saving.as_ref(), all.gross - kept.gross, all.comes - kept.comes);
        if items > 0 && worth_it { Intent::Oldest(place, items) } else { Intent::Nothing }
    }
}

impl<'r> Scanned<'r> {
    fn new(state: &State<'_>, index: usize, rule: &'r Rule, mask: &Mask) -> Scanned<'r> {
        let candidates = rule.select.candidates(state.context.view(), &state.trace.tools);
        let mut ids = Vec::new();
        let mut sum = Worth::default();
        let mut worth = Vec::with_capacity(candidates.items().len() + 1);
        worth.push(sum);
        for item in candidates.items() {
            if let Some(by) = state.masked(index, rule, mask, item.id) {
                sum = Worth { items: sum.items + 1, gross: sum.gross + item.alone, comes: sum.comes + by.alone };
                ids.push(item.id);
            }
            worth.push(sum);
        }
        Scanned { select: &rule.select, candidates, ids, worth }
    }
}

impl State<'_> {
    /// What a rule, which has this place in the plan, would act upon.
    pub fn intent<'r>(&self, index: usize, rule: &'r Rule, known: &mut Known<'r>) -> Intent {
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
