//! `ctxsim explain`: one session's life under one policy.

use super::door::{Door, SHOWS};
use super::failure::Failure;
use super::logs::{Logs, is_below, whole};
use super::output::Output;
use super::policies::Policies;
use super::refetch::Refetch;
use super::shell::{flag, quoted};
use crate::experiment::gate::session_name;
use crate::experiment::{Replay, ReplaySettings, recorded_under, recorders};
use crate::list::List;
use crate::measure::Recall;
use crate::policy::suggestion;
use crate::report::{self, Subject, Telling, first_few};
use crate::trace::Trace;
use clap::Args;
use std::borrow::Cow;
use std::path::Path;

const POLICIES: &str = "The policy that the session lives under: a preset or a policy file, one [default: the preset of the agent that recorded it, else `none`]";

const EXAMPLES: &str = "\
Examples:
  ctxsim explain 4f2a logs/        the session whose id begins with 4f2a, under
                                   the preset of its own agent
  ctxsim explain 4f2a --policy opencode logs/
  ctxsim explain session.jsonl --policy codex logs/
                                   the session in this file
  ctxsim replay logs/ --by session
                                   finds the sessions that are worth it";

/// Show one session call by call under one policy: its context, what triggered, what it recovered, what overflowed and why
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)))]
pub struct Explain {
    /// The session: its id, the beginning or any part of it, its id as a table shortens it (`4f2a9…c81`), or the name of its file
    #[arg(value_name = "SESSION")]
    session: String,
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    refetch: Refetch,
    /// Name the files and addresses that lost text goes back to (content of the logs; a .ctxtrace holds none)
    #[arg(long, help_heading = SHOWS)]
    with_paths: bool,
    /// Show all calls and events
    #[arg(long, group = "telling")]
    calls: bool,
    /// Show reused text that was gone
    #[arg(long, group = "telling")]
    lost: bool,
    /// Show one call: what it carried, what had come since the call before, what the policy did there
    #[arg(long, value_name = "CALL", group = "telling", value_parser = whole::<u64>(1, u64::MAX))]
    at: Option<u64>,
    #[command(flatten)]
    output: Output,
}

impl Explain {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "explain")?;
        if self.policies.policies.len() > 1 {
            return Err(Failure::Usage("explain describes one policy, and several are named".to_owned()));
        }
        if self.logs.logs.is_empty() && std::path::Path::new(&self.session).is_dir() {
            return Err(Failure::Usage(format!(
                "`{0}` is a folder, and a session is to be named before the logs: ctxsim explain SESSION {0} (`ctxsim replay --by session {0}` lists them)",
                self.session
            )));
        }
        let own = self.policies.policies.is_empty();
        let mut policies = if own { recorders()? } else { self.policies.load(&self.logs)? };
        self.policies.check_model(&self.logs)?;
        let recall = if self.with_paths { Recall::WithPaths } else { Recall::References };
        let mut corpus = self.logs_or_session().read_for(Policies::wanted(&policies, recall))?;
        let place = find(&corpus.traces, &self.session, &self.logs)?;
        if own {
            let trace = corpus.traces.at(place).unwrap_or_default();
            let preset = recorded_under(&trace, &policies, &self.policies.settings(&self.logs)?);
            let name = preset.map_or("none", |(preset, _)| &preset.name);
            policies = self.policies.preset_of_session(name, &policies, &self.logs)?;
        }
        let complaints = self.logs.complaints(&corpus);
        // Sizes of summaries may be taken from the whole corpus, so all of it is replayed.
        let phase = self.logs.phase("simulating");
        let settings = ReplaySettings { told: Some(place), ..self.policies.settings(&self.logs)? };
        let mut replays = self.refetch.replay(&policies, &corpus, &settings)?;
        drop(phase);
        corpus.traces = corpus.traces.at(place).into_iter().map(Cow::into_owned).collect::<Vec<_>>().into();
        let model = corpus.traces.first().and_then(Trace::main_model).unwrap_or_default();
        for replay in &mut replays {
            narrow(replay, place, model);
            if let Some(closed) = replay.closed.as_deref_mut() {
                narrow(closed, place, model);
            }
        }
        if let (Some(policy), Some(replay)) = (policies.first(), replays.first()) {
            let telling = self.telling();
            let told = replay.closed.as_deref().unwrap_or(replay);
            if let Some(why) = told.outcomes.first().zip(self.at).and_then(|(outcome, call)| report::no_call(outcome, call)) {
                return Err(Failure::Usage(why));
            }
            // Calls that are asked for by name are shown whole.
            let output = Output { all: self.output.all || matches!(telling, Telling::Calls | Telling::At(_)), ..self.output.clone() };
            let subject = Subject { corpus: &corpus, policy, replay, telling };
            output.give(door, "explain", self.command(), || report::explain(&subject))?;
        }
        Failure::checked(complaints)
    }

    fn telling(&self) -> Telling {
        match (self.calls, self.lost, self.at) {
            (true, ..) => Telling::Calls,
            (_, true, _) => Telling::Lost,
            (.., Some(call)) => Telling::At(call),
            _ => Telling::Life,
        }
    }

    /// The logs; where none are named and the session is the path of a file, that file.
    fn logs_or_session(&self) -> Logs {
        let mut logs = self.logs.clone();
        if logs.logs.is_empty() && Path::new(&self.session).is_file() {
            logs.logs.push(self.session.clone());
        }
        logs
    }

    fn command(&self) -> String {
        let after = [self.policies.words(), self.refetch.words(), flag("--with-paths", self.with_paths)].concat();
        self.logs.command(&["explain", &self.session], &after)
    }
}

/// Leaves of a replay what concerns the session at this place, which was recorded with this model.
fn narrow(replay: &mut Replay, place: usize, model: &str) {
    replay.outcomes = replay.outcomes.at(place).into_iter().map(Cow::into_owned).collect::<Vec<_>>().into();
    replay.totals = replay.outcomes.first().map(|outcome| outcome.totals.clone()).unwrap_or_default();
    replay.thresholds = replay.thresholds.drain(..).skip(place).take(1).collect();
    replay.windows = replay.windows.drain(..).skip(place).take(1).collect();
    replay.unknown_models.retain(|(name, _)| name == model);
    replay.own_windows.retain(|(name, ..)| name == model);
    replay.outgrown.retain(|(name, _)| name == model);
    replay.uncompacted.retain(|(name, _)| name == model);
}

/// The place of the session that the user names: by its id, else as a table shortens it, else by the beginning of one id, else by the
/// name of one file, else by any part of one id.
pub fn find(traces: &List<Trace>, wanted: &str, logs: &Logs) -> Result<usize, Failure> {
    // A file has many paths: that of its session here, and the one that the user types.
    let whole = std::fs::canonicalize(wanted).ok();
    let is_named = |path: &Path| path == Path::new(wanted) || whole.is_some() && path.canonicalize().ok() == whole;
    let named_so = |trace: &Trace| {
        let path = Path::new(&trace.source);
        is_named(path) || [path.file_name(), path.file_stem()].into_iter().flatten().any(|name| name.to_string_lossy() == wanted)
    };
    let shortened = |trace: &Trace| {
        let Some((head, tail)) = wanted.split_once('…').or_else(|| wanted.split_once("...")) else { return false };
        let is = |name: &str| name.starts_with(head) && name.ends_with(tail) && name.len() >= head.len() + tail.len();
        // A baseline has the file's name before the id.
        is(&trace.id) || is(&session_name(trace))
    };
    let rules: [&dyn Fn(&Trace) -> bool; 5] =
        [&|trace| trace.id == wanted, &shortened, &|trace| trace.id.starts_with(wanted), &named_so, &|trace| {
            !wanted.is_empty() && trace.id.contains(wanted)
        }];
    for rule in rules {
        let places: Vec<usize> = traces.each().enumerate().filter(|(_, trace)| rule(trace)).map(|(place, _)| place).collect();
        match places.as_slice() {
            [] => {}
            [place] => return Ok(*place),
            several => {
                // A session goes before its own sub-agents.
                let ids: Vec<String> =
                    several.iter().map(|place| traces.at(*place).map_or(String::new(), |trace| trace.id.clone())).collect();
                let is_first =
                    |session: &String| ids.iter().all(|id| is_below(id, session)) && ids.iter().filter(|id| *id == session).count() == 1;
                if let Some((place, _)) = several.iter().zip(&ids).find(|(_, session)| is_first(session)) {
                    return Ok(*place);
                }
                if ids.iter().all(|id| ids.first() == Some(id)) {
                    let files = several.iter().filter_map(|place| Some(quoted(&[traces.at(*place)?.source.clone()])));
                    let files = first_few(&files.collect::<Vec<_>>(), 5);
                    let count = several.len();
                    return Err(Failure::Usage(format!(
                        "`{wanted}` may be {count} sessions of one id; name the file of one instead: {files}"
                    )));
                }
                let which = |place: &usize| traces.at(*place).map_or(String::new(), |trace| format!("{} in {}", trace.id, trace.source));
                let names: Vec<String> = several.iter().map(which).collect();
                return Err(Failure::Usage(format!("`{wanted}` may be {} sessions: {}", several.len(), first_few(&names, 5))));
            }
        }
    }
    let ids: Vec<String> = traces.each().map(|trace| trace.id.clone()).collect();
    let hint = suggestion(wanted, ids.iter().map(String::as_str));
    let among =
        if logs.leaves_out() { "among the sessions that --since, --until, --project and --subagents leave" } else { "in these logs" };
    Err(Failure::Usage(format!("no session `{wanted}` {among}{hint} (`ctxsim replay --by session` with the same logs lists them)")))
}
