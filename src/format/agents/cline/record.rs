//! What the two files hold, as far as it is read.

use crate::format::ground::{Absurd, Count, Dollars, Words, wire};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::anthropic;
use crate::format::wire::blocks::Blocks;
use crate::transcript::Usage;

wire! {
    /// An entry of the screen's list.
    pub struct Entry<'a> {
        pub ts: Option<f64>,
        pub say: Words<'a>,
        pub ask: Words<'a>,
        pub text: Words<'a>,
        pub reasoning: Words<'a>,
        pub images: Option<Vec<Words<'a>>>,
        pub partial: Option<bool>,
        pub model_info: Option<ModelInfo<'a>> = "modelInfo",
        /// The place of the newest entry of the conversation when this one was shown; -1 before the first.
        pub conversation_history_index: Option<i64> = "conversationHistoryIndex",
        /// The first and the last entry of the conversation that are not sent any more.
        pub conversation_history_deleted_range: Option<(u64, u64)> = "conversationHistoryDeletedRange",
        pub context_condense: Option<Condense<'a>> = "contextCondense",
        pub context_truncation: Option<Condense<'a>> = "contextTruncation",
    }

    pub struct ModelInfo<'a> {
        pub model_id: Words<'a> = "modelId" | "model_id",
        provider_id: Words<'a> = "providerId" | "model_provider_id",
        ts: Option<f64>,
    }

    /// What `task_metadata.json` says of the models that were asked, each from a time on: entries name them only since 3.40.
    pub struct Metadata<'a> { model_usage: Option<Vec<ModelInfo<'a>>> }

    /// A compaction as the screen describes it.
    pub struct Condense<'a> {
        pub prev_context_tokens: Count = "prevContextTokens",
        pub new_context_tokens: Count = "newContextTokens",
        pub summary: Words<'a>,
        /// What a truncation is known by, here and at its marker in the conversation.
        pub truncation_id: Words<'a> = "truncationId",
    }

    /// What the text of an `api_req_started` says.
    pub struct Started<'a> {
        pub request: Words<'a>,
        tokens_in: Count = "tokensIn",
        tokens_out: Count = "tokensOut",
        cache_writes: Count = "cacheWrites",
        cache_reads: Count = "cacheReads",
        cost: Dollars,
        /// How the provider counts; relatives of the agent note it.
        api_protocol: Words<'a> = "apiProtocol",
        pub cancel_reason: Words<'a> = "cancelReason",
    }

    /// An entry of the conversation: a message of Anthropic's, with what the agent adds.
    pub struct Spoken<'a> {
        pub role: Words<'a>,
        pub content: Blocks<'a, anthropic::Piece<'a>>,
        pub ts: Option<f64>,
        pub model_info: Option<ModelInfo<'a>> = "modelInfo",
        metrics: Option<Metrics>,
        pub is_summary: Option<bool> = "isSummary",
        pub is_truncation_marker: Option<bool> = "isTruncationMarker",
        pub truncation_id: Words<'a> = "truncationId",
    }

    /// What the request of a reply used; the agent notes it since 3.40.
    struct Metrics {
        tokens: Option<Tokens>,
        cost: Dollars,
    }

    /// `prompt` is the `tokensIn` of the screen's list; `cached` is what was read from the cache and what was written to it, as one sum.
    struct Tokens {
        prompt: Count,
        completion: Count,
        cached: Count,
    }
}

impl<'a> Metadata<'a> {
    /// The model that was asked at this time.
    pub fn at(&self, time: Option<i64>) -> Option<&ModelInfo<'a>> {
        let time = time? as f64;
        self.model_usage.iter().flatten().rfind(|info| info.ts.is_some_and(|ts| ts <= time))
    }
}

/// The days on which 3.18.0 and 3.24.0 were out, in milliseconds since 1970. Since the first, the clients of OpenRouter and of Cline's own service take what was cached out of the
/// input of Gemini's models, since the second of all (cline/cline b80ef25a and affac119 of `src/api/providers/openrouter.ts`).
const GEMINI_APART: i64 = 1_750_896_000_000;
const ALL_APART: i64 = 1_755_129_600_000;

/// Where the agent counts what was cached: its clients of most providers take it out of the input, and these hand on a whole prompt
/// (`core/api/providers` of 3.x), but where their model is one of Anthropic's.
fn cached(asked: Option<&ModelInfo<'_>>, time: Option<i64>) -> Cached {
    let (provider, model) = asked.map_or(("", ""), |info| (&info.provider_id, &info.model_id));
    let apart = if model.contains("gemini") { GEMINI_APART } else { ALL_APART };
    match provider {
        "openrouter" | "cline" if time.is_some_and(|time| time < apart) => Cached::Either,
        "openai" | "openai-codex" | "litellm" | "lmstudio" | "hicap" | "oca" | "fireworks" | "doubao" | "aihubmix" | "qwen" | "xai"
        | "zai" | "requesty" => Cached::Either,
        _ => Cached::Beside,
    }
}

impl Started<'_> {
    /// The usage; `None` where none is noted.
    ///
    /// The agent itself counts as its client of the provider does. Its relatives count the cached part in for providers of OpenAI's
    /// kind; for those of Anthropic's, older versions leave it out and newer ones count it in. What was left out is small beside the
    /// cached part.
    pub fn usage(&self, asked: Option<&ModelInfo<'_>>, time: Option<i64>) -> Result<Option<Usage>, Absurd> {
        let cached = match &*self.api_protocol {
            "" => cached(asked, time),
            "anthropic" => Cached::Either,
            _ => Cached::Within,
        };
        let reported = Reported {
            input: self.tokens_in,
            cache_read: self.cache_reads,
            cache_write: self.cache_writes,
            cached,
            output: self.tokens_out,
            cost_nano_usd: self.cost.above_zero(),
            ..Reported::default()
        };
        // A reply that was cancelled is counted as far as it had come.
        Ok(reported.usage()?.map(|usage| Usage { output_is_final: self.cancel_reason.is_empty(), ..usage }))
    }
}

impl Spoken<'_> {
    /// The usage that stands with the reply itself. How much of the prompt was read from the cache, and how much written, is unknown.
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let Some(Metrics { tokens: Some(tokens), cost }) = &self.metrics else { return Ok(None) };
        let reported = Reported {
            input: tokens.prompt,
            cache_read: tokens.cached,
            cached: cached(self.model_info.as_ref(), None),
            output: tokens.completion,
            cost_nano_usd: cost.above_zero(),
            ..Reported::default()
        };
        Ok(reported.usage()?.map(|usage| Usage { cache_read: 0, ..usage }))
    }
}
