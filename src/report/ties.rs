//! Settings that come to the same: which they are, and why one of them is shown as the best.

use super::asked::Swept;
use super::judged::Judged;
use super::words::{counted, first_few};
use crate::experiment::{Setting, Standing};
use crate::list::Arrange;
use crate::policy::number;

/// So many settings or values are named, the others counted.
const NAMED: usize = 6;

/// A sentence on settings whose value of the objective is that of the best one; `None` where it stands alone.
pub(super) fn ties(swept: &Swept<'_>, judged: &[Judged<'_>]) -> Option<String> {
    let best = judged.iter().find(|judged| judged.verdict.standing == Standing::Best)?;
    let is_tied = |judged: &&Judged<'_>| [Standing::Best, Standing::Equal].contains(&judged.verdict.standing);
    let count = judged.iter().filter(is_tied).count();
    if count < 2 {
        return None;
    }
    let of_base = |(base, policy): (usize, &crate::policy::Policy)| {
        let all: Vec<&Setting> = judged.iter().map(|judged| judged.setting).filter(|setting| setting.base == base).collect();
        let tied: Vec<&Setting> =
            judged.iter().filter(is_tied).map(|judged| judged.setting).filter(|setting| setting.base == base).collect();
        (!tied.is_empty()).then(|| format!("{} {}", policy.name, named(&tied, &all)).trim_end().to_owned())
    };
    let named: Vec<String> = swept.bases.iter().enumerate().filter_map(of_base).collect();
    let shown = if best.setting.distance(swept.bases) == 0.0 { "the policy's own" } else { "the nearest of them to the policy's own" };
    let (tied, sought) = (counted(count as u64, "setting"), swept.objective.measure.words());
    Some(format!("{tied} have the same {sought}: {}. Shown as {} is {shown}.", named.join("; "), best.words))
}

/// Some settings of one policy: by the values of each parameter where they are all combinations of them, else one by one.
fn named(tied: &[&Setting], all: &[&Setting]) -> String {
    let params: Vec<&str> = tied.first().map_or_else(Vec::new, |setting| setting.values.iter().map(|(param, _)| param.as_str()).collect());
    let values: Vec<(&str, Vec<&str>)> = params.iter().map(|param| (*param, values(tied, param))).collect();
    if values.iter().map(|(_, values)| values.len()).product::<usize>() != tied.len() {
        let words = |setting: &&Setting| if setting.values.is_empty() { "its own settings".to_owned() } else { setting.words() };
        let words: Vec<String> = tied.iter().map(words).collect();
        return first_few(&words, NAMED);
    }
    let of_param = |(param, values): &(&str, Vec<&str>)| match (values.as_slice(), is_a_run(values, &self::values(all, param))) {
        ([value], _) => format!("{param} = {value}"),
        ([first, .., last], true) => format!("{param} from {first} to {last}"),
        (values, _) => format!("{param} = {}", first_few(values, NAMED)),
    };
    values.iter().map(of_param).collect::<Vec<_>>().join(", ")
}

/// The values that a parameter takes in some settings.
fn values<'a>(settings: &[&'a Setting], param: &str) -> Vec<&'a str> {
    let pairs = settings.iter().flat_map(|setting| &setting.values);
    each_once(pairs.filter(|(name, _)| name == param).map(|(_, value)| value.as_str()))
}

/// Each value once, as numbers where they are.
pub(super) fn each_once<T: AsRef<str> + Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = values.collect();
    let size = |value: &T| number(value.as_ref()).unwrap_or(f64::MAX);
    all.arrange_by(|one, other| size(one).total_cmp(&size(other)).then_with(|| one.cmp(other)));
    all.dedup();
    all
}

/// Do these values follow one another among all that were looked at?
fn is_a_run(values: &[&str], all: &[&str]) -> bool {
    let start = values.first().and_then(|first| all.iter().position(|value| value == first));
    values.len() > 2 && start.is_some_and(|start| all.get(start..).is_some_and(|rest| rest.starts_with(values)))
}
