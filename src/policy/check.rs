//! What the shape of a policy's words cannot say: rules that contradict themselves or each other.

use super::action::Per;
use super::inflate::NoInflate;
use super::marker::unknown_name;
use super::plan::{Hook, Mode, Plan, Rule};
use super::selector::{End, EndUnit, Select, Take};
use super::size::Size;
use super::suggestion::suggestion;
use super::switch::Switch;
use super::trigger::{Count, Level, Trigger};
use crate::list::Arrange;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// So many rules and parameters are far more than any agent has; what is done with them grows with the square of their number.
const MOST: [(&str, usize); 2] = [("rule", 500), ("params", 500)];

/// No estimate is made of larger numbers than this.
const LARGEST: i64 = 1_000_000_000;

/// Which key of a document holds more than it may, and why that is refused.
pub(super) fn within_bounds(body: &Table) -> Result<(), (String, String)> {
    for (key, most) in MOST {
        let found = body.get(key).map_or(0, |value| value.as_array().map_or(0, Vec::len) + value.as_table().map_or(0, Table::len));
        if found > most {
            return Err((key.to_owned(), format!("`{key}` has {found} entries, and {most} are the most that a policy may have")));
        }
    }
    let absurd = |value: &Value| match value {
        Value::Integer(number) => !(0..=LARGEST).contains(number),
        Value::Float(number) => !(0.0..=LARGEST as f64).contains(number),
        _ => false,
    };
    let estimator = body.get("estimator").and_then(Value::as_table);
    if let Some((key, value)) = estimator.and_then(|estimator| estimator.iter().find(|(_, value)| absurd(value))) {
        return Err((key.clone(), format!("`{key}` is {value}: the numbers of an estimator lie between 0 and {LARGEST}")));
    }
    match ["summary", "rule"].iter().find_map(|key| below_zero(key, body.get(*key)?)) {
        Some((key, value)) => Err((key.to_owned(), format!("`{key}` is {value}: no number of a rule or a summary lies below 0"))),
        None => Ok(()),
    }
}

/// The first number below 0 that is written there, and its key. What a formula comes to may lie below: limits of a small window do.
fn below_zero<'a>(key: &'a str, value: &'a Value) -> Option<(&'a str, &'a Value)> {
    match value {
        Value::Integer(..0) => Some((key, value)),
        Value::Float(number) if *number < 0.0 => Some((key, value)),
        Value::Array(values) => values.iter().find_map(|value| below_zero(key, value)),
        Value::Table(table) => table.iter().find_map(|(key, value)| below_zero(key, value)),
        _ => None,
    }
}

/// Which rule has the id of another one, and the sentence that says so.
pub(super) fn unlike_ids(body: &Table) -> Result<(), (String, String)> {
    let rules = body.get("rule").and_then(Value::as_array).into_iter().flatten();
    let mut ids: Vec<&str> = rules.filter_map(|rule| rule.get("id")?.as_str()).collect();
    ids.arrange_by_key(|id| *id);
    match ids.array_windows().find(|[one, other]| one == other) {
        Some([id, _]) => Err(((*id).to_owned(), format!("two rules have the id `{id}`"))),
        None => Ok(()),
    }
}

impl Plan {
    /// The plan as it is run; an error where its rules cannot be.
    pub(super) fn ready(mut self) -> Result<Plan, String> {
        // Checked with all rules, those included that are off for this model: an `else` may lead to one of them.
        self.check()?;
        self.rule.retain(|rule| rule.condition != Some(0.0));
        // What stays as text is measured as the text that it becomes.
        let flattened = self.rule.iter().filter_map(|rule| rule.summarise.as_ref()?.flatten.as_ref()?.max).min();
        self.estimator.ends.iter_mut().for_each(|ends| ends.result_most = flattened);
        Ok(self)
    }

    /// Why the rules cannot be run as they stand, as one sentence; `Ok` where they can.
    pub fn check(&self) -> Result<(), String> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, rule) in self.rule.iter().enumerate() {
            if places.insert(&rule.id, index).is_some() {
                return Err(format!("two rules have the id `{}`", rule.id));
            }
            rule.check().map_err(|reason| format!("rule `{}`: {reason}", rule.id))?;
        }
        if !(0.0..=1.0).contains(&self.summary.ratio) {
            return Err(format!("`ratio` of a summary is {}: a share of what it replaces, from 0 to 1", self.summary.ratio));
        }
        if self.summary.max > 0 && self.summary.min > self.summary.max {
            return Err(format!("`min` of a summary is {}, more than its `max` of {}", self.summary.min, self.summary.max));
        }
        self.check_program()?;
        self.rule.iter().try_for_each(|rule| self.follow_else(rule, &places))?;
        self.rule.iter().try_for_each(|rule| {
            rule.unless.iter().try_for_each(|id| place_of(rule, "unless", id, &places).map(|_| ()))?;
            self.check_count(rule, &places)
        })
    }

    /// Rules ask where there is a program, and a program is asked by rules.
    fn check_program(&self) -> Result<(), String> {
        match (&self.program, self.rule.iter().find(|rule| rule.asks())) {
            (None, Some(rule)) => {
                Err(format!("rule `{}` asks a program, and the document has no `[program]`, which is not inherited", rule.id))
            }
            (Some(_), None) => Err("`[program]` is asked by no rule: give one a place and `ask = true`".to_owned()),
            (Some(program), Some(_)) => program.check(),
            (None, None) => Ok(()),
        }
    }

    /// The rule with whose failures another one's are counted counts its own, and runs where the other one does.
    fn check_count(&self, rule: &Rule, places: &BTreeMap<&str, usize>) -> Result<(), String> {
        let Some(id) = &rule.give_up_with else { return Ok(()) };
        let Some(other) = self.rule.get(place_of(rule, "give_up_with", id, places)?) else { return Ok(()) };
        if let Some(further) = &other.give_up_with {
            return Err(format!("rule `{}`: `give_up_with` names `{id}`, whose failures are counted with those of `{further}`", rule.id));
        }
        if rule.condition != Some(0.0) && other.condition == Some(0.0) {
            return Err(format!("rule `{}`: `give_up_with` names `{id}`, which its `if` takes out", rule.id));
        }
        Ok(())
    }

    /// A chain of `else` ends, and each of its links exists.
    fn follow_else(&self, rule: &Rule, places: &BTreeMap<&str, usize>) -> Result<(), String> {
        let mut current = rule;
        for _ in 0..self.rule.len() {
            let Some(next) = &current.otherwise else { return Ok(()) };
            let next = place_of(current, "else", next, places)?;
            current = self.rule.get(next).map_or(current, |rule| rule);
        }
        match current.otherwise {
            None => Ok(()),
            Some(_) => Err(format!("rule `{}`: its `else` leads back to itself", rule.id)),
        }
    }
}

/// The place of the rule that another one names with this word.
fn place_of(rule: &Rule, word: &str, named: &str, places: &BTreeMap<&str, usize>) -> Result<usize, String> {
    let unknown = || {
        let hint = suggestion(named, places.keys().copied());
        format!("rule `{}`: `{word}` names `{named}`, which is no rule{hint}", rule.id)
    };
    places.get(named).copied().ok_or_else(unknown)
}

impl Rule {
    fn check(&self) -> Result<(), String> {
        let actions = [self.mask.is_some(), self.truncate.is_some(), self.drop.is_some(), self.summarise.is_some()];
        let count = actions.into_iter().filter(|has| *has).count();
        let (items, messages) = (self.mask.is_some() || self.truncate.is_some(), self.drop.is_some() || self.summarise.is_some());
        refuse(count > 1, "it has more than one action")?;
        if let Take::Share(share) | Take::EvenShare(share) = self.select.take
            && share > 1.0
        {
            return Err(format!("`take` is a share of {share}: 1 is all that is eligible"));
        }
        let shrinks = |end: &End| end.shrink.is_some_and(|shrink| end.unit != EndUnit::MessageShare || shrink.by < 0.001);
        let shrinks = self.select.head.iter().any(|end| end.shrink.is_some()) || self.select.tail.iter().any(shrinks);
        refuse(shrinks, "`shrink` makes a `message_share` at the new side smaller, by a thousandth or more")?;
        if let Some(truncate) = &self.truncate
            && let Some((name, hint)) = [&truncate.marker, &truncate.header].into_iter().find_map(|text| unknown_name(text))
        {
            return Err(format!("a marker names `{name}`, which is no size of what was cut{hint}"));
        }
        let (down_to, calls) = (matches!(self.select.take, Take::DownTo(_)), matches!(self.select.take, Take::Calls(_)));
        refuse(down_to && !items, "`down_to` takes items: it needs mask or truncate")?;
        refuse(calls && !messages, "`calls` takes messages: it needs drop or summarise")?;
        let oldest = self.select.protect.iter().any(|protect| protect.oldest > protect.tokens.unwrap_or(0));
        refuse(oldest, "`oldest` is a part of `tokens`, and cannot be larger")?;
        let (refuses, acts) = (self.refuse == Switch::On, count > 0 || !self.inject.is_empty());
        if self.asks() { self.check_asking(acts || refuses) } else { self.check_acting(acts, refuses) }
    }

    fn check_acting(&self, acts: bool, refuses: bool) -> Result<(), String> {
        let messages = self.drop.is_some() || self.summarise.is_some();
        refuse(!acts && !refuses, "it has no action: give it mask, truncate, drop, summarise, inject, refuse or ask")?;
        refuse(refuses && acts, "`refuse` ends the session: nothing else can be done")?;
        let before_call = matches!(self.at, Hook::PreCall | Hook::MidTurn | Hook::Overflow | Hook::Manual);
        let where_refused = "`refuse` stands where a call is about to be made: at pre_call, mid_turn, overflow, or manual";
        refuse(refuses && !before_call, where_refused)?;
        let is_idle = self.at == Hook::Idle;
        refuse(is_idle != self.after.is_some(), "`after` says how long after the last reply a rule at idle runs: they go together")?;
        refuse(self.after.is_some_and(|seconds| seconds <= 0.0), "`after` is a time above 0")?;
        let of_nothing = self.summarise.as_ref().is_some_and(|summarise| summarise.per == Per::Tokens(0));
        refuse(of_nothing, "`per` needs pieces of 1 token or more")?;
        let delays = self.summarise.is_some() && self.mode == Mode::Commit;
        refuse(self.delay > 0 && !delays, "`delay` needs summarise, and a change that lasts")?;
        refuse(self.give_up_after == Some(0), "`give_up_after` counts failures: 1 or more")?;
        refuse(self.give_up_with.is_some() && self.give_up_after.is_none(), "`give_up_with` needs `give_up_after`")?;
        let (arrives, cuts_alone) = (self.at == Hook::Ingest, self.truncate.is_some() && self.when.is_none() && self.inject.is_empty());
        refuse(arrives && !cuts_alone, "as an item arrives it can only be truncated, without a trigger")?;
        refuse(arrives && self.mode != Mode::Commit, "what is cut as it arrives stays cut: `mode` has no meaning")?;
        refuse(self.attempt.is_some() && self.at != Hook::Overflow, "`attempt` has a meaning at overflow alone")?;
        let counts_messages = self.min_progress.is_some() || self.min_messages.is_some();
        refuse(counts_messages && !messages, "`min_progress` and `min_messages` count messages: they need drop or summarise")?;
        let may_inflate = self.mask.is_some() || self.summarise.is_some() || arrives;
        let guards = self.no_inflate != NoInflate::Off;
        refuse(guards && !may_inflate, "`no_inflate` needs mask or summarise, or a limit on what arrives")?;
        let by_usage = self.no_inflate == NoInflate::UsageIn;
        refuse(by_usage && self.summarise.is_none(), "`no_inflate` against `usage_in` needs summarise")?;
        self.when.as_ref().map_or(Ok(()), Trigger::check)
    }

    /// What a program decides, the document leaves open.
    fn check_asking(&self, acts: bool) -> Result<(), String> {
        refuse(acts, "`ask` leaves the action to the program: it has no other one")?;
        let guards = self.min_saving.is_some() || self.min_progress.is_some() || self.min_messages.is_some();
        if guards || self.no_inflate != NoInflate::Off || self.delay > 0 || self.select != Select::default() {
            return Err("`ask` leaves to the program what is acted upon: `select`, `min_saving`, `min_progress`, `min_messages`, `no_inflate` and `delay` have no meaning".to_owned());
        }
        refuse(self.mode == Mode::CommitIfFewer, "`ask` goes with the modes commit, view and turn")?;
        let cuts_alone = self.when.is_none() && self.mode == Mode::Commit;
        let arrives = self.at == Hook::Ingest;
        refuse(arrives && !cuts_alone, "as an item arrives it can only be truncated, without a trigger, and stays cut")?;
        let wrong_after = (self.at == Hook::Idle) != self.after.is_some() || self.after.is_some_and(|seconds| seconds <= 0.0);
        refuse(wrong_after, "`after` says how long after the last reply a rule at idle runs, a time above 0: they go together")?;
        refuse(self.attempt.is_some() && self.at != Hook::Overflow, "`attempt` has a meaning at overflow alone")?;
        refuse(self.give_up_after == Some(0), "`give_up_after` counts failures: 1 or more")?;
        self.when.as_ref().map_or(Ok(()), Trigger::check)
    }
}

/// Refuses a rule of which this holds, for this reason.
fn refuse(holds: bool, reason: &str) -> Result<(), String> {
    if holds { Err(reason.to_owned()) } else { Ok(()) }
}

impl Trigger {
    /// Why a program cannot have looked at it, as one sentence; `Ok` where it can.
    pub(super) fn check_answered(&self) -> Result<(), String> {
        if self.looks_at_truth() { Err("`next_prompt` is nothing that a program can know".to_owned()) } else { self.check() }
    }

    fn check(&self) -> Result<(), String> {
        match self {
            Trigger::Level(Level { gt, ge, .. }) | Trigger::Count(Count { gt, ge, .. }) if gt.is_some() == ge.is_some() => {
                Err("a trigger needs either `gt` or `ge`".to_owned())
            }
            Trigger::Any(triggers) | Trigger::All(triggers) if triggers.is_empty() => Err("`any` and `all` need triggers".to_owned()),
            Trigger::Any(triggers) | Trigger::All(triggers) => triggers.iter().try_for_each(Trigger::check),
            Trigger::Level(level) => std::iter::once(&level.of).chain(&level.at_most).try_for_each(Size::check),
            Trigger::Count(_) | Trigger::Idle(_) => Ok(()),
        }
    }
}
