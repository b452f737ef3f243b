//! What a rule would do to the context as it stands, before it is done: by this the rules of two settings are compared.

use crate::context::SeenItem;
use crate::list::place_or_push;
use crate::policy::{Action, Bounds, Mask, Range, Rule, Select, Take};
use crate::sim::candidates::Candidates;
use crate::sim::guard::{Chosen, removable, removes_items};
use crate::sim::state::State;

/// What a rule would act upon. Rules that differ in their selections and guards alone, and act upon the same, do the same.
#[derive(Debug)]
pub(super) enum Decision {
    /// There is nothing to do, or a guard forbids it.
    Nothing,
    /// So many items, the oldest of those that were found.
    Oldest(FoundAt, usize),
    /// The items with these ids.
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

/// What was worked out for the same context already: rules of a batch ask for the same again and again.
#[derive(Default)]
pub(super) struct Known<'r> {
    /// Where the last rule's items stand: most rules look for the same.
    found: Option<FoundAt>,
    candidates: Vec<Candidates<'r>>,
    items: Vec<(&'r Select, Vec<SeenItem>)>,
    ranges: Vec<(&'r Select, Range)>,
    messages: Vec<(&'r Select, Bounds, Chosen)>,
}

impl<'r> Known<'r> {
    /// What a rule, which has this place in the plan, would act upon.
    pub fn decide(&mut self, state: &mut State<'r>, index: usize, rule: &'r Rule) -> Decision {
        let items = |items: Vec<u32>| if items.is_empty() { Decision::Nothing } else { Decision::Items(items) };
        match rule.action() {
            Some(Action::Mask(_) | Action::Truncate(_)) if state.window.leaves_all(rule) => Decision::Nothing,
            Some(Action::Mask(mask)) if rule.select.takes_the_rest() => self.oldest(state, index, rule, mask),
            Some(Action::Mask(mask)) => {
                let selected = self.items(state, &rule.select);
                let masked = state.inputs.maskable(&state.window.context, index, rule, mask, selected);
                items(masked.into_iter().map(|(id, _)| id).collect())
            }
            Some(Action::Truncate(limits)) => {
                let selected = self.items(state, &rule.select);
                let cut = state.window.cuttable(&state.inputs, rule, limits, selected);
                items(cut.into_iter().map(|(id, ..)| id).collect())
            }
            Some(Action::Drop(_)) if removes_items(rule) => {
                let selected = self.items(state, &rule.select);
                items(if removable(rule, selected) { selected.iter().map(|item| item.id).collect() } else { Vec::new() })
            }
            Some(Action::Drop(_) | Action::Summarise(_)) => {
                let place = self.messages(state, &rule.select);
                let permitted = self.messages.get(place).is_some_and(|(.., chosen)| chosen.permitted(rule));
                if permitted { Decision::Messages(place) } else { Decision::Nothing }
            }
            None => Decision::Text,
        }
    }

    /// Do two decisions that were worked out for the same context come to the same?
    pub fn same(&self, state: &State<'r>, one: &Decision, other: &Decision) -> bool {
        match (one, other) {
            (Decision::Nothing, Decision::Nothing) | (Decision::Text, Decision::Text) => true,
            (Decision::Oldest(found, items), Decision::Oldest(at, others)) if found == at => items == others,
            (Decision::Oldest(..) | Decision::Items(_), Decision::Oldest(..) | Decision::Items(_)) => {
                self.ids(state, one) == self.ids(state, other)
            }
            (Decision::Messages(one), Decision::Messages(other)) => {
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

    fn ids<'i>(&'i self, state: &'i State<'r>, decision: &'i Decision) -> &'i [u32] {
        match decision {
            Decision::Oldest(found, items) => self.candidates_at(state, *found).map_or(&[], |candidates| candidates.ids(0..*items)),
            Decision::Items(ids) => ids,
            _ => &[],
        }
    }

    fn candidates_at<'i>(&'i self, state: &'i State<'r>, found: FoundAt) -> Option<&'i Candidates<'r>> {
        match found {
            FoundAt::Followed(place) => state.window.candidates(place),
            FoundAt::Known(place) => self.candidates.get(place),
        }
    }

    fn items(&mut self, state: &State<'_>, select: &'r Select) -> &[SeenItem] {
        let items = || (select, select.items(state.window.context.view(), &state.inputs.trace.tools));
        let place = place_or_push(&mut self.items, |(known, _)| *known == select, items);
        self.items.get(place).map_or(&[], |(_, items)| items)
    }

    /// The place of a selection of messages. Where it cuts as a known one does, it takes what that one takes.
    fn messages(&mut self, state: &State<'_>, select: &'r Select) -> usize {
        let looked_at = || (select, select.looked_at(state.window.context.view()));
        let range = place_or_push(&mut self.ranges, |(known, _)| known.looks_at_messages_like(select), looked_at);
        let Some((_, range)) = self.ranges.get(range) else { return 0 };
        let bounds = select.bounds(range);
        let alike = |(known, cut, _): &(&Select, Bounds, Chosen)| *cut == bounds && known.takes_messages_like(select);
        let chosen = || Chosen::between(select, range, bounds, &state.window.context, state.belief.incoming);
        place_or_push(&mut self.messages, alike, || (select, bounds, chosen()))
    }

    /// What a mask would replace whose selection takes all but what its ends keep: one look at the items serves all of them.
    fn oldest(&mut self, state: &mut State<'r>, index: usize, rule: &'r Rule, mask: &Mask) -> Decision {
        let serves = |found: &FoundAt| self.candidates_at(state, *found).is_some_and(|known| known.serves(index, &rule.select));
        let found = self.found.filter(serves).unwrap_or_else(|| self.find(state, index, rule, mask));
        self.found = Some(found);
        match self.candidates_at(state, found).map_or(0, |candidates| candidates.replaced_by(rule)) {
            0 => Decision::Nothing,
            items => Decision::Oldest(found, items),
        }
    }

    /// Where the items stand that a rule's mask could replace.
    fn find(&mut self, state: &mut State<'r>, index: usize, rule: &'r Rule, mask: &Mask) -> FoundAt {
        let State { inputs, window, .. } = state;
        window.find(inputs, index, rule, mask).map(FoundAt::Followed).unwrap_or_else(|| {
            let known = self.candidates.iter().position(|candidates| candidates.serves(index, &rule.select));
            FoundAt::Known(known.unwrap_or_else(|| {
                self.candidates.push(Candidates::new(inputs, &window.context, index, rule, mask));
                self.candidates.len() - 1
            }))
        })
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
