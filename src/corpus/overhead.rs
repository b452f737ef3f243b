//! The hidden overhead to expect of an agent's version, by other sessions of the same agent.

use crate::statistics::median;
use std::collections::BTreeMap;

/// The numbers in a version, for comparing: `2.1.12` comes behind `2.1.9`.
pub fn version(text: &str) -> Vec<u64> {
    let numbers = text.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect()
}

/// The overhead to expect of a version: the median of its own sessions; where there are none, that of the nearest older or newer version,
/// whichever has more leading numbers in common with it, their mean where both have as many. Agents' prompts change from version to version.
/// `None` where both versions are known and not even the first number is the same: another major version is another program.
pub fn expected_overhead(known: &[(String, u64)], wanted: &str) -> Option<u64> {
    let mut versions: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
    for (name, tokens) in known {
        versions.entry(version(name)).or_default().push(*tokens);
    }
    let wanted = version(wanted);
    if let Some(own) = versions.get(&wanted) {
        return median(own.clone());
    }
    let shared = |other: &[u64]| other.iter().zip(&wanted).take_while(|(one, other)| one == other).count();
    let of = |(version, tokens): (&Vec<u64>, &Vec<u64>)| median(tokens.clone()).map(|tokens| (shared(version), tokens));
    let related = |(near, tokens): (usize, u64)| (near > 0 || wanted.is_empty()).then_some((near, tokens));
    let older = versions.range(..wanted.clone()).next_back().and_then(of).and_then(related);
    let newer = versions.range(wanted.clone()..).next().and_then(of).and_then(related);
    match (older, newer) {
        (Some((near, older)), Some((far, newer))) if near == far => Some((older + newer) / 2),
        (Some(older), Some(newer)) => Some(older.max(newer).1),
        (one, other) => one.or(other).map(|(_, tokens)| tokens),
    }
}
