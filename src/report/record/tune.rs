//! Tuning for programs: schema `ctxsim.tune/2`, as `docs/json.md` describes it.

use super::figures::FiguresRecord;
use super::number::{ShareRecord, bound_number, number, round};
use super::sweep::ChargesRecord;
use crate::advice::Snippets;
use crate::experiment::tune::{Bound, Part, Trial, Verdict};
use crate::experiment::{Measure, Row, Value};
use crate::report::asked::Found;
use crate::report::finding;
use crate::statistics::LEVEL;
use serde::Serialize;
use std::collections::BTreeMap;

/// The record of `ctxsim tune`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneRecord {
    policy: String,
    objective: String,
    constraints: Vec<String>,
    params: BTreeMap<String, [f64; 2]>,
    settings_tried: usize,
    training_sessions: usize,
    held_out_sessions: usize,
    resamples: usize,
    seed: u64,
    level_percent: u64,
    worth_share: f64,
    drawn_by: &'static str,
    compared_with: &'static str,
    verdict: &'static str,
    finding: &'static str,
    broken: Vec<String>,
    more_sessions: Option<u64>,
    default: TrialRecord,
    best: Option<TrialRecord>,
    difference: Option<DifferenceRecord>,
    configuration: Vec<SnippetRecord>,
    sessions: Vec<DecidedRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct TrialRecord {
    params: BTreeMap<String, String>,
    training: PartRecord,
    held_out: PartRecord,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct PartRecord {
    objective: f64,
    p05: Option<f64>,
    p95: Option<f64>,
    charges: ChargesRecord,
    #[serde(flatten)]
    figures: FiguresRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct DifferenceRecord {
    value: f64,
    p05: f64,
    p95: f64,
    #[serde(flatten)]
    shares: Option<ShareRecord>,
    own_error_share: Option<f64>,
    clusters: usize,
    effective_clusters: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SnippetRecord {
    file: String,
    syntax: &'static str,
    note: String,
    params: Vec<String>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct DecidedRecord {
    session: String,
    source: String,
    agent: String,
    part: &'static str,
    default: f64,
    best: f64,
}

impl TuneRecord {
    pub fn new(found: &Found<'_>, snippets: &Snippets) -> TuneRecord {
        let tuned = found.tuned;
        let measure = tuned.objective.measure;
        let (verdict, broken, more_sessions) = match &tuned.verdict {
            Verdict::Recommended => ("recommended", Vec::new(), None),
            Verdict::DefaultIsBest => ("default_is_best", Vec::new(), None),
            Verdict::NoneAllowed(broken) => ("none_allowed", broken.clone(), None),
            Verdict::Breaks(broken) => ("breaks", broken.clone(), None),
            Verdict::CannotTell(untold) => ("cannot_tell", untold.clone(), None),
            Verdict::Estimated => ("estimated", Vec::new(), None),
            Verdict::NotReached => ("not_reached", Vec::new(), None),
            Verdict::NoDifference(_, more) => ("no_difference", Vec::new(), *more),
            Verdict::NotSummarised => ("not_with_summariser", Vec::new(), None),
            Verdict::Worse => ("worse", Vec::new(), None),
            Verdict::TooFew(more) => ("too_few_sessions", Vec::new(), Some(*more)),
        };
        let whole = Measure { whole: None, ..measure };
        let plain = |part: i64| number(Value { part, whole: 1 }, &whole);
        let bounded = |part: i64| bound_number(part, &measure);
        TuneRecord {
            policy: found.policy.name.clone(),
            objective: measure.name(),
            constraints: tuned.bounds.iter().map(Bound::words).collect(),
            params: found.axes.iter().map(|axis| (axis.param.clone(), [axis.range().from, axis.range().to])).collect(),
            settings_tried: tuned.tried,
            training_sessions: found.split.training.traces.len(),
            held_out_sessions: found.split.held_out.traces.len(),
            resamples: found.chance.0,
            seed: found.chance.1,
            level_percent: LEVEL,
            worth_share: tuned.bars.worth,
            drawn_by: finding::drawn_by(&tuned.drawn),
            compared_with: if found.yours.is_some() { "own_settings" } else { "defaults" },
            verdict,
            finding: match &tuned.verdict {
                Verdict::Recommended => "better",
                Verdict::Worse => "worse",
                Verdict::NoDifference(..) | Verdict::DefaultIsBest => "no_difference",
                _ => "cannot_judge",
            },
            broken,
            more_sessions,
            default: TrialRecord::new(&tuned.default, &measure),
            best: tuned.best.as_ref().map(|best| TrialRecord::new(best, &measure)),
            difference: tuned.difference.map(|difference| DifferenceRecord {
                value: bounded(difference.amount(difference.share.value)),
                p05: bounded(difference.amount(difference.share.low)),
                p95: bounded(difference.amount(difference.share.high)),
                shares: ShareRecord::new(Some(difference)),
                own_error_share: difference.own_error(&tuned.bars).map(round),
                clusters: difference.clusters,
                effective_clusters: (difference.effective * 100.0).round() / 100.0,
            }),
            configuration: SnippetRecord::all(snippets),
            sessions: found
                .decided
                .unwrap_or_default()
                .iter()
                .map(|decided| DecidedRecord {
                    session: decided.session.clone(),
                    source: decided.source.clone(),
                    agent: decided.agent.clone(),
                    part: if decided.part == Part::Training { "training" } else { "held_out" },
                    default: plain(decided.default),
                    best: plain(decided.best),
                })
                .collect(),
        }
    }
}

impl TrialRecord {
    fn new(trial: &Trial, measure: &Measure) -> TrialRecord {
        let part = |row: &Row| {
            let bound = row.spread.get(&measure.name());
            PartRecord {
                objective: number(row.value(measure), measure),
                p05: bound.map(|(low, _)| bound_number(*low, measure)),
                p95: bound.map(|(_, high)| bound_number(*high, measure)),
                charges: ChargesRecord::new(&row.charges),
                figures: FiguresRecord::of_setting(&row.totals),
            }
        };
        TrialRecord {
            params: trial.setting.values.iter().cloned().collect(),
            training: part(&trial.training),
            held_out: part(&trial.held_out),
        }
    }
}

impl SnippetRecord {
    fn all(snippets: &Snippets) -> Vec<SnippetRecord> {
        let record = |snippet: &crate::advice::Snippet| SnippetRecord {
            file: snippet.file.clone(),
            syntax: snippet.syntax.name(),
            note: snippet.note.clone(),
            params: snippet.params.clone(),
            text: snippet.text.clone(),
        };
        snippets.files.iter().map(record).collect()
    }
}
