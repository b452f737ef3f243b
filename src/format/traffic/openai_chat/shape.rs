//! A value of a file, and the request with its reply that it may be.

use crate::format::exchange::logged::{self, Beside};
use crate::format::exchange::openai_chat::{Request, Response, exchange};
use crate::format::exchange::{Dialect, Exchange, openai_responses, received};
use crate::format::ground::{Lose, Words, decoded, moment, sound, string, wire};
use crate::format::wire::chat::{ChatMessage, ChatUsage};
use serde_json::value::RawValue;

wire! {
    /// A value of the file: a message, a conversation, or an exchange.
    pub struct Shape<'a> {
        /// What a line of nanobot holds that is no message: `metadata`, or the provider's own state.
        pub beside: Words<'a> = "_type",
        pub role: Option<&'a RawValue>,
        pub messages: Option<Vec<ChatMessage<'a>>>,
        /// The same in traces that Harbor exports, and in conversations for training.
        pub conversations: Option<&'a RawValue>,
        pub tools: Option<&'a RawValue> = "tools" | "functions",
        pub tool_definitions: Option<&'a RawValue>,
        /// Of a trace: which of the agent's requests it shows with its reply, and of which run.
        pub episode: Option<&'a RawValue>,
        pub trial_name: Option<&'a RawValue>,
        pub model: Option<&'a RawValue>,
        /// Who made the conversation, with its model.
        agent: Option<&'a RawValue>,
        pub usage: Option<&'a RawValue> = "usage" | "token_usage",
        request: Option<&'a RawValue> = "request" | "request_body",
        /// The messages of a request, or all of it.
        input: Option<&'a RawValue> = "input" | "prompt" | "prompt_messages",
        response: Option<&'a RawValue> = "response" | "response_body" | "completion" | "choices" | "reply",
        /// The same by names that other things have, too.
        output: Option<&'a RawValue> = "output" | "answer" | "content",
        time: Option<&'a RawValue> = "timestamp" | "time" | "ts" | "created_at" | "created" | "datetime",
        id: Option<&'a RawValue> = "id" | "instance_id",
        session: Option<&'a RawValue> = "session_id" | "conversation_id",
        run: Option<&'a RawValue> = "thread_id" | "run_id" | "trace_id",
    }

    struct Agent<'a> { model_name: Words<'a> }

    /// The messages as they stand there.
    struct Listed<'a> { messages: Option<Vec<&'a RawValue>> }
}

/// Did the model write it?
pub fn is_reply(message: &ChatMessage) -> bool {
    matches!(&*message.role, "assistant" | "model")
}

impl Shape<'_> {
    /// The id of the conversation; empty where it has none.
    pub fn id(&self) -> String {
        string(self.id.or(self.session))
    }

    /// The model; empty where it is not named.
    pub fn model(&self) -> String {
        let agent = || serde_json::from_str::<Agent>(self.agent?.get()).ok();
        self.model.map_or_else(|| agent().unwrap_or_default().model_name.to_string(), |model| string(Some(model)))
    }

    /// When it was written.
    pub fn time(&self) -> Option<i64> {
        moment(self.time)
    }

    /// The request with its reply, which stand apart. `None` where the record is something else.
    pub fn exchange(&self, text: &str, lose: Lose<'_>) -> Option<Exchange> {
        let is = |raw: &&RawValue, start: char| raw.get().starts_with(start);
        let beside = Beside { usage: self.usage, time: self.time };
        let reply = self.response.or(self.output);
        let response = || reply.map(|reply| logged::response(reply, &beside));
        let alone = self.messages.is_none() && self.conversations.is_none() && self.role.is_none();
        let body = self.request.or(self.input.filter(|input| is(input, '{') && alone));
        let is_responses =
            |output: &str| openai_responses::are_items(output) || output.starts_with('[') && output.contains("\"output_text\"");
        let items = || self.output.filter(|output| alone && is_responses(output.get())).and(self.input);
        let made = if let Some(body) = body {
            Dialect::OpenAiChat.decode(&received(body), response().as_deref(), lose)
        } else if let Some(messages) = self.messages.as_ref().filter(|messages| self.is_answered(messages)) {
            Ok(exchange(&self.asked(messages), response().as_deref(), lose))
        } else if items().is_some() {
            // Request and response of the other interface have no names in common.
            Dialect::OpenAiResponses.decode(text, Some(text), lose)
        } else if let Some(list) = self.input.filter(|input| is(input, '[') && alone && reply.is_some()) {
            let mut held = String::new();
            let messages = decoded::<Vec<ChatMessage>, ChatMessage>(list.get(), "", &mut held, lose);
            messages.map(|messages| exchange(&self.asked(&messages), response().as_deref(), lose))
        } else {
            return None;
        };
        let made = made.inspect_err(|_| lose("request of an unexpected shape"));
        Some(self.told(made.unwrap_or_else(|_| Exchange { failed: true, ..Exchange::default() }), text, lose))
    }

    /// The request that the messages are, the last one its reply if the model wrote that.
    pub fn repeated(&self, text: &str, lose: Lose<'_>) -> Exchange {
        let messages = self.messages.as_deref().unwrap_or_default();
        let listed = serde_json::from_str::<Listed>(text).ok().and_then(|listed| listed.messages).unwrap_or_default();
        let beside = Beside { usage: self.usage, time: self.time };
        let reply = messages.last().filter(|last| is_reply(last)).and(listed.last());
        let response = reply.map(|reply| logged::response(reply, &beside));
        let asked = messages.get(..messages.len() - usize::from(reply.is_some())).unwrap_or_default();
        let made = exchange(&self.asked(asked), response.as_deref(), lose);
        // What it was replied may stand in the next one.
        Exchange { failed: false, ..self.told(made, text, lose) }
    }

    fn asked<'m>(&'m self, messages: &'m [ChatMessage<'m>]) -> Request<'m> {
        Request { messages, tools: self.tools, model: self.model }
    }

    /// Does the reply to these messages stand beside them? Data for training have the right answer under the same names.
    fn is_answered(&self, messages: &[ChatMessage]) -> bool {
        let asks = messages.last().is_none_or(|last| !is_reply(last));
        let is_call = self.usage.or(self.model).is_some();
        self.response.is_some_and(|reply| asks || Response::is_one(reply)) || self.output.is_some() && asks && is_call
    }

    /// The exchange with what stands beside it.
    fn told(&self, mut made: Exchange, text: &str, lose: Lose<'_>) -> Exchange {
        // Other logs of the same run name it by its first response.
        if made.session.is_empty() {
            made.session = string(self.session.or(self.run));
        }
        for message in made.reply.iter_mut().flat_map(|reply| &mut reply.messages) {
            message.time = message.time.or(self.time());
            if let Some(call) = message.call.as_mut().filter(|call| call.usage.is_none()) {
                let record = serde_json::from_str::<&RawValue>(text).ok().filter(|_| self.usage.is_none());
                call.usage = sound(record.map_or(Ok(None), ChatUsage::read), lose);
            }
        }
        made
    }
}
