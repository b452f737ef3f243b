//! Recorded facts: what one conversation held, as its log tells it.
//!
//! A reader builds a [`Transcript`] while it reads. Every text passes the [`Scale`] at once, which measures it and, unless the caller
//! needs the words themselves, lets them go: no text outlives the line that it stood on, so a session of a gigabyte needs no gigabyte.

mod evidence;
mod kept;
mod length;
mod lines;
mod message;
mod messages;
mod steps;
mod windows;

pub use evidence::{Evidence, Standing, Unit};
pub use kept::KeptText;
pub use length::{Length, Step};
pub use lines::Lines;
pub use message::{Call, Counts, Image, LONG_LINE, Message, Part, Role, Shape, Text, TextKind, Trust, Usage};
pub use messages::Messages;
pub use steps::Steps;
pub use windows::NamedWindows;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;
use xxhash_rust::xxh3::xxh3_64;

/// Measures texts for a reader. The reader neither knows nor cares how tokens are counted.
pub trait Scale {
    /// Measures one text. Its words go, unless the scale is one that keeps them.
    fn weigh(&self, text: &str) -> Text;

    /// Measures arguments that are known to be a JSON value.
    fn weigh_json(&self, text: &str) -> Text {
        self.weigh(text)
    }

    /// Measures what a tool returned: agents cut such texts, so their [`Shape`] is taken too.
    fn weigh_result(&self, text: &str) -> Text {
        self.weigh(text)
    }

    /// Measures a summary. `None` of a blank one, and of marks that a publishing tool wrote in its place: they do not say how long it was.
    fn weigh_summary(&self, text: &str) -> Option<Text> {
        let is_known = text.lines().any(|line| !line.trim().is_empty() && !is_redacted(line));
        is_known.then(|| self.weigh(text))
    }

    /// The vocabulary that tokens are counted in, by its name; `None` where no tokens are counted.
    fn vocabulary(&self) -> Option<&'static str> {
        None
    }
}

/// Is the whole of a line, within tags or without, a mark that publishing tools write in the place of words: `REDACTED`, `[REDACTED ...]`, `<redacted>`, `[redacted:text:...]`? A tag alone is one too.
fn is_redacted(text: &str) -> bool {
    const WORD: &str = "redacted";
    let begins = |inside: &str| inside.get(..WORD.len()).is_some_and(|front| front.eq_ignore_ascii_case(WORD));
    let mut text = text.trim();
    if let Some((tag, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && !begins(tag)
    {
        text = rest.trim();
    }
    if let Some((before, _)) = text.strip_suffix('>').and_then(|rest| rest.rsplit_once("</")) {
        text = before.trim();
    }
    let bare = text.trim_matches('*');
    let marked = [('[', ']'), ('<', '>'), ('(', ')')].into_iter().find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?.strip_suffix(close)?;
        (!inside.contains([open, close, '\n'])).then_some(inside)
    });
    text.is_empty() || bare.eq_ignore_ascii_case(WORD) || marked.is_some_and(begins)
}

/// What a recording agent did to its own context. It is undone for replay and kept as a fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// The event's own id in the log; empty where it has none.
    pub id: String,
    /// It took place before the message with this index arrived (the number of messages where it came last).
    pub before: usize,
    /// Whether a summary took the place of messages, or placeholders that of results.
    pub kind: CompactionKind,
    /// By itself, or because the user asked for it. Absent where the log does not say.
    pub automatic: Option<bool>,
    /// An extension of the agent made it, by a rule of its own.
    pub by_extension: bool,
    /// It names a record before it that the log does not hold: what stood right before it is missing.
    pub behind_gap: bool,
    /// By the log's own word it took place between two turns: the one before it was broken off, and the next had not begun.
    pub between_turns: bool,
    /// Context tokens before, where the log says so.
    pub tokens_before: Option<u64>,
    /// Context tokens after, where the log says so.
    pub tokens_after: Option<u64>,
    /// Milliseconds that it took, where the log says so.
    pub duration_ms: Option<u64>,
    /// Is the model behind it one that cannot share a history with the one before, by the agent's own mark? Agents compact then, whatever the size.
    /// Absent where the log does not say so of both.
    pub incompatible: Option<bool>,
    /// The summary that replaced the old messages; absent for prunings and where the log is silent.
    pub summary: Option<Text>,
    /// The first message that stayed in the context, where the log says so.
    pub kept_from: Option<usize>,
    /// What placeholders took the place of, as message and part of it by their indices, ascending. Empty where the log does not say.
    pub taken: Vec<(usize, usize)>,
    /// The summariser's own request, where it was recorded.
    pub call: Option<Call>,
    /// Milliseconds since 1970, where the log has a time.
    pub time: Option<i64>,
}

/// The parts of messages for which something holds, as message and part of it by their indices, in order.
pub fn parts_where(messages: &Messages, holds: impl Fn(&Message, &Part) -> bool) -> Vec<(usize, usize)> {
    let within = |(at, message): (usize, Cow<'_, Message>)| {
        let places = message.parts.iter().enumerate().filter(|(_, part)| holds(&message, part)).map(|(place, _)| (at, place));
        places.collect::<Vec<_>>()
    };
    messages.each().enumerate().flat_map(within).collect()
}

/// The two ways in which agents shrink a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionKind {
    /// Old messages replaced by a summary.
    #[default]
    Compact,
    /// Old tool results replaced by placeholders.
    Prune,
}

/// One recorded session: a linear conversation with one model context, the recording agent's own compactions undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The session's id in its log; the file's name where it has none.
    pub id: String,
    /// The session that this one was started from (sub-agents).
    pub parent: Option<String>,
    /// The agent that recorded it, as its reader names it: `claude-code`, `codex`, ...
    pub agent: String,
    /// The agent's version; empty where unknown.
    pub version: String,
    /// The conversation in order of time.
    pub messages: Messages,
    /// What the recording agent did to its context, in order.
    pub compactions: Vec<Compaction>,
    /// The window that the log itself names, if it does.
    pub window: Option<u64>,
    /// What each prompt carries beside the conversation (system prompt, definitions of tools), as the agent itself counted it. It counts where no
    /// prompt was recorded.
    pub overhead: Option<u64>,
    /// Does the log end in the provider's refusal of a prompt that was too large? False where the format does not show it.
    pub refused: bool,
    /// Requests that the provider refused as too large, wherever the log has them: each came before the message with this index.
    pub refusals: Vec<usize>,
    /// Is it what the agent printed, beside which it may have written a log of its own?
    pub printed: bool,
    /// The host that the model's calls went to, as the log names it; `None` where it names none.
    pub host: Option<String>,
    /// Bytes of what the agent writes beside each item of its history and counts with it, as the log's last items have it; 0 where there are none.
    pub item_bytes: u32,
    /// The project that the session is of: [`project`] of what the log names. `None` where it names none.
    pub project: Option<Project>,
    /// The log itself shows that it begins in the middle: its first message goes on from one that it does not hold.
    pub begins_in_middle: bool,
    /// The session whose end this one repeats, with less before it: its agent cut its history, and nothing tells for certain that both are one. `None` of others.
    pub takes_up: Option<String>,
    /// Is it a copy of a conversation in the log of a request that was made over it? It counts where no log of its own holds the session.
    pub copied: bool,
    /// Calls with usage that belong to no message of the conversation (titles, checks). Counted in corpus totals, not replayed.
    pub side_calls: Vec<Call>,
    /// Calls of sub-agents that this log only mirrors: they are counted where no log of the sub-agent's own holds them, and never replayed.
    /// Their id is that of the message, so that they are known there.
    pub mirrored: Vec<Call>,
}

impl Transcript {
    /// The model that made most of the session's calls; the earlier one at a tie.
    pub fn main_model(&self) -> Option<String> {
        let calls = self.messages.each().filter_map(|message| Some(message.call.as_ref()?.model.clone()));
        most_frequent(calls.filter(|model| !model.is_empty()))
    }
}

/// The project that a session belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Enough to know sessions of one project by, and not where it lies.
    pub number: u64,
    /// The folder or name by which the log has it; `None` where it has the number alone.
    pub folder: Option<String>,
}

/// A project by its folder or name, a worktree of a repository being of the repository's; `None` for an empty one. The case of letters says nothing in a path of Windows, whose drive
/// is written in either by what started the agent.
pub fn project(name: &str) -> Option<Project> {
    let name = name.trim().trim_end_matches(['/', '\\']);
    (!name.is_empty()).then(|| {
        let mut folder = of_repository(name);
        let on_windows = matches!(folder.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
        let number = if on_windows { xxh3_64(folder.to_lowercase().as_bytes()) } else { xxh3_64(folder.as_bytes()) };
        if let Some(drive) = folder.get_mut(..1).filter(|_| on_windows) {
            drive.make_ascii_uppercase();
        }
        Project { number, folder: Some(folder) }
    })
}

/// Where agents and editors put the worktrees of a repository, which lie one below it, and how Claude Code writes that in the name of a folder.
const WORKTREES: [(&[&str], &str); 2] = [(&[".claude", "worktrees"], "--claude-worktrees-"), (&[".worktrees"], "--worktrees-")];

/// The same folder in the repository itself, where the path is of a worktree: `shop/.worktrees/NAME/web` and `shop.worktrees/NAME/web` are `shop/web`. Below which folder a name
/// ends that has `-` for all that is no letter, it does not say: what follows the worktrees is left out.
fn of_repository(path: &str) -> String {
    if path.starts_with('-') && !path.contains(['/', '\\']) {
        let ends = WORKTREES.iter().filter_map(|(_, written)| path.find(written));
        return path.get(..ends.min().unwrap_or(path.len())).filter(|whole| !whole.is_empty()).unwrap_or(path).to_owned();
    }
    let pieces: Vec<&str> = path.split_inclusive(['/', '\\']).collect();
    let bare = |piece: &&str| piece.trim_end_matches(['/', '\\']).to_owned();
    let is_at = |place: usize, names: &[&str]| {
        let here = pieces.get(place..place + names.len());
        // A repository lies above, and a worktree below.
        place > 0 && pieces.len() > place + names.len() && here.is_some_and(|here| here.iter().map(bare).eq(names.iter().copied()))
    };
    let found = (0..pieces.len()).find_map(|place| {
        let below = WORKTREES.iter().find(|(names, _)| is_at(place, names)).map(|(names, _)| (String::new(), names.len()));
        let beside = || Some(pieces.get(place).filter(|_| pieces.len() > place + 1).map(bare)?.strip_suffix(".worktrees")?.to_owned());
        let (named, length) = below.or_else(|| Some((beside().filter(|name| !name.is_empty())? + "/", 1)))?;
        Some([pieces.get(..place)?.concat(), named, pieces.get(place + length + 1..)?.concat()].concat())
    });
    let found = found.map(|found| found.trim_end_matches(['/', '\\']).to_owned()).filter(|found| !found.is_empty());
    found.unwrap_or_else(|| path.to_owned())
}

/// The name that comes most often; the earlier one at a tie, `None` of none.
pub fn most_frequent<T: Hash + Eq>(names: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: HashMap<T, (u64, Reverse<usize>)> = HashMap::new();
    for (place, name) in names.enumerate() {
        counts.entry(name).or_insert((0, Reverse(place))).0 += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name)
}

/// Something that a reader could not use: counted and shown, never passed over in silence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// What was wrong, as a short sentence without any of the file's content.
    pub reason: String,
    /// How often this reason was met.
    pub count: u64,
    /// The first place, as a line number (or record number) from 1; 0 where it has none.
    pub first_line: u64,
}

#[cfg(test)]
mod tests {
    use super::project;

    #[test]
    fn a_worktree_is_of_its_repository() {
        let folder = |name: &str| project(name).and_then(|project| project.folder).unwrap_or_default();
        let same = |names: &[&str], whole: &str| {
            for name in names {
                assert_eq!((folder(name), project(name).map(|one| one.number)), (whole.to_owned(), project(whole).map(|one| one.number)));
            }
        };
        same(
            &["/u/x/shop", "/u/x/shop/", "/u/x/shop/.worktrees/a", "/u/x/shop/.claude/worktrees/b/", "/u/x/shop.worktrees/c"],
            "/u/x/shop",
        );
        same(&["/u/x/shop/.worktrees/a/web", "/u/x/shop.worktrees/c/web"], "/u/x/shop/web");
        same(&["-u-x-shop--worktrees-a", "-u-x-shop--claude-worktrees-b-web"], "-u-x-shop");
        same(&["C:\\x\\shop\\.worktrees\\a", "c:\\x\\shop"], "C:\\x\\shop");
        // What names no repository, or no worktree, is what it is.
        for whole in [
            "/.worktrees/a",
            "/u/x/shop/.worktrees",
            "/u/.claude/worktrees",
            "/u/worktrees/a",
            ".worktrees/a",
            "/u/x/shop-a",
            "--worktrees-a",
        ] {
            assert_eq!(folder(whole), whole);
        }
    }
}
