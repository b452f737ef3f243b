//! The public vocabularies.

use crate::names::named;
use serde::{Deserialize, Serialize};

named! {
    /// A public tokenizer vocabulary.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Vocabulary: name {
        /// OpenAI: GPT-4o and later.
        #[default]
        #[serde(rename = "o200k_base")]
        O200kBase = "o200k_base",
        /// OpenAI: GPT-4 and GPT-3.5.
        #[serde(rename = "cl100k_base")]
        Cl100kBase = "cl100k_base",
        /// DeepSeek V3 and R1.
        #[serde(rename = "deepseek_v3")]
        DeepseekV3 = "deepseek_v3",
        /// Qwen 2 and later.
        Qwen2 = "qwen2",
        /// Llama 3, 3.1, 3.2 and 3.3.
        Llama3 = "llama3",
        /// Mistral's Tekken, in version 3.
        #[serde(rename = "mistral_v3")]
        MistralV3 = "mistral_v3",
        /// Moonshot's Kimi K2 models.
        #[serde(rename = "kimi_k2")]
        KimiK2 = "kimi_k2",
        /// Z.ai's GLM 4 models.
        Glm4 = "glm4",
    }
}

impl Vocabulary {
    /// The vocabulary with this name; `None` where there is none.
    pub fn by_name(name: &str) -> Option<Vocabulary> {
        Vocabulary::ALL.into_iter().find(|vocabulary| vocabulary.name() == name)
    }

    /// The library's encoder for the vocabulary.
    pub(super) fn load(self) -> tiktoken::CoreBpe {
        match self {
            Vocabulary::O200kBase => tiktoken::encoding::o200k_base(),
            Vocabulary::Cl100kBase => tiktoken::encoding::cl100k_base(),
            Vocabulary::DeepseekV3 => tiktoken::encoding::deepseek_v3(),
            Vocabulary::Qwen2 => tiktoken::encoding::qwen2(),
            Vocabulary::Llama3 => tiktoken::encoding::llama3(),
            Vocabulary::MistralV3 => tiktoken::encoding::mistral_v3(),
            Vocabulary::KimiK2 => tiktoken::encoding::kimi_k2(),
            Vocabulary::Glm4 => tiktoken::encoding::glm4(),
        }
    }
}
