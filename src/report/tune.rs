//! `tune`: the setting that was found beside the defaults, on sessions that it was not chosen on.

mod said;
mod screen;

use super::asked::Found;
use super::document::{Body, Cell, Column, Fields, Report, Section, Table, Unit};
use super::figures::{cell as figure_cell, column};
use super::measures::{CLOSED_LOOP, bound_cell, cell, phrase, value_cell};
use super::record::tune::TuneRecord;
use super::title::title;
use super::words::{counted, grouped};
use super::{cost_figures, finding, notes};
use crate::advice::{Snippets, Unset};
use crate::experiment::metric::in_tables;
use crate::experiment::tune::{Decided, Part, Trial, Tuned, Verdict};
use crate::experiment::{self, Direction, KnownFrom, Measure, RecordedSummaries, Row, Value};
use crate::policy::{Policy, figure};
use crate::statistics::Keeping;
use crate::trace::Evidence;
use said::{beside, gain, gain_told, is_of_nothing, point, sentences, setting_words};
use screen::{left_out, screen};

/// So many sessions are named; the record holds all.
const SHOWN: usize = 20;

/// The figures that stand beside what is sought.
const BESIDE: [&str; 5] = ["overflows", "over_budget", "compactions", "prunes", "failed_sessions"];

/// The report on tuning.
pub fn tune(found: &Found<'_>) -> Report {
    let snippets = snippets(found);
    let notes = all_notes(found);
    let table = table(found);
    let mut sections = vec![Section::lines(sentences(found, Some(&gain_told(found))))];
    sections.extend((!is_of_nothing(found)).then(|| table.clone().titled(sought(found))));
    let mut below = configuration(found.policy, &snippets);
    below.extend(found.decided.map(|decided| explained(found, decided)));
    sections.extend(below.iter().cloned());
    let screen = Some(screen(found, below));
    let (facts, record) = (&found.split.facts, TuneRecord::new(found, &snippets));
    let title = format!("Policy {} tuned over {}", found.policy.name, title(facts));
    Report { title, screen, ..Report::over(facts, sections, notes, table, record) }
}

/// Each configuration file with what is to be put there, and a line on what no file takes.
pub fn configuration(policy: &Policy, snippets: &Snippets) -> Vec<Section> {
    let mut sections = Vec::new();
    for snippet in &snippets.files {
        let note = if snippet.note.is_empty() { String::new() } else { format!(" ({})", snippet.note) };
        let title = format!("{}{note}", snippet.file);
        sections.push(Section { title, body: Body::Code(snippet.syntax.name(), snippet.text.clone()) });
    }
    let line = |(name, why): &(String, Unset)| {
        let value = policy.params.get(name).map(|parameter| &parameter.value);
        let value = value.map(|value| value.as_str().map_or_else(|| value.to_string(), |text| text.trim_start_matches('=').to_owned()));
        let value = value.unwrap_or_default();
        match why {
            Unset::NoKey => format!("`{name}` ({value}) is nothing that this agent's configuration sets, as far as its preset knows."),
            Unset::LeftOut => format!("`{name}` is none here ({value} stands for that): leave its key out."),
            Unset::Formula => {
                format!("`{name}` is worked out for each model ({value}): nothing is written for it unless --set gives it a number.")
            }
        }
    };
    if !snippets.unset.is_empty() {
        sections
            .push(Section { title: "Not in the configuration".to_owned(), body: Body::Lines(snippets.unset.iter().map(line).collect()) });
    }
    sections
}

/// The recommended setting in the agent's own configuration; nothing where nothing is recommended.
fn snippets(found: &Found<'_>) -> Snippets {
    let (Verdict::Recommended, Some(best)) = (&found.tuned.verdict, &found.tuned.best) else { return Snippets::default() };
    let Ok(policy) = best.setting.policy(std::slice::from_ref(found.policy)) else { return Snippets::default() };
    let names: Vec<String> = best.setting.values.iter().map(|(name, _)| name.clone()).collect();
    let mut comment = vec![format!("ctxsim tune {}: {}", env!("CARGO_PKG_VERSION"), gain(found, best))];
    let beside: Vec<String> = found
        .tuned
        .bounds
        .iter()
        .map(|bound| {
            let of = |row: &Row| phrase(row.value(&bound.measure()), &bound.measure());
            format!("{} {} against {}", bound.measure().words(), of(&best.held_out), of(&found.tuned.default.held_out))
        })
        .collect();
    comment.push(format!("there: {}; simulated, open-loop", beside.join(", ")));
    policy.snippets(&names, &comment)
}

/// Failed sessions: no figure of theirs is that of a session that ran to its end.
fn ended_early(found: &Found<'_>) -> Option<String> {
    let closed = found.tuned.objective.measure.known_from() == KnownFrom::ClosedLoop;
    let best = found.tuned.best.as_ref().filter(|best| !best.setting.values.is_empty());
    let of = |trial: &Trial| {
        let rows = [(&trial.training, "training"), (&trial.held_out, "held-out")];
        let count = |(row, part): (&Row, &str)| {
            let (open, net) = (row.totals.failed_sessions, row.charges.net_failed_sessions);
            let in_both =
                if closed && open != net { format!("{} ({} in the closed loop)", grouped(open), grouped(net)) } else { grouped(open) };
            (open > 0 || closed && net > 0).then(|| format!("{in_both} of {} {part} sessions", grouped(row.totals.sessions)))
        };
        let counts: Vec<String> = rows.into_iter().filter_map(count).collect();
        let name = if trial.setting.values.is_empty() { point(found).to_owned() } else { trial.setting.words() };
        (!counts.is_empty()).then(|| format!("{name} {}", counts.join(" and ")))
    };
    let trials: Vec<String> = std::iter::once(&found.tuned.default).chain(best).filter_map(of).collect();
    let net = if closed {
        "; nothing is read again before a call that is refused to the end, so that net cost may even lie below cost there"
    } else {
        ""
    };
    (!trials.is_empty()).then(|| format!("Failed sessions: {}. Calls after the refused one count in no figure{net}.", trials.join("; ")))
}

/// The sessions that differ, or that none does.
fn explained(found: &Found<'_>, decided: &[Decided]) -> Section {
    let moved: Vec<&Decided> = decided.iter().filter(|decided| decided.best != decided.default).collect();
    let line = |words: &str| Body::Lines(vec![words.to_owned()]);
    let best = found.tuned.best.as_ref().map(|best| best.setting.words()).unwrap_or_default();
    let point = point(found);
    let (title, body) = match &found.tuned.verdict {
        _ if found.tuned.best.is_none() => {
            ("Sessions that decided it".to_owned(), line(&format!("None did: there is no setting to hold against {point}.")))
        }
        Verdict::DefaultIsBest => {
            ("Sessions that decided it".to_owned(), line(&format!("None did: {point} are the best setting themselves.")))
        }
        _ if moved.is_empty() => ("Sessions that decided it".to_owned(), line("None did: each comes to the same under both.")),
        Verdict::Recommended => ("Sessions that decided it".to_owned(), Body::Table(deciders(found, &moved))),
        _ => (format!("Nothing was decided; where {best} differs most from {point}"), Body::Table(deciders(found, &moved))),
    };
    Section { title, body }
}

fn sought(found: &Found<'_>) -> String {
    let verb = if found.tuned.objective.direction == Direction::Minimise { "least" } else { "most" };
    let bounds: Vec<String> = found.tuned.bounds.iter().map(|bound| beside(found, &bound.words())).collect();
    let subject = if bounds.is_empty() { String::new() } else { format!(", subject to {}", bounds.join(" and ")) };
    format!("By {verb} {}{subject}", found.tuned.objective.measure.words())
}

fn table(found: &Found<'_>) -> Table {
    /// A trial on one part of the sessions: how many they are, and what the defaults came to there.
    struct Row<'a> {
        trial: &'a Trial,
        part: Part,
        sessions: usize,
        row: &'a experiment::Row,
        default: &'a experiment::Row,
    }
    let measure = found.tuned.objective.measure;
    let spread = move |row: &Row<'_>| row.row.spread.get(&measure.name()).copied();
    let bound = move |bound: Option<i64>| bound.map_or(Cell::Empty, |bound| bound_cell(bound, &measure));
    let simulated = |key, header, unit, meaning| Column::simulated(key, header, unit).says(meaning);
    let unit = measure.part.unit;
    let broken = simulated("broken_references", "reused text lost", Unit::Count, "lines that a reply repeats and that were gone");
    let parts = Column::name("part", "part").says("training: sought on these; held-out: judged on these");
    let mut fields = Fields::<Row<'_>>::new()
        .with(Column::name("setting", "setting"), |row| Cell::Name(setting_words(found, row.trial)))
        .with(parts, |row| Cell::name(part_name(row.part)))
        .with(Column::recorded("sessions", "sessions", Unit::Count), |row| Cell::Count(row.sessions as u64))
        .with(simulated("objective", "objective", unit, "what is sought, over all sessions of the part"), move |row| {
            value_cell(row.row, &measure)
        })
        .with(simulated("objective_low", "from", unit, "the lower bound of its interval"), move |row| {
            bound(spread(row).map(|(low, _)| low))
        })
        .with(simulated("objective_high", "to", unit, "the upper one"), move |row| bound(spread(row).map(|(_, high)| high)))
        .with(broken, |row| Cell::Count(row.row.totals.retention.of(Evidence::Line).broken()));
    for figure in in_tables().filter(|figure| BESIDE.contains(&figure.key)) {
        fields = fields.with(column(figure), |row| figure_cell(figure, &row.row.totals));
    }
    for (place, column) in cost_figures::COLUMNS.into_iter().enumerate() {
        fields = fields.with(column, move |row| cost_figures::of_charges(&row.row.charges).get(place).cloned().unwrap_or(Cell::Empty));
    }
    let Tuned { default, best, .. } = found.tuned;
    let best = best.as_ref().filter(|best| !best.setting.values.is_empty());
    let mut rows = Vec::new();
    for trial in std::iter::once(default).chain(best) {
        let (sessions, row) = (found.split.training.traces.len(), &trial.training);
        rows.push(Row { trial, part: Part::Training, sessions, row, default: &default.training });
    }
    for trial in std::iter::once(default).chain(best) {
        let (sessions, row) = (found.split.held_out.traces.len(), &trial.held_out);
        rows.push(Row { trial, part: Part::HeldOut, sessions, row, default: &default.held_out });
    }
    let keeps = |row: &Row<'_>| {
        let tuned = found.tuned;
        let judged = row.part == Part::HeldOut && !row.trial.setting.values.is_empty() && !tuned.keeping.is_empty();
        let which = |wanted: Keeping| {
            let such = tuned.bounds.iter().enumerate().filter(|(place, bound)| match tuned.keeping.get(*place).filter(|_| judged) {
                Some(keeping) => *keeping == wanted,
                None => {
                    wanted == Keeping::Broken
                        && !bound.of_part(found.split.share(row.part)).holds(place + 1, row.row, row.default, tuned.bars.worth)
                }
            });
            such.map(|(_, bound)| bound.measure().words()).collect::<Vec<String>>().join(", ")
        };
        Cell::Name(match (which(Keeping::Broken), which(Keeping::CannotTell)) {
            (broken, _) if !broken.is_empty() => format!("breaks {broken}"),
            (_, untold) if !untold.is_empty() => format!("cannot tell {untold}"),
            _ => "yes".to_owned(),
        })
    };
    fields
        .with(
            Column::name("keeps", "keeps")
                .says("whether it keeps all constraints: for the setting on held-out sessions, by their intervals"),
            keeps,
        )
        .table(2, rows)
}

fn part_name(part: Part) -> &'static str {
    if part == Part::Training { "training" } else { "held-out" }
}

fn deciders(found: &Found<'_>, moved: &[&Decided]) -> Table {
    let part = found.tuned.objective.measure.part;
    let value = |value: i64| cell(Value { part: value, whole: 1 }, &Measure { part, whole: None });
    let unit = if part.unit == Unit::Money { Unit::Money } else { Unit::Tokens };
    let simulated = |key, header, meaning| Column::simulated(key, header, unit).says(meaning);
    Fields::<&Decided>::new()
        .with(Column::name("session", "session"), |decided| Cell::text(&decided.session))
        .with(Column::name("agent", "agent"), |decided| Cell::text(&decided.agent))
        .with(Column::name("part", "part"), |decided| Cell::name(part_name(decided.part)))
        .with(simulated("default", "defaults", "what is sought, under the defaults"), move |decided| value(decided.default))
        .with(simulated("best", "setting", "the same under the setting that was found"), move |decided| value(decided.best))
        .with(simulated("difference", "difference", "the second less the first"), move |decided| value(decided.best - decided.default))
        .table(1, moved.iter().copied().take(SHOWN))
}

fn all_notes(found: &Found<'_>) -> Vec<String> {
    let tuned = found.tuned;
    let axes: Vec<String> =
        found.axes.iter().map(|axis| format!("{} from {} to {}", axis.param, figure(axis.range().from), figure(axis.range().to))).collect();
    let (resamples, seed) = found.chance;
    let mut all = Vec::new();
    if tuned.objective.measure.known_from() == KnownFrom::ClosedLoop {
        all.push(CLOSED_LOOP.to_owned());
    }
    all.extend([
        format!("Looked at: {}, by a grid and finer ones around the best: {}.", counted(tuned.tried as u64, "setting"), axes.join(", ")),
        format!(
            "{} are split agent by agent, those near the policy's limits by themselves, by a hash of their ids (seed {seed}); {} % were to be held out.",
            if found.split.by_project { "Projects and sessions without one" } else { "Sessions" },
            found.split.percent
        ),
        finding::method(&tuned.drawn, resamples, tuned.difference.map(|difference| difference.effective)),
    ]);
    if tuned.objective.measure.known_from() == KnownFrom::Replay && tuned.default.training.charges.calls > 0 {
        let charges = &tuned.default.training.charges;
        if charges.calls == charges.unpriced_calls {
            all.push("Nothing in the training sessions has a price, so that cost could not be sought (--prices takes a table).".to_owned());
        }
    } else {
        all.extend(left_out(found));
    }
    all.extend(found.yours.map(|set| format!("Compared with {}: {}.", said::point(found), set.words)));
    if found.policy.takes_recorded_summaries() {
        all.extend(
            RecordedSummaries::fit(found.split.training.traces.each().chain(found.split.held_out.traces.each()))
                .describe()
                .map(|words| format!("Sizes of summaries: {words}.")),
        );
    }
    all.extend(ended_early(found));
    if let Some(decided) = found.decided.filter(|decided| !decided.is_empty()) {
        let moved = decided.iter().filter(|decided| decided.best != decided.default).count() as u64;
        all.push(format!(
            "{} of {} {} to something else under the setting; {} are shown at most, JSON holds all of them.",
            grouped(moved),
            counted(decided.len() as u64, "session"),
            if moved == 1 { "comes" } else { "come" },
            SHOWN
        ));
    }
    all.extend(notes::of_facts(&found.split.facts));
    all
}
