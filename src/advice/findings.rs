//! What cannot work in a policy on a given window, found without any log: reserves that leave nothing, triggers that never or always fire,
//! protected ends that leave nothing to take, fallbacks that cannot shrink. Each finding names its keys and its arithmetic.

use crate::estimate::Unit;
use crate::list::Arrange;
use crate::policy::{
    AllKept, Comparison, Crossing, EndOf, EndUnit, Expression, FALLBACK_WINDOW, Facts, Hook, Input, Level, Measure, Parameter, Plan,
    Policy, Rule, Scope, Select, SummariserOverflow, SummaryModel, Switch, Tails, Trigger,
};
use crate::policy::{arithmetic, figure, formula_of};
use std::sync::Arc;
use toml::Value;

/// Severity of a finding: the policy never works, or not always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// The policy cannot work on this window.
    Defect,
    /// The policy works, but not always: in some sessions it does nothing.
    Doubt,
}

/// Something that cannot work, or not always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Severity: the policy never works, or not always.
    pub gravity: Gravity,
    /// The keys that it concerns, as paths through the document; a rule goes by its id.
    pub keys: Vec<String>,
    /// What is wrong, with its arithmetic.
    pub sentence: String,
}

impl Policy {
    /// Parameters whose numbers are surely slips of the pen, though they work, each with what is wrong with it.
    pub fn doubts(&self) -> Vec<(&str, String)> {
        let of = |parameter: &Parameter| parameter.number().and_then(|number| parameter.doubt(number));
        self.params.iter().filter_map(|(name, parameter)| Some((name.as_str(), of(parameter)?))).collect()
    }

    /// What cannot work with a model of these limits, in the order of the document.
    pub fn advise(&self, facts: &Facts) -> Vec<Finding> {
        let scope = match self.scope(facts) {
            Ok(scope) => scope,
            Err(error) => return vec![Finding { gravity: Gravity::Defect, keys: Vec::new(), sentence: error.to_string() }],
        };
        let plan = match self.plan(facts) {
            Ok(plan) => plan,
            Err(error) => return impossible(self, &scope, &error.to_string()),
        };
        let window = facts.window.or_else(|| self.default_window()).unwrap_or(FALLBACK_WINDOW) as f64;
        let max_input = facts.max_input as f64;
        let prompt = if facts.max_input > 0 { max_input.min(window) } else { window };
        let total = if facts.max_output > 0 { window.min(prompt + facts.max_output as f64) } else { window };
        let doubt = |(name, sentence): (&str, String)| Finding { gravity: Gravity::Doubt, keys: vec![format!("params.{name}")], sentence };
        let findings = self.doubts().into_iter().map(doubt).collect();
        let mut adviser = Adviser { policy: self, plan: &plan, scope: &scope, window, prompt, total, findings };
        adviser.whole();
        plan.rule.iter().for_each(|rule| adviser.rule(rule));
        adviser.findings
    }
}

/// The formulas did not make a plan: those that fell below zero are named, for most often they are the reason.
fn impossible(policy: &Policy, scope: &Scope, error: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut places: Vec<(Vec<String>, &Value)> = policy.body().iter().map(|(key, value)| (vec![key.clone()], value)).collect();
    while let Some((path, value)) = places.pop() {
        let below = |name: &str| [path.clone(), vec![name.to_owned()]].concat();
        match value {
            Value::Table(table) => places.extend(table.iter().map(|(key, value)| (below(key), value))),
            Value::Array(list) => places.extend(list.iter().enumerate().map(|(place, value)| {
                let id = value.get("id").and_then(Value::as_str).map_or_else(|| place.to_string(), str::to_owned);
                (below(&id), value)
            })),
            value => {
                let number = formula_of(value).and_then(|text| Expression::parse(text).ok()).and_then(|formula| formula.value(scope).ok());
                if number.is_some_and(|number| number < 0.0) {
                    let steps: Vec<&str> = path.iter().map(String::as_str).collect();
                    let sentence = format!("falls below zero: {}", arithmetic(policy, scope, &steps));
                    findings.push(Finding { gravity: Gravity::Defect, keys: vec![path.join(".")], sentence });
                }
            }
        }
    }
    findings.arrange_by(|one, other| one.keys.cmp(&other.keys));
    findings.push(Finding { gravity: Gravity::Defect, keys: Vec::new(), sentence: error.to_owned() });
    findings
}

struct Adviser<'a> {
    policy: &'a Policy,
    plan: &'a Plan,
    scope: &'a Scope,
    window: f64,
    /// The largest prompt that the provider takes.
    prompt: f64,
    /// The largest prompt and reply together.
    total: f64,
    findings: Vec<Finding>,
}

/// When a trigger fires, as far as its limits alone tell.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Never,
    Sometimes,
    Always,
}

/// A level of a trigger and where it stands.
struct Placed<'t> {
    level: &'t Level,
    path: Vec<String>,
}

impl Placed<'_> {
    fn key(&self) -> &'static str {
        if self.level.gt.is_some() { "gt" } else { "ge" }
    }
}

impl Adviser<'_> {
    fn add(&mut self, gravity: Gravity, keys: &[String], sentence: String) {
        self.findings.push(Finding { gravity, keys: keys.to_vec(), sentence });
    }

    fn of(&self, path: &[&str]) -> String {
        arithmetic(self.policy, self.scope, path)
    }

    fn whole(&mut self) {
        let reserve = self.plan.window.reserve as f64;
        if reserve >= self.window {
            let sentence =
                format!("a reserve of {} leaves nothing of a window of {}", self.of(&["window", "reserve"]), figure(self.window));
            self.add(Gravity::Defect, &["window.reserve".to_owned()], sentence);
        }
        let reactive = self.plan.rule.iter().find(|rule| rule.at == Hook::Overflow);
        let retries = self.plan.reactive.retries;
        match reactive {
            None if retries > 0 => {
                let sentence = format!(
                    "a refused call is tried again {}, but no rule at `overflow` makes it smaller",
                    if retries == 1 { "once".to_owned() } else { format!("{retries} times") }
                );
                self.add(Gravity::Defect, &["reactive.retries".to_owned()], sentence);
            }
            Some(rule) if retries == 0 => {
                let keys = ["reactive.retries".to_owned(), format!("rule.{}.at", rule.id)];
                self.add(
                    Gravity::Defect,
                    &keys,
                    "no refused call is tried again (retries = 0), so that rules at `overflow` never run".to_owned(),
                );
            }
            _ => {}
        }
        let shrinking: Vec<&Rule> = self
            .plan
            .rule
            .iter()
            .map(Arc::as_ref)
            .filter(|rule| rule.shrinks() && !matches!(rule.at, Hook::Ingest | Hook::Overflow | Hook::Manual))
            .collect();
        if !shrinking.is_empty() && shrinking.iter().all(|rule| matches!(rule.at, Hook::TurnStart | Hook::TurnEnd)) {
            let keys: Vec<String> = shrinking.iter().map(|rule| format!("rule.{}.at", rule.id)).collect();
            let sentence =
                "it looks at the context between turns alone: in a run of a single instruction nothing happens before the end".to_owned();
            self.add(Gravity::Doubt, &keys, sentence);
        }
    }

    fn rule(&mut self, rule: &Rule) {
        let key = |rest: &str| format!("rule.{}.{rest}", rule.id);
        if rule.at == Hook::Manual && !self.plan.rule.iter().any(|other| other.otherwise.as_ref() == Some(&rule.id)) {
            self.add(Gravity::Defect, &[key("at")], "it runs only where another rule names it under `else`, and none does".to_owned());
        }
        if let Some(most) = &rule.max_fires
            && [most.per_call, most.per_turn, most.per_session].contains(&Some(0))
        {
            self.add(Gravity::Defect, &[key("max_fires")], "it may fire 0 times".to_owned());
        }
        let limit = match &rule.when {
            None => {
                self.without_trigger(rule);
                None
            }
            Some(trigger) => {
                self.fate(rule, trigger);
                limit_of(trigger)
            }
        };
        // Where nothing is known of what a rule finds, it finds at most what the provider takes. A rule that another one falls back to
        // finds what that one found.
        let caller = self.plan.rule.iter().find(|other| other.otherwise.as_ref() == Some(&rule.id));
        let found = limit.or_else(|| caller.and_then(|caller| caller.when.as_ref()).and_then(limit_of)).filter(|limit| *limit > 0.0);
        self.room(rule, found);
        self.single_instruction(rule);
        if rule.at == Hook::Overflow {
            self.fallback(rule);
        }
    }

    fn without_trigger(&mut self, rule: &Rule) {
        let free = rule.min_saving.is_none() && rule.max_fires.is_none() && rule.min_messages.is_none();
        if rule.summarise.is_some() && free && !matches!(rule.at, Hook::Overflow | Hook::Manual) {
            let keys = [format!("rule.{}.when", rule.id)];
            self.add(Gravity::Defect, &keys, "it has no trigger and no guard: it always fires, a summary each time".to_owned());
        }
    }

    fn fate(&mut self, rule: &Rule, trigger: &Trigger) {
        let fate = self.fate_of(trigger);
        if fate == Fate::Sometimes || rule.at == Hook::Overflow {
            return;
        }
        let mut levels = Vec::new();
        collect(trigger, vec!["rule".to_owned(), rule.id.clone(), "when".to_owned()], &mut levels);
        let guilty: Vec<&Placed<'_>> = levels.iter().filter(|placed| self.fate_of_level(placed.level) == fate).collect();
        let Some(first) = guilty.first() else { return };
        let steps: Vec<&str> = first.path.iter().map(String::as_str).chain([first.key()]).collect();
        let keys: Vec<String> = guilty.iter().map(|placed| format!("{}.{}", placed.path.join("."), placed.key())).collect();
        let sum = self.of(&steps);
        let what = first.level.of.words();
        let sentence = match fate {
            Fate::Always => format!("it always fires: {what} is never below a limit of {sum}"),
            _ => {
                let most = self.most(first.level.of.measure());
                let why = match first.level.of.measure() {
                    Measure::UsageIn | Measure::UsageTotal => format!("{what} is {} at most", figure(most)),
                    _ => format!("the provider refuses a prompt above {}", figure(most)),
                };
                let limits = if self.prompt < self.window {
                    format!(" (input limit {}, window {})", figure(self.prompt), figure(self.window))
                } else {
                    String::new()
                };
                format!("it never fires before a refusal: the limit is {sum}, and {why}{limits}")
            }
        };
        // A rule for what no provider should report does no harm where another rule acts in time.
        let spare = fate != Fate::Always && self.others_act(rule);
        self.add(if spare { Gravity::Doubt } else { Gravity::Defect }, &keys, sentence);
    }

    /// Does another rule that makes the context smaller fire before a refusal?
    fn others_act(&self, than: &Rule) -> bool {
        let mut others = self.plan.rule.iter().filter(|rule| rule.id != than.id && rule.at != Hook::Overflow && rule.shrinks());
        others.any(|rule| rule.when.as_ref().is_some_and(|when| when.looks_at_size() && self.fate_of(when) == Fate::Sometimes))
    }

    fn fate_of(&self, trigger: &Trigger) -> Fate {
        let all = |triggers: &[Trigger], fate: Fate| triggers.iter().all(|trigger| self.fate_of(trigger) == fate);
        let any = |triggers: &[Trigger], fate: Fate| triggers.iter().any(|trigger| self.fate_of(trigger) == fate);
        match trigger {
            Trigger::Level(level) => self.fate_of_level(level),
            Trigger::Count(_) | Trigger::Idle(_) => Fate::Sometimes,
            Trigger::Any(triggers) if any(triggers, Fate::Always) => Fate::Always,
            Trigger::Any(triggers) if all(triggers, Fate::Never) => Fate::Never,
            Trigger::All(triggers) if any(triggers, Fate::Never) => Fate::Never,
            Trigger::All(triggers) if all(triggers, Fate::Always) => Fate::Always,
            Trigger::Any(_) | Trigger::All(_) => Fate::Sometimes,
        }
    }

    /// The largest value that a size can have in a call that the provider takes.
    fn most(&self, size: Measure) -> f64 {
        let estimator = &self.plan.estimator;
        // Where each character counts for one, a prompt's estimate is some four times what the provider counts.
        let by_characters = estimator.unit != Unit::Tokens && estimator.numerator >= estimator.denominator;
        match size {
            Measure::UsageTotal => self.total,
            Measure::EstRequest | Measure::EstHistory | Measure::EstSystem if by_characters => self.prompt * 4.0,
            _ => self.prompt,
        }
    }

    fn fate_of_level(&self, level: &Level) -> Fate {
        let (most, measure) = (self.most(level.of.measure()), level.of.measure());
        // An estimate may well lie above the limit right before a call, and that is when it is needed; recorded usage cannot.
        let recorded = matches!(measure, Measure::UsageIn | Measure::UsageTotal);
        let never = level.ge.is_some_and(|limit| limit > most) || level.gt.is_some_and(|limit| limit > most || (recorded && limit >= most));
        let always = level.ge.is_some_and(|limit| limit <= 0.0) || level.gt.is_some_and(|limit| limit < 0.0);
        match (never && level.before_refusals().is_some(), always) {
            (true, _) => Fate::Never,
            (_, true) => Fate::Always,
            _ => Fate::Sometimes,
        }
    }

    /// Is there anything to take beside what is protected, and is it worth it?
    fn room(&mut self, rule: &Rule, found: Option<f64>) {
        let key = |rest: &str| format!("rule.{}.{rest}", rule.id);
        let available = found.unwrap_or(self.prompt).min(self.prompt);
        let fires = match found {
            Some(limit) => format!("it fires at {}", figure(limit)),
            None => format!("a prompt has {} at most", figure(self.prompt)),
        };
        let everything = protected(&rule.select, EndOf::All);
        // The message that crosses the line goes with `select`: whatever lies above the limit is enough to find one.
        let reaches = |tokens: f64, place: usize| {
            let goes = rule.select.tail.get(place).is_some_and(|end| end.crossing == Crossing::Select);
            tokens > available || (tokens >= available && !goes)
        };
        if let Some((tokens, place)) = &everything
            && reaches(*tokens, *place)
            && !matches!(rule.select.all_kept, AllKept::Everything | AllKept::LastTurn)
            && rule.shrinks()
            && rule.at != Hook::Ingest
        {
            let sum = self.of(&["rule", &rule.id, "select", "tail", &place.to_string(), "n"]);
            let sentence = format!("it protects {sum} tokens, and {fires}: nothing is left to take");
            return self.add(Gravity::Defect, &[key(&format!("select.tail.{place}.n")), key("when")], sentence);
        }
        if let Some(saving) = &rule.min_saving {
            let selected = protected(&rule.select, EndOf::Selected).or(everything);
            let (tokens, place) = selected.map_or((0.0, None), |(tokens, place)| (tokens, Some(place)));
            let needed = tokens + saving.tokens as f64;
            let short = |most: f64| needed > most || (saving.cmp == Comparison::Gt && needed >= most);
            let mut keys = vec![key("min_saving.tokens")];
            keys.extend(place.map(|place| key(&format!("select.tail.{place}.n"))));
            let sum = format!("{} protected and {} to be saved make {}", figure(tokens), figure(saving.tokens as f64), figure(needed));
            if short(self.prompt) {
                let sentence = format!("it can never save enough: {sum}, and a prompt has {} at most", figure(self.prompt));
                return self.add(Gravity::Defect, &keys, sentence);
            }
            if short(available) {
                self.add(Gravity::Doubt, &keys, format!("it cannot save enough where it first fires: {sum}, and {fires}"));
            }
        }
        // An end that protects everything protects nothing where everything goes then.
        let kept = everything.map_or(0.0, |(tokens, _)| tokens);
        self.summary(rule, if kept < available { available - kept } else { available }, &fires);
    }

    fn summary(&mut self, rule: &Rule, replaced: f64, fires: &str) {
        // What is thrown away need not be small.
        let Some(summarise) = rule.summarise.as_ref().filter(|summarise| summarise.discard == Switch::Off) else { return };
        let summary = &self.plan.summary;
        let size = match summary.model {
            SummaryModel::Fixed | SummaryModel::Recorded => summary.tokens as f64,
            SummaryModel::Share => {
                let most = if summary.max == 0 { f64::MAX } else { summary.max as f64 };
                (summary.ratio * replaced).max(summary.min as f64).min(most.max(summary.min as f64))
            }
        };
        let put_in: u64 = rule.inject.iter().map(|inject| inject.tokens).sum();
        let comes = size + summarise.wrapper_tokens as f64 + put_in as f64;
        if comes >= replaced {
            let size_key = if summary.model == SummaryModel::Share { "summary.ratio" } else { "summary.tokens" };
            let sentence = format!(
                "what comes is no smaller than what goes: a summary of {}, {} around it and {} put in make {}; {fires}, which leaves {} to replace",
                figure(size),
                figure(summarise.wrapper_tokens as f64),
                figure(put_in as f64),
                figure(comes),
                figure(replaced)
            );
            self.add(Gravity::Defect, &[size_key.to_owned(), format!("rule.{}.summarise", rule.id)], sentence);
        }
    }

    fn single_instruction(&mut self, rule: &Rule) {
        let turns = |unit: EndUnit| matches!(unit, EndUnit::Turns | EndUnit::UserMessages);
        let counts = |end: &crate::policy::End| turns(end.unit) && end.n >= 1.0;
        let tails = &rule.select.tail;
        let protects = match rule.select.tails {
            Tails::Union => tails.iter().any(counts),
            Tails::Intersection => !tails.is_empty() && tails.iter().all(counts),
        };
        // A rule that falls back to another one has thought of that.
        if !protects || matches!(rule.select.all_kept, AllKept::Everything | AllKept::LastTurn) || rule.otherwise.is_some() {
            return;
        }
        let Some((place, end)) = tails.iter().enumerate().find(|(_, end)| counts(end)) else { return };
        let sum = self.of(&["rule", &rule.id, "select", "tail", &place.to_string(), "n"]);
        let unit = if end.unit == EndUnit::Turns { "turns" } else { "user messages" };
        let sentence = format!(
            "it spares everything from the n-th newest of the {unit} on (n: {sum}): in a run of a single instruction it never finds anything"
        );
        self.add(Gravity::Doubt, &[format!("rule.{}.select.tail.{place}.n", rule.id)], sentence);
    }

    fn fallback(&mut self, rule: &Rule) {
        if !rule.shrinks() {
            return self.add(
                Gravity::Defect,
                &[format!("rule.{}", rule.id)],
                "after a refusal it puts text in and takes nothing out".to_owned(),
            );
        }
        let Some(summarise) = &rule.summarise else { return };
        let first = self.plan.rule.iter().find(|other| other.at == Hook::Overflow).is_some_and(|other| other.id == rule.id);
        if first && rule.otherwise.is_none() && summarise.input == Input::Context && summarise.on_overflow == SummariserOverflow::Fail {
            let keys = [format!("rule.{}.summarise.input", rule.id), format!("rule.{}.summarise.on_overflow", rule.id)];
            let sentence = format!(
                "it cannot shrink: its request is the refused one, more than {}, and {} more for the instruction, and would be refused as well",
                figure(self.prompt),
                figure(summarise.prompt_tokens as f64)
            );
            self.add(Gravity::Defect, &keys, sentence);
        }
    }
}

/// The tokens at which a trigger fires at the latest known: the lowest of several that suffice alone, the highest of several that all must hold.
fn limit_of(trigger: &Trigger) -> Option<f64> {
    match trigger {
        Trigger::Level(level) => level.before_refusals(),
        Trigger::Count(_) | Trigger::Idle(_) => None,
        Trigger::Any(triggers) => {
            // A condition without a size may hold at any size.
            let limits: Option<Vec<f64>> = triggers.iter().map(limit_of).collect();
            limits?.into_iter().reduce(f64::min)
        }
        Trigger::All(triggers) => triggers.iter().filter_map(limit_of).reduce(f64::max),
    }
}

fn collect<'t>(trigger: &'t Trigger, path: Vec<String>, levels: &mut Vec<Placed<'t>>) {
    let below = |steps: &[&str]| path.iter().cloned().chain(steps.iter().map(|step| (*step).to_owned())).collect::<Vec<String>>();
    match trigger {
        Trigger::Level(level) => levels.push(Placed { level, path: below(&["level"]) }),
        Trigger::Count(_) | Trigger::Idle(_) => {}
        Trigger::Any(triggers) | Trigger::All(triggers) => {
            let word = if matches!(trigger, Trigger::Any(_)) { "any" } else { "all" };
            triggers.iter().enumerate().for_each(|(place, inner)| collect(inner, below(&[word, &place.to_string()]), levels));
        }
    }
}

/// Estimated tokens that the newest end protects whatever there is, and the place of the tail that says so.
fn protected(select: &Select, of: EndOf) -> Option<(f64, usize)> {
    let tokens =
        select.tail.iter().enumerate().filter(|(_, end)| end.unit == EndUnit::Tokens && end.of == of).map(|(place, end)| (end.n, place));
    match select.tails {
        Tails::Union => tokens.reduce(|most, next| if next.0 > most.0 { next } else { most }),
        // Other units may protect less.
        Tails::Intersection if select.tail.iter().any(|end| end.unit != EndUnit::Tokens || end.of != of) => None,
        Tails::Intersection => tokens.reduce(|least, next| if next.0 < least.0 { next } else { least }),
    }
}
