//! Verdicts are no surer than they may be: intervals and the rule of verdicts held against a made population of which the truth is known.
//! `cargo bench --bench verdicts` does the same with more corpora; docs/tuning.md has its figures.

use crate::population::{Population, estimate, judge};
use ctxsim::statistics::{Bars, Chance, Finding, Origin, Sample, finding};

/// With 150 corpora the share of those that hold the truth is off by 2.4 points in the mean.
const CORPORA: usize = 150;

#[test]
fn intervals_hold_what_they_say() {
    for sessions in [20, 100] {
        let found = judge(&Population::new(-0.05), CORPORA, sessions, None);
        println!("{sessions} sessions: {:.3} hold the truth, {:.2} of the ideal width", found.coverage, found.width);
        assert!((0.83..=0.97).contains(&found.coverage), "{sessions}: {}", found.coverage);
        assert!(found.width <= 1.25, "{sessions}: {}", found.width);
    }
}

#[test]
fn a_true_zero_is_not_recommended_and_five_percent_is_found() {
    let zero = judge(&Population::new(0.0), CORPORA, 100, None);
    assert!(zero.better <= 0.07 && zero.worse <= 0.07, "{} {}", zero.better, zero.worse);
    // By session, with an effective number of 100 or so.
    let apart = Population { project_size: 1.0, project_noise: 0.0, ..Population::new(-0.05) };
    let found = judge(&apart, 60, 480, None);
    assert!((85.0..=130.0).contains(&found.effective), "{}", found.effective);
    assert!(found.better >= 0.8 && found.worse == 0.0, "{}", found.better);
    // What the model is off by is a bar of its own.
    assert_eq!(judge(&apart, 20, 480, Some(0.08)).better, 0.0);
}

/// Neither the order of sessions nor the numbers of projects decide anything beyond the order of identities.
#[test]
fn the_same_sessions_give_the_same_interval() {
    let corpus = Population::new(-0.05).corpus(60, &mut Chance::new(7));
    let first = estimate(&corpus, 1).0;
    let renamed = |session: &crate::population::Session| Origin {
        project: session.origin.project.map(|project| project.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        family: session.origin.family + 1_000,
    };
    let sample = Sample::new(corpus.iter().map(renamed));
    assert_eq!(sample, Sample::new(corpus.iter().map(|session| session.origin)));
    assert_eq!(first, estimate(&corpus, 1).0);
    assert_eq!(finding(None, &Bars::default()), Finding::CannotJudge);
}
