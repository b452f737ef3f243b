//! What a call was the first to carry: the reply before it and what followed, by what it was.

use crate::context::Region;
use crate::list::Arrange;
use crate::trace::{PartKind, Trace};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Parts of one kind that came between two calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// What the parts are: tool result, thinking, user text.
    pub region: Region,
    /// The tool, of calls and results; `None` for other parts, and where the log names none.
    pub tool: Option<String>,
    /// Number of parts.
    pub parts: u64,
    /// Their actual tokens, before any policy cuts them.
    pub tokens: u64,
}

impl Arrival {
    /// In words: `tool result (bash)`, `thinking`.
    pub fn words(&self) -> String {
        let kind = self.region.name().replace('_', " ");
        match &self.tool {
            Some(tool) => format!("{kind} ({tool})"),
            None => kind,
        }
    }
}

/// What came between the call before and this one (from 0), the largest first; at the first call all that stood before it. A message that was shown before
/// came then.
pub fn arrivals(trace: &Trace, call: usize) -> Vec<Arrival> {
    let before = |place: usize| trace.calls.get(place).map_or(0, |row| row.message as usize);
    let first = call.checked_sub(1).map_or(0, before);
    let mut found: BTreeMap<(usize, Option<&str>), (Region, u64, u64)> = BTreeMap::new();
    for message in trace.messages.get(first..before(call)).unwrap_or_default().iter().filter(|message| !message.copy) {
        for part in trace.parts_of(message) {
            let region = Region::of(message.role, part.kind);
            let tool = part.tool.get().filter(|_| part.kind != PartKind::Text).and_then(|tool| trace.tools.get(tool as usize));
            let (_, parts, tokens) = found.entry((region as usize, tool.map(String::as_str))).or_insert((region, 0, 0));
            *parts += 1;
            *tokens += part.truth;
        }
    }
    let arrival = |((_, tool), (region, parts, tokens)): ((usize, Option<&str>), (Region, u64, u64))| Arrival {
        region,
        tool: tool.map(str::to_owned),
        parts,
        tokens,
    };
    let mut found: Vec<Arrival> = found.into_iter().map(arrival).collect();
    found.arrange_by_key(|arrival| Reverse(arrival.tokens));
    found
}
