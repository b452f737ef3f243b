//! The screen's list: requests with their usage, what was said, and what was left out of the context.

use super::record::{Condense, Entry, Metadata, Started};
use super::request;
use crate::format::ground::{Source, Take, each_piece, sound};
use crate::transcript::{Scale, Usage};
use serde_json::Value;

/// An entry, as far as it matters.
pub struct Shown {
    /// Milliseconds since 1970; `None` where the entry has no time.
    pub time: Option<i64>,
    /// The place of the conversation's newest entry at that time, where it is noted.
    pub place: Option<usize>,
    pub kind: Kind,
}

/// What an entry is.
pub enum Kind {
    /// A request, with the text of the user's side.
    Request { text: String, model: String, usage: Option<Usage>, cancelled: bool },
    /// Something that the model said.
    Said { reasoning: bool, text: String },
    /// A tool that the model wants to run: its name, and what it was asked.
    Tool { name: String, text: String },
    /// The conversation's entries up to this one are not sent any more, but for the first two.
    Deleted { last: u64 },
    /// A summary, or entries left out, with the sizes before and after. The id of a truncation is empty where it has none.
    Condensed { before: Option<u64>, after: Option<u64>, summary: Option<String>, truncation_id: String },
}

/// All entries of the list. Where one names no model, the metadata of the task do.
pub fn entries(source: &mut Source, metadata: &Metadata<'_>) -> Vec<Shown> {
    let mut shown = Vec::new();
    let mut deleted = None;
    each_piece(source, &[("", Take::Elements)], |source, piece| {
        piece.take(source, |entry: Entry, lose| {
            let time = entry.ts.filter(|time| time.is_finite()).map(|time| time as i64);
            let place = entry.conversation_history_index.and_then(|index| usize::try_from(index.checked_add(1)?).ok());
            if let Some((_, last)) = entry.conversation_history_deleted_range.filter(|range| Some(*range) != deleted) {
                deleted = entry.conversation_history_deleted_range;
                shown.push(Shown { time, place, kind: Kind::Deleted { last } });
            }
            shown.extend(kind(&entry, time, metadata, lose).map(|kind| Shown { time, place, kind }));
        });
    });
    shown
}

fn kind(entry: &Entry<'_>, time: Option<i64>, metadata: &Metadata<'_>, lose: &mut dyn FnMut(&str)) -> Option<Kind> {
    let said = if entry.say.is_empty() { &*entry.ask } else { &*entry.say };
    match said {
        "api_req_started" => {
            let Ok(started) = serde_json::from_str::<Started>(&entry.text) else {
                lose("record of an unexpected shape");
                return None;
            };
            let info = entry.model_info.as_ref().or_else(|| metadata.at(time));
            let usage = sound(started.usage(info, time), lose);
            let model = info.map_or_else(String::new, |info| info.model_id.to_string());
            Some(Kind::Request { text: started.request.to_string(), model, usage, cancelled: !started.cancel_reason.is_empty() })
        }
        "condense_context" | "sliding_window_truncation" => {
            let condense = entry.context_condense.as_ref().or(entry.context_truncation.as_ref())?;
            let tokens = |count: crate::format::ground::Count| count.known().ok().flatten();
            let Condense { prev_context_tokens, new_context_tokens, summary, truncation_id } = condense;
            let summary = (!summary.is_empty()).then(|| summary.to_string());
            let (before, after) = (tokens(*prev_context_tokens), tokens(*new_context_tokens));
            Some(Kind::Condensed { before, after, summary, truncation_id: truncation_id.to_string() })
        }
        // Where a task went back to a checkpoint, what followed is gone but for the sum of its usage. Helpers leave no more either.
        "deleted_api_reqs" => {
            // Where no request was deleted, the sum is zero.
            let sum = serde_json::from_str::<Started>(&entry.text).map(|sum| sum.usage(None, None));
            if !matches!(sum, Ok(Ok(None))) {
                lose("usage of requests that were deleted, as a sum alone");
            }
            None
        }
        "subagent_usage" => {
            lose("usage of sub-agents, as a sum alone");
            None
        }
        // What a person is asked in the middle of a reply is shown twice where it streams.
        _ if entry.partial == Some(true) || entry.text.is_empty() => None,
        "reasoning" => Some(Kind::Said { reasoning: true, text: entry.text.to_string() }),
        "text" | "completion_result" | "followup" | "plan_mode_respond" => {
            Some(Kind::Said { reasoning: false, text: entry.text.to_string() })
        }
        "tool" => {
            let call = serde_json::from_str::<Value>(&entry.text).ok();
            let name = call.as_ref().and_then(|call| call.get("tool")?.as_str()).unwrap_or_default().to_owned();
            Some(Kind::Tool { name, text: entry.text.to_string() })
        }
        "command" => Some(Kind::Tool { name: "execute_command".to_owned(), text: entry.text.to_string() }),
        "browser_action" | "browser_action_launch" => Some(Kind::Tool { name: "browser_action".to_owned(), text: entry.text.to_string() }),
        "use_mcp_server" => Some(Kind::Tool { name: "use_mcp_tool".to_owned(), text: entry.text.to_string() }),
        // What tools and the person answered comes again in the next request; the rest is for the screen.
        _ => None,
    }
}

/// The user's side of a request as the list repeats it.
pub fn asked(text: &str, scale: &dyn Scale) -> crate::transcript::Message {
    let surroundings = text.find("<environment_details>").unwrap_or(text.len());
    let (first, rest) = text.split_at_checked(surroundings).unwrap_or((text, ""));
    let texts: Vec<&str> = [first.trim(), rest.trim()].into_iter().filter(|text| !text.is_empty()).collect();
    request::message(&texts, scale)
}
