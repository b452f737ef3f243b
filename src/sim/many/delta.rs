//! One class of settings beside its leader: by how much its context, its estimates and its sums are larger.

use crate::list::Coming;
use crate::policy::Select;
use crate::sim::event::EventKind;
use crate::sim::ledger::Ledger;
use crate::sim::outcome::CallOutcome;
use crate::sim::retention::{Category, Fate, Fates, OF_LOG};
use crate::sim::totals::Totals;
use crate::statistics::distinct;
use crate::trace::Evidence;
use crate::units::add_fields;
use std::collections::BTreeMap;

/// A class of settings that has acted like its leader so far, in a context of other sizes. All figures are what it has beyond the leader.
#[derive(Clone, Debug, Default)]
pub(super) struct Delta {
    pub class: u32,
    /// Its settings, those that have parted included.
    pub members: Vec<u32>,
    /// Messages in the context that entered otherwise.
    pub differing: u32,
    /// Actual tokens of those messages.
    pub actual: i64,
    pub anchored: i64,
    pub estimated: i64,
    /// Dead weight among those messages, in tokens.
    pub dead: i64,
    /// By what the size of an item counts: how much larger a selection may find their items, at most; `None` where that is not known.
    pub larger: [Option<u64>; 2],
    pub beliefs: Beliefs,
    pub sums: Sums,
    /// Prompts, each from this call on up to the next one that is named.
    prompts: Vec<(u32, i64)>,
    /// References by what has become of them, and broken ones by the rule that broke them.
    fates: BTreeMap<(Evidence, Category), Shift>,
    broken_by: BTreeMap<(Evidence, u32), Shift>,
}

/// What a policy knows or takes its context for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beliefs {
    /// The last prompt, as the policy read it.
    pub usage: i64,
    pub pending: i64,
    pub after_reply: i64,
    /// Its last look: the estimate, what that covers, the whole, and what was left.
    pub look: [i64; 4],
}

/// What is added up call by call, the prompts left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub anchored: i64,
    pub missing: i64,
    /// Estimates of requests, and the sizes that they are held against.
    pub estimates: [i64; 2],
    /// The same of the policy's looks.
    pub beliefs: [i64; 2],
    pub dead: i64,
    pub carried: i64,
    /// Items that a limit has cut.
    pub cuts: i64,
    pub broken_calls: i64,
}

/// Fates gained, and lost.
#[derive(Clone, Copy, Debug, Default)]
struct Shift {
    gained: Fates,
    lost: Fates,
}

impl Shift {
    fn count(&mut self, fate: Fate, gained: bool) {
        if gained { self.gained.count(fate) } else { self.lost.count(fate) }
    }

    fn applied(&self, fates: Fates) -> Fates {
        let of = |one: u64, gained: u64, lost: u64| (one + gained).saturating_sub(lost);
        let Shift { gained, lost } = self;
        Fates {
            kept: of(fates.kept, gained.kept, lost.kept),
            summarised: of(fates.summarised, gained.summarised, lost.summarised),
            truncated: of(fates.truncated, gained.truncated, lost.truncated),
            cleared: of(fates.cleared, gained.cleared, lost.cleared),
            dropped: of(fates.dropped, gained.dropped, lost.dropped),
        }
    }

    /// Takes another shift off this one.
    fn beyond(&mut self, other: &Shift) {
        self.gained += other.lost;
        self.lost += other.gained;
    }
}

impl Delta {
    /// A class whose context is the leader's so far.
    pub fn new(class: u32, members: Vec<u32>) -> Delta {
        Delta { class, members, ..Delta::default() }
    }

    /// Are context and estimates the leader's, whatever the sums are?
    pub fn is_level(&self) -> bool {
        self.differing == 0 && self.beliefs == Beliefs::default()
    }

    /// How much larger a selection may find the items, at most; `None` where that is not known.
    pub fn larger_for(&self, select: &Select) -> Option<u64> {
        self.larger.get(select.sizes as usize).copied().flatten()
    }

    /// The call's prompt is larger by so much.
    pub fn note_prompt(&mut self, call: u32, by: i64) {
        if self.prompts.last().map_or(0, |(_, last)| *last) != by {
            self.prompts.push((call, by));
        }
    }

    /// A reference has come to this instead of that, and so have those of its evidence that a rule broke.
    pub fn note_fate(&mut self, key: (Evidence, Category), (own, led): (Fate, Fate), (by, led_by): (Option<u32>, Option<u32>)) {
        if own != led {
            let shift = self.fates.entry(key).or_default();
            shift.count(own, true);
            shift.count(led, false);
        }
        let broken = |fate: Fate, by: Option<u32>| (fate != Fate::Kept).then(|| (by.unwrap_or(OF_LOG), fate));
        let (own, led) = (broken(own, by), broken(led, led_by));
        if own != led {
            for ((rule, fate), gained) in own.map(|own| (own, true)).into_iter().chain(led.map(|led| (led, false))) {
                self.broken_by.entry((key.0, rule)).or_default().count(fate, gained);
            }
        }
    }

    /// The leader's rows as this class has them.
    pub fn rows<'o>(&'o self, rows: &'o [CallOutcome], window: u64) -> impl Iterator<Item = CallOutcome> + 'o {
        let mut rest = self.prompts.iter().peekable();
        let mut by = 0;
        rows.iter().zip(0_u32..).map(move |(row, call)| {
            while let Some((_, next)) = rest.next_if(|(from, _)| *from <= call) {
                by = *next;
            }
            let [attempted, actual] = [row.attempted, row.actual].map(|size| size.saturating_add_signed(by));
            CallOutcome { attempted, actual, reply_cut: !row.unrecovered && actual + row.output > window, ..*row }
        })
    }

    /// Turns the leader's sums into those of this class. `rows` are its own.
    pub fn apply(&self, totals: &mut Totals, rows: impl Iterator<Item = CallOutcome>, led: &[CallOutcome]) {
        let (mut prompts, mut cut, mut peak) = (0, 0, 0);
        for (row, led) in rows.zip(led) {
            prompts += row.actual as i64 - led.actual as i64;
            cut += i64::from(row.reply_cut) - i64::from(led.reply_cut);
            peak = peak.max(row.attempted).max(row.actual);
        }
        let sums = &self.sums;
        totals.peak_tokens = peak;
        let retention = &mut totals.retention;
        for (sum, by) in [
            (&mut totals.prompt_tokens, prompts),
            (&mut totals.reply_cut, cut),
            (&mut totals.anchored_tokens, sums.anchored),
            (&mut totals.missing_tokens, sums.missing),
            (&mut totals.estimates.guessed_tokens, sums.estimates[0]),
            (&mut totals.estimates.actual_tokens, sums.estimates[1]),
            (&mut totals.beliefs.guessed_tokens, sums.beliefs[0]),
            (&mut totals.beliefs.actual_tokens, sums.beliefs[1]),
            (&mut retention.dead_tokens, sums.dead),
            (&mut retention.carried_tokens, sums.carried),
            (&mut retention.broken_calls, sums.broken_calls),
        ] {
            *sum = sum.saturating_add_signed(by);
        }
        if totals.compared_sessions > 0 {
            totals.compared_tokens = totals.prompt_tokens;
        }
        if sums.cuts != 0 {
            let count = totals.events.entry(EventKind::Truncate).or_default();
            *count = count.saturating_add_signed(sums.cuts);
            totals.events.retain(|_, count| *count > 0);
        }
        for (key, shift) in &self.fates {
            let fates = retention.fates.entry(*key).or_default();
            *fates = shift.applied(*fates);
        }
    }

    /// The leader's broken references by the rule that broke them, as this class has them.
    pub fn broken_by(&self, led: &BTreeMap<(Evidence, u32), Fates>) -> BTreeMap<(Evidence, u32), Fates> {
        let mut own = led.clone();
        for (key, shift) in &self.broken_by {
            let fates = own.entry(*key).or_default();
            *fates = shift.applied(*fates);
        }
        own.retain(|_, fates| fates.all() > 0);
        own
    }

    /// Turns what the leader has written down so far into what this class has.
    pub fn rewrite(&self, ledger: &mut Ledger) {
        let led = std::mem::take(&mut ledger.calls).rows();
        let outcome = &mut ledger.outcome;
        self.apply(&mut outcome.totals, self.rows(&led, outcome.window), &led);
        ledger.calls = Coming::expecting(led.len());
        self.rows(&led, outcome.window).for_each(|row| ledger.calls.push(row));
    }

    /// What it has beyond another class, which leads from now on. How many messages differ is for the caller to count.
    pub fn beyond(&self, other: &Delta) -> Delta {
        let mut own = self.clone();
        own.larger = [None; 2];
        add_fields!(own -= other: actual, anchored, estimated, dead);
        let (beliefs, less) = (&mut own.beliefs, &other.beliefs);
        add_fields!(beliefs -= less: usage, pending, after_reply);
        beliefs.look.iter_mut().zip(less.look).for_each(|(own, other)| *own -= other);
        let (sums, less) = (&mut own.sums, &other.sums);
        add_fields!(sums -= less: anchored, missing, dead, carried, cuts, broken_calls);
        sums.estimates.iter_mut().zip(less.estimates).for_each(|(own, other)| *own -= other);
        sums.beliefs.iter_mut().zip(less.beliefs).for_each(|(own, other)| *own -= other);
        own.prompts = beyond(&self.prompts, &other.prompts);
        other.fates.iter().for_each(|(key, shift)| own.fates.entry(*key).or_default().beyond(shift));
        other.broken_by.iter().for_each(|(key, shift)| own.broken_by.entry(*key).or_default().beyond(shift));
        own
    }
}

/// One list of steps beyond another.
fn beyond(own: &[(u32, i64)], other: &[(u32, i64)]) -> Vec<(u32, i64)> {
    let at = |steps: &[(u32, i64)], call: u32| {
        let behind = steps.partition_point(|(from, _)| *from <= call);
        behind.checked_sub(1).and_then(|place| steps.get(place)).map_or(0, |(_, by)| *by)
    };
    let calls = distinct(own.iter().chain(other).map(|(call, _)| *call));
    let mut steps: Vec<(u32, i64)> = calls.into_iter().map(|call| (call, at(own, call) - at(other, call))).collect();
    steps.dedup_by_key(|(_, by)| *by);
    steps
}
