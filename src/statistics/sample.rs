//! What is drawn: projects with all their sessions, each with the same chance; sessions with those that they started, where there are too few
//! projects. Sessions of one project are no independent witnesses.
//!
//! Clusters are numbered by the rank of their first session. Corpora hold sessions in the order of their identities (`Corpus::traces`), so that
//! the same sessions give the same numbers, whatever folders and files they stand in.

use std::collections::{BTreeMap, BTreeSet};

/// With fewer projects than this sessions are drawn.
pub const FEWEST_PROJECTS: usize = 5;

/// With fewer clusters than this nothing is judged.
pub const FEWEST: usize = 5;

/// More clusters than this are bundled into as many: what they say together hardly changes, and an interval takes the work of each.
const MOST: usize = 1_000;

/// The cluster of a session that is not drawn.
const NONE: usize = usize::MAX;

/// The project and the family of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// A number for the project that its log names; `None` where it names none.
    pub project: Option<u64>,
    /// A number for the session that started it and its like; sessions of one family stay together.
    pub family: u64,
}

/// What part a session has in what is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// None: it has no call, moves no figure and is in no cluster.
    Out,
    /// It is drawn, and what is sought is not known of it, such as a cost.
    Drawn,
    /// It can be compared.
    #[default]
    Judged,
}

/// Which clusters of sessions are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DrawnBy {
    /// Projects; sessions of unknown projects by themselves.
    Projects,
    /// Sessions, with those that they started.
    #[default]
    Sessions,
}

/// Sessions in the clusters by which they are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// By session the number of its cluster, or [`NONE`].
    of: Vec<usize>,
    clusters: usize,
    /// Which clusters of sessions are drawn.
    pub by: DrawnBy,
    /// Number of projects that the logs of sessions name that can be compared.
    pub projects: usize,
}

impl Sample {
    /// Clusters of the sessions with these origins.
    pub fn new(origins: impl IntoIterator<Item = Origin>) -> Sample {
        Sample::of_parts(origins.into_iter().map(|origin| (origin, Part::Judged)))
    }

    /// Clusters of sessions of which some are not compared: by what can be compared it is decided whether there are projects enough.
    pub fn of_parts(origins: impl IntoIterator<Item = (Origin, Part)>) -> Sample {
        let origins: Vec<(Origin, Part)> = origins.into_iter().collect();
        let judged = origins.iter().filter(|(_, part)| *part == Part::Judged);
        let projects = judged.filter_map(|(origin, _)| origin.project).collect::<BTreeSet<u64>>().len();
        let by = if projects >= FEWEST_PROJECTS { DrawnBy::Projects } else { DrawnBy::Sessions };
        let mut known: BTreeMap<Origin, usize> = BTreeMap::new();
        let mut of = Vec::with_capacity(origins.len());
        for (origin, part) in origins {
            if part == Part::Out {
                of.push(NONE);
                continue;
            }
            let key = match (by, origin.project) {
                (DrawnBy::Projects, Some(project)) => Origin { project: Some(project), family: 0 },
                _ => Origin { project: None, family: origin.family },
            };
            let next = known.len();
            of.push(*known.entry(key).or_insert(next) % MOST);
        }
        Sample { of, clusters: known.len().min(MOST), by, projects }
    }

    /// So many sessions that have nothing to do with each other.
    pub fn apart(sessions: usize) -> Sample {
        Sample::new((0..sessions as u64).map(|family| Origin { project: None, family }))
    }

    /// How many sessions there are, drawn or not.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Is there no session?
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// No more than about so many bundles of sessions, each within one cluster, as a sample, and by session the number of its bundle.
    pub fn bundled(&self, most: usize) -> (Sample, Vec<usize>) {
        if self.of.len() <= most {
            return (self.clone(), (0..self.of.len()).collect());
        }
        let each = (most / self.clusters.max(1)).max(1);
        let (mut ranks, mut known, mut of) = (vec![0; self.clusters], BTreeMap::new(), Vec::new());
        let bundle = |cluster: &usize| {
            let rank = ranks.get_mut(*cluster).map_or(0, |rank| {
                *rank += 1;
                *rank % each
            });
            *known.entry((*cluster, rank)).or_insert_with(|| {
                of.push(*cluster);
                of.len() - 1
            })
        };
        let bundles = self.of.iter().map(bundle).collect();
        (Sample { of, ..*self }, bundles)
    }

    /// The same clusters without some sessions, whose places ascend, and without the clusters that held no others.
    pub fn without(&self, out: &[usize]) -> Sample {
        let mut numbers = BTreeMap::new();
        let number = |(place, cluster): (usize, &usize)| {
            if *cluster == NONE || out.binary_search(&place).is_ok() {
                return NONE;
            }
            let next = numbers.len();
            *numbers.entry(*cluster).or_insert(next)
        };
        let of = self.of.iter().enumerate().map(number).collect();
        Sample { of, clusters: numbers.len(), ..*self }
    }

    /// Is a session in a cluster?
    pub fn draws(&self, session: usize) -> bool {
        self.of.get(session).is_some_and(|cluster| *cluster != NONE)
    }

    /// How many clusters there are.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// The cluster of a session, by its rank; the first one for a session that there is not, or that is not drawn.
    pub fn of(&self, session: usize) -> usize {
        self.of.get(session).copied().filter(|cluster| *cluster != NONE).unwrap_or_default()
    }

    /// How often each session is drawn, of how often each cluster is.
    pub fn by_session(&self, times: &[u16]) -> Vec<u32> {
        self.of.iter().map(|cluster| times.get(*cluster).copied().map_or(0, u32::from)).collect()
    }

    /// The sums of what the sessions come to, by cluster.
    pub fn sums(&self, values: impl IntoIterator<Item = i64>) -> Vec<i64> {
        let mut sums = vec![0; self.clusters];
        for (cluster, value) in self.of.iter().zip(values) {
            if let Some(sum) = sums.get_mut(*cluster) {
                *sum += value;
            }
        }
        sums
    }

    /// So many clusters hold one of these sessions. With fewer than [`FEWEST`] clusters of sessions that are compared nothing is judged.
    pub fn holding(&self, sessions: impl IntoIterator<Item = bool>) -> usize {
        self.sums(sessions.into_iter().map(i64::from)).into_iter().filter(|sessions| *sessions > 0).count()
    }

    /// How many sessions each cluster has.
    pub fn sizes(&self) -> Vec<i64> {
        self.sums(std::iter::repeat(1))
    }
}

/// How many clusters of one size would say as much as these: (sum c)² / sum c². 0 of nothing.
pub fn effective(sizes: &[i64]) -> f64 {
    let (sum, squares) = sizes.iter().fold((0.0, 0.0), |(sum, squares), size| {
        let size = *size as f64;
        (sum + size, squares + size * size)
    });
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// In fewer clusters than this what two settings differ by is no sample of it: intervals held the difference in some 70 % of samples in which one recorded session differs,
/// in 81 to 87 % of those with two, and in 90 % of those with more.
const FEWEST_DIFFERING: usize = 3;

/// What the interval of a difference rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deciding {
    /// Clusters in which the two differ at all; 1 where one of them differs by far the most.
    pub differing: usize,
    /// Are those so few that the interval is too narrow?
    pub is_narrow: bool,
}

impl Deciding {
    /// Of what each cluster differs by, and of how many of them differ.
    pub fn of(by_so_much: &[i64], differing: usize) -> Deciding {
        let sizes: Vec<i64> = by_so_much.iter().map(|by| by.saturating_abs()).collect();
        // Where one differs by far the most, the others say nothing.
        let deciding = Some(effective(&sizes)).filter(|deciding| *deciding > 0.0).map_or(differing, |deciding| deciding.round() as usize);
        let differing = if deciding < 2 { deciding } else { differing };
        Deciding { differing, is_narrow: differing < FEWEST_DIFFERING }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_drawn_where_there_are_five() {
        let of =
            |projects: u64, sessions: u64| Sample::new((0..sessions).map(|family| Origin { project: Some(family % projects), family }));
        let (few, many) = (of(4, 40), of(5, 40));
        assert_eq!((few.by, few.clusters(), few.projects), (DrawnBy::Sessions, 40, 4));
        assert_eq!((many.by, many.clusters(), many.projects), (DrawnBy::Projects, 5, 5));
        assert_eq!((many.of(3), many.of(8), many.sizes()), (3, 3, vec![8; 5]));
        assert_eq!(many.by_session(&[2, 0, 1, 0, 0])[..4], [2, 0, 1, 0]);
        // Sub-agents go with who started them, sessions without a project by themselves.
        let mixed = (0..12)
            .map(|family| Origin { project: Some(family), family })
            .chain([40, 40, 41].map(|family| Origin { project: None, family }));
        assert_eq!(Sample::new(mixed).clusters(), 14);
        assert_eq!(Sample::apart(5_000).clusters(), 1_000);
    }

    #[test]
    fn many_sessions_are_bundled_within_their_clusters() {
        let whole = Sample::apart(5_000);
        let (few, bundles) = whole.bundled(2_048);
        assert_eq!((few.len(), few.clusters(), bundles.len()), (2_000, 1_000, 5_000));
        assert!(bundles.iter().enumerate().all(|(session, bundle)| few.of(*bundle) == whole.of(session)));
        assert_eq!(Sample::apart(40).bundled(2_048), (Sample::apart(40), (0..40).collect()));
    }

    #[test]
    fn sessions_without_a_part_are_not_drawn() {
        let of = |session: u64| {
            let part = if session < 8 { Part::Judged } else { Part::Out };
            (Origin { project: Some(if session < 8 { session % 4 } else { session }), family: session }, part)
        };
        let sample = Sample::of_parts((0..12).map(of));
        assert_eq!((sample.by, sample.clusters(), sample.projects, sample.len()), (DrawnBy::Sessions, 8, 4, 12));
        assert_eq!((sample.sums(vec![1; 12]), sample.by_session(&[2; 8])[6..10].to_vec()), (vec![1; 8], vec![2, 2, 0, 0]));
        let (few, bundles) = Sample::of_parts((0..5_000).map(of)).bundled(2_048);
        assert_eq!((few.sizes(), bundles[8] == bundles[4_999]), (vec![1; 8], true));
        // What is not compared is drawn, and does not make projects enough.
        let unpriced =
            (0..12).map(|session| of(session).0).zip((0..12).map(|session| if session < 8 { Part::Judged } else { Part::Drawn }));
        let sample = Sample::of_parts(unpriced);
        assert_eq!((sample.by, sample.clusters(), sample.projects), (DrawnBy::Sessions, 12, 4));
        let sample = Sample::new((0..12).map(|session| Origin { project: Some(session % 6), family: session })).without(&[1, 7, 8]);
        assert_eq!((sample.clusters(), sample.sizes(), sample.of(2), sample.draws(8)), (5, vec![2, 1, 2, 2, 2], 1, false));
    }

    #[test]
    fn what_few_clusters_differ_by_is_too_narrow() {
        let of = |by: &[i64]| {
            let found = Deciding::of(by, by.iter().filter(|by| **by != 0).count());
            (found.differing, found.is_narrow)
        };
        assert_eq!([of(&[0; 9]), of(&[-9, 9, 0, 0]), of(&[9, -9, 9, 0])], [(0, true), (2, true), (3, false)]);
        // One of them decides.
        assert_eq!([of(&[-900, 9, 9, 9]), of(&[-20, 9, 9, 9])], [(1, true), (4, false)]);
    }

    #[test]
    fn few_large_clusters_say_little() {
        assert_eq!((effective(&[3, 3, 3, 3]), effective(&[]), effective(&[0])), (4.0, 0.0, 0.0));
        assert!(effective(&[100, 1, 1, 1]) < 1.1);
    }
}
