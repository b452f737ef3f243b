//! Requests that the program makes over its own conversation, beside it: it forks the context, asks one thing, and logs what it asked as a
//! sub-agent of the session, `<session>/subagents/agent-a<label>-<id>.jsonl` or lines of the session's own file. They are no sessions: logs of 2.1.29 hold
//! the question, and what of the conversation no log had yet. Those of 2.1.72 begin with a copy of the whole of it (`runForkedAgent` records the messages
//! that it forks, one of its own, and what is replied): where no log holds the session itself, such a copy is the session.

use super::conversation::{agree, call_id, is_plausible, is_settled};
use super::record::{Record, SYNTHETIC};
use crate::format::ground::{Lose, Source, millis};
use crate::format::wire::anthropic::Piece;
use crate::format::wire::blocks::Block;
use crate::reading::{entries, is_beside};
use crate::transcript::{Call, CompactionKind, Project, Transcript, project};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The request for the summary of a compaction.
const COMPACT: &str = "compact";

/// What the program forks its context for: a summary, the next prompt that it suggests, an answer to `/btw`, its notes on the session.
const LABELS: [&str; 4] = [COMPACT, "prompt_suggestion", "side_question", "session_memory"];

/// What the agent of this id was forked for; `None` for one that a tool started.
pub(super) fn label(agent: &str) -> Option<&'static str> {
    let (label, _) = agent.strip_prefix('a')?.split_once('-')?;
    LABELS.into_iter().find(|known| *known == label)
}

/// Is it of the log of such an agent?
pub(super) fn is_of_request(record: &Record<'_>) -> bool {
    record.is_side() && label(record.agent()).is_some()
}

/// Is it the file of such an agent?
fn is_forked(path: &Path) -> bool {
    let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".jsonl"));
    stem.and_then(|stem| stem.strip_prefix("agent-")).is_some_and(|agent| label(agent).is_some())
}

/// The folder of a session's sub-agents.
const FOLDER: &str = "subagents";

/// Is it the file of such an agent, read with the log of its session that lies in its place?
pub(super) fn is_companion(source: &Source) -> bool {
    let folder = source.path.parent().filter(|folder| is_forked(&source.path) && folder.ends_with(FOLDER));
    let session =
        folder.and_then(Path::parent).and_then(|session| Some(session.with_file_name(format!("{}.jsonl", session.file_name()?.to_str()?))));
    session.is_some_and(|log| is_beside(&log) && source.beside(&log).is_ok_and(|log| !log.head().is_empty()))
}

/// The files of such agents that lie beside the log of their session, in the order of their names.
pub(super) fn beside(source: &Source) -> Vec<PathBuf> {
    let folder = source.name().strip_suffix(".jsonl").map(|session| source.path.with_file_name(session).join(FOLDER));
    let mut files = folder.and_then(|folder| entries(&folder).ok()).unwrap_or_default();
    files.retain(|path| is_forked(path) && is_beside(path));
    files.sort();
    files
}

/// Is it what such an agent is asked, one message behind the conversation that was copied in front of it? It holds no result, and the program does not mark
/// it as put in by itself. The last one of a log is that.
pub(super) fn asks(record: &Record<'_>) -> bool {
    let answers = || record.message.as_ref().is_none_or(|wire| wire.content.objects().any(Piece::is_result));
    &*record.kind == "user" && !record.is_injected() && !record.is_summary() && !answers()
}

/// Where in a copied conversation the request over it was asked.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// The number of messages before it.
    pub behind: usize,
    /// Whether the provider had refused the prompt before it.
    pub refused: bool,
}

/// Leaves of the log of a request the conversation that it was forked from, as a session like any other. Is a call in it?
pub(super) fn leave_copied(copy: &mut Transcript, asked: Option<Asked>) -> bool {
    let Some(Asked { behind, refused }) = asked else { return false };
    drop(copy.messages.split_off(behind));
    copy.compactions.retain(|event| event.before <= behind);
    copy.refusals.retain(|before| *before < behind);
    copy.refused &= refused;
    copy.id = copy.parent.take().unwrap_or_default();
    copy.copied = true;
    copy.messages.each().any(|message| message.call.is_some())
}

/// The replies to such requests.
#[derive(Default)]
pub(super) struct Forks {
    replies: Vec<Reply>,
    /// Places of the replies, by agent and id.
    places: FxHashMap<(String, String), usize>,
    /// By agent, how many replies had come before it was asked.
    asked: FxHashMap<String, usize>,
}

/// What the lines of one reply have told so far.
pub(super) struct Reply {
    session: String,
    agent: String,
    version: String,
    project: Option<Project>,
    time: Option<i64>,
    call: Call,
    lowest_output: u64,
    visible: u64,
    settled: bool,
    /// It came before what the agent was asked: a reply of the conversation that was forked.
    copied: bool,
}

impl Forks {
    /// Takes in a record of such an agent. Of what it was asked nothing stands in the context.
    pub fn record(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        if asks(record) {
            self.asked.insert(record.agent().to_owned(), self.replies.len());
        }
        let wire = record.message.as_ref().filter(|wire| &*record.kind == "assistant" && &*wire.model != SYNTHETIC);
        let Some(wire) = wire.filter(|_| record.is_api_error_message != Some(true)) else { return };
        let id = [&wire.id, &record.request_id, &record.uuid].into_iter().find_map(|id| id.some_id()).unwrap_or_default();
        let place = *self.places.entry((record.agent().to_owned(), id.to_owned())).or_insert(self.replies.len());
        if place == self.replies.len() {
            self.replies.push(Reply {
                session: record.session().to_owned(),
                agent: record.agent().to_owned(),
                version: record.program().to_owned(),
                project: project(&record.cwd),
                time: millis(&record.timestamp),
                call: Call { id: call_id(wire.id.id(), record.request_id.id()), unchained: true, ..Call::default() },
                lowest_output: u64::MAX,
                visible: 0,
                settled: false,
                copied: false,
            });
        }
        let Some(reply) = self.replies.get_mut(place) else { return };
        for block in &wire.content.0 {
            let text = match block {
                Block::Text(text) => text,
                Block::Object(piece) => &piece.text.0,
                Block::Other => continue,
            };
            reply.visible += text.len() as u64;
        }
        let (was_settled, settles) = (reply.settled, is_settled(wire));
        reply.settled |= settles;
        reply.call.model = wire.billed_model();
        let Some(usage) = wire.usage.as_ref().and_then(|usage| usage.reported(lose)) else { return };
        reply.lowest_output = reply.lowest_output.min(usage.output);
        let known = reply.call.usage.get_or_insert(usage);
        agree(known, usage, was_settled, settles);
        known.output_is_final = reply.settled || known.output > reply.lowest_output || is_plausible(known.output, reply.visible);
    }

    /// The replies by the conversation that they belong to, those of other files apart.
    pub fn by_owner(self, owner: impl Fn(&str) -> Option<usize>) -> BTreeMap<Option<usize>, Vec<Reply>> {
        let mut by_owner: BTreeMap<_, Vec<Reply>> = BTreeMap::new();
        for (place, mut reply) in self.replies.into_iter().enumerate().filter(|(_, reply)| reply.call.usage.is_some()) {
            reply.copied = self.asked.get(&reply.agent).is_some_and(|asked| place < *asked);
            by_owner.entry(owner(&reply.session)).or_default().push(reply);
        }
        by_owner
    }
}

/// Gives the requests to their session: the last one for a summary before a compaction is the compaction's own. Some versions copy the conversation, with
/// its replies, into the log of the request: such a copy may hold all of an output of which the session has what was counted as its stream began.
pub(super) fn join(transcript: &mut Transcript, mut replies: Vec<Reply>) {
    let ids = transcript.messages.each().enumerate();
    let known: HashMap<String, usize> = ids.filter_map(|(place, message)| Some((message.call.as_ref()?.id.clone(), place))).collect();
    replies.retain(|reply| {
        let Some(place) = known.get(&reply.call.id) else { return true };
        let own = transcript.messages.get_mut(*place).and_then(|message| message.call.as_mut()?.usage.as_mut());
        let copy = reply.call.usage.filter(|copy| copy.output_is_final && !reply.call.id.is_empty());
        if let (Some(own), Some(copy)) = (own, copy)
            && own.prompt == copy.prompt
            && own.output < copy.output
        {
            (own.output, own.output_is_final) = (copy.output, true);
        }
        false
    });
    replies.sort_by_key(|reply| reply.time);
    let mut since = i64::MIN;
    for compaction in transcript.compactions.iter_mut().filter(|made| made.kind == CompactionKind::Compact) {
        let Some(at) = compaction.time else { continue };
        let asked = |reply: &Reply| label(&reply.agent) == Some(COMPACT) && reply.time.is_some_and(|time| time > since && time <= at);
        if let Some(place) = replies.iter().rposition(asked).filter(|_| compaction.call.is_none()) {
            compaction.call = Some(replies.remove(place).call);
        }
        since = at;
    }
    transcript.side_calls.extend(replies.into_iter().map(|reply| reply.call));
}

/// Requests whose session another file holds, or none: for each agent a session of nothing else. What was copied is a session of its own ([`leave_copied`]).
pub(super) fn apart(replies: Vec<Reply>) -> Vec<Transcript> {
    let mut sessions: Vec<Transcript> = Vec::new();
    for reply in replies.into_iter().filter(|reply| !reply.copied) {
        let id = format!("{}/{}", reply.session, reply.agent);
        if sessions.last().is_none_or(|last| last.id != id) {
            let (agent, version, project) = ("claude-code".to_owned(), reply.version, reply.project);
            sessions.push(Transcript { id, parent: Some(reply.session), agent, version, project, ..Transcript::default() });
        }
        sessions.last_mut().into_iter().for_each(|session| session.side_calls.push(reply.call.clone()));
    }
    sessions
}
