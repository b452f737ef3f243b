//! The words of verdicts: the same for the same case in every command.

use super::words::{counted, grouped, percent};
use crate::experiment::Difference;
use crate::statistics::{Agreement, Bars, Deciding, DrawnBy, Estimate, FEWEST_PROJECTS, Finding, LEVEL, Sample, Within};

/// A verdict in a word or two.
pub fn named(finding: Finding) -> &'static str {
    match finding {
        Finding::Better => "better",
        Finding::Worse => "worse",
        Finding::NoDifference(Within::Worth) => "no difference worth a change",
        Finding::NoDifference(_) => "no difference",
        Finding::CannotJudge => "cannot judge",
    }
}

/// The finding as documents for programs hold it.
pub fn key(finding: Finding) -> &'static str {
    match finding {
        Finding::Better => "better",
        Finding::Worse => "worse",
        Finding::NoDifference(_) => "no_difference",
        Finding::CannotJudge => "cannot_judge",
    }
}

/// What a measurement says of a prediction, in a word or two.
pub fn agreement(agreed: Agreement) -> &'static str {
    match agreed {
        Agreement::Confirmed => "confirmed",
        Agreement::Off => "off",
        Agreement::CannotTell => "cannot be told",
        Agreement::CannotJudge => "cannot be judged",
    }
}

/// Why a difference is none, in words that follow "no difference".
pub fn within(within: Within, worth: f64) -> String {
    match within {
        Within::Sampling => "larger than the uncertainty".to_owned(),
        Within::OwnError => "larger than the uncertainty: the bill's own error is as large".to_owned(),
        Within::Worth => format!("that is worth a change ({})", percent((worth * 1e6).round() as i64, 1_000_000)),
    }
}

/// What resamples draw, for programs: projects or sessions.
pub fn drawn_by(sample: &Sample) -> &'static str {
    match sample.by {
        DrawnBy::Projects => "projects",
        DrawnBy::Sessions => "sessions",
    }
}

/// That most is estimated, where nothing can be judged by it.
pub fn estimated(bars: &Bars) -> Option<String> {
    let share = bars.anchored.filter(|_| bars.is_estimated())?;
    Some(format!("{:.1} % of the tokens are estimated, for no usage of them is recorded", (1.0 - share) * 100.0))
}

/// A share with its sign: `-4.2 %`.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    // What rounds to zero has no sign.
    if percent.abs() < 0.05 { "0.0 %".to_owned() } else { format!("{percent:+.1} %") }
}

/// The bounds of an interval of shares: `-6.0 % to -2.1 %`.
pub fn bounds(estimate: &Estimate) -> String {
    format!("{} to {}", bound(estimate.low), bound(estimate.high))
}

/// What is not zero is not rounded to it: `-0.03 %`.
fn bound(bound: f64) -> String {
    let percent = bound * 100.0;
    let decimals = (2..=MOST_DECIMALS).find(|decimals| percent.abs() >= 0.5 * 0.1_f64.powi(*decimals));
    let decimals = decimals.filter(|_| percent.abs() < 0.05).map(|decimals| decimals.unsigned_abs() as usize);
    decimals.map_or_else(|| share(bound), |decimals| format!("{percent:+.decimals$} %"))
}

/// What has more zeros than this behind the point is none but of the arithmetic.
const MOST_DECIMALS: i32 = 6;

/// A difference with both of its errors: `-4.2 % (90 %: -6.0 % to -2.1 %; the bill's own error: 1.2 %)`. `amount` puts amounts into words, for what is no share.
pub fn difference(difference: &Difference, bars: &Bars, amount: &dyn Fn(i64) -> String) -> String {
    let words = |figure: f64| difference.whole.map_or_else(|| amount(difference.amount(figure)), |_| share(figure));
    let own = difference.own_error(bars).map(|error| format!("; the bill's own error: {:.1} %", error * 100.0)).unwrap_or_default();
    let estimate = &difference.share;
    let bounds = if difference.whole.is_some() { bounds(estimate) } else { format!("{} to {}", words(estimate.low), words(estimate.high)) };
    let over = over(difference).map(|over| format!("; over {over}")).unwrap_or_default();
    let narrow = narrow(&difference.deciding, difference.clusters);
    format!("{} ({LEVEL} %: {bounds}{own}{over}{narrow})", words(estimate.value))
}

/// That an interval rests on too few sessions or projects that differ, behind its bounds; nothing where it rests on more.
pub fn narrow(deciding: &Deciding, drawn: usize) -> String {
    let [differing, drawn] = [deciding.differing, drawn].map(|clusters| grouped(clusters as u64));
    if deciding.is_narrow { format!("; too narrow: it rests on {differing} of {drawn} that are drawn") } else { String::new() }
}

/// Which sessions a difference is over, where they are not all: `the 28 of 30 sessions that both bring to their end`.
pub fn over(difference: &Difference) -> Option<String> {
    let Difference { compared, left_out, .. } = *difference;
    (left_out > 0).then(|| compared_of(compared, compared + left_out))
}

/// So many of so many sessions are compared.
pub fn compared_of(compared: usize, sessions: usize) -> String {
    format!("the {} of {} that both bring to their end", grouped(compared as u64), counted(sessions as u64, "session"))
}

/// Why projects are not drawn.
fn few_projects(sample: &Sample) -> String {
    format!("the logs name {}, and it takes {FEWEST_PROJECTS} to draw projects", counted(sample.projects as u64, "project"))
}

/// The same beside a verdict, where the logs name any.
pub fn drawn_alone(sample: &Sample) -> Option<String> {
    let is_told = sample.by == DrawnBy::Sessions && sample.projects > 0;
    is_told.then(|| format!("The interval draws sessions: {}.", few_projects(sample)))
}

/// How intervals are made, in a sentence.
pub fn method(sample: &Sample, resamples: usize, effective: Option<f64>) -> String {
    let clusters = sample.clusters() as u64;
    let drawn = match sample.by {
        DrawnBy::Projects => format!("{} with all their sessions", counted(clusters, "project")),
        DrawnBy::Sessions => {
            format!("{}, each with its forks and those that it started ({})", counted(clusters, "session"), few_projects(sample))
        }
    };
    let effective = effective.map(|effective| format!(" They say as much as {effective:.1} of one size.")).unwrap_or_default();
    format!(
        "Intervals hold {LEVEL} of 100: ratios of sums over {} resamples of {drawn}, the same for all settings; BCa with Student's percentiles.{effective}",
        grouped(resamples as u64)
    )
}
