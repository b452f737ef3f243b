//! Exchanges with several providers' interfaces in one log: one line per exchange, `{api, url, seq, request, response, source}`. Request
//! and response are the bodies as they were sent, so instructions, tools and usage are complete, except where the provider itself
//! keeps the conversation or runs tools: that usage is marked as of a prompt that is not all in the log.

use crate::format::exchange::{Dialect, Exchange, Sessions};
use crate::format::ground::{ReadError, Source, Words, text_or_json};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Recorded exchanges of any of the providers.
pub const READER: Reader = Reader {
    name: "api-exchange",
    about: "Recorded API exchanges (JSONL): Anthropic Messages, OpenAI Chat and Responses, Gemini generateContent",
    claims,
    read,
};

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    Claim::when(outline.shows("api request") && Dialect::of_name(outline.text("api")).is_some())
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Record<'a> {
    api: Words<'a>,
    url: Words<'a>,
    request: Option<&'a RawValue>,
    response: Option<&'a RawValue>,
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut sessions = Sessions::new(READER.name, source.name(), scale);
    source.each_line(|source, line| {
        source.values(line, |record: Record, lose| {
            exchange(&record, lose).and_then(|exchange| sessions.add(exchange)).into_iter().for_each(&mut *hand_over);
        });
    })?;
    sessions.finish().for_each(hand_over);
    Ok(())
}

fn exchange(record: &Record, lose: &mut dyn FnMut(&str)) -> Option<Exchange> {
    let Some(request) = record.request.map(RawValue::get) else {
        lose("unknown record type");
        return None;
    };
    let Some(dialect) = Dialect::of_name(&record.api).or_else(|| Dialect::of_address(&record.url, request)) else {
        lose("exchange with an unknown interface");
        return None;
    };
    // The events of a stream are kept as a text.
    let stream = record.response.filter(|raw| raw.get().starts_with('"')).map(|raw| text_or_json(Some(raw)));
    let response = stream.as_deref().or(record.response.map(RawValue::get));
    let decoded = dialect.decode(request, response, lose);
    decoded.inspect_err(|_| lose("request of an unexpected shape")).ok()
}
