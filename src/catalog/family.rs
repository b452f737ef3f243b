//! Families: models that share a tokenizer and a way of wrapping messages.

use super::image::ImageRule;
use crate::names::named;
use serde::{Deserialize, Serialize};

named! {
    /// Models that share a tokenizer and a way of wrapping messages.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Family: name {
        /// OpenAI from GPT-4o on, gpt-oss.
        Gpt = "gpt",
        /// OpenAI up to GPT-4 Turbo.
        GptCl100k = "gpt-cl100k",
        /// Google's Gemini and Gemma models.
        Gemini = "gemini",
        /// Claude 3 to 4.6.
        ClaudeOld = "claude-old",
        /// Claude from Opus 4.7 on.
        ClaudeNew = "claude-new",
        /// Meta's Llama models.
        Llama = "llama",
        /// xAI's Grok models.
        Grok = "grok",
        /// DeepSeek's chat and reasoning models.
        Deepseek = "deepseek",
        /// Alibaba's Qwen models.
        Qwen = "qwen",
        /// Mistral AI's models.
        Mistral = "mistral",
        /// Moonshot's models, Kimi among them.
        Kimi = "kimi",
        /// Z.ai's GLM models.
        Glm = "glm",
        /// Models of no other family, and models that the catalogue does not know.
        Other = "other",
    }
}

/// A public vocabulary, by the name under which the tokenizer library knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VocabularyName {
    /// OpenAI from GPT-4o on.
    O200kBase,
    /// OpenAI up to GPT-4 Turbo.
    Cl100kBase,
    /// DeepSeek V3, V3.1, V3.2 and R1.
    DeepseekV3,
    /// DeepSeek V4, successor of `DeepseekV3`.
    DeepseekV4,
    /// Qwen 2, 2.5 and 3.
    Qwen2,
    /// Llama 3, 3.1, 3.2 and 3.3.
    Llama3,
    /// Mistral's Tekken, in version 3.
    MistralV3,
    /// Moonshot's Kimi K2 models.
    KimiK2,
    /// Moonshot's Kimi K3 models.
    KimiK3,
    /// Z.ai's GLM 4 models.
    Glm4,
    /// Z.ai's GLM 5 models.
    Glm5,
    /// MiniMax's models of the M2 series.
    MinimaxM2,
}

/// What the models of a family have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyFacts {
    /// Tokens of the family for a text of 1,000 `o200k_base` tokens: the prior where nothing better is known.
    pub tokens_per_1000_o200k: u64,
    /// Tokens that the wrapping of one message costs.
    pub per_message: u64,
    /// What a token of each kind of content costs, where it was fitted on recorded usage; it then stands for `tokens_per_1000_o200k`.
    pub tokens: Option<ContentCosts>,
    /// What a code point of each kind of content costs. Absent where it has not been counted.
    pub chars: Option<ContentCosts>,
    /// Rule for the tokens of a picture.
    pub image: ImageRule,
}

/// What content costs by its kind, in thousandths of a token for each unit that it is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentCosts {
    /// Words of people and models.
    pub prose: u64,
    /// Source code, wherever it stands.
    pub code: u64,
    /// JSON, arguments of tool calls, definitions of tools.
    pub json: u64,
    /// What tools returned, unless it is code, JSON or CJK.
    pub tool_output: u64,
    /// Text in Chinese, Japanese or Korean.
    pub cjk: u64,
    /// Reasoning that the log shows in words.
    pub thinking: u64,
}

impl ContentCosts {
    /// One cost for all kinds, in thousandths of a token for each unit.
    pub fn flat(cost: u64) -> ContentCosts {
        ContentCosts { prose: cost, code: cost, json: cost, tool_output: cost, cjk: cost, thinking: cost }
    }
}

/// The facts of every family, by the name of its field; a family without its facts does not parse.
macro_rules! families {
    ($($field:ident: $family:ident),+) => {
        #[derive(Clone, Debug, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub(super) struct Families { $($field: FamilyFacts),+ }

        impl Families {
            pub(super) fn of(&self, family: Family) -> &FamilyFacts {
                match family { $(Family::$family => &self.$field),+ }
            }
        }
    };
}

families!(
    gpt: Gpt, gpt_cl100k: GptCl100k, gemini: Gemini, claude_old: ClaudeOld, claude_new: ClaudeNew, llama: Llama, grok: Grok, deepseek: Deepseek,
    qwen: Qwen, mistral: Mistral, kimi: Kimi, glm: Glm, other: Other
);
