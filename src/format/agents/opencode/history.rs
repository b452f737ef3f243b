//! Which stored messages stand in OpenCode's context: its own rule for reading a history back that holds compactions, old, failed and
//! pending ones among them (`filterCompacted` and `latest` in session/message-v2.ts of 1.15.12).

use std::collections::BTreeSet;

/// What the rule looks at in one stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The message's id. Ids ascend in the order of time.
    pub id: String,
    /// Whose the message is, and what the rule asks of that kind.
    pub kind: EntryKind,
}

/// The two kinds of stored messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// The user's, or one in the user's name.
    User {
        /// The compaction that it asks for.
        request: Option<Request>,
        /// How many sub-tasks the message asks for.
        subtasks: usize,
    },
    /// A reply of the model.
    Reply {
        /// Whether the reply was finished.
        end: End,
        /// Where it is a summary: the id of the message that asked for it.
        summary_of: Option<String>,
    },
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The reply was finished without an error.
    Finished,
    /// The reply was finished with an error.
    Failed,
    /// The reply was never finished.
    Open,
}

/// A compaction that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// By itself, or because the user asked for it; absent where the log does not say. The rule does not look at it.
    pub automatic: Option<bool>,
    /// The id of the first message that stays beside the summary; absent where none does.
    pub kept_from: Option<String>,
}

/// The newest of each kind in a context, as places in the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latest {
    /// The newest user message.
    pub user: Option<usize>,
    /// The newest reply, finished or not.
    pub reply: Option<usize>,
    /// The newest reply that was finished, in whatever way.
    pub finished: Option<usize>,
    /// Compactions and sub-tasks that were asked for after it: work that is not done.
    pub pending: usize,
}

/// The places of the messages that stand in the context, in the order in which the model reads them: the newest compaction's request and
/// summary first, then what it kept, then what came after it.
pub fn in_context(history: &[Entry]) -> Vec<usize> {
    let start = start_of(history);
    let standing = start..history.len();
    let in_order = || standing.clone().collect();
    // The newest request that keeps something decides about the order, be it answered or not.
    let Some((request, kept_from)) = standing.clone().rev().find_map(|place| Some((place, kept_by(history.get(place)?)?))) else {
        return in_order();
    };
    let id_of = |place: usize| history.get(place).map(|entry| entry.id.as_str());
    let summary = (request + 1..history.len()).find(|place| {
        let summary_of = |entry: &Entry| entry.summary_of().is_some_and(|asked| Some(asked) == id_of(request));
        history.get(*place).is_some_and(summary_of)
    });
    let tail = standing.clone().find(|place| id_of(*place) == Some(kept_from)).filter(|tail| *tail < request);
    match (summary, tail) {
        (Some(summary), Some(tail)) => (request..summary + 1).chain(tail..request).chain(summary + 1..history.len()).collect(),
        _ => in_order(),
    }
}

/// Where the context begins: a finished compaction hides what is older than the messages that it kept, or than its own request where it
/// kept none. Where the message that it kept is not to be found, nothing is hidden.
fn start_of(history: &[Entry]) -> usize {
    let mut answered = BTreeSet::new();
    for (place, entry) in history.iter().enumerate().rev() {
        match &entry.kind {
            EntryKind::Reply { end: End::Finished, summary_of: Some(asked) } => drop(answered.insert(asked.as_str())),
            EntryKind::User { request: Some(request), .. } if answered.contains(entry.id.as_str()) => {
                let Some(kept) = &request.kept_from else { return place };
                let older = history.get(..place + 1).unwrap_or(history);
                return older.iter().rposition(|entry| entry.id == *kept).unwrap_or(0);
            }
            _ => {}
        }
    }
    0
}

/// The id of the first message that the compaction keeps which this message asks for.
fn kept_by(entry: &Entry) -> Option<&str> {
    match &entry.kind {
        EntryKind::User { request: Some(Request { kept_from: Some(kept), .. }), .. } => Some(kept),
        _ => None,
    }
}

/// The newest messages of a context, by their ids: the order of a context is not that of time.
pub fn latest(history: &[Entry], context: &[usize]) -> Latest {
    let standing = || context.iter().filter_map(|place| Some((*place, history.get(*place)?)));
    let newest = |wanted: fn(&EntryKind) -> bool| {
        let found = standing().filter(|(_, entry)| wanted(&entry.kind));
        found.max_by(|(_, one), (_, other)| one.id.cmp(&other.id)).map(|(place, _)| place)
    };
    let finished = newest(|kind| matches!(kind, EntryKind::Reply { end: End::Finished | End::Failed, .. }));
    let since = finished.and_then(|place| history.get(place)).map_or("", |entry| entry.id.as_str());
    Latest {
        user: newest(|kind| matches!(kind, EntryKind::User { .. })),
        reply: newest(|kind| matches!(kind, EntryKind::Reply { .. })),
        finished,
        pending: standing().filter(|(_, entry)| finished.is_none() || entry.id.as_str() > since).map(|(_, entry)| entry.work()).sum(),
    }
}

impl Entry {
    /// Where it is a summary: the id of the message that asked for it.
    fn summary_of(&self) -> Option<&str> {
        match &self.kind {
            EntryKind::Reply { summary_of, .. } => summary_of.as_deref(),
            EntryKind::User { .. } => None,
        }
    }

    /// How much work it asks for.
    fn work(&self) -> usize {
        match &self.kind {
            EntryKind::User { request, subtasks } => usize::from(request.is_some()) + subtasks,
            EntryKind::Reply { .. } => 0,
        }
    }
}
