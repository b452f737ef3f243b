//! The first screen of `tune`: keep or change, what was found beside what there is on sessions that it was not chosen on, and the snippet.

use super::said::{held_out, is_of_nothing, point, sentences, setting_words};
use crate::experiment::metric::metric_of;
use crate::experiment::tune::{Split, Trial, Verdict};
use crate::experiment::{KnownFrom, sample};
use crate::report::asked::Found;
use crate::report::document::{Cell, Column, Fields, Screen, Section, Table, Unit};
use crate::report::measures::{supposed, value_cell};
use crate::report::words::{capital, counted, grouped};
use crate::report::{cautions, cost_figures, figures};
use crate::statistics::DrawnBy;
use crate::trace::Evidence;

/// The screen; what is to be pasted and the sessions that decided stand below.
pub(super) fn screen(found: &Found<'_>, below: Vec<Section>) -> Screen {
    let (training, held_out) = (found.split.training.traces.len() as u64, found.split.held_out.traces.len() as u64);
    let sessions = counted(training + held_out, "session");
    let title =
        format!("{}: {}; {sessions}, {} to search and {} to test", found.policy.name, short(found), grouped(training), grouped(held_out));
    let mut sections = vec![Section::facts(facts(found))];
    sections.extend((!is_of_nothing(found)).then(|| table(found).titled("On the sessions to test, simulated:")));
    let shrunk = cautions::told(cautions::shrunk(&[&found.split.training, &found.split.held_out], found.split.facts.calls));
    let default = &found.tuned.default.held_out;
    let rows = [other(found).map_or(default, |best| &best.held_out), default];
    let supposed = supposed(std::iter::once(found.tuned.objective.measure), rows);
    let told = left_out(found).into_iter().chain(supposed).chain(shrunk).chain(same_projects(found.split));
    sections.extend(told.map(|words| Section::lines(vec![words])));
    sections.extend(below);
    Screen { title, sections, ..Screen::default() }
}

/// What is found in projects and tested in the same ones is known of them alone.
fn same_projects(split: &Split) -> Option<String> {
    let is_told = split.shared > 0 && sample(split.held_out.traces.each()).by == DrawnBy::Projects;
    is_told.then(|| format!("! Both parts hold sessions of the same {}: others may differ.", counted(split.shared as u64, "project")))
}

/// What has no price in both parts.
pub(super) fn left_out(found: &Found<'_>) -> Option<String> {
    let mut charges = found.tuned.default.training.charges;
    charges += &found.tuned.default.held_out.charges;
    let is_sought = found.tuned.objective.measure.known_from() != KnownFrom::Replay;
    cost_figures::left_out(&charges).filter(|_| is_sought)
}

/// What to do, in a few words.
fn short(found: &Found<'_>) -> String {
    let setting = || found.tuned.best.as_ref().map(|best| best.setting.words()).unwrap_or_default();
    match &found.tuned.verdict {
        Verdict::Recommended => format!("change to {}", setting()),
        Verdict::DefaultIsBest | Verdict::NoDifference(..) | Verdict::NotSummarised | Verdict::Worse => format!("keep {}", point(found)),
        Verdict::NoneAllowed(_) | Verdict::Breaks(_) | Verdict::CannotTell(_) => "nothing is recommended".to_owned(),
        Verdict::TooFew(_) | Verdict::Estimated | Verdict::NotReached => "cannot judge".to_owned(),
    }
}

fn facts(found: &Found<'_>) -> Vec<(&'static str, String)> {
    let best = other(found);
    let mut facts = Vec::new();
    facts.extend(best.map(|best| ("best found", best.setting.words())));
    facts.extend(best.map(|best| ("objective", held_out(found, best, ""))));
    facts.push(("verdict", capital(&sentences(found, None).join(" "))));
    facts
}

/// The setting that was found, where it is not what there is already, and the sessions say anything of it.
fn other<'a>(found: &'a Found<'_>) -> Option<&'a Trial> {
    let is_untold = matches!(found.tuned.verdict, Verdict::TooFew(_) | Verdict::NotReached);
    found.tuned.best.as_ref().filter(|best| !is_untold && !best.setting.values.is_empty())
}

fn table(found: &Found<'_>) -> Table {
    let measure = found.tuned.objective.measure;
    let header = if measure.whole.is_some() { "objective" } else { measure.part.header };
    let [cost, _] = cost_figures::COLUMNS;
    let mut fields = Fields::<&Trial>::new()
        .with(Column::name("setting", ""), |trial| {
            Cell::Name(if trial.setting.values.is_empty() { setting_words(found, trial) } else { "best found".to_owned() })
        })
        .with(Column::recorded("sessions", "sessions", Unit::Count), |trial| Cell::Count(trial.held_out.totals.sessions))
        .with(Column::simulated("objective", header, measure.part.unit), move |trial| value_cell(&trial.held_out, &measure));
    if header != cost.header {
        fields = fields.with(cost, |trial| cost_figures::of_charges(&trial.held_out.charges).into_iter().next().unwrap_or(Cell::Empty));
    }
    for (key, header) in [("failed_sessions", "failed"), ("overflows", "over\u{ad}flows"), ("compactions", "compac\u{ad}tions")] {
        let Some(metric) = metric_of(key) else { continue };
        fields = fields.with(Column { header, ..figures::column(metric) }, |trial| figures::cell(metric, &trial.held_out.totals));
    }
    let lost = Column::simulated("lost_lines", "reused text lost", Unit::Count);
    fields
        .with(lost, |trial| Cell::Count(trial.held_out.totals.retention.of(Evidence::Line).broken()))
        .table(1, std::iter::once(&found.tuned.default).chain(other(found)))
}
