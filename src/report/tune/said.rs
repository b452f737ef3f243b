//! What is said of a setting that was found: the verdict, the gain, what stands at an edge, what breaks.

use crate::experiment::tune::{Bound, FEWEST, Part, Split, Trial, Verdict, telling};
use crate::experiment::{NeverReached, Row, Unit, Value, acts, never_reached};
use crate::policy::{Facts, figure};
use crate::report::asked::{Found, SetIn};
use crate::report::measures::{against, phrase};
use crate::report::words::{capital, counted, grouped};
use crate::report::{causes, finding, judged, notes};

/// What the setting is compared with.
pub(super) fn point(found: &Found<'_>) -> &'static str {
    SetIn::point(found.yours).0
}

/// "cost $1.20 against $2.00 with the defaults on 12 held-out sessions: -40.0 % (90 %: -50.0 % to -30.0 %; the bill's own error: 1.2 %)"
pub(super) fn gain(found: &Found<'_>, best: &Trial) -> String {
    let on = counted(found.split.held_out.traces.len() as u64, "held-out session");
    held_out(found, best, &format!(" with {} on {on}", point(found)))
}

/// What was found beside what there is, on the held-out sessions.
pub(super) fn held_out(found: &Found<'_>, best: &Trial, which: &str) -> String {
    let tuned = found.tuned;
    let (rows, difference) = ([&best.held_out, &tuned.default.held_out], tuned.difference.as_ref());
    let told = |difference| judged::told(difference, tuned.summarised, tuned.objective.direction, &tuned.bars).0;
    let summarised = difference.map_or_else(String::new, told);
    against(&tuned.objective.measure, rows, which, difference, &tuned.bars) + &summarised
}

/// The gain as a sentence.
pub(super) fn gain_told(found: &Found<'_>) -> String {
    format!("{}.", capital(&found.tuned.best.as_ref().map(|best| gain(found, best)).unwrap_or_default()))
}

/// What the setting gives up on the held-out sessions: the guard on lost text may be waived, or be within the uncertainty.
fn traded(found: &Found<'_>) -> Option<String> {
    let best = found.tuned.best.as_ref()?;
    judged::but(&best.held_out.totals, &found.tuned.default.held_out.totals, None).map(|but| format!("But it {but}."))
}

/// The verdict, with the gain where it stands by itself.
pub(super) fn sentences(found: &Found<'_>, gained: Option<&str>) -> Vec<String> {
    let tuned = found.tuned;
    let held_out = found.split.held_out.traces.len() as u64;
    let setting = tuned.best.as_ref().map(|best| best.setting.words()).unwrap_or_default();
    let broken = defaults_break(found);
    // The verdict, and the gain behind it.
    let told = |sentence: String| std::iter::once(sentence).chain(gained.map(str::to_owned)).collect::<Vec<String>>();
    let (point, worth) = (point(found), tuned.bars.worth);
    let on = counted(held_out, "held-out session");
    let keep = match &broken {
        Some(_) => format!("Nothing is recommended: {setting} keeps all constraints, and {point} do not; but"),
        None => format!("Keep {point}:"),
    };
    let mut sentences = match &tuned.verdict {
        Verdict::Recommended => [format!("Recommended{}: {setting}.", judged::if_as_long(&tuned.objective.measure))]
            .into_iter()
            .chain(fewer_failed(found, held_out))
            .chain(gained.map(str::to_owned))
            .chain(traded(found))
            .chain(at_edge(found))
            .collect(),
        Verdict::DefaultIsBest => vec![format!(
            "Keep {point}: of all settings that were looked at and keep the constraints, none is better on the training sessions."
        )],
        Verdict::NoneAllowed(_) => {
            vec!["Nothing is recommended: no setting that was looked at keeps all constraints on the training sessions.".to_owned()]
        }
        Verdict::Breaks(broken) => told(format!(
            "Nothing is recommended: {setting}, the best of the training sessions, breaks on the held-out sessions: {}.",
            broken.join(" and ")
        )),
        Verdict::CannotTell(untold) => {
            told(format!("Nothing is recommended: {on} are too few to tell whether {setting} keeps: {}.", untold.join(" and ")))
        }
        Verdict::NoDifference(within, more) => {
            let decides = match more {
                Some(0) => "More sessions like these would not make it one that is worth a change.".to_owned(),
                Some(more) => format!("If the difference is what it seems, about {} in all would decide.", counted(*more, "more session")),
                None => "No number of sessions like these would decide.".to_owned(),
            };
            let none = format!("{keep} {setting} makes no difference {} on {on}.", finding::within(*within, worth));
            [told(none), vec![decides]].concat()
        }
        Verdict::Worse => told(format!("{keep} {setting} is the best on the training sessions, and worse on the held-out ones.")),
        Verdict::NotSummarised => told(format!("{keep} with the requests of its summariser {setting} is no better on {on}.")),
        Verdict::Estimated => {
            let estimated = finding::estimated(&tuned.bars).unwrap_or_default();
            told(format!("Cannot judge: {estimated}. It takes sessions whose usage is recorded."))
        }
        Verdict::TooFew(more) => vec![too_few(found, *more)],
        Verdict::NotReached => vec![format!(
            "Cannot judge: {}, so that they say nothing of its settings. It takes sessions in which these make a difference.",
            match &tuned.best {
                Some(best) if best.setting.values.is_empty() => {
                    "no session comes to where the policy acts, under any setting that was looked at".to_owned()
                }
                Some(best) if acts(&best.held_out.totals) => format!("{setting} changes nothing in {on}"),
                _ => format!("none of {on} comes to where the policy acts, under {point} or {setting}"),
            }
        )],
    };
    sentences.extend(broken);
    sentences.extend(never_acts(found));
    let facts = Facts { window: found.policy.default_window(), ..Facts::default() };
    let idle = found.policy.without_effect(&facts).into_iter().filter(|idle| {
        let sought = |name: &str| found.axes.iter().any(|axis| axis.param == name);
        sought(&idle.name) && idle.because.as_ref().is_some_and(|(other, _)| !sought(other))
    });
    sentences.extend(idle.map(|idle| format!("{}.", idle.words())));
    sentences.extend(notes::manual_undone(&[&found.split.training, &found.split.held_out]));
    sentences.iter().map(|sentence| beside(found, sentence)).collect()
}

/// Has no session of a part a value of what is sought? Then there is nothing to show beside the verdict.
pub(super) fn is_of_nothing(found: &Found<'_>) -> bool {
    let (default, split) = (&found.tuned.default, found.split);
    let parts = [(&default.training, &split.training), (&default.held_out, &split.held_out)];
    parts.into_iter().any(|(row, part)| telling(row, part.traces.len()) == 0)
}

/// That so few sessions have a value of what is sought.
fn too_few(found: &Found<'_>, more: u64) -> String {
    let Split { training, held_out, .. } = found.split;
    let default = &found.tuned.default;
    let parts = [(&default.training, training, "training session"), (&default.held_out, held_out, "held-out session")];
    let has = if found.tuned.objective.measure.part.unit == Unit::Money { "a price" } else { "a call" };
    let all = parts.iter().all(|(row, part, _)| telling(row, part.traces.len()) == part.traces.len());
    let [one, other] = parts.map(|(row, part, name)| {
        let (telling, of) = (telling(row, part.traces.len()), counted(part.traces.len() as u64, name));
        if all { of } else { format!("{telling} of {of}") }
    });
    let (few, with) =
        if all { ("are too few".to_owned(), String::new()) } else { (format!("have {has}, too few"), format!(" with {has}")) };
    format!(
        "Cannot judge: {one} and {other} {few}. It takes at least {}{with}, so that {FEWEST} stand on each side.",
        counted(more, "more session")
    )
}

/// Bounds speak of the defaults: what stands in their place is said by its name.
pub(super) fn beside(found: &Found<'_>, words: &str) -> String {
    words.replace("than the defaults", &format!("than {}", point(found)))
}

/// That no session reaches what there is, with the sizes.
fn never_acts(found: &Found<'_>) -> Option<String> {
    let default = &found.tuned.default;
    let reached = [&default.training, &default.held_out].map(|row| never_reached(&row.totals, found.thresholds));
    let [Some(one), Some(other)] = reached else { return None };
    let reached = NeverReached { largest: one.largest.max(other.largest), ..one };
    Some(format!("{} {}.", found.policy.name, causes::never_acts(&reached)))
}

/// A best value at an end of its range: there may be better ones beyond.
fn at_edge(found: &Found<'_>) -> Option<String> {
    let best = found.tuned.best.as_ref()?;
    let ends = |(param, value): &&(String, String)| {
        let range = found.axes.iter().find(|axis| axis.param == *param)?.range();
        let value: f64 = value.parse().ok()?;
        let is_choice = range.is_whole() && range.to - range.from <= 2.0;
        (!is_choice && (value == range.from || value == range.to)).then(|| format!("{param}={}", figure(value)))
    };
    let ends: Vec<String> = best.setting.values.iter().filter_map(|pair| ends(&pair)).collect();
    (!ends.is_empty())
        .then(|| format!("{} stands at the edge of its range: a wider one may hold a better value (--params).", ends.join(", ")))
}

/// Failed sessions go before what is sought: said where they decide.
fn fewer_failed(found: &Found<'_>, held_out: u64) -> Option<String> {
    let tuned = found.tuned;
    let failed = tuned.best.as_ref().map_or(0, |best| best.held_out.failed_sessions());
    let default = tuned.default.held_out.failed_sessions();
    let of = counted(held_out, "held-out session");
    (failed < default).then(|| format!("It fails {} of {of}, {} {}.", grouped(failed), point(found), grouped(default)))
}

/// Constraints that the defaults do not keep themselves, with what they come to.
fn defaults_break(found: &Found<'_>) -> Option<String> {
    let of = |part: Part, name: &str| {
        let value = |(row, bound): (&Row, &Bound)| {
            let measure = bound.measure();
            // What a sum over all sessions leaves to this part of them.
            let limit = [bound.clone(), bound.of_part(found.split.share(part))].map(|bound| match bound {
                Bound::Fixed(constraint) => constraint.limit.part / constraint.limit.whole.max(1) as i64,
                Bound::AsDefault(_) => 0,
            });
            let [all, here] = limit.map(|part| phrase(Value { part, whole: 1 }, &measure));
            let of = if all == here { String::new() } else { format!(" against a share of {here}") };
            format!("{} ({}{of})", bound.words(), phrase(row.value(&measure), &measure))
        };
        let broken: Vec<String> = found.tuned.broken_by_default(found.split, part).map(value).collect();
        (!broken.is_empty()).then(|| format!("{} on the {name} sessions", broken.join(" and ")))
    };
    let parts: Vec<String> = [of(Part::Training, "training"), of(Part::HeldOut, "held-out")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{} themselves break {}.", capital(point(found)), parts.join(", and ")))
}

pub(super) fn setting_words(found: &Found<'_>, trial: &Trial) -> String {
    let (_, own) = SetIn::point(found.yours);
    if trial.setting.values.is_empty() { own.to_owned() } else { trial.setting.words() }
}
