//! A policy under many settings and for many models: its formulas are parsed once, and plans that come to the same numbers are worked out
//! once.
//!
//! [`Policy::plan`] is what a plan means. A draft gives the same plan, and leaves to it whatever it cannot work out, errors above all.

use super::document::{FACTS, Facts, Policy, numbers_of};
use super::error::PolicyError;
use super::expression::{Expression, Resolved};
use super::family;
use super::parameter::as_number;
use super::plan::{Plan, Rule};
use crate::catalog::Family;
use crate::decode::{Content, Node};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use toml::{Table, Value};

/// The plans of one base policy.
pub struct Drafts<'p> {
    base: &'p Policy,
    /// Facts of the model, then parameters.
    names: Vec<String>,
    by_family: BTreeMap<Option<Family>, Option<Draft>>,
    plans: BTreeMap<(Option<Family>, Vec<u64>), Arc<Plan>>,
}

/// A document for one family, with its formulas resolved.
struct Draft {
    /// The document without its rules.
    frame: Node<'static>,
    rules: Vec<RuleDraft>,
    formulas: Vec<Resolved>,
    /// By fact: does one of them ask for it?
    asks: [bool; FACTS.len()],
}

/// A rule of the document: settings that come to the same numbers in it have one rule.
struct RuleDraft {
    node: Node<'static>,
    /// The places of its formulas.
    formulas: Range<usize>,
    /// Rules by the numbers that their formulas come to.
    known: BTreeMap<Vec<u64>, Arc<Rule>>,
}

/// A setting of the base policy: its parameters, ready for any model.
pub struct Dialled<'p> {
    policy: &'p Policy,
    /// Facts and formulas at 0, numbers as they are.
    slots: Vec<f64>,
    /// Formulas among the parameters, in an order in which they can be worked out; `None` where they must be left to the policy.
    formulas: Option<Vec<(usize, Resolved)>>,
    /// Plans that were worked out, by the family and the facts that anything asks for.
    known: Vec<(Known, Arc<Plan>)>,
}

/// What a plan hangs on: the family, and the facts that anything asks for.
type Known = (Option<Family>, AskedFacts);

/// The facts that formulas ask for; those that none asks for are absent.
type AskedFacts = [Option<u64>; FACTS.len()];

impl<'p> Drafts<'p> {
    /// No plan is worked out yet.
    pub fn new(base: &'p Policy) -> Drafts<'p> {
        let names = FACTS.iter().map(|fact| (*fact).to_owned()).chain(base.params.keys().cloned()).collect();
        Drafts { base, names, by_family: BTreeMap::new(), plans: BTreeMap::new() }
    }

    /// Makes a setting of the base policy ready.
    pub fn dial(&self, policy: &'p Policy) -> Dialled<'p> {
        let mut slots = vec![0.0; FACTS.len()];
        if FACTS.iter().any(|fact| policy.params.contains_key(*fact)) {
            // A parameter that bears the name of a fact is none that places can tell from it.
            return Dialled { policy, slots, formulas: None, known: Vec::new() };
        }
        let mut waiting: Vec<(usize, &str)> = Vec::new();
        for parameter in policy.params.values() {
            if let Value::String(text) = &parameter.value {
                waiting.push((slots.len(), text.strip_prefix('=').unwrap_or(text)));
            }
            slots.push(as_number(&parameter.value).unwrap_or(0.0));
        }
        Dialled { policy, slots, formulas: self.in_order(waiting), known: Vec::new() }
    }

    /// Formulas of parameters, each behind those that it asks about.
    fn in_order(&self, waiting: Vec<(usize, &str)>) -> Option<Vec<(usize, Resolved)>> {
        let mut waiting: Vec<(usize, Resolved)> =
            waiting.into_iter().map(|(slot, text)| Some((slot, self.resolve(text)?))).collect::<Option<_>>()?;
        let mut ordered = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let free = |formula: &Resolved| waiting.iter().all(|(slot, _)| !formula.asks(*slot));
            let ready = waiting.iter().position(|(_, formula)| free(formula))?;
            ordered.push(waiting.remove(ready));
        }
        Some(ordered)
    }

    fn resolve(&self, text: &str) -> Option<Resolved> {
        Expression::parse(text).ok()?.resolve(&|name| self.names.iter().position(|known| known == name))
    }

    /// The plan of a setting for one model.
    pub fn plan(&mut self, dialled: &mut Dialled<'_>, facts: &Facts) -> Result<Arc<Plan>, PolicyError> {
        // A policy that tells no families apart has one plan for all of them.
        let family = facts.family.filter(|_| family::are_told_apart(self.base.body()));
        if !self.by_family.contains_key(&family) {
            let draft = self.draft(family);
            self.by_family.insert(family, draft);
        }
        let Some(draft) = self.by_family.get_mut(&family).and_then(Option::as_mut) else { return dialled.policy.plan(facts).map(Arc::new) };
        let asked = (family, draft.asked(dialled, facts));
        if let Some((_, plan)) = dialled.known.iter().find(|(known, _)| *known == asked) {
            return Ok(Arc::clone(plan));
        }
        let Some(values) = draft.values(dialled, facts) else { return dialled.policy.plan(facts).map(Arc::new) };
        let key = (family, values.iter().map(|value| value.to_bits()).collect());
        let plan = match self.plans.get(&key) {
            Some(plan) => Arc::clone(plan),
            None => {
                let plan = Arc::new(match draft.plan(&values) {
                    Some(plan) => plan,
                    None => dialled.policy.plan(facts)?,
                });
                self.plans.insert(key, Arc::clone(&plan));
                plan
            }
        };
        dialled.known.push((asked, Arc::clone(&plan)));
        Ok(plan)
    }

    fn draft(&self, family: Option<Family>) -> Option<Draft> {
        let mut body: Table = self.base.body().clone();
        if body.contains_key("program") {
            // What a program is handed hangs on all parameters.
            return None;
        }
        family::choose(&mut body, family);
        let rules = match body.remove("rule") {
            None => Vec::new(),
            Some(Value::Array(rules)) => rules,
            Some(_) => return None,
        };
        let mut formulas = Vec::new();
        let frame = self.node(Value::Table(body), &mut formulas)?;
        let rule = |rule| {
            let first = formulas.len();
            let node = self.node(rule, &mut formulas)?;
            Some(RuleDraft { node, formulas: first..formulas.len(), known: BTreeMap::new() })
        };
        let rules = rules.into_iter().map(rule).collect::<Option<_>>()?;
        let asks = std::array::from_fn(|fact| formulas.iter().any(|formula: &Resolved| formula.asks(fact)));
        Some(Draft { frame, rules, formulas, asks })
    }

    /// The value with a place for what each of its formulas comes to.
    fn node(&self, value: Value, formulas: &mut Vec<Resolved>) -> Option<Node<'static>> {
        Node::of(value, &mut |text| match text.strip_prefix('=') {
            Some(formula) => {
                formulas.push(self.resolve(formula)?);
                Some(Content::Number(formulas.len() - 1))
            }
            None => Some(Content::Text(text.into())),
        })
    }
}

impl Draft {
    /// What all formulas of the document come to; `None` where one has no finite value.
    fn values(&self, dialled: &Dialled<'_>, facts: &Facts) -> Option<Vec<f64>> {
        let mut slots = dialled.slots.clone();
        slots.iter_mut().zip(numbers_of(dialled.policy, facts)).for_each(|(slot, fact)| *slot = fact as f64);
        for (slot, formula) in dialled.formulas.as_ref()? {
            let value = formula.at(&slots).filter(|value| value.is_finite())?;
            // What a parameter cannot have is an error, which the policy words.
            let parameter = slot.checked_sub(FACTS.len()).and_then(|place| dialled.policy.params.values().nth(place));
            parameter.map_or(Ok(()), |parameter| parameter.check_worked_out(value)).ok()?;
            *slots.get_mut(*slot)? = value;
        }
        self.formulas.iter().map(|formula| formula.at(&slots).filter(|value| value.is_finite())).collect()
    }

    /// The facts that the document, or the setting, asks for.
    fn asked(&self, dialled: &Dialled<'_>, facts: &Facts) -> AskedFacts {
        let numbers = numbers_of(dialled.policy, facts);
        let by_setting = |fact: usize| dialled.formulas.iter().flatten().any(|(_, formula)| formula.asks(fact));
        std::array::from_fn(|fact| {
            let asks = self.asks.get(fact).is_some_and(|asks| *asks) || by_setting(fact);
            numbers.get(fact).copied().filter(|_| asks)
        })
    }

    fn plan(&mut self, values: &[f64]) -> Option<Plan> {
        let mut plan: Plan = self.frame.decode(values).ok()?;
        plan.rule = self.rules.iter_mut().map(|rule| rule.at(values)).collect::<Option<_>>()?;
        plan.ready().ok()
    }
}

impl RuleDraft {
    /// The rule where all formulas come to these values; `None` where it is none.
    fn at(&mut self, values: &[f64]) -> Option<Arc<Rule>> {
        let key: Vec<u64> = values.get(self.formulas.clone())?.iter().map(|value| value.to_bits()).collect();
        if let Some(rule) = self.known.get(&key) {
            return Some(Arc::clone(rule));
        }
        let rule = Arc::new(self.node.decode::<Rule>(values).ok()?);
        self.known.insert(key, Arc::clone(&rule));
        Some(rule)
    }
}
