//! Logs of requests with their responses. Each request repeats the conversation so far: one whose messages extend those of the
//! exchange before it goes on with the same session.

use super::Conversation;
use crate::format::Source;
use crate::format::chat::{ChatMessage, ChatUsage, fingerprint};
use crate::format::count::{ABSURD, Count};
use crate::format::json::string;
use crate::format::words::Words;
use crate::transcript::{Call, Scale};
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

/// What was sent.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Request<'a> {
    /// The conversation so far.
    #[serde(borrow)]
    pub messages: Vec<ChatMessage<'a>>,
    /// The definitions of the tools.
    #[serde(borrow, alias = "functions")]
    pub tools: Option<&'a RawValue>,
    /// The model that was asked for.
    #[serde(borrow)]
    pub model: Option<&'a RawValue>,
}

/// What came back.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Response<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    model: Words<'a>,
    created: Count,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<ChatMessage<'a>>,
}

impl Response<'_> {
    /// Does this look like a response? Other things have that name too.
    pub fn is_one(raw: &RawValue) -> bool {
        serde_json::from_str::<Response>(raw.get()).is_ok_and(|response| response.choices.is_some())
    }
}

/// The session that exchanges are being added to.
#[derive(Default)]
pub struct Exchanges {
    open: Option<Open>,
}

struct Open {
    conversation: Conversation,
    /// One for each message so far, the last reply included.
    fingerprints: Vec<u64>,
    tools: u64,
}

impl Exchanges {
    /// Takes in one exchange. Gives back the session before it, where this one starts anew.
    pub fn take(
        &mut self,
        request: &Request,
        response: Option<&RawValue>,
        line: u64,
        scale: &dyn Scale,
        source: &mut Source,
    ) -> Option<Conversation> {
        let response = response.and_then(|raw| serde_json::from_str::<Response>(raw.get()).ok()).unwrap_or_default();
        let mut choices = response.choices.unwrap_or_default().into_iter();
        let Some(mut reply) = choices.next().and_then(|choice| choice.message) else {
            source.lose(line, "request without a reply");
            return None;
        };
        if choices.next().is_some() {
            source.lose(line, "second choice of a reply");
        }
        reply.role = Words("assistant".into());
        let fingerprints: Vec<u64> = request.messages.iter().map(fingerprint).collect();
        let ended = match &self.open {
            Some(open) if fingerprints.starts_with(&open.fingerprints) => None,
            _ => self.end(),
        };
        let model = if response.model.is_empty() { string(request.model) } else { response.model.to_string() };
        let tools = request.tools.map_or(0, |tools| xxh3_64(tools.get().as_bytes()));
        let open = self.open.get_or_insert_with(|| {
            let mut conversation = Conversation::new(response.id.to_string(), model.clone());
            conversation.tools(request.tools, scale);
            Open { conversation, fingerprints: Vec::new(), tools }
        });
        for message in request.messages.iter().skip(open.fingerprints.len()) {
            open.conversation.message(message, line, scale, source);
        }
        let usage = response.usage.map_or(Ok(None), ChatUsage::read).unwrap_or_else(|_| {
            source.lose(line, ABSURD);
            None
        });
        let call = Call { id: response.id.to_string(), model, usage, unchained: tools != open.tools };
        open.tools = tools;
        open.conversation.message_of(&reply, call, line, scale, source);
        if let (Some(message), Ok(Some(seconds))) = (open.conversation.transcript.messages.last_mut(), response.created.known()) {
            message.time = i64::try_from(seconds).ok().map(|seconds| seconds * 1000);
        }
        open.fingerprints = fingerprints;
        open.fingerprints.push(fingerprint(&reply));
        ended
    }

    /// Ends the open session.
    pub fn end(&mut self) -> Option<Conversation> {
        self.open.take().map(|open| open.conversation)
    }
}
