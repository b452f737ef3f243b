//! A text without its words: its sizes, and which of its pieces stand elsewhere in the session.

use crate::transcript::{Evidence, Standing, Text, Unit};
use serde::{Deserialize, Serialize};

/// The first line's mark, with the version of the shape.
pub const MARK: &str = "native/1";

/// What was measured of a text whose words are not told.
#[derive(Serialize, Deserialize)]
pub(super) struct Measured {
    #[serde(flatten)]
    sizes: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Pieces>,
}

/// [`Evidence`] as it is written. The numbers name pieces within the session and are no hashes of them.
#[derive(Serialize, Deserialize)]
struct Pieces {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    units: Vec<Piece>,
    #[serde(default)]
    left_out: u32,
    #[serde(default)]
    identity: u64,
    #[serde(default)]
    subject: u64,
    #[serde(default)]
    values: u32,
    #[serde(default)]
    looks: u64,
}

/// A piece's number, and where it stands: where its first time ends and its last time starts, or its start alone, as files from before have it.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Piece {
    Stands(u64, u32, u32),
    Starts(u64, u32),
}

impl Piece {
    fn unit(self) -> Unit {
        let (hash, first_end, last_start) = match self {
            Piece::Stands(hash, first_end, last_start) => (hash, first_end, last_start),
            Piece::Starts(hash, start) => (hash, start.saturating_add(1), start),
        };
        Unit { hash, at: Standing { first_end, last_start } }
    }
}

impl Measured {
    /// The measures of a redacted text.
    pub fn of(text: &Text) -> Measured {
        let evidence = text.evidence.as_deref().map(|evidence| Pieces {
            units: evidence.units.iter().map(|unit| Piece::Stands(unit.hash, unit.at.first_end, unit.at.last_start)).collect(),
            left_out: evidence.left_out,
            identity: evidence.identity,
            subject: evidence.subject,
            values: evidence.values,
            looks: evidence.looks,
        });
        // The mark is a fact of the result, and written there.
        Measured { sizes: Text { truncated: false, content: None, evidence: None, ..text.clone() }, evidence }
    }

    /// The text that they are the measures of.
    pub fn text(&self) -> Text {
        let evidence = self.evidence.as_ref().map(|pieces| {
            let mut units: Vec<Unit> = pieces.units.iter().map(|piece| piece.unit()).collect();
            // Whoever looks a piece up relies on their order.
            units.sort_unstable();
            units.dedup_by_key(|unit| unit.hash);
            Box::new(Evidence {
                units: units.into(),
                left_out: pieces.left_out,
                identity: pieces.identity,
                subject: pieces.subject,
                values: pieces.values,
                looks: pieces.looks,
                path: None,
            })
        });
        Text { content: None, evidence, ..self.sizes.clone() }
    }
}
