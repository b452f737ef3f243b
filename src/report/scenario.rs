//! What totals would be if runs got longer: beside every figure that holds if runs stay as long.

use super::words::counted;
use crate::catalog::Scenario;

/// "In 19 recorded experiments runs under another policy had 0.87 to 3.14 times the turns (means of 5 to 500 pairs)". `None` without experiments.
fn experiments(scenarios: &[Scenario]) -> Option<(String, f64, f64)> {
    let ratios = || scenarios.iter().map(|scenario| scenario.ratio);
    let (least, most) = (ratios().reduce(f64::min)?, ratios().reduce(f64::max)?);
    let pairs = || scenarios.iter().map(|scenario| scenario.pairs);
    let (few, many) = (pairs().min()?, pairs().max()?);
    let told = format!(
        "in {} runs under another policy had {least:.2} to {most:.2} times the turns (means of {few} to {many} pairs)",
        counted(scenarios.len() as u64, "recorded experiment")
    );
    Some((told, least, most))
}

/// How much longer runs got, in a few words: what a first screen has room for.
pub fn brief(scenarios: &[Scenario]) -> Option<String> {
    let (_, least, most) = experiments(scenarios)?;
    Some(format!("mean turns in experiments: {least:.2} to {most:.2} times"))
}

/// What holds for all totals of a replay.
pub fn note(scenarios: &[Scenario]) -> Option<String> {
    let (told, ..) = experiments(scenarios)?;
    Some(format!(
        "Totals, and what is saved of them, hold if runs stay as long, which no replay knows: {told}. These are means of turns: totals and single runs lie farther apart."
    ))
}

/// What a predicted change of a total would be.
pub fn sentence(scenarios: &[Scenario], change: f64) -> Option<String> {
    let (told, least, most) = experiments(scenarios)?;
    let of = |ratio: f64| ((1.0 + change) * ratio - 1.0) * 100.0;
    // No change has no sign.
    let percent = (change * 100.0).round() + 0.0;
    Some(format!(
        "If runs get as much longer as others did ({told}), {percent:+.0} % tokens per run is {:+.0} to {:+.0} %.",
        of(least),
        of(most)
    ))
}
