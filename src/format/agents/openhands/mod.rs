//! OpenHands: lines of an evaluation's or resolver's `output.jsonl`, one run each, and lists of events; of its SDK (version 1) also the folder that a
//! conversation is kept in, one file per event.

mod record;
mod run;
mod sdk;
mod sdk_record;
mod shown;
mod spent;

use crate::format::ground::{Lose, Outline, ReadError, Source, fault, values};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::end_said;
use crate::format::sums::PaidInAll;
use crate::list::Arrange;
use crate::transcript::{Scale, Transcript};
use record::{Metrics, Output};
use sdk_record::Saved;
use serde_json::value::RawValue;
use spent::Spent;
use std::path::{Path, PathBuf};

/// One session per run, of an evaluation, the resolver or the SDK.
pub const READER: Reader =
    Reader { name: "openhands", about: "OpenHands: output.jsonl of evaluations, lists of events, conversations/*/events", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    if let Some(kept) = Kept::of(source) {
        return if kept.main == source.path { Claim::Yes } else { Claim::Companion };
    }
    let event = |at: &&str| outline.shows_at(at, "action|observation source|args|content|command");
    let lists = ["history[].", "history[][].", "events[].", "trajectory[].", "[].", "[].history[]."];
    // A long patch may stand in front of the history.
    let output = outline.shows("instance_id test_result|metadata.agent_class") || outline.shows("issue git_patch");
    let own = outline.shows("!trajectory_format !messages !info !replay_config !trajectory[].thought");
    let of_the_sdk = ["", "items[]."].iter().chain(&lists).any(|at| sdk::is_kind(outline.text(&format!("{at}kind"))));
    Claim::when(own && (output || of_the_sdk || lists.iter().any(event)))
}

/// A conversation of the SDK that is kept as a folder: `base_state.json`, and `events/event-00000-<id>.json` and on.
struct Kept {
    /// The file that the conversation is read with.
    main: PathBuf,
    /// The state, where there is one.
    state: Option<PathBuf>,
    events: Vec<PathBuf>,
}

const STATE: &str = "base_state.json";

impl Kept {
    /// The conversation that a file belongs to; `None` for other files.
    fn of(source: &Source) -> Option<Kept> {
        let outline = source.outline();
        let is_state = source.path.file_name()? == STATE && (outline.has("agent") || outline.has("stats"));
        let folder = match is_state {
            true => source.path.with_file_name("events"),
            false if is_event(&source.path) && sdk::is_kind(outline.text("kind")) => source.path.parent()?.to_owned(),
            false => return None,
        };
        let mut events: Vec<PathBuf> = crate::reading::entries(&folder).ok()?.into_iter().filter(|path| is_event(path)).collect();
        // Numbers have five digits or more.
        events.arrange_by(|one, other| (number(one), one).cmp(&(number(other), other)));
        let state = folder.parent().map(|folder| folder.join(STATE)).filter(|state| crate::reading::is_beside(state));
        let main = state.clone().or_else(|| events.first().cloned())?;
        Some(Kept { main, state, events })
    }

    fn read(self, source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
        let text = match &self.state {
            Some(_) => source.document()?,
            None => "{}".to_owned(),
        };
        let saved = serde_json::from_str::<Saved>(&text).unwrap_or_else(|error| {
            source.lose(0, fault(&error, true));
            Saved::default()
        });
        let mut spent = Spent::by(&saved.agent.llm.model);
        for metrics in saved.stats.usage_to_metrics.values() {
            spent.list(&metrics.token_usages, &metrics.costs, &mut |reason| source.lose(0, reason));
        }
        let folder = self.events.first().and_then(|event| event.parent()?.parent()?.file_name());
        let name = folder.map_or_else(|| source.name(), |folder| folder.to_string_lossy().into_owned());
        let id = if saved.id.is_empty() { name } else { saved.id.to_string() };
        let mut run = sdk::Run::new(id, String::new(), spent, scale);
        for (path, number) in self.events.iter().zip(1..) {
            if let Some(text) = source.document_beside(path, number, "event of the session that cannot be read") {
                run.event(&text, &mut |reason| source.lose(number, reason));
            }
        }
        end_said(run.finish(), 0, source, hand_over);
        Ok(())
    }
}

fn is_event(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.ends_with(".json") && number(path).is_some()
}

const MARKS: &[Mark] = &[Mark::Line("[... Observation truncated due to length ...]"), Mark::Inside("<response clipped>")];

/// The number in the name of an event's file.
fn number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    name.strip_prefix("event-")?.split('-').next()?.trim_end_matches(".json").parse().ok()
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    if let Some(kept) = Kept::of(source) {
        return kept.read(source, scale, hand_over);
    }
    let mut paid = PaidInAll::default();
    if source.is_printed_over_lines() {
        let text = source.document()?;
        value(&text, 1, scale, &mut paid, source, hand_over);
        paid.count(source);
        return Ok(());
    }
    if sdk::is_kind(source.outline().text("kind")) {
        let mut run = sdk::Run::new(source.name(), String::new(), Spent::default(), scale);
        source.each_line(|source, line| source.values(line, |event: &RawValue, lose| run.event(event.get(), lose)))?;
        end_said(run.finish(), 0, source, hand_over);
        return Ok(());
    }
    source.each_line(|source, line| {
        for found in values::<&RawValue>(&line.text) {
            match found {
                Ok(found) => value(found.get(), line.number, scale, &mut paid, source, hand_over),
                Err(error) => source.lose(line.number, fault(&error, line.last_unterminated)),
            }
        }
    })?;
    paid.count(source);
    Ok(())
}

fn value(text: &str, number: u64, scale: &dyn Scale, paid: &mut PaidInAll, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
    let is_list = text.trim_start().starts_with('[');
    let output = match is_list.then(|| serde_json::from_str::<Vec<&RawValue>>(text)) {
        // A list of runs, or the events of one.
        Some(Ok(runs)) if runs.first().is_some_and(|first| Outline::of(first.get()).has("history")) => {
            return runs.into_iter().zip(1..).for_each(|(run, number)| value(run.get(), number, scale, paid, source, hand_over));
        }
        Some(history) => history.map(|history| Output { history, ..Output::default() }),
        None => serde_json::from_str::<Output>(text),
    };
    match output {
        Ok(output) => {
            let of_the_sdk = output.history.first().is_some_and(|event| sdk::is_kind(Outline::of(event.get()).text("kind")));
            let id = run::id(&output, number, source);
            let lose = &mut |reason: &str| source.lose(number, reason);
            let transcript = if of_the_sdk { sdk_run(&output, id, scale, lose) } else { run::transcript(&output, id, scale, lose) };
            if let Some(cost) = output.metrics.as_ref().and_then(|metrics| unplaced(metrics, &transcript)) {
                paid.add(number, cost);
            }
            end_said(transcript, number, source, hand_over);
        }
        Err(error) => source.lose(number, fault(&error, true)),
    }
}

/// What a run cost, where it is known of none of its calls: those of the first versions have no usage that a cost could stand with.
fn unplaced(metrics: &Metrics, run: &Transcript) -> Option<i64> {
    let replies = run.messages.iter().filter_map(|message| message.call.as_deref());
    let mut calls = replies.chain(run.compactions.iter().filter_map(|compaction| compaction.call.as_ref())).chain(&run.side_calls);
    let placed = calls.any(|call| call.usage.is_some_and(|usage| usage.cost_nano_usd.is_some()));
    metrics.accumulated_cost.above_zero().filter(|_| !placed && !run.messages.is_empty())
}

/// A run of an evaluation that was made with the SDK.
fn sdk_run(output: &Output, id: String, scale: &dyn Scale, lose: Lose<'_>) -> Transcript {
    let metadata = output.metadata.as_ref();
    let model = metadata.and_then(|metadata| metadata.llm_config.as_ref()).map_or("", |config| &*config.model);
    let version = metadata.map(|metadata| metadata.openhands_sdk_version.to_string()).unwrap_or_default();
    let mut spent = Spent::by(model);
    if let Some(metrics) = &output.metrics {
        spent.list(&metrics.token_usages, &metrics.costs, lose);
    }
    let mut run = sdk::Run::new(id, version, spent, scale);
    output.history.iter().for_each(|event| run.event(event.get(), lose));
    run.finish()
}
