//! The hidden overhead to expect of an agent's version, by other sessions of the same agent.

use crate::list::Gather;
use crate::statistics::median;
use std::collections::BTreeMap;

/// The numbers in a version, for comparing: `2.1.12` comes behind `2.1.9`.
pub fn version(text: &str) -> Vec<u64> {
    let numbers = text.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect()
}

/// Overheads that are known, by version.
#[derive(Clone, Debug, Default)]
pub struct KnownOverheads(BTreeMap<Vec<u64>, Vec<u64>>);

impl KnownOverheads {
    /// Takes in the overhead of a session of a version.
    pub fn add(&mut self, name: &str, tokens: u64) {
        self.0.entry(version(name)).or_default().push(tokens);
    }

    /// The median overhead of each version.
    pub fn medians(self) -> ExpectedOverheads {
        ExpectedOverheads(self.0.into_iter().filter_map(|(version, tokens)| Some((version, median(tokens)?))).gather())
    }
}

/// The median of the overheads of each version.
#[derive(Clone, Debug, Default)]
pub struct ExpectedOverheads(BTreeMap<Vec<u64>, u64>);

impl ExpectedOverheads {
    /// The overhead to expect of a version: the median of its own sessions; where there are none, that of the nearest older or newer version,
    /// whichever has more leading numbers in common with it, their mean where both have as many. Agents' prompts change from version to version.
    /// `None` where both versions are known and not even the first number is the same: another major version is another program.
    pub fn of(&self, wanted: &str) -> Option<u64> {
        let wanted = version(wanted);
        if let Some(own) = self.0.get(&wanted) {
            return Some(*own);
        }
        let shared = |other: &[u64]| other.iter().zip(&wanted).take_while(|(one, other)| one == other).count();
        let of = |(version, tokens): (&Vec<u64>, &u64)| (shared(version), *tokens);
        let related = |(near, _): &(usize, u64)| *near > 0 || wanted.is_empty();
        let older = self.0.range(..wanted.clone()).next_back().map(of).filter(related);
        let newer = self.0.range(wanted.clone()..).next().map(of).filter(related);
        match (older, newer) {
            (Some((near, older)), Some((far, newer))) if near == far => Some((older + newer) / 2),
            (Some(older), Some(newer)) => Some(older.max(newer).1),
            (one, other) => one.or(other).map(|(_, tokens)| tokens),
        }
    }
}
