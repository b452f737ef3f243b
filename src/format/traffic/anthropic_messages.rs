//! Anthropic Messages API: request bodies, recorded exchanges, bare conversations.
//!
//! Understood are, as one document or one a line: a request body `{model, system, tools, messages}`, an exchange `{request, response}`
//! a list of messages, and single messages `{role, content, usage}`.
//! Each request repeats the whole conversation, so a request that extends the one before it carries on its session.

use crate::format::exchange::anthropic::{Body, Made, Spoken, append, conversation};
use crate::format::exchange::{Dialect, Exchange, Sessions, Verbatim, anthropic, received};
use crate::format::ground::{ReadError, Source, decoded, odd, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Tools;
use crate::format::wire::anthropic::Weigher;
use crate::transcript::{Scale, Transcript};
use serde_json::value::RawValue;

/// Requests, exchanges and conversations of the Anthropic Messages API.
pub const READER: Reader = Reader {
    name: "anthropic-messages",
    about: "Anthropic Messages API: request bodies, recorded exchanges, conversations (JSON or JSONL)",
    claims,
    read,
};

/// The keys of a request body, and those that people add to one.
const BODY_KEYS: &str = "model messages system tools tool_choice max_tokens metadata stop_sequences stream temperature top_k top_p thinking \
                         container context_management mcp_servers service_tier betas anthropic_version anthropic_beta cache_control \
                         output_config output_format id name usage";

/// What recorders write beside a request and its response.
const EXCHANGE_KEYS: &str = "request response url seq source timestamp id error duration_ms";

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let keys: Vec<&str> = outline.top().collect();
    let head = source.head();
    let has = |key: &str| keys.contains(&key);
    let holds = |marks: &[&str]| marks.iter().any(|mark| memchr::memmem::find(head, mark.as_bytes()).is_some());
    let own = holds(&["\"tool_use_id\"", "\"input_schema\"", "\"cache_creation_input_tokens\"", "\"cache_read_input_tokens\""]);
    let hint = holds(&["\"stop_reason\"", "\"input_tokens\""]);
    if has("api") {
        return Claim::No;
    }
    let told = ["", "[]."].iter().any(|at| outline.shows_at(at, anthropic::EXCHANGE));
    let exchange = told || has("request") && keys.iter().all(|key| EXCHANGE_KEYS.split(' ').any(|own| own == *key));
    let body = has("messages") && keys.iter().all(|key| BODY_KEYS.split(' ').any(|own| own == *key));
    let message = has("role") && has("content") && !has("type");
    let own = own || told || (exchange && holds(&["message_start"]));
    match (exchange || body || message || (has("role") && holds(&["\"type\":\"message\"", "\"type\": \"message\""])), own) {
        (false, _) => Claim::No,
        (true, true) if exchange || body || !message => Claim::Yes,
        // Agents keep lists of such messages as well.
        (true, true) => Claim::Maybe,
        (true, false) if hint || (body && has("system") && has("max_tokens")) => Claim::Maybe,
        (true, false) => Claim::No,
    }
}

wire! {
    /// What tells the shapes apart.
    struct Item<'a> {
        request: Option<&'a RawValue>,
        response: Option<&'a RawValue>,
        messages: Option<&'a RawValue>,
        role: Option<&'a RawValue>,
    }
}

/// Lone messages follow each other: the name of the conversation that they make up.
const LONE: &str = "lone messages";

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut log = Log { sessions: Sessions::new(READER.name, source.name(), scale), lone: None, hand_over };
    source.each_text(&[], |source, text, number, at_end| {
        source
            .values_of(text, number, at_end, |value: &RawValue, lose| exchange(value.get(), lose).into_iter().for_each(|one| log.add(one)));
    })?;
    log.end_lone();
    log.sessions.finish().for_each(log.hand_over);
    Ok(())
}

/// A log as far as it has been read.
struct Log<'s> {
    sessions: Sessions<'s>,
    /// The last lone message: the next one may be more of the same reply.
    lone: Option<Exchange>,
    hand_over: &'s mut dyn FnMut(Transcript),
}

impl Log<'_> {
    fn add(&mut self, mut exchange: Exchange) {
        if exchange.follows.is_some()
            && let Some(lone) = &mut self.lone
        {
            let held = lone.entries.len();
            std::mem::take(&mut exchange.entries).into_iter().for_each(|entry| append(&mut lone.entries, entry));
            exchange.entries = lone.entries.split_off(held);
            if exchange.entries.is_empty() {
                return;
            }
        }
        self.end_lone();
        if exchange.follows.is_some() {
            self.lone = Some(exchange);
        } else {
            self.sessions.add(exchange).into_iter().for_each(&mut *self.hand_over);
        }
    }

    fn end_lone(&mut self) {
        let ended = self.lone.take().and_then(|exchange| self.sessions.add(exchange));
        ended.into_iter().for_each(&mut *self.hand_over);
    }
}

fn exchange(value: &str, lose: &mut dyn FnMut(&str)) -> Option<Exchange> {
    let said = |messages, lose: &mut dyn FnMut(&str)| {
        conversation(&Body { messages, ..Body::default() }, Made::Here, &mut Weigher::new(&Verbatim, &mut Tools::default()), lose)
    };
    let mut held = String::new();
    if value.starts_with('[') {
        let messages =
            decoded::<Vec<Spoken>, Spoken>(value, "", &mut held, lose).inspect_err(|_| lose("list that holds no messages")).ok()?;
        return Some(said(messages, lose));
    }
    let item = serde_json::from_str::<Item>(value).inspect_err(|error| lose(&odd(error, false, value))).ok()?;
    if let Some(request) = item.request {
        let decoded = Dialect::Anthropic.decode(request.get(), item.response.map(received).as_deref(), lose);
        decoded.inspect_err(|_| lose("request of an unexpected shape")).ok()
    } else if item.messages.is_some() {
        let body =
            decoded::<Body, Spoken>(value, "messages", &mut held, lose).inspect_err(|_| lose("record of an unexpected shape")).ok()?;
        Some(conversation(&body, Made::Here, &mut Weigher::new(&Verbatim, &mut Tools::default()), lose))
    } else if item.role.is_some() {
        let message = serde_json::from_str::<Spoken>(value).inspect_err(|error| lose(&odd(error, false, value))).ok()?;
        let exchange = Exchange { follows: Some(LONE.to_owned()), known_as: vec![LONE.to_owned()], ..said(vec![message], lose) };
        Some(exchange).filter(|exchange| !exchange.entries.is_empty())
    } else {
        lose("record of an unexpected shape");
        None
    }
}
