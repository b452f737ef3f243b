//! One model.

use super::family::{Family, VocabularyName};
use super::image::ImageRule;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// What becomes of a reply's reasoning in the prompts of later calls.
///
/// It also depends on the API: OpenAI's Responses API carries reasoning through a turn, its Chat Completions API never does.
/// The catalogue has the API over which agents use the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Reasoning stays in the context and is counted as input again.
    Kept,
    /// It stays within the turn (the tool loop) and is dropped at the next real user message.
    Turn,
    /// It is never sent back; also the value of models that do not reason.
    #[default]
    Dropped,
}

/// What is known of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Model {
    /// The provider's name for it, without date.
    pub id: String,
    /// Maker of the model.
    pub provider: String,
    /// The total window: prompt and reply together.
    pub context: Tokens,
    /// The provider's limit on the prompt alone; absent where there is none beside the window.
    pub max_input: Option<Tokens>,
    /// The longest reply; absent where not known.
    pub max_output: Option<Tokens>,
    /// A bigger window that can be asked for; absent where there is none, or where this is the model with that window.
    pub long_context: Option<Tokens>,
    /// The family whose tokens it counts in.
    pub family: Family,
    /// The public vocabulary that counts its tokens; absent where there is none or where none is known to fit.
    pub vocabulary: Option<VocabularyName>,
    /// What becomes of the model's reasoning in later prompts.
    pub thinking: Thinking,
    /// What Codex estimates of the encrypted form of 1,000 reported reasoning tokens; absent where it is not known of this model.
    pub sealed_thousandths: Option<u64>,
    /// Tokens for a text of 1,000 `o200k_base` tokens, by its family.
    pub tokens_per_1000_o200k: u64,
    /// Tokens that the wrapping of one message costs, by its family.
    pub per_message: u64,
    /// Rule for the tokens of a picture.
    pub image: ImageRule,
}

impl Model {
    /// The longest prompt that the provider takes: its own limit for it where there is one, else the window.
    pub fn prompt_limit(&self) -> Tokens {
        self.max_input.unwrap_or(self.context)
    }

    /// Its id without the mark of the bigger window, under which prices and caches are listed.
    pub fn plain_id(&self) -> &str {
        self.id.strip_suffix("[1m]").unwrap_or(&self.id)
    }

    /// Tokens of a picture of this size in pixels. A picture of unknown size (0 on either side) counts as 1,024 x 1,024.
    pub fn image_tokens(&self, width: u32, height: u32) -> u64 {
        self.image.tokens(width, height)
    }

    /// The model with its bigger window; absent where it has none.
    pub(super) fn with_long_context(&self) -> Option<Model> {
        let context = self.long_context?;
        Some(Model { id: format!("{}[1m]", self.id), context, long_context: None, ..self.clone() })
    }
}
