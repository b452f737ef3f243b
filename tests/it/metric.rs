//! The table of measures holds together: what is derived from it by name finds it.

use ctxsim::experiment::metric::{METRICS, Part, in_spreadsheets, in_tables, judged_by, metric_of};
use std::collections::BTreeSet;

#[test]
fn keys_and_names_are_unique_and_well_formed() {
    let keys: Vec<&str> = METRICS.iter().map(|metric| metric.key).collect();
    let names: Vec<&str> = judged_by().iter().map(|metric| metric.key).collect();
    for words in [&keys, &names] {
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
    }
    assert!(keys.iter().all(|key| key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')));
    assert!(
        METRICS.iter().all(|metric| metric.share_of.is_empty() || names.contains(&metric.share_of)),
        "a share of nothing that there is"
    );
}

#[test]
fn each_measure_is_told_somewhere() {
    let told: BTreeSet<&str> = in_tables().chain(in_spreadsheets()).map(|metric| metric.key).collect();
    for metric in METRICS {
        let in_documents = metric.part != Part::None;
        assert!(told.contains(metric.key) || in_documents || metric.judged, "{} stands nowhere", metric.key);
        assert!(metric.meaning.is_empty() || !metric.meaning.ends_with('.'), "{}: the legend sets the full stop", metric.key);
    }
}

/// Other files name measures by their keys: a renamed one would drop out in silence.
#[test]
fn keys_that_are_written_elsewhere_exist() {
    let elsewhere = [
        "failed_sessions",
        "overflows",
        "compactions",
        "prompt_tokens",
        "vs_recorded",
        "references_kept_share",
        "references_achieved_share",
        "broken_calls_share",
    ];
    assert!(elsewhere.iter().all(|key| metric_of(key).is_some()));
}
