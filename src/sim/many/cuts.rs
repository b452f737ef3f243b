//! What the ingestion limits of many settings make of one session: messages that enter otherwise under some of them, and settings under
//! which all of them enter alike.
//!
//! Most texts are below every limit. Each of the others is cut once for each set of limits, and enters in as many ways as that gives.

use super::family::Family;
use crate::context::{Item, Region};
use crate::estimate::Guess;
use crate::policy::Plan;
use crate::sim::intake::{Entering, Intake, limits};
use crate::trace::{MessageRow, Place, Trace};
use crate::transcript::Role;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The messages of a session that do not enter alike under all settings, and the classes of settings under which they do.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    messages: Vec<Parting>,
    classes: Vec<Class>,
    /// By the number of a setting's limits: its class.
    of: Vec<u32>,
    /// References to what those messages hold, by the message that refers: its number and the reference's.
    referring: Vec<(u32, u32)>,
    /// Can classes go through the session together? Not where something else than results of tools differs.
    pub together: bool,
}

/// A message that enters in several ways.
#[derive(Debug)]
pub(super) struct Parting {
    pub message: u32,
    ways: Vec<Way>,
}

/// One of the ways in which a message enters.
#[derive(Debug)]
pub(super) struct Way {
    pub entering: Rc<Entering>,
    pub weight: Weight,
}

/// Sizes of a message, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    pub actual: i64,
    pub anchored: i64,
    pub estimated: i64,
}

/// Settings under which all messages enter alike.
#[derive(Debug)]
struct Class {
    /// By message that parts them: the way in which it enters.
    ways: Vec<u32>,
    intake: Rc<Intake>,
    /// Actual tokens of those messages together.
    actual: i64,
}

impl Cuts {
    /// Where all settings let messages in alike.
    pub fn none(intake: Rc<Intake>) -> Cuts {
        let only = Class { ways: Vec::new(), intake, actual: 0 };
        Cuts { classes: vec![only], of: vec![0], together: true, ..Cuts::default() }
    }

    /// What the limits of a family make of a session. `base` is how messages enter under the first of them.
    pub fn new(trace: &Trace, family: &Family<'_>, base: &Rc<Intake>) -> Cuts {
        let limits = family.ingests();
        if limits.len() < 2 {
            return Cuts::none(Rc::clone(base));
        }
        let mut messages = Vec::new();
        let mut ways_of: Vec<Vec<u32>> = vec![Vec::new(); limits.len()];
        for (message, row) in trace.messages.iter().enumerate().filter(|(_, row)| may_be_cut(trace, limits, row)) {
            let Some((parting, ways)) = Parting::new(trace, family, message as u32, row) else { continue };
            messages.push(parting);
            ways_of.iter_mut().zip(ways).for_each(|(all, way)| all.push(way));
        }
        let mut known: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let number = |ways: Vec<u32>| {
            let next = known.len() as u32;
            *known.entry(ways).or_insert(next)
        };
        let of = ways_of.into_iter().map(number).collect();
        let mut classes: Vec<(Vec<u32>, u32)> = known.into_iter().collect();
        classes.sort_unstable_by_key(|(_, number)| *number);
        let mut cuts = Cuts { messages, of, ..Cuts::default() };
        cuts.classes = classes.into_iter().map(|(ways, _)| cuts.class(ways, base)).collect();
        cuts.referring = cuts.references_in(trace);
        let replies = |message: u32| trace.calls.binary_search_by_key(&message, |call| call.message).is_ok();
        let result = |parting: &Parting| {
            let system = trace.messages.get(parting.message as usize).is_none_or(|row| row.role == Role::System);
            !system && !replies(parting.message) && parting.differs_in_results_alone()
        };
        cuts.together = cuts.messages.iter().all(result);
        cuts
    }

    fn class(&self, ways: Vec<u32>, base: &Rc<Intake>) -> Class {
        let chosen =
            || self.messages.iter().zip(&ways).filter_map(|(parting, way)| Some((parting.message, parting.ways.get(*way as usize)?)));
        let actual = chosen().map(|(_, way)| way.weight.actual).sum();
        // The first limits are those of the base.
        let instead: Vec<(u32, Rc<Entering>)> = chosen().map(|(message, way)| (message, Rc::clone(&way.entering))).collect();
        let intake = if ways.iter().all(|way| *way == 0) { Rc::clone(base) } else { Rc::new(Intake::instead(base, instead)) };
        Class { ways, intake, actual }
    }

    fn references_in(&self, trace: &Trace) -> Vec<(u32, u32)> {
        if self.messages.is_empty() {
            return Vec::new();
        }
        let touches = |place: &Place| self.parting_of(trace, place.part).is_some();
        let referring = trace.references.iter().zip(0..).filter(|(reference, _)| reference.places().any(touches));
        referring.map(|(reference, number)| (reference.message, number)).collect()
    }

    /// The place of the message that a part belongs to among those that enter in several ways, and the part's place in it.
    pub fn parting_of(&self, trace: &Trace, part: u32) -> Option<(usize, usize)> {
        let message = trace.message_of(part)?;
        let place = self.messages.binary_search_by_key(&message, |parting| parting.message).ok()?;
        let first = trace.messages.get(message as usize)?.first_part;
        Some((place, (part - first.min(part)) as usize))
    }

    /// The numbers of the references of a message to what enters in several ways.
    pub fn referring(&self, message: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.referring.partition_point(|(known, _)| *known < message);
        self.referring.iter().skip(from).take_while(move |(known, _)| *known == message).map(|(_, number)| *number)
    }

    /// The class of a setting, by the number of its limits.
    pub fn class_of(&self, limits: u32) -> u32 {
        self.of.get(limits as usize).copied().unwrap_or(0)
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes.len()
    }

    /// How messages enter for a class.
    pub fn intake(&self, class: u32) -> Option<&Rc<Intake>> {
        self.classes.get(class as usize).map(|class| &class.intake)
    }

    /// What a class lets in of the messages that part them, in actual tokens.
    pub fn weight(&self, class: u32) -> i64 {
        self.classes.get(class as usize).map_or(0, |class| class.actual)
    }

    /// The messages that enter in several ways, in order.
    pub fn messages(&self) -> &[Parting] {
        &self.messages
    }

    /// How the message at this place enters for a class.
    pub fn way(&self, place: usize, class: u32) -> Option<&Way> {
        let way = *self.classes.get(class as usize)?.ways.get(place)?;
        self.messages.get(place)?.ways.get(way as usize)
    }

    /// Does the message at this place enter alike for two classes?
    pub fn same_way(&self, place: usize, one: u32, other: u32) -> bool {
        let way = |class: u32| self.classes.get(class as usize).and_then(|class| class.ways.get(place));
        way(one) == way(other)
    }
}

/// Might one of these sets of limits cut a message?
fn may_be_cut(trace: &Trace, plans: &[&Plan], row: &MessageRow) -> bool {
    let Some(first) = plans.first() else { return false };
    trace.parts_of(row).any(|part| {
        let region = Region::of(row.role, part.kind);
        // Rules of a family select alike.
        let wanting: Vec<usize> = limits(first)
            .filter(|(_, rule)| rule.select.wants_arrival(region, row.role, part.tool.get(), &trace.tools))
            .map(|(index, _)| index)
            .collect();
        let passes = |plan: &&Plan| {
            wanting.iter().all(|index| {
                plan.rule.get(*index).and_then(|rule| rule.truncate.as_ref()).is_none_or(|limits| limits.lets_pass(&part.text))
            })
        };
        !wanting.is_empty() && !plans.iter().all(passes)
    })
}

impl Parting {
    /// The ways in which a message enters, and the one of each set of limits; `None` where there is one alone.
    fn new(trace: &Trace, family: &Family<'_>, message: u32, row: &MessageRow) -> Option<(Parting, Vec<u32>)> {
        let mut ways: Vec<Way> = Vec::new();
        let mut known: BTreeMap<(u64, u64, u64), Vec<u32>> = BTreeMap::new();
        let mut of = Vec::with_capacity(family.ingests().len());
        for plan in family.ingests() {
            let entering = Entering::of(trace, plan, family.conditions, row);
            let sum = |size: fn(&Item) -> u64| entering.items.iter().map(size).sum::<u64>();
            let guess = entering.items.iter().fold(Guess::default(), |sum, item| sum.plus(item.guess));
            let actual = sum(|item| item.actual);
            let weight = Weight {
                actual: actual as i64,
                anchored: sum(|item| item.anchored) as i64,
                estimated: plan.estimator.message(guess, row.role) as i64,
            };
            let key = (actual, guess.units + guess.tokens, sum(|item| u64::from(item.ends.head)));
            let alike = known.entry(key).or_default();
            let same = |way: &&u32| ways.get(**way as usize).is_some_and(|way| *way.entering == entering);
            let found = alike.iter().find(same).copied();
            let way = found.unwrap_or_else(|| {
                ways.push(Way { entering: Rc::new(entering), weight });
                let way = ways.len() as u32 - 1;
                alike.push(way);
                way
            });
            of.push(way);
        }
        (ways.len() > 1).then_some((Parting { message, ways }, of))
    }

    /// Are its ways the same but for results of tools?
    fn differs_in_results_alone(&self) -> bool {
        let Some((first, others)) = self.ways.split_first() else { return true };
        others.iter().all(|way| {
            let mut pairs = way.entering.items.iter().zip(&first.entering.items);
            pairs.all(|(one, other)| one.region == Region::ToolResult || one == other)
        })
    }
}
