//! Which sessions decided: what each of them came to under the defaults and under the setting that was found.

use super::asked::Tune;
use super::split::{Part, Split};
use super::verdict::Tuned;
use crate::corpus::Corpus;
use crate::experiment::sessions::by_session;
use crate::experiment::sweep::{Setting, SweepError};
use crate::list::Arrange;

/// One session under the defaults and under the setting that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The part of the corpus that holds the session.
    pub part: Part,
    /// The session's id.
    pub session: String,
    /// The file that it was read from.
    pub source: String,
    /// The agent that recorded the session.
    pub agent: String,
    /// The dividend of the objective under the defaults; money in thousand-millionths of a dollar.
    pub default: i64,
    /// The same under the setting that was found.
    pub best: i64,
}

impl Tune<'_> {
    /// All sessions, those first in which the two differ most. Empty where no setting was found.
    pub fn decided(&self, tuned: &Tuned, split: &Split) -> Result<Vec<Decided>, SweepError> {
        let Some(best) = &tuned.best else { return Ok(Vec::new()) };
        let mut decided = Vec::new();
        for (part, corpus) in [(Part::Training, &split.training), (Part::HeldOut, &split.held_out)] {
            let default = self.values(corpus, &tuned.default.setting, tuned)?;
            let found = self.values(corpus, &best.setting, tuned)?;
            decided.extend(corpus.traces.each().zip(default.into_iter().zip(found)).map(|(trace, (default, best))| Decided {
                part,
                session: trace.id.clone(),
                source: trace.source.clone(),
                agent: trace.agent.clone(),
                default,
                best,
            }));
        }
        let weight = |session: &Decided| std::cmp::Reverse(session.best.abs_diff(session.default));
        decided.arrange_by(|one, other| {
            let by_name = (&one.source, &one.session).cmp(&(&other.source, &other.session));
            weight(one).cmp(&weight(other)).then(one.part.cmp(&other.part)).then(by_name)
        });
        Ok(decided)
    }

    fn values(&self, corpus: &Corpus, setting: &Setting, tuned: &Tuned) -> Result<Vec<i64>, SweepError> {
        let policy = setting.policy(std::slice::from_ref(self.policy))?;
        let sessions = by_session(corpus, &policy, self.replay, Some(self.billing))?;
        Ok(sessions.each().map(|figures| figures.value(tuned.objective.measure.part)).collect())
    }
}
