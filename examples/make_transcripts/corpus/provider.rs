//! The stand-in for the providers: what a text costs, and what a call reports. Every recorded prompt is explained by it to the token:
//!
//! - a text costs its `o200k_base` tokens times a family's rate, rounded half up;
//! - a message other than a reply costs its texts plus a fixed amount;
//! - a reply costs its output, less the reasoning where the provider does not send that back;
//! - the prompt of a call is the hidden overhead plus everything before it.

/// How one provider counts.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// Tokens for a hundred tokens of `o200k_base`.
    pub percent: u64,
    /// Tokens of wrapping for each message that is not a reply.
    pub per_message: u64,
    /// Tokens of system prompt and tool definitions that the log does not show.
    pub hidden: u64,
    /// Tokens of thinking for each token of it that the log shows.
    pub thinking_factor: u64,
    /// Does earlier thinking stand in later prompts?
    pub keeps_thinking: bool,
    /// How the cache counts.
    pub cache: Cache,
}

/// How a provider caches prompts.
#[derive(Clone, Copy, Debug)]
pub struct Cache {
    /// Milliseconds after which a prompt is forgotten.
    pub lifetime: i64,
    /// A read is a multiple of this.
    pub step: u64,
    /// A shorter prefix is not read.
    pub minimum: u64,
}

impl Provider {
    /// OpenAI: counts as its vocabulary does, drops reasoning, caches in blocks of 128 for a short while.
    pub fn openai(hidden: u64) -> Provider {
        let cache = Cache { lifetime: 600_000, step: 128, minimum: 1024 };
        Provider { percent: 100, per_message: 4, hidden, thinking_factor: 3, keeps_thinking: false, cache }
    }

    /// Claude up to 4.6: a quarter more tokens, thinking shown in full and kept.
    pub fn claude(hidden: u64) -> Provider {
        let cache = Cache { lifetime: 300_000, step: 1, minimum: 1024 };
        Provider { percent: 125, per_message: 7, hidden, thinking_factor: 1, keeps_thinking: true, cache }
    }

    /// Claude from 4.7 on: a larger count for the same text, thinking shown in summary, one hour of cache.
    pub fn claude_new(hidden: u64) -> Provider {
        let cache = Cache { lifetime: 3_600_000, step: 1, minimum: 1024 };
        Provider { percent: 157, per_message: 7, hidden, thinking_factor: 2, keeps_thinking: true, cache }
    }

    /// Gemini 3: a fifth more tokens, thoughts dropped.
    pub fn gemini(hidden: u64) -> Provider {
        let cache = Cache { lifetime: 600_000, step: 1, minimum: 2048 };
        Provider { percent: 120, per_message: 5, hidden, thinking_factor: 2, keeps_thinking: false, cache }
    }

    /// What a text costs.
    pub fn tokens(&self, text: &str) -> u64 {
        let counted = tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64;
        (counted * self.percent + 50) / 100
    }
}

/// What a call reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// All input.
    pub prompt: u64,
    /// The part of it that was cached.
    pub cached: u64,
    /// The reply, reasoning included.
    pub output: u64,
    /// The part of it that is reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// The input that was not cached.
    pub fn fresh(&self) -> u64 {
        self.prompt - self.cached
    }

    /// Input and output.
    pub fn total(&self) -> u64 {
        self.prompt + self.output
    }
}

/// One model context as its provider sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ledger {
    /// Who counts.
    pub provider: Provider,
    /// What the next prompt will be.
    pub size: u64,
    /// The longest prefix that the provider has seen.
    warm: u64,
    warm_at: i64,
}

impl Ledger {
    /// An empty context: nothing but the hidden overhead.
    pub fn new(provider: Provider) -> Ledger {
        Ledger { provider, size: provider.hidden, warm: 0, warm_at: 0 }
    }

    /// Adds a message made of texts that cost this much; gives the whole cost.
    pub fn message(&mut self, texts: u64) -> u64 {
        let cost = texts + self.provider.per_message;
        self.size += cost;
        cost
    }

    /// One call at this time: reports its usage and keeps its reply.
    pub fn call(&mut self, now: i64, thinking: u64, visible: u64) -> Usage {
        let usage = self.aside(now, thinking, visible);
        self.warm = usage.prompt;
        self.size += self.kept(usage);
        usage
    }

    /// A call whose reply does not enter the context.
    pub fn aside(&mut self, now: i64, thinking: u64, visible: u64) -> Usage {
        let cache = self.provider.cache;
        let warm = if now - self.warm_at < cache.lifetime { self.warm.min(self.size) } else { 0 };
        let cached = if warm < cache.minimum { 0 } else { warm / cache.step * cache.step };
        let reasoning = thinking * self.provider.thinking_factor;
        self.warm_at = now;
        Usage { prompt: self.size, cached, output: reasoning + visible, reasoning }
    }

    /// What a reply costs in later prompts.
    pub fn kept(&self, usage: Usage) -> u64 {
        if self.provider.keeps_thinking { usage.output } else { usage.output - usage.reasoning }
    }

    /// The context was rewritten: it has this size now, and the cache holds no more than its first part.
    pub fn rewrite(&mut self, size: u64, unchanged: u64) {
        self.size = size;
        self.warm = self.warm.min(unchanged);
    }
}
