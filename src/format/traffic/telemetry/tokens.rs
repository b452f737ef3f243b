//! Usage by names that depend on who exported it: whether what was cached is a part of the input, and reasoning a part of the output,
//! is told by the total alone.

use crate::format::ground::{Absurd, Count, Dollars};
use crate::format::usage::{Cached, Reasoning, Reported};
use crate::transcript::Usage;
use serde_json::{Map, Value};

/// The figures of one call under all names that they go by.
#[derive(Default)]
pub struct Tokens {
    pub input: Count,
    pub output: Count,
    pub total: Count,
    pub cache_read: Count,
    pub cache_write: Count,
    pub reasoning: Count,
    /// Other parts of the input and of the output that some exporters list: sounds, pictures.
    pub other_input: u64,
    pub other_output: u64,
    /// Do the names say that the parts lie beside each other? Where there is a total, it tells.
    pub beside: bool,
}

impl Tokens {
    /// Langfuse's own record: `input`, `output`, `total`, and parts of them.
    pub fn of_details(details: &Map<String, Value>) -> Tokens {
        let mut tokens = Tokens::default();
        for (key, value) in details {
            let count = count(value);
            match key.as_str() {
                "input" | "input_tokens" | "prompt_tokens" | "inputTokens" | "promptTokens" | "prompt_token_count" => tokens.input = count,
                "output" | "output_tokens" | "completion_tokens" | "outputTokens" | "completionTokens" | "candidates_token_count" => {
                    tokens.output = count;
                }
                "total" | "total_tokens" | "totalTokens" | "total_token_count" => tokens.total = count,
                key if key.contains("reasoning") || key.contains("thought") => tokens.reasoning = count,
                key if key.contains("cache_creation") || key.contains("cache_write") => {
                    tokens.cache_write = count;
                    tokens.beside |= key.starts_with("input_");
                }
                key if key.contains("cache_read") || key.contains("cached") => {
                    tokens.cache_read = count;
                    tokens.beside |= key.starts_with("input_");
                }
                key if key.starts_with("input_") => tokens.other_input += count.or_zero().unwrap_or(0),
                key if key.starts_with("output_") => tokens.other_output += count.or_zero().unwrap_or(0),
                _ => {}
            }
        }
        tokens
    }

    /// Does the total hold more than this usage? Exporters leave out what a model thought, and what tools put into its prompt.
    pub fn hold_more_than(&self, usage: &Usage) -> bool {
        self.total.known().ok().flatten().is_some_and(|total| total > usage.prompt + usage.output)
    }

    /// The usage; `None` where nothing was recorded.
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let (cached, reasoned) = if self.beside { (Cached::Beside, Reasoning::Beside) } else { (Cached::Either, Reasoning::Within) };
        Reported {
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            other_input: self.other_input,
            cached,
            output: self.output,
            reasoning: self.reasoning,
            other_output: self.other_output,
            reasoned,
            total: self.total,
            ..Reported::default()
        }
        .usage()
    }
}

/// A number, also one that was written as a text.
pub fn count(value: &Value) -> Count {
    let number = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    serde_json::from_value(number.unwrap_or_else(|| value.clone())).unwrap_or(Count::Absurd)
}

/// A cost in thousand-millionths of a dollar, which may be written as a text; `None` where it says nothing.
pub fn dollars(value: &Value) -> Option<i64> {
    let written = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    serde_json::from_value::<Dollars>(written.unwrap_or_else(|| value.clone())).ok()?.above_zero()
}
