//! Usage by names that depend on who exported it: whether what was cached is a part of the input, and reasoning a part of the output,
//! is told by the total alone.

use crate::format::count::{Absurd, Count};
use crate::transcript::{Trust, Usage};
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

    /// The usage; `None` where nothing was recorded.
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let (input, output) = (self.input.or_zero()?, self.output.or_zero()?);
        let (read, written) = (self.cache_read.or_zero()?, self.cache_write.or_zero()?);
        let reasoning = self.reasoning.known()?;
        let whole_input = input + read + written + self.other_input;
        let whole_output = output + reasoning.unwrap_or(0) + self.other_output;
        // Langfuse adds up what begins with `input`, and what begins with `output`.
        let sum = if self.beside { whole_input + whole_output } else { input + output };
        let total = self.total.known()?.unwrap_or(sum);
        // The parts lie within unless the total says that they lie beside, or the input is too small to hold them.
        let (prompt, reply) = match total {
            _ if total == input + output && read + written <= input => (input, output),
            _ if total == input + whole_output && read + written <= input => (input, whole_output),
            _ if total == whole_input + output => (whole_input, output),
            _ if total == whole_input + whole_output || read + written > input => (whole_input, whole_output),
            _ => (input, output),
        };
        if prompt == 0 {
            return Ok(None);
        }
        Ok(Some(Usage {
            prompt,
            cache_read: read,
            cache_write: written,
            output: reply,
            reasoning,
            trust: Trust::Provider,
            output_is_final: true,
            ..Usage::default()
        }))
    }
}

/// A number, also one that was written as a text.
pub fn count(value: &Value) -> Count {
    let number = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    serde_json::from_value(number.unwrap_or_else(|| value.clone())).unwrap_or(Count::Absurd)
}
