//! The usage of a call, from whatever a log reports of it: one rule for all readers, written down in `docs/formats.md`.

use super::ground::{Absurd, Count};
use crate::transcript::{Message, Messages, Part, Trust, Usage};

/// Where cached tokens are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cached {
    /// As a part of the input: OpenAI, Google and most routers.
    #[default]
    Within,
    /// Beside the input: Anthropic.
    Beside,
    /// The writer has no rule: within the input where they fit into it, else beside it.
    Either,
}

/// Where reasoning is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// As a part of the output: OpenAI, Anthropic, DeepSeek.
    #[default]
    Within,
    /// Beside the output: Google.
    Beside,
}

/// What a log reports of one call. What it does not report is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reported {
    /// Tokens of the input.
    pub input: Count,
    /// Tokens read from the cache.
    pub cache_read: Count,
    /// Tokens written to the cache, all lifetimes.
    pub cache_write: Count,
    /// The part of them that lives for one hour.
    pub cache_write_1h: Count,
    /// Other tokens that are listed like cached ones: sounds, pictures.
    pub other_input: u64,
    /// Sounds of the input as Mistral lists them: beside it, where the total says so exactly. All others count them in.
    pub sound: u64,
    /// Where the dialect counts cached tokens.
    pub cached: Cached,
    /// Tokens of the output.
    pub output: Count,
    /// Tokens of reasoning, inside or beside the output as `reasoned` says.
    pub reasoning: Count,
    /// Other tokens that are listed like reasoning.
    pub other_output: u64,
    /// Where the dialect counts reasoning.
    pub reasoned: Reasoning,
    /// Input and output together, by the provider's word. It goes before what the dialect says.
    pub total: Count,
    /// What the call cost, in thousand-millionths of a dollar.
    pub cost_nano_usd: Option<i64>,
    /// How far the numbers can be trusted.
    pub trust: Trust,
    /// Did the provider itself count reads and writes of its cache, be they 0?
    pub counts_cache: bool,
}

impl Reported {
    /// The usage; `None` where there is no prompt, which is how logs write calls that were not answered.
    ///
    /// A number that is none (negative, broken, huge) makes the record absurd. Nothing else does: a part that is larger than its whole
    /// lies beside it.
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let (input, read) = (self.input.or_zero()?, self.cache_read.or_zero()?);
        let one_hour = self.cache_write_1h.or_zero()?;
        let written = self.cache_write.or_zero()?.max(one_hour);
        let (output, reasoning) = (self.output.or_zero()?, self.reasoning.known()?);
        let (thought, total) = (reasoning.unwrap_or(0), self.total.known()?);
        let (apart, fits) = (input + read + written + self.other_input, read + written <= input);
        let whole = output + thought + self.other_output;
        let without_cache = total.is_some_and(|total| input > 0 && (total == input + output || total == input + whole));
        // Both readings of the prompt and of the reply, the dialect's own first.
        let prompts = match self.cached {
            Cached::Within if read > input && without_cache => [input, input],
            _ if read > input => [apart, apart],
            Cached::Within => [input, apart],
            Cached::Either if fits => [input, apart],
            Cached::Beside if fits => [apart, input],
            Cached::Beside | Cached::Either => [apart, apart],
        };
        let replies = match self.reasoned {
            _ if thought > output && read > input => [whole, whole],
            // No vocabulary makes more than so many times the tokens of another: a gateway lays thoughts beside the output, and its total leaves them out.
            _ if thought > output * VOCABULARIES => [whole, whole],
            // Unless the total knows nothing of it: then a router has counted the thoughts of that output with another vocabulary.
            _ if thought > output => [whole, output],
            Reasoning::Within => [output, whole],
            Reasoning::Beside => [whole, output],
        };
        let readings = prompts.iter().flat_map(|prompt| replies.iter().map(move |reply| (*prompt, *reply)));
        let heard = replies.iter().filter(|_| self.sound > 0).map(|reply| (input + self.sound, *reply));
        let told = readings.clone().chain(heard).find(|(prompt, reply)| total == Some(prompt + reply));
        // Google leaves out the prompt where it read an address: the total still holds it.
        let is_left_out = self.input == Count::Absent && self.cached == Cached::Within && (self.output, self.reasoning) != UNANSWERED;
        let rest = || Some((total?.checked_sub(replies[0])?, replies[0])).filter(|_| is_left_out);
        let read_as = told.or_else(rest).or_else(|| readings.clone().next());
        let Some((prompt, output)) = read_as.filter(|(prompt, _)| *prompt > 0) else { return Ok(None) };
        let read = read.min(prompt);
        // What was read from the cache was not written to it, though some routers report the same tokens as both.
        let cache_write = written.min(prompt - read);
        Ok(Some(Usage {
            prompt,
            cache_read: read,
            cache_write,
            cache_write_1h: one_hour.min(cache_write),
            output,
            reasoning: reasoning.map(|reasoning| reasoning.min(output)),
            cost_nano_usd: self.cost_nano_usd,
            trust: self.trust,
            // What is not reported is not 0.
            output_is_final: output > 0 || self.output != Count::Absent,
            counts_cache: self.counts_cache,
        }))
    }
}

/// Output and reasoning of a call of which no reply is reported.
const UNANSWERED: (Count, Count) = (Count::Absent, Count::Absent);

/// The model as a call is billed: tiers that the provider charges otherwise for stand behind its name (`claude-opus-4-6:fast`, `gpt-5:flex`), so
/// that they are not taken for its list price. Groq calls its standard tier `on_demand`.
pub fn billed<'t>(model: &str, tiers: impl IntoIterator<Item = &'t str>) -> String {
    let tiers = tiers.into_iter().map(str::to_ascii_lowercase);
    let at_list = |tier: &String| {
        matches!(
            tier.as_str(),
            "" | "standard" | "default" | "auto" | "on_demand" | "not_available" | "global" | "traffic_type_unspecified"
        )
    };
    let is_word = |tier: &String| tier.bytes().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_'));
    // The mark of the bigger window stays at the end.
    let (stem, mark) = model.strip_suffix("[1m]").map_or((model, ""), |stem| (stem, "[1m]"));
    let tiers = tiers.filter(|tier| !model.is_empty() && !at_list(tier) && is_word(tier));
    tiers.fold(stem.to_owned(), |name, tier| format!("{name}:{tier}")) + mark
}

/// Tokens of a text in one vocabulary for each in another, at the most.
const VOCABULARIES: u64 = 2;

/// A token of a text holds fewer bytes than so many, on the whole.
pub const TOKEN_BYTES: u64 = 16;

/// A text of fewer bytes may be one of those that are few tokens: blanks, a line of dashes.
const SHORT: u64 = 64;

/// What is said between two replies takes a token for so many bytes, at the most.
const FEWEST_BYTES: u64 = 2;

/// Replies whose recorded output is not theirs, by their places: what can be read of them is more than so many tokens hold. Where the next prompt did not grow by as
/// much either, beside what came in between, it is not the model that wrote the text, and the count stays. So does a 0, for who counts nothing says so, and the counts of stand-ins for a provider.
pub fn placeholders(messages: &Messages) -> Vec<usize> {
    let mut found = Vec::new();
    // The last reply, its prompt and its bytes, where they are more than its output holds; and the bytes of what came since.
    let mut last: Option<(usize, u64, u64)> = None;
    let mut since = 0;
    for (place, message) in messages.each().enumerate() {
        let Some(usage) = message.call.as_ref().and_then(|call| call.usage) else {
            since += bytes_of(&message).iter().sum::<u64>();
            continue;
        };
        let between = std::mem::take(&mut since) / FEWEST_BYTES;
        let stands = |(_, prompt, bytes): &(usize, u64, u64)| {
            usage.prompt.checked_sub(*prompt).is_none_or(|growth| growth.saturating_sub(between).saturating_mul(TOKEN_BYTES) >= *bytes)
        };
        found.extend(last.take().filter(stands).map(|(reply, ..)| reply));
        let [bytes, given] = bytes_of(&message);
        since += given;
        let is_counted = usage.output_is_final && usage.output > 0 && usage.trust != Trust::Mock;
        let is_too_few = is_counted && bytes >= SHORT && usage.output.saturating_mul(TOKEN_BYTES) < bytes;
        last = is_too_few.then_some((place, usage.prompt, bytes));
    }
    found.extend(last.map(|(reply, ..)| reply));
    found
}

/// Bytes of texts and arguments, and of results: no model writes those. Reasoning that is shown may be a summary, which is not billed.
fn bytes_of(message: &Message) -> [u64; 2] {
    let bytes = |part: &Part| match part {
        Part::Text(text) | Part::ToolCall { arguments: text, .. } => [u64::from(text.length.bytes), 0],
        Part::ToolResult { text, .. } => [0, u64::from(text.length.bytes)],
        _ => [0, 0],
    };
    message.parts.iter().map(bytes).fold([0, 0], |[said, given], [more, result]| [said + more, given + result])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Input, cache reads, cache writes, output, reasoning, total (0: absent); then prompt, reads, writes, output.
    type Row = ([u64; 6], [u64; 4]);

    fn check(cached: Cached, reasoned: Reasoning, rows: &[Row]) {
        let count = |number: u64| if number == 0 { Count::Absent } else { Count::Sound(number) };
        for (record, expected) in rows {
            let [input, cache_read, cache_write, output, reasoning, total] = record.map(count);
            let reported = Reported { input, cache_read, cache_write, output, reasoning, total, cached, reasoned, ..Reported::default() };
            let usage = reported.usage().unwrap().unwrap();
            assert_eq!([usage.prompt, usage.cache_read, usage.cache_write, usage.output], *expected, "{record:?} {cached:?} {reasoned:?}");
            assert!(usage.cache_read + usage.cache_write <= usage.prompt && usage.reasoning.unwrap_or(0) <= usage.output);
        }
    }

    #[test]
    fn one_rule_reconciles_what_is_reported() {
        check(
            Cached::Within,
            Reasoning::Within,
            &[
                ([100, 60, 20, 9, 5, 0], [100, 60, 20, 9]),
                // The same tokens as both: they were read.
                ([100, 60, 60, 9, 0, 0], [100, 60, 40, 9]),
                // More cached than prompted (Grok): it lies beside, unless the total knows nothing of it.
                ([100, 160, 0, 9, 0, 0], [260, 160, 0, 9]),
                ([100, 160, 0, 9, 0, 269], [260, 160, 0, 9]),
                ([100, 160, 0, 9, 0, 109], [100, 100, 0, 9]),
                ([100, 160, 0, 9, 20, 109], [100, 100, 0, 29]),
                ([100, 60, 60, 9, 0, 229], [220, 60, 60, 9]),
                // More reasoning than output: it lies beside.
                ([100, 0, 0, 5, 500, 0], [100, 0, 0, 505]),
                ([100, 0, 0, 5, 500, 605], [100, 0, 0, 505]),
                ([561, 0, 0, 1652, 1881, 2213], [561, 0, 0, 1652]),
                ([9, 0, 0, 35, 267, 44], [9, 0, 0, 302]),
                ([100, 0, 0, 50, 30, 180], [100, 0, 0, 80]),
                ([100, 0, 0, 50, 30, 150], [100, 0, 0, 50]),
                // A total that fits nothing says nothing.
                ([100, 60, 0, 50, 30, 7], [100, 60, 0, 50]),
            ],
        );
        check(
            Cached::Beside,
            Reasoning::Within,
            &[
                ([5, 60, 20, 9, 0, 0], [85, 60, 20, 9]),
                ([100, 60, 20, 9, 0, 0], [180, 60, 20, 9]),
                ([100, 60, 20, 9, 0, 109], [100, 60, 20, 9]),
                ([100, 60, 20, 9, 0, 189], [180, 60, 20, 9]),
            ],
        );
        check(
            Cached::Either,
            Reasoning::Beside,
            &[
                ([100, 60, 20, 9, 5, 0], [100, 60, 20, 14]),
                ([100, 60, 60, 9, 5, 0], [220, 60, 60, 14]),
                ([100, 60, 20, 9, 5, 109], [100, 60, 20, 9]),
                // It may be that the total lacks the input: the writer has no rule.
                ([0, 60, 20, 9, 5, 700], [80, 60, 20, 14]),
            ],
        );
        // A prompt that is not told is what the total holds beside the reply.
        check(
            Cached::Within,
            Reasoning::Beside,
            &[
                ([0, 0, 0, 1, 125, 701], [575, 0, 0, 126]),
                ([0, 100, 0, 1, 0, 701], [700, 100, 0, 1]),
                ([0, 100, 0, 1, 0, 0], [100, 100, 0, 1]),
            ],
        );
    }

    #[test]
    fn a_prompt_that_is_left_out_follows_from_the_total_only_beside_a_reply() {
        let total = Reported { total: Count::Sound(701), ..Reported::default() };
        assert_eq!(total.usage(), Ok(None));
        // More was replied than the total holds.
        assert_eq!(Reported { output: Count::Sound(702), ..total }.usage(), Ok(None));
    }

    #[test]
    fn sounds_lie_beside_the_input_where_the_total_says_so_exactly() {
        let prompt = |input, total| {
            let [input, output, total] = [input, 2, total].map(Count::Sound);
            Reported { input, output, total, sound: 375, ..Reported::default() }.usage().unwrap().unwrap().prompt
        };
        assert_eq!([prompt(16, 393), prompt(16, 392), prompt(16, 18), prompt(391, 393)], [391, 16, 16, 391]);
    }

    #[test]
    fn only_broken_numbers_are_absurd() {
        let sound = Reported { input: Count::Sound(100), output: Count::Sound(5), ..Reported::default() };
        assert!(sound.usage().unwrap().is_some());
        let broken = [
            Reported { input: Count::Absurd, ..sound },
            Reported { output: Count::Absurd, ..sound },
            Reported { cache_read: Count::Absurd, ..sound },
            Reported { cache_write: Count::Absurd, ..sound },
            Reported { reasoning: Count::Absurd, ..sound },
            Reported { total: Count::Absurd, ..sound },
        ];
        assert!(broken.iter().all(|record| record.usage() == Err(Absurd)));
        assert_eq!(Reported { input: Count::Absent, ..sound }.usage(), Ok(None));
    }

    #[test]
    fn an_hour_of_cache_is_a_part_of_what_is_written() {
        let record = Reported { input: Count::Sound(10), cache_write_1h: Count::Sound(30), cached: Cached::Beside, ..Reported::default() };
        let usage = record.usage().unwrap().unwrap();
        assert_eq!((usage.prompt, usage.cache_write, usage.cache_write_1h), (40, 30, 30));
    }
}
