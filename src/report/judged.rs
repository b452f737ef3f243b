//! The settings of a sweep, each with its verdict.

use super::asked::Swept;
use crate::experiment::{Constraint, Direction, Judgement, Row, Setting, Standing, judgements};

/// One setting with all that is said of it.
pub struct Judged<'a> {
    pub policy: &'a str,
    pub setting: &'a Setting,
    pub row: &'a Row,
    pub verdict: Judgement,
}

impl Swept<'_> {
    /// A verdict on each row.
    pub fn judgements(&self) -> Vec<Judgement> {
        let remoteness: Vec<f64> = self.settings.iter().map(|setting| setting.remoteness(self.bases)).collect();
        judgements(self.rows, &self.objective, self.constraints, &remoteness)
    }

    /// The name of the policy that a setting turns.
    pub fn policy(&self, setting: &Setting) -> &str {
        self.bases.get(setting.base).map_or("", |policy| policy.name.as_str())
    }
}

/// All settings: those that are allowed first, from the best on.
pub fn judged<'a>(swept: &'a Swept<'_>) -> Vec<Judged<'a>> {
    let rows = swept.rows.iter().zip(swept.judgements()).filter_map(|(row, verdict)| {
        let setting = swept.settings.get(row.setting)?;
        Some(Judged { policy: swept.policy(setting), setting, row, verdict })
    });
    let mut judged: Vec<Judged<'a>> = rows.collect();
    let objective = swept.objective;
    let worth = |judged: &Judged<'_>| judged.row.value(&objective.measure);
    judged.sort_by(|one, other| {
        let breaks = |judged: &Judged<'_>| judged.verdict.standing == Standing::Breaks;
        let failed = |judged: &Judged<'_>| judged.row.failed_sessions();
        let order = worth(one).compare(worth(other));
        let order = if objective.direction == Direction::Minimise { order } else { order.reverse() };
        let below = |judged: &Judged<'_>| judged.verdict.standing != Standing::Best;
        breaks(one)
            .cmp(&breaks(other))
            .then(failed(one).cmp(&failed(other)))
            .then(order)
            .then(below(one).cmp(&below(other)))
            .then(one.row.setting.cmp(&other.row.setting))
    });
    judged
}

/// A verdict in words.
pub fn words(verdict: &Judgement, constraints: &[Constraint]) -> String {
    match verdict.standing {
        Standing::Best => "best".to_owned(),
        Standing::Equal => "as good".to_owned(),
        Standing::NoDifference => "no difference".to_owned(),
        Standing::Worse => "worse".to_owned(),
        Standing::Breaks => {
            let broken = verdict.broken.iter().filter_map(|place| constraints.get(*place)).map(|constraint| constraint.words.as_str());
            format!("breaks {}", broken.collect::<Vec<_>>().join(", "))
        }
    }
}
