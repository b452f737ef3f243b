//! Claude Code: `<sessionId>.jsonl` and `agent-<id>.jsonl`, one record per line.
//!
//! The lines are a log, not the conversation: one reply of the model is spread over a line for each content block, branches that the
//! user left stay in the file, and sub-agents may write into the same file. What the program prints has the same records under names of
//! its own. [`claim`] knows such files, [`file`] sorts records into conversations, [`conversation`] puts one of them together, [`mirror`] gathers what is shown of
//! sub-agents elsewhere, [`forks`] what the program asks over its own conversation, [`queue`] what people say during a turn, [`asked_for`] which summaries they wanted, [`tree`] knows which messages stand in the context, [`window`]
//! which window was chosen.

mod asked_for;
mod attachment;
mod claim;
mod conversation;
mod file;
mod forks;
mod mirror;
mod prompts;
mod queue;
mod record;
mod said;
mod tree;
mod window;

use crate::format::reader::Reader;

/// Sessions and sub-agent sessions of Claude Code.
pub const READER: Reader = Reader {
    name: "claude-code",
    about: "Claude Code sessions: ~/.claude/projects/**/*.jsonl, --output-format stream-json",
    claims: claim::claims,
    read: file::read,
};
