//! Which replies mean that a request was too large, by pi's own lists of what providers say (`isContextOverflow` in pi-ai's
//! utils/overflow.ts): error texts, and numbers where a provider takes too much and says nothing.

use regex::{RegexSet, RegexSetBuilder};

/// The lists of one generation of pi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Versions before 1, as read in 0.58.3.
    Before1,
    /// Versions from 1 on, as read in 1.5.2.
    Since1,
}

/// What both generations know.
const KNOWN: [&str; 15] = [
    "input is too long for requested model",
    "exceeds the context window",
    "input token count.*exceeds the maximum",
    r"maximum prompt length is [0-9]+",
    "reduce the length of the messages",
    r"maximum context length is [0-9]+ tokens",
    r"exceeds the limit of [0-9]+",
    "exceeds the available context size",
    "greater than the context length",
    "context window exceeds limit",
    "exceeded model token limit",
    r"too large for model with [0-9]+ maximum context length",
    "model_context_window_exceeded",
    "context[_ ]length[_ ]exceeded",
    "too many tokens|token limit exceeded",
];

/// A status without a body: Cerebras' way of saying so.
const BODILESS: &str = r"^4(00|13)\s*(status code)?\s*\(no body\)";

const BEFORE_1: [&str; 2] = ["prompt is too long", BODILESS];

const SINCE_1: [&str; 10] = [
    "prompt (is )?too long",
    "prompt exceeds max length",
    "request_too_large",
    r"exceeds (the )?(model'?s )?maximum context length( of [0-9,]+ tokens?|\s*\([0-9,]+\))",
    "context window exceeded",
    r"exceeds (the )?maximum allowed input length of [0-9,]+ tokens?",
    r"input \([0-9]+ tokens\) is longer than the model'?s context length \([0-9]+ tokens\)",
    r"prompt has [0-9,]+ tokens?, but the configured context size is [0-9,]+ tokens?",
    "range of input length should be",
    r"^([\w -]+ API error \(413\):|413(\s|:|$))",
];

/// Errors that are none of size, whatever else they say. The older generation has no such list.
const OTHER_ERRORS: [&str; 3] = ["^(Throttling error|Service unavailable):", "rate limit", "too many requests"];

/// A reply, as far as it reports a refusal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer<'a> {
    /// Why the reply ended: `stop`, `error`, `length`, ...
    pub stop_reason: &'a str,
    /// What the provider said; empty where it said nothing.
    pub error: &'a str,
    /// The provider; empty where unknown.
    pub provider: &'a str,
    /// Tokens of the prompt, those of the cache included, but not those written to it.
    pub prompt: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// The model's window; absent where unknown: then a refusal is known by its words alone.
    pub window: Option<u64>,
}

/// The lists, ready for use.
pub struct Refusals {
    rules: Rules,
    too_large: RegexSet,
    other_errors: RegexSet,
    bodiless: RegexSet,
}

impl Refusals {
    /// By the lists of this generation.
    pub fn by(rules: Rules) -> Refusals {
        let (own, other): (&[&str], &[&str]) = match rules {
            Rules::Before1 => (&BEFORE_1, &[]),
            Rules::Since1 => (&SINCE_1, &OTHER_ERRORS),
        };
        Refusals { rules, too_large: set(KNOWN.iter().chain(own)), other_errors: set(other), bodiless: set([&BODILESS]) }
    }

    /// Was the request behind this reply too large?
    pub fn include(&self, answer: &Answer<'_>) -> bool {
        let Answer { prompt, output, .. } = *answer;
        // A window of nothing is none that is known.
        let window = answer.window.filter(|window| *window > 0);
        match (answer.stop_reason, window) {
            ("error", _) => self.speaks_of_size(answer),
            // The provider took it in silence.
            ("stop", Some(window)) => prompt > window,
            // It cut the prompt to its window and had no room for a reply.
            ("length", Some(window)) if self.rules == Rules::Since1 => output == 0 && u128::from(prompt) * 100 >= u128::from(window) * 99,
            _ => false,
        }
    }

    fn speaks_of_size(&self, answer: &Answer<'_>) -> bool {
        let bodiless = self.rules == Rules::Since1 && answer.provider == "cerebras" && self.bodiless.is_match(answer.error);
        !self.other_errors.is_match(answer.error) && (self.too_large.is_match(answer.error) || bodiless)
    }
}

/// The patterns, whatever the case of letters. They are constants that a test compiles: an empty set stands for one that does not.
fn set<'p>(patterns: impl IntoIterator<Item = &'p &'p str>) -> RegexSet {
    RegexSetBuilder::new(patterns).case_insensitive(true).build().unwrap_or_default()
}
