//! The content of messages in the programs of Moonshot (Kimi CLI, Kimi Code).

use super::blocks::{Block, Blocks};
use crate::format::ground::{Lose, Words, image, wire};
use crate::format::recorder::thinking;
use crate::format::wire::held;
use crate::transcript::{Part, Scale};

/// The content of a message or of a tool's result.
pub type Content<'a> = Blocks<'a, Piece<'a>>;

wire! {
    /// A part of a content, with the fields of all kinds.
    pub struct Piece<'a> {
        kind: Words<'a> = "type",
        /// Of `text`: the words.
        pub text: Words<'a>,
        think: Words<'a>,
        encrypted: Words<'a>,
        image_url: Option<held::Url<'a>> = "image_url" | "imageUrl",
    }
}

impl Piece<'_> {
    /// The part; one of an unknown kind is counted.
    pub fn part(&self, scale: &dyn Scale, lose: Lose<'_>) -> Option<Part> {
        Some(match &*self.kind {
            "text" => Part::Text(scale.weigh(&self.text)),
            "think" => thinking(scale, &self.think, self.encrypted.len()),
            "image_url" => Part::Image(image::from_data_url(self.image_url.as_ref().map_or("", |address| &address.url))),
            _ => {
                lose("unknown content part");
                return None;
            }
        })
    }
}

/// The parts of a content.
pub fn parts(content: &Content<'_>, scale: &dyn Scale, lose: Lose<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    for block in &content.0 {
        match block {
            Block::Text(text) if text.is_empty() => {}
            Block::Text(text) => parts.push(Part::Text(scale.weigh(text))),
            Block::Object(piece) => parts.extend(piece.part(scale, lose)),
            Block::Other => lose("unknown content part"),
        }
    }
    parts
}

/// The texts of a content, one a line.
pub fn texts(content: &Content<'_>) -> String {
    content.joined(|piece| (&*piece.kind == "text").then_some(&*piece.text))
}
