//! `inspect`: what logs hold, before any policy looks at them.

use super::document::{Body, Cell, Column, Provenance, Report, Section, Table, Unit};
use super::notes;
use super::record::any::Record;
use super::record::corpus::CorpusRecord;
use super::record::inspect::InspectRecord;
use super::title::title;
use super::words::{counted, grouped, percent};
use crate::catalog::Catalog;
use crate::corpus::Corpus;
use crate::experiment::{Contents, ModelShare, by_agent, by_model};
use crate::trace::{Outputs, Trace};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// So many sessions are shown to people; spreadsheets and programs get all.
const SHOWN: usize = 20;

const OVERHEAD: &str = "Overhead is what a call carries and the log does not show (system prompt, tool definitions): the recorded prompt of a session's first call less the visible messages, whose sizes are guessed from their lengths unless --tokenizer asks for counts.";

/// The report on what a corpus holds.
pub fn inspect(corpus: &Corpus, catalog: &Catalog, command: Option<String>) -> Report {
    let sessions: Vec<(&Trace, Contents)> = corpus.traces.iter().map(|trace| (trace, Contents::of(trace))).collect();
    let agents = by_agent(corpus);
    let models = by_model(corpus, catalog);
    let mut sections = vec![Section { title: String::new(), body: Body::Lines(facts(corpus, &agents)) }];
    sections.push(Section { title: "Agents".to_owned(), body: Body::Table(agent_table(&agents)) });
    sections.push(Section { title: "Messages".to_owned(), body: Body::Table(message_table(&agents)) });
    sections.push(Section { title: "Models".to_owned(), body: Body::Table(model_table(&models)) });
    let shown = sessions.len().min(SHOWN);
    let heading = if shown < sessions.len() {
        format!("The {SHOWN} largest of {}", counted(sessions.len() as u64, "session"))
    } else {
        "Sessions".to_owned()
    };
    sections.push(Section { title: heading, body: Body::Table(session_table(&sessions, shown)) });
    let mut notes = vec![OVERHEAD.to_owned()];
    notes.extend(notes::of_corpus(corpus));
    let record = Record::Inspect(Box::new(InspectRecord::new(&sessions, &models)));
    let facts = &corpus.facts;
    let rows = session_table(&sessions, sessions.len());
    Report { title: title(facts), command, sections, notes, rows, corpus: Some(CorpusRecord::new(facts)), record }
}

fn facts(corpus: &Corpus, agents: &BTreeMap<String, Contents>) -> Vec<String> {
    let mut all = Contents::default();
    agents.values().cloned().for_each(|contents| all += contents);
    let mut facts = Vec::new();
    if let (Some(first), Some(last)) = (all.first, all.last) {
        facts.push(format!("Recorded from {} to {}.", day(first), day(last)));
    }
    facts.push(match corpus.facts.calls_with_usage {
        0 => "No call has recorded usage.".to_owned(),
        with => format!(
            "{} of {} {} recorded usage: {} prompt tokens, {} output tokens{}; the largest prompt is {} tokens.",
            grouped(with),
            counted(corpus.facts.calls, "call"),
            if with == 1 { "has" } else { "have" },
            grouped(corpus.facts.recorded_prompt_tokens),
            grouped(corpus.facts.outputs.all()),
            estimated(corpus.facts.outputs),
            grouped(corpus.facts.max_prompt_tokens),
        ),
    });
    if let Some(whole) = corpus.facts.with_mirrored() {
        facts.push(format!(
            "With {} of sub-agents that are only mirrored in the logs of those who started them: {}, {} prompt tokens, {} output tokens.",
            counted(corpus.facts.mirrored.calls, "call"),
            counted(whole.calls, "call"),
            grouped(whole.prompt_tokens),
            grouped(whole.output_tokens),
        ));
    }
    if all.sub_agents > 0 {
        let share = percent(i64::try_from(all.sub_agent_prompt_tokens).unwrap_or(i64::MAX), all.prompt_tokens);
        facts.push(format!(
            "{} of the sessions were started by another one; they made {share} of the recorded prompt tokens.",
            grouped(all.sub_agents)
        ));
    }
    if all.compactions + all.prunings > 0 {
        facts.push(format!("The agents themselves compacted {} and pruned {}.", times(all.compactions), times(all.prunings)));
    }
    let damaged: u64 = corpus.facts.losses.iter().map(|loss| loss.count).sum();
    if damaged > 0 {
        facts.push(format!("{} could not be used.", counted(damaged, "record")));
    }
    facts
}

/// Says how many output tokens no provider counted.
fn estimated(outputs: Outputs) -> String {
    if outputs.estimated_replies == 0 {
        return String::new();
    }
    let replies = counted(outputs.estimated_replies, "reply").replace("replys", "replies");
    format!(" ({} of them estimated, for {replies} whose log holds a placeholder)", grouped(outputs.estimated))
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        count => format!("{} times", grouped(count)),
    }
}

const fn count(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column { meaning, ..Column::number(key, header, Unit::Count, Provenance::Recorded) }
}

const fn tokens(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column { meaning, ..Column::number(key, header, Unit::Tokens, Provenance::Recorded) }
}

const OUTPUTS: &str = "sum of the replies: as recorded, or estimated where the log holds a placeholder of the stream's beginning";

const LARGEST: Column = tokens("largest_prompt_tokens", "largest prompt", "the largest recorded prompt of a call");

const HIDDEN: Column = Column {
    meaning: "what a call carries and the log does not show, at the first call; of several sessions the one in the middle",
    ..Column::number("overhead_tokens", "over\u{ad}head", Unit::Tokens, Provenance::Estimated)
};

const WITH_USAGE: Column = count("calls_with_usage", "with usage", "calls whose usage is recorded");

fn agent_table(agents: &BTreeMap<String, Contents>) -> Table {
    let columns = vec![
        Column::name("agent", "agent"),
        Column::name("versions", "versions"),
        count(
            "files",
            "files",
            "files with sessions of this agent that no other file holds; one reader may read the logs of several agents",
        ),
        count("sessions", "ses\u{ad}sions", ""),
        count("sub_agents", "sub-agents", "sessions that another one started"),
        count("calls", "calls", "requests to the model, those of summarisers and side calls included"),
        WITH_USAGE,
        tokens("prompt_tokens", "prompt tokens", "sum of the recorded prompts"),
        tokens("output_tokens", "output tokens", OUTPUTS),
        LARGEST,
        HIDDEN,
        count("compactions", "compac\u{ad}tions", "old messages that the agent itself replaced by a summary, how often"),
        count("prunings", "prun\u{ad}ings", "old results that the agent itself replaced by placeholders, how often"),
    ];
    let row = |(agent, contents): (&String, &Contents)| {
        vec![
            Cell::Text(agent.clone()),
            Cell::Text(versions(contents)),
            Cell::Count(contents.sources.len() as u64),
            Cell::Count(contents.sessions),
            Cell::Count(contents.sub_agents),
            Cell::Count(contents.calls),
            Cell::Count(contents.calls_with_usage),
            recorded(contents, contents.prompt_tokens),
            recorded(contents, contents.outputs.all()),
            recorded(contents, contents.largest_prompt),
            contents.overhead().map_or(Cell::Empty, Cell::Tokens),
            Cell::Count(contents.compactions),
            Cell::Count(contents.prunings),
        ]
    };
    Table { labels: 1, columns, rows: agents.iter().map(row).collect() }
}

/// The first and the last of an agent's versions, in the order of their numbers.
fn versions(contents: &Contents) -> String {
    let numbers = |version: &&String| {
        version.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>()
    };
    let mut all: Vec<&String> = contents.versions.iter().collect();
    all.sort_by_cached_key(|version| numbers(version));
    match all.as_slice() {
        [] => String::new(),
        [one] => (*one).clone(),
        [first, .., last] => format!("{first} … {last}"),
    }
}

/// A sum over calls with usage says nothing where there are none.
fn recorded(contents: &Contents, tokens: u64) -> Cell {
    if contents.calls_with_usage == 0 { Cell::Empty } else { Cell::Tokens(tokens) }
}

fn message_table(agents: &BTreeMap<String, Contents>) -> Table {
    let columns = vec![
        Column::name("agent", "agent"),
        count("system", "system", "instructions"),
        count("user", "user", "what people said"),
        count("injected", "in\u{ad}jected", "what the agent said in their name"),
        count("assistant", "assis\u{ad}tant", "replies"),
        count("results", "results", "messages with results of tools"),
        count("tool_calls", "tool calls", "requests to run a tool"),
        count("failures", "fail\u{ad}ures", "results that tell of a failure"),
        count("images", "pic\u{ad}tures", ""),
    ];
    let row = |(agent, contents): (&String, &Contents)| {
        let counts = [
            contents.system,
            contents.user,
            contents.injected,
            contents.assistant,
            contents.results,
            contents.tool_calls,
            contents.failures,
            contents.images,
        ];
        std::iter::once(Cell::Text(agent.clone())).chain(counts.map(Cell::Count)).collect()
    };
    Table { labels: 1, columns, rows: agents.iter().map(row).collect() }
}

fn model_table(models: &BTreeMap<String, ModelShare>) -> Table {
    let columns = vec![
        Column::name("model", "model"),
        tokens("window_tokens", "window", "by the catalogue; empty where it does not know the model"),
        count("sessions", "ses\u{ad}sions", ""),
        count("calls", "calls", "calls of the conversations"),
        WITH_USAGE,
        tokens("prompt_tokens", "prompt tokens", "sum of the recorded prompts"),
        tokens("output_tokens", "output tokens", OUTPUTS),
        LARGEST,
    ];
    let mut all: Vec<(&String, &ModelShare)> = models.iter().collect();
    all.sort_by_key(|(name, share)| (Reverse(share.calls), *name));
    let row = |(name, share): (&String, &ModelShare)| {
        let recorded = |tokens| if share.calls_with_usage == 0 { Cell::Empty } else { Cell::Tokens(tokens) };
        vec![
            if name.is_empty() { Cell::Name("(not named)".to_owned()) } else { Cell::Text(name.clone()) },
            share.window.map_or(Cell::Empty, Cell::Tokens),
            Cell::Count(share.sessions),
            Cell::Count(share.calls),
            Cell::Count(share.calls_with_usage),
            recorded(share.prompt_tokens),
            recorded(share.outputs.all()),
            recorded(share.largest_prompt),
        ]
    };
    Table { labels: 1, columns, rows: all.into_iter().map(row).collect() }
}

/// The sessions with the largest prompts first; those without usage by their messages.
fn session_table(sessions: &[(&Trace, Contents)], shown: usize) -> Table {
    let columns = vec![
        Column::name("session", "session"),
        Column::name("agent", "agent"),
        Column::name("version", "version"),
        Column::name("model", "model"),
        Column::name("started", "started"),
        count("messages", "mes\u{ad}sages", ""),
        count("calls", "calls", "requests to the model, those of summarisers and side calls included"),
        WITH_USAGE,
        LARGEST,
        HIDDEN,
        count("compactions", "compac\u{ad}tions", "old messages that the agent itself replaced by a summary, how often"),
        count("prunings", "prun\u{ad}ings", "old results that the agent itself replaced by placeholders, how often"),
        Column::name("parent", "parent"),
        Column::name("source", "file"),
    ];
    let mut largest: Vec<&(&Trace, Contents)> = sessions.iter().collect();
    // The sort is stable: equals stay in the order of the corpus.
    largest.sort_by_key(|(_, contents)| Reverse((contents.largest_prompt, contents.messages())));
    let row = |(trace, contents): &(&Trace, Contents)| {
        let text = |text: &str| if text.is_empty() { Cell::Empty } else { Cell::Text(text.to_owned()) };
        vec![
            Cell::Text(trace.id.clone()),
            text(&trace.agent),
            text(&trace.version),
            trace.main_model().map_or(Cell::Empty, text),
            contents.first.map_or(Cell::Empty, |first| Cell::Name(day(first))),
            Cell::Count(contents.messages()),
            Cell::Count(contents.calls),
            Cell::Count(contents.calls_with_usage),
            recorded(contents, contents.largest_prompt),
            contents.overhead().map_or(Cell::Empty, Cell::Tokens),
            Cell::Count(contents.compactions),
            Cell::Count(contents.prunings),
            trace.parent.as_deref().map_or(Cell::Empty, text),
            text(&trace.source),
        ]
    };
    Table { labels: 1, columns, rows: largest.into_iter().take(shown).map(row).collect() }
}

/// The day of a moment, in UTC.
fn day(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis).map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}
