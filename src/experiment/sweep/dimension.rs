//! A parameter and the values that it is to take: `prune_protect=10k..80k:10k`, `window=32k..1m:x2`, `auto_compact_threshold=0.7,0.8`.

use crate::experiment::error::SweepError;
use crate::policy::{Policy, is_called, number};
use crate::statistics::Chance;

/// More values than this are no useful list.
const MOST_VALUES: f64 = 100_000.0;

/// A parameter that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// The policy that it is varied in, by name; `None` for all that have it.
    pub policy: Option<String>,
    /// Name of the parameter.
    pub param: String,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// These, as they would be typed.
    Listed(Vec<String>),
    /// Any from the one to the other; a design draws them.
    Between(f64, f64),
}

impl Dimension {
    /// Parses `[POLICY:]PARAM=VALUES`, values being `FROM..TO:STEP`, `FROM..TO:xFACTOR`, `FROM..TO` or a list with commas.
    pub fn parse(text: &str) -> Result<Dimension, SweepError> {
        let wrong = |reason: &str| SweepError::Asked(format!("`--vary {text}`: {reason}"));
        let form = "it is written PARAM=FROM..TO:STEP, PARAM=FROM..TO:xFACTOR or PARAM=VALUE,VALUE,...";
        let (left, right) = text.split_once('=').ok_or_else(|| wrong(form))?;
        if let Some((from, to)) = mistyped_range(right) {
            return Err(wrong(&format!("a range is written {left}={from}..{to}:STEP")));
        }
        let (policy, param) = left.rsplit_once(':').map_or((None, left), |(policy, param)| (Some(policy.to_owned()), param));
        let values = match right.split_once("..") {
            None => {
                let listed: Vec<String> = right.split(',').map(|value| value.trim().to_owned()).collect();
                if param.is_empty() || listed.iter().any(String::is_empty) {
                    return Err(wrong(form));
                }
                Values::Listed(listed)
            }
            Some((from, rest)) => {
                let (to, step) = rest.split_once(':').map_or((rest, None), |(to, step)| (to, Some(step)));
                let parse = |word: &str| number(word.trim()).ok_or_else(|| wrong(&format!("`{word}` is no number")));
                let (from, to) = (parse(from)?, parse(to)?);
                if from > to {
                    return Err(wrong("the range ends before it begins"));
                }
                match step.map(|step| (step, step.trim().strip_prefix('x'))) {
                    None => Values::Between(from, to),
                    Some((_, Some(factor))) => Values::Listed(
                        multiples(from, to, parse(factor)?)
                            .ok_or_else(|| wrong("a factor is above 1, begins above 0, and gives no more than 100,000 values"))?,
                    ),
                    Some((step, None)) => Values::Listed(
                        steps(from, to, parse(step)?).ok_or_else(|| wrong("a step is above 0, and gives no more than 100,000 values"))?,
                    ),
                }
            }
        };
        Ok(Dimension { policy, param: param.to_owned(), values })
    }

    /// Is it varied in this policy?
    pub fn is_of(&self, policy: &Policy) -> bool {
        self.policy.as_ref().is_none_or(|wanted| is_called(&policy.name, wanted)) && policy.params.contains_key(&self.param)
    }

    /// All its values; an error where they are drawn only.
    pub(super) fn listed(&self) -> Result<&[String], SweepError> {
        match &self.values {
            Values::Listed(values) => Ok(values),
            Values::Between(..) => {
                Err(SweepError::Asked(format!("the range of `{}` has no step: give it one, or draw from it with --sample N", self.param)))
            }
        }
    }

    /// The value at this share of the way through.
    pub(super) fn at(&self, share: f64) -> String {
        match &self.values {
            Values::Listed(values) => {
                let place = (share * values.len() as f64) as usize;
                values.get(place.min(values.len().saturating_sub(1))).cloned().unwrap_or_default()
            }
            Values::Between(from, to) => {
                let value = from + (to - from) * share;
                word(if from.fract() == 0.0 && to.fract() == 0.0 { value.round() } else { value })
            }
        }
    }

    pub(super) fn draw(&self, chance: &mut Chance) -> String {
        self.at(chance.share())
    }
}

/// The ends of a range that is written with a dash or other dots between them; `None` where it is none.
pub(crate) fn mistyped_range(text: &str) -> Option<(&str, &str)> {
    let ends = text.split(':').next()?;
    let split = ["...", "…", "–", "—", "-"].iter().find_map(|between| ends.split_once(between))?;
    let is_number = |end: &str| number(end.trim()).is_some();
    (is_number(split.0) && is_number(split.1)).then_some((split.0.trim(), split.1.trim()))
}

fn steps(from: f64, to: f64, step: f64) -> Option<Vec<String>> {
    // A little more than the end, so that 0.1 in steps of 0.1 reaches 0.9.
    let count = ((to - from) / step + 1e-9).floor();
    (step > 0.0 && count < MOST_VALUES).then(|| (0..=count as u64).map(|place| word(from + step * place as f64)).collect())
}

fn multiples(from: f64, to: f64, factor: f64) -> Option<Vec<String>> {
    if factor <= 1.0 || from <= 0.0 || (to / from).ln() / factor.ln() >= MOST_VALUES {
        return None;
    }
    let whole = from.fract() == 0.0;
    let value = |place: i32| from * factor.powi(place);
    let values = (0..).map(value).take_while(|value| *value <= to * (1.0 + 1e-9));
    Some(values.map(|value| word(if whole { value.round() } else { value })).collect())
}

/// A number as it would be typed, without what double precision adds to it.
fn word(value: f64) -> String {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
