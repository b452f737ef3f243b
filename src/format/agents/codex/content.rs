//! The content of single items: texts, pictures, and what a result says about success.

use super::record::Piece;
use crate::format::ground::{image, text_or_json};
use crate::format::wire::blocks::{Block, Blocks};
use crate::transcript::{Image, Part, Scale};
use std::borrow::Cow;

/// Why a record could not be used.
pub type Lost = Result<(), &'static str>;

/// Content that the provider alone can read.
pub const SEALED: &str = "encrypted content whose size in tokens is unknown";

/// The parts of a content list, and whether there was something unknown among them.
pub struct ItemParts {
    pub parts: Vec<Part>,
    pub lost: Lost,
}

/// Weighs each block of a content list.
pub fn parts_of(content: &Blocks<Piece>, scale: &dyn Scale) -> ItemParts {
    let text = |block| text_of_block(block).map(|text| Part::Text(scale.weigh(&text)));
    let parts = content.0.iter().filter_map(|block| picture(block).or_else(|| text(block))).collect();
    ItemParts { parts, lost: unknown(content) }
}

/// The pictures of a result, whose text is weighed as one.
pub fn pictures_of(content: &Blocks<Piece>) -> ItemParts {
    ItemParts { parts: content.0.iter().filter_map(picture).collect(), lost: unknown(content) }
}

fn picture(block: &Block<Piece>) -> Option<Part> {
    match block {
        Block::Object(piece) if &*piece.kind == "input_image" => {
            let image = image::from_data_url(&piece.image_url);
            // How closely it is looked at is written beside its address: `,"detail":"high"`.
            let detail = if piece.detail.is_empty() { 0 } else { piece.detail.len() as u32 + 12 };
            Some(Part::Image(Image { address: image.address + detail, ..image }))
        }
        _ => None,
    }
}

fn unknown(content: &Blocks<Piece>) -> Lost {
    let known = |block| picture(block).is_some() || text_of_block(block).is_some();
    match content.0.iter().find(|block| !known(block)) {
        None => Ok(()),
        Some(Block::Object(piece)) if &*piece.kind == "encrypted_content" => Err(SEALED),
        Some(_) => Err("unknown content part"),
    }
}

/// All text of a content list, joined by newlines.
pub fn text_of(content: &Blocks<Piece>) -> String {
    content.0.iter().filter_map(text_of_block).collect::<Vec<_>>().join("\n")
}

/// What the history takes in of a result: 1.2 times 10,000 tokens of four bytes each, as far as the texts of a list go. The log has it whole.
const MOST_TOKENS: usize = 12_000;

/// The text of a result as the model reads it. Codex cuts the middle out as its history takes the result in, and logs it as the tool returned it:
/// recorded prompts grow by what is left. Versions before 0.66 are read as they are.
pub fn taken_in(content: &Blocks<Piece>, version: &str) -> String {
    let is_old = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).is_some_and(|minor: u32| (1..66).contains(&minor));
    let texts: Vec<Cow<'_, str>> = content.0.iter().filter_map(text_of_block).collect();
    if is_old || texts.iter().map(|text| text.len().div_ceil(4)).sum::<usize>() <= MOST_TOKENS {
        return texts.join("\n");
    }
    let (mut left, mut kept, mut omitted) = (MOST_TOKENS, Vec::new(), 0);
    for text in &texts {
        match text.len().div_ceil(4) {
            _ if left == 0 => omitted += 1,
            tokens if tokens <= left => {
                left -= tokens;
                kept.push(text.clone());
            }
            _ => {
                kept.push(Cow::Owned(without_middle(text, 4 * left)));
                left = 0;
            }
        }
    }
    if omitted > 0 {
        kept.push(Cow::Owned(format!("[omitted {omitted} text items ...]")));
    }
    kept.join("\n")
}

/// A text of at most so many bytes beside the mark of what was cut.
fn without_middle(text: &str, most: usize) -> String {
    let head = text.get(..text.floor_char_boundary(most / 2)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(most - most / 2)).max(head.len())..).unwrap_or_default();
    let gone = text.len() - head.len() - tail.len();
    format!("{head}…{} tokens truncated…{tail}", gone.div_ceil(4))
}

fn text_of_block<'b>(block: &'b Block<Piece>) -> Option<Cow<'b, str>> {
    match block {
        Block::Text(text) => Some(Cow::Borrowed(text)),
        Block::Other => None,
        Block::Object(piece) => match &*piece.kind {
            "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text" => Some(Cow::Borrowed(&piece.text)),
            "refusal" => Some(Cow::Borrowed(&piece.refusal)),
            // The earliest results: `{content, success}`.
            "" => Some(Cow::Owned(text_or_json(piece.content))),
            _ => None,
        },
    }
}

/// Did the tool fail? Commands say so by their exit code, which each generation of the program wraps differently.
pub fn failed(text: &str, output: &Blocks<Piece>) -> bool {
    if let [Block::Object(Piece { success: Some(success), .. })] = output.0.as_slice() {
        return !success;
    }
    let nonzero = |rest: &str| rest.trim_start().starts_with(|first: char| first == '-' || ('1'..='9').contains(&first));
    let head = text.get(..400).unwrap_or(text);
    let in_head = ["Exit code:", "Process exited with code"].iter().find_map(|mark| head.split_once(mark));
    if let Some((_, rest)) = in_head {
        return nonzero(rest);
    }
    text.starts_with("{\"output\":") && text.rsplit_once("\"exit_code\":").is_some_and(|(_, rest)| nonzero(rest))
}

/// Messages in the user's name that the program puts in by itself.
pub fn contextual(text: &str) -> bool {
    const MARKS: [&str; 18] = [
        "<environment_context>",
        "<additional_context>",
        "<user_instructions>",
        "<INSTRUCTIONS>",
        "# AGENTS.md instructions",
        "<turn_aborted>",
        "<skill>",
        "<user_shell_command>",
        "<subagent_notification>",
        "<goal_context>",
        "<user_action>",
        "<recommended_plugins>",
        "<codex_internal_context source=",
        "<external_",
        "<hook_prompt hook_run_id=",
        "Warning: apply_patch was requested via ",
        "Warning: The maximum number of unified exec processes you can keep open is",
        "Warning: Your account was flagged for potentially high-risk cyber activity",
    ];
    MARKS.iter().any(|mark| text.trim_start().starts_with(mark))
}
