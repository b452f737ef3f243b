//! The settings of a sweep, each with its verdict.

use super::asked::{SetIn, Swept};
use super::finding;
use super::words::{counted, percent_of, three_digits};
use crate::experiment::{
    Constraint, Difference, Direction, Judgement, Judging, Measure, Objective, Row, Setting, Standing, Summarised, judgements,
};
use crate::list::Arrange;
use crate::sim::Totals;
use crate::statistics::{Bars, FEWEST, Finding};
use crate::trace::Evidence;

/// One setting with all that is said of it.
pub struct Judged<'a> {
    pub policy: &'a str,
    pub setting: &'a Setting,
    pub row: &'a Row,
    pub verdict: Judgement,
    /// The verdict in words.
    pub words: String,
    /// The same with the number of its constraints for their words.
    pub short: String,
    /// What it is called beside the own setting of its policy (`less`, `more`) where something stands against calling it better.
    pub turned: Option<&'static str>,
}

/// What the setting that comes out first is called, and what comes to more than the uncertainty beside it.
#[derive(Clone, Copy)]
pub struct First {
    pub name: &'static str,
    beyond: &'static str,
    /// Sessions that it fails.
    failed: u64,
}

impl Swept<'_> {
    /// A verdict on each row.
    pub fn judgements(&self) -> Vec<Judgement> {
        let distance: Vec<f64> = self.settings.iter().map(|setting| setting.distance(self.bases)).collect();
        let own: Vec<Option<usize>> = self.settings.iter().map(|setting| self.own.get(setting.base).copied()).collect();
        let by = Judging {
            objective: &self.objective,
            constraints: self.constraints,
            distance: &distance,
            own: &own,
            sampling: self.sampling,
            bars: self.bars,
        };
        judgements(self.rows, &by)
    }

    /// The row of a policy's own setting, and its place.
    fn own_of(&self, row: &Row) -> Option<(usize, &Row)> {
        let own = self.own.get(self.settings.get(row.setting)?.base)?;
        self.rows.iter().enumerate().find(|(_, row)| row.setting == *own)
    }

    /// What summarisers make of a setting's difference from the own one of its policy, in words, and what stands against calling it better; nothing where it is.
    pub fn told(&self, row: &Row, own: &Row, difference: Option<&Difference>) -> (String, Option<String>) {
        let Objective { measure, direction } = &self.objective;
        let summarised = |difference| told(difference, row.summarised(own, difference, measure, self.sampling), *direction, &self.bars);
        let (words, turned) = difference.map(summarised).unwrap_or_default();
        (words, but(&row.totals, &own.totals, turned))
    }

    /// Does something stand against calling a setting better, which is so by what is sought?
    fn is_but(&self, row: &Row, verdict: &Judgement) -> bool {
        let Some((against, (_, own))) = verdict.own.zip(self.own_of(row)) else { return false };
        against.finding == Finding::Better && self.told(row, own, against.difference.as_ref()).1.is_some()
    }

    /// Do the sessions bear a judgement by this row at all? Then there are enough, and most of their tokens are no estimates.
    pub fn judges(&self, row: &Row) -> bool {
        !self.bars.is_estimated() && row.sums_of(0).is_some_and(|sums| self.sampling.compared(sums, sums) >= FEWEST)
    }

    /// What the setting that comes out first is called, by the rule of the sentence on it: `best` where it is called better than the own one of its policy, where it is
    /// that one and can be judged, and where that one is not allowed; else it comes to the least, or the most.
    pub fn first(&self, judgements: &[Judgement]) -> First {
        let found = self.rows.iter().zip(judgements).find(|(_, verdict)| verdict.standing == Standing::Best);
        let is_best = |(row, verdict): (&Row, &Judgement)| match verdict.own.map(|own| own.finding) {
            None => self.judges(row),
            Some(Finding::Better) => !self.is_but(row, verdict),
            Some(Finding::Worse) => {
                let own = self.own_of(row).and_then(|(place, _)| judgements.get(place));
                own.is_some_and(|own| matches!(own.standing, Standing::Breaks | Standing::CannotTell))
            }
            Some(Finding::NoDifference(_) | Finding::CannotJudge) => false,
        };
        let (name, beyond) = match self.objective.direction {
            _ if found.is_none_or(is_best) => ("best", "worse"),
            Direction::Minimise => ("least", "more"),
            Direction::Maximise => ("most", "less"),
        };
        First { name, beyond, failed: found.map_or(0, |(row, _)| row.failed_sessions()) }
    }

    /// What the settings of a policy are compared with.
    pub fn point(&self, base: usize) -> &'static str {
        SetIn::point(self.yours.get(base)).0
    }

    /// The name of the policy that a setting turns.
    pub fn policy(&self, setting: &Setting) -> &str {
        self.bases.get(setting.base).map_or("", |policy| policy.name.as_str())
    }
}

/// That a verdict on a sum holds if runs stay as long; nothing for what is no sum.
pub fn if_as_long(measure: &Measure) -> &'static str {
    if measure.whole.is_none() { ", if runs stay as long" } else { "" }
}

/// What summarisers take beside prompt tokens, in words, and what is found with that, where it is something else.
pub fn told(difference: &Difference, summarised: Option<Summarised>, direction: Direction, bars: &Bars) -> (String, Option<Finding>) {
    let Some(Summarised { more, with }) = summarised else { return Default::default() };
    let than = if more > 0 { "more" } else { "fewer" };
    let words = format!("; summarisers take {} {than}: {} with them", three_digits(more.unsigned_abs()), finding::share(with.share.value));
    (words, Some(with.finding(direction, bars)).filter(|turned| *turned != difference.finding(direction, bars)))
}

/// What stands against calling one thing better than another: sessions that it fails, reused text that it loses, what its summariser takes. Nothing where it is.
/// `turned` is what is found with that, where it is something else.
pub fn but(best: &Totals, own: &Totals, turned: Option<Finding>) -> Option<String> {
    let failed = best.failed_sessions;
    let fails = (failed > own.failed_sessions).then(|| format!("fails {} instead of {}", counted(failed, "session"), own.failed_sessions));
    let takes = turned.map(|turned| match turned {
        Finding::Worse => "is worse with summarisers".to_owned(),
        _ => "is not known to come to less with summarisers".to_owned(),
    });
    let parts: Vec<String> = fails.into_iter().chain(trade(best, own)).chain(takes).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// What a setting gives up: reused text that the own one keeps, to a hundredth.
pub fn trade(best: &Totals, own: &Totals) -> Option<String> {
    let kept = |totals: &Totals| {
        let lines = totals.retention.of(Evidence::Line);
        (lines.kept, lines.all())
    };
    let ((kept_here, all_here), (kept_there, all_there)) = (kept(best), kept(own));
    let share = |kept: u64, all: u64| if all == 0 { 1.0 } else { kept as f64 / all as f64 };
    (share(kept_here, all_here) + 0.01 < share(kept_there, all_there))
        .then(|| format!("keeps {} of the reused text instead of {}", percent_of(kept_here, all_here), percent_of(kept_there, all_there)))
}

impl Judged<'_> {
    /// How it stands to the own setting of its policy, in words; nothing for that one.
    pub fn against_own(&self) -> &'static str {
        self.turned.unwrap_or_else(|| self.verdict.own.map_or("", |own| finding::named(own.finding)))
    }
}

/// All settings: those that keep the constraints first, then those that keep them as counted, those that break one as counted, and those that break one; each from the
/// best on.
pub fn judged<'a>(swept: &'a Swept<'_>) -> Vec<Judged<'a>> {
    let judgements = swept.judgements();
    let first = swept.first(&judgements);
    let rows = swept.rows.iter().zip(judgements).filter_map(|(row, verdict)| {
        let setting = swept.settings.get(row.setting)?;
        let (words, short) = (words(row, &verdict, swept.constraints, first), short(row, &verdict, swept.constraints, first));
        let turned = if swept.objective.direction == Direction::Minimise { "less" } else { "more" };
        let turned = swept.is_but(row, &verdict).then_some(turned);
        Some(Judged { policy: swept.policy(setting), setting, row, verdict, words, short, turned })
    });
    let mut judged: Vec<Judged<'a>> = rows.collect();
    let objective = swept.objective;
    let worth = |judged: &Judged<'_>| judged.row.value(&objective.measure);
    judged.arrange_by(|one, other| {
        let failed = |judged: &Judged<'_>| judged.row.failed_sessions();
        let order = worth(one).compare(worth(other));
        let order = if objective.direction == Direction::Minimise { order } else { order.reverse() };
        let below = |judged: &Judged<'_>| judged.verdict.standing != Standing::Best;
        let adherence = |judged: &Judged<'_>| judged.verdict.adherence;
        adherence(one)
            .cmp(&adherence(other))
            .then(failed(one).cmp(&failed(other)))
            .then(order)
            .then(below(one).cmp(&below(other)))
            .then(one.row.setting.cmp(&other.row.setting))
    });
    judged
}

/// Settings that come to the same, as one: the best known of them, and how many others there are.
pub struct Bundle<'j, 'a> {
    pub judged: &'j Judged<'a>,
    pub others: usize,
}

/// All settings, those of one policy that come to the same in everything bundled, in their order. Of a bundle the policy's own setting stands for the others, else the best
/// one, else the first.
pub fn bundled<'j, 'a>(swept: &Swept<'_>, judged: &'j [Judged<'a>]) -> Vec<Bundle<'j, 'a>> {
    let is_own = |judged: &Judged<'_>| swept.own.contains(&judged.row.setting);
    let mut bundles: Vec<Bundle<'j, 'a>> = Vec::new();
    for judged in judged {
        let same = |bundle: &&mut Bundle<'_, '_>| {
            let (one, other) = (bundle.judged, judged);
            one.setting.base == other.setting.base && one.row.totals == other.row.totals && one.row.charges == other.row.charges
        };
        // They are sorted: what comes to the same stands together.
        let value = |judged: &Judged<'_>| judged.row.value(&swept.objective.measure);
        let near = |bundle: &&mut Bundle<'_, '_>| value(bundle.judged) == value(judged);
        match bundles.iter_mut().rev().take_while(near).find(same) {
            Some(bundle) => {
                bundle.others += 1;
                if is_own(judged) && bundle.judged.verdict.standing != Standing::Best {
                    bundle.judged = judged;
                }
            }
            None => bundles.push(Bundle { judged, others: 0 }),
        }
    }
    bundles
}

impl Bundle<'_, '_> {
    /// The settings of the bundle in words.
    pub fn words(&self, swept: &Swept<'_>) -> String {
        let setting = self.judged.setting;
        let (_, own) = SetIn::point(swept.yours.get(setting.base));
        let words = match (swept.own.contains(&self.judged.row.setting), setting.words()) {
            (true, words) if words.is_empty() => own.to_owned(),
            (true, words) => format!("{words} ({own})"),
            (false, words) => words,
        };
        let others = if self.others > 0 { format!(" and {}", counted(self.others as u64, "equal setting")) } else { String::new() };
        words + &others
    }
}

/// A verdict in words, where the setting that comes out first is called so.
pub fn words(row: &Row, verdict: &Judgement, constraints: &[Constraint], first: First) -> String {
    let named = |places: &[usize]| {
        let named = places.iter().filter_map(|place| constraints.get(*place)).map(|constraint| constraint.words.as_str());
        format!(" {}", named.collect::<Vec<_>>().join(", "))
    };
    in_words(row, verdict, first, &named)
}

/// The same with the number of constraints, where there are several, for their words.
fn short(row: &Row, verdict: &Judgement, constraints: &[Constraint], first: First) -> String {
    let of = constraints.len();
    in_words(row, verdict, first, &|places| if of > 1 { format!(" {} of {of}", places.len()) } else { String::new() })
}

fn in_words(row: &Row, verdict: &Judgement, first: First, named: &dyn Fn(&[usize]) -> String) -> String {
    // Where no setting is known to keep all constraints, the best of the others is none that could be recommended.
    let cannot_tell = || if verdict.untold.is_empty() { String::new() } else { format!(", cannot tell{}", named(&verdict.untold)) };
    match verdict.standing {
        Standing::Best => format!("{}{}", first.name, cannot_tell()),
        Standing::Equal => format!("as good{}", cannot_tell()),
        Standing::NoDifference(within) => format!("{}{}", finding::named(Finding::NoDifference(within)), cannot_tell()),
        Standing::CannotJudge => format!("{}{}", finding::named(Finding::CannotJudge), cannot_tell()),
        Standing::Worse if row.failed_sessions() > first.failed => format!("worse{}", cannot_tell()),
        Standing::Worse => format!("{}{}", first.beyond, cannot_tell()),
        Standing::CannotTell => format!("cannot tell{}", named(&verdict.untold)),
        Standing::Breaks => format!("breaks{}", named(&verdict.broken)),
    }
}
