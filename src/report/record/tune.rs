//! Tuning for programs: schema `ctxsim.tune/2`, as `docs/json.md` describes it.

use super::figures::FiguresRecord;
use super::keys::record;
use super::number::{ShareRecord, bound_number, number, round};
use super::sweep::ChargesRecord;
use crate::advice::{Snippet, Snippets};
use crate::experiment::tune::{Bound, Decided, Part, Trial, Verdict};
use crate::experiment::{Difference, Measure, Row};
use crate::list::Gather;
use crate::report::asked::Found;
use crate::report::finding;
use crate::statistics::{Bars, LEVEL};
use std::collections::BTreeMap;

record! {
    /// The record of `ctxsim tune`.
    pub struct TuneRecord(found: &Found<'_>, snippets: &Snippets) with {
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
        let axes = found.axes.iter().map(|axis| (axis.param.clone(), [axis.range().from, axis.range().to]));
        let decided = found.decided.unwrap_or_default().iter();
    } {
        policy: String = found.policy.name.clone(),
        objective: String = measure.name(),
        constraints: Vec<String> = tuned.bounds.iter().map(Bound::words).collect(),
        params: BTreeMap<String, [f64; 2]> = axes.gather(),
        settings_tried: usize = tuned.tried,
        training_sessions: usize = found.split.training.traces.len(),
        held_out_sessions: usize = found.split.held_out.traces.len(),
        projects_in_both_parts: usize = found.split.shared,
        resamples: usize = found.chance.0,
        seed: u64 = found.chance.1,
        level_percent: u64 = LEVEL,
        worth_share: f64 = tuned.bars.worth,
        drawn_by: &'static str = finding::drawn_by(&tuned.drawn),
        compared_with: &'static str = if found.yours.is_some() { "own_settings" } else { "defaults" },
        verdict: &'static str = verdict,
        finding: &'static str = match &tuned.verdict {
            Verdict::Recommended => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifference(..) | Verdict::DefaultIsBest => "no_difference",
            _ => "cannot_judge",
        },
        broken: Vec<String> = broken,
        more_sessions: Option<u64> = more_sessions,
        default: TrialRecord = TrialRecord::new(&tuned.default, &measure),
        best: Option<TrialRecord> = tuned.best.as_ref().map(|best| TrialRecord::new(best, &measure)),
        difference: Option<DifferenceRecord> = tuned.difference.map(|difference| DifferenceRecord::new(difference, &tuned.bars, &measure)),
        configuration: Vec<SnippetRecord> = snippets.files.iter().map(SnippetRecord::new).collect(),
        sessions: Vec<DecidedRecord> = decided.map(|decided| DecidedRecord::new(decided, measure)).collect(),
    }

    struct TrialRecord(trial: &Trial, measure: &Measure) {
        params: BTreeMap<String, String> = trial.setting.values.iter().cloned().collect(),
        training: PartRecord = PartRecord::new(&trial.training, measure),
        held_out: PartRecord = PartRecord::new(&trial.held_out, measure),
    }

    struct PartRecord(row: &Row, measure: &Measure) with {
        let value = row.known(measure).filter(|_| row.totals.calls > 0);
        let bound = row.spread.get(&measure.name()).filter(|_| value.is_some());
    } {
        objective: Option<f64> = value.and_then(|value| number(value, measure)),
        p05: Option<f64> = bound.map(|(low, _)| bound_number(*low, measure)),
        p95: Option<f64> = bound.map(|(_, high)| bound_number(*high, measure)),
        charges: ChargesRecord = ChargesRecord::new(&row.charges),
        ..figures: FiguresRecord = FiguresRecord::of_setting(&row.totals),
    }

    struct DifferenceRecord(difference: Difference, bars: &Bars, measure: &Measure) with {
        let amount = |share: f64| bound_number(difference.amount(share), measure);
    } {
        value: f64 = amount(difference.share.value),
        p05: f64 = amount(difference.share.low),
        p95: f64 = amount(difference.share.high),
        ..shares: Option<ShareRecord> = ShareRecord::of(Some(difference)),
        own_error_share: Option<f64> = difference.own_error(bars).map(round),
        clusters: usize = difference.clusters,
        effective_clusters: f64 = (difference.effective * 100.0).round() / 100.0,
    }

    struct SnippetRecord(snippet: &Snippet) {
        file: String = snippet.file.clone(),
        syntax: &'static str = snippet.syntax.name(),
        note: String = snippet.note.clone(),
        params: Vec<String> = snippet.params.clone(),
        text: String = snippet.text.clone(),
    }

    struct DecidedRecord(decided: &Decided, measure: Measure) with {
        let plain = |part: i64| bound_number(part, &Measure { whole: None, ..measure });
    } {
        session: String = decided.session.clone(),
        source: String = decided.source.clone(),
        agent: String = decided.agent.clone(),
        part: &'static str = if decided.part == Part::Training { "training" } else { "held_out" },
        default: f64 = plain(decided.default),
        best: f64 = plain(decided.best),
    }
}
