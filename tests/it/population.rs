//! A made population of sessions, of which the truth is known: what verdicts are held against. Costs have heavy tails, sessions of a project have much in
//! common, a few large sessions decide, and what a setting saves grows with the size of the session.

use ctxsim::statistics::{Bars, Chance, Estimate, Finding, Origin, Resamples, Sample, WORTH, effective, finding};

/// A session: where it belongs, what it costs, and what it costs under another setting.
pub struct Session {
    pub origin: Origin,
    pub cost: i64,
    pub other: i64,
}

/// Costs are so many to one.
const UNIT: f64 = 1e6;

/// What projects and sessions differ by in the logarithm of their cost, and how the saving of sessions does.
pub struct Population {
    pub between_projects: f64,
    pub within_projects: f64,
    /// Sessions of a project, in the mean.
    pub project_size: f64,
    /// The true difference, as a share of the sum of all costs.
    pub difference: f64,
    /// By how much the difference of a session moves with its size: heavy sessions decide the more.
    pub slope: f64,
    /// Standard deviation of the difference of projects, and of sessions, the latter with the tails of Student's distribution with five degrees.
    pub project_noise: f64,
    pub session_noise: f64,
}

impl Population {
    /// The one that docs/tuning.md has figures of: 1 % of the sessions cost some 20 times the median, and a session's difference has a standard deviation of 15 points.
    pub fn new(difference: f64) -> Population {
        Population {
            between_projects: 0.6,
            within_projects: 1.1,
            project_size: 5.0,
            difference,
            slope: 0.3,
            project_noise: 0.03,
            session_noise: 0.15,
        }
    }

    /// The same of sessions each by itself.
    pub fn apart(difference: f64) -> Population {
        Population { project_size: 1.0, project_noise: 0.0, ..Population::new(difference) }
    }

    /// The same where saving grows with the size of sessions, and varies little beside that: what large sessions save decides.
    pub fn skewed(difference: f64) -> Population {
        Population { slope: 0.6, session_noise: 0.05, ..Population::apart(difference) }
    }

    /// A corpus of so many sessions.
    pub fn corpus(&self, sessions: usize, chance: &mut Chance) -> Vec<Session> {
        let size = (self.between_projects.powi(2) + self.within_projects.powi(2)).sqrt();
        let mut corpus = Vec::with_capacity(sessions);
        for project in 0.. {
            let (place, noise) = (normal(chance) * self.between_projects, normal(chance) * self.project_noise);
            loop {
                if corpus.len() == sessions {
                    return corpus;
                }
                let log = place + normal(chance) * self.within_projects;
                // Of sessions drawn by their cost the mean logarithm lies one variance higher: there the difference is the true one.
                let difference = self.difference * (1.0 + self.slope * (log / size - size)) + noise + student(chance) * self.session_noise;
                let cost = log.exp() * UNIT;
                let family = corpus.len() as u64;
                let origin = Origin { project: Some(project), family };
                corpus.push(Session { origin, cost: cost as i64, other: (cost * (1.0 + difference)) as i64 });
                if chance.share() < 1.0 / self.project_size {
                    break;
                }
            }
        }
        corpus
    }
}

fn normal(chance: &mut Chance) -> f64 {
    let far = (-2.0 * (1.0 - chance.share()).ln()).sqrt();
    far * (std::f64::consts::TAU * chance.share()).cos()
}

/// Student's distribution with five degrees of freedom, of variance one.
fn student(chance: &mut Chance) -> f64 {
    let squares: f64 = (0..5).map(|_| normal(chance).powi(2)).sum();
    normal(chance) / (squares / 5.0).sqrt() * 0.6_f64.sqrt()
}

/// The difference between two settings over a corpus as every command has it, and how many clusters of one size would say as much.
pub fn estimate(corpus: &[Session], seed: u64) -> (Estimate, f64) {
    let sample = Sample::new(corpus.iter().map(|session| session.origin));
    let parts = sample.sums(corpus.iter().map(|session| session.other - session.cost));
    let wholes = sample.sums(corpus.iter().map(|session| session.cost));
    let resamples = Resamples::new(sample.clusters(), 1_000, seed);
    (resamples.change(&parts, &wholes).expect("enough clusters"), effective(&wholes))
}

/// What is found of many corpora.
#[derive(Default)]
pub struct Found {
    /// Share of the intervals that hold the truth.
    pub coverage: f64,
    /// Median width of the intervals, as a share of that of the ideal one.
    pub width: f64,
    /// Share of the corpora in which the other setting is found to be better.
    pub better: f64,
    /// In which it is found to be worse.
    pub worse: f64,
    /// Median of the effective numbers.
    pub effective: f64,
}

/// Judges so many corpora of so many sessions.
pub fn judge(population: &Population, corpora: usize, sessions: usize, own_error: Option<f64>) -> Found {
    let chance = &mut Chance::new(sessions as u64);
    // The ideal interval knows the distribution of what corpora of this size come to.
    let ratio = |corpus: &[Session]| {
        let sum = |of: fn(&Session) -> i64| corpus.iter().map(of).sum::<i64>() as f64;
        sum(|session| session.other) / sum(|session| session.cost) - 1.0
    };
    let mut ratios: Vec<f64> = (0..corpora * 2).map(|_| ratio(&population.corpus(sessions, chance))).collect();
    ratios.sort_by(f64::total_cmp);
    let ideal = ratios[ratios.len() * 95 / 100] - ratios[ratios.len() * 5 / 100];
    let bars = Bars { own_error, worth: WORTH, ..Bars::default() };
    let judged: Vec<(Estimate, f64)> = (0..corpora).map(|seed| estimate(&population.corpus(sessions, chance), seed as u64)).collect();
    let share = |is: &dyn Fn(&Estimate) -> bool| judged.iter().filter(|(estimate, _)| is(estimate)).count() as f64 / corpora as f64;
    let median = |of: &dyn Fn(&(Estimate, f64)) -> f64| {
        let mut all: Vec<f64> = judged.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    Found {
        coverage: share(&|estimate| estimate.low <= population.difference && population.difference <= estimate.high),
        width: median(&|(estimate, _)| estimate.high - estimate.low) / ideal,
        better: share(&|estimate| finding(Some(estimate), &bars) == Finding::Better),
        worse: share(&|estimate| finding(Some(estimate), &bars) == Finding::Worse),
        effective: median(&|(_, effective)| *effective),
    }
}
