//! `ctxsim sweep`: many settings of policies over the same logs.

use super::door::{Door, Lines, NONE_IS_OWN, Rows, WRITES, is_stdout};
use super::failure::{Failure, tell};
use super::goal::Goal;
use super::logs::{Logs, share as worth, whole};
use super::output::{Output, Printed};
use super::own::OwnAgents;
use super::policies::{Policies, doubts, tell_doubts};
use super::pricing::Pricing;
use super::shell::option;
use super::target::{Ending, Target, Writes};
use crate::corpus::Corpus;
use crate::cost::Tariff;
use crate::experiment::{
    Constraint, Design, Dimension, Header, Known, KnownFrom, Measure, Objective, Row, Sampling, Store, Sweep as Run, Unit, own_error,
    recorded_under, recorders, settings, summed, thresholds, with_own,
};
use crate::measure::Recall;
use crate::policy::Policy;
use crate::report::{Swept, counted, grouped, sweep};
use crate::statistics::{Bars, RESAMPLES, WORTH};
use crate::trace::Trace;
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::path::PathBuf;

const POLICIES: &str =
    "The policy whose settings are looked at: a preset or a policy file; may be given several times [default: the main presets]";

/// What rows are written as.
const ROWS: Writes = Writes { files: &[Ending::Jsonl], folder: false };

const EXAMPLES: &str = "\
Examples:
  ctxsim sweep logs/ -p baseagent --vary prune_protect=10k..80k:10k \\
      --vary auto_compact_threshold=0.5..0.9:0.1
  ctxsim sweep corpus.ctxtrace -p opencode --minimise tokens \\
      --vary preserve_recent_tokens=2k,4k,8k --subject-to 'overflows = 0'
  ctxsim sweep logs/ -p pi --vary keepRecentTokens=5k..100k \\
      --vary reserveTokens=1k..64k --sample 500 --rows rows.jsonl --resume

VALUES are FROM..TO:STEP, FROM..TO:xFACTOR, a list with commas, or FROM..TO
alone where --sample draws from it.

`verdict` says how a setting stands to the first one that keeps all constraints,
over the sessions that both bring to their end: `best`, the own setting or better
than it; `least` (`most`), first, but not called better; `as good`, the same
figure; `no difference`, none larger than the uncertainty, or worth a change;
`worse`, or beside what is not called best `more` (`less`); `cannot judge`, with
too few sessions, or where most is estimated.
`breaks` and `cannot tell` name a constraint that is broken, or may be.

Measures: tokens, prompt_tokens, summariser_tokens, tokens_saved,
tokens_saved_share, mean_tokens, peak_tokens, failed_sessions, overflows,
reply_cut, over_budget, missed, early, refused, prunes, compactions, drops,
truncations, kept_lines, lost_lines; with prices: cost and net_cost (in
dollars), cache_hit_rate, cache_read_tokens; and `X per session`, `X per call`.
`ctxsim help metrics` says what each of them is.";

/// Replay logs under many settings of policies: one row per setting, the best first
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)))]
pub struct Sweep {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    /// Vary a parameter; given several times, all combinations are looked at
    #[arg(long, value_name = "[POLICY:]PARAM=VALUES", required = true)]
    vary: Vec<String>,
    /// Look at so many settings drawn by chance instead of all combinations
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// How the settings of --sample are drawn
    #[arg(long, value_name = "DESIGN", default_value = "latin", requires = "sample")]
    design: Drawn,
    /// What all random choices start from: the same seed gives the same answer
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    goal: Goal,
    /// The smallest difference that is worth a change
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = worth)]
    worth: f64,
    /// How often sessions are resampled for the uncertainty
    #[arg(long, value_name = "N", default_value_t = RESAMPLES as u16, value_parser = whole::<u16>(20, 10_000))]
    resamples: u16,
    /// Write each row into this file as soon as it is known, FILE.jsonl
    #[arg(long, value_name = "FILE", help_heading = WRITES)]
    rows: Option<PathBuf>,
    /// Go on where the file ends
    #[arg(long, requires = "rows", help_heading = WRITES)]
    resume: bool,
    /// Tell what each setting costs, also where neither objective nor constraints ask for it; takes longer
    #[arg(long, value_name = "WHAT")]
    with: Vec<With>,
    #[command(flatten)]
    own: OwnAgents,
    #[command(flatten)]
    pricing: Pricing,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum With {
    /// What each setting costs, and its cache hits
    Cost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Drawn {
    /// Each parameter takes its values evenly (a Latin hypercube)
    Latin,
    /// Each setting drawn by itself
    Random,
}

impl Sweep {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "sweep")?;
        self.rows.iter().try_for_each(|file| Target::of("--rows", file, &ROWS, None).map(drop))?;
        if let Some(path) = self.rows.as_ref().filter(|_| !self.resume) {
            door.file("rows", path, NONE_IS_OWN)?;
        }
        self.policies.check_model(&self.logs)?;
        let bases = self.policies.load_varied(&self.logs, &self.vary)?;
        let dimensions = self.vary.iter().map(|text| Dimension::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let mut settings = settings(&bases, &dimensions, self.design())?;
        let objective = self.goal.objective()?;
        let constraints = self.goal.limits(Constraint::parse)?;
        // A value that a policy refuses is found before any log is read.
        let mut doubtful = BTreeSet::new();
        for setting in &settings {
            doubtful.extend(doubts(&setting.policy(&bases)?));
        }
        tell_doubts(&doubtful, &self.logs);
        self.goal.tell_renamed(&self.logs);
        let corpus = self.logs.read_for(Policies::wanted(&bases, Recall::References))?;
        let replay = self.policies.settings(&self.logs)?;
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        let (bases, yours) = self.own.configured_each(bases, &corpus, &self.policies, &self.logs)?;
        let own = with_own(&mut settings, &bases);
        let objective = objective.map_or_else(|| Objective::usual(&corpus.traces, &tariff), Ok)?;
        let measures = summed(&objective, constraints.iter().map(|constraint| constraint.measure))?;
        let told = if self.with.is_empty() { KnownFrom::Replay } else { KnownFrom::Bill };
        let billing = self.pricing.billing(&tariff, measures.iter().map(Measure::known_from).fold(told, Ord::max));
        let resamples = usize::from(self.resamples);
        let (seed, bases, replay) = (self.seed, &bases, &replay);
        let phase = self.logs.search();
        let run = Run { corpus: &corpus, bases, settings: &settings, replay, measures: &measures, resamples, seed, billing, watch: &phase };
        let sampling = run.sampling();
        let rows = self.rows(door, &run, &sampling)?;
        drop(phase);
        let is_money = objective.measure.part.unit == Unit::Money;
        let own_error = if is_money { own_error(&corpus, &tariff, self.pricing.cache, replay)? } else { None };
        let thresholds = bases.iter().map(|base| thresholds(&corpus, base, replay)).collect::<Result<Vec<_>, _>>()?;
        let check = self.policies.calibration(&corpus, &self.logs, Some((&tariff, self.pricing.cache)))?;
        let unset = yours.iter().all(|set| set.words.is_empty());
        let mixed = if billing.is_some() && unset { self.mixed(&corpus, bases, &tariff)? } else { None };
        let printed = if self.rows.as_deref().is_some_and(is_stdout) { Printed::Never } else { Printed::Too };
        self.output.give_beside(door, "sweep", self.command(), printed, || {
            sweep(&Swept {
                corpus: &corpus,
                bases,
                settings: &settings,
                rows: &rows,
                objective,
                constraints: &constraints,
                sampling: &sampling,
                own: &own,
                yours: &yours,
                mixed,
                thresholds: &thresholds,
                bars: Bars { own_error, worth: self.worth, anchored: corpus.facts.anchored() },
                chance: (resamples, seed),
                billed: billing.is_some(),
            })
            .opened_by(check)
            .then(self.next(&dimensions, bases))
        })?;
        Failure::checked(self.logs.complaints(&corpus))
    }

    /// The row of the agent's own versions and its cost, where the policy is a preset of an agent whose sessions are not all of that preset, and no others are there.
    fn mixed(&self, corpus: &Corpus, bases: &[Policy], tariff: &Tariff<'_>) -> Result<Option<(String, u64)>, Failure> {
        let ([base], recorders, settings) = (bases, recorders()?, self.policies.settings(&self.logs)?) else { return Ok(None) };
        let is_its = |trace: &Trace| base.recorded_by.iter().any(|entry| entry.agent == trace.agent);
        let is_other = |trace: &Trace| recorded_under(trace, &recorders, &settings).is_some_and(|(preset, _)| preset.name != base.name);
        if !corpus.traces.each().all(|trace| is_its(&trace)) || !corpus.traces.each().any(|trace| is_other(&trace)) {
            return Ok(None);
        }
        let own = self.own.replay(corpus, &self.policies, &self.logs, tariff)?.filter(|own| own.left_out.is_empty());
        Ok(own.map(|own| (own.replay.policy.clone(), own.replay.bill.with(self.pricing.cache).nano_usd())))
    }

    fn rows(&self, door: &Door, run: &Run<'_>, sampling: &Sampling) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        let mut store = None;
        if let Some(path) = &self.rows {
            let header = self.header(run);
            let name = path.to_string_lossy().into_owned();
            let (begun, known) = match door.rows("rows", path, self.resume)? {
                Rows::New(out) => (Store::begin(name, out, &header)?, Known::default()),
                Rows::There(file, place) => {
                    let known = Store::known(&name, &file, &header)?;
                    let out = Lines::behind(file, place, known.bytes).map_err(|error| Failure::writing(path, &error))?;
                    let out = Box::new(out);
                    (if known.bytes == 0 { Store::begin(name, out, &header)? } else { Store::go_on(name, out, &known) }, known)
                }
            };
            if self.resume && !self.logs.quiet {
                tell(&format!("known already: {} of {}", grouped(known.rows.len() as u64), counted(run.settings.len() as u64, "setting")));
            }
            (rows, store) = (known.rows, Some(begun));
        }
        run.run(rows.len(), sampling, &mut |block| {
            rows.extend_from_slice(block);
            store.as_mut().map_or(Ok(()), |store| store.append(block))
        })?;
        Ok(rows)
    }

    fn header(&self, run: &Run<'_>) -> Header {
        let mut conditions =
            format!("window {:?}, model {:?}, reserve {:?}", self.policies.window(), self.logs.model, self.policies.reserve);
        if run.billing.is_some() {
            // A table of prices may change under its name.
            let table = self.pricing.table.prices.as_ref().and_then(|path| crate::reading::text(path).ok());
            let digest = table.map(|bytes| format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes.as_bytes())));
            conditions += &format!(", prices {digest:?}, cache {:?}, gap {}", self.pricing.cache, self.pricing.gap);
        }
        Header {
            schema: "ctxsim.sweep-rows/6".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            corpus: Header::corpus_hash(run.corpus),
            policies: Header::hash_of(&run.bases),
            settings: Header::hash_of(&run.settings),
            conditions,
            measures: run.measures.iter().map(Measure::name).collect(),
            chance: format!("{} resamples, seed {}", self.resamples, self.seed),
        }
    }

    fn design(&self) -> Design {
        match (self.sample, self.design) {
            (None, _) => Design::Grid,
            (Some(count), Drawn::Latin) => Design::Latin(count, self.seed),
            (Some(count), Drawn::Random) => Design::Random(count, self.seed),
        }
    }

    /// What to type next: the search that holds what it finds against other sessions, the picture, and all of it.
    fn next(&self, dimensions: &[Dimension], bases: &[Policy]) -> Vec<(String, String)> {
        let policies = self.policies.words();
        let sought = self.goal.words();
        let both = [policies.clone(), option("--vary", &self.vary), sought.clone()].concat();
        let mut next = Vec::new();
        // A parameter without a range of its own cannot be searched by its name alone.
        let ranged =
            |base: &Policy| dimensions.iter().all(|known| base.params.get(&known.param).is_some_and(|param| param.range.is_some()));
        if self.policies.policies.len() == 1 && bases.iter().all(ranged) {
            let params =
                dimensions.iter().map(|known| known.param.as_str()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(",");
            let params = [policies, option("--params", [params]), sought].concat();
            next.push(self.logs.step(&["tune"], &params, "held against other sessions"));
        }
        if let [_] = dimensions {
            next.push(self.logs.step(&["chart", "sweep"], &both, "as a picture"));
        }
        next
    }

    /// The command as it would be typed again. What does not change the report is left out.
    fn command(&self) -> String {
        let design = if self.design == Drawn::Latin { "latin" } else { "random" };
        let words = [
            self.policies.words(),
            option("--vary", &self.vary),
            option("--sample", self.sample),
            option("--design", self.sample.map(|_| design)),
            option("--seed", [self.seed]),
            self.goal.words(),
            option("--resamples", [self.resamples]),
            option("--with", (!self.with.is_empty()).then_some("cost")),
            option("--worth", (self.worth != WORTH).then(|| format!("{}%", self.worth * 100.0))),
            self.own.words(),
            self.pricing.words(),
        ];
        self.logs.command(&["sweep"], &words.concat())
    }
}
