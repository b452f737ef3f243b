//! The chapters, in the order in which a reader asks.

use super::browser::Browser;
use super::overflows::overflows;
use super::page::{Chapter, Story};
use super::told::Told;
use super::verdict::verdict;
use crate::experiment::Replay;
use crate::report::answer::{answer, days};
use crate::report::asked::{Asked, Priced};
use crate::report::chart::{Material, drawn};
use crate::report::cost::cost;
use crate::report::document::{Body, Cell, Column, Section, Table};
use crate::report::replay::{by_policy, notes_of};
use crate::report::title::title;
use crate::report::words::{counted, counted_as, first_few, grouped};
use crate::report::{by_session, by_tool, causes, guesses, references};
use crate::statistics::{LEVEL, RESAMPLES};

/// So many sessions are in a page that cannot open them, the worst first.
const SESSIONS: usize = 40;

/// So many tools are listed.
const TOOLS: usize = 15;

/// The page of `ctxsim report`, chapter by chapter.
pub fn story(told: Told<'_>, command: Option<String>) -> Story<'_> {
    let Told { corpus, replays, baselines, checks, predicted, scenarios, cache, .. } = told;
    // The first screen of a replay, and what stands below its tables.
    let asked = Asked { cache, checks: Some(checks), predicted: Some(predicted), scenarios, ..Asked::default() };
    let mut notes = notes_of(corpus, replays, baselines, &asked, None);
    notes.push(references::RESTS.to_owned());
    notes.extend(unread(&told));
    let chapters = vec![
        Chapter {
            id: "policies",
            title: "The policies",
            lead: Vec::new(),
            charts: Vec::new(),
            sections: vec![by_policy(corpus, replays, baselines, &asked)],
        },
        overflow(&told),
        savings(&told),
        filling(told.best()),
        trust(&told),
        sessions(&told),
        method(replays),
    ];
    Story {
        question: "report",
        title: std::iter::once(title(&corpus.facts))
            .chain(days(corpus).map(|days| format!("recorded {days}")))
            .collect::<Vec<_>>()
            .join("; "),
        command,
        verdict: verdict(&told),
        brief: answer(corpus, replays, baselines, &asked).sections,
        chapters: chapters.into_iter().filter(|chapter| !chapter.sections.is_empty() || !chapter.lead.is_empty()).collect(),
        notes,
        browser: Some(Browser::new(told)),
    }
}

/// Whose words could not be shown.
fn unread(told: &Told<'_>) -> Option<String> {
    let unread = told.excerpts.unread;
    (unread > 0).then(|| format!("The texts of {} could not be read again: they are shown without words.", counted(unread, "session")))
}

fn overflow(told: &Told<'_>) -> Chapter {
    let all = || told.baselines.with_own(told.replays);
    let (where_, rest) = overflows(told.corpus, all()).unzip();
    let mut lead = Vec::new();
    if where_.is_none() {
        lead.push("No call of any session would overflow under any of these policies.".to_owned());
    }
    lead.extend(rest.flatten());
    let sections = causes::causes(all()).into_iter().chain(where_).chain(causes::warnings(all())).collect();
    let mut charts = drawn(&["survival"], &told.material());
    charts.extend(drawn(&["overflows"], &Material { replays: std::slice::from_ref(told.unchanged), ..told.material() }));
    charts.extend(drawn(&["peaks"], &told.material()));
    Chapter { id: "overflow", title: "What would overflow, and where", lead, charts, sections }
}

fn savings(told: &Told<'_>) -> Chapter {
    let Told { corpus, replays, baselines, unchanged, checks, predicted, cache, .. } = *told;
    let priced =
        Priced { corpus, replays, baselines, unchanged, checks, predicted: Some(predicted), break_even: None, cache, breakdown: false };
    let mut sections = cost(&priced).sections;
    if let Some(first) = sections.first_mut() {
        first.title = "Cost".to_owned();
    }
    sections.push(references::achievable(replays));
    let lead = vec![
        "Tokens saved are half of it. A change at the head of a prompt takes the rest of it out of the provider's cache, a summariser is \
         paid for, and the model cannot reuse what is gone."
            .to_owned(),
    ];
    let charts = drawn(&["cost", "stages", "cache", "references", "reuse"], &told.material());
    Chapter { id: "savings", title: "What it saves, and what it costs", lead, charts, sections }
}

/// The tools under the policy that was chosen.
fn filling(best: Option<&Replay>) -> Chapter {
    let mut sections = best.map(|best| by_tool::sections(std::slice::from_ref(best))).unwrap_or_default();
    let mut lead = Vec::new();
    for section in &mut sections {
        if let Body::Table(table) = &mut section.body {
            let rest = table.rows.len().saturating_sub(TOOLS) as u64;
            *table = table.first(TOOLS, &[]);
            lead.extend(
                (rest > 0).then(|| {
                    format!("{} left out here; tools.csv has them all.", counted_as(rest, "lighter tool is", "lighter tools are"))
                }),
            );
        }
    }
    sections.retain(|section| matches!(&section.body, Body::Table(table) if !table.rows.is_empty()));
    Chapter { id: "filling", title: "What fills the window", lead, charts: Vec::new(), sections }
}

fn trust(told: &Told<'_>) -> Chapter {
    let sections: Vec<Section> = guesses::guesses(told.replays).into_iter().collect();
    let lead = match sections.is_empty() {
        true => "No usage is recorded: nothing can be held against the estimates.",
        false => {
            "A trigger that looks at an estimate is as late as the estimate is low. Estimators are compared with recorded usage over whole requests; \
                  the estimate at a trigger is what the policy saw at its last look before a call."
        }
    };
    let charts = drawn(&["errors", "drift"], &told.material());
    Chapter { id: "trust", title: "How far estimates can be trusted", lead: vec![lead.to_owned()], charts, sections }
}

fn sessions(told: &Told<'_>) -> Chapter {
    let section = by_session::worst_first(told.corpus, told.replays, told.cache, SESSIONS);
    let rest = (told.corpus.traces.len() * told.replays.len()).saturating_sub(SESSIONS) as u64;
    let left_out = || format!("{} left out of this table; sessions.csv has them all.", counted_as(rest, "more row is", "more rows are"));
    let lead = (rest > 0).then(left_out).into_iter().collect();
    let charts = drawn(&["context"], &told.material());
    Chapter { id: "sessions", title: "Session by session", lead, charts, sections: vec![section] }
}

fn method(replays: &[Replay]) -> Chapter {
    let columns = vec![Column::name("policy", "policy"), Column::prose("parameters", "parameters")];
    let words = |replay: &Replay| {
        let all: Vec<String> = replay.params.iter().map(|(name, value)| assigned(name, value)).collect();
        first_few(&all, all.len())
    };
    let rows = replays.iter().map(|replay| vec![Cell::Name(replay.policy.clone()), Cell::Name(words(replay))]).collect();
    let section = Section { title: "Parameters".to_owned(), body: Body::Table(Table { labels: 1, columns, rows }) };
    let lead = vec![format!(
        "Each recorded call is replayed: messages arrive, the policy's checkpoints run, the call is judged by the actual size of the simulated \
         context, the recorded reply enters. Uncertainty is over projects with all their sessions (over sessions, \
         with fewer than five projects): they are drawn anew {} times, with replacement; intervals are BCa, {LEVEL} %.",
        grouped(RESAMPLES as u64)
    )];
    Chapter { id: "method", title: "Method and limits", lead, charts: Vec::new(), sections: vec![section] }
}

/// A parameter and its value; a formula begins with a sign of its own.
fn assigned(name: &str, value: &str) -> String {
    let sign = if value.starts_with('=') { "" } else { "= " };
    format!("{name} {sign}{value}")
}
