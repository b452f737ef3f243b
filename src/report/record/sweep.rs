//! A sweep for programs: schema `ctxsim.sweep/2`, as `docs/json.md` describes it.

use super::figures::{Fields, FiguresRecord};
use super::keys::record;
use super::number::{ShareRecord, bound_number, number, round};
use crate::experiment::{Against, Charges, Direction, Measure, Objective};
use crate::list::Gather;
use crate::report::asked::Swept;
use crate::report::finding;
use crate::report::judged::Judged;
use crate::statistics::LEVEL;
use std::collections::BTreeMap;

record! {
    /// The record of `ctxsim sweep`.
    pub struct SweepRecord(swept: &Swept<'_>, judged: &[Judged<'_>]) {
        objective: ObjectiveRecord = ObjectiveRecord::new(&swept.objective),
        constraints: Vec<String> = swept.constraints.iter().map(|constraint| constraint.words.clone()).collect(),
        resamples: usize = swept.chance.0,
        seed: u64 = swept.chance.1,
        level_percent: u64 = LEVEL,
        worth_share: f64 = swept.bars.worth,
        own_error_share: Option<f64> = swept.bars.own_error.map(round),
        drawn_by: &'static str = finding::drawn_by(swept.sampling.sought()),
        clusters: usize = swept.sampling.sought().clusters(),
        settings: Vec<SettingRecord> = judged.iter().map(|judged| SettingRecord::new(judged, swept)).collect(),
    }

    struct ObjectiveRecord(objective: &Objective) {
        direction: &'static str = match objective.direction {
            Direction::Minimise => "minimise",
            Direction::Maximise => "maximise",
        },
        measure: String = objective.measure.name(),
    }

    struct SettingRecord(judged: &Judged<'_>, swept: &Swept<'_>) with {
        let measure = swept.objective.measure;
        let untold = judged.verdict.untold.iter().filter_map(|place| Some(swept.constraints.get(*place)?.words.clone()));
        let spread = judged.row.spread.iter();
        let known = |(name, bounds): (&String, &(i64, i64))| {
            let measure = Measure::parse(name).ok().filter(|measure| judged.row.known(measure).is_some())?;
            Some((name.clone(), SpreadRecord::new(*bounds, &measure)))
        };
    } {
        policy: String = judged.policy.to_owned(),
        params: BTreeMap<String, String> = judged.setting.values.iter().cloned().collect(),
        verdict: String = judged.words.clone(),
        own_setting: bool = swept.own.contains(&judged.row.setting),
        ?against_own: Option<AgainstRecord> = judged.verdict.own.as_ref().map(|own| AgainstRecord::new(own, judged.turned)),
        cannot_tell: Vec<String> = untold.collect(),
        on_front: bool = judged.verdict.on_front,
        objective: Option<f64> = judged.row.known(&measure).and_then(|value| number(value, &measure)),
        spread: BTreeMap<String, SpreadRecord> = spread.filter_map(known).gather(),
        ?charges: Option<ChargesRecord> = swept.billed.then(|| ChargesRecord::new(&judged.row.charges)),
        ..figures: FiguresRecord = FiguresRecord::of_setting(&judged.row.totals),
    }

    /// What a setting costs; money as decimal dollars in a string, exact.
    pub struct ChargesRecord(charges: &Charges) {
        ..sums: Fields = Fields::of_charges(charges),
        calls: u64 = charges.calls,
        unpriced_calls: u64 = charges.unpriced_calls,
        unpriced_sessions: u64 = charges.unpriced_sessions,
    }

    /// A setting beside the own one of its policy. The share is absent where that one comes to zero, and with too few sessions.
    struct AgainstRecord(against: &Against, turned: Option<&'static str>) {
        finding: &'static str = turned.unwrap_or_else(|| finding::key(against.finding)),
        ..share: Option<ShareRecord> = ShareRecord::of(against.difference),
    }

    struct SpreadRecord((low, high): (i64, i64), measure: &Measure) {
        p05: f64 = bound_number(low, measure),
        p95: f64 = bound_number(high, measure),
    }
}
