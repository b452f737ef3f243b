//! `inspect`: what logs hold, before any policy looks at them.

use super::answer::heading;
use super::asked::Parts;
use super::document::{Cell, Column, Fields, Report, Screen, Section, Table, Unit};
use super::record::inspect::InspectRecord;
use super::span::day;
use super::words::{counted, grouped, percent_of, three_digits};
use super::{cautions, notes};
use crate::catalog::Catalog;
use crate::corpus::Corpus;
use crate::experiment::{Contents, ModelShare, Outlier, UsageOutlier, by_agent, by_model, usage_outliers};
use crate::list::Arrange;
use crate::statistics::sorted;
use crate::trace::{Outputs, Trace};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// So many sessions are shown to people; spreadsheets and programs get all.
const SHOWN: usize = 20;

const OVERHEAD: &str = "Overhead is what a call carries and the log does not show (system prompt, tool definitions): the recorded prompt of a session's first call less the visible messages, whose sizes are estimated from their lengths unless --tokenizer asks for counts.";

/// The report on what a corpus holds.
pub fn inspect(corpus: &Corpus, catalog: &Catalog, parts: Parts) -> Report {
    let sessions = largest_first(corpus);
    let agents = by_agent(corpus);
    let models = by_model(corpus, catalog);
    let outliers = outliers(corpus);
    let screen = if parts.sections { screen(corpus, &agents, &sessions, outliers.len()) } else { Screen::default() };
    let told = days(&agents).into_iter().chain(facts(corpus, &agents, grouped)).chain(damaged(corpus));
    let told = told.chain(of_sub_agents(corpus, &agents)).chain(in_short(&outliers));
    let mut sections = vec![Section::lines(told.collect())];
    sections.push(agent_table(&agents).titled("Agents"));
    sections.push(message_table(&agents).titled("Messages"));
    sections.push(model_table(&models).titled("Models"));
    let shown = if parts.sections { sessions.len().min(SHOWN) } else { 0 };
    let heading = if shown < sessions.len() {
        format!("The {SHOWN} largest of {}", counted(sessions.len() as u64, "session"))
    } else {
        "Sessions".to_owned()
    };
    sections.push(session_table(corpus, &sessions, shown).titled(heading));
    sections.extend(outlier_table(&outliers).section("Recorded usage that stands out"));
    let mut notes = vec![OVERHEAD.to_owned()];
    notes.extend(notes::of_corpus(corpus));
    notes.extend(cautions::of_versions(corpus));
    let record = InspectRecord::new(&corpus.traces, &models);
    let facts = &corpus.facts;
    let rows = if parts.rows { session_table(corpus, &sessions, sessions.len()) } else { Table::default() };
    let report = Report::over(facts, sections, notes, rows, record);
    // Here is where it is said.
    let unused = report.unused.map(|sentence| sentence.replace("`ctxsim inspect` says why", "--details says why"));
    Report { screen: Some(screen), unused, ..report }
}

/// What there is in all, and by agent; the fullest sessions where there is one agent alone.
fn screen(corpus: &Corpus, agents: &BTreeMap<String, Contents>, sessions: &[usize], odd: usize) -> Screen {
    let table = if agents.len() > 1 {
        let mut table = agent_table(agents);
        let tokens =
            |row: &Vec<Cell>| agents.iter().find(|(name, _)| row.first() == Some(&Cell::text(name))).map(|(_, of)| of.prompt_tokens);
        table.rows.arrange_by_key(|row| Reverse(tokens(row)));
        let shown = ["sessions", "calls", "prompt_tokens", "largest_prompt_tokens", "overhead_tokens", "compactions", "prunings"];
        table.with_columns(&shown).titled("Agents, the largest first; recorded, the overhead estimated")
    } else {
        // Two names leave room for the figures: ids are shortened.
        let shown = ["session", "started", "calls", "largest_prompt_tokens", "overhead_tokens", "compactions"];
        let rows = sessions.iter().filter_map(|place| session(corpus, *place));
        let table = session_fields().chosen(&shown).table(2, rows);
        table.titled("Sessions, the largest prompt first; recorded, the overhead estimated")
    };
    let mut facts = facts(corpus, agents, three_digits);
    facts.extend((odd > 0).then(|| format!("The usage of {} stands out: --details.", counted(odd as u64, "call"))));
    facts.extend(cautions::without_overhead(corpus).map(|caution| format!("! {caution}")));
    Screen { title: heading(corpus), sections: vec![Section::lines(facts), table], ..Screen::default() }
}

/// A session, and a report of usage in it that stands out.
type Odd = (String, UsageOutlier);

fn outliers(corpus: &Corpus) -> Vec<Odd> {
    let of = |trace: Cow<'_, Trace>| usage_outliers(&trace).into_iter().map(|outlier| (trace.id.clone(), outlier)).collect::<Vec<_>>();
    corpus.traces.each().flat_map(of).collect()
}

/// How many there are, in a sentence; absent where there is none.
fn in_short(outliers: &[Odd]) -> Option<String> {
    let of = |kind: Outlier| outliers.iter().filter(|(_, outlier)| outlier.kind == kind).count() as u64;
    let (spikes, repeated) = (of(Outlier::Spike), of(Outlier::Repeated));
    let spikes = (spikes > 0).then(|| {
        let calls = counted(spikes, "call");
        format!("{calls} with a recorded prompt at least half as large again as those before and after (spikes)")
    });
    let repeated = (repeated > 0).then(|| format!("{} with the usage of the call before", counted(repeated, "call")));
    let parts: Vec<String> = spikes.into_iter().chain(repeated).collect();
    (!parts.is_empty()).then(|| format!("Usage that stands out: {}.", parts.join("; ")))
}

fn outlier_table(outliers: &[Odd]) -> Table {
    let tokens = |key, header| Column::recorded(key, header, Unit::Tokens);
    Fields::<&Odd>::new()
        .with(Column::name("session", "session"), |(session, _)| Cell::text(session))
        .with(count("call", "call", "counted from 1"), |(_, outlier)| Cell::Count(outlier.call as u64 + 1))
        .with(tokens("before_tokens", "before"), |(_, outlier)| Cell::Tokens(outlier.beside.0))
        .with(tokens("prompt_tokens", "prompt"), |(_, outlier)| Cell::Tokens(outlier.prompt))
        .with(tokens("after_tokens", "after"), |(_, outlier)| Cell::Tokens(outlier.beside.1))
        .with(Column::prose("why", "why"), |(_, outlier)| {
            Cell::name(match outlier.kind {
                Outlier::Spike => "a spike: the neighbours are smaller, and nothing was compacted",
                Outlier::Repeated => "the same usage as the call before",
            })
        })
        .table(1, outliers)
}

/// When the sessions were recorded; absent where no log has a time.
fn days(agents: &BTreeMap<String, Contents>) -> Option<String> {
    let first = agents.values().filter_map(|contents| contents.first).min()?;
    let last = agents.values().filter_map(|contents| contents.last).max()?;
    Some(format!("Recorded from {} to {}.", day(first), day(last)))
}

/// What there is in all; `number` says how tokens are written.
fn facts(corpus: &Corpus, agents: &BTreeMap<String, Contents>, number: fn(u64) -> String) -> Vec<String> {
    let all = together(agents);
    let mut facts = Vec::new();
    // No replay has them.
    let aside = match notes::calls_aside(corpus) {
        0 => String::new(),
        calls => format!(" ({} {})", grouped(calls), notes::ASIDE),
    };
    let shared = match corpus.facts.shared_calls() {
        0 => String::new(),
        calls => format!(" ({} of them as parts of a sum)", grouped(calls)),
    };
    let largest = match corpus.facts.max_prompt_tokens {
        0 => String::new(),
        tokens => format!("; the largest prompt is {} tokens", number(tokens)),
    };
    facts.push(match corpus.facts.calls_with_usage {
        0 => "No call has recorded usage.".to_owned(),
        with => format!(
            "{} of {}{aside} {} recorded usage{shared}: {} prompt tokens, {} output tokens{}{largest}.",
            grouped(with),
            counted(corpus.facts.calls, "call"),
            if with == 1 { "has" } else { "have" },
            number(corpus.facts.recorded_prompt_tokens),
            number(corpus.facts.outputs.all()),
            estimated(corpus.facts.outputs, number),
        ),
    });
    if all.compactions + all.prunings > 0 {
        facts.push(format!("The agents themselves compacted {} and pruned {}.", times(all.compactions), times(all.prunings)));
    }
    let mirrored = corpus.facts.mirrored;
    if mirrored.calls > 0 {
        facts.push(format!(
            "{} of sub-agents, {} prompt tokens, {} in the logs of those who started them alone: no figure here has them.",
            counted(mirrored.calls, "call"),
            number(mirrored.prompt_tokens),
            if mirrored.calls == 1 { "stands" } else { "stand" },
        ));
    }
    facts
}

fn together(agents: &BTreeMap<String, Contents>) -> Contents {
    let mut all = Contents::default();
    agents.values().cloned().for_each(|contents| all += contents);
    all
}

/// How much of it is damaged; absent where nothing is.
fn damaged(corpus: &Corpus) -> Option<String> {
    let damaged: u64 = corpus.facts.losses.iter().map(|loss| loss.count).sum();
    (damaged > 0).then(|| format!("{} could not be used.", counted(damaged, "record")))
}

/// What of it belongs to sub-agents.
fn of_sub_agents(corpus: &Corpus, agents: &BTreeMap<String, Contents>) -> Vec<String> {
    let all = together(agents);
    let mut facts = Vec::new();
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
        let share = percent_of(all.sub_agent_prompt_tokens, all.prompt_tokens);
        facts.push(format!(
            "{} of the sessions were started by another one; they made {share} of the recorded prompt tokens.",
            grouped(all.sub_agents)
        ));
    }
    facts
}

/// Says how many output tokens no provider counted. Replies without a text are none.
fn estimated(outputs: Outputs, number: fn(u64) -> String) -> String {
    if outputs.estimated == 0 {
        return String::new();
    }
    let replies = counted(outputs.estimated_replies, "reply").replace("replys", "replies");
    format!(" ({} of them estimated, for {replies} whose log holds a placeholder)", number(outputs.estimated))
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        count => format!("{} times", grouped(count)),
    }
}

const fn count(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column::recorded(key, header, Unit::Count).says(meaning)
}

const fn tokens(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column::recorded(key, header, Unit::Tokens).says(meaning)
}

const OUTPUTS: &str = "sum of the replies: as recorded, or estimated where the log holds a placeholder of the stream's beginning";

const LARGEST: Column = tokens("largest_prompt_tokens", "largest prompt", "the largest recorded prompt of a call");

const HIDDEN: Column = Column::estimated("overhead_tokens", "over\u{ad}head", Unit::Tokens)
    .says("what a call carries and the log does not show, at the first call; of several sessions the one in the middle");

const WITH_USAGE: Column = count("calls_with_usage", "with usage", "calls whose usage is recorded");

type Agent<'a> = (&'a String, &'a Contents);

const COMPACTIONS: Column =
    count("compactions", "compac\u{ad}tions", "old messages that the agent itself replaced by a summary, how often");

const PRUNINGS: Column = count("prunings", "prun\u{ad}ings", "old results that the agent itself replaced by placeholders, how often");

const CALLS: Column = count("calls", "calls", "requests to the model, those of summarisers and side calls included");

const PROMPTS: Column = tokens("prompt_tokens", "prompt tokens", "sum of the recorded prompts");

fn agent_table(agents: &BTreeMap<String, Contents>) -> Table {
    let files = "files with sessions of this agent that no other file holds; one reader may read the logs of several agents";
    Fields::<Agent<'_>>::new()
        .with(Column::name("agent", "agent"), |(agent, _)| Cell::text(agent))
        .with(Column::name("versions", "versions"), |(_, contents)| Cell::Text(versions(contents)))
        .with(count("files", "files", files), |(_, contents)| Cell::Count(contents.sources.len() as u64))
        .with(count("sessions", "ses\u{ad}sions", ""), |(_, contents)| Cell::Count(contents.sessions))
        .with(count("sub_agents", "sub-agents", "sessions that another one started"), |(_, contents)| Cell::Count(contents.sub_agents))
        .with(CALLS, |(_, contents)| Cell::Count(contents.calls))
        .with(WITH_USAGE, |(_, contents)| Cell::Count(contents.calls_with_usage))
        .with(PROMPTS, |(_, contents)| recorded(contents.calls_with_usage, contents.prompt_tokens))
        .with(tokens("output_tokens", "output tokens", OUTPUTS), |(_, contents)| {
            recorded(contents.calls_with_usage, contents.outputs.all())
        })
        .with(LARGEST, |(_, contents)| recorded(contents.calls_with_usage, contents.largest_prompt))
        .with(HIDDEN, |(_, contents)| contents.overhead().map_or(Cell::Empty, Cell::Tokens))
        .with(COMPACTIONS, |(_, contents)| Cell::Count(contents.compactions))
        .with(PRUNINGS, |(_, contents)| Cell::Count(contents.prunings))
        .table(1, agents)
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
fn recorded(calls_with_usage: u64, tokens: u64) -> Cell {
    if calls_with_usage == 0 { Cell::Empty } else { Cell::Tokens(tokens) }
}

fn message_table(agents: &BTreeMap<String, Contents>) -> Table {
    Fields::<Agent<'_>>::new()
        .with(Column::name("agent", "agent"), |(agent, _)| Cell::text(agent))
        .with(count("system", "system", "instructions"), |(_, contents)| Cell::Count(contents.system))
        .with(count("user", "user", "what people said"), |(_, contents)| Cell::Count(contents.user))
        .with(count("injected", "in\u{ad}jected", "what the agent said in their name"), |(_, contents)| Cell::Count(contents.injected))
        .with(count("assistant", "assis\u{ad}tant", "replies"), |(_, contents)| Cell::Count(contents.assistant))
        .with(count("results", "results", "messages with results of tools"), |(_, contents)| Cell::Count(contents.results))
        .with(count("tool_calls", "tool calls", "requests to run a tool"), |(_, contents)| Cell::Count(contents.tool_calls))
        .with(count("failures", "fail\u{ad}ures", "results that report a failure"), |(_, contents)| Cell::Count(contents.failures))
        .with(count("images", "pic\u{ad}tures", ""), |(_, contents)| Cell::Count(contents.images))
        .table(1, agents)
}

fn model_table(models: &BTreeMap<String, ModelShare>) -> Table {
    let mut all: Vec<(&String, &ModelShare)> = models.iter().collect();
    all.arrange_by_key(|(name, share)| (Reverse(share.calls), *name));
    let window = tokens("window_tokens", "window", "by the catalogue, else as logs name it; empty where neither knows it");
    Fields::<(&String, &ModelShare)>::new()
        .with(Column::name("model", "model"), |(name, _)| if name.is_empty() { Cell::name("(not named)") } else { Cell::text(name) })
        .with(window, |(_, share)| share.window.map_or(Cell::Empty, Cell::Tokens))
        .with(count("sessions", "ses\u{ad}sions", ""), |(_, share)| Cell::Count(share.sessions))
        .with(count("calls", "calls", "calls of the conversations"), |(_, share)| Cell::Count(share.calls))
        .with(WITH_USAGE, |(_, share)| Cell::Count(share.calls_with_usage))
        .with(PROMPTS, |(_, share)| recorded(share.calls_with_usage, share.prompt_tokens))
        .with(tokens("output_tokens", "output tokens", OUTPUTS), |(_, share)| recorded(share.calls_with_usage, share.outputs.all()))
        .with(LARGEST, |(_, share)| recorded(share.calls_with_usage, share.largest_prompt))
        .table(1, all)
}

/// The places of the sessions, those with the largest prompts first; those without usage by their messages.
fn largest_first(corpus: &Corpus) -> Vec<usize> {
    let size = |(place, trace): (usize, Cow<'_, Trace>)| {
        let contents = Contents::of(&trace);
        // Equals stay in the order of the corpus.
        (Reverse((contents.largest_prompt, contents.messages())), place)
    };
    let sizes = sorted(corpus.traces.each().enumerate().map(size));
    sizes.into_iter().map(|(_, place)| place).collect()
}

/// A row for each of the first of these sessions.
fn session_table(corpus: &Corpus, largest: &[usize], shown: usize) -> Table {
    session_fields().table(1, largest.iter().take(shown).filter_map(|place| session(corpus, *place)))
}

/// A session and what it holds.
type Session<'a> = (Cow<'a, Trace>, Contents);

fn session(corpus: &Corpus, place: usize) -> Option<Session<'_>> {
    let trace = corpus.traces.at(place)?;
    let contents = Contents::of(&trace);
    Some((trace, contents))
}

fn session_fields<'a>() -> Fields<'a, Session<'a>> {
    let text = |text: &str| if text.is_empty() { Cell::Empty } else { Cell::text(text) };
    Fields::<Session<'a>>::new()
        .with(Column::name("session", "session"), |(trace, _)| Cell::text(&trace.id))
        .with(Column::name("agent", "agent"), move |(trace, _)| text(&trace.agent))
        .with(Column::name("version", "version"), move |(trace, _)| text(&trace.version))
        .with(Column::name("model", "model"), move |(trace, _)| trace.main_model().map_or(Cell::Empty, text))
        .with(Column::name("started", "started"), |(_, contents)| contents.first.map_or(Cell::Empty, |first| Cell::Name(day(first))))
        .with(count("messages", "mes\u{ad}sages", ""), |(_, contents)| Cell::Count(contents.messages()))
        .with(CALLS, |(_, contents)| Cell::Count(contents.calls))
        .with(WITH_USAGE, |(_, contents)| Cell::Count(contents.calls_with_usage))
        .with(LARGEST, |(_, contents)| recorded(contents.calls_with_usage, contents.largest_prompt))
        .with(HIDDEN, |(_, contents)| contents.overhead().map_or(Cell::Empty, Cell::Tokens))
        .with(COMPACTIONS, |(_, contents)| Cell::Count(contents.compactions))
        .with(PRUNINGS, |(_, contents)| Cell::Count(contents.prunings))
        .with(Column::name("parent", "parent"), move |(trace, _)| trace.parent.as_deref().map_or(Cell::Empty, text))
        .with(Column::name("source", "file"), move |(trace, _)| text(&trace.source))
}
