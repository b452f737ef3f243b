//! What is hidden, apart from what is misjudged: an estimator's bias in three parts that add up to it.

use super::estimators::Estimates;
use super::fit::FamilyCosts;
use super::hidden::Overhead;
use super::regression::Basis;
use super::sample::Session;
use crate::catalog::Family;
use crate::experiment::origin::{Lineage, origins};
use crate::statistics::{Interval, Sample, intervals};
use crate::units::signed;

/// An estimator's bias on a family's calls, in millionths of the recorded tokens: below zero where it says too little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Name of the estimator.
    pub estimator: String,
    /// Family of the models.
    pub family: Family,
    /// Compared calls of the family.
    pub calls: u64,
    /// Estimated less recorded tokens, as a share of the recorded ones.
    pub bias: i64,
    /// The part of system prompt and tools that the log hides, less what the estimator counts for them.
    pub hidden: i64,
    /// The part of the wrapping of messages, likewise.
    pub messages: i64,
    /// What is left: texts that are misjudged, and what was hidden later than at the first call.
    pub texts: i64,
}

/// Parts, and their intervals: bias, hidden, messages, texts.
pub type Separated = (Parts, Option<[Interval<i64>; 4]>);

/// Sums over one session.
struct Sums {
    calls: u64,
    recorded: i64,
    estimated: i64,
    hidden: i64,
    messages: i64,
}

/// An estimator's bias, to be taken apart by family: each with what its sessions come to.
pub(super) struct Separating<'a> {
    estimator: &'a str,
    families: Vec<(&'a FamilyCosts, Vec<(Sums, Lineage)>)>,
}

impl<'a> Separating<'a> {
    /// Of no session yet. `costs` has those of the families, of which these in tokens count.
    pub fn of(estimator: &'a str, costs: &'a [FamilyCosts]) -> Separating<'a> {
        let families = costs.iter().filter(|costs| costs.basis == Basis::Tokens).map(|costs| (costs, Vec::new()));
        Separating { estimator, families: families.collect() }
    }

    /// Adds what the estimator says of a session with this hidden overhead.
    pub fn add(&mut self, session: &Session, estimates: &Estimates, overhead: &Overhead) {
        for (of_family, all) in &mut self.families {
            let mut sums = Sums { calls: 0, recorded: 0, estimated: 0, hidden: 0, messages: 0 };
            for (observation, estimated) in session.observations.iter().zip(&estimates.requests) {
                if observation.left_out.is_some() || observation.family != of_family.family {
                    continue;
                }
                let messages = observation.standing.messages;
                sums.calls += 1;
                sums.recorded += signed(observation.recorded);
                sums.estimated += signed(*estimated);
                sums.hidden += signed(estimates.overhead) - signed(overhead.tokens);
                sums.messages += signed(messages * estimates.per_message) - signed(messages * of_family.costs.message / 1000);
            }
            if sums.calls > 0 {
                all.push((sums, session.lineage));
            }
        }
    }

    /// The parts by family.
    pub fn separated(self) -> Vec<Separated> {
        self.families.into_iter().filter_map(|(of_family, all)| separate(self.estimator, of_family.family, all)).collect()
    }
}

fn separate(estimator: &str, family: Family, all: Vec<(Sums, Lineage)>) -> Option<Separated> {
    let (all, lineages): (Vec<Sums>, Vec<Lineage>) = all.into_iter().unzip();
    let sample = Sample::new(origins(lineages));
    let figures: [fn(&Sums) -> i64; 4] = [|sums| sums.recorded, |sums| sums.estimated, |sums| sums.hidden, |sums| sums.messages];
    let clusters = figures.map(|of| sample.sums(all.iter().map(of)));
    let shares = |times: &[u16]| {
        let drawn = |sums: &Vec<i64>| -> i128 { sums.iter().zip(times).map(|(sum, times)| i128::from(*sum) * i128::from(*times)).sum() };
        let [recorded, estimated, hidden, messages] = clusters.each_ref().map(drawn);
        let share = |part: i128| i64::try_from(part * 1_000_000 / recorded.max(1)).unwrap_or(i64::MAX);
        let bias = share(estimated - recorded);
        let (hidden, messages) = (share(hidden), share(messages));
        [bias, hidden, messages, bias - hidden - messages]
    };
    let calls = all.iter().map(|sums| sums.calls).sum();
    let [bias, hidden, messages, texts] = shares(&vec![1; sample.clusters()]);
    let parts = Parts { estimator: estimator.to_owned(), family, calls, bias, hidden, messages, texts };
    (calls > 0).then(|| (parts, intervals(&sample, shares)))
}
