//! Through what is replayed: arguments that name policies and turn their parameters.

use super::failure::{Failure, tell};
use super::known::catalog;
use super::logs::{Logs, tokens};
use super::program::{Errors, Programs};
use super::shell::option;
use crate::advice::WithoutEffect;
use crate::catalog::Catalog;
use crate::corpus::Corpus;
use crate::cost::{CacheKind, Tariff};
use crate::experiment::{BacktestSettings, Diff, Foreseen, Mode, Replay, ReplaySettings, backtest, check_model, diff, recorders, replay};
use crate::measure::{Kinds, Recall, Wanted};
use crate::policy::{Facts, Policy, is_called, preset, suggestion};
use crate::report::{Oracle, calibration, counted};
use clap::{ArgAction, Args};
use std::collections::BTreeSet;

/// What stands for a policy that knows the future: it has no contexts of its own and fills those of others.
pub const ORACLE: &str = "oracle";

/// Policies that a first look takes.
pub const MAIN_PRESETS: [&str; 6] = ["none", "baseagent", "opencode", "codex", "pi", "picoclaw"];

/// Which policies, and what holds for all of them.
#[derive(Args, Clone, Debug, Default)]
pub struct Policies {
    /// A preset or a policy file; may be given several times [default: the main presets]
    #[arg(long = "policy", short = 'p', value_name = "NAME|FILE")]
    pub policies: Vec<String>,
    /// Turn a parameter of all policies that have it, or of one: `--set opencode:prune=1`
    #[arg(long, value_name = "[POLICY:]PARAM=VALUE")]
    pub set: Vec<String>,
    /// Take this window for every session instead of its model's: 200000, 200k, 1m; `replay` takes several, as in 128k,200k: a row for each policy and window
    #[arg(long = "window", value_name = "TOKENS", value_parser = window, value_delimiter = ',', action = ArgAction::Set)]
    pub windows: Vec<u64>,
    /// Judge `over budget` by this output reserve instead of each policy's own
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub reserve: Option<u64>,
    #[command(flatten)]
    pub programs: Programs,
}

/// Names of the program's own rows.
const OWN_ROWS: [&str; 5] = ["recorded", "none", "no policy", "own agents", ORACLE];

/// So many doubtful numbers are named; the others are counted.
const DOUBTS_TOLD: usize = 3;

const NO_CONTEXTS: &str = "oracle has no contexts of its own: it fills those of another policy, in `ctxsim replay` alone. \
                           Name both there: --policy opencode --policy oracle";

/// A window as it is typed.
pub fn window(text: &str) -> Result<u64, String> {
    tokens(text).and_then(|tokens| if tokens == 0 { Err("a window holds at least one token".to_owned()) } else { Ok(tokens) })
}

/// A model that gives no window.
pub fn unknown_model(catalog: &Catalog, id: &str) -> Failure {
    let hint = suggestion(id, catalog.models().map(|model| model.id.as_str()));
    Failure::Usage(format!("the catalogue has no model `{id}`{hint} (--window says how large its window is)"))
}

impl Policies {
    /// The policies with their parameters as they were set. Numbers that are surely slips of the pen are told, and taken as they are.
    pub fn load(&self, logs: &Logs) -> Result<Vec<Policy>, Failure> {
        self.load_varied(logs, &[])
    }

    /// The same, where a search varies parameters besides, named as in `--vary`.
    pub fn load_varied(&self, logs: &Logs, varied: &[String]) -> Result<Vec<Policy>, Failure> {
        if self.policies.iter().any(|name| name == ORACLE) {
            return Err(Failure::Usage(NO_CONTEXTS.to_owned()));
        }
        let names: Vec<&str> =
            if self.policies.is_empty() { MAIN_PRESETS.to_vec() } else { self.policies.iter().map(String::as_str).collect() };
        let reader = logs.reader()?;
        let load = |name: &&str| self.programs.attach(named(Policy::load(name)?, name)?, name, reader, Errors::Dropped);
        let policies = names.iter().map(load).collect::<Result<Vec<Policy>, Failure>>()?;
        let mut policies = self.with_settings(policies, varied, logs)?;
        self.tell_apart(&mut policies);
        Ok(policies)
    }

    /// These without the oracle, and whether it was among them.
    pub fn beside_oracle(&self) -> Result<(Policies, Oracle), Failure> {
        let mut others = self.clone();
        others.policies.retain(|name| name != ORACLE);
        if others.policies.len() == self.policies.len() {
            return Ok((others, Oracle::LeftOut));
        }
        if others.policies.is_empty() { Err(Failure::Usage(NO_CONTEXTS.to_owned())) } else { Ok((others, Oracle::Beside)) }
    }

    /// The preset of a session, one of several, with what is set in it. What is set in others of them alone has no effect, and that is said.
    pub fn preset_of_session(&self, name: &str, presets: &[Policy], logs: &Logs) -> Result<Vec<Policy>, Failure> {
        let preset = Policy::load(name)?;
        let mut all: Vec<Policy> = presets.iter().chain([&preset]).cloned().collect();
        self.set.iter().try_for_each(|setting| set(&mut all, setting))?;
        let sets = |setting: &String| set_in(std::slice::from_ref(setting), &preset).next().is_some();
        let (set, idle): (Vec<String>, Vec<String>) = self.set.iter().cloned().partition(sets);
        for setting in idle.iter().filter(|_| !logs.quiet) {
            tell(&format!("`--set {setting}` has no effect: it sets nothing in {name}, the preset of this session"));
        }
        Policies { policies: vec![name.to_owned()], set, ..self.clone() }.load(logs)
    }

    /// The one policy that was named, or, where none was, the presets that know whose logs were recorded under them.
    pub fn one_or_recorders(&self, logs: &Logs) -> Result<Vec<Policy>, Failure> {
        match self.policies.as_slice() {
            [] => self.with_settings(recorders()?, &[], logs),
            [_] => self.load(logs),
            _ => Err(Failure::Usage("backtest holds one policy against the logs: name one with --policy, or none".to_owned())),
        }
    }

    /// The one policy that was named; `varied` as in [`Policies::load_varied`].
    pub fn only(&self, command: &str, logs: &Logs, varied: &[String]) -> Result<Policy, Failure> {
        match self.policies.as_slice() {
            [_] => self.load_varied(logs, varied)?.pop().ok_or_else(|| Failure::Usage("no policy was named".to_owned())),
            _ => Err(Failure::Usage(format!("{command} takes one policy: name it with --policy"))),
        }
    }

    /// Policies with their parameters as they were set, and summaries as large as recorded ones where nothing sets their size.
    fn with_settings(&self, mut policies: Vec<Policy>, varied: &[String], logs: &Logs) -> Result<Vec<Policy>, Failure> {
        for setting in &self.set {
            set(&mut policies, setting)?;
        }
        let idle = policies.iter().flat_map(|policy| self.without_effect(policy, varied));
        tell_doubts(&policies.iter().flat_map(doubts).chain(idle).collect(), logs);
        let with_recorded = |policy: Policy| {
            let settings = set_in(&self.set, &policy).chain(set_in(varied, &policy));
            let names: BTreeSet<String> = settings.filter_map(|setting| Some(parameter(setting)?.to_owned())).collect();
            policy.with_recorded_summaries(&|name| names.contains(name))
        };
        Ok(policies.into_iter().map(with_recorded).collect())
    }

    /// What is set in a policy and has no effect there, as sentences; what a varied parameter takes away, its other values may give back.
    fn without_effect(&self, policy: &Policy, varied: &[String]) -> Vec<String> {
        let names = |settings| set_in(settings, policy).filter_map(|setting| parameter(setting)).collect::<BTreeSet<&str>>();
        let (set, varied) = (names(&self.set), names(varied));
        if set.is_empty() {
            return Vec::new();
        }
        let facts = Facts { window: self.window().or(policy.default_window()), ..Facts::default() };
        let is_told = |idle: &WithoutEffect| {
            set.contains(&*idle.name) && !idle.because.as_ref().is_some_and(|(other, _)| varied.contains(other.as_str()))
        };
        let idle = policy.without_effect(&facts).into_iter().filter(is_told);
        idle.map(|idle| format!("policy {}: {}", policy.name, idle.words())).collect()
    }

    /// As [`Policies::load_varied`], but a policy that is named twice is taken once, and a warning says so.
    pub fn load_once_each(&self, logs: &Logs, varied: &[String]) -> Result<Vec<Policy>, Failure> {
        let mut policies: Vec<Policy> = Vec::new();
        let mut told = BTreeSet::new();
        for policy in self.load_varied(logs, varied)? {
            if !policies.contains(&policy) {
                policies.push(policy);
            } else if !logs.quiet && told.insert(policy.name.clone()) {
                tell(&format!("policy {} is named more than once; it has one row", policy.name));
            }
        }
        Ok(policies)
    }

    /// Two files of one name are two policies: where they are tells them apart.
    fn tell_apart(&self, policies: &mut [Policy]) {
        let file = |typed: &String| std::fs::canonicalize(typed).unwrap_or_else(|_| typed.into());
        let all: Vec<(String, &String)> = policies.iter().map(|policy| policy.name.clone()).zip(&self.policies).collect();
        for (policy, typed) in policies.iter_mut().zip(&self.policies).filter(|(_, typed)| !is_preset(typed)) {
            if all.iter().any(|(name, other)| *name == policy.name && file(other) != file(typed)) {
                policy.name = format!("{} ({typed})", policy.name);
            }
        }
    }

    /// What options set in a policy, as it was typed.
    pub fn set_in<'a>(&'a self, policy: &'a Policy) -> impl Iterator<Item = &'a String> {
        set_in(&self.set, policy)
    }

    /// These for one of several policies that they name, the one at this place, with what is set in it.
    pub fn of_one(&self, place: usize, policy: &Policy, of: usize) -> Policies {
        let typed = self.policies.iter().filter(|name| *name != ORACLE).collect::<Vec<_>>();
        // A policy that was named twice has one row, and what was typed no longer stands beside what was loaded.
        let typed = typed.get(place).filter(|_| typed.len() == of).map_or_else(|| policy.name.clone(), |name| (*name).clone());
        Policies { policies: vec![typed], set: self.set_in(policy).cloned().collect(), ..self.clone() }
    }

    /// What options set in these policies, in a sentence; `None` where they set nothing.
    pub fn told_set(&self, policies: &[Policy]) -> Option<String> {
        let values = |policy: &Policy| {
            let values = self.set_in(policy).filter_map(|setting| Some(format!("{}={}", parameter(setting)?, setting.split_once('=')?.1)));
            values.collect::<Vec<String>>().join(", ")
        };
        let set = policies.iter().map(|policy| (policy, values(policy))).filter(|(_, values)| !values.is_empty());
        let set: Vec<String> = set.map(|(policy, values)| format!("`{}` with {values}", policy.name)).collect();
        (!set.is_empty()).then(|| format!("By --set: {}.", set.join("; ")))
    }

    /// What was set by options, set once more: it goes before what files say.
    pub fn set_again(&self, policy: Policy) -> Result<Policy, Failure> {
        let mut policies = [policy.clone()];
        self.set_in(&policy).try_for_each(|setting| set(&mut policies, setting))?;
        let [policy] = policies;
        Ok(policy)
    }

    pub fn replay(&self, policies: &[Policy], corpus: &Corpus, logs: &Logs) -> Result<Vec<Replay>, Failure> {
        Ok(replay(corpus, policies, &self.settings(logs)?)?)
    }

    /// What must be measured for these policies, with references or without them.
    pub fn wanted(policies: &[Policy], references: Recall) -> Wanted {
        let kinds = if policies.iter().any(Policy::tells_kinds) { Kinds::Told } else { Kinds::Untold };
        Wanted { references, kinds }
    }

    /// The window that was named; the first of several.
    pub fn window(&self) -> Option<u64> {
        self.windows.first().copied()
    }

    /// These with each of the windows by itself; with the window of each session where none was named.
    pub fn by_window(&self) -> Vec<Policies> {
        let with = |windows: Vec<u64>| Policies { windows, ..self.clone() };
        if self.windows.is_empty() { vec![self.clone()] } else { self.windows.iter().map(|window| with(vec![*window])).collect() }
    }

    /// What holds for all of them.
    pub fn settings(&self, logs: &Logs) -> Result<ReplaySettings<'static>, Failure> {
        let own = ReplaySettings::new(catalog()?);
        Ok(ReplaySettings { window: self.window(), model: logs.model.clone(), reserve: self.reserve, ..own })
    }

    /// Automatic compactions by the agents' own presets, beside those of the logs.
    pub fn predicted(&self, corpus: &Corpus, logs: &Logs) -> Result<Foreseen, Failure> {
        // Agents compacted in the windows of their own models, whichever ones the policies are asked about.
        let settings = ReplaySettings { window: None, model: None, ..self.settings(logs)? };
        let recorders = Policies::default().with_settings(recorders()?, &[], logs)?;
        Ok(backtest(corpus, &recorders, &BacktestSettings { replay: &settings, mode: Mode::Conditioned })?.compactions())
    }

    /// How well the recording itself is reproduced, in one line; `bills` are the prices and the cache of a command that shows money.
    pub fn calibration(&self, corpus: &Corpus, logs: &Logs, bills: Option<(&Tariff<'_>, CacheKind)>) -> Result<String, Failure> {
        let checks = bills.map(|(tariff, _)| check_model(corpus, tariff));
        let cache = bills.map_or(CacheKind::None, |(_, cache)| cache);
        Ok(calibration(&corpus.facts, checks.as_ref(), cache, Some(self.predicted(corpus, logs)?)))
    }

    /// Compares the first two policies over a corpus.
    pub fn diff(&self, policies: &[Policy], corpus: &Corpus, logs: &Logs) -> Result<Diff, Failure> {
        let [one, other, ..] = policies else {
            return Err(Failure::Usage("two policies are compared, name both with --policy".to_owned()));
        };
        Ok(diff(corpus, [one, other], &self.settings(logs)?)?)
    }

    /// An unknown model does not give its window.
    pub fn check_model(&self, logs: &Logs) -> Result<(), Failure> {
        if self.windows.len() > 1 {
            return Err(Failure::Usage("one window at a time: several are for `ctxsim replay`".to_owned()));
        }
        match &logs.model {
            Some(model) if self.windows.is_empty() && catalog()?.find(model).is_none() => Err(unknown_model(catalog()?, model)),
            _ => Ok(()),
        }
    }

    /// The options as they would be typed again.
    pub fn words(&self) -> Vec<String> {
        let windows: Vec<String> = self.windows.iter().map(u64::to_string).collect();
        let words = [
            option("--policy", &self.policies),
            option("--set", &self.set),
            option("--window", (!windows.is_empty()).then(|| windows.join(","))),
            option("--reserve", self.reserve),
            self.programs.words(),
        ];
        words.concat()
    }
}

/// The parameter that a setting names.
fn parameter(setting: &str) -> Option<&str> {
    setting.split('=').next()?.rsplit(':').next()
}

/// Those of some settings that hold for a policy.
fn set_in<'a>(settings: &'a [String], policy: &'a Policy) -> impl Iterator<Item = &'a String> {
    settings.iter().filter(|setting| {
        let wanted = setting.split('=').next().and_then(|left| left.rsplit_once(':')).map(|(wanted, _)| wanted);
        let is_meant = wanted.is_none_or(|wanted| is_called(&policy.name, wanted));
        is_meant && parameter(setting).is_some_and(|param| policy.params.contains_key(param))
    })
}

/// Does this name a preset, or the first of its system?
fn is_preset(name: &str) -> bool {
    preset(name).is_some()
}

/// A policy, unless it is a document under a name of the program's own rows.
fn named(policy: Policy, typed: &str) -> Result<Policy, Failure> {
    let rest = OWN_ROWS.iter().find_map(|row| policy.name.strip_prefix(row));
    let is_row = rest.is_some_and(|rest| rest.is_empty() || [" (", " at "].iter().any(|next| rest.starts_with(next)));
    let is_own = ["(defaults)", "(yours)"].iter().any(|end| policy.name.ends_with(end));
    if (is_row || is_own) && !is_preset(typed) {
        let name = &policy.name;
        return Err(Failure::Usage(format!(
            "{typed}: a row of the program's own is called `{name}`; `name = \"...\"` gives the policy another name"
        )));
    }
    Ok(policy)
}

/// What is to be said of numbers of a policy that are surely slips of the pen.
pub fn doubts(policy: &Policy) -> impl Iterator<Item = String> {
    policy.doubts().into_iter().map(|(name, why)| format!("policy {}: {name} = {why}", policy.name))
}

/// Says it, each once; of many the first few.
pub fn tell_doubts(doubts: &BTreeSet<String>, logs: &Logs) {
    if logs.quiet {
        return;
    }
    doubts.iter().take(DOUBTS_TOLD).for_each(|doubt| tell(doubt));
    let rest = doubts.len().saturating_sub(DOUBTS_TOLD) as u64;
    if rest > 0 {
        tell(&format!("and {} of this kind", counted(rest, "more value")));
    }
}

/// Turns a parameter of the policy that the setting names, or of all that have it.
fn set(policies: &mut [Policy], setting: &str) -> Result<(), Failure> {
    let Some((left, value)) = setting.split_once('=') else {
        return Err(Failure::Usage(format!(
            "`--set {setting}` lacks a value: it is written --set PARAM=VALUE or --set POLICY:PARAM=VALUE"
        )));
    };
    let (wanted, param) = left.rsplit_once(':').map_or((None, left), |(policy, param)| (Some(policy), param));
    let is_wanted = |policy: &Policy| wanted.is_none_or(|wanted| is_called(&policy.name, wanted));
    let known: Vec<String> = policies.iter().map(|policy| policy.name.clone()).collect();
    let mut named: Vec<&mut Policy> = policies.iter_mut().filter(|policy| is_wanted(policy)).collect();
    if named.is_empty() {
        let wanted = wanted.unwrap_or_default();
        let hint = suggestion(wanted, known.iter().map(String::as_str));
        return Err(Failure::Usage(format!("`--set {setting}` names the policy `{wanted}`, which is not replayed{hint}")));
    }
    // Where no policy has the parameter, the error lists the parameters of the policy that was most likely meant.
    let nobody = !named.iter().any(|policy| policy.params.contains_key(param));
    let takers = named.iter_mut().filter(|policy| nobody || policy.params.contains_key(param));
    let mut failure = None;
    for policy in takers {
        if let Err(error) = policy.set(param, value) {
            let guesses = error.to_string().contains("did you mean");
            if failure.is_none() || guesses {
                failure = Some(error);
            }
            if guesses {
                break;
            }
        }
    }
    failure.map_or(Ok(()), |error| Err(error.into()))
}
