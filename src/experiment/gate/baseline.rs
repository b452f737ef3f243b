//! What a policy came to over a corpus, small enough to be kept beside the project's code.

use super::values::Values;
use crate::corpus::{Corpus, TRACE_FORM};
use crate::cost::Tariff;
use crate::experiment::charges::Billing;
use crate::experiment::measure::{Measure, Value, key_of};
use crate::experiment::metric::{Metric, judged_by};
use crate::experiment::origin::{lineages, origins, part};
use crate::experiment::replay::ReplaySettings;
use crate::experiment::sessions::{SessionFigures, by_session};
use crate::list::{Arrange, Gather};
use crate::policy::{Policy, PolicyError};
use crate::statistics::{Origin, Part};
use crate::trace::Trace;
use crate::transcript::{Text, TextKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// The form of a baseline.
pub const SCHEMA: &str = "ctxsim.baseline/2";

/// The forms that are read: the first one named some measures otherwise.
pub(super) const READ: [&str; 2] = ["ctxsim.baseline/1", SCHEMA];

/// A policy over a corpus, in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// [`SCHEMA`], or an older form.
    pub schema: String,
    /// The version of the program that wrote it.
    pub version: String,
    /// The form of measured sessions, of which their hashes are: [`TRACE_FORM`] or an older one; empty in files that do not say it.
    #[serde(default)]
    pub measured: String,
    /// Name of the policy.
    pub policy: String,
    /// A hash of all that the policy says, parameters and rules, but for its name.
    pub policy_digest: String,
    /// Window, model, reserve and prompt cache, where they were asked for.
    pub conditions: String,
    /// A hash of the prices of the models that are billed; empty in files that do not say it.
    #[serde(default)]
    pub prices_digest: String,
    /// The names of the metrics, in the order of all values.
    pub metrics: Vec<String>,
    /// Their values over all sessions. Tokens are simulated on recorded sizes; money is in thousand-millionths of a dollar.
    pub totals: Values,
    /// The sessions, in the order of their names.
    pub sessions: Vec<BaselineSession>,
}

/// The figures of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineSession {
    /// The name of its file and its id; no folder.
    pub session: String,
    /// A hash of the session as it was measured.
    pub digest: String,
    /// The values of the metrics, in the order of [`Baseline::metrics`].
    pub values: Values,
    /// Does it cost nothing because its price is zero? Elsewhere what costs nothing has no price, or no call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    /// Where the session belongs, which the file does not hold: limits are judged by the clusters of today.
    #[serde(skip)]
    pub origin: (Origin, Part),
    /// Its calls without a price beside others that have one; the file does not hold them either.
    #[serde(skip)]
    pub unpriced_calls: u64,
}

impl Baseline {
    /// Replays a corpus and writes down what the policy comes to. `conditions` says in words what holds for it.
    pub fn measure(
        corpus: &Corpus,
        policy: &Policy,
        settings: &ReplaySettings<'_>,
        billing: Billing<'_>,
        conditions: String,
    ) -> Result<Baseline, PolicyError> {
        let figures = by_session(corpus, policy, settings, Some(billing))?;
        let values = |figures: &SessionFigures| judged_by().iter().map(|metric| figures.value(metric)).collect();
        let mut sessions: Vec<BaselineSession> = corpus
            .traces
            .each()
            .zip(figures.each())
            .zip(origins(lineages(corpus.traces.each())))
            .map(|((trace, figures), origin)| BaselineSession {
                session: session_name(&trace),
                digest: digest(&trace),
                values: values(&figures),
                free: figures.charges.is_priced() && figures.charges.nano_usd == 0,
                origin: (origin, part(&trace)),
                unpriced_calls: if figures.charges.is_priced() { figures.charges.unpriced_calls } else { 0 },
            })
            .collect();
        sessions.arrange_by(|one, other| (&one.session, &one.digest).cmp(&(&other.session, &other.digest)));
        // Two sessions of one name are told apart by a number.
        for alike in sessions.chunk_by_mut(|one, other| one.session == other.session) {
            for (session, count) in alike.iter_mut().zip(1..).skip(1) {
                session.session = format!("{} #{count}", session.session);
            }
        }
        let mut nameless = policy.clone();
        nameless.name.clear();
        let totals =
            judged_by().iter().enumerate().map(|(place, metric)| over_sessions(metric, &sessions, place).unwrap_or(i64::MAX)).collect();
        Ok(Baseline {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            measured: TRACE_FORM.to_owned(),
            policy: policy.name.clone(),
            policy_digest: format!("{:032x}", xxh3_128(format!("{nameless:?}").as_bytes())),
            conditions,
            prices_digest: prices_digest(corpus, billing.tariff),
            metrics: judged_by().iter().map(|metric| metric.key.to_owned()).collect(),
            totals,
            sessions,
        })
    }

    /// Are there as many values as metrics, no counts below zero, and are the totals those of the sessions?
    pub(super) fn is_sound(&self) -> bool {
        let complete = |values: &Values| values.len() == self.metrics.len();
        // A metric of a later version is none that limits know.
        let of = |name: &String| judged_by().iter().find(|metric| metric.key == key_of(name));
        let adds_up = |(place, name): (usize, &String)| {
            let values = || self.sessions.iter().filter_map(move |session| session.values.get(place));
            of(name).is_none_or(|metric| {
                (metric.may_be_negative() || values().all(|value| value >= 0))
                    && self.totals.get(place) == over_sessions(metric, &self.sessions, place)
            })
        };
        complete(&self.totals)
            && self.sessions.iter().all(|session| complete(&session.values))
            && self.metrics.iter().enumerate().all(adds_up)
    }

    /// The value of a measure over all sessions; `None` where the baseline does not know it.
    pub fn value(&self, measure: &Measure) -> Option<Value> {
        self.reader(measure)?(&self.totals)
    }

    /// How a measure is read from the values of one session, or of all: its places are sought once. `None` where the baseline does not know it.
    pub fn reader(&self, measure: &Measure) -> Option<impl Fn(&Values) -> Option<Value> + use<>> {
        let place = |metric: &Metric| self.metrics.iter().position(|name| key_of(name) == metric.key);
        let part = place(measure.part)?;
        let whole = match measure.whole {
            Some(whole) => Some(place(whole)?),
            None => None,
        };
        Some(move |values: &Values| {
            let of = |place: usize| values.get(place);
            let whole = whole.map_or(Some(1), |whole| of(whole).map(i64::unsigned_abs))?;
            Some(Value { part: of(part)?, whole })
        })
    }

    /// Writes the file: one line per session, so that a change of one is one line of a diff.
    pub fn write_into(&self, out: &mut dyn Write) -> serde_json::Result<()> {
        let head = Baseline {
            schema: self.schema.clone(),
            version: self.version.clone(),
            measured: self.measured.clone(),
            policy: self.policy.clone(),
            policy_digest: self.policy_digest.clone(),
            conditions: self.conditions.clone(),
            prices_digest: self.prices_digest.clone(),
            metrics: self.metrics.clone(),
            totals: self.totals.clone(),
            sessions: Vec::new(),
        };
        let head = serde_json::to_string_pretty(&head)?;
        let mut put = |text: &str| out.write_all(text.as_bytes()).map_err(serde_json::Error::io);
        put(head.strip_suffix("]\n}").unwrap_or(&head))?;
        for (place, session) in self.sessions.iter().enumerate() {
            put(if place > 0 { ",\n    " } else { "\n    " })?;
            put(&serde_json::to_string(session)?)?;
        }
        put(if self.sessions.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" })
    }
}

fn over_sessions(metric: &Metric, sessions: &[BaselineSession], place: usize) -> Option<i64> {
    let values = sessions.iter().filter_map(|session| session.values.get(place));
    metric.over_sessions.of(values)
}

/// A session's name in a baseline: that of its file, without the folder, and its id.
pub fn session_name(trace: &Trace) -> String {
    let file = Path::new(&trace.source).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{file} {}", trace.id)
}

/// The same prices of the models that are billed have the same hash, whatever else a table holds.
fn prices_digest(corpus: &Corpus, tariff: &Tariff<'_>) -> String {
    let named = |trace: Cow<'_, Trace>| trace.models.iter().map(|model| model.to_string()).collect::<Vec<String>>();
    let models: BTreeSet<String> = match &tariff.model {
        Some(model) => [model.clone()].into(),
        None => corpus.traces.each().flat_map(named).gather(),
    };
    let prices: Vec<_> = models.iter().map(|name| (name, tariff.prices.rows(name, tariff.catalog.billed_as(name)))).collect();
    format!("{:032x}", xxh3_128(format!("{prices:?}").as_bytes()))
}

/// The same session has the same hash, wherever its file lies, and whether it comes from a log or from a trace file: what is measured of
/// texts where some policy asks for it, and always for a trace file, is left out.
fn digest(trace: &Trace) -> String {
    let mut placeless = Trace { source: String::new(), ..trace.clone() };
    placeless.parts.change_each(|part| part.text = Text { counts: None, kind: TextKind::default(), ..std::mem::take(&mut part.text) });
    // Nothing can go wrong on the way into memory; if something did, no file would have the hash.
    postcard::to_stdvec(&placeless).map_or_else(|error| error.to_string(), |bytes| format!("{:032x}", xxh3_128(&bytes)))
}
