//! What a picture costs, by the rules that providers publish. All in integers.

use serde::{Deserialize, Serialize};

/// Pixels of an Anthropic patch's side.
const ANTHROPIC_PATCH: u64 = 28;
/// Pixels of an OpenAI patch's side.
const OPENAI_PATCH: u64 = 32;
/// Pixels of an OpenAI tile's side.
const OPENAI_TILE: u64 = 512;
/// OpenAI's tile rule first shrinks a picture into a square of this side,
const OPENAI_TILE_SQUARE: u64 = 2048;
/// and then to this short side.
const OPENAI_TILE_SHORT_SIDE: u64 = 768;
/// Pixels of a Gemini tile's side.
const GEMINI_TILE: u64 = 768;
/// A picture with no side above this is one Gemini tile.
const GEMINI_SMALL: u64 = 384;
/// Tokens of a Gemini tile.
const GEMINI_TILE_TOKENS: u64 = 258;
/// A picture of unknown size counts as a square of this side.
const UNKNOWN_SIDE: u64 = 1024;

/// How a provider turns a picture into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ImageRule {
    /// Patches of 28 pixels, after shrinking until both limits hold.
    Anthropic {
        /// The longest side that is not shrunk, in pixels.
        long_edge: u64,
        /// The most tokens that a picture can cost.
        budget: u64,
    },
    /// Tiles of 512 pixels, after shrinking into 2,048 x 2,048 and to a short side of 768 (detail `high`).
    OpenaiTiles {
        /// Tokens of every picture.
        base: u64,
        /// Tokens of each tile.
        tile: u64,
    },
    /// Patches of 32 pixels, after shrinking to the limits (the detail that is chosen where none is asked for).
    OpenaiPatches {
        /// The most patches of a picture; absent where there is no limit.
        budget: Option<u64>,
        /// The longest side that is not shrunk, in pixels; absent where there is no limit.
        max_side: Option<u64>,
        /// Tokens charged for 1,000 patches.
        per_1000_patches: u64,
    },
    /// 258 tokens for a picture up to 384 x 384, else for each tile of 768 pixels.
    GeminiTiles {},
    /// A number of tokens, whatever the picture's size.
    Fixed {
        /// Tokens of every picture.
        tokens: u64,
    },
}

impl ImageRule {
    /// Tokens of a picture of this size in pixels. A picture of unknown size (0 on either side) counts as 1,024 x 1,024.
    pub fn tokens(&self, width: u32, height: u32) -> u64 {
        let size = match (width, height) {
            (0, _) | (_, 0) => Pixels { width: UNKNOWN_SIDE, height: UNKNOWN_SIDE },
            _ => Pixels { width: width.into(), height: height.into() },
        };
        match *self {
            ImageRule::Anthropic { long_edge, budget } => anthropic(size, long_edge, budget),
            ImageRule::OpenaiTiles { base, tile } => base.saturating_add(tile.saturating_mul(openai_tiles(size))),
            ImageRule::OpenaiPatches { budget, max_side, per_1000_patches } => {
                let size = size.shrunk_to(max_side.unwrap_or(u64::MAX));
                let patches = openai_patches(size, budget.unwrap_or(u64::MAX));
                patches.saturating_mul(per_1000_patches).div_ceil(1000)
            }
            ImageRule::GeminiTiles {} if size.width.max(size.height) <= GEMINI_SMALL => GEMINI_TILE_TOKENS,
            ImageRule::GeminiTiles {} => size.covered_by(GEMINI_TILE).saturating_mul(GEMINI_TILE_TOKENS),
            ImageRule::Fixed { tokens } => tokens,
        }
    }
}

/// A picture's size, never 0 on either side.
#[derive(Clone, Copy)]
struct Pixels {
    width: u64,
    height: u64,
}

impl Pixels {
    /// How many squares of this side cover the picture.
    fn covered_by(self, side: u64) -> u64 {
        self.width.div_ceil(side).saturating_mul(self.height.div_ceil(side))
    }

    /// The picture at the scale `numerator / denominator`, rounded to whole pixels.
    fn scaled(self, numerator: u64, denominator: u64) -> Pixels {
        let scale = |side: u64| (side.saturating_mul(numerator).saturating_add(denominator / 2) / denominator).max(1);
        Pixels { width: scale(self.width), height: scale(self.height) }
    }

    /// The picture with its long side brought down to `side`, if it is longer.
    fn shrunk_to(self, side: u64) -> Pixels {
        let long = self.width.max(self.height);
        if long <= side { self } else { self.scaled(side, long) }
    }
}

/// The most tokens that some scale of the picture has within both limits. More pixels never mean fewer patches, so the
/// largest scale that fits is found by halving.
fn anthropic(size: Pixels, long_edge: u64, budget: u64) -> u64 {
    let patches = |side: u64| size.shrunk_to(side).covered_by(ANTHROPIC_PATCH);
    let (mut fits, mut beyond) = (1, long_edge.min(size.width.max(size.height)).saturating_add(1));
    while beyond - fits > 1 {
        let middle = fits + (beyond - fits) / 2;
        if patches(middle) <= budget { fits = middle } else { beyond = middle }
    }
    patches(fits).min(budget)
}

fn openai_tiles(size: Pixels) -> u64 {
    let size = size.shrunk_to(OPENAI_TILE_SQUARE);
    let short = size.width.min(size.height);
    let size = if short <= OPENAI_TILE_SHORT_SIDE { size } else { size.scaled(OPENAI_TILE_SHORT_SIDE, short) };
    size.covered_by(OPENAI_TILE)
}

/// The published formula scales by sqrt(32^2 x budget / (width x height)) and then down to a whole number of patches on the side
/// that this cuts more. At that scale a side is sqrt(budget x side / other side) patches long, which needs no fraction. The other
/// side is brought to whole pixels before patches are laid over it.
fn openai_patches(size: Pixels, budget: u64) -> u64 {
    let patches = size.covered_by(OPENAI_PATCH);
    if patches <= budget {
        return patches;
    }
    let Pixels { width, height } = size;
    let columns = (budget.saturating_mul(width) / height).isqrt().max(1);
    let rows = (budget.saturating_mul(height) / width).isqrt().max(1);
    let beside =
        |whole: u64, side: u64, other: u64| (OPENAI_PATCH.saturating_mul(side).saturating_mul(whole) / other).div_ceil(OPENAI_PATCH);
    let shrunk = if columns.saturating_mul(height) <= rows.saturating_mul(width) {
        columns.saturating_mul(beside(columns, height, width))
    } else {
        rows.saturating_mul(beside(rows, width, height))
    };
    shrunk.clamp(1, budget)
}
