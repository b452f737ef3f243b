//! Requests to a model's interface with their responses, as recorders of many kinds log them. Each dialect is decoded into an
//! [`Exchange`]; what is common to all logs, that a request repeats the conversation so far, is the matter of [`Sessions`].

pub mod anthropic;
pub mod autogen;
mod bedrock;
mod cloudflare;
mod cohere;
mod compacted;
mod cut;
mod edit;
mod entry;
mod events;
mod fork;
pub mod gemini;
mod half;
pub mod logged;
mod ollama;
pub mod openai_chat;
pub mod openai_responses;
mod prints;
mod session;
mod sessions;
mod stream;
mod texts;
mod verbatim;

pub use cut::MOST_PASSING;
pub use entry::{Entry, Exchange, call, received};
pub use events::{events, is_stream};
pub use half::{Half, half};
pub use prints::{Place, Replies, prints};
pub use sessions::Sessions;
pub use verbatim::{Verbatim, weigh};

use crate::format::ground::{Words, values, wire};
use serde_json::value::RawValue;

/// The name of the interface that an exchange was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic: the Messages interface.
    Anthropic,
    /// OpenAI and its followers: Chat Completions.
    OpenAiChat,
    /// OpenAI: the Responses interface.
    OpenAiResponses,
    /// OpenAI: Responses, the request that shortens a conversation.
    OpenAiCompact,
    /// Google: `generateContent` and its streaming form.
    Gemini,
    /// Amazon: Converse, and its own models.
    Bedrock,
    /// OpenAI and its followers: completions of a text.
    Completions,
    /// Ollama's own: chat and generation.
    Ollama,
    /// Cohere: chat, both versions.
    Cohere,
    /// Cloudflare's own: Workers AI.
    Cloudflare,
    /// AutoGen's recorder, whatever the interface behind it: the request is the whole record.
    AutoGen,
    /// Completions of a text in names of their own: Titan, Llama and Cohere's first models at Amazon, Anthropic's first interface.
    Texts,
}

wire! {
    /// What is looked at to tell the dialect of a request.
    struct Keys<'a> {
        /// A request to Anthropic's models at Amazon names the version of its dialect.
        anthropic_version: Option<&'a RawValue>,
        messages: Option<&'a RawValue>,
        contents: Option<&'a RawValue>,
        input: Option<&'a RawValue>,
        /// A prompt that the provider keeps, or the text to complete.
        prompt: Option<&'a RawValue>,
        /// The same at Titan.
        input_text: Option<&'a RawValue> = "inputText",
        /// Cohere's first version: the newest message.
        message: Option<&'a RawValue>,
    }
}

wire! {
    /// What a response, or an event of one, says that it is, or shows.
    struct Named<'a> {
        object: Words<'a>,
        /// Ollama: is it the last piece, and when was it made?
        done: Option<&'a RawValue>,
        created_at: Option<&'a RawValue>,
        model: Option<&'a RawValue>,
        done_reason: Words<'a>,
        /// Cohere: the first version of a response or of an event, and the second.
        generation_id: Option<&'a RawValue>,
        event_type: Words<'a>,
        finish_reason: Option<&'a RawValue>,
        message: Option<&'a RawValue>,
        counted: Option<&'a RawValue> = "usage" | "meta",
        kind: Words<'a> = "type",
    }
}

wire! {
    /// Why a request was refused: at Ollama, and at Cohere.
    struct Refusal<'a> { error: Option<&'a RawValue>, message: Option<&'a RawValue> }
}

/// How the addresses of Converse end.
const CONVERSE: [&str; 2] = ["/converse", "/converse-stream"];

fn path(address: &str) -> &str {
    address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/')
}

impl Dialect {
    /// The dialect that a recorder names.
    pub fn of_name(name: &str) -> Option<Dialect> {
        Some(match name {
            "anthropic_messages" => Dialect::Anthropic,
            "openai_chat" => Dialect::OpenAiChat,
            "openai_responses" => Dialect::OpenAiResponses,
            "openai_responses_compact" => Dialect::OpenAiCompact,
            "gemini_generate" => Dialect::Gemini,
            "ollama_chat" => Dialect::Ollama,
            "cohere_chat" => Dialect::Cohere,
            _ => return None,
        })
    }

    /// The dialect of requests to this address. Proxies serve the same paths under any host. `None` where no model is asked.
    pub fn at(address: &str) -> Option<Dialect> {
        let path = path(address);
        let ends = |names: &[&str]| names.iter().any(|name| path.ends_with(name));
        Some(if ends(&["/responses/compact"]) {
            Dialect::OpenAiCompact
        } else if ends(&["/responses"]) {
            Dialect::OpenAiResponses
        } else if ends(&[":generateContent", ":streamGenerateContent", "/generate_content", "/generate_content_stream"]) {
            Dialect::Gemini
        } else if ends(&["/messages", ":rawPredict", ":streamRawPredict"]) {
            Dialect::Anthropic
        } else if ends(&["/invoke", "/invoke-with-response-stream"]) {
            // Amazon's own models are asked in the names of Converse.
            let model = bedrock::model(address);
            let is_of = |maker: &str| model.split('.').any(|part| part == maker);
            // A profile of one's own names no maker.
            match () {
                () if model.contains("embed") => return None,
                () if model.contains("titan-") => Dialect::Texts,
                () if is_of("amazon") => Dialect::Bedrock,
                () if is_of("anthropic") || !model.contains('.') || model.starts_with("arn:") => Dialect::Anthropic,
                () if model.contains("cohere.command-r") => Dialect::Cohere,
                () if model.contains("ai21.jamba") => Dialect::OpenAiChat,
                () if is_of("cohere") || is_of("meta") => Dialect::Texts,
                () => return None,
            }
        } else if ends(&CONVERSE) {
            Dialect::Bedrock
        } else if path.contains(&format!("{}@", cloudflare::RUN)) {
            Dialect::Cloudflare
        } else if ends(&["/chat/completions"]) {
            Dialect::OpenAiChat
        } else if ends(&["/completions"]) {
            Dialect::Completions
        } else if ends(&["/v1/complete"]) {
            Dialect::Texts
        } else {
            return None;
        })
    }

    /// The dialect of a request whose address is not known, by its body. `None` where several have the same names.
    pub fn of_body(request: &str) -> Option<Dialect> {
        serde_json::from_str::<Keys>(request).ok()?.contents.map(|_| Dialect::Gemini)
    }

    /// The same of a request with this body. `None` for requests that ask no model for a reply: uploads, lists, counts of tokens.
    pub fn of_address(address: &str, request: &str) -> Option<Dialect> {
        let dialect = Dialect::at(address)?;
        let converse = CONVERSE.iter().any(|name| path(address).ends_with(name));
        // Nothing else is asked at these addresses, so that a request whose JSON is broken has an answer that counts.
        let Ok(keys) = serde_json::from_str::<Keys>(request) else { return converse.then_some(Dialect::Bedrock) };
        let text = keys.prompt.or(keys.input_text);
        // Claude's first versions complete a text, and a profile of one's own may lead to any model.
        let dialect = match dialect {
            Dialect::Anthropic if path(address).contains("/invoke") && keys.messages.is_none() => Dialect::Texts,
            dialect => dialect,
        };
        let asked = match dialect {
            Dialect::OpenAiCompact => true,
            Dialect::OpenAiResponses => keys.input.or(keys.prompt).is_some(),
            Dialect::Gemini => keys.contents.is_some(),
            Dialect::Completions => keys.prompt.is_some(),
            Dialect::Texts => text.is_some(),
            Dialect::Cohere => keys.messages.or(keys.message).is_some(),
            Dialect::Anthropic | Dialect::Bedrock | Dialect::OpenAiChat | Dialect::Ollama | Dialect::Cloudflare | Dialect::AutoGen => {
                keys.messages.is_some()
            }
        };
        let claude = dialect == Dialect::Bedrock && !converse && keys.anthropic_version.is_some();
        asked.then_some(if claude { Dialect::Anthropic } else { dialect })
    }

    /// The same of a request to another address by what came back, and whether the request holds the conversation: gateways and other providers serve Chat
    /// Completions at addresses of their own, some with a prompt that they keep, and Ollama's and Cohere's own are like those of many a program.
    pub fn of_response(request: &str, response: &str) -> Option<(Dialect, bool)> {
        let events = response.lines().filter_map(|line| line.strip_prefix("data:"));
        let listed = if response.starts_with('[') { serde_json::from_str::<Vec<Named>>(response).unwrap_or_default() } else { Vec::new() };
        let found = || values::<Named>(response).chain(events.flat_map(values::<Named>)).find_map(Result::ok);
        let shown = listed.into_iter().next().or_else(found)?;
        let dialect = match (&*shown.object, &*shown.kind, &*shown.event_type) {
            ("chat.completion" | "chat.completion.chunk", ..) => Dialect::OpenAiChat,
            ("text_completion", ..) => Dialect::Completions,
            ("", "message-start", _) | ("", _, "stream-start") if cohere::is_counted(response) => Dialect::Cohere,
            ("", ..) if shown.finish_reason.and(shown.counted).is_some() && shown.message.or(shown.generation_id).is_some() => {
                Dialect::Cohere
            }
            // A model that is only loaded, or unloaded, is asked nothing.
            ("", ..) if matches!(&*shown.done_reason, "load" | "unload") => return None,
            ("", ..) if shown.done.and(shown.created_at).and(shown.model).is_some() => Dialect::Ollama,
            _ => return None,
        };
        let keys = serde_json::from_str::<Keys>(request).unwrap_or_default();
        let own = match dialect {
            Dialect::Ollama | Dialect::Completions => keys.prompt,
            Dialect::Cohere => keys.message,
            _ => None,
        };
        Some((dialect, keys.messages.or(own).is_some()))
    }

    /// The same of a request that was refused, by its address and the words of the refusal: other programs have the same addresses, and what they answer is none.
    pub fn of_refusal(address: &str, request: &str, response: &str) -> Option<Dialect> {
        let keys = serde_json::from_str::<Keys>(request).ok()?;
        let came = serde_json::from_str::<Refusal>(response).ok()?;
        let at = |ends: [&str; 2]| ends.iter().any(|end| path(address).ends_with(end));
        let says = |words: Option<&RawValue>| words.is_some_and(|words| words.get().starts_with('"'));
        match () {
            () if at(["/api/chat", "/api/generate"]) && says(came.error) => keys.messages.or(keys.prompt).map(|_| Dialect::Ollama),
            () if at(["/v1/chat", "/v2/chat"]) && address.contains("cohere") && says(came.message) => {
                keys.messages.or(keys.message).map(|_| Dialect::Cohere)
            }
            () => None,
        }
    }

    /// The model that the address of a request names, for dialects that do so; empty where there is none.
    pub fn model_of_address(self, address: &str) -> String {
        match self {
            // Other makers' models are served there, too.
            Dialect::Bedrock | Dialect::Cohere | Dialect::Texts | Dialect::OpenAiChat => bedrock::model(address),
            Dialect::Gemini => gemini::model(address).to_owned(),
            Dialect::Cloudflare => cloudflare::model(address),
            _ => String::new(),
        }
    }

    /// The exchange of a request with its response, which may be the body or the events of a stream. `Err` where the request is
    /// not what the dialect promises.
    pub fn decode(self, request: &str, response: Option<&str>, lose: &mut dyn FnMut(&str)) -> Result<Exchange, serde_json::Error> {
        let joined = response.and_then(|text| stream::joined(self, text));
        let response = joined.as_deref().or(response);
        match self {
            Dialect::Anthropic => anthropic::decode(request, response, lose),
            Dialect::OpenAiChat => openai_chat::decode(request, response, lose),
            Dialect::OpenAiResponses => openai_responses::decode(request, response, lose),
            Dialect::OpenAiCompact => openai_responses::compaction(request, response, lose),
            Dialect::Gemini => gemini::decode(request, response, lose),
            Dialect::Completions => match openai_chat::completion(request) {
                Some(asked) => openai_chat::renamed(Some(asked), response.and_then(openai_chat::completed), lose),
                None => {
                    lose("several prompts in one request");
                    Ok(openai_chat::aside(response, lose))
                }
            },
            Dialect::Ollama => openai_chat::renamed(ollama::request(request), response.and_then(ollama::response), lose),
            Dialect::Cohere => openai_chat::renamed(cohere::request(request), response.and_then(cohere::response), lose),
            Dialect::Cloudflare => openai_chat::renamed(cloudflare::request(request), response.and_then(cloudflare::response), lose),
            Dialect::AutoGen => openai_chat::renamed(autogen::request(request), response.and_then(autogen::response), lose),
            Dialect::Texts => openai_chat::renamed(texts::request(request), response.and_then(texts::response), lose),
            Dialect::Bedrock => {
                let (asked, response) = (bedrock::request(request), response.and_then(bedrock::response));
                if asked.is_none() {
                    lose("request of an unexpected shape");
                }
                let mut exchange = anthropic::decode(asked.as_deref().unwrap_or("{}"), response.as_deref(), lose)?;
                exchange.hidden |= asked.is_none();
                Ok(exchange)
            }
        }
    }
}
