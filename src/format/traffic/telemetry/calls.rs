//! Spans that may be calls of a model, and the sessions that they make.

use super::messages;
use crate::format::exchange::{Entry, Exchange, Sessions, call};
use crate::list::{Arrange, Gather};
use crate::transcript::{Call, Message, Part, Role, Transcript, Usage};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One span that may be a call of a model.
#[derive(Default)]
pub struct Generation {
    /// Its id, unique within its trace.
    pub id: String,
    /// The span that it is within; empty for the outermost.
    pub parent: String,
    /// Its trace.
    pub trace: String,
    /// Was a model called in it? Others are kept for the nesting alone.
    pub called: bool,
    /// Is it the run of an agent, with the usage of all its calls?
    pub whole: bool,
    /// Milliseconds since 1970.
    pub time: Option<i64>,
    /// The model; empty where it is unknown.
    pub model: String,
    /// What was sent, in whatever shape the tool kept it.
    pub input: Value,
    /// What came back.
    pub output: Value,
    /// Instructions that were kept apart.
    pub instructions: Value,
    /// Definitions of the tools that were kept apart.
    pub tools: Value,
    /// What was reported of it.
    pub usage: Option<Usage>,
    /// What the provider calls its response; empty where that is not known.
    pub response: String,
}

/// A prompt of which this many bytes are in sight has more tokens than one: fewer are a part of the prompt's.
const MOST_BYTES_PER_TOKEN: u64 = 12;

/// Makes sessions of the spans of a file. Spans around calls repeat the figures of what they hold: the innermost ones count alone.
pub fn join(spans: Vec<Generation>, mut sessions: Sessions, mut lose: impl FnMut(&str), hand_over: &mut dyn FnMut(Transcript)) {
    let mut spans = once(spans);
    spans.arrange_by(|one, other| (one.time, &one.trace, &one.id).cmp(&(other.time, &other.trace, &other.id)));
    lend(&mut spans);
    for span in spans
        .iter_mut()
        .filter(|span| span.called && span.usage.is_none() && [&span.input, &span.output].into_iter().all(messages::is_blank))
    {
        span.called = false;
        lose("span of a model without content and usage");
    }
    let around = around(&spans);
    for span in spans {
        let holds_calls = around.contains(&(span.trace.clone(), span.id.clone()));
        match (span.called, holds_calls) {
            (true, false) => {}
            (true, true) => {
                lose("span around other calls (its figures are theirs)");
                continue;
            }
            (false, _) => {
                if span.usage.is_some() && !holds_calls {
                    lose(if span.whole {
                        "usage of a whole session alone"
                    } else {
                        "span with usage whose operation is no call of a model"
                    });
                }
                continue;
            }
        }
        sessions.add(exchange(span, &mut lose)).into_iter().for_each(&mut *hand_over);
    }
    sessions.finish().for_each(hand_over);
}

/// Each span once. Some exporters write one when it begins and once more when it ends: the later record knows more, unless it alone lacks the usage.
fn once(spans: Vec<Generation>) -> Vec<Generation> {
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut kept: Vec<Generation> = Vec::new();
    for mut span in spans {
        let place =
            if span.id.is_empty() { kept.len() } else { *places.entry((span.trace.clone(), span.id.clone())).or_insert(kept.len()) };
        match kept.get_mut(place) {
            Some(earlier) if span.usage.is_some() || earlier.usage.is_none() => {
                for (text, known) in [
                    (&mut span.input, &mut earlier.input),
                    (&mut span.instructions, &mut earlier.instructions),
                    (&mut span.tools, &mut earlier.tools),
                ] {
                    if text.is_null() {
                        std::mem::swap(text, known);
                    }
                }
                *earlier = span;
            }
            Some(_) => {}
            None => kept.push(span),
        }
    }
    kept
}

/// Gives calls without content what the span around them keeps, where that has the same usage and holds no other call.
fn lend(spans: &mut [Generation]) {
    let mut held: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (index, span) in spans.iter().enumerate().filter(|(_, span)| span.called) {
        held.entry((span.trace.clone(), span.parent.clone())).or_default().push(index);
    }
    for outer in 0..spans.len() {
        let Some(span) = spans.get(outer).filter(|span| span.called && !span.input.is_null() && !span.id.is_empty()) else { continue };
        let Some([inner]) = held.get(&(span.trace.clone(), span.id.clone())).map(Vec::as_slice) else { continue };
        if spans.get(*inner).is_none_or(|call| !call.input.is_null() || call.usage != span.usage) {
            continue;
        }
        let lent =
            spans.get_mut(outer).map(|span| [&mut span.input, &mut span.output, &mut span.instructions, &mut span.tools].map(Value::take));
        if let (Some(call), Some(lent)) = (spans.get_mut(*inner), lent) {
            [call.input, call.output, call.instructions, call.tools] = lent;
        }
    }
}

/// The spans that hold a call at any depth.
fn around(spans: &[Generation]) -> BTreeSet<(String, String)> {
    let parents: BTreeMap<(&str, &str), &str> =
        spans.iter().map(|span| ((span.trace.as_str(), span.id.as_str()), span.parent.as_str())).gather();
    let mut around = BTreeSet::new();
    for span in spans.iter().filter(|span| span.called) {
        let mut parent = span.parent.as_str();
        // A span that was seen has all those around it seen, too; so a ring of parents ends.
        while !parent.is_empty() && around.insert((span.trace.clone(), parent.to_owned())) {
            parent = parents.get(&(span.trace.as_str(), parent)).copied().unwrap_or_default();
        }
    }
    around
}

fn exchange(span: Generation, lose: &mut dyn FnMut(&str)) -> Exchange {
    let mut exchange = Exchange { session: span.trace.clone(), model: span.model.clone(), ..Exchange::default() };
    let mut replied = messages::Said::default();
    replied.add(&span.output, Role::Assistant, lose);
    let mut said = messages::Said::default();
    said.instructions(&span.instructions);
    said.tools(&span.tools);
    said.add(&span.input, Role::User, lose);
    // OpenAI's responses repeat what was sent beside the conversation.
    exchange.setting = if said.setting.is_empty() { replied.setting } else { said.setting };
    if said.messages.iter().all(|message| message.parts.is_empty()) {
        lose("call without its content");
    }
    let visible: u64 = said.messages.iter().flat_map(|message| &message.parts).chain(&exchange.setting).map(bytes).sum();
    let kept = replied.kept || messages::answers_unseen(&said.messages);
    if kept {
        // The provider keeps the conversation, and only what is new was sent.
        exchange.follows = Some(if replied.follows.is_empty() { span.trace.clone() } else { replied.follows });
        lose("prompt that the provider keeps in part");
    }
    let short = span.usage.is_some_and(|usage| usage.prompt.saturating_mul(MOST_BYTES_PER_TOKEN) < visible);
    if short {
        lose("recorded prompt far smaller than what was sent");
    }
    exchange.hidden = kept || short || said.unclear || said.hidden || replied.hidden;
    exchange.known_as.extend(replied.known_as);
    exchange.known_as.push(span.trace.clone());
    exchange.entries = said.messages.into_iter().map(Entry::of).collect();
    let parts = replied.messages.into_iter().flat_map(|message| message.parts).collect();
    let mut reply = Message::new(Role::Assistant, parts);
    reply.time = span.time;
    // Another export of the same call knows it by its response.
    reply.call = Some(Box::new(if span.response.is_empty() {
        Call { id: format!("{}/{}", span.trace, span.id), model: span.model, usage: span.usage, ..Call::default() }
    } else {
        call(&span.response, &span.model, span.usage)
    }));
    exchange.reply = Some(Entry::of(reply));
    exchange
}

fn bytes(part: &Part) -> u64 {
    let text = match part {
        Part::Text(text) | Part::Other(text) | Part::ToolResult { text, .. } | Part::ToolCall { arguments: text, .. } => text,
        // Definitions of tools and reasoning are not always sent as they are kept.
        Part::Tools(_) | Part::Thinking { .. } | Part::Image(_) => return 0,
    };
    text.content.as_deref().map_or(0, |words| words.len() as u64)
}
